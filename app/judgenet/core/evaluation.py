"""What a call gives: an evaluation with evidence, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple

from judgenet.core.pairs import Order, Verdict

SCALE = (1.0, 10.0)
"""The scale of the method: one to ten for each response (WideDeep, section 3)."""

TIE_TOLERANCE = 1e-9
"""Scores closer than this are equal (statistics, section 0)."""

Choice = Literal["first", "second", "tie"]
"""A verdict in the order in which the responses were shown."""


ScoreSource = Literal["probabilities", "not_applied", "not_sent", "not_found", "not_seen"]
"""Where the scores of a call come from that was to be scored by token probabilities: from them, or, for one of these
reasons, from the text as sampled (:data:`judgenet.core.probabilities.SCORE_SOURCE_WORDS`)."""


class VerdictShares(NamedTuple):
    """The probabilities of the verdicts on a pair; they add up to 1."""

    a: float
    tie: float
    b: float


class Reason(StrEnum):
    """Why a call has no evaluation. A reason is a state of its own: never a score, never a tie."""

    UNPARSED = "unparsed"
    OUT_OF_RANGE = "out_of_range"
    CONTRADICTORY = "contradictory"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    FILTERED = "filtered"
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    TIMEOUT = "timeout"
    NETWORK = "network"
    SERVER_ERROR = "server_error"
    RATE_LIMITED = "rate_limited"
    BAD_REQUEST = "bad_request"
    CONTEXT_LENGTH = "context_length"
    AUTH = "auth"
    QUOTA = "quota"
    NO_KEY = "no_key"
    NOT_RECORDED = "not_recorded"
    BUDGET = "budget"
    CANCELLED = "cancelled"
    INTERNAL = "internal"


ANSWERED = frozenset(
    {
        Reason.UNPARSED,
        Reason.OUT_OF_RANGE,
        Reason.CONTRADICTORY,
        Reason.TRUNCATED,
        Reason.REFUSED,
        Reason.FILTERED,
        Reason.EMPTY,
        Reason.TOO_LARGE,
    }
)
"""Reasons that come with an answer of the model: it was paid for and is not asked for again."""

REASON_WORDS: dict[Reason, str] = {
    Reason.UNPARSED: "No verdict could be read",
    Reason.OUT_OF_RANGE: "Scores outside the scale",
    Reason.CONTRADICTORY: "Contradicts itself",
    Reason.TRUNCATED: "Cut at the token limit",
    Reason.REFUSED: "Refused by the model",
    Reason.FILTERED: "Filtered by the provider",
    Reason.EMPTY: "Empty answer",
    Reason.TOO_LARGE: "Answer too large",
    Reason.TIMEOUT: "No answer in time",
    Reason.NETWORK: "Connection failed",
    Reason.SERVER_ERROR: "Server error",
    Reason.RATE_LIMITED: "Rate limit",
    Reason.BAD_REQUEST: "Request not accepted",
    Reason.CONTEXT_LENGTH: "Too long for the model",
    Reason.AUTH: "Key not accepted",
    Reason.QUOTA: "Quota used up",
    Reason.NO_KEY: "No key",
    Reason.NOT_RECORDED: "Not recorded",
    Reason.BUDGET: "Budget reached",
    Reason.CANCELLED: "Stopped before it was asked",
    Reason.INTERNAL: "Internal error",
}
"""Reasons as people read them: on nodes, in tables and reports."""


@dataclass(frozen=True, slots=True)
class Unscored:
    """A call without an evaluation."""

    reason: Reason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The verdict that a reply finally gives, in the order in which the responses were shown.

    ``first`` and ``second`` are the scores as written, or both ``None`` where the reply names only a
    choice. ``rule`` names the pattern that read it.
    """

    evidence: str
    choice: Choice
    first: float | None = None
    second: float | None = None
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A neuron's opinion of one pair in one order, mapped back to responses A and B.

    Scores are ``None`` where the judge gave a verdict only (recorded judgments). Of a call that was to be scored by
    token probabilities ``scores_from`` says whether the scores are expected ones; ``shares`` then has the probabilities
    of the verdicts, and ``sampled`` the scores for A and B that the text gives. All three are ``None`` where the scores
    are those of the text, as usual.
    """

    evidence: str
    verdict: Verdict
    score_a: float | None = None
    score_b: float | None = None
    shares: VerdictShares | None = None
    scores_from: ScoreSource | None = None
    sampled: tuple[float, float] | None = None

    @classmethod
    def from_reading(cls, reading: Reading, order: Order) -> Evaluation:
        """Maps a reading back at once (statistics, section 0): the first score of "ba" belongs to B."""
        first: Verdict = "a" if order == "ab" else "b"
        second: Verdict = "b" if order == "ab" else "a"
        verdict: Verdict = first if reading.choice == "first" else second if reading.choice == "second" else "tie"
        if order == "ab":
            return cls(reading.evidence, verdict, reading.first, reading.second)
        return cls(reading.evidence, verdict, reading.second, reading.first)

    @property
    def difference(self) -> float:
        """Score of A minus score of B; +1, 0 or -1 for a verdict without scores."""
        if self.score_a is None or self.score_b is None:
            return {"a": 1.0, "b": -1.0, "tie": 0.0}[self.verdict]
        return self.score_a - self.score_b


def choice_of(first: float, second: float) -> Choice:
    """The sign of two scores, equal within :data:`TIE_TOLERANCE`."""
    if abs(first - second) <= TIE_TOLERANCE:
        return "tie"
    return "first" if first > second else "second"
