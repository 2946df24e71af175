"""What a probe of the bias lab is: how it shows a pair, and by which rule its answers are counted."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from judgenet.core.pairs import Order, Pair, Shown
from judgenet.core.pictures import pictures_in

Position = Literal["first", "second"]
Side = Literal["a", "b"]
SIDES: tuple[Side, ...] = ("a", "b")

Denominator = Literal["valid", "paper"]
"""``valid``: pairs with a valid answer to each prompt. ``paper``: as CoBBLEr's released code divides."""

MARGIN = 0.05
"""The net effect that must be ruled out, where nothing else is set."""
MARGINS = (0.005, 0.5)

Rule = Literal["both", "consistent", "decided", "changed"]
"""How answers are counted. Every prompt has a target, the position that the bias would choose.

``both``: the target was chosen in each prompt, of all valid pairs. ``consistent``: the same, of the pairs where the
target or its rival was chosen throughout. ``decided``: not a tie, of all valid prompts. ``changed``: the answers to
the same prompt are not all the same.
"""


@dataclass(frozen=True, slots=True)
class LabSettings:
    """How a lab is asked and judged.

    ``own`` are the names of the systems that are the judge's own, exactly as the pairs name them. ``share`` is the
    invented majority in per cent. ``tie`` offers the judge a tie. ``repeats`` is how often the very same is asked.
    ``instructions`` limits the questions, drawn by ``seed``; ``None`` takes all. ``margin`` is the net effect (a share
    of the valid pairs) that must be ruled out before a judge is said to have no bias; it changes no prompt.
    """

    own: tuple[str, ...] = ()
    share: int = 85
    tie: bool = True
    denominator: Denominator = "valid"
    repeats: int = 3
    instructions: int | None = None
    seed: int = 0
    margin: float = MARGIN

    def __post_init__(self) -> None:
        if not 1 <= self.share <= 100:
            raise BiasError(f"The share of people is 1 to 100 per cent, not {self.share}.")
        if self.repeats < 2:
            raise BiasError(f"Repeats are 2 or more, not {self.repeats}.")
        if self.instructions is not None and self.instructions < 1:
            raise BiasError(f"At least one instruction is needed, not {self.instructions}.")
        if not MARGINS[0] <= self.margin <= MARGINS[1]:
            raise BiasError(f"The margin is a share from {MARGINS[0]} to {MARGINS[1]}, not {self.margin:g}.")


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
    """A bias to be measured.

    ``show`` turns a pair into prompts. ``outcomes`` name the possible outcomes of the answers to all prompts: the
    targets, their rivals, and neither throughout. Where there are rivals (:attr:`has_rival`) the verdict rests on the
    net effect: ``above`` says what it means that the targets win, ``against`` that the rivals do, and ``toward`` names
    the two in a sentence "Biased toward …". Elsewhere a share of any size is a fault. ``rate`` gives the counts, with
    ``{hits}`` and ``{n}``, where they are part of the verdict. ``by_consistent``: shares of two judges are compared on
    the pairs that both judge the same way in both orders, since a judge that is only steadier chooses targets and
    rivals more often."""

    key: str
    title: str
    tells: str
    rule: Rule
    show: Callable[[Pair, LabSettings], Showing | NotAllowed]
    outcomes: tuple[str, str, str]
    above: str = ""
    against: str = ""
    toward: tuple[str, str] = ("", "")
    rate: str = ""
    by_consistent: bool = False
    source: str = ""

    @property
    def has_rival(self) -> bool:
        """Whether a judge without the bias chooses the targets as often as their rivals."""
        return self.rule in ("both", "consistent")

    def chance(self, settings: LabSettings) -> float | None:
        """The share that a fair coin reaches (statistics 4.3); ``None`` where every coin toss is a fault."""
        if self.rule == "both":
            return 0.25
        if self.rule == "consistent":
            return 0.5
        return 1 - 2.0 ** (1 - settings.repeats) if self.rule == "changed" else None


def presented(pair: Pair, what: str, settings: LabSettings, shown: Shown | None = None, **texts: Any) -> Pair:
    """A pair as one prompt shows it, with an id of its own. It has no human label: that of the pair is not its own."""
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
    """The position of a response in an order."""
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


def picture_reason(pair: Pair) -> str:
    """Why a probe that is about the text of responses says nothing of a pair, or an empty text."""
    seen = any(pictures_in(text, pair.pictures) for text in (pair.response_a, pair.response_b))
    return "a response has pictures, and the probe is about its text" if seen else ""


def empty_reason(pair: Pair) -> str:
    """Why a pair says nothing to any probe, or an empty text."""
    if not pair.response_a.strip() or not pair.response_b.strip():
        return "a response has no text"
    return "both responses are the same text" if pair.response_a == pair.response_b else ""
