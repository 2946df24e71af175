"""People's time and money where a network judges first and they review a share of the pairs (statistics 1.5)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Labour:
    """What a label takes: ``seconds`` of an annotator, who is paid ``wage`` an hour (USD), from ``annotators`` people a
    pair. ``None`` where it is not stated."""

    seconds: float | None = None
    wage: float | None = None
    annotators: float = 1.0


@dataclass(frozen=True, slots=True)
class Work:
    """The work on ``pairs`` pairs, of which people review a share.

    ``faster`` is how many times less of people's time that takes than labelling all pairs. Hours are people's;
    ``cost_all`` is the wage for all pairs, ``cost_review`` that for the reviewed ones, and ``cost_saved`` the share of
    ``cost_all`` that is left when the wage for the review and the network's price are paid: below 0 where the network
    costs more than it saves. What is not known is ``None``, and ``reasons`` says why.
    """

    pairs: int
    reviews: float | None
    faster: float | None
    hours_all: float | None
    hours_review: float | None
    cost_all: float | None
    cost_review: float | None
    network_price: float | None
    cost_saved: float | None
    reasons: dict[str, str]


def work(
    share: float | None, pairs: int, labour: Labour, price: float | None, *, reason: str = "", price_reason: str = ""
) -> Work:
    """The work where ``share`` of ``pairs`` pairs is reviewed and the network's calls cost ``price`` (USD).

    ``reason`` says why there is no share, ``price_reason`` why no price.
    """
    reasons: dict[str, str] = {}
    reviews = None if share is None else share * pairs
    if share is None:
        reasons |= dict.fromkeys(("reviews", "faster", "hours_review", "cost_review", "cost_saved"), reason)
    elif not share:
        reasons["faster"] = "nothing must be reviewed"
    hours = None if labour.seconds is None else pairs * labour.annotators * labour.seconds / 3600
    cost = None if hours is None or labour.wage is None else hours * labour.wage
    if hours is None:
        reasons |= dict.fromkeys(("hours_all", "hours_review"), "the seconds a label takes are not stated")
    if cost is None:
        why = "the wage is not stated" if hours is not None else "the seconds a label takes are not stated"
        reasons |= dict.fromkeys(("cost_all", "cost_review", "cost_saved"), why)
    if price is None:
        reasons["network_price"] = price_reason
        reasons.setdefault("cost_saved", price_reason)
    review = None if cost is None or share is None else share * cost
    saved = None
    if cost is not None and review is not None and price is not None:
        if cost:
            saved = 1 - (review + price) / cost
        else:
            reasons["cost_saved"] = "labels cost nothing"
    return Work(
        pairs=pairs,
        reviews=reviews,
        faster=1 / share if share else None,
        hours_all=hours,
        hours_review=None if hours is None or share is None else share * hours,
        cost_all=cost,
        cost_review=review,
        network_price=price,
        cost_saved=saved,
        reasons=reasons,
    )
