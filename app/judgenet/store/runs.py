"""Runs and their calls in the store: what is written while a run goes on, and what is read of it afterwards."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from judgenet.core.calls import ROLES_LAYER, CallSite
from judgenet.core.evaluation import ANSWERED, Evaluation, Reason, ScoreSource, Unscored, VerdictShares
from judgenet.core.events import RunStatus
from judgenet.core.labels import NOBODY, People
from judgenet.core.network import Role
from judgenet.core.pairs import Order, Pair, Verdict
from judgenet.core.probabilities import LikelyScores, is_written
from judgenet.store.db import Store, StoreError, now, plain, restored, storable
from judgenet.store.labels import LabelBook

PairState = Literal["open", "done", "failed"]
"""``failed``: all calls are in, but some brought no answer and are asked again by the next start."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer as kept: by the content key of everything that determines it.

    ``parameters`` are those asked for; ``applied`` has what was sent otherwise, by name
    (:class:`judgenet.store.usage.ParameterUse`). Both stand in one list in the store, where answers of earlier programs
    have the parameters alone: it is not recorded what was applied.

    Times are seconds (``started_at`` since the epoch). ``price`` is ``None`` where unknown. ``shared`` and
    ``own`` make up the user message.
    """

    key: bytes
    endpoint: str
    model: str
    form: str
    parameters: str
    system: str
    shared: str
    own: str
    raw_text: str
    finish_reason: str
    raw_finish: str | None = None
    returned_model: str | None = None
    fingerprint: str | None = None
    thinking: str | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_reasoning: int = 0
    tokens_estimated: bool = False
    price: float | None = None
    latency_s: float = 0.0
    attempts: int = 1
    started_at: float = 0.0
    applied: Mapping[str, Any] = field(default_factory=dict)
    batch: str | None = None
    """The batch by which it came; ``None`` where it was asked live."""
    likely: str | None = None
    """Of an answer that was to be scored by token probabilities: :meth:`LikelyScores.written`, or a ``ScoreSource``."""


class RecordedAnswer(NamedTuple):
    """The part of a kept answer that a run needs to go on."""

    call_id: int
    raw_text: str
    finish_reason: str
    thought: bool
    """Whether thinking came with it in a field of its own."""
    key: bytes
    """The key under which it is kept; see :func:`next_key`."""
    likely: str | None = None
    """As in :class:`Answer`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a call of a run. ``result`` is ``None`` for role generation that succeeded.

    ``missing`` names the evaluations that the neuron should have read and that had failed.
    """

    site: CallSite
    result: Evaluation | Unscored | None
    endpoint: str
    model: str
    role: str | None = None
    rule: str = ""
    missing: tuple[str, ...] = ()
    cached: bool = False
    attempts: int = 0
    started_at: float = 0.0


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run as listed.

    ``record`` holds network, prompts' digest, data hash, settings, versions, and what endpoints refused.
    """

    id: str
    number: int
    fingerprint: str
    created_at: float
    finished_at: float | None
    state: RunStatus
    message: str
    record: dict[str, Any] = field(repr=False)

    @property
    def name(self) -> str:
        """What somebody called the run; empty where nobody did."""
        return str(self.record.get("name") or "")

    @property
    def note(self) -> str:
        """What somebody noted of the run; empty where nobody did."""
        return str(self.record.get("note") or "")


@dataclass(frozen=True, slots=True)
class RunPair:
    """A pair within a run. ``roles`` are those of this pair, ``None`` before they are known.

    ``pair`` holds the label and the annotators of now, whoever labelled since the run; ``people`` says where the label
    comes from.
    """

    index: int
    pair: Pair
    state: PairState
    roles: tuple[Role, ...] | None
    note: str
    calls_total: int | None
    people: People = NOBODY


class CallRow(NamedTuple):
    """One call of a run as read back for evaluation."""

    site: CallSite
    result: Evaluation | Unscored | None
    role: str | None


# Runs


class RunMark(NamedTuple):
    """What distinguishes a run from others: its fingerprint, the digest of its prompts (empty for recorded judgments),
    and the bias lab and the experiment that it is part of, if any."""

    fingerprint: str
    prompts: str
    lab: str | None
    experiment: str | None


def run_marks(store: Store) -> list[RunMark]:
    """The marks of all runs, oldest first."""
    wanted = ("'$.prompts'", "'$.lab'", "'$.experiment.name'")
    columns = ", ".join(f"json_extract(record, {path})" for path in wanted)
    rows = store.reader.execute(f"SELECT fingerprint, {columns} FROM runs ORDER BY number")
    return [RunMark(row[0], row[1] or "", row[2], row[3]) for row in rows]


