"""The sections of a report that document its figures: what was left out, and the record of the run."""

from __future__ import annotations

from collections.abc import Iterator

from judgenet.core.network import Aggregation
from judgenet.core.wording import duration, moment, of, plural, spent_text
from judgenet.report.blocks import Facts, Given, Line, Section
from judgenet.report.model import About, LeftOutCount, Report
from judgenet.report.outline_tables import STATES
from judgenet.report.settings import extra_words, setting_words
from judgenet.store.shards import ShardsInRun

_LEFT_WORDS = {
    "not judged": "{count} pairs are not judged yet",
    "calls missing": "{count} judged pairs lack calls that got no answer; the next start makes these calls again",
    "for people": "{count} judged pairs are for people: their verdict is not sure enough, and is in no figure of "
    "the accepted verdicts",
    "no quorum": "{count} judged pairs have no verdict: fewer neurons have a valid answer than the quorum asks for",
    "no verdict": "{count} judged pairs have no verdict: no valid call is in its scope",
    "no label": "{count} pairs have no human label and are in no figure of agreement",
    "label without verdict": "{count} labelled pairs have no verdict and are in no figure of agreement",
    "unscored": "{count} calls are unscored: never counted as zero or as a tie",
    "unread inputs": "{count} calls ran without an evaluation of the layer before, because it had failed",
}


def left_line(left: LeftOutCount) -> Line:
    """A line about pairs or calls that figures leave out, and why."""
    text = _LEFT_WORDS[left.what].format(count=of(left.count, left.total))
    return (f"{text}: ", Given(left.why)) if left.why else (f"{text}.",)


def first_line(left: LeftOutCount, most: int = 5) -> Line:
    """The first of the left-out pairs or calls; empty where none is named."""
    if not left.first:
        return ()
    shown = left.first[:most]
    more = left.count - len(shown)
    head = " First (pair, layer.neuron, order, sample): " if left.what == "unscored" else " First: "
    return (head, Given(", ".join(shown)), f", and {more:,} more." if more else ".")


def caution_lines(report: Report) -> tuple[Line, ...]:
    """What readers of the figures must know, one line each."""
    return (*((Given(text),) for text in report.cautions), *((Given(f"{text}."),) for text in report.about.refused))


def rules_words(rules: Aggregation) -> str:
    """How votes are counted, in words."""
    vote = "a neuron, its orders merged, has one vote" if rules.vote == "neuron" else "each call has one vote"
    ties = "tied voters abstain" if rules.ties == "abstain" else "a tie is a candidate"
    fallback = "equal votes are a tie" if rules.fallback == "tie" else "equal votes are decided by the average"
    quorum = "" if rules.quorum is None else f"; a verdict needs valid answers of {plural(rules.quorum, 'neuron')}"
    return f"{vote}, {ties}, {fallback}{quorum}"


def shards_words(shards: ShardsInRun) -> str:
    """How many shards of a run have ended, and what is missing."""
    return f"{of(shards.ended, shards.of)} ended{f'; {shards.lacking}' if shards.lacking else ', all pairs are judged'}"


def run_state_words(about: About) -> str:
    """The state of a run, within a line."""
    if about.shards is not None and about.shards.lacking:
        return "not all shards have ended"
    return STATES.get(about.state, "finished").lower()


def record_section(report: Report) -> tuple[Section, Facts]:
    """The record of the run: times, endpoints, models, parameters, calls, prices, digests and versions."""
    rows = [
        *_time_rows(report.about),
        *_model_rows(report.about),
        *_answer_rows(report),
        *_call_rows(report.about),
        *_data_rows(report),
    ]
    return Section("Record"), Facts(tuple(rows))


def _time_rows(about: About) -> Iterator[tuple[str, Line]]:
    yield "Run", (f"{about.run_id}, {run_state_words(about)}",)
    for name, text in (("Name", about.name), ("Note", about.note)):
        if text:
            yield name, (Given(text),)
    if about.shards is not None:
        yield "Shards", (shards_words(about.shards),)
    yield "Started", (moment(about.created_at),)
    if about.finished_at is not None:
        yield "Ended", (moment(about.finished_at),)
    if len(about.starts) > 1:
        yield "Starts", (plural(len(about.starts), "start"),)
    elif about.finished_at is not None and about.starts:
        yield "Took", (duration(about.finished_at - about.starts[0]),)
    yield "Models' own time", (f"{duration(about.latency_s)}, summed over calls",)


def _model_rows(about: About) -> Iterator[tuple[str, Line]]:
    for endpoint in about.endpoints:
        host = f" at {endpoint.host}" if endpoint.host else ""
        yield "Endpoint", (Given(f"{endpoint.name} ({endpoint.kind}){host}"),)
    for use in about.models:
        returned = f"answered as {use.returned}" if use.returned else "the answers name no model"
        version = f", fingerprint {use.fingerprint}" if use.fingerprint else ""
        yield (
            "Model",
            (
                Given(f"{use.requested} asked, {returned}{version}: "),
                plural(use.calls, "answer"),
                f", {plural(use.tokens_in, 'token')} in, {use.tokens_out:,} out",
                f" ({use.tokens_reasoning:,} of them thinking)" if use.tokens_reasoning else "",
            ),
        )
    for used in about.parameters:
        yield (
            "Parameters",
            (
                Given(used.model),
                f": {setting_words(used)}",
                *((", ", Given(fields)) if (fields := extra_words(used.further)) else ()),
                f"; {plural(used.calls, 'answer')}",
            ),
        )


def _answer_rows(report: Report) -> Iterator[tuple[str, Line]]:
    """The quorum, and the models that stood in for others."""
    if report.quorum is not None:
        yield "Quorum", (report.quorum.words,)
    if report.stand_ins is not None:
        yield "Stand-ins", (Given(report.stand_ins.words),)
        for stand_in in report.stand_ins.neurons:
            yield (
                "Stood in for",
                (
                    Given(stand_in.neuron),
                    f": {of(stand_in.calls, stand_in.n_total)} calls by ",
                    Given(f"{stand_in.endpoint}/{stand_in.model}"),
                ),
            )


def _call_rows(about: About) -> Iterator[tuple[str, Line]]:
    spent = about.spent
    yield (
        "New calls",
        (
            f"{of(spent.calls_new, spent.calls)} calls, the rest was in the store; "
            f"{plural(spent.tokens_in, 'token')} in ({spent.tokens_cached:,} cached), {spent.tokens_out:,} out",
        ),
    )
    if spent.by_batch:
        yield "By batch", (f"{of(spent.by_batch, spent.calls_new)} new calls, at the price of batches",)
    yield "Price", (spent_text(spent.price, spent.unpriced),)


def _data_rows(report: Report) -> Iterator[tuple[str, Line]]:
    about, data = report.about, report.data
    prompts = about.prompts_digest
    yield "Prompts", (Given(prompts) if prompts else "not known: the judgments were recorded elsewhere",)
    yield "Data hash", (Given(data.hash),)
    for name, sha in data.files:
        yield "File", (Given(f"{name}, SHA-256 {sha}"),)
    if data.format:
        yield "Format", (Given(data.format),)
    if about.versions:
        yield "Versions", (Given(", ".join(f"{name} {version}" for name, version in about.versions.items())),)
