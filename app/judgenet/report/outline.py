"""What a report says and in which order, from a :class:`~judgenet.report.model.Report`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from judgenet import __version__
from judgenet.core.aggregate import aggregation_title
from judgenet.core.network import NetworkSpec, designed_width
from judgenet.core.pairs import ORDERS, Verdict
from judgenet.core.tally import duration
from judgenet.report import charts
from judgenet.report.blocks import (
    Beside,
    Block,
    Bullets,
    Chip,
    Cloud,
    Clouds,
    Document,
    Facts,
    Figure,
    Given,
    Headline,
    Line,
    Notice,
    Paragraph,
    Row,
    Section,
    Sent,
    Strong,
    Study,
    Table,
)
from judgenet.report.charts import Estimate, Part
from judgenet.report.clouds import word_cloud
from judgenet.report.drawing import Drawing
from judgenet.report.model import (
    KINDS,
    Figures,
    Kind,
    LayerChange,
    LeftOut,
    NeuronFigures,
    PairStudy,
    PromptSample,
    Quote,
    Report,
)
from judgenet.report.network_picture import network_picture
from judgenet.report.words import (
    SPOKEN,
    day,
    digest,
    moment,
    money,
    of,
    p_value,
    percent,
    percent_interval,
    plural,
    points,
    ratio,
    ratio_interval,
    reason_words,
    score,
)
from judgenet.stats.agreement import PositionConsistency
from judgenet.stats.intervals import WinRate

MOST_ROWS = 24
"""More rows than this are no chart any more: the rest is in the CSV and JSON forms."""
MOST_TASKS = 16
MOST_ROLES = 12
MOST_CLOUDS = 8
FEWEST_ROLE_PAIRS = 5


def outline(report: Report) -> Document:
    """The report as blocks."""
    about = report.about
    return Document(
        kicker=(f"Report of run {about.number}, ", Given(report.spec.name)),
        date=day(about.finished_at or about.created_at),
        title=_title(report),
        blocks=tuple(_blocks(report)),
        foot=f"JudgeNet {__version__}, one file, no remote content",
    )


def _title(report: Report) -> str:
    if report.headline.agreement.accuracy is not None:
        return "Does the network agree with people?"
    if report.verdicts.n:
        return f"What does the network say of {plural(report.verdicts.n, 'pair')}?"
    return "No pair has a verdict yet"


def _blocks(report: Report) -> Iterable[Block]:
    yield from _state(report)
    yield from _headline(report)
    yield from _what_was_run(report)
    if report.headline.agreement.n_used:
        yield from _agreement(report)
    yield from _winner(report)
    if report.headline.agreement.n_used:
        yield from _tasks(report)
        yield from _neurons(report)
        yield from _roles(report)
    yield from _orders(report)
    yield from _changes(report)
    yield from _clouds(report)
    yield from _unscored(report)
    yield from _method(report)
    yield from _studies(report)
    yield from _prompts(report)
    yield _record(report)[0]
    yield _record(report)[1]


# The top


_STATES = {
    "running": "The run goes on",
    "paused": "The run is paused",
    "budget": "The run stopped at its limit",
    "halted": "The run waits for an endpoint that stopped",
    "cancelled": "The run was stopped",
    "failed": "The run failed",
}


def _state(report: Report) -> Iterable[Block]:
    about, data = report.about, report.data
    if about.state == "done":
        return
    line: list[str | Strong | Given | Chip] = [
        Strong(f"{_STATES[about.state]}: {of(data.finished, data.pairs)} pairs are judged. ")
    ]
    if about.message:
        line += [Given(about.message), " "]
    line.append("Every figure below is about these pairs alone.")
    yield Notice(tuple(line))


def _headline(report: Report) -> Iterable[Block]:
    found = report.headline
    accuracy, interval = found.agreement.accuracy, found.intervals.accuracy
    title = aggregation_title(report.decides)
    if accuracy is None or interval is None:
        if report.verdicts.value is None or report.verdicts.interval is None:
            return
        low, high = report.verdicts.interval
        yield Headline(
            percent(report.verdicts.value),
            f"95 % interval {100 * low:.1f} to {100 * high:.1f}, uncorrected",
            (
                "win rate of ",
                Chip("b"),
                *_system(report, "b"),
                " over ",
                Chip("a"),
                *_system(report, "a"),
                f" by {title}, ties count half",
            ),
            hollow=True,
        )
        yield Paragraph(
            (
                "No pair has both a human label and a verdict: how often the network is right is unknown, and with it "
                "how far this rate is off. A few labels of pairs drawn at random would tell.",
            )
        )
        return
    used, total = found.used
    yield Headline(
        percent(accuracy),
        f"95 % interval {100 * interval.low:.1f} to {100 * interval.high:.1f}",
        (f"of {plural(used, 'labelled pair')} judged as people did, by {title}; {of(used, total)} pairs used",),
    )
    yield Paragraph(_judgement(report))
    yield Figure(*_forest(_aggregation_rows(report), "Accuracy against people by aggregation", _baseline(report)))


def _judgement(report: Report) -> Line:
    found, baseline = report.headline, report.baseline
    interval = found.intervals.accuracy
    assert baseline is not None
    assert interval is not None
    share = baseline.figures.agreement.accuracy or 0.0
    constant: Line = ("always answering ", Chip(baseline.label))
    if interval.low > share:
        line: Line = ("Better than the baseline: ", *constant, f" reaches {percent(share)}, below the interval. ")
    elif interval.high < share:
        line = ("Worse than the baseline: ", *constant, f" reaches {percent(share)}, above the interval. ")
    else:
        line = ("Not decided: the interval includes the ", f"{percent(share)} that ", *constant, " reaches. ")
    rows = found.agreement.confusion
    said = {verdict: sum(row[place] for row in rows) for place, verdict in enumerate(("a", "b", "tie"))}
    meant = dict(zip(("a", "b", "tie"), map(sum, rows), strict=True))
    return (
        *line,
        f"On these {plural(found.agreement.n_used, 'pair')} the network says A {said['a']:,}, B {said['b']:,} "
        f"and a tie {said['tie']:,} times, people say A {meant['a']:,}, B {meant['b']:,} and a tie {meant['tie']:,} "
        "times.",
    )


def _system(report: Report, side: Verdict) -> Line:
    name = report.data.system_a if side == "a" else report.data.system_b
    return () if name is None else (" ", Given(name))


def _ordered(report: Report) -> list[str]:
    """The network's verdict first, the other aggregations by accuracy."""
    others = [name for name in report.aggregations if name != report.decides]
    others.sort(key=lambda name: -(report.aggregations[name].agreement.accuracy or 0.0))
    return [report.decides, *others]


