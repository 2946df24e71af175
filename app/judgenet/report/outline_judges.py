"""The sections of a report about people and neurons as panels, review, learned weights, smaller networks, the ranking
of systems, another run, and the labels needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judgenet.core.wording import (
    SPOKEN,
    aggregation_title,
    capitalized,
    minus,
    of,
    p_figure,
    p_value,
    percent,
    percent_interval,
    percent_with_interval,
    plural,
    points,
    ratio,
    ratio_interval,
    ratio_with_interval,
)
from judgenet.figures.learned import LessOther, compared_votes
from judgenet.report.blocks import (
    Block,
    Bullets,
    Facts,
    Given,
    Line,
    Notice,
    Paragraph,
    Row,
    Section,
    Strong,
    Table,
)
from judgenet.report.judge_analysis import LayerStudy, LearnedWay
from judgenet.report.model import Report, ReportedAgreement
from judgenet.report.outline_figures import figure_row
from judgenet.report.outline_power import power_paragraph
from judgenet.report.run_comparison import ReportedComparison
from judgenet.stats.agreement import review_interval
from judgenet.stats.comparison import Difference
from judgenet.stats.discussion import MindChanges
from judgenet.stats.intervals import Interval
from judgenet.stats.label_plan import PLAN_METHODS, PlanMethod
from judgenet.stats.means import Mean
from judgenet.stats.panel import Coefficient, PanelAgreement, Raters, distinguished_words
from judgenet.stats.ranking import PRIOR, Ranking
from judgenet.stats.uncertainty import ReviewNeed
from judgenet.stats.whatif import Point, WhatIf

MOST_RATERS = 24
MOST_TWOS = 15
MOST_SYSTEMS = 30
MOST_WEIGHTS = 20
MOST_POINTS = 24


# People


def people_section(report: Report) -> Iterable[Block]:
    """How people agree with each other, and what they would still have to review."""
    people = None if report.more is None else report.more.people
    if people is None or people.panel.h.n == 0:
        return
    panel = people.panel
    yield Section("Agreement between annotators", f"{plural(len(panel.raters), 'annotator')}")
    coefficients = {
        "Mean pairwise agreement, h": panel.h,
        "Krippendorff's alpha": panel.alpha_nominal,
        "Krippendorff's alpha, ordinal (A, tie, B)": panel.alpha_ordinal,
        "Fleiss' kappa": panel.fleiss,
    }
    yield Table(
        ("", "Value", "95 % interval", "Pairs"),
        (False, True, True, True),
        tuple(
            Row(
                ((name,), (ratio(coefficient.value),), (ratio_interval(coefficient.interval),), (f"{coefficient.n:,}",))
            )
            for name, coefficient in coefficients.items()
        ),
    )
    notes = _coefficient_notes(coefficients)
    if panel.h.interval is None and not panel.h.interval_reason and report.data.questions < report.data.pairs:
        notes.append(("No intervals: pairs share questions, and they would be too narrow.",))
    if notes:
        yield Bullets(tuple(notes))
    yield from _annotator_pairs(panel)
    if people.need is not None:
        yield Section("What people would still review", level=3)
        yield Paragraph(need_line(people.need, report.headline.intervals.accuracy))
        yield Bullets(
            (
                ("A reviewed pair counts as right, although people agree with each other less than that.",),
                ("The share by the formula is for pairs picked at random.",),
                ("The accuracy and people's own agreement are estimates; the ends of the former are given.",),
            )
        )


def _annotator_pairs(panel: PanelAgreement) -> Iterable[Block]:
    """The agreement of each two annotators, at most :data:`MOST_TWOS` of them."""
    twos = [(names, coefficient) for names, coefficient in panel.pairwise.items() if coefficient.n_used][:MOST_TWOS]
    if twos:
        yield Table(
            ("Two annotators", "Cohen's kappa", "Agree, %", "Pairs"),
            (False, True, True, True),
            tuple(
                Row(
                    (
                        (Given(first), " and ", Given(second)),
                        (ratio(coefficient.kappa),),
                        (percent(coefficient.accuracy, unit=False),),
                        (f"{coefficient.n_used:,}",),
                    )
                )
                for (first, second), coefficient in twos
            ),
        )
        left = len(panel.pairwise) - len(twos)
        if left:
            yield Paragraph((f"{plural(left, 'more pair')} of annotators: in the JSON form.",), "note")


def _coefficient_notes(coefficients: dict[str, Coefficient]) -> list[Line]:
    notes: list[Line] = []
    for name, coefficient in coefficients.items():
        if coefficient.value is None:
            notes.append((Strong(f"{name}: n/a. "), f"{capitalized(coefficient.reason)}."))
        elif coefficient.interval is None and coefficient.interval_reason:
            notes.append((Strong(f"{name}: no interval. "), f"{capitalized(coefficient.interval_reason)}."))
    return notes


def need_line(need: ReviewNeed, within: Interval | None) -> Line:
    """How much people would have to review; ``within`` is the interval of the accuracy, over questions where these
    repeat."""
    if need.accuracy is None:
        return (f"n/a – {need.reasons.get('accuracy', 'unknown')}.",)
    text = (
        f"The network is right on {percent(need.accuracy)} {percent_interval(within)} of "
        f"{plural(need.n, 'labelled pair')}, people agree with each other on {percent(need.target)}"
    )
    relative = f", {percent(need.accuracy / need.target)} of that" if need.target else ""
    parts = [f"{text}{relative}. "]
    if need.random is not None and need.random.review is not None:
        ends = ""
        if within is not None:
            shares, known = review_interval(within.low, within.high, need.target)
            known_ends = (
                known or f"{' to '.join(percent(end.review) for end in shares or ())} at the ends of the interval"
            )
            ends = f" ({known_ends})"
        parts.append(
            f"To reach that, {percent(need.random.review)} of the pairs, picked at random, need a review{ends}. "
        )
    elif need.random is not None:
        parts.append(f"By a review at random: n/a, {need.random.reason}. ")
    if need.measured is not None:
        parts.append(
            f"With the most uncertain pairs first, {percent(need.measured)} {percent_interval(need.interval)} were "
            f"enough here: {of(need.reviewed or 0, need.n)} labelled pairs."
        )
    else:
        parts.append(f"With the most uncertain pairs first: n/a, {need.reasons.get('measured', 'unknown')}.")
    return ("".join(parts),)


# Review


def review_section(report: Report) -> Iterable[Block]:
    """Accuracy against the share of pairs that people review, the most uncertain first."""
    curve = None if report.more is None else report.more.review
    if curve is None or not curve.points or curve.levels < 2:
        return
    yield Section("If people review the uncertain pairs", "entropy of the calls, highest first")
    yield Table(
        (
            "Reviewed, %",
            "Accuracy of all, %",
            "At random, %",
            "Untouched part alone, %",
            "n untouched",
            "Kappa untouched",
        ),
        (True, True, True, True, True, True),
        tuple(
            Row(
                (
                    (percent(point.share, unit=False),),
                    (percent_with_interval(point.accuracy, point.interval),),
                    (percent(point.by_chance, unit=False),),
                    (percent_with_interval(point.untouched.accuracy, point.untouched_interval),),
                    (f"{point.untouched.n_used:,}",),
                    (ratio(point.untouched.kappa),),
                )
            )
            for point in curve.points
        ),
    )
    unknown = f" {plural(curve.unknown, 'pair')} have no valid call and come first." if curve.unknown else ""
    yield Paragraph(
        (
            "The entropy of the verdicts of a pair's calls (BPDE; Wang et al. 2023) says how sure the network is. "
            f"Measured on {of(curve.n, curve.n_total)} pairs with a label and a verdict; pairs of one entropy "
            f"({plural(curve.levels, 'value')}) are in an order shuffled by seed {curve.seed}.{unknown} Reviewed pairs "
            "count as right, so that the accuracy of all is partly true by construction: the untouched part is not. "
            "Pairs chosen so stand for no others and never serve to correct a rate.",
        ),
        "note",
    )


# Neurons as raters


def raters_section(report: Report) -> Iterable[Block]:
    """Which neuron and which role agree most with people, and which others the labels cannot tell apart from them."""
    more = report.more
    if more is None:
        return
    if more.raters is not None and more.raters.best is not None:
        yield Section("Agreement with people by neuron", plural(len(more.raters.raters), "neuron"))
        yield from _raters(more.raters, "neuron")
    if more.role_raters is not None and more.role_raters.best is not None:
        yield Section("Which role agrees most", plural(len(more.role_raters.raters), "role"), level=3)
        yield from _raters(more.role_raters, "role")


def _raters(raters: Raters, what: str) -> Iterable[Block]:
    shown = raters.raters[:MOST_RATERS]
    yield Table(
        (what.capitalize(), "Accuracy, %", "Kappa", "n used", "Best alone right", "This alone right", "p, Holm"),
        (False, True, True, True, True, True, True),
        tuple(
            Row(
                (
                    (Given(rater.name),),
                    (percent_with_interval(rater.agreement.accuracy, rater.intervals.accuracy),),
                    (ratio_with_interval(rater.agreement.kappa, rater.intervals.kappa),),
                    (of(rater.agreement.n_used, rater.agreement.n_total),),
                    ("–" if rater.p is None else f"{rater.only_best:,}",),
                    ("–" if rater.p is None else f"{rater.only_this:,}",),
                    ("–" if rater.p_holm is None else p_figure(rater.p_holm),),
                ),
                strong=rater.name == raters.best,
            )
            for rater in shown
        ),
    )
    same = [name for name in raters.not_worse if name != raters.best]
    best: Line = (Strong(raters.best or ""),)
    others = sum(rater.agreement.n_used > 0 for rater in raters.raters) - 1
    words = (
        f" agrees most; the labelled pairs {distinguished_words(others, len(same), f'other {what}')}" if others else ""
    )
    if same:
        yield Paragraph((*best, f"{words}: ", Given(", ".join(same[:8])), "." if len(same) <= 8 else ", and more."))
    elif others:
        yield Paragraph((*best, f"{words}."))
    over = "questions" if raters.tested_over == "questions" else "pairs"
    warning = f"{raters.warning}. " if raters.warning else ""
    yield Paragraph(
        (
            f"{warning}Compared with the best by the exact sign test over {over} that one alone gets right, "
            "adjusted for all comparisons (Holm 1979).",
        ),
        "note",
    )


# Layers


def diversity_section(report: Report) -> Iterable[Block]:
    """How similar the neurons of each layer are, and how they changed their verdicts."""
    layers = () if report.more is None else report.more.layers
    if not layers:
        return
    yield Section("Agreement between neurons", "by layer")
    yield Table(
        ("Layer", "Two neurons differ, %", "All equal, %", "Krippendorff's alpha", "Both wrong, %", "Yule's Q", "n"),
        (False, True, True, True, True, True, True),
        tuple(
            Row(
                (
                    (f"{layer.layer}",),
                    (_share(layer.diversity.disagreement),),
                    (_share(layer.diversity.unanimous),),
                    (ratio_with_interval(layer.panel.alpha_nominal.value, layer.panel.alpha_nominal.interval),),
                    (_share(layer.diversity.double_fault),),
                    (ratio_with_interval(layer.diversity.q.value, layer.diversity.q.interval),),
                    (of(layer.diversity.n, layer.diversity.n_total),),
                )
            )
            for layer in layers
        ),
    )
    yield Bullets(tuple(_alike(layers)))
    for layer in layers:
        if layer.minds is not None:
            yield Section(f"How neurons of layer {layer.layer} changed their mind", level=3)
            yield from _minds(layer.minds)


def _share(of_pairs: Mean) -> str:
    return percent_with_interval(of_pairs.value, of_pairs.interval)


def _alike(layers: tuple[LayerStudy, ...]) -> Iterable[Line]:
    for layer in layers:
        oracle = layer.diversity.oracle
        if oracle.value is not None:
            yield (
                f"Layer {layer.layer}: at least one neuron is right on {percent(oracle.value)} "
                f"{percent_interval(oracle.interval)} of {plural(oracle.n, 'labelled pair')}: what no vote can exceed.",
            )
        if layer.change is not None and layer.change.disagreement.value is not None:
            moved = layer.change.disagreement
            value = moved.value or 0.0
            word = "more alike" if value < 0 else "less alike"
            sure = moved.interval is None or not moved.interval.low <= 0 <= moved.interval.high
            doubt = "" if sure else ", which may be chance"
            yield (
                f"From layer {layer.layer - 1} to {layer.layer} the neurons became {word}{doubt}: two of them "
                f"differ on {points(value)} {_points_interval(moved.interval)} of {plural(moved.n, 'pair')}.",
            )
    why = "Zhang et al. (2023) explain the loss beyond two layers by neurons that become alike. "
    yield (
        f"{why if len(layers) > 1 else ''}Both wrong and Yule's Q are of each two neurons on labelled "
        "pairs: Q is 1 where they are right on the same pairs, 0 where "
        "they are independent.",
    )


def _points_interval(interval: Interval | None) -> str:
    if interval is None:
        return ""
    return f"[{minus(f'{100 * interval.low:+.1f}')}, {minus(f'{100 * interval.high:+.1f}')}]"


def _minds(minds: MindChanges) -> Iterable[Block]:
    if not minds.changed.chances:
        yield Paragraph((f"n/a – {minds.reason}.",))
        return
    rows = {
        "Changed its own verdict": minds.changed,
        "Most others said something else: taken over": minds.to_others,
        "Most others agreed with it: changed all the same": minds.against_others,
        "Its own other order said something else: taken over": minds.to_own_order,
    }
    yield Table(
        ("", "Verdicts", "Mean over pairs, %", "Pairs"),
        (False, True, True, True),
        tuple(
            Row(
                (
                    (name,),
                    (of(moves.moved, moves.chances),),
                    (_share(moves.mean),),
                    (f"{moves.mean.n:,}",),
                )
            )
            for name, moves in rows.items()
        ),
    )
    text = (
        f"Of the changed verdicts {minds.towards_others:,} went to what most others had said, {minds.away:,} "
        f"elsewhere, for {minds.undecided:,} the others had no majority. "
    )
    if minds.gain.value is None:
        text += f"Whether that helped is unknown: {minds.gain.reason}."
    else:
        text += (
            f"On {plural(minds.n_labelled, 'labelled pair')} {minds.to_right:,} became right, {minds.to_wrong:,} wrong "
            f"and {minds.between_wrong:,} stayed wrong: {points(minds.gain.value)} "
            f"{_points_interval(minds.gain.interval)} of the neurons' accuracy (exact sign test, {p_value(minds.p)})."
        )
    yield Paragraph((text,))


# Weights


def learned_section(report: Report) -> Iterable[Block]:
    """Learned weights of neurons, cross-fitted, compared with the votes that need none."""
    ways = () if report.more is None else report.more.learned
    if not any(way.agreement is not None for way in ways):
        return
    yield Section("Learned weights", "cross-fitted")
    rows = [_learned_row(way) for way in ways]
    rows += [
        figure_row(aggregation_title(name), report.aggregations[name], strong=name == report.decides)
        for name in compared_votes(report.decides)
    ]
    yield Table(("", "Accuracy, %", "Macro-F1", "Kappa", "n used"), (False, True, True, True, True), tuple(rows))
    less = [_less_row(way.title, gain) for way in ways for gain in way.less if gain.accuracy.difference is not None]
    if less:
        yield Section("Learned weights compared with the others", "on the pairs that both judge", level=3)
        heads = ("", "Compared with", "Accuracy, points", "p", "Pairs")
        yield Table(heads, (False, False, True, True, True), tuple(less))
    notes: list[Line] = [
        (Strong(f"{way.title}: n/a. "), f"{capitalized(way.reason)}.") for way in ways if way.agreement is None
    ]
    notes += [(Strong(f"{way.title}. "), f"{capitalized(way.below_baseline)}.") for way in ways if way.below_baseline]
    notes += [(Strong(f"{way.title}. "), way.warning) for way in ways if way.warning and way.agreement is not None]
    if notes:
        yield Bullets(tuple(notes))
    way = ways[0]
    if way.agreement is not None and way.weights:
        used = sorted(((weight, name) for name, weight in way.weights.items() if weight > 0), reverse=True)
        yield Section("Weights of 0 or more", f"{of(len(used), len(way.weights))} neurons", level=3)
        yield Facts(tuple((f"{weight:.3f}", (Given(name),)) for weight, name in used[:MOST_WEIGHTS]), 2)
        left = len(used) - MOST_WEIGHTS
        more = f" {plural(left, 'more weight')}: in the JSON form." if left > 0 else ""
        rest = "The other neurons have the weight 0." if len(used) < len(way.weights) else ""
        if rest or more:
            yield Paragraph((f"{rest}{more}".strip(),), "note")
    yield Paragraph(
        (
            "Every pair is judged by weights that were fitted to pairs with other questions, so that no pair helps to "
            "judge itself. The best single neuron is chosen in the same way.",
        ),
        "note",
    )


def _learned_row(way: LearnedWay) -> Row:
    if way.agreement is None or way.intervals is None:
        return Row(((way.title,), ("n/a",), ("n/a",), ("n/a",), ("",)))
    return figure_row(way.title, ReportedAgreement(way.agreement, way.intervals))


def _less_row(title: str, gain: LessOther) -> Row:
    accuracy = gain.accuracy
    difference = "n/a" if accuracy.difference is None else points(accuracy.difference)
    return Row(
        (
            (title,),
            (gain.title,),
            (f"{difference} {_points_interval(accuracy.interval)}".strip(),),
            (p_figure(gain.p),),
            (f"{accuracy.n:,}",),
        )
    )


# Smaller networks

_RULE_WORDS = {"c1": "c1*", "c2_all": "c2*(all)", "c2_last": "the vote of the last layer"}


def sizes_section(report: Report) -> Iterable[Block]:
    """How accurate smaller networks would have been, at no cost."""
    sizes = None if report.more is None else report.more.sizes
    if sizes is None or sizes.what_if is None or len(sizes.what_if.points) < 2:
        return
    what_if = sizes.what_if
    smallest, whole = what_if.smallest, what_if.whole
    yield Section("Smaller networks", _RULE_WORDS[sizes.rule])
    yield Paragraph(
        (
            Strong(f"Within {100 * what_if.tolerance:g} point: "),
            f"{_size(smallest)}, {smallest.calls:.1f} calls per pair instead of {whole.calls:.1f}: "
            f"{percent(smallest.accuracy)} {percent_interval(smallest.interval)}; the whole network "
            f"{percent(whole.accuracy)} {percent_interval(whole.interval)} of {whole.n_used:,.0f} labelled pairs. "
            f"Difference {points(smallest.difference)} {_points_interval(smallest.difference_interval)}.",
        )
    )
    shown = _shown(what_if)
    yield Table(
        ("Neurons", "Layers", "Orders", "Samples", "Calls a pair", "Accuracy, %", "Lowest to highest, %", "Difference"),
        (False, True, True, True, True, True, True, True),
        tuple(
            Row(
                (
                    (f"{point.neurons:,}",),
                    (f"{point.depth:,}",),
                    ("+".join(order.upper() for order in point.orders),),
                    (f"{point.samples:,}",),
                    (f"{point.calls:.1f}",),
                    (percent_with_interval(point.accuracy, point.interval),),
                    (f"{100 * point.lowest:.1f} to {100 * point.highest:.1f}",),
                    (points(point.difference),),
                ),
                strong=point is smallest,
            )
            for point in shown
        ),
    )
    left = len(what_if.points) - len(shown)
    neuron, accuracy = what_if.best_neuron
    yield Paragraph(
        (
            "Only networks whose every call is recorded as they would have made it. A size stands for the mean over "
            "choices of neurons of its last layer; lowest and highest are single choices. Best single neuron of layer "
            "1, chosen on the same pairs and so flattered: ",
            Given(sizes.names[neuron]),
            f", {percent(accuracy)}." + (f" {plural(left, 'more size')}: in the JSON form." if left else ""),
        ),
        "note",
    )


def _size(point: Point) -> str:
    orders = "both orders" if len(point.orders) == 2 else f"order {point.orders[0].upper()} alone"
    samples = f", {plural(point.samples, 'sample')}" if point.samples > 1 else ""
    return f"{plural(point.neurons, 'neuron')} in {plural(point.depth, 'layer')}, {orders}{samples}"


def _shown(what_if_result: WhatIf) -> list[Point]:
    """At most :data:`MOST_POINTS` sizes: those with all orders and samples, evenly spaced, and the smallest that is
    good enough."""
    points = what_if_result.points
    if len(points) > MOST_POINTS:
        whole = what_if_result.whole
        points = tuple(point for point in points if (point.orders, point.samples) == (whole.orders, whole.samples))
    if len(points) > MOST_POINTS:
        step = (len(points) - 1) / (MOST_POINTS - 1)
        points = tuple(points[round(place * step)] for place in range(MOST_POINTS))
    return [*points, *(() if what_if_result.smallest in points else (what_if_result.smallest,))]


# Systems


def ranking_section(report: Report) -> Iterable[Block]:
    """The systems from the strongest to the weakest."""
    ranks = None if report.more is None else report.more.ranks
    if ranks is None:
        return
    ranking, human = (
        ranks.verdicts,
        {} if ranks.human is None else {system.name: system for system in ranks.human.systems},
    )
    yield Section("Ranking of systems", f"Bradley–Terry, {plural(len(ranking.systems), 'system')}")
    yield Table(
        ("System", "Rating", "95 % interval", "Wins", "Ties", "Losses", *(("By people",) if human else ())),
        (False, True, True, True, True, True, *((True,) if human else ())),
        tuple(
            Row(
                (
                    (Given(system.name),),
                    (f"{system.rating:.0f}",),
                    ("" if system.interval is None else f"[{system.interval.low:.0f}, {system.interval.high:.0f}]",),
                    (f"{system.wins:,}",),
                    (f"{system.ties:,}",),
                    (f"{system.losses:,}",),
                    *(((f"{human[system.name].rating:.0f}" if system.name in human else "–",),) if human else ()),
                )
            )
            for system in ranking.systems[:MOST_SYSTEMS]
        ),
    )
    notes = list(_ranking_notes(ranking))
    if notes:
        yield Bullets(tuple(notes))
    people = f"; by people {ranks.n_human:,}" if human else ""
    yield Paragraph(
        (
            "Mean rating 1000, 400 points are odds of ten to one; a tie is half a win to each. "
            f"{ranks.n:,} judged pairs of named systems on {plural(ranking.questions, 'question')}{people}. "
            "Uncorrected: the verdicts' own errors are not taken out. "
            f"Intervals are a bootstrap over questions ({ranking.resamples:,} resamples).",
        ),
        "note",
    )


def _ranking_notes(ranking: Ranking) -> Iterator[Line]:
    """Cycles, missing intervals, added wins and separate groups of a ranking, and the systems that are not shown."""
    if ranking.triples:
        share = of(ranking.intransitive, ranking.triples)
        circles = "; ".join(" > ".join(circle) for circle in ranking.circles[:3])
        named: Line = (": ", Given(circles)) if circles else ()
        yield (
            f"{share} triples of systems form a cycle (each beats the next)",
            *named,
            ".",
        )
    if ranking.reason:
        yield (f"{capitalized(ranking.reason)}.",)
    if ranking.prior:
        yield (
            f"Some systems never lost to, or never met, the others: {PRIOR:g} wins each way were added to every two.",
        )
    if len(ranking.groups) > 1:
        yield (f"The systems fall into {len(ranking.groups):,} groups that never met: their ratings do not compare.",)
    left = len(ranking.systems) - MOST_SYSTEMS
    if left > 0:
        yield (f"{plural(left, 'more system')}: in the JSON form.",)


# Another run

_FIGURES = {"accuracy": "Accuracy, %", "macro_f1": "Macro-F1", "kappa": "Kappa"}
_DIFFERS = {
    "network": "Network",
    "prompts": "Prompts",
    "model": "Models asked",
    "returned_model": "Models that answered",
}


def comparison_section(report: Report) -> Iterable[Block]:
    """This run compared with another one."""
    compared = report.beside
    if compared is None:
        return
    comparison = compared.comparison
    yield Section(f"Compared with {compared.second}", f"{compared.first} less {compared.second}")
    if compared.warning:
        yield Notice((Strong("Different judges: "), f"{capitalized(compared.warning)}."))
        yield Table(
            ("What differs", compared.first, compared.second),
            (False, False, False),
            tuple(
                Row(((_DIFFERS.get(name, name),), (Given(first),), (Given(second),)))
                for name, (first, second) in compared.judges_differ.items()
            ),
        )
    rows = [
        _difference(title, comparison.differences[name], percents=name == "accuracy")
        for name, title in _FIGURES.items()
    ]
    rows.append(_difference("Win rate of B, corrected, %", compared.rate, percents=True))
    yield Table(
        ("", compared.first, compared.second, "Difference", "95 % interval", "n"),
        (False, True, True, True, True, True),
        tuple(rows),
    )
    reasons = {first.reason for first in (*comparison.differences.values(), compared.rate) if first.reason}
    if reasons:
        yield Bullets(tuple((f"{capitalized(reason)}.",) for reason in sorted(reasons)))
    yield Paragraph((_comparison_text(compared),))
    yield from power_paragraph(compared.power)
    if compared.labels_differ:
        yield Paragraph(
            (f"{plural(compared.labels_differ, 'pair')} with different labels in the two runs count as unlabelled.",),
            "note",
        )


def _comparison_text(compared: ReportedComparison) -> str:
    """How many pairs both runs judged, on how many each alone is right, and the test of that."""
    comparison, test = compared.comparison, compared.comparison.test
    names = " and ".join(dict.fromkeys(aggregation_title(name) for name in compared.decides))
    text = (
        f"{compared.common:,} pairs are in both runs (of {compared.pairs[0]:,} and {compared.pairs[1]:,}), "
        f"{comparison.n:,} judged by both, {test.n:,} of them labelled, by {names}. "
    )
    tested = f"exact {p_value(test.p)}"
    if comparison.questions_p is not None:
        tested = f"over questions, {p_value(comparison.questions_p)}"
    if test.n:
        text += (
            f"{compared.first} alone is right on {plural(test.only_first, 'pair')}, {compared.second} alone on "
            f"{test.only_second:,} (McNemar, {tested}). "
        )
    if comparison.n:
        text += f"Both say the same on {of(comparison.agree, comparison.n)} pairs."
    return text


def _difference(name: str, figures: Difference, *, percents: bool) -> Row:
    def shown(value: float | None) -> str:
        return percent(value, unit=False) if percents else ratio(value)

    scale, form = (100, "+.1f") if percents else (1, "+.2f")
    difference = "n/a" if figures.difference is None else minus(format(scale * figures.difference, form))
    interval = ""
    if figures.interval is not None:
        ends = [minus(format(scale * end, form)) for end in figures.interval]
        interval = f"[{ends[0]}, {ends[1]}]"
    return Row(
        ((name,), (shown(figures.first),), (shown(figures.second),), (difference,), (interval,), (f"{figures.n:,}",))
    )


# Labels

_PLAN_TITLES: dict[PlanMethod, str] = {
    "random": "Corrected, labels at random",
    "within_verdict": "Corrected, labels at random within verdicts",
    "ppi": "PPI++, labels at random",
    "human_only": "Human labels only",
}


def plan_section(report: Report) -> Iterable[Block]:
    """How many labels an interval of the planned width needs."""
    plan = None if report.more is None else report.more.plan
    if plan is None:
        return
    yield Section("Labels needed", f"for a 95 % interval {100 * plan.width:g} points wide")
    rows = []
    for method in PLAN_METHODS:
        need = plan.needs[method]
        rows.append(
            Row(
                (
                    (_PLAN_TITLES[method],),
                    ("n/a" if need.labels is None else f"{need.labels:,}",),
                    ("" if not need.floor else f"{100 * need.floor:.1f}",),
                )
            )
        )
    yield Table(("Estimate", "Labels in total", "Narrowest, points"), (False, True, True), tuple(rows))
    notes: list[Line] = [
        (Strong(f"{_PLAN_TITLES[method]}: n/a. "), f"{capitalized(plan.needs[method].reason)}.")
        for method in PLAN_METHODS
        if plan.needs[method].labels is None
    ]
    if plan.assumption:
        notes.append((Strong("Assumed. "), f"{capitalized(plan.assumption)}."))
    if plan.effect.words:
        notes.append((Strong("Questions. "), f"{capitalized(plan.effect.words)}."))
    if notes:
        yield Bullets(tuple(notes))
    wanted = ", ".join(f"{SPOKEN[verdict]} {count:,}" for verdict, count in plan.more.items() if count)
    if wanted and plan.needs["within_verdict"].labels is not None:
        text = f"To label next, at random within the verdicts: {wanted}."
    elif plan.needs["within_verdict"].labels is None:
        text = "No number of labels of these pairs is enough: more pairs, or a better judge, would help."
    else:
        text = "The existing labels are enough for this width."
    yield Paragraph((f"{text} {of(plan.labelled, plan.pairs)} judged pairs have a label that counts.",), "note")
