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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePath, PureWindowsPath
from typing import Annotated, Any, Literal

from judgenet.core.documents import DocumentError, Extra, Fields, extra_of, parse, to_text, with_extra
from judgenet.core.endpoints import EndpointProfile, profile_from_json, profile_to_json
from judgenet.core.keys import secrets_in
from judgenet.core.network import NetworkSpec
from judgenet.core.network_json import network_schema, read_network, to_json
from judgenet.core.pair_edits import PairEdits, edits_from_json, edits_schema, edits_to_json
from judgenet.core.pairs import Pair, Verdict
from judgenet.core.plan import PriceError, prices_from_json
from judgenet.core.requirements import parse_requirement
from judgenet.core.sorting import sorted_in_parts
from judgenet.core.values import Codec, Schema, member, read, schema_of, write
from judgenet.version import __version__

SCHEMA = 1

RULE = "aggregation"
"""The name in a project's metadata of the aggregation that gives the verdict."""

LIMITS = "limits"
"""The name in a project's metadata of what a start of a run in the studio must not exceed."""

BATCH = "batch"
"""The name in a project's metadata of whether runs in the studio go by batches, and until when."""

STOP = "stop"
"""The name in a project's metadata of how a run in the studio may end before its last pair."""
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
    count: int | None = member(None, schema={"minimum": 1})
    seed: int = member(0, when=lambda of: of.kind in ("sample", "per_task") or of.seed != 0)
    ids: tuple[str, ...] = member((), written="changed")
    left_out: tuple[str, ...] = member((), written="changed")

    def faults(self) -> Iterator[tuple[str, str]]:
        """What is wrong with it, by member."""
        if self.kind in ("first", "sample", "per_task") and (self.count is None or self.count < 1):
            yield "count", "must be 1 or more"
        if self.kind == "ids" and not self.ids:
            yield "ids", "must name one pair or more"


def _read_files(value: Any, path: str, _strict: bool) -> tuple[str, ...]:
    owner, _, name = path.rpartition(".")
    files = Fields({name: value}, owner).texts(name)
    if not files or not all(files):
        raise DocumentError(path, "must name one file or more, relative to the project's folder")
    return tuple(file.replace("\\", "/") for file in files)


def _read_edits(value: Any, path: str, _strict: bool) -> PairEdits:
    return edits_from_json(Fields(value, path))


_EDITS = Codec(_read_edits, edits_to_json, edits_schema())
_FILES = Codec(_read_files, list, {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1}, True)


@dataclass(frozen=True, slots=True)
class PairsSource:
    """Where the pairs come from.

    ``files`` are paths relative to the project's folder with forward slashes (absolute only on another drive of
    Windows); several together are one data set (FairEval's four). a ``format`` of ``None`` is recognised by content.
    ``columns`` gives the file's column names by our field names, ``labels`` our verdict (``a``, ``b``, ``tie``, or
    ``None`` for "no label") by the file's value; empty, they follow the format. ``options`` are the other members of
    ``formats.PairMapping`` (joiner, seed, no_majority, encoding, sheet, leave_out_bad, …). ``edits`` are changes of
    single pairs, made after reading (:mod:`judgenet.core.pair_edits`).
    """

    files: tuple[str, ...] = member(codec=_FILES, says="Paths relative to the project's folder.")
    format: str | None = member(None, says="The format of the files; absent: told by their content.")
    columns: Mapping[str, str] = member(factory=dict, says="The files' column names by the fields of a pair.")
    labels: Mapping[str, Verdict | None] = member(factory=dict, says="Verdicts by the files' labels; null: no label.")
    options: Mapping[str, Any] = member(factory=dict, written="changed")
    selection: Selection = member(factory=Selection)
    edits: PairEdits = member(factory=dict, written="changed", codec=_EDITS, says="Changes of single pairs, by id.")

    @property
    def mapping(self) -> dict[str, Any] | None:
        """What ``formats.PairMapping.from_json`` takes, ``None`` where all is as the format has it."""
        if not (self.columns or self.labels or self.options):
            return None
        return {**self.options, "columns": dict(self.columns), "labels": dict(self.labels) or None}


def _read_salt(value: Any, path: str, _strict: bool) -> str:
    if not isinstance(value, str) or not _SALT.fullmatch(value):
        raise DocumentError(
            path,
            "is missing or no text of 16 to 128 letters and digits; for a new project, "
            f'write "salt": "{new_salt()}" and never change it',
        )
    return value