def start_run(store: Store, fingerprint: str, record: Mapping[str, Any], pairs: Sequence[Pair]) -> RunInfo:
    """The run with this fingerprint: the earlier one if there is one (so that it resumes), else a new one.

    ``fingerprint`` covers network, prompts, and the pairs with their ids, contents and order.
    Labels may change without making a new run; they are taken over.
    """

    def write(db: sqlite3.Connection) -> str:
        row = db.execute(
            "SELECT id, number FROM runs WHERE fingerprint=? ORDER BY number DESC LIMIT 1", (fingerprint,)
        ).fetchone()
        if row is None:
            number = int(db.execute("SELECT coalesce(max(number), 0) + 1 FROM runs").fetchone()[0])
            run_id = f"run-{number}"
            db.execute(
                "INSERT INTO runs (id, number, fingerprint, created_at, state, record) "
                "VALUES (?, ?, ?, ?, 'running', ?)",
                (run_id, number, fingerprint, now(), json.dumps(record, sort_keys=True)),
            )
        else:
            run_id, number = str(row[0]), int(row[1])
            kept = json.loads(db.execute("SELECT record FROM runs WHERE id=?", (run_id,)).fetchone()[0])
            starts = [*kept.get("starts", []), *record.get("starts", [])]
            db.execute(
                "UPDATE runs SET state='running', message='', finished_at=NULL, record=? WHERE id=?",
                (json.dumps({**kept, **record, "starts": starts}, sort_keys=True), run_id),
            )
        _enter_pairs(db, number, pairs)
        return run_id

    run_id = store.run_now(write)
    return run_info(store, run_id)


def _info(row: Sequence[Any]) -> RunInfo:
    return RunInfo(row[0], row[1], row[2], row[3], row[4], row[5], row[6], json.loads(row[7]))


_PAIRS_AT_A_TIME: Final = 1000
"""So many pairs are encoded before they are entered: the texts of all are in memory once already."""

_RUN = "SELECT id, number, fingerprint, created_at, finished_at, state, message, record FROM runs"


def _enter_pairs(db: sqlite3.Connection, run: int, pairs: Sequence[Pair]) -> None:
    """Enters those pairs of a run that it does not have yet in this form."""
    known = {
        bytes(kept_hash)
        for (kept_hash,) in db.execute("SELECT hash FROM pairs JOIN run_pairs ON pair_row=pairs.id WHERE run=?", (run,))
    }
    for first in range(0, len(pairs), _PAIRS_AT_A_TIME):
        new = []
        for index, pair in enumerate(pairs[first : first + _PAIRS_AT_A_TIME], first):
            body = json.dumps(pair.to_json(), sort_keys=True)
            digest = hashlib.sha256(body.encode("ascii")).digest()
            if digest not in known:
                new.append((index, storable(pair.id), digest, body))
        db.executemany(
            "INSERT INTO pairs (hash, body) VALUES (?, ?) ON CONFLICT DO NOTHING",
            ((digest, body) for _, _, digest, body in new),
        )
        db.executemany(
            "INSERT INTO run_pairs (run, pair, pair_id, pair_row) SELECT ?1, ?2, ?3, id FROM pairs WHERE hash=?4 "
            "ON CONFLICT DO UPDATE SET pair_row=excluded.pair_row",
            ((run, index, pair_id, digest) for index, pair_id, digest, _ in new),
        )


_OF_PAIRS = "json_extract(record, '$.lab') IS NULL"
"""Runs over pairs as they are: those of a bias lab are looked at as a lab (``store.labs``)."""


def runs(store: Store) -> list[RunInfo]:
    """All runs but those of bias labs, oldest first."""
    return [_info(row) for row in store.reader.execute(f"{_RUN} WHERE {_OF_PAIRS} ORDER BY number")]


def run_info(store: Store, run_id: str | None = None) -> RunInfo:
    """A run by id, or the newest but for those of bias labs.

    :raises StoreError: there is no such run; the message lists those that there are.
    """
    if run_id is None:
        row = store.reader.execute(f"{_RUN} WHERE {_OF_PAIRS} ORDER BY number DESC LIMIT 1").fetchone()
    else:
        row = store.reader.execute(f"{_RUN} WHERE id=?", (run_id,)).fetchone()
    if row is None:
        there = ", ".join(run.id for run in runs(store)) or "none"
        raise StoreError(f"{store.path}: no run {run_id or ''} here. Runs: {there}.")
    return _info(row)


def name_run(store: Store, run_id: str, name: str, note: str) -> None:
    """Keeps what somebody calls a run, and what they note of it; empty texts take both away."""

    def write(db: sqlite3.Connection) -> None:
        kept = json.loads(db.execute("SELECT record FROM runs WHERE id=?", (run_id,)).fetchone()[0])
        given = {"name": name.strip(), "note": note.strip()}
        record = {key: value for key, value in {**kept, **given}.items() if value or key not in given}
        db.execute("UPDATE runs SET record=? WHERE id=?", (json.dumps(record, sort_keys=True), run_id))

    store.run_now(write)


def set_run_state(store: Store, run_id: str, state: RunStatus, message: str = "", **record: Any) -> None:
    """Sets the state of a run (queued behind its calls); ``record`` is merged into the run's record."""

    def write(db: sqlite3.Connection) -> None:
        if record:
            kept = json.loads(db.execute("SELECT record FROM runs WHERE id=?", (run_id,)).fetchone()[0])
            db.execute("UPDATE runs SET record=? WHERE id=?", (json.dumps({**kept, **record}, sort_keys=True), run_id))
        finished = None if state in ("running", "paused") else now()
        db.execute("UPDATE runs SET state=?, message=?, finished_at=? WHERE id=?", (state, message, finished, run_id))

    store.put(write)


