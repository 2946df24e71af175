"""Networks of judges for Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from judgenet.api.pairs import Pairs
from judgenet.core import presets
from judgenet.core.cascade import with_rule
from judgenet.core.checks import require_valid
from judgenet.core.endpoints import EndpointKind, EndpointProfile, check_profile
from judgenet.core.extra_fields import extra_text
from judgenet.core.network import NetworkSpec, Role, RoleKind, ScoresSetting, Settings, StandIn
from judgenet.core.project import PROJECT_SUFFIX, Project, select
from judgenet.core.reasoning import ReasoningValue
from judgenet.core.stand_ins import read_stand_in
from judgenet.engine.endpoints import NotApproved
from judgenet.engine.prepare import allow
from judgenet.engine.setup import read_source
from judgenet.store.files import load_project, save_project
from judgenet.store.settings import profile_from_flags

if TYPE_CHECKING:
    import networkx as nx

StandInLike = str | EndpointProfile
"""A model that stands in: ``"ENDPOINT/MODEL"``, or an endpoint with a model of its own."""


@dataclass(frozen=True)
class Network:
    """A network of judges and the endpoints of its own that it names.

    ``spec`` is the design as a value; ``prompts`` are edited prompt templates by name. ``study`` is the project that it
    was loaded from: you have to approve what such a project sends, and where to (``judgenet endpoint trust``).
    """

    spec: NetworkSpec
    endpoints: tuple[EndpointProfile, ...] = ()
    prompts: tuple[tuple[str, str], ...] = ()
    study: Study | None = field(default=None, repr=False, compare=False)

    @classmethod
    def layers(
        cls,
        width: int | None,
        depth: int,
        *,
        model: str | None = None,
        endpoint: str | EndpointProfile = "embedded",
        roles: RoleKind | Sequence[str | Role] = "generated",
        orders: Literal["both", "ab", "ba", "random"] = "both",
        samples: int = 1,
        temperature: float | Literal["default"] = "default",
        max_tokens: int = 1024,
        reasoning: ReasoningValue | None = None,
        scores: ScoresSetting | None = None,
        extra: Mapping[str, Any] | None = None,
        chair: bool = False,
        seed: int = 0,
        name: str | None = None,
        stop_when: str | None = None,
        stand_in: StandInLike | Sequence[StandInLike] = (),
        quorum: int | None = None,
    ) -> Network:
        """A network of ``depth`` layers of ``width`` equal judges each (WideDeep, arXiv 2308.01862).

        Args:
            width: judges in each layer; ``None``: as many as a pair has roles.
            model: the model to ask; an endpoint that has a model of its own needs none.
            endpoint: the name of an endpoint (``"openai"``, ``"embedded"``, one of your settings), or one that
                :func:`judgenet.endpoint` made.
            roles: ``"generated"`` by the model for each pair, ``"criteria"`` (those of the pair, one a judge, with
                their weights in votes and averages), ``"none"``, or names of roles, one a judge.
            orders: in which orders the responses are shown; ``"random"`` draws one a call.
            samples: calls of each judge in each order.
            temperature: from 0 to 2; ``"default"`` leaves it to the endpoint.
            max_tokens: the longest answer, in tokens; the room for thinking comes on top.
            reasoning: how much the model thinks before it answers: an effort (``"none"`` to ``"max"``), or the most
                thinking tokens; ``None`` leaves it to the endpoint.
            scores: ``"probabilities"`` for expected scores from the probabilities of the model's tokens, where the
                endpoint gives them; ``run.agreement().probabilities`` counts the calls where it does not.
            extra: further fields of every request, such as ``{"top_k": 20}``.
            chair: one more judge reads the last layer and decides.
            seed: draws what is random, such as ``"random"`` orders.
            name: the network's name; ``None``: by its shape.
            stop_when: a stop rule, so that more is asked of a pair only where it does not hold: ``"orders-agree"``,
                ``"margin>=2 after=1"`` and the others of ``judgenet run --stop-when``.
            stand_in: what is asked in place of ``model`` when its endpoint stops: ``"backup/gpt-4o-mini"`` as
                ``judgenet run --stand-in`` takes it, an endpoint that :func:`judgenet.endpoint` made, or several of
                them, asked in their order. The record of each call says who answered.
            quorum: no verdict where fewer judges than this have a valid answer: such pairs count as missing.

        Raises:
            judgenet.core.network.NetworkError: the design cannot run; the message says why.
            judgenet.core.documents.DocumentError: a field of ``extra`` cannot be sent.
        """
        own: tuple[EndpointProfile, ...] = (endpoint,) if isinstance(endpoint, EndpointProfile) else ()
        place = endpoint.name if isinstance(endpoint, EndpointProfile) else endpoint
        if model is None and isinstance(endpoint, EndpointProfile):
            model = endpoint.model
        given: RoleKind | list[Role]
        if isinstance(roles, str):
            given = cast("RoleKind", roles)
        else:
            given = [Role(value) if isinstance(value, str) else value for value in roles]
        others = [stand_in] if isinstance(stand_in, str | EndpointProfile) else list(stand_in)
        own += tuple(value for value in others if isinstance(value, EndpointProfile))
        standing_in = (
            read_stand_in(value) if isinstance(value, str) else StandIn(value.name, value.model) for value in others
        )
        settings = Settings(
            endpoint=place,
            model=model,
            temperature=temperature,
            max_tokens=max_tokens,
            stand_in=tuple(standing_in) or None,
            reasoning=reasoning,
            scores=scores,
            extra=None if extra is None else extra_text(extra, "extra"),
        )
        spec = presets.network(
            width,
            depth,
            roles=given,
            orders=orders,
            samples=samples,
            seed=seed,
            chair=chair,
            settings=settings,
            name=name,
        )
        if stop_when is not None:
            spec = with_rule(spec, stop_when)
        if quorum is not None:
            spec = replace(spec, aggregation=replace(spec.aggregation, quorum=quorum))
        require_valid(spec)
        return cls(spec, own)

    @property
    def name(self) -> str:
        """The network's name."""
        return self.spec.name

    @classmethod
    def from_file(cls, path: str | Path) -> Network:
        """The network in a file of GraphML or node-link JSON, as :meth:`to_file` or another program wrote it.

        :raises judgenet.core.network.NetworkError: the file cannot be read, or holds no network of judges; the message
            says where and how to mend it.
        """
        from judgenet.formats.network_files import read_network

        return cls(read_network(Path(path)))

    @classmethod
    def from_graph(cls, graph: nx.DiGraph[Any]) -> Network:
        """The network of a networkx graph whose edges lead from each neuron to those that read it.

        Attributes of nodes say what each is; see :func:`judgenet.core.network_from_graph.from_graph`.

        :raises judgenet.core.network.NetworkError: the graph is no network of judges.
        """
        from judgenet.core.network_from_graph import from_graph

        return cls(from_graph(graph))

    def to_file(self, path: str | Path) -> Path:
        """Writes who reads whom by the ending of ``path``: ``.graphml``, ``.json`` (node-link), ``.dot`` (Graphviz) or
        ``.svg`` (a picture). :meth:`from_file` reads the first two. Returns the path.

        :raises judgenet.core.network.NetworkError: another ending.
        :raises judgenet.store.files.FileError: it cannot be written.
        """
        from judgenet.report.network_files import write_network

        write_network(self.spec, Path(path))
        return Path(path)

    def graph(self) -> nx.DiGraph[str]:
        """Who reads whom, as a networkx graph. It is a copy that you may change; :meth:`from_graph` reads it back."""
        from judgenet.core.network_graph import graph

        return graph(self.spec)

    def save(self, path: str | Path) -> Path:
        """Writes a project file that the studio and the command line open, and returns its path.

        :raises judgenet.store.files.FileError: it cannot be written.
        """
        target = Path(path).with_suffix(PROJECT_SUFFIX)
        project = Project.new(target.stem, self.spec)
        if self.study is None:
            allow(self.endpoints, target.absolute().parent, project.salt)
        save_project(replace(project, endpoints=self.endpoints, prompts=dict(self.prompts)), target)
        return target

    def __repr__(self) -> str:
        return f"<Network {self.spec.name}: {self.spec.depth} layers>"