def _aggregation_rows(report: Report) -> list[Estimate]:
    return [
        _estimate(aggregation_title(name), report.aggregations[name], subject=name == report.decides)
        for name in _ordered(report)
    ]


def _estimate(
    name: str, figures: Figures, *, subject: bool = False, with_n: bool = True, baseline: float | None = None
) -> Estimate:
    return Estimate(
        name,
        figures.agreement.accuracy,
        figures.intervals.accuracy,
        "subject" if subject else "other",
        of(*figures.used) if with_n else "",
        figures.agreement.reasons.get("accuracy", ""),
        baseline,
    )


def _baseline(report: Report) -> tuple[str, float] | None:
    if report.baseline is None or report.baseline.figures.agreement.accuracy is None:
        return None
    return f"always {SPOKEN[report.baseline.label]}", report.baseline.figures.agreement.accuracy


def _forest(rows: Sequence[Estimate], words: str, baseline: tuple[str, float] | None = None) -> tuple[Drawing, Table]:
    """A forest, and the same as a table."""
    with_note = any(row.note for row in rows)
    with_baseline = any(row.baseline is not None for row in rows)
    cells = []
    for row in rows:
        value = "" if row.heading else percent(row.value, unit=False) if row.value is not None else f"n/a: {row.reason}"
        extra = [(percent(row.baseline, unit=False),)] if with_baseline else []
        note = [(row.note,)] if with_note else []
        cells.append(
            Row(((Given(row.name),), (value,), (percent_interval(row.interval),), *extra, *note), row.look == "subject")
        )
    if baseline is not None:
        blank: list[Line] = [("",)] * (with_baseline + with_note)
        cells.append(Row(((baseline[0],), (percent(baseline[1], unit=False),), ("",), *blank)))
    columns = ("", "%", "95 % interval", *(["baseline"] if with_baseline else []), *(["n used"] if with_note else []))
    table = Table(columns, (False, *(True,) * (len(columns) - 1)), tuple(cells))
    said = "; ".join(
        f"{row.name} {percent(row.value)} {percent_interval(row.interval)}" for row in rows if not row.heading
    )
    return charts.forest(rows, f"{words}: {said}", baseline), table


