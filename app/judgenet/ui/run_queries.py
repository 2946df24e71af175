"""What can be asked of the run in focus: its pairs, their verdicts and roles, and single calls."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject

from judgenet.core.aggregate import Opinion
from judgenet.core.calls import CallSite
from judgenet.core.evaluation import Evaluation, Unscored
from judgenet.core.network import NetworkSpec, Role, roles_vary
from judgenet.core.pairs import Order, Pair, Verdict
from judgenet.core.prompts import criteria_roles
from judgenet.store.columns import NOT_ASKED, CallState, PairPhase
from judgenet.store.frame import RunFrame
from judgenet.store.runs import (
    FullCall,
    RunInfo,
)
from judgenet.ui.document import Document
from judgenet.ui.run_reader import RunReader


class RunQueries(QObject):
    """Answers from the run's table and from what is under way; texts are read from the store when they are asked for.

    The object that keeps a run (:class:`~judgenet.ui.run_state.RunState`) fills it.
    """

    def __init__(self, document: Document, parent: QObject | None) -> None:
        super().__init__(parent)
        self._document = document
        self._reader = RunReader(document)
        self._table: RunFrame | None = None
        self.run: RunInfo | None = None
        self._live_id: str | None = None
        self._began: dict[CallSite, float] = {}
        self._texts: dict[CallSite, str] = {}
        self._roles: dict[int, tuple[tuple[Role, ...], str]] = {}

    @property
    def live(self) -> bool:
        """The run in focus goes on in this window."""
        return self.run is not None and self.run.id == self._live_id

    @property
    def spec(self) -> NetworkSpec | None:
        """The network of the run in focus."""
        return None if self._table is None else self._table.spec

    @property
    def table(self) -> RunFrame | None:
        """All calls and pairs of the run in short, for grids and figures over all pairs."""
        return self._table

    @property
    def pair_count(self) -> int:
        return 0 if self._table is None else len(self._table)

    def pair(self, index: int) -> Pair:
        """A pair of the run.

        :raises StoreError: it cannot be read.
        """
        pairs = self._document.pairs
        if (
            self.live
            and index < len(pairs)
            and self._table is not None
            and pairs[index].id == self._table.pairs.ids[index]
        ):
            return pairs[index]
        return self._reader.pair(index).pair

    def pair_id(self, index: int) -> str:
        return "" if self._table is None else self._table.pairs.ids[index]

    def human(self, index: int) -> Verdict | None:
        """What people said of a pair."""
        return None if self._table is None else self._table.human_label(index)

    def pair_state(self, index: int) -> PairPhase:
        return "open" if self._table is None else self._table.pair_state(index)

    def verdicts(self, index: int) -> dict[str, Verdict | None] | None:
        """The verdict of each aggregation (c1, c2_l1, …, c2_all, chair) on a finished pair, ``None`` before."""
        return None if self._table is None else self._table.verdicts(index)

    def roles(self, index: int) -> tuple[Role, ...] | None:
        """The roles of a pair, ``None`` before they are known."""
        spec = self.spec
        if spec is None:
            return None
        if spec.roles.kind == "criteria":
            return criteria_roles(self.pair(index)) or spec.roles.roles
        if spec.roles.kind != "generated":
            return spec.roles.roles if spec.roles.kind == "fixed" else ()
        if index in self._roles:
            return self._roles[index][0]
        return self._reader.pair(index).roles

    def roles_note(self, index: int) -> str:
        """Where the roles of a pair differ from the design."""
        if self.spec is None or not roles_vary(self.spec):
            return ""
        if index in self._roles:
            return self._roles[index][1]
        return "" if self._table is None else self._reader.pair(index).note

    def width(self, layer: int) -> int:
        """The most neurons that a layer (1 to depth) had on any pair so far, or as designed."""
        return 0 if self._table is None else self._table.width(layer)

    def call_state(self, site: CallSite) -> CallState:
        """One call in short, without asking the store."""
        return NOT_ASKED if self._table is None else self._table.call(site)

    def since(self, site: CallSite) -> float | None:
        """The time on :func:`~judgenet.ui.clock.monotonic` at which a call that is on its way was sent."""
        return self._began.get(site)

    @property
    def in_flight(self) -> Mapping[CallSite, float]:
        """The calls on their way, with the :func:`~judgenet.ui.clock.monotonic` at which each was sent."""
        return self._began

    def sites(self, index: int) -> list[CallSite]:
        """The calls of a pair that have begun, by layer, neuron, order and sample."""
        return [] if self._table is None else self._table.sites(index)

    def opinions(self, index: int) -> list[Opinion]:
        """The calls of a pair that are in, for aggregation; evidence is left empty."""
        return [] if self._table is None else self._table.opinions(index)

    def difference(self, index: int, layer: int, neuron: int, order: Order | None = None) -> float | None:
        """Score of A minus score of B of a neuron on a pair: the mean over its valid calls (of one order or all)."""
        return None if self._table is None else self._table.difference(index, layer, neuron, order)

    def call(self, site: CallSite) -> FullCall | None:
        """All that is kept of a finished call, read from the store; ``None`` before it is finished.

        :raises StoreError: the store cannot be read.
        """
        return self._reader.call(site) if self.call_state(site).finished else None

    def result(self, site: CallSite) -> Evaluation | Unscored | None:
        """What a finished call says, with its evidence or the detail of its reason; ``None`` before it is finished.

        :raises StoreError: the store cannot be read.
        """
        return self._reader.result(site) if self.call_state(site).finished else None

    def live_text(self, site: CallSite) -> str:
        """What has been written so far of an answer that is being written."""
        return self._texts.get(site, "")