# Writing while a run goes on


KEY_BYTES: Final = 32
"""A content key. An answer that could not be read can be asked for again: the next one is kept under the content key
and two bytes more, which count from 1; the ones before stay. The newest holds."""
_LAST: Final = b"\xff\xff"


def next_key(key: bytes) -> bytes:
    """The key of the next answer to the question of this one."""
    return key[:KEY_BYTES] + (int.from_bytes(key[KEY_BYTES:], "big") + 1).to_bytes(2, "big")


def newest_key(store: Store, key: bytes) -> bytes:
    """The key of the newest answer to a question, by its content key; the same where there is none."""
    row = store.reader.execute("SELECT max(key) FROM calls WHERE key>=? AND key<=?", (key, key + _LAST)).fetchone()
    return key if row[0] is None else bytes(row[0])


def recorded(store: Store, key: bytes) -> RecordedAnswer | None:
    """The newest kept answer to a call by its content key, if there is one."""
    if not store.may_have_answer(key):
        return None
    row = store.reader.execute(
        f"SELECT id, raw_text, finish_reason, thinking IS NOT NULL, key, {store.column('calls', 'likely')} FROM calls "
        "WHERE key>=? AND key<=? ORDER BY key DESC LIMIT 1",
        (key, key + _LAST),
    ).fetchone()
    return (
        None if row is None else RecordedAnswer(row[0], restored(row[1]), row[2], bool(row[3]), bytes(row[4]), row[5])
    )


def unscored_pairs(store: Store, run: RunInfo) -> frozenset[int]:
    """The pairs of a run of which some call is in without an evaluation or roles."""
    rows = store.reader.execute("SELECT DISTINCT pair FROM run_calls WHERE run=? AND status='unscored'", (run.number,))
    return frozenset(row[0] for row in rows)


def reopen_pairs(store: Store, run: RunInfo, pairs: Collection[int]) -> None:
    """Marks finished pairs so that the next start asks their unscored calls again, even if this start is cut short."""

    def write(db: sqlite3.Connection) -> None:
        db.executemany(
            "UPDATE run_pairs SET state='failed' WHERE run=? AND pair=? AND state='done'",
            [(run.number, pair) for pair in sorted(pairs)],
        )

    store.run_now(write)


def has_calls(store: Store) -> bool:
    """Whether the store holds any answer."""
    return store.reader.execute("SELECT 1 FROM calls LIMIT 1").fetchone() is not None


def mean_latency(store: Store, endpoint: str, model: str) -> float | None:
    """How long the newest answers of a model took on average, in seconds; ``None`` where there is none."""
    (mean,) = store.reader.execute(
        "SELECT avg(latency_s) FROM "
        f"(SELECT latency_s FROM calls WHERE endpoint=? AND model=?{asked_live(store)} ORDER BY id DESC LIMIT 500)",
        (endpoint, model),
    ).fetchone()
    return None if mean is None else float(mean)


LONGER = "longer"
"""The name, beside those of parameters, under which an answer keeps the limit of tokens with which it was asked for
again, as the first one was cut."""


def _with_applied(answer: Answer) -> str:
    """The parameters' JSON list with one more element: what was sent otherwise."""
    return _one_more(answer.parameters, json.dumps(dict(answer.applied), sort_keys=True) if answer.applied else "{}")


@lru_cache(maxsize=64)
def _one_more(parameters: str, applied: str) -> str:
    # The calls of a run share a few lists of parameters.
    return json.dumps([*json.loads(parameters), json.loads(applied)], sort_keys=True)


class KeptParameters(NamedTuple):
    """What a kept answer was asked for with: the members of :class:`judgenet.core.calls.Parameters`, and in
    ``applied`` what was sent otherwise, by name; ``None`` where that is not kept."""

    model: str
    temperature: float | None
    max_tokens: int
    schema: dict[str, Any] | None
    more: dict[str, Any]
    applied: dict[str, Any] | None

    @property
    def asked(self) -> list[Any]:
        """The list without what was sent otherwise, as its digest has it."""
        return [*self[:4], self.more] if self.more else list(self[:4])


def kept_parameters(parameters: str) -> KeptParameters:
    """The parameters of a kept answer from their JSON list."""
    model, temperature, max_tokens, schema, *rest = json.loads(parameters)
    more, applied = rest[0] if len(rest) == 2 else {}, rest[-1] if rest else None
    return KeptParameters(model, temperature, max_tokens, schema, more, applied)


