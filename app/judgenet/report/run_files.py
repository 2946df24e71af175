"""A run written for other programs: its calls, verdicts and labels as lines or tables, preferences for training, and
the files of LLM Comparator, Argilla and Label Studio."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TextIO

from judgenet.core.acceptance import FOR_PEOPLE
from judgenet.core.aggregate import NO_QUORUM
from judgenet.core.documents import well_formed
from judgenet.core.wording import plural
from judgenet.formats.tables import ListForm, guard_cell, whole_file, write_parquet
from judgenet.report.exported_pictures import PictureFiles
from judgenet.report.run_records import (
    Omitted,
    Record,
    argilla_records,
    call_records,
    comparator_examples,
    comparator_head,
    have_pictures,
    label_records,
    label_studio_tasks,
    pair_records,
    picture_records,
    preference_records,
    role_records,
    system_records,
    verdict_records,
    verdict_source,
)
from judgenet.store.db import Store
from judgenet.store.files import FileError
from judgenet.store.runs import RunInfo

ExportFormat = Literal["jsonl", "csv", "parquet", "json"]

_LINES: Final[tuple[ExportFormat, ...]] = ("jsonl", "csv", "parquet")


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """A run to export, the source of its verdicts, and how many pairs the export left out, by reason."""

    store: Store
    run: RunInfo
    source: str
    left_out: Omitted
    pictures: PictureFiles

    @classmethod
    def of(cls, store: Store, run: RunInfo, source: str | None = None) -> ExportedRun:
        """A run with the verdicts of ``source``: an aggregation, ``human``, or (``None``) the network's verdict.

        :raises ValueError: the run has no such aggregation.
        """
        return cls(store, run, verdict_source(run, source), Omitted(), PictureFiles())

    @property
    def left_out_words(self) -> str:
        """What was left out, in words; empty where nothing was."""
        return ", ".join(f"{plural(count, 'pair')} {_LEFT[why]}" for why, count in self.left_out.items())


_LEFT: Final = {
    "ties": "with a tie",
    "without a verdict": "without a verdict",
    FOR_PEOPLE: "left to people",
    NO_QUORUM: "without a quorum",
    "without a label": "without a label",
}


@dataclass(frozen=True, slots=True)
class Records:
    """Records to be written, made anew each time that they are asked for. ``unit`` names one of them; ``head`` gives
    the other members of a JSON file whose records stand in the member ``examples``. ``pictures`` are the files beside
    them, where they have some; ``lists`` are the columns that are lists in Parquet."""

    unit: str
    make: Callable[[], Iterator[Record]]
    head: Callable[[], Record] | None = None
    pictures: PictureFiles | None = None
    lists: Mapping[str, ListForm] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunExport:
    """A kind of export: its title, its records, and its formats, the default first."""

    title: str
    unit: str
    records: Callable[[ExportedRun], Iterator[Record]]
    formats: tuple[ExportFormat, ...] = _LINES
    head: Callable[[ExportedRun], Record] | None = None
    lists: Mapping[str, ListForm] = field(default_factory=dict)

    def of(self, wanted: ExportedRun) -> Records:
        """The records of a run."""
        head = None if self.head is None else partial(self.head, wanted)
        return Records(self.unit, partial(self.records, wanted), head, wanted.pictures, self.lists)


RUN_EXPORTS: Final[dict[str, RunExport]] = {
    "calls": RunExport("Calls with prompts, replies and scores", "call", lambda of: call_records(of.store, of.run)),
    "verdicts": RunExport("Verdicts, one row per pair", "verdict", lambda of: verdict_records(of.store, of.run)),
    "pairs": RunExport(
        "Pairs, to be read as pairs again", "pair", lambda of: pair_records(of.store, of.run), ("jsonl", "json")
    ),
    "roles": RunExport("Roles of each pair", "role", lambda of: role_records(of.store, of.run)),
    "labels": RunExport("Human labels with their history", "label", lambda of: label_records(of.store, of.run)),
    "preferences": RunExport(
        "Preferences for training (chosen, rejected)",
        "preference",
        lambda of: preference_records(of.store, of.run, of.source, of.left_out, of.pictures),
        lists={"prompt": "messages", "chosen": "messages", "rejected": "messages", "images": "texts"},
    ),
    "systems": RunExport(
        "Scores by system, one row per response",
        "response",
        lambda of: system_records(of.store, of.run, of.source),
        ("csv", "jsonl", "parquet"),
    ),
    "llm-comparator": RunExport(
        "LLM Comparator",
        "example",
        lambda of: comparator_examples(of.store, of.run, of.left_out),
        ("json",),
        lambda of: comparator_head(of.store, of.run),
    ),
    "argilla": RunExport(
        "Argilla records", "record", lambda of: argilla_records(of.store, of.run, of.source), ("json", "jsonl")
    ),
    "label-studio": RunExport(
        "Label Studio tasks", "task", lambda of: label_studio_tasks(of.store, of.run, of.source), ("json",)
    ),
}
"""The kinds of export of a run, by their names on the command line."""


def write_export(records: Records, format: ExportFormat, path: Path) -> int:
    """Writes records to a file, whole or not at all, and returns how many there are. Their pictures go into files
    beside it.

    :raises FileError: it cannot be written.
    """
    if records.pictures is not None:
        records.pictures.beside(path)
    try:
        with _draft(path) as draft:
            if format == "parquet":
                return write_parquet(records.make, draft, records.lists)
            with draft.open("w", encoding="utf-8", newline="") as out:
                return write_text(records, format, out)
    except BaseException:
        if records.pictures is not None:
            records.pictures.discard()
        raise


def export_run(store: Store, run: RunInfo, what: str, path: Path, source: str | None = None) -> ExportedRun:
    """Writes one of :data:`RUN_EXPORTS` or :data:`WHOLE_EXPORTS`, in the format that the ending of ``path``
    says. Returns what was left out with it.

    :raises ValueError: there is no such export, no such format of it, or no such aggregation.
    :raises FileError: it cannot be written.
    """
    exported = ExportedRun.of(store, run, source)
    if what in WHOLE_EXPORTS:
        WHOLE_EXPORTS[what].write(exported, path)
        return exported
    export = RUN_EXPORTS.get(what)
    if export is None:
        raise ValueError(f"There is no export {what!r}. Choose one of: {', '.join((*RUN_EXPORTS, *WHOLE_EXPORTS))}.")
    format = next((ending for ending in export.formats if path.suffix.lower() == f".{ending}"), None)
    if format is None:
        endings = ", ".join(f".{ending}" for ending in export.formats)
        raise ValueError(f"{path}: {what} are written as {endings}. Name a file with one of these endings.")
    write_export(export.of(exported), format, path)
    return exported


def write_text(records: Records, format: ExportFormat, out: TextIO) -> int:
    """Writes records in one of the formats that are text, one by one. Returns how many."""
    if format == "json":
        return _write_json(records.make(), None if records.head is None else records.head(), out)
    assert format != "parquet"
    return write_records(records.make(), format, out)


def write_explorer(exported: ExportedRun, path: Path) -> dict[str, int]:
    """Writes a run as one HTML file to look around in (:mod:`judgenet.report.explorer`). Returns how many pairs it has.

    :raises FileError: it cannot be written.
    """
    from judgenet.report.explorer import explorer_html

    with _draft(path) as draft:
        text, pairs = explorer_html(exported.store, exported.run)
        draft.write_text(text, encoding="utf-8")
    return {"pair": pairs}


@contextmanager
def _draft(path: Path) -> Iterator[Path]:
    if path.is_dir():
        raise FileError(f"{path} is a folder. Name a file in it.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as draft:
            yield draft
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{path} cannot be written ({error.strerror or error}). Name another file.") from None


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return guard_cell(well_formed(value))
    if isinstance(value, (dict, list)):
        return guard_cell(json.dumps(value, allow_nan=False))
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


class _UnixLines:
    """Takes rows that end with CR LF, and writes them with the line ends of text files."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, row: str) -> int:
        return self._out.write(row.removesuffix("\r\n") + "\n")


