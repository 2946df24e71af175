"""FairEval's four files (i-Eval/FairEval): questions, two models' answers, and one human label a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judgenet.core.pairs import Verdict
from judgenet.formats.containers import RecordTable
from judgenet.formats.errors import DataError, listed, shown
from judgenet.formats.mapping import label_key, propose

LABELS: dict[str, Verdict] = {"CHATGPT": "a", "VICUNA13B": "b", "TIE": "tie"}
"""The label file's words. Assistant 1 of the source's run, response A, is gpt-3.5-turbo."""

ID = "faireval id"
"""The column of the joined table that tells what it is."""

_FIRST, _SECOND = "gpt-3.5-turbo", "vicuna-13b"


@dataclass(frozen=True, slots=True)
class FairEvalFiles:
    """The parts of the data set among some tables; ``labels`` may be missing."""

    questions: RecordTable
    answers: tuple[RecordTable, RecordTable]
    labels: RecordTable | None


def is_part(table: RecordTable) -> bool:
    """True for a table that only makes sense together with the others."""
    if _is_labels(table):
        return True
    return {"question_id", "text"} <= set(table.names) and "response_a" not in propose(table.names).columns


def _is_labels(table: RecordTable) -> bool:
    return table.container == "lines" and set(table.column("line")) <= LABELS.keys()


def _is_answers(table: RecordTable) -> bool:
    return {"question_id", "text", "model_id"} <= set(table.names)


def find_files(tables: Sequence[RecordTable]) -> FairEvalFiles | None:
    """The parts, or ``None`` where the tables are something else.

    :raises DataError: some parts are there and others are missing, or there are too many of a kind. A table of its own
        may look like a part: a mapping decides.
    """
    parts = [table for table in tables if is_part(table)]
    if not parts:
        return None
    labels = [table for table in parts if _is_labels(table)]
    answers = [table for table in parts if _is_answers(table)]
    questions = [table for table in parts if table not in labels and table not in answers]
    if len(answers) > 2:
        answers = [table for name in (_FIRST, _SECOND) for table in answers if _model(table).startswith(name)]
    if len(questions) != 1 or len(answers) != 2 or len(labels) > 1:
        raise DataError(
            f"These look like FairEval's files, but there are {len(questions)} with questions, {len(answers)} with "
            f"answers and {len(labels)} with labels: {listed([table.file for table in parts])}.",
            "Give the four files (question.jsonl, the two answers, the human review) or their folder. If they are "
            "another data set, say which columns hold what: --map question=…,response_a=…,response_b=…",
            file=parts[0].file,
        )
    if _model(answers[0]).startswith(_SECOND) and _model(answers[1]).startswith(_FIRST):
        answers.reverse()
    if labels and [_model(table).startswith(name) for table, name in zip(answers, (_FIRST, _SECOND), strict=True)] != [
        True,
        True,
    ]:
        raise DataError(
            f"The labels are about {_FIRST} and {_SECOND}, the answers by "
            f"{shown(_model(answers[0]))} and {shown(_model(answers[1]))}.",
            "Give the answers that the labels belong to.",
            file=labels[0].file,
        )
    return FairEvalFiles(questions[0], (answers[0], answers[1]), labels[0] if labels else None)


def _model(answers: RecordTable) -> str:
    return str(answers.column("model_id")[0])


def joined(files: FairEvalFiles) -> RecordTable:
    """One table: answers joined by question id, labels by line.

    :raises DataError: a question has no answer or several, or the numbers of questions and labels differ.
    """
    questions = files.questions
    ids = [label_key(value) for value in questions.column("question_id")]
    columns = {ID: [f"faireval-{value.zfill(2)}" for value in ids], "question": questions.column("text")}
    if "category" in questions.names:
        columns["task"] = questions.column("category")
    for side, answers in zip("ab", files.answers, strict=True):
        places: dict[str, int] = {}
        for index, value in enumerate(answers.column("question_id")):
            if places.setdefault(label_key(value), index) != index:
                raise answers.error(f"A second answer to question {shown(value)}.", "Remove one.", index, "question_id")
        for index, value in enumerate(ids):
            if value not in places:
                raise questions.error(
                    f"Question {value} has no answer in {answers.file}.", "Give the complete files.", index
                )
        for field, column in ((f"response_{side}", "text"), (f"model_{side}", "model_id")):
            values = answers.column(column)
            columns[field] = [values[places[value]] for value in ids]
    if files.labels:
        labels = files.labels.column("line")
        if len(labels) != len(ids):
            raise files.labels.error(
                f"{len(labels)} labels for {len(ids)} questions: they belong together line by line.",
                "Give the complete files.",
            )
        columns["human"] = labels
    return RecordTable(questions.file, questions.container, tuple(columns), questions.rows, columns.__getitem__)
