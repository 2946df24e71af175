"""The options of a run: one value with the help text and the check of each, whoever names them."""

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
    """What is known of an option beside its type and default.

    ``flags`` are its names on the command line where they do not follow from the field's; ``least`` is the smallest
    number that it takes; ``check`` gets its name there and its value, and raises :class:`OptionError`.
    """

    help: str
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    least: int | None = None
    argument: bool = False
    check: Callable[[str, Any], object] | None = None


def option_info(of: Field[Any]) -> OptionInfo:
    """The help text, names and check of a field of :class:`RunOptions`."""
    info: OptionInfo = of.metadata[_METADATA]
    return info


def flag_of(of: Field[Any]) -> str:
    """An option's name on the command line: ``--base-url``."""
    info = option_info(of)
    if info.argument:
        return of.name.upper()
    return info.flags[-1].partition("/")[0] if info.flags else f"--{of.name.replace('_', '-')}"


def _about(
    help: str,
    *flags: str,
    metavar: str | None = None,
    least: int | None = None,
    argument: bool = False,
    check: Callable[[str, Any], object] | None = None,
) -> dict[str, OptionInfo]:
    return {_METADATA: OptionInfo(help, flags, metavar, least, argument, check)}


def whole_number(flag: str, text: str, other: str = "") -> int:
    """A whole number of 1 or more; ``other`` says what else the option takes.

    :raises OptionError: it is none.
    """
    if not text.isdecimal() or int(text) < 1:
        raise OptionError(f"{flag}{text}: a whole number of 1 or more{other}.")
    return int(text)


def read_width(flag: str, text: str) -> int | None:
    """The number of neurons in a layer; ``None``: as many as roles come back."""
    return None if text.lower() == "auto" else whole_number(f"{flag} ", text, ", or 'auto'")


def read_temperature(flag: str, text: str) -> float | Literal["default"]:
    """A temperature, or the endpoint's own."""
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
    """An effort, a number of thinking tokens, or the endpoint's own."""
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
    """Checks a stop rule and where it stands."""
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
    """The rule by which a run stops when enough is known."""
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
    """The price that the options name, for all models of these endpoints; ``None`` where they name none."""
    if options.price is None:
        return None
    cost_in, cost_out = read_price("--price", options.price)
    return PriceTable((Price(endpoints=tuple(endpoints), input=cost_in, output=cost_out),))


