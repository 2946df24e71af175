"""What a run will cost before it starts: calls, tokens and a range of prices."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final, NamedTuple

from judgenet.assets import asset
from judgenet.core.batches import BATCH_KINDS
from judgenet.core.cascade import calls_of, has_stop_rules, stages, sure_stages
from judgenet.core.documents import DocumentError, Fields, kind_of, parse
from judgenet.core.network import (
    NetworkSpec,
    Settings,
    asked_settings,
    chair_settings,
    criteria_roles_count,
    designed_roles,
    needs_roles,
    neuron_settings,
    places_of,
    role_limit,
    role_settings,
    stand_ins,
)
from judgenet.core.network_graph import network_graph
from judgenet.core.pairs import Pair
from judgenet.core.pictures import picture_tokens, pictures_in
from judgenet.core.reasoning import likely_thinking, thinking_tokens
from judgenet.core.tokens import estimate_tokens

# Prices

PRICES_VERSION = 1
_PER = 1_000_000
_DATE_SUFFIX = re.compile(r"(?:[-@]\d{4}-\d{2}-\d{2}|[-@]\d{8}|-latest)$")


class PriceError(ValueError):
    """A price table that cannot be read; the message says where and how to mend it."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs: the table's currency per million tokens.

    ``models`` and ``endpoints`` are names or patterns with ``*`` (case does not matter); none fits all. An endpoint is
    meant by its name or its kind. ``local`` costs nothing. ``cached`` is the price of prompt tokens that the endpoint
    takes from its cache (``None``: the full price). ``batch_input`` and ``batch_output`` are the prices of calls in a
    batch (``None``: half of the others). ``as_of`` says when the price was read.
    """

    models: tuple[str, ...] = ()
    endpoints: tuple[str, ...] = ()
    input: float = 0.0
    output: float = 0.0
    cached: float | None = None
    batch_input: float | None = None
    batch_output: float | None = None
    local: bool = False
    as_of: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices with a date. The first entry that fits a model holds."""

    prices: tuple[Price, ...] = ()
    date: str = ""
    currency: str = "USD"

    def over(self, base: PriceTable) -> PriceTable:
        """This table with ``base`` behind it, for a user's own prices.

        :raises PriceError: the tables have different currencies.
        """
        if self.currency != base.currency:
            raise PriceError(f"currency: the table is in {self.currency}, the one behind it in {base.currency}")
        return PriceTable((*self.prices, *base.prices), self.date or base.date, self.currency)

    def find(self, model: str, endpoint: str = "", kind: str = "") -> Price | None:
        """The price of a model at an endpoint (name and kind), ``None`` where it is unknown.

        A model is also found without its provider (``openai/gpt-4o``) and without a date
        (``gpt-4o-2024-08-06``, ``-latest``), the longer name first.
        """
        at = (endpoint.lower(), kind.lower())
        for name in _names(model):
            for price in self.prices:
                if _fits(price.endpoints, at) and _fits(price.models, (name,)):
                    return price
        return None


def _names(model: str) -> list[str]:
    name = model.lower()
    names = [name]
    for shorter in (lambda text: text.rpartition("/")[2], lambda text: _DATE_SUFFIX.sub("", text)):
        name = shorter(name)
        if name not in names:
            names.append(name)
    return names


def _fits(patterns: tuple[str, ...], names: tuple[str, ...]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern.lower()) for pattern in patterns for name in names if name)


BATCH_SHARE: Final = 0.5
"""What a call in a batch costs of a live one, where the table names no price of its own: OpenAI, Anthropic and Google
ask half of the standard price for input and output (their guides to batches, November 2026)."""


def batch_price(price: Price) -> Price:
    """The price of calls in a batch, cached prompt tokens at the same share as the others."""
    if price.local:
        return price
    cost_in = price.input * BATCH_SHARE if price.batch_input is None else price.batch_input
    cost_out = price.output * BATCH_SHARE if price.batch_output is None else price.batch_output
    share = cost_in / price.input if price.input else BATCH_SHARE
    return replace(
        price,
        input=cost_in,
        output=cost_out,
        cached=None if price.cached is None else price.cached * share,
        batch_input=cost_in,
        batch_output=cost_out,
    )


