"""What the votes of a run's neurons are worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from judgenet.core.network import neuron_settings
from judgenet.figures.base import Keys
from judgenet.stats.effective_votes import EffectiveVotes, effective_votes
from judgenet.stats.intervals import Interval
from judgenet.store.frame import RunFrame


@dataclass(frozen=True)
class VotesFigures:
    """How many independent votes a set of neurons is worth: n / (1 + (n - 1) rho), Kish's effective number."""

    value: Annotated[float | None, "n / (1 + (n - 1) rho), Kish's effective number of votes"]
    ci: Annotated[Interval | None, "over questions"]
    correlation: Annotated[float | None, "rho: the mean correlation over all pairs of neurons"]
    neurons: Annotated[int, "neurons of the set"]
    n: Annotated[int, "pairs that it rests on"]
    n_total: Annotated[int, "all pairs"]
    n_questions: Annotated[int, "questions of the pairs used"]
    n_missing: Annotated[
        int, "verdicts of these neurons missing on the pairs used: by errors not right, by verdicts left out"
    ]
    reason: str | None


@dataclass(frozen=True)
class PanelWorth:
    """What the votes of a network are worth, by the errors that its neurons share."""

    network: Annotated[
        VotesFigures,
        "how many independent votes all neurons are worth, by the correlation of their errors against human labels",
    ]
    verdicts: Annotated[
        VotesFigures,
        "the same by the correlation of their verdicts: needs no labels, and counts fewer votes than errors do",
    ]
    layers: Annotated[Mapping[str, VotesFigures], Keys(("LAYER",)), "the neurons of a layer, by errors"]
    models: Annotated[Mapping[str, VotesFigures], Keys(("NAME",)), "the neurons that ask one model, by errors"]
    layers_by_verdicts: Annotated[Mapping[str, VotesFigures], Keys(("LAYER",)), "the neurons of a layer, by verdicts"]
    models_by_verdicts: Annotated[
        Mapping[str, VotesFigures], Keys(("NAME",)), "the neurons that ask one model, by verdicts"
    ]


def panel_worth(frame: RunFrame, *, seed: int = 0) -> PanelWorth:
    """The effective votes of a run's network, layers and models."""
    models: dict[str, list[int]] = {}
    for column, (layer, neuron) in enumerate(frame.places):
        settings = neuron_settings(frame.spec, layer - 1, neuron - 1)
        models.setdefault(settings.model or settings.endpoint or "", []).append(column)

    @cache
    def worth(columns: tuple[int, ...], *, by_errors: bool = True) -> VotesFigures:
        return votes_figures(
            effective_votes(
                frame.neurons, frame.human, frame.questions, columns=columns, by_errors=by_errors, seed=seed
            )
        )

    every = tuple(range(len(frame.places)))
    layers = {f"l{layer}": tuple(frame.columns_of(layer).tolist()) for layer in range(1, frame.spec.depth + 1)}
    asking = {name: tuple(columns) for name, columns in models.items()}
    return PanelWorth(
        network=worth(every),
        verdicts=worth(every, by_errors=False),
        layers={name: worth(columns) for name, columns in layers.items()},
        models={name: worth(columns) for name, columns in asking.items()},
        layers_by_verdicts={name: worth(columns, by_errors=False) for name, columns in layers.items()},
        models_by_verdicts={name: worth(columns, by_errors=False) for name, columns in asking.items()},
    )


def layers_worth(frame: RunFrame, *, seed: int = 0) -> Mapping[int, tuple[str, VotesFigures]]:
    """What the votes of each layer of several neurons are worth, by layer from 1: by "errors", or by "verdicts" where
    no errors are known. A layer without a figure is left out."""
    worth: dict[int, tuple[str, VotesFigures]] = {}
    for layer in range(1, frame.spec.depth + 1):
        columns = frame.columns_of(layer).tolist()
        for basis in ("errors", "verdicts"):
            votes = effective_votes(
                frame.neurons, frame.human, frame.questions, columns=columns, by_errors=basis == "errors", seed=seed
            )
            if votes.value is not None:
                worth[layer] = (basis, votes_figures(votes))
                break
    return worth


def votes_figures(votes: EffectiveVotes) -> VotesFigures:
    """What a set of neurons is worth."""
    return VotesFigures(
        value=votes.value,
        ci=votes.interval,
        correlation=votes.correlation,
        neurons=votes.judges,
        n=votes.n,
        n_total=votes.n_total,
        n_questions=votes.n_questions,
        n_missing=votes.missing,
        reason=votes.reason or None,
    )
