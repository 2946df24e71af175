"""What the figures of a bias lab mean, in words: the same for terminal, studio and report."""

from __future__ import annotations

from collections.abc import Sequence

from judgenet.core.bias import PROBES
from judgenet.core.bias.base import Probe
from judgenet.stats.bias import FEWEST_VALID, LEVEL, Cell, Chance, Judge, Mood, Shift, exact_test


def mood_and_words(
    cell: Cell, chance: Chance, judge: Judge, judges: Sequence[Judge], shifts: Sequence[Shift], probes: int
) -> tuple[Mood, str]:
    """The verdict on a bias of a judge. ``probes`` is their number, over which tests are corrected."""
    probe = PROBES[cell.probe]
    if cell.share is None:
        return "none", f"n/a – {cell.reasons.get('share', 'nothing was asked')}"
    if cell.valid_rate is not None and cell.valid_rate < FEWEST_VALID:
        return "none", f"No verdict: {cell.valid_first:,} of {cell.items:,} answers valid"
    worse = _layer_that_worsens(cell, judge, judges, shifts)
    if not probe.noise:
        words = probe.rate.format(n=round(100 * cell.share))
        return ("bad", f"{words}; {worse}") if worse else ("info" if cell.hits else "good", words)
    mood, words = _against_chance(probe, cell, chance, probes)
    if worse:
        return "bad", worse
    step = _against_single(cell, judge, judges, shifts)
    if not step:
        return mood, words
    if words == "Lower than chance" and step == "less":
        return mood, "Lower than chance, and than the single judge"
    return mood, f"{words}, {step} than the single judge"


def _against_chance(probe: Probe, cell: Cell, chance: Chance, probes: int) -> tuple[Mood, str]:
    assert cell.share is not None
    told_apart = cell.p_holm is not None and cell.p_holm < LEVEL
    if chance.analytic is None:
        return "info", f"{cell.hits:,} of {cell.n:,}"
    if probe.rivalled and cell.net is not None and cell.net_p is not None and cell.net_p * probes < LEVEL:
        return "warning", probe.above if cell.net > 0 else probe.against
    if told_apart and cell.share > chance.analytic:
        return ("neutral", "Not told apart from chance") if probe.rivalled else ("warning", probe.above)
    if probe.against and not probe.rivalled and cell.n:
        rival = cell.counts[probe.outcomes[1]]
        p = exact_test(rival, cell.n, chance.analytic)
        # The other side is a test more for each probe, which the correction of the shares does not know of.
        if rival / cell.n > chance.analytic and p is not None and p * probes < LEVEL:
            return "warning", probe.against
    if told_apart:
        return ("warning" if probe.rule == "consistent" else "good"), probe.below
    return "neutral", "Not told apart from chance"


def _against_single(cell: Cell, judge: Judge, judges: Sequence[Judge], shifts: Sequence[Shift]) -> str:
    """``less`` or ``more`` where a network differs from the single judge, else an empty text."""
    single = next((other.id for other in judges if other.kind == "single"), None)
    if judge.kind != "network" or single is None:
        return ""
    shift = next((s for s in shifts if (s.probe, s.first, s.second) == (cell.probe, single, judge.id)), None)
    return "" if shift is None or not _told_apart(shift) else "less" if (shift.difference or 0) < 0 else "more"


def _layer_that_worsens(cell: Cell, judge: Judge, judges: Sequence[Judge], shifts: Sequence[Shift]) -> str:
    if judge.kind != "network":
        return ""
    titles = {other.id: other for other in judges if other.kind == "layer"}
    for shift in shifts:
        between = shift.probe == cell.probe and shift.first in titles and shift.second in titles
        if between and _told_apart(shift) and (shift.difference or 0) > 0:
            return f"Layer {titles[shift.second].layer} makes it worse"
    return ""


def _told_apart(shift: Shift) -> bool:
    return shift.p_holm is not None and shift.p_holm < LEVEL and bool(shift.difference)


