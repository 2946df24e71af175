"""People's time and money where they review a share of the pairs."""

from __future__ import annotations

import pytest

from judgenet.stats.agreement import review_share
from judgenet.stats.labour import Labour, work


def test_the_papers_case() -> None:
    """Agreement of 74 %, target 80 %: 23.1 % to review, which is 4.33 times faster; 60 % cheaper, as the paper has it,
    where the network costs 17 % of what people would. All labels: 1,000 pairs at 36 s are 10 hours, at 20 USD 200."""
    share = review_share(0.74, 0.8).review
    assert share == pytest.approx(0.06 / 0.26)
    found = work(share, 1000, Labour(36, 20), 200 * (0.4 - 0.06 / 0.26))
    assert (found.hours_all, found.cost_all) == (10, 200)
    assert found.faster == pytest.approx(4.3333, abs=1e-4)
    assert found.reviews == pytest.approx(230.769, abs=1e-3)
    assert found.hours_review == pytest.approx(2.30769, abs=1e-5)
    assert found.cost_review == pytest.approx(46.1538, abs=1e-4)
    assert found.cost_saved == pytest.approx(0.6)
    assert found.reasons == {}


def test_three_people_a_pair_take_three_times_as_long() -> None:
    one, three = (work(0.5, 100, Labour(30, 12, people), 1.0) for people in (1, 3))
    assert three.hours_all == pytest.approx(2.5)
    assert three.cost_all == pytest.approx(30)
    assert (one.faster, three.faster) == (2, 2)
    assert one.cost_saved == pytest.approx(1 - (5 + 1) / 10)
    assert three.cost_saved == pytest.approx(1 - (15 + 1) / 30)


def test_a_network_that_costs_more_than_it_saves() -> None:
    found = work(0.9, 100, Labour(10, 15), 50.0)
    assert found.cost_saved is not None
    assert found.cost_saved < 0


def test_what_is_not_stated_is_not_known() -> None:
    found = work(0.25, 100, Labour(), 2.0)
    assert (found.faster, found.hours_all, found.cost_saved) == (4, None, None)
    assert found.reasons["hours_all"] == "the seconds a label takes are not stated"
    assert work(0.25, 100, Labour(30), 2.0).reasons["cost_saved"] == "the wage is not stated"
    unpriced = work(0.25, 100, Labour(30, 12), None, price_reason="unknown")
    assert (unpriced.cost_saved, unpriced.reasons["cost_saved"], unpriced.cost_review) == (None, "unknown", 2.5)
    nothing = work(0.0, 100, Labour(30, 12), 1.0)
    assert (nothing.faster, nothing.reasons["faster"]) == (None, "nothing must be reviewed")
    assert nothing.cost_saved == pytest.approx(0.9)
    none = work(None, 100, Labour(30, 12), 1.0, reason="target out of reach")
    assert (none.reviews, none.reasons["cost_saved"]) == (None, "target out of reach")
