"""What the calls of a run were asked with, and what of it was really sent: an endpoint may refuse a temperature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from judgenet.core.wording import of
from judgenet.store.runs import LONGER
from judgenet.store.usage import ParameterUse


def setting_words(used: ParameterUse) -> str:
    """The parameters of some calls as they were sent, such as ``temperature 0 not applied, at most 1,024 tokens``."""
    if used.temperature is None:
        heat = "the endpoint's own temperature"
    else:
        heat = f"temperature {used.temperature:g}{' not applied' if used.otherwise('temperature') else ''}"
    limit = f"at most {used.max_tokens:,} tokens"
    if renamed := used.otherwise("max_tokens"):
        limit += f" ({renamed})"
    if longer := used.otherwise(LONGER):
        limit += f", cut and asked again for up to {longer:,}"
    form = "reply schema" if used.form == "json" else "plain text"
    if used.form == "json" and (otherwise := used.otherwise("schema")):
        form += f" ({otherwise})"
    parts = [heat, limit, form]
    if used.otherwise("seed"):
        parts.append("seed not applied")
    if used.otherwise("system"):
        parts.append("the system message put into the user message")
    return ", ".join(parts)


def applied_temperature(uses: Sequence[ParameterUse]) -> float | None:
    """The temperature with which the calls of ``uses``, who all asked for the same, were sent: ``None`` for the
    endpoint's own, where none of them carried it."""
    if all(used.otherwise("temperature") for used in uses):
        return None
    return uses[0].temperature


def not_applied(uses: Sequence[ParameterUse]) -> tuple[str, ...]:
    """Sentences about what was asked for and sent otherwise, each with its share of the answers that it concerns."""
    return tuple(_sentences(uses))


def _sentences(uses: Sequence[ParameterUse]) -> Iterator[str]:
    for heat in sorted({used.temperature for used in uses if used.temperature is not None}):
        if share := _share([used for used in uses if used.temperature == heat], "temperature"):
            yield f"Temperature {heat:g} was not applied in {share}, as the endpoint refuses it."
    if share := _share(uses, "seed"):
        yield f"The seed was not applied in {share}."
    if share := _share([used for used in uses if used.form == "json"], "schema"):
        yield f"The reply schema was sent without its limits in {share}, as the endpoint refuses them."
    if share := _share(uses, "system"):
        yield f"The system message was put into the user message in {share}, as the endpoint refuses it."
    if share := _share(uses, "max_tokens"):
        names = sorted({str(used.otherwise("max_tokens")) for used in uses if used.otherwise("max_tokens")})
        yield f"The limit of tokens was {' or '.join(names)} in {share}."
    if share := _share(uses, LONGER):
        most = max(used.otherwise(LONGER) for used in uses if used.otherwise(LONGER))
        yield f"An answer that was cut was asked for again with a limit of up to {most:,} tokens in {share}."


def _share(uses: Sequence[ParameterUse], name: str) -> str:
    """``6 of 6 answers``: those of which a parameter was sent otherwise; empty where none was."""
    count = sum(used.calls for used in uses if used.otherwise(name))
    total = sum(used.calls for used in uses)
    return f"{of(count, total)} {'answer' if total == 1 else 'answers'}" if count else ""
