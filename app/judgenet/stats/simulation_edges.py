"""Coverage at the edges: few labels, one-sided labels and verdicts, judges that are nearly always right, few questions.

Of every estimate that the program shows, by the very functions that it shows them with: simulated runs of which the
truth is known, how often an interval is shown, and how often it then holds the truth. Where nothing is shown, a reason
is. Bootstraps take 400 resamples here, so that the whole grid takes minutes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log, sqrt
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from judgenet.core.pairs import Verdict
from judgenet.stats.agreement import agreement_of
from judgenet.stats.calibration import ORDER, SCORES, Estimate, Rates, rates
from judgenet.stats.clustered import rates_over_questions
from judgenet.stats.comparison import compare
from judgenet.stats.curves import Floats
from judgenet.stats.intervals import Interval, agreement_intervals, agreements_intervals
from judgenet.stats.ranking import Game, rank, rating
from judgenet.stats.resampling import label_table, question_counts

EdgePart = Literal["labels", "agreement", "differences", "question_rates", "question_agreement", "ranking"]
PARTS: tuple[EdgePart, ...] = get_args(EdgePart)
GOAL = 0.93
"""What an interval that is shown should cover at least."""
SELDOM = 0.05
"""Shown in a smaller share of the runs, an interval is judged by no coverage: the runs that show it are chosen by what
they happened to draw."""

RESAMPLES = 400
_SCORE = np.array([SCORES[verdict] for verdict in ORDER])
_PAIRS_A_QUESTION = 4
_ICC = 0.3


@dataclass(slots=True)
class CoverageTally:
    """Of one figure in one setting: in how many of ``runs`` an interval was shown, held the truth, and its width."""

    runs: int = 0
    shown: int = 0
    held: int = 0
    width: float = 0.0

    def add(self, interval: Interval | None, truth: float | None) -> None:
        """Counts a run; without a truth (kappa of one class) nothing is judged."""
        self.runs += 1
        if interval is None or truth is None:
            return
        self.shown += 1
        self.held += interval.low - 1e-9 <= truth <= interval.high + 1e-9
        self.width += interval.high - interval.low

    @property
    def coverage(self) -> float | None:
        """The share of the intervals shown that hold the truth; ``None`` where none was."""
        return self.held / self.shown if self.shown else None

    @property
    def mean_width(self) -> float | None:
        return self.width / self.shown if self.shown else None


@dataclass(frozen=True, slots=True)
class Edge:
    """A setting in words and its tallies by figure."""

    part: EdgePart
    words: str
    figures: Mapping[str, CoverageTally]


class _Shares(NamedTuple):
    words: str
    shares: tuple[float, float, float]


_PEOPLE = (
    _Shares("A .5, B .5", (0.5, 0.0, 0.5)),
    _Shares("A .1, B .9", (0.1, 0.0, 0.9)),
    _Shares("A .02, B .98", (0.02, 0.0, 0.98)),
    _Shares("A .05, tie .05, B .9", (0.05, 0.05, 0.9)),
    _Shares("A .3, tie .4, B .3", (0.3, 0.4, 0.3)),
    _Shares("A .02, tie .96, B .02", (0.02, 0.96, 0.02)),
)
"""The labels of people, from even to one-sided."""


def _errors(right: float, people: tuple[float, float, float]) -> Floats:
    """Verdicts (columns) by label (rows): right that often, else any other class in use."""
    used = np.array([share > 0 for share in people])
    table = np.where(used[None, :], (1 - right) / (used.sum() - 1), 0.0) * np.ones((3, 1))
    np.fill_diagonal(table, right)
    return table


def edges(part: EdgePart, runs: int, seed: int = 0, on_cell: Callable[[str], object] | None = None) -> Iterator[Edge]:
    """The settings of one part of the grid, simulated one after the other."""
    for place, (words, simulate) in enumerate(_cells(part)):
        if on_cell is not None:
            on_cell(words)
        yield Edge(part, words, simulate(runs, np.random.default_rng((seed, PARTS.index(part), place))))


_Simulate = Callable[[int, np.random.Generator], Mapping[str, CoverageTally]]


def _cells(part: EdgePart) -> Iterator[tuple[str, _Simulate]]:
    match part:
        case "labels":
            for people in _PEOPLE:
                for right in (0.5, 0.85):
                    for labels, pairs in ((10, 200), (20, 200), (50, 1000), (100, 120)):
                        words = f"{people.words}; judge right {right:g}; {labels} of {pairs:,} pairs labelled"
                        yield words, _Labels(people.shares, _errors(right, people.shares), labels, pairs)
            # A judge that says B whatever people say.
            constant = np.zeros((3, 3))
            constant[:, 2] = 1.0
            for people in (_PEOPLE[0], _PEOPLE[2]):
                for labels in (10, 50):
                    words = f"{people.words}; judge always B; {labels} of 200 pairs labelled"
                    yield words, _Labels(people.shares, constant, labels, 200)
        case "agreement":
            for people in (_PEOPLE[0], _PEOPLE[1], _PEOPLE[3]):
                for right in (0.5, 0.8, 0.95, 0.99):
                    for labels in (10, 20, 50):
                        words = f"{people.words}; judge right {right:g}; {labels} pairs"
                        yield words, _Agree(people.shares, _errors(right, people.shares), labels)
        case "differences":
            for people in (_PEOPLE[0], _PEOPLE[3]):
                for first, second in ((0.98, 0.98), (0.95, 0.9), (0.8, 0.7)):
                    for labels in (20, 40, 100):
                        words = f"{people.words}; judges right {first:g} and {second:g}; {labels} pairs"
                        errors = (_errors(first, people.shares), _errors(second, people.shares))
                        yield words, _Differ(people.shares, errors, labels)
        case "question_rates":
            for people in (_PEOPLE[0], _PEOPLE[1], _PEOPLE[3]):
                for questions in (10, 20, 40):
                    words = f"{people.words}; judge right .8; {questions} questions of 4 pairs, half of them labelled"
                    yield words, _QuestionRates(people.shares, 0.8, questions)
        case "question_agreement":
            for right, second in ((0.7, 0.6), (0.97, 0.95)):
                for questions in (10, 15, 30):
                    words = f"A .5, B .5; judges right {right:g} and {second:g}; {questions} questions of 4 pairs"
                    yield words, _QuestionAgreement((right, second), questions)
        case "ranking":
            for systems in (3, 5):
                for questions in (10, 20, 40):
                    yield f"{systems} systems, all pairs of them on {questions} questions", _Rank(systems, questions)


@dataclass(slots=True)
class _Tallies:
    by_name: dict[str, CoverageTally] = field(default_factory=dict)

    def add(self, name: str, interval: Interval | None, truth: float | None) -> None:
        self.by_name.setdefault(name, CoverageTally()).add(interval, truth)


def _add_rates(tallies: _Tallies, estimates: Rates, people: Floats, verdicts: Floats, these: float) -> None:
    """``people`` and ``verdicts`` are the true shares of the classes, ``these`` the rate of just these pairs."""
    rate, said = float(people @ _SCORE), float(verdicts @ _SCORE)
    decided = float(people[2] / (people[0] + people[2]))
    shown: dict[str, tuple[Estimate, float]] = {
        "stratified": (estimates.estimates["stratified"], rate),
        "these_pairs": (estimates.stratified.these_pairs, these),
        "decided": (estimates.decided, decided),
        "ppi": (estimates.estimates["ppi"], rate),
        "human_only": (estimates.estimates["human_only"], rate),
        "lee": (estimates.estimates["lee"], rate),
        "naive": (estimates.estimates["naive"], said),
    }
    for name, (estimate, truth) in shown.items():
        tallies.add(name, estimate.interval, truth)


def _counted(
    labelled: NDArray[np.int64], others: NDArray[np.int64]
) -> tuple[Counter[tuple[Verdict, Verdict]], Counter[Verdict]]:
    cells = {(ORDER[v], ORDER[h]): int(labelled[h, v]) for v in range(3) for h in range(3) if labelled[h, v]}
    return Counter(cells), Counter({ORDER[v]: int(others[v]) for v in range(3) if others[v]})


@dataclass(frozen=True, slots=True)
class _Labels:
    """Labels chosen at random: every correction, and the K-class one with the same labels as if from elsewhere."""

    people: tuple[float, float, float]
    errors: Floats
    labels: int
    pairs: int

    def __call__(self, runs: int, rng: np.random.Generator) -> Mapping[str, CoverageTally]:
        people = np.array(self.people)
        joint = people[:, None] * self.errors
        tallies = _Tallies()
        labelled = rng.multinomial(self.labels, joint.ravel(), size=runs).reshape(-1, 3, 3)
        rest = rng.multinomial(self.pairs - self.labels, joint.ravel(), size=runs).reshape(-1, 3, 3)
        for mine, others in zip(labelled, rest, strict=True):
            counts = _counted(mine, others.sum(axis=0))
            these = float((mine + others).sum(axis=1) @ _SCORE / self.pairs)
            _add_rates(tallies, rates(*counts, "random"), people, joint.sum(axis=0), these)
            elsewhere = rates(*counts, "imported").estimates["k_class"]
            tallies.add("k_class", elsewhere.interval, float(people @ _SCORE))
        return tallies.by_name


def _truths(joint: Floats, classes: list[int]) -> dict[str, float | None]:
    """Accuracy, macro-F1 over ``classes`` and kappa of the true shares by label (rows) and verdict."""
    rows, columns, right = joint.sum(axis=1), joint.sum(axis=0), np.diag(joint)
    by_chance = float(rows @ columns)
    accuracy = float(right.sum())
    f1 = [2 * right[i] / (rows[i] + columns[i]) for i in classes if rows[i] + columns[i]]
    return {
        "accuracy": accuracy,
        "macro_f1": float(sum(f1)) / len(classes),
        "kappa": (accuracy - by_chance) / (1 - by_chance) if by_chance < 1 else None,
    }


@dataclass(frozen=True, slots=True)
class _Agree:
    """Accuracy, macro-F1 (of the classes that the sample has) and kappa over pairs."""

    people: tuple[float, float, float]
    errors: Floats
    labels: int

    def __call__(self, runs: int, rng: np.random.Generator) -> Mapping[str, CoverageTally]:
        joint = np.array(self.people)[:, None] * self.errors
        tallies = _Tallies()
        drawn = rng.multinomial(self.labels, joint.ravel(), size=runs).reshape(-1, 3, 3)
        for place, table in enumerate(drawn):
            agreement = agreement_of({(ORDER[h], ORDER[v]): int(table[h, v]) for h in range(3) for v in range(3)})
            within = agreement_intervals(agreement, resamples=RESAMPLES, seed=place)
            for name, truth in _truths(joint, [ORDER.index(label) for label in agreement.labels]).items():
                tallies.add(name, getattr(within, name), truth)
        return tallies.by_name


@dataclass(frozen=True, slots=True)
class _Differ:
    """The differences of two judges that err independently of each other, over the same pairs."""

    people: tuple[float, float, float]
    errors: tuple[Floats, Floats]
    labels: int

    def __call__(self, runs: int, rng: np.random.Generator) -> Mapping[str, CoverageTally]:
        people = np.array(self.people)
        first_error, second_error = self.errors
        joint = people[:, None, None] * first_error[:, :, None] * second_error[:, None, :]
        tallies = _Tallies()
        drawn = rng.multinomial(self.labels, joint.ravel(), size=runs).reshape(-1, 3, 3, 3)
        for place, table in enumerate(drawn):
            cells: Counter[tuple[Verdict | None, Verdict, Verdict]] = Counter(
                {(ORDER[h], ORDER[v], ORDER[w]): int(table[h, v, w]) for h, v, w in np.argwhere(table).tolist()}
            )
            comparison = compare(cells, resamples=RESAMPLES, seed=place)
            first, second = (
                _truths(people[:, None] * error, [ORDER.index(label) for label in figures.labels])
                for error, figures in ((first_error, comparison.first), (second_error, comparison.second))
            )
            for name, difference in comparison.differences.items():
                ends = (first[name], second[name])
                truth = None if ends[0] is None or ends[1] is None else ends[0] - ends[1]
                tallies.add(f"{name}_difference", difference.interval, truth)
        return tallies.by_name


def _by_question(shares: Floats, questions: int, rng: np.random.Generator) -> Floats:
    """Shares of each question that vary around ``shares`` with the intraclass correlation of the grid."""
    spread = (1 - _ICC) / _ICC
    used = shares > 0
    counts = np.zeros((questions, len(shares)))
    counts[:, used] = rng.dirichlet(shares[used] * spread, size=questions)
    return counts


def _drawn_classes(shares: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """A class for each pair: (questions, pairs of each)."""
    steps = shares.cumsum(axis=1)
    random = rng.random((len(shares), _PAIRS_A_QUESTION))
    classes: NDArray[np.int64] = (random[:, :, None] >= steps[:, None, :]).sum(axis=2).clip(0, 2)
    return classes


def _judge_verdicts(
    human: NDArray[np.int64], right: float, classes: list[int], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Verdicts of a judge that is right more often on some questions than on others."""
    spread = (1 - _ICC) / _ICC
    often = rng.beta(right * spread, (1 - right) * spread, size=len(human))
    hit = rng.random(human.shape) < often[:, None]
    places = np.searchsorted(classes, human)
    other_class = np.array(classes)[(places + rng.integers(1, len(classes), size=human.shape)) % len(classes)]
    return np.where(hit, human, other_class)


