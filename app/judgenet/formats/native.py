"""Published formats that are known by their columns, each with its label coding."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judgenet.core.pairs import Verdict
from judgenet.formats import faireval
from judgenet.formats.containers import ABSENT, Table
from judgenet.formats.findings import Finding
from judgenet.formats.mapping import label_key


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
    prepare: Callable[[Table], Table] | None = None
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


def _prepare_pandalm(table: Table) -> Table:
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


def _prepare_judgebench(table: Table) -> Table:
    return table.with_columns(**{"pair id": [f"judgebench-{label_key(value)}" for value in table.column("pair_id")]})


# --- conversations: MT-bench human judgments, Chatbot Arena ---


def text_of(content: Any) -> str | None:
    """The text of a message's content, which may be a list of typed parts; ``None`` where a part is no text."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = [part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in content]
    return None if None in parts else "".join(part or "" for part in parts)


def transcript(messages: Sequence[tuple[str, str]]) -> str:
    """Messages as one text, each after its role, as LLMEval² writes the dialogues of MT-bench."""
    return "\n\n".join(f"{role}: {text}" for role, text in messages)


def _exchange(messages: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """(question, response) of a conversation: the first message, and what follows it.

    One answer stands for itself; a longer conversation is a transcript.
    """
    (_, question), *rest = messages
    return question, rest[0][1] if len(rest) == 1 else transcript(rest)


def _messages(table: Table, column: str) -> list[list[tuple[str, str]]]:
    found = []
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
            raise table.error("The conversation holds more than text.", "Leave the row out.", index, column)
        found.append([(role, text or "") for role, text in texts])
    return found


def _prepare_conversations(table: Table) -> Table:
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


def _prepare_arena_55k(table: Table) -> Table:
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


def _turns(table: Table, column: str) -> list[list[str]]:
    found = []
    for index, value in enumerate(table.column(column)):
        try:
            turns = json.loads(value) if isinstance(value, str) else value
        except ValueError:
            turns = None
        if not isinstance(turns, list) or not all(turn is None or isinstance(turn, str) for turn in turns):
            raise table.error("A JSON array of texts is expected.", "Mend the row or leave it out.", index, column)
        found.append([turn or "" for turn in turns])
    return found


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
    found = frozenset(names)
    return next((known for known in NATIVE if known.knows(found)), None)
