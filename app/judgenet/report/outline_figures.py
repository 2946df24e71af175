"""The sections of a report that show figures."""

from __future__ import annotations

from collections.abc import Iterable

from judgenet.core.wording import (
    SPOKEN,
    aggregation_title,
    of,
    p_value,
    percent,
    percent_interval,
    percent_with_interval,
    plural,
    points,
    ratio_with_interval,
    reason_words,
)
from judgenet.report import charts
from judgenet.report.blocks import (
    Block,
    Cloud,
    Clouds,
    Facts,
    Figure,
    FigureWithText,
    Given,
    Line,
    Paragraph,
    Row,
    Section,
    Strong,
    Table,
    VerdictMark,
)
from judgenet.report.charts import BarPart, ForestRow
from judgenet.report.clouds import word_cloud
from judgenet.report.model import LayerChange, NeuronFigures, Report, ReportedAgreement
from judgenet.report.outline_tables import (
    PLACES,
    baseline_line,
    estimate,
    flip_words,
    forest,
    in_order,
    layer_name,
    neuron_name,
    share_of,
    verdict_table,
)
from judgenet.stats.agreement import PositionConsistency
from judgenet.stats.discussion import Overturns

MOST_ROWS = 24
"""A chart has at most this number of rows: the rest is in the CSV and JSON formats."""
MOST_TASKS = 16
MOST_ROLES = 12
MOST_CLOUDS = 8
FEWEST_ROLE_PAIRS = 5


def judgement(report: Report) -> Line:
    """Whether the network is better than a constant answer, and how often network and people give each verdict. Needs
    labels."""
    headline, baseline = report.headline, report.baseline
    interval = headline.intervals.accuracy
    assert baseline is not None
    share = baseline.figures.agreement.accuracy or 0.0
    constant: Line = ("always answering ", VerdictMark(baseline.label))
    if interval is None:
        why = headline.intervals.reasons.get("accuracy", "there is no interval")
        line: Line = (f"Not decided, {why}: ", *constant, f" reaches {percent(share)}. ")
    elif interval.low > share:
        line = ("Better than the baseline: ", *constant, f" reaches {percent(share)}, below the interval. ")
    elif interval.high < share:
        line = ("Worse than the baseline: ", *constant, f" reaches {percent(share)}, above the interval. ")
    else:
        line = ("Not decided: the interval includes the ", f"{percent(share)} that ", *constant, " reaches. ")
    n = headline.agreement.n_used
    questions = headline.intervals.questions
    basis = plural(n, "pair") if questions is None or questions == n else f"few questions ({questions:,})"
    few: Line = (f"With {basis} that says little. ",) if headline.intervals.few else ()
    rows = headline.agreement.confusion
    said = [sum(row[place] for row in rows) for place in range(len(rows))]
    return (
        *line,
        *few,
        f"On these {plural(n, 'pair')} the network says {_counted(said)}; people say {_counted(map(sum, rows))}.",
    )


def better_line(report: Report) -> Line:
    """That another aggregation does better on these labels than the network's verdict; empty where none does."""
    best = max(report.aggregations, key=lambda name: report.aggregations[name].agreement.accuracy or 0.0)
    better = report.aggregations[best]
    mine = report.headline.agreement.accuracy
    if mine is None or better.agreement.accuracy is None or better.agreement.accuracy <= mine:
        return ()
    return (
        f"On these labels {aggregation_title(best)} does best of {len(report.aggregations)} aggregations: "
        f"{percent(better.agreement.accuracy)} {percent_interval(better.intervals.accuracy)}, "
        f"{of(*better.used)} pairs used. Chosen by them, it looks better than it is.",
    )


def _counted(counts: Iterable[int]) -> str:
    """Verdicts in the order a, b, tie, as they stand on the page: A left, B right."""
    a, b, tie = counts
    return f"A {a:,}, tie {tie:,}, B {b:,}"


def agreement_section(report: Report, *, with_words: bool = False) -> Iterable[Block]:
    """Every aggregation against people; ``with_words`` adds the sentences that the head has, where it has none."""
    agreement = report.headline.agreement
    yield Section("Agreement with people")
    if with_words:
        accuracy, within = percent(agreement.accuracy), percent_interval(report.headline.intervals.accuracy)
        sentence = f"{accuracy} {within} of {plural(agreement.n_used, 'labelled pair')} are judged as people did. "
        yield Paragraph((sentence, *judgement(report)))
        better = better_line(report)
        if better:
            yield Paragraph(better)
    rows = [
        figure_row(aggregation_title(name), report.aggregations[name], strong=name == report.decides)
        for name in in_order(report)
    ]
    if report.baseline is not None:
        rows.append(figure_row(f"Always {SPOKEN[report.baseline.label]}", report.baseline.figures))
    yield Table(
        (
            "Aggregation",
            "Accuracy, %",
            f"Macro-F1, {plural(len(agreement.labels), 'class', 'classes')}",
            "Kappa",
            "n used",
        ),
        (False, True, True, True, True),
        tuple(rows),
    )
    yield Paragraph((agreement_note(report),), "note")
    yield Section("Where they differ", aggregation_title(report.decides))
    words = "Network against people: " + "; ".join(
        f"people {SPOKEN[human]}: network "
        + ", ".join(f"{SPOKEN[said]} {row[place]:,}" for place, said in enumerate(PLACES))
        for human, row in zip(PLACES, agreement.confusion, strict=True)
    )
    yield FigureWithText(
        Figure(charts.confusion(agreement.confusion, words), verdict_table(agreement.confusion, "people", "network")),
        (Facts(_confusion_facts(report)),),
    )


