"""What an experiment found: each network under an aggregation on each set of pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from judgenet.core.pairs import Verdict
from judgenet.figures.base import ASKED, OPTIONAL, Figures, Keys, as_json, flat
from judgenet.figures.parts import Reasons
from judgenet.stats.intervals import Interval

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class SetPairs:
    """The pairs of a set."""

    total: int
    labelled: Annotated[int, "pairs with a human label"]
    labels: Annotated[Mapping[str, int], Keys(("VERDICT",)), "pairs by human label"]
    questions: Annotated[int, "different questions"]
    tasks: Annotated[int, "different tasks"]
    selection: Annotated[str, "which pairs were taken"]
    data_hash: Annotated[str, "of the texts and labels"]


@dataclass(frozen=True)
class SetMajority:
    """What always answering the commonest label reaches."""

    label: Annotated[Verdict | None, "the commonest human label"]
    accuracy: Annotated[float | None, "what it reaches as a constant answer"]
    reason: str | None


@dataclass(frozen=True)
class RowDifference:
    """A row less the row that it is compared with, over the pairs that both judged."""

    against: Annotated[str, "the key of the row that it is compared with"]
    n_used: Annotated[int, "labelled pairs that both judged"]
    n_total: int
    accuracy: Annotated[float | None, "this row less the other, over those pairs"]
    accuracy_ci: Interval | None
    macro_f1: float | None
    macro_f1_ci: Interval | None
    kappa: float | None
    kappa_ci: Interval | None
    p: Annotated[float | None, "McNemar's test: exact, or over questions where these repeat"]
    p_over: Annotated[str | None, "pairs, or questions"]
    p_holm: Annotated[float | None, "p adjusted for all rows that are compared on the set (Holm)"]
    reasons: Reasons


@dataclass(frozen=True)
class SetRow:
    """A network under an aggregation, against people."""

    row: Annotated[str, "the key of a row: a network under an aggregation"]
    network: str
    aggregation: str
    name: str
    group: Annotated[str, "rows of one table or line of the plot"]
    x: Annotated[int | None, "its place on the plot's axis"]
    subject: Annotated[bool, "a row that the experiment is about"]
    layers: Annotated[
        tuple[int | None, ...],
        "neurons of each layer; `null` in it where each pair has as many as it has roles",
    ]
    samples: Annotated[int, "samples in each order"]
    neurons_per_pair: Annotated[float | None, "mean"]
    calls_per_pair: Annotated[float | None, "mean; what the row's network would ask alone"]
    judged: Annotated[int, "pairs that came to an end"]
    accuracy: Annotated[float | None, "as in the part *agreement*"]
    accuracy_ci: Interval | None
    macro_f1: float | None
    macro_f1_ci: Interval | None
    kappa: float | None
    kappa_ci: Interval | None
    n_used: Annotated[int, "pairs with label and verdict"]
    n_total: int
    quorum: Annotated[int | None, OPTIONAL, "the fewest neurons with a valid answer for a verdict"]
    no_quorum: Annotated[int | None, OPTIONAL, "judged pairs without a verdict for want of it"]
    confusion: Annotated[
        tuple[tuple[int, ...], ...],
        "pairs by human label (rows) and verdict (columns), in the order a, b, tie",
    ]
    difference: RowDifference | None
    reasons: Reasons


@dataclass(frozen=True)
class SetRoles:
    """How many roles the model named."""

    pairs: Annotated[int, "pairs whose roles were asked for"]
    fewer: Annotated[int, "for which fewer came back than there are neurons"]
    none: Annotated[int, "for which none did, so that roles of the library stood in"]


@dataclass(frozen=True)
class SetStandIns:
    """The calls that other models answered than the networks name for them."""

    calls: Annotated[int, "calls that stand-ins answered, over the networks' runs"]
    n_total: Annotated[int, "answered calls of those runs"]
    models: Annotated[Mapping[str, int], Keys(("MODEL",)), "of them by `ENDPOINT/MODEL`"]


@dataclass(frozen=True)
class SetCalls:
    """The calls that the networks rest on."""

    all: Annotated[int, "calls that the networks rest on"]
    different: Annotated[int, "of them, shared ones once"]
    shared: Annotated[int, "the others"]
    asked_this_time: Annotated[int, "asked by the last start"]
    unscored: Annotated[Mapping[str, int], Keys(("REASON",)), "calls without a verdict"]
    tokens_in: Annotated[int, "of the different calls, whenever they were asked"]
    tokens_out: int
    price: Annotated[float | None, "USD; `null` where the price of a call is unknown"]
    stand_ins: Annotated[SetStandIns | None, OPTIONAL, "there where stand-ins answered calls"]
    reasons: Reasons


@dataclass(frozen=True)
class RecordedModel:
    """A model that was asked."""

    endpoint: str
    asked: str
    answered_as: Annotated[str, "empty where the endpoint did not say"]


@dataclass(frozen=True)
class RecordedParameters:
    """Parameters of calls, as they were asked."""

    model: str
    form: Annotated[str, "how answers were asked for"]
    temperature: Annotated[float | str, "or `default`: the endpoint's own"]
    max_tokens: int
    answers: Annotated[int, "answers asked for so, over the rows' runs"]
    temperature_not_applied: Annotated[int, "of them without the temperature, as the endpoint refuses it"]
    more: Annotated[str | None, OPTIONAL, "JSON of further settings, such as reasoning"] = None
    reasoning_otherwise: Annotated[
        int | None, OPTIONAL, "of the answers, those whose reasoning was not applied or sent in another form"
    ] = None


@dataclass(frozen=True)
class RecordedSource:
    """Where the pairs come from."""

    files: Annotated[tuple[tuple[str, str], ...], "names and digests of the files of pairs"]
    format: str
    systems: Annotated[int | None, OPTIONAL, "where a record holds responses of many systems: how many there are"]
    questions: Annotated[int | None, OPTIONAL]
    responses: Annotated[int | None, OPTIONAL]
    matches: Annotated[int | None, OPTIONAL, "pairs that are judged"]
    possible_matches: Annotated[int | None, OPTIONAL, "of so many"]


@dataclass(frozen=True)
class SetRecord:
    """With what a set was judged."""

    judgenet: Annotated[str, "the version"]
    models: tuple[RecordedModel, ...]
    parameters: tuple[RecordedParameters, ...]
    prompts: Annotated[tuple[str, ...], "digests of the prompts"]
    seed: int
    source: RecordedSource


@dataclass(frozen=True)
class StatedLabour:
    """What a label takes and costs, as stated."""

    seconds: Annotated[float | None, "a label takes an annotator, as stated"]
    wage: Annotated[float | None, "USD an hour, as stated"]
    annotators: Annotated[float, "people who label a pair, as stated"]
    reasons: Reasons


@dataclass(frozen=True)
class RowWork:
    """People's time and money for all pairs and for the review."""

    pairs: Annotated[int, "pairs of the set"]
    reviews: Annotated[int | None, "of them to review"]
    faster: Annotated[float | None, "people's time for all pairs over that for the review"]
    faster_ends: Annotated[tuple[float, ...] | None, "at both ends of the review share"]
    hours_all: Annotated[float | None, "people's hours for all pairs (`--label-seconds`)"]
    hours_review: Annotated[float | None, "and for the review"]
    cost_all: Annotated[float | None, "their wage for all pairs, USD (`--wage`)"]
    cost_review: Annotated[float | None, "and for the review"]
    network_price: Annotated[float | None, "what the network's calls cost for all pairs, USD"]
    cost_saved: Annotated[
        float | None,
        "share of `cost_all` that review and network do not take; below 0 where they cost more",
    ]
    cost_saved_ends: Annotated[tuple[float, ...] | None, "at both ends of the review share"]
    reasons: Reasons


