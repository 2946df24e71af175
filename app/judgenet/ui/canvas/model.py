"""What the canvas shows, as frozen values without Qt. Its owner fills them; the canvas draws them and emits wishes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from judgenet.core.network import WiringKind
from judgenet.core.pairs import Order, Verdict
from judgenet.ui.canvas import texts

Phase = Literal["idle", "waiting", "asked", "writing", "scored", "unscored"]
"""Where a neuron is with the pair in focus; ``idle`` is the design, before any run."""

CanvasMode = Literal["design", "run"]

Part = Literal["pair", "roles", "vote", "chair", "verdict"]
"""The nodes other than neurons."""

VoteBox = Literal["a", "b", "tie", "unscored", "pending"]

CellColor = Literal["verdict", "state", "changed", "differ"]
"""What the cells of a dense layer are coloured by."""

DENSE = 24
"""A layer of more neurons is drawn as a block of cells."""

STRONG = 2.0
"""A verdict by so many points or more fills its cell strongly."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A neuron: its layer and its place in the layer, both 0-based."""

    layer: int
    neuron: int


Target: TypeAlias = Place | Part
"""A node of the canvas."""


@dataclass(frozen=True, slots=True)
class OrderState:
    """One order of a neuron, with scores mapped back to A and B.

    ``a`` and ``b`` are ``None`` where the answer gave a verdict only. ``unscored`` says in words why there is no
    evaluation; ``verdict`` is then ``None``.
    """

    a: float | None = None
    b: float | None = None
    verdict: Verdict | None = None
    unscored: str = ""


@dataclass(frozen=True, slots=True)
class NodeProblem:
    """A mistake in the design: what is wrong, and the words of the link that fixes it; empty where none can."""

    text: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class NeuronState:
    """A neuron as it is drawn.

    ``model`` and ``settings`` are lines of text for the design ("Temp. 0.7 · 1 sample"). ``orders`` are those in which
    it is asked; ``ab`` and ``ba`` are ``None`` until they are in. ``writing`` names the order whose evidence is being
    written. ``seconds`` is the time taken so far; ``since``, where set, is the ``time.monotonic()`` of the request and
    lets the canvas count by itself. ``changed_from`` is the verdict of this neuron in the layer before, where it was
    another one. ``reason`` says in words why it is unscored, ``note`` and ``note2`` are the two lines below
    ("Retried 3 times", "Not in the vote"). ``weight`` is that of a learned aggregation ("w 0.42"), empty where none is.
    ``stood_in`` says that a stand-in answered ("stand-in", "stand-in 1 of 2").
    """

    role: str
    model: str = ""
    settings: str = ""
    phase: Phase = "idle"
    orders: tuple[Order, ...] = ("ab", "ba")
    ab: OrderState | None = None
    ba: OrderState | None = None
    verdict: Verdict | None = None
    writing: Order | None = None
    seconds: float | None = None
    since: float | None = None
    changed_from: Verdict | None = None
    reason: str = ""
    note: str = ""
    note2: str = ""
    problem: NodeProblem | None = None
    weight: str = ""
    stood_in: str = ""

    def order(self, order: Order) -> OrderState | None:
        """What one order gave, ``None`` until it is in."""
        return self.ab if order == "ab" else self.ba

    @property
    def orders_differ(self) -> bool:
        """True where both orders have a verdict and the verdicts are not the same."""
        ab, ba = self.ab, self.ba
        return bool(ab and ba and ab.verdict and ba.verdict and ab.verdict != ba.verdict)

    @property
    def mean_scores(self) -> tuple[float, float] | None:
        """The mean scores of A and B over the orders with scores, ``None`` where there are none."""
        pairs = [(o.a, o.b) for o in (self.ab, self.ba) if o is not None and o.a is not None and o.b is not None]
        if not pairs:
            return None
        return sum(a for a, _ in pairs) / len(pairs), sum(b for _, b in pairs) / len(pairs)

    @property
    def by(self) -> float | None:
        """The margin of the verdict in points: the absolute difference of the mean scores."""
        scores = self.mean_scores
        return None if scores is None else abs(scores[0] - scores[1])

    @property
    def box(self) -> VoteBox:
        """The box of this neuron in the vote."""
        if self.phase == "scored" and self.verdict is not None:
            return self.verdict
        return "unscored" if self.phase == "unscored" else "pending"


