"""The plot of an experiment on one set of pairs."""

from __future__ import annotations

from collections.abc import Iterable

from judgenet.core.wording import SPOKEN, of, percent, percent_interval, plural
from judgenet.figures.experiment import ExperimentFigures, ExperimentSet, SetRow
from judgenet.report import charts
from judgenet.report.charts import WIDTH, ForestRow
from judgenet.report.clouds import word_cloud
from judgenet.report.curve_charts import ChartLine, CurveAxes, CurvePoint, curves
from judgenet.report.drawing import LINE, Drawing, Label, Shape, lines_around, moved, wrapped
from judgenet.report.experiment_results import group_name, kind_of, row_of
from judgenet.stats.intervals import Interval


def plot(results: ExperimentFigures, of_set: ExperimentSet) -> Drawing:
    """The picture of an experiment on one set of pairs."""
    kind = kind_of(results)
    title = f"{results.title}, {of_set.set}"
    if kind == "clouds":
        return _clouds(of_set, title)
    if not of_set.pairs.labelled:
        return curves((), "no pair has a human label", "")
    if kind == "table":
        return _forest(of_set, title)
    if kind == "saving":
        return _saving_plot(of_set, title)
    return _sweep_plot(of_set, title) if kind == "sweep" else _budget_plot(of_set, title)


def _majority(of_set: ExperimentSet) -> tuple[str, float] | None:
    most = of_set.majority
    return None if most.accuracy is None or most.label is None else (f"always {SPOKEN[most.label]}", most.accuracy)


def _forest(of_set: ExperimentSet, title: str) -> Drawing:
    rows = [
        ForestRow(
            row.name,
            row.accuracy,
            row.accuracy_ci,
            "subject" if row.subject else "other",
            of(row.n_used, row.n_total),
            row.reasons.get("accuracy", ""),
        )
        for row in of_set.rows
    ]
    said = "; ".join(f"{row.name} {percent(row.value)} {percent_interval(row.interval)}" for row in rows)
    return charts.forest(rows, f"{title}, accuracy: {said}", _majority(of_set))


def _points(rows: Iterable[SetRow]) -> tuple[CurvePoint, ...]:
    return tuple(
        CurvePoint(row.x, row.accuracy, row.accuracy_ci)
        for row in sorted(rows, key=lambda row: row.x or 0)
        if row.x is not None and row.accuracy is not None
    )


def _sweep_plot(of_set: ExperimentSet, title: str) -> Drawing:
    """A panel for each depth, the others behind it."""
    rows = [row for row in of_set.rows if row.aggregation == "c2_all"]
    groups = list(dict.fromkeys(row.group for row in rows))
    lines = {group: _points(row for row in rows if row.group == group) for group in groups}
    panels = [
        CurveAxes(group, tuple(ChartLine(other, lines[other], subject=other == group) for other in groups))
        for group in groups
    ]
    best = max(rows, key=lambda row: row.accuracy or 0.0)
    words = f"{title}: accuracy of c2*(all) by number of neurons, a panel a depth; "
    words += f"highest {best.name} {percent(best.accuracy)}"
    level = _majority(of_set)
    axis = "neurons in each layer" + ("" if level is None else f" (dashed: {level[0]}, {percent(level[1])})")
    return curves(panels, words, axis, level=level)


def _budget_plot(of_set: ExperimentSet, title: str) -> Drawing:
    keys = list(dict.fromkeys((row.group, row.aggregation) for row in of_set.rows))
    lines = tuple(
        ChartLine(
            group_name(group, rule),
            _points(row for row in of_set.rows if (row.group, row.aggregation) == (group, rule)),
            subject=(group, rule) == ("WideDeep", "c2_all"),
        )
        for group, rule in keys
    )
    said = "; ".join(f"{curve.name} {percent(curve.points[-1].share)}" for curve in lines if curve.points)
    words = f"{title}: accuracy by number of neurons, at the most: {said}"
    return curves((CurveAxes("", lines),), words, "neurons", level=_majority(of_set))


def _saving_plot(of_set: ExperimentSet, title: str) -> Drawing:
    """Accuracy against the share that people review at random; the line of a network begins at its own accuracy."""
    lines = []
    for row in of_set.saving_rows:
        of_row = row_of(of_set, row.row)
        if row.accuracy is None:
            continue
        within = of_row.accuracy_ci
        points = []
        for place in range(11):
            share = place / 10
            # Review lifts both ends of the interval alike: what is left wrong shrinks by the share.
            ends = None if within is None else Interval(*(end + share * (1 - end) for end in within))
            points.append(CurvePoint(share, row.accuracy + share * (1 - row.accuracy), ends))
        lines.append(ChartLine(of_row.name, tuple(points), of_row.subject, f"review {percent(row.review)}"))
    said = "; ".join(f"{curve.name} {curve.end}" for curve in lines)
    target = 0.0 if of_set.saving is None else of_set.saving.target
    words = f"{title}: accuracy by the share reviewed at random, target {percent(target)}; share to review: {said}"
    return curves(
        (CurveAxes("", tuple(lines)),),
        words,
        "share of pairs that people review, picked at random",
        level=("target", target),
        ticks=[place / 5 for place in range(6)],
        tick_text=lambda share: f"{100 * share:.0f} %",
    )


_CLOUD_W = 420.0


def _clouds(of_set: ExperimentSet, title: str) -> Drawing:
    """The clouds of all tasks, two in a row."""
    shapes: list[Shape] = []
    places = [0.0, 0.0]
    said = []
    for number, words in enumerate(of_set.words or ()):
        name = words.task or "(no task)"
        cloud = word_cloud(
            [(str(word), int(count)) for word, count in words.words], f"Roles for {name}", int(_CLOUD_W), number
        )
        column = 0 if places[0] <= places[1] else 1
        left, top = column * (WIDTH - _CLOUD_W), places[column]
        fact = f"{plural(words.roles, 'role')}, {of(words.pairs_used, words.pairs_total)} pairs"
        lines = wrapped(name, 200, weight=600)
        more = LINE * (len(lines) - 1)
        shapes += lines_around(left, top + 10.2 + more / 2, lines, weight=600)
        shapes.append(Label(left + _CLOUD_W, top + 15, fact, "text2", "end", tabular=True))
        top += more
        if cloud is None:
            shapes.append(Label(left, top + 44, "n/a – the model named no roles", "text3"))
            places[column] = top + 68
            continue
        shapes += [moved(shape, left, top + 28) for shape in cloud.shapes]
        places[column] = top + 28 + cloud.height + 24
        said.append(cloud.words)
    return Drawing(WIDTH, max(*places, 28.0), tuple(shapes), f"{title}. {'. '.join(said)}")


_MARGIN = 24.0


def framed(drawing: Drawing) -> Drawing:
    """The drawing with a margin, for a file of its own."""
    shapes = tuple(moved(shape, _MARGIN, _MARGIN) for shape in drawing.shapes)
    return Drawing(drawing.width + 2 * _MARGIN, drawing.height + 2 * _MARGIN, shapes, drawing.words)
