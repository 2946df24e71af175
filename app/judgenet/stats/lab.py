"""All that a bias lab found: each bias of each judge, what differs between judges, and how alike they rank systems."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from judgenet.core.bias import PROBES
from judgenet.core.bias.lab import Game, Lab, ProbePlan
from judgenet.stats.agreement import sign_test
from judgenet.stats.bias import (
    COINS,
    Answers,
    Cell,
    Chance,
    Judge,
    Shift,
    biased_of,
    chance_of,
    codes_of,
    compared,
    holm,
    measure,
    shift_of,
)
from judgenet.stats.bias_words import headline_of, mood_and_words
from judgenet.stats.ranking_overlap import Overlap, mean_overlap, win_shares


@dataclass(frozen=True, slots=True)
class NamesEffect:
    """What real names change in a judge's order bias: the share first-first with names less without, on the pairs that
    count for both, with the exact test of the pairs that differ."""

    judge: str
    share_named: float | None
    share_plain: float | None
    difference: float | None
    n: int
    p: float | None


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """How alike raters rank the systems: average rank-biased overlap (p = 0.8, extrapolated) over instructions.

    ``raters`` are judges' ids and ``people``; ``overlaps`` holds each two of them once. ``shares`` are the systems'
    wins per appearance over all instructions.
    """

    systems: tuple[str, ...]
    raters: tuple[str, ...]
    overlaps: dict[tuple[str, str], Overlap]
    shares: dict[str, dict[str, float]]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LabResult:
    """What a lab found. ``headline`` and ``subline`` say it in words; ``shifts`` go from the single judge to the
    network and from layer to layer."""

    lab: Lab
    judges: tuple[Judge, ...]
    chances: dict[str, Chance]
    cells: tuple[Cell, ...]
    shifts: tuple[Shift, ...]
    names_effects: tuple[NamesEffect, ...]
    ranks: RankAgreement
    headline: str
    subline: str

    def cell(self, probe: str, judge: str) -> Cell:
        """A bias of a judge.

        :raises KeyError: it was not measured.
        """
        found = next((cell for cell in self.cells if cell.probe == probe and cell.judge == judge), None)
        if found is None:
            raise KeyError((probe, judge))
        return found

    def plan(self, probe: str) -> ProbePlan:
        """What a probe counts.

        :raises KeyError: it is not part of the lab.
        """
        found = next((plan for plan in self.lab.probes if plan.key == probe), None)
        if found is None:
            raise KeyError(probe)
        return found

    def shift(self, probe: str, first: str, second: str) -> Shift | None:
        """How a bias differs between two judges, ``None`` where they were not compared."""
        return next((s for s in self.shifts if (s.probe, s.first, s.second) == (probe, first, second)), None)


def evaluate(
    lab: Lab,
    judges: Sequence[Judge],
    answers: Mapping[str, Answers],
    *,
    coins: int = COINS,
    seed: int | None = None,
) -> LabResult:
    """Everything that a lab's answers say. ``answers`` are by judge."""
    seed = lab.settings.seed if seed is None else seed
    denominator = lab.settings.denominator
    chances = {
        plan.key: chance_of(
            PROBES[plan.key].rule,
            len(plan.items),
            len(plan.items[0].prompts) if plan.items else 0,
            PROBES[plan.key].chance(lab.settings),
            repetitions=coins,
            seed=seed,
        )
        for plan in lab.probes
    }
    rows: dict[str, list[Cell]] = {}
    for judge in judges:
        measured = [
            measure(plan, judge.id, answers[judge.id], denominator, chances[plan.key].analytic, seed)
            for plan in lab.probes
        ]
        corrected = holm([cell.p for cell in measured])
        rows[judge.id] = [replace(cell, p_holm=p) for cell, p in zip(measured, corrected, strict=True)]
    shifts: list[Shift] = []
    for first, second in compared(judges):
        some = [
            shift_of(plan, (first, answers[first]), (second, answers[second]), denominator, seed) for plan in lab.probes
        ]
        corrected = holm([shift.p for shift in some])
        shifts += [replace(shift, p_holm=p) for shift, p in zip(some, corrected, strict=True)]
    cells = []
    for judge in judges:
        for cell in rows[judge.id]:
            mood, words = mood_and_words(cell, chances[cell.probe], judge, judges, shifts, len(lab.probes))
            cells.append(replace(cell, mood=mood, words=words))
    headline, subline = headline_of(cells, judges, shifts)
    return LabResult(
        lab,
        tuple(judges),
        chances,
        tuple(cells),
        tuple(shifts),
        tuple(_names_effects(lab, judges, answers)),
        rank_agreement(lab.games, judges, answers),
        headline,
        subline,
    )


