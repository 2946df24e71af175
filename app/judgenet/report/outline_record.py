"""The sections of a report that say how its figures came about: what was left out, the record."""

from __future__ import annotations

from judgenet.core.network import Aggregation
from judgenet.core.wording import duration, moment, of, plural, spent_text
from judgenet.report.blocks import Facts, Given, Line, Section
from judgenet.report.model import About, LeftOutCount, Report
from judgenet.report.outline_tables import STATES
from judgenet.report.settings import extra_words, setting_words
from judgenet.store.runs import Spent
from judgenet.store.shards import ShardsInRun

_LEFT_WORDS = {
    "not judged": "{count} pairs are not judged yet",
    "calls missing": "{count} judged pairs lack calls that brought no answer; these are asked again by the next start",
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
    """What figures do not rest on, and why."""
    text = _LEFT_WORDS[left.what].format(count=of(left.count, left.total))
    return (f"{text}: ", Given(left.why)) if left.why else (f"{text}.",)


def first_line(left: LeftOutCount, most: int = 5) -> Line:
    """Which the first ones are; empty where none is named."""
    if not left.first:
        return ()
    shown = left.first[:most]
    more = left.count - len(shown)
    head = " First (pair, layer.neuron, order, sample): " if left.what == "unscored" else " First: "
    return (head, Given(", ".join(shown)), f", and {more:,} more." if more else ".")


def caution_lines(report: Report) -> tuple[Line, ...]:
    """What whoever reads the figures must know, a line each."""
    return (*((Given(text),) for text in report.cautions), *((Given(f"{text}."),) for text in report.about.refused))


def rules_words(rules: Aggregation) -> str:
    """How votes are counted, in words."""
    vote = "a neuron, its orders merged, has one vote" if rules.vote == "neuron" else "each call has one vote"
    ties = "tied voters abstain" if rules.ties == "abstain" else "a tie is a candidate"
    fallback = "equal votes are a tie" if rules.fallback == "tie" else "equal votes are decided by the average"
    quorum = "" if rules.quorum is None else f"; a verdict needs valid answers of {plural(rules.quorum, 'neuron')}"
    return f"{vote}, {ties}, {fallback}{quorum}"


def _batch_rows(spent: Spent) -> list[tuple[str, Line]]:
    if not spent.by_batch:
        return []
    return [("By batch", (f"{of(spent.by_batch, spent.calls_new)} new calls, at the price of batches",))]


def shards_words(shards: ShardsInRun) -> str:
    """Of which shards a run is made."""
    return f"{of(shards.ended, shards.of)} ended{f'; {shards.lacking}' if shards.lacking else ', all pairs are judged'}"


def run_state_words(about: About) -> str:
    """How a run stands, within a line."""
    if about.shards is not None and about.shards.lacking:
        return "not all shards have ended"
    return STATES.get(about.state, "finished").lower()


def record_section(report: Report) -> tuple[Section, Facts]:
    about, data = report.about, report.data
    rows: list[tuple[str, Line]] = [
        ("Run", (f"{about.run_id}, {run_state_words(about)}",)),
        *((name, (Given(text),)) for name, text in (("Name", about.name), ("Note", about.note)) if text),
        *(() if about.shards is None else (("Shards", (shards_words(about.shards),)),)),
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
                    f", {plural(use.tokens_in, 'token')} in, {use.tokens_out:,} out",
                    f" ({use.tokens_reasoning:,} of them thinking)" if use.tokens_reasoning else "",
                ),
            )
        )
    for used in about.parameters:
        rows.append(
            (
                "Parameters",
                (
                    Given(used.model),
                    f": {setting_words(used)}",
                    *((", ", Given(fields)) if (fields := extra_words(used.further)) else ()),
                    f"; {plural(used.calls, 'answer')}",
                ),
            )
        )
    if report.quorum is not None:
        rows.append(("Quorum", (report.quorum.words,)))
    if report.stand_ins is not None:
        rows.append(("Stand-ins", (Given(report.stand_ins.words),)))
        for one in report.stand_ins.neurons:
            rows.append(
                (
                    "Stood in for",
                    (
                        Given(one.neuron),
                        f": {of(one.calls, one.n_total)} calls by ",
                        Given(f"{one.endpoint}/{one.model}"),
                    ),
                )
            )
    spent = about.spent
    rows += [
        (
            "New calls",
            (
                f"{of(spent.calls_new, spent.calls)} calls, the rest was in the store; "
                f"{plural(spent.tokens_in, 'token')} in ({spent.tokens_cached:,} cached), {spent.tokens_out:,} out",
            ),
        ),
        *(
            [("By batch", (f"{of(spent.by_batch, spent.calls_new)} new calls, at the price of batches",))]
            if spent.by_batch
            else []
        ),
        ("Price", (spent_text(spent.price, spent.unpriced),)),
        (
            "Prompts",
            (
                Given(about.prompts_digest)
                if about.prompts_digest
                else "not known: the judgments were recorded elsewhere",
            ),
        ),
        ("Data hash", (Given(data.hash),)),
    ]
    for name, sha in data.files:
        rows.append(("File", (Given(f"{name}, SHA-256 {sha}"),)))
    if data.format:
        rows.append(("Format", (Given(data.format),)))
    if about.versions:
        rows.append(("Versions", (Given(", ".join(f"{name} {version}" for name, version in about.versions.items())),)))
    return Section("Record"), Facts(tuple(rows))
