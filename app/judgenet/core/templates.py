"""The templates of the prompts, the placeholders that each may hold, and how they are filled in."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from judgenet.assets import asset
from judgenet.core.evaluation import Reason

LANGUAGES = ("en", "zh")

FAMILIES = (
    "question_answering",
    "summary",
    "story",
    "data_to_text",
    "continuation",
    "dialogue",
    "safety",
    "code",
    "general",
)
"""The kinds of task that have a general question of their own."""


class PromptError(ValueError):
    """A template or a request for a prompt that cannot be used; the message says why and what is known."""


_SCORE_KEYS = ("score_1_key", "score_2_key")
_EXAMPLE = ("role_name", "role_description")

_FRAME: dict[str, tuple[str, ...]] = {
    "system": (),
    "opening.with_input": ("input", "responses"),
    "opening.without_input": ("input", "responses"),
    "opening.reference": (),
    "opening.criteria": (),
    "opening.weighted_criteria": (),
    "opening.material": ("mark",),
    "opening.pictures": (),
    "block.text": ("name", "mark", "text"),
    "block.empty": ("name",),
    "block.reference": (),
    "block.criteria": (),
    "block.criterion": ("criterion",),
    "block.weighted_criterion": ("criterion", "weight"),
    "block.response_1": (),
    "block.response_2": (),
    "block.evidence": (),
    "block.picture": ("number", "name", "mark"),
    "roles.ask": (),
    "roles.limit": ("limit",),
    "roles.json": ("roles_key", "name_key", "description_key", *_EXAMPLE),
    "roles.text": _EXAMPLE,
    "judge.evidence": ("criteria",),
    "judge.scores": ("criteria",),
    "judge.json_evidence": ("evidence_key", *_SCORE_KEYS),
    "judge.json_scores": _SCORE_KEYS,
    "judge.text_evidence": (),
    "judge.text_scores": (),
    "heard.intro": (),
    "heard.nothing": (),
    "heard.judge": ("neuron",),
    "heard.judge_with_role": ("neuron", "role", "mark"),
    "heard.same_order": (),
    "heard.other_order": (),
    "heard.other_names": (),
    "heard.scores": ("score_1", "score_2"),
    "heard.first": (),
    "heard.second": (),
    "heard.tie": (),
    "heard.missing": ("reason",),
    "heard.roles": ("mark", "roles"),
    "heard.role": ("role",),
    "own.mine": ("neuron",),
    "own.others": (),
    "own.none": (),
    "own.chair": (),
    "own.role": ("role", "mark"),
    "own.criterion": ("criterion", "mark"),
    "own.role_name": ("name",),
    "own.role_described": ("name", "description"),
    **{f"missing.{reason}": () for reason in Reason},
}
"""The frame's texts and the placeholders that each knows."""

_BIAS: dict[str, tuple[str, ...]] = {
    "shown.author": ("response", "name"),
    "shown.own": ("response", "name"),
    "shown.bandwagon": ("response", "share"),
    "shown.distraction": ("response",),
    "no_tie.evidence": ("criteria",),
    "no_tie.scores": ("criteria",),
    "ranking.with_input": ("input", "count"),
    "ranking.without_input": ("input", "count"),
    "ranking.response": ("number",),
    "ranking.ask": ("criteria", "count"),
    "ranking.json": ("ranking_key",),
    "ranking.text": (),
}
"""The texts of the bias lab."""

_FAMILY = ("input", "responses", "criteria", *_EXAMPLE)

_REQUIRED: dict[str, tuple[str, ...]] = {
    "opening.material": ("mark",),
    "block.text": ("mark", "text", "mark"),
    "block.picture": ("mark",),
    "roles.limit": ("limit",),
    "heard.judge": ("neuron",),
    "heard.judge_with_role": ("neuron",),
    "heard.scores": ("score_1", "score_2"),
    "own.mine": ("neuron",),
    "own.role": ("role",),
    "own.criterion": ("mark", "criterion", "mark"),
    "block.criterion": ("criterion",),
    "block.weighted_criterion": ("criterion",),
    "own.role_name": ("name",),
    "own.role_described": ("name", "description"),
}
"""Placeholders without which a prompt would lose its sense, in the order in which they must come."""

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")


