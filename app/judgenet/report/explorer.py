"""A run as one HTML file to look around in: all pairs, each neuron's evidence, filters, and smaller networks.

It asks nothing of the network: a policy in the file forbids every request, and every script and style but its own. All
that models, people and files wrote is compressed data, which the script shows as text and never as markup.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from judgenet.assets import asset
from judgenet.core.acceptance import ACCEPTED
from judgenet.core.aggregate import aggregation_names, deciding
from judgenet.core.documents import well_formed
from judgenet.core.evaluation import Evaluation, Unscored
from judgenet.core.pairs import ORDERS
from judgenet.core.wording import (
    aggregation_title,
    clean,
    of,
    percent_with_interval,
    plural,
    ratio_with_interval,
    reason_words,
)
from judgenet.figures.curve import why_no_smaller
from judgenet.figures.metrics import agreement_by_name
from judgenet.figures.parts import AgreementFigures
from judgenet.figures.probabilities import probability_figures
from judgenet.report.charts import WIDTH
from judgenet.report.network_picture import network_picture, network_words
from judgenet.report.pair_pictures import ExplorerAlbum
from judgenet.report.writers.html import environment, style_sheet
from judgenet.stats.curves import CODES
from judgenet.stats.whatif import Calls
from judgenet.store.columns import DONE_PHASE
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.quorum import without_quorum
from judgenet.store.runs import CallRow, RunInfo, call_rows, run_pairs
from judgenet.store.taught import fair_frame

_LEFT_TO_PEOPLE = 4
"""The code, after those of verdicts, of a pair whose verdict is left to people."""

_NO_QUORUM = 5
"""The code of a pair without a verdict because too few neurons have a valid answer."""

PER_CHUNK: Final = 200
"""Pairs that are compressed together: to open one, the page reads this many."""


Site = tuple[int, int, str, int]
"""Layer, neuron, order and sample of a call."""


@dataclass(frozen=True, slots=True)
class ExplorerRow:
    """A row of the table of figures: an aggregation, and its cells as text."""

    title: str
    subject: bool
    cells: tuple[str, ...]


def explorer_html(store: Store, run: RunInfo, *, seed: int = 0) -> tuple[str, int]:
    """A run as an explorer page (encode it as UTF-8), and its number of pairs. Figures are those of
    :func:`judgenet.figures.metrics.run_metrics`."""
    frame = fair_frame(store, run)
    calls = frame.what_if_calls()
    sites = _sites(frame, calls)
    head = _head(frame, calls, sites)
    arrays = _arrays(frame, calls)
    blocks = [("head", _packed(_json(head | {"arrays": [[name, kind] for name, kind, _ in arrays]})))]
    blocks += [(name, _packed(data)) for name, _, data in arrays]
    album = ExplorerAlbum(store, run)
    chunks = _chunks(store, frame, sites, album)
    blocks += [(f"texts-{number}", _packed(_json(chunk))) for number, chunk in enumerate(chunks)]
    blocks += album.blocks
    script = asset("explorer", "explorer.js").read_text(encoding="utf-8")
    css = style_sheet(asset("explorer", "explorer.css").read_text(encoding="utf-8"))
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(css)}'; font-src data:; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    template = environment("explorer").get_template("explorer.html.jinja")
    # Only our own script, style sheet and base64 are passed as they are.
    text = template.render(
        head=head,
        figures=_figures(frame, seed),
        notes=[*_notes(frame), *album.notes],
        picture=network_picture(frame.spec, deciding(frame.spec), WIDTH),
        policy=Markup(policy),
        css=Markup(css),
        script=Markup(script),
        blocks=[(name, Markup(data)) for name, data in blocks],
    )
    return text.lstrip(), len(frame)


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _json(value: Any) -> bytes:
    # Lone halves of surrogate pairs become U+FFFD; other letters are not escaped, which would make them longer.
    return well_formed(json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=False)).encode()


def _head(frame: RunFrame, calls: Calls, sites: list[Site]) -> dict[str, Any]:
    """What the page knows of the run apart from its pairs."""
    run, spec = frame.run, frame.spec
    names = [name for name in aggregation_names(spec) if name in frame.aggregations]
    finished, labelled = int(frame.judged.sum()), int((frame.human > 0).sum())
    line = f"{of(finished, len(frame))} pairs finished ({run.state}), {plural(labelled, 'human label')}"
    likely = probability_figures(frame)
    if likely is not None:
        line += f". {likely.line}"
    decides = deciding(spec)
    return {
        "title": clean(run.name or f"{run.id}: {spec.name}"),
        "line": clean(f"{line}. {network_words(spec, decides)}."),
        "pairs": len(frame),
        "ids": list(frame.pairs.ids),
        "aggregations": [{"name": name, "title": aggregation_title(name)} for name in names],
        "decides": names.index(decides),
        "rule": "c1" if decides == "c1" else "c2_last" if decides.startswith("c2_l") else "c2_all",
        "rules": {name: getattr(spec.aggregation, name) for name in ("vote", "ties", "fallback", "quorum")},
        "sites": sites,
        "layers": [layer for layer, _ in frame.places],
        "depth": calls.depth,
        # With stop rules not every call of a smaller network is on record.
        "what_if": not why_no_smaller(frame),
        "orders": [ORDERS.index(order) for order in calls.orders],
        "samples": calls.samples,
        "tasks": list(frame.pairs.task_names) or [None],
        "repeated": frame.question_count < len(frame),
        "chunks": -(-len(frame) // PER_CHUNK),
        "per_chunk": PER_CHUNK,
    }


def _arrays(frame: RunFrame, calls: Calls) -> list[tuple[str, str, bytes]]:
    """The arrays of the page with their types: ``f8`` floats of 64 bits, ``u1`` and ``u4`` unsigned whole numbers."""
    names = [name for name in aggregation_names(frame.spec) if name in frame.aggregations]
    shown = dict(frame.aggregations)
    if ACCEPTED in shown:
        shown[ACCEPTED] = np.where(frame.for_people, _LEFT_TO_PEOPLE, shown[ACCEPTED]).astype(np.uint8)
    for name in names if frame.spec.aggregation.quorum is not None else ():
        shown[name] = np.where(without_quorum(frame, name), _NO_QUORUM, shown[name]).astype(np.uint8)
    verdicts = np.concatenate([shown[name] for name in names])
    first, second = frame.table.c1_ab, frame.table.c1_ba
    flipped = (first > 0) & (second > 0) & (first != second)
    done = frame.states >= DONE_PHASE
    unscored = done & (frame.table.used < frame.table.total)
    arrays = [
        ("differences", "f8", calls.differences),
        ("asked", "u1", calls.asked),
        ("done", "u4", frame.done),
        ("human", "u1", frame.human),
        ("verdicts", "u1", verdicts),
        ("task", "u4", frame.pairs.tasks),
        ("flipped", "u1", flipped),
        ("unscored", "u1", unscored),
    ]
    return [(name, kind, np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()) for name, kind, values in arrays]


def _sites(frame: RunFrame, calls: Calls) -> list[Site]:
    """The calls that a pair may have, in the order in which the page shows them: those of the neurons, then those of
    the chair."""
    spec = frame.spec
    asked = [*frame.places, *([(spec.depth + 1, 1)] if spec.chair is not None else [])]
    samples = range(1, calls.samples + 1)
    return [(*place, order, sample) for place in asked for order in calls.orders for sample in samples]


def _chunks(store: Store, frame: RunFrame, sites: list[Site], album: ExplorerAlbum) -> Iterator[list[dict[str, Any]]]:
    """The texts of the pairs, :data:`PER_CHUNK` at a time."""
    texts = _texts(store, frame, sites, album)
    while chunk := list(islice(texts, PER_CHUNK)):
        yield chunk


def _texts(store: Store, frame: RunFrame, sites: list[Site], album: ExplorerAlbum) -> Iterator[dict[str, Any]]:
    grouped = groupby(call_rows(store, frame.run), lambda row: row.site.pair)
    following = ((place, {_site(row): row for row in rows}) for place, rows in grouped)
    at, calls = next(following, (-1, {}))
    for place, of_run in enumerate(run_pairs(store, frame.run)):
        pair = of_run.pair
        record: dict[str, Any] = {
            "id": pair.id,
            "q": pair.readable(pair.question),
            "a": pair.readable(pair.response_a),
            "b": pair.readable(pair.response_b),
            "ref": None if pair.reference is None else pair.readable(pair.reference),
            "ma": pair.model_a,
            "mb": pair.model_b,
            "note": of_run.note,
        }
        if pair.pictures:
            record["pics"] = album.of(pair, place)
        if pair.criteria:
            record["criteria"] = [criterion.to_json() for criterion in pair.criteria]
        if at == place:
            rows = [calls.get(site) for site in sites]
            record["roles"] = [
                None if row is None else row.role for row in rows[:: max(1, len(sites) // _askers(sites))]
            ]
            record["calls"] = [None if row is None else _call(row) for row in rows]
            at, calls = next(following, (-1, {}))
        yield record


def _askers(sites: list[Site]) -> int:
    return len({site[:2] for site in sites}) or 1


def _site(row: CallRow) -> Site:
    site = row.site
    return (site.layer, site.neuron, site.order or "ab", site.sample)


def _call(row: CallRow) -> list[Any]:
    """A call as the page has it: the code of its verdict (0: none), its scores or ``null``, and its evidence or why it
    has no verdict."""
    result = row.result
    if isinstance(result, Evaluation):
        a, b = result.score_a, result.score_b
        if result.shares is not None and a is not None and b is not None:
            a, b = round(a, 2), round(b, 2)  # expected scores
        return [CODES.index(result.verdict), a, b, result.evidence]
    if isinstance(result, Unscored):
        why = f"No verdict: {reason_words(result.reason.value)}."
        return [0, None, None, f"{why} {result.detail}" if result.detail else why]
    return [0, None, None, ""]


def _figures(frame: RunFrame, seed: int) -> list[ExplorerRow]:
    decides = deciding(frame.spec)
    agreement = agreement_by_name(frame, frame.aggregations, seed=seed)
    order = sorted(agreement, key=lambda name: name != decides)
    return [ExplorerRow(aggregation_title(name), name == decides, _cells(agreement[name])) for name in order]


def _cells(of_name: AgreementFigures) -> tuple[str, ...]:
    return (
        percent_with_interval(of_name.accuracy, of_name.accuracy_ci),
        ratio_with_interval(of_name.macro_f1, of_name.macro_f1_ci),
        ratio_with_interval(of_name.kappa, of_name.kappa_ci),
        of(of_name.n_used, of_name.n_total),
    )


def _notes(frame: RunFrame) -> list[str]:
    notes = []
    if frame.question_count < len(frame):
        notes.append(
            f"The {len(frame):,} pairs hold {plural(frame.question_count, 'different question')}: intervals are over "
            "questions."
        )
    if not (frame.human > 0).any():
        notes.append("No pair has a human label, so agreement with people is unknown.")
    return notes