@dataclass(frozen=True, slots=True)
class _QuestionRates:
    """Corrected rates where four pairs share a question, with an intraclass correlation of .3."""

    people: tuple[float, float, float]
    right: float
    questions: int

    def __call__(self, runs: int, rng: np.random.Generator) -> Mapping[str, CoverageTally]:
        people = np.array(self.people)
        classes = np.flatnonzero(people).tolist()
        verdicts = (people[:, None] * _errors(self.right, self.people)).sum(axis=0)
        tallies = _Tallies()
        number = np.repeat(np.arange(self.questions), _PAIRS_A_QUESTION)
        for place in range(runs):
            human = _drawn_classes(_by_question(people, self.questions, rng), rng)
            said = _judge_verdicts(human, self.right, classes, rng).ravel()
            labels = human.ravel() + 1
            labelled = rng.permutation(len(number)) < len(number) // 2
            counts = question_counts(number, said + 1, np.where(labelled, labels, 0))
            estimates = rates_over_questions(counts, "random", resamples=RESAMPLES, seed=place)
            _add_rates(tallies, estimates, people, verdicts, float(_SCORE[human].mean()))
        return tallies.by_name


@dataclass(frozen=True, slots=True)
class _QuestionAgreement:
    """Accuracy, macro-F1, kappa and their differences where four pairs share a question."""

    right: tuple[float, float]
    questions: int

    def __call__(self, runs: int, rng: np.random.Generator) -> Mapping[str, CoverageTally]:
        people = np.array([0.5, 0.0, 0.5])
        classes = [0, 2]
        truths = [_truths(people[:, None] * _errors(right, (0.5, 0.0, 0.5)), classes) for right in self.right]
        tallies = _Tallies()
        number = np.repeat(np.arange(self.questions), _PAIRS_A_QUESTION)
        for place in range(runs):
            human = _drawn_classes(_by_question(people, self.questions, rng), rng)
            said = [_judge_verdicts(human, right, classes, rng).ravel() + 1 for right in self.right]
            labels = human.ravel() + 1
            cells: Counter[tuple[Verdict | None, Verdict, Verdict]] = Counter(
                (ORDER[h - 1], ORDER[v - 1], ORDER[w - 1]) for h, v, w in zip(labels, *said, strict=True)
            )
            table = label_table(number, labels, said[0])
            compared = compare(
                cells, by_question=question_counts(number, labels, *said), resamples=RESAMPLES, seed=place
            )
            [within] = agreements_intervals([compared.first], [table], resamples=RESAMPLES, seed=place)
            for name, difference in compared.differences.items():
                first, second = truths[0][name], truths[1][name]
                tallies.add(name, getattr(within, name), first)
                assert first is not None
                assert second is not None
                tallies.add(f"{name}_difference", difference.interval, first - second)
        return tallies.by_name


