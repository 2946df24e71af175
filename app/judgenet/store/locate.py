"""Finds the store and the run that a name given by the user means."""

from __future__ import annotations

from pathlib import Path

from judgenet.core.project import PROJECT_SUFFIX
from judgenet.store.db import Store, StoreError
from judgenet.store.files import store_path
from judgenet.store.runs import runs

RUN_PROJECT = "run.judgenet"
"""Name of the project file in the folder of a run without a project."""

SHARDS_SUFFIX = ".shards"
"""The ending of the folder that holds the shards of a project."""

_STORE_SUFFIX = PROJECT_SUFFIX + ".db"


def find_store(place: Path) -> Path:
    """The store of a folder, a project file, or the store itself.

    :raises StoreError: there is none, or a folder holds several.
    """
    if place.suffix == SHARDS_SUFFIX and place.is_dir():
        return _index_of(place)
    if place.is_dir():
        stores = sorted(place.glob(f"*{_STORE_SUFFIX}"))
        if len(stores) == 1:
            return stores[0]
        if not stores:
            raise StoreError(f"{place}: no run here. Name the folder that was given as --out, or a project.")
        names = ", ".join(path.name for path in stores)
        raise StoreError(f"{place}: several stores here ({names}). Name one of them.")
    if place.name.endswith(_STORE_SUFFIX):
        store = place
    elif place.suffix == PROJECT_SUFFIX:
        store = store_path(place)
    else:
        raise StoreError(f"{place}: no folder of a run, project or store of this name.")
    shards = store.with_name(store.name.removesuffix(_STORE_SUFFIX) + SHARDS_SUFFIX)
    if shards.is_dir() and not has_run(store):
        return _index_of(shards)
    if not store.exists():
        raise StoreError(f"{place}: has not been run yet (there is no {store.name}). Run it with: judgenet run")
    return store


def has_run(path: Path) -> bool:
    """Whether a store of a project, if it is there, holds a run of its own, bias labs aside: the studio makes the store
    when it opens the project."""
    if not path.exists():
        return False
    with Store.open(path, readonly=True) as store:
        return bool(runs(store))


def _index_of(shards: Path) -> Path:
    """The store of the index of a folder of shards."""
    # What reads a single run needs none of it.
    from judgenet.store.shard_index import shard_index
    from judgenet.store.shards import read_shards

    return shard_index(read_shards(shards))


def find_run(name: str, project: Path | None = None) -> tuple[Path, str | None]:
    """The store and the run's id that ``name`` means: a folder, project or store (its newest run), a run in one of
    these (``FOLDER/run-2``), or a run's id in ``project`` or in the only project of the present folder.

    :raises StoreError: nothing of this name is there.
    """
    place = Path(name)
    if place.exists():
        return find_store(place), None
    if project is not None:
        return find_store(project), name
    if place.parent != Path() and place.parent.exists():
        return find_store(place.parent), place.name
    here = sorted(Path().glob(f"*{_STORE_SUFFIX}"))
    if len(here) == 1:
        return here[0], name
    raise StoreError(
        f"{name}: there is no such folder, and no project here that could have a run of this name. "
        "Name the folder given as --out, or the project with --project."
    )


def shards_folder(project: Path) -> Path:
    """Where the shards of a project lie: ``study.shards`` beside ``study.judgenet``."""
    return project.with_name(project.name.removesuffix(PROJECT_SUFFIX) + SHARDS_SUFFIX)
