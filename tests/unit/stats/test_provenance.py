"""Which labels an estimate rests on, by how their pairs were chosen."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from judgenet.core.labels import NOBODY, Chosen, People
from judgenet.core.pairs import Verdict
from judgenet.stats.calibration import rates
from judgenet.stats.provenance import LabelSources, LabelTally

RANDOM = People("random", population=100)
WITHIN = People("within-verdict", frozenset({"run-1/c1"}))
OTHER = People("within-verdict", frozenset({"run-2/c1"}))
IMPORTED = People("imported")
TARGETED = People(targeted="b", without="targeted")

Row = tuple[Verdict | None, Verdict | None, People]


def tally(rows: Iterable[Row]) -> LabelTally:
    found = LabelTally("run-1/c1")
    for row in rows:
        found.add(*row)
    return found


REST: list[Row] = [("a", None, NOBODY)] * 30 + [("b", None, NOBODY)] * 30 + [(None, None, NOBODY)] * 5


@pytest.mark.parametrize(
    ("rows", "chosen", "n", "left"),
    [
        ([("a", "a", RANDOM)] * 3, "random", 3, {}),
        ([("a", "a", WITHIN)] * 3, "within-verdict", 3, {}),
        ([("a", "a", IMPORTED)] * 3, "imported", 3, {}),
        ([("a", "a", OTHER)] * 3, "random", 0, {"within other verdicts": 3}),
        ([("a", None, TARGETED)] * 3, "random", 0, {"targeted": 3}),
        ([("a", "a", RANDOM)] * 3 + [("b", "a", WITHIN)] * 4, "within-verdict", 7, {}),
        ([("a", "a", RANDOM)] * 3 + [("b", "a", IMPORTED)] * 4, "random", 3, {"imported": 4}),
        (
            [("a", "a", WITHIN), ("a", "b", OTHER), ("b", "b", IMPORTED), ("b", None, TARGETED), (None, "a", RANDOM)],
            "within-verdict",
            1,
            {"within other verdicts": 1, "imported": 1, "targeted": 1, "no verdict": 1},
        ),
    ],
)
def test_what_is_sound_is_used_and_the_rest_named(
    rows: list[Row], chosen: Chosen, n: int, left: dict[str, int]
) -> None:
    sample = tally(rows + REST).sample()
    assert (sample.chosen, sample.labelled.total(), dict(sample.left_out)) == (chosen, n, left)
    judged = sum(verdict is not None for verdict, _, _ in rows + REST)
    assert sample.labelled.total() + sample.others.total() == judged
    assert sum(sample.used.values()) == n
    assert sample.why


def test_labels_of_every_judged_pair_are_no_choice() -> None:
    everything: list[Row] = [("a", "a", IMPORTED), ("b", "b", IMPORTED), ("b", "a", OTHER), (None, "a", IMPORTED)]
    sample = tally(everything).sample()
    assert (sample.chosen, sample.labelled.total()) == ("random", 3)
    some = LabelTally("run-1/c1")
    for place, row in enumerate(everything):
        some.add(*row, asked=place == 0)
    assert (some.sample().chosen, some.sample().labelled.total()) == ("random", 1)
    assert some.sample().left_out == {"not asked for": 2, "no verdict": 1}


def test_what_the_user_states_wins_but_targeted_labels_stay_out() -> None:
    rows: list[Row] = [("a", "a", IMPORTED), ("b", "b", RANDOM), ("b", None, TARGETED)]
    sample = tally(rows + REST).sample("random")
    assert (sample.chosen, sample.labelled.total(), dict(sample.left_out)) == ("random", 2, {"targeted": 1})


def test_figures_for_random_labels_only_leave_others_out() -> None:
    rows: list[Row] = [("a", "a", RANDOM), ("b", "b", WITHIN), ("b", "a", WITHIN)]
    found = tally(rows + REST)
    sample = found.sample(only_random=True)
    assert (sample.chosen, sample.labelled.total(), dict(sample.left_out)) == ("random", 1, {"within-verdict": 2})
    assert found.counts(RANDOM, sample)
    assert not found.counts(WITHIN, sample)


def test_targeted_labels_do_not_move_the_estimate() -> None:
    """Hardest pairs first is what takes the stratified interval to .274 of its nominal coverage (statistics 3.6)."""
    drawn: list[Row] = [("a", "a", RANDOM)] * 12 + [("b", "b", RANDOM)] * 10 + [("b", "a", RANDOM)] * 4
    before = tally(drawn + REST).sample()
    after = tally(drawn + REST[:55] + [("b", None, TARGETED)] * 5 + REST[60:]).sample()
    one, other = (rates(s.labelled, s.others, s.chosen).estimates["stratified"] for s in (before, after))
    assert one.value is not None
    assert one == other


def test_the_sources_of_agreement_are_told() -> None:
    sources = LabelSources()
    for human, people in (("a", RANDOM), ("b", WITHIN), ("a", IMPORTED), (None, TARGETED), (None, NOBODY)):
        sources.add(human, people)  # type: ignore[arg-type]
    sources.add("tie", People("random", disputed=True))
    assert sources.counted == {"random": 2, "within-verdict": 1, "imported": 1}
    assert (dict(sources.left_out), sources.disputed) == ({"targeted": 1}, 1)
    assert len(sources.notes) == 4
