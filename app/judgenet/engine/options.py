"""The options of a run as one value, with the help text and the check of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from judgenet.core.batches import BatchError, parse_live_after
from judgenet.core.cascade import read_placed_rule
from judgenet.core.documents import DocumentError
from judgenet.core.extra_fields import parse_extra
from judgenet.core.network import Language, NetworkError, OrderSetting, ScoresSetting
from judgenet.core.plan import Price, PriceTable
from judgenet.core.project import PROJECT_SUFFIX
from judgenet.core.reasoning import ReasoningValue, read_reasoning_text
from judgenet.core.shards import Shard, ShardError, parse_shard
from judgenet.core.stand_ins import read_stand_ins
from judgenet.core.until import UntilError, UntilRule, parse_until

_METADATA = "option"


class OptionError(ValueError):
    """An option that cannot be used; the message names it as on the command line and says how to fix it."""


@dataclass(frozen=True, slots=True)
class OptionInfo:
    """What an option has besides its type and default.

    ``flags`` are its names on the command line where they do not follow from the field's name; ``minimum`` is the
    smallest number allowed; ``check`` gets its name on the command line and its value, and raises
    :class:`OptionError`.
    """

    help: str
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    minimum: int | None = None
    argument: bool = False
    check: Callable[[str, Any], object] | None = None


def option_info(option: Field[Any]) -> OptionInfo:
    """The help text, names and check of a field of :class:`RunOptions`."""
    info: OptionInfo = option.metadata[_METADATA]
    return info


def flag_of(option: Field[Any]) -> str:
    """An option's name on the command line: ``--base-url``."""
    info = option_info(option)
    if info.argument:
        return option.name.upper()
    return info.flags[-1].partition("/")[0] if info.flags else f"--{option.name.replace('_', '-')}"


def _metadata(
    help: str,
    *flags: str,
    metavar: str | None = None,
    minimum: int | None = None,
    argument: bool = False,
    check: Callable[[str, Any], object] | None = None,
) -> dict[str, OptionInfo]:
    return {_METADATA: OptionInfo(help, flags, metavar, minimum, argument, check)}


def whole_number(flag: str, text: str, other: str = "") -> int:
    """Reads a whole number of 1 or more; ``other`` names what else the option takes.

    :raises OptionError: the text is no such number.
    """
    if not text.isdecimal() or int(text) < 1:
        raise OptionError(f"{flag}{text}: a whole number of 1 or more{other}.")
    return int(text)


def read_width(flag: str, text: str) -> int | None:
    """The number of neurons in a layer; ``None``: one per role that the model names."""
    return None if text.lower() == "auto" else whole_number(f"{flag} ", text, ", or 'auto'")


def read_temperature(flag: str, text: str) -> float | Literal["default"]:
    """A temperature, or ``default`` for the endpoint's own."""
    if text == "default":
        return "default"
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 2:
        raise OptionError(f"{flag} {text}: a number from 0 to 2, or 'default'.")
    return value


def read_reasoning(flag: str, text: str) -> ReasoningValue:
    """An effort, a number of thinking tokens, or ``default`` for the endpoint's own."""
    try:
        value = read_reasoning_text("", text)
    except DocumentError as error:
        raise OptionError(f"{flag}: {error}.") from None
    assert value is not None
    return value


def read_extra(flag: str, text: str) -> str:
    """Further fields of a request, as canonical JSON text."""
    try:
        return parse_extra(text)
    except DocumentError as error:
        raise OptionError(f"{flag}: {error}.") from None


def check_stop_rule(flag: str, text: str) -> None:
    """Checks a stop rule and its place."""
    try:
        read_placed_rule(text)
    except NetworkError as error:
        raise OptionError(f"{flag}: {error}") from None


def check_stand_ins(flag: str, texts: tuple[str, ...]) -> None:
    """Checks stand-ins."""
    try:
        read_stand_ins(texts)
    except NetworkError as error:
        raise OptionError(f"{flag}: {error}") from None


def read_price(flag: str, text: str) -> tuple[float, float]:
    """Two prices in USD per million tokens, in and out."""
    try:
        cost_in, cost_out = (float(part) for part in text.split(","))
    except ValueError:
        cost_in = cost_out = -1.0
    if not (cost_in >= 0 and cost_out >= 0):
        raise OptionError(f"{flag} {text}: two prices of 0 or more, such as 0.15,0.60.")
    return cost_in, cost_out


def read_until(flag: str, text: str) -> UntilRule:
    """The rule by which a run stops early."""
    try:
        return parse_until(text)
    except UntilError as error:
        raise OptionError(f"{flag} {error}") from None


def read_shard(flag: str, text: str) -> Shard:
    """The shard of a run."""
    try:
        return parse_shard(text)
    except ShardError as error:
        raise OptionError(f"{flag} {error}.") from None


def read_live_after(flag: str, text: str) -> float:
    """The deadline of batches."""
    try:
        return parse_live_after(text)
    except BatchError as error:
        raise OptionError(f"{flag} {error}") from None


