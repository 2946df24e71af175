"""Plans for labels: the widths that they promise, and what is said to be impossible."""

from __future__ import annotations

from math import sqrt

import pytest

from judgenet.core.pairs import Verdict
from judgenet.stats.calibration import prediction_powered, stratified
from judgenet.stats.intervals import win_rate
from judgenet.stats.label_plan import PLAN_METHODS, plan_labels

LABELLED: dict[tuple[Verdict, Verdict], int] = {
    ("a", "a"): 58, ("a", "tie"): 5, ("a", "b"): 16, ("tie", "a"): 9, ("tie", "tie"): 12, ("tie", "b"): 11,
    ("b", "a"): 14, ("b", "tie"): 6, ("b", "b"): 69,
}  # fmt: skip
OTHERS: dict[Verdict, int] = {"a": 395, "tie": 160, "b": 445}


def test_the_width_promised_for_the_labels_there_are_is_that_of_the_estimates() -> None:
    """Each estimate of the very labels has about the width that the plan expects of as many."""
    plan = plan_labels(LABELLED, OTHERS, 0.1)
    assert (plan.pairs, plan.labelled, plan.assumed, plan.assumption) == (1200, 200, False, "")
    found = {
        "random": stratified(LABELLED, OTHERS).estimate.interval,
        "ppi": prediction_powered(LABELLED, OTHERS).estimate.interval,
        "human_only": win_rate(81, 96, 23).interval,
    }
    for method, interval in found.items():
        assert interval is not None
        expected = plan.expected_width(method, 200)  # type: ignore[arg-type]
        assert expected == pytest.approx(interval.high - interval.low, rel=0.06), method
    assert plan.expected_width("within_verdict", 200) <= plan.expected_width("random", 200) + 1e-12


@pytest.mark.parametrize("method", PLAN_METHODS)
def test_the_labels_needed_give_the_width_wished(method: str) -> None:
    plan = plan_labels(LABELLED, OTHERS, 0.1)
    needed = plan.needs[method].needed  # type: ignore[index]
    assert needed is not None
    if method == "ppi":
        # Beside the same number of others, as its formula has it.
        left = plan.pairs - plan.labelled
        width = 2 * 1.959964 * sqrt(plan.variance / needed * (1 - plan.correlation**2 * left / (left + needed)))
        assert width <= 0.1 + 1e-6
    else:
        assert plan.expected_width(method, needed) <= 0.1 + 1e-9  # type: ignore[arg-type]
        assert plan.expected_width(method, needed - 1) > 0.1 - 1e-9  # type: ignore[arg-type]
    widths = [width for _, width in plan.curve(method)]  # type: ignore[arg-type]
    assert widths == sorted(widths, reverse=True)


def test_what_no_number_of_labels_gives_is_said() -> None:
    plan = plan_labels(LABELLED, OTHERS, 0.01)
    for method in PLAN_METHODS:
        need = plan.needs[method]
        assert need.labels is None
        assert need.reason.startswith("impossible")


def test_few_labels_are_no_pilot() -> None:
    plan = plan_labels({("a", "a"): 3}, {"a": 50, "b": 47}, 0.2)
    assert plan.assumed
    assert plan.assumption.startswith("3 labels are no pilot")
    assert plan.more["a"] == plan.targets["a"] - 3
    with pytest.raises(ValueError, match="No pair has a verdict"):
        plan_labels({}, {}, 0.2)
