"""From the options of a command to what a run is started with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from judgenet.cli.errors import InputError
from judgenet.core import design, presets
from judgenet.core.checks import require_valid
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import ChairSpec, NetworkSpec, RolesSpec, is_recorded
from judgenet.core.plan import Price, PriceTable
from judgenet.core.project import PROJECT_SUFFIX, PairsSource, Project, Selection, new_salt, select
from judgenet.core.prompts import PromptBook
from judgenet.core.roles import parse_roles
from judgenet.engine.budget import Limits
from judgenet.engine.endpoints import NotApproved, replay_store, require_approved
from judgenet.engine.session import Start, all_settings, each_settings, endpoints_of, with_models
from judgenet.engine.setup import read_files, read_source, run_record, unpriced_models
from judgenet.formats import Dataset, parse_column_map, parse_label_map, parse_matches
from judgenet.store.approvals import approve, endpoint_needs, file_needs
from judgenet.store.db import Store
from judgenet.store.files import load_project, read_text, save_project, store_path
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.prices import load_prices
from judgenet.store.results import network_of
from judgenet.store.runs import run_info
from judgenet.store.settings import UnknownEndpoint, profile_from_flags, profile_problem, profiles

DEFAULT_OUT = Path("judgenet-run")
DEFAULT_WIDTH = 3
DEFAULT_DEPTH = 2
REPLAY_NAME = "replay"
REPLAY = f"{REPLAY_NAME}:"


class Orders(StrEnum):
    BOTH = "both"
    AB = "ab"
    BA = "ba"
    RANDOM = "random"


class WiringOption(StrEnum):
    FULL = "full"
    WINDOW = "window"


class LanguageOption(StrEnum):
    AUTO = "auto"
    EN = "en"
    ZH = "zh"


class Pick(StrEnum):
    FIRST = "first"
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Setup:
    """A command's options, made ready: what to start, the project it belongs to, and where its store lies.

    ``given`` is the project that the user named, and ``own`` are the endpoints that the options themselves describe.
    """

    start: Start
    project: Project
    project_path: Path
    store_path: Path
    dataset: Dataset
    given: Path | None
    own: tuple[EndpointProfile, ...]

    def require_approved(self) -> None:
        """The gate before anything is sent. What the options themselves name (addresses, files) is approved by that,
        and kept, so that the run's own project can be run again.

        :raises NotApproved: the project wants something that the user has not approved.
        """
        start, own = self.start, {profile.name for profile in self.own}
        others = [name for name in endpoints_of(start.spec) if name not in own]
        require_approved(others, start.profiles, start.folder, start.salt, self.given)
        allow(self.own, start.folder, start.salt)
        if self.project_path.name == RUN_PROJECT:
            assert self.project.pairs is not None
            folder = self.project_path.absolute().parent
            sources = (replace(profile, base_url="", headers=()) for profile in self.project.endpoints)
            allow(sources, folder, start.salt, self.project.pairs.files)

    def save(self) -> None:
        """Writes the project file of a run that has a folder of its own."""
        if self.project_path.name == RUN_PROJECT:
            save_project(self.project, self.project_path)


def prepare(
    project: Annotated[
        Path | None, typer.Argument(metavar="[PROJECT]", help="A project file; without one the options serve.")
    ] = None,
    pairs: Annotated[
        list[Path] | None,
        typer.Option("--pairs", help="File of pairs; several for FairEval's four files, or a folder."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option("--map", help="Columns of the file: question=prompt,response_a=answer_1,…")
    ] = None,
    labels: Annotated[
        str | None, typer.Option("--label-map", help="Label values of the file: 1=a,2=b,0=tie. Never guessed.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a file that is not UTF-8, such as cp1252.")] = None,
    matches: Annotated[
        str | None,
        typer.Option(
            help="Of more than two responses to a question: how many pairs of each are judged: all, a number or a "
            "share (25%). Drawn by --seed; every system stays connected with every other."
        ),
    ] = None,
    systems: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Names of the systems, by response: gpt,llama,qwen.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Judge at most this many pairs.")] = None,
    pick: Annotated[Pick, typer.Option(help="Which ones, with --limit: the first, or drawn by --seed.")] = Pick.FIRST,
    width: Annotated[
        str | None, typer.Option(help="Neurons in each layer, or 'auto': as many as roles come back.")
    ] = None,
    depth: Annotated[int | None, typer.Option(min=1, help="Number of layers.")] = None,
    roles: Annotated[
        str | None,
        typer.Option(
            help="generated (by the model, for each pair), generated:N (at most N, the same for every width of a "
            "sweep), none, or a file of roles (JSON, or 'name: text' lines)."
        ),
    ] = None,
    orders: Annotated[
        Orders | None, typer.Option(help="Orders in which the responses are shown; random draws one a call by --seed.")
    ] = None,
    samples: Annotated[int | None, typer.Option(min=1, help="Calls of each neuron in each order.")] = None,
    wiring: Annotated[
        WiringOption | None, typer.Option(help="What deeper layers read: the whole layer before, or neighbours.")
    ] = None,
    chair: Annotated[
        bool | None, typer.Option("--chair/--no-chair", help="One more neuron that reads the last layer and decides.")
    ] = None,
    language: Annotated[LanguageOption | None, typer.Option(help="Language of the prompts.")] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(help="Name of an endpoint (judgenet endpoint list), or replay:RUN to answer from a recorded run."),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Address of an endpoint, with or without /v1.")] = None,
    model: Annotated[str | None, typer.Option(help="Model to ask.")] = None,
    api_key_env: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name (not value) of the variable that holds the API key.")
    ] = None,
    temperature: Annotated[
        str | None, typer.Option(help="Temperature of the judges; 'default' leaves it to the endpoint.")
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Most tokens of an answer.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of random order and of --pick random.")] = 0,
    concurrency: Annotated[int | None, typer.Option("-j", "--concurrency", min=1, help="Calls in flight.")] = None,
    patience: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="S",
            help="Seconds that an endpoint which is not reached any more is waited for before the run stops.  "
            "[default: 1800]",
        ),
    ] = None,
    max_calls: Annotated[int | None, typer.Option(min=0, help="Stop before more new calls than this.")] = None,
    token_budget: Annotated[int | None, typer.Option(min=0, help="Stop before more tokens than this.")] = None,
    price: Annotated[
        str | None,
        typer.Option(metavar="IN,OUT", help="Price of the model in USD per million tokens in and out: 0.15,0.60."),
    ] = None,
    budget: Annotated[
        float | None, typer.Option(min=0, metavar="USD", help="Stop before more money than this is spent.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the run; the same again resumes what is in it.")
    ] = None,
) -> Setup:
    """The options that all commands share that look at a network and pairs."""
    if project is not None and project.suffix != PROJECT_SUFFIX:
        raise InputError(
            f"{project}: no project; its name would end in {PROJECT_SUFFIX}. Several files of pairs: --pairs for each."
        )
    given = load_project(project) if project is not None else None
    if given is not None and given.readonly:
        raise InputError(given.notice)
    folder = project.absolute().parent if project is not None else None
    own_folder = out is not None or project is None
    project_path = (out or DEFAULT_OUT) / RUN_PROJECT if own_folder else project
    assert project_path is not None
    earlier = load_project(project_path) if project_path.exists() else None

    own, endpoint_name, replayed = _endpoint(endpoint, base_url, model, api_key_env, concurrency)
    extra = {profile.name: profile for profile in own}
    known: dict[str, EndpointProfile] = {**profiles(given.endpoints if given else (), folder), **extra}

    base = given.network if given else replayed or presets.network(DEFAULT_WIDTH, DEFAULT_DEPTH)
    if is_recorded(base):
        if endpoint_name is None:
            raise InputError(f"{project}: {recorded_words(base)} {_WITH_RECORDED.format(project=project)}")
        base = presets.network(DEFAULT_WIDTH, DEFAULT_DEPTH)
    network = _edited(base, width, depth, roles, orders, samples, wiring, chair, language, temperature, seed)
    settings = {"endpoint": endpoint_name, "model": model, "max_tokens": max_tokens}
    changes: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
    if endpoint_name is not None and model is None and replayed is None:
        changes["model"] = None
    network = replace(network, settings=replace(network.settings, **changes))
    if replayed is not None:
        network = each_settings(network, lambda s: s if s.endpoint is None else replace(s, endpoint=REPLAY_NAME))
    network = askable(network, known)
    if concurrency is not None:
        known.update({name: replace(known[name], concurrency=concurrency) for name in endpoints_of(network)})

    source = _source(pairs, columns, labels, encoding, given, folder, limit, pick, seed)
    source = _several(source, matches, systems, seed)
    if pairs or given is None:
        dataset = read_files(source, Path())
    else:
        try:
            dataset = read_source(source, folder or Path(), given.salt)
        except NotApproved as error:
            raise NotApproved(error.needs, project) from None
    if dataset.systems is None and (matches or systems):
        option = "--matches" if matches else "--systems"
        raise InputError(f"{option} is about more than two responses to a question; {source.files[0]} has pairs.")
    chosen = select(dataset.pairs, source.selection)

    prompts = given.prompts if given else earlier.prompts if earlier else {}
    price_overrides: Mapping[str, Any] = given.prices if given else {}
    prices = load_prices(price_overrides)
    if price is not None:
        prices = _price_of(price, endpoints_of(network)).over(prices)
    if budget is not None:
        _require_prices(network, prices, known)
    salt = given.salt if given else earlier.salt if earlier else new_salt()
    if replayed is not None:
        with Store.open(replay_store(own[0]), readonly=True) as recorded:
            salt = recorded.salt(salt)

    document = Project(
        name=given.name if given else project_path.absolute().parent.name,
        network=network,
        salt=salt,
        pairs=_absolute(source, Path() if pairs else folder or Path()),
        endpoints=tuple(known[name] for name in endpoints_of(network) if known[name].kind != "embedded"),
        prompts=prompts,
        prices=price_overrides,
    )
    start = Start(
        spec=network,
        pairs=chosen,
        book=PromptBook.default().edited(prompts),
        prices=prices,
        profiles=known if patience is None else {n: replace(of, patience=patience) for n, of in known.items()},
        salt=salt,
        folder=folder,
        limits=Limits(max_calls, token_budget, budget),
        record=run_record(dataset, seed),
    )
    return Setup(start, document, project_path, store_path(project_path), dataset, project, own)


def allow(
    endpoints: Iterable[EndpointProfile], folder: Path | None, salt: str, files: Sequence[str | Path] = ()
) -> None:
    """Approves what the user named himself on the command line. Where that cannot be kept, it holds this time."""
    needs = list(endpoint_needs(endpoints, folder, salt))
    if files and folder is not None:
        needs += file_needs(files, folder, salt)
    with suppress(OSError):
        approve(needs)


_WITH_RECORDED = (
    "Their figures are there already: judgenet metrics {project}, rate, rank, learn, curve, report, and judgenet bias "
    "--recorded {project}. To judge the same pairs with a network of JudgeNet beside them, name a model: "
    "judgenet run {project} --endpoint NAME --model MODEL"
)


def recorded_words(spec: NetworkSpec) -> str:
    """What a network of recorded judgments is, in a sentence."""
    count = len(spec.layers[0].neurons)
    judges = "1 judge" if count == 1 else f"{count:,} judges"
    return f"These are judgments of {judges} that were recorded elsewhere: there is no model to ask."


def askable(network: NetworkSpec, known: Mapping[str, EndpointProfile]) -> NetworkSpec:
    """The network with its models named, ready to be asked.

    :raises UnknownEndpoint: it uses an endpoint that is not known.
    :raises InputError: an endpoint is not set up, or a model is to be named.
    :raises NetworkError: the design cannot run.
    """
    for name in endpoints_of(network):
        if name not in known:
            raise UnknownEndpoint(name, known)
        if problem := profile_problem(known[name]):
            raise InputError(problem)
    network = with_models(network, known)
    for used in all_settings(network):
        if used.model is None:
            raise InputError(f"Which model of {used.endpoint} is to be asked? Name it: --model MODEL")
    require_valid(network, known)
    return network


def _endpoint(
    endpoint: str | None, base_url: str | None, model: str | None, api_key_env: str | None, concurrency: int | None
) -> tuple[tuple[EndpointProfile, ...], str | None, NetworkSpec | None]:
    """Profiles made of the options, the endpoint's name, and the network of a run that is replayed."""
    if base_url is not None:
        if endpoint is not None:
            raise InputError("--endpoint and --base-url name two endpoints. Give one of them.")
        if model is None:
            raise InputError("--base-url needs the model to ask: --model NAME.")
        profile = profile_from_flags(base_url, model, api_key_env, concurrency=concurrency)
        return (profile,), profile.name, None
    if api_key_env is not None:
        raise InputError(
            "--api-key-env goes with --base-url. A named endpoint has its key's name in its settings: "
            "judgenet endpoint show NAME"
        )
    if endpoint is not None and endpoint.startswith(REPLAY):
        profile = EndpointProfile(
            REPLAY_NAME, kind="replay", source=str(Path(endpoint.removeprefix(REPLAY)).absolute()), concurrency=64
        )
        with Store.open(replay_store(profile), readonly=True) as store:
            recorded = network_of(run_info(store))
        if is_recorded(recorded):
            source = endpoint.removeprefix(REPLAY)
            raise InputError(
                f"--endpoint {endpoint}: {recorded_words(recorded)} They answer no prompt of JudgeNet, so "
                f"that there is nothing to replay. Their figures are there already: judgenet metrics {source}"
            )
        return (profile,), REPLAY_NAME, recorded
    return (), endpoint, None


