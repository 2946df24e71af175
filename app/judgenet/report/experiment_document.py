"""An experiment's results as tables of a document, as CSV and as JSON. All of them are made of the plain values of
:mod:`judgenet.report.experiment_results`, so that kept results are shown without their store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from judgenet.core.wording import (
    SPOKEN,
    aggregation_title,
    clean,
    day,
    minus,
    money,
    of,
    p_figure,
    percent,
    percent_interval,
    percent_with_interval,
    plural,
    ratio,
    ratio_interval,
    ratio_with_interval,
    whole_range,
)
from judgenet.figures.experiment import ExperimentFigures, ExperimentSet, SetRow, SetSaving, StatedLabour
from judgenet.formats.tables import csv_text
from judgenet.report.blocks import Block, Bullets, Given, Line, Notice, Paragraph, ReportDocument, Row, Section, Table
from judgenet.report.experiment_results import group_name, kind_of, row_of
from judgenet.stats.intervals import Interval
from judgenet.version import __version__


def document(results: ExperimentFigures) -> ReportDocument:
    """The tables of an experiment, with what must be known to read them."""
    sets: Sequence[ExperimentSet] = results.sets
    return ReportDocument(
        kicker=("Experiment ", results.experiment),
        date=day(max(of_set.at for of_set in sets)),
        title=results.title,
        blocks=tuple(_blocks(results)),
        foot=f"JudgeNet {__version__}",
    )


def _blocks(results: ExperimentFigures) -> Iterator[Block]:
    kind = kind_of(results)
    for of_set in results.sets:
        if of_set.state != "done":
            why = f": {of_set.message}" if of_set.message else ""
            yield Notice((Given(of_set.set), f" has not run to its end ({of_set.state}){why}"))
    if kind in ("table", "saving"):
        yield from _accuracy_table(results)
    if kind in ("sweep", "budget"):
        for of_set in results.sets:
            yield from _grids(of_set, kind)
    if kind == "saving":
        yield from _saving_table(results)
    if kind == "clouds":
        for of_set in results.sets:
            yield from _words_table(of_set)
    yield Bullets(tuple(_notes(results)))


# Tables


def _accuracy_table(results: ExperimentFigures) -> Iterator[Block]:
    sets = results.sets
    several = len(sets) > 1
    compared = any(row.difference is not None for of_set in sets for row in of_set.rows)
    columns = ["Network", "Acc. %", "95 %", "Macro-F1", "95 %", "Kappa", "95 %", "n used", "Neurons", "Calls a pair"]
    if compared:
        columns += ["Difference, points", "95 %", "p, Holm"]
    lines = []
    for of_set in sets:
        if several:
            blank: list[Line] = [("",)] * (len(columns) - 1)
            lines.append(Row(((Given(of_set.set),), *blank), strong=True))
        for row in of_set.rows:
            lines.append(_accuracy_row(row, compared))
        if of_set.majority.accuracy is not None and of_set.majority.label is not None:
            name = f"Always {SPOKEN[of_set.majority.label]}"
            cells: list[Line] = [(name,), (percent(of_set.majority.accuracy, unit=False),)]
            lines.append(Row((*cells, *[("",)] * (len(columns) - 2))))
    yield Section(results.title, _pairs_fact(sets))
    yield Table(tuple(columns), (False, *(True,) * (len(columns) - 1)), tuple(lines))
    if compared:
        names = {
            row.difference.against: row_of(of_set, row.difference.against).name
            for of_set in sets
            for row in of_set.rows
            if row.difference is not None
        }
        others = list(dict.fromkeys(names.values()))
        shown = others[0] if len(others) == 1 else "the same aggregation without roles"
        yield Paragraph(
            (
                f"The difference is that of the accuracies, less that of {shown}, on the same pairs. p is McNemar's, "
                f"adjusted for the {_tests(sets)} comparisons of a set (Holm): of so many some look significant by "
                "chance.",
            ),
            "note",
        )


def _tests(sets: Sequence[ExperimentSet]) -> str:
    """How many rows are compared on each set."""
    compared = [sum(row.difference is not None for row in of_set.rows) for of_set in sets]
    return whole_range(min(compared), max(compared))


def _accuracy_row(row: SetRow, compared: bool) -> Row:
    cells: list[Line] = [(row.name,), *_figure_cells(row)]
    cells.append((of(row.n_used, row.n_total),))
    cells += [(_number(row.neurons_per_pair),), (_number(row.calls_per_pair),)]
    if compared:
        difference = row.difference
        value = None if difference is None else difference.accuracy
        cells.append(("" if difference is None else "n/a" if value is None else minus(f"{100 * value:+.1f}"),))
        ends = None if difference is None else difference.accuracy_ci
        cells.append(("" if ends is None else minus(f"[{100 * ends[0]:+.1f}, {100 * ends[1]:+.1f}]"),))
        adjusted = None if difference is None else difference.p_holm
        cells.append(("" if adjusted is None else p_figure(adjusted),))
    return Row(tuple(cells), strong=row.subject)


def _figure_cells(row: SetRow) -> list[Line]:
    """Accuracy, macro-F1 and kappa, each with its interval."""
    return [
        (percent(row.accuracy, unit=False),),
        (percent_interval(row.accuracy_ci),),
        (ratio(row.macro_f1),),
        (ratio_interval(row.macro_f1_ci),),
        (ratio(row.kappa),),
        (ratio_interval(row.kappa_ci),),
    ]


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.1f}".removesuffix(".0")


def _pairs_fact(sets: Sequence[ExperimentSet]) -> str:
    return ", ".join(f"{of_set.set}: {of(of_set.pairs.labelled, of_set.pairs.total)} pairs labelled" for of_set in sets)


_METRICS: tuple[tuple[str, str, Callable[[SetRow], str]], ...] = (
    (
        "accuracy",
        "Accuracy, %",
        lambda row: percent_with_interval(row.accuracy, row.accuracy_ci),
    ),
    (
        "macro_f1",
        "Macro-F1",
        lambda row: ratio_with_interval(row.macro_f1, row.macro_f1_ci),
    ),
    ("kappa", "Kappa", lambda row: ratio_with_interval(row.kappa, row.kappa_ci)),
)


def _grids(of_set: ExperimentSet, kind: str) -> Iterator[Block]:
    """A table for each figure, with a row for each place of the axis."""
    rows = of_set.rows
    places = sorted({row.x for row in rows if row.x is not None})
    across = list(dict.fromkeys((row.group, row.aggregation) for row in rows))
    if kind == "sweep":
        # One table for an aggregation, depths to the right.
        blocks = [[key for key in across if key[1] == rule] for rule in dict.fromkeys(rule for _, rule in across)]
    else:
        blocks = [across]
    first = "n" if kind == "sweep" else "Neurons"
    for _, title, shown in _METRICS:
        for keys in blocks:
            rule = aggregation_title(keys[0][1])
            heads = [group if kind == "sweep" else group_name(group, aggregation) for group, aggregation in keys]
            lines = []
            for x in places:
                cells: list[Line] = [(f"{x:,}",)]
                for key in keys:
                    cell = next((row for row in rows if row.x == x and (row.group, row.aggregation) == key), None)
                    cells.append(("" if cell is None else shown(cell),))
                lines.append(Row(tuple(cells)))
            used = sorted({row.n_used for row in rows})
            fact = f"{whole_range(used[0], used[-1])} of {of_set.pairs.total:,} pairs used"
            name = f"{of_set.set}: {title}, {rule}" if kind == "sweep" else f"{of_set.set}: {title}"
            yield Section(name, fact, level=3)
            yield Table((first, *heads), (True,) * (len(heads) + 1), tuple(lines))


def _saving_table(results: ExperimentFigures) -> Iterator[Block]:
    columns = (
        "Network",
        "Agreement with people, %",
        "Relative to people's own, %",
        "Still to review, %",
        "at both ends of the interval",
        "Saved, %",
        "Least certain first, %",
        "95 %",
        "n used",
    )
    for of_set in results.sets:
        saving = of_set.saving
        if saving is None:
            continue
        lines = []
        for row in saving.rows:
            ends = row.review_ends
            cells = (
                row_of(of_set, row.row).name,
                percent(row.accuracy, unit=False),
                percent(row.relative, unit=False),
                percent(row.review, unit=False),
                "" if ends is None else f"{percent(ends[0], unit=False)} to {percent(ends[1], unit=False)}",
                percent(row.saved, unit=False),
                percent(row.uncertain_first, unit=False),
                percent_interval(row.uncertain_first_ci),
                of(row.n_used, row.n_total),
            )
            lines.append(Row(tuple((cell,) for cell in cells)))
        yield Section(f"{of_set.set}: people's work", _target_words(saving), level=3)
        yield Table(columns, (False, *(True,) * (len(columns) - 1)), tuple(lines))
        if saving.labour is not None:
            yield from _work_table(of_set, saving.labour)


def _work_table(of_set: ExperimentSet, labour: StatedLabour) -> Iterator[Block]:
    """People's time and money: all pairs labelled, against the review alone."""
    columns = ["Network", "Pairs to review", "Times faster", "at both ends of the interval"]
    if labour.seconds is not None:
        columns += ["Hours of all", "Hours of review"]
        if labour.wage is not None:
            columns += ["All, USD", "Review, USD", "Network, USD", "Cheaper by, %", "at both ends of the interval"]
    lines = []
    for row in of_set.saving_rows:
        work = row.work
        cells = [
            row_of(of_set, row.row).name,
            "n/a" if work.reviews is None else of(round(work.reviews), work.pairs),
            _amount(work.faster, 1),
            _amounts(work.faster_ends and sorted(work.faster_ends), 1),
        ]
        if labour.seconds is not None:
            cells += [_amount(work.hours_all, 2), _amount(work.hours_review, 2)]
            if labour.wage is not None:
                cells += [_amount(cost, 2) for cost in (work.cost_all, work.cost_review, work.network_price)]
                cells.append("n/a" if work.cost_saved is None else minus(f"{100 * work.cost_saved:.1f}"))
                ends = work.cost_saved_ends
                cells.append("" if ends is None else _amounts(sorted(100 * end for end in ends), 1))
        lines.append(Row(tuple((cell,) for cell in cells)))
    yield Section(f"{of_set.set}: people's time and cost", _labour_words(labour), level=3)
    yield Table(tuple(columns), (False, *(True,) * (len(columns) - 1)), tuple(lines))


