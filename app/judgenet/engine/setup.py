"""Makes the start of a run from a project, for the command line and the studio."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgenet import formats
from judgenet.core import network_json
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import NetworkSpec, Settings
from judgenet.core.pair_edits import PairEdits, with_edits, without_edits
from judgenet.core.pairs import Pair
from judgenet.core.plan import PriceTable
from judgenet.core.project import PairsSource, Project
from judgenet.core.prompts import PromptBook
from judgenet.core.until import UntilRule
from judgenet.engine.batches import BatchChoice
from judgenet.engine.budget import Limits
from judgenet.engine.endpoints import NotApproved
from judgenet.engine.session import Scope, Start, all_settings, with_models
from judgenet.engine.versions import versions
from judgenet.formats.pictures import MayRead, PictureError, PictureOutside
from judgenet.formats.watch import Watch, nothing
from judgenet.store.approvals import file_needs, picture_need
from judgenet.store.prices import load_prices
from judgenet.store.runs import RunInfo

if TYPE_CHECKING:
    from judgenet.formats import Dataset

EDITED = "edited"
"""The kind of the note about pairs that were changed in the project."""


def read_source(
    source: PairsSource, folder: Path, salt: str, watch: Watch = nothing, *, limit: int | None = None
) -> Dataset:
    """The pairs of a source whose relative paths start at ``folder``; its selection is not applied. ``folder`` and
    ``salt`` are the project's: it may read below its own folder, and what the user approved for it.

    ``watch`` gets the progress and may end the reading. ``limit`` is the most bytes that a file may unpack to.

    :raises NotApproved: a file, or the folder of a picture, lies elsewhere and was not approved; nothing is read.
    :raises DataError: a file is missing or cannot be read as pairs.
    """
    if needs := file_needs(source.files, folder, salt):
        raise NotApproved(needs)
    try:
        return read_files(source, folder, watch, limit=limit, may_read=picture_rule(folder, salt))
    except PictureOutside as outside:
        need = picture_need(outside.path, folder, salt)
        raise NotApproved([] if need is None else [need]) from None


def picture_rule(folder: Path, salt: str) -> MayRead:
    """A check of which pictures a project may read: those below its folder, and below approved folders. It raises
    :class:`PictureOutside` for any other."""
    known: set[Path] = set()

    def may_read(path: Path) -> None:
        place = path.absolute()
        if place.parent in known and not place.is_symlink():
            return
        if picture_need(place, folder, salt) is not None:
            raise PictureOutside(place)
        known.add(place.parent)

    return may_read


def refusing(rule: MayRead) -> MayRead:
    """The rule with its refusals raised as errors of the data, which name their place in the file."""

    def may_read(path: Path) -> None:
        try:
            rule(path)
        except PictureOutside as outside:
            words = f"The picture {outside.path} lies outside the project's folder, and was not approved."
            raise PictureError(words, "Load the project's pairs to decide.") from None

    return may_read


def read_files(
    source: PairsSource,
    folder: Path,
    watch: Watch = nothing,
    *,
    limit: int | None = None,
    may_read: MayRead | None = None,
) -> Dataset:
    """Like :func:`read_source`, for files that the user names: they need no approval. Pictures are read below the
    folder of the file that names them, unless ``may_read`` says otherwise.

    :raises DataError: a file is missing or cannot be read as pairs.
    """
    mapping = source.mapping
    dataset = formats.read_pairs(
        [folder / file for file in source.files],
        mapping=None if mapping is None else formats.PairMapping.from_json(mapping),
        limit=limit,
        watch=watch,
        may_read=may_read,
    )
    return edited(dataset, source.edits)


def edited(dataset: Dataset, edits: PairEdits) -> Dataset:
    """The data set with a project's changes of single pairs, and a note of how many pairs were changed."""
    if not edits:
        return dataset
    return noted(replace(dataset, pairs=with_edits(dataset.pairs, edits)), edits)


