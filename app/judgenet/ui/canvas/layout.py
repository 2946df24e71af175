"""Where everything on the canvas stands: plain arithmetic, in px at 100 %. The first row's top edge is y = 0.

Neuron i stands in row i of each layer, so that its own earlier evaluation runs straight. Layers of more than 24 neurons
are blocks of eight columns, filled row by row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from judgenet.ui.canvas import texts
from judgenet.ui.canvas.model import LayerState, NetworkState, Part, Place, Target, VoteState

NodeSize = Literal["full", "compact"]
"""The form that nodes have at 100 %: full, or compact for a small window."""

CELL: Final = 20
CELL_PITCH: Final = 22
CELL_COLUMNS: Final = 8
BLOCK_WIDTH: Final = CELL_COLUMNS * CELL_PITCH - (CELL_PITCH - CELL)

VOTE_ROWS: Final = 6
"""So many layers have a row of their own in the vote."""
VOTE_BOXES: Final = 4
"""So many boxes stand in a line of the vote."""

_FIRST: Final[tuple[Part, ...]] = ("pair", "roles")
_LAST: Final[tuple[Part, ...]] = ("vote", "chair", "verdict")

BAND_LIMIT: Final = 400
"""A pair of layers with more edges is drawn as a band."""


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle by its left top corner and its size."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def bottom(self) -> float:
        return self.y + self.h

    @property
    def middle(self) -> float:
        """The y of its middle."""
        return self.y + self.h / 2

    @property
    def center(self) -> tuple[float, float]:
        return self.x + self.w / 2, self.y + self.h / 2

    def contains(self, x: float, y: float) -> bool:
        return self.x <= x <= self.right and self.y <= y <= self.bottom

    def united(self, other: Rect) -> Rect:
        """The smallest rectangle around both."""
        x, y = min(self.x, other.x), min(self.y, other.y)
        return Rect(x, y, max(self.right, other.right) - x, max(self.bottom, other.bottom) - y)

    def grown(self, by: float) -> Rect:
        """This rectangle, larger by so much on each side."""
        return Rect(self.x - by, self.y - by, self.w + 2 * by, self.h + 2 * by)


@dataclass(frozen=True, slots=True)
class Metrics:
    """Sizes of the nodes and the spaces between them."""

    node_w: float
    node_h: float
    pitch: float
    gap: float
    stack_gap: float
    head: float
    """Baseline of the headers, above the first row (negative)."""


_METRICS: Final[dict[tuple[NodeSize, str], Metrics]] = {
    ("full", "design"): Metrics(176, 100, 116, 80, 24, -41),
    ("full", "run"): Metrics(176, 100, 112, 48, 20, -20),
    ("compact", "design"): Metrics(160, 52, 68, 72, 16, -41),
    ("compact", "run"): Metrics(160, 52, 68, 52, 12, -18),
}

BAR_ABOVE: Final = 24
BAR_HEIGHT: Final = 8
"""A dense layer's stacked bar: its top above the cells, and its height."""
FOOT_BELOW: Final = 52
"""Room for a dense layer's counts below its cells."""
WORTH_ABOVE: Final = 8
WORTH_HEIGHT: Final = 20
"""The line that says what a layer's votes are worth: the space above it, and its height."""


