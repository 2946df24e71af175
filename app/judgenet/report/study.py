"""What else can be told of a run beside the counts of its verdicts: people and neurons as panels, who agrees most, how
alike layers are, what people would still have to review, weights that can be learned, smaller networks, a ranking of
systems, and how many labels are wanted.

The run is read once more, without texts of calls; what is kept are a few numbers a call.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from judgenet.core.evaluation import TIE_TOLERANCE, Reason
from judgenet.core.labels import Chosen
from judgenet.core.network import NetworkSpec, inputs_of
from judgenet.core.pairs import ORDERS, Verdict, question_key
from judgenet.report.bias_figures import lab_figures
from judgenet.report.learned import (
    WARNINGS,
    WAY_TITLES,
    LessOther,
    Way,
    below_baseline,
    compared_votes,
    learn_from,
    less_others,
)
from judgenet.report.model import Report
from judgenet.report.verdict_index import VerdictIndex
from judgenet.stats.agreement import Agreement, agreement_of
from judgenet.stats.curves import CODES, Codes, pair_counts, verdict_codes
from judgenet.stats.discussion import MindChanges, mind_changes, others_majority
from judgenet.stats.diversity import DiversityChange, VerdictDiversity, diversity_change, verdict_diversity
from judgenet.stats.intervals import AgreementIntervals, agreements_intervals
from judgenet.stats.label_plan import LabelPlan, plan_labels
from judgenet.stats.panel import PanelAgreement, Raters, against_people, panel_agreement, panel_of
from judgenet.stats.ranking import Game, Ranking, rank
from judgenet.stats.resampling import question_counts
from judgenet.stats.uncertainty import ReviewCurve, ReviewNeed, entropies, review_curve, review_need
from judgenet.stats.whatif import Calls, Rule, WhatIf, what_if
from judgenet.store.db import Store
from judgenet.store.results import neuron_names
from judgenet.store.runs import RunInfo, call_heads, run_pairs

Groups = NDArray[np.int64] | None

PLAN_WIDTH = 0.1
"""The width of the interval that the label plan of a report is for."""
REVIEW_SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
MOST_RATERS = 50
"""A panel of more people has no intervals."""
MOST_SIZES = 64
"""A network with a wider last layer has no curve of sizes."""
_SIGN = {"a": 1.0, "b": -1.0, "tie": 0.0}

Step = Callable[[str], None]
"""Hears what is being reckoned. What it raises ends the work."""


@dataclass(frozen=True, slots=True)
class People:
    """The people of a panel among themselves (``units`` pairs have the labels of some by name), and how much of the
    pairs people would have to review for the network to be as right as they are among themselves. ``need`` is ``None``
    where their own agreement is unknown."""

    panel: PanelAgreement
    units: int
    need: ReviewNeed | None


@dataclass(frozen=True, slots=True)
class LayerStudy:
    """The neurons of a layer (from 1) as a panel, how differently they decide, and, from layer 2 on, how that changed
    and how they changed their mind."""

    layer: int
    panel: PanelAgreement
    diversity: VerdictDiversity
    change: DiversityChange | None
    minds: MindChanges | None


@dataclass(frozen=True, slots=True)
class LearnedWay:
    """A way to join the neurons, cross-fitted, against people. ``weights`` are by neuron, fitted to all pairs; without
    figures ``reason`` says why. ``warning`` is what to know beside it, ``less`` what it gains over the best neuron and
    the votes on the same pairs, ``below_baseline`` says that and why people's commonest label beats it."""

    way: Way
    title: str
    agreement: Agreement | None
    intervals: AgreementIntervals | None
    weights: Mapping[str, float]
    penalty: float | None
    reason: str = ""
    warning: str = ""
    less: tuple[LessOther, ...] = ()
    below_baseline: str = ""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How accurate smaller networks would have been by ``rule``. Without ``found`` there is a ``reason``."""

    rule: Rule
    found: WhatIf | None
    names: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Ranks:
    """The systems by the network's verdicts, and by people where they have labels. ``n`` and ``n_human`` pairs of two
    named systems were used."""

    verdicts: Ranking
    human: Ranking | None
    n: int
    n_human: int


@dataclass(frozen=True, slots=True)
class More:
    """All of it. What a run has nothing to say of is ``None`` or empty.

    ``raters`` are the neurons against people, ``role_raters`` the roles that neurons have on all pairs. ``review``
    is people's review of the pairs whose calls differ most.
    """

    people: People | None
    layers: tuple[LayerStudy, ...]
    raters: Raters | None
    role_raters: Raters | None
    review: ReviewCurve | None
    learned: tuple[LearnedWay, ...]
    sizes: Sizes | None
    ranks: Ranks | None
    plan: LabelPlan | None


@dataclass(frozen=True, slots=True)
class _Run:
    """A run as numbers, by pair: labels, questions, systems, differences of lengths; by call: A minus B."""

    human: Codes
    finished: NDArray[np.bool_]
    groups: NDArray[np.int64]
    repeated: bool
    systems: tuple[str, ...]
    played: tuple[NDArray[np.int64], NDArray[np.int64]]
    longer_b: NDArray[np.int64]
    places: tuple[tuple[int, int], ...]
    names: tuple[str, ...]
    differences: NDArray[np.float64]
    asked: NDArray[np.bool_]
    calls: NDArray[np.int64]

    @property
    def questions(self) -> Groups:
        return self.groups if self.repeated else None

    @property
    def layers(self) -> NDArray[np.int64]:
        return np.array([layer for layer, _ in self.places], dtype=np.int64)


def _read(store: Store, run: RunInfo, spec: NetworkSpec) -> _Run:
    human, finished = bytearray(), bytearray()
    digests, lengths = array("Q"), array("q")
    systems: dict[str | None, int] = {None: 0}
    played = (array("I"), array("I"))
    for of in run_pairs(store, run):
        pair = of.pair
        human.append(CODES.index(pair.human))
        finished.append(of.state != "open")
        digests.append(int.from_bytes(question_key(pair.question)[:8]))
        lengths.append(len(pair.response_b) - len(pair.response_a))
        for side, name in zip(played, (pair.model_a or None, pair.model_b or None), strict=True):
            side.append(systems.setdefault(name, len(systems)))
    n = len(human)
    where, slots, values = array("I"), array("I"), array("d")
    columns: dict[tuple[int, int], int] = {}
    asked_only = (array("I"), array("I"))
    samples = 1
    calls = np.zeros((n, 3), dtype=np.int64)
    for call in call_heads(store, run):
        if call.order is None or not 1 <= call.layer <= spec.depth or not finished[call.pair]:
            continue
        if call.reason == Reason.NOT_RECORDED:
            continue
        samples = max(samples, call.sample)
        column = columns.setdefault((call.layer, call.neuron), len(columns))
        slot = (column << 16) | (ORDERS.index(call.order) << 15) | call.sample - 1
        if call.score_a is not None and call.score_b is not None:
            value = call.score_a - call.score_b
        elif call.verdict is not None:
            value = _SIGN[call.verdict]
        else:
            asked_only[0].append(call.pair)
            asked_only[1].append(slot)
            continue
        where.append(call.pair)
        slots.append(slot)
        values.append(value)
        calls[call.pair, 1 if abs(value) <= TIE_TOLERANCE else 0 if value > 0 else 2] += 1
    places = tuple(sorted(columns))
    rank_of = np.empty(len(columns), dtype=np.int64)
    for place, column in columns.items():
        rank_of[column] = places.index(place)
    differences = np.full((n, len(places), len(ORDERS), samples), np.nan)
    asked = np.zeros(differences.shape, dtype=bool)
    differences[_site(where, slots, rank_of)] = np.asarray(values, dtype=np.float64)
    asked[_site(where, slots, rank_of)] = True
    asked[_site(*asked_only, rank_of)] = True
    known, numbers = np.unique(np.asarray(digests, dtype=np.uint64), return_inverse=True)
    return _Run(
        np.frombuffer(bytes(human), np.uint8),
        np.frombuffer(bytes(finished), np.uint8).astype(bool),
        numbers.astype(np.int64),
        len(known) < n,
        tuple(name for name in systems if name is not None),
        (np.asarray(played[0], dtype=np.int64) - 1, np.asarray(played[1], dtype=np.int64) - 1),
        np.asarray(lengths, dtype=np.int64),
        places,
        tuple(neuron_names(spec, places).values()),
        differences,
        asked,
        calls,
    )


def _site(where: array[int], slots: array[int], rank_of: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    at = np.asarray(slots, dtype=np.int64)
    column = rank_of[at >> 16] if len(at) else at
    return np.asarray(where, dtype=np.int64), column, at >> 15 & 1, at & 0x7FFF


def _codes(sums: NDArray[np.float64], there: NDArray[np.bool_]) -> Codes:
    said = np.where(sums > TIE_TOLERANCE, 1, np.where(sums < -TIE_TOLERANCE, 3, 2))
    return np.where(there, said, 0).astype(np.uint8)


def _merged(differences: NDArray[np.float64]) -> Codes:
    """The verdicts of neurons, over the last axes of their calls."""
    axes = tuple(range(2, differences.ndim))
    there: NDArray[np.bool_] = np.asarray(~np.isnan(differences).all(axis=axes))
    return _codes(np.nansum(differences, axis=axes), there)


def deepen(
    store: Store,
    run: RunInfo,
    report: Report,
    index: VerdictIndex,
    *,
    chosen: Chosen | None = None,
    on_step: Step | None = None,
) -> Report:
    """The report with :class:`More`, and the newest bias lab of the store. ``index`` heard of the run's pairs while the
    report was built."""
    tell = on_step or (lambda _: None)
    tell("Reading the calls")
    spec = report.spec
    of = _read(store, run, spec)
    codes = _merged(of.differences)
    judged = index.codes(report.decides)
    uncertainty = entropies(of.calls)
    draws, seed = report.resamples, report.bootstrap_seed
    tell("Panels")
    people = _people(index, of, judged, uncertainty, draws, seed)
    layers = tuple(_layers(spec, of, codes, draws, seed))
    raters = role_raters = None
    labelled = bool(((of.human > 0) & (judged > 0)).any())
    if labelled and len(of.names) > 1:
        raters = against_people(of.names, codes, of.human, groups=of.questions, resamples=draws, seed=seed)
        role_raters = _roles(spec, of, draws, seed)
    review = None
    if labelled:
        review = review_curve(
            of.human,
            judged,
            uncertainty,
            shares=REVIEW_SHARES,
            groups=of.questions,
            resamples=0 if of.questions is None else min(draws, 1000),
            seed=seed,
        )
    tell("Weights of neurons")
    learned = tuple(_learned(index, report, of, draws, seed)) if len(of.names) > 1 else ()
    tell("Smaller networks")
    sizes = _sizes(report, of) if labelled and len(of.names) > 1 else None
    tell("Ranking")
    ranks = _ranks(of, judged, seed) if len(of.systems) > 2 else None
    plan = None
    if report.rates.judged:
        sample = index.sample(report.decides, chosen)
        plan = plan_labels(
            sample.labelled,
            sample.others,
            PLAN_WIDTH,
            counting=sample.chosen in ("random", "within-verdict"),
            by_question=index.by_question(report.decides, sample),
        )
    more = More(people, layers, raters, role_raters, review, learned, sizes, ranks, plan)
    return replace(report, more=more, bias=lab_figures(store, lambda: tell("Bias lab")))


def _people(
    index: VerdictIndex, of: _Run, judged: Codes, uncertainty: NDArray[np.float64], draws: int, seed: int
) -> People | None:
    if not index.panels:
        return None
    units = sum(index.panels.values())
    panel = panel_agreement(dict(said) for said, count in index.panels.items() for _ in range(count))
    if len(panel.raters) <= MOST_RATERS and draws:
        place = {name: column for column, name in enumerate(panel.raters)}
        codes = np.zeros((units, len(panel.raters)), dtype=np.uint8)
        row = 0
        for said, count in index.panels.items():
            for name, verdict in said:
                codes[row : row + count, place[name]] = CODES.index(verdict)
            row += count
        # Which pairs these are is not kept: where questions repeat the intervals would be too narrow.
        if of.questions is None:
            panel = panel_of(panel.raters, codes, "annotators", resamples=min(draws, 1000), seed=seed)
    need = None
    if panel.h.value is not None and bool(((of.human > 0) & (judged > 0)).any()):
        resamples = min(draws, 1000)
        need = review_need(
            of.human, judged, uncertainty, panel.h.value, groups=of.questions, resamples=resamples, seed=seed
        )
    return People(panel, units, need)


def _layers(spec: NetworkSpec, of: _Run, codes: Codes, draws: int, seed: int) -> Sequence[LayerStudy]:
    found: list[LayerStudy] = []
    before: NDArray[np.intp] | None = None
    for layer in range(1, spec.depth + 1):
        mine = np.flatnonzero(of.layers == layer)
        if len(mine) < 2:
            before = mine
            continue
        names = [of.names[place] for place in mine]
        panel = panel_of(names, codes[:, mine], groups=of.questions, resamples=min(draws, 1000), seed=seed)
        change = minds = None
        if before is not None and len(before):
            change = diversity_change(codes[:, before], codes[:, mine], of.questions)
            minds = _minds(spec, layer, of, codes, before, mine)
        found.append(LayerStudy(layer, panel, verdict_diversity(codes[:, mine], of.human, of.questions), change, minds))
        before = mine
    return found


def _minds(
    spec: NetworkSpec, layer: int, of: _Run, codes: Codes, before: NDArray[np.intp], mine: NDArray[np.intp]
) -> MindChanges | None:
    """How the neurons of a layer changed the verdict of the neuron of the same place in the layer before."""
    numbers = {of.places[place][1]: place for place in before}
    both = [(numbers[of.places[place][1]], place) for place in mine if of.places[place][1] in numbers]
    if not both:
        return None
    earlier, later = (np.array(side) for side in zip(*both, strict=True))
    reads = np.zeros((len(later), len(before)), dtype=bool)
    for row, place in enumerate(later):
        neuron = of.places[place][1]
        read = set(inputs_of(spec, layer - 1, neuron - 1, len(before)))
        for column, place_before in enumerate(before):
            number = of.places[place_before][1]
            reads[row, column] = number - 1 in read and number != neuron
    by_order = [_merged(of.differences[:, :, [place], :]) for place in range(len(ORDERS))]
    return mind_changes(
        codes[:, earlier],
        codes[:, later],
        others_majority(codes[:, before], reads),
        of.human,
        orders=(
            (by_order[0][:, earlier], by_order[0][:, later]),
            (by_order[1][:, earlier], by_order[1][:, later]),
        ),
        groups=of.questions,
    )


def _roles(spec: NetworkSpec, of: _Run, draws: int, seed: int) -> Raters | None:
    """The roles that neurons have on all pairs, over all calls of all layers."""
    fixed = spec.roles.roles if spec.roles.kind == "fixed" else ()
    columns: dict[str, list[int]] = {}
    for column, (layer, neuron) in enumerate(of.places):
        neurons = spec.layers[layer - 1].neurons
        own = None if spec.layers[layer - 1].adaptive or neuron > len(neurons) else neurons[neuron - 1].role
        role = own or (fixed[neuron - 1] if neuron <= len(fixed) else None)
        if role is not None:
            columns.setdefault(" ".join(role.name.split()), []).append(column)
    if len(columns) < 2 or len(columns) == len(of.places):
        return None
    codes = np.concatenate(
        [_merged(of.differences[:, mine].reshape(len(of.human), 1, -1)) for mine in columns.values()], axis=1
    )
    return against_people(list(columns), codes, of.human, "roles", groups=of.questions, resamples=draws, seed=seed)


def _learned(index: VerdictIndex, report: Report, of: _Run, draws: int, seed: int) -> Sequence[LearnedWay]:
    done = np.flatnonzero(of.finished)
    signs = np.where(np.abs(of.differences[done]) <= TIE_TOLERANCE, 0.0, np.sign(of.differences[done]))
    valid = ~np.isnan(signs)
    counts = valid.sum(axis=(2, 3))
    votes = np.divide(np.nansum(signs, axis=(2, 3)), counts, out=np.full(counts.shape, np.nan), where=counts > 0)
    human = of.human[done]
    labels = [CODES[code] for code in human]
    groups = of.groups[done].tolist()
    ways = {name: learn_from(votes, labels, groups, name, seed) for name in WAY_TITLES}
    codes = {name: verdict_codes(way.verdicts) for name, way in ways.items() if not isinstance(way, str)}
    beside = {name: index.codes(name)[done] for name in compared_votes(report.decides)}
    less = less_others(of.groups[done], human, codes, beside, resamples=draws, seed=seed) if draws else {}
    alike = verdict_diversity(_merged(of.differences[done]), human).q.value
    found = []
    for name, learned in ways.items():
        if isinstance(learned, str):
            found.append(LearnedWay(name, WAY_TITLES[name], None, None, {}, None, learned.rstrip(".")))
            continue
        said = codes[name]
        agreement = agreement_of(pair_counts(human, said))
        shown = np.array([1, 3, 2])
        table = question_counts(of.groups[done], human, said)[:, shown][:, :, shown].reshape(-1, 9)
        (intervals,) = agreements_intervals([agreement], [table], resamples=draws, seed=seed)
        weights = dict(zip(of.names, learned.weights, strict=True))
        warning = WARNINGS.get(name, "")
        found.append(
            LearnedWay(
                name,
                WAY_TITLES[name],
                agreement,
                intervals,
                weights,
                learned.penalty,
                "",
                warning,
                less.get(name, ()),
                below_baseline(name, agreement, alike),
            )
        )
    return found


def _sizes(report: Report, of: _Run) -> Sizes:
    decides, depth = report.decides, report.spec.depth
    last = f"c2_l{depth}"
    rule: Rule = "c1" if decides == "c1" else "c2_last" if decides == last else "c2_all"
    widest = max(int((of.layers == layer).sum()) for layer in range(1, depth + 1))
    if widest > MOST_SIZES:
        why = f"a layer has {widest:,} neurons: the curve is made for up to {MOST_SIZES}"
        return Sizes(rule, None, of.names, why)
    done = of.finished
    calls = Calls(of.differences[done], of.asked[done], of.layers, of.human[done], of.groups[done])
    found = what_if(calls, report.spec.aggregation, rule, seed=report.bootstrap_seed)
    return Sizes(rule, found, of.names, "" if found else "no pair has both a human label and a verdict")


def _ranks(of: _Run, judged: Codes, seed: int) -> Ranks | None:
    names = sorted(of.systems)
    place = {number: names.index(name) for number, name in enumerate(of.systems)}
    named = (of.played[0] >= 0) & (of.played[1] >= 0) & (of.played[0] != of.played[1])

    def games(said: Codes) -> list[Game]:
        return [
            Game(
                place[int(of.played[0][pair])],
                place[int(of.played[1][pair])],
                cast("Verdict", CODES[said[pair]]),
                int(of.groups[pair]),
                int(of.longer_b[pair]),
            )
            for pair in np.flatnonzero(named & (said > 0))
        ]

    mine, people = games(judged), games(of.human)
    if not mine:
        return None
    human = rank(names, people, seed=seed) if people else None
    return Ranks(rank(names, mine, seed=seed), human, len(mine), len(people))