def noted(dataset: Dataset, edits: PairEdits) -> Dataset:
    """A data set in which the changes are made already, with the note of how many pairs were changed."""
    pairs = [pair for pair in dataset.pairs if pair.id in edits]
    notes = tuple(note for note in dataset.notes if note.kind != EDITED)
    ids = tuple(pair.id for pair in pairs if without_edits(pair, edits) != pair)
    if ids:
        head = "1 pair was changed" if len(ids) == 1 else f"{len(ids):,} pairs were changed"
        notes = (
            *notes,
            formats.Finding(EDITED, "note", len(ids), f"{head} in this project; the file stays as it is", ids),
        )
    return replace(dataset, notes=notes)


def run_record(dataset: Dataset | None, seed: int) -> dict[str, Any]:
    """The part of a run's record about the program and the source of its pairs."""
    record: dict[str, Any] = {"versions": versions(), "seed": seed}
    if dataset is not None:
        record["source"] = {
            "files": [[Path(file.path).name, file.sha256] for file in dataset.files],
            "format": dataset.format,
        }
        if dataset.systems is not None:
            record["source"] |= dataset.systems.to_json()
    return record


def start_of(
    project: Project,
    pairs: Sequence[Pair],
    profiles: Mapping[str, EndpointProfile],
    *,
    folder: Path | None = None,
    dataset: Dataset | None = None,
    limits: Limits | None = None,
    prices: PriceTable | None = None,
    seed: int | None = None,
    stream: bool = False,
    scope: Scope = "all",
    until: UntilRule | None = None,
    auto_matches: bool = False,
    batch: BatchChoice | bool | None = None,
) -> Start:
    """The start of a project's network on these pairs. ``prices`` and ``seed`` default to
    the project's.

    :raises NetworkError: an endpoint of the network is unknown.
    :raises PromptError: a prompt of the project cannot be used.
    :raises PriceError: the project's prices cannot be used.
    """
    return Start(
        spec=with_models(project.network, profiles),
        pairs=pairs,
        book=PromptBook.default().edited(project.prompts),
        prices=load_prices(project.prices) if prices is None else prices,
        profiles=profiles,
        salt=project.salt,
        folder=folder,
        limits=limits or Limits(),
        stream=stream,
        scope=scope,
        until=until,
        auto_matches=auto_matches,
        batch=batch,
        record=run_record(dataset, project.network.seed if seed is None else seed),
    )


def changes_since(run: RunInfo, start: Start, pairs_hash: str) -> tuple[str, ...]:
    """Which parts of a start differ from a recorded run: ``network``, ``prompts``, ``pairs``.

    ``pairs_hash`` is the ``data_hash`` of the start's pairs, which takes time for many pairs. Where nothing differs,
    the start continues that run. The prompts of judgments recorded elsewhere are unknown, and count as unchanged.
    """
    was = network_json.from_json(run.record["network"])
    differs = {
        "network": network_json.digest(was) != network_json.digest(start.spec),
        "prompts": run.record["prompts"] not in (None, "", *(book.digest for book in start.book.versions)),
        "pairs": run.record["data_hash"] != pairs_hash,
    }
    return tuple(name for name, different in differs.items() if different)


def unpriced_models(
    spec: NetworkSpec, prices: PriceTable, profiles: Mapping[str, EndpointProfile]
) -> tuple[Settings, ...]:
    """The models of a network whose price is unknown, each once: an unknown price is not 0, so no limit of money can
    be kept with them. Where the network names no model, its endpoint's counts."""
    unpriced: dict[tuple[str, str], Settings] = {}
    for settings in all_settings(spec):
        profile = profiles.get(settings.endpoint or "")
        if profile is None or profile.kind == "replay":
            continue
        model = settings.model or profile.model
        if model and prices.find(model, profile.name, profile.kind) is None:
            unpriced.setdefault((profile.name, model), replace(settings, model=model))
    return tuple(unpriced.values())


def no_price_words(models: Sequence[Settings]) -> str:
    """A sentence: the price of these models is unknown."""
    named = ", ".join(f"{model.model} at {model.endpoint}" for model in models)
    return f"The price of {named} is unknown."
