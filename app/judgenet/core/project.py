"""The project document: what is judged, by which network, through which endpoints. No secret is ever in it.

The text is JSON with a schema version, sorted names and paths relative to the project's folder, so that it can be
kept in version control and moved between systems.
"""

from __future__ import annotations

import hashlib
import ntpath
import posixpath
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import PurePath, PureWindowsPath
from typing import Any, Literal

from judgenet.core.documents import DocumentError, Extra, Fields, extra_of, parse, to_text, with_extra
from judgenet.core.endpoints import EndpointProfile, profile_from_json, profile_to_json
from judgenet.core.keys import secrets_in
from judgenet.core.network import NetworkError, NetworkSpec
from judgenet.core.network_json import from_json, to_json
from judgenet.core.pair_edits import PairEdits, edits_from_json, edits_to_json
from judgenet.core.pairs import VERDICTS, Pair, Verdict
from judgenet.core.plan import PriceError, prices_from_json
from judgenet.core.sorting import sorted_in_parts
from judgenet.version import __version__

SCHEMA = 1

RULE = "aggregation"
"""The name in a project's metadata of the aggregation that gives the verdict."""

LIMITS = "limits"
"""The name in a project's metadata of what a start of a run in the studio must not exceed."""
"""Version of the document that this program reads and writes."""

REQUIRES = "0.1.0"
"""The first program version that knows :data:`SCHEMA`; written into the file for programs that do not."""

PROJECT_SUFFIX = ".judgenet"

Migration = Callable[[dict[str, Any]], dict[str, Any]]
MIGRATIONS: dict[int, Migration] = {}
"""By version: turns a document of that version into one of the next."""

SelectionKind = Literal["all", "first", "sample", "per_task", "ids"]

_SALT = re.compile(r"[0-9A-Za-z_-]{16,128}")
_DRIVE = re.compile(r"[A-Za-z]:")


class ProjectError(DocumentError):
    """A project that cannot be read, used or written; the message names the JSON path and how to mend it."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which pairs of the source are judged.

    ``first``: the first ``count``. ``sample``: ``count`` drawn by ``seed``. ``per_task``: ``count`` of each task, drawn
    by ``seed``; pairs without a task are one more task. ``ids``: those named. Those of ``left_out`` are not judged,
    however they were selected.
    """

    kind: SelectionKind = "all"
    count: int | None = None
    seed: int = 0
    ids: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PairsSource:
    """Where the pairs come from.

    ``files`` are paths relative to the project's folder with forward slashes (absolute only on another drive of
    Windows); several together are one data set (FairEval's four). ``format`` of ``None`` is told by content.
    ``columns`` gives the file's column names by our field names, ``labels`` our verdict (``a``, ``b``, ``tie``, or
    ``None`` for "no label") by the file's value; empty, they follow the format. ``options`` are the other members of
    ``formats.PairMapping`` (joiner, seed, no_majority, encoding, sheet, leave_out_bad, …). ``edits`` are changes of
    single pairs, made after reading (:mod:`judgenet.core.pair_edits`).
    """

    files: tuple[str, ...]
    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Verdict | None] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    selection: Selection = field(default_factory=Selection)
    edits: PairEdits = field(default_factory=dict)

    @property
    def mapping(self) -> dict[str, Any] | None:
        """What ``formats.PairMapping.from_json`` takes, ``None`` where all is as the format has it."""
        if not (self.columns or self.labels or self.options):
            return None
        return {**self.options, "columns": dict(self.columns), "labels": dict(self.labels) or None}


@dataclass(frozen=True, slots=True)
class Project:
    """A project.

    ``salt`` marks the delimiters of this project's prompts; with another one no recorded call is found again.
    ``prompts`` are texts by template name, used instead of the shipped ones. ``prices`` is a price table in the form
    of the shipped one (``core.plan``), whose entries come before it, or empty. ``metadata`` is the user's own.
    ``readonly`` is true for a document of a newer program; ``notice`` then says so in words for the user.
    ``extra`` are members that this program does not know and writes back.
    """

    name: str
    network: NetworkSpec
    salt: str
    pairs: PairsSource | None = None
    endpoints: tuple[EndpointProfile, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)
    prices: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    readonly: bool = False
    notice: str = ""
    extra: Extra = ()

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.endpoints, key=lambda profile: profile.name))
        object.__setattr__(self, "endpoints", ordered)

    @classmethod
    def new(cls, name: str, network: NetworkSpec, pairs: PairsSource | None = None) -> Project:
        """A new project with a salt of its own."""
        return cls(name, network, new_salt(), pairs)

    @classmethod
    def loads(cls, text: str) -> Project:
        """The project of a document.

        Members that this version does not know are kept. A document of a newer version opens read-only where what
        is known of it can be read.

        :raises ProjectError: where it is no project, or something in it cannot be used.
        """
        notice = ""
        try:
            fields = Fields(parse(text))
            schema = fields.whole("schema")
            if schema is None or schema < 1:
                raise fields.error("schema", "is missing or not a version number: this is no JudgeNet project")
            if schema > SCHEMA:
                notice = _newer(schema, fields.members.get("requires"))
            document = _migrated(fields.members, schema)
            project = _read(Fields(document))
        except DocumentError as error:
            raise ProjectError(error.path, f"{error.problem}. {notice}" if notice else error.problem) from None
        return replace(project, readonly=bool(notice), notice=notice, extra=extra_of(document, _tree(project)))

    def dumps(self) -> str:
        """The document.

        :raises ProjectError: for a read-only project, a path that is not relative, a value that JSON does not have,
            or one that looks like a key.
        """
        if self.readonly:
            raise ProjectError("", f"The project is read-only and was not saved. {self.notice}")
        for path, text in _paths(self):
            if text.startswith("/") and not text.startswith("//"):
                raise ProjectError(path, f"{text!r} is absolute; a project holds paths relative to its folder")
        try:
            tree = with_extra(_tree(self), self.extra)
            for path, why in secrets_in({name: value for name, value in tree.items() if name != "salt"}):
                raise ProjectError(path, f"{why}; a project holds names of keys only")
            text = to_text(tree)
            _read(Fields(parse(text)))
        except ProjectError:
            raise
        except DocumentError as error:
            raise ProjectError(error.path, error.problem) from None
        return text