def write_records(records: Iterable[Record], format: Literal["jsonl", "csv"], out: TextIO) -> int:
    """Writes records one by one, so that memory stays flat. Returns how many.

    JSON Lines hold lone surrogates as escapes and never NaN. In CSV a text cell that a spreadsheet would take for
    a formula gets an apostrophe; numbers stay as they are; a missing value is an empty cell.
    """
    count = 0
    writer: csv.DictWriter[str] | None = None
    for record in records:
        count += 1
        if format == "jsonl":
            out.write(json.dumps(record, allow_nan=False) + "\n")
            continue
        if writer is None:
            # The writer quotes the characters of its own line end, so that only this one quotes a bare carriage return.
            writer = csv.DictWriter(_UnixLines(out), list(record), lineterminator="\r\n")
            writer.writeheader()
        writer.writerow({name: _cell(value) for name, value in record.items()})
    return count


def _write_json(records: Iterable[Record], head: Record | None, out: TextIO) -> int:
    """Writes records as a JSON array, or as the member ``examples`` of an object, one by one."""
    count = 0
    if head is not None:
        out.write(json.dumps(head, allow_nan=False).removesuffix("}") + ', "examples": ')
    out.write("[")
    for record in records:
        out.write((",\n  " if count else "\n  ") + json.dumps(record, allow_nan=False))
        count += 1
    out.write("\n]" + ("\n" if head is None else "}\n"))
    return count