def _edited(
    spec: NetworkSpec,
    width: str | None,
    depth: int | None,
    roles: str | None,
    orders: Orders | None,
    samples: int | None,
    wiring: WiringOption | None,
    chair: bool | None,
    language: LanguageOption | None,
    temperature: str | None,
    seed: int,
) -> NetworkSpec:
    """The network as the options change it."""
    before = spec
    if roles is not None:
        kind, _, most = roles.lower().partition(":")
        if roles.lower() == "none":
            spec = replace(spec, roles=RolesSpec(kind="none"))
        elif kind == "generated":
            spec = replace(spec, roles=RolesSpec(limit=_whole("--roles generated:", most) if most else None))
        else:
            path = Path(roles)
            if not path.exists():
                raise InputError(f"--roles {roles}: neither 'generated' nor 'none', and there is no such file.")
            fixed = parse_roles(read_text(path), path.name)
            spec = replace(spec, roles=RolesSpec(kind="fixed", roles=fixed))
            width = width or str(len(fixed))
    if depth is not None:
        spec = design.set_depth(spec, depth)
    if width is not None:
        wide = None if width.lower() == "auto" else _whole("--width ", width, ", or 'auto'")
        for layer in range(spec.depth):
            spec = design.set_width(spec, layer, wide)
    if orders is not None:
        spec = replace(spec, orders=orders.value)
    if wiring is not None:
        for layer in range(1, spec.depth):
            spec = design.set_wiring(spec, layer, wiring.value)
    if chair is not None:
        spec = replace(spec, chair=ChairSpec() if chair else None)
    if language is not None:
        spec = replace(spec, language=language.value)
    changes: dict[str, Any] = {}
    if samples is not None:
        changes["samples"] = samples
    if temperature is not None:
        changes["temperature"] = "default" if temperature == "default" else _number("--temperature", temperature)
    spec = replace(spec, seed=seed or spec.seed, settings=replace(spec.settings, **changes))
    return presets.renamed(spec, before)


