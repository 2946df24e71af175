"""Deadlines of batches as people write them, and where batches stand in words."""

from __future__ import annotations

from datetime import datetime

import pytest

from judgenet.core.batches import BatchError, batch_words, layer_words, parse_live_after, stages_of
from judgenet.core.network import ChairSpec, Role
from judgenet.core.presets import network

AT = datetime(2026, 11, 30, 14, 30, 20).astimezone()


def written(text: str) -> str:
    then = datetime.fromtimestamp(parse_live_after(text, AT.timestamp()), AT.tzinfo)
    return then.replace(tzinfo=None).isoformat(" ", "seconds")


@pytest.mark.parametrize(
    ("text", "then"),
    [
        ("18:00", "2026-11-30 18:00:00"),
        ("9:05", "2026-12-01 09:05:00"),
        # The minute that has begun is over: tomorrow's.
        ("14:30", "2026-12-01 14:30:00"),
        ("90min", "2026-11-30 16:00:20"),
        ("1.5 h", "2026-11-30 16:00:20"),
        ("2d", "2026-12-02 14:30:20"),
        ("2026-12-01T06:00", "2026-12-01 06:00:00"),
        ("2026-12-01 06:00", "2026-12-01 06:00:00"),
        (" now ", "2026-11-30 14:30:20"),
    ],
)
def test_a_deadline_as_people_write_it(text: str, then: str) -> None:
    assert written(text) == then


@pytest.mark.parametrize("text", ["", "soon", "25:00", "18:60", "6", "6 hours", "h"])
def test_what_is_no_deadline_is_named_with_what_would_be_one(text: str) -> None:
    with pytest.raises(BatchError, match=r"is no deadline: write a time of day \(18:00\)"):
        parse_live_after(text)


def test_the_stages_of_a_network() -> None:
    spec = network(2, 2)
    assert stages_of(spec) == (0, 1, 2)
    assert stages_of(network(2, 2, roles=(Role("Tone", "Is it kind?"), Role("Depth", "Is it deep?")))) == (1, 2)
    assert stages_of(network(1, 1, chair=ChairSpec()))[-1] == 2
    assert [layer_words(layer, 2) for layer in (0, 1, 3)] == ["roles", "layer 1", "the chair"]


def test_where_batches_stand() -> None:
    assert (
        batch_words(2, 3, "layer 1", 1204, 1360, 3 * 3600) == "Batch 2 of 3: layer 1, 1,204 of 1,360 calls, about 3 h"
    )
    assert batch_words(1, 1, "layer 1", 0, 5, None) == "Batch 1 of 1: layer 1, 0 of 5 calls, within 24 h"
    assert batch_words(1, 1, "layer 1", 0, 5, -4.0).endswith("about 1 s")
    assert "asked live" in batch_words(1, 1, "layer 1", 0, 5, None, overdue=True)
