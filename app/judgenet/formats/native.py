"""Published formats that are known by their columns, each with its label coding."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judgenet.core.pairs import Verdict
from judgenet.formats import faireval
from judgenet.formats.containers import ABSENT, RecordTable
from judgenet.formats.findings import Finding
from judgenet.formats.mapping import label_key, propose
from judgenet.formats.pictures import parts_text, read_markdown, read_named


@dataclass(frozen=True, slots=True)
class NativeFormat:
    """A format that maps by itself.

    ``knows`` tells it by the names of the columns. ``prepare`` derives the columns that ``columns`` names where the
    file holds them in another shape. ``number`` makes the id of the record with a 0-based number, where the format
    has no ids of its own.
    """

    name: str
    title: str
    knows: Callable[[frozenset[str]], bool]
    columns: Mapping[str, str]
    labels: Mapping[str, Verdict] = field(default_factory=dict)
    prepare: Callable[[RecordTable], RecordTable] | None = None
    number: Callable[[int], str] | None = None


def has(*needed: str) -> Callable[[frozenset[str]], bool]:
    """Knows a format by columns that it must have."""
    return frozenset(needed).issubset


def exactly(*needed: str) -> Callable[[frozenset[str]], bool]:
    """Knows a format by its columns and no others: for names and codings that others use with another meaning."""
    return frozenset(needed).__eq__


# --- PandaLM (WeOpenML/PandaLM, data/testset-v1.json): annotatorN in the file, label_N in its README ---


def _pandalm_annotators(names: Sequence[str]) -> list[str]:
    return [name for name in names if name.removeprefix("annotator").isdigit() or name.removeprefix("label_").isdigit()]


def _knows_pandalm(names: frozenset[str]) -> bool:
    return has("instruction", "input", "response1", "response2")(names) and bool(_pandalm_annotators(sorted(names)))


def _prepare_pandalm(table: RecordTable) -> RecordTable:
    columns: dict[str, list[Any]] = {}
    index = next((name for name in ("idx", "index") if name in table.names), None)
    if index:
        columns["pair id"] = [f"pandalm-{label_key(value).zfill(3)}" for value in table.column(index)]
    if "cmp_key" in table.names:
        # "bloom-7b_llama-7b"; where the names hold underscores too, nobody can say where one ends.
        models = [str(key).split("_") for key in table.column("cmp_key")]
        columns["model 1"] = [names[0] if len(names) == 2 else None for names in models]
        columns["model 2"] = [names[1] if len(names) == 2 else None for names in models]
    names = _pandalm_annotators(table.names)
    columns["annotators"] = [
        {name: value for name, value in zip(names, labels, strict=True) if value is not ABSENT}
        for labels in zip(*(table.column(name) for name in names), strict=True)
    ]
    return table.with_columns(**columns)


def _prepare_judgebench(table: RecordTable) -> RecordTable:
    return table.with_columns(**{"pair id": [f"judgebench-{label_key(value)}" for value in table.column("pair_id")]})


# --- conversations: MT-bench human judgments, Chatbot Arena ---


def text_of(content: Any) -> str | None:
    """The text of a message's content, which may be a list of typed parts, pictures among them (as marks:
    :func:`~judgenet.formats.pictures.parts_text`); ``None`` where a part is neither."""
    if content is None or isinstance(content, str):
        return content or ""
    return (parts_text(content) if content else "") if isinstance(content, list) else None


def transcript(messages: Sequence[tuple[str, str]]) -> str:
    """Messages as one text, each after its role, as LLMEval² writes the dialogues of MT-bench."""
    return "\n\n".join(f"{role}: {text}" for role, text in messages)


def _exchange(messages: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """(question, response) of a conversation: the first message, and what follows it.

    One answer stands for itself; a longer conversation is a transcript.
    """
    (_, question), *rest = messages
    return question, rest[0][1] if len(rest) == 1 else transcript(rest)


def _messages(table: RecordTable, column: str) -> list[list[tuple[str, str]]]:
    conversations = []
    for index, value in enumerate(table.column(column)):
        messages = value
        if isinstance(value, str):
            try:
                messages = json.loads(value)
            except ValueError:
                messages = None
        if not isinstance(messages, list) or len(messages) < 2 or not all(isinstance(m, dict) for m in messages):
            raise table.error(
                "A conversation is a list of messages with role and content, at least a question and an answer.",
                "Mend the row or leave it out.",
                index,
                column,
            )
        texts = [(str(message.get("role", "user")), text_of(message.get("content"))) for message in messages]
        if any(text is None for _, text in texts):
            problem = "The conversation holds more than texts and pictures."
            raise table.error(problem, "Leave the row out.", index, column)
        conversations.append([(role, text or "") for role, text in texts])
    return conversations


def _prepare_conversations(table: RecordTable) -> RecordTable:
    # MT-bench holds both turns where only the first was judged; elsewhere the number of turns is that of the text.
    turns = table.column("turn") if "turn" in table.names else [None] * len(table.rows)
    ends = [2 * turn if isinstance(turn, int) and turn > 0 else None for turn in turns]
    first, second = (
        [_exchange(messages[:end]) for messages, end in zip(_messages(table, column), ends, strict=True)]
        for column in ("conversation_a", "conversation_b")
    )
    columns: dict[str, list[Any]] = {
        "question text": [question for question, _ in first],
        "answer a": [response for _, response in first],
        "answer b": [response for _, response in second],
    }
    if "judge" in table.names:
        # A list [model, prompt] is a model's judgment (MT-bench's gpt4_pair), not a person's.
        of_model = [isinstance(judge, list) or str(judge).startswith("gpt") for judge in table.column("judge")]
        columns["winner"] = [
            None if model else winner for model, winner in zip(of_model, table.column("winner"), strict=True)
        ]
        if count := sum(of_model):
            message = f"{count} judgments are a model's and no person's: they are not read as human labels."
            table = replace(table, notes=(*table.notes, Finding("model_judgments", "note", count, message)))
    return table.with_columns(**columns)


_ARENA_55K = ("winner_model_a", "winner_model_b", "winner_tie")


def _prepare_arena_55k(table: RecordTable) -> RecordTable:
    """Turns are JSON arrays in strings; the label is one of three columns."""
    turns = {name: _turns(table, name) for name in ("prompt", "response_a", "response_b")}
    columns: dict[str, list[Any]] = {"question text": [], "answer a": [], "answer b": [], "winner": []}
    votes = zip(*(table.column(name) for name in _ARENA_55K), strict=True)
    rows = zip(turns["prompt"], turns["response_a"], turns["response_b"], votes, strict=True)
    for index, (users, first, second, vote) in enumerate(rows):
        for name, answers in (("answer a", first), ("answer b", second)):
            if len(answers) != len(users) or not users:
                raise table.error(
                    f"{len(users)} prompts, but {len(answers)} responses.", "Mend the row or leave it out.", index
                )
            messages = [
                m for pair in zip(users, answers, strict=True) for m in zip(("user", "assistant"), pair, strict=True)
            ]
            columns[name].append(_exchange(messages)[1])
        columns["question text"].append(users[0])
        won = [name for name, value in zip(("model_a", "model_b", "tie"), vote, strict=True) if label_key(value) == "1"]
        if len(won) != 1:
            raise table.error(
                f"Exactly one of {', '.join(_ARENA_55K)} must be 1.", "Mend the row or leave it out.", index
            )
        columns["winner"].append(won[0])
    return table.with_columns(**columns)


def _turns(table: RecordTable, column: str) -> list[list[str]]:
    conversations = []
    for index, value in enumerate(table.column(column)):
        try:
            turns = json.loads(value) if isinstance(value, str) else value
        except ValueError:
            turns = None
        if not isinstance(turns, list) or not all(turn is None or isinstance(turn, str) for turn in turns):
            raise table.error("A JSON array of texts is expected.", "Mend the row or leave it out.", index, column)
        conversations.append([turn or "" for turn in turns])
    return conversations


# --- nested exports of labelling tools: Label Studio, Argilla, LLM Comparator ---


def _nested_texts(table: RecordTable, within: str) -> dict[str, str]:
    """The paths of question and responses inside the objects of a column, by what their names suggest."""
    inner = [path for path in table.nested(lists=False) if path.startswith(f"{within}.")]
    names = {path.removeprefix(f"{within}."): path for path in inner}
    nested = propose(tuple(names)).columns
    return {part: names[name] for part, name in nested.items() if name in names}


def _with_texts(table: RecordTable, within: str) -> tuple[RecordTable, dict[str, str]]:
    """The table with the texts inside a column as columns of their own, and their paths."""
    paths = _nested_texts(table, within)
    return table.with_columns(
        **{_NESTED[part]: table.column(path) for part, path in paths.items() if part in _NESTED}
    ), paths


_NESTED = {
    "question": "nested question",
    "response_a": "nested response a",
    "response_b": "nested response b",
    "reference": "nested reference",
    "task": "nested task",
    "model_a": "nested model a",
    "model_b": "nested model b",
}


def _prepare_label_studio(table: RecordTable) -> RecordTable:
    """Tasks with ``data`` and ``annotations`` (Label Studio's JSON export): the choice of each annotator, unless it was
    cancelled, by ``completed_by``. Lists of pictures beside the texts are those of this program's exports."""
    table, paths = _with_texts(table, "data")
    table = _with_pictures_beside(table, paths)
    said: list[dict[str, Any]] = []
    for several in table.column("annotations"):
        of_task: dict[str, Any] = {}
        for place, annotation in enumerate(several if isinstance(several, list) else [], 1):
            results = (
                annotation.get("result")
                if isinstance(annotation, dict) and not annotation.get("was_cancelled")
                else None
            )
            choice = next((c for c in map(_choice, results or ()) if c is not None), None)
            if choice is not None:
                who = annotation.get("completed_by")
                who = who.get("email") or who.get("id") if isinstance(who, dict) else who
                of_task[f"annotator{place}" if who is None else f"annotator {who}"] = choice
        said.append(of_task)
    return table.with_columns(annotators=said)


def _with_pictures_beside(table: RecordTable, paths: Mapping[str, str]) -> RecordTable:
    """The table with pictures in its texts, where a list of them stands beside a text: ``question_pictures``."""
    columns = {}
    for part, path in paths.items():
        if part not in _NESTED:
            continue
        name = f"{path.rpartition('.')[2]}_pictures"
        lists = [of.get(name) if isinstance(of, dict) else None for of in table.column("data")]
        if any(isinstance(of, list) for of in lists):
            texts = table.column(_NESTED[part])
            columns[_NESTED[part]] = [
                read_named(text, of) if isinstance(text, str) and isinstance(of, list) else text
                for text, of in zip(texts, lists, strict=True)
            ]
    return table.with_columns(**columns)


def _choice(result: Any) -> Any:
    """The answer in a result of an annotation: the side of a pairwise tag, or the one choice of a choices tag."""
    value = result.get("value") if isinstance(result, dict) else None
    if not isinstance(value, dict):
        return None
    if "selected" in value:
        return value["selected"]
    choices = value.get("choices")
    return choices[0] if isinstance(choices, list) and len(choices) == 1 else None


def _prepare_argilla(table: RecordTable) -> RecordTable:
    """Records with ``fields`` and ``responses`` (Argilla): the ranking, or the label, that each user submitted.

    Argilla 1 lists the responses by user, each with its answers; Argilla 2 has them by question, each with its users.
    Fields are Markdown, whose pictures are read where they are data URIs.
    """
    table, paths = _with_texts(table, "fields")
    columns = [_NESTED[part] for part in paths if part in _NESTED]
    table = table.with_columns(**{column: _read_fields(table.column(column)) for column in columns})
    sides = [paths.get(part, "").removeprefix("fields.") for part in ("response_a", "response_b")]
    said: list[dict[str, Any]] = []
    for responses in table.column("responses"):
        of_record: dict[str, Any] = {}
        for place, response in enumerate(_by_user(responses), 1):
            if response.get("status", "submitted") != "submitted":
                continue
            values = response.get("values")
            answers = list(values.values()) if isinstance(values, dict) else []
            verdict = next((v for v in (_argilla_answer(a, sides) for a in answers) if v is not None), None)
            if verdict is not None:
                who = response.get("user_id")
                of_record[f"annotator{place}" if who is None else str(who)] = verdict
        said.append(of_record)
    return table.with_columns(annotators=said)


def _read_fields(texts: Sequence[Any]) -> list[Any]:
    return [read_markdown(text) if isinstance(text, str) else text for text in texts]


def _by_user(responses: Any) -> list[dict[str, Any]]:
    """Argilla's responses as a record a user, in the form of Argilla 1."""
    if isinstance(responses, list):
        return [merged for merged in responses if isinstance(merged, dict)]
    by_user: dict[Any, dict[str, Any]] = {}
    for question, answers in responses.items() if isinstance(responses, dict) else ():
        for place, answer in enumerate(answers if isinstance(answers, list) else (), 1):
            if isinstance(answer, dict):
                who = answer.get("user_id")
                merged = by_user.setdefault(place if who is None else who, {**answer, "values": {}})
                merged["values"][question] = {"value": answer.get("value")}
    return list(by_user.values())


def _argilla_answer(answer: Any, sides: Sequence[str]) -> Any:
    """The answer about the two sides: a, b or tie of a ranking, or the label as it stands."""
    value = answer.get("value") if isinstance(answer, dict) else None
    if isinstance(value, list):
        ranks = {ranked.get("value"): ranked.get("rank") for ranked in value if isinstance(ranked, dict)}
        first, second = (ranks.get(side) for side in sides)
        if not isinstance(first, int | float) or not isinstance(second, int | float):
            return None
        return "a" if first < second else "b" if second < first else "tie"
    if value in sides and isinstance(value, str):
        return "ab"[sides.index(value)]
    return value if isinstance(value, str) and len(value) < 40 else None


def _prepare_comparator(table: RecordTable) -> RecordTable:
    """LLM Comparator's examples: the names of the two models stand beside them."""
    models = table.around.get("models")
    names = [model.get("name") for model in models if isinstance(model, dict)] if isinstance(models, list) else []
    size = len(table.rows)
    columns = {f"model {side}": [name] * size for side, name in zip("ab", names, strict=False)}
    if "score" in table.names:
        message = "The scores are those of a model: they are not read as human labels."
        table = replace(table, notes=(*table.notes, Finding("model_judgments", "note", size, message)))
    return table.with_columns(**columns)


def _prepare_prometheus(table: RecordTable) -> RecordTable:
    if "orig_preference" in table.names:
        message = (
            "orig_preference is not read: in Prometheus' own sets it is a model's. Where people gave it, map it: "
            "human=orig_preference."
        )
        table = replace(table, notes=(*table.notes, Finding("model_judgments", "note", len(table.rows), message)))
    parts = [name for name in table.names if name == "orig_criteria" or _PROMETHEUS_SCORE.fullmatch(name)]
    if "orig_criteria" not in parts:
        return table
    rubrics = [
        {name: value for name, value in zip(parts, values, strict=True) if value is not ABSENT}
        for values in zip(*(table.column(name) for name in parts), strict=True)
    ]
    return table.with_columns(**{"score rubric": [_prometheus_rubric(rubric) for rubric in rubrics]})


_PROMETHEUS_SCORE = re.compile(r"orig_score\d_description")


def _prometheus_rubric(rubric: dict[str, Any]) -> list[dict[str, Any]]:
    """What is judged, and what each score means: one criterion."""
    criterion = rubric.pop("orig_criteria", None)
    return [{"criterion": criterion, **rubric}] if criterion else []


_CONVERSATION = {
    "question": "question text",
    "response_a": "answer a",
    "response_b": "answer b",
    "model_a": "model_a",
    "model_b": "model_b",
    "human": "winner",
}

NATIVE: tuple[NativeFormat, ...] = (
    NativeFormat(
        "llmeval2",
        "LLMEval² (WideDeep)",
        has("query", "response1", "response2", "human"),
        {
            "question": "query",
            "response_a": "response1",
            "response_b": "response2",
            "human": "human",
            "task": "dataset",
        },
        {"model1": "a", "model2": "b", "TIE": "tie"},
        number=lambda number: f"llmeval2-{number:04d}",
    ),
    NativeFormat(
        "faireval",
        "FairEval",
        has(faireval.ID),
        {
            "id": faireval.ID,
            "question": "question",
            "response_a": "response_a",
            "response_b": "response_b",
            "model_a": "model_a",
            "model_b": "model_b",
            "human": "human",
            "task": "task",
        },
        faireval.LABELS,
    ),
    NativeFormat(
        "pandalm",
        "PandaLM test set",
        _knows_pandalm,
        {
            "id": "pair id",
            "question": "instruction+input",
            "response_a": "response1",
            "response_b": "response2",
            "model_a": "model 1",
            "model_b": "model 2",
            "reference": "reference_response",
            "task": "motivation_app",
            "annotators": "annotators",
        },
        {"0": "tie", "1": "a", "2": "b", "Tie": "tie"},
        _prepare_pandalm,
        lambda number: f"pandalm-{number:03d}",
    ),
    NativeFormat(
        "llmbar",
        "LLMBar",
        exactly("input", "output_1", "output_2", "label"),
        {"question": "input", "response_a": "output_1", "response_b": "output_2", "human": "label"},
        {"1": "a", "2": "b"},
        number=lambda number: f"llmbar-{number:03d}",
    ),
    NativeFormat(
        "judgebench",
        "JudgeBench",
        has("pair_id", "question", "response_model", "response_A", "response_B", "label"),
        {
            "id": "pair id",
            "question": "question",
            "response_a": "response_A",
            "response_b": "response_B",
            "model_a": "response_model",
            "model_b": "response_model",
            "human": "label",
            "task": "source",
        },
        {"A>B": "a", "B>A": "b"},
        _prepare_judgebench,
    ),
    NativeFormat(
        "autoj",
        "Auto-J pairwise test set",
        exactly("scenario", "label", "prompt", "response 1", "response 2"),
        {
            "question": "prompt",
            "response_a": "response 1",
            "response_b": "response 2",
            "human": "label",
            "task": "scenario",
        },
        {"0": "a", "1": "b", "2": "tie"},
        number=lambda number: f"autoj-{number:04d}",
    ),
    NativeFormat(
        "arena55k",
        "Chatbot Arena 55k",
        has("prompt", "response_a", "response_b", *_ARENA_55K),
        {**_CONVERSATION, "id": "id"},
        {"model_a": "a", "model_b": "b", "tie": "tie"},
        _prepare_arena_55k,
    ),
    NativeFormat(
        "arena",
        "MT-bench human judgments, Chatbot Arena conversations",
        has("conversation_a", "conversation_b", "model_a", "model_b", "winner"),
        _CONVERSATION,
        {"model_a": "a", "model_b": "b", "tie": "tie", "tie (bothbad)": "tie"},
        _prepare_conversations,
    ),
    NativeFormat(
        "label_studio",
        "Label Studio tasks",
        has("data", "annotations"),
        {**_NESTED, "id": "id", "annotators": "annotators"},
        {"left": "a", "right": "b"},
        _prepare_label_studio,
    ),
    NativeFormat(
        "argilla",
        "Argilla records",
        has("fields", "responses"),
        {**_NESTED, "id": "id", "annotators": "annotators"},
        prepare=_prepare_argilla,
    ),
    NativeFormat(
        "llm_comparator",
        "LLM Comparator",
        has("input_text", "output_text_a", "output_text_b"),
        {
            "question": "input_text",
            "response_a": "output_text_a",
            "response_b": "output_text_b",
            "model_a": "model a",
            "model_b": "model b",
            "tags": "tags",
        },
        prepare=_prepare_comparator,
    ),
    # The column instruction holds the whole prompt of a judge.
    NativeFormat(
        "prometheus",
        "Prometheus (pairs)",
        has("orig_instruction", "orig_response_A", "orig_response_B"),
        {
            "question": "orig_instruction",
            "response_a": "orig_response_A",
            "response_b": "orig_response_B",
            "reference": "orig_reference_answer",
            "criteria": "score rubric",
        },
        prepare=_prepare_prometheus,
    ),
    # The preference column is the verdict of a judge, so it is not read as a human label.
    NativeFormat(
        "alpaca_eval",
        "AlpacaEval annotations",
        has("instruction", "output_1", "output_2", "generator_1", "generator_2"),
        {
            "question": "instruction",
            "response_a": "output_1",
            "response_b": "output_2",
            "model_a": "generator_1",
            "model_b": "generator_2",
            "task": "dataset",
        },
    ),
)


def native_format(names: Sequence[str]) -> NativeFormat | None:
    """The published format with these columns, or ``None``."""
    columns = frozenset(names)
    return next((known for known in NATIVE if known.knows(columns)), None)


def labels_by_annotator(table: RecordTable) -> RecordTable | None:
    """The labels in an export of Label Studio or Argilla as a table with a row a label: ``pair_id``, ``annotator`` and
    ``label``. ``None`` for a table that is no such export.

    The id of a pair is that of an Argilla record, and ``pair_id`` or ``id`` in the data of a Label Studio task.
    """
    if has("data", "annotations")(frozenset(table.names)):
        ids = next((path for path in ("data.pair_id", "data.id", "id") if table.has(path)), "id")
        annotators = _prepare_label_studio(table).column("annotators")
    elif has("fields", "responses")(frozenset(table.names)):
        ids, annotators = "id", _prepare_argilla(table).column("annotators")
    else:
        return None
    given = table.column(ids)
    rows = [(place, who, said) for place, annotator in enumerate(annotators) for who, said in annotator.items()]
    columns = {
        "pair_id": [given[place] for place, _, _ in rows],
        "annotator": [who for _, who, _ in rows],
        "label": [{"left": "a", "right": "b"}.get(said, said) for _, _, said in rows],
    }
    return RecordTable(
        table.file, table.container, tuple(columns), [table.rows[place] for place, _, _ in rows], columns.__getitem__
    )
