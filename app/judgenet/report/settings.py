"""The parameters of the calls of a run in words: what was asked for, and what was sent where an endpoint refused it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgenet.core.extra_fields import canonical_extra
from judgenet.core.probabilities import PROBABILITIES, SCORES
from judgenet.core.reasoning import reasoning_words, thinking_tokens
from judgenet.core.wording import of
from judgenet.store.runs import LONGER
from judgenet.store.usage import ParameterUse


def setting_words(used: ParameterUse) -> str:
    """The parameters of some calls as they were sent, such as ``temperature 0 not applied, at most 1,024 tokens``."""
    if used.temperature is None:
        temperature = "the endpoint's own temperature"
    else:
        temperature = f"temperature {used.temperature:g}{' not applied' if used.otherwise('temperature') else ''}"
    limit = f"at most {used.max_tokens:,} tokens"
    if renamed := used.otherwise("max_tokens"):
        limit += f" ({renamed})"
    if longer := used.otherwise(LONGER):
        limit += f", cut and asked again for up to {longer:,}"
    form = "reply schema" if used.form == "json" else "plain text"
    if used.form == "json" and (otherwise := used.otherwise("schema")):
        form += f" ({otherwise})"
    parts = [temperature, limit, form, *further_words(used.further, dict(used.applied))]
    if used.otherwise("seed"):
        parts.append("seed not applied")
    if used.otherwise("system"):
        parts.append("the system message put into the user message")
    return ", ".join(parts)


def further_words(further: Mapping[str, Any], applied: Mapping[str, Any]) -> list[str]:
    """The settings that not every call has, each in words, without the further fields, which are the user's own
    (:func:`extra_words`); ``applied`` holds what was sent in a different form."""
    parts = []
    if (reasoning := further.get("reasoning")) is not None:
        otherwise, room = applied.get("reasoning"), thinking_tokens(reasoning)
        words = f"reasoning {reasoning_words(reasoning)}"
        if otherwise == "not applied":
            words += " not applied"
        else:
            words += f" ({otherwise})" if otherwise else ""
            words += f" with room for {room:,} thinking tokens" if room and not isinstance(reasoning, int) else ""
        parts.append(words)
    if further.get(SCORES) == PROBABILITIES:
        parts.append(f"token probabilities {'not given' if SCORES in applied else 'asked for'}")
    return parts


def extra_words(further: Mapping[str, Any]) -> str:
    """The further fields of calls as JSON, ``further fields {"top_k":20}``; empty where they have none."""
    extra = further.get("extra")
    return f"further fields {canonical_extra(extra)}" if extra else ""


def applied_temperature(uses: Sequence[ParameterUse]) -> float | None:
    """The temperature that was sent with the calls of ``uses``, which all asked for the same one; ``None`` where it was
    sent with none of them, so that the endpoint's own applied."""
    if all(used.otherwise("temperature") for used in uses):
        return None
    return uses[0].temperature


def not_applied(uses: Sequence[ParameterUse]) -> tuple[str, ...]:
    """A sentence for each parameter that was not applied as asked, with the share of the answers that this concerns."""
    return tuple(_sentences(uses))


def _sentences(uses: Sequence[ParameterUse]) -> Iterator[str]:
    for temperature in sorted({used.temperature for used in uses if used.temperature is not None}):
        if share := _share([used for used in uses if used.temperature == temperature], "temperature"):
            yield f"Temperature {temperature:g} was not applied in {share}, as the endpoint refuses it."
    for reasoning in dict.fromkeys(used.further.get("reasoning") for used in uses):
        if reasoning is not None:
            yield from _reasoning(reasoning, [used for used in uses if used.further.get("reasoning") == reasoning])
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


def reasoning_phrase(uses: Sequence[ParameterUse]) -> str:
    """The reasoning settings of some answers: ``reasoning high``, or each setting with its share of the answers; empty
    where none was set."""
    asked = Counter[int | str]()
    for used in uses:
        if (reasoning := used.further.get("reasoning")) is not None:
            asked[reasoning] += used.calls
    total = sum(used.calls for used in uses)
    if len(asked) == 1 and asked.total() == total:
        words = f"reasoning {reasoning_words(next(iter(asked)))}"
    else:
        words = " and ".join(
            f"reasoning {reasoning_words(reasoning)} in {of(count, total)} answers"
            for reasoning, count in asked.items()
        )
    return words + (" (with room for thinking on top of the limit)" if any(map(thinking_tokens, asked)) else "")


def _reasoning(reasoning: int | str, uses: Sequence[ParameterUse]) -> Iterator[str]:
    """Sentences about answers for which a reasoning setting was asked."""
    words = reasoning_words(reasoning)
    for otherwise in dict.fromkeys(used.otherwise("reasoning") for used in uses):
        if not otherwise:
            continue
        count = sum(used.calls for used in uses if used.otherwise("reasoning") == otherwise)
        total = sum(used.calls for used in uses)
        share = f"{of(count, total)} {'answer' if total == 1 else 'answers'}"
        if otherwise == "not applied":
            yield f"Reasoning {words} was not applied in {share}: the endpoint refuses or ignores it."
        else:
            yield f"Reasoning {words} was {otherwise} in {share}, as the endpoint has no such setting."


def _share(uses: Sequence[ParameterUse], name: str) -> str:
    """``6 of 6 answers``: those in which a parameter was not applied as asked; empty where there are none."""
    count = sum(used.calls for used in uses if used.otherwise(name))
    total = sum(used.calls for used in uses)
    return f"{of(count, total)} {'answer' if total == 1 else 'answers'}" if count else ""