# What was run


def _what_was_run(report: Report) -> Iterable[Block]:
    spec = report.spec
    yield Section("What was run")
    picture = network_picture(spec, report.decides, charts.WIDTH)
    facts = _run_facts(report)
    if picture.width <= 520:
        yield Beside(Figure(picture), (facts,))
    else:
        yield Figure(picture)
        yield facts


def _run_facts(report: Report) -> Facts:
    about, data, spent = report.about, report.data, report.about.spent
    names = list(dict.fromkeys(use.returned or use.requested for use in about.models))
    if not names:
        names = sorted({neuron.model for neuron in report.neurons if neuron.model})
    unscored = sum(spent.unscored.values())
    calls = f"{spent.calls:,}; {unscored:,} unscored" + (f" ({percent(unscored / spent.calls)})" if spent.calls else "")
    rows: list[tuple[str, Line]] = [
        ("Models", (Given(", ".join(names) or "none answered"),)),
        ("Orders", (_orders_words(report.spec),)),
        ("Calls", (calls,)),
        ("Orders differ", (_flip_words(report.position),)),
        ("Data", (f"{plural(data.pairs, 'pair')}, hash {digest(data.hash)}",)),
        ("Labels", (_label_words(report),)),
        ("Seeds", (_seed_words(report),)),
        ("Price", (money(spent.price, spent.unpriced),)),
    ]
    return Facts(tuple(rows))


def _orders_words(spec: NetworkSpec) -> str:
    return {
        "both": "both, each a call of its own",
        "ab": "A first only",
        "ba": "B first only",
        "random": f"one a call, drawn with seed {spec.seed}",
    }[spec.orders]


def _flip_words(position: PositionConsistency) -> str:
    if position.flip_rate is None:
        return f"n/a: {position.reason}"
    if position.n == position.n_total:
        return f"{percent(position.flip_rate)} of {plural(position.n, 'pair')}"
    return f"{percent(position.flip_rate)} of {of(position.n, position.n_total)} pairs"


def _label_words(report: Report) -> str:
    data = report.data
    if not data.labelled:
        return "none"
    people = f", {data.annotators:,} people on {plural(data.annotated, 'pair')}" if data.annotated else ""
    return f"{of(data.labelled, data.pairs)} pairs{people}"


def _seed_words(report: Report) -> str:
    parts = [f"pairs {report.about.seed}"] if report.about.seed is not None else []
    if report.spec.orders == "random":
        parts.append(f"orders {report.spec.seed}")
    return ", ".join([*parts, f"bootstrap {report.bootstrap_seed}"])


# Agreement


def _agreement(report: Report) -> Iterable[Block]:
    found = report.headline.agreement
    yield Section("Agreement with people")
    rows = [
        _figure_row(aggregation_title(name), report.aggregations[name], strong=name == report.decides)
        for name in _ordered(report)
    ]
    if report.baseline is not None:
        rows.append(_figure_row(f"Always {SPOKEN[report.baseline.label]}", report.baseline.figures))
    yield Table(
        ("Aggregation", "Accuracy, %", f"Macro-F1, {plural(len(found.labels), 'class', 'classes')}", "Kappa", "n used"),
        (False, True, True, True, True),
        tuple(rows),
    )
    classes = ", ".join(SPOKEN[label] for label in found.labels)
    undefined = [
        f"{aggregation_title(name)}: {figure} is undefined, {why}."
        for name in _ordered(report)
        for figure, why in report.aggregations[name].agreement.reasons.items()
    ]
    yield Paragraph(
        (
            f"95 % intervals in brackets. Macro-F1 averages the classes {classes}. n used is the number of pairs with "
            "both a human label and a verdict, of all pairs. ",
            " ".join(undefined),
        ),
        "note",
    )
    yield Section("Where they differ", aggregation_title(report.decides))
    words = "Network against people: " + "; ".join(
        f"people {SPOKEN[human]}: network "
        + ", ".join(f"{SPOKEN[said]} {row[place]:,}" for place, said in enumerate(_PLACES))
        for human, row in zip(_PLACES, found.confusion, strict=True)
    )
    yield Beside(
        Figure(charts.confusion(found.confusion, words), _verdict_table(found.confusion, "people", "network")),
        (Facts(_confusion_facts(report)),),
    )


