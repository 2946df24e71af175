"""What this user has approved on this computer: where keys and data may go, and which files a project may read.

A project file comes from anywhere, so nothing in it can approve anything. A key goes to an address (scheme, host and
port) only where the user's own settings name both together, where the host is the provider's own and the key is that
provider's, or where the user approved the two. Headers, and files outside a project's folder, are held in the same way.
The approvals stand in ``approvals.json`` in the configuration folder.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from judgenet.assets import asset, example
from judgenet.core.documents import DocumentError, Fields, parse, to_text
from judgenet.core.endpoints import DEFAULT_URLS, EndpointProfile
from judgenet.core.project import Project
from judgenet.store.db import StoreError
from judgenet.store.files import FileError, atomic_write, read_text
from judgenet.store.locate import find_store
from judgenet.store.settings import builtin_profiles, config_folder, provider_keys, user_profiles

APPROVALS_SCHEMA = 1

NeedKind = Literal["key", "address", "header", "file"]


@dataclass(frozen=True, slots=True, order=True)
class ApprovalNeed:
    """One thing that a project asks for and the user has to approve.

    ``key``: the key ``name`` is sent to ``place`` (an address). ``address``: pairs and prompts are sent to ``place``.
    ``header``: the header ``name`` ("Name: value") is sent to ``place``. ``file``: the file ``place`` is read by the
    project ``name`` (see :func:`project_mark`). ``endpoint`` is whose need it is, empty for a file of pairs.
    """

    kind: NeedKind
    place: str
    name: str = ""
    endpoint: str = ""

    @property
    def words(self) -> str:
        """What is asked for, in a sentence without its full stop."""
        if self.kind == "key":
            return f"send the key {self.name}, prompts and pairs to {self.place}{self._by}"
        if self.kind == "address":
            return f"send prompts and pairs to {self.place}{self._by}"
        if self.kind == "header":
            return f"send the header {self.name} to {self.place}{self._by}"
        return f"read {self.place}, which is outside its folder{self._by}"

    @property
    def _by(self) -> str:
        return f" (endpoint {self.endpoint})" if self.endpoint else ""

    @property
    def entry(self) -> ApprovalNeed:
        """What is kept of it: the approval is of a place, whichever endpoint asks."""
        return ApprovalNeed(self.kind, self.place, self.name)


_lock = threading.Lock()
_session: set[ApprovalNeed] = set()
"""Approvals that could not be written; they hold until the program ends."""


def approvals_path() -> Path:
    """The file of the user's approvals; it need not exist."""
    return config_folder() / "approvals.json"


def approved() -> tuple[ApprovalNeed, ...]:
    """All approvals that are kept, sorted.

    :raises FileError: the file cannot be read.
    """
    return tuple(sorted(_read()))


def approve(needs: Iterable[ApprovalNeed]) -> None:
    """Keeps approvals.

    :raises FileError: they cannot be written; they hold until the program ends.
    """
    with _lock:
        wanted = {need.entry for need in needs}
        if not wanted or wanted <= (kept := _read()):
            return
        try:
            _write(kept | wanted)
        except OSError:
            _session.update(wanted)
            raise


def revoke(word: str) -> tuple[ApprovalNeed, ...]:
    """Takes back every approval of an address, a key's name or a file, or ``all``; gives those that were taken back.

    :raises FileError: the file cannot be read or written.
    """
    words = {word, str(Path(word).absolute().resolve())}
    if "://" in word:
        words.add(address_of(word))
    return take_back(need for need in approved() if word == "all" or words & {need.place, need.name})


def take_back(needs: Iterable[ApprovalNeed]) -> tuple[ApprovalNeed, ...]:
    """Takes back these approvals; gives those that there were.

    :raises FileError: the file cannot be read or written.
    """
    with _lock:
        kept = _read()
        gone = kept.intersection(needs)
        if gone:
            _write(kept - gone)
        _session.difference_update(gone)
    return tuple(sorted(gone))


