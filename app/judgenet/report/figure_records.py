"""The figures of a report as records, one for each line of its CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from judgenet.figures.alt_test import RunAltTest
from judgenet.figures.anytime import RunAnytime
from judgenet.figures.cascade import CascadeFigures
from judgenet.figures.panel import ChoiceFigures
from judgenet.figures.reliability import RunReliability
from judgenet.report.bias_figures import LabFigures
from judgenet.report.judge_analysis import LayerStudy, LearnedWay, PeoplePanel, RunStudy
from judgenet.report.model import Report
from judgenet.report.run_comparison import ReportedComparison
from judgenet.stats.comparison import Difference
from judgenet.stats.intervals import Interval
from judgenet.stats.means import Mean
from judgenet.stats.panel import PanelAgreement, Raters
from judgenet.stats.ranking import Ranking
from judgenet.stats.uncertainty import ReviewCurve
from judgenet.stats.whatif import Point


class FigureRecord(NamedTuple):
    """One figure. ``value`` is ``None`` where it is undefined, and ``reason`` says why."""

    about: str
    name: str
    figure: str
    value: float | int | str | None
    low: float | None = None
    high: float | None = None
    n_used: int | None = None
    n_total: int | None = None
    reason: str = ""


def more_records(report: Report) -> Iterator[FigureRecord]:
    """The figures beyond counts and agreement: people, neurons, layers, review, weights, sizes, ranking, plan, bias,
    comparison."""
    if report.anytime is not None:
        yield from _anytime(report.anytime)
    yield from _answered(report)
    yield from _guarantee(report)
    if report.cascade is not None:
        yield from _cascade(report.cascade)
    if report.more is not None:
        yield from _study_records(report.more, report.data.pairs)
    if report.bias is not None:
        yield from lab_records(report.bias)
    if report.beside is not None:
        yield from _compared(report.beside)


def _anytime(run_anytime: RunAnytime) -> Iterator[FigureRecord]:
    for name, figures in run_anytime.aggregations.items():
        for figure, estimate in (
            ("win rate", figures.win_rate),
            ("accuracy", figures.accuracy),
            ("corrected", figures.corrected),
        ):
            low, high = estimate.ci or (None, None)
            used = (estimate.n, run_anytime.n_total, estimate.reason or "")
            yield FigureRecord("valid at any time", name, figure, estimate.value, low, high, *used)


def _cascade(cascade_figures: CascadeFigures) -> Iterator[FigureRecord]:
    why = cascade_figures.reason or ""
    yield FigureRecord(
        "cascade",
        "network",
        "decided early",
        cascade_figures.share,
        n_used=cascade_figures.decided_early,
        n_total=cascade_figures.n_total,
    )
    yield FigureRecord(
        "cascade",
        "network",
        "calls saved",
        cascade_figures.calls_saved,
        n_used=cascade_figures.calls,
        n_total=cascade_figures.calls_most,
    )
    yield FigureRecord("cascade", "network", "price saved", cascade_figures.price_saved, reason=why)
    for stage in cascade_figures.stages:
        yield FigureRecord("cascade", stage.name, "asked", stage.share, n_used=stage.asked, n_total=stage.n_total)


def _answered(report: Report) -> Iterator[FigureRecord]:
    quorum, stood_in = report.quorum, report.stand_ins
    if quorum is not None:
        for name, count in quorum.without.items():
            yield FigureRecord("quorum", name, "without", count, n_total=quorum.n_total)
    if stood_in is not None:
        for stand_in in stood_in.neurons:
            named = f"{stand_in.neuron}, {stand_in.endpoint}/{stand_in.model}"
            yield FigureRecord("stand-ins", named, "calls", stand_in.calls, n_total=stand_in.n_total)


def _guarantee(report: Report) -> Iterator[FigureRecord]:
    decided, guarantee = report.acceptance, report.guarantee
    if decided is not None:
        for figure in ("accepted", "for_people", "no_verdict"):
            yield FigureRecord(
                "acceptance", decided.aggregation, figure, getattr(decided, figure), n_total=decided.n_total
            )
    if guarantee is None:
        return
    if not guarantee.by_alpha:
        yield FigureRecord("guarantee", guarantee.aggregation, "accepted", None, reason=guarantee.reason or "")
    for figures in guarantee.by_alpha:
        yield FigureRecord(
            "guarantee",
            f"{guarantee.aggregation}, alpha {figures.alpha:g}",
            "share",
            figures.share,
            n_used=figures.accepted,
            n_total=guarantee.pairs.judged,
        )


def _study_records(more: RunStudy, total: int) -> Iterator[FigureRecord]:
    if more.people is not None:
        yield from _people(more.people, total)
    for raters, what in ((more.raters, "neuron"), (more.role_raters, "role")):
        if raters is not None:
            yield from _raters(what, raters)
    if more.worth is not None:
        named = {"network": more.worth.network, **more.worth.layers, **more.worth.models}
        for name, votes in named.items():
            low, high = votes.ci or (None, None)
            reason = votes.reason or ""
            yield FigureRecord("effective votes", name, "votes", votes.value, low, high, votes.n, votes.n_total, reason)
    if more.panel is not None:
        yield from _choice("votes", more.panel.choice.votes)
        yield from _choice("labels", more.panel.choice.labels)
    if more.alt_test is not None:
        yield from _alt_test(more.alt_test)
    if more.reliability is not None:
        yield from _reliability(more.reliability)
    for layer in more.layers:
        yield from _layer(layer, total)
    if more.review is not None:
        yield from _review(more.review, total)
    for way in more.learned:
        yield from _learned(way)
    if more.sizes is not None and more.sizes.what_if is not None:
        for size in more.sizes.what_if.points:
            yield from _size(size, total)
    if more.ranks is not None:
        yield from _ranking("network", more.ranks.verdicts, more.ranks.n)
        if more.ranks.human is not None:
            yield from _ranking("people", more.ranks.human, more.ranks.n_human)
    if more.plan is not None:
        pairs = more.plan.pairs
        for method, need in more.plan.needs.items():
            yield FigureRecord("labels wanted", method, "labels", need.labels, n_total=pairs, reason=need.reason)


def _people(people: PeoplePanel, total: int) -> Iterator[FigureRecord]:
    """The agreement of the annotators, and the review that reaches it."""
    yield from _panel("people", "annotators", people.panel)
    need = people.need
    if need is not None:
        low, high = need.interval or (None, None)
        why = need.reasons.get("measured", "")
        yield FigureRecord("review", "to people's agreement", "target", need.target)
        yield FigureRecord("review", "uncertain first", "share", need.measured, low, high, need.n, total, why)
        random, why = (None if need.random is None else need.random.review), need.reasons.get("random", "")
        yield FigureRecord("review", "at random", "share", random, n_used=need.n, reason=why)


def _review(review: ReviewCurve, total: int) -> Iterator[FigureRecord]:
    """The accuracy by the share that people review."""
    for point in review.points:
        name = f"{point.reviewed} reviewed"
        low, high = point.interval or (None, None)
        yield FigureRecord("review curve", name, "accuracy", point.accuracy, low, high, review.n, total)
        low, high = point.untouched_interval or (None, None)
        used, why = point.untouched.n_used, point.reasons.get("accuracy", "")
        yield FigureRecord("review curve", name, "untouched", point.untouched.accuracy, low, high, used, total, why)


def _reliability(run_reliability: RunReliability) -> Iterator[FigureRecord]:
    for source, figures in run_reliability.sources.items():
        why, brier = figures.reason or "", figures.brier
        for figure, value, within in (
            ("ece", figures.ece, figures.ece_ci),
            ("ece by chance", figures.ece_by_chance, None),
        ):
            yield FigureRecord("calibration", source, figure, value, *_ends(within), figures.n, figures.n_total, why)
        yield FigureRecord(
            "calibration", source, "brier", brier.value, *_ends(brier.ci), brier.n, figures.n_total, brier.reason or ""
        )
        for bin_figures in figures.curve:
            name = f"{bin_figures.low:.2f} to {bin_figures.high:.2f}"
            yield FigureRecord(
                f"calibration {source}",
                name,
                "share of B",
                bin_figures.observed,
                *_ends(bin_figures.ci),
                bin_figures.n,
                figures.n,
            )


def _alt_test(run_alt_test: RunAltTest) -> Iterator[FigureRecord]:
    for name, figures in {**run_alt_test.aggregations, **run_alt_test.neurons}.items():
        why, mean = figures.reason or "", figures.advantage
        yield FigureRecord("alt-test", name, "winning rate", figures.winning_rate, n_used=figures.tested, reason=why)
        low, high = mean.ci or (None, None)
        yield FigureRecord(
            "alt-test", name, "advantage", mean.value, low, high, mean.n, run_alt_test.pairs, mean.reason or ""
        )


def lab_records(lab: LabFigures) -> Iterator[FigureRecord]:
    """The figures of a bias lab."""
    result = lab.result
    for cell in result.cells:
        name, used = f"{cell.probe}|{cell.judge}", (cell.n, cell.items)
        why = cell.reasons
        yield FigureRecord("bias", name, "share", cell.share, *_ends(cell.interval), *used, why.get("share", ""))
        for figure in ("valid_rate", "net", "net_p", "net_p_holm", "equivalent", "pairs_needed", "p", "p_holm"):
            value = getattr(cell, figure)
            reason = why.get(figure) or why.get("p", "") or "not defined here" if value is None else ""
            within = _ends(cell.net_ci) if figure == "net" else (None, None)
            yield FigureRecord("bias", name, figure, value, *within, *used, reason)
        for outcome, count in cell.counts.items():
            yield FigureRecord("bias", name, outcome, count, n_used=cell.items)
        yield FigureRecord("bias", name, "conclusion", cell.conclusion)
        yield FigureRecord("bias", name, "words", cell.words)
    for plan in result.lab.probes:
        chance = result.chances[plan.key]
        reason = "" if chance.analytic is not None else "chance is no meaningful reference here"
        yield FigureRecord(
            "bias", plan.key, "random", chance.analytic, None, chance.high, len(plan.items), reason=reason
        )
        for why_not, count in plan.left_out.items():
            yield FigureRecord("bias left out", plan.key, "pairs", count, n_total=result.lab.pairs, reason=why_not)
    for shift in result.shifts:
        name = f"{shift.probe}|{shift.first}|{shift.second}"
        ends = _ends(shift.interval)
        yield FigureRecord("bias difference", name, "share", shift.difference, *ends, shift.n, reason=shift.reason)
        yield FigureRecord("bias difference", name, "p_holm", shift.p_holm, n_used=shift.n, reason=shift.reason)
        why_not = shift.reason or "not defined here"
        for figure, net in (("net", shift.net_difference), ("net_p_holm", shift.net_p_holm)):
            within = _ends(shift.net_ci) if figure == "net" else (None, None)
            reason = why_not if net is None else ""
            yield FigureRecord("bias difference", name, figure, net, *within, shift.net_n, reason=reason)
    for effect in result.names_effects:
        reason = "" if effect.n else "no pair counts with and without names"
        yield FigureRecord("bias names", effect.judge, "difference", effect.difference, n_used=effect.n, reason=reason)
    for (first, second), overlap in result.ranks.overlaps.items():
        counts = (overlap.questions, overlap.total)
        reason = "" if overlap.value is not None else "no instruction that both ranked"
        yield FigureRecord("bias ranks", f"{first}|{second}", "overlap", overlap.value, None, None, *counts, reason)


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return interval or (None, None)


def _panel(about: str, name: str, panel: PanelAgreement) -> Iterator[FigureRecord]:
    for figure in ("h", "alpha_nominal", "alpha_ordinal", "fleiss"):
        figures = getattr(panel, figure)
        why = figures.reason or figures.interval_reason
        yield FigureRecord(about, name, figure, figures.value, *_ends(figures.interval), figures.n, reason=why)
    for (first, second), agreement in panel.pairwise.items():
        why = agreement.reasons.get("kappa", "")
        yield FigureRecord(
            about,
            f"{first}|{second}",
            "kappa",
            agreement.kappa,
            n_used=agreement.n_used,
            n_total=agreement.n_total,
            reason=why,
        )


def _raters(what: str, raters: Raters) -> Iterator[FigureRecord]:
    about = f"{what} against the best"
    for rater in raters.raters:
        used = (rater.agreement.n_used, rater.agreement.n_total)
        why = rater.agreement.reasons.get("accuracy", "")
        within = _ends(rater.intervals.accuracy)
        yield FigureRecord(about, rater.name, "accuracy", rater.agreement.accuracy, *within, *used, why)
        yield FigureRecord(about, rater.name, "p_holm", rater.p_holm, n_used=rater.n_common, reason=rater.reason)


def _layer(layer: LayerStudy, total: int) -> Iterator[FigureRecord]:
    name = f"layer {layer.layer}"
    yield from _panel("neurons as a panel", name, layer.panel)
    for figure in ("disagreement", "entropy", "unanimous", "q", "double_fault", "error_disagreement", "oracle"):
        yield _mean("diversity", name, figure, getattr(layer.diversity, figure), total)
    if layer.change is not None:
        yield _mean("diversity", name, "change of disagreement", layer.change.disagreement, total)
    if layer.minds is not None:
        for figure in ("changed", "to_others", "against_others", "to_own_order"):
            yield _mean("changes of mind", name, figure, getattr(layer.minds, figure).mean, total)
        yield _mean("changes of mind", name, "gain", layer.minds.gain, total)


def _mean(about: str, name: str, figure: str, mean: Mean, total: int) -> FigureRecord:
    return FigureRecord(about, name, figure, mean.value, *_ends(mean.interval), mean.n, total, mean.reason)


def _choice(rule: str, choice: ChoiceFigures) -> Iterator[FigureRecord]:
    for step in choice.steps:
        name, right = f"{step.size} by {rule}", step.accuracy
        used = (right.n, choice.n_total)
        yield FigureRecord("chosen panel", name, "adds", step.neuron, None, None, *used)
        yield FigureRecord("chosen panel", name, "accuracy", right.value, *_ends(right.ci), *used, right.reason or "")
        yield FigureRecord("chosen panel", name, "votes", step.votes, None, None, *used, step.reason or "")


def _learned(way: LearnedWay) -> Iterator[FigureRecord]:
    if way.agreement is None or way.intervals is None:
        yield FigureRecord("learned", way.way, "accuracy", None, reason=way.reason)
        return
    used = (way.agreement.n_used, way.agreement.n_total)
    for figure in ("accuracy", "macro_f1", "kappa"):
        within = _ends(getattr(way.intervals, figure))
        why = way.agreement.reasons.get(figure, "")
        yield FigureRecord("learned", way.way, figure, getattr(way.agreement, figure), *within, *used, why)
    for gain in way.less:
        accuracy, about = gain.accuracy, f"{way.way} less {gain.other}"
        within = _ends(accuracy.interval)
        yield FigureRecord(
            "learned less", about, "accuracy", accuracy.difference, *within, accuracy.n, reason=accuracy.reason
        )
        yield FigureRecord("learned less", about, "p", gain.p, n_used=accuracy.n)
    for neuron, weight in way.weights.items():
        yield FigureRecord("weight", f"{way.way}, {neuron}", "weight", weight)


def _size(size: Point, total: int) -> Iterator[FigureRecord]:
    name = f"{size.neurons} neurons, {size.depth} layers, {'+'.join(size.orders)}, {size.samples} samples"
    used = (round(size.n_used), total)
    yield FigureRecord("size", name, "accuracy", size.accuracy, *_ends(size.interval), *used)
    yield FigureRecord("size", name, "calls_per_pair", size.calls)


def _ranking(by: str, ranking: Ranking, n: int) -> Iterator[FigureRecord]:
    for system in ranking.systems:
        why = ranking.reason if system.interval is None else ""
        yield FigureRecord(
            f"rating by {by}", system.name, "rating", system.rating, *_ends(system.interval), system.games, n, why
        )
    yield FigureRecord(f"rating by {by}", "all", "intransitive", ranking.intransitive, n_total=ranking.triples)


def _compared(compared: ReportedComparison) -> Iterator[FigureRecord]:
    about, test = f"less {compared.second}", compared.comparison.test
    named: dict[str, Difference] = {**compared.comparison.differences, "win_rate": compared.rate}
    for name, difference in named.items():
        within = _ends(difference.interval)
        yield FigureRecord(
            "comparison", about, name, difference.difference, *within, difference.n, compared.common, difference.reason
        )
    why = "" if test.n else "no pair with both verdicts has a human label"
    yield FigureRecord("comparison", about, "only_first_right", test.only_first, n_total=test.n)
    yield FigureRecord("comparison", about, "only_second_right", test.only_second, n_total=test.n)
    yield FigureRecord("comparison", about, "p", test.p if test.n else None, n_total=test.n, reason=why)
    plan = compared.power
    name, shown = f"{plan.difference:g}", plan.range or (None, None)
    yield FigureRecord("pairs needed", name, "pairs", plan.pairs, *shown, plan.n, reason=plan.reason)
    no_power = plan.reason or plan.smallest_reason if plan.power_at is None else ""
    yield FigureRecord("pairs needed", name, "power", plan.power_at, n_used=plan.n, reason=no_power)