def _labour_words(labour: StatedLabour) -> str:
    if labour.seconds is None:
        return "seconds a label and wage are not stated"
    people = "" if labour.annotators == 1 else f" from each of {labour.annotators:g} people"
    wage = "wage not stated" if labour.wage is None else f"{labour.wage:g} USD an hour"
    return f"{labour.seconds:g} s a label{people}, {wage}"


def _amount(value: float | None, digits: int) -> str:
    return "n/a" if value is None else f"{value:,.{digits}f}"


def _amounts(values: Sequence[float] | None, digits: int) -> str:
    return "" if values is None else minus(" to ".join(f"{value:,.{digits}f}" for value in values))


TARGETS = {
    "given": "as given",
    "measured": "as the annotators of these pairs agree",
    "paper": "as in the paper, since these pairs do not have several annotators",
}


def _target_words(saving: SetSaving) -> str:
    return f"target {percent(saving.target)}, {TARGETS[saving.target_from]}"


MOST_WORDS = 10


def _words_table(of_set: ExperimentSet) -> Iterator[Block]:
    lines = []
    for words in of_set.words or ():
        common = ", ".join(f"{name} {count:,}" for name, count in words.words[:MOST_WORDS])
        cells = (
            Given(words.task or "(no task)"),
            of(words.pairs_used, words.pairs_total),
            f"{words.roles:,}",
            Given(common),
        )
        lines.append(Row(tuple((cell,) for cell in cells)))
    yield Section(f"{of_set.set}: roles by task", plural(of_set.pairs.total, "pair"))
    yield Table(("Task", "Pairs used", "Different roles", "Most common"), (False, True, True, False), tuple(lines))