def new_salt() -> str:
    """A random salt (128 bits, hex)."""
    return secrets.token_hex(16)


def select(pairs: Sequence[Pair], selection: Selection) -> tuple[Pair, ...]:
    """The selected pairs, in the order of the source.

    A sample ranks ids by the SHA-256 of seed and id and takes the first ``count`` (of all, or of each task): it does
    not depend on the order of the source, and a larger sample holds the smaller one, so that its calls are not paid
    for again.

    :raises ProjectError: for ids that the source does not have, or a missing count.
    """
    chosen = _selected(pairs, selection)
    if not selection.left_out:
        return chosen
    left_out = set(selection.left_out)
    return tuple(pair for pair in chosen if pair.id not in left_out)


def _selected(pairs: Sequence[Pair], selection: Selection) -> tuple[Pair, ...]:
    if selection.kind == "all":
        return tuple(pairs)
    if selection.kind == "ids":
        wanted = set(selection.ids)
        missing = sorted(wanted - {pair.id for pair in pairs})
        if missing:
            shown = ", ".join(repr(one) for one in missing[:5]) + (" …" if len(missing) > 5 else "")
            raise ProjectError("pairs.selection.ids", f"{len(missing)} of the ids are not in the pairs: {shown}")
        return tuple(pair for pair in pairs if pair.id in wanted)
    if selection.count is None or selection.count < 1:
        raise ProjectError("pairs.selection.count", "must be 1 or more")
    if selection.kind == "first":
        return tuple(pairs[: selection.count])
    by_task: dict[str | None, list[Pair]] = {}
    for pair in pairs:
        by_task.setdefault(pair.task if selection.kind == "per_task" else None, []).append(pair)
    chosen: set[str] = set()
    for group in by_task.values():
        ranked = [(_rank(selection.seed, pair.id), pair.id) for pair in group]
        chosen.update(pair_id for _, pair_id in islice(sorted_in_parts(ranked), selection.count))
    return tuple(pair for pair in pairs if pair.id in chosen)


def relative_path(target: PurePath, folder: PurePath) -> str:
    """``target`` as a project in ``folder`` writes it: relative, with forward slashes. Both are absolute.

    A file on another drive of Windows has no relative path and stays absolute.

    :raises ProjectError: for a name with a backslash in it, which Windows takes for two names.
    """
    if isinstance(folder, PureWindowsPath):
        try:
            return ntpath.relpath(str(target), str(folder)).replace("\\", "/")
        except ValueError:
            return target.as_posix()
    relative = posixpath.relpath(str(target), str(folder))
    if "\\" in relative:
        raise ProjectError("", f"{relative!r} has a backslash in its name, which other systems cannot read; rename it")
    return relative


def rebased(project: Project, before: PurePath, after: PurePath) -> Project:
    """The project moved from folder ``before`` to ``after`` (both absolute): its paths point to the same files, and
    absolute ones become relative where they can."""

    def turned(text: str) -> str:
        if _absolute(text):
            # "D:/x" means nothing on a system without drives: kept as it is for the system that wrote it.
            return relative_path(type(after)(text), after) if type(after)(text).is_absolute() else text
        return text if before == after else relative_path(before / text, after)

    pairs = project.pairs and replace(project.pairs, files=tuple(turned(file) for file in project.pairs.files))
    endpoints = tuple(
        replace(profile, source=turned(profile.source)) if profile.source else profile for profile in project.endpoints
    )
    return replace(project, pairs=pairs, endpoints=endpoints)


def _rank(seed: int, pair_id: str) -> bytes:
    return hashlib.sha256(f"{seed}:{pair_id}".encode("utf-8", "surrogatepass")).digest()


def _absolute(path: str) -> bool:
    return path.startswith("/") or _DRIVE.match(path) is not None


def _newer(schema: int, requires: object) -> str:
    version = f"JudgeNet {requires} or newer" if isinstance(requires, str) and requires else "a newer JudgeNet"
    return (
        f"This project was written by a newer program (project version {schema}; JudgeNet {__version__} knows "
        f"{SCHEMA}). It is open for reading only; to change it, use {version}."
    )


