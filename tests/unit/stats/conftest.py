"""Recorded judges of the reference data."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgenet.formats import read_pairs
from judgenet.formats.judgments import parse_conditions, read_judgments
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.recorded import import_run, select


@pytest.fixture(scope="session")
def llmbar(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> RunFrame:
    """The 18 neurons (six judges, three prompts) on the 419 pairs, both orders, as recorded."""
    folder = shared_data / "llmbar"
    files = read_judgments([folder / "judgments_cot.jsonl", folder / "judgments_short.jsonl"])
    where = parse_conditions("task=LLMBar/*,prompt=CoT,prompt=Vanilla,prompt=Vanilla_NoRules")
    selected = select(files, read_pairs(folder / "pairs.jsonl").pairs, where)
    with Store.open(tmp_path_factory.mktemp("llmbar") / "run.judgenet.db") as store:
        found = RunFrame.read(store, import_run(store, selected))
    assert found.votes.shape == (419, 18)
    return found