def keep_answer(db: sqlite3.Connection, store: Store, answer: Answer) -> int:
    """Keeps a model's answer and returns its row, or that of the answer that is there already.

    Runs on the store's writing thread.
    """
    store.know_form(db, answer.form)
    store.know_answer(answer.key)
    added = db.execute(
        "INSERT INTO calls (key, endpoint, model, returned_model, fingerprint, form, parameters, system_id, "
        "shared_id, own, raw_text, thinking, finish_reason, raw_finish, tokens_in, tokens_out, tokens_cached, "
        "tokens_reasoning, tokens_estimated, price, latency_s, attempts, started_at, batch, likely) "
        "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
        "ON CONFLICT (key) DO NOTHING",
        (
            answer.key,
            answer.endpoint,
            answer.model,
            plain(answer.returned_model),
            plain(answer.fingerprint),
            answer.form,
            _with_applied(answer),
            store.text_id(db, answer.system),
            store.text_id(db, answer.shared),
            storable(answer.own),
            storable(answer.raw_text),
            None if answer.thinking is None else storable(answer.thinking),
            answer.finish_reason,
            plain(answer.raw_finish),
            answer.tokens_in,
            answer.tokens_out,
            answer.tokens_cached,
            answer.tokens_reasoning,
            answer.tokens_estimated,
            answer.price,
            answer.latency_s,
            answer.attempts,
            answer.started_at,
            answer.batch,
            answer.likely,
        ),
    )
    if added.rowcount and added.lastrowid is not None:
        return added.lastrowid
    return int(db.execute("SELECT id FROM calls WHERE key=?", (answer.key,)).fetchone()[0])


def write_outcome(
    db: sqlite3.Connection, store: Store, run: int, outcome: Outcome, answer: Answer | int | None
) -> None:
    """Writes the outcome of a call with its answer: a new one, the row of a kept one, or none.

    Runs on the store's writing thread.
    """
    call_id = keep_answer(db, store, answer) if isinstance(answer, Answer) else answer
    cached = outcome.cached and not _paid_by(db, run, outcome.site, call_id)
    site, role = outcome.site, outcome.role
    db.execute(
        "INSERT OR REPLACE INTO run_calls (run, pair, layer, neuron, ord, sample, call_id, cached, rule, role, "
        "missing, endpoint, model, attempts, started_at, status, reason, detail, verdict, score_a, score_b, evidence, "
        "scores_from, share_a, share_tie, share_b, sampled_a, sampled_b) "
        "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            run,
            site.pair,
            site.layer,
            site.neuron,
            site.order or "",
            site.sample,
            call_id,
            cached,
            outcome.rule,
            None if role is None else storable(role),
            json.dumps(outcome.missing) if outcome.missing else "",
            outcome.endpoint,
            outcome.model,
            outcome.attempts,
            outcome.started_at,
            *_kept_result(outcome.result),
        ),
    )


def _kept_result(result: Evaluation | Unscored | None) -> tuple[str | bytes | float | None, ...]:
    """The columns that keep the result of a call: those of which :func:`_result` makes it again, in its order."""
    if result is None:
        return ("roles", None, "", *[None] * 10)
    if isinstance(result, Unscored):
        return ("unscored", result.reason.value, plain(result.detail), *[None] * 10)
    shares: Sequence[float | None] = result.shares or (None, None, None)
    sampled: Sequence[float | None] = result.sampled or (None, None)
    scores = (result.verdict, result.score_a, result.score_b)
    return ("scored", None, "", *scores, storable(result.evidence), result.scores_from, *shares, *sampled)


def _paid_by(db: sqlite3.Connection, run: int, site: CallSite, call_id: int | None) -> bool:
    """True where an earlier start of this very run asked the call: resuming must not make it look free."""
    row = db.execute(
        "SELECT call_id, cached FROM run_calls WHERE run=? AND pair=? AND layer=? AND neuron=? AND ord=? AND sample=?",
        (run, site.pair, site.layer, site.neuron, site.order or "", site.sample),
    ).fetchone()
    return row is not None and row[0] == call_id and not row[1]


def write_pair(
    db: sqlite3.Connection,
    run: int,
    index: int,
    state: PairState,
    roles: Iterable[Role] | None,
    note: str,
    calls_total: int,
    sites: Collection[CallSite] = (),
) -> None:
    """Records that all calls of a pair are in. Runs on the store's writing thread.

    ``sites`` are its neurons' and chair's calls: what else an earlier start left, whose roles were other ones, goes.
    """
    kept = db.execute("SELECT count(*) FROM run_calls WHERE run=? AND pair=? AND layer>0", (run, index)).fetchone()[0]
    if kept > len(sites) > 0:
        there = db.execute("SELECT layer, neuron, ord, sample FROM run_calls WHERE run=? AND pair=?", (run, index))
        db.executemany(
            "DELETE FROM run_calls WHERE run=? AND pair=? AND layer=? AND neuron=? AND ord=? AND sample=?",
            [
                (run, index, layer, neuron, order, sample)
                for layer, neuron, order, sample in there.fetchall()
                if layer > ROLES_LAYER and CallSite(index, layer, neuron, order or None, sample) not in sites
            ],
        )
    packed = None if roles is None else json.dumps([[role.name, role.description] for role in roles])
    db.execute(
        "UPDATE run_pairs SET state=?, roles=?, note=?, calls_total=? WHERE run=? AND pair=?",
        (state, packed, note, calls_total, run, index),
    )


# Reading a run


def pair_states(store: Store, run: RunInfo) -> list[PairState]:
    """The state of each pair of a run, by index."""
    return [
        row[0] for row in store.reader.execute("SELECT state FROM run_pairs WHERE run=? ORDER BY pair", (run.number,))
    ]


def begun_pairs(store: Store, run: RunInfo) -> frozenset[int]:
    """The pairs of a run of which some call is in."""
    rows = store.reader.execute("SELECT DISTINCT pair FROM run_calls WHERE run=?", (run.number,))
    return frozenset(row[0] for row in rows)


