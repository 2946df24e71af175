"""Ready designs: the method of the paper, its baselines, and networks by width and depth as the command line names
them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from judgenet.core.network import (
    DEFAULTS,
    Aggregation,
    ChairSpec,
    LayerSpec,
    NetworkError,
    NetworkSpec,
    NeuronSpec,
    OrderSetting,
    Role,
    RoleKind,
    RolesSpec,
    Settings,
    Wiring,
)

_SIZE = re.compile(r"\s*(\d+|\*|n)\s*[x×]\s*(\d+)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Preset:
    """A ready design with its name for people and what it is for."""

    key: str
    title: str
    description: str
    spec: NetworkSpec


def network(
    width: int | None,
    depth: int,
    *,
    roles: RoleKind | Sequence[Role] = "generated",
    orders: OrderSetting = "both",
    samples: int = 1,
    wiring: Literal["full", "window"] = "full",
    window: int = 1,
    seed: int = 0,
    chair: bool = False,
    evidence: bool = True,
    settings: Settings | None = None,
    name: str | None = None,
) -> NetworkSpec:
    """A network of equal neurons.

    ``width=None`` makes every layer as wide as there are roles. ``roles`` given one by one are fixed: the first
    neuron of each layer takes the first. ``settings`` hold for all calls, their gaps filled from the defaults;
    ``samples`` is the number of calls per neuron and order.

    :raises NetworkError: for a width or depth below 1, and for a width that nothing decides.
    """
    kind: RoleKind = roles if isinstance(roles, str) else "fixed"
    fixed = () if isinstance(roles, str) else tuple(roles)
    if depth < 1:
        raise NetworkError(f"A network has one layer or more, not {depth}.")
    if width is not None and width < 1:
        raise NetworkError(f"A layer has one neuron or more, not {width}.")
    if width is None and kind == "none":
        raise NetworkError("Without roles nothing decides the width: give a number of neurons.")
    if kind == "fixed" and not fixed:
        raise NetworkError("Fixed roles must be given.")
    if width is not None and fixed and width > len(fixed):
        raise NetworkError(f"{width} neurons a layer need as many roles, but there are {len(fixed)}.")
    neurons = (NeuronSpec(),) * (width or 1)
    first = LayerSpec(neurons, adaptive=width is None)
    deeper = replace(first, wiring=Wiring(wiring, window))
    return NetworkSpec(
        layers=(first, *(deeper,) * (depth - 1)),
        roles=RolesSpec(kind, roles=fixed),
        orders=orders,
        seed=seed,
        settings=replace((settings or Settings()).over(DEFAULTS), samples=samples),
        chair=ChairSpec() if chair else None,
        evidence=evidence,
        name=name if name is not None else f"{width or 'n'}×{depth}",
    )


def size_name(spec: NetworkSpec) -> str:
    """The name of a network that has no other: "4×2", "n×2" where roles decide the width, "4+3" where widths differ."""
    widths = [str(layer.width or "n") for layer in spec.layers]
    return f"{widths[0]}×{spec.depth}" if len(set(widths)) == 1 else "+".join(widths)


def shape_name(spec: NetworkSpec) -> str:
    """The name that a network has until somebody names it: its size, and what else makes its shape: "3×2 with a
    chair", "1×1, scores only"."""
    chair = " with a chair" if spec.chair is not None else ""
    return f"{size_name(spec)}{chair}{'' if spec.evidence else ', scores only'}"


def renamed(spec: NetworkSpec, before: NetworkSpec) -> NetworkSpec:
    """The network after an edit, renamed where its name was the shape of ``before`` or that of a preset which it no
    longer is. A name that somebody gave stays, and so does one that the edit gives."""
    if spec.name != before.name or not _is_named_by_shape(before) or _is_preset(spec):
        return spec
    return replace(spec, name=shape_name(spec))


def _is_named_by_shape(spec: NetworkSpec) -> bool:
    """Whether nobody has named a network: it is called by its shape or its size, or as the preset that it was."""
    return spec.name in (shape_name(spec), size_name(spec)) or any(
        spec.name == preset.spec.name for preset in PRESETS.values()
    )