DATASET_PARTS: Final = ("verdicts", "calls", "preferences", "systems")
"""The exports in a data set folder, a Parquet file each."""


def write_dataset(exported: ExportedRun, folder: Path) -> dict[str, int]:
    """Writes a run as a folder that data set hubs read: Parquet files in ``data`` and a card, ``README.md``, that says
    what was judged by what; pictures of pairs go into ``images``. Returns how many records there are of each unit.

    :raises FileError: the folder holds something else already, or cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileError(f"{folder} is not an empty folder. Name a new one.")
    exported.pictures.folder, exported.pictures.prefix = folder / "images", "images"
    parts = {part: RUN_EXPORTS[part].of(exported) for part in DATASET_PARTS}
    if have_pictures(exported.store, exported.run):
        parts["pictures"] = Records("picture", lambda: picture_records(exported.store, exported.run, exported.pictures))
    counts = {
        part: write_export(records, "parquet", folder / "data" / f"{part}.parquet") for part, records in parts.items()
    }
    with _draft(folder / "README.md") as draft:
        draft.write_text(dataset_card(exported, counts), encoding="utf-8")
    return {parts[part].unit: count for part, count in counts.items()}


def _part_title(part: str) -> str:
    return "Pictures, one row each" if part == "pictures" else RUN_EXPORTS[part].title


def dataset_card(exported: ExportedRun, counts: dict[str, int]) -> str:
    """The card of a data set folder, Markdown under a head of YAML. The licence is the user's to choose."""
    from judgenet.core.presets import shape_name
    from judgenet.engine.session import all_settings
    from judgenet.store.results import network_of
    from judgenet.version import __version__

    spec = network_of(exported.run)
    size = counts["verdicts"]
    configs = [line for part in counts for line in (f"- config_name: {part}", f"  data_files: data/{part}.parquet")]
    models = sorted({f"`{settings.model}`" for settings in all_settings(spec) if settings.model})
    lines = [
        "---",
        "tags: [llm-as-a-judge, judgenet]",
        "configs:",
        *configs,
        "---",
        f"# {exported.run.name or exported.run.id}",
        "",
        f"{plural(size, 'pair')} of responses, judged by a network of LLM judges with JudgeNet {__version__}.",
        "",
        f"- Network: {shape_name(spec)}",
        *([f"- Models: {', '.join(models)}"] if models else []),
        f"- Verdicts in `preferences` and `systems`: `{exported.source}`",
        f"- State of the run: {exported.run.state}",
        "",
        "| file | rows | what |",
        "| --- | --- | --- |",
        *(f"| `data/{part}.parquet` | {count:,} | {_part_title(part)} |" for part, count in counts.items()),
        "",
    ]
    if "pictures" in counts:
        lines += [
            f"The pictures of the pairs are in `images` ({plural(len(exported.pictures.paths), 'file')}), as the "
            "judges were sent them. Paths (`path`, and `images` of the preferences, in the order of prompt, chosen and "
            "rejected response) are relative to this folder.",
            "",
        ]
    if exported.left_out:
        lines += [f"Left out of `preferences`: {exported.left_out_words}.", ""]
    lines += [
        "A missing verdict or score is null and never a tie. Verdicts are a model's, not people's, unless a column "
        "says `human`. The texts of the pairs stay under the licence of their source.",
        "",
    ]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class WholeExport:
    """An export that is a file or a folder of its own form. ``suffix`` is its file's ending, empty for a folder;
    ``write`` returns the number of records of each unit."""

    title: str
    suffix: str
    write: Callable[[ExportedRun, Path], dict[str, int]]


WHOLE_EXPORTS: Final[dict[str, WholeExport]] = {
    "explorer": WholeExport("Explorer, one HTML file", ".html", write_explorer),
    "dataset": WholeExport("Data set folder with a card", "", write_dataset),
}
"""The exports of a run that are whole files or folders, by their names on the command line."""
