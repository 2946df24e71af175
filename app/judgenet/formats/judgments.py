"""Judgments made elsewhere, in the normal form and the published ones, recognised by their columns.

What a file records is mapped to responses A and B at once. Whether its texts are read anew, and how calls become
neurons, is decided by who takes the judgments in (:mod:`judgenet.store.recorded`).
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from judgenet.core.evaluation import Choice
from judgenet.core.pairs import ORDERS, Order, Pair, Verdict
from judgenet.formats.containers import ABSENT, RecordTable, tables
from judgenet.formats.errors import DataError, EmptyError, listed, shown
from judgenet.formats.findings import MIRROR
from judgenet.formats.mapping import label_key
from judgenet.formats.values import id_text, is_missing

NORMAL = "normal"
"""``pair_id, judge, order``, and ``text``, ``verdict`` or ``scores``; also the reference data's ``recorded_…``."""


@dataclass(frozen=True, slots=True)
class PairKey:
    """How a judgment names the pair it is about: by whichever of these it has, in this order.

    ``ids`` are ids that the pair may have; ``place`` its 0-based place in the data set; ``texts`` its question and its
    two responses. ``models`` name the systems of the two responses, so that a pair with the same two the other way
    round is known.
    """

    ids: tuple[str, ...] = ()
    place: int | None = None
    texts: tuple[str, str, str] | None = None
    models: tuple[str | None, str | None] = (None, None)

    def __str__(self) -> str:
        if self.ids:
            return self.ids[-1]
        return f"place {self.place}" if self.place is not None else shown(self.texts[0] if self.texts else "")


@dataclass(frozen=True, slots=True)
class Judgment:
    """One recorded call of a judge.

    ``verdict`` and ``scores`` are about responses A and B, whatever the order. ``stated`` is true where the source says
    how it read the reply, if only that it could not be read. ``stage`` counts the rounds of a judge: the last one
    counts. ``columns`` are the record's short values, by which judgments are chosen and neurons named.
    """

    file: str
    row: int
    pair: PairKey
    judge: str
    prompt: str | None
    order: Order
    text: str | None = None
    finish: str = "unknown"
    verdict: Verdict | None = None
    scores: tuple[float, float] | None = None
    stated: bool = False
    stage: float = 1
    columns: Mapping[str, str] = field(default_factory=dict)

    def mirrored(self) -> Judgment:
        """The same judgment about the pair with its responses exchanged."""
        return replace(
            self,
            order="ba" if self.order == "ab" else "ab",
            verdict=None if self.verdict is None else MIRROR[self.verdict],
            scores=None if self.scores is None else (self.scores[1], self.scores[0]),
        )


@dataclass(frozen=True, slots=True)
class JudgmentFile:
    """The judgments of one file and the name of its format. ``empty`` counts the games that stand there as null."""

    path: str
    format: str
    judgments: tuple[Judgment, ...]
    empty: int = 0


def read_judgments(paths: Sequence[Path | str]) -> list[JudgmentFile]:
    """The judgments in files. Container and format are recognised by content.

    :raises DataError: a file cannot be read, holds no judgments, or has a value whose meaning is not clear.
    """
    return [_read(Path(path)) for path in paths]


def _read(path: Path) -> JudgmentFile:
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = f"It cannot be read: {error.strerror or 'the system refuses it'}."
        reason = "There is no such file." if isinstance(error, FileNotFoundError) else reason
        raise DataError(reason, "Check the path.", file=str(path)) from None
    document = _document(data)
    if document is not None and isinstance(document.get("examples"), list):
        return JudgmentFile(str(path), "llm-comparator", tuple(_comparator(path.name, document)))
    if document is not None and ("games" in document or "judgments" in document):
        # A single record whose list must not be taken for the records.
        data = b"[" + data.removeprefix(codecs.BOM_UTF8) + b"]"
    judgments: list[Judgment] = []
    names: list[str] = []
    empty = 0
    try:
        parts = tables(str(path), data)
    except EmptyError as error:
        raise EmptyError(error.file, "judgment") from None
    for table in parts:
        name, convert = _format_of(table)
        names.append(name)
        judgments += convert(table)
        if name == "arena-hard":
            empty += sum(1 for games in table.column("games") for game in games or (None,) if game is None)
    return JudgmentFile(str(path), "+".join(dict.fromkeys(names)), tuple(judgments), empty)


