"""The criteria of a pair as text."""

from __future__ import annotations

from judgenet.core.criteria import weights_differ
from judgenet.core.pairs import Pair
from judgenet.core.wording import plural
from judgenet.ui import texts


def criteria_count_words(pair: Pair) -> str:
    """``3 criteria with weights``."""
    return plural(len(pair.criteria), "criterion", "criteria") + (texts.WITH_WEIGHTS if _weighted(pair) else "")


def criteria_list(pair: Pair, *, markdown: bool) -> str:
    """The criteria of a pair as a numbered list, with their weights where these differ; empty without any."""
    lines = []
    for place, criterion in enumerate(pair.criteria, 1):
        weight = texts.weight(f"{criterion.weight:g}") if _weighted(pair) else ""
        if criterion.description and criterion.text.startswith(f"{criterion.name}: "):
            name = f"**{criterion.name}**" if markdown else criterion.name
            lines.append(f"{place}. {name}{weight}: {criterion.description}")
        else:
            lines.append(f"{place}. {criterion.text}{weight}")
    return "\n".join(lines)


def _weighted(pair: Pair) -> bool:
    return weights_differ([criterion.weight for criterion in pair.criteria])
