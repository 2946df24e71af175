"""The design of a judge network: frozen values, edited by pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Literal, get_args

from judgenet.core.documents import DocumentError, kind_of
from judgenet.core.extra_fields import EXTRA
from judgenet.core.pairs import VERDICTS
from judgenet.core.reasoning import Reasoning
from judgenet.core.values import Codec, member, simple

OrderSetting = Literal["both", "ab", "ba", "random"]
RoleKind = Literal["generated", "fixed", "none", "criteria"]
WiringKind = Literal["full", "window", "explicit"]
Language = Literal["auto", "en", "zh"]
LearnedKind = Literal["nonnegative", "any_sign", "dawid_skene", "ising"]
VoteSetting = Literal["neuron", "call"]
TieSetting = Literal["abstain", "candidate"]
FallbackSetting = Literal["tie", "c1"]
ScoresSetting = Literal["text", "probabilities"]
StopWhen = Literal["decided", "orders_agree", "neurons_agree", "margin", "difference"]
Confidence = Literal["calls", "orders", "neurons", "samples", "margin", "learned", "entropy"]
"""The measures of how sure a verdict is: the share of the valid calls that give it; the same where both orders give
it, else 0; the share of the neurons that give it; how alike a neuron's samples are; how far apart the scores are; the
learned probability that it is right; or how little entropy the probabilities of the verdicts have."""


class NetworkError(ValueError):
    """A design that cannot run; the message says where it is wrong and how to mend it."""


def _place(value: Any, path: str, _strict: bool) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        shown = value if isinstance(value, int) else kind_of(value)
        raise DocumentError(
            path,
            f"must be the place of a neuron in the layer before, counted from 0, but is {shown}; "
            "edges lead from a layer to the next one only",
        )
    return value


def _from_1(value: Any, path: str, _strict: bool) -> int:
    count: int = simple(int, value, path)
    if count < 1:
        raise DocumentError(path, "must count from 1")
    return count


CountedFrom1 = Annotated[int, Codec(_from_1, int, {"type": "integer", "minimum": 1})]
Real = Annotated[float, Codec(lambda value, path, _: simple(float, value, path), float, {"type": "number"})]
"""A number that is written with a point."""

PlaceIndex = Annotated[int, Codec(_place, lambda place: place, {"type": "integer", "minimum": 0})]
"""A place in a layer, from 0."""


STAND_IN_AFTER_S = 120.0
"""How long an endpoint may be out of reach before a stand-in is asked, where nothing else is said."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """A model that is asked in place of a neuron's own: when its endpoint has stopped (wrong key, quota, unknown
    model), or has not been reached for ``after`` seconds. The record of each call says who answered it."""

    endpoint: str = member(says="The name of an endpoint.")
    model: str | None = member(None, says="The model that is asked; null: the endpoint's own.")
    after: float = member(
        STAND_IN_AFTER_S,
        written="changed",
        at_least=0,
        real=True,
        unit=" seconds",
        says="Seconds that the neuron's endpoint may be out of reach before this one is asked.",
    )
    extra: str | None = member(
        None, written="changed", codec=EXTRA, says="Further fields of the request, for this endpoint."
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """How a call is made. ``None`` inherits: neuron from layer, layer from network.

    ``temperature="default"`` leaves the parameter out, so that the endpoint's own default holds.
    ``max_tokens`` limits the answer; ``samples`` is the number of calls per order (FairEval's k). ``stand_in`` are the
    models that are asked, the first that can be, when the endpoint stops; an empty tuple inherits none.
    ``reasoning`` says how much a model thinks before it answers; the room for it comes on top of ``max_tokens``.
    ``extra`` has further fields of the request as canonical JSON text (:mod:`judgenet.core.extra_fields`).
    ``scores="probabilities"`` asks for token probabilities and takes expected scores, where ``None`` means ``"text"``,
    the scores as written (:mod:`judgenet.core.probabilities`).
    """

    endpoint: str | None = member(None, says="The name of an endpoint.")
    model: str | None = member(None, says="The model that is asked.")
    temperature: float | Literal["default"] | None = member(
        None, real=True, says="From 0 to 2; default leaves it to the endpoint."
    )
    max_tokens: int | None = member(None, says="The most tokens of an answer.", schema={"minimum": 1})
    samples: int | None = member(None, says="Calls per order.", schema={"minimum": 1})
    stand_in: tuple[StandIn, ...] | None = member(
        None, written="changed", says="Models that are asked, in this order, when the endpoint stops; [] for none."
    )
    reasoning: Reasoning | None = member(
        None, says="How much it thinks: an effort, or the most thinking tokens; default leaves it to the endpoint."
    )
    extra: str | None = member(None, codec=EXTRA, says="Further fields of the request, for this endpoint.")
    scores: ScoresSetting | None = member(
        None,
        says="text: the scores as written. probabilities: expected scores from token probabilities.",
        written="changed",
    )

    def over(self, base: Settings) -> Settings:
        """These settings with the gaps filled from ``base``."""
        # Most levels set nothing, and each neuron of each pair asks for its settings.
        if self == _NOTHING_SET:
            return base
        own = {name: value for name in _SETTINGS if (value := getattr(self, name)) is not None}
        return replace(base, **own)


_SETTINGS = tuple(member_field.name for member_field in fields(Settings))
_NOTHING_SET = Settings()


def stand_ins(settings: Settings) -> tuple[Settings, ...]:
    """The settings of the calls that go to stand-ins, in their order: those of the original call with the stand-in's
    endpoint, model and further fields."""
    return tuple(
        replace(settings, endpoint=stand_in.endpoint, model=stand_in.model, extra=stand_in.extra, stand_in=None)
        for stand_in in settings.stand_in or ()
    )


@dataclass(frozen=True, slots=True)
class Role:
    """A perspective from which a neuron judges."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class NeuronSpec:
    """One judge of a layer.

    ``role`` overrides the role that the network's roles would give it. ``inputs`` are the 0-based
    places in the layer before that it reads, used where the layer's wiring is ``explicit``.
    """

    role: Role | None = member(None, says="A role of its own, in place of the network's for its place.")
    settings: Settings = member(factory=Settings, written="changed")
    inputs: tuple[PlaceIndex, ...] | None = member(None, says="The places in the layer before that it reads, from 0.")


@dataclass(frozen=True, slots=True)
class Wiring:
    """What the neurons of a layer read of the layer before.

    ``full``: all (the paper). ``window``: the neurons at most ``window`` places away (the script: 1).
    ``explicit``: each neuron's ``inputs``.
    """

    kind: WiringKind = "full"
    window: int = member(1, says="With window wiring: so many places to each side.", schema={"minimum": 1})


@dataclass(frozen=True, slots=True)
class StopRule:
    """When a pair is decided early, so that nothing more is asked of it.

    ``decided``: no voter that is left can change the vote of all. ``orders_agree`` and ``neurons_agree``: those of the
    layer that was asked last agree. ``margin``: its leader is ``at_least`` votes ahead. ``difference``: its mean scores
    are ``at_least`` points apart. A missing verdict is never agreement; see :mod:`judgenet.core.cascade`.
    """

    when: StopWhen
    at_least: float | None = member(
        None, says="With margin: votes. With difference: points between the mean scores.", above=0, real=True
    )

    @property
    def text(self) -> str:
        """The rule as it is written on the command line: ``orders-agree``, ``margin>=2``."""
        name = self.when.replace("_", "-")
        return name if self.at_least is None else f"{name}>={self.at_least:g}"

    def faults(self) -> Iterator[tuple[str, str]]:
        """What is wrong with it, by member."""
        needs = self.when in ("margin", "difference")
        if needs and self.at_least is None:
            yield "at_least", f"is missing: {self.when} needs a number above 0"
        elif not needs and self.at_least is not None:
            yield "at_least", f"must be left out: {self.when} has no number"


@dataclass(frozen=True, slots=True)
class LayerSpec:
    """Neurons that work side by side.

    An ``adaptive`` layer holds exactly one neuron, the pattern for as many as there are roles. With ``gate`` and
    ``between`` pairs may be decided early (:mod:`judgenet.core.cascade`); with ``between`` its neurons are asked one
    after another, in their order.
    """

    neurons: tuple[NeuronSpec, ...]
    adaptive: bool = member(False, says="As wide as there are roles; the layer then has one neuron, the pattern.")
    wiring: Wiring = field(default_factory=Wiring)
    settings: Settings = field(default_factory=Settings)
    gate: StopRule | None = member(None, says="Pairs that fulfil this rule are decided before this layer is asked.")
    between: StopRule | None = member(
        None, says="Its neurons are asked one after another, until a pair fulfils this rule."
    )

    @property
    def width(self) -> int | None:
        """Number of neurons, ``None`` where the roles decide."""
        return None if self.adaptive else len(self.neurons)


@dataclass(frozen=True, slots=True)
class RolesSpec:
    """Where roles come from.

    ``generated``: the model names them for each pair, at most ``limit`` (``None``: as many as it finds).
    ``fixed``: ``roles``, the same for each pair. ``none``: all neurons ask the general question. ``criteria``: those
    that come with the pair, one neuron a criterion; it is judged with the criterion's weight.
    With ``generated`` and ``criteria``, ``roles`` is the fallback where a pair has none.
    """

    kind: RoleKind = "generated"
    limit: int | None = member(None, says="The most roles that are generated.", schema={"minimum": 1})
    roles: tuple[Role, ...] = member((), says="Fixed roles, or those used for a pair that has none.")
    settings: Settings = field(default_factory=lambda: Settings(temperature=0.0))


@dataclass(frozen=True, slots=True)
class ChairSpec:
    """One more neuron that reads the last layer and decides."""

    settings: Settings = field(default_factory=Settings)
    gate: StopRule | None = member(None, says="Pairs that fulfil this rule are decided without the chair.")


@dataclass(frozen=True, slots=True)
class NeuronWeight:
    """What a learned rule holds of one neuron; ``layer`` and ``neuron`` count from 1, ``role`` is the role that it has
    on every pair.

    ``weight`` is that of a logistic rule; with Dawid and Skene the log odds by which its vote for A speaks for A, and
    ``table`` then has the shares of its verdicts (columns) by what is true (rows), both in the order A, B, tie. In an
    Ising model ``weight`` is that log odds beside the couplings to the other neurons, and ``tie_weight`` the log odds
    by which a verdict A or B speaks against a tie.
    """

    layer: CountedFrom1
    neuron: CountedFrom1
    role: str | None
    weight: Real
    table: tuple[tuple[float, ...], ...] = member((), written="changed")
    tie_weight: Real = member(0.0, written="changed")


@dataclass(frozen=True, slots=True)
class LearnedRule:
    """A way to join the neurons that was learned from a run (statistics 5.9).

    ``kind``: logistic regression with weights of 0 or more, or of any sign; Dawid and Skene's estimate, which needs
    no labels and has shares of the true classes A, B, tie in ``prior``; or an Ising model of neurons that depend on one
    another (:mod:`judgenet.stats.ising`), with the log odds against a tie where every neuron calls one in ``tie_odds``
    (``None``: no label was a tie). ``widths`` are the neurons of the layers that
    it was learned from (``None``: as many as roles), ``network`` the hash of that design. ``run`` and ``data`` (the
    hash of its pairs), ``labels`` (how many), ``seed``, ``penalty`` (C) and ``made`` (a date) say where it comes from.
    ``pairs`` has the first 8 hex digits of the content hash of each pair that it was learned from, one after another:
    on these, figures take cross-fitted verdicts (:mod:`judgenet.store.taught`). ``decides`` makes its verdict the
    network's.
    """

    kind: LearnedKind
    neurons: tuple[NeuronWeight, ...]
    widths: tuple[PlaceIndex | None, ...]
    prior: tuple[float, ...] = member((), written="changed")
    tie_odds: float | None = member(None, written="changed")
    run: str = ""
    data: str = ""
    network: str = ""
    labels: int = 0
    seed: int = 0
    penalty: float | None = None
    made: str = ""
    pairs: str = ""
    decides: bool = False

    def faults(self) -> Iterator[tuple[str, str]]:
        """What is wrong with it, by member."""
        if not self.neurons:
            yield "neurons", "is empty: a learned rule needs a neuron"
        if len({(neuron_weight.layer, neuron_weight.neuron) for neuron_weight in self.neurons}) < len(self.neurons):
            yield "neurons", "has a neuron twice"
        for place, neuron_weight in enumerate(self.neurons):
            if self.kind == "nonnegative" and neuron_weight.weight < 0:
                problem = f"must be 0 or more for weights that are not negative, but is {neuron_weight.weight}"
                yield f"neurons[{place}].weight", problem
            if self.kind == "dawid_skene":
                table = f"neurons[{place}].table"
                if len(neuron_weight.table) != len(VERDICTS):
                    yield table, "must have three rows: what a neuron says where A, B and the tie are true"
                for row, shares in enumerate(neuron_weight.table):
                    if not _are_shares(shares):
                        yield f"{table}[{row}]", _SHARES
        if self.kind == "dawid_skene" and not _are_shares(self.prior):
            yield "prior", _SHARES


_SHARES = "must be three shares that add up to 1, for A, B and the tie"


def _are_shares(values: tuple[float, ...]) -> bool:
    return len(values) == len(VERDICTS) and min(values) >= 0 and abs(sum(values) - 1) <= 1e-6


@dataclass(frozen=True, slots=True)
class AcceptanceRule:
    """Which verdicts are accepted without people: those of ``aggregation`` whose ``confidence`` is at least
    ``threshold``. The others are for people: the network abstains.

    The threshold was chosen from ``labels`` labelled pairs of ``run`` (``data`` is the hash of its pairs) so that, with
    probability 1 - ``delta`` over the labels, at most a share ``alpha`` of the accepted verdicts is wrong
    (:mod:`judgenet.stats.guarantee`). ``accepted`` of them were accepted, ``errors`` of these wrong. ``network`` is the
    hash of the design and ``made`` a date. ``vote``, ``ties``, ``fallback`` and ``quorum`` are the rules of the vote
    that the promise was made for; of learned verdicts ``weights`` is the hash of what was learned
    (:func:`judgenet.core.acceptance.weights_hash`). ``learned`` has the weights of the confidence ``learned``.
    """

    aggregation: str
    confidence: Confidence
    threshold: Real
    alpha: Real
    delta: Real
    labels: int = 0
    accepted: int = 0
    errors: int = 0
    run: str = ""
    data: str = ""
    network: str = ""
    made: str = ""
    vote: VoteSetting = "neuron"
    ties: TieSetting = "abstain"
    fallback: FallbackSetting = "tie"
    quorum: int | None = member(None, written="changed")
    weights: str = member("", written="changed")
    learned: LearnedRule | None = member(None, written="changed")

    def faults(self) -> Iterator[tuple[str, str]]:
        """What is wrong with it, by member."""
        for name, share in (("alpha", self.alpha), ("delta", self.delta)):
            if not 0 < share < 1:
                yield name, f"must be a share between 0 and 1, but is {share:g}"
        if self.aggregation in ("", "accepted"):
            yield "aggregation", "must name the verdicts that are accepted, such as c2_all"
        if (self.confidence == "learned") != (self.learned is not None):
            yield "learned", "must hold the weights of the confidence learned, and is absent with any other"
        elif self.learned is not None and self.learned.kind in ("dawid_skene", "ising"):
            yield "learned.kind", "must be nonnegative or any_sign"
        for name, count in (("labels", self.labels), ("accepted", self.accepted), ("errors", self.errors)):
            if count < 0:
                yield name, f"must be 0 or more, but is {count}"


@dataclass(frozen=True, slots=True)
class Aggregation:
    """The rules that the sources leave open (statistics 1.2), the default first.

    ``vote``: one vote a neuron (orders merged) or one a call. ``ties``: tied voters abstain, or the tie
    is a candidate. ``fallback``: what a tied vote gives: a tie, or the average's verdict. ``learned`` is one more way
    to join the neurons, beside averages and votes. ``acceptance`` says which verdicts are accepted without people.
    ``quorum``: with fewer neurons that have a valid answer there is no verdict
    (:func:`~judgenet.core.aggregate.aggregate`).
    """

    vote: VoteSetting = "neuron"
    ties: TieSetting = "abstain"
    fallback: FallbackSetting = "tie"
    learned: LearnedRule | None = None
    acceptance: AcceptanceRule | None = member(None, written="changed")
    quorum: int | None = member(
        None, written="changed", says="The fewest neurons with a valid answer for a verdict.", schema={"minimum": 1}
    )


AGGREGATION_CHOICES: dict[str, tuple[str, ...]] = {
    "vote": get_args(VoteSetting),
    "ties": get_args(TieSetting),
    "fallback": get_args(FallbackSetting),
}
"""The choices of each rule of an aggregation."""

USUAL_ROLES = 4
"""How many roles are assumed where the model or the pair's criteria alone decide."""

DEFAULTS = Settings(endpoint="embedded", model=None, temperature="default", max_tokens=1024, samples=1)


@dataclass(frozen=True, slots=True)
class NetworkSpec:
    """A judge network. ``settings`` hold for all calls unless a layer or a neuron overrides them.

    ``family`` names the task family of the prompts, ``"auto"`` chooses it by the pair's task.
    ``evidence=False`` asks for scores alone (the single-judge baseline).
    """

    layers: tuple[LayerSpec, ...]
    roles: RolesSpec = field(default_factory=RolesSpec)
    orders: OrderSetting = "both"
    seed: int = 0
    settings: Settings = DEFAULTS
    chair: ChairSpec | None = None
    aggregation: Aggregation = field(default_factory=Aggregation)
    language: Language = "auto"
    family: str = "auto"
    evidence: bool = True
    name: str = "Network"

    @property
    def depth(self) -> int:
        return len(self.layers)


RECORDED = "recorded"
"""The endpoint of judgments that were made elsewhere: there is nothing behind it that could be asked."""


def is_recorded(spec: NetworkSpec) -> bool:
    """Whether a network stands for judges that were recorded elsewhere: it cannot judge anything."""
    return spec.settings.endpoint == RECORDED


def neuron_settings(spec: NetworkSpec, layer: int, neuron: int) -> Settings:
    """The settings in force for a neuron; ``layer`` and ``neuron`` are 0-based."""
    layer_spec = spec.layers[layer]
    return (
        layer_spec.neurons[0 if layer_spec.adaptive else neuron].settings.over(layer_spec.settings).over(spec.settings)
    )


def asks_probabilities(spec: NetworkSpec) -> bool:
    """Whether some neuron or the chair is to be scored by token probabilities."""
    given = [
        spec.settings,
        *(layer_spec.settings for layer_spec in spec.layers),
        *(() if spec.chair is None else (spec.chair.settings,)),
    ]
    given += [neuron.settings for layer_spec in spec.layers for neuron in layer_spec.neurons]
    if all(settings.scores != "probabilities" for settings in given):
        return False  # the usual case, told without merging the settings of each neuron
    of_neurons = (
        neuron_settings(spec, layer, neuron)
        for layer in range(spec.depth)
        for neuron in range(len(spec.layers[layer].neurons))
    )
    chair = () if spec.chair is None else (chair_settings(spec),)
    return any(settings.scores == "probabilities" for settings in (*of_neurons, *chair))


def role_settings(spec: NetworkSpec) -> Settings:
    """The settings of role generation."""
    return spec.roles.settings.over(spec.settings)


def chair_settings(spec: NetworkSpec) -> Settings:
    """The settings of the chair; ``spec.chair`` must be set."""
    if spec.chair is None:
        raise NetworkError("The network has no chair.")
    return spec.chair.settings.over(spec.settings)


def asked_settings(spec: NetworkSpec) -> tuple[Settings, ...]:
    """The settings in force for each kind of call that the network makes."""
    used = [
        neuron_settings(spec, layer, place)
        for layer, layer_spec in enumerate(spec.layers)
        for place in range(len(layer_spec.neurons))
    ]
    if needs_roles(spec):
        used.append(role_settings(spec))
    if spec.chair is not None:
        used.append(chair_settings(spec))
    return tuple(used)


def needs_roles(spec: NetworkSpec) -> bool:
    """True where the model must name roles for each pair: some neuron has none of its own."""
    return spec.roles.kind == "generated" and any(
        neuron.role is None for layer in spec.layers for neuron in layer.neurons
    )


def roles_vary(spec: NetworkSpec) -> bool:
    """Whether each pair has roles of its own: the model names them, or they are the pair's criteria."""
    return spec.roles.kind in ("generated", "criteria")


def takes_criterion(spec: NetworkSpec, layer: int, neuron: int) -> bool:
    """Whether a neuron (both 0-based) judges by the pair's criterion of its place, where the pair has so many."""
    if spec.roles.kind != "criteria" or layer >= spec.depth:
        return False
    layer_spec = spec.layers[layer]
    place = 0 if layer_spec.adaptive else neuron
    return place < len(layer_spec.neurons) and layer_spec.neurons[place].role is None


def role_limit(spec: NetworkSpec) -> int | None:
    """How many roles the model is asked for: ``roles.limit``, else the largest width.

    ``None`` where an adaptive layer takes as many as it finds.
    """
    if spec.roles.limit is not None:
        return spec.roles.limit
    if any(layer.adaptive for layer in spec.layers):
        return None
    return max((len(layer.neurons) for layer in spec.layers), default=None)


def designed_roles(spec: NetworkSpec, usual: int = USUAL_ROLES) -> int:
    """How many roles a pair has by the design; ``usual`` where the model or the pair's criteria alone decide."""
    if spec.roles.kind == "generated":
        limit = role_limit(spec)
        return usual if limit is None else limit
    if spec.roles.kind == "criteria":
        return usual
    return len(spec.roles.roles) if spec.roles.kind == "fixed" else 0


def criteria_roles_count(spec: NetworkSpec, criteria: int) -> int:
    """How many roles a pair with so many criteria has where they are its roles: those, or the roles that stand in."""
    return criteria or len(spec.roles.roles)


def designed_width(spec: NetworkSpec, layer: int) -> int | None:
    """The most neurons that a layer can have, ``None`` where only the roles of a pair tell."""
    layer_spec = spec.layers[layer]
    if not layer_spec.adaptive:
        return len(layer_spec.neurons)
    if spec.roles.kind == "criteria":
        return None
    return role_limit(spec) if spec.roles.kind == "generated" else len(spec.roles.roles)


def places_of(spec: NetworkSpec, layer: int, roles: int) -> tuple[int, ...]:
    """The 0-based places of the neurons of a layer that work on a pair with so many roles.

    An adaptive layer has one neuron a role. Where a pair's own roles are fewer than the neurons, those without a
    role rest for this pair; a neuron with a role of its own always works.
    """
    layer_spec = spec.layers[layer]
    if layer_spec.adaptive:
        return tuple(range(roles))
    if not roles_vary(spec):
        return tuple(range(len(layer_spec.neurons)))
    return tuple(place for place, neuron in enumerate(layer_spec.neurons) if place < roles or neuron.role is not None)


def designed_role(spec: NetworkSpec, layer: int, neuron: int) -> Role | None:
    """The role that a neuron (both 0-based) has on every pair; ``None`` where it changes with the pair, or it has
    none."""
    layer_spec = spec.layers[layer]
    neuron_of = 0 if layer_spec.adaptive else neuron
    own = layer_spec.neurons[neuron_of].role if neuron_of < len(layer_spec.neurons) else None
    if own is None and spec.roles.kind == "fixed" and neuron < len(spec.roles.roles):
        return spec.roles.roles[neuron]
    return own
