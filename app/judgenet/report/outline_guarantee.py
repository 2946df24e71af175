"""The section of a report about verdicts that are accepted with a bounded error, and the pairs for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judgenet.core.acceptance import CONFIDENCE_WORDS
from judgenet.core.wording import aggregation_title, capitalized, of, percent, plural
from judgenet.figures.guarantee import RunGuarantee, promise_sentences
from judgenet.report.blocks import Block, Bullets, Given, Paragraph, Row, Section, Table
from judgenet.report.model import Report

ALPHAS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
"""The bounds on the error (α) in the table."""

ABOUT = (
    "Thresholds on the confidence are tested on labelled pairs drawn at random, from the strictest to the loosest, "
    "each by an exact binomial test (Learn then Test, Angelopoulos et al. 2021, arXiv 2110.01052). A row holds by "
    "itself, where its α was chosen before the labels were seen."
)


def guarantee_section(report: Report) -> Iterable[Block]:
    """What the network's rule accepted and left to people; what the labels of the run could guarantee."""
    decided, guarantee = report.acceptance, report.guarantee
    if decided is None and guarantee is None:
        return
    if decided is not None:
        yield Section("Verdicts with a guarantee", f"{of(decided.accepted, decided.n_total)} pairs decided")
        yield Paragraph((f"{decided.line}. ", Given(decided.words)))
        if decided.notes:
            yield Bullets(tuple((Given(f"{capitalized(note)}."),) for note in decided.notes))
    if guarantee is not None:
        if decided is None:
            yield Section("Verdicts with a guarantee", plural(guarantee.pairs.labels_used, "label"))
        yield from _could_be_promised(guarantee)


def _could_be_promised(figures: RunGuarantee) -> Iterator[Block]:
    if not figures.by_alpha:
        yield Paragraph((Given(" ".join(promise_sentences(figures))),))
        return
    confidence = CONFIDENCE_WORDS[figures.confidence]
    yield Paragraph(
        (
            f"How many verdicts of {aggregation_title(figures.aggregation)} can be accepted so that, with a "
            f"probability of {percent(1 - figures.delta)} over the choice of the labels, at most a share α of "
            f"them is wrong. Confidence: {confidence}.",
        )
    )
    by_alpha = {of_alpha.alpha: of_alpha for of_alpha in figures.by_alpha}
    rows = []
    for alpha in ALPHAS:
        of_alpha = by_alpha.get(alpha)
        cells = (
            ("nothing can be promised", "", "")
            if of_alpha is None
            else (
                f"{of(of_alpha.accepted, figures.pairs.judged)} ({percent(of_alpha.share)})",
                f"{of_alpha.threshold:.4g}",
                f"{figures.pairs.total - of_alpha.accepted:,}",
            )
        )
        rows.append(Row(((f"{100 * alpha:g} %",), *((cell,) for cell in cells))))
    yield Table(
        ("Error at most (α)", "Accepted verdicts", "Confidence at least", "Pairs for people"),
        (True, True, True, True),
        tuple(rows),
    )
    yield Paragraph((ABOUT,), "note")
