"""The sections of a report that show texts: example pairs, and prompts as sent."""

from __future__ import annotations

from collections.abc import Iterable

from judgenet.core.pairs import ORDERS
from judgenet.core.wording import plural, score_text
from judgenet.report.blocks import Block, Given, Line, PairCloseUp, Paragraph, Section, Sent, VerdictMark
from judgenet.report.model import KINDS, DisagreementKind, PairStudy, PromptSample, Quote, Report

_KIND_TITLES: dict[DisagreementKind, str] = {
    "people": "Where the network differs from people",
    "orders": "Where the two orders differ",
    "layers": "Where the last layer overturned the first",
}


def studies_section(report: Report) -> Iterable[Block]:
    """Example pairs of each kind of disagreement, with the calls that explain them."""
    if not report.studies:
        return
    yield Section("Example pairs")
    yield Paragraph(
        (
            "A judge sees the responses as Response 1 and Response 2, in the order shown, and names them so in its "
            "evidence.",
        ),
        "note",
    )
    for kind in KINDS:
        chosen = [study for study in report.studies if study.kind == kind]
        if not chosen:
            continue
        total = report.disagreements.get(kind, 0)
        yield Section(_KIND_TITLES[kind], f"the {len(chosen)} most instructive of {plural(total, 'pair')}", level=3)
        for study in chosen:
            yield PairCloseUp(study, _why(report, study), tuple(_speaker(report, quote) for quote in study.quotes))


def _why(report: Report, study: PairStudy) -> Line:
    verdicts, depth = study.verdicts, report.spec.depth
    if study.kind == "people":
        by_vote = (
            f" (A {verdicts.votes.a}, tie {verdicts.votes.tie}, B {verdicts.votes.b})"
            if report.decides == "c2_all"
            else ""
        )
        return (
            "The network says ",
            VerdictMark(study.verdict),
            f"{by_vote}, people say ",
            VerdictMark(study.human),
            ".",
        )
    if study.kind == "orders":
        return (
            "With A shown first the calls give ",
            VerdictMark(verdicts.c1_ab),
            f" ({_lead(study.mean_ab)}), with B shown first ",
            VerdictMark(verdicts.c1_ba),
            f" ({_lead(study.mean_ba)}).",
        )
    first, last = verdicts.layer_votes[0], verdicts.layer_votes[-1]
    line: Line = (
        "Layer 1 says ",
        VerdictMark(verdicts.c2_layers[0]),
        f" (A {first.a}, tie {first.tie}, B {first.b}), layer {depth} ",
        VerdictMark(verdicts.c2_layers[-1]),
        f" (A {last.a}, tie {last.tie}, B {last.b})",
    )
    return (
        (*line, "; people say ", VerdictMark(study.human), ".")
        if study.human is not None
        else (*line, "; no human label.")
    )


def _lead(mean: float | None) -> str:
    if mean is None:
        return "no scores"
    if abs(mean) < 0.05:
        return "even"
    return f"{'A' if mean > 0 else 'B'} leads by {abs(mean):.1f}"


def _speaker(report: Report, quote: Quote) -> Line:
    """The author of a quote, the order shown, the verdict and the scores."""
    place = "Chair" if quote.layer > report.spec.depth else f"layer {quote.layer}, neuron {quote.neuron}"
    name: Line = (Given(quote.role), ", ", place) if quote.role is not None else (place[0].upper() + place[1:],)
    shown = "A was shown first" if quote.order == ORDERS[0] else "B was shown first"
    scores = "" if quote.score_a is None else f" {score_text(quote.score_a)} to {score_text(quote.score_b)}"
    return (*name, f", {shown}: ", VerdictMark(quote.verdict), scores)


def prompts_section(report: Report) -> Iterable[Block]:
    """One prompt of each kind, as it was sent."""
    if not report.prompts:
        return
    yield Section("Prompts as sent", "one prompt of each kind")
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
        return "Generating the roles"
    shown = "A shown first" if sample.order == "ab" else "B shown first"
    if sample.layer > report.spec.depth:
        return f"Chair, {shown}"
    return f"Layer {sample.layer}, neuron {sample.neuron}, {shown}"
