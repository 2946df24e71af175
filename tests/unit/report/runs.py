"""Recorded runs whose every score is known, to compare reports with."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judgenet.core.calls import CallSite
from judgenet.core.network import (
    ChairSpec,
    LayerSpec,
    NetworkSpec,
    NeuronSpec,
    Role,
    RolesSpec,
    Settings,
)
from judgenet.core.pairs import Pair, Verdict
from judgenet.engine.ports import ChatReply, ChatRequest, Usage
from judgenet.report.build import build
from judgenet.report.model import Report
from judgenet.store.db import Store
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo, run_info
from judgenet.store.taught import fair_frame
from tests.unit.engine import harness

Say = Callable[[CallSite], tuple[float, float] | None]
"""The scores of A and B that a call gives; ``None`` for an answer that cannot be read."""

Scores = dict[CallSite, tuple[float, float] | None]

SETTINGS = Settings(endpoint="fake", model="judge", temperature=0.0)
ROLES = (Role("Accuracy", "Is it true?"), Role("Clarity", "Is it clear?"), Role("Safety", "Does it harm?"))
LABELS: tuple[Verdict | None, ...] = ("a", "b", "tie", None)


def fixed_network(*widths: int, chair: bool = False, roles: tuple[Role, ...] = ROLES, **changes: Any) -> NetworkSpec:
    """Layers of these widths with fixed roles."""
    return NetworkSpec(
        layers=tuple(LayerSpec(tuple(NeuronSpec() for _ in range(width))) for width in widths),
        roles=RolesSpec(kind="fixed", roles=roles),
        settings=SETTINGS,
        chair=ChairSpec() if chair else None,
        name=changes.pop("name", "Panel"),
        **changes,
    )


def labelled_pairs(count: int, seed: int = 1, tasks: tuple[str | None, ...] = ("code", "prose", None)) -> list[Pair]:
    """Pairs with random labels (some without) and tasks in turn."""
    draw = random.Random(seed)
    return [
        Pair(
            f"p{i}",
            f"question {i}",
            f"answer one of {i}",
            f"answer two of {i}",
            task=tasks[i % len(tasks)],
            human=draw.choices(LABELS, [5, 4, 2, 2])[0],
        )
        for i in range(count)
    ]


def random_say(pairs: list[Pair], seed: int = 2, unread: float = 0.05) -> tuple[Say, Scores]:
    """Scores that lean towards people's label and towards what is shown first; and where they are kept."""
    draw = random.Random(seed)
    said: Scores = {}

    def say(site: CallSite) -> tuple[float, float] | None:
        if draw.random() < unread:
            said[site] = None
            return None
        human = pairs[site.pair].human
        lean = {"a": 2, "b": -2, "tie": 0, None: 0}[human] + (1 if site.order == "ab" else -1)
        a, b = (float(min(10, max(1, 5 + push + draw.randint(-2, 2)))) for push in (lean, -lean))
        said[site] = (a, b)
        return a, b

    return say, said


def answering(say: Say, evidence: Callable[[CallSite], str], roles: Callable[[int], list[str]] | None) -> Any:
    """The fake judge's answer to a request."""

    def answer(request: ChatRequest) -> ChatReply:
        site = harness.site_of(request)
        if site.order is None:
            names = roles(site.pair) if roles is not None else []
            text = json.dumps({"roles": [{"name": name, "description": f"about {name}"} for name in names]})
        else:
            scores = say(site)
            if scores is None:
                text = "I would rather not say."
            else:
                first, second = scores if site.order == "ab" else (scores[1], scores[0])
                text = json.dumps({"evidence": evidence(site), "score_1": first, "score_2": second})
        return ChatReply(text, "stop", model="judge-2026", usage=Usage(100, 10), latency_s=0.5)

    return answer


def plain_evidence(site: CallSite) -> str:
    return f"evidence of layer {site.layer}, neuron {site.neuron}, {site.order}"


def record(
    path: Path,
    pairs: list[Pair],
    say: Say,
    spec: NetworkSpec | None = None,
    *,
    evidence: Callable[[CallSite], str] = plain_evidence,
    roles: Callable[[int], list[str]] | None = None,
    **changes: Any,
) -> harness.Ran:
    """Judges the pairs and keeps the run at ``path``."""
    begin = harness.start(spec or fixed_network(2, 2), pairs, **changes)
    return harness.run(path, begin, harness.FakeEndpoint(answer=answering(say, evidence, roles)))


@contextmanager
def opened(path: Path) -> Iterator[tuple[Store, RunInfo]]:
    with Store.open(path, readonly=True) as store:
        yield store, run_info(store)


def reported(path: Path, **options: Any) -> Report:
    """The report of the newest run at ``path``; few resamples unless asked for."""
    with opened(path) as (store, run):
        rules = options.pop("rules", None)
        recorded = network_of(run).aggregation
        return build(store, fair_frame(store, run, rules), recorded=recorded, **{"resamples": 200, **options})