class Template:
    """A text with placeholders, cut up once.

    Rendering joins the pieces and puts each value in as it is: a value is never looked at again, so braces
    and placeholders inside a response stay what they are.

    :raises PromptError: the text holds a placeholder that is not among ``known``.
    """

    __slots__ = ("_pieces", "_slots", "names", "text")

    def __init__(self, name: str, text: str, known: tuple[str, ...]) -> None:
        self.text = text.strip()
        pieces = _PLACEHOLDER.split(self.text)
        self.names = tuple(pieces[1::2])
        for placeholder in self.names:
            if placeholder not in known:
                has = "it knows " + _listed(f"{{{{{n}}}}}" for n in known) if known else "it knows no placeholders"
                raise PromptError(f"Template {name}: unknown placeholder {{{{{placeholder}}}}}; {has}.")
        self._pieces = pieces
        self._slots = tuple((2 * i + 1, placeholder) for i, placeholder in enumerate(self.names))

    def render(self, **values: str) -> str:
        """The text with ``values`` in place of the placeholders; all that the text holds must be given."""
        pieces = self._pieces.copy()
        for at, name in self._slots:
            pieces[at] = values[name]
        return "".join(pieces)


@cache
def shipped() -> Mapping[str, str]:
    """The texts under ``resources/prompts`` by template name (``language.file.table.key``), in file order."""
    texts: dict[str, str] = {}
    for language in LANGUAGES:
        for file in ("frame", "families", "bias"):
            content = asset("prompts", language, f"{file}.toml").read_text(encoding="utf-8")
            texts |= _flat(f"{language}.{file}", tomllib.loads(content))
    return texts


class Earlier(NamedTuple):
    """What an earlier version shipped, by template name: ``texts`` in place of those of today, and ``later``, the names
    of those that it did not have yet."""

    texts: Mapping[str, str]
    later: frozenset[str]


@cache
def earlier() -> tuple[Earlier, ...]:
    """The templates of earlier versions, the newest first. A run that was begun with them goes on with them, since its
    recorded answers are found by the text of their questions."""
    content = tomllib.loads(asset("prompts", "earlier.toml").read_text(encoding="utf-8"))
    versions = []
    for tables in content.values():
        names = tables.pop("later", ())
        later = frozenset(f"{language}.{name}" for language in LANGUAGES for name in names)
        versions.append(Earlier(dict(_flat_all(tables)), later))
    return tuple(versions)


def compiled(texts: Mapping[str, str]) -> dict[str, Template]:
    """Templates by name.

    :raises PromptError: a text that no prompt uses, a text that is missing, or a placeholder that is unknown
        or missing.
    """
    known = {f"{language}.{name}": placeholders for language in LANGUAGES for name, placeholders in _known()}
    for name in texts:
        if name not in known:
            raise PromptError(_no_such(name, known))
    for name in known:
        if name not in texts:
            raise PromptError(f"Template {name} is missing.")
    templates = {name: Template(name, text, known[name]) for name, text in texts.items()}
    for name, template in templates.items():
        required = _REQUIRED.get(name.partition(".frame.")[2], ())
        if not _in_order(required, template.names):
            needed = _listed(f"{{{{{n}}}}}" for n in required)
            raise PromptError(f"Template {name} must hold {needed}, in this order.")
        if template.names.count("text") > 1:
            raise PromptError(f"Template {name} must hold {{{{text}}}} once: a second time it would stand unmarked.")
    return templates


def placeholders(name: str) -> tuple[str, ...]:
    """The placeholders that a template may hold.

    :raises PromptError: there is no such template.
    """
    language, _, rest = name.partition(".")
    known = dict(_known())
    if language not in LANGUAGES or rest not in known:
        raise PromptError(_no_such(name, [f"{code}.{known_name}" for code in LANGUAGES for known_name in known]))
    return known[rest]


def _known() -> Iterable[tuple[str, tuple[str, ...]]]:
    for name, placeholders in _FRAME.items():
        yield f"frame.{name}", placeholders
    for name, placeholders in _BIAS.items():
        yield f"bias.{name}", placeholders
    for family in FAMILIES:
        for key in _FAMILY:
            yield f"families.{family}.{key}", ()


def _flat(prefix: str, table: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}.{key}", value)
        else:
            yield f"{prefix}.{key}", str(value)


def _flat_all(tables: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    for language, table in tables.items():
        assert isinstance(table, dict)
        yield from _flat(language, table)


def _no_such(name: str, known: Iterable[str]) -> str:
    """Says what there is on the last level of ``name`` that exists."""
    prefix = name
    while prefix and not any(known_name.startswith(f"{prefix}.") for known_name in known):
        prefix = prefix.rpartition(".")[0]
    start = f"{prefix}." if prefix else ""
    beside = dict.fromkeys(
        known_name[len(start) :].partition(".")[0] for known_name in known if known_name.startswith(start)
    )
    where = f"{prefix} has" if prefix else "names begin with"
    return f"There is no template {name!r}; {where} {_listed(beside)}."


def _in_order(wanted: Iterable[str], names: Iterable[str]) -> bool:
    rest = iter(names)
    return all(name in rest for name in wanted)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