def project_mark(salt: str) -> str:
    """Stands for a project in the approvals of files: its salt is random and known to nobody who did not have the
    project, and it stays when the project is moved or saved under another name."""
    return hashlib.sha256(salt.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def address_of(url: str) -> str:
    """Scheme, host and port of a URL, as approvals name them: ``https://api.openai.com:443``."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def endpoint_needs(profiles: Iterable[EndpointProfile], folder: Path | None, salt: str) -> tuple[ApprovalNeed, ...]:
    """What these endpoints need and was not approved. ``folder`` and ``salt`` are the project's; sources are paths from
    the working folder or absolute (:func:`judgenet.store.settings.profiles`).

    :raises FileError: the approvals cannot be read.
    :raises SettingsError: the user's settings cannot be read.
    """
    own = [*builtin_profiles().values(), *user_profiles().values()]
    allowed = _read() | _session
    needs: dict[ApprovalNeed, None] = {}
    reached = {need.place for need in allowed if need.kind in ("key", "address")}
    for profile in profiles:
        for need in _of_profile(profile, own, folder, salt):
            if need.entry not in allowed and not (need.kind == "address" and need.place in reached):
                needs[need] = None
    return tuple(needs)


def file_needs(files: Sequence[str | Path], folder: Path, salt: str) -> tuple[ApprovalNeed, ...]:
    """What the pair files of a project need and was not approved: relative paths start at ``folder``. A folder among
    the files is looked through, for links that lead out of it.

    :raises FileError: the approvals cannot be read.
    """
    outside = [place for file in files for place in _outside(folder / file, folder)]
    if not outside:
        return ()
    allowed = _read() | _session
    needs = dict.fromkeys(ApprovalNeed("file", place, project_mark(salt)) for place in outside)
    return tuple(need for need in needs if need.entry not in allowed)


def picture_need(path: Path, folder: Path, salt: str) -> ApprovalNeed | None:
    """What a picture that the pairs of a project name needs and was not approved, ``None`` where it may be read: below
    ``folder``, or below a folder that was approved. What is asked for is the folder of the picture.

    :raises FileError: the approvals cannot be read.
    """
    outside = _outside(path, folder)
    if not outside:
        return None
    mark = project_mark(salt)
    place = Path(outside[0])
    given = {Path(need.place) for need in _read() | _session if need.kind == "file" and need.name == mark}
    # Nothing hidden: the folder may be somebody's home.
    if place in given or any(_inside(place, root) for root in given):
        return None
    return ApprovalNeed("file", str(place.parent), mark)


def carry(project: Project, before: Path, after: Path, pictures: Iterable[str] = ()) -> None:
    """Keeps that a project which is written to the folder ``after`` goes on reading what it was allowed to read in the
    folder ``before``; files that were not allowed there stay so. ``pictures`` are the folders of the pictures that were
    read there.

    :raises FileError: the approvals cannot be read or written.
    """
    mark = project_mark(project.salt)
    kept: list[ApprovalNeed] = []
    for file in project.pairs.files if project.pairs else ():
        if not file_needs([file], before, project.salt):
            kept += [ApprovalNeed("file", place, mark) for place in _outside(before / file, after)]
    for profile in project.endpoints:
        if profile.source:
            there = replace(profile, source=str(before / profile.source))
            if not endpoint_needs([there], before, project.salt):
                kept += [ApprovalNeed("file", place, mark) for place in _outside(_source(there), after)]
    for folder in pictures:
        kept += [ApprovalNeed("file", place, mark) for place in _outside(Path(folder), after)]
    approve(kept)


def project_needs(
    project: Project, profiles: Mapping[str, EndpointProfile], used: Iterable[str], folder: Path
) -> tuple[ApprovalNeed, ...]:
    """What a project needs altogether and was not approved: its endpoints, the ``used`` ones, and its pairs."""
    names = dict.fromkeys([*(profile.name for profile in project.endpoints), *used])
    known = [profiles[name] for name in names if name in profiles]
    files = () if project.pairs is None else file_needs(project.pairs.files, folder, project.salt)
    return (*endpoint_needs(known, folder, project.salt), *files)


def _of_profile(
    profile: EndpointProfile, own: Sequence[EndpointProfile], folder: Path | None, salt: str
) -> Iterable[ApprovalNeed]:
    """What a profile needs beyond what the user's own profiles and the providers' hosts allow."""
    if profile.kind in ("embedded", "replay"):
        if profile.source and not any(profile.source == mine.source for mine in own):
            for place in _outside(_source(profile), folder):
                yield ApprovalNeed("file", place, project_mark(salt), profile.name)
        return
    url = profile.base_url or DEFAULT_URLS.get(profile.kind, "")
    if not url:
        return
    place = address_of(url)
    mine = [own_profile for own_profile in own if own_profile.base_url and address_of(own_profile.base_url) == place]
    if profile.api_key is not None:
        if not any(
            own_profile.api_key == profile.api_key for own_profile in mine
        ) and profile.api_key not in provider_keys(place):
            yield ApprovalNeed("key", place, profile.api_key, profile.name)
    elif not mine and not provider_keys(place) and not _is_loopback(place):
        yield ApprovalNeed("address", place, "", profile.name)
    for header in profile.headers:
        if not any(header in own_profile.headers for own_profile in mine):
            yield ApprovalNeed("header", place, ": ".join(header), profile.name)


def _source(profile: EndpointProfile) -> Path:
    """The file that a profile's source means: a replay may name the folder or the project of a run."""
    path = Path(profile.source or "")
    if profile.kind == "replay" and not _is_network(path):
        try:
            return find_store(path)
        except (StoreError, OSError):
            return path
    return path


def _is_loopback(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _outside(path: Path, folder: Path | None) -> list[str]:
    """Where a path leads, each place outside ``folder``; empty where it stays inside. What is hidden there (``.ssh``,
    ``.env``) does not count as inside: the folder may be the user's home. Nothing is opened."""
    path = path.absolute()
    if _is_network(path) and (folder is None or folder.absolute().drive.lower() != path.drive.lower()):
        # Merely to look where such a path leads would log in at a server of somebody else's choice.
        return [os.path.normpath(path)]
    if "#" in path.name and not path.exists():
        # A part of a file, such as a sheet of a workbook: what is read is the file.
        path = path.with_name(path.name.partition("#")[0])
    real = path.resolve()
    roots = [asset().resolve(), example("").resolve()] + ([] if folder is None else [folder.absolute().resolve()])
    places = [real]
    if real.is_dir():
        # As deep as a folder of pairs is looked through.
        places += [link.resolve() for link in (*real.glob("*"), *real.glob("*/*")) if link.is_symlink()]
    return [str(place) for place in places if not any(_inside(place, root) for root in roots)]


def _inside(place: Path, root: Path) -> bool:
    if not place.is_relative_to(root):
        return False
    return not any(part.startswith(".") for part in place.relative_to(root).parts)


def _is_network(path: Path) -> bool:
    return path.drive.startswith("\\\\")


def _read() -> set[ApprovalNeed]:
    path = approvals_path()
    if not path.exists():
        return set()
    try:
        document = Fields(parse(read_text(path)))
        records = document.members.get("approved", [])
        needs = [Fields(record, f"approved[{index}]") for index, record in enumerate(records)]
        return {
            ApprovalNeed(entry.choice("kind", NeedKind, "key"), entry.text("place"), entry.text("name", ""))
            for entry in needs
        }
    except (DocumentError, TypeError) as error:
        raise FileError(f"{path}: {error}. Mend it by hand, or move the file away: then you are asked again.") from None


def _write(needs: Iterable[ApprovalNeed]) -> None:
    path = approvals_path()
    records = [{"kind": need.kind, "place": need.place, "name": need.name} for need in sorted(needs)]
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, to_text({"schema": APPROVALS_SCHEMA, "approved": records}))
