"""The desk at which people label pairs: which pair comes next, on which side each response is shown, and the labels so
far. It knows no interface and writes nothing; its user stores each label that it returns.

What would sway people is not in it: no verdicts, no names of models. Order and sides are drawn by a seed, so that they
are the same whenever a project is opened again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import median
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgenet.core.labels import FILE_ANNOTATOR, Chosen, HumanLabel, People, Said
from judgenet.core.pairs import Pair, Verdict, question_key
from judgenet.stats.agreement import Agreement, agreement_of
from judgenet.stats.curves import CODES
from judgenet.stats.intervals import Interval, agreement_intervals
from judgenet.stats.label_plan import LabelPlan, plan_labels
from judgenet.stats.panel import PanelAgreement, panel_agreement
from judgenet.stats.planning import draw_labels
from judgenet.stats.provenance import LabelTally, Sample
from judgenet.stats.resampling import question_counts
from judgenet.store.acceptance import rule_confidence
from judgenet.store.frame import RunFrame
from judgenet.store.labels import LabelBook

Mode = Literal["random", "planned", "targeted", "settle"]
"""Drawn from all pairs; drawn within the network's verdicts; picked; pairs on which the annotators differ."""

CancelCheck = Callable[[], object]
_CHECK_EVERY = 5000
_MOST_TIMED_S = 3600.0
"""A person who takes longer for a pair was away: no time is recorded."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Pairs to label, in order, as places in the pairs of the desk, and how they were chosen. ``note`` says in words
    why there are none, or what to know; ``for_people``: these are the pairs that a network left to people."""

    mode: Mode
    places: tuple[int, ...]
    chosen: Chosen
    population: int
    within: str | None = None
    note: str = ""
    for_people: bool = False


def _rank(seed: str, *parts: str) -> bytes:
    return hashlib.sha256("\0".join((seed, *parts)).encode("utf-8", "surrogatepass")).digest()


def swapped(seed: str, annotator: str, pair_id: str) -> bool:
    """Whether response B of a pair stands on the left for an annotator."""
    return bool(_rank(seed, "side", annotator, pair_id)[0] & 1)


def draw_random(pairs: Sequence[Pair], seed: str, check: CancelCheck = lambda: None) -> Draw:
    """All pairs in random order, the same for every annotator: whatever part of it is labelled is a random sample, and
    annotators meet on the same pairs."""
    ranks: list[tuple[bytes, int]] = []
    for place, pair in enumerate(pairs):
        if place % _CHECK_EVERY == 0:
            check()
        ranks.append((_rank(seed, "order", pair.id), place))
    ranks.sort()
    return Draw("random", tuple(place for _, place in ranks), "random", len(pairs))


def draw_picked(pairs: Sequence[Pair], picked: Iterable[int]) -> Draw:
    """Pairs that somebody picked, in their order."""
    places = tuple(dict.fromkeys(place for place in picked if 0 <= place < len(pairs)))
    return Draw("targeted", places, "targeted", len(pairs), note="" if places else "No pair is picked.")


def draw_given(pairs: Sequence[Pair], table: RunFrame, aggregation: str, drawn: Iterable[int]) -> Draw:
    """Pairs that a planner elsewhere drew at random within the verdicts of a run, as places in the run."""
    places = _places(pairs)
    known = (table.pairs.ids[pair] for pair in drawn if pair < len(table))
    order = tuple(places[pair_id] for pair_id in known if pair_id in places)
    judged = int((table.verdict_codes(aggregation) > 0).sum())
    note = "" if order else "The planner advises no further label."
    return Draw("planned", order, "within-verdict", judged, f"{table.run.id}/{aggregation}", note)


def draw_uncertain(pairs: Sequence[Pair], table: RunFrame, aggregation: str) -> Draw:
    """The pairs on which the calls of a run agree least, these first: by the entropy of what they say, then by how
    small the difference of the scores is. Pairs without a verdict are left out."""
    count = len(table)
    votes = np.zeros((count, 3))
    margin = np.zeros(count)
    # A run that goes on adds columns meanwhile.
    for (_, _, shown, _), column in list(table.columns.items()):
        if shown is None:
            continue
        for code in (1, 2, 3):
            votes[:, code - 1] += column.verdict == code
        score_a, score_b = column.scores
        margin += np.nan_to_num(score_a - score_b)
    total = votes.sum(axis=1)
    shares = votes / np.maximum(total, 1)[:, None]
    entropy = -np.sum(shares * np.log(np.where(shares > 0, shares, 1.0)), axis=1)
    judged = (table.verdict_codes(aggregation) > 0) & (total > 0)
    places = _places(pairs)
    order = sorted(np.flatnonzero(judged).tolist(), key=lambda pair: (-entropy[pair], abs(margin[pair]), pair))
    drawn = tuple(places[table.pairs.ids[pair]] for pair in order if table.pairs.ids[pair] in places)
    return Draw("targeted", drawn, "targeted", len(pairs), note="" if drawn else "The run has no verdict yet.")


