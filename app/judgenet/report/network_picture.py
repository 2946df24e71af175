"""The picture of a network: pair and roles, layers in columns, vote, chair and verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from judgenet.core.aggregate import deciding
from judgenet.core.cascade import place_words, rule_at, stop_places, stop_rule_words
from judgenet.core.network import NetworkSpec, designed_role, designed_width, needs_roles
from judgenet.core.network_graph import design_graph
from judgenet.core.wording import aggregation_title, plural
from judgenet.report.charts import WIDTH
from judgenet.report.drawing import (
    LINE,
    Box,
    Drawing,
    Label,
    Path,
    PathStep,
    Shape,
    Token,
    curve,
    line,
    lines_around,
    of_theme,
    svg,
    wrapped,
)

_NODE_H, _TOP = 28.0, 28.0
_NODE_GAP = 8.0
_LEFT_OUT_W = 76.0
"""The width of the words that say how many layers are left out."""
_END_W, _OUT_W = 80.0, 88.0
_MOST_ROWS = 12
"""A layer with more neurons than this is drawn as a block of cells."""
_MOST_EDGES = 400
_CELL, _CELL_PITCH, _CELL_COLUMNS = 12.0, 14.0, 8
_MOST_LAYERS = 12


@dataclass(frozen=True, slots=True)
class _Column:
    """A layer in the picture: ``count`` neurons, drawn as ``cells`` where they are too many for names.

    ``names`` are those of the neurons in lines, and what follows them in an adaptive layer; each has ``h`` px.
    """

    layer: int
    count: int
    adaptive: bool
    x: float
    w: float
    names: tuple[list[str], ...]
    h: float

    @property
    def cells(self) -> bool:
        return self.count > _MOST_ROWS

    @property
    def rows(self) -> int:
        return ceil(self.count / _CELL_COLUMNS) if self.cells else self.count + self.adaptive

    @property
    def pitch(self) -> float:
        return self.h + _NODE_GAP

    @property
    def bottom(self) -> float:
        if self.cells:
            return _TOP + self.rows * _CELL_PITCH - (_CELL_PITCH - _CELL)
        return _TOP + self.rows * self.pitch - _NODE_GAP

    @property
    def right(self) -> float:
        return self.x + (_CELL_COLUMNS * _CELL_PITCH - 2 if self.cells else self.w)

    def port(self, neuron: int) -> float:
        if self.cells:
            return _TOP + (neuron // _CELL_COLUMNS) * _CELL_PITCH + _CELL / 2
        return _TOP + neuron * self.pitch + self.h / 2


def _columns(spec: NetworkSpec, most_width: float) -> tuple[list[_Column], float]:
    """The layers that are drawn, from left to right, and where the output begins."""
    shown = list(range(spec.depth))
    if spec.depth > _MOST_LAYERS:
        shown = [*range(_MOST_LAYERS - 2), spec.depth - 1]
    counts = {layer: designed_width(spec, layer) or 1 for layer in shown}
    gap = 32.0 if len(shown) <= 4 else 20.0
    gaps = [gap if after == before + 1 else _LEFT_OUT_W for before, after in pairwise(shown)]
    room = most_width - _END_W - _OUT_W - 2 * 32 - sum(gaps)
    node_w = max(24.0, min(112.0, room / len(shown)))
    names = {layer: _names(spec, layer, counts[layer], node_w) for layer in shown}
    # Nodes have the same height, so that neurons of a role are beside each other.
    most_lines = max(
        (len(lines) for layer in shown if counts[layer] <= _MOST_ROWS for lines in names[layer]), default=1
    )
    node_h = _NODE_H + (LINE - 1) * (most_lines - 1)
    x = _END_W + 32
    columns: list[_Column] = []
    for layer, room_after in zip(shown, [*gaps, gap], strict=True):
        column = _Column(layer, counts[layer], spec.layers[layer].adaptive, x, node_w, names[layer], node_h)
        columns.append(column)
        x = column.right + room_after
    return columns, x - gap + 32


def network_picture(spec: NetworkSpec, decides: str, most_width: float) -> Drawing:
    """The network at most ``most_width`` px wide. ``decides`` names the aggregation that is its verdict."""
    columns, out_x = _columns(spec, most_width)
    stacked = 2 + (spec.chair is not None)
    bottom = max([_TOP + stacked * _NODE_H + (stacked - 1) * 26, *(column.bottom for column in columns)])
    middle = (_TOP + bottom) / 2

    edges: list[Shape] = []
    nodes: list[Shape] = []
    start = _input(spec, nodes, middle)
    first = columns[0]
    if first.cells:
        edges.append(_band(_END_W, start, start, first.x, _TOP, first.bottom))
    else:
        edges += [Path(curve(_END_W, start, first.x, first.port(i)), "line2") for i in range(first.count)]
    for before, after in pairwise(columns):
        edges += _between(spec, before, after)
        nodes += _gate(spec, before, after)
    for column in columns:
        nodes += _neurons(spec, column)
    vote_y = _output(spec, decides, nodes, out_x, middle)
    last = columns[-1]
    if last.cells:
        edges.append(_band(last.right, _TOP, last.bottom, out_x, vote_y, vote_y))
    else:
        edges += [Path(curve(last.right, last.port(i), out_x, vote_y), "line2") for i in range(last.count)]
    # The text below a block of cells needs a line of its own.
    foot = 24 if any(column.cells for column in columns) else 2
    return Drawing(out_x + _OUT_W + 1, bottom + foot, (*edges, *nodes), network_words(spec, decides))


def network_svg(spec: NetworkSpec) -> str:
    """The network as an SVG file of its own, in the colours of the light theme."""
    return svg(network_picture(spec, deciding(spec), WIDTH), of_theme("light"), alone=True)


def network_words(spec: NetworkSpec, decides: str) -> str:
    """The network in one sentence."""
    widths = [designed_width(spec, layer) for layer in range(spec.depth)]
    as_many = f"as many neurons as {'criteria' if spec.roles.kind == 'criteria' else 'roles'}"
    layers = ", ".join(
        f"layer {place} of {as_many if width is None else plural(width, 'neuron')}"
        for place, width in enumerate(widths, 1)
    )
    roles = {
        "generated": "roles named by the model for each pair",
        "fixed": "fixed roles",
        "criteria": "the criteria of each pair as roles",
        "none": "no roles",
    }
    rules = "".join(
        f"; a pair is not asked further {place_words(spec, place)} where {stop_rule_words(rule)}"
        for place in stop_places(spec)
        if (rule := rule_at(spec, place)) is not None
    )
    return f"{spec.name}: {roles[spec.roles.kind]}, {layers}; verdict by {aggregation_title(decides)}{rules}"


def _box(
    x: float, y: float, w: float, lines: Sequence[str], *, dashed: bool = False, h: float = _NODE_H
) -> list[Shape]:
    color: Token = "text2" if dashed else "text"
    return [
        Box(x + 0.5, y + 0.5, w - 1, h - 1, 6, "surface", "line2", dash=(4, 3) if dashed else None),
        *lines_around(x + w / 2, y + h / 2, lines, color, "middle", 500),
    ]


def _input(spec: NetworkSpec, nodes: list[Shape], middle: float) -> float:
    """Adds pair and roles to ``nodes``; returns the y at which edges leave."""
    if spec.roles.kind == "none":
        nodes += _box(0, middle - _NODE_H / 2, _END_W, ["Pair"])
        return middle
    if needs_roles(spec):
        limit = spec.roles.limit
        widest = max((len(layer.neurons) for layer in spec.layers if not layer.adaptive), default=None)
        count = limit if limit is not None else None if any(layer.adaptive for layer in spec.layers) else widest
        text = "Roles" if count is None else plural(count, "role")
    elif spec.roles.kind == "criteria":
        text = "Criteria"
    else:
        text = plural(len(spec.roles.roles), "role")
    nodes += _box(0, middle - 41, _END_W, ["Pair"])
    nodes.append(Path(line(_END_W / 2, middle - 13, _END_W / 2, middle + 13), "line2"))
    nodes += _box(0, middle + 13, _END_W, wrapped(text, _END_W - 10, weight=500))
    return middle + 27


def _output(spec: NetworkSpec, decides: str, nodes: list[Shape], x: float, middle: float) -> float:
    """Adds vote, chair and verdict to ``nodes``; returns the y at which edges arrive."""
    vote = "c2_all" if decides == "chair" else decides
    texts = [aggregation_title(vote), *(["Chair"] if spec.chair is not None else []), "Verdict"]
    height = len(texts) * _NODE_H + (len(texts) - 1) * 18
    y = middle - height / 2
    for place, text in enumerate(texts):
        nodes += _box(x, y, _OUT_W, [text])
        if place < len(texts) - 1:
            nodes.append(Path(line(x + _OUT_W / 2, y + _NODE_H, x + _OUT_W / 2, y + _NODE_H + 18), "line2"))
            if texts[place + 1] == "Chair" and spec.chair is not None and spec.chair.gate is not None:
                nodes.append(_diamond(x + _OUT_W / 2, y + _NODE_H + 9))
        y += _NODE_H + 18
    return middle - height / 2 + _NODE_H / 2


def _neurons(spec: NetworkSpec, column: _Column) -> list[Shape]:
    title = f"Layer {column.layer + 1}" if column.w >= 56 else f"{column.layer + 1}"
    shapes: list[Shape] = [Label(column.x, 14, title, "text2")]
    if column.cells:
        for neuron in range(column.count):
            x = column.x + neuron % _CELL_COLUMNS * _CELL_PITCH
            y = _TOP + neuron // _CELL_COLUMNS * _CELL_PITCH
            shapes.append(Box(x + 0.5, y + 0.5, _CELL - 1, _CELL - 1, 2, "surface", "line2"))
        shapes.append(Label(column.x, column.bottom + 18, plural(column.count, "neuron"), "text2"))
        return shapes
    in_turn = spec.layers[column.layer].between is not None
    for place, lines in enumerate(column.names):
        if in_turn and place:
            y = _TOP + place * column.pitch - _NODE_GAP / 2
            shapes.append(Path(line(column.x + 6, y, column.x + column.w - 6, y), "text2", 1.5, (2, 2)))
        after = place >= column.count
        shapes += _box(column.x, _TOP + place * column.pitch, column.w, lines, dashed=after, h=column.h)
    return shapes


def _names(spec: NetworkSpec, layer: int, count: int, w: float) -> tuple[list[str], ...]:
    """The names of a layer's neurons in lines, and of what follows them where there are as many as roles.

    They are those of roles where all of them fit, else numbers.
    """
    neurons = range(count)
    roles = [designed_role(spec, layer, neuron) for neuron in neurons]
    kind = {"generated": "Role", "criteria": "Criterion"}.get(spec.roles.kind, "Neuron")
    numbered = [f"{kind} {neuron + 1}" for neuron in neurons]
    named = [numbered[neuron] if role is None else role.name for neuron, role in enumerate(roles)]
    each_text = "one a criterion" if spec.roles.kind == "criteria" else "one a role"
    more = [each_text] if spec.layers[layer].adaptive else []
    for texts in ([*named, *more], [*numbered, *more]):
        lines = tuple(wrapped(text, w - 10, weight=500) for text in texts)
        if w >= _NAMED_W and all(map(_fits, texts, lines)):
            return lines
    return tuple([text] for text in [*(str(neuron + 1) for neuron in neurons), *(["n"] if more else [])])


_NAMED_W = 56.0


def _fits(text: str, lines: Sequence[str]) -> bool:
    """Whether a name fits into a node: in at most two lines, with no word broken."""
    return len(lines) <= 2 and (not text.isascii() or " ".join(lines) == " ".join(text.split()))


def _between(spec: NetworkSpec, before: _Column, after: _Column) -> list[Shape]:
    if after.layer - before.layer > 1:
        at = (before.right + after.x) / 2
        left_out = after.layer - before.layer - 1
        return lines_around(at, _TOP + before.h / 2, [f"{left_out} more", "layers"], "text2", "middle")
    wired = design_graph(spec)
    reads = [
        [read for read in wired.inputs(after.layer, neuron) if read < before.count] for neuron in range(after.count)
    ]
    if before.cells or after.cells or sum(len(sources_read) for sources_read in reads) > _MOST_EDGES:
        return [_band(before.right, _TOP, before.bottom, after.x, _TOP, after.bottom)]
    others: list[Shape] = []
    own: list[Shape] = []
    for neuron, sources in enumerate(reads):
        for source in sources:
            own_earlier = source == neuron
            steps = curve(before.right, before.port(source), after.x, after.port(neuron))
            (own if own_earlier else others).append(Path(steps, "edge", 2.0 if own_earlier else 1.0))
    return [*others, *own]


def _gate(spec: NetworkSpec, before: _Column, after: _Column) -> list[Shape]:
    """The stop rule before a layer: a dashed line across the gap, with a diamond on it."""
    if spec.layers[after.layer].gate is None or after.layer - before.layer > 1:
        return []
    x, bottom = (before.right + after.x) / 2, max(before.bottom, after.bottom)
    return [Path(line(x, _TOP, x, bottom), "text2", 1.5, (2, 2)), _diamond(x, (_TOP + bottom) / 2)]


def _diamond(x: float, y: float) -> Path:
    steps: tuple[PathStep, ...] = (
        ("M", (x, y - 6)),
        ("L", (x + 6, y)),
        ("L", (x, y + 6)),
        ("L", (x - 6, y)),
        ("Z", ()),
    )
    return Path(steps, "text2", 1.5, fill="surface")


def _band(x1: float, top1: float, bottom1: float, x2: float, top2: float, bottom2: float) -> Path:
    """Many edges as one area."""
    middle = (x1 + x2) / 2
    fill: Token = "band"
    steps: tuple[PathStep, ...] = (
        *curve(x1, top1, x2, top2),
        ("L", (x2, bottom2)),
        ("C", (middle, bottom2, middle, bottom1, x1, bottom1)),
        ("Z", ()),
    )
    return Path(steps, "line", fill=fill)