@dataclass(frozen=True)
class SavingRow:
    """How much people must still review beside a row's network."""

    row: str
    accuracy: float | None
    relative: Annotated[float | None, "accuracy over the target"]
    review: Annotated[float | None, "share of pairs that people must review, picked at random"]
    review_ends: Annotated[tuple[float | None, ...] | None, "the share at both ends of the accuracy's interval"]
    saved: Annotated[float | None, "the rest"]
    review_if_reviewers_err: Annotated[
        float | None,
        "the share where reviewers agree with the label only as often as people do",
    ]
    uncertain_first: Annotated[float | None, "the share where the least certain pairs are reviewed first"]
    uncertain_first_ci: Interval | None
    n_used: int
    n_total: int
    seed: int
    work: RowWork
    reasons: Reasons


@dataclass(frozen=True)
class SetSaving:
    """How much of people's annotation the networks save."""

    target: Annotated[float, "annotation-saving: the agreement to reach"]
    target_from: Annotated[str, "given, measured (the annotators' of these pairs) or paper"]
    target_n: Annotated[int | None, "pairs on which it was measured"]
    measured_agreement: Annotated[float | None, "of the annotators among themselves"]
    labour: StatedLabour | None
    rows: tuple[SavingRow, ...]
    reasons: Reasons


