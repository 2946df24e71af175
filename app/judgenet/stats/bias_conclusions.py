"""What the figures of a bias lab mean, in words: the same for terminal, studio and report.

The share of biased pairs against a coin is the published figure, and no verdict is drawn from it: a judge that is right
but for a preference on few pairs stays below the coin. Verdicts rest on the net effect (statistics 4.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import ceil

from judgenet.core.bias import PROBES
from judgenet.core.bias.base import Probe
from judgenet.core.wording import whole_range
from judgenet.stats.bias import FEWEST_VALID, LEVEL, Cell, Conclusion, Judge, Mood, Shift
from judgenet.stats.intervals import Interval
from judgenet.stats.resampling import FEWEST_QUESTIONS

_MOODS: dict[Conclusion, Mood] = {
    "toward_target": "warning",
    "toward_rival": "warning",
    "negligible": "info",
    "no_bias": "good",
    "unclear": "neutral",
    "none": "none",
}
_BIASED = ("toward_target", "toward_rival")
_MOST_NAMED = 3
"""So many probes with too few pairs are named one by one."""


def judged(cell: Cell, judge: Judge, judges: Sequence[Judge], shifts: Sequence[Shift], margin: float) -> Cell:
    """The cell with its conclusion, the words for it, and how to take it."""
    conclusion = _conclusion(cell, margin)
    pairs_needed = cell.pairs_needed if conclusion == "unclear" else None
    cell = replace(cell, conclusion=conclusion, pairs_needed=pairs_needed)
    words, mood = _words(cell, PROBES[cell.probe], margin), _MOODS[conclusion]
    if conclusion != "none":
        if layer := _layer_that_worsens(cell, judge, judges, shifts):
            words, mood = _worsened(words, conclusion, layer)
            return replace(cell, words=words, mood=mood)
        if step := _against_single(cell, judge, judges, shifts):
            words = f"{words}; {step} {'biased' if PROBES[cell.probe].has_rival else 'often'} than the single judge"
    return replace(cell, words=words, mood=mood)


def _worsened(words: str, conclusion: Conclusion, layer: int) -> tuple[str, Mood]:
    """The words for a cell in which a layer is clearly more biased than the one before, and how to take them: bad only
    where the network is known to be biased."""
    if conclusion in _BIASED:
        return f"{words}; layer {layer} makes it worse", "bad"
    if conclusion == "unclear":
        return f"More biased after layer {layer}; {words[0].lower()}{words[1:]}", "warning"
    return f"{words}; more biased after layer {layer}", "info"


def _conclusion(cell: Cell, margin: float) -> Conclusion:
    if cell.share is None:
        return "none"
    if cell.valid_rate is not None and cell.valid_rate < FEWEST_VALID:
        return "none"
    if PROBES[cell.probe].has_rival and cell.net is None:
        return "none"
    if not PROBES[cell.probe].has_rival:
        if cell.interval is not None and cell.interval.low > margin:
            return "toward_target"
        return "no_bias" if cell.equivalent else "unclear"
    if cell.net and cell.net_p_holm is not None and cell.net_p_holm < LEVEL:
        if cell.equivalent:
            return "negligible"
        return "toward_target" if cell.net > 0 else "toward_rival"
    return "no_bias" if cell.equivalent else "unclear"


def _words(cell: Cell, probe: Probe, margin: float) -> str:
    if cell.conclusion == "none":
        if cell.share is None:
            return f"n/a – {cell.reasons.get('share', 'nothing was asked')}"
        if not cell.valid:
            return f"No verdict: 0 of {cell.items:,} pairs have valid answers to all prompts"
        return f"No verdict: {cell.valid_first:,} of {cell.items:,} answers valid"
    counts = probe.rate.format(hits=f"{cell.hits:,}", n=f"{cell.n:,}") if cell.share is not None else ""
    if not probe.has_rival:
        return counts if cell.conclusion != "unclear" else f"{counts}; {_not_enough(cell)}"
    verdict = {
        "toward_target": probe.above,
        "toward_rival": probe.against,
        "negligible": f"{probe.above if (cell.net or 0) > 0 else probe.against}, but by less than {margin:g}",
        "no_bias": f"No bias (net effect within ±{margin:g})",
    }.get(cell.conclusion)
    if counts:
        # The counts say it, but for what they do not show.
        more = {"unclear": _not_enough(cell), "toward_rival": probe.against[:1].lower() + probe.against[1:]}
        return "; ".join(part for part in (counts, more.get(cell.conclusion)) if part)
    said = _not_enough(cell) if verdict is None else verdict
    return said[0].upper() + said[1:]


def _not_enough(cell: Cell) -> str:
    if cell.pairs_needed is None:
        return f"not enough instructions to tell ({FEWEST_QUESTIONS} needed)"
    return f"not enough pairs to tell (about {rounded(cell.pairs_needed):,} needed)"


def rounded(pairs: int) -> int:
    """A planned number of pairs, rounded up to two digits: a plan is not more exact than that."""
    step: int = 10 ** max(0, len(str(pairs)) - 2)
    return ceil(pairs / step) * step


def _against_single(cell: Cell, judge: Judge, judges: Sequence[Judge], shifts: Sequence[Shift]) -> str:
    """``less`` or ``more`` where a network differs from the single judge, else an empty text."""
    single = next((candidate.id for candidate in judges if candidate.kind == "single"), None)
    if judge.kind != "network" or single is None:
        return ""
    shift = next((s for s in shifts if (s.probe, s.first, s.second) == (cell.probe, single, judge.id)), None)
    return "" if shift is None or not shift.clear else "less" if shift.grows < 0 else "more"


def _layer_that_worsens(cell: Cell, judge: Judge, judges: Sequence[Judge], shifts: Sequence[Shift]) -> int | None:
    if judge.kind != "network":
        return None
    layers = {candidate.id: candidate.layer for candidate in judges if candidate.kind == "layer"}
    for shift in shifts:
        between = shift.probe == cell.probe and shift.first in layers and shift.second in layers
        if between and shift.clear and shift.grows > 0:
            return layers[shift.second]
    return None


# What a lab found as a whole


def headline_of(
    cells: Sequence[Cell], judges: Sequence[Judge], shifts: Sequence[Shift], margin: float
) -> tuple[str, str]:
    """The result of a lab in a sentence, and the figures behind it: of the network, or of the single judge where there
    is no network, and how the two differ where there are both; else of several judges."""
    kinds = {judge.kind: judge for judge in judges}
    judge = kinds.get("network") or kinds.get("single") or (judges[0] if len(judges) == 1 else None)
    if judge is None:
        return _of_many(cells, judges, margin)
    mine = [cell for cell in cells if cell.judge == judge.id]
    both = judge.kind == "network" and "single" in kinds
    headline, figures = _of_one(mine, margin, "the network" if both else "")
    if both:
        single = kinds["single"]
        theirs = [cell for cell in cells if cell.judge == single.id]
        ends = [shift for shift in shifts if (shift.first, shift.second) == (single.id, judge.id)]
        figures = f"{figures} {_of_one(theirs, margin, 'the single judge')[0]}. {_compared(ends)}"
    tested = sum(cell.net_p_holm is not None for cell in mine)
    note = f"p values are Holm-adjusted over {tested:,} probes." if tested > 1 and "p " in figures else ""
    if unread := _valid_of([cell for cell in cells if cell.judge in {judge.id, *(s.first for s in shifts)}], judges):
        note = f"{note} {unread}".strip()
    return headline, f"{figures} {note}".strip()


def _of_one(cells: Sequence[Cell], margin: float, subject: str) -> tuple[str, str]:
    """The headline about one judge, and the figures of its biases and of what is not known."""
    conclusive = [cell for cell in cells if cell.conclusion != "none"]
    inside = f" in {subject}" if subject else ""
    if not conclusive:
        return f"No verdict on any bias{inside}", ""
    biased = [cell for cell in conclusive if cell.conclusion in _BIASED and PROBES[cell.probe].has_rival]
    faults = [cell for cell in conclusive if cell.conclusion in _BIASED and not PROBES[cell.probe].has_rival]
    unclear = [cell for cell in conclusive if cell.conclusion == "unclear"]
    small = [cell for cell in conclusive if cell.conclusion == "negligible"]
    figures = [_figure(cell) for cell in (*biased, *small, *faults)]
    if unclear:
        figures.append(_unclear(unclear, len(conclusive)))
    swayed = [f"biased toward {_listed([_toward(cell) for cell in biased])}"] if biased else []
    swayed += [_listed([_fault(cell) for cell in faults])] if faults else []
    if swayed:
        # "The network is biased toward …; it names …"
        headline = f"; {'it ' if subject else ''}".join(swayed)
        headline = f"{subject}{' is' if biased else ''} {headline}" if subject else headline
    elif unclear:
        headline = f"No significant bias found{inside}"
    else:
        headline = f"No bias above {margin:g} found{inside}"
    return headline[0].upper() + headline[1:], " ".join(figures)


def _toward(cell: Cell) -> str:
    return PROBES[cell.probe].toward[0 if cell.conclusion == "toward_target" else 1]


def _fault(cell: Cell) -> str:
    said = PROBES[cell.probe].above
    return said[0].lower() + said[1:]


def _unclear(cells: Sequence[Cell], count: int) -> str:
    """Which probes have too few pairs, with the pairs that would do; in short where they are many."""
    if len(cells) <= _MOST_NAMED:
        return f"Not enough pairs to tell: {_listed([_needs(cell) for cell in cells])}."
    needed = [rounded(cell.pairs_needed) for cell in cells if cell.pairs_needed is not None]
    pairs = f"; about {whole_range(min(needed), max(needed))} pairs needed" if needed else ""
    return f"Not enough pairs to tell for {len(cells):,} of {count:,} probes{pairs}."


def _needs(cell: Cell) -> str:
    needed = "" if cell.pairs_needed is None else f" (about {rounded(cell.pairs_needed):,})"
    return f"{PROBES[cell.probe].title}{needed}"


def _figure(cell: Cell) -> str:
    """The figures of a bias: ``Order: net +0.21 [0.17, 0.26], p < 0.001.``"""
    title = PROBES[cell.probe].title
    if not PROBES[cell.probe].has_rival:
        ends = "" if cell.interval is None else f" [{cell.interval.low:.2f}, {cell.interval.high:.2f}]"
        return f"{title}: {cell.share or 0:.2f}{ends}."
    return f"{title}: net {signed(cell.net or 0)}{_within(cell.net_ci)}, {p_text(cell.net_p_holm)}."


def _within(interval: Interval | None) -> str:
    return "" if interval is None else f" [{signed(interval.low)}, {signed(interval.high)}]"


def _compared(shifts: Sequence[Shift]) -> str:
    """How the network differs from the single judge."""
    if not any(shift.test is not None for shift in shifts):
        return "The two cannot be compared."
    clear = [shift for shift in shifts if shift.clear]
    less, more = [shift for shift in clear if shift.grows < 0], [shift for shift in clear if shift.grows > 0]
    if not clear:
        return "No probe shows a significant difference between the two."
    parts = [f"less biased in {_listed([_step(shift) for shift in less])}"] if less else []
    parts += [f"more biased in {_listed([_step(shift) for shift in more])}"] if more else []
    return f"The network is {' and '.join(parts)}."


def _step(shift: Shift) -> str:
    title = PROBES[shift.probe].title
    if not PROBES[shift.probe].has_rival:
        return f"{title} ({shift.first_share or 0:.2f} → {shift.second_share or 0:.2f}, {p_text(shift.p_holm)})"
    ends = f"net {signed(shift.first_net or 0)} → {signed(shift.second_net or 0)}"
    return f"{title} ({ends}, {p_text(shift.net_p_holm)})"


def _of_many(cells: Sequence[Cell], judges: Sequence[Judge], margin: float) -> tuple[str, str]:
    """Of several judges beside each other: how many are biased, and how many are shown not to be."""
    conclusive = [cell for cell in cells if cell.conclusion != "none"]
    if not conclusive:
        return "Nothing could be measured", ""
    biased, rest = [], []
    for key in dict.fromkeys(cell.probe for cell in conclusive):
        mine = [cell for cell in conclusive if cell.probe == key]
        title, n = PROBES[key].title, len(mine)
        count = sum(cell.conclusion in _BIASED for cell in mine)
        biased.append(f"{title.lower()} {count:,} of {n:,}")
        none = sum(cell.conclusion in ("no_bias", "negligible") for cell in mine)
        unclear = sum(cell.conclusion == "unclear" for cell in mine)
        rest.append(f"{title}: {none:,} without a bias above {margin:g}, {unclear:,} with too few pairs to tell.")
    headline = f"Significant bias: {', '.join(biased)} judges"
    probes = len(rest)
    adjusted = f" p values are Holm-adjusted over the {probes:,} probes of each judge." if probes > 1 else ""
    return headline, f"{' '.join(rest)}{adjusted}"


def _valid_of(cells: Iterable[Cell], judges: Sequence[Judge]) -> str:
    """How many first answers of each judge are valid, where some probe has no verdict for their lack."""
    sentences = []
    cells = list(cells)
    for judge in judges:
        mine = [cell for cell in cells if cell.judge == judge.id]
        items, valid = sum(cell.items for cell in mine), sum(cell.valid_first for cell in mine)
        if items and any(cell.valid_rate is not None and cell.valid_rate < FEWEST_VALID for cell in mine):
            sentences.append(f"{judge.title}: {valid:,} of {items:,} first answers valid.")
    return " ".join(sentences)


def signed(value: float, decimals: int = 2) -> str:
    """A net effect with its sign; zero has none."""
    text = f"{value:+.{decimals}f}"
    return text[1:] if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def p_text(p: float | None) -> str:
    """A p as people read it: ``p < 0.001``, ``p = 0.04``."""
    if p is None:
        return "p n/a"
    if p < 0.001:
        return "p < 0.001"
    # Rounded, it must not seem to lie on the other side of the level.
    return f"p = {p:.3f}" if p < 0.01 or round(p, 2) == LEVEL else f"p = {p:.2f}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
