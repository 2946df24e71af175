"""The card Requirements of the page Results, used by mouse and keys."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from sklearn.metrics import accuracy_score  # type: ignore[import-untyped]

from judgenet.ui.app import Studio
from judgenet.ui.pages.results import ResultsPage
from judgenet.ui.results.requirements import RequirementsPanel
from tests.ui.conftest import settle, until
from tests.ui.person import find
from tests.ui.story import story_pairs
from tests.ui.test_results import both, click, judged, recorded


async def add(page: ResultsPage, text: str) -> None:
    panel = page.requirements
    page.area.ensureWidgetVisible(panel.edit)
    panel.edit.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClicks(panel.edit, text)
    QTest.keyClick(panel.edit, Qt.Key.Key_Return)
    await settle()


def outcomes(panel: RequirementsPanel) -> list[str]:
    assert panel.gate is not None
    return [row.outcome for row in panel.gate.requirements]


async def test_requirements_are_added_checked_and_removed(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(40, labelled=0.85))
    panel, document = page.requirements, page.context.document
    assert "all requirements are met" in panel.note.text()
    human, said = both(recorded(page), "c2_all")
    accuracy = accuracy_score(human, said)
    await add(page, f"c2_all.accuracy >= {accuracy - 1e-3:.6f}")
    await add(page, f"c2_all.accuracy.low >= {accuracy:.6f}")
    await add(page, "rate.corrected.low > .99")
    await until(lambda: panel.gate is not None and panel.gate.total == 3, "the gate")
    assert outcomes(panel)[:2] == ["met", "not met"]
    assert panel.fact.text() == f"{panel.gate.met if panel.gate else ''} of 3 met"
    assert document.project.requirements[2] == "rate.corrected.low > .99"
    assert "c2_all.accuracy.low takes chance into account" in panel.note.text()
    click(find(panel, QPushButton, f"Remove {document.project.requirements[1]}"))
    await until(lambda: panel.gate is not None and panel.gate.total == 2, "one is gone")
    document.undo_stack.undo()
    await until(lambda: panel.gate is not None and panel.gate.total == 3, "it is back")


async def test_what_is_no_requirement_stays_in_the_field(studio: Studio, place: Path) -> None:
    page = await judged(studio, place, story_pairs(8))
    panel, document = page.requirements, page.context.document
    await add(page, "kappa")
    assert panel.edit.text() == "kappa"
    assert "write KEY >= NUMBER" in panel.why.text()
    assert document.project.requirements == ()
    panel.edit.clear()
    # A key that no run has is told when the run is checked; the requirement can be removed.
    await add(page, "kapa.low >= .5")
    await until(lambda: panel.why.isVisible(), "the message")
    assert "there is no such figure" in panel.why.text()
    click(find(panel, QPushButton, "Remove kapa.low >= .5"))
    await until(lambda: not panel.why.isVisible(), "the message is gone")
