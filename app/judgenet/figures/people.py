"""How people agree among themselves, and what they would still have to review beside a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from judgenet.figures.parts import AgreementFigures
from judgenet.stats.agreement import review_interval, review_share
from judgenet.stats.panel import Coefficient, PanelAgreement, panel_agreement, with_intervals
from judgenet.store.frame import RunFrame


@dataclass(frozen=True)
class ReviewShareFigures:
    """How many pairs people must review, picked at random, to be as accurate as they are among themselves."""

    aggregation: Annotated[str, "whose accuracy it is"]
    accuracy: Annotated[float | None, "that accuracy"]
    target: Annotated[float | None, "people's agreement among themselves (h), to be reached"]
    review: Annotated[float | None, "share of pairs that people must review, picked at random: (h - x) / (1 - x)"]
    saved: Annotated[float | None, "the rest"]
    relative: Annotated[float | None, "accuracy over h; may exceed 1"]
    review_ci: Annotated[
        tuple[float | None, ...] | None,
        "the share at both ends of the accuracy's interval; none, with its `reason`, where neither end needs a review",
    ]
    caveats: Annotated[tuple[str, ...], "what the formula takes for granted"]
    reason: str | None


class AmongPeople(NamedTuple):
    """The annotators of a run as a panel, and the share of pairs that they would have to review."""

    panel: PanelAgreement
    review: ReviewShareFigures


def annotators_panel(frame: RunFrame, *, intervals: bool = True, seed: int = 0) -> PanelAgreement:
    """How the annotators of a run agree with each other, with ``intervals`` by resampling (over questions where these
    repeat). Every face of the program describes them here."""
    panel = panel_agreement(dict(profile) for profile, times in frame.panel_counts.items() for _ in range(times))
    if intervals:
        panel = with_intervals(panel, frame.pairs.annotations, groups=frame.groups, seed=seed)
    return panel


def people_among_themselves(
    frame: RunFrame, aggregation: str, agreement: AgreementFigures, *, intervals: bool = True, seed: int = 0
) -> AmongPeople:
    """:func:`annotators_panel`, and what they would have to review to be as accurate with the verdicts of an
    aggregation, whose ``agreement`` with the labels is given."""
    panel = annotators_panel(frame, intervals=intervals, seed=seed)
    return AmongPeople(panel, review_share_figures(aggregation, agreement, panel.h))


_REVIEW_CAVEATS = (
    "a reviewed pair counts as right, although people agree with each other less than that",
    "for pairs reviewed at random; the most uncertain first may need fewer",
)


def review_share_figures(aggregation: str, agreement: AgreementFigures, h: Coefficient) -> ReviewShareFigures:
    """The share of pairs that people must review to be as accurate as they are among themselves, also at both ends of
    the interval of the accuracy."""
    if agreement.accuracy is None or h.value is None:
        reason = agreement.reasons.get("accuracy") or f"people's agreement is unknown: {h.reason}"
        return ReviewShareFigures(
            aggregation, agreement.accuracy, h.value, None, None, None, None, _REVIEW_CAVEATS, reason
        )
    share = review_share(agreement.accuracy, h.value)
    ends, why = None, share.reason or agreement.reasons.get("accuracy_ci", "")
    if agreement.accuracy_ci is not None:
        ends, known = review_interval(*agreement.accuracy_ci, h.value)
        why = why or known
    return ReviewShareFigures(
        aggregation=aggregation,
        accuracy=agreement.accuracy,
        target=h.value,
        review=share.review,
        saved=share.saved,
        relative=share.relative,
        review_ci=None if ends is None else tuple(end.review for end in ends),
        caveats=_REVIEW_CAVEATS,
        reason=why or None,
    )