_PLACES: tuple[Verdict, ...] = ("a", "b", "tie")


def _figure_row(name: str, figures: Figures, *, strong: bool = False) -> Row:
    found, intervals = figures.agreement, figures.intervals
    return Row(
        (
            (name,),
            (f"{percent(found.accuracy, unit=False)} {percent_interval(intervals.accuracy)}".strip(),),
            (f"{ratio(found.macro_f1)} {ratio_interval(intervals.macro_f1)}".strip(),),
            (f"{ratio(found.kappa)} {ratio_interval(intervals.kappa)}".strip(),),
            (of(*figures.used),),
        ),
        strong,
    )


def _verdict_table(table: Sequence[Sequence[int]], rows: str, columns: str) -> Table:
    return Table(
        (f"{rows} \\ {columns}", *(SPOKEN[verdict] for verdict in _PLACES)),
        (False, True, True, True),
        tuple(
            Row(((SPOKEN[verdict],), *((f"{count:,}",) for count in row)))
            for verdict, row in zip(_PLACES, table, strict=True)
        ),
    )


def _confusion_facts(report: Report) -> tuple[tuple[str, Line], ...]:
    found = report.headline.agreement
    rows: list[tuple[str, Line]] = []
    wrong = [
        (count, said, human)
        for human, row in zip(_PLACES, found.confusion, strict=True)
        for said, count in zip(_PLACES, row, strict=True)
        if said != human and count
    ]
    for count, said, human in sorted(wrong, key=lambda item: -item[0])[:4]:
        rows.append((plural(count, "pair"), ("network ", Chip(said), " people ", Chip(human))))
    if found.n_unlabelled:
        rows.append((plural(found.n_unlabelled, "pair"), ("without a human label",)))
    if found.n_unjudged:
        rows.append((plural(found.n_unjudged, "pair"), ("with a label and no verdict",)))
    return tuple(rows)


# Which response wins


def _winner(report: Report) -> Iterable[Block]:
    if not report.verdicts.n:
        return
    yield Section("Which response wins", "ties count half")
    rows = [_rate("Network, uncorrected", report.verdicts, report.data.pairs, "uncorrected")]
    if report.human.n:
        rows.append(_rate("People, labelled pairs", report.human, report.data.pairs, "other"))
    yield Figure(*_forest(rows, "Win rate of B over A", ("even at", 0.5)))
    counts = report.verdicts
    yield Paragraph(
        (
            "Win rate of ",
            Chip("b"),
            *_system(report, "b"),
            " over ",
            Chip("a"),
            *_system(report, "a"),
            f". The network says A {counts.a:,}, a tie {counts.tie:,} and B {counts.b:,} times; "
            f"{of(counts.n, report.data.pairs)} pairs have a verdict. "
            "Its errors are not corrected here: they may be larger than the interval.",
        ),
        "note",
    )


def _rate(name: str, found: WinRate, total: int, look: charts.Look) -> Estimate:
    return Estimate(name, found.value, found.interval, look, of(found.n, total))


# Tasks, neurons, roles


def _tasks(report: Report) -> Iterable[Block]:
    tasks = report.tasks
    if len(tasks) < 2:
        return
    yield Section("By task", aggregation_title(report.decides))
    rows = [
        _estimate(
            of_task.task or "(no task)",
            of_task.figures[report.decides],
            baseline=None if of_task.baseline is None else of_task.baseline.figures.agreement.accuracy,
        )
        for of_task in tasks[:MOST_TASKS]
    ]
    yield Figure(*_forest(rows, "Accuracy against people by task"))
    left = tasks[MOST_TASKS:]
    more = (
        f" {plural(len(left), 'more task')} with {plural(sum(t.pairs for t in left), 'pair')}: in the CSV form."
        if left
        else ""
    )
    yield Paragraph(
        (f"The baseline, an upright mark in the chart, is what the commonest label of the task reaches.{more}",), "note"
    )