def _document(data: bytes) -> dict[str, Any] | None:
    """The one object that a file consists of, ``None`` for any other file."""
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return None
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


Convert = Callable[[RecordTable], Iterator[Judgment]]


def _format_of(table: RecordTable) -> tuple[str, Convert]:
    names = set(table.names)
    if {"judgments", "pair_id"} <= names:
        return "judgebench", _judgebench
    if "games" in names and names & {"question_id", "uid"}:
        return "arena-hard", _arena_hard
    if {"model_1", "model_2", "g1_winner", "g2_winner"} <= names:
        return "mt-bench", _mt_bench
    if {"preference", "generator_1", "generator_2"} <= names:
        return "alpaca-eval", _alpaca_eval
    if "idx" in names and any(_RESULT.fullmatch(name) for name in names):
        return "pandalm", _pandalm
    if names & _IDS and names & (_VERDICTS | _SCORES | {"text", "score_text_a"}):
        return NORMAL, _normal
    raise table.error(
        f"These are no judgments; the columns are {listed(table.names)}.",
        "Judgments have pair_id, judge, order (ab or ba), and text, verdict (a, b or tie) or scores (of A and B); "
        "or are those of PandaLM, MT-bench, AlpacaEval, LLM Comparator, arena-hard or JudgeBench.",
    )


# The normal form

_IDS = {"pair_id", "question_id"}
_VERDICTS = {"verdict", "recorded_winner", "recorded_verdict", "recorded_decision", "recorded_winner_first"}
_SCORES = {"scores", "recorded_scores", "scores_as_presented", "score_a"}
_SHORT = 200
_CODING: dict[str, Verdict] = {
    "a": "a",
    "b": "b",
    "tie": "tie",
    "model_a": "a",
    "model_b": "b",
    "response_a": "a",
    "response_b": "b",
}
_TAGS: dict[str, Choice] = {
    "A>>B": "first",
    "A>B": "first",
    "A=B": "tie",
    "B=A": "tie",
    "B>A": "second",
    "B>>A": "second",
}


def _normal(table: RecordTable) -> Iterator[Judgment]:
    for index, record in enumerate(_records(table)):
        yield from _normal_record(table, index, record)


def _normal_record(table: RecordTable, index: int, record: dict[str, Any]) -> Iterator[Judgment]:
    pair = _normal_key(table, index, record)
    judge, prompt = _judge(record.get("judge"), record.get("prompt"))
    order = id_text(record.get("order")) or "ab"
    if order == "single":
        yield from _apart(table, index, record, pair, judge, prompt)
        return
    if order not in ORDERS:
        problem = f"The order is {shown(record.get('order'))}."
        raise table.error(problem, "Write ab (response A was shown first) or ba.", index, "order")
    verdict, stated = _normal_verdict(table, index, record, order)
    scores, scores_stated = _normal_scores(table, index, record, order)
    text = record.get("text")
    finish = id_text(record.get("finish_reason")) or id_text(record.get("finish"))
    yield _judgment(
        table,
        index,
        record,
        pair,
        judge,
        prompt,
        order,
        text=None if is_missing(text) else text if isinstance(text, str) else json.dumps(text),
        finish=_finish(finish),
        verdict=verdict,
        scores=scores,
        stated=stated or scores_stated,
        stage=_stage(table, index, record),
    )