def _notes(results: ExperimentFigures) -> Iterator[Line]:
    sets, kind = results.sets, kind_of(results)
    for of_set in sets:
        calls = of_set.calls
        price = calls.reasons["price"] if calls.price is None else money(calls.price)
        if kind == "clouds":
            yield (Given(of_set.set), f": {calls.asked_this_time:,} calls were made this time.")
        else:
            yield (
                Given(of_set.set),
                f": its networks rest on {plural(calls.all, 'call')}, {calls.different:,} different ones since "
                f"{calls.shared:,} are shared; {calls.asked_this_time:,} were made this time. The different "
                f"ones took {plural(calls.tokens_in, 'token')} in and {calls.tokens_out:,} out; price: {price}.",
            )
        roles = of_set.roles
        if roles.fewer:
            yield (
                Given(of_set.set),
                f": on {of(roles.fewer, roles.pairs)} pairs the model named fewer roles than there are neurons "
                "(pairs counted once a network); the network is narrower there.",
            )
        if roles.none:
            yield (
                Given(of_set.set),
                f": on {of(roles.none, roles.pairs)} pairs the model named no roles, and those of the library "
                "stood in.",
            )
        if calls.stand_ins is not None:
            named = ", ".join(f"{name} {count:,}" for name, count in calls.stand_ins.models.items())
            yield (
                Given(of_set.set),
                f": {of(calls.stand_ins.calls, calls.stand_ins.n_total)} answered calls are those of stand-ins: ",
                Given(named),
                ".",
            )
        if short := [row for row in of_set.rows if row.no_quorum]:
            said = "; ".join(f"{row.name} {of(row.no_quorum or 0, row.judged)}" for row in short)
            yield (Given(of_set.set), ": judged pairs without a verdict for want of a quorum: ", Given(said), ".")
        if calls.unscored:
            said = ", ".join(f"{reason} {count:,}" for reason, count in calls.unscored.items())
            yield (Given(of_set.set), f": calls without an evaluation, which count nowhere: {said}.")
        if kind != "clouds" and not of_set.pairs.labelled:
            yield (Given(of_set.set), ": no pair has a human label, so that agreement with people is undefined.")
        if kind != "clouds" and of_set.pairs.questions < of_set.pairs.total:
            number = plural(of_set.pairs.questions, "question")
            yield (Given(of_set.set), f": its pairs are of {number}; intervals draw whole questions.")
    if kind in ("sweep", "budget"):
        yield ("The best of many networks looks better than it is: it was chosen on the pairs that it is shown for.",)
    if kind == "saving":
        yield from _saving_notes(sets)