@dataclass(frozen=True, slots=True)
class _Rank:
    """The ratings of systems that all meet on every question; the strongest wins most of its games."""

    systems: int
    questions: int

    def __call__(self, runs: int, rng: np.random.Generator) -> Mapping[str, CoverageTally]:
        strengths = np.linspace(log(3), -log(3), self.systems)
        names = [f"system {place + 1}" for place in range(self.systems)]
        twos = [(i, j) for i in range(self.systems) for j in range(i + 1, self.systems)]
        tallies = _Tallies()
        for place in range(runs):
            games = []
            for question in range(self.questions):
                for i, j in twos:
                    wins = rng.random() < 1 / (1 + np.exp(strengths[j] - strengths[i]))
                    games.append(Game(i, j, "a" if wins else "b", question))
            for system in rank(names, games, resamples=RESAMPLES, seed=place).systems:
                truth = rating(float(strengths[names.index(system.name)]))
                tallies.add("rating", system.interval, truth)
        return tallies.by_name


WILSON = ("accuracy", "human_only", "naive")
"""Figures of pairs whose interval is Wilson's: with few pairs and a share near 0 or 1 there are few outcomes, and its
coverage leaps between .88 and .99 as the share moves by a hundredth."""


_FIGURE_TITLES = {
    "stratified": "stratified (headline)",
    "these_pairs": "these pairs only",
    "decided": "decided pairs only",
    "ppi": "PPI++",
    "human_only": "human labels alone",
    "lee": "Lee et al.",
    "naive": "verdicts, uncorrected",
    "k_class": "K-class",
    "macro_f1": "macro-F1",
    "accuracy_difference": "difference of accuracies",
    "macro_f1_difference": "difference of macro-F1",
    "kappa_difference": "difference of kappas",
}


