"""Makes the start of a run from its options, step by step: project, endpoint, network, pairs, prices, limits.

The command line uses :class:`~judgenet.engine.options.RunOptions`; the package and the studio have networks and pairs
in memory and begin later, at :func:`ready_network`, :func:`run_project`, and ``engine.setup.start_of``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from judgenet.core import design, presets
from judgenet.core.aggregate import aggregation_names
from judgenet.core.batches import BATCH_KINDS
from judgenet.core.cascade import with_rule
from judgenet.core.checks import require_valid
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.matches import FEWEST_SYSTEMS
from judgenet.core.network import ChairSpec, NetworkError, NetworkSpec, RolesSpec, Settings, is_recorded
from judgenet.core.pair_checks import require_judgeable
from judgenet.core.pairs import systems_of
from judgenet.core.plan import PriceTable
from judgenet.core.project import PairsSource, Project, Selection, new_salt, select
from judgenet.core.roles import parse_roles
from judgenet.core.stand_ins import read_stand_ins
from judgenet.core.until import UntilError, UntilRule
from judgenet.engine.batches import BatchChoice
from judgenet.engine.budget import Limits
from judgenet.engine.division import Division
from judgenet.engine.endpoints import NotApproved, replay_store, require_approved
from judgenet.engine.options import (
    OptionError,
    RunOptions,
    price_table,
    read_extra,
    read_reasoning,
    read_shard,
    read_temperature,
    read_until,
    read_width,
    whole_number,
)
from judgenet.engine.session import Start, all_settings, each_settings, endpoints_of, require_sight, with_models
from judgenet.engine.setup import read_files, read_source, start_of, unpriced_models
from judgenet.formats import parse_column_map, parse_label_map, parse_matches, parse_size, split_sheet
from judgenet.store.approvals import approve, endpoint_needs, file_needs
from judgenet.store.db import Store
from judgenet.store.files import load_project, read_text, save_project, store_path
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.pictures import picture_folders
from judgenet.store.prices import load_prices
from judgenet.store.results import network_of
from judgenet.store.runs import run_info
from judgenet.store.settings import SettingsError, UnknownEndpoint, profile_from_flags, profile_problem, profiles

if TYPE_CHECKING:
    from judgenet.formats import Dataset

DEFAULT_OUT = Path("judgenet-run")
DEFAULT_WIDTH = 3
DEFAULT_DEPTH = 2
REPLAY_NAME = "replay"
REPLAY = f"{REPLAY_NAME}:"

NAME_MODEL = "--model MODEL"
"""The option that names a model on the command line."""

_WITH_RECORDED = (
    "Their results are available: judgenet metrics {project}, rate, rank, learn, curve, report, and judgenet bias "
    "--recorded {project}. To judge the same pairs with a network of JudgeNet as well, name a model: "
    "judgenet run {project} --endpoint NAME --model MODEL"
)


@dataclass(frozen=True, slots=True)
class Setup:
    """A run made from options: its start, its project, and the path of its store.

    ``given`` is the project that the user named, and ``own`` are the endpoints that the options describe.
    """

    start: Start
    project: Project
    project_path: Path
    store_path: Path
    dataset: Dataset
    given: Path | None
    own: tuple[EndpointProfile, ...]

    def require_approved(self) -> None:
        """The check before anything is sent. Addresses and files that the options name count as approved, and the
        approval is kept, so that the run's own project can be run again.

        :raises NotApproved: the project needs something that the user has not approved.
        """
        start = self.start
        require_others_approved(start, self.own, self.given)
        if self.project_path.name == RUN_PROJECT:
            assert self.project.pairs is not None
            folder = self.project_path.absolute().parent
            sources = (replace(profile, base_url="", headers=()) for profile in self.project.endpoints)
            allow(sources, folder, start.salt, [*self.project.pairs.files, *picture_folders(start.pairs)])

    def save(self) -> None:
        """Writes the project file of a run that has a folder of its own."""
        if self.project_path.name == RUN_PROJECT:
            save_project(self.project, self.project_path)


def prepare(options: RunOptions) -> Setup:
    """Reads the project and the pairs that the options name, and sets the run up. Nothing is sent or written.

    :raises OptionError: an option cannot be used.
    :raises judgenet.store.settings.SettingsError: an endpoint is not known or not set up.
    :raises NetworkError: the design cannot run.
    :raises NotApproved: a file of the project lies elsewhere and was not approved.
    :raises judgenet.formats.DataError: the pairs cannot be read.
    """
    place = _place(options)
    named = named_endpoint(options)
    known = _known_profiles(place.given, place.folder, named.own)
    network = ready_network(_network(options, place.given, named), known)
    if options.concurrency is not None:
        known.update({name: replace(known[name], concurrency=options.concurrency) for name in endpoints_of(network)})
    source = _source(options, place.given)
    dataset = _read_pairs(options, place, source)
    salt = place.salt
    if named.replayed is not None:
        with Store.open(replay_store(named.own[0]), readonly=True) as recorded:
            salt = recorded.salt(salt)
    project = run_project(
        place.name,
        network,
        salt,
        _absolute(source, Path() if options.pairs else place.folder or Path()),
        known,
        prompts=place.prompts,
        prices=place.given.prices if place.given else {},
    )
    prices = _prices(options, project, known)
    patience = options.patience
    start = start_of(
        project,
        select(dataset.pairs, source.selection),
        known if patience is None else {name: replace(profile, patience=patience) for name, profile in known.items()},
        folder=place.folder,
        dataset=dataset,
        limits=limits_of(options),
        prices=prices,
        seed=options.seed,
        until=until_of(options, network),
        auto_matches=auto_matches(options),
        batch=batch_of(options, network, known),
    )
    require_judgeable(start.spec, start.pairs)
    require_sight(start)
    setup = Setup(
        start, project, place.project_path, store_path(place.project_path), dataset, options.project, named.own
    )
    return setup if options.shard is None else _shard(setup, options.shard)


def _shard(setup: Setup, text: str) -> Setup:
    """The set-up of one shard of a run.

    :raises OptionError: it cannot be made.
    """
    shard = read_shard("--shard", text)
    if setup.given is None:
        raise OptionError(
            "--shard needs a project file: all shards of a run share its salt. Save the study as a project in the "
            "studio, or take the run.judgenet of a run."
        )
    part = Division(setup.start, setup.project, setup.project_path, shard.of).part(shard.index)
    return replace(
        setup,
        start=part.start,
        project=part.project,
        project_path=part.project_path,
        store_path=store_path(part.project_path),
    )


def prepare_models(options: RunOptions) -> tuple[Start, tuple[EndpointProfile, ...]]:
    """A start without pairs, for the models of the options: one judge where they name an endpoint, else the network of
    the project. Also returns the endpoints that the options describe.

    :raises OptionError: an option cannot be used.
    """
    given, folder = _given(options)
    replays = (options.endpoint or "").startswith(REPLAY)
    named = NamedEndpoint(name=options.endpoint) if replays else named_endpoint(options)
    known = _known_profiles(given, folder, named.own)
    name = named.name
    if replays or (name in known and known[name].kind == "replay"):
        raise OptionError(f"--endpoint {name} replays a recorded run, which has no answers to the built-in pairs.")
    spec = given.network if given and name is None else presets.network(1, 1, roles="none")
    if name is not None:
        spec = replace(spec, settings=replace(spec.settings, endpoint=name, model=options.model))
    elif options.model is not None:
        spec = replace(spec, settings=replace(spec.settings, model=options.model))
    spec = _with_stand_ins(replace(spec, settings=replace(spec.settings, **_further(options))), options)
    spec = ready_network(spec, known)
    project = run_project(
        given.name if given else spec.name,
        spec,
        given.salt if given else new_salt(),
        None,
        known,
        prompts=given.prompts if given else {},
        prices=given.prices if given else {},
    )
    return start_of(project, (), known, folder=folder), named.own


# The project


class _Place(NamedTuple):
    """The project that the options name, its folder, the project file of the run, and its earlier content."""

    given: Project | None
    folder: Path | None
    project_path: Path
    earlier: Project | None

    @property
    def name(self) -> str:
        return self.given.name if self.given else self.project_path.absolute().parent.name

    @property
    def salt(self) -> str:
        kept = self.given or self.earlier
        return kept.salt if kept else new_salt()

    @property
    def prompts(self) -> Mapping[str, str]:
        kept = self.given or self.earlier
        return kept.prompts if kept else {}


def _given(options: RunOptions) -> tuple[Project | None, Path | None]:
    """The project that the options name, and its folder."""
    if options.project is None:
        return None, None
    return load_project(options.project), options.project.absolute().parent


def _place(options: RunOptions) -> _Place:
    given, folder = _given(options)
    if given is not None and given.readonly:
        raise OptionError(given.notice)
    own_folder = options.out is not None or options.project is None
    project_path = (options.out or DEFAULT_OUT) / RUN_PROJECT if own_folder else options.project
    assert project_path is not None
    return _Place(given, folder, project_path, load_project(project_path) if project_path.exists() else None)


def run_project(
    name: str,
    network: NetworkSpec,
    salt: str,
    pairs: PairsSource | None,
    known: Mapping[str, EndpointProfile],
    *,
    prompts: Mapping[str, str],
    prices: Mapping[str, Any] | None = None,
) -> Project:
    """The project of a run: its network with the endpoints that it uses, so that it can be run again anywhere."""
    return Project(
        name=name,
        network=network,
        salt=salt,
        pairs=pairs,
        endpoints=tuple(known[endpoint] for endpoint in endpoints_of(network) if known[endpoint].kind != "embedded"),
        prompts=dict(prompts),
        prices=prices or {},
    )


# The endpoint


class NamedEndpoint(NamedTuple):
    """The endpoint of the options: the profiles that they describe, its name, and the network of a run that is
    replayed."""

    own: tuple[EndpointProfile, ...] = ()
    name: str | None = None
    replayed: NetworkSpec | None = None


def named_endpoint(options: RunOptions) -> NamedEndpoint:
    """The endpoint that the options name or describe.

    :raises OptionError: they name two, or one of them lacks something.
    :raises judgenet.store.settings.SettingsError: the address cannot be used.
    """
    endpoint, base_url = options.endpoint, options.base_url
    if base_url is not None:
        if endpoint is not None:
            raise OptionError("--endpoint and --base-url name two endpoints. Give one of them.")
        if options.model is None:
            raise OptionError("--base-url needs the model to ask: --model NAME.")
        profile = profile_from_flags(base_url, options.model, options.api_key_env, concurrency=options.concurrency)
        return NamedEndpoint((profile,), profile.name)
    if options.api_key_env is not None:
        raise OptionError(
            "--api-key-env goes with --base-url. A named endpoint has its key's name in its settings: "
            "judgenet endpoint show NAME"
        )
    if endpoint is not None and endpoint.startswith(REPLAY):
        return _replayed(endpoint)
    return NamedEndpoint(name=endpoint)


def _replayed(endpoint: str) -> NamedEndpoint:
    source = endpoint.removeprefix(REPLAY)
    profile = EndpointProfile(REPLAY_NAME, kind="replay", source=str(Path(source).absolute()), concurrency=64)
    with Store.open(replay_store(profile), readonly=True) as store:
        recorded = network_of(run_info(store))
    if is_recorded(recorded):
        raise OptionError(
            f"--endpoint {endpoint}: {recorded_words(recorded)} They answer no prompts of JudgeNet, so "
            f"there is nothing to replay. Their results are available: judgenet metrics {source}"
        )
    return NamedEndpoint((profile,), REPLAY_NAME, recorded)


def _known_profiles(
    given: Project | None, folder: Path | None, own: Sequence[EndpointProfile]
) -> dict[str, EndpointProfile]:
    """All endpoints by name: the user's, the project's, and those of the options."""
    return {**profiles(given.endpoints if given else (), folder), **{profile.name: profile for profile in own}}


def allow(
    endpoints: Iterable[EndpointProfile], folder: Path | None, salt: str, files: Sequence[str | Path] = ()
) -> None:
    """Approves what the user named. Where the approval cannot be kept, it holds this time."""
    needs = list(endpoint_needs(endpoints, folder, salt))
    if files and folder is not None:
        needs += file_needs(files, folder, salt)
    with suppress(OSError):
        approve(needs)


def require_others_approved(start: Start, own: Sequence[EndpointProfile], project: Path | None = None) -> None:
    """The check before anything is sent: the endpoints that the user described (``own``) count as approved; all others
    must be approved already.

    :raises NotApproved: one is not; ``project`` is the file that names it.
    """
    described = {profile.name for profile in own}
    others = [name for name in endpoints_of(start.spec) if name not in described]
    require_approved(others, start.profiles, start.folder, start.salt, project)
    allow(own, start.folder, start.salt)


# The network


def recorded_words(spec: NetworkSpec) -> str:
    """A sentence about a network of recorded judgments."""
    count = len(spec.layers[0].neurons)
    judges = "1 judge" if count == 1 else f"{count:,} judges"
    return f"These are judgments of {judges} that were recorded elsewhere: there is no model to ask."


def ready_network(
    network: NetworkSpec, known: Mapping[str, EndpointProfile], name_model: str = NAME_MODEL
) -> NetworkSpec:
    """The network with its models named, ready for a run. ``name_model`` is how the user names a model.

    :raises UnknownEndpoint: it uses an endpoint that is not known.
    :raises judgenet.store.settings.SettingsError: an endpoint is not set up.
    :raises NetworkError: a model is missing, or the design cannot run.
    """
    for name in endpoints_of(network):
        if name not in known:
            raise UnknownEndpoint(name, known)
        if problem := profile_problem(known[name]):
            raise SettingsError(problem)
    network = with_models(network, known)
    for used in all_settings(network):
        if used.model is None:
            raise NetworkError(f"Which model of {used.endpoint} should judge? Name it: {name_model}")
    require_valid(network, known)
    return network


def _network(options: RunOptions, given: Project | None, named: NamedEndpoint) -> NetworkSpec:
    """The network of the project, of a replayed run, or the default one, with the changes of the options."""
    base = given.network if given else named.replayed or presets.network(DEFAULT_WIDTH, DEFAULT_DEPTH)
    if is_recorded(base):
        if named.name is None:
            project = options.project
            raise OptionError(f"{project}: {recorded_words(base)} {_WITH_RECORDED.format(project=project)}")
        base = presets.network(DEFAULT_WIDTH, DEFAULT_DEPTH)
    network = edited_network(base, options)
    changes: dict[str, Any] = {}
    if named.name is not None:
        changes["endpoint"] = named.name
    if options.max_tokens is not None:
        changes["max_tokens"] = options.max_tokens
    if options.model is not None or (named.name is not None and named.replayed is None):
        # Another endpoint has other models: its own is used where none is named.
        changes["model"] = options.model
    network = replace(network, settings=replace(network.settings, **changes))
    if named.replayed is not None:
        network = each_settings(network, _replayed_settings)
    return network


def _replayed_settings(settings: Settings) -> Settings:
    """Settings whose calls, including those of stand-ins, a recorded run answers."""
    others = settings.stand_in
    if others:
        others = tuple(replace(stand_in, endpoint=REPLAY_NAME) for stand_in in others)
    return replace(settings, endpoint=settings.endpoint and REPLAY_NAME, stand_in=others)


def edited_network(spec: NetworkSpec, options: RunOptions) -> NetworkSpec:
    """The network with the options' changes of its shape and its calls.

    :raises OptionError: an option cannot be used.
    :raises judgenet.core.roles.RoleError: a file of roles cannot be read.
    """
    before = spec
    width = options.width
    if options.roles is not None:
        roles = _roles(options.roles)
        spec = replace(spec, roles=roles)
        if roles.kind == "fixed":
            width = width or str(len(roles.roles))
        elif roles.kind == "criteria":
            width = width or "auto"
    if options.depth is not None:
        spec = design.set_depth(spec, options.depth)
    if width is not None:
        neurons = read_width("--width", width)
        for layer in range(spec.depth):
            spec = design.set_width(spec, layer, neurons)
    if options.wiring is not None:
        for layer in range(1, spec.depth):
            spec = design.set_wiring(spec, layer, options.wiring)
    if options.orders is not None:
        spec = replace(spec, orders=options.orders)
    if options.chair is not None:
        spec = replace(spec, chair=ChairSpec() if options.chair else None)
    if options.language is not None:
        spec = replace(spec, language=options.language)
    if options.stop_when is not None:
        spec = with_rule(spec, options.stop_when)
    if options.quorum is not None:
        spec = replace(spec, aggregation=replace(spec.aggregation, quorum=options.quorum))
    spec = _with_stand_ins(spec, options)
    changes: dict[str, Any] = {}
    if options.samples is not None:
        changes["samples"] = options.samples
    if options.temperature is not None:
        changes["temperature"] = read_temperature("--temperature", options.temperature)
    changes |= _further(options)
    spec = replace(spec, seed=options.seed or spec.seed, settings=replace(spec.settings, **changes))
    return presets.renamed(spec, before)


def _with_stand_ins(spec: NetworkSpec, options: RunOptions) -> NetworkSpec:
    """The network with the stand-ins that the options name for all its calls, in place of its own."""
    if not options.stand_in:
        return spec
    spec = design.override(spec, "network", stand_in=read_stand_ins(options.stand_in) or None)
    spec = design.override(spec, "roles", stand_in=None)
    return spec if spec.chair is None else design.override(spec, "chair", stand_in=None)


def _further(options: RunOptions) -> dict[str, Any]:
    """The less common settings of the network that the options name."""
    changes: dict[str, Any] = {}
    if options.reasoning is not None:
        changes["reasoning"] = read_reasoning("--reasoning", options.reasoning)
    if options.scores is not None:
        changes["scores"] = options.scores
    if options.extra is not None:
        changes["extra"] = read_extra("--extra", options.extra)
    return changes


def _roles(text: str) -> RolesSpec:
    """``none``, ``criteria``, ``generated``, ``generated:N``, or a file of roles."""
    kind, _, most = text.lower().partition(":")
    if text.lower() == "none":
        return RolesSpec(kind="none")
    if text.lower() == "criteria":
        return RolesSpec(kind="criteria")
    if kind == "generated":
        return RolesSpec(limit=whole_number("--roles generated:", most) if most else None)
    path = Path(text)
    if not path.exists():
        raise OptionError(f"--roles {text}: neither 'generated', 'criteria' nor 'none', and there is no such file.")
    return RolesSpec(kind="fixed", roles=parse_roles(read_text(path), path.name))


# The pairs


def _source(options: RunOptions, given: Project | None) -> PairsSource:
    """The source of the pairs: that of the options, else the project's."""
    if options.pairs:
        source = PairsSource(tuple(path.as_posix() for path in options.pairs))
    elif given is not None and given.pairs is not None:
        source = given.pairs
    else:
        raise OptionError("No pairs to judge. Name a file: --pairs FILE")
    reading = dict(source.options)
    if options.columns:
        source = replace(source, columns=parse_column_map(",".join(options.columns)))
        reading["seed"] = options.seed
    if options.labels:
        source = replace(source, labels=parse_label_map(",".join(options.labels)))
    if options.encoding is not None:
        reading["encoding"] = options.encoding
    paths, named = zip(*(split_sheet(Path(file)) for file in source.files), strict=True)
    source = replace(source, files=tuple(path.as_posix() for path in paths))
    if sheet := options.sheet or next(filter(None, named), None):
        reading["sheet"] = sheet
    if options.leave_out_bad:
        reading["leave_out_bad"] = True
    if options.matches is not None:
        every = auto_matches(options)
        reading |= {"matches": None if every else parse_matches(options.matches), "seed": options.seed}
    if options.systems is not None:
        reading["systems"] = [name.strip() for name in options.systems.split(",") if name.strip()]
    source = replace(source, options=reading)
    if options.limit is not None:
        kind = "first" if options.pick == "first" else "sample"
        left_out = source.selection.left_out
        drawn = Selection(kind, options.limit, options.seed, left_out=left_out)  # type: ignore[arg-type]
        source = replace(source, selection=drawn)
    return source


