"""The rows of the grid of scores, and its cells in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from judgenet.core.calls import CallSite
from judgenet.core.evaluation import REASON_WORDS
from judgenet.core.network import Role, roles_vary
from judgenet.core.wording import score_text
from judgenet.engine.work import role_at
from judgenet.store.columns import CallState
from judgenet.store.frame import RunFrame
from judgenet.ui.canvas.model import DENSE
from judgenet.ui.run import texts
from judgenet.ui.text_view import one_line

FULL: Final = 5.0
"""A difference of at least so many points fills the height of a row."""
ROW: Final = 20
DENSE_ROW: Final = 4
LABELS: Final = 112


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row of the grid: a neuron, or the title of a layer, whose ``neuron`` is 0. Layer and neuron count from 1; ``y``
    and ``h`` are its top and height in px at 100 %."""

    layer: int
    neuron: int
    name: str
    y: float
    h: float

    @property
    def dense(self) -> bool:
        return self.h < ROW


def rows_of(table: RunFrame, names: dict[int, list[str]]) -> list[GridRow]:
    """The rows of a run's grid. ``names`` are the known names of neurons, by layer from 1."""
    rows: list[GridRow] = []
    y = 0.0
    depth = table.spec.depth
    for layer in range(1, depth + 1):
        width = table.width(layer)
        rows.append(GridRow(layer, 0, texts.layer(layer), y, ROW))
        y += ROW
        height = DENSE_ROW if width > DENSE else ROW
        known = names.get(layer, [])
        for neuron in range(1, width + 1):
            name = known[neuron - 1] if neuron <= len(known) else texts.judge(neuron)
            rows.append(GridRow(layer, neuron, name, y, height))
            y += height
    if table.spec.chair is not None:
        rows.append(GridRow(depth + 1, 1, texts.CHAIR, y, ROW))
    return rows


def cell_words(table: RunFrame, row: GridRow, pair: int, roles: Sequence[Role]) -> str:
    """A cell in words: the results of a neuron's calls on a pair, from 0. ``roles`` are those of the pair."""
    parts = [_call_words(site, state) for site, state in table.neuron(pair, row.layer, row.neuron)]
    difference = table.difference(pair, row.layer, row.neuron)
    if difference is not None:
        side = texts.A if difference > 0 else texts.B if difference < 0 else ""
        parts.append(texts.better_by(side, score_text(abs(difference))) if side else texts.TIED)
    where = texts.in_layer(row.layer) if row.layer <= table.spec.depth else texts.DECIDES
    name = _name_on(table, row, roles)
    return texts.grid_cell(name, where, pair + 1, ", ".join(parts) or texts.NOT_ASKED_IN_GRID)


def _call_words(site: CallSite, state: CallState) -> str:
    order = (site.order or "").upper()
    if state.phase == "scored" and state.score_a is not None:
        return texts.order_scores(order, score_text(state.score_a), score_text(state.score_b))
    if state.phase == "scored":
        return f"{order} {texts.TIE_WORD if state.verdict == 'tie' else (state.verdict or '').upper()}"
    if state.phase == "unscored":
        reason = REASON_WORDS[state.reason].lower() if state.reason is not None else texts.NO_EVALUATION
        return texts.order_unscored(order, reason)
    return f"{order} {state.phase}"


def _name_on(table: RunFrame, row: GridRow, roles: Sequence[Role]) -> str:
    """The name of a neuron on a pair, whose roles may differ from those of the pair in focus."""
    spec = table.spec
    if row.layer > spec.depth or not roles_vary(spec):
        return row.name
    role = role_at(spec, row.layer - 1, row.neuron - 1, tuple(roles))
    return one_line(role.name) if role is not None and role.name.strip() else texts.judge(row.neuron)