def cost_of(price: Price, tokens_in: float, tokens_out: float, cached: float = 0) -> float:
    """What tokens cost at a known price, in the table's currency.

    ``tokens_in`` are all prompt tokens, ``cached`` those of them that came from the endpoint's cache; ``tokens_out``
    includes thinking. A picodollar is the least: what floating point adds beyond that takes room wherever it is kept.
    """
    if price.local:
        return 0.0
    cached = min(cached, tokens_in)
    cached_price = price.input if price.cached is None else price.cached
    cost = ((tokens_in - cached) * price.input + cached * cached_price + tokens_out * price.output) / _PER
    return round(cost, 12)


def prices_from_json(text: str, source: str = "price table") -> PriceTable:
    """The price table of a JSON text; ``source`` names it in messages.

    :raises PriceError: for a text that is no such table. The message begins with source and path.
    """
    try:
        return _table(parse(text))
    except DocumentError as error:
        raise PriceError(f"{source}: {error}") from None


_PRICES = ("input", "output", "cached_input", "batch_input", "batch_output")
_ENTRY = ("models", "endpoints", *_PRICES, "local", "as_of", "note")


def _table(record: object) -> PriceTable:
    given = Fields(record)
    version = given.whole("prices", PRICES_VERSION)
    if version != PRICES_VERSION:
        raise given.error("prices", f"is version {version}, and this program reads version {PRICES_VERSION}")
    given.refuse_unknown(("prices", "date", "currency", "note", "entries"))
    entries = given.members.get("entries")
    if not isinstance(entries, list):
        raise given.error("entries", f"must be a list of prices, but is {kind_of(entries)}")
    return PriceTable(
        tuple(_entry(entry, f"entries[{place}]") for place, entry in enumerate(entries)),
        given.text("date", ""),
        given.text("currency", "USD"),
    )


def _entry(record: object, path: str) -> Price:
    given = Fields(record, path)
    given.refuse_unknown(_ENTRY)
    models, endpoints = given.texts("models"), given.texts("endpoints")
    if not models and not endpoints:
        raise DocumentError(path, "names neither models nor endpoints")
    local = given.members.get("local", False)
    if not isinstance(local, bool):
        raise given.error("local", f"must be true or false, but is {kind_of(local)}")
    values = {name: given.number(name) for name in _PRICES}
    for name, value in values.items():
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise given.error(name, f"must be a price of 0 or more, but is {value}")
        if value is not None and local:
            raise given.error(name, "a local model has no price: remove it, or remove 'local'")
    for name in ("input", "output"):
        if values[name] is None and not local:
            raise given.error(name, "is missing: give the price per million tokens, or mark the entry 'local'")
    return Price(
        models,
        endpoints,
        values["input"] or 0.0,
        values["output"] or 0.0,
        values["cached_input"],
        values["batch_input"],
        values["batch_output"],
        local,
        given.text("as_of", ""),
        given.text("note", ""),
    )


@lru_cache(maxsize=1)
def bundled_prices() -> PriceTable:
    """The table that comes with the program: list prices as of its date, to be checked before they are relied on."""
    return prices_from_json(asset("prices", "prices.json").read_text(encoding="utf-8"), "prices.json")


# Calls


class Range(NamedTuple):
    """A count that is not known exactly, both ends included."""

    low: int
    high: int


class PriceRange(NamedTuple):
    """A price that is not known exactly, in the table's currency."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CallCount:
    """The calls for one pair: role generation, each layer's neurons, and the chair."""

    roles: int
    layers: tuple[int, ...]
    chair: int
    by_order: tuple[tuple[str, int], ...]

    @property
    def total(self) -> int:
        return self.roles + sum(self.layers) + self.chair


