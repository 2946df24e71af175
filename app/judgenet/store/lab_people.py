"""What people answered to a lab's prompts, kept apart from the labels of pairs: no figure of a run rests on it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from judgenet.core.bias.for_people import PeoplePrompt, for_people
from judgenet.core.evaluation import Choice
from judgenet.core.prompts import PromptBook, PromptLanguage
from judgenet.store.db import Store
from judgenet.store.results import network_of
from judgenet.store.runs import run_info, run_pairs

if TYPE_CHECKING:
    from judgenet.store.labs import LabInfo


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """What ``person`` said of the prompt with the id ``prompt``: a position, a tie, or ``None`` where they cannot say.
    ``seconds`` is how long it took, where it is known, ``at`` when (POSIX time)."""

    prompt: str
    person: str
    said: Choice | None
    seconds: float | None
    at: float


def _place(lab_id: str) -> str:
    return f"lab {lab_id} people"


def lab_people(store: Store, lab_id: str) -> tuple[PersonAnswer, ...]:
    """All answers of people to a lab, oldest first; of two of a person to a prompt the later counts."""
    return _read(store.meta(_place(lab_id)))


def keep_people(store: Store, lab_id: str, answers: Iterable[PersonAnswer]) -> int:
    """Adds answers, and returns how many say something new.

    :raises StoreError: the store cannot be written.
    """
    added = tuple(answers)

    def write(db: sqlite3.Connection) -> int:
        # What another thread or program added meanwhile stays.
        row = db.execute("SELECT value FROM meta WHERE name=?", (_place(lab_id),)).fetchone()
        there = {(of.person, of.prompt): of for of in _read(None if row is None else str(row[0]))}
        new = 0
        for answer in added:
            before = there.pop((answer.person, answer.prompt), None)
            new += before is None or before.said != answer.said
            there[answer.person, answer.prompt] = answer
        text = json.dumps([asdict(of) for of in there.values()])
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_place(lab_id), text))
        return new

    return int(store.run_now(write))


def _read(text: str | None) -> tuple[PersonAnswer, ...]:
    return tuple(PersonAnswer(**record) for record in json.loads(text or "[]"))


def people_answers(store: Store, lab_id: str) -> dict[str, dict[str, Choice | None]]:
    """The answers of people to a lab, by person and prompt."""
    found: dict[str, dict[str, Choice | None]] = {}
    for of in lab_people(store, lab_id):
        found.setdefault(of.person, {})[of.prompt] = of.said
    return found


def lab_prompts_for_people(store: Store, info: LabInfo, book: PromptBook) -> tuple[PeoplePrompt, ...]:
    """The prompts of a lab that judges were asked, as people see them; none before a judge was started."""
    first = next(iter(info.runs.values()), None)
    if first is None:
        return ()
    run = run_info(store, first)
    prompts = {of.pair.id: of.pair for of in run_pairs(store, run)}
    language: PromptLanguage = "zh" if network_of(run).language == "zh" else "en"
    return for_people(info.id, info.lab, prompts, lambda pair: book.remarks(pair, language))