def figure_title(name: str) -> str:
    """A figure of the grid in words, by its key."""
    return _FIGURE_TITLES.get(name, name.replace("_", " "))


class EdgeFindings(NamedTuple):
    """The findings of the grid: figures that cover too little where they are shown, those of which it is known why
    (:data:`WILSON`), and those that are shown so seldom that their coverage says nothing."""

    short: list[str]
    wilson: list[str]
    seldom: list[str]


def judged(cells: Sequence[Edge]) -> EdgeFindings:
    """Which figures cover less than the goal: by more than three standard errors of the simulation, but for those of
    Wilson's interval and those that are seldom shown, where all are named."""
    verdicts = EdgeFindings([], [], [])
    for edge in cells:
        for name, tally in edge.figures.items():
            coverage = tally.coverage
            if coverage is None or coverage >= GOAL:
                continue
            shown = f"shown in {tally.shown / tally.runs:.0%} of the runs"
            words = f"{figure_title(name)}: covers {coverage:.3f}, {shown}: {edge.words}"
            if tally.shown < SELDOM * tally.runs:
                verdicts.seldom.append(words)
            elif name in WILSON and edge.part in ("labels", "agreement"):
                verdicts.wilson.append(words)
            elif coverage < GOAL - 3 * sqrt(GOAL * (1 - GOAL) / tally.shown):
                verdicts.short.append(words)
    return verdicts