def count_calls(spec: NetworkSpec, roles: int | None = None) -> CallCount:
    """The calls for a pair with so many roles (``None``: as designed).

    ``by_order`` splits neurons' and the chair's calls by the order of the responses: ab, ba, or random.
    """
    roles = designed_roles(spec) if roles is None else roles
    orders = 2 if spec.orders == "both" else 1
    layers = tuple(
        orders * sum(neuron_settings(spec, layer, place).samples or 1 for place in places_of(spec, layer, roles))
        for layer in range(spec.depth)
    )
    chair = 0 if spec.chair is None else orders * (chair_settings(spec).samples or 1)
    judged = sum(layers) + chair
    named = ("ab", "ba") if spec.orders == "both" else (spec.orders,)
    by_order = tuple((order, judged // orders) for order in named)
    return CallCount(int(needs_roles(spec)), layers, chair, by_order)


def fewest_calls(spec: NetworkSpec, roles: int | None = None) -> CallCount:
    """As :func:`count_calls`, for a pair that a stop rule decides as early as it can."""
    every = count_calls(spec, roles)
    if not has_stop_rules(spec):
        return every
    layers, chair = [0] * spec.depth, 0
    for stage in sure_stages(stages(spec, roles)):
        if stage.layer > spec.depth:
            chair = every.chair
        else:
            layers[stage.layer - 1] += calls_of(spec, stage)
    judged, before = sum(layers) + chair, sum(every.layers) + every.chair
    by_order = tuple((order, count * judged // before if before else 0) for order, count in every.by_order)
    return CallCount(every.roles, tuple(layers), chair, by_order)


def planned_calls(spec: NetworkSpec, pairs: int) -> int:
    """All calls of a run over so many pairs, as designed."""
    return pairs * count_calls(spec).total


def calls_of_pairs(spec: NetworkSpec, pairs: Sequence[Pair]) -> int:
    """All calls of a run over these pairs: as designed, and by their criteria where these decide the widths."""
    if spec.roles.kind != "criteria":
        return planned_calls(spec, len(pairs))
    return sum(count_calls(spec, roles).total * count for roles, count in criteria_counts(spec, pairs).items())


def criteria_counts(spec: NetworkSpec, pairs: Iterable[Pair]) -> Counter[int]:
    """How many pairs have so many roles, where the criteria of a pair are its roles."""
    return Counter(criteria_roles_count(spec, len(pair.criteria)) for pair in pairs)


def criteria_range(spec: NetworkSpec, pairs: Sequence[Pair]) -> tuple[int, int] | None:
    """The fewest and the most neurons of a layer that has one a criterion, over these pairs; ``None`` without pairs,
    and where criteria decide no width."""
    if spec.roles.kind != "criteria" or not pairs or not any(layer.adaptive for layer in spec.layers):
        return None
    counts = criteria_counts(spec, pairs)
    return min(counts), max(counts)


# The estimate


@dataclass(frozen=True, slots=True)
class Guesses:
    """What an estimate assumes about quantities that only the run shows, in tokens unless stated otherwise.

    Two numbers are the ends of a range. ``roles`` is the number of roles where the model alone decides.
    ``*_prompt`` are the instructions around the pair's texts (measured on the prompts as shipped), ``role`` is a role
    with its description, ``heading`` what stands around an evaluation that is handed on. ``*_answer`` are the lengths
    of answers; no answer is assumed to be longer than its limit. Thinking that a setting asks for is added
    (:func:`judgenet.core.reasoning.likely_thinking`); where it is left to the endpoint it comes on top.
    """

    roles: tuple[int, int] = (3, 8)
    roles_prompt: int = 220
    judge_prompt: int = 240
    deeper_prompt: int = 300
    chair_prompt: int = 280
    role: int = 30
    heading: int = 25
    roles_answer: tuple[int, int] = (60, 300)
    answer: tuple[int, int] = (60, 400)
    bare_answer: tuple[int, int] = (8, 40)


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """The part of an estimate that one model at one endpoint has. ``reason`` says why there is no price."""

    endpoint: str
    model: str
    calls: Range
    tokens_in: Range
    tokens_out: Range
    price: PriceRange | None
    reason: str = ""
    batch_price: PriceRange | None = None
    """What the same calls cost by batches, where the endpoint takes some; else ``price``."""


class Settled(NamedTuple):
    """So many pairs whose number of calls is known, and the calls that these pairs have in all: where a model named
    fewer roles than the network has places for, or a stop rule decides a pair early, it has fewer calls than the
    design says. ``reached`` are, with stop rules, the pairs that were asked each stage."""

    pairs: int
    calls: int
    reached: tuple[int, ...] = ()


NONE_SETTLED = Settled(0, 0)


@dataclass(frozen=True, slots=True)
class ExpectedCalls:
    """The calls and cost of a run with stop rules if its pairs go as far as the ``pairs`` that are recorded: all
    ``calls``, and the price of the open ones, ``None`` where it is unknown. ``reached`` are the shares of pairs that
    are asked each stage, ``stage_prices`` what the calls of each stage cost on all pairs, recorded ones too."""

    pairs: int
    calls: float
    price: PriceRange | None
    reached: tuple[float, ...]
    stage_prices: tuple[PriceRange, ...] | None = None


class StandInPrice(NamedTuple):
    """What the open calls cost if stand-ins answer all that they may; ``reason`` says why there is no price."""

    price: PriceRange | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RunTotals:
    """The calls, tokens and price of a run over ``pairs`` pairs.

    ``calls`` are all calls, ``calls_recorded`` those that were answered before and cost nothing now, ``calls_open``
    the rest; tokens and price are those of the open ones, taken as an average part of all. ``settled`` are the pairs
    whose number of calls is known from the answers so far. ``price`` is ``None``
    where a model's price is unknown, and ``reason`` names it. A prompt cache makes a run cheaper than ``price.low``
    says, models that think unasked can make it dearer than ``price.high``. ``stand_in`` is another possible price,
    ``None`` where the network names no stand-in.
    """

    pairs: int
    per_pair: tuple[CallCount, CallCount]
    calls: Range
    calls_recorded: int
    calls_open: Range
    tokens_in: Range
    tokens_out: Range
    price: PriceRange | None
    reason: str
    currency: str
    price_date: str
    models: tuple[ModelEstimate, ...]
    settled: Settled = NONE_SETTLED
    expected: ExpectedCalls | None = None
    batch_price: PriceRange | None = None
    """What the open calls cost by batches; ``None`` where a price is unknown, or no endpoint takes batches."""
    stand_in: StandInPrice | None = None


@dataclass(slots=True)
class _Load:
    """Calls and tokens of a model for one pair: ``fixed`` prompt tokens, and the pair's texts ``texts`` times.
    ``longest`` are the fixed tokens of its longest prompt, ``room`` the most that an answer to it may have."""

    texts: float = 0
    fixed: float = 0
    answers: float = 0
    longest: int = 0
    room: int = 0


def estimate(
    spec: NetworkSpec,
    pairs: Iterable[Pair],
    prices: PriceTable,
    *,
    tokens: Callable[[str], int] = estimate_tokens,
    guesses: Guesses | None = None,
    recorded: int = 0,
    settled: Settled = NONE_SETTLED,
    kinds: Mapping[str, str] | None = None,
    lengths: Sequence[int] | None = None,
) -> RunTotals:
    """Estimates the calls, tokens and price of a run over ``pairs``.

    ``tokens`` counts the tokens of a text, ``recorded`` is the number of calls that are answered already, ``settled``
    are the pairs whose roles are known; ``kinds`` gives the kind of each endpoint by name, for prices that hold for a
    kind. ``lengths`` are the ``pair_tokens`` of the pairs, where they were counted before.
    """
    guesses, kinds = guesses or Guesses(), kinds or {}
    pairs = list(pairs)
    if lengths is None:
        lengths = [pair_tokens(pair, tokens) for pair in pairs]
    by_criteria = spec.roles.kind == "criteria"
    if by_criteria:
        lengths = _with_one_criterion(lengths, pairs, tokens)
    fewest, most = _role_counts(spec, pairs, guesses)
    roles = Range(min(fewest, default=0), max(most, default=0))
    low = _mean_loads(fewest, lambda count: _loads(spec, count, guesses, 0, _fewest_shares(spec, count)))
    high = _mean_loads(most, lambda count: _loads(spec, count, guesses, 1))
    counts = (fewest_calls(spec, roles.low), count_calls(spec, roles.high))
    model_estimates = _ModelEstimates(lengths, _seen_tokens(pairs, low.keys() | high.keys(), kinds), prices, kinds)
    # Loads are those of the design, whatever the number of roles that came back.
    designed = [
        sum(calls_with(spec, count).total * number for count, number in known.items())
        for calls_with, known in ((fewest_calls, fewest), (count_calls, most))
    ]
    # What criteria make of a pair is known beforehand, unless a stop rule decides it early.
    counted = NONE_SETTLED if by_criteria and not has_stop_rules(spec) else settled
    unsettled = (len(lengths) - counted.pairs) / max(1, len(lengths))
    calls = Range(*(round(counted.calls + unsettled * calls_of_design) for calls_of_design in designed))
    left = Range(*(max(0, end - recorded) for end in calls))
    shares = tuple(end / whole if whole else 0.0 for end, whole in zip(left, designed, strict=True))
    models = model_estimates.of((low, high), shares)
    unknown = [model.reason for model in models if model.price is None]
    price = None if unknown else _price_of(models)
    by_batch = None
    if price is not None and any(kinds.get(model.endpoint, "") in BATCH_KINDS for model in models):
        by_batch = _price_of([replace(model, price=model.batch_price) for model in models])
    expected = None
    if settled.pairs and settled.reached:
        expected = _expected(spec, roles, guesses, settled, len(lengths), recorded, model_estimates.price)
    return RunTotals(
        pairs=len(lengths),
        per_pair=counts,
        calls=calls,
        calls_recorded=recorded,
        calls_open=left,
        tokens_in=_sum(model.tokens_in for model in models),
        tokens_out=_sum(model.tokens_out for model in models),
        price=price,
        reason="; ".join(unknown),
        currency=prices.currency,
        price_date=prices.date,
        models=models,
        settled=settled,
        expected=expected,
        batch_price=by_batch,
        stand_in=_stand_in_price(spec, roles, guesses, model_estimates, shares),
    )


@dataclass(frozen=True, slots=True)
class _ModelEstimates:
    """Estimates the calls to models over pairs with texts of these ``lengths`` in tokens; ``seen`` are the tokens that
    each (endpoint, model) counts for their pictures."""

    lengths: Sequence[int]
    seen: Mapping[tuple[str, str], int]
    prices: PriceTable
    kinds: Mapping[str, str]

    def of(self, ends: _TwoLoads, parts: Sequence[float]) -> tuple[ModelEstimate, ...]:
        """The estimate of each model, from the least and the greatest load, of which these parts are still open."""
        return tuple(
            _model_estimate(
                key,
                (ends[0][key], ends[1][key]),
                self.lengths,
                self.seen.get(key, 0),
                parts,
                self.prices,
                self.kinds.get(key[0], ""),
            )
            for key in sorted(ends[0].keys() | ends[1].keys())
        )

    def price(self, ends: _TwoLoads, part: float) -> PriceRange | None:
        """The price of a part of two loads, ``None`` where that of a model is unknown."""
        priced = self.of(ends, (part, part))
        return None if any(model.price is None for model in priced) else _price_of(priced)


def _stand_in_price(
    spec: NetworkSpec, roles: Range, guesses: Guesses, model_estimates: _ModelEstimates, shares: Sequence[float]
) -> StandInPrice | None:
    """The price where stand-ins answer all open calls; ``None`` where the network names none."""
    if not any(settings.stand_in for settings in asked_settings(spec)):
        return None
    low = _loads(spec, roles.low, guesses, 0, _fewest_shares(spec, roles.low), standing_in=True)
    others = model_estimates.of((low, _loads(spec, roles.high, guesses, 1, standing_in=True)), shares)
    missing = "; ".join(model.reason for model in others if model.price is None)
    return StandInPrice(None if missing else _price_of(others), missing)


def _expected(
    spec: NetworkSpec,
    roles: Range,
    guesses: Guesses,
    settled: Settled,
    pairs: int,
    recorded: int,
    price_of: Callable[[_TwoLoads, float], PriceRange | None],
) -> ExpectedCalls:
    """The calls of all pairs if they go as far as those that are settled. ``price_of`` prices a part of two loads."""
    reached = tuple(count / settled.pairs for count in settled.reached)

    def cost(shares: Sequence[float], part: float, *, with_roles: bool = True) -> PriceRange | None:
        low, high = (
            _loads(spec, count, guesses, end, _reached_shares(spec, count, shares), with_roles=with_roles)
            for end, count in enumerate(roles)
        )
        return price_of((low, high), part)

    each = settled.calls / settled.pairs
    part = max(0.0, pairs * each - recorded) / (pairs * each)
    alone = ([share if at == stage else 0.0 for at, share in enumerate(reached)] for stage in range(len(reached)))
    prices = [cost(shares, 1.0, with_roles=False) for shares in alone]
    known = [price for price in prices if price is not None]
    return ExpectedCalls(
        settled.pairs,
        settled.calls + (pairs - settled.pairs) * each,
        cost(reached, part),
        reached,
        tuple(known) if len(known) == len(prices) else None,
    )


def _role_counts(spec: NetworkSpec, pairs: Sequence[Pair], guesses: Guesses) -> tuple[Counter[int], Counter[int]]:
    """How many pairs have so many roles, at least and at most."""
    if spec.roles.kind == "criteria" and pairs:
        counts = criteria_counts(spec, pairs)
        return counts, counts
    if needs_roles(spec) and role_limit(spec) is None:
        low, high = guesses.roles
    else:
        low = high = designed_roles(spec)
    return Counter({low: len(pairs)}), Counter({high: len(pairs)})


def _with_one_criterion(lengths: Sequence[int], pairs: Sequence[Pair], tokens: Callable[[str], int]) -> Sequence[int]:
    """The tokens of each pair where a neuron is shown one criterion and not all of them."""
    placed = []
    for length, pair in zip(lengths, pairs, strict=True):
        every = sum(tokens(criterion.text) for criterion in pair.criteria)
        placed.append(length - every + (round(every / len(pair.criteria)) if pair.criteria else 0))
    return placed


_Loads = defaultdict[tuple[str, str], _Load]
_TwoLoads = tuple[_Loads, _Loads]
_PlaceShares = Mapping[tuple[int, int], float]
"""The share of pairs on which a neuron is asked, by layer and neuron from 1; the chair's layer is the one after the
last."""


def _mean_loads(counts: Mapping[int, int], loads: Callable[[int], _Loads]) -> _Loads:
    """The mean load of each model over pairs of which so many have so many roles."""
    if len(counts) == 1:
        return loads(next(iter(counts)))
    means: _Loads = defaultdict(_Load)
    pairs = sum(counts.values())
    for roles, count in counts.items():
        for key, load in loads(roles).items():
            mean = means[key]
            mean.texts += load.texts * count / pairs
            mean.fixed += load.fixed * count / pairs
            mean.answers += load.answers * count / pairs
    return means


def _price_of(models: Sequence[ModelEstimate]) -> PriceRange:
    return PriceRange(
        math.fsum(model.price.low for model in models if model.price),
        math.fsum(model.price.high for model in models if model.price),
    )


def _fewest_shares(spec: NetworkSpec, roles: int) -> _PlaceShares | None:
    """1 for the neurons that are asked of every pair, 0 for the others; ``None`` without stop rules."""
    if not has_stop_rules(spec):
        return None
    pair_stages = stages(spec, roles)
    sure = len(sure_stages(pair_stages))
    return _reached_shares(spec, roles, tuple(1.0 if place < sure else 0.0 for place in range(len(pair_stages))))


def _reached_shares(spec: NetworkSpec, roles: int, reached: Sequence[float]) -> _PlaceShares:
    return {
        (stage.layer, neuron): reached[place] if place < len(reached) else 0.0
        for place, stage in enumerate(stages(spec, roles))
        for neuron in stage.neurons
    }


def pair_tokens(pair: Pair, tokens: Callable[[str], int] = estimate_tokens) -> int:
    """The tokens of a pair's own texts."""
    texts = (pair.question, pair.response_a, pair.response_b, pair.reference or "")
    return sum(tokens(text) for text in (*texts, *(criterion.text for criterion in pair.criteria)))


def _seen_tokens(
    pairs: Sequence[Pair], models: Iterable[tuple[str, str]], kinds: Mapping[str, str]
) -> dict[tuple[str, str], int]:
    """How many tokens each (endpoint, model) counts for the pictures of all pairs, each pair looked at once."""
    sizes: Counter[tuple[int, int]] = Counter()
    for pair in pairs:
        if pair.pictures:
            for text in (pair.question, pair.response_a, pair.response_b, pair.reference or ""):
                sizes.update((seen.picture.width, seen.picture.height) for seen in pictures_in(text, pair.pictures))
    if not sizes:
        return {}
    return {
        (endpoint, model): sum(
            count * picture_tokens(kinds.get(endpoint, ""), model, *size) for size, count in sizes.items()
        )
        for endpoint, model in models
    }


def _sum(ranges: Iterable[Range]) -> Range:
    low = high = 0
    for some in ranges:
        low, high = low + some.low, high + some.high
    return Range(low, high)


def _loads(
    spec: NetworkSpec,
    roles: int,
    guesses: Guesses,
    end: int,
    shares: _PlaceShares | None = None,
    *,
    with_roles: bool = True,
    standing_in: bool = False,
) -> _Loads:
    """The load of each model for one pair with so many roles; ``end`` is 0 for short answers, 1 for long ones. With
    ``shares`` a neuron counts as often as it is asked; ``with_roles`` counts role generation; ``standing_in`` lets the
    first stand-ins answer."""
    loads: _Loads = defaultdict(_Load)
    orders = 2 if spec.orders == "both" else 1
    usual = (guesses.answer if spec.evidence else guesses.bare_answer)[end]

    def add(settings: Settings, calls: float, prompt: int, answer: int, at: tuple[int, int] | None = None) -> None:
        calls *= 1.0 if shares is None or at is None else shares.get(at, 0.0)
        asked = next(iter(stand_ins(settings)), settings) if standing_in else settings
        load = loads[asked.endpoint or "", asked.model or ""]
        load.texts += calls
        load.fixed += calls * prompt
        load.answers += calls * (answer + likely_thinking(settings.reasoning)[end])
        load.longest = max(load.longest, prompt)
        load.room = max(load.room, (settings.max_tokens or answer) + thinking_tokens(settings.reasoning))

    def within(settings: Settings, answer: int) -> int:
        return answer if settings.max_tokens is None else min(answer, settings.max_tokens)

    if needs_roles(spec) and with_roles:
        settings = role_settings(spec)
        add(settings, 1, guesses.roles_prompt, within(settings, guesses.roles_answer[end]))
    has_roles = guesses.role if spec.roles.kind != "none" else 0
    before: dict[int, int] = {}
    wired = network_graph(spec, roles)
    for layer, places in enumerate(wired.layers):
        answers: dict[int, int] = {}
        for place in places:
            settings = neuron_settings(spec, layer, place)
            read = wired.inputs(layer, place)
            prompt = guesses.deeper_prompt if layer else guesses.judge_prompt
            prompt += has_roles * (1 + len(read)) + orders * sum(guesses.heading + before[i] for i in read)
            answers[place] = within(settings, usual)
            add(settings, orders * (settings.samples or 1), prompt, answers[place], (layer + 1, place + 1))
        before = answers
    if spec.chair is not None:
        settings = chair_settings(spec)
        heard = orders * sum(guesses.heading + answer for answer in before.values())
        prompt = guesses.chair_prompt + has_roles * len(before) + heard
        add(settings, orders * (settings.samples or 1), prompt, within(settings, usual), (spec.depth + 1, 1))
    return loads


class ContextNeed(NamedTuple):
    """What a model must be able to hold, in tokens: the longest prompt, and the room that its answer may take."""

    prompt: int
    answer: int


def context_needs(spec: NetworkSpec, longest: int) -> dict[tuple[str, str], ContextNeed]:
    """What each model (by endpoint and name) must be able to hold where the texts of the longest pair have so many
    tokens. Answers that are handed on are assumed to be long."""
    guesses = Guesses()
    roles = guesses.roles[1] if needs_roles(spec) and role_limit(spec) is None else designed_roles(spec)
    return {
        key: ContextNeed(longest + load.longest, load.room) for key, load in _loads(spec, roles, guesses, 1).items()
    }


def _model_estimate(
    key: tuple[str, str],
    loads: tuple[_Load, _Load],
    lengths: Sequence[int],
    seen: int,
    shares: Sequence[float],
    prices: PriceTable,
    kind: str,
) -> ModelEstimate:
    """The estimate of the calls to a model; ``seen`` are the tokens that it counts for the pictures of all pairs."""
    endpoint, model = key
    texts, pairs = sum(lengths) + seen, len(lengths)

    def ends(amount: Callable[[_Load], float]) -> Range:
        low, high = (round(share * amount(load)) for share, load in zip(shares, loads, strict=True))
        return Range(min(low, high), max(low, high))

    calls = ends(lambda load: pairs * load.texts)
    tokens_in = ends(lambda load: texts * load.texts + pairs * load.fixed)
    tokens_out = ends(lambda load: pairs * load.answers)
    price = prices.find(model, endpoint, kind)
    cost = None
    if price is not None:
        cost = PriceRange(*(cost_of(price, *counts) for counts in zip(tokens_in, tokens_out, strict=True)))
    elif not calls.high:
        cost = PriceRange(0.0, 0.0)
    in_batch = cost
    if price is not None and kind in BATCH_KINDS:
        half = batch_price(price)
        in_batch = PriceRange(*(cost_of(half, *counts) for counts in zip(tokens_in, tokens_out, strict=True)))
    reason = (
        "" if cost is not None else f"the price of {model or 'the model'} at {endpoint or 'no endpoint'} is unknown"
    )
    return ModelEstimate(endpoint, model, calls, tokens_in, tokens_out, cost, reason, in_batch)