def read_named(options: RunOptions) -> tuple[PairsSource, Dataset]:
    """The pairs in the files that the options name, without a project, and the source to keep with them.

    :raises OptionError: the options name no file.
    :raises DataError: a file cannot be read as pairs.
    """
    source = _source(options, None)
    return _absolute(source, Path()), _read_pairs(options, None, source)


def _read_pairs(options: RunOptions, place: _Place | None, source: PairsSource) -> Dataset:
    limit = None if options.unpack_limit is None else parse_size(options.unpack_limit)
    if options.pairs or place is None or place.given is None:
        dataset = read_files(source, Path(), limit=limit)
    else:
        try:
            dataset = read_source(source, place.folder or Path(), place.given.salt, limit=limit)
        except NotApproved as error:
            raise NotApproved(error.needs, options.project) from None
    sampled = options.matches is not None and not auto_matches(options)
    if auto_matches(options):
        _require_systems(dataset)
    if dataset.systems is None and (sampled or options.systems):
        option = "--matches" if sampled else "--systems"
        raise OptionError(f"{option} needs more than two responses per question; {source.files[0]} has pairs.")
    return dataset


def auto_matches(options: RunOptions) -> bool:
    """Whether the run chooses its pairs until the ranks of their systems are separated."""
    return (options.matches or "").strip().lower() == "auto"


