"""The result of a bias lab: each bias of each judge, the differences between judges, and how alike they rank
systems."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from judgenet.core.bias import PROBES
from judgenet.core.bias.lab import Item, Lab, ProbePlan, SystemGame
from judgenet.core.pairs import Verdict
from judgenet.stats.agreement import sign_test_over_questions
from judgenet.stats.bias import (
    COINS,
    Answers,
    Cell,
    Chance,
    Judge,
    Shift,
    answer_of_sign,
    biased_of,
    chance_of,
    codes_of,
    codes_of_signs,
    compared,
    measure,
    outcome_of_signs,
    shift_of,
)
from judgenet.stats.bias_conclusions import headline_of, judged
from judgenet.stats.multiple import holm
from judgenet.stats.people_bias import PeopleBias
from judgenet.stats.ranking_overlap import Overlap, mean_overlap, overlap_among, overlap_of_means, scores_of, win_shares

if TYPE_CHECKING:
    from judgenet.stats.bias import Codes


@dataclass(frozen=True, slots=True)
class NamesEffect:
    """What real names change for a judge.

    The shares are those of first-first with names and without, on the pairs that count for both, with the exact sign
    test of the pairs (of the instructions, where pairs share them) that differ. ``own_named`` is how often its own
    system wins in both orders where the prompt says which that is, of ``own_n`` valid pairs. ``systems`` are the wins
    per appearance of each system with names and without."""

    judge: str
    share_named: float | None
    share_plain: float | None
    difference: float | None
    n: int
    p: float | None
    own_named: float | None
    own_n: int
    systems: dict[str, tuple[float | None, float | None]]


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """How alike raters rank the systems: average rank-biased overlap (p = 0.8, extrapolated) over instructions.

    ``raters`` are judges' ids, ``people``, ``at_once`` for orders that were asked for at once, and the ``others``:
    other networks that judged the same pairs, by the name of their lab, with their titles. ``overlaps`` holds
    each two of them once. ``shares`` are the systems' wins per appearance over all instructions. Where several
    ``persons`` labelled one by one, ``among_people`` is the mean of each two of them, and ``with_people`` that of a
    rater with each of them.
    """

    systems: tuple[str, ...]
    raters: tuple[str, ...]
    overlaps: dict[tuple[str, str], Overlap]
    shares: dict[str, dict[str, float]]
    reason: str = ""
    persons: int = 0
    among_people: Overlap | None = None
    with_people: dict[str, Overlap] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LabResult:
    """The result of a lab. ``headline`` and ``subline`` say it in words; ``shifts`` go from the single judge to the
    network and from layer to layer. ``people`` is what people answered to the same prompts, ``None`` where nobody
    did."""

    lab: Lab
    judges: tuple[Judge, ...]
    chances: dict[str, Chance]
    cells: tuple[Cell, ...]
    shifts: tuple[Shift, ...]
    names_effects: tuple[NamesEffect, ...]
    ranks: RankAgreement
    headline: str
    subline: str
    people: PeopleBias | None = None

    def cell(self, probe: str, judge: str) -> Cell:
        """A bias of a judge.

        :raises KeyError: it was not measured.
        """
        cells = self.cells if self.people is None else (*self.cells, *self.people.cells)
        match = next((cell for cell in cells if cell.probe == probe and cell.judge == judge), None)
        if match is None:
            raise KeyError((probe, judge))
        return match

    def plan(self, probe: str) -> ProbePlan:
        """What a probe counts.

        :raises KeyError: it is not part of the lab.
        """
        match = next((plan for plan in self.lab.probes if plan.key == probe), None)
        if match is None:
            raise KeyError(probe)
        return match

    def shift(self, probe: str, first: str, second: str) -> Shift | None:
        """How a bias differs between two judges, ``None`` where they were not compared."""
        return next((s for s in self.shifts if (s.probe, s.first, s.second) == (probe, first, second)), None)


def counted_pairs(result: LabResult) -> Iterator[dict[str, Any]]:
    """A record for every pair behind every bar: the answer to each prompt as the position that was chosen (``null``:
    unreadable), their outcome, and whether the pair counts and is biased."""
    for cell in result.cells:
        plan, probe = result.plan(cell.probe), PROBES[cell.probe]
        codes = codes_of_signs(cell.codes)
        biased, counted = biased_of(probe.rule, codes, result.lab.settings.denominator, probe.key)
        for place, (item, signs) in enumerate(zip(plan.items, cell.codes, strict=True)):
            outcome = outcome_of_signs(probe, signs)
            if outcome == "not_asked":
                continue
            yield {
                "probe": cell.probe,
                "judge": cell.judge,
                "pair_id": item.pair,
                "instruction": item.question + 1,
                "variety": item.variety or None,
                "prompts": list(item.prompts),
                "targets": list(item.targets),
                "answers": [answer_of_sign(sign, target) for sign, target in zip(signs, item.targets, strict=True)],
                "outcome": outcome,
                "counted": bool(counted[place]),
                "biased": bool(biased[place] and counted[place]),
            }


def evaluate(
    lab: Lab,
    judges: Sequence[Judge],
    answers: Mapping[str, Answers],
    *,
    coins: int = COINS,
    seed: int | None = None,
    orders: Mapping[int, Sequence[str]] | None = None,
    others: Sequence[tuple[Judge, Answers]] = (),
    watch: Callable[[], None] = lambda: None,
) -> LabResult:
    """Everything that a lab's answers say. ``answers`` are by judge; ``orders`` are rankings of systems, best first, by
    instruction, where a judge was asked for them at once. ``others`` are other networks, whose rankings of systems are
    compared. ``watch`` is called now and then, and may end it by an
    exception."""
    seed = lab.settings.seed if seed is None else seed
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
    codes = {judge.id: {plan.key: codes_of(plan.items, answers[judge.id]) for plan in lab.probes} for judge in judges}
    rows: dict[str, list[Cell]] = {}
    for judge in judges:
        watch()
        rows[judge.id] = _cells(lab, judge.id, codes[judge.id], chances, seed)
    shifts: list[Shift] = []
    for first, second in compared(judges):
        watch()
        shifts += _shifts(lab, (first, codes[first]), (second, codes[second]))
    cells = [judged(cell, judge, judges, shifts, lab.settings.margin) for judge in judges for cell in rows[judge.id]]
    headline, subline = headline_of(cells, judges, shifts, lab.settings.margin)
    return LabResult(
        lab,
        tuple(judges),
        chances,
        tuple(cells),
        tuple(shifts),
        tuple(_names_effects(lab, judges, answers)),
        rank_agreement(lab.games, judges, answers, orders or {}, others),
        headline,
        subline,
    )


def _cells(lab: Lab, judge: str, codes: Mapping[str, Codes], chances: Mapping[str, Chance], seed: int) -> list[Cell]:
    """The biases of a judge on all probes, with p corrected over these. ``codes`` are by probe."""
    rivals = sum(PROBES[plan.key].has_rival for plan in lab.probes)
    settings = lab.settings
    measured = [
        measure(
            plan,
            judge,
            codes[plan.key],
            settings.denominator,
            chances[plan.key].analytic,
            seed,
            settings.margin,
            rivals,
        )
        for plan in lab.probes
    ]
    against_chance = holm([cell.p for cell in measured])
    of_net = holm([cell.net_p if PROBES[cell.probe].has_rival else None for cell in measured])
    return [
        replace(cell, p_holm=p, net_p_holm=net_p)
        for cell, p, net_p in zip(measured, against_chance, of_net, strict=True)
    ]


def _shifts(lab: Lab, first: tuple[str, Mapping[str, Codes]], second: tuple[str, Mapping[str, Codes]]) -> list[Shift]:
    """The differences of two judges on all probes, with p corrected over these. Each is an id and its codes by
    probe."""
    (first_id, first_codes), (second_id, second_codes) = first, second
    shifts = [
        shift_of(
            plan,
            (first_id, first_codes[plan.key]),
            (second_id, second_codes[plan.key]),
            lab.settings.denominator,
        )
        for plan in lab.probes
    ]
    of_shares, of_verdicts = holm([shift.p for shift in shifts]), holm([shift.test for shift in shifts])
    return [
        replace(shift, p_holm=p, net_p_holm=net_p if shift.net_p is not None else None)
        for shift, p, net_p in zip(shifts, of_shares, of_verdicts, strict=True)
    ]


def _names_effects(lab: Lab, judges: Sequence[Judge], answers: Mapping[str, Answers]) -> list[NamesEffect]:
    """Compassion fade beside order, on the pairs of both."""
    plans = {plan.key: plan for plan in lab.probes}
    if "compassion" not in plans:
        return []
    plain = {item.pair: item for item in plans["order"].items} if "order" in plans else {}
    named = [item for item in plans["compassion"].items if item.pair in plain]
    return [_names_effect(lab, judge.id, answers[judge.id], named, plain) for judge in judges]


def _names_effect(lab: Lab, judge: str, said: Answers, named: Sequence[Item], plain: Mapping[str, Item]) -> NamesEffect:
    import numpy as np

    with_names, counted = biased_of("both", codes_of(named, said), lab.settings.denominator)
    without, also = biased_of("both", codes_of([plain[item.pair] for item in named], said), lab.settings.denominator)
    both = counted & also
    n = int(both.sum())
    share_named = share_plain = p = None
    if n:
        share_named, share_plain = int((with_names & both).sum()) / n, int((without & both).sum()) / n
        # Over instructions where pairs share them, as all tests of net effects.
        leads = with_names[both].astype(int) - without[both]
        questions = np.asarray([item.question for item in named], dtype=np.int64)
        p = sign_test_over_questions(questions[both], leads)
    own_hits = own_n = 0
    for game, won in _played(lab.games, said, named=True):
        own = (game.first in lab.settings.own, game.second in lab.settings.own)
        if own[0] != own[1]:
            own_n += 1
            own_hits += won == (1.0 if own[0] else 0.0)
    shares = [
        win_shares((game.first, game.second, won) for game, won in _played(lab.games, said, named=named_too))
        for named_too in (True, False)
    ]
    return NamesEffect(
        judge=judge,
        share_named=share_named,
        share_plain=share_plain,
        difference=None if share_named is None or share_plain is None else share_named - share_plain,
        n=n,
        p=p,
        own_named=own_hits / own_n if own_n else None,
        own_n=own_n,
        systems={name: (shares[0].get(name), shares[1].get(name)) for name in _systems(lab.games)},
    )


def _systems(games: Sequence[SystemGame]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for game in games for name in (game.first, game.second)))


# Rankings of systems


PEOPLE = "people"
AT_ONCE = "at_once"
"""Raters beside the judges: people, and a judge who was asked for an order of several systems at once."""


def rank_agreement(
    games: Sequence[SystemGame],
    judges: Sequence[Judge],
    answers: Mapping[str, Answers],
    orders: Mapping[int, Sequence[str]] | None = None,
    others: Sequence[tuple[Judge, Answers]] = (),
) -> RankAgreement:
    """Rankings of the systems by wins per appearance, instruction by instruction, and how alike they are.

    A pair that is judged the same way in both orders is won; one with two valid answers that differ, or a tie, counts
    half for each.
    """
    systems = _systems(games)
    said = {judge.id: answers[judge.id] for judge in judges} | {
        judge.id: rater_answers for judge, rater_answers in others
    }
    played = {
        rater: [(game.question, (game.first, game.second, won)) for game, won in _played(games, rater_answers)]
        for rater, rater_answers in said.items()
    }
    titles = {judge.id: judge.title for judge, _ in others}
    if len(systems) < 2 or not (any(played.values()) or orders):
        return RankAgreement(systems, (), {}, {}, "no pairs of two named systems were asked in both orders")
    people = _labelled((game, game.human) for game in games)
    if people:
        played[PEOPLE] = people
    rankings = {rater: _by_question(rows) for rater, rows in played.items()}
    if orders:
        rankings[AT_ONCE] = {question: scores_of(order) for question, order in orders.items()}
    raters = tuple(rankings)
    overlaps = {
        (first, second): mean_overlap(rankings[first], rankings[second]) for first, second in combinations(raters, 2)
    }
    shares = {rater: win_shares([game for _, game in rows]) for rater, rows in played.items()}
    persons = _person_rankings(games)
    if len(persons) < 2:
        return RankAgreement(systems, raters, overlaps, shares, others=titles)
    return RankAgreement(
        systems,
        raters,
        overlaps,
        shares,
        persons=len(persons),
        among_people=overlap_among(persons),
        with_people={
            rater: overlap_of_means(mean_overlap(rankings[rater], person) for person in persons)
            for rater in raters
            if rater != PEOPLE
        },
        others=titles,
    )


Played = list[tuple[int, tuple[str, str, float]]]
"""Games by instruction: two systems and what the first won."""


def _labelled(verdicts: Iterable[tuple[SystemGame, Verdict | None]]) -> Played:
    won: dict[Verdict, float] = {"a": 1.0, "b": 0.0, "tie": 0.5}
    return [(game.question, (game.first, game.second, won[said])) for game, said in verdicts if said is not None]


def _by_question(rows: Played) -> dict[Hashable, dict[str, float]]:
    by_question: dict[Hashable, list[tuple[str, str, float]]] = {}
    for question, game in rows:
        by_question.setdefault(question, []).append(game)
    return {question: win_shares(some) for question, some in by_question.items()}


def _person_rankings(games: Sequence[SystemGame]) -> list[Any]:
    """The rankings, by instruction, of each person who labelled pairs by name."""
    names = dict.fromkeys(name for game in games for name, _ in game.annotators)
    return [_by_question(_labelled((game, dict(game.annotators).get(name)) for game in games)) for name in names]


def _played(
    games: Sequence[SystemGame], answers: Answers, *, named: bool = False
) -> Iterator[tuple[SystemGame, float]]:
    """The games with two valid answers, and what the first system won: all, half, or nothing."""
    for game in games:
        first, second = (answers.get(prompt) for prompt in (game.named if named else game.prompts))
        if first is None or second is None:
            continue
        won = 1.0 if (first, second) == ("first", "second") else 0.0 if (first, second) == ("second", "first") else 0.5
        yield game, won