def price_table(options: RunOptions, endpoints: Sequence[str]) -> PriceTable | None:
    """The price given by the options, for all models of these endpoints; ``None`` where they give none."""
    if options.price is None:
        return None
    cost_in, cost_out = read_price("--price", options.price)
    return PriceTable((Price(endpoints=tuple(endpoints), input=cost_in, output=cost_out),))


def _check_project(_flag: str, path: Path) -> None:
    if path.suffix != PROJECT_SUFFIX:
        raise OptionError(
            f"{path} is not a project: the name of a project ends in {PROJECT_SUFFIX}. For several files of pairs, "
            "repeat --pairs."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """All options of a run besides its project. ``None``: the project's value, else the default.

    :raises OptionError: a value cannot be used.
    """

    project: Path | None = field(
        default=None,
        metadata=_metadata(
            "A project file; without one, the options describe the run.",
            metavar="[PROJECT]",
            argument=True,
            check=_check_project,
        ),
    )
    pairs: tuple[Path, ...] = field(
        default=(),
        metadata=_metadata(
            "File of pairs, or a folder; repeat it for data in several files, such as FairEval's four. book.xlsx#SHEET "
            "names a sheet.",
            "--pairs",
        ),
    )
    columns: tuple[str, ...] = field(
        default=(),
        metadata=_metadata(
            "Columns of the file: question=prompt,response_a=answer_1,… Dotted paths name nested fields: "
            "question=data.prompt. Repeatable.",
            "--map",
        ),
    )
    labels: tuple[str, ...] = field(
        default=(),
        metadata=_metadata(
            "Label values of the file: 1=a,2=b,0=tie. They are never guessed. Repeatable.", "--label-map"
        ),
    )
    encoding: str | None = field(
        default=None, metadata=_metadata("Encoding of a file that is not UTF-8, such as cp1252.")
    )
    sheet: str | None = field(
        default=None,
        metadata=_metadata("Sheet of an Excel workbook; otherwise the first that looks like pairs.", metavar="NAME"),
    )
    leave_out_bad: bool = field(
        default=False,
        metadata=_metadata("Leave out rows that cannot be read; they are counted and listed.", "--leave-out-bad"),
    )
    unpack_limit: str | None = field(
        default=None,
        metadata=_metadata(
            "Largest size that a file of pairs may unpack to, such as 4GB; reading takes less than three times as much "
            "memory. The variable JUDGENET_UNPACK_LIMIT sets it as well.  [default: 1GiB]",
            metavar="SIZE",
        ),
    )
    matches: str | None = field(
        default=None,
        metadata=_metadata(
            "With more than two responses per question: how many pairs of each question are judged: all, a number or a "
            "share (25%). They are drawn by --seed, and every system stays connected with every other. With auto the "
            "run chooses its pairs as it goes, where the ranks of the systems are least certain, and stops when they "
            "are separated."
        ),
    )
    systems: str | None = field(
        default=None,
        metadata=_metadata("Names of the systems, in the order of their responses: gpt,llama,qwen.", metavar="NAMES"),
    )
    limit: int | None = field(default=None, metadata=_metadata("Judge at most this many pairs.", minimum=1))
    pick: Literal["first", "random"] = field(
        default="first", metadata=_metadata("Which pairs --limit keeps: the first, or a sample drawn by --seed.")
    )
    width: str | None = field(
        default=None,
        metadata=_metadata(
            "Neurons in each layer, or 'auto': one for each role that the model names.", check=read_width
        ),
    )
    depth: int | None = field(default=None, metadata=_metadata("Number of layers.", minimum=1))
    roles: str | None = field(
        default=None,
        metadata=_metadata(
            "generated (by the model, for each pair), generated:N (at most N, the same for every width of a "
            "sweep), criteria (those of each pair, one neuron per criterion), none, or a file of roles (JSON, or "
            "'name: text' lines)."
        ),
    )
    orders: OrderSetting | None = field(
        default=None,
        metadata=_metadata("Orders in which the responses are shown; random draws one per call by --seed."),
    )
    samples: int | None = field(default=None, metadata=_metadata("Calls of each neuron in each order.", minimum=1))
    wiring: Literal["full", "window"] | None = field(
        default=None,
        metadata=_metadata("What deeper layers read: the whole layer before (full), or neighbours in it (window)."),
    )
    chair: bool | None = field(
        default=None, metadata=_metadata("One more neuron that reads the last layer and decides.", "--chair/--no-chair")
    )
    stop_when: str | None = field(
        default=None,
        metadata=_metadata(
            "Decide a pair early where a rule holds, and skip its other calls: orders-agree, neurons-agree, decided, "
            "margin>=VOTES, difference>=POINTS, or never; followed by after=LAYER or after=neurons, such as "
            "'orders-agree after=1'.",
            metavar="RULE",
            check=check_stop_rule,
        ),
    )
    quorum: int | None = field(
        default=None,
        metadata=_metadata(
            "Give no verdict where fewer neurons than this have a valid answer: such pairs count as missing.",
            metavar="NEURONS",
            minimum=1,
        ),
    )
    stand_in: tuple[str, ...] = field(
        default=(),
        metadata=_metadata(
            "Model that answers in place of a neuron's own when its endpoint stops, or is out of reach for 120 seconds "
            "('ENDPOINT/MODEL after=60' sets another time). Several are used in their order; 'none' removes the "
            "project's. The record says which model answered.",
            "--stand-in",
            metavar="ENDPOINT/MODEL",
            check=check_stand_ins,
        ),
    )
    language: Language | None = field(default=None, metadata=_metadata("Language of the prompts."))
    endpoint: str | None = field(
        default=None,
        metadata=_metadata(
            "Name of an endpoint (judgenet endpoint list), or replay:RUN to answer from a recorded run."
        ),
    )
    base_url: str | None = field(default=None, metadata=_metadata("Address of an endpoint, with or without /v1."))
    model: str | None = field(default=None, metadata=_metadata("Model to ask."))
    api_key_env: str | None = field(
        default=None, metadata=_metadata("Name (not value) of the variable that holds the API key.", metavar="NAME")
    )
    temperature: str | None = field(
        default=None,
        metadata=_metadata("Temperature of the judges; 'default' uses the endpoint's.", check=read_temperature),
    )
    max_tokens: int | None = field(default=None, metadata=_metadata("Most tokens in an answer.", minimum=1))
    reasoning: str | None = field(
        default=None,
        metadata=_metadata(
            "How much the model thinks before it answers: none, minimal, low, medium, high, xhigh, max, a maximum "
            "number of thinking tokens, or 'default' (the endpoint's). These tokens come on top of --max-tokens.",
            metavar="EFFORT|TOKENS",
            check=read_reasoning,
        ),
    )
    extra: str | None = field(
        default=None,
        metadata=_metadata(
            "Further fields of every request, as a JSON object: '{\"top_k\": 20}'. Objects within it are merged.",
            metavar="JSON",
            check=read_extra,
        ),
    )
    scores: ScoresSetting | None = field(
        default=None,
        metadata=_metadata(
            "text: the scores that the model writes. probabilities: expected scores by the probabilities of its "
            "tokens, where the endpoint reports them; the record counts the calls where it does not."
        ),
    )
    seed: int = field(default=0, metadata=_metadata("Seed of random orders and of --pick random."))
    concurrency: int | None = field(
        default=None, metadata=_metadata("Parallel calls.", "-j", "--concurrency", minimum=1)
    )
    patience: float | None = field(
        default=None,
        metadata=_metadata(
            "Seconds to wait for an endpoint that is no longer reached, before the run stops.  [default: 1800]",
            metavar="S",
            minimum=0,
        ),
    )
    max_calls: int | None = field(
        default=None, metadata=_metadata("Stop before this number of new calls is exceeded.", minimum=0)
    )
    token_budget: int | None = field(
        default=None, metadata=_metadata("Stop before this number of tokens is exceeded.", minimum=0)
    )
    price: str | None = field(
        default=None,
        metadata=_metadata(
            "Price of the model in USD per million input and output tokens: 0.15,0.60.",
            metavar="IN,OUT",
            check=read_price,
        ),
    )
    budget: float | None = field(
        default=None, metadata=_metadata("Stop before more than this is spent.", metavar="USD", minimum=0)
    )
    until: str | None = field(
        default=None,
        metadata=_metadata(
            "Stop when enough is known, by intervals that are valid at any time: 'c2_all excludes 50%', 'accuracy "
            "above 70%', 'corrected excludes 50%', 'width <= 0.1'; join several with 'or'. The pairs are then judged "
            "in an order drawn by --seed.",
            metavar="RULE",
            check=read_until,
        ),
    )
    batch: bool | None = field(
        default=None,
        metadata=_metadata(
            "Use the endpoint's batches, at about half the price and within a day; each layer is a batch. The run may "
            "be stopped meanwhile: the same command fetches the answers. --no-batch makes the calls live, and cancels "
            "open batches.",
            "--batch/--no-batch",
        ),
    )
    live_after: str | None = field(
        default=None,
        metadata=_metadata(
            "With batches: calls without an answer by then are cancelled and made live. A time of day (18:00), a date "
            "and time (2026-12-01T06:00), or a span from now (6h).",
            metavar="TIME",
            check=read_live_after,
        ),
    )
    shard: str | None = field(
        default=None,
        metadata=_metadata(
            "Judge one of N parts of a project's questions, such as 17/300, for array jobs. Each part is a run of its "
            "own in PROJECT.shards; judgenet merge combines them.",
            metavar="K/N",
            check=read_shard,
        ),
    )
    out: Path | None = field(
        default=None, metadata=_metadata("Folder of the run; a run that is in it already is resumed.", metavar="DIR")
    )

    def __post_init__(self) -> None:
        for option in fields(self):
            value, info = getattr(self, option.name), option_info(option)
            if value is None:
                continue
            # The comparison is so that NaN is refused too.
            if info.minimum is not None and not value >= info.minimum:
                raise OptionError(f"{flag_of(option)} {value}: must be {info.minimum} or more.")
            if info.check is not None:
                info.check(flag_of(option), value)
