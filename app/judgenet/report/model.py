"""The content of a report: one typed value, from which every format is written.

Its only sentences for people are ``cautions``. Missing figures are ``None`` and their ``reasons`` say why.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final, Literal

from judgenet.core.aggregate import PairVerdicts
from judgenet.core.events import RunStatus
from judgenet.core.network import Aggregation, NetworkSpec
from judgenet.core.pairs import Order, Verdict
from judgenet.core.wording import capitalized, plural
from judgenet.figures.acceptance import AcceptanceFigures
from judgenet.figures.answered import QuorumFigures, StandInFigures
from judgenet.figures.anytime import RunAnytime, UntilFigures
from judgenet.figures.base import OPTIONAL
from judgenet.figures.cascade import CascadeFigures
from judgenet.figures.guarantee import RunGuarantee
from judgenet.figures.probabilities import ProbabilityFigures
from judgenet.figures.rates import CorrectedRates
from judgenet.stats.agreement import Agreement, PositionConsistency
from judgenet.stats.discussion import Overturns
from judgenet.stats.intervals import AgreementIntervals, WinRate
from judgenet.store.runs import Spent
from judgenet.store.shards import ShardsInRun
from judgenet.store.usage import ModelUse, ParameterUse

if TYPE_CHECKING:
    from judgenet.report.bias_figures import LabFigures
    from judgenet.report.judge_analysis import RunStudy
    from judgenet.report.run_comparison import ReportedComparison


@dataclass(frozen=True, slots=True)
class ReportedAgreement:
    """Agreement with people of one aggregation, neuron, role or group, with its intervals."""

    agreement: Agreement
    intervals: AgreementIntervals

    @property
    def used(self) -> tuple[int, int]:
        """The number of pairs that the figures rest on, and of all."""
        return self.agreement.n_used, self.agreement.n_total


@dataclass(frozen=True, slots=True)
class Majority:
    """The baseline: the figures of always answering the most common human label."""

    label: Verdict
    figures: ReportedAgreement


@dataclass(frozen=True, slots=True)
class TaskFigures:
    """The pairs of one task; ``figures`` by aggregation. ``task`` is ``None`` for pairs without one."""

    task: str | None
    pairs: int
    figures: Mapping[str, ReportedAgreement]
    baseline: Majority | None


@dataclass(frozen=True, slots=True)
class LayerFigures:
    """One layer (from 1): its vote against people, its verdicts in both orders, its calls."""

    layer: int
    figures: ReportedAgreement
    position: PositionConsistency
    calls_scored: int
    calls_total: int


@dataclass(frozen=True, slots=True)
class NeuronFigures:
    """One neuron (layer and neuron from 1) over all pairs.

    ``role`` is ``None`` where it has none, or another one for each pair (``roles`` counts them). ``changed`` compares
    it with the neuron of the same place in the layer before, ``None`` in layer 1. The chair is the neuron 1 of the
    layer after the last.
    """

    layer: int
    neuron: int
    role: str | None
    roles: int
    model: str
    figures: ReportedAgreement
    position: PositionConsistency
    changed: Overturns | None
    calls_scored: int
    calls_total: int


@dataclass(frozen=True, slots=True)
class RoleFigures:
    """One role by name, whichever neurons had it: one verdict a pair, merged over all its calls in all layers.

    ``pairs`` is the number of pairs that it judged.
    """

    role: str
    pairs: int
    figures: ReportedAgreement


@dataclass(frozen=True, slots=True)
class LayerChange:
    """What the vote of layer ``after`` changed of the vote of layer ``before`` (both from 1)."""

    before: int
    after: int
    overturns: Overturns


@dataclass(frozen=True, slots=True)
class UnscoredCount:
    """Calls without an evaluation, by reason."""

    reason: str
    calls: int


Left = Literal[
    "not judged",
    "calls missing",
    "for people",
    "no quorum",
    "no verdict",
    "no label",
    "label without verdict",
    "unscored",
    "unread inputs",
]


FIRST_IDS = 20
"""The number of left-out pairs or calls that are named."""


@dataclass(frozen=True, slots=True)
class LeftOutCount:
    """Pairs or calls that figures leave out: ``count`` of ``total``, and ``why``.

    ``first`` names the first of them, :data:`FIRST_IDS` at most: pairs by their id, calls by the id of their pair,
    layer and neuron, order and sample.
    """

    what: Left
    count: int
    total: int
    why: str = ""
    first: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RoleWords:
    """The roles that were used on the pairs of a task: (name, number of pairs), the most frequent first.

    ``task`` is ``None`` for pairs without one, ``distinct`` the number of all names.
    """

    task: str | None
    pairs: int
    words: tuple[tuple[str, int], ...]
    distinct: int


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture of a text with a small copy. ``data`` is base64, empty where the picture is missing; ``words`` describe
    the original (type, size), ``sha256`` (hex) identifies it."""

    name: str
    words: str
    sha256: str
    media: str = ""
    data: str = field(default="", repr=False)

    @property
    def caption(self) -> str:
        """Its name and a description, as a caption."""
        missing = "" if self.data else " (the picture itself is missing)"
        return f"{capitalized(self.name)}: {self.words}{missing}"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The beginning of a text, and how many characters it has in all. ``pictures`` are those of the whole text, which
    has their names in their places; ``more_pictures`` counts those that are not shown."""

    text: str
    total: int
    pictures: tuple[ShownPicture, ...] = ()
    more_pictures: int = 0

    @property
    def left_out(self) -> int:
        """The number of characters that are left out."""
        return self.total - len(self.text)

    @property
    def note(self) -> str:
        """What is left out, as a sentence; empty where nothing is."""
        cut = f"Cut here: {len(self.text):,} of {self.total:,} characters are shown." if self.left_out else ""
        more = f"Not shown: {plural(self.more_pictures, 'more picture')}." if self.more_pictures else ""
        return " ".join(filter(None, (cut, more)))


_SENTENCE_END: Final = re.compile(r"""[.!?…]["'”’»)\]]*(?=\s)|[。！？]|\n(?=\n)""")