def draw_for_people(pairs: Sequence[Pair], table: RunFrame) -> Draw:
    """The pairs that the acceptance rule of a run left to people, the least sure first. Those with a label that counts
    are left out."""
    places = _places(pairs)
    waiting = np.flatnonzero(table.for_people & (table.human == 0))
    order = waiting[np.argsort(rule_confidence(table)[waiting], kind="stable")].tolist()
    drawn = tuple(places[table.pairs.ids[pair]] for pair in order if table.pairs.ids[pair] in places)
    note = "" if drawn else "The run left no pair to people."
    return Draw("targeted", drawn, "targeted", len(pairs), note=note, for_people=True)


def draw_planned(
    pairs: Sequence[Pair], table: RunFrame, aggregation: str, book: LabelBook, width: float, seed: str
) -> tuple[Draw, LabelPlan | None]:
    """The pairs that the planner wants for an interval of ``width``, drawn at random within each verdict, and the plan.

    Pairs that were drawn within these verdicts before come first, so that every annotator gets them.
    """
    within = f"{table.run.id}/{aggregation}"
    plan = planned(pairs, table, aggregation, book, width)
    if plan is None:
        return Draw("planned", (), "within-verdict", 0, within, "The run has no verdict yet."), None
    codes = table.verdict_codes(aggregation)
    places = _places(pairs)
    before: dict[int, None] = {}
    taken: set[str] = set()
    for pair_id in book.ids:
        place = places.get(pair_id)
        if place is None:
            continue
        labels = [label for label in book.labels(pairs[place]) if label.chosen in ("random", "within-verdict")]
        if any(label.within == within for label in labels):
            before[place] = None
        if labels:
            taken.add(pair_id)
    free: dict[Verdict, list[str]] = {}
    for pair, pair_id in enumerate(table.pairs.ids):
        verdict = CODES[int(codes[pair])]
        if verdict is not None and pair_id not in taken and pair_id in places:
            free.setdefault(verdict, []).append(pair_id)
    number = int.from_bytes(_rank(seed, "planned", within, str(len(taken)))[:8])
    drawn = draw_labels(free, plan.more, number)
    again = sorted(before, key=lambda place: _rank(seed, "order", pairs[place].id))
    order = (*again, *(places[pair_id] for pair_id in drawn))
    reason = plan.needs["within_verdict"].reason
    note = reason[:1].upper() + reason[1:] if reason else "" if order else "The existing labels are enough."
    return Draw("planned", order, "within-verdict", int((codes > 0).sum()), within, note), plan


def _places(pairs: Sequence[Pair]) -> dict[str, int]:
    return {pair.id: place for place, pair in enumerate(pairs)}


def label_sample(
    pairs: Sequence[Pair], table: RunFrame, aggregation: str, book: LabelBook
) -> tuple[Sample, NDArray[np.float64]]:
    """The current labels that estimates of a run may rest on, and the pairs of each question by verdict and by these
    labels, of shape (questions, 4, 4)."""
    tally = LabelTally(f"{table.run.id}/{aggregation}")
    codes = table.verdict_codes(aggregation)
    places = _places(pairs)
    rest: Counter[Verdict | None] = Counter()
    labelled_ids = book.ids
    said: dict[int, tuple[Verdict | None, People]] = {}
    for pair, pair_id in enumerate(table.pairs.ids):
        verdict, place = CODES[int(codes[pair])], places.get(pair_id)
        if place is None or (pair_id not in labelled_ids and pairs[place].human is None):
            rest[verdict] += 1
        else:
            with_label, people = book.merged(pairs[place])
            tally.add(verdict, with_label.human, people)
            said[pair] = (with_label.human, people)
    for verdict, count in rest.items():
        tally.add(verdict, None, count=count)
    sample = tally.sample()
    labels = np.zeros(len(codes), dtype=np.uint8)
    for pair, (human, people) in said.items():
        if tally.counts(people, sample):
            labels[pair] = CODES.index(human)
    numbers: dict[bytes | str, int] = {}
    questions = np.array(
        [
            # A pair that is no longer there shares its question with none.
            numbers.setdefault(pair_id if place is None else _question(pairs[place].question), len(numbers))
            for pair_id, place in ((pair_id, places.get(pair_id)) for pair_id in table.pairs.ids)
        ],
        dtype=np.int64,
    )
    return sample, question_counts(questions, codes, labels)


