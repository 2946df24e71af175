"""More than two responses to a question: in columns of one record, or a record for each system.

Each question's responses become pairs (``core.matches``). What people said of all responses, as ranks, as an order or
as winners of two, becomes the label of each pair that it says something about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from math import comb
from pathlib import Path
from typing import Any, Final

from judgenet.core.criteria import Criterion
from judgenet.core.matches import MatchMaker, matches_of, swapped
from judgenet.core.pairs import Pair, Source, Verdict, majority
from judgenet.core.wording import plural
from judgenet.formats.containers import RecordTable
from judgenet.formats.criteria import criteria_findings, criteria_of_columns, holds_only_numbers
from judgenet.formats.errors import DataError, listed, shown
from judgenet.formats.findings import Finding
from judgenet.formats.mapping import PairMapping, columns_of, propose
from judgenet.formats.pictures import Album, Refused, with_pictures
from judgenet.formats.values import id_text, is_missing, optional_texts, required_texts, tag_lists
from judgenet.formats.watch import Watch, nothing, part

RESPONSES: Final = "responses"
"""The format of records that hold all responses to a question."""
SYSTEMS: Final = "systems"
"""The format of records that hold one system's response."""

FIELDS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    RESPONSES: (
        "question",
        "responses",
        "models",
        "ranks",
        "scores",
        "ranking",
        "winners",
        "task",
        "id",
        "reference",
        "tags",
        "criteria",
    ),
    SYSTEMS: ("question", "system", "response", "ranks", "scores", "task", "id", "reference", "tags", "criteria"),
}
"""The fields that each of the two formats is read from. ``responses``, ``models`` and ``ranks`` join columns, one for
each response; of ``responses`` a single column may hold a list, or an object by system."""

_NUMBERED: Final = re.compile(r"(response|output|answer|completion|text|reply)_?(\d+)")
_SYSTEM: Final = ("system", "model", "generator", "model_id", "model_name", "assistant", "system_name")
_RESPONSE: Final = ("response", "output", "answer", "completion", "model_output", "response_text", "text", "reply")
_QUESTION: Final = ("question", "prompt", "query", "instruction", "input")
_LISTS: Final = ("responses", "completions", "answers", "candidates", "outputs")
"""Columns that hold a list of responses, if no column holds a single one."""
_RANK: Final = ("rank", "ranking", "human_rank")
_SCORE: Final = ("score", "rating", "overall_score", "human_score", "reward")
_ID: Final = ("question_id", "id", "prompt_id", "instruction_id", "uid", "example_id")
_SINGLE: Final[Mapping[str, tuple[str, ...]]] = {
    "question": _QUESTION,
    "id": _ID,
    "reference": ("reference", "reference_answer", "reference_response"),
    "task": ("task", "category", "dataset", "scenario", "subset"),
    "tags": ("tags",),
    "criteria": ("criteria", "criterion", "checklist", "rubric", "rubrics", "score_rubric"),
}
_FEWEST: Final = 3
_QUESTIONS_PER_WATCH: Final = 50


def proposed(names: Sequence[str]) -> tuple[str, dict[str, str]] | None:
    """The format and the columns of more than two responses, where the column names say that it is that."""
    known: dict[str, list[str]] = {}
    for name in names:
        known.setdefault(re.sub(r"[\W_]+", "_", name.strip()).casefold(), []).append(name)
    if any(len(several) > 1 for several in known.values()):
        return None
    by_word = {key: several[0] for key, several in known.items()}
    if {"provider", "vars", "response", "prompt"} <= by_word.keys():
        # promptfoo's results: a record for each provider and prompt.
        return SYSTEMS, {"question": "prompt.raw", "system": "provider.id", "response": "response.output"}
    if not by_word.keys().isdisjoint(("response_a", "chosen")):
        return None
    return _wide(by_word) or _long(by_word)


