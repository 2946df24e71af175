"""Smaller networks from recorded calls, against the aggregation of each of them by itself."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from judgenet.core.aggregate import Opinion, aggregate
from judgenet.core.evaluation import Evaluation, Reason, Unscored
from judgenet.core.network import Aggregation
from judgenet.core.pairs import ORDERS
from judgenet.formats import read_pairs
from judgenet.formats.judgments import parse_conditions, read_judgments
from judgenet.stats.curves import CODES
from judgenet.stats.intervals import wilson
from judgenet.stats.whatif import Calls, Subnetwork, answer, change, verdict_codes, what_if, whole_choice
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.recorded import import_run, select

LAYERS = np.array([1, 1, 1, 2, 2])


def made(pairs: int = 60, samples: int = 2, seed: int = 0) -> Calls:
    """Calls of a network of 3 and 2 neurons with whole scores, many ties and some invalid."""
    rng = np.random.default_rng(seed)
    shape = (pairs, len(LAYERS), 2, samples)
    differences = rng.integers(-1, 2, shape).astype(float)
    differences[rng.random(shape) < 0.15] = np.nan
    human = rng.integers(0, 4, pairs).astype(np.uint8)
    return Calls(differences, np.ones(shape, dtype=bool), LAYERS, human)


def opinions(calls: Calls, pair: int, kept: np.ndarray) -> list[Opinion]:
    """The same calls as they are stored."""
    found = []
    for neuron, order, sample in np.ndindex(calls.differences.shape[1:]):
        if not kept[neuron]:
            continue
        value = calls.differences[pair, neuron, order, sample]
        verdict: Literal["a", "b", "tie"] = "a" if value > 0 else "b" if value < 0 else "tie"
        result = Unscored(Reason.UNPARSED) if np.isnan(value) else Evaluation("", verdict)
        layer = int(LAYERS[neuron])
        weight = 1 if calls.weights is None else float(calls.weights[pair, neuron])
        found.append(Opinion(layer, neuron + 1, ORDERS[order], sample + 1, result, weight))
    return found


@pytest.mark.parametrize(
    "rules",
    [
        Aggregation(vote, ties, fallback)  # type: ignore[arg-type]
        for vote, ties, fallback in product(("neuron", "call"), ("abstain", "candidate"), ("tie", "c1"))
    ]
    + [Aggregation(quorum=2), Aggregation("call", fallback="c1", quorum=3)],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_verdicts_are_those_of_the_aggregation(rules: Aggregation, weighted: bool) -> None:
    calls = made()
    if weighted:
        drawn = np.random.default_rng(9).choice([0.0, 0.5, 1.0, 2.5], (len(calls.human), len(LAYERS)))
        calls = replace(calls, weights=drawn)
    masks = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 1], [1, 1, 1, 0, 0], [0, 1, 0, 0, 0], [1, 0, 1, 0, 0]], dtype=bool)
    for rule in ("c1", "c2_all", "c2_last"):
        codes = verdict_codes(calls.differences, calls.layers, masks, rules, rule, calls.weights)
        for row, kept in enumerate(masks):
            depth = int(LAYERS[kept].max())
            for pair in range(len(calls.human)):
                found = aggregate(opinions(calls, pair, kept), depth, rules)
                want = {"c1": found.c1, "c2_all": found.c2_all, "c2_last": found.c2_layers[-1]}[rule]
                assert CODES[codes[row, pair]] == want, (rule, row, pair)


@pytest.mark.parametrize(
    ("choice", "kept"),
    [
        (Subnetwork(2, 2, ORDERS, 2), [1, 1, 1, 1, 1]),
        (Subnetwork(2, 1, ORDERS, 2), [1, 1, 1, 1, 0]),
        (Subnetwork(1, 2, ORDERS, 1), [1, 1, 0, 0, 0]),
        (Subnetwork(1, 3, ("ba",), 2), [1, 1, 1, 0, 0]),
    ],
)
def test_an_answer_is_what_the_smaller_network_would_have_said(choice: Subnetwork, kept: list[int]) -> None:
    calls = made()
    found = answer(calls, choice, Aggregation())
    right = n = used = 0
    for pair in range(len(calls.human)):
        mine = [
            said
            for said in opinions(calls, pair, np.array(kept, dtype=bool))
            if said.order in choice.orders and said.sample <= choice.samples
        ]
        want = aggregate(mine, choice.depth).c2_all
        assert CODES[found.codes[pair]] == want, pair
        used += len(mine)
        if want is not None and CODES[calls.human[pair]] is not None:
            n += 1
            right += want == CODES[calls.human[pair]]
    assert (found.n_used, found.n_total) == (n, len(calls.human))
    assert found.accuracy == pytest.approx(right / n)
    assert found.calls == pytest.approx(used / len(calls.human))


def test_what_is_no_exact_part_of_the_network_is_refused() -> None:
    calls = made()
    assert whole_choice(calls) == Subnetwork(2, 2, ORDERS, 2)
    for choice in (
        Subnetwork(2, 3, ORDERS, 2),
        Subnetwork(1, 0, ORDERS, 1),
        Subnetwork(1, 1, ORDERS, 3),
        Subnetwork(3, 1, ORDERS, 1),
    ):
        with pytest.raises(ValueError, match="no part of this network"):
            answer(calls, choice, Aggregation())
    with pytest.raises(ValueError, match="both orders"):
        answer(calls, Subnetwork(2, 2, ("ab",), 2), Aggregation())


def test_pairs_without_a_label_change_nothing_but_are_asked_too() -> None:
    calls = made()
    labelled = calls.human > 0
    few = Calls(calls.differences[labelled], calls.asked[labelled], calls.layers, calls.human[labelled])
    one, other = what_if(calls, Aggregation()), what_if(few, Aggregation())
    assert one is not None
    assert other is not None
    assert one.whole == other.whole
    told: list[tuple[int, int]] = []
    what_if(few, Aggregation(), on_progress=lambda done, total: told.append((done, total)))
    assert told == [(place, len(told)) for place in range(len(told))]


def test_only_networks_are_asked_whose_calls_would_be_the_same() -> None:
    found = what_if(made(), Aggregation())
    assert found is not None
    kinds = {(point.depth, point.width, point.orders, point.samples) for point in found.points}
    single = {(1, width, (order,), samples) for width in (1, 2, 3) for order in ORDERS for samples in (1, 2)}
    both = {(1, width, ORDERS, samples) for width in (1, 2, 3) for samples in (1, 2)}
    # A neuron of layer 2 has read both orders of layer 1, and all of its neurons.
    deeper = {(2, width, ORDERS, samples) for width in (1, 2) for samples in (1, 2)}
    assert kinds == single | both | deeper
    assert {point.neurons for point in found.points if point.depth == 2} == {4, 5}
    assert (found.whole.neurons, found.whole.calls, found.whole.difference) == (5, 20.0, 0.0)


def test_a_size_is_the_mean_over_choices_of_neurons() -> None:
    calls = made()
    found = what_if(calls, Aggregation(), "c1")
    assert found is not None
    point = next(p for p in found.points if (p.depth, p.width, p.orders, p.samples) == (1, 1, ORDERS, 2))
    shares = []
    for neuron in range(3):
        kept = np.arange(len(LAYERS)) == neuron
        said = [aggregate(opinions(calls, pair, kept), 1).c1 for pair in range(len(calls.human))]
        both = [(CODES[label], one) for label, one in zip(calls.human, said, strict=True) if label and one]
        shares.append((sum(label == one for label, one in both), len(both)))
    assert (point.subsets, point.every) == (3, True)
    assert point.accuracy == pytest.approx(sum(hits for hits, _ in shares) / sum(n for _, n in shares))
    assert (point.lowest, point.highest) == (
        pytest.approx(min(hits / n for hits, n in shares)),
        pytest.approx(max(hits / n for hits, n in shares)),
    )
    assert found.best_neuron[1] == pytest.approx(point.highest)


def test_the_smallest_network_is_the_cheapest_that_is_near() -> None:
    # Three neurons that always agree and are right on half of the pairs: one of them, asked once, is as good.
    differences = np.tile(np.where(np.arange(40) % 2 == 0, 1.0, -1.0)[:, None, None, None], (1, 3, 2, 2))
    human = np.ones(40, dtype=np.uint8)
    calls = Calls(differences, np.ones(differences.shape, dtype=bool), np.array([1, 1, 1]), human)
    found = what_if(calls, Aggregation())
    assert found is not None
    smallest = found.smallest
    assert (smallest.neurons, smallest.orders, smallest.samples, smallest.calls) == (1, ("ab",), 1, 1.0)
    assert (smallest.accuracy, smallest.difference) == (0.5, 0.0)
    # No pair tells it from the whole network, which is not to say that none would.
    z2 = 1.959964**2
    assert smallest.difference_interval == pytest.approx((-z2 / (40 + z2), z2 / (40 + z2)), abs=1e-6)
    assert found.whole.difference_interval == (0, 0)


def test_without_labels_there_is_no_curve() -> None:
    calls = made()
    bare = Calls(calls.differences, calls.asked, calls.layers, np.zeros_like(calls.human))
    assert what_if(bare, Aggregation()) is None


@pytest.mark.data
def test_the_width_of_llmbar(shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "llmbar"
    files = read_judgments([folder / "judgments_cot.jsonl", folder / "judgments_short.jsonl"])
    where = parse_conditions("task=LLMBar/*,prompt=CoT,prompt=Vanilla,prompt=Vanilla_NoRules")
    selected = select(files, read_pairs(folder / "pairs.jsonl").pairs, where)
    with Store.open(tmp_path / "run.judgenet.db") as store:
        frame = RunFrame.read(store, import_run(store, selected))
    calls, names = frame.what_if_calls(), frame.names
    found = what_if(calls, Aggregation())
    assert found is not None
    # Statistics 5.9: the vote of all 18 reaches .556, GPT-4 with the prompt Vanilla alone .809.
    assert round(found.whole.accuracy, 3) == 0.556
    assert (names[found.best_neuron[0]], round(found.best_neuron[1], 3)) == ("GPT-4|Vanilla", 0.809)
    both = [point for point in found.points if point.orders == ORDERS]
    assert [point.width for point in both] == list(range(1, 19))
    assert both[0].highest == found.best_neuron[1]
    assert both[0].accuracy < both[4].accuracy < both[17].accuracy
    assert found.best.accuracy == found.best_neuron[1]
    assert found.best.interval is not None
    assert found.best.difference_interval is not None
    # The vote of all is far from the best judge: 25 points, which is no accident of these pairs.
    assert found.best.difference == pytest.approx(0.809 - 0.556, abs=1e-3)
    assert found.best.difference_interval.low > 0.15
    assert found.best.interval == pytest.approx(wilson(339, 419), abs=0.01)


def test_intervals_over_questions() -> None:
    """Five pairs that are alike to each of 60 questions: an interval is as wide as one of 60 pairs, for an answer, for
    what it changes, and for every point of the curve; below ten questions there is none."""
    rng = np.random.default_rng(4)
    human = rng.choice([1, 3], size=60).astype(np.uint8)
    sign = np.where(human == 1, 1.0, -1.0)
    said = np.where(rng.random((60, 3)) < (0.9, 0.7, 0.6), sign[:, None], -sign[:, None])
    differences = np.repeat(said[:, :, None, None], 2, axis=2)
    once = Calls(differences, np.ones(differences.shape, dtype=bool), np.array([1, 1, 1]), human, np.arange(60))
    often = Calls(
        np.repeat(once.differences, 5, axis=0),
        np.repeat(once.asked, 5, axis=0),
        once.layers,
        np.repeat(human, 5),
        np.repeat(np.arange(60), 5),
    )
    choice, whole = Subnetwork(1, 1, ORDERS, 1), whole_choice(often)

    def wide(interval: tuple[float, float] | None) -> float:
        assert interval is not None
        return interval[1] - interval[0]

    answers = {name: answer(calls, choice, Aggregation()) for name, calls in (("once", once), ("often", often))}
    assert answers["often"].accuracy == answers["once"].accuracy
    assert wide(answers["often"].interval) == pytest.approx(wide(answers["once"].interval), rel=0.15)
    changes = [
        change(answer(calls, choice, Aggregation()), answer(calls, whole, Aggregation()), calls.human, calls.questions)
        for calls in (once, often)
    ]
    assert changes[1].test.difference == changes[0].test.difference
    assert wide(changes[1].test.interval) == pytest.approx(wide(changes[0].test.interval), rel=0.15)
    curves = [what_if(calls, Aggregation()) for calls in (once, often)]
    assert curves[0] is not None
    assert curves[1] is not None
    assert (curves[1].questions, curves[1].few) == (60, "")
    for one, other in zip(curves[0].points, curves[1].points, strict=True):
        assert other.accuracy == pytest.approx(one.accuracy)
        assert wide(other.interval) == pytest.approx(wide(one.interval), rel=0.25)
        assert wide(other.difference_interval) == pytest.approx(wide(one.difference_interval), rel=0.25, abs=0.02)
    few = Calls(often.differences, often.asked, often.layers, often.human, np.arange(300) % 9)
    found = what_if(few, Aggregation())
    assert found is not None
    assert "9 questions" in found.few
    assert all(point.interval is None and point.difference_interval is None for point in found.points)
    assert answer(few, choice, Aggregation()).interval is None