def _neurons(report: Report) -> Iterable[Block]:
    neurons = report.neurons
    if len(neurons) < 2:
        return
    yield Section("By neuron", plural(len(neurons), "neuron"))
    baseline = _baseline(report)
    layers: dict[int, list[NeuronFigures]] = {}
    for neuron in neurons:
        layers.setdefault(neuron.layer, []).append(neuron)
    if len(neurons) <= MOST_ROWS:
        rows: list[Estimate] = []
        for layer, members in layers.items():
            rows.append(Estimate(_layer_name(report, layer), heading=True))
            rows += [_estimate(_neuron_name(report, neuron), neuron.figures) for neuron in members]
        yield Figure(*_forest(rows, "Accuracy against people by neuron", baseline))
        yield _neuron_table(report)
    else:
        strips = [
            (
                _layer_name(report, layer),
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


def _layer_name(report: Report, layer: int) -> str:
    return "Chair" if layer > report.spec.depth else f"Layer {layer}"


def _neuron_name(report: Report, neuron: NeuronFigures) -> str:
    if neuron.layer > report.spec.depth:
        return "Chair"
    if neuron.role is not None:
        return neuron.role
    return f"Neuron {neuron.neuron}, role by pair" if neuron.roles else f"Neuron {neuron.neuron}"


def _neuron_table(report: Report) -> Table:
    rows = []
    for neuron in report.neurons:
        changed = neuron.changed
        rows.append(
            Row(
                (
                    (_layer_name(report, neuron.layer),),
                    (Given(_neuron_name(report, neuron)),),
                    (Given(neuron.model),),
                    (of(neuron.calls_scored, neuron.calls_total),),
                    (_share_of(neuron.position.flip_rate, neuron.position.n),),
                    ("–" if changed is None else _share_of(changed.rate, changed.n),),
                    ("–" if changed is None or changed.gain is None else points(changed.gain),),
                )
            )
        )
    return Table(
        ("", "Neuron", "Model", "Calls scored", "Orders differ", "Changed its mind", "Gain by it"),
        (False, False, False, True, True, True, True),
        tuple(rows),
    )


def _share_of(share: float | None, n: int) -> str:
    return "n/a" if share is None else f"{percent(share)} of {n:,}"


def _roles(report: Report) -> Iterable[Block]:
    if len(report.roles) < 2:
        return
    shown = [role for role in report.roles if role.pairs >= FEWEST_ROLE_PAIRS][:MOST_ROLES]
    if not shown:
        return
    yield Section("By role", plural(len(report.roles), "role"))
    rows = [_estimate(role.role, role.figures) for role in shown]
    yield Figure(*_forest(rows, "Accuracy against people by role", _baseline(report)))
    left = len(report.roles) - len(shown)
    more = f" {plural(left, 'role')} with fewer pairs: in the CSV form." if left else ""
    yield Paragraph(
        (
            "A role's verdict on a pair merges all its calls, whichever neuron had it. n used is of the pairs that it "
            f"judged; roles judged different pairs.{more}",
        ),
        "note",
    )


# Orders and layers


def _orders(report: Report) -> Iterable[Block]:
    position = report.position
    if position.flip_rate is None:
        return
    yield Section("Does the order matter?", "c1*, over the calls of one order")
    rows = [("All calls", _order_parts(position), _share_of(position.flip_rate, position.n))]
    if len(report.layers) > 1:
        rows += [
            (
                f"Layer {layer.layer}",
                _order_parts(layer.position),
                _share_of(layer.position.flip_rate, layer.position.n),
            )
            for layer in report.layers[:8]
        ]
    words = f"Verdicts in both orders differ on {_flip_words(position)}"
    table = Table(
        ("", *(part.name for part in rows[0][1]), "differ"),
        (False, True, True, True, True, True),
        tuple(Row(((name,), *((f"{part.count:,}",) for part in parts), (note,))) for name, parts, note in rows),
    )
    yield Figure(charts.split_bar(rows, words), table)
    differ = position.n - round((position.consistent or 0) * position.n)
    if not differ:
        yield Paragraph((f"The verdict is the same in both orders on all {plural(position.n, 'pair')}.",))
        return
    yield Paragraph(
        (
            f"The verdict depends on the order on {plural(differ, 'pair')} ({_flip_words(position)}). "
            f"On {position.primacy:,} the response shown first won both times, on {position.recency:,} the one shown "
            f"last (exact sign test, {p_value(position.p)}); on {position.partial:,} one of the two orders gave a tie.",
        )
    )


def _order_parts(position: PositionConsistency) -> tuple[Part, ...]:
    same = position.n - position.primacy - position.recency - position.partial
    return (
        Part("same verdict", same, 0.0),
        Part("first shown wins", position.primacy, 1.0),
        Part("last shown wins", position.recency, 0.55),
        Part("a tie in one", position.partial, 0.22),
    )


def _changes(report: Report) -> Iterable[Block]:
    for change in report.changes:
        yield from _change(change)


def _change(change: LayerChange) -> Iterable[Block]:
    found = change.overturns
    before, after = f"Layer {change.before}", f"Layer {change.after}"
    yield Section(f"What layer {change.after} changed", f"c2*(l{change.before}) to c2*(l{change.after})")
    if not found.n:
        yield Paragraph((f"Nothing to compare: {found.reasons['rate']}.",))
        return
    words = f"{before} against {after.lower()}: " + "; ".join(
        f"{SPOKEN[row]} to "
        + ", ".join(f"{SPOKEN[column]} {cell:,}" for column, cell in zip(_PLACES, cells, strict=True))
        for row, cells in zip(_PLACES, found.table, strict=True)
    )
    text: list[str | Strong | Given | Chip] = [
        Strong(f"{percent(found.rate)} overturned: "),
        f"{of(found.overturned, found.n)} pairs with both verdicts, of {found.n_total:,} judged; "
        f"{found.reversed:,} from one response to the other. ",
    ]
    if found.overturned_labelled and found.gain is not None:
        text.append(
            f"Of the {found.overturned_labelled:,} with a human label {found.to_right:,} became right, "
            f"{found.to_wrong:,} became wrong and {found.between_wrong:,} stayed wrong: {points(found.gain)} of "
            f"accuracy on {plural(found.n_labelled, 'labelled pair')} (exact sign test, {p_value(found.p)})."
        )
    elif found.gain is None:
        text.append(f"Whether that was right is unknown: {found.reasons['gain']}.")
    else:
        text.append("None of them has a human label.")
    drawing = charts.changes(found.table, before, after, words)
    yield Beside(Figure(drawing, _verdict_table(found.table, before, after)), (Paragraph(tuple(text)),))


# Roles


def _clouds(report: Report) -> Iterable[Block]:
    if not report.words:
        return
    shown = report.words[:MOST_CLOUDS]
    items = []
    for place, words in enumerate(shown):
        name = words.task or "(no task)"
        drawing = word_cloud(words.words, f"Roles for {name}", seed=place)
        if drawing is not None:
            fact = f"{plural(words.distinct, 'role')} on {plural(words.pairs, 'pair')}"
            items.append(Cloud((Given(name),), fact, drawing, words.words[:10]))
    if not items:
        return
    yield Section("Roles that the model named", "the larger, the more pairs")
    yield Clouds(tuple(items))
    left = report.words[MOST_CLOUDS:]
    if left:
        yield Paragraph((f"{plural(len(left), 'more task')}: in the CSV form.",), "note")


# What is missing


def _unscored(report: Report) -> Iterable[Block]:
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


_LEFT_WORDS = {
    "not judged": "{count} pairs are not judged yet",
    "calls missing": "{count} judged pairs lack calls that brought no answer; these are asked again by the next start",
    "no verdict": "{count} judged pairs have no verdict: no valid call is in its scope",
    "no label": "{count} pairs have no human label and are in no figure of agreement",
    "label without verdict": "{count} labelled pairs have no verdict and are in no figure of agreement",
    "unscored": "{count} calls are unscored: never counted as zero or as a tie",
    "unread inputs": "{count} calls had to do without an evaluation of the layer before, which had failed",
}


def _left_words(left: LeftOut) -> Line:
    text = _LEFT_WORDS[left.what].format(count=of(left.count, left.total))
    return (f"{text}: ", Given(left.why)) if left.why else (f"{text}.",)


def _method(report: Report) -> Iterable[Block]:
    yield Section("Method")
    yield Paragraph((_method_text(report),))
    if report.left_out:
        yield Section("Left out", level=3)
        yield Bullets(tuple(_left_words(left) for left in report.left_out))
    notes: list[Line] = [(Given(text),) for text in report.cautions]
    notes += [(Given(f"{text}."),) for text in report.about.refused]
    if notes:
        yield Section("To know when reading the figures", level=3)
        yield Bullets(tuple(notes))


_ROLE_TEXTS = {
    "generated": "with roles that the model named for each pair",
    "fixed": "with fixed roles",
    "none": "without roles, all on the same question",
}


def _method_text(report: Report) -> str:
    spec = report.spec
    widths = [designed_width(spec, layer) for layer in range(spec.depth)]
    first = "as many neurons as there were roles" if widths[0] is None else plural(widths[0], "neuron")
    parts = [f"Each pair was judged by {first} {_ROLE_TEXTS[spec.roles.kind]}"]
    for layer, width in enumerate(widths[1:], 1):
        number = "as many" if width is None else f"{width:,}"
        wiring = spec.layers[layer].wiring
        read = {
            "full": "read all of the layer before",
            "window": f"read their neighbours up to {wiring.window} away",
            "explicit": "read those they are wired to",
        }[wiring.kind]
        parts.append(f"then by {number} that {read}")
    text = ", ".join(parts) + ". "
    asked = {
        "both": "Every neuron was asked in both orders, each a call of its own",
        "ab": "Every neuron was asked once, A shown first",
        "ba": "Every neuron was asked once, B shown first",
        "random": "Every neuron was asked in one order, drawn with a seed",
    }[spec.orders]
    evidence = "and gave its evidence before its scores" if spec.evidence else "and gave scores without evidence"
    rules = spec.aggregation
    vote = "a neuron, its orders merged, has one vote" if rules.vote == "neuron" else "each call has one vote"
    ties = "tied voters abstain" if rules.ties == "abstain" else "a tie is a candidate"
    fallback = "equal votes are a tie" if rules.fallback == "tie" else "equal votes are decided by the average"
    text += f"{asked} {evidence}. A neuron's verdict is the sign of its summed scores; "
    text += f"in a vote {vote}, {ties}, {fallback}. "
    text += "c1* averages all calls, c2*(l) is the vote of a layer, c2*(all) the vote of all neurons"
    if spec.chair is not None:
        text += "; the chair reads the last layer and decides"
    text += ". Intervals of accuracy are Wilson's, "
    text += (
        f"those of F1 and kappa a bootstrap over pairs ({report.resamples:,} resamples, seed {report.bootstrap_seed}). "
    )
    return (
        text
        + "Everything is computed over pairs: calls and neurons are repeated looks at the same pair and never add to n."
    )


# Pairs read closely

_KIND_TITLES: dict[Kind, str] = {
    "people": "Where the network differs from people",
    "orders": "Where the two orders differ",
    "layers": "Where the last layer overturned the first",
}


def _studies(report: Report) -> Iterable[Block]:
    if not report.studies:
        return
    yield Section("Pairs, read closely")
    yield Paragraph(
        ("A judge sees the responses as Response 1 and Response 2, in the order shown: its words follow that.",), "note"
    )
    for kind in KINDS:
        chosen = [study for study in report.studies if study.kind == kind]
        if not chosen:
            continue
        total = report.disagreements.get(kind, 0)
        yield Section(_KIND_TITLES[kind], f"the {len(chosen)} most telling of {plural(total, 'pair')}", level=3)
        for study in chosen:
            yield Study(study, _why(report, study), tuple(_speaker(report, quote) for quote in study.quotes))


def _why(report: Report, study: PairStudy) -> Line:
    found, depth = study.verdicts, report.spec.depth
    if study.kind == "people":
        by_vote = (
            f" (A {found.votes.a}, tie {found.votes.tie}, B {found.votes.b})" if report.decides == "c2_all" else ""
        )
        return ("The network says ", Chip(study.verdict), f"{by_vote}, people say ", Chip(study.human), ".")
    if study.kind == "orders":
        return (
            "With A shown first the calls give ",
            Chip(found.c1_ab),
            f" ({_lead(study.mean_ab)}), with B shown first ",
            Chip(found.c1_ba),
            f" ({_lead(study.mean_ba)}).",
        )
    first, last = found.layer_votes[0], found.layer_votes[-1]
    line: Line = (
        "Layer 1 says ",
        Chip(found.c2_layers[0]),
        f" (A {first.a}, tie {first.tie}, B {first.b}), layer {depth} ",
        Chip(found.c2_layers[-1]),
        f" (A {last.a}, tie {last.tie}, B {last.b})",
    )
    return (*line, "; people say ", Chip(study.human), ".") if study.human is not None else (*line, "; no human label.")


def _lead(mean: float | None) -> str:
    if mean is None:
        return "no scores"
    if abs(mean) < 0.05:
        return "even"
    return f"{'A' if mean > 0 else 'B'} leads by {abs(mean):.1f}"


def _speaker(report: Report, quote: Quote) -> Line:
    """Who said it, in which order, with which scores."""
    place = "Chair" if quote.layer > report.spec.depth else f"layer {quote.layer}, neuron {quote.neuron}"
    name: Line = (Given(quote.role), ", ", place) if quote.role is not None else (place[0].upper() + place[1:],)
    shown = "A was shown first" if quote.order == ORDERS[0] else "B was shown first"
    scores = "" if quote.score_a is None else f" {score(quote.score_a)} to {score(quote.score_b)}"
    return (*name, f", {shown}: ", Chip(quote.verdict), scores)


# What exactly was sent, and the record


def _prompts(report: Report) -> Iterable[Block]:
    if not report.prompts:
        return
    yield Section("What exactly was sent", "one prompt of each kind")
    yield Paragraph(
        (
            "For pair ",
            Given(report.prompts[0].pair_id),
            ".",
        ),
        "note",
    )
    for sample in report.prompts:
        yield Sent(_prompt_title(report, sample), (("system", sample.system), ("user", sample.user)))


def _prompt_title(report: Report, sample: PromptSample) -> str:
    if sample.layer == 0:
        return "Naming the roles"
    shown = "A shown first" if sample.order == "ab" else "B shown first"
    if sample.layer > report.spec.depth:
        return f"Chair, {shown}"
    return f"Layer {sample.layer}, neuron {sample.neuron}, {shown}"


def _record(report: Report) -> tuple[Section, Facts]:
    about, data = report.about, report.data
    rows: list[tuple[str, Line]] = [
        ("Run", (f"{about.run_id}, {_STATES.get(about.state, 'finished').lower()}",)),
        ("Started", (moment(about.created_at),)),
    ]
    if about.finished_at is not None:
        rows.append(("Ended", (moment(about.finished_at),)))
    if len(about.starts) > 1:
        rows.append(("Starts", (plural(len(about.starts), "start"),)))
    elif about.finished_at is not None and about.starts:
        rows.append(("Took", (duration(about.finished_at - about.starts[0]),)))
    rows.append(("Models' own time", (f"{duration(about.latency_s)}, summed over calls",)))
    for endpoint in about.endpoints:
        host = f" at {endpoint.host}" if endpoint.host else ""
        rows.append(("Endpoint", (Given(f"{endpoint.name} ({endpoint.kind}){host}"),)))
    for use in about.models:
        returned = f"answered as {use.returned}" if use.returned else "the answers name no model"
        version = f", fingerprint {use.fingerprint}" if use.fingerprint else ""
        rows.append(
            (
                "Model",
                (
                    Given(f"{use.requested} asked, {returned}{version}: "),
                    plural(use.calls, "answer"),
                    f", {use.tokens_in:,} tokens in, {use.tokens_out:,} out",
                ),
            )
        )
    for used in about.parameters:
        temperature = (
            "the endpoint's own temperature" if used.temperature is None else f"temperature {used.temperature:g}"
        )
        form = "reply schema" if used.form == "json" else "plain text"
        rows.append(
            (
                "Parameters",
                (
                    Given(used.model),
                    f": {temperature}, at most {used.max_tokens:,} tokens, {form}; {plural(used.calls, 'answer')}",
                ),
            )
        )
    spent = about.spent
    rows += [
        (
            "New calls",
            (
                f"{of(spent.calls_new, spent.calls)} calls, the rest was in the store; {spent.tokens_in:,} tokens in "
                f"({spent.tokens_cached:,} cached), {spent.tokens_out:,} out",
            ),
        ),
        ("Price", (money(spent.price, spent.unpriced),)),
        ("Prompts", (Given(about.prompts_digest),)),
        ("Data hash", (Given(data.hash),)),
    ]
    for name, sha in data.files:
        rows.append(("File", (Given(f"{name}, SHA-256 {sha}"),)))
    if data.format:
        rows.append(("Format", (Given(data.format),)))
    if about.versions:
        rows.append(("Versions", (Given(", ".join(f"{name} {version}" for name, version in about.versions.items())),)))
    return Section("Record"), Facts(tuple(rows))