@dataclass(frozen=True)
class Study:
    """A project file: its network, and its pairs, which are read when they are asked for."""

    path: Path
    project: Project

    @property
    def network(self) -> Network:
        """The network with the project's endpoints and prompts."""
        return Network(self.project.network, self.project.endpoints, tuple(self.project.prompts.items()), self)

    @property
    def folder(self) -> Path:
        """The project's folder, from which its relative paths start."""
        return self.path.absolute().parent

    @property
    def pairs(self) -> Pairs:
        """The pairs that the project names.

        :raises ValueError: it names none.
        :raises judgenet.engine.endpoints.NotApproved: a file lies outside the project's folder, and you have not
            approved it.
        :raises judgenet.formats.DataError: a file cannot be read.
        """
        source = self.project.pairs
        if source is None:
            raise ValueError(f"{self.path} names no pairs. Read some with judgenet.read_pairs.")
        try:
            dataset = read_source(source, self.folder, self.project.salt)
        except NotApproved as error:
            raise NotApproved(error.needs, self.path) from None
        return Pairs(select(dataset.pairs, source.selection), dataset)


def load(path: str | Path) -> Study:
    """Opens a project file (``.judgenet``). Nothing is sent, and no pair is read yet.

    :raises judgenet.core.project.ProjectError: it is no project, or something in it cannot be used.
    """
    return Study(Path(path), load_project(Path(path)))


def endpoint(
    base_url: str,
    model: str,
    *,
    api_key_env: str | None = None,
    kind: EndpointKind | None = None,
    concurrency: int | None = None,
    extra: Mapping[str, Any] | None = None,
    context_length: int | None = None,
) -> EndpointProfile:
    """An endpoint by its address, for :meth:`Network.layers`.

    ``api_key_env`` is the name, not the value, of the environment variable that holds the key; keys of well-known hosts
    are found automatically. ``concurrency`` is the maximum number of parallel calls. ``extra`` are further fields of
    every request, such as ``{"top_k": 20}``. ``context_length`` is the context in tokens that an endpoint of kind
    ``"ollama"`` loads a model with.

    :raises judgenet.store.settings.SettingsError: the address cannot be used.
    :raises judgenet.core.endpoints.ProfileError: another kind of endpoint takes no length of the context.
    :raises judgenet.core.documents.DocumentError: a field of ``extra`` cannot be sent.
    """
    profile = profile_from_flags(base_url, model, api_key_env, kind=kind, concurrency=concurrency)
    profile = replace(profile, extra=extra_text(extra, "extra") if extra else None, context_length=context_length)
    check_profile(profile)
    return profile
