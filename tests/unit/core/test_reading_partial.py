"""Evidence is shown while it is written."""

from __future__ import annotations

import json

import pytest

from judgenet.core.reading_partial import evidence_so_far
from judgenet.core.schemas import EVIDENCE, SCORE_1, SCORE_2

SAID = 'He said "no", then \\ and\na line. 漢字 🙂 é.'


@pytest.mark.parametrize("ascii_only", [True, False])
def test_every_beginning_of_an_object_gives_a_beginning_of_its_evidence(ascii_only: bool) -> None:
    whole = json.dumps({EVIDENCE: SAID, SCORE_1: 7, SCORE_2: 4}, ensure_ascii=ascii_only)
    before = ""
    for length in range(len(whole) + 1):
        told = evidence_so_far(whole[:length])
        assert SAID.startswith(told), whole[:length]
        assert len(told) >= len(before)
        before = told
    assert before == SAID


def test_fences_and_spaces_do_not_matter() -> None:
    assert evidence_so_far('```json\n{ "evidence" : "Both are') == "Both are"


def test_an_object_without_evidence_yet_says_nothing() -> None:
    assert evidence_so_far("") == ""
    assert evidence_so_far('{"evi') == ""
    assert evidence_so_far('{"score_1": 7, "sc') == ""


def test_prose_is_shown_as_it_is() -> None:
    assert evidence_so_far("The first is better beca") == "The first is better beca"


def test_thinking_is_left_out() -> None:
    assert evidence_so_far("<think>Hm, is it") == ""
    assert evidence_so_far("<think>Hm.</think>The second") == "The second"


def test_an_answer_that_began_anew_counts_from_its_last_beginning() -> None:
    assert evidence_so_far('{"evidence": "The first tr{"evidence": "The sec') == "The sec"
