"""Makes a project with a run from judgments made elsewhere, for the command line and the studio."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from judgenet.core.project import PairsSource, Project, Selection, new_salt
from judgenet.engine.versions import versions
from judgenet.formats import Dataset
from judgenet.formats.judgments import Conditions, JudgmentFile
from judgenet.store.approvals import approve, file_needs
from judgenet.store.db import Store
from judgenet.store.files import save_project, store_path
from judgenet.store.locate import RUN_PROJECT
from judgenet.store.pictures import keep_pictures, picture_folders
from judgenet.store.recorded import NEURON, ReadingMode, Selected, Unread, import_run, network_for, select
from judgenet.store.runs import RunInfo


def record_judgments(
    project_path: Path,
    files: Sequence[JudgmentFile],
    dataset: Dataset,
    source: PairsSource,
    *,
    conditions: Conditions | None = None,
    where: str | None = None,
    neuron: Sequence[str] = NEURON,
    reading: ReadingMode = "recorded",
    unread: Unread = "missing",
) -> tuple[RunInfo, Selected]:
    """Enters judgments about a data set as a finished run in the project at a path, which is made where there is none.

    ``conditions`` select judgments; ``where`` is their text as the user wrote it. ``source`` names the files of the
    pairs, which the project may read, as the user chose them.

    :raises DataError: no judgment is left, or none is about one of the pairs.
    :raises PictureError: a picture of the pairs is gone or has changed since they were read.
    :raises StoreError: the store cannot be written, or another program has it open.
    :raises ProjectError: the project cannot be written.
    """
    selected = select(files, dataset.pairs, conditions, neuron)
    record = {
        "versions": versions(),
        "seed": 0,
        "source": {
            "files": [[Path(file.path).name, file.sha256] for file in dataset.files],
            "format": dataset.format,
            "judgments": [[Path(file.path).name, file.format] for file in files],
            "where": where,
        },
    }
    with Store.open(store_path(project_path)) as store:
        keep_pictures(store, selected.pairs)
        run = import_run(store, selected, reading=reading, unread=unread, record=record)
    if not project_path.exists():
        folder = project_path.absolute().parent
        if len(selected.pairs) < len(dataset.pairs):
            source = replace(source, selection=Selection("ids", ids=tuple(pair.id for pair in selected.pairs)))
        name = folder.name if project_path.name == RUN_PROJECT else project_path.stem
        project = Project(name, network_for(selected), new_salt(), source)
        with suppress(OSError):
            # Where it cannot be kept, the project asks when it is opened.
            approve(file_needs([*source.files, *picture_folders(dataset.pairs)], folder, project.salt))
        save_project(project, project_path)
    return run, selected