def stood_in_calls(store: Store, run: RunInfo, models: Collection[tuple[str, str]]) -> dict[CallSite, tuple[str, str]]:
    """The calls of a run that were answered by one of these stand-ins (endpoint and model), by their place."""
    calls: dict[CallSite, tuple[str, str]] = {}
    for endpoint, model in models:
        rows = store.reader.execute(
            "SELECT pair, layer, neuron, ord, sample FROM run_calls "
            "WHERE run=? AND endpoint=? AND model=? AND call_id IS NOT NULL",
            (run.number, endpoint, model),
        )
        for pair, layer, neuron, order, sample in rows:
            calls[CallSite(pair, layer, neuron, order or None, sample)] = (endpoint, model)
    return calls


def pair_call_rows(store: Store, run: RunInfo, pair: int) -> list[CallRow]:
    """The calls of one pair by layer, neuron, order and sample, with their evidence."""
    calls = []
    held, its_run, place = store.holder(run, pair)
    for layer, neuron, order, sample, role, *rest in held.reader.execute(
        f"SELECT layer, neuron, ord, sample, role, {_result_columns(held)} "
        "FROM run_calls WHERE run=? AND pair=? ORDER BY layer, neuron, ord, sample",
        (its_run.number, place),
    ):
        site = CallSite(pair, layer, neuron, order or None, sample)
        calls.append(CallRow(site, _result(*rest), None if role is None else restored(role)))
    return calls


_PAIR = "SELECT pair, state, roles, note, calls_total, body FROM run_pairs JOIN pairs ON pair_row=pairs.id WHERE run=? "


def _pair(row: Sequence[Any], book: LabelBook) -> RunPair:
    index, state, roles, note, total, body = row
    known = None if roles is None else tuple(Role(name, text) for name, text in json.loads(roles))
    pair, people = book.merged(Pair.from_json(json.loads(body)))
    return RunPair(index, pair, state, known, note, total, people)


def run_pairs(store: Store, run: RunInfo) -> Iterator[RunPair]:
    """The pairs of a run in order, with the labels of now."""
    book = LabelBook.of(store)
    for row in store.reader.execute(_PAIR + "ORDER BY pair", (run.number,)):
        yield _pair(row, book)


def pair_roles(store: Store, run: RunInfo) -> Iterator[tuple[int, tuple[Role, ...]]]:
    """The roles of the pairs of a run that have some, by index."""
    for index, roles in store.reader.execute(
        "SELECT pair, roles FROM run_pairs WHERE run=? AND roles IS NOT NULL ORDER BY pair", (run.number,)
    ):
        yield index, tuple(Role(name, text) for name, text in json.loads(roles))


def run_pair(store: Store, run: RunInfo, index: int) -> RunPair:
    """One pair of a run.

    :raises StoreError: the run has no such pair.
    """
    row = store.reader.execute(_PAIR + "AND pair=?", (run.number, index)).fetchone()
    if row is None:
        raise StoreError(f"{store.path}: {run.id} has no pair {index + 1}.")
    pair_id = json.loads(row[-1])["id"]
    return _pair(row, LabelBook.of(store, pair_id))


class PairHead(NamedTuple):
    """A pair within a run without its texts; ``pair`` is its index."""

    pair: int
    pair_id: str
    state: PairState
    human: Verdict | None
    task: str | None


def pair_heads(store: Store, run: RunInfo) -> Iterator[PairHead]:
    """The pairs of a run in order, without their texts, with the labels of now."""
    book = LabelBook.of(store)
    # The texts are needed where a label must be theirs.
    again = book.ids
    for index, stored_id, state, human, task in store.reader.execute(
        "SELECT pair, pair_id, state, json_extract(body, '$.human'), json_extract(body, '$.task') "
        "FROM run_pairs JOIN pairs ON pair_row=pairs.id WHERE run=? ORDER BY pair",
        (run.number,),
    ):
        pair_id = restored(stored_id)
        if pair_id in again or book.rules.file_chosen == "targeted":
            row = store.reader.execute(_PAIR + "AND pair=?", (run.number, index)).fetchone()
            human = _pair(row, book).pair.human
        yield PairHead(index, pair_id, state, human, task)


_LIKELY: Final = ("scores_from", "share_a", "share_tie", "share_b", "sampled_a", "sampled_b")


def _result_columns(store: Store, alias: str = "", *, evidence: bool = True) -> str:
    """The columns of which :func:`_result` makes the result of a call, in its order."""
    names = ("status", "reason", "detail", "verdict", "score_a", "score_b", "evidence")
    named = [store.column("run_calls", name, alias) if evidence or name != "evidence" else "NULL" for name in names]
    later = [store.column("run_calls", name, alias) for name in _LIKELY]
    return ", ".join([*named, *later])