def _read_endpoints(value: Any, path: str, refuse_unknown: bool) -> tuple[EndpointProfile, ...]:
    owner = Fields(value, path)
    return tuple(
        profile_from_json(name, _portable(record), owner.at(name), refuse_unknown=refuse_unknown)
        for name, record in owner.members.items()
    )


def _write_endpoints(profiles: tuple[EndpointProfile, ...]) -> dict[str, Any]:
    endpoints = {profile.name: profile_to_json(profile) for profile in profiles}
    if len(endpoints) < len(profiles):
        raise ProjectError("endpoints", "two endpoints have the same name")
    return endpoints


def _read_prices(value: Any, path: str, _strict: bool) -> dict[str, Any]:
    fields = Fields(value, path)
    if fields.members:
        try:
            prices_from_json(to_text(fields.members), path)
        except PriceError as error:
            member_path, _, problem = str(error).removeprefix(f"{path}: ").partition(": ")
            raise fields.error(member_path, problem) from None
    return fields.members


_NETWORK = Codec(read_network, to_json, network_schema)
_SALTS = Codec(_read_salt, str, {"type": "string", "pattern": f"^{_SALT.pattern}$"}, True)
_ENDPOINTS = Codec(
    _read_endpoints,
    _write_endpoints,
    lambda defined: {"type": "object", "additionalProperties": schema_of(EndpointProfile, defined)},
)
_PRICES = Codec(_read_prices, dict, {"type": "object"})


@dataclass(frozen=True, slots=True)
class Project:
    """A project.

    ``salt`` marks the delimiters of this project's prompts; with another one no recorded call is found again.
    ``prompts`` are texts by template name, used instead of the shipped ones. ``prices`` is a price table in the form
    of the shipped one (``core.plan``), whose entries come before it, or empty. ``requirements`` are those of
    ``judgenet check`` (``core.requirements``). ``metadata`` is the user's own.
    ``readonly`` is true for a document of a newer program; ``notice`` then says so in words for the user.
    ``extra`` are members that this program does not know and writes back.
    """

    name: str
    network: Annotated[NetworkSpec, _NETWORK]
    salt: Annotated[str, _SALTS]
    pairs: PairsSource | None = None
    endpoints: tuple[EndpointProfile, ...] = member((), codec=_ENDPOINTS, says="Endpoints of its own, by name.")
    prompts: Mapping[str, str] = member(factory=dict, says="Texts used instead of the shipped prompts, by template.")
    prices: Mapping[str, Any] = member(factory=dict, codec=_PRICES, says="A price table, or empty.")
    requirements: tuple[str, ...] = member((), written="changed", says="What runs must meet (judgenet check).")
    metadata: Mapping[str, Any] = member(factory=dict, says="The user's own.")
    readonly: bool = member(False, written="never")
    notice: str = member("", written="never")
    extra: Extra = member((), written="never")

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.endpoints, key=lambda profile: profile.name))
        object.__setattr__(self, "endpoints", ordered)

    def faults(self) -> Iterator[tuple[str, str]]:
        """What is wrong with it, by member."""
        for place, text in enumerate(self.requirements):
            try:
                parse_requirement(text)
            except DocumentError as error:
                yield f"requirements[{place}]", error.problem

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
            project = _read(document)
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
            _read(parse(text))
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
            shown = ", ".join(repr(missing_id) for missing_id in missing[:5]) + (" …" if len(missing) > 5 else "")
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


def _read(document: dict[str, Any]) -> Project:
    return read(Project, document, refuse_unknown=False)


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
    return {"schema": SCHEMA, "requires": REQUIRES, **write(project)}


SCHEMA_FILE = "project.schema.json"
"""The resource that holds :func:`project_schema`; ``python packaging/project_schema.py`` writes it."""


def project_schema() -> Schema:
    """The JSON Schema (draft 2020-12) of a project file. Members that it does not name are allowed, and are kept."""
    defined: dict[str, Schema] = {}
    schema_of(Project, defined)
    whole = defined.pop(Project.__name__)
    whole["properties"] = {
        "schema": {"const": SCHEMA, "description": "Version of the document."},
        "requires": {"type": "string", "description": "The first program version that knows it."},
        **whole["properties"],
    }
    whole["required"] = ["schema", *whole["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"JudgeNet project ({PROJECT_SUFFIX}), version {SCHEMA}",
        **whole,
        "$defs": dict(sorted(defined.items())),
    }
