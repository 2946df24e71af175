"""What a probe of the bias lab is: how it shows a pair, and by which rule its answers are counted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from judgenet.core.pairs import Order, Pair, Shown

Position = Literal["first", "second"]
Side = Literal["a", "b"]
SIDES: tuple[Side, ...] = ("a", "b")

Denominator = Literal["valid", "paper"]
"""``valid``: pairs with a valid answer to each prompt. ``paper``: as CoBBLEr's released code divides."""

Rule = Literal["both", "consistent", "decided", "changed"]
"""How answers are counted. Every prompt has a target, the position that the bias would choose.

``both``: the target was chosen in each prompt, of all valid pairs. ``consistent``: the same, of the pairs where the
target or its rival was chosen throughout. ``decided``: not a tie, of all valid prompts. ``changed``: the answers to
the same prompt are not all the same.
"""


@dataclass(frozen=True, slots=True)
class LabSettings:
    """What the lab is told.

    ``own`` are the names of the systems that are the judge's own, exactly as the pairs name them. ``share`` is the
    invented majority in per cent. ``tie`` offers the judge a tie. ``repeats`` is how often the very same is asked.
    ``instructions`` limits the questions, drawn by ``seed``; ``None`` takes all.
    """

    own: tuple[str, ...] = ()
    share: int = 85
    tie: bool = True
    denominator: Denominator = "valid"
    repeats: int = 3
    instructions: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.share <= 100:
            raise BiasError(f"The share of people is 1 to 100 per cent, not {self.share}.")
        if self.repeats < 2:
            raise BiasError(f"Repeats are 2 or more, not {self.repeats}.")
        if self.instructions is not None and self.instructions < 1:
            raise BiasError(f"At least one instruction is needed, not {self.instructions}.")


class BiasError(ValueError):
    """A lab that cannot be built; the message says why and how to mend it."""


@dataclass(frozen=True, slots=True)
class Showing:
    """A pair as a probe shows it: the prompts in the order in which they are counted, and the target of each.

    ``variety`` names which of several forms the pair got, where a probe has several.
    """

    prompts: tuple[Pair, ...]
    targets: tuple[Position, ...]
    variety: str = ""


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """Why a pair has no part in a probe."""

    reason: str


@dataclass(frozen=True, slots=True)
class Probe:
    """A bias to be measured. ``noun`` is what a judge with the bias is swayed by.

    ``show`` turns a pair into prompts. ``outcomes`` name what an answer to all prompts can come to: the targets, their
    rivals, and neither throughout. ``noise`` is false where a share of any size is a fault, so that the words give the
    share itself (``rate``, ``{n}`` of 100) and do not compare it with a coin's. Elsewhere ``above`` and ``below`` say
    what a share above or below the coin's means, and ``against`` what it means that the rivals win. ``rivalled``: a
    judge without the bias comes above the coin too if only it is steady, so that the targets must also beat their
    rivals.
    """

    key: str
    title: str
    tells: str
    noun: str
    rule: Rule
    show: Callable[[Pair, LabSettings], Showing | NotAllowed]
    outcomes: tuple[str, str, str]
    above: str
    below: str = "Lower than chance"
    against: str = ""
    rate: str = ""
    noise: bool = True
    rivalled: bool = False
    source: str = ""

    def chance(self, settings: LabSettings) -> float | None:
        """The share that a fair coin comes to (statistics 4.3); ``None`` where every coin toss is a fault."""
        if self.rule == "both":
            return 0.25
        if self.rule == "consistent":
            return 0.5
        return 1 - 2.0 ** (1 - settings.repeats) if self.rule == "changed" else None


def presented(pair: Pair, what: str, settings: LabSettings, shown: Shown | None = None, **texts: Any) -> Pair:
    """A pair as one prompt shows it, with an id of its own. What people said of the pair is not said of this."""
    shown = replace(shown or Shown(), tie=settings.tie)
    order = shown.order or "ab"
    shown = replace(shown, order=order)
    return replace(
        pair,
        id=f"{pair.id} · {what} {order}".replace("  ", " ") if what else f"{pair.id} · {order}",
        human=None,
        annotators=(),
        shown=shown,
        **texts,
    )


def plain(pair: Pair, order: Order, settings: LabSettings) -> Pair:
    """A pair without names or remarks in one order: the prompt that order, length and own system share."""
    return presented(pair, "", settings, Shown(order=order))


def position_of(side: Side, order: Order) -> Position:
    """Where a response stands."""
    return "first" if (side == "a") == (order == "ab") else "second"


def both_orders(pair: Pair, settings: LabSettings, target: Side) -> Showing:
    """The plain prompt in both orders, whose target is one of the responses."""
    orders: tuple[Order, Order] = ("ab", "ba")
    return Showing(
        tuple(plain(pair, order, settings) for order in orders), tuple(position_of(target, order) for order in orders)
    )


def drawn(seed: int, pair: Pair, count: int, what: str = "") -> int:
    """A number below ``count`` that a pair always gets with a seed."""
    text = f"{seed}\n{what}\n{pair.id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") % count


def empty_reason(pair: Pair) -> str:
    """Why a pair says nothing to any probe, or an empty text."""
    if not pair.response_a.strip() or not pair.response_b.strip():
        return "a response has no text"
    return "both responses are the same text" if pair.response_a == pair.response_b else ""
