"""The section of a report about a network with stop rules: how far its pairs went, and what was saved."""

from __future__ import annotations

from collections.abc import Iterable

from judgenet.core.cascade import NEVER, read_stop_rule, stop_rule_words
from judgenet.core.wording import capitalized, money, of, percent
from judgenet.figures.cascade import HARD_PAIRS, CascadeFigures, StageFigures
from judgenet.report.blocks import Block, Bullets, Given, Paragraph, Row, Section, Table
from judgenet.report.model import Report

ABOUT = (
    "A pair that fulfils a stop rule is decided early: no further call is made for it. Its verdict is that of the "
    "calls that were made: a layer that was not asked has the vote of the last layer that was, and a chair that was "
    "not asked has the vote of all neurons. A missing verdict never counts as agreement."
)


def cascade_section(report: Report) -> Iterable[Block]:
    """How far the pairs went, stage by stage."""
    cascade = report.cascade
    if cascade is None:
        return
    yield Section("How far the pairs went", f"{of(cascade.decided_early, cascade.n_total)} pairs decided early")
    yield Paragraph((saved_words(cascade),))
    yield Table(
        ("Stage", "Skipped where", "Pairs asked", "Share", "Decided after it", "Calls", "Price", "Saved"),
        (False, False, True, True, True, True, True, True),
        tuple(_row(stage) for stage in cascade.stages),
    )
    if cascade.reason is not None:
        yield Bullets(((Given(f"{capitalized(cascade.reason)}."),),))
    yield Paragraph((ABOUT,), "note")
    yield Paragraph((f"{capitalized(HARD_PAIRS)}.",), "note")


def saved_words(cascade_figures: CascadeFigures) -> str:
    """What was asked and what was saved, in a sentence or two."""
    calls = f"{of(cascade_figures.calls, cascade_figures.calls_most)} calls were made"
    saved = "" if cascade_figures.calls_saved is None else f"; {percent(cascade_figures.calls_saved)} were saved"
    price = (
        "" if cascade_figures.price_saved is None else f", which would have cost {money(cascade_figures.price_saved)}"
    )
    return f"{calls}{saved}{price}. Calls that generate roles are not counted."


def _row(stage: StageFigures) -> Row:
    rule = None if stage.rule == NEVER else read_stop_rule(stage.rule)
    return Row(
        (
            (Given(stage.name.replace("layer ", "Layer ", 1) if stage.name.startswith("layer ") else stage.name),),
            ("" if rule is None else stop_rule_words(rule),),
            (of(stage.asked, stage.n_total),),
            (percent(stage.share),),
            (of(stage.decided, stage.asked),),
            (of(stage.calls, stage.calls_most),),
            ("n/a" if stage.price is None else money(stage.price),),
            ("n/a" if stage.price_saved is None else money(stage.price_saved),),
        )
    )
