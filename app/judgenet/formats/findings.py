"""The import doctor: what a person should know about a data set before it is judged."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from judgenet.core.pairs import VERDICTS, Pair, Verdict
from judgenet.core.wording import plural
from judgenet.formats.watch import Watch, nothing, part

LONG_PAIR_BYTES = 12_000
"""From this size (question, responses and reference, UTF-8 bytes, about four to a token) a judge with a window of
4,096 tokens has no room left for the evaluations of a layer before."""

UNBALANCED_SHARE = 0.8
"""From this share of one label on, accuracy says little: always giving that label would score as much."""

UNEQUAL_LENGTHS = 1.2
"""From this ratio of the median lengths one side counts as longer."""

FEW_PAIRS = 20
"""With fewer pairs medians say little."""

_PAIRS_PER_WATCH = 1000

TITLES = {
    "duplicate": "Same pair twice",
    "swapped_duplicate": "Same pair, sides swapped",
    "conflicting_label": "Same texts, another label",
    "identical_responses": "Identical responses",
    "empty_question": "Empty questions",
    "empty_response": "Empty responses",
    "judge_prompt": "Whole judge prompts",
    "long_pair": "Very long pairs",
    "model_named": "A model names itself",
    "pictures": "Pairs with pictures",
    "label_balance": "Largest label share",
    "no_labels": "No human labels",
    "labels_undecided": "Labels to be decided",
    "length_difference": "One side is longer",
    "edited": "Changed in this project",
    "left_out": "Left out",
    "left_out_labels": "Labels left out",
    "no_majority": "No majority",
    "majority_taken": "Labels by majority",
    "model_judgments": "Judgments of models",
    "null_text": "Texts that are null",
    "numbered": "Rows without an id",
    "unused_columns": "Columns not read",
    "nested_columns": "Read from nested fields",
    "criteria": "Criteria",
    "criteria_to_avoid": "Criteria with points below 0",
    "criteria_not_read": "Parts of criteria not read",
    "bad_rows": "Rows that cannot be read",
    "formulas_without_value": "Formulas without a result",
    "annotators_merged": "Rows of several annotators",
    "unread_scores": "Scores not read",
    "blank_lines": "Blank lines",
    "short_rows": "Short rows",
    "other_sheets": "Other sheets",
    "systems": "Systems and questions",
    "unnamed_systems": "Systems without names",
    "missing_response": "Missing responses",
    "repeated_response": "Same response twice",
    "single_response": "Fewer than two responses",
    "matches_raised": "More pairs than asked for",
    "disconnected_systems": "Systems that never meet",
}

FindingSeverity = Literal["note", "warning"]


OF_PAIRS = (
    "duplicate",
    "swapped_duplicate",
    "conflicting_label",
    "identical_responses",
    "empty_question",
    "empty_response",
    "long_pair",
    "model_named",
)
"""Kinds of findings about single pairs, whose pairs can be left out."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found in a data set.

    ``kind`` is a stable word for programs, ``count`` the number of pairs (or rows, or columns) concerned and
    ``ids`` the pairs, empty where the finding is not about single pairs. ``figure`` is what says more than the count,
    such as a share.
    """

    kind: str
    severity: FindingSeverity
    count: int
    message: str
    ids: tuple[str, ...] = ()
    figure: str = ""

    @property
    def title(self) -> str:
        """A few words for people."""
        return TITLES.get(self.kind, self.kind.replace("_", " ").capitalize())


def examine(pairs: Sequence[Pair], watch: Watch = nothing) -> tuple[Finding, ...]:
    """All findings about the pairs themselves; what is not found is left out."""
    findings = [
        *_duplicates(_watched(pairs, part(watch, 0, 0.4))),
        _of_pairs(
            "identical_responses",
            "warning",
            [pair.id for pair in pairs if pair.response_a == pair.response_b],
            "Both responses are the same text: only a tie can be right.",
        ),
        _of_pairs(
            "judge_prompt",
            "warning",
            [pair.id for pair in pairs if _is_judge_prompt(pair)],
            "The question holds both responses: it looks like the whole prompt of a judge. Map the column of the "
            "question itself.",
        ),
        _of_pairs("empty_question", "note", [p.id for p in pairs if not p.question.strip()], "The question is empty."),
        _of_pairs(
            "empty_response",
            "warning",
            [p.id for p in pairs if not p.response_a.strip() or not p.response_b.strip()],
            "A response is empty or only white space: it is judged as it is.",
        ),
        _of_pairs(
            "long_pair",
            "warning",
            [pair.id for pair in pairs if _size(pair) > LONG_PAIR_BYTES],
            f"More than {LONG_PAIR_BYTES:,} bytes of text, about {plural(LONG_PAIR_BYTES // 4, 'token')}: "
            "a judge with a small context window may cut or refuse the pair.",
        ),
        _of_pairs(
            "model_named",
            "warning",
            [pair.id for pair in _watched(pairs, part(watch, 0.4, 1)) if _names_model(pair)],
            "A response names the system that wrote it: the judge could recognise it.",
        ),
        _pictures(pairs),
        _balance(pairs),
        _lengths(pairs),
    ]
    return tuple(finding for finding in findings if finding is not None)


def _watched(pairs: Sequence[Pair], watch: Watch) -> Iterator[Pair]:
    for number, pair in enumerate(pairs):
        if number % _PAIRS_PER_WATCH == 0:
            watch(number / len(pairs))
        yield pair


def _of_pairs(kind: str, severity: FindingSeverity, ids: Sequence[str], message: str) -> Finding | None:
    return Finding(kind, severity, len(ids), message, tuple(ids)) if ids else None


def _is_judge_prompt(pair: Pair) -> bool:
    first, second, question = pair.response_a, pair.response_b, pair.question
    # Short answers to a multiple choice stand in its question.
    return min(len(first), len(second)) > 20 and first in question and second in question


def _size(pair: Pair) -> int:
    texts = (pair.question, pair.response_a, pair.response_b, pair.reference or "")
    if sum(map(len, texts)) * 4 <= LONG_PAIR_BYTES:
        return 0
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


MIRROR: dict[Verdict, Verdict] = {"a": "b", "b": "a", "tie": "tie"}
"""What a verdict is called when the responses change places."""


def _duplicates(pairs: Iterable[Pair]) -> list[Finding | None]:
    """Pairs whose texts came before, in the same or in the other order, and those with another label than then."""
    first: dict[tuple[str, str, str], Verdict | None] = {}
    exact: list[str] = []
    swapped: list[str] = []
    conflicting: list[str] = []
    for pair in pairs:
        key = (pair.question, pair.response_a, pair.response_b)
        mirrored = (pair.question, pair.response_b, pair.response_a)
        earlier: set[Verdict | None] = set()
        if key in first:
            exact.append(pair.id)
            earlier.add(first[key])
        if mirrored in first and pair.response_a != pair.response_b:
            swapped.append(pair.id)
            label = first[mirrored]
            earlier.add(MIRROR[label] if label else None)
        if pair.human and earlier - {None, pair.human}:
            conflicting.append(pair.id)
        first.setdefault(key, pair.human)
    return [
        _of_pairs("duplicate", "warning", exact, "Same question and responses as an earlier pair."),
        _of_pairs(
            "swapped_duplicate", "warning", swapped, "Same question and responses as an earlier pair, A and B swapped."
        ),
        _of_pairs("conflicting_label", "warning", conflicting, "Same texts as an earlier pair, but another label."),
    ]


# Names that mean a model wherever they stand, and names that are also ordinary words or people, which count only
# where the text says that it is that model.
_SELF_NAMED = re.compile(
    r"\b(?:ChatGPT|GPT-?[345]|OpenAI|Anthropic|Vicuna|LMSYS|PaLM ?2|InternLM|ChatGLM|DeepSeek)\b"
    r"|\b(?:I am|I'm|I’m|my name is|called|as) (?:an? )?"
    r"(?:Claude|Bard|Gemini|Alpaca|LLaMA|Llama|Mistral|Mixtral|Falcon|Koala|Dolly|Qwen|Grok|Phi|Command)\b"
)


# One of these is in all of them, and looking for plain words takes a sixth of the time.
_NAME = re.compile(
    "GPT|OpenAI|Anthropic|Vicuna|LMSYS|PaLM|InternLM|ChatGLM|DeepSeek|Claude|Bard|Gemini|Alpaca|LLaMA|Llama|Mistral"
    "|Mixtral|Falcon|Koala|Dolly|Qwen|Grok|Phi|Command"
)


def _names_model(pair: Pair) -> bool:
    for text, model in ((pair.response_a, pair.model_a), (pair.response_b, pair.model_b)):
        if model and len(model) > 3 and model in text and model not in pair.question:
            return True
        named = _SELF_NAMED.search(text) if _NAME.search(text) else None
        if named and named.group() not in pair.question:
            return True
    return False


def _pictures(pairs: Sequence[Pair]) -> Finding | None:
    """How many pairs have pictures: not every model sees."""
    ids = [pair.id for pair in pairs if pair.pictures]
    if not ids:
        return None
    different = len({picture.sha256 for pair in pairs for picture in pair.pictures})
    message = f"Pairs with pictures ({plural(different, 'different picture')}): they need models that see."
    return Finding("pictures", "note", len(ids), message, tuple(ids))


def _balance(pairs: Sequence[Pair]) -> Finding | None:
    counts = Counter(pair.human for pair in pairs if pair.human is not None)
    total = sum(counts.values())
    if not total:
        return Finding("no_labels", "note", len(pairs), "No pair has a human label: verdicts, but no accuracy.")
    share = max(counts.values()) / total
    words: dict[Verdict, str] = {"a": "A", "b": "B", "tie": "tie"}
    per_label = ", ".join(f"{words[verdict]} {counts[verdict]:,}" for verdict in VERDICTS)
    return Finding(
        "label_balance",
        "warning" if share >= UNBALANCED_SHARE else "note",
        total,
        f"{per_label} of {total:,} labelled pairs; always giving the commonest label would be right in {share:.1%}.",
        figure=f"{share:.0%}",
    )


def _lengths(pairs: Sequence[Pair]) -> Finding | None:
    """Whether the responses of one side are longer: judges tend to favour length (Zheng et al. 2023, section 3.3)."""
    if len(pairs) < FEW_PAIRS:
        return None
    sides = {
        "A": median(len(pair.response_a) for pair in pairs),
        "B": median(len(pair.response_b) for pair in pairs),
    }
    longer, shorter = sorted(sides, key=lambda side: -sides[side])
    if not sides[shorter] or sides[longer] / sides[shorter] < UNEQUAL_LENGTHS:
        return None
    return Finding(
        "length_difference",
        "note",
        len(pairs),
        f"{longer} is longer: the median has {sides[longer]:,.0f} characters against {sides[shorter]:,.0f}. "
        f"A judge that favours length would favour {longer}.",
        figure=f"{sides[longer] / sides[shorter] - 1:+.0%}",
    )
