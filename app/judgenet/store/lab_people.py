"""What people answered to a lab's prompts, kept apart from the labels of pairs: no figure of a run rests on it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from judgenet.core.bias.for_people import PeoplePrompt, for_people
from judgenet.core.evaluation import Choice
from judgenet.core.pairs import Pair
from judgenet.core.prompts import PromptBook, PromptLanguage
from judgenet.formats.people_sheet import PeopleSheet, sheet_text
from judgenet.store.db import Store, now
from judgenet.store.files import atomic_write
from judgenet.store.results import network_of
from judgenet.store.runs import run_info, run_pairs

if TYPE_CHECKING:
    from judgenet.store.labs import LabInfo


_PLACE: Final = "lab people"


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """What ``person`` said of the prompt with the id ``prompt`` and the texts of ``content`` (a pair's content hash): a
    position, a tie, or ``None`` where they cannot say. ``seconds`` is how long it took, where it is known, ``at`` when
    (POSIX time).

    It belongs to the prompt and not to a lab: labs of other networks that ask the very same count it too.
    """

    prompt: str
    content: str
    person: str
    said: Choice | None
    seconds: float | None
    at: float


def lab_people(store: Store) -> tuple[PersonAnswer, ...]:
    """All answers of people to prompts of labs, oldest first; of two of a person to a prompt the later one alone."""
    return _read(store.meta(_PLACE))


def keep_people(store: Store, answers: Iterable[PersonAnswer]) -> int:
    """Adds answers, and returns how many say something new.

    :raises StoreError: the store cannot be written.
    """
    added = tuple(answers)

    def write(db: sqlite3.Connection) -> int:
        # What another thread or program added meanwhile stays.
        row = db.execute("SELECT value FROM meta WHERE name=?", (_PLACE,)).fetchone()
        there = {
            (kept_answer.person, kept_answer.prompt, kept_answer.content): kept_answer
            for kept_answer in _read(None if row is None else str(row[0]))
        }
        new = 0
        for answer in added:
            key = answer.person, answer.prompt, answer.content
            before = there.pop(key, None)
            new += before is None or before.said != answer.said
            there[key] = answer
        text = json.dumps([asdict(kept_answer) for kept_answer in there.values()])
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_PLACE, text))
        return new

    return int(store.run_now(write))


def write_sheet(prompts: Sequence[PeoplePrompt], target: Path) -> None:
    """Writes prompts for people to fill in: as CSV where the file ends in ``.csv``, else as JSON Lines.

    :raises judgenet.store.files.FileError: the file cannot be written.
    """
    atomic_write(target, sheet_text(prompts, as_csv=target.suffix.lower() == ".csv"))


def keep_sheet(store: Store, sheet: PeopleSheet) -> int:
    """Adds the answers of a sheet, and returns how many say something new.

    :raises StoreError: the store cannot be written.
    """
    at = now()
    return keep_people(
        store, [PersonAnswer(prompt.prompt, prompt.content, who, said, None, at) for prompt, who, said in sheet.answers]
    )


def _read(text: str | None) -> tuple[PersonAnswer, ...]:
    return tuple(PersonAnswer(**record) for record in json.loads(text or "[]"))


def people_answers(store: Store, prompts: Callable[[], Iterable[Pair]]) -> dict[str, dict[str, Choice | None]]:
    """The answers of people to prompts, by person and prompt. ``prompts`` are asked for only where there are any."""
    kept = lab_people(store)
    contents = {prompt.id: prompt.content_hash for prompt in prompts()} if kept else {}
    answers: dict[str, dict[str, Choice | None]] = {}
    for answer in kept:
        if contents.get(answer.prompt) == answer.content:
            answers.setdefault(answer.person, {})[answer.prompt] = answer.said
    return answers


def lab_prompts(store: Store, info: LabInfo) -> tuple[Pair, ...]:
    """The prompts of a lab as its judges were asked; none before a judge was started."""
    first = next(iter(info.runs.values()), None)
    return () if first is None else tuple(run_pair.pair for run_pair in run_pairs(store, run_info(store, first)))


def lab_prompts_for_people(store: Store, info: LabInfo, book: PromptBook) -> tuple[PeoplePrompt, ...]:
    """:func:`lab_prompts` as people see them."""
    first = next(iter(info.runs.values()), None)
    if first is None:
        return ()
    language: PromptLanguage = "zh" if network_of(run_info(store, first)).language == "zh" else "en"
    prompts = {pair.id: pair for pair in lab_prompts(store, info)}
    return for_people(info.lab, prompts, lambda pair: book.remarks(pair, language))
