"""Sorting, filtering and searching many pairs, checked against plain Python over the pairs themselves."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, cohen_kappa_score

from judgenet.core.events import PairFinished
from judgenet.core.network import AcceptanceRule
from judgenet.core.pairs import VERDICTS, Pair, Verdict
from judgenet.core.presets import network
from judgenet.engine.pair_index import DatasetVerdicts, PairFilter, PairIndex, chosen_mask
from judgenet.store.frame import RunFrame
from judgenet.store.runs import RunInfo

RANDOM = random.Random(7)
LABELS: tuple[Verdict | None, ...] = (*VERDICTS, None)
WORDS = ["Ice", "floats", "STRASSE", "Straße", "café", "CAFÉ", "水は", "冷たい", "שלום", "مرحبا", "x-1", "10", "2"]


def some_pairs(count: int) -> list[Pair]:
    def text(longest: int) -> str:
        return " ".join(RANDOM.choices(WORDS, k=RANDOM.randint(0, longest)))

    return [
        Pair(
            f"p-{number}",
            text(6),
            text(9),
            text(9),
            task=RANDOM.choice(["code", "Art", "talk", None]),
            human=RANDOM.choice(LABELS),
            reference=text(2) or None,
        )
        for number in RANDOM.sample(range(10 * count), count)
    ]


PAIRS = some_pairs(300)
INDEX = PairIndex(PAIRS)
SAID: list[Verdict | None] = [RANDOM.choice(LABELS) for _ in PAIRS]
DONE = [RANDOM.random() < 0.8 for _ in PAIRS]


def a_table(pairs: Sequence[Pair]) -> RunFrame:
    run = RunInfo("run-1", 1, "f", 0.0, None, "running", "", {})
    return RunFrame.fresh(run, network(2, 1), pairs)


def finished(table: RunFrame, index: int, verdict: Verdict | None) -> PairFinished:
    said = tuple((name, verdict) for name in table.aggregations)
    return PairFinished("run-1", index, table.pairs.ids[index], None, said, 4, 4, 0)


def some_verdicts() -> DatasetVerdicts:
    """A run over the pairs in another order, with one more that the data set does not have."""
    places = list(range(len(PAIRS)))
    random.Random(1).shuffle(places)
    table = a_table([replace(PAIRS[0], id="elsewhere"), *(PAIRS[place] for place in places)])
    for number, place in enumerate(places, 1):
        if DONE[place]:
            table.take(finished(table, number, SAID[place]))
    return DatasetVerdicts.of(table, [pair.id for pair in PAIRS])


VERDICTS_OF_RUN = some_verdicts()


def said(place: int) -> Verdict | None:
    return SAID[place] if DONE[place] else None


def passing(wanted: PairFilter, **more: object) -> list[int]:
    mask: NDArray[np.bool_] = INDEX.mask(wanted, verdicts=VERDICTS_OF_RUN, **more)  # type: ignore[arg-type]
    return np.flatnonzero(mask).tolist()


def where(*holds: bool) -> list[int]:
    return [place for place, one in enumerate(holds) if one]


# --- filtering ---


def test_every_filter_is_what_it_says() -> None:
    assert passing(PairFilter()) == list(range(300))
    assert passing(PairFilter(tasks=frozenset({"code", None}))) == where(*(p.task in ("code", None) for p in PAIRS))
    assert passing(PairFilter(human=frozenset({"a", None}))) == where(*(p.human in ("a", None) for p in PAIRS))
    assert passing(PairFilter(verdict=frozenset({"tie"}))) == where(*(said(i) == "tie" for i in range(300)))
    assert passing(PairFilter(verdict=frozenset({"unscored"}))) == where(
        *(DONE[i] and SAID[i] is None for i in range(300))
    )
    assert passing(PairFilter(verdict=frozenset({"open", "b"}))) == where(
        *(not DONE[i] or SAID[i] == "b" for i in range(300))
    )
    both = [p.human is not None and said(i) is not None for i, p in enumerate(PAIRS)]
    same = [p.human == said(i) for i, p in enumerate(PAIRS)]
    assert passing(PairFilter(match=frozenset({"agree"}))) == where(*map(lambda b, s: b and s, both, same))
    assert passing(PairFilter(match=frozenset({"differ"}))) == where(*map(lambda b, s: b and not s, both, same))
    assert passing(PairFilter(match=frozenset({"agree", "differ"}))) == where(*both)
    assert passing(PairFilter(positions=(3, 299, 1, 5000))) == [1, 3, 299]


def test_findings_and_choice() -> None:
    findings = {"duplicate": [PAIRS[4].id, PAIRS[200].id], "empty_response": [PAIRS[9].id]}
    assert passing(PairFilter(findings=frozenset({"duplicate"})), findings=findings) == [4, 200]
    assert passing(PairFilter(findings=frozenset(findings)), findings=findings) == [4, 9, 200]
    assert passing(PairFilter(findings=frozenset({"nothing"})), findings=findings) == []
    chosen = chosen_mask(PAIRS, PAIRS[10:13])
    assert passing(PairFilter(chosen=True), chosen=chosen) == [10, 11, 12]
    assert len(passing(PairFilter(chosen=False), chosen=chosen)) == 297
    assert passing(PairFilter(chosen=False)) == []
    assert chosen_mask(PAIRS, PAIRS).all()


def test_filters_add_up() -> None:
    wanted = PairFilter(tasks=frozenset({"talk"}), human=frozenset({"a"}), text="ice")
    assert passing(wanted) == sorted(
        set(passing(PairFilter(tasks=wanted.tasks)))
        & set(passing(PairFilter(human=wanted.human)))
        & set(passing(PairFilter(text="ice")))
    )
    assert not wanted.empty
    assert PairFilter().empty


# --- searching ---


def plain_search(*terms: str) -> list[int]:
    def texts(pair: Pair) -> list[str]:
        parts = (pair.id, pair.task, pair.question, pair.response_a, pair.response_b, pair.reference)
        return [part.casefold() for part in parts if part]

    return where(*(all(any(term in text for text in texts(pair)) for term in terms) for pair in PAIRS))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("ICE", ("ice",)),
        ("strasse", ("strasse",)),
        ("Straße", ("strasse",)),
        ("café", ("café",)),
        ("水", ("水",)),
        ("שלום مرحبا", ("שלום", "مرحبا")),
        ("ice FLOATS 10", ("ice", "floats", "10")),
        ('"ice floats"', ("ice floats",)),
        ('"ice floats" 2', ("ice floats", "2")),
        ('"unfinished', ("unfinished",)),
        ("p-1", ("p-1",)),
        ("art", ("art",)),
        (".*", (".*",)),
    ],
)
def test_search(text: str, terms: tuple[str, ...]) -> None:
    assert PairIndex(PAIRS).search(text).tolist() == plain_search(*terms)


def test_typing_on_and_back_finds_the_same() -> None:
    index = PairIndex(PAIRS)
    for text in ("i", "ic", "ice", "ice f", "ice", "ic", "c", "10 ice", "1", '"', "floats ice"):
        assert index.search(text).tolist() == PairIndex(PAIRS).search(text).tolist()


def test_models_and_tags_are_searched() -> None:
    index = PairIndex([replace(PAIRS[0], model_b="Meridian 70B"), replace(PAIRS[1], tags=("edge case",))])
    assert index.search("meridian").tolist() == [0]
    assert index.search('"edge case"').tolist() == [1]


class Stopped(Exception):
    """Stands for a newer wish."""


def test_search_and_sorting_can_be_stopped() -> None:
    def check() -> None:
        raise Stopped

    for work in (lambda: PairIndex(PAIRS).search("x", check), lambda: PairIndex(PAIRS).order("question", check=check)):
        with pytest.raises(Stopped):
            work()


# --- sorting ---


def test_ids_sort_with_their_numbers_as_numbers() -> None:
    order = INDEX.order("id").tolist()
    assert [PAIRS[place].id for place in order] == sorted((p.id for p in PAIRS), key=lambda one: int(one[2:]))
    assert INDEX.order("id", descending=True).tolist() == order[::-1]
    assert INDEX.order(None).tolist() == list(range(300))


def test_equal_keys_keep_the_order_of_the_source_and_missing_ones_come_last() -> None:
    for descending in (False, True):
        order = INDEX.order("human", descending=descending).tolist()
        labels = [PAIRS[place].human for place in order]
        kinds = list(dict.fromkeys(labels))
        assert kinds == (["b", "tie", "a", None] if descending else ["a", "tie", "b", None])
        for kind in kinds:
            places = [place for place in order if PAIRS[place].human == kind]
            assert places == sorted(places)


def test_lengths_tasks_verdicts_and_agreement() -> None:
    lengths = [len(PAIRS[place].response_b) for place in INDEX.order("length_b", descending=True)]
    assert lengths == sorted(lengths, reverse=True)
    tasks = [PAIRS[place].task for place in INDEX.order("task")]
    assert list(dict.fromkeys(tasks)) == ["Art", "code", "talk", None]
    verdicts = [said(place) for place in INDEX.order("verdict", verdicts=VERDICTS_OF_RUN)]
    assert list(dict.fromkeys(verdicts)) == ["a", "tie", "b", None]
    matches = INDEX.order("agreement", verdicts=VERDICTS_OF_RUN).tolist()
    agreeing = len(passing(PairFilter(match=frozenset({"agree"}))))
    assert set(matches[:agreeing]) == set(passing(PairFilter(match=frozenset({"agree"}))))
    questions = [" ".join(PAIRS[place].question.split()).casefold() for place in INDEX.order("question")]
    assert questions == sorted(questions)
    mask = chosen_mask(PAIRS, PAIRS[5:7])
    assert INDEX.order("chosen", chosen=mask).tolist()[:2] == [5, 6]


# --- counting, and a run that goes on ---


def test_counts_and_agreement() -> None:
    assert INDEX.task_counts() == {task: sum(p.task == task for p in PAIRS) for task in ("code", "Art", "talk", None)}
    assert INDEX.human_counts() == {label: sum(p.human == label for p in PAIRS) for label in LABELS}
    counts = INDEX.judged_counts(VERDICTS_OF_RUN)
    assert counts["open"] == DONE.count(False)
    assert counts["unscored"] == sum(DONE[i] and SAID[i] is None for i in range(300))
    assert sum(counts.values()) == 300
    found = INDEX.agreement(VERDICTS_OF_RUN)
    used = [(p.human, SAID[i]) for i, p in enumerate(PAIRS) if p.human and DONE[i] and SAID[i]]
    human, judged = zip(*used, strict=True)
    assert found.n_used == len(used)
    assert found.n_total == DONE.count(True)
    assert found.accuracy == pytest.approx(accuracy_score(human, judged))
    assert found.kappa == pytest.approx(cohen_kappa_score(human, judged))


def test_a_run_that_goes_on_is_followed_pair_by_pair() -> None:
    table = a_table(PAIRS[:3])
    verdicts = DatasetVerdicts.of(table, [pair.id for pair in PAIRS])
    assert INDEX.judged_counts(verdicts)["open"] == 300
    table.take(finished(table, 2, "b"))
    assert verdicts.take({2, 1, 77}) == [1, 2]
    assert INDEX.judged_counts(verdicts)["b"] == 1
    assert (verdicts.run_index(2), verdicts.run_index(3)) == (2, None)
    assert DatasetVerdicts.of(None, ["x"]).take([0]) == []


def test_the_rule_that_gives_the_verdict_can_be_chosen() -> None:
    table = a_table(PAIRS[:2])
    table.take(PairFinished("run-1", 0, PAIRS[0].id, None, (("c1", "a"), ("c2_l1", "b"), ("c2_all", "tie")), 4, 4, 0))
    ids = [pair.id for pair in PAIRS]
    for rule, code in (("c1", 1), ("c2_l1", 3), ("c2_all", 2), ("", 2), ("chair", 2)):
        assert DatasetVerdicts.of(table, ids, rule).verdict[0] == code


def test_nothing_at_all() -> None:
    index = PairIndex([])
    assert index.order("question").tolist() == []
    assert index.mask(PairFilter(text="x")).tolist() == []
    assert index.agreement(DatasetVerdicts(0)).accuracy is None


def test_a_pair_that_is_left_to_people_is_not_unscored() -> None:
    """The rule accepts the first of two pairs with a verdict; the third has none."""
    spec = network(2, 1)
    rule = AcceptanceRule("c2_all", "calls", 0.9, 0.1, 0.05)
    run = RunInfo("run-1", 1, "f", 0.0, None, "running", "", {})
    with_rule = replace(spec, aggregation=replace(spec.aggregation, acceptance=rule))
    table = RunFrame.fresh(run, with_rule, PAIRS[:3])
    for index, (verdict, accepted) in enumerate((("a", "a"), ("a", None), (None, None))):
        said = tuple((name, accepted if name == "accepted" else verdict) for name in table.aggregations)
        table.take(PairFinished("run-1", index, PAIRS[index].id, None, said, 4, 4, 0))  # type: ignore[arg-type]
    verdicts = DatasetVerdicts.of(table, [pair.id for pair in PAIRS])
    assert verdicts.rule == "accepted"
    counts = INDEX.judged_counts(verdicts)
    assert (counts["a"], counts["people"], counts["unscored"], counts["open"]) == (1, 1, 1, 297)
    passed = INDEX.mask(PairFilter(verdict=frozenset({"people"})), verdicts=verdicts)
    assert np.flatnonzero(passed).tolist() == [1]
