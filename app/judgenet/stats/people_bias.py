"""The biases of people who answered a lab's prompts, counted as those of judges are (as CoBBLEr did)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from judgenet.core.bias import PROBES
from judgenet.core.bias.lab import Lab, ProbePlan
from judgenet.stats.bias import NOT_ASKED, Answers, Cell, Judge, codes_of, measure
from judgenet.stats.bias_conclusions import judged
from judgenet.stats.multiple import holm

PEOPLE_JUDGE: Final = Judge("people", "People", "baseline")
"""People as a judge of a lab."""


@dataclass(frozen=True, slots=True)
class PeopleBias:
    """The biases of people in a lab: a cell a probe, whose items are pairs of a person and a pair of the probe
    with an answer to each of its prompts. ``pairs`` is how many different pairs these are, by probe. ``persons`` gave
    ``answers`` to ``prompts`` of ``prompts_total`` prompts."""

    cells: tuple[Cell, ...]
    pairs: Mapping[str, int]
    persons: tuple[str, ...]
    answers: int
    prompts: int
    prompts_total: int


def people_bias(lab: Lab, answers: Mapping[str, Answers]) -> PeopleBias | None:
    """The biases of people, whose ``answers`` are by person and prompt; ``None`` where nobody answered.

    A person who answers all prompts of a pair counts once for it. Several persons on one pair share its question, so
    that intervals and tests are over questions then.
    """
    import numpy as np

    persons = tuple(sorted(name for name, said in answers.items() if said))
    if not persons:
        return None
    tests = sum(PROBES[plan.key].has_rival for plan in lab.probes)
    cells, pairs = [], {}
    for plan in lab.probes:
        codes = np.concatenate([codes_of(plan.items, answers[name]) for name in persons])
        whole = ProbePlan(plan.key, plan.items * len(persons), plan.left_out)
        analytic = PROBES[plan.key].chance(lab.settings)
        settings = lab.settings
        cell = measure(
            whole, PEOPLE_JUDGE.id, codes, settings.denominator, analytic, settings.seed, settings.margin, tests
        )
        cells.append(cell)
        done = (codes != NOT_ASKED).all(axis=1)
        pairs[plan.key] = len({whole.items[place].pair for place in np.flatnonzero(done)})
    against_chance = holm([cell.p for cell in cells])
    of_net = holm([cell.net_p if PROBES[cell.probe].has_rival else None for cell in cells])
    results = [
        judged(replace(cell, p_holm=p, net_p_holm=net_p), PEOPLE_JUDGE, (PEOPLE_JUDGE,), (), lab.settings.margin)
        for cell, p, net_p in zip(cells, against_chance, of_net, strict=True)
    ]
    known = {prompt for plan in lab.probes for item in plan.items for prompt in item.prompts}
    given = [prompt for name in persons for prompt in answers[name] if prompt in known]
    return PeopleBias(tuple(results), pairs, persons, len(given), len(set(given)), len(known))