def _is_preset(spec: NetworkSpec) -> bool:
    """Whether a network is still the preset whose name it has, apart from its models and language."""
    named = (preset.spec for preset in PRESETS.values() if preset.spec.name == spec.name)
    return any(_bare(spec) == _bare(preset) for preset in named)


def _bare(spec: NetworkSpec) -> NetworkSpec:
    """A network without what is not part of its design: its models, the length of answers, seed and language."""

    def bare(settings: Settings) -> Settings:
        return replace(settings, endpoint=None, model=None, max_tokens=None)

    layers = tuple(
        replace(
            layer_spec,
            settings=bare(layer_spec.settings),
            neurons=tuple(replace(neuron, settings=bare(neuron.settings)) for neuron in layer_spec.neurons),
        )
        for layer_spec in spec.layers
    )
    return replace(
        spec,
        layers=layers,
        roles=replace(spec.roles, settings=bare(spec.roles.settings)),
        settings=bare(spec.settings),
        chair=None if spec.chair is None else replace(spec.chair, settings=bare(spec.chair.settings)),
        aggregation=Aggregation(),
        seed=0,
        language="auto",
        family="auto",
    )


def parse_size(text: str) -> tuple[int | None, int]:
    """Width and depth of a text such as ``4x2``; ``*x2`` leaves the width to the roles.

    :raises NetworkError: the text is not of that form, or a number is 0.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise NetworkError(f"{text!r} is no size: write width x depth, such as 4x2, or *x2 for a width by the roles.")
    width = None if match[1] in ("*", "n", "N") else int(match[1])
    depth = int(match[2])
    if width == 0 or depth == 0:
        raise NetworkError(f"{text!r} is no size: width and depth are 1 or more.")
    return width, depth


def panel(members: Sequence[Settings], *, depth: int = 1, roles: RoleKind | Sequence[Role] = "none") -> NetworkSpec:
    """A panel of judges: one neuron a member, each with an endpoint and model of its own."""
    base = network(len(members), depth, roles=roles, name="Panel")
    neurons = tuple(NeuronSpec(settings=member) for member in members)
    return replace(base, layers=tuple(replace(layer, neurons=neurons) for layer in base.layers))


PRESETS: dict[str, Preset] = {
    preset.key: preset
    for preset in (
        Preset(
            "single",
            "Single judge, scores only",
            "One call in one order, without evidence: the plain baseline that position bias distorts most.",
            network(1, 1, roles="none", orders="ab", evidence=False, name="Single judge, scores only"),
        ),
        Preset(
            "single-evidence",
            "Single judge with evidence",
            "One call in one order that gives its evidence before its scores.",
            network(1, 1, roles="none", orders="ab", name="Single judge with evidence"),
        ),
        Preset(
            "faireval",
            "FairEval, k = 3",
            "Three evidences in each of both orders, averaged (multiple evidence and balanced position calibration, "
            "arXiv 2305.17926).",
            network(1, 1, roles="none", samples=3, settings=Settings(temperature=1.0), name="FairEval, k = 3"),
        ),
        Preset(
            "jury",
            "Flat jury",
            "Eight roles side by side that do not read each other.",
            network(8, 1, name="Flat jury"),
        ),
        Preset(
            "widedeep",
            "WideDeep, two layers",
            "As many neurons as the model finds roles; the second layer reads the whole first (arXiv 2308.01862).",
            network(None, 2, name="WideDeep, two layers"),
        ),
        Preset(
            "widedeep-no-roles",
            "WideDeep without roles",
            "Two layers of four neurons that all ask the general question: shows what roles are worth.",
            network(4, 2, roles="none", name="WideDeep without roles"),
        ),
        Preset(
            "review",
            "Review with a chair",
            "Three reviewers judge blind, then discuss; a chair reads the discussion and decides.",
            network(3, 2, chair=True, name="Review with a chair"),
        ),
        Preset(
            "criteria",
            "One judge per criterion",
            "Each criterion that comes with a question becomes a judge, and its weight counts in the vote. For pairs "
            "with a column of criteria, a checklist or a rubric.",
            network(None, 1, roles="criteria", name="One judge per criterion"),
        ),
        Preset(
            "panel",
            "Panel of different models",
            "Three judges that ask the same question: give each an endpoint and model of its own.",
            panel((Settings(), Settings(), Settings())),
        ),
    )
}
"""Ready designs by key, the baselines first."""