def _normal_key(table: RecordTable, index: int, record: dict[str, Any]) -> PairKey:
    given = id_text(record.get("pair_id"))
    if given:
        return PairKey(ids=(given,))
    question = id_text(record.get("question_id"))
    if not question:
        raise table.error("This record names no pair.", "Give its pair_id.", index, "pair_id")
    models = (_name(record.get("model_a")), _name(record.get("model_b")))
    return PairKey(ids=_question_ids(question, id_text(record.get("turn"))), models=models)


def _question_ids(question: str, turn: str) -> tuple[str, ...]:
    """The ids that the pair of a question may have; a second turn is a pair of its own."""
    first = (question,) if turn in ("", "1") else ()
    return ((f"{question}-{turn}", f"{question}:{turn}") if turn else ()) + first


def _normal_verdict(
    table: RecordTable, index: int, record: dict[str, Any], order: Order
) -> tuple[Verdict | None, bool]:
    """(verdict, whether the source states what it took the reply for)."""
    for name in ("recorded_winner", "recorded_verdict", "verdict"):
        value = record.get(name, ABSENT)
        # An empty cell of a table says as little as a column that is not there; null in JSON says "nothing read".
        if value is ABSENT or value == "" or (name == "verdict" and is_missing(value)):
            continue
        if is_missing(value):
            return None, True
        verdict = _CODING.get(label_key(value).casefold())
        if verdict is None:
            problem = f"The verdict is {shown(value)}."
            raise table.error(problem, "Write a (response A is better), b or tie, or leave it empty.", index, name)
        return verdict, True
    if "recorded_decision" in record and record["recorded_decision"] is not ABSENT:
        value = record["recorded_decision"]
        return (None if is_missing(value) else _tag(table, index, value, order, "recorded_decision")), True
    return None, False


def _tag(table: RecordTable, index: int, value: Any, order: Order, column: str) -> Verdict | None:
    """The verdict of a tag in the order shown; ``None`` for no value."""
    if is_missing(value) or value == "":
        return None
    choice = _TAGS.get(str(value).strip().strip("[]"))
    if choice is None:
        raise table.error(f"The decision is {shown(value)}.", f"Known are {', '.join(_TAGS)}.", index, column)
    return _of_choice(choice, order)


def _of_choice(choice: Choice, order: Order) -> Verdict:
    if choice == "tie":
        return "tie"
    return "a" if (choice == "first") == (order == "ab") else "b"


def _normal_scores(
    table: RecordTable, index: int, record: dict[str, Any], order: Order
) -> tuple[tuple[float, float] | None, bool]:
    for name in ("recorded_scores", "scores", "scores_as_presented"):
        value = record.get(name, ABSENT)
        if is_missing(value) or value == "":
            continue
        if isinstance(value, str):
            value = _number_list(value)
        numbers = [_number(item) for item in value] if isinstance(value, list | tuple) else []
        if len(numbers) != 2 or None in numbers:
            problem = f"Two scores are expected, here is {shown(record[name])}."
            raise table.error(problem, "Write them as [8, 6].", index, name)
        scores = (float(numbers[0] or 0), float(numbers[1] or 0))
        if scores == (-1.0, -1.0):
            # How FastChat stores that it could read no scores.
            return None, True
        return (scores[1], scores[0]) if name == "scores_as_presented" and order == "ba" else scores, True
    first, second = record.get("score_a", ABSENT), record.get("score_b", ABSENT)
    if is_missing(first) or is_missing(second) or "" in (first, second):
        return None, False
    first_score, second_score = _number(first), _number(second)
    if first_score is None or second_score is None:
        raise table.error(f"The scores are {shown((first, second))}.", "Write two numbers.", index, "score_a")
    return (first_score, second_score), True