_FIGURES = {"accuracy": "accuracy", "macro_f1": "macro-F1", "kappa": "kappa"}


def agreement_note(report: Report) -> str:
    """What the table of agreement shows: its intervals, its classes, its n, and why a figure is missing."""
    names = ", ".join(SPOKEN[label].removeprefix("a ") for label in report.headline.agreement.labels)
    classes = " and ".join(names.rsplit(", ", 1))
    undefined = [
        f"{aggregation_title(name)}: {_FIGURES[figure]} is undefined, {why}."
        for name in in_order(report)
        for figure, why in report.aggregations[name].agreement.reasons.items()
        if figure in _FIGURES
    ]
    parts = [
        f"95 % intervals in brackets. Macro-F1 averages the classes {classes}. n used is the number of pairs with "
        "both a human label and a verdict, of all pairs.",
        *undefined,
    ]
    return " ".join(parts)


def figure_row(name: str, figures: ReportedAgreement, *, strong: bool = False) -> Row:
    """A judge's accuracy (%), macro-F1, kappa, each with its interval, and the pairs used of all."""
    agreement, intervals = figures.agreement, figures.intervals
    return Row(
        (
            (name,),
            (percent_with_interval(agreement.accuracy, intervals.accuracy),),
            (ratio_with_interval(agreement.macro_f1, intervals.macro_f1),),
            (ratio_with_interval(agreement.kappa, intervals.kappa),),
            (of(*figures.used),),
        ),
        strong,
    )


def _confusion_facts(report: Report) -> tuple[tuple[str, Line], ...]:
    agreement = report.headline.agreement
    rows: list[tuple[str, Line]] = []
    wrong = [
        (count, said, human)
        for human, row in zip(PLACES, agreement.confusion, strict=True)
        for said, count in zip(PLACES, row, strict=True)
        if said != human and count
    ]
    for count, said, human in sorted(wrong, key=lambda item: -item[0])[:4]:
        rows.append((plural(count, "pair"), ("network ", VerdictMark(said), " people ", VerdictMark(human))))
    if agreement.n_unlabelled:
        rows.append((plural(agreement.n_unlabelled, "pair"), ("without a human label",)))
    if agreement.n_unjudged:
        rows.append((plural(agreement.n_unjudged, "pair"), ("with a label and no verdict",)))
    return tuple(rows)


def tasks_section(report: Report) -> Iterable[Block]:
    """Accuracy by task, where there are several."""
    tasks = report.tasks
    if len(tasks) < 2:
        return
    yield Section("By task", aggregation_title(report.decides))
    rows = [
        estimate(
            of_task.task or "(no task)",
            of_task.figures[report.decides],
            baseline=None if of_task.baseline is None else of_task.baseline.figures.agreement.accuracy,
        )
        for of_task in tasks[:MOST_TASKS]
    ]
    yield Figure(*forest(rows, "Accuracy against people by task"))
    left = tasks[MOST_TASKS:]
    more = (
        f" {plural(len(left), 'more task')} with {plural(sum(t.pairs for t in left), 'pair')}: in the CSV form."
        if left
        else ""
    )
    yield Paragraph(
        (f"The baseline, an upright mark in the chart, is what the most common label of the task reaches.{more}",),
        "note",
    )