def _result(
    status: str,
    reason: str | None,
    detail: str,
    verdict: Verdict | None,
    score_a: float | None,
    score_b: float | None,
    evidence: str | bytes | None,
    source: ScoreSource | None = None,
    share_a: float | None = None,
    share_tie: float | None = None,
    share_b: float | None = None,
    sampled_a: float | None = None,
    sampled_b: float | None = None,
) -> Evaluation | Unscored | None:
    if status == "roles":
        return None
    if status == "scored" and verdict is not None:
        shares = sampled = None
        if share_a is not None and share_tie is not None and share_b is not None:
            shares = VerdictShares(share_a, share_tie, share_b)
        if sampled_a is not None and sampled_b is not None:
            sampled = (sampled_a, sampled_b)
        said = "" if evidence is None else restored(evidence)
        return Evaluation(said, verdict, score_a, score_b, shares, source, sampled)
    return Unscored(Reason(reason or Reason.INTERNAL), detail)


def call_rows(store: Store, run: RunInfo, *, evidence: bool = True) -> Iterator[CallRow]:
    """The calls of a run by pair, layer, neuron, order and sample.

    Without ``evidence`` its text is left empty, which is faster.
    """
    if evidence and store.is_index:
        for (pair,) in store.reader.execute("SELECT pair FROM run_pairs WHERE run=? ORDER BY pair", (run.number,)):
            yield from pair_call_rows(store, run, pair)
        return
    columns = _result_columns(store, evidence=evidence)
    for pair, layer, neuron, order, sample, role, *rest in store.reader.execute(
        f"SELECT pair, layer, neuron, ord, sample, role, {columns} "
        "FROM run_calls WHERE run=? ORDER BY pair, layer, neuron, ord, sample",
        (run.number,),
    ):
        site = CallSite(pair, layer, neuron, order or None, sample)
        yield CallRow(site, _result(*rest), None if role is None else restored(role))


class LikelyCall(NamedTuple):
    """A call that was to be scored by token probabilities: where its scores come from and, where that is what was asked
    for, the probabilities of its verdicts and the scores for A and B that its text gives."""

    site: CallSite
    source: ScoreSource
    shares: VerdictShares | None
    sampled: tuple[float, float] | None


def likely_calls(store: Store, run: RunInfo) -> Iterator[LikelyCall]:
    """The calls of a run that were to be scored by token probabilities."""
    if store.column("run_calls", "scores_from") == "NULL":
        return
    for pair, layer, neuron, order, sample, source, *values in store.reader.execute(
        f"SELECT pair, layer, neuron, ord, sample, {', '.join(_LIKELY)} FROM run_calls "
        "WHERE run=? AND scores_from IS NOT NULL",
        (run.number,),
    ):
        site = CallSite(pair, layer, neuron, order or None, sample)
        known = values[0] is not None
        yield LikelyCall(
            site, source, VerdictShares(*values[:3]) if known else None, (values[3], values[4]) if known else None
        )


def call_row(store: Store, run: RunInfo, site: CallSite) -> CallRow | None:
    """One call with its evidence, ``None`` where it is not in."""
    held, its_run, place = store.holder(run, site.pair)
    row = held.reader.execute(
        f"SELECT role, {_result_columns(held)} FROM run_calls "
        "WHERE run=? AND pair=? AND layer=? AND neuron=? AND ord=? AND sample=?",
        (its_run.number, place, site.layer, site.neuron, site.order or "", site.sample),
    ).fetchone()
    if row is None:
        return None
    role, *rest = row
    return CallRow(site, _result(*rest), None if role is None else restored(role))


def retryable(result: Evaluation | Unscored | None) -> bool:
    """True for a call without an answer, which the next start asks again; an answer that cannot be read is kept."""
    return isinstance(result, Unscored) and result.reason not in ANSWERED


@dataclass(frozen=True, slots=True)
class FullCall:
    """All that is kept of one call. ``messages`` are as sent. Where there was no answer they are empty, and
    ``parameters`` is ``None``. ``earlier`` are the answers before this one that could not be read, oldest first."""

    site: CallSite
    pair_id: str
    role: str | None
    status: str
    result: Evaluation | Unscored | None
    missing: tuple[str, ...]
    rule: str
    endpoint: str
    model: str
    returned_model: str | None
    fingerprint: str | None
    form: str | None
    parameters: KeptParameters | None
    messages: tuple[tuple[str, str], ...]
    raw_text: str | None
    thinking: str | None
    finish_reason: str | None
    usage: dict[str, Any] | None
    price: float | None
    latency_s: float | None
    attempts: int
    cached: bool
    started_at: float
    earlier: tuple[str, ...] = ()
    likely: LikelyScores | None = None
    """The distributions of the scores as shown, where they come from token probabilities."""
    batch: str | None = None
    """The batch that brought the answer, by the endpoint's id; ``None`` where it was asked live."""


_FULL = (
    "SELECT r.pair, r.layer, r.neuron, r.ord, r.sample, p.pair_id, r.role, r.missing, r.rule, r.endpoint, r.model, "
    "r.attempts, r.cached, r.started_at, "
    "c.returned_model, c.fingerprint, c.form, c.parameters, system.body, shared.body, c.own, c.raw_text, c.thinking, "
    "c.finish_reason, c.tokens_in, c.tokens_out, c.tokens_cached, c.tokens_reasoning, c.tokens_estimated, c.price, "
    "c.latency_s, c.attempts, c.started_at, c.key, {likely}, {batch}, {result} "
    "FROM run_calls r JOIN run_pairs p ON p.run=r.run AND p.pair=r.pair LEFT JOIN calls c ON c.id=r.call_id "
    "LEFT JOIN texts system ON system.id=c.system_id LEFT JOIN texts shared ON shared.id=c.shared_id WHERE r.run=? "
)