def _number_list(text: str) -> list[Any] | str:
    try:
        numbers = json.loads(text)
    except ValueError:
        return re.split(r"[\s,;]+", text.strip(" ()[]"))
    return numbers if isinstance(numbers, list) else text


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _apart(
    table: RecordTable, index: int, record: dict[str, Any], pair: PairKey, judge: str, prompt: str | None
) -> Iterator[Judgment]:
    """A judge that rated each response by itself: LLMBar records a winner for each order, which differ where the
    ratings are equal. Without these the two ratings are one call."""
    texts = (record.get("score_text_a"), record.get("score_text_b"))
    scores_text = None if any(is_missing(text) for text in texts) else f"{texts[0]} {texts[1]}"
    winners = (record.get("recorded_winner_first", ABSENT), record.get("recorded_winner_second", ABSENT))
    if ABSENT in winners:
        numbers = (_number(texts[0]), _number(texts[1]))
        scores = None if None in numbers else (float(numbers[0] or 0), float(numbers[1] or 0))
        yield _judgment(table, index, record, pair, judge, prompt, "ab", text=scores_text, scores=scores, stated=True)
        return
    for order, winner in zip(ORDERS, winners, strict=True):
        verdict = None if is_missing(winner) else _CODING.get(label_key(winner).casefold())
        mine = scores_text if scores_text is None or order == "ab" else f"{texts[1]} {texts[0]}"
        yield _judgment(table, index, record, pair, judge, prompt, order, text=mine, verdict=verdict, stated=True)


def _finish(finish: str) -> str:
    if "content" in finish.casefold() and "polic" in finish.casefold():
        return "filtered"
    return finish if finish in ("stop", "length", "filtered", "refused") else "unknown"


def _stage(table: RecordTable, index: int, record: dict[str, Any]) -> float:
    given = record.get("stage", ABSENT)
    if is_missing(given) or given == "":
        return 1
    number = _number(given)
    if number is None:
        raise table.error(f"The stage is {shown(given)}.", "Number the stages of a judge 1, 2, …", index, "stage")
    return number


# Published forms

_RESULT = re.compile(r"(.+)_result")
_PANDALM: dict[str, Verdict] = {"0": "tie", "1": "a", "2": "b", "tie": "tie"}


def _pandalm(table: RecordTable) -> Iterator[Judgment]:
    """PandaLM's results: ``idx`` counts from 0 and every pair was shown in one order. Any other word than 1, 2, 0 and
    Tie means that the source could read nothing."""
    column = next(name for name in table.names if _RESULT.fullmatch(name))
    prefix = column.removesuffix("_result")
    judge = re.sub(r"[-_]?testset.*", "", Path(table.file).stem) or prefix
    for index, record in enumerate(_records(table)):
        place = id_text(record.get("idx"))
        text = record.get(f"{prefix}_reason")
        yield _judgment(
            table,
            index,
            record,
            PairKey(ids=(place,), place=int(place) if place.isdecimal() else None),
            judge,
            None,
            "ab",
            text=text if isinstance(text, str) else None,
            verdict=_PANDALM.get(label_key(record.get(column)).casefold()),
            stated=True,
        )


_MT_BENCH: dict[str, Verdict] = {"model_1": "a", "model_2": "b", "tie": "tie"}


def _mt_bench(table: RecordTable) -> Iterator[Judgment]:
    """MT-bench: two games, model 1 first and model 2 first; ``error`` means that nothing could be read."""
    for index, record in enumerate(_records(table)):
        judge, prompt = _judge(record.get("judge"), None)
        models = (_name(record.get("model_1")), _name(record.get("model_2")))
        key = PairKey(_question_ids(id_text(record.get("question_id")), id_text(record.get("turn"))), models=models)
        for order, game in zip(ORDERS, ("g1", "g2"), strict=True):
            winner, text = record.get(f"{game}_winner"), record.get(f"{game}_judgment")
            if is_missing(winner):
                continue
            if winner not in (*_MT_BENCH, "error"):
                problem = f"The winner is {shown(winner)}."
                mend = f"Known are {', '.join(_MT_BENCH)} and error."
                raise table.error(problem, mend, index, f"{game}_winner")
            yield _judgment(
                table,
                index,
                record,
                key,
                judge,
                prompt,
                order,
                text=text if isinstance(text, str) else None,
                verdict=_MT_BENCH.get(winner),
                stated=True,
            )