@dataclass(frozen=True, slots=True)
class GateState:
    """A stop rule: ``rule`` is what decides a pair ("both orders agree"), ``share`` how many pairs go on ("28.4 %",
    empty where that is not known). ``words`` say all of it in a sentence. ``shares`` are, between neurons, those that
    are asked the second neuron, the third, and so on."""

    rule: str
    share: str = ""
    words: str = ""
    shares: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LayerState:
    """A layer and what it reads of the layer before.

    ``inputs`` holds the 0-based places that each neuron reads, ascending; nothing for the first layer. ``wiring`` and
    ``window`` say how they came about. ``adaptive`` layers have as many neurons as there are roles; their width cannot
    be changed. ``title`` defaults to "Layer n". ``worth`` is what its votes are worth by a recorded run, in words for
    the line below it, the longest first (the first that fits is shown), and ``worth_tip`` all of it. ``gate``
    stands before the layer, ``between`` between its neurons. ``widths`` is the width of an adaptive layer over the
    pairs that are loaded, in words, the longest first; empty where it is not known.
    """

    neurons: tuple[NeuronState, ...]
    inputs: tuple[tuple[int, ...], ...] = ()
    wiring: WiringKind = "full"
    window: int = 1
    adaptive: bool = False
    title: str = ""
    worth: tuple[str, ...] = ()
    worth_tip: str = ""
    gate: GateState | None = None
    between: GateState | None = None
    widths: tuple[str, ...] = ()

    @property
    def edge_count(self) -> int:
        """The number of edges from the layer before."""
        return sum(map(len, self.inputs))

    @property
    def wiring_word(self) -> str:
        """The wiring in a word: "full", "±1", "by hand"."""
        return {"full": "full", "window": f"±{self.window}", "explicit": texts.WIRED_BY_HAND}[self.wiring]

    @property
    def dense(self) -> bool:
        """True where the layer is drawn as a block of cells."""
        return len(self.neurons) > DENSE


@dataclass(frozen=True, slots=True)
class PairNodeState:
    """The pair in focus: title ("Pair 413"), question, and the lengths of the responses ("102 words").

    ``empty`` is said where there is no question ("Load pairs on the Data page").
    """

    title: str = texts.PAIR
    question: str = ""
    length_a: str = ""
    length_b: str = ""
    empty: str = ""


@dataclass(frozen=True, slots=True)
class RolesState:
    """Where the roles come from, in at most two lines, and a quiet note; ``count`` is shown at the right."""

    count: str = ""
    lines: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class VoteState:
    """The aggregation. ``rule`` is its symbol ("c2*(all)"), ``name`` what it is in plain words ("all layers");
    ``boxes`` hold what each neuron of each counted layer gave.

    ``votes`` are the totals for A, tie and B, ``None`` before a run; ``used`` of ``total`` neurons voted. ``note`` is a
    quiet line for the design ("A tied vote is a tie").
    """

    rule: str = "c2*(all)"
    titles: tuple[str, ...] = ()
    boxes: tuple[tuple[VoteBox, ...], ...] = ()
    votes: tuple[float, float, float] | None = None
    used: int | None = None
    total: int | None = None
    note: str = ""
    name: str = ""

    @property
    def bars(self) -> bool:
        """True where a layer is too wide for boxes: three bars with counts stand for all of them."""
        return any(len(row) > 8 for row in self.boxes)