def excerpt(text: str, most: int) -> Excerpt:
    """At most ``most`` characters of a text, up to the end of a sentence in the last half of these, else of a word."""
    if len(text) <= most:
        return Excerpt(text, len(text))
    cut = text[:most]
    ends = [match.end() for match in _SENTENCE_END.finditer(text, most // 2, most)]
    if ends:
        return Excerpt(cut[: ends[-1]], len(text))
    space = max(cut.rfind(" "), cut.rfind("\n"))
    if space > most - 40:
        cut = cut[:space]
    return Excerpt(cut, len(text))


@dataclass(frozen=True, slots=True)
class Quote:
    """What one call said. ``layer`` and ``neuron`` count from 1; the chair is in the layer after the last."""

    layer: int
    neuron: int
    role: str | None
    order: Order
    verdict: Verdict
    score_a: float | None
    score_b: float | None
    evidence: Excerpt


DisagreementKind = Literal["people", "orders", "layers"]
"""Where a pair shows disagreement: with people, between the two orders, between the layers."""
KINDS: tuple[DisagreementKind, ...] = ("people", "orders", "layers")


@dataclass(frozen=True, slots=True)
class PairStudy:
    """An example pair with the calls that explain it. ``index`` is its place in the run, from 0."""

    kind: DisagreementKind
    index: int
    pair_id: str
    task: str | None
    question: Excerpt
    response_a: Excerpt
    response_b: Excerpt
    human: Verdict | None
    verdict: Verdict | None
    verdicts: PairVerdicts
    mean_ab: float | None
    mean_ba: float | None
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class PromptSample:
    """A prompt as it was sent for one pair. ``layer`` 0 is role generation."""

    pair_id: str
    layer: int
    neuron: int
    order: Order | None
    system: Excerpt
    user: Excerpt


@dataclass(frozen=True, slots=True)
class EndpointFacts:
    """Where calls went. ``host`` is ``None`` for the embedded model and for recorded answers."""

    name: str
    kind: str
    host: str | None


@dataclass(frozen=True, slots=True)
class Data:
    """What was judged. ``system_a`` and ``system_b`` are set where all pairs compare the same two systems.

    ``questions`` is the number of different questions: fewer than pairs means that pairs depend on each other.
    ``systems`` are the names of all systems whose responses were judged.
    ``annotated`` pairs have the labels of several annotators, ``annotators`` are their names in all.
    """

    hash: str
    pairs: int
    finished: int
    labelled: int
    questions: int
    files: tuple[tuple[str, str], ...]
    format: str
    system_a: str | None
    system_b: str | None
    annotated: int
    annotators: int
    systems: tuple[str, ...] = ()
    criteria: str = ""
    """How many pairs have criteria, in words; empty where none has."""
    weighted: bool = False
    """The neurons of criteria have weights that differ."""


@dataclass(frozen=True, slots=True)
class About:
    """What was run, when, and with what. Times are seconds since the epoch, UTC.

    ``recorded`` says how judgments made elsewhere were read; empty for a run of this program. ``name`` and ``note``
    are the user's, empty where there are none. ``shards`` are the shards that it consists of.
    """

    run_id: str
    number: int
    state: RunStatus
    message: str
    created_at: float
    finished_at: float | None
    starts: tuple[float, ...]
    prompts_digest: str
    seed: int | None
    versions: Mapping[str, str]
    endpoints: tuple[EndpointFacts, ...]
    models: tuple[ModelUse, ...]
    parameters: tuple[ParameterUse, ...]
    refused: tuple[str, ...]
    spent: Spent
    latency_s: float
    recorded: str = ""
    name: str = ""
    note: str = ""
    shards: ShardsInRun | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """All figures of a run. ``decides`` names the aggregation that is the network's verdict.

    ``spec`` holds the rules of voting in force, ``recorded`` those of the run.

    ``verdicts`` are the network's on all pairs that have one, ``human`` the labels of people, ``rates`` the win rate
    estimated from both. ``position`` is about c1*, the average over all calls of one order. ``bootstrap_seed`` and
    ``resamples`` made the intervals. ``disagreements`` counts all pairs of each kind, of which ``studies`` shows some.
    ``cautions`` are sentences that readers of the figures must know. ``more`` is what
    :func:`judgenet.report.judge_analysis.deepen` adds, ``beside`` what
    :func:`judgenet.report.run_comparison.compare_runs` does. ``bias`` is the newest bias lab of the project.
    """

    about: About
    spec: NetworkSpec
    recorded: Aggregation
    data: Data
    decides: str
    bootstrap_seed: int
    resamples: int
    verdicts: WinRate
    human: WinRate
    rates: CorrectedRates
    aggregations: Mapping[str, ReportedAgreement]
    baseline: Majority | None
    tasks: tuple[TaskFigures, ...]
    layers: tuple[LayerFigures, ...]
    neurons: tuple[NeuronFigures, ...]
    roles: tuple[RoleFigures, ...]
    position: PositionConsistency
    changes: tuple[LayerChange, ...]
    calls_used: int
    calls_total: int
    unscored: tuple[UnscoredCount, ...]
    left_out: tuple[LeftOutCount, ...]
    cautions: tuple[str, ...]
    words: tuple[RoleWords, ...]
    studies: tuple[PairStudy, ...]
    disagreements: Mapping[DisagreementKind, int]
    prompts: tuple[PromptSample, ...]
    more: RunStudy | None = None
    beside: ReportedComparison | None = None
    bias: LabFigures | None = None
    anytime: RunAnytime | None = None
    until: UntilFigures | None = None
    acceptance: AcceptanceFigures | None = None
    quorum: QuorumFigures | None = None
    stand_ins: StandInFigures | None = None
    guarantee: RunGuarantee | None = None
    cascade: CascadeFigures | None = None
    probabilities: Annotated[ProbabilityFigures | None, OPTIONAL] = None

    @property
    def headline(self) -> ReportedAgreement:
        """The figures of the network's verdict."""
        return self.aggregations[self.decides]
