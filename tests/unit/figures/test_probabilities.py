"""What is told of a run that was scored by token probabilities: counts, sampled text beside it, Brier scores."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import entropy

from judgenet.core.network import NetworkSpec
from judgenet.core.presets import network
from judgenet.figures.metrics import run_metrics
from judgenet.figures.probabilities import probability_figures
from judgenet.report.build import build
from judgenet.report.outline import outline
from judgenet.report.run_records import call_records
from judgenet.report.writers.markdown import markdown
from judgenet.stats.soft_votes import sharpness
from judgenet.store.db import Store
from judgenet.store.frame import RunFrame
from judgenet.store.runs import RunInfo, full_calls, run_info
from judgenet.store.tables import call_table, pair_table
from tests.fakes.judge_server import JudgeServer
from tests.unit.engine.harness import SETTINGS, pairs, run, start
from tests.unit.engine.test_token_probabilities import judge


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run of 12 calls, of which the server sent no probabilities for some."""
    with JudgeServer(tokens="joined+null") as server:
        judge(tmp_path / "s.judgenet.db", server)
    return tmp_path / "s.judgenet.db"


def test_counts_sampled_text_and_brier_scores(path: Path) -> None:
    with Store.open(path, readonly=True) as store:
        info = run_info(store)
        frame = RunFrame.read(store, info)
        calls = list(full_calls(store, info))
        figures = probability_figures(frame)
        metrics = run_metrics(store, frame)
    assert figures is not None
    without = sum(call.likely is None for call in calls)
    assert 0 < without < 12
    assert (figures.calls, figures.used, figures.by_text) == (12, 12 - without, {"not_sent": without})
    # All labels are A: (1 - a)^2 + tie^2 + b^2 of the mean over two neurons of the mean over two orders.
    scores, of_text = [], []
    for pair in range(3):
        mine = [call.result for call in calls if call.site.pair == pair]
        signs = [np.sign(of.sampled[0] - of.sampled[1] if of.sampled else of.difference) for of in mine]  # type: ignore[union-attr]
        whole = [(float(sign > 0), float(sign == 0), float(sign < 0)) for sign in signs]
        shares = [of.shares or one for of, one in zip(mine, whole, strict=True)]  # type: ignore[union-attr]
        for into, each in ((scores, shares), (of_text, whole)):
            a, tie, b = np.mean(np.array(each), axis=0)
            into.append((1 - a) ** 2 + tie**2 + b**2)
    assert figures.brier.value == pytest.approx(np.mean(scores))
    assert figures.brier_difference.value == pytest.approx(np.mean(scores) - figures.brier_sampled.value)  # type: ignore[operator]
    assert figures.brier.n == figures.brier_sampled.n == 3
    assert f"used in {12 - without} of 12 scored calls" in " ".join(metrics.notes)
    assert metrics.probabilities == figures
    assert metrics.to_dict()["probabilities"]["by_text"] == {"not_sent": without}


def test_how_sharp_the_distributions_are(path: Path) -> None:
    """Recounted with scipy from the calls."""
    with Store.open(path, readonly=True) as store:
        frame = RunFrame.read(store, run_info(store))
        calls = [call.result for call in full_calls(store, run_info(store)) if call.likely is not None]
        figures = probability_figures(frame)
    assert figures is not None
    shares = np.array([call.shares for call in calls])  # type: ignore[union-attr]
    sharp = figures.sharpness["all"]
    assert list(figures.sharpness) == ["all"]
    assert (sharp.calls, sharp.reason) == (len(calls), None)
    assert sharp.entropy == pytest.approx(entropy(shares, base=3, axis=1).mean())
    assert sharp.largest == pytest.approx(shares.max(axis=1).mean())
    counts = np.histogram(shares.max(axis=1), [0, 0.5, 0.7, 0.9, 1.1])[0].tolist()
    assert list(sharp.by_largest.values()) == counts
    assert f"on average over {len(calls)} calls (below 50 % {counts[0]}," in figures.sharpness_line


def test_sharpness_of_known_distributions() -> None:
    shares = np.array([[1, 0, 0], [1 / 3, 1 / 3, 1 / 3], [0.9, 0.1, 0], [0.5, 0.5, 0], [np.nan] * 3])
    found = sharpness(shares)
    assert (found.counts, found.n) == ((1, 1, 0, 2), 4)
    assert found.entropy == pytest.approx(entropy(shares[:4], base=3, axis=1).mean())
    nothing = sharpness(shares[4:])
    assert (nothing.n, nothing.entropy, nothing.largest) == (0, None, None)


def test_the_report_says_it(path: Path) -> None:
    with Store.open(path, readonly=True) as store:
        report = build(store, RunFrame.read(store, run_info(store)))
        without = sum(call.likely is None for call in full_calls(store, run_info(store)))
    text = markdown(outline(report))
    assert f"(Liu et al., 2023) in {12 - without} of 12 scored calls, and those of the sampled text" in text
    assert "## Scores by token probabilities" in text
    assert f"{without} of 12 calls: the answer came without token probabilities." in text
    assert "The largest probability of A, tie and B is" in text


def test_exports_and_data_frames(path: Path) -> None:
    with Store.open(path, readonly=True) as store:
        info = run_info(store)
        records, calls = list(call_records(store, info)), list(full_calls(store, info))
        by_call, by_pair = call_table(store, info), pair_table(RunFrame.read(store, info))
    for record, call in zip(records, calls, strict=True):
        likely = call.likely
        assert record["scores_from"] == ("not_sent" if likely is None else "probabilities")
        shown = (None, None) if likely is None else (list(likely.first), list(likely.second))
        assert (record["probabilities_a"], record["probabilities_b"]) == (
            shown if call.site.order == "ab" else shown[::-1]
        )
        text = json.loads(record["raw_text"])
        written = (text["score_1"], text["score_2"])
        a, b = written if call.site.order == "ab" else written[::-1]
        assert (record["sampled_a"], record["sampled_b"]) == ((None, None) if likely is None else (a, b))
    there = by_call["scores_from"] == "probabilities"
    assert by_call.loc[there, ["share_a", "share_tie", "share_b"]].sum(axis=1).to_numpy() == pytest.approx(1)
    assert by_call.loc[~there, "share_a"].isna().all()
    assert by_pair[["share_a", "share_tie", "share_b"]].sum(axis=1).to_numpy() == pytest.approx(1)


def test_a_run_by_text_has_no_such_figures(tmp_path: Path) -> None:
    spec: NetworkSpec = network(2, 1, roles="none", settings=SETTINGS)
    run(tmp_path / "s.judgenet.db", start(spec, pairs(2)))
    with Store.open(tmp_path / "s.judgenet.db", readonly=True) as store:
        info: RunInfo = run_info(store)
        metrics = run_metrics(store, RunFrame.read(store, info))
        report = build(store, RunFrame.read(store, info))
    assert metrics.probabilities is None
    assert "probabilities" not in metrics.to_dict()
    assert "token probabilities" not in markdown(outline(report))
