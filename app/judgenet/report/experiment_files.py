"""An experiment's results as files in a folder, and read back from it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from judgenet.figures.base import from_json
from judgenet.figures.experiment import ExperimentFigures, ExperimentSet
from judgenet.formats.tables import whole_file
from judgenet.report.drawing import of_theme, svg
from judgenet.report.experiment_document import csv, document, json_text
from judgenet.report.experiment_method import method
from judgenet.report.experiment_plots import framed, plot
from judgenet.report.experiment_results import RESULTS_VERSION, with_set
from judgenet.report.writers.latex import latex
from judgenet.report.writers.markdown import markdown

RESULTS = "results.json"
_OF_ONE_SET = ("plot.svg", "plot-dark.svg")


class ResultsError(Exception):
    """Results that cannot be written or read; the message says what to do."""


def kept_results(folder: Path) -> ExperimentFigures | None:
    """The results that a folder holds, ``None`` where there are none.

    :raises ResultsError: the file there holds none.
    """
    path = folder / RESULTS
    if not path.exists():
        return None
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ResultsError(f"{path}: cannot be read ({error}). Move it away and run the experiment again.") from None
    if not isinstance(kept, dict) or not kept.get("sets") or "experiment" not in kept:
        raise ResultsError(f"{path}: holds no results of an experiment. Move it away and run the experiment again.")
    if kept.get("results") != RESULTS_VERSION:
        raise ResultsError(
            f"{path}: was written by another version of JudgeNet. Move it away and run the experiment again: its calls "
            "are kept and cost nothing."
        )
    try:
        figures: ExperimentFigures = from_json(ExperimentFigures, kept)
    except (TypeError, ValueError, AttributeError):
        raise ResultsError(
            f"{path}: holds no results of an experiment. Move it away and run the experiment again."
        ) from None
    return figures


def write_results(folder: Path, key: str, experiment_set: ExperimentSet) -> tuple[ExperimentFigures, list[Path]]:
    """Writes the results of one set, beside those of others that the folder holds: figures as JSON and CSV, tables as
    Markdown and LaTeX, a plot of each set as SVG (light and dark), and the text of the method.

    Returns the results of all sets and the files.

    :raises ResultsError: a file cannot be written or read.
    """
    results = with_set(kept_results(folder), key, experiment_set)
    written = write_all(folder, results)
    for name in _OF_ONE_SET:
        if folder / name not in written:
            # It showed the only set that there was, and its new name says which.
            (folder / name).unlink(missing_ok=True)
    return results, written


def write_all(folder: Path, results: ExperimentFigures) -> list[Path]:
    """Writes results as they are, over what the folder holds of them, and returns the files.

    :raises ResultsError: a file cannot be written.
    """
    texts = {
        RESULTS: json_text(results),
        "table.md": markdown(document(results)),
        "table.csv": csv(results),
        "table.tex": latex(document(results)),
        "method.md": markdown(method(results)),
        **plots(results),
    }
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with whole_file(folder / name) as draft:
                draft.write_text(text, encoding="utf-8", newline="")
            written.append(folder / name)
    except OSError as error:
        raise ResultsError(f"{folder}: cannot be written ({error.strerror or error}). Name another folder.") from None
    return written


def plots(results: ExperimentFigures) -> dict[str, str]:
    """The plots of all sets as SVG by file name."""
    pictures = {}
    for number, of_set in enumerate(results.sets, 1):
        drawing = framed(plot(results, of_set))
        end = "" if len(results.sets) == 1 else f"-{_slug(of_set.set) or number}"
        if f"plot{end}.svg" in pictures:
            end += f"-{number}"
        pictures[f"plot{end}.svg"] = svg(drawing, of_theme("light"), alone=True)
        pictures[f"plot{end}-dark.svg"] = svg(drawing, of_theme("dark"), alone=True)
    return pictures


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60]