def _alpaca_eval(table: RecordTable) -> Iterator[Judgment]:
    """AlpacaEval: a preference from 1 (output 1) to 2 (output 2), 0 or 1.5 for a draw, null for nothing read.

    A preference between the two is a weight of either side: it becomes scores that sum to 1, so that the mean score of
    B is the published win rate. Which output was shown first is not recorded.
    """
    for index, record in enumerate(_records(table)):
        judge, prompt = _judge(record.get("annotator") or "annotator", None)
        preference = record.get("preference")
        scores = None
        if not is_missing(preference) and preference != "":
            number = _number(preference)
            if number is None or not (number == 0 or 1 <= number <= 2):
                problem = f"The preference is {shown(preference)}."
                raise table.error(problem, "It is a number from 1 to 2, or 0 for a draw.", index, "preference")
            share = 0.5 if number == 0 else number - 1
            scores = (1 - share, share)
        parts = tuple(record.get(name) for name in ("instruction", "output_1", "output_2"))
        texts = (str(parts[0]), str(parts[1]), str(parts[2])) if all(isinstance(p, str) for p in parts) else None
        given = record.get("index", index)
        raw = record.get("raw_completion")
        yield _judgment(
            table,
            index,
            record,
            PairKey(place=None if texts else int(_number(given) or 0), texts=texts),
            judge,
            prompt,
            "ab",
            text=None if is_missing(raw) else raw if isinstance(raw, str) else json.dumps(raw),
            scores=scores,
            stated=True,
        )


def _arena_hard(table: RecordTable) -> Iterator[Judgment]:
    """arena-hard: game 1 shows the baseline first, game 2 the model; the model's answer is response B."""
    for index, record in enumerate(_records(table)):
        games = record.get("games")
        # A game that failed stands there as null: it is left out, and so is a question without any.
        games = [] if is_missing(games) else games
        if not isinstance(games, list) or not all(isinstance(x, dict) or x is None for x in games) or len(games) > 2:
            raise table.error(f"The games are {shown(games)}.", "One or two games are expected.", index, "games")
        judge, prompt = _judge(record.get("judge") or "judge", None)
        question = id_text(record.get("question_id")) or id_text(record.get("uid"))
        key = PairKey((question,), models=(None, _name(record.get("model"))))
        for order, game in zip(ORDERS, games, strict=False):
            if game is None:
                continue
            text = game.get("judgment")
            if isinstance(text, dict):
                text = text.get("answer")
            yield _judgment(
                table,
                index,
                record,
                key,
                judge,
                prompt,
                order,
                text=text if isinstance(text, str) else None,
                verdict=_tag(table, index, game.get("score"), order, "games"),
                stated=True,
            )


def _judgebench(table: RecordTable) -> Iterator[Judgment]:
    """JudgeBench: two judgments a pair, the second with the responses exchanged; decisions are in the order shown."""
    for index, record in enumerate(_records(table)):
        several = record.get("judgments")
        if not isinstance(several, list) or len(several) > 2:
            raise table.error(f"The judgments are {shown(several)}.", "One or two are expected.", index, "judgments")
        key = PairKey((id_text(record.get("pair_id")),))
        for order, judgment in zip(ORDERS, several, strict=False):
            if not isinstance(judgment, dict):
                continue
            inner = judgment.get("judgment")
            inner = inner if isinstance(inner, dict) else {}
            name = record.get("judge_model") or inner.get("judge_model") or record.get("judge_name")
            text = inner.get("response")
            yield _judgment(
                table,
                index,
                record,
                key,
                id_text(name) or "judge",
                None,
                order,
                text=text if isinstance(text, str) else None,
                verdict=_tag(table, index, judgment.get("decision"), order, "judgments"),
                stated=True,
            )


