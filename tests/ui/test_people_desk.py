"""People answer a lab's prompts at the desk: blind, by keys, kept with the lab and apart from the labels."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt

from judgenet.core.bias import PROBES
from judgenet.core.evaluation import Choice
from judgenet.stats.people_bias import PEOPLE_JUDGE
from judgenet.store.lab_people import lab_people, lab_prompts, people_answers
from judgenet.store.labels import has_labels
from judgenet.ui.app import Studio
from judgenet.ui.labels.people_desk import PeopleDesk
from judgenet.ui.pages.bias import BiasPage
from tests.fakes.judge_server import JudgeServer
from tests.ui.conftest import settle, until
from tests.ui.person import click, key
from tests.ui.test_bias_page import COUNT, only, page, planned, run

__all__ = ["page"]


async def opened(page: BiasPage) -> PeopleDesk:
    """The desk, opened with the button of the page."""
    click(page.ask_people)
    desk = page._desk
    assert desk is not None
    await until(lambda: bool(desk.prompts), "no prompts")
    await settle()
    return desk


def _answers(page: BiasPage) -> dict[str, dict[str, Choice | None]]:
    """What people said, by person and prompt of the lab in view."""
    store, lab = page.context.document.store, page.state.lab
    assert store is not None
    assert lab is not None
    return people_answers(store, lambda: lab_prompts(store, lab))


async def kept(page: BiasPage, person: str, count: int) -> None:
    await until(lambda: len(_answers(page).get(person, {})) == count, "answers are not kept")


async def test_answers_at_the_desk_become_the_row_of_people(page: BiasPage, studio: Studio, judge: JudgeServer) -> None:
    judge.judge.settings.mind = "first"
    await planned(page)
    only(page, "order", "bandwagon")
    await run(page)
    store, lab = page.context.document.store, page.state.lab
    assert store is not None
    assert lab is not None
    desk = await opened(page)
    assert len(desk.prompts) == 4 * COUNT
    shown = " ".join((desk.windowTitle(), desk.lead.text(), desk.desk.place.text(), desk.desk.head.text())).lower()
    assert not [probe for probe in PROBES.values() if probe.key in shown or probe.title.lower() in shown]
    remarks = [prompt.remarks for prompt in desk.prompts if prompt.remarks]
    assert len(remarks) == 2 * COUNT

    # The keys are heard at once: first, second, a tie, unsure, and one prompt is skipped; then one is taken back.
    said = [prompt.prompt for prompt in desk.prompts[:5]]
    for pressed in (Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_T, Qt.Key.Key_U, Qt.Key.Key_S):
        key(desk.desk, pressed)
    await kept(page, "You", 4)
    assert _answers(page)["You"] == dict(zip(said, ("first", "second", "tie", None), strict=False))
    key(desk.desk, Qt.Key.Key_Left)
    key(desk.desk, Qt.Key.Key_Left)
    key(desk.desk, Qt.Key.Key_2)
    await until(lambda: _answers(page)["You"][said[3]] == "second")
    click(desk.leave)
    await until(lambda: page.state.result is not None and not page.state.reading)

    # Somebody else answers all: always the first. Ada begins at her own first prompt.
    desk = await opened(page)
    assert desk.at == 4
    desk.person.setText("Ada")
    key(desk.person, Qt.Key.Key_Return)
    assert desk.isVisible()
    assert desk.at == 0
    for _ in desk.prompts:
        key(desk.desk, Qt.Key.Key_1)
    assert "48 answers of 48" in desk.empty.sentence.text()
    await kept(page, "Ada", 4 * COUNT)
    click(desk.leave)
    await until(
        lambda: page.state.result is not None and page.state.result.people is not None and not page.state.reading
    )
    await settle()

    result = page.state.result
    assert result is not None
    assert result.people is not None
    assert result.people.persons == ("Ada", "You")
    order = result.cell("order", PEOPLE_JUDGE.id)
    assert order.counts["first"] == COUNT
    assert COUNT <= order.items <= COUNT + 2
    row = page.card.row_of("order")
    assert row is not None
    assert row.row is not None
    assert f"n {order.n} of {order.items}" in row.row.people
    assert "People" in row.accessibleName()
    assert page.judge_choice.itemData(page.judge_choice.count() - 1) == PEOPLE_JUDGE.id
    # Nothing of it is a label.
    assert not has_labels(store)
    assert len(lab_people(store)) == 4 + 4 * COUNT


async def test_the_bars_of_people_and_one_probe_alone(page: BiasPage, studio: Studio, place: Path) -> None:
    await planned(page)
    only(page, "order", "bandwagon")
    await run(page)
    page._choose("order")
    await until(lambda: page.context.actions.why_not("bias.people") is None)
    desk = await opened(page)
    assert len(desk.prompts) == 2 * COUNT
    assert not any(prompt.remarks for prompt in desk.prompts)
    for _ in desk.prompts:
        key(desk.desk, Qt.Key.Key_2)
    await kept(page, "You", 2 * COUNT)
    click(desk.leave)
    await until(
        lambda: page.state.result is not None and page.state.result.people is not None and not page.state.reading
    )
    await settle()
    place_of_people = page.judge_choice.count() - 1
    page.judge_choice.setCurrentIndex(place_of_people)
    page.judge_choice.activated.emit(place_of_people)
    await settle()
    first = page.card.rows[0].row
    assert first is not None
    assert (first.share, first.n, first.items) == (0.0, COUNT, COUNT)
    assert first.people == ""
    bandwagon = page.card.rows[1].row
    assert bandwagon is not None
    assert bandwagon.share is None
    click(page.card.rows[0])
    await settle()
    assert page.behind.isHidden()
