"""A run as pandas data frames: one row a pair, one row a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from judgenet.core.acceptance import ACCEPTED, FOR_PEOPLE
from judgenet.core.network import asks_probabilities
from judgenet.stats.curves import CODES, Codes
from judgenet.store.acceptance import final_verdict
from judgenet.store.columns import PAIR_PHASES
from judgenet.store.db import Store, restored
from judgenet.store.decided_early import stopped_after
from judgenet.store.frame import RunFrame
from judgenet.store.quorum import quorum_words
from judgenet.store.results import network_of
from judgenet.store.runs import RunInfo, run_pairs

if TYPE_CHECKING:
    import pandas as pd

_VERDICTS = np.array(CODES, dtype=object)
_PAIR_TEXTS = ("question", "response_a", "response_b", "reference")
_CALL_COLUMNS = (
    ("pair", "r.pair"),
    ("id", "p.pair_id"),
    ("layer", "r.layer"),
    ("neuron", "r.neuron"),
    ("role", "r.role"),
    ("order", "nullif(r.ord, '')"),
    ("sample", "r.sample"),
    ("endpoint", "r.endpoint"),
    ("model", "r.model"),
    ("returned_model", "c.returned_model"),
    ("status", "r.status"),
    ("reason", "r.reason"),
    ("score_a", "r.score_a"),
    ("score_b", "r.score_b"),
    ("verdict", "r.verdict"),
    ("tokens_in", "c.tokens_in"),
    ("tokens_out", "c.tokens_out"),
    ("tokens_cached", "c.tokens_cached"),
    ("tokens_reasoning", "c.tokens_reasoning"),
    ("price", "c.price"),
    ("latency_s", "c.latency_s"),
    ("attempts", "coalesce(c.attempts, r.attempts)"),
    ("from_store", "r.cached"),
)
_LIKELY_COLUMNS = ("scores_from", "sampled_a", "sampled_b", "share_a", "share_tie", "share_b")
_CALL_TEXTS = (("evidence", "r.evidence"), ("reply", "c.raw_text"), ("thinking", "c.thinking"))
_STORED_TEXTS = ("id", "role", "evidence", "reply", "thinking")


def pair_table(frame: RunFrame, store: Store | None = None) -> pd.DataFrame:
    """The pairs of a run, a row a pair in the order of the run, indexed by their place.

    Columns: ``id``, ``state``, ``question_number``, ``task``, ``system_a``, ``system_b``, ``human``, ``chosen`` (how
    the labelled pair was chosen), ``annotators`` (how many said A, tie and B, as ``annotators_a`` …), the verdict of
    each aggregation (``c1``, ``c2_l1``, …), ``decision`` where a rule accepts verdicts (``accepted``, ``for people``,
    or ``None`` without a verdict) with ``final`` and ``final_by`` (:func:`judgenet.store.acceptance.final_verdict`),
    ``decided_early`` and ``stopped_after`` (``layer 1``) in a network with stop rules,
    ``share_a``, ``share_tie`` and ``share_b`` (the neurons' mean probabilities) in one scored by token probabilities,
    ``c1_ab`` and ``c1_ba`` (by order), ``mean_a`` and ``mean_b`` (of the valid calls of neurons with scores),
    ``calls_used`` and ``calls_total``. With a ``store`` also the texts. What is missing
    is ``None`` or NaN, never a tie.
    """
    import pandas as pd

    pairs, table = frame.pairs, frame.table
    mean_a, mean_b = frame.mean_scores()
    columns: dict[str, object] = {
        "id": list(pairs.ids),
        "state": np.array(PAIR_PHASES, dtype=object)[frame.states],
        "question_number": pairs.questions,
        "task": np.array(pairs.task_names, dtype=object)[pairs.tasks] if len(pairs) else [],
        "system_a": _named(frame, 0),
        "system_b": _named(frame, 1),
        "human": _words(frame.human),
        "chosen": [pairs.people_kinds[people].chosen for people in pairs.people],
    }
    for place, verdict in enumerate(("a", "tie", "b")):
        columns[f"annotators_{verdict}"] = pairs.annotations[:, place]
    columns |= {name: _words(codes) for name, codes in frame.aggregations.items()}
    if frame.spec.aggregation.acceptance is not None:
        code = np.where(frame.for_people, 2, (frame.aggregations[ACCEPTED] > 0).astype(np.int64))
        final = [final_verdict(frame, index) for index in range(len(frame))]
        columns |= {"final": [verdict for verdict, _ in final], "final_by": [by for _, by in final]}
        columns["decision"] = np.array([None, ACCEPTED, FOR_PEOPLE], dtype=object)[code]
    if frame.spec.aggregation.quorum is not None:
        columns["no_quorum"] = quorum_words(frame)
    if frame.early is not None:
        columns |= {"decided_early": frame.decided_early, "stopped_after": stopped_after(frame.early)}
    if table.soft is not None:
        columns |= {name: table.soft[:, place] for place, name in enumerate(_LIKELY_COLUMNS[3:])}
    columns |= {"c1_ab": _words(table.c1_ab), "c1_ba": _words(table.c1_ba), "mean_a": mean_a, "mean_b": mean_b}
    columns |= {"calls_used": table.used, "calls_total": table.total}
    if store is not None:
        texts = [[getattr(run_pair.pair, name) for name in _PAIR_TEXTS] for run_pair in run_pairs(store, frame.run)]
        columns |= dict(zip(_PAIR_TEXTS, zip(*texts, strict=True), strict=True)) if texts else {}
    return pd.DataFrame(columns)


def _words(codes: Codes) -> object:
    return _VERDICTS[codes]


def _named(frame: RunFrame, side: int) -> object:
    names = np.array(frame.pairs.system_names or (None,), dtype=object)
    return names[frame.pairs.systems[:, side]]


def call_table(store: Store, run: RunInfo, *, texts: bool = False) -> pd.DataFrame:
    """The calls of a run, a row a call, by pair, layer, neuron, order and sample.

    Columns: ``pair`` (its place in the run), ``id``, ``layer`` (0 for the generation of roles), ``neuron``, ``role``,
    ``order``, ``sample``, ``endpoint``, ``model``, ``returned_model``, ``status``, ``reason``, ``score_a``, ``score_b``
    (of responses A and B, whatever the order), ``verdict``, tokens, ``price`` (NaN where unknown), ``latency_s``,
    ``attempts``, ``from_store`` (it cost this run nothing); of a run that was to be scored by token probabilities
    ``scores_from``, ``sampled_a`` and ``sampled_b`` (the scores that the text gives), ``share_a``, ``share_tie`` and
    ``share_b`` (the probabilities of the verdicts); with ``texts`` also ``evidence``, ``reply`` and ``thinking``.
    """
    import pandas as pd

    likely = _LIKELY_COLUMNS if asks_probabilities(network_of(run)) else ()
    wanted = (
        *_CALL_COLUMNS,
        *((name, store.column("run_calls", name, "r")) for name in likely),
        *(_CALL_TEXTS if texts else ()),
    )
    rows = store.reader.execute(
        f"SELECT {', '.join(source for _, source in wanted)} FROM run_calls r "
        "JOIN run_pairs p ON p.run=r.run AND p.pair=r.pair LEFT JOIN calls c ON c.id=r.call_id "
        "WHERE r.run=? ORDER BY r.pair, r.layer, r.neuron, r.ord, r.sample",
        (run.number,),
    ).fetchall()
    table = pd.DataFrame(rows, columns=[name for name, _ in wanted])
    for name in _STORED_TEXTS:
        if name in table:
            table[name] = table[name].map(restored, na_action="ignore")
    for name in ("score_a", "score_b", "price", "latency_s", "tokens_in", "tokens_out", *likely[1:]):
        table[name] = table[name].astype(float)
    table["from_store"] = table["from_store"].astype(bool)
    return table