def _wide(by_word: Mapping[str, str]) -> tuple[str, dict[str, str]] | None:
    stems: dict[str, dict[int, str]] = {}
    for key, name in by_word.items():
        match = _NUMBERED.fullmatch(key)
        if match:
            stems.setdefault(match[1], {})[int(match[2])] = name
    many = {stem: places for stem, places in stems.items() if len(places) >= _FEWEST}
    columns = _singles(by_word)
    if len(many) == 1:
        ((_, places),) = many.items()
        columns["responses"] = "+".join(places[number] for number in sorted(places))
        for part_name, words in (("models", ("model", "system", "generator")), ("ranks", ("rank",))):
            several = [_numbered(by_word, words, number) for number in sorted(places)]
            if all(several):
                columns[part_name] = "+".join(name for name in several if name)
    elif held := next((by_word[word] for word in _LISTS if word in by_word and _of_list(word, by_word)), None):
        columns["responses"] = held
        names = by_word.get("models") or by_word.get("systems")
        if names:
            columns["models"] = names
    else:
        return None
    for part_name, words in (("ranking", ("ranking", "rankings", "human_ranking")), ("winners", ("winners",))):
        there = [by_word[word] for word in words if word in by_word]
        if there:
            columns[part_name] = there[0]
    return (RESPONSES, columns) if "question" in columns else None


def _of_list(word: str, by_word: Mapping[str, str]) -> bool:
    # Beside two responses of their own, answers and outputs are something else.
    return word == "responses" or not propose(tuple(by_word)).columns.keys() & {"response_a", "response_b"}


def _long(by_word: Mapping[str, str]) -> tuple[str, dict[str, str]] | None:
    columns = _singles(by_word)
    systems = [by_word[word] for word in _SYSTEM if word in by_word]
    texts = [by_word[word] for word in _RESPONSE if word in by_word]
    # A file of judgments has these too; what its texts are is another matter.
    if len(systems) != 1 or len(texts) != 1 or "judge" in by_word or "question" not in columns:
        return None
    columns |= {"system": systems[0], "response": texts[0]}
    if "rank" in by_word:
        columns["ranks"] = by_word["rank"]
    return SYSTEMS, columns


def _singles(by_word: Mapping[str, str]) -> dict[str, str]:
    singles = {}
    for name, words in _SINGLE.items():
        there = [by_word[word] for word in words if word in by_word]
        if len(there) == 1 or (there and name == "id"):
            singles[name] = there[0]
    return singles


def _numbered(by_word: Mapping[str, str], words: Iterable[str], number: int) -> str | None:
    return next(
        (by_word[key] for word in words for key in (f"{word}_{number}", f"{word}{number}") if key in by_word), None
    )


def shape_of(table: RecordTable, mapping: PairMapping) -> str | None:
    """:data:`RESPONSES` or :data:`SYSTEMS` where a table is read as more than two responses to a question."""
    named = {name for name, column in mapping.columns.items() if column}
    if "responses" in named:
        return RESPONSES
    if named & {"system", "response"}:
        return SYSTEMS
    if named & {"response_a", "response_b", "chosen", "rejected"}:
        return None
    proposal = proposed(table.names)
    return proposal[0] if proposal else None


# --- questions and what was answered ---

SystemScores = dict[str, float]
"""Ranks by system; the lowest is the best, equal ones are tied."""


