"""The example run: the example pairs judged by answers that were written for them. It needs no network and no model.

Pictures of the studio show it, and it is the same each time it is made.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from judgenet.assets import asset, example
from judgenet.core.calls import ROLES_LAYER
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.evaluation import Reason
from judgenet.core.events import Event
from judgenet.core.network import NetworkSpec, Settings
from judgenet.core.pairs import Pair
from judgenet.core.presets import network
from judgenet.core.project import PROJECT_SUFFIX, PairsSource, Project
from judgenet.core.schemas import ReplyForm
from judgenet.engine.ports import CallFailed, ChatReply, ChatRequest, OnText, Usage
from judgenet.engine.session import Engine
from judgenet.engine.setup import read_source, start_of
from judgenet.store.db import Store
from judgenet.store.files import read_text, save_project, store_path

ENDPOINT: Final = "gpu-box"
MODEL: Final = "meridian-70b"
"""Endpoint and model are invented: the answers were written by hand."""
BEGAN: Final = 1_795_600_800.0
"""The start of the example run in its record (POSIX time)."""
IN_FLIGHT: Final = 8
"""The number of parallel calls that the times of the example run correspond to."""

_SALT: Final = "0123456789abcdef0123456789abcdef"
_SITE: Final = re.compile(r"pair=(\d+), layer=(\d+), neuron=(\d+), order=(None|'ab'|'ba')")
_PIECE: Final = 40


class WrittenAnswers:
    """An endpoint that gives the answers of a file, a line a call, found by pair, layer, neuron and order.

    Calls come one at a time, so that a run goes the same way each time.
    """

    away_for = 0.0
    concurrency = 1

    def __init__(self, name: str, lines: Iterable[dict[str, Any]], ids: Sequence[str]) -> None:
        self.name = name
        self._ids = ids
        self._lines = {
            (line["pair"], line.get("layer", ROLES_LAYER), line.get("neuron", 0), line.get("order")): line
            for line in lines
        }

    def form(self, model: str) -> ReplyForm:
        return "json"

    def known(self, model: str) -> bool:
        return True

    async def chat(self, request: ChatRequest, on_text: OnText | None = None) -> ChatReply:
        """The written answer.

        :raises CallFailed: none was written for this call.
        """
        site = _SITE.search(request.site)
        line = None
        if site is not None:
            pair, layer, neuron, order = site.groups()
            place = (self._ids[int(pair)], int(layer), int(neuron), None if order == "None" else order.strip("'"))
            line = self._lines.get(place)
        if line is None:
            raise CallFailed(Reason.NOT_RECORDED, f"No answer was written for {request.site}.", attempts=0)
        text = _text(line)
        if on_text is not None:
            for start in range(0, len(text), _PIECE):
                on_text(text[start : start + _PIECE])
        return ChatReply(
            text,
            line.get("finish", "stop"),
            model=request.model,
            usage=Usage((len(request.system) + len(request.user)) // 4, len(text) // 4),
            latency_s=line["seconds"],
        )

    def learned(self, model: str) -> dict[str, Any]:
        return {}

    def pause(self) -> None:
        """Nothing to hold back."""

    def resume(self) -> None:
        """Nothing stopped."""

    async def close(self) -> None:
        """Nothing is open."""


def _text(line: dict[str, Any]) -> str:
    if "text" in line:
        return str(line["text"])
    if "roles" in line:
        reply: Any = {"roles": [{"name": name, "description": text} for name, text in line["roles"].items()]}
    else:
        first, second = (line["a"], line["b"]) if line["order"] == "ab" else (line["b"], line["a"])
        reply = {"evidence": line["evidence"], "score_1": first, "score_2": second}
    return json.dumps(reply, ensure_ascii=False)


def example_network() -> NetworkSpec:
    """Two layers of three neurons, whose roles the model names for each pair."""
    return network(3, 2, name="Two layers of three", settings=Settings(endpoint=ENDPOINT, model=MODEL, temperature=0.0))


def example_project() -> Project:
    """The project of the example run. Its endpoint answers in :func:`record_example` only."""
    project = Project.new("Everyday answers", example_network(), PairsSource((example("general.jsonl").as_posix(),)))
    profile = EndpointProfile(ENDPOINT, base_url="http://127.0.0.1:9/v1", model=MODEL)
    prices = {"prices": 1, "date": "", "currency": "USD", "entries": [{"models": [MODEL], "input": 0.5, "output": 1.5}]}
    return replace(project, salt=_SALT, endpoints=(profile,), prices=prices)


@dataclass(frozen=True, slots=True)
class ExampleRun:
    """A recorded example run: its project's file, its pairs, and its events."""

    file: Path
    pairs: tuple[Pair, ...]
    events: tuple[Event, ...]


def record_example(folder: Path) -> ExampleRun:
    """Makes the example's project in a folder and records its run there."""
    project = example_project()
    file = folder / f"{project.name}{PROJECT_SUFFIX}"
    save_project(project, file)
    assert project.pairs is not None
    dataset = read_source(project.pairs, folder, project.salt)
    pairs = tuple(dataset.pairs)
    lines = [json.loads(line) for line in read_text(asset("example", "answers.jsonl")).splitlines()]
    answers = WrittenAnswers(ENDPOINT, lines, [pair.id for pair in pairs])
    profiles = {profile.name: profile for profile in project.endpoints}
    events: list[Event] = []
    with Store.open(store_path(file)) as store:
        start = start_of(project, pairs, profiles, folder=folder, dataset=dataset, stream=True)
        with Engine(open_with=lambda *_: {ENDPOINT: answers}) as engine:
            engine.start(store, start, events.append).future.result()
        store.run_now(_set_times)
    return ExampleRun(file, pairs, tuple(events))


def _set_times(db: sqlite3.Connection) -> None:
    """Gives the calls the times of a run with :data:`IN_FLIGHT` parallel calls."""
    at = BEGAN
    for row, latency in db.execute("SELECT id, latency_s FROM calls ORDER BY id").fetchall():
        db.execute("UPDATE calls SET started_at=? WHERE id=?", (at, row))
        db.execute("UPDATE run_calls SET started_at=? WHERE call_id=?", (at, row))
        at += latency / IN_FLIGHT
    db.execute("UPDATE runs SET created_at=?, finished_at=?", (BEGAN, at))
