"""What a design needs of its pairs and does not find there."""

from __future__ import annotations

from collections.abc import Sequence

from judgenet.core.checks import Problem
from judgenet.core.network import NetworkError, NetworkSpec
from judgenet.core.pairs import Pair
from judgenet.core.wording import of

_HOW_TO_MEND = (
    "Say which column holds them (--map criteria=COLUMN, or the import of page Data), give roles that stand in for "
    "them, or choose other roles."
)


def lacking_criteria(spec: NetworkSpec, pairs: Sequence[Pair]) -> str:
    """Why a network of neurons that judge by the pairs' criteria cannot judge these pairs, and how to mend it; empty
    where it can."""
    if spec.roles.kind != "criteria" or spec.roles.roles:
        return ""
    without = [pair for pair in pairs if not pair.criteria]
    if not without:
        return ""
    return (
        f"{of(len(without), len(pairs))} pairs have no criteria for the neurons to judge by, such as {without[0].id}. "
        f"{_HOW_TO_MEND}"
    )


def check_pairs(spec: NetworkSpec, pairs: Sequence[Pair]) -> tuple[Problem, ...]:
    """The problems that a design has with its pairs."""
    why = lacking_criteria(spec, pairs)
    if not why:
        return ()
    message, _, mend = why.partition(". ")
    return (Problem("error", "roles.kind", f"{message}.", mend),)


def require_judgeable(spec: NetworkSpec, pairs: Sequence[Pair]) -> None:
    """Raises :class:`NetworkError` where a design cannot judge some of these pairs."""
    why = lacking_criteria(spec, pairs)
    if why:
        raise NetworkError(why)