@dataclass(slots=True)
class _Question:
    """One question with its responses, in the order of the file."""

    id: str
    text: str
    table: RecordTable
    index: int
    reference: str | None = None
    task: str | None = None
    tags: tuple[str, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    answers: dict[str, tuple[str, int]] = field(default_factory=dict)
    """(text, row) by system."""
    ranks: dict[str, SystemScores] = field(default_factory=dict)
    """By annotator; one without a name is the empty text."""
    winners: dict[frozenset[str], list[str | None]] = field(default_factory=dict)
    """What was said of two systems: the better one, or ``None`` for a tie."""


@dataclass(slots=True)
class _FileFindings:
    """What there is to say about the file."""

    nulls: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    numbered: int = 0
    unnamed: bool = False
    unused: dict[str, None] = field(default_factory=dict)
    scored: dict[str, None] = field(default_factory=dict)
    """Members with scores in the objects of a list of responses, as dotted paths."""
    criteria: list[Finding] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Systems:
    """What pairs were made of: so many systems, questions with at least two responses, and responses. Of
    ``possible`` matches ``matches`` are judged. ``fewest`` and ``most`` are responses to a question."""

    names: tuple[str, ...]
    questions: int
    responses: int
    matches: int
    possible: int
    fewest: int
    most: int

    def to_json(self) -> dict[str, Any]:
        """The figures as stable keys."""
        return {
            "systems": len(self.names),
            "questions": self.questions,
            "responses": self.responses,
            "matches": self.matches,
            "possible_matches": self.possible,
        }

    def line(self) -> str:
        """In words: "8 systems, 80 questions with 8 responses each: all 2,240 pairs"."""
        each = f"{self.most:,}" if self.fewest == self.most else f"{self.fewest:,} to {self.most:,}"
        question = "question" if self.questions == 1 else "questions"
        pairs = f"all {self.possible:,} pairs" if self.possible > 1 else "1 pair"
        if self.matches < self.possible:
            pairs = f"a sample of {self.matches:,} of {self.possible:,} pairs"
        return f"{plural(len(self.names), 'system')}, {self.questions:,} {question} with {each} responses each: {pairs}"


def read_many(
    tables: Sequence[RecordTable], mapping: PairMapping, watch: Watch = nothing
) -> tuple[list[Pair], list[Finding], str, Systems]:
    """The pairs of tables with more than two responses to a question, findings about them, and the format.

    Records of one system each belong together over all files: a file for each system is one data set.

    :raises DataError: columns are missing or not clear, a system answers a question twice, ranks cannot be read, or
        no question has two responses.
    """
    counts = _FileFindings()
    questions: dict[str, _Question] = {}
    shape = RESPONSES
    start = 0
    for place, table in enumerate(tables):
        own = part(watch, 0.6 * place / len(tables), 0.6 * (place + 1) / len(tables))
        wanted = shape_of(table, mapping)
        if wanted is None or (place and wanted != shape):
            raise table.error(
                "Some of the files hold several responses to a question, and this one does not in the same way.",
                "Read it on its own, or map its columns.",
            )
        shape = wanted
        columns = _columns(table, mapping, shape)
        reader = _read_wide if shape == RESPONSES else _read_long
        counts.unused |= dict.fromkeys(_unused(table, columns))
        reader(table, columns, mapping, start, questions, counts)
        start += len(table.rows)
        own(1)
    notes = [note for table in tables for note in table.notes]
    pairs, systems = _pairs(list(questions.values()), mapping, part(watch, 0.6, 1))
    if not pairs:
        raise tables[0].error(
            "No question has responses of two systems.",
            "Give a file with the responses of at least two systems to the same questions."
            + (" A system a file: name all files." if shape == SYSTEMS else ""),
        )
    return pairs, [*notes, *_findings(list(questions.values()), mapping, systems, counts)], shape, systems


def _columns(table: RecordTable, mapping: PairMapping, shape: str) -> dict[str, tuple[str, ...]]:
    suggested = proposed(table.names)
    if suggested and suggested[0] == shape:
        own = suggested[1]
    else:
        own = _singles({re.sub(r"[\W_]+", "_", name.strip()).casefold(): name for name in table.names})
    if "criteria" in own and holds_only_numbers(table, own["criteria"]):
        own = {name: column for name, column in own.items() if name != "criteria"}
    named = {**own, **mapping.columns}
    strange = [name for name, column in mapping.columns.items() if column and name not in FIELDS_OF[shape]]
    if strange:
        raise table.error(
            f"{shown(strange[0])} is no part of {_SHAPE_WORDS[shape]}.",
            f"Its fields are {', '.join(FIELDS_OF[shape])}. For pairs of two responses map response_a and response_b.",
        )
    needed = ("responses",) if shape == RESPONSES else ("system", "response")
    missing = [name for name in ("question", *needed) if not named.get(name)]
    if shape == SYSTEMS and "question" in missing and named.get("id"):
        missing.remove("question")
    missing = [name for name in missing if not (name == "question" and "question" in mapping.columns)]
    if missing:
        example = "responses=answer_1+answer_2+answer_3" if shape == RESPONSES else "system=model,response=output"
        raise table.error(
            f"No column was found for {', '.join(missing)}. "
            f"The columns are {listed([shown(name) for name in table.names], 30)}.",
            f"Say which columns hold them, such as --map question=prompt,{example}.",
        )
    columns = {name: columns_of(table, column, name) for name, column in named.items() if column}
    for name, several in columns.items():
        joins = ("question", "responses", "models", "ranks", "scores") if shape == RESPONSES else ("question",)
        if len(several) > 1 and name not in joins:
            raise table.error(f"Only {' and '.join(joins)} can join columns, not {name}.", "Name one column.")
    return columns


_SHAPE_WORDS: Final = {
    RESPONSES: "a file with several responses in a record",
    SYSTEMS: "a file with a record for each system",
}


def _unused(table: RecordTable, columns: Mapping[str, tuple[str, ...]]) -> list[str]:
    used = {table.top(column) for several in columns.values() for column in several}
    return [name for name in table.names if name not in used]


def _optional(table: RecordTable, columns: Mapping[str, tuple[str, ...]], name: str) -> Iterable[str | None]:
    return optional_texts(table, columns[name][0]) if name in columns else repeat(None, len(table.rows))


def _questions(table: RecordTable, columns: Mapping[str, tuple[str, ...]], mapping: PairMapping) -> list[str]:
    if "question" not in columns:
        return [""] * len(table.rows)
    texts = [required_texts(table, column)[0] for column in columns["question"]]
    if len(texts) == 1:
        return texts[0]
    return [mapping.joiner.join(filter(None, several)) for several in zip(*texts, strict=True)]


def _tags(table: RecordTable, columns: Mapping[str, tuple[str, ...]]) -> Iterable[tuple[str, ...]]:
    return tag_lists(table, columns["tags"][0]) if "tags" in columns else repeat((), len(table.rows))


def _criteria(
    table: RecordTable, columns: Mapping[str, tuple[str, ...]], counts: _FileFindings
) -> Iterable[tuple[Criterion, ...]]:
    if "criteria" not in columns:
        return repeat((), len(table.rows))
    read = criteria_of_columns(table, columns["criteria"])
    counts.criteria += criteria_findings(read, columns["criteria"])
    return read.criteria


def _read_wide(
    table: RecordTable,
    columns: Mapping[str, tuple[str, ...]],
    mapping: PairMapping,
    start: int,
    questions: dict[str, _Question],
    counts: _FileFindings,
) -> None:
    """A record is a question."""
    ids = [id_text(value) for value in table.column(columns["id"][0])] if "id" in columns else [""] * len(table.rows)
    rows = zip(
        ids,
        _questions(table, columns, mapping),
        _optional(table, columns, "reference"),
        _optional(table, columns, "task"),
        _tags(table, columns),
        _criteria(table, columns, counts),
        _wide_answers(table, columns, mapping, counts),
        strict=True,
    )
    said = {name: table.column(columns[name][0]) for name in ("ranking", "winners") if name in columns}
    given_ranks = {name: [table.column(column) for column in columns.get(name, ())] for name in _SIGNS}
    for index, (given, text, reference, task, tags, criteria, answers) in enumerate(rows):
        question_id = given or f"row-{start + index + 1}"
        counts.numbered += not given
        if question_id in questions:
            earlier = questions[question_id]
            raise table.error(
                f"The id {shown(question_id)} is there already, in {earlier.table.file}, "
                f"row {earlier.table.rows[earlier.index]}.",
                "Make ids unique, or number the rows instead: --map id=",
                index,
                "id",
            )
        question = _Question(question_id, text, table, index, reference, task, tags, criteria)
        questions[question_id] = question
        places = []
        for name, answer, _ in answers:
            places.append(name)
            _answer(question, name, answer, table, index, counts)
        for part_name, several in given_ranks.items():
            if several:
                values = _wide_ranks(table, index, part_name, several, places)
                question.ranks[""] = _ranks(table, index, values, columns[part_name], _SIGNS[part_name])
        if "ranks" not in mapping.columns and not any(given_ranks.values()):
            own = {name: rank for name, _, rank in answers if rank is not None}
            if own:
                question.ranks[""] = _ranks(table, index, own, columns["responses"])
        if "ranking" in said:
            question.ranks |= _rankings(table, index, columns["ranking"][0], said["ranking"][index], question)
        if "winners" in said:
            question.winners = _winners(table, index, columns["winners"][0], said["winners"][index], question)


def _other_text(table: RecordTable, index: int, question: _Question) -> DataError:
    """The error for a record whose question has another text than an earlier one with its id."""
    return table.error(
        f"The question {shown(question.id)} has another text than in {question.table.file}, "
        f"row {question.table.rows[question.index]}.",
        "Give each question its own id, or tell questions by their text: --map id=",
        index,
    )


def _wide_ranks(
    table: RecordTable, index: int, part_name: str, several: Sequence[Sequence[Any]], systems: Sequence[str]
) -> dict[str, Any]:
    """The ranks (or scores) of a record by system, from a column for each or from one with a list or an object.

    :raises DataError: they are not as many as the systems.
    """
    row = _decoded(several[0][index]) if len(several) == 1 else [column[index] for column in several]
    row = list(row.values()) if isinstance(row, dict) else row
    if not isinstance(row, list) or len(row) != len(systems):
        count = len(row) if isinstance(row, list) else 1
        problem = f"{count} {part_name} for {len(systems)} responses."
        raise table.error(problem, f"Map one for each, or none: --map {part_name}=", index)
    return dict(zip(systems, row, strict=True))


def _wide_answers(
    table: RecordTable, columns: Mapping[str, tuple[str, ...]], mapping: PairMapping, counts: _FileFindings
) -> Iterator[list[tuple[str, str | None, Any]]]:
    """(system, response, rank) of each record, ``None`` where there is none."""
    texts = columns["responses"]
    if len(texts) == 1:
        yield from _listed_answers(table, columns, mapping, counts)
        return
    if mapping.systems and len(mapping.systems) != len(texts):
        raise table.error(
            f"{len(mapping.systems)} systems are named for {len(texts)} columns of responses.", "Name each of them."
        )
    names = columns.get("models", ())
    if names and len(names) != len(texts):
        raise table.error(f"{len(names)} columns of systems for {len(texts)} of responses.", "Map one for each.")
    counts.unnamed |= not (names or mapping.systems) and all(_NUMBERED.fullmatch(name.casefold()) for name in texts)
    answers = [optional_texts(table, column) for column in texts]
    given = [optional_texts(table, column) for column in names]
    own = mapping.systems or texts
    for index in range(len(table.rows)):
        systems = [column[index] for column in given] if given else own
        row = []
        for place, (system, column) in enumerate(zip(systems, answers, strict=True)):
            answer = column[index]
            if system is None and answer is not None:
                raise table.error("A response has no system.", "Name it.", index, names[place])
            if system is not None:
                row.append((system, answer, None))
            else:
                row.append((f"{texts[place]}", None, None))
        yield row


def _listed_answers(
    table: RecordTable, columns: Mapping[str, tuple[str, ...]], mapping: PairMapping, counts: _FileFindings
) -> Iterator[list[tuple[str, str | None, Any]]]:
    column = columns["responses"][0]
    names = table.column(columns["models"][0]) if "models" in columns else repeat(None, len(table.rows))
    for index, (value, named) in enumerate(zip(table.column(column), names, strict=True)):
        responses, systems = _decoded(value), _decoded(named)
        if isinstance(responses, list) and responses and all(isinstance(x, tuple) and len(x) == 2 for x in responses):
            responses = dict(responses)  # Parquet gives a map as a list of (key, value)
        if isinstance(responses, dict):
            systems, responses = list(responses), list(responses.values())
        if not isinstance(responses, list):
            raise table.error(
                f"A list of responses, or an object by system, is expected; here is {shown(value)}.",
                "Map a column for each response, such as responses=answer_1+answer_2+answer_3.",
                index,
                column,
            )
        if systems is None:
            counts.unnamed |= not mapping.systems and not all(map(_named, responses))
            systems = list(mapping.systems) or [f"response_{place}" for place in range(1, len(responses) + 1)]
        if not isinstance(systems, list) or len(systems) != len(responses):
            count = len(systems) if isinstance(systems, list) else 1
            raise table.error(f"{len(responses)} responses of {count} systems.", "Name a system for each.", index)
        row: list[tuple[str, str | None, Any]] = []
        for system, answer in zip(systems, responses, strict=True):
            rank = None
            if isinstance(answer, dict):
                rank = next((answer[word] for word in _RANK if answer.get(word) is not None), None)
                numbers = (name for name in _SCORE if isinstance(answer.get(name), int | float))
                counts.scored |= dict.fromkeys(f"{column}.{name}" for name in numbers)
                # An object of its own for each response, with the text and the system in it.
                system = next((answer[word] for word in _SYSTEM if isinstance(answer.get(word), str)), system)
                answer = next((answer[word] for word in _RESPONSE if word in answer), answer)
            if not (is_missing(answer) or isinstance(answer, str)):
                raise table.error(f"A text is expected, here is {shown(answer)}.", "Mend the record.", index, column)
            row.append((str(system), answer or None, rank))
        yield row


def _named(answer: Any) -> bool:
    """True for a response that says which system gave it."""
    return isinstance(answer, dict) and any(isinstance(answer.get(word), str) for word in _SYSTEM)


def _decoded(value: Any) -> Any:
    """A value, or the JSON list or object that a cell holds."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return None if is_missing(value) else value


def _answer(
    question: _Question, system: str, answer: str | None, table: RecordTable, index: int, counts: _FileFindings
) -> None:
    if not answer:
        counts.nulls.append(question.id)
        return
    earlier = question.answers.get(system)
    if earlier is None:
        question.answers[system] = (answer, table.rows[index])
    elif earlier[0] == answer:
        counts.repeated.append(question.id)
    else:
        raise table.error(
            f"The system {shown(system)} has two responses to the question {shown(question.id)}; "
            f"the other one is in row {earlier[1]}.",
            "Leave one out, or give the two other system names.",
            index,
        )


def _read_long(
    table: RecordTable,
    columns: Mapping[str, tuple[str, ...]],
    mapping: PairMapping,
    start: int,
    questions: dict[str, _Question],
    counts: _FileFindings,
) -> None:
    """A record is a system's response. Records of a question have its id; where there are no ids, or every record has
    its own, its text."""
    texts = _questions(table, columns, mapping)
    ids = [id_text(value) for value in table.column(columns["id"][0])] if "id" in columns else []
    if ids and len(set(ids)) == len(ids) and len(set(texts)) < len(texts):
        ids = []
    by_text = {} if ids else {question.text: question for question in questions.values()}
    given, answers = table.column(columns["system"][0]), optional_texts(table, columns["response"][0])
    numbers = [
        (part_name, table.column(columns[part_name][0]), sign)
        for part_name, sign in _SIGNS.items()
        if part_name in columns
    ]
    rest = zip(
        _optional(table, columns, "reference"),
        _optional(table, columns, "task"),
        _tags(table, columns),
        _criteria(table, columns, counts),
        strict=True,
    )
    for index, (reference, task, tags, criteria) in enumerate(rest):
        text = texts[index]
        system = id_text(given[index])
        if not system:
            raise table.error("The record names no system.", "Name it.", index, columns["system"][0])
        if ids:
            if not ids[index]:
                raise table.error("The record names no question.", "Give it the id.", index, columns["id"][0])
            question = questions.get(ids[index])
        else:
            question = by_text.get(text)
        if question is None:
            counts.numbered += not ids
            question_id = ids[index] if ids else f"row-{start + index + 1}"
            question = _Question(question_id, text, table, index, reference, task, tags, criteria)
            questions[question_id] = question
            by_text[text] = question
        elif question.text != text:
            raise _other_text(table, index, question)
        _answer(question, system, answers[index], table, index, counts)
        for part_name, column, sign in numbers:
            if not is_missing(column[index]) and column[index] != "":
                own = _ranks(table, index, {system: column[index]}, columns[part_name], sign)
                question.ranks.setdefault("", {}).update(own)


# --- what people said ---

_SIGNS: Final = {"ranks": 1.0, "scores": -1.0}
"""The fields of a number for each response, and whether the lowest or the highest is the best."""


def _ranks(
    table: RecordTable, index: int, values: Mapping[str, Any], columns: Sequence[str], sign: float = 1.0
) -> SystemScores:
    """Ranks, the lowest for the best (of scores times −1); systems without one are left out."""
    scores = {}
    for place, (system, value) in enumerate(values.items()):
        if is_missing(value) or value == "":
            continue
        try:
            scores[system] = sign * float(value)
        except (TypeError, ValueError):
            what = "A rank is a number, 1 for the best" if sign > 0 else "A score is a number"
            raise table.error(
                f"{what}; here is {shown(value)}.",
                f"Mend the record, or read none: --map {'ranks' if sign > 0 else 'scores'}=",
                index,
                columns[min(place, len(columns) - 1)],
            ) from None
    return scores


def _rankings(table: RecordTable, index: int, column: str, value: Any, question: _Question) -> dict[str, SystemScores]:
    """Orders of the systems, best first, by annotator: a list (equal ones in a list of their own), the text
    ``x > y = z``, or an object of such by annotator."""
    value = _decoded(value)
    if value is None or value == "":
        return {}
    if isinstance(value, dict):
        return {str(name): _order(table, index, column, order, question) for name, order in value.items()}
    return {"": _order(table, index, column, value, question)}


def _order(table: RecordTable, index: int, column: str, value: Any, question: _Question) -> SystemScores:
    if isinstance(value, str):
        value = [[name.strip() for name in level.split("=")] for level in value.split(">")]
    levels = [level if isinstance(level, list) else [level] for level in value] if isinstance(value, list) else []
    ranks: SystemScores = {}
    for place, level in enumerate(levels, 1):
        for name in level:
            if not isinstance(name, str) or name in ranks:
                levels = []
            else:
                ranks[name] = place
    strange = [name for name in ranks if name not in question.answers]
    if not levels or (strange and len(strange) == len(ranks)):
        raise table.error(
            f"A ranking names the systems, best first; here is {shown(value)}.",
            f"The systems are {listed([shown(name) for name in question.answers])}. "
            "Or read no rankings: --map ranking=",
            index,
            column,
        )
    return ranks


def _winners(
    table: RecordTable, index: int, column: str, value: Any, question: _Question
) -> dict[frozenset[str], list[str | None]]:
    """Winners of two systems: a list of [system, system, winner or "tie"], or of objects with model_a, model_b and
    winner."""
    winners: dict[frozenset[str], list[str | None]] = {}
    value = _decoded(value)
    for entry in [] if value is None or value == "" else value if isinstance(value, list) else [value]:
        if isinstance(entry, dict):
            entry = [entry.get("model_a"), entry.get("model_b"), entry.get("winner")]
        first, second, winner = entry if isinstance(entry, list) and len(entry) == 3 else (None, None, None)
        meaning = {first: first, second: second, "a": first, "b": second, "model_a": first, "model_b": second}
        meaning["tie"] = None
        if not isinstance(first, str) or not isinstance(second, str) or first == second or winner not in meaning:
            raise table.error(
                f'A winner is [system, system, the better one or "tie"]; here is {shown(entry)}.',
                "Mend the record, or read no winners: --map winners=",
                index,
                column,
            )
        winners.setdefault(frozenset((first, second)), []).append(meaning[winner])
    return winners


def _labels(question: _Question, first: str, second: str) -> tuple[list[tuple[str, Verdict]], bool]:
    """What each annotator said of two systems, in the terms of a pair with ``first`` as A, and whether any of them has
    a name."""
    said: list[tuple[str, Verdict]] = []
    for annotator, ranks in question.ranks.items():
        if first in ranks and second in ranks:
            first_rank, second_rank = ranks[first], ranks[second]
            said.append((annotator, "a" if first_rank < second_rank else "b" if second_rank < first_rank else "tie"))
    several = question.winners.get(frozenset((first, second)), ())
    for place, winner in enumerate(several, 1):
        name = f"annotator{place}" if len(several) > 1 else ""
        said.append((name, "tie" if winner is None else "a" if winner == first else "b"))
    return said, any(name for name, _ in said)


# --- pairs ---


def _pair(question: _Question, pair_id: str, first: str, second: str, no_majority: Verdict | None) -> Pair:
    """The pair of two systems' responses to a question, with what was said of them."""
    said, named = _labels(question, first, second) if question.ranks or question.winners else ([], False)
    return Pair(
        id=pair_id,
        question=question.text,
        response_a=question.answers[first][0],
        response_b=question.answers[second][0],
        reference=question.reference,
        model_a=first,
        model_b=second,
        task=question.task,
        tags=question.tags,
        human=(majority((verdict for _, verdict in said), None) or no_majority) if said else None,
        annotators=tuple(said) if named else (),
        source=Source(Path(question.table.file).name, question.answers[first][1]),
        criteria=question.criteria,
    )


def _pairs(questions: Sequence[_Question], mapping: PairMapping, watch: Watch) -> tuple[list[Pair], Systems]:
    maker = MatchMaker(mapping.matches, mapping.seed)
    pairs: list[Pair] = []
    names: dict[str, None] = {}
    counts: list[int] = []
    for number, question in enumerate(questions):
        if number % _QUESTIONS_PER_WATCH == 0:
            watch(number / len(questions))
        systems = list(question.answers)
        names |= dict.fromkeys(systems)
        if len(systems) < 2:
            continue
        counts.append(len(systems))
        album = question.table.album or Album(Path(question.table.file).parent)
        escaped = {name: _escaped(name) for name in systems}
        for i, j in maker.draw(question.id, systems):
            first, second = systems[i], systems[j]
            if swapped(mapping.seed, question.id, *sorted((first, second))) != (first > second):
                first, second = second, first
            pair_id = f"{question.id}:{escaped[first]}/{escaped[second]}"
            pair = with_pictures(_pair(question, pair_id, first, second, mapping.no_majority), album)
            if isinstance(pair, Refused):
                raise question.table.error(pair.error.problem, pair.error.mend, question.index)
            pairs.append(pair)
    return pairs, Systems(
        tuple(names),
        len(counts),
        sum(counts),
        len(pairs),
        sum(count * (count - 1) // 2 for count in counts),
        min(counts, default=0),
        max(counts, default=0),
    )


def _escaped(name: str) -> str:
    """A system's name within an id, where ``:`` and ``/`` divide."""
    return name.replace("%", "%25").replace("/", "%2F").replace(":", "%3A")


def _about_responses(questions: Sequence[_Question], counts: _FileFindings) -> Iterator[Finding]:
    """Findings about responses that are missing, there twice, or alone."""
    if counts.nulls:
        yield Finding(
            "missing_response",
            "warning",
            len(counts.nulls),
            f"{len(counts.nulls):,} responses are missing or empty: these systems are not compared on those questions "
            f"({listed(list(dict.fromkeys(counts.nulls)), 3)}).",
        )
    if counts.repeated:
        yield Finding(
            "repeated_response",
            "note",
            len(counts.repeated),
            f"{len(counts.repeated):,} responses are there twice, with the same text: each counts once "
            f"({listed(list(dict.fromkeys(counts.repeated)), 3)}).",
        )
    single = [question.id for question in questions if len(question.answers) < 2]
    if single:
        yield Finding(
            "single_response",
            "warning",
            len(single),
            f"{len(single):,} questions have fewer than two responses, and nothing to compare ({listed(single, 3)}).",
        )


def _findings(
    questions: Sequence[_Question], mapping: PairMapping, systems: Systems, counts: _FileFindings
) -> Iterator[Finding]:
    yield Finding("systems", "note", systems.matches, f"{systems.line()}.")
    if counts.numbered:
        yield Finding(
            "numbered", "note", counts.numbered, "Questions without an id are called by the row that they are first in."
        )
    if counts.unnamed:
        yield Finding(
            "unnamed_systems",
            "warning",
            len(systems.names),
            "The systems have no names: a response of the same number counts as the same system on every question.",
        )
    yield from _about_responses(questions, counts)
    yield from _about_sample(questions, mapping)
    groups = _groups(questions)
    if len(groups) > 1:
        yield Finding(
            "disconnected_systems",
            "warning",
            len(groups),
            f"The systems fall into {len(groups):,} groups that share no question, and cannot be compared between "
            f"groups ({'; '.join(listed(sorted(group), 3) for group in groups[:3])}).",
        )
    if counts.scored and not any("scores" in name or "ranks" in name for name in mapping.columns):
        paths = list(counts.scored)
        yield Finding(
            "unread_scores",
            "warning",
            len(paths),
            f"The responses have scores that are not read as labels: {listed(paths)}. Where people gave them, map the "
            f"field: scores={paths[0]} (the higher the better).",
        )
    yield from counts.criteria
    if counts.unused:
        yield Finding("unused_columns", "note", len(counts.unused), f"Not read: {listed(list(counts.unused))}.")


def _about_sample(questions: Sequence[_Question], mapping: PairMapping) -> Iterator[Finding]:
    wanted = mapping.matches
    if wanted is None:
        return
    raised = []
    for question in questions:
        count = len(question.answers)
        asked = round(wanted * comb(count, 2)) if isinstance(wanted, float) else wanted
        if count > 1 and matches_of(count, wanted) > asked:
            raised.append(question.id)
    if raised:
        asked_words = f"{wanted:.0%} of the pairs do" if isinstance(wanted, float) else f"{wanted:,} pairs do"
        if wanted == 1:
            asked_words = "1 pair does"
        yield Finding(
            "matches_raised",
            "note",
            len(raised),
            f"{asked_words} not connect all systems of {len(raised):,} questions: each of these gets one fewer "
            "than it has systems.",
        )


def _groups(questions: Sequence[_Question]) -> list[set[str]]:
    """Systems that are connected by questions which they answered, the largest group first."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for question in questions:
        systems = list(question.answers)
        if len(systems) < 2:
            continue
        for name in systems:
            parent.setdefault(name, name)
            parent[root(name)] = root(systems[0])
    groups: dict[str, set[str]] = {}
    for name in parent:
        groups.setdefault(root(name), set()).add(name)
    return sorted(groups.values(), key=lambda group: (-len(group), sorted(group)))
