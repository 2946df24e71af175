"""The promise of a guarantee on recorded judgments: the benchmark ``tests.bench.guarantee`` in short."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import binom

from tests.bench.guarantee import AUTOJ, DELTA, LLMBAR, PANDALM, Setting, measure

SPLITS = 200


@pytest.mark.data
@pytest.mark.parametrize(
    "setting",
    [
        Setting(LLMBAR, "calls", 100, (0.15, 0.2, 0.25)),
        Setting(LLMBAR, "learned", 200, (0.2, 0.25)),
        Setting(PANDALM, "calls", 200, (0.25, 0.3, 0.35)),
        Setting(AUTOJ, "orders", 200, (0.35, 0.4)),
    ],
    ids=lambda setting: f"{setting.data.folder}-{setting.confidence}",
)
def test_the_promise_holds_over_random_splits(setting: Setting, shared_data: Path) -> None:
    most = binom.ppf(0.999, SPLITS, DELTA)
    promised = plug_in = 0
    for tally in measure(setting.data.frame(shared_data), setting, SPLITS):
        assert tally.broken <= DELTA * SPLITS
        # Of the pairs held out, which are a sample themselves.
        assert tally.exceeded <= most
        promised += tally.promised
        plug_in = max(plug_in, tally.plug_in_exceeded)
    assert promised > 0.2 * SPLITS
    # A threshold whose error is alpha on the labels is exceeded far too often.
    assert plug_in > 4 * DELTA * SPLITS or setting.confidence == "learned"