@dataclass(frozen=True)
class TaskWords:
    """The roles that the model named for a task."""

    task: Annotated[str, "word-clouds: a task, empty where the pairs name none"]
    pairs_used: Annotated[int, "pairs whose roles the model named"]
    pairs_total: int
    roles: Annotated[int, "different roles"]
    words: Annotated[tuple[tuple[str, int], ...], "each role and how often it was named"]


@dataclass(frozen=True)
class ExperimentSet:
    """The figures of an experiment on one set of pairs."""

    set: Annotated[str, "the name of a set of pairs"]
    state: Annotated[str, "done, or how the last start of it stopped"]
    message: Annotated[str, "why it stopped"]
    at: Annotated[float, "when, in seconds since 1970"]
    pairs: SetPairs
    majority: SetMajority
    rows: tuple[SetRow, ...]
    runs: Annotated[Mapping[str, tuple[str, ...]], Keys(("NETWORK",)), "the ids of a network's runs in the store"]
    networks: Annotated[Mapping[str, Any], Keys(("NETWORK",)), "the network as project files hold it"]
    roles: SetRoles
    calls: SetCalls
    record: SetRecord
    saving: Annotated[SetSaving | None, OPTIONAL]
    words: Annotated[tuple[TaskWords, ...] | None, OPTIONAL]

    @property
    def saving_rows(self) -> tuple[SavingRow, ...]:
        """What people must still review beside each network; empty where the experiment does not ask for it."""
        return () if self.saving is None else self.saving.rows


@dataclass(frozen=True)
class ExperimentPlace:
    """Where the files of an experiment are."""

    folder: Annotated[str, "where its files are"]
    files: Annotated[tuple[str, ...], "their names"]


@dataclass(frozen=True, repr=False)
class ExperimentFigures(Figures):
    """The figures of an experiment on each set of pairs."""

    judgenet: Annotated[str, "the version that wrote it"]
    results: Annotated[int, "the version of these keys"]
    experiment: Annotated[str, "the name of the experiment"]
    title: str
    place: Annotated[ExperimentPlace | None, ASKED]
    sets: tuple[ExperimentSet, ...]

    def to_frame(self) -> pd.DataFrame:
        """A row a set of pairs and row of its table, with the ends of intervals as columns."""
        import pandas as pd

        return pd.concat(
            [
                pd.DataFrame([flat(as_json(row)) for row in set_figures.rows]).assign(set=set_figures.set)
                for set_figures in self.sets
            ]
        )