def _names_effects(lab: Lab, judges: Sequence[Judge], answers: Mapping[str, Answers]) -> list[NamesEffect]:
    """Compassion fade less order, on the pairs of both."""
    plans = {plan.key: plan for plan in lab.probes}
    if "order" not in plans or "compassion" not in plans:
        return []
    plain = {item.pair: item for item in plans["order"].items}
    named = [item for item in plans["compassion"].items if item.pair in plain]
    found = []
    for judge in judges:
        said = answers[judge.id]
        flags = [
            biased_of("both", codes_of(items, said), lab.settings.denominator)
            for items in (named, [plain[item.pair] for item in named])
        ]
        both = flags[0][1] & flags[1][1]
        with_names, without = flags[0][0] & both, flags[1][0] & both
        n = int(both.sum())
        if not n:
            found.append(NamesEffect(judge.id, None, None, None, 0, None))
            continue
        shares = int(with_names.sum()) / n, int(without.sum()) / n
        p = sign_test(int((with_names & ~without).sum()), int((without & ~with_names).sum()))
        found.append(NamesEffect(judge.id, *shares, shares[0] - shares[1], n, p))
    return found


# Rankings of systems


PEOPLE = "people"


def rank_agreement(games: Sequence[Game], judges: Sequence[Judge], answers: Mapping[str, Answers]) -> RankAgreement:
    """Rankings of the systems by wins per appearance, instruction by instruction, and how alike they are.

    A pair that is judged the same way in both orders is won; one with two valid answers that differ, or a tie, counts
    half for each.
    """
    systems = tuple(dict.fromkeys(name for game in games for name in (game.first, game.second)))
    if len(systems) < 2:
        return RankAgreement(systems, (), {}, {}, "the pairs name no two systems, or are not asked in both orders")
    played = {judge.id: _played(games, answers[judge.id]) for judge in judges}
    people = [
        (game.question, (game.first, game.second, {"a": 1.0, "b": 0.0, "tie": 0.5}[game.human]))
        for game in games
        if game.human is not None
    ]
    if people:
        played[PEOPLE] = people
    rankings: dict[str, dict[Hashable, dict[str, float]]] = {}
    for rater, rows in played.items():
        by_question: dict[Hashable, list[tuple[str, str, float]]] = {}
        for question, game in rows:
            by_question.setdefault(question, []).append(game)
        rankings[rater] = {question: win_shares(some) for question, some in by_question.items()}
    raters = tuple(rankings)
    overlaps = {
        (one, other): mean_overlap(rankings[one], rankings[other])
        for place, one in enumerate(raters)
        for other in raters[place + 1 :]
    }
    shares = {rater: win_shares([game for _, game in rows]) for rater, rows in played.items()}
    return RankAgreement(systems, raters, overlaps, shares)


def _played(games: Sequence[Game], answers: Answers) -> list[tuple[int, tuple[str, str, float]]]:
    found = []
    for game in games:
        said = [answers.get(prompt) for prompt in game.prompts]
        if None in said:
            continue
        first_wins = {("first", "second"): 1.0, ("second", "first"): 0.0}.get((said[0], said[1]), 0.5)  # type: ignore[arg-type]
        found.append((game.question, (game.first, game.second, first_wins)))
    return found