def neurons_section(report: Report) -> Iterable[Block]:
    """Accuracy, calls and changes of each neuron."""
    neurons = report.neurons
    if len(neurons) < 2:
        return
    yield Section("By neuron", plural(len(neurons), "neuron"))
    baseline = baseline_line(report)
    layers: dict[int, list[NeuronFigures]] = {}
    for neuron in neurons:
        layers.setdefault(neuron.layer, []).append(neuron)
    if len(neurons) <= MOST_ROWS:
        rows: list[ForestRow] = []
        for layer, members in layers.items():
            rows.append(ForestRow(layer_name(report, layer), heading=True))
            rows += [estimate(neuron_name(report, neuron), neuron.figures) for neuron in members]
        yield Figure(*forest(rows, "Accuracy against people by neuron", baseline))
        yield _neuron_table(report)
    else:
        strips = [
            (
                layer_name(report, layer),
                [n.figures.agreement.accuracy for n in members if n.figures.agreement.accuracy is not None],
            )
            for layer, members in layers.items()
        ]
        said = "; ".join(
            f"{name}: {percent(min(values))} to {percent(max(values))}" for name, values in strips if values
        )
        yield Figure(charts.strips(strips, f"Accuracy against people, a dot a neuron: {said}", baseline))
        yield Paragraph((f"Each dot is a neuron. {said}. All of them are in the CSV form.",), "note")
    if len(neurons) > 4:
        yield Paragraph(
            (f"{len(neurons):,} neurons are compared: the best of them looks better here than it is.",), "note"
        )


def _neuron_table(report: Report) -> Table:
    rows = []
    for neuron in report.neurons:
        changed = neuron.changed
        rows.append(
            Row(
                (
                    (layer_name(report, neuron.layer),),
                    (Given(neuron_name(report, neuron)),),
                    (Given(neuron.model),),
                    (of(neuron.calls_scored, neuron.calls_total),),
                    (share_of(neuron.position.flip_rate, neuron.position.n),),
                    ("–" if changed is None else share_of(changed.rate, changed.n),),
                    ("–" if changed is None or changed.gain is None else points(changed.gain),),
                )
            )
        )
    return Table(
        ("", "Neuron", "Model", "Calls scored", "Orders differ", "Changed its mind", "Gain by it"),
        (False, False, False, True, True, True, True),
        tuple(rows),
    )


def roles_section(report: Report) -> Iterable[Block]:
    """Accuracy by role or criterion, where these are not simply the neurons of one layer."""
    if len(report.roles) < 2 or (report.spec.depth == 1 and len(report.roles) == len(report.neurons)):
        # Each neuron of a single layer with a role of its own is there already.
        return
    shown = [role for role in report.roles if role.pairs >= FEWEST_ROLE_PAIRS][:MOST_ROLES]
    if not shown:
        return
    by_criteria = report.spec.roles.kind == "criteria"
    singular, plural_name = ("criterion", "criteria") if by_criteria else ("role", "roles")
    yield Section(f"By {singular}", plural(len(report.roles), singular, plural_name))
    rows = [estimate(role.role, role.figures) for role in shown]
    yield Figure(*forest(rows, f"Accuracy against people by {singular}", baseline_line(report)))
    left = len(report.roles) - len(shown)
    more = f" {plural(left, f'more {singular}', f'more {plural_name}')}: in the CSV form." if left else ""
    yield Paragraph(
        (
            f"A {singular}'s verdict on a pair merges all its calls, whichever neuron had it. n used is of the pairs "
            f"that it judged; {plural_name} judged different pairs.{more}",
        ),
        "note",
    )


def orders_section(report: Report) -> Iterable[Block]:
    """How often the verdict depends on the order of the responses."""
    position = report.position
    if position.flip_rate is None:
        return
    yield Section("Does the order matter?", "c1*, over the calls of one order")
    rows = [("All calls", order_parts(position), share_of(position.flip_rate, position.n))]
    if len(report.layers) > 1:
        rows += [
            (
                f"Layer {layer.layer}",
                order_parts(layer.position),
                share_of(layer.position.flip_rate, layer.position.n),
            )
            for layer in report.layers[:8]
        ]
    words = f"Verdicts in both orders differ on {flip_words(position)}"
    table = Table(
        ("", *(part.name for part in rows[0][1]), "differ"),
        (False, True, True, True, True, True),
        tuple(Row(((name,), *((f"{part.count:,}",) for part in parts), (note,))) for name, parts, note in rows),
    )
    yield Figure(charts.split_bar(rows, words), table)
    yield Paragraph(orders_line(position))


def orders_line(position: PositionConsistency) -> Line:
    """How often verdicts depend on the order, and which response then wins."""
    if position.flip_rate is None:
        return (f"n/a – {position.reason}.",)
    differ = position.n - round((position.consistent or 0) * position.n)
    if not differ:
        return (f"The verdict is the same in both orders on all {plural(position.n, 'pair')}.",)
    test = f"exact sign test, {p_value(position.p)}"
    if position.questions_p is not None:
        test = f"exact sign test over questions, {p_value(position.questions_p)}"
    return (
        f"The verdict depends on the order on {plural(differ, 'pair')} ({flip_words(position)}). "
        f"On {position.primacy:,} the response shown first won both times, on {position.recency:,} the one shown "
        f"last ({test}); on {position.partial:,} one of the two orders gave a tie.",
    )


