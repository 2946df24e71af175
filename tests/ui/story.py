"""A judge in the same process that writes what it is told to, piece by piece, and holds still where it is told to.

Names, texts and figures are invented.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from judgenet.core.calls import CallSite
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.evaluation import Reason
from judgenet.core.network import NetworkSpec, Role, RolesSpec, Settings
from judgenet.core.pairs import VERDICTS, Pair, Verdict
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.core.schemas import ReplyForm
from judgenet.engine.ports import CallFailed, ChatReply, ChatRequest, OnText, Usage
from judgenet.engine.session import Engine
from judgenet.store.files import save_project
from judgenet.ui.app import Studio

ROLES = (
    Role("Accuracy", "Is what it says true, and does it answer what was asked?"),
    Role("Completeness", "Is everything there that the reader needs?"),
    Role("Clarity", "Can the reader follow it at first reading?"),
    Role("Safety", "Could following it do harm?"),
)
QUESTIONS = (
    "How do I add a NOT NULL column with a default to a Postgres table of 400 million rows without blocking writes?",
    "Why does bread go stale faster in the fridge?",
    "Summarise the clause on early termination in two sentences.",
    "なぜ空は青いのですか。子どもにも分かるように説明してください。",
    "Translate this warranty note into Spanish.",
    "Second highest salary in each department, in SQL.",
    "Explain a p-value to a nurse.",
    "Is a 15-year mortgage better than a 30-year one?",
    "What should I check before signing a lease?",
    "Write a polite reminder for an unpaid invoice.",
)
_FIRST = (
    "Response 1 answers the question that was asked: a constant default on a current version, one statement, a lock "
    "timeout, a retry. What it leaves out is how to find the long transaction that would hold the lock. Response 2 "
    "lists six steps, four of which the reader does not need; its check for open transactions is the one thing "
    "Response 1 should have had.",
    "Response 2 is the longer list and covers backfill and validation; Response 1 names neither. For a reader who does "
    "not know the version the longer list is safer. Response 1 is right but takes too much for granted.",
    "Both are easy to follow. Response 1 keeps to one statement and says why it is enough. Response 2 numbers its "
    "steps but mixes what must be done with what could be done.",
    "Neither would lose data. Response 2 warns of the lock before it is taken, Response 1 only after.",
)
_LATER = (
    "Clarity is right that the extra steps confuse more than they help. The statement of Response 1 is true on any "
    "current version, and nothing in Response 2 contradicts it. I keep my score for the first.",
    "Response 2 is the longer list, and in the first round I counted its length as completeness. The Accuracy review "
    "is right that backfill and validation solve a problem which a constant default no longer has. Measured by what "
    "this reader must do, Response 1 is nearly complete; Response 2 adds the check for open transactions.",
    "Accuracy names the check for open transactions, which I had missed. It does not make Response 2 clearer. The "
    "first still reads better.",
    "Completeness counts steps. What matters here is that the lock is short in both.",
)


def story_pairs(count: int, *, labelled: float = 1.0, seed: int = 3) -> tuple[Pair, ...]:
    """Pairs with human labels on a share of them."""
    dice = random.Random(seed)
    found = []
    for place in range(count):
        # No two pairs are the same: equal pairs are asked once.
        turn = place // len(QUESTIONS)
        question = QUESTIONS[place % len(QUESTIONS)] + (f" (Case {turn + 1})" if turn else "")
        human: Verdict | None = dice.choices(VERDICTS, (48, 42, 10))[0] if dice.random() < labelled else None
        found.append(
            Pair(
                f"p{place + 1}",
                question,
                "On a current version a **constant default** is kept in the catalogue, so one statement is enough. "
                "Set a lock timeout and try again where it is not granted. " * (1 + place % 3),
                "1. Add the column without the constraint.\n2. Fill it in batches.\n3. Add a check that is not valid.\n"
                "4. Validate it.\n5. Set the default. " * (1 + place % 2),
                task="question answering",
                human=human,
            )
        )
    return tuple(found)


def story_network(first: int = 4, second: int | None = 3, **changes: Any) -> NetworkSpec:
    """A network with fixed roles; ``second`` neurons in layer 2, ``None`` for one layer."""
    spec = network(first, 1 if second is None else 2, settings=Settings(endpoint="story", model="meridian-70b"))
    layers = list(spec.layers)
    if second is not None:
        layers[1] = replace(layers[1], neurons=layers[1].neurons[:second])
    return replace(spec, layers=tuple(layers), roles=RolesSpec("fixed", roles=ROLES[:first]), **changes)


@dataclass
class Told:
    """What the judge says to one call, after ``before`` seconds. It is held back after ``stop`` characters until the
    judge is released."""

    text: str
    before: float = 0.0
    stop: int | None = None
    finish: str = "stop"


Teller = Callable[[CallSite, ChatRequest], "Told | Exception"]


def dice_of(site: CallSite, seed: int = 0) -> random.Random:
    """Chance that depends on the call alone."""
    digest = hashlib.sha256(repr((seed, tuple(site))).encode()).digest()
    return random.Random(digest)


def usual(pairs: tuple[Pair, ...], seed: int = 1, right: float = 0.68) -> Teller:
    """A judge who mostly agrees with people, and with itself."""

    def tell(site: CallSite, request: ChatRequest) -> Told:
        if site.layer == 0:
            roles = [{"name": role.name, "description": role.description} for role in ROLES]
            return Told(json.dumps({"roles": roles}))
        human = pairs[site.pair].human or VERDICTS[site.pair % 2]
        leaning = dice_of(site._replace(order=None, layer=1, sample=0), seed)
        agrees = leaning.random() < right + 0.06 * (site.layer - 1)
        lean: Verdict = human if agrees else "b" if human == "a" else "a"
        dice = dice_of(site, seed)
        strong, gap = dice.randint(6, 9), dice.choice((1, 1, 2, 2, 3))
        if dice.random() < 0.13:
            gap = -gap
        a, b = (strong, strong - gap) if lean == "a" else (strong - gap, strong) if lean == "b" else (strong, strong)
        texts = _FIRST if site.layer == 1 else _LATER
        evidence = texts[(site.neuron - 1 + (site.pair if site.pair else 0)) % len(texts)]
        return Told(answer(site, evidence, min(10, max(1, a)), min(10, max(1, b))))

    return tell


def answer(site: CallSite, evidence: str, a: int, b: int) -> str:
    """An answer that scores A and B, in the order of the call."""
    first, second = (a, b) if site.order == "ab" else (b, a)
    if site.order == "ba":
        evidence = evidence.replace("Response 1", "Response #").replace("Response 2", "Response 1")
        evidence = evidence.replace("Response #", "Response 2")
    return json.dumps({"evidence": evidence, "score_1": first, "score_2": second}, ensure_ascii=False)


@dataclass
class StoryJudge:
    """An endpoint that tells a story."""

    tell: Teller
    name: str = "story"
    concurrency: int = 24
    asked: list[CallSite] = field(default_factory=list)
    in_flight: int = 0
    released: threading.Event = field(default_factory=threading.Event)
    away_for: float = 0.0

    def form(self, model: str) -> ReplyForm:
        return "json"

    def known(self, model: str) -> bool:
        return True

    async def chat(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        site: CallSite = eval(request.site, {"CallSite": CallSite})
        self.asked.append(site)
        self.in_flight += 1
        try:
            told = self.tell(site, request)
            if isinstance(told, Exception):
                raise told
            await asyncio.sleep(told.before)
            stop = len(told.text) if told.stop is None else told.stop
            await self._write(told.text[:stop], on_text)
            if told.stop is not None:
                while not self.released.is_set():
                    await asyncio.sleep(0.005)
                await self._write(told.text[stop:], on_text)
            dice = dice_of(site)
            usage = Usage(900 + len(request.user) // 4, len(told.text) // 4)
            return ChatReply(
                told.text,
                told.finish,  # type: ignore[arg-type]  # one of the literals
                model="meridian-70b-2026",
                usage=usage,
                latency_s=round(2.4 + 4 * dice.random(), 1),
            )
        finally:
            self.in_flight -= 1

    async def _write(self, text: str, on_text: OnText | None) -> None:
        if on_text is not None:
            for start in range(0, len(text), 24):
                on_text(text[start : start + 24])

    def learned(self, model: str) -> dict[str, Any]:
        return {}

    def pause(self) -> None:
        return None

    def resume(self) -> None:
        return None

    async def close(self) -> None:
        return None


def failure(reason: str, words: str, attempts: int = 4) -> CallFailed:
    """A call that brings no answer."""
    return CallFailed(Reason(reason), words, attempts=attempts)


@contextmanager
def telling(judge: StoryJudge) -> Iterator[StoryJudge]:
    """All endpoints of runs that start meanwhile are this judge."""
    with patch("judgenet.engine.session.open_endpoints", lambda names, *_, **__: dict.fromkeys(names, judge)):
        yield judge


def use_judge(studio: Studio, judge: StoryJudge) -> StoryJudge:
    """All endpoints are this judge."""
    studio.window.context.runner.use(Engine(open_with=lambda names, *_, **__: dict.fromkeys(names, judge)))
    return judge


def story_project(folder: Path, pairs: tuple[Pair, ...], spec: NetworkSpec, name: str = "Release check") -> Path:
    """A project file with its pairs beside it."""
    data = folder / "pairs.jsonl"
    data.write_text("".join(json.dumps(pair.to_json()) + "\n" for pair in pairs), encoding="utf-8")
    project = Project.new(name, spec, PairsSource((data.name,)))
    project = replace(
        project,
        endpoints=(EndpointProfile("story", base_url="http://127.0.0.1:9", model="meridian-70b"),),
    )
    path = folder / f"{name}.judgenet"
    save_project(project, path)
    return path