class _AskedColumns(NamedTuple):
    """What the run keeps of a call: the first columns of :data:`_FULL`."""

    pair: int
    layer: int
    neuron: int
    order: Order | Literal[""]
    sample: int
    pair_id: str | bytes
    role: str | bytes | None
    missing: str
    rule: str
    endpoint: str
    model: str
    attempts: int
    cached: int
    started_at: float


class _AnswerColumns(NamedTuple):
    """What is kept of the answer of a call, ``None`` each where it has none: the next columns of :data:`_FULL`."""

    returned_model: str | None
    fingerprint: str | None
    form: str | None
    parameters: Any
    system: str | bytes
    shared: str | bytes
    own: str | bytes
    raw_text: str | bytes
    thinking: str | bytes | None
    finish_reason: str | None
    tokens_in: int
    tokens_out: int
    tokens_cached: int | None
    tokens_reasoning: int | None
    tokens_estimated: int
    price: float | None
    latency_s: float | None
    attempts: int
    started_at: float
    key: bytes
    likely: Any
    batch: str | None

    def messages(self) -> tuple[tuple[str, str], ...]:
        """What was sent, by role."""
        user = ("user", restored(self.shared) + restored(self.own))
        return (("system", restored(self.system)), user) if restored(self.system) else (user,)

    def usage(self) -> dict[str, int | bool | None]:
        """The tokens of the call."""
        return {
            "prompt_tokens": self.tokens_in,
            "completion_tokens": self.tokens_out,
            "cached_tokens": self.tokens_cached,
            "reasoning_tokens": self.tokens_reasoning,
            "estimated": bool(self.tokens_estimated),
        }


def _all_thinking(sent: str | None, raw_text: str) -> str | None:
    """The thinking of a call: what the endpoint sent as such, and what its answer holds between marks."""
    from judgenet.core.reading_thinking import split_thinking

    inside = split_thinking(raw_text).thinking
    return "\n\n".join(part for part in (sent, inside) if part) or None


_IN_ORDER = "ORDER BY r.pair, r.layer, r.neuron, r.ord, r.sample"
_AT_SITE = "AND r.pair=? AND r.layer=? AND r.neuron=? AND r.ord=? AND r.sample=?"


def full_calls(store: Store, run: RunInfo, site: CallSite | None = None) -> Iterator[FullCall]:
    """Everything about the calls of a run, in order; or about one."""
    if not store.is_index:
        place = () if site is None else (site.pair, *_of_site(site))
        yield from _full_calls(store, run, _IN_ORDER if site is None else _AT_SITE, place)
        return
    pairs = [site.pair] if site is not None else range(len(pair_states(store, run)))
    for pair in pairs:
        held, its_run, local = store.holder(run, pair)
        if site is None:
            calls = _full_calls(held, its_run, f"AND r.pair=? {_IN_ORDER}", (local,))
        else:
            calls = _full_calls(held, its_run, _AT_SITE, (local, *_of_site(site)))
        for call in calls:
            yield replace(call, site=call.site._replace(pair=pair))


def _of_site(site: CallSite) -> tuple[int, int, str, int]:
    return site.layer, site.neuron, site.order or "", site.sample


_BATCH_OF_CALL = "(SELECT COALESCE(b.remote, b.id) FROM batches b WHERE b.id=c.batch)"


def _full_calls(store: Store, run: RunInfo, which: str, values: tuple[int | str, ...]) -> Iterator[FullCall]:
    query = _FULL.format(
        likely=store.column("calls", "likely", "c"),
        batch=_BATCH_OF_CALL if knows_batches(store) else "NULL",
        result=_result_columns(store, "r"),
    )
    asked_end = len(_AskedColumns._fields)
    answer_end = asked_end + len(_AnswerColumns._fields)
    for row in store.reader.execute(query + which, (run.number, *values)):
        asked, answer = _AskedColumns(*row[:asked_end]), _AnswerColumns(*row[asked_end:answer_end])
        answered = answer.form is not None
        raw_text = restored(answer.raw_text) if answered else None
        sent_thinking = None if answer.thinking is None else restored(answer.thinking)
        yield FullCall(
            site=CallSite(asked.pair, asked.layer, asked.neuron, asked.order or None, asked.sample),
            pair_id=restored(asked.pair_id),
            role=None if asked.role is None else restored(asked.role),
            status=row[answer_end],
            result=_result(*row[answer_end:]),
            missing=tuple(json.loads(asked.missing)) if asked.missing else (),
            rule=asked.rule,
            endpoint=asked.endpoint,
            model=asked.model,
            returned_model=answer.returned_model,
            fingerprint=answer.fingerprint,
            form=answer.form,
            parameters=kept_parameters(answer.parameters) if answered else None,
            messages=answer.messages() if answered else (),
            raw_text=raw_text,
            thinking=_all_thinking(sent_thinking, raw_text or ""),
            finish_reason=answer.finish_reason,
            usage=answer.usage() if answered else None,
            price=answer.price,
            latency_s=answer.latency_s,
            attempts=answer.attempts if answered else asked.attempts,
            cached=bool(asked.cached),
            started_at=answer.started_at if answered else asked.started_at,
            earlier=_earlier(store, bytes(answer.key)) if answered else (),
            likely=LikelyScores.from_written(answer.likely) if is_written(answer.likely) else None,
            batch=answer.batch,
        )