def headline_of(cells: Sequence[Cell], judges: Sequence[Judge], shifts: Sequence[Shift]) -> tuple[str, str]:
    """What a lab found in a sentence, and the figures behind it: the network against the single judge, or, where only
    one of them was asked, that one against chance."""
    kinds = {judge.kind: judge for judge in judges}
    if "single" in kinds and "network" in kinds:
        ends = (kinds["single"].id, kinds["network"].id)
        found = _compared([s for s in shifts if (s.first, s.second) == ends])
        mine = [cell for cell in cells if cell.judge in ends]
        if found is None:
            return "No verdict on single judge and network", _valid_of(mine, judges)
        return found
    judge = kinds.get("network") or kinds.get("single")
    if judge is None:
        return _of_many(cells, judges)
    mine = [cell for cell in cells if cell.judge == judge.id]
    swayed = [cell for cell in mine if cell.mood in ("warning", "bad")]
    tested = sum(cell.p is not None for cell in mine)
    if not swayed and not tested and any(cell.items for cell in mine):
        told = [f"{PROBES[cell.probe].title}: {cell.words}" for cell in mine if cell.mood != "none"]
        return "; ".join(told) or "No verdict on any bias", _valid_of(mine, judges)
    if not swayed:
        return "No bias is told apart from chance", _after_holm(0, tested)
    figures = " ".join(
        f"{PROBES[cell.probe].title} {cell.share:.2f}, {p_text(cell.p_holm)}."
        for cell in swayed
        if cell.share is not None
    )
    return (
        f"Swayed by {_listed([PROBES[cell.probe].noun for cell in swayed])}",
        f"{figures[:-1]}{_after_holm(len(swayed), tested)}",
    )


def _of_many(cells: Sequence[Cell], judges: Sequence[Judge]) -> tuple[str, str]:
    """Of several judges beside each other: how many are swayed by what, and, as a share below a coin's is no proof of
    fairness (statistics 4.3), how many choose one side clearly more often than the other."""
    tested = [cell for cell in cells if cell.p is not None]
    if not tested:
        return "Nothing could be measured", ""
    parts, nets = [], []
    probes = list(dict.fromkeys(cell.probe for cell in tested))
    for key in probes:
        mine = [cell for cell in tested if cell.probe == key]
        swayed = sum(cell.mood in ("warning", "bad") for cell in mine)
        parts.append(f"by {PROBES[key].noun} {swayed:,} of {len(mine):,}")
        if PROBES[key].rule == "both":
            net = sum(cell.net_p is not None and cell.net_p * len(probes) < LEVEL for cell in mine)
            nets.append(f"{PROBES[key].noun} {net:,} of {len(mine):,}")
    headline = f"Swayed {', '.join(parts)} {'judges' if len(judges) > 1 else 'judge'}"
    some = f"Net effect told apart from none: {', '.join(nets)}. " if nets else ""
    return headline, f"{some}Each judge tested over {len(probes):,} probe{'s' if len(probes) != 1 else ''}."


def _valid_of(cells: Sequence[Cell], judges: Sequence[Judge]) -> str:
    """How many first answers of each judge are valid."""
    told = []
    for judge in judges:
        mine = [cell for cell in cells if cell.judge == judge.id]
        if items := sum(cell.items for cell in mine):
            told.append(f"{judge.title}: {sum(cell.valid_first for cell in mine):,} of {items:,} first answers valid")
    return "; ".join(told)


def _compared(shifts: Sequence[Shift]) -> tuple[str, str] | None:
    clear = [shift for shift in shifts if _told_apart(shift)]
    tested = sum(shift.p is not None for shift in shifts)
    if not tested:
        return None
    less = [PROBES[shift.probe].noun for shift in clear if (shift.difference or 0) < 0]
    more = [PROBES[shift.probe].noun for shift in clear if (shift.difference or 0) > 0]
    if not clear:
        return "No difference from the single judge is told apart from chance", _after_holm(0, tested)
    parts = [f"less swayed by {_listed(less)}"] if less else []
    if more:
        parts.append(f"more by {_listed(more)}" if less else f"more swayed by {_listed(more)}")
    headline = ", ".join(parts)
    figures = " ".join(
        f"{PROBES[shift.probe].title} {shift.first_share:.2f} → {shift.second_share:.2f}, {p_text(shift.p_holm)}."
        for shift in clear
    )
    return headline[0].upper() + headline[1:], f"{figures[:-1]}{_after_holm(len(clear), tested)}"


def _after_holm(shown: int, tested: int) -> str:
    which = {0: "Tested", 1: ";", 2: "; both"}.get(shown, "; all")
    return f"{which} after Holm over {tested:,} probe{'s' if tested != 1 else ''}."


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
