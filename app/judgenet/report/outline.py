"""What a report says and in which order, from a :class:`~judgenet.report.model.Report`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Literal, get_args

from judgenet.core.aggregate import aggregation_title
from judgenet.core.network import NetworkSpec
from judgenet.report import charts
from judgenet.report.blocks import (
    Beside,
    Block,
    Document,
    Facts,
    Figure,
    Given,
    Headline,
    Line,
    Notice,
    Paragraph,
    Section,
    Strong,
)
from judgenet.report.charts import Estimate
from judgenet.report.model import Report
from judgenet.report.network_picture import network_picture
from judgenet.report.outline_bias import bias_section
from judgenet.report.outline_figures import (
    agreement_section,
    better_line,
    changes_section,
    clouds_section,
    judgement,
    neurons_section,
    orders_section,
    roles_section,
    tasks_section,
    unscored_section,
)
from judgenet.report.outline_method import method_section
from judgenet.report.outline_more import (
    comparison_section,
    diversity_section,
    learned_section,
    people_section,
    plan_section,
    ranking_section,
    raters_section,
    review_section,
    sizes_section,
)
from judgenet.report.outline_pairs import prompts_section, studies_section
from judgenet.report.outline_parts import STATES, baseline_line, estimate, flip_words, forest, in_order
from judgenet.report.outline_rates import no_rate_line, one_b, rate_headline, rate_title, win_of, winner_section
from judgenet.report.outline_record import record_section, rules_words
from judgenet.report.words import day, digest, money, of, percent, plural
from judgenet.version import __version__

PartKey = Literal[
    "run", "agreement", "winner", "people", "tasks", "neurons", "raters", "roles", "orders", "bias", "layers",
    "diversity", "review", "learned", "sizes", "ranking", "comparison", "plan", "clouds", "unscored", "method", "pairs",
    "prompts", "record",
]  # fmt: skip
PARTS: tuple[PartKey, ...] = get_args(PartKey)
"""The parts that a report may have beside its head, in their order."""

PART_TITLES: dict[PartKey, str] = {
    "run": "What was run",
    "agreement": "Agreement with people",
    "winner": "Which response wins",
    "people": "People among themselves",
    "tasks": "By task",
    "neurons": "By neuron",
    "raters": "Who agrees with people most",
    "roles": "By role",
    "orders": "Does the order matter?",
    "bias": "Bias lab",
    "layers": "What later layers changed",
    "diversity": "How alike the neurons are",
    "review": "If people review uncertain pairs",
    "learned": "Weights of neurons, learned",
    "sizes": "Smaller networks",
    "ranking": "Ranking of systems",
    "comparison": "Beside another run",
    "plan": "Labels still wanted",
    "clouds": "Roles that the model named",
    "unscored": "Unscored calls",
    "method": "Method and what was left out",
    "pairs": "Pairs, read closely",
    "prompts": "What exactly was sent",
    "record": "Record",
}

_SECTIONS: dict[PartKey, Callable[[Report], Iterable[Block]]] = {
    "run": lambda report: _what_was_run(report),
    "agreement": lambda report: agreement_section(report, with_words=_rate_heads(report)),
    "winner": winner_section,
    "people": people_section,
    "tasks": tasks_section,
    "neurons": neurons_section,
    "raters": raters_section,
    "roles": roles_section,
    "orders": orders_section,
    "bias": bias_section,
    "layers": changes_section,
    "diversity": diversity_section,
    "review": review_section,
    "learned": learned_section,
    "sizes": sizes_section,
    "ranking": ranking_section,
    "comparison": comparison_section,
    "plan": plan_section,
    "clouds": clouds_section,
    "unscored": unscored_section,
    "method": method_section,
    "pairs": studies_section,
    "prompts": prompts_section,
    "record": record_section,
}
_NEED_LABELS = frozenset({"agreement", "tasks", "neurons", "roles"})


Sections = Mapping[PartKey, tuple[Block, ...]]
"""The blocks of each part; empty where the run has nothing to say there."""


def sections(report: Report) -> Sections:
    """All parts of a report, for whoever puts them together more than once."""
    labelled = report.headline.agreement.n_used > 0
    return {part: tuple(_SECTIONS[part](report)) if labelled or part not in _NEED_LABELS else () for part in PARTS}


def outline(report: Report, parts: Collection[PartKey] = PARTS, made: Sections | None = None) -> Document:
    """The report as blocks, with these parts. ``made`` are its sections, if they are there already."""
    about = report.about
    labelled = report.headline.agreement.n_used > 0
    blocks = list(_head(report))
    for part in PARTS:
        if part in parts and made is not None:
            blocks += made[part]
        elif part in parts and (labelled or part not in _NEED_LABELS):
            blocks += _SECTIONS[part](report)
    return Document(
        kicker=(f"Report of run {about.number}, ", Given(report.spec.name)),
        date=day(about.finished_at or about.created_at),
        title=_title(report),
        blocks=tuple(blocks),
        foot=f"JudgeNet {__version__}, one file, no remote content",
    )


def _title(report: Report) -> str:
    if _rate_heads(report):
        return rate_title(report)
    if report.headline.agreement.accuracy is not None:
        return "Does the network agree with people?"
    if report.verdicts.n:
        return f"What does the network say of {plural(report.verdicts.n, 'pair')}?"
    return "No pair has a verdict yet"


def _rate_heads(report: Report) -> bool:
    return report.rates.corrected.value is not None and one_b(report)


def _head(report: Report) -> Iterable[Block]:
    for line in (state_line(report), rules_line(report)):
        if line:
            yield Notice(line)
    if _rate_heads(report):
        yield from rate_headline(report)
    else:
        yield from accuracy_headline(report)


def state_line(report: Report) -> Line:
    """That a run is not done, why, and on how many pairs its figures rest; empty where it is done."""
    about, data = report.about, report.data
    if about.state == "done":
        return ()
    head = Strong(f"{STATES[about.state]}: {of(data.finished, data.pairs)} pairs are judged. ")
    message: Line = (Given(about.message), " ") if about.message else ()
    return (head, *message, "Every figure below is about these pairs alone.")


def rules_line(report: Report) -> Line:
    """That votes are counted by other rules than the run recorded; empty where they are not."""
    if report.spec.aggregation == report.recorded:
        return ()
    return (
        Strong("Votes are counted by other rules than the run recorded: "),
        f"{rules_words(report.spec.aggregation)}. The run recorded: {rules_words(report.recorded)}.",
    )


def accuracy_headline(report: Report) -> Iterable[Block]:
    """How often the network is right, what that is beside a constant answer, and every aggregation; without labels the
    uncorrected win rate, hollow."""
    found = report.headline
    accuracy, interval = found.agreement.accuracy, found.intervals.accuracy
    title = aggregation_title(report.decides)
    if accuracy is None:
        # As the page Results has it: pairs of one question are taken together.
        alone = report.rates.estimates["naive"]
        if alone.value is None or alone.interval is None:
            return
        low, high = alone.interval
        yield Headline(
            percent(alone.value),
            f"95 % interval {100 * low:.1f} to {100 * high:.1f}, uncorrected",
            (*win_of(report), f" by {title}, ties count half"),
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
        "no interval" if interval is None else f"95 % interval {100 * interval.low:.1f} to {100 * interval.high:.1f}",
        (f"of {plural(used, 'labelled pair')} judged as people did, by {title}; {of(used, total)} pairs used",),
    )
    yield Paragraph(judgement(report))
    if one_b(report) and report.rates.judged:
        yield Paragraph(no_rate_line(report))
    better = better_line(report)
    if better:
        yield Paragraph(better)
    yield Figure(*forest(_aggregation_rows(report), "Accuracy against people by aggregation", baseline_line(report)))


def _aggregation_rows(report: Report) -> list[Estimate]:
    return [
        estimate(aggregation_title(name), report.aggregations[name], subject=name == report.decides)
        for name in in_order(report)
    ]


def _what_was_run(report: Report) -> Iterable[Block]:
    spec = report.spec
    yield Section("What was run")
    picture = network_picture(spec, report.decides, charts.WIDTH)
    facts = _run_facts(report)
    if picture.width <= 520:
        yield Beside(Figure(picture), (facts,))
    else:
        yield Figure(picture)
        yield replace(facts, columns=2)


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
        ("Orders differ", (flip_words(report.position),)),
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