_COMPARED = ("input_text", "output_text_a", "output_text_b")


def _comparator(file: str, document: dict[str, Any]) -> Iterator[Judgment]:
    """LLM Comparator: each rater's score above 0 is for A, below 0 for B; ``is_flipped`` says that B was shown first.
    Where the raters are not kept apart, the score of the example is one call."""
    named = document.get("models")
    models = [_name(model.get("name")) for model in named if isinstance(model, dict)] if isinstance(named, list) else []
    sides = (models[0], models[1]) if len(models) == 2 else (None, None)
    for index, example in enumerate(document["examples"]):
        fields = example if isinstance(example, dict) else {}
        parts = [part for name in _COMPARED if isinstance(part := fields.get(name), str)]
        if len(parts) < len(_COMPARED):
            raise DataError(
                "This example lacks a text.",
                "It needs input_text, output_text_a and output_text_b.",
                file=file,
                row=index + 1,
            )
        raters = fields.get("individual_rater_scores") or [{"score": fields.get("score")}]
        for rater in raters:
            if not isinstance(rater, dict):
                problem = f"A rater's score is {shown(rater)}."
                raise DataError(problem, "It is an object with a score.", file=file, row=index + 1)
            score = _number(rater.get("score"))
            yield Judgment(
                file=file,
                row=index + 1,
                pair=PairKey(place=index, texts=(parts[0], parts[1], parts[2]), models=sides),
                judge="rater",
                prompt=None,
                order="ba" if rater.get("is_flipped") else "ab",
                text=rater["rationale"] if isinstance(rater.get("rationale"), str) else None,
                scores=None if score is None else (max(score, 0.0), max(-score, 0.0)),
                stated=True,
                columns={"judge": "rater"},
            )


# Parts of a record


def _records(table: RecordTable) -> Iterator[dict[str, Any]]:
    columns = [table.column(name) for name in table.names]
    for values in zip(*columns, strict=True):
        yield {name: value for name, value in zip(table.names, values, strict=True) if value is not ABSENT}


def _judge(judge: Any, prompt: Any) -> tuple[str, str | None]:
    """(judge, prompt); MT-bench writes both as one list."""
    if isinstance(judge, list) and judge:
        prompt = judge[1] if len(judge) > 1 and is_missing(prompt) else prompt
        judge = judge[0]
    return id_text(judge) or "judge", _name(prompt)


def _name(value: Any) -> str | None:
    return id_text(value) or None if isinstance(value, str | int | float) else None


def _judgment(
    table: RecordTable,
    index: int,
    record: Mapping[str, Any],
    pair: PairKey,
    judge: str,
    prompt: str | None,
    order: Order,
    **said: Any,
) -> Judgment:
    columns = {
        name: id_text(value)
        for name, value in record.items()
        if isinstance(value, str | int | float) and name != "text" and len(id_text(value)) <= _SHORT
    }
    columns |= {"judge": judge, "order": order}
    if prompt is not None:
        columns["prompt"] = prompt
    name = Path(table.file).name
    return Judgment(name, table.rows[index], pair, judge, prompt, order, columns=columns, **said)


# Choosing judgments, and finding their pairs

Conditions = Mapping[str, tuple[str, ...]]
"""Values by column: a judgment has to have one of them in each. ``*`` stands for any characters."""


def parse_conditions(text: str) -> dict[str, tuple[str, ...]]:
    """The conditions of ``judge=GPT-4,prompt=CoT,prompt=Vanilla``: several values of one column are alternatives.

    :raises DataError: a part is no ``column=value``.
    """
    conditions: dict[str, list[str]] = {}
    for part in re.split(r",(?=\s*[\w.]+=)", text):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise DataError(f"--where: {shown(part)} is no condition.", "Write column=value,column=value.")
        conditions.setdefault(name.strip(), []).append(value.strip())
    return {name: tuple(values) for name, values in conditions.items()}


