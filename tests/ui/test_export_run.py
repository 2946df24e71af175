"""The dialog that exports a run, used by mouse and keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgenet.ui import export_run
from judgenet.ui.app import Studio
from judgenet.ui.export_run import ExportDialog
from tests.ui.conftest import until
from tests.ui.person import click
from tests.ui.story import story_pairs
from tests.ui.test_results import judged, recorded


def choose(dialog: ExportDialog, kind: str) -> None:
    dialog.kind.setCurrentIndex(dialog.kind.findData(kind))


async def test_preferences_and_the_explorer_are_written(
    studio: Studio, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await judged(studio, place, story_pairs(12))
    asked: list[Path] = []

    async def ask(_parent: object, _title: str, _filters: object, suggestion: Path, suffix: str) -> Path:
        """The user takes what is suggested."""
        asked.append(suggestion)
        return suggestion

    monkeypatch.setattr(export_run, "ask_save_file", ask)
    dialog, context = page.exporting, page.context
    context.actions.trigger("run.export")
    await until(dialog.isVisible, "the dialog")
    assert dialog.kind.currentData() == "calls"
    assert not dialog.source.isVisible()
    choose(dialog, "preferences")
    assert dialog.source.isVisible()
    assert dialog.source.currentData() == "c2_all"
    click(dialog.export_button)
    await until(lambda: bool(asked) and asked[0].exists(), "the file")
    assert asked[0].name == "run-1-preferences.jsonl"
    lines = [json.loads(line) for line in asked[0].read_text(encoding="utf-8").splitlines()]
    said = {of.pair.pair.id: of.verdicts.named()["c2_all"] for of in recorded(page) if of.verdicts is not None}
    decided = [name for name, verdict in said.items() if verdict in ("a", "b")]
    assert [line["pair_id"] for line in lines] == decided

    context.actions.trigger("run.export")
    choose(dialog, "explorer")
    assert not dialog.form.isVisible()
    click(dialog.export_button)
    await until(lambda: len(asked) == 2 and asked[1].exists(), "the explorer")
    assert asked[1].read_text(encoding="utf-8").startswith("<!doctype html>")