def _whole(option: str, text: str, other: str = "") -> int:
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"{option}{text}: a whole number of 1 or more{other}.")
    return int(text)


def _number(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 2:
        raise InputError(f"{option} {text}: a number from 0 to 2, or 'default'.")
    return value


def _price_of(text: str, endpoints: Sequence[str]) -> PriceTable:
    parts = text.split(",")
    try:
        cost_in, cost_out = (float(part) for part in parts)
    except ValueError:
        cost_in = cost_out = -1.0
    if not (cost_in >= 0 and cost_out >= 0):
        raise InputError(f"--price {text}: two prices of 0 or more, such as 0.15,0.60.")
    return PriceTable((Price(endpoints=tuple(endpoints), input=cost_in, output=cost_out),))


def _require_prices(network: NetworkSpec, prices: PriceTable, known: Mapping[str, EndpointProfile]) -> None:
    """A budget in money needs the price of every model: an unknown price is not 0."""
    for settings in unpriced_models(network, prices, known):
        raise InputError(
            f"--budget: the price of {settings.model} at {settings.endpoint} is unknown, so the budget could not be "
            "held. Give it with --price IN,OUT (USD per million tokens), or limit with --max-calls or --token-budget."
        )


def _source(
    pairs: Sequence[Path] | None,
    columns: str | None,
    labels: str | None,
    encoding: str | None,
    given: Project | None,
    folder: Path | None,
    limit: int | None,
    pick: Pick,
    seed: int,
) -> PairsSource:
    """Where the pairs come from: the options over the project's own source."""
    if pairs:
        source = PairsSource(tuple(path.as_posix() for path in pairs))
    elif given is not None and given.pairs is not None:
        source = given.pairs
    else:
        raise InputError("No pairs to judge. Name a file: --pairs FILE")
    if columns is not None:
        source = replace(source, columns=parse_column_map(columns), options={**source.options, "seed": seed})
    if labels is not None:
        source = replace(source, labels=parse_label_map(labels))
    if encoding is not None:
        source = replace(source, options={**source.options, "encoding": encoding})
    if limit is not None:
        kind = "first" if pick is Pick.FIRST else "sample"
        source = replace(source, selection=Selection(kind, limit, seed))  # type: ignore[arg-type]
    return source


def _several(source: PairsSource, matches: str | None, systems: str | None, seed: int) -> PairsSource:
    """The source with what the options say of more than two responses to a question."""
    options = dict(source.options)
    if matches is not None:
        options |= {"matches": parse_matches(matches), "seed": seed}
    if systems is not None:
        options["systems"] = [name.strip() for name in systems.split(",") if name.strip()]
    return replace(source, options=options)


def _absolute(source: PairsSource, folder: Path) -> PairsSource:
    return replace(source, files=tuple((folder / file).absolute().as_posix() for file in source.files))


def with_setup(
    command: Callable[..., Any], instead: Mapping[str, Callable[..., Any]] | None = None
) -> Callable[..., Any]:
    """A command that takes a :class:`Setup` first, and on the command line the options of :func:`prepare`.

    Where an option of ``instead`` is given, its command runs, which needs no setup: it takes the options by their
    names, and no other may be given.
    """
    shared = inspect.signature(prepare, eval_str=True)
    own = inspect.signature(command, eval_str=True)
    extra = list(own.parameters.values())[1:]
    defaults = {parameter.name: parameter.default for parameter in (*shared.parameters.values(), *extra)}

    @wraps(command)
    def wrapper(**values: Any) -> Any:
        for option, other in (instead or {}).items():
            if values[option] is not None:
                taken = inspect.signature(other).parameters
                for name, value in values.items():
                    if name not in taken and value and value != defaults[name]:
                        raise InputError(
                            f"--{option} asks nothing: {name.replace('_', '-')} has no meaning with it. Leave it out."
                        )
                return other(**{name: values[name] for name in taken})
        setup = prepare(**{name: values[name] for name in shared.parameters})
        return command(setup, **{parameter.name: values[parameter.name] for parameter in extra})

    parameters = [*shared.parameters.values(), *extra]
    hints: Mapping[str, Any] = {parameter.name: parameter.annotation for parameter in parameters}
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = dict(hints)
    return wrapper