def _earlier(store: Store, key: bytes) -> tuple[str, ...]:
    """The answers to the same question before the one of this key, oldest first."""
    if len(key) <= KEY_BYTES:
        return ()
    rows = store.reader.execute(
        "SELECT raw_text FROM calls WHERE key>=? AND key<? ORDER BY key", (key[:KEY_BYTES], key)
    ).fetchall()
    return tuple(restored(row[0]) for row in rows)


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run's calls used: counts of calls by outcome, tokens, and price.

    ``calls_new`` were asked by this run, the others were in the store. ``price`` sums the known prices of the
    run's own calls; ``unpriced`` counts those whose price is unknown.
    """

    calls: int
    calls_new: int
    scored: int
    unscored: dict[str, int]
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    price: float
    unpriced: int
    by_batch: int = 0
    """Of ``calls_new`` those that a batch answered."""


def spent(store: Store, run: RunInfo, before: float | None = None) -> Spent:
    """Sums over the calls of a run (role generation included); tokens and price of those asked ``before`` a time, in
    seconds since the epoch, where one is given."""
    calls, new, scored, tokens_in, tokens_out, cached, price, unpriced = store.reader.execute(
        "SELECT count(*), coalesce(sum(r.cached=0), 0), coalesce(sum(status='scored'), 0), "
        "coalesce(sum(iif(paid, tokens_in, 0)), 0), coalesce(sum(iif(paid, tokens_out, 0)), 0), "
        "coalesce(sum(iif(paid, tokens_cached, 0)), 0), coalesce(sum(iif(paid, price, 0)), 0.0), "
        "coalesce(sum(paid AND price IS NULL), 0) "
        "FROM (SELECT r.cached, status, c.*, "
        "r.cached=0 AND call_id IS NOT NULL AND (?2 IS NULL OR c.started_at < ?2) AS paid "
        "FROM run_calls r LEFT JOIN calls c ON c.id=r.call_id WHERE run=?1) r",
        (run.number, before),
    ).fetchone()
    # What could not be read and was asked again was paid for too.
    earlier = store.reader.execute(
        "SELECT coalesce(sum(e.tokens_in), 0), coalesce(sum(e.tokens_out), 0), coalesce(sum(e.tokens_cached), 0), "
        "coalesce(sum(e.price), 0.0), coalesce(sum(e.price IS NULL), 0) FROM run_calls r "
        "JOIN calls c ON c.id=r.call_id JOIN calls e ON e.key>=substr(c.key, 1, ?3) AND e.key<c.key "
        "WHERE run=?1 AND r.cached=0 AND length(c.key)>?3 AND (?2 IS NULL OR e.started_at < ?2)",
        (run.number, before, KEY_BYTES),
    ).fetchone()
    tokens_in, tokens_out, cached, price, unpriced = (
        sum(both) for both in zip((tokens_in, tokens_out, cached, price, unpriced), earlier, strict=True)
    )
    unscored = dict(
        store.reader.execute(
            "SELECT reason, count(*) FROM run_calls WHERE run=? AND status='unscored' GROUP BY reason ORDER BY 2 DESC",
            (run.number,),
        ).fetchall()
    )
    by_batch = 0
    if knows_batches(store):
        (by_batch,) = store.reader.execute(
            "SELECT count(*) FROM run_calls r JOIN calls c ON c.id=r.call_id "
            "WHERE run=? AND r.cached=0 AND c.batch IS NOT NULL",
            (run.number,),
        ).fetchone()
    return Spent(calls, new, scored, unscored, tokens_in, tokens_out, cached, price, unpriced, by_batch)


def asked_live(store: Store) -> str:
    """A condition, to be put behind others, that leaves out answers of batches: they have no time of their own."""
    return " AND batch IS NULL" if knows_batches(store) else ""


def knows_batches(store: Store) -> bool:
    """Whether the store says by which batch an answer came; one of an earlier version does not."""
    return store.reader.execute("SELECT 1 FROM sqlite_master WHERE name='batches'").fetchone() is not None


@dataclass(frozen=True, slots=True)
class ScoreSums:
    """The sums of the scores that a neuron gave to A and to B, over ``calls`` calls that gave both."""

    calls: int
    a: float
    b: float


def score_sums(store: Store, run: RunInfo) -> dict[tuple[int, int], ScoreSums]:
    """The scores of a run by layer and neuron, both from 1; neurons that gave verdicts alone are left out."""
    rows = store.reader.execute(
        "SELECT layer, neuron, count(*), sum(score_a), sum(score_b) FROM run_calls "
        "WHERE run=? AND status='scored' AND score_a IS NOT NULL AND score_b IS NOT NULL GROUP BY layer, neuron",
        (run.number,),
    )
    return {(layer, neuron): ScoreSums(calls, a, b) for layer, neuron, calls, a, b in rows}