def _require_systems(dataset: Dataset) -> None:
    names = systems_of(dataset.pairs)
    if len(names) < FEWEST_SYSTEMS:
        raise OptionError(
            f"--matches auto ranks systems, and the pairs name {len(names)}. Give files with more than two responses "
            "per question, or name the systems in the columns model_a and model_b."
        )


def _absolute(source: PairsSource, folder: Path) -> PairsSource:
    return replace(source, files=tuple((folder / file).absolute().as_posix() for file in source.files))


# Prices and limits


def limits_of(options: RunOptions) -> Limits:
    """The limits at which a run stops by itself."""
    return Limits(options.max_calls, options.token_budget, options.budget)


def until_of(options: RunOptions, network: NetworkSpec) -> UntilRule | None:
    """The rule by which a run stops early.

    :raises OptionError: it names an aggregation that the network does not have.
    """
    if options.until is None:
        return None
    if auto_matches(options):
        raise OptionError("--until and --matches auto both decide when to stop. Give one of them.")
    rule = read_until("--until", options.until)
    try:
        rule.require_known(aggregation_names(network))
    except UntilError as error:
        raise OptionError(f"--until {error}") from None
    return rule


def batch_of(
    options: RunOptions, network: NetworkSpec, known: Mapping[str, EndpointProfile]
) -> BatchChoice | bool | None:
    """Whether and how a run sends its calls in batches.

    :raises OptionError: no endpoint of the network takes batches.
    """
    if options.batch is None and options.live_after is None:
        return None
    if options.batch is False:
        if options.live_after is not None:
            raise OptionError(
                "--live-after: a deadline for batches cannot be combined with --no-batch. Give one of them."
            )
        return False
    names = endpoints_of(network)
    if not any(known[name].kind in BATCH_KINDS for name in names):
        kinds = ", ".join(f"{name} ({known[name].kind})" for name in names)
        raise OptionError(f"--batch: no endpoint of the network takes batches: {kinds}. Leave the option out.")
    return BatchChoice(options.live_after or "")


def _prices(options: RunOptions, project: Project, known: Mapping[str, EndpointProfile]) -> PriceTable:
    """The known prices, with those of the project and then of the options taking precedence."""
    prices = load_prices(project.prices)
    if named := price_table(options, endpoints_of(project.network)):
        prices = named.over(prices)
    if options.budget is not None:
        for settings in unpriced_models(project.network, prices, known):
            raise OptionError(
                f"--budget: the price of {settings.model} at {settings.endpoint} is unknown, so the budget could not "
                "be kept. Give it with --price IN,OUT (USD per million tokens), or limit with --max-calls or "
                "--token-budget."
            )
    return prices