def order_parts(position: PositionConsistency) -> tuple[BarPart, ...]:
    """The pairs by what the order does to their verdict."""
    same = position.n - position.primacy - position.recency - position.partial
    return (
        BarPart("same verdict", same, 0.0),
        BarPart("first shown wins", position.primacy, 1.0),
        BarPart("last shown wins", position.recency, 0.55),
        BarPart("a tie in one", position.partial, 0.22),
    )


def changes_section(report: Report) -> Iterable[Block]:
    """What each layer changed of the vote of the layer before."""
    for change in report.changes:
        yield from _change(change)


def _change(change: LayerChange) -> Iterable[Block]:
    overturns = change.overturns
    before, after = f"Layer {change.before}", f"Layer {change.after}"
    yield Section(f"What layer {change.after} changed", f"c2*(l{change.before}) to c2*(l{change.after})")
    if not overturns.n:
        yield Paragraph(change_line(change))
        return
    words = f"{before} against {after.lower()}: " + "; ".join(
        f"{SPOKEN[row]} to "
        + ", ".join(f"{SPOKEN[column]} {cell:,}" for column, cell in zip(PLACES, cells, strict=True))
        for row, cells in zip(PLACES, overturns.table, strict=True)
    )
    drawing = charts.changes(overturns.table, before, after, words)
    yield FigureWithText(
        Figure(drawing, verdict_table(overturns.table, before, after)), (Paragraph(change_line(change)),)
    )


def _test_of(overturns: Overturns) -> str:
    """The test of the changes that became right against those that became wrong."""
    if overturns.questions_p is not None:
        return f"test over questions, {p_value(overturns.questions_p)}"
    if why := overturns.reasons.get("questions_p"):
        return f"no test over questions: {why}"
    return f"exact sign test, {p_value(overturns.p)}"


def change_line(change: LayerChange) -> Line:
    """How many pairs a layer overturned, and whether that was right."""
    overturns = change.overturns
    if not overturns.n:
        return (f"Nothing to compare: {overturns.reasons['rate']}.",)
    if not overturns.overturned:
        return (
            Strong("Nothing overturned: "),
            f"the same verdict on all {plural(overturns.n, 'pair')} that have both.",
        )
    text: list[str | Strong | Given | VerdictMark] = [
        Strong(f"{percent(overturns.rate)} overturned: "),
        f"{of(overturns.overturned, overturns.n)} pairs with both verdicts, of {overturns.n_total:,} judged; "
        f"{overturns.reversed:,} from one response to the other. ",
    ]
    if overturns.overturned_labelled and overturns.gain is not None:
        text.append(
            f"Of the {overturns.overturned_labelled:,} with a human label {overturns.to_right:,} became right, "
            f"{overturns.to_wrong:,} became wrong and {overturns.between_wrong:,} stayed wrong: "
            f"{points(overturns.gain)} of accuracy on {plural(overturns.n_labelled, 'labelled pair')} "
            f"({_test_of(overturns)})."
        )
    elif overturns.gain is None:
        text.append(f"Whether that was right is unknown: {overturns.reasons['gain']}.")
    else:
        text.append("None of them has a human label.")
    return tuple(text)


def role_clouds(report: Report, width: int = 420) -> tuple[Cloud, ...]:
    """A word cloud of the roles for each of the largest tasks, ``width`` px wide."""
    items = []
    for place, words in enumerate(report.words[:MOST_CLOUDS]):
        name = words.task or "(no task)"
        drawing = word_cloud(words.words, f"Roles for {name}", width, place)
        if drawing is not None:
            fact = f"{plural(words.distinct, 'role')} on {plural(words.pairs, 'pair')}"
            items.append(Cloud((Given(name),), fact, drawing, words.words[:10]))
    return tuple(items)


def clouds_section(report: Report) -> Iterable[Block]:
    """Word clouds of the generated roles."""
    items = role_clouds(report)
    if not items:
        return
    yield Section("Roles generated by the model", "the larger, the more pairs")
    yield Clouds(items)
    left = report.words[MOST_CLOUDS:]
    if left:
        yield Paragraph((f"{plural(len(left), 'more task')}: in the CSV form.",), "note")


def unscored_section(report: Report) -> Iterable[Block]:
    """Calls without an evaluation, by reason."""
    total = sum(reason.calls for reason in report.unscored)
    if not total:
        return
    calls = report.about.spent.calls
    yield Section("Unscored calls", f"{of(total, calls)} calls, {percent(total / calls)}")
    rows = [
        (reason_words(reason.reason), reason.calls, f"{reason.calls:,}, {percent(reason.calls / calls)}")
        for reason in report.unscored
    ]
    table = Table(("Reason", "Calls"), (False, True), tuple(Row(((name,), (note,))) for name, _, note in rows))
    words = "; ".join(f"{name} {count:,}" for name, count, _ in rows)
    yield Figure(charts.bars(rows, f"Unscored calls by reason: {words}"), table)