def holds(value: str | None, wanted: Sequence[str]) -> bool:
    """Whether a value is one of those wanted."""
    return value is not None and any(
        fnmatchcase(value, pattern) if "*" in pattern else value == pattern for pattern in wanted
    )


def chosen(judgments: Sequence[Judgment], conditions: Conditions) -> list[Judgment]:
    """The judgments that meet all conditions.

    :raises DataError: a column is not there, or none has such values; the message lists those that there are.
    """
    left = list(judgments)
    for name, wanted in conditions.items():
        kept = [judgment for judgment in left if holds(judgment.columns.get(name), wanted)]
        if not kept:
            there = Counter(judgment.columns[name] for judgment in left if name in judgment.columns)
            if not there:
                columns = listed(sorted({column for judgment in left for column in judgment.columns}))
                raise DataError(f"--where {name}: there is no such column.", f"Columns: {columns}.")
            values = listed([f"{shown(value)} ({count:,})" for value, count in there.most_common(12)])
            raise DataError(f"--where {name}={' or '.join(wanted)}: no judgment has it.", f"Found: {values}.")
        left = kept
    return left


_MARKS = "-:_/"
"""What may stand between the id of a question and the rest of a pair's id."""


class PairFinder:
    """Finds the pair that a judgment is about."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self._pairs = pairs
        self._by_head: dict[str, list[int]] | None = None
        self._by_id = {pair.id: place for place, pair in enumerate(pairs)}
        self._by_texts: dict[tuple[str, str, str], int] = {}
        for place, pair in enumerate(pairs):
            self._by_texts.setdefault((pair.question, pair.response_a, pair.response_b), place)

    def find(self, judgment: Judgment) -> tuple[int, Judgment] | None:
        """The 0-based place of the pair and the judgment about its responses A and B, ``None`` where it is not there.

        Where the pair holds the same responses or systems the other way round, the judgment is turned.
        """
        key = judgment.pair
        if key.texts is not None:
            question, first, second = key.texts
            place = self._by_texts.get((question, first, second))
            if place is not None:
                return place, judgment
            place = self._by_texts.get((question, second, first))
            return None if place is None else (place, judgment.mirrored())
        place = next((self._by_id[pair_id] for pair_id in key.ids if pair_id in self._by_id), None)
        if place is None and key.models != (None, None):
            place = self._by_systems(key)
        if place is None and key.place is not None and key.place < len(self._pairs):
            place = key.place
        if place is None:
            return None
        pair = self._pairs[place]
        turned = self._turned(key.models, (pair.model_a, pair.model_b))
        return None if turned is None else (place, judgment.mirrored() if turned else judgment)

    def _by_systems(self, key: PairKey) -> int | None:
        """The pair of a question with these two systems, where ids are ``QUESTION-…``."""
        heads = tuple(f"{pair_id}{mark}" for pair_id in key.ids for mark in _MARKS)
        for place in sorted({place for head in heads for place in self._heads().get(head, ())}):
            pair = self._pairs[place]
            if self._turned(key.models, (pair.model_a, pair.model_b)) is not None:
                return place
        return None

    def _heads(self) -> Mapping[str, Sequence[int]]:
        """The places of pairs by every start of their id up to a mark; made once, when first asked for."""
        if self._by_head is None:
            self._by_head = {}
            for place, pair in enumerate(self._pairs):
                for at, letter in enumerate(pair.id, 1):
                    if letter in _MARKS:
                        self._by_head.setdefault(pair.id[:at], []).append(place)
        return self._by_head

    @staticmethod
    def _turned(said: tuple[str | None, str | None], there: tuple[str | None, str | None]) -> bool | None:
        """Whether the systems are exchanged; ``None`` where they are others."""

        def fits(systems: tuple[str | None, str | None]) -> bool:
            return all(a is None or b is None or a == b for a, b in zip(said, systems, strict=True))

        if fits(there):
            return False
        return True if fits((there[1], there[0])) else None
