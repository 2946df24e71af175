"""``--scores probabilities`` on the command line: what is sent, what is told, and by which commands."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet

At = tuple[str, ...]


def test_a_run_says_for_how_many_calls(judgenet: Judgenet, pairs: Path, at: At, server: JudgeServer) -> None:
    server.set(tokens="joined+null")
    small = ("--width", "1", "--depth", "1", "--roles", "none")
    ran = judgenet("run", "--pairs", pairs, *at, *small, "--scores", "probabilities", "--out", "done", "-q")
    assert ran.code == 0
    assert all((entry.asked["logprobs"], entry.asked["top_logprobs"]) == (True, 20) for entry in server.log)
    figures = judgenet("metrics", "done", "--json").json
    counts = figures["probabilities"]
    assert 0 < counts["used"] < counts["calls"] == 8
    assert counts["by_text"] == {"not_sent": 8 - counts["used"]}
    assert {"soft_l1", "soft_all", "soft_entropy"} <= set(figures["aggregations"])
    shown = judgenet("metrics", "done").out
    assert (
        f"Expected scores from token probabilities in {counts['used']} of 8 calls; {8 - counts['used']} sampled"
        in shown
    )
    assert judgenet("rate", "done", "--aggregation", "soft_all").code == 0
    # As text it is another question: nothing is taken over, and nothing is told of probabilities.
    asked = server.requests
    assert judgenet("run", "--pairs", pairs, *at, *small, "--out", "plain", "-q").code == 0
    assert server.requests == asked + 8
    assert "logprobs" not in server.log[-1].asked
    plain = judgenet("metrics", "plain", "--json").json
    assert "probabilities" not in plain
    assert not any(name.startswith("soft") for name in plain["aggregations"])


def test_what_is_no_choice_is_refused(judgenet: Judgenet, pairs: Path, at: At) -> None:
    ran = judgenet("run", "--pairs", pairs, *at, "--scores", "logprobs")
    assert ran.code == 2
    assert "probabilities" in ran.err


def test_pre_flight_says_whether_they_come(judgenet: Judgenet, at: At, server: JudgeServer) -> None:
    server.set(refuse=["logprobs"])
    shown = judgenet("preflight", *at, "--scores", "probabilities", "-q").out
    assert "Gives token probabilities: 0 of 20 answers have expected scores; 20 sampled text, as the endpoint" in shown
    assert "Gives token probabilities" not in judgenet("preflight", *at, "-q").out