_question = lru_cache(maxsize=1 << 17)(question_key)


def planned(
    pairs: Sequence[Pair], table: RunFrame, aggregation: str, book: LabelBook, width: float
) -> LabelPlan | None:
    """The plan for an interval of ``width``; ``None`` where no pair has a verdict."""
    sample, by_question = label_sample(pairs, table, aggregation, book)
    if not sample.labelled and not sample.others:
        return None
    counting = sample.chosen in ("random", "within-verdict")
    return plan_labels(sample.labelled, sample.others, width, counting=counting, by_question=by_question)


@dataclass(frozen=True, slots=True)
class Survey:
    """The state of the annotation. ``said`` counts the labels of each annotator, ``panel`` is their agreement;
    ``kappa`` is that of two with its interval. ``disputed`` are the places of pairs to settle, ``settled`` counts those
    that are."""

    said: Mapping[str, int]
    panel: PanelAgreement
    kappa: tuple[Agreement, Interval | None] | None
    disputed: tuple[int, ...]
    settled: int
    stale: int


def survey(pairs: Sequence[Pair], book: LabelBook, seed: str) -> Survey:
    """The state of the annotation. Labels of targeted reviews are counted, but not compared; labels of a data file
    without names belong to no annotator, and may have to be settled."""
    said: Counter[str] = Counter()
    units: list[dict[str, Verdict]] = []
    disputed: list[int] = []
    settled = stale = 0
    places = _places(pairs)
    for pair_id in book.ids:
        place = places.get(pair_id)
        if place is None:
            continue
        labels = book.labels(pairs[place])
        stale += not labels
        said.update(label.annotator for label in labels if label.verdict is not None and not label.settles)
        pair, people = book.merged(pairs[place])
        units.append({name: verdict for name, verdict in pair.annotators if name != FILE_ANNOTATOR})
        settled += people.settled_by is not None
        if people.disputed:
            disputed.append(place)
    panel = panel_agreement(units)
    kappa = None
    if len(panel.pairwise) == 1:
        (agreement,) = panel.pairwise.values()
        kappa = (agreement, agreement_intervals(agreement, resamples=1000).kappa)
    disputed.sort(key=lambda place: _rank(seed, "order", pairs[place].id))
    return Survey(dict(said.most_common()), panel, kappa, tuple(disputed), settled, stale)


def agreement_with_network(
    pairs: Sequence[Pair], table: RunFrame, aggregation: str, labels: Collection[HumanLabel]
) -> Agreement:
    """The agreement of the network with some labels, on the pairs that have both."""
    codes = table.verdict_codes(aggregation)
    numbers = {pair_id: place for place, pair_id in enumerate(table.pairs.ids)}
    cells: Counter[tuple[Verdict | None, Verdict | None]] = Counter()
    for label in labels:
        if label.pair_id in numbers:
            cells[label.verdict, CODES[int(codes[numbers[label.pair_id]])]] += 1
    return agreement_of(cells)