@dataclass(frozen=True, slots=True)
class VerdictState:
    """The network's verdict on the pair in focus, beside people's.

    ``outstanding`` counts the neurons still to come; with a ``verdict`` they can no longer change it. ``leads`` is who
    is ahead meanwhile. ``note`` replaces the words that follow from these.
    """

    verdict: Verdict | None = None
    outstanding: int = 0
    leads: Verdict | None = None
    votes: tuple[float, float, float] | None = None
    note: str = ""
    human: Verdict | None = None


@dataclass(frozen=True, slots=True)
class NetworkState:
    """Everything on the canvas. ``chair`` is drawn as a neuron; ``editable`` shows the handles of the design."""

    layers: tuple[LayerState, ...]
    mode: CanvasMode = "design"
    pair: PairNodeState = field(default_factory=PairNodeState)
    roles: RolesState | None = field(default_factory=RolesState)
    vote: VoteState = field(default_factory=VoteState)
    verdict: VerdictState = field(default_factory=VerdictState)
    chair: NeuronState | None = None
    editable: bool = True
    chair_gate: GateState | None = None

    @property
    def shape(self) -> tuple[object, ...]:
        """What determines the layout: states of the same shape differ only in the texts of the nodes."""
        layers = tuple(
            (
                len(layer.neurons),
                layer.wiring,
                layer.window,
                layer.inputs,
                layer.adaptive,
                layer.title,
                layer.worth,
                layer.worth_tip,
                layer.widths,
            )
            for layer in self.layers
        )
        gates = (self.chair_gate, *((layer.gate, layer.between) for layer in self.layers))
        rows = tuple(len(row) for row in self.vote.boxes)
        return (layers, self.mode, self.editable, self.roles is None, self.chair is None, rows, self.lines, gates)

    @property
    def lines(self) -> tuple[int, int]:
        """How many lines the roles and the vote need below their titles."""
        roles = 0 if self.roles is None else len(self.roles.lines[:2]) + bool(self.roles.note)
        return roles, int(bool(self.vote.note or self.vote.used is not None))

    def neuron(self, place: Place) -> NeuronState:
        """The neuron at a place."""
        return self.layers[place.layer].neurons[place.neuron]

    def title(self, layer: int) -> str:
        """A layer's title."""
        return self.layers[layer].title or texts.layer(layer + 1)


@dataclass(frozen=True, slots=True)
class EdgeChange:
    """An edge that the user wants or no longer wants: neuron ``source`` of the layer before ``layer`` to ``target``."""

    layer: int
    source: int
    target: int
    connect: bool


@dataclass(frozen=True, slots=True)
class MenuRequest:
    """A context menu is wanted at a point of the screen (px), for what was under it and for the selection.

    ``target`` is ``None`` on the empty canvas. ``edge`` is set where an edge was hit, ``layer`` on a layer's header.
    """

    x: int
    y: int
    target: Target | None
    selection: frozenset[Place]
    edge: EdgeChange | None = None
    layer: int | None = None


def boxes_of(layers: tuple[LayerState, ...]) -> tuple[tuple[VoteBox, ...], ...]:
    """The boxes of a vote over all of these layers."""
    return tuple(tuple(neuron.box for neuron in layer.neurons) for layer in layers)


@dataclass(frozen=True, slots=True)
class VoteTally:
    """Counts over neurons: verdicts, unscored, and those still to come."""

    a: int
    tie: int
    b: int
    unscored: int
    pending: int

    @property
    def total(self) -> int:
        return self.a + self.tie + self.b + self.unscored + self.pending

    @property
    def scored(self) -> int:
        return self.a + self.tie + self.b


def tally(boxes: tuple[VoteBox, ...] | list[VoteBox]) -> VoteTally:
    """Counts the boxes of a layer."""
    counts = Counter(boxes)
    return VoteTally(counts["a"], counts["tie"], counts["b"], counts["unscored"], counts["pending"])