def _migrated(document: dict[str, Any], schema: int) -> dict[str, Any]:
    for version in range(schema, SCHEMA):
        document = MIGRATIONS[version](document) | {"schema": version + 1, "requires": REQUIRES}
    return document


def _read(fields: Fields) -> Project:
    salt = fields.members.get("salt")
    if not isinstance(salt, str) or not _SALT.fullmatch(salt):
        raise fields.error(
            "salt",
            "is missing or no text of 16 to 128 letters and digits; for a new project, "
            f'write "salt": "{new_salt()}" and never change it',
        )
    if "network" not in fields.members:
        raise fields.error("network", "is missing")
    try:
        network = from_json(fields.members["network"], "network", refuse_unknown=False)
    except NetworkError as error:
        path, _, problem = str(error).partition(": ")
        raise ProjectError(path, problem) from None
    endpoints = fields.inner("endpoints")
    return Project(
        name=fields.text("name"),
        network=network,
        salt=salt,
        pairs=None if fields.members.get("pairs") is None else _read_pairs(fields.inner("pairs")),
        endpoints=tuple(
            profile_from_json(name, _portable(record), endpoints.at(name), refuse_unknown=False)
            for name, record in endpoints.members.items()
        ),
        prompts=fields.text_map("prompts"),
        prices=_read_prices(fields.inner("prices")),
        metadata=fields.inner("metadata").members,
    )


def _read_pairs(fields: Fields) -> PairsSource:
    files = fields.texts("files")
    if not files or not all(files):
        raise fields.error("files", "must name one file or more, relative to the project's folder")
    labels = fields.inner("labels")
    for value, verdict in labels.members.items():
        if verdict not in (*VERDICTS, None):
            raise labels.error(value, 'must be "a", "b", "tie" or null')
    return PairsSource(
        files=tuple(file.replace("\\", "/") for file in files),
        format=fields.optional_text("format"),
        columns=fields.text_map("columns"),
        labels=labels.members,
        options=fields.inner("options").members,
        selection=_read_selection(fields.inner("selection")),
        edits=edits_from_json(fields.inner("edits")),
    )


def _read_selection(fields: Fields) -> Selection:
    kind: SelectionKind = fields.choice("kind", SelectionKind, "all")
    count = fields.whole("count")
    if kind in ("first", "sample", "per_task") and (count is None or count < 1):
        raise fields.error("count", "must be 1 or more")
    ids = fields.texts("ids")
    if kind == "ids" and not ids:
        raise fields.error("ids", "must name one pair or more")
    return Selection(kind, count, fields.whole("seed", 0), ids, fields.texts("left_out"))


def _read_prices(fields: Fields) -> dict[str, Any]:
    if fields.members:
        try:
            prices_from_json(to_text(fields.members), fields.path)
        except PriceError as error:
            path, _, problem = str(error).removeprefix(f"{fields.path}: ").partition(": ")
            raise fields.error(path, problem) from None
    return fields.members


def _portable(record: object) -> object:
    if isinstance(record, dict) and isinstance(record.get("source"), str):
        return record | {"source": record["source"].replace("\\", "/")}
    return record


def _paths(project: Project) -> Iterable[tuple[str, str]]:
    """(JSON path, text) of every path to a file in the project."""
    if project.pairs is not None:
        for place, file in enumerate(project.pairs.files):
            yield f"pairs.files[{place}]", file
    for profile in project.endpoints:
        if profile.source:
            yield f"endpoints.{profile.name}.source", profile.source


def _tree(project: Project) -> dict[str, Any]:
    endpoints = {profile.name: profile_to_json(profile) for profile in project.endpoints}
    if len(endpoints) < len(project.endpoints):
        raise ProjectError("endpoints", "two endpoints have the same name")
    tree: dict[str, Any] = {
        "schema": SCHEMA,
        "requires": REQUIRES,
        "name": project.name,
        "network": to_json(project.network),
        "salt": project.salt,
        "endpoints": endpoints,
        "prompts": dict(project.prompts),
        "prices": dict(project.prices),
        "metadata": dict(project.metadata),
    }
    if project.pairs is not None:
        source = project.pairs
        selection: dict[str, Any] = {"kind": source.selection.kind}
        if source.selection.count is not None:
            selection["count"] = source.selection.count
        if source.selection.kind in ("sample", "per_task") or source.selection.seed:
            selection["seed"] = source.selection.seed
        if source.selection.ids:
            selection["ids"] = list(source.selection.ids)
        if source.selection.left_out:
            selection["left_out"] = list(source.selection.left_out)
        tree["pairs"] = {
            "files": list(source.files),
            "columns": dict(source.columns),
            "labels": dict(source.labels),
            "selection": selection,
        }
        if source.format is not None:
            tree["pairs"]["format"] = source.format
        if source.options:
            tree["pairs"]["options"] = dict(source.options)
        if source.edits:
            tree["pairs"]["edits"] = edits_to_json(source.edits)
    return tree