@dataclass(slots=True)
class Desk:
    """One annotator's way through a draw. Every step takes the same time, however many pairs there are.

    ``given`` are the annotator's current labels of this mode by place. ``goal`` is the target number of labels.
    """

    pairs: Sequence[Pair]
    draw: Draw
    annotator: str
    seed: str
    given: dict[int, HumanLabel] = field(default_factory=dict)
    goal: int = 200
    at: int = 0
    labelled: int = 0
    _steps: dict[int, int] = field(default_factory=dict)
    _first: int = 0
    _seconds: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, pairs: Sequence[Pair], draw: Draw, annotator: str, seed: str, book: LabelBook, goal: int = 200) -> Desk:
        """The desk of an annotator, at the first pair that they have not seen."""
        steps = {place: step for step, place in enumerate(draw.places)}
        desk = cls(pairs, draw, annotator, seed, goal=goal, _steps=steps)
        places = _places(pairs)
        for pair_id in book.ids:
            place = places.get(pair_id)
            if place is None or place not in steps:
                continue
            for label in book.labels(pairs[place]):
                if desk.mine(label):
                    desk._keep(place, label)
        desk._forward()
        return desk

    def mine(self, label: HumanLabel) -> bool:
        """Whether a label belongs to this annotator's way through this kind of draw."""
        settles = self.draw.mode == "settle"
        if label.settles != settles or (label.annotator != self.annotator and not settles):
            return False
        return settles or (label.chosen == "targeted") == (self.draw.mode == "targeted")

    def _keep(self, place: int, label: HumanLabel | None) -> None:
        before = self.given.pop(place, None)
        self.labelled -= before is not None and before.verdict is not None
        if label is not None:
            self.given[place] = label
            self.labelled += label.verdict is not None
            if label.seconds is not None:
                self._seconds.append(label.seconds)

    @property
    def place(self) -> int | None:
        """The pair on the desk as its place; ``None`` where all are done."""
        return self.draw.places[self.at] if self.at < len(self.draw.places) else None

    @property
    def pair(self) -> Pair | None:
        """The pair on the desk."""
        return None if self.place is None else self.pairs[self.place]

    def number(self, place: int) -> int:
        """The number of a pair in the draw, from 1; 0 where it is not in it."""
        return self._steps.get(place, -1) + 1

    @property
    def wished(self) -> int:
        """The target number of labels: the goal, or all pairs of the draw where these are fewer."""
        return min(self.goal, len(self.draw.places))

    @property
    def finished(self) -> bool:
        """Whether the target number of labels is reached, or every pair was looked at."""
        return self.at >= len(self.draw.places) or (self.at == self._first and self.labelled >= self.wished)

    @property
    def swapped(self) -> bool:
        """Whether response B of the pair on the desk is on the left. A disagreement is settled with A on the left."""
        pair = self.pair
        return pair is not None and self.draw.mode != "settle" and swapped(self.seed, self.annotator, pair.id)

    @property
    def said(self) -> Said | None:
        """This annotator's label of the pair on the desk, about its responses and not about the sides."""
        label = None if self.place is None else self.given.get(self.place)
        return None if label is None else label.said

    def shown(self, said: Said | None) -> Said | None:
        """A label as it reads on the desk now: about the sides."""
        return turned(said) if said is not None and self.swapped else said

    @property
    def seconds_each(self) -> float | None:
        """The median time that a pair took this annotator here, ``None`` before there is one."""
        return median(self._seconds) if self._seconds else None

    def say(self, shown: Said, seconds: float, at: float) -> HumanLabel:
        """Takes a label of the pair on the desk, ``a`` meaning the left side, and goes on to the next pair.

        The label is about the responses of the pair; the caller has to store it.
        """
        place = self.draw.places[self.at]
        pair = self.pairs[place]
        side = self.swapped
        label = HumanLabel(
            pair.id,
            pair.content_hash,
            self.annotator,
            turned(shown) if side else shown,
            self.draw.chosen,
            side,
            round(seconds, 2) if 0 <= seconds <= _MOST_TIMED_S else None,
            at,
            self.draw.within,
            self.draw.population,
            self.draw.mode == "settle",
        )
        self.take(place, label)
        self._forward()
        return label

    def take(self, place: int, label: HumanLabel | None) -> None:
        """Sets the label of this annotator for a pair; ``None`` where it was taken back."""
        self._keep(place, label)
        step = self._steps.get(place)
        if label is None and step is not None:
            self._first = min(self._first, step)

    def show(self, place: int) -> None:
        """Puts a pair of the draw on the desk."""
        self.at = self._steps.get(place, self.at)

    def back(self) -> bool:
        """Puts the pair before on the desk; false at the first one."""
        if not self.at:
            return False
        self.at -= 1
        return True

    def _forward(self) -> None:
        """Goes on to the first pair that nothing was said of."""
        places = self.draw.places
        while self._first < len(places) and places[self._first] in self.given:
            self._first += 1
        self.at = self._first


def turned(said: Said) -> Said:
    """The label about the other side."""
    return "b" if said == "a" else "a" if said == "b" else said