@dataclass(frozen=True, slots=True)
class LayerPlan:
    """Where one layer stands."""

    x: float
    w: float
    count: int
    dense: bool
    node_h: float
    pitch: float

    @property
    def rows(self) -> int:
        return math.ceil(self.count / CELL_COLUMNS) if self.dense else self.count

    @property
    def bottom(self) -> float:
        if not self.count:
            return 0
        if self.dense:
            return self.rows * CELL_PITCH - (CELL_PITCH - CELL)
        return (self.count - 1) * self.pitch + self.node_h

    @property
    def block(self) -> Rect:
        """The rectangle around the layer's nodes."""
        return Rect(self.x, 0, BLOCK_WIDTH if self.dense else self.w, self.bottom)

    def rect(self, neuron: int) -> Rect:
        """The node, or the cell, of a neuron."""
        if self.dense:
            row, column = divmod(neuron, CELL_COLUMNS)
            return Rect(self.x + column * CELL_PITCH, row * CELL_PITCH, CELL, CELL)
        return Rect(self.x, neuron * self.pitch, self.w, self.node_h)

    def port(self, neuron: int) -> float:
        """The y at which a neuron's edges end: the middle of its node, or of its row of cells."""
        if self.dense:
            return (neuron // CELL_COLUMNS) * CELL_PITCH + CELL / 2
        return neuron * self.pitch + self.node_h / 2

    @property
    def left(self) -> float:
        """The x at which edges arrive."""
        return self.x - (8 if self.dense else 0)

    @property
    def right(self) -> float:
        """The x at which edges leave."""
        return self.x + BLOCK_WIDTH + 4 if self.dense else self.x + self.w

    def at(self, x: float, y: float) -> int | None:
        """The neuron at a point, by arithmetic."""
        if not (self.x <= x <= self.x + self.w and 0 <= y <= self.bottom):
            return None
        if self.dense:
            column, row = int((x - self.x) // CELL_PITCH), int(y // CELL_PITCH)
            neuron = row * CELL_COLUMNS + column
            return neuron if column < CELL_COLUMNS and neuron < self.count else None
        row = int(y // self.pitch)
        return row if row < self.count and y - row * self.pitch <= self.node_h else None


@dataclass(frozen=True, slots=True)
class ColumnHeader:
    """A column's header: its title, left edge and width; ``layer`` is ``None`` for the ends."""

    title: str
    x: float
    w: float
    layer: int | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands."""

    base: NodeSize
    metrics: Metrics
    columns: tuple[ColumnHeader, ...]
    layers: tuple[LayerPlan, ...]
    parts: dict[Part, Rect]
    add_chair: Rect | None
    handles: tuple[Rect | None, ...]
    worths: tuple[Rect | None, ...]
    """Where it says what the votes of each layer are worth."""
    gaps: tuple[tuple[float, float], ...]
    """Left and right edge of each space between two columns, from left to right."""
    bounds: Rect
    head: float

    def rect_of(self, target: Target) -> Rect:
        """The node of a target."""
        if isinstance(target, Place):
            return self.layers[target.layer].rect(target.neuron)
        return self.parts[target]

    def targets(self) -> list[Target]:
        """All nodes in the order of reading: the input, layer by layer, the output."""
        neurons = [Place(number, i) for number, layer in enumerate(self.layers) for i in range(layer.count)]
        first = [part for part in _FIRST if part in self.parts]
        return [*first, *neurons, *(part for part in _LAST if part in self.parts)]

    def has(self, target: Target) -> bool:
        """Whether a target is on the canvas."""
        if isinstance(target, Place):
            return target.layer < len(self.layers) and target.neuron < self.layers[target.layer].count
        return target in self.parts

    def target_at(self, x: float, y: float) -> Target | None:
        """The node at a point."""
        for number, layer in enumerate(self.layers):
            neuron = layer.at(x, y)
            if neuron is not None:
                return Place(number, neuron)
        for part, rect in self.parts.items():
            if rect.contains(x, y):
                return part
        return None

    def input_port(self) -> tuple[float, float]:
        """Where the edges to the first layer begin."""
        rect = self.parts.get("roles", self.parts["pair"])
        return rect.right, rect.middle

    def step(self, target: Target, dx: int, dy: int) -> Target:
        """The node next to a target by column (``dx``) or row (``dy``); the target itself where there is none."""
        if isinstance(target, Place):
            return self._step_neuron(target, dx, dy)
        if dy:
            stack = self._stack(target)
            place = stack.index(target) + dy
            return stack[place] if 0 <= place < len(stack) else target
        middle = self.parts[target].middle
        if target in ("pair", "roles"):
            return self._nearest(0, middle, 0) if dx > 0 else target
        return self._nearest(len(self.layers) - 1, middle, CELL_COLUMNS - 1) if dx < 0 else target

    def _step_neuron(self, place: Place, dx: int, dy: int) -> Target:
        layer = self.layers[place.layer]
        if dy:
            neuron = place.neuron + dy * (CELL_COLUMNS if layer.dense else 1)
            return Place(place.layer, neuron) if 0 <= neuron < layer.count else place
        if layer.dense:
            column = place.neuron % CELL_COLUMNS + dx
            if 0 <= column < CELL_COLUMNS and place.neuron + dx < layer.count:
                return Place(place.layer, place.neuron + dx)
        middle = layer.port(place.neuron)
        number = place.layer + dx
        if number < 0:
            return self._nearest_part(_FIRST, middle)
        if number >= len(self.layers):
            return self._nearest_part(_LAST, middle)
        return self._nearest(number, middle, 0 if dx > 0 else CELL_COLUMNS - 1)

    def _nearest(self, number: int, y: float, column: int) -> Target:
        layer = self.layers[number]
        if layer.dense:
            row = min(layer.rows - 1, max(0, int(y // CELL_PITCH)))
            return Place(number, min(layer.count - 1, row * CELL_COLUMNS + column))
        row = round((y - layer.node_h / 2) / layer.pitch)
        return Place(number, min(layer.count - 1, max(0, row)))

    def _nearest_part(self, parts: tuple[Part, ...], y: float) -> Target:
        return min((part for part in parts if part in self.parts), key=lambda part: abs(self.parts[part].middle - y))

    def _stack(self, part: Part) -> list[Part]:
        stack = next(column for column in (_FIRST, _LAST) if part in column)
        return [p for p in stack if p in self.parts]


def compute(network: NetworkState, base: NodeSize = "full") -> Layout:
    """Places the nodes of a network. ``layers`` must not be empty."""
    metrics = _METRICS[base, network.mode]
    dense = any(layer.dense for layer in network.layers)
    design = network.mode == "design"
    narrow = dense and not design
    input_w, output_w, end_gap = (100.0, 140.0, 40.0) if narrow else (metrics.node_w, metrics.node_w, metrics.gap)
    gap = max(metrics.gap, 80) if dense else metrics.gap
    head = -56 if dense and not design else metrics.head

    layers = _layer_plans(network, metrics, input_w + end_gap, gap)
    x = layers[-1].x + layers[-1].w + end_gap
    parts = _input_parts(network, base, metrics, input_w, dense)
    parts |= _output_parts(network, base, metrics, x, output_w)
    add_chair = None
    if design and network.editable and network.chair is None:
        last = parts["verdict"]
        add_chair = Rect(x, last.bottom + 24, output_w, 40 if base == "full" else 36)

    columns = (
        ColumnHeader(texts.INPUT, 0, input_w),
        *(ColumnHeader(network.title(i), plan.x, plan.w, i) for i, plan in enumerate(layers)),
        ColumnHeader(texts.OUTPUT, x, output_w),
    )
    gaps = tuple((before.x + before.w, after.x) for before, after in pairwise(columns))
    handles = tuple(
        Rect(plan.x, plan.bottom + metrics.pitch - metrics.node_h, plan.w, 28)
        if design and network.editable and not state.adaptive
        else None
        for plan, state in zip(layers, network.layers, strict=True)
    )

    feet = (plan.bottom if handle is None else handle.bottom for plan, handle in zip(layers, handles, strict=True))
    worths = tuple(
        Rect(plan.x, foot + WORTH_ABOVE, plan.w, WORTH_HEIGHT) if design and state.worth else None
        for plan, foot, state in zip(layers, feet, network.layers, strict=True)
    )

    bounds = Rect(0, head - (20 if design else 14), x + output_w, 1)
    for rect in [*parts.values(), *(plan.block for plan in layers), add_chair, *handles, *worths]:
        if rect is not None:
            bounds = bounds.united(rect)
    if dense and not design:
        bounds = bounds.united(Rect(0, 0, 1, max(plan.bottom for plan in layers if plan.dense) + FOOT_BELOW))
    return Layout(base, metrics, columns, layers, parts, add_chair, handles, worths, gaps, bounds, head)


def _layer_plans(network: NetworkState, metrics: Metrics, x: float, gap: float) -> tuple[LayerPlan, ...]:
    """Where the layers stand, the first one at ``x``, with ``gap`` px between two."""
    plans = []
    for layer in network.layers:
        w = float(BLOCK_WIDTH) if layer.dense else metrics.node_w
        plans.append(LayerPlan(x, w, len(layer.neurons), layer.dense, metrics.node_h, metrics.pitch))
        x += w + gap
    return tuple(plans)


def _input_parts(
    network: NetworkState, base: NodeSize, metrics: Metrics, width: float, dense: bool
) -> dict[Part, Rect]:
    narrow = width < 140
    pair_h = 72.0 if narrow else 152.0 if base == "full" else 92.0
    parts: dict[Part, Rect] = {"pair": Rect(0, 0, width, pair_h)}
    if network.roles is not None:
        lines = len(network.roles.lines[:2])
        full = 48.0 + 20 * (lines + bool(network.roles.note)) + 12 * bool(network.roles.note)
        height = 72.0 if narrow else min(120.0, max(80.0, full)) if base == "full" else 36.0
        gap = 24.0 if narrow else metrics.stack_gap if base == "full" else 8.0
        parts["roles"] = Rect(0, pair_h + gap, width, height)
    return parts


def _output_parts(network: NetworkState, base: NodeSize, metrics: Metrics, x: float, width: float) -> dict[Part, Rect]:
    parts: dict[Part, Rect] = {"vote": Rect(x, 0, width, vote_height(network, base))}
    y = parts["vote"].bottom + metrics.stack_gap
    if network.chair is not None:
        parts["chair"] = Rect(x, y, width, metrics.node_h)
        y = parts["chair"].bottom + metrics.stack_gap
    design = network.mode == "design"
    height = 72.0 if base == "compact" else 88.0 if design else 104.0
    parts["verdict"] = Rect(x, y, width, height)
    return parts


def vote_lines(vote: VoteState) -> list[int]:
    """How many lines of boxes each shown layer needs in the vote."""
    return [max(1, math.ceil(len(row) / VOTE_BOXES)) for row in vote.boxes[:VOTE_ROWS]]


def vote_height(network: NetworkState, base: NodeSize) -> float:
    """Height of the vote's node."""
    vote = network.vote
    more = 20 if len(vote.boxes) > VOTE_ROWS and not vote.bars else 0
    foot = bool(vote.note) or vote.used is not None
    if network.mode == "design":
        rows = len(vote.boxes[:VOTE_ROWS]) if vote.bars else sum(vote_lines(vote))
        if base == "compact":
            return 48 + 32 + 24.0 * rows + more
        return 88 + 28.0 * rows + more + (40 if foot else 12)
    if vote.bars:
        return 128.0 + (20 if foot else 0)
    if base == "compact":
        return 40 + 28.0 * sum(vote_lines(vote)) + more + (24 if foot else 8)
    return 44 + sum(32.0 + 24 * (lines - 1) for lines in vote_lines(vote)) + more + 44 + (36 if foot else 0)


def edge_y(x: float, x0: float, x1: float, y0: float, y1: float) -> float:
    """The y of an edge at x: a cubic curve from (x0, y0) to (x1, y1) with its control points at half the gap.

    With t the curve's parameter, x grows as 1.5 t - 1.5 t² + t³ and y as 3 t² - 2 t³ over their spans.
    """
    share = min(1.0, max(0.0, (x - x0) / (x1 - x0)))
    low, high = 0.0, 1.0
    for _ in range(24):
        t = (low + high) / 2
        if 1.5 * t - 1.5 * t * t + t * t * t < share:
            low = t
        else:
            high = t
    t = (low + high) / 2
    return y0 + (y1 - y0) * (3 * t * t - 2 * t * t * t)


def is_band(layer: LayerState) -> bool:
    """Whether the edges into a layer from the one before are drawn as a band."""
    return layer.edge_count > BAND_LIMIT


def edge_at(
    layout: Layout, network: NetworkState, layer: int, x: float, y: float, reach: float
) -> tuple[int, int] | None:
    """The edge into ``layer`` (at least 1) that passes within ``reach`` of a point, as (source, target)."""
    before, after = layout.layers[layer - 1], layout.layers[layer]
    if not before.right < x < after.left:
        return None
    state = network.layers[layer]
    if is_band(state):
        return None
    share = edge_y(x, before.right, after.left, 0, 1)
    best: tuple[float, tuple[int, int]] | None = None
    for target in range(after.count):
        y1 = after.port(target)
        for source in state.inputs[target]:
            y0 = before.port(source)
            distance = abs(y0 + (y1 - y0) * share - y)
            if distance <= reach and (best is None or distance < best[0]):
                best = (distance, (source, target))
    return None if best is None else best[1]
