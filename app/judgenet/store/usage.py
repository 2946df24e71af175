"""What a run's calls were made with: models asked and models that answered, parameters, time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from judgenet.core.pictures import PICTURES_RECORD
from judgenet.store.db import Store
from judgenet.store.runs import RunInfo, kept_parameters


class ModelUse(NamedTuple):
    """The answers of one model. ``returned`` and ``fingerprint`` are what the endpoint named, ``None`` where it
    named nothing. ``tokens_reasoning`` of ``tokens_out`` were thinking, where the endpoint counts it. ``price`` sums
    the known prices, ``unpriced`` counts the others; ``latency_s`` is the sum over calls. Calls without an answer are
    not among them."""

    endpoint: str
    requested: str
    returned: str | None
    fingerprint: str | None
    calls: int
    tokens_in: int
    tokens_out: int
    price: float
    unpriced: int
    latency_s: float
    tokens_reasoning: int = 0


class ParameterUse(NamedTuple):
    """The parameters of answered calls. ``temperature`` is ``None`` where it was left to the endpoint; ``form`` is
    ``json`` (a reply schema) or ``text``.

    These are the ones asked for. ``applied`` has what was sent otherwise, by name: ``temperature`` and ``seed`` not
    applied, ``system`` in the user message, ``schema`` without limits, ``max_tokens`` under another name, and
    ``longer``: the limit with which cut answers were asked for again. Of answers of earlier programs it is what the
    run's record says of their endpoint and model. ``more`` is the JSON of the settings that not every call has.
    """

    endpoint: str
    model: str
    form: str
    temperature: float | None
    max_tokens: int
    calls: int
    applied: tuple[tuple[str, Any], ...] = ()
    more: str = ""

    @property
    def further(self) -> dict[str, Any]:
        """The settings that not every call has, by name."""
        settings: dict[str, Any] = json.loads(self.more) if self.more else {}
        return settings

    def otherwise(self, name: str) -> Any:
        """What was sent in place of a parameter; ``None`` where it was sent as asked for."""
        return dict(self.applied).get(name)


def models_used(store: Store, run: RunInfo) -> list[ModelUse]:
    """The models of a run's answers, the most used first."""
    return [
        ModelUse(*row)
        for row in store.reader.execute(
            "SELECT c.endpoint, c.model, returned_model, fingerprint, count(*), sum(tokens_in), sum(tokens_out), "
            "coalesce(sum(price), 0.0), sum(price IS NULL), sum(latency_s), "
            "coalesce(sum(tokens_reasoning), 0) "
            "FROM run_calls r JOIN calls c ON c.id=call_id WHERE run=? GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC, 1, 2, 3, 4",
            (run.number,),
        )
    ]


def _shared_settings(more: Mapping[str, Any]) -> str:
    """The JSON of further settings. Which pictures a call had is no setting, in what size they were sent is."""
    if PICTURES_RECORD in more:
        pictures = {name: value for name, value in more[PICTURES_RECORD].items() if name != "sha256"}
        more = {**more, PICTURES_RECORD: pictures}
    return json.dumps(more, sort_keys=True) if more else ""


def parameters_used(store: Store, run: RunInfo) -> list[ParameterUse]:
    """The parameters of a run's answers, the most used first. Reply schemas that differ only within are one."""
    uses: Counter[ParameterUse] = Counter()
    for endpoint, form, parameters, calls in store.reader.execute(
        "SELECT c.endpoint, form, parameters, count(*) FROM run_calls r JOIN calls c ON c.id=call_id WHERE run=? "
        "GROUP BY 1, 2, 3",
        (run.number,),
    ):
        asked = kept_parameters(parameters)
        applied = asked.applied
        if applied is None:
            applied = _by_record(run, endpoint, asked.model, asked.temperature is not None, asked.schema is not None)
        uses[
            ParameterUse(
                endpoint,
                asked.model,
                form,
                asked.temperature,
                asked.max_tokens,
                0,
                tuple(sorted(applied.items())),
                _shared_settings(asked.more),
            )
        ] += calls
    rows = [use._replace(calls=calls) for use, calls in uses.items()]
    return sorted(rows, key=lambda row: (-row.calls, row.endpoint, row.model, row.max_tokens))


def _by_record(run: RunInfo, endpoint: str, model: str, heated: bool, with_schema: bool) -> dict[str, Any]:
    """What a run's record says that an endpoint refused of requests for a model, and what was sent instead."""
    lessons = run.record.get("learned", {}).get(endpoint, {}).get(model, {})
    carried = {"temperature": heated, "schema": with_schema, "system": True, "max_tokens": True}
    return {name: value for name, value in lessons.items() if carried.get(name)}


def unread_inputs(store: Store, run: RunInfo) -> int:
    """How many calls had to do without an evaluation of the layer before, because it had failed."""
    row = store.reader.execute("SELECT count(*) FROM run_calls WHERE run=? AND missing<>''", (run.number,)).fetchone()
    return int(row[0])


class DifferentCalls(NamedTuple):
    """The calls of several runs. ``calls`` are those of all runs, ``different`` counts each once however many of the
    runs hold it. Tokens and price are those of the different ones; ``unpriced`` of them have no known price."""

    calls: int
    different: int
    tokens_in: int
    tokens_out: int
    price: float
    unpriced: int


def different_calls(store: Store, runs: Sequence[RunInfo]) -> DifferentCalls:
    """What the answers that runs rest on took, whichever run asked for them."""
    numbers = [run.number for run in runs]
    marks = ",".join("?" * len(numbers))
    calls, unanswered = store.reader.execute(
        f"SELECT count(*), coalesce(sum(call_id IS NULL), 0) FROM run_calls WHERE run IN ({marks})", numbers
    ).fetchone()
    answered, tokens_in, tokens_out, price, unpriced = store.reader.execute(
        "SELECT count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0), coalesce(sum(price), 0.0), "
        "coalesce(sum(price IS NULL), 0) FROM calls "
        f"WHERE id IN (SELECT call_id FROM run_calls WHERE run IN ({marks}) AND call_id IS NOT NULL)",
        numbers,
    ).fetchone()
    return DifferentCalls(calls, answered + unanswered, tokens_in, tokens_out, price, unpriced)