def _saving_notes(sets: Sequence[ExperimentSet]) -> Iterator[Line]:
    yield (
        "The formula takes a reviewed pair as right, although people agree with each other only as far as the target. "
        "If reviewers err as often as people differ, everything must be reviewed.",
    )
    yield (
        "It holds for pairs that are picked at random. Least certain first is measured on the labelled pairs, and less "
        "sure than it looks where these are few.",
    )
    yield ("Agreement and target are estimates: see the share at both ends of the interval.",)
    if any(of_set.saving is not None and of_set.saving.labour is not None for of_set in sets):
        yield (
            "Times faster is of people's time: all pairs over those that they review. Cheaper counts the network's "
            "price too. The paper says 4.6 times and 60 % at a review of 23 %, which alone gives 4.3 times; it states "
            "neither seconds a label nor wages.",
        )
    for of_set in sets:
        if any((row.relative or 0) > 1 for row in of_set.saving_rows):
            yield (
                Given(of_set.set),
                ": a network can agree with the label more often than people do with each other, since the label "
                "is a majority of them.",
            )


# Figures for machines


class ExperimentRecord(NamedTuple):
    """A line of the CSV: a row of the table on one set of pairs."""

    set: str
    row: str
    network: str
    aggregation: str
    group: str
    x: int | None
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    macro_f1: float | None
    macro_f1_low: float | None
    macro_f1_high: float | None
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    n_used: int
    n_total: int
    neurons_per_pair: float | None
    calls_per_pair: float | None
    compared_with: str | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    p: float | None
    p_holm: float | None
    review_share: float | None
    times_faster: float | None
    cost_saved: float | None
    reason: str


def csv(results: ExperimentFigures) -> str:
    """All rows, one a line; of word clouds each role of each task."""
    if kind_of(results) == "clouds":
        lines = [
            (of_set.set, words.task, clean(str(name)), count, words.pairs_used, words.pairs_total)
            for of_set in results.sets
            for words in of_set.words or ()
            for name, count in words.words
        ]
        return csv_text(("set", "task", "role", "pairs", "pairs_used", "pairs_total"), lines)
    records = (_record(of_set, row) for of_set in results.sets for row in of_set.rows)
    return csv_text(ExperimentRecord._fields, records)


def _record(of_set: ExperimentSet, row: SetRow) -> ExperimentRecord:
    def ends(interval: Interval | None) -> tuple[float | None, float | None]:
        return (None, None) if interval is None else (interval.low, interval.high)

    less = row.difference
    saving = next((saving_row for saving_row in of_set.saving_rows if saving_row.row == row.row), None)
    return ExperimentRecord(
        of_set.set,
        row.row,
        row.network,
        row.aggregation,
        row.group,
        row.x,
        row.accuracy,
        *ends(row.accuracy_ci),
        row.macro_f1,
        *ends(row.macro_f1_ci),
        row.kappa,
        *ends(row.kappa_ci),
        row.n_used,
        row.n_total,
        row.neurons_per_pair,
        row.calls_per_pair,
        None if less is None else less.against,
        None if less is None else less.accuracy,
        *ends(None if less is None else less.accuracy_ci),
        None if less is None else less.p,
        None if less is None else less.p_holm,
        None if saving is None else saving.review,
        None if saving is None else saving.work.faster,
        None if saving is None else saving.work.cost_saved,
        "; ".join(dict.fromkeys(row.reasons.values())),
    )


def json_text(results: ExperimentFigures) -> str:
    """The results as they are kept."""
    return json.dumps(results.to_dict(), allow_nan=False, indent=1, ensure_ascii=True) + "\n"
