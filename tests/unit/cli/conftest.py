"""The command line in this process, against a fake judge."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from judgenet.cli.main import main
from judgenet.engine import prepare
from tests.fakes.judge_server import JudgeServer


@dataclass(frozen=True)
class Ran:
    """What a command gave back."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Standard output as the one JSON object that it is."""
        assert self.out.count("\n") == 1
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.split("\n") if line]


Judgenet = Callable[..., Ran]


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as found:
        yield found


@pytest.fixture
def judgenet(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Judgenet:
    """Runs a command in an empty folder. Salts, and with them the judge's answers, are the same in every run of a
    test, and differ from one project to the next."""
    salts = (f"{number:032x}" for number in itertools.count(1))
    monkeypatch.setattr(prepare, "new_salt", lambda: next(salts))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Ran:
        code = main([str(argument) for argument in arguments])
        told = capsys.readouterr()
        return Ran(code, told.out, told.err)

    return run


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Four pairs in the normal form."""
    labels = ("a", "b", "tie", None)
    records = [
        {
            "id": f"p{i}",
            "question": f"What is {i}?",
            "response_a": f"It is {i}.",
            "response_b": "Who knows.",
            "human": label,
        }
        for i, label in enumerate(labels)
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def at(server: JudgeServer) -> tuple[str, ...]:
    """The options that name the fake judge."""
    return ("--base-url", server.url, "--model", "judge")
