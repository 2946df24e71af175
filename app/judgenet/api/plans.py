"""How many labelled pairs a comparison of two networks needs."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from judgenet.api.runs import Run
from judgenet.store.taught import fair_frame

if TYPE_CHECKING:
    from judgenet.figures.comparison_plan import RunPower


def labels_to_compare(
    first: Run | None = None,
    second: Run | None = None,
    *,
    difference: float = 0.03,
    power: float = 0.8,
    alpha: float = 0.05,
    discordance: float | None = None,
) -> RunPower:
    """How many labelled pairs show a ``difference`` of the accuracies of two networks with ``power``, by McNemar's
    exact test at ``alpha``.

    How often one alone of the two is right is measured on two recorded runs, or follows from the accuracy of the
    ``first`` for a second network that errs independently of it, or is ``discordance``, or, without any of these,
    assumed to be 0.2.

    :raises ValueError: a share outside its range.
    """
    from judgenet.figures.comparison_plan import run_power

    with ExitStack() as stack:
        runs = [stack.enter_context(run._open()) for run in (first, second) if run is not None]
        frames = [(store, fair_frame(store, info)) for store, info in runs]
        return run_power(*frames, difference=difference, power=power, alpha=alpha, discordance=discordance)
