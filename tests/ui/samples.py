"""Networks for pictures, tests and benchmarks of the canvas. Names, texts and figures are invented."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from judgenet.core.pairs import Verdict
from judgenet.ui.canvas.model import (
    LayerState,
    NetworkState,
    NeuronState,
    NodeProblem,
    OrderState,
    PairNodeState,
    RolesState,
    VerdictState,
    VoteState,
    boxes_of,
    tally,
)

ROLES = ("Accuracy", "Completeness", "Clarity", "Safety")
QUESTION = (
    "Our Postgres table has 400 million rows. How do I add a NOT NULL column with a default without blocking writes?"
)


def order(a: float, b: float) -> OrderState:
    """One order with its scores."""
    verdict: Verdict = "a" if a > b else "b" if b > a else "tie"
    return OrderState(a, b, verdict)


def scored(
    role: str, ab: tuple[float, float], ba: tuple[float, float], verdict: Verdict, seconds: float = 4.2
) -> NeuronState:
    """A neuron that has judged in both orders."""
    return NeuronState(
        role, "Meridian 70B", phase="scored", ab=order(*ab), ba=order(*ba), verdict=verdict, seconds=seconds
    )


def all_of(before: int, width: int) -> tuple[tuple[int, ...], ...]:
    """What the neurons of a layer read that reads all of the layer before."""
    return (tuple(range(before)),) * width


def design(widths: Sequence[int] = (4, 3), *, problem: bool = True) -> NetworkState:
    """The network of the design page, with a neuron that has no model."""
    layers = []
    for number, width in enumerate(widths):
        temperature = "Temp. 0.7" if number == 0 else "Temp. 0"
        neurons = [
            NeuronState(ROLES[i % 4] if width <= 24 else f"Role {i + 1}", "Meridian 70B", f"{temperature} · 1 sample")
            for i in range(width)
        ]
        if number == 0 and width == 4:
            neurons[2] = replace(neurons[2], model="Fjord 8B")
            if problem:
                neurons[3] = replace(neurons[3], model="", problem=NodeProblem("No model chosen", "Use Meridian 70B"))
        layers.append(LayerState(tuple(neurons), all_of(widths[number - 1], width) if number else ()))
    boxes = boxes_of(tuple(layers))
    return NetworkState(
        tuple(layers),
        pair=PairNodeState("Pair 413", QUESTION, "102 w", "110 w"),
        roles=RolesState(str(widths[0]), ("Fixed, from library", "“General review”"), "Same for each pair"),
        vote=VoteState(boxes=boxes, note="A tied vote is a tie"),
    )


def run() -> NetworkState:
    """The network of the run page: every state at once."""
    first = (
        scored("Accuracy", (8, 6), (8, 5), "a", 4.2),
        scored("Completeness", (6, 8), (6, 7), "b", 5.0),
        scored("Clarity", (8, 7), (6, 8), "b", 3.9),
        NeuronState(
            "Safety",
            phase="unscored",
            reason="Cut at 1,024 tokens",
            note="Retried 3 times",
            note2="Not in the vote",
        ),
    )
    second = (
        NeuronState("Accuracy", phase="asked", seconds=3.1),
        NeuronState("Completeness", phase="writing", writing="ba", ab=order(7, 6), seconds=6.1),
        replace(scored("Clarity", (8, 6), (7, 6), "a", 3.9), changed_from="b"),
    )
    layers = (LayerState(first), LayerState(second, all_of(len(first), len(second))))
    return NetworkState(
        layers,
        mode="run",
        pair=PairNodeState("Pair 413", QUESTION, "102 w", "110 w"),
        roles=RolesState("4", ("Fixed, from library",)),
        vote=VoteState(boxes=boxes_of(layers), votes=(2, 0, 2), used=4, total=7),
        verdict=VerdictState(outstanding=2, human="a"),
        editable=False,
    )


def states() -> dict[str, NeuronState]:
    """Every state of a neuron, by name."""
    return {
        "waiting": NeuronState("Accuracy", phase="waiting"),
        "asked": NeuronState("Accuracy", phase="asked", seconds=3.1),
        "writing": NeuronState("Accuracy", phase="writing", writing="ba", ab=order(7, 6), seconds=6.1),
        "a": scored("Clarity", (8, 6), (8, 5), "a"),
        "b": scored("Clarity", (6, 8), (6, 7), "b", 5.0),
        "tie": scored("Clarity", (7, 7), (7, 7), "tie", 3.6),
        "orders differ": scored("Safety", (8, 7), (6, 8), "b"),
        "changed": replace(scored("Safety", (8, 6), (7, 6), "a", 3.9), changed_from="b"),
        "unscored": NeuronState(
            "Safety", phase="unscored", reason="Refused to judge", note="Retried 3 times", note2="Not in the vote"
        ),
        "differ and changed": replace(scored("Safety", (8, 7), (6, 8), "b"), changed_from="a"),
        "one order": replace(
            scored("Clarity", (8, 6), (8, 5), "a"), ba=OrderState(unscored="Cut at 1,024 tokens"), seconds=9.9
        ),
        "verdict only": replace(
            scored("Clarity", (8, 6), (8, 5), "a"), ab=OrderState(verdict="a"), ba=OrderState(verdict="tie")
        ),
        "problem": NeuronState("Safety", problem=NodeProblem("No model chosen", "Use Meridian 70B")),
        "idle": NeuronState("Completeness", "Meridian 70B", "Temp. 0.7 · 1 sample"),
        "long": scored("Würdigung der Quellenlage und Belege", (10, 9.5), (10, 7.25), "a", 61.5),
        "cjk": scored("正確性と完全性の評価", (8, 6), (8, 5), "a"),
        "arabic": scored("دقة المعلومات", (8, 6), (8, 5), "a"),
        "one order only": replace(scored("Single", (8, 6), (8, 5), "a"), orders=("ab",), ba=None),
    }


def busy(widths: Sequence[int], *, seed: int = 7, done: float = 0.8, mode: str = "run") -> NetworkState:
    """A running network of any shape: the first layers done, the last one in part."""
    dice = random.Random(seed)
    layers: list[LayerState] = []
    for number, width in enumerate(widths):
        last = number == len(widths) - 1
        neurons: list[NeuronState] = []
        for i in range(width):
            role = f"Role {i + 1}"
            if last and i > width * (done + 0.1):
                neurons.append(NeuronState(role, phase="waiting"))
            elif last and i > width * done:
                neurons.append(NeuronState(role, phase="asked", seconds=2.4))
            elif dice.random() < 0.015:
                neurons.append(NeuronState(role, phase="unscored", reason="Refused to judge"))
            else:
                a, b = dice.randint(4, 9), dice.randint(4, 9)
                neurons.append(
                    scored(role, (a, b), (a, b), "a" if a > b else "b" if b > a else "tie", 2 + dice.random() * 4)
                )
        layers.append(LayerState(tuple(neurons), all_of(widths[number - 1], width) if number else ()))
    boxes = boxes_of(tuple(layers))
    counts = [tally(row) for row in boxes]
    total = sum(count.total for count in counts)
    scored_count = sum(count.scored for count in counts)
    to_come = sum(count.pending for count in counts)
    votes = (sum(c.a for c in counts), sum(c.tie for c in counts), sum(c.b for c in counts))
    return NetworkState(
        tuple(layers),
        mode="run",
        pair=PairNodeState("Pair 413", QUESTION, "102 w", "110 w"),
        roles=RolesState(f"{widths[0]}", (f"{widths[0]}, fixed",)),
        vote=VoteState(boxes=boxes, votes=votes, used=scored_count, total=total),
        verdict=VerdictState(outstanding=to_come, leads="a"),
        editable=False,
    )