def _check_project(_flag: str, path: Path) -> None:
    if path.suffix != PROJECT_SUFFIX:
        raise OptionError(
            f"{path}: no project; its name would end in {PROJECT_SUFFIX}. Several files of pairs: --pairs for each."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Everything that can be said of a run beside its project. ``None``: as the project has it, else the default.

    :raises OptionError: a value cannot be used.
    """

    project: Path | None = field(
        default=None,
        metadata=_about(
            "A project file; without one the options serve.", metavar="[PROJECT]", argument=True, check=_check_project
        ),
    )
    pairs: tuple[Path, ...] = field(
        default=(),
        metadata=_about(
            "File of pairs; several for FairEval's four files, or a folder. book.xlsx#SHEET names a sheet.", "--pairs"
        ),
    )
    columns: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "Columns of the file: question=prompt,response_a=answer_1,… Dotted paths lead into nested fields: "
            "question=data.prompt. Repeatable.",
            "--map",
        ),
    )
    labels: tuple[str, ...] = field(
        default=(),
        metadata=_about("Label values of the file: 1=a,2=b,0=tie. Never guessed. Repeatable.", "--label-map"),
    )
    encoding: str | None = field(default=None, metadata=_about("Encoding of a file that is not UTF-8, such as cp1252."))
    sheet: str | None = field(
        default=None,
        metadata=_about("Sheet of an Excel workbook; else the first that looks like pairs.", metavar="NAME"),
    )
    leave_out_bad: bool = field(
        default=False,
        metadata=_about("Leave out rows that cannot be read; they are counted and named.", "--leave-out-bad"),
    )
    unpack_limit: str | None = field(
        default=None,
        metadata=_about(
            "Most that a file of pairs may unpack to, such as 4GB; reading takes less than three times as much memory. "
            "The variable JUDGENET_UNPACK_LIMIT sets it, too.  [default: 1GiB]",
            metavar="SIZE",
        ),
    )
    matches: str | None = field(
        default=None,
        metadata=_about(
            "Of more than two responses to a question: how many pairs of each are judged: all, a number or a "
            "share (25%). Drawn by --seed; every system stays connected with every other. With auto the run chooses "
            "pairs as it goes on, where the ranks of systems are least separated, and stops when they are."
        ),
    )
    systems: str | None = field(
        default=None, metadata=_about("Names of the systems, by response: gpt,llama,qwen.", metavar="NAMES")
    )
    limit: int | None = field(default=None, metadata=_about("Judge at most this many pairs.", least=1))
    pick: Literal["first", "random"] = field(
        default="first", metadata=_about("Which ones, with --limit: the first, or drawn by --seed.")
    )
    width: str | None = field(
        default=None, metadata=_about("Neurons in each layer, or 'auto': as many as roles come back.", check=read_width)
    )
    depth: int | None = field(default=None, metadata=_about("Number of layers.", least=1))
    roles: str | None = field(
        default=None,
        metadata=_about(
            "generated (by the model, for each pair), generated:N (at most N, the same for every width of a "
            "sweep), criteria (those of each pair, one neuron a criterion), none, or a file of roles (JSON, or "
            "'name: text' lines)."
        ),
    )
    orders: OrderSetting | None = field(
        default=None, metadata=_about("Orders in which the responses are shown; random draws one a call by --seed.")
    )
    samples: int | None = field(default=None, metadata=_about("Calls of each neuron in each order.", least=1))
    wiring: Literal["full", "window"] | None = field(
        default=None, metadata=_about("What deeper layers read: the whole layer before, or neighbours.")
    )
    chair: bool | None = field(
        default=None, metadata=_about("One more neuron that reads the last layer and decides.", "--chair/--no-chair")
    )
    stop_when: str | None = field(
        default=None,
        metadata=_about(
            "Decide a pair early where a rule holds, and ask no more of it: orders-agree, neurons-agree, decided, "
            "margin>=VOTES, difference>=POINTS, or never; with after=LAYER or after=neurons, such as "
            "'orders-agree after=1'.",
            metavar="RULE",
            check=check_stop_rule,
        ),
    )
    quorum: int | None = field(
        default=None,
        metadata=_about(
            "No verdict where fewer neurons than this have a valid answer: such pairs count as missing.",
            metavar="NEURONS",
            least=1,
        ),
    )
    stand_in: tuple[str, ...] = field(
        default=(),
        metadata=_about(
            "Model that is asked in place of a neuron's own when its endpoint stops, or is not reached for 120 seconds "
            "('ENDPOINT/MODEL after=60' says another time); several are asked in their order, 'none' drops the "
            "project's. The record says who answered.",
            "--stand-in",
            metavar="ENDPOINT/MODEL",
            check=check_stand_ins,
        ),
    )
    language: Language | None = field(default=None, metadata=_about("Language of the prompts."))
    endpoint: str | None = field(
        default=None,
        metadata=_about("Name of an endpoint (judgenet endpoint list), or replay:RUN to answer from a recorded run."),
    )
    base_url: str | None = field(default=None, metadata=_about("Address of an endpoint, with or without /v1."))
    model: str | None = field(default=None, metadata=_about("Model to ask."))
    api_key_env: str | None = field(
        default=None, metadata=_about("Name (not value) of the variable that holds the API key.", metavar="NAME")
    )
    temperature: str | None = field(
        default=None,
        metadata=_about("Temperature of the judges; 'default' leaves it to the endpoint.", check=read_temperature),
    )
    max_tokens: int | None = field(default=None, metadata=_about("Most tokens of an answer.", least=1))
    reasoning: str | None = field(
        default=None,
        metadata=_about(
            "How much the model thinks before it answers: none, minimal, low, medium, high, xhigh, max, the most "
            "thinking tokens, or 'default' (left to the endpoint). The room for it comes on top of --max-tokens.",
            metavar="EFFORT|TOKENS",
            check=read_reasoning,
        ),
    )
    extra: str | None = field(
        default=None,
        metadata=_about(
            "Further fields of every request, as a JSON object: '{\"top_k\": 20}'. Objects within it are merged.",
            metavar="JSON",
            check=read_extra,
        ),
    )
    scores: ScoresSetting | None = field(
        default=None,
        metadata=_about(
            "text: the scores as the model writes them. probabilities: expected scores from the probabilities of its "
            "tokens, where the endpoint gives them; the record counts the calls where it does not."
        ),
    )
    seed: int = field(default=0, metadata=_about("Seed of random order and of --pick random."))
    concurrency: int | None = field(default=None, metadata=_about("Calls in flight.", "-j", "--concurrency", least=1))
    patience: float | None = field(
        default=None,
        metadata=_about(
            "Seconds that an endpoint which is not reached any more is waited for before the run stops.  "
            "[default: 1800]",
            metavar="S",
            least=0,
        ),
    )
    max_calls: int | None = field(default=None, metadata=_about("Stop before more new calls than this.", least=0))
    token_budget: int | None = field(default=None, metadata=_about("Stop before more tokens than this.", least=0))
    price: str | None = field(
        default=None,
        metadata=_about(
            "Price of the model in USD per million tokens in and out: 0.15,0.60.", metavar="IN,OUT", check=read_price
        ),
    )
    budget: float | None = field(
        default=None, metadata=_about("Stop before more money than this is spent.", metavar="USD", least=0)
    )
    until: str | None = field(
        default=None,
        metadata=_about(
            "Stop when enough is known, by intervals that are valid at any time: 'c2_all excludes 50%', 'accuracy "
            "above 70%', 'corrected excludes 50%', 'width <= 0.1'; several joined by 'or'. Pairs are then asked in an "
            "order drawn by --seed.",
            metavar="RULE",
            check=read_until,
        ),
    )
    batch: bool | None = field(
        default=None,
        metadata=_about(
            "Ask by the endpoint's batches, at about half the price and within a day; a layer is a batch. The run "
            "may be stopped meanwhile: the same command takes the answers in. --no-batch asks live, and cancels "
            "batches that are still out.",
            "--batch/--no-batch",
        ),
    )
    live_after: str | None = field(
        default=None,
        metadata=_about(
            "With batches: what is not back by then is cancelled and asked live. A time of day (18:00), a date and "
            "time (2026-12-01T06:00), or a span from now (6h).",
            metavar="TIME",
            check=read_live_after,
        ),
    )
    shard: str | None = field(
        default=None,
        metadata=_about(
            "Judge one of N parts of a project's questions, such as 17/300: for array jobs. Each part is a run of its "
            "own in PROJECT.shards; judgenet merge makes one run of them.",
            metavar="K/N",
            check=read_shard,
        ),
    )
    out: Path | None = field(
        default=None, metadata=_about("Folder of the run; the same again resumes what is in it.", metavar="DIR")
    )

    def __post_init__(self) -> None:
        for of in fields(self):
            value, info = getattr(self, of.name), option_info(of)
            if value is None:
                continue
            # The comparison is so that NaN is refused too.
            if info.least is not None and not value >= info.least:
                raise OptionError(f"{flag_of(of)} {value}: must be {info.least} or more.")
            if info.check is not None:
                info.check(flag_of(of), value)
