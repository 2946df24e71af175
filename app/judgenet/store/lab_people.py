"""What people answered to a lab's prompts, kept apart from the labels of pairs: no figure of a run rests on it."""

from __future__ import annotations

import json
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
    return tuple(PersonAnswer(**record) for record in json.loads(store.meta(_place(lab_id)) or "[]"))


def keep_people(store: Store, lab_id: str, answers: Iterable[PersonAnswer]) -> int:
    """Adds answers, and returns how many say something new.

    :raises StoreError: the store cannot be written.
    """
    there = {(of.person, of.prompt): of for of in lab_people(store, lab_id)}
    new = 0
    for answer in answers:
        before = there.pop((answer.person, answer.prompt), None)
        new += before is None or before.said != answer.said
        there[answer.person, answer.prompt] = answer
    store.set_meta(_place(lab_id), json.dumps([asdict(of) for of in there.values()]))
    return new


def drop_person_answer(store: Store, lab_id: str, person: str, prompt: str) -> None:
    """Takes an answer back."""
    kept = [asdict(of) for of in lab_people(store, lab_id) if (of.person, of.prompt) != (person, prompt)]
    store.set_meta(_place(lab_id), json.dumps(kept))


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
