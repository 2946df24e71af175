"""How many labelled pairs a comparison needs, as the report says it."""

from __future__ import annotations

from collections.abc import Iterable

from judgenet.core.wording import capitalized
from judgenet.figures.power import at_words, discordance_words, plan_words
from judgenet.report.blocks import Block, Paragraph
from judgenet.stats.power import ComparisonPlan


def power_paragraph(plan: ComparisonPlan) -> Iterable[Block]:
    """The pairs that a difference needs, what the existing pairs can show, and what both rest on."""
    sentences = [plan_words(plan), at_words(plan)]
    if plan.pairs is not None:
        rests = discordance_words(plan.discordance)
        sentences.append(f"{capitalized(rests)}")
        if plan.discordance.effect > 1:
            sentences.append(
                f"Pairs of one question are alike, which multiplies the pairs needed by {plan.discordance.effect:.2f}"
            )
        sentences.append("Planned for McNemar's exact test over pairs (unconditional power, Miettinen 1968)")
    yield Paragraph((" ".join(f"{sentence}." for sentence in sentences if sentence),), "note")
