"""Where things stand on the canvas, and what it says in words: plain arithmetic, without Qt."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import cast

import pytest

from judgenet.core.network import WiringKind
from judgenet.core.wording import duration, score_text
from judgenet.ui.canvas.descriptions import layer_words, neuron_words, target_words, verdict_words
from judgenet.ui.canvas.layout import BAND_LIMIT, compute, edge_at, edge_y, is_band
from judgenet.ui.canvas.model import LayerState, NetworkState, NeuronState, OrderState, Place, VerdictState, tally
from judgenet.ui.canvas.search import search
from tests.ui.samples import all_of, busy, design, order, run, scored


def test_the_model_the_layout_and_the_words_need_no_qt() -> None:
    script = (
        "import sys\n"
        "import judgenet.ui.canvas.model, judgenet.ui.canvas.layout\n"
        "import judgenet.ui.canvas.descriptions, judgenet.ui.tokens\n"
        "print([name for name in sys.modules if name.startswith(('PySide6', 'shiboken'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=200)
    assert done.stdout.strip() == "[]"


def test_the_run_page_with_two_layers_fits_880_px() -> None:
    """The design's measure: four columns of 176, three gaps of 48, margins of 16."""
    layout = compute(run())
    assert layout.bounds.w + 32 == 880
    assert [column.x for column in layout.columns] == [0, 224, 448, 672]
    assert layout.rect_of(Place(0, 1)).y == 112
    assert (layout.parts["vote"].h, layout.parts["verdict"].h) == (188, 104)


def test_the_design_page_has_the_measures_of_its_picture() -> None:
    layout = compute(design())
    assert [column.x for column in layout.columns] == [0, 256, 512, 768]
    assert layout.rect_of(Place(0, 1)).y == 116
    assert (layout.parts["pair"].h, layout.parts["roles"].h, layout.parts["vote"].h) == (152, 120, 184)
    handle = layout.handles[0]
    assert handle is not None
    assert (handle.y, handle.h) == (464, 28)


def test_the_small_window_has_compact_nodes() -> None:
    layout = compute(run(), "compact")
    rect = layout.rect_of(Place(1, 2))
    assert (rect.w, rect.h, rect.y) == (160, 52, 136)
    assert [column.x for column in layout.columns] == [0, 212, 424, 636]
    assert (layout.parts["pair"].h, layout.parts["roles"].h, layout.parts["vote"].h) == (92, 36, 120)


def test_an_own_evaluation_runs_straight_through_all_layers() -> None:
    layout = compute(busy([7, 5, 6]))
    for neuron in range(5):
        assert len({plan.port(neuron) for plan in layout.layers}) == 1


def test_a_dense_layer_is_a_block_of_eight_columns() -> None:
    layout = compute(busy([200, 200, 200]))
    plan = layout.layers[1]
    assert plan.rows == 25
    assert plan.block.h == 548
    rect = layout.rect_of(Place(1, 71))
    assert (rect.x - plan.x, rect.y) == (7 * 22, 8 * 22)


@pytest.mark.parametrize("widths", [[1], [3, 2], [24, 25], [200, 200, 200], [57, 1]])
def test_the_hit_test_finds_each_node_at_its_middle_and_nothing_between(widths: list[int]) -> None:
    network = busy(widths)
    layout = compute(network)
    for number, width in enumerate(widths):
        for neuron in range(width):
            place = Place(number, neuron)
            assert layout.target_at(*layout.rect_of(place).center) == place
    for part, rect in layout.parts.items():
        assert layout.target_at(*rect.center) == part
    last = layout.rect_of(Place(0, widths[0] - 1))
    assert layout.target_at(last.x + 5, last.bottom + 5) is None
    assert layout.target_at(layout.columns[1].x - 10, 20) is None


def test_a_single_neuron_and_a_very_wide_layer_have_finite_bounds() -> None:
    for widths in ([1], [1000, 1], [24] * 3):
        bounds = compute(busy(widths)).bounds
        assert 0 < bounds.w < 5000
        assert 0 < bounds.h < 5000


def test_arrows_go_by_row_and_column_and_stop_at_the_ends() -> None:
    layout = compute(run())
    assert layout.step(Place(0, 0), 0, 1) == Place(0, 1)
    assert layout.step(Place(0, 0), 0, -1) == Place(0, 0)
    assert layout.step(Place(0, 3), 0, 1) == Place(0, 3)
    assert layout.step(Place(0, 1), 1, 0) == Place(1, 1)
    assert layout.step(Place(0, 3), 1, 0) == Place(1, 2)
    assert layout.step(Place(0, 0), -1, 0) == "pair"
    assert layout.step("pair", 0, 1) == "roles"
    assert layout.step("pair", -1, 0) == "pair"
    assert layout.step("pair", 1, 0) == Place(0, 0)
    assert layout.step(Place(1, 0), 1, 0) == "vote"
    assert layout.step("vote", 0, 1) == "verdict"
    assert layout.step("verdict", 0, 1) == "verdict"
    assert layout.step("vote", -1, 0) == Place(1, 0)


def test_arrows_walk_through_the_cells_of_a_block_and_on_to_the_next() -> None:
    layout = compute(busy([20, 200]))
    assert layout.step(Place(1, 0), 1, 0) == Place(1, 1)
    assert layout.step(Place(1, 0), 0, 1) == Place(1, 8)
    assert layout.step(Place(1, 0), -1, 0) == Place(0, 0)
    assert layout.step(Place(1, 7), 1, 0) == "vote"
    assert layout.step(Place(0, 0), 1, 0) == Place(1, 16)


def test_with_a_chair_the_output_is_vote_chair_verdict() -> None:
    network = replace(design(), chair=NeuronState("Chair", "Meridian 70B"))
    layout = compute(network)
    parts = layout.parts
    assert parts["vote"].bottom < parts["chair"].y < parts["chair"].bottom < parts["verdict"].y
    assert layout.add_chair is None
    assert layout.step("vote", 0, 1) == "chair"
    assert compute(design()).add_chair is not None


def test_a_layer_that_follows_the_roles_has_no_handle() -> None:
    network = design((4, 1))
    adaptive = replace(network.layers[1], adaptive=True)
    layout = compute(replace(network, layers=(network.layers[0], adaptive)))
    assert layout.handles[0] is not None
    assert layout.handles[1] is None


def test_an_edge_begins_and_ends_at_its_ports_and_crosses_the_middle_half_way() -> None:
    assert edge_y(0, 0, 80, 10, 50) == pytest.approx(10, abs=0.01)
    assert edge_y(80, 0, 80, 10, 50) == pytest.approx(50, abs=0.01)
    assert edge_y(40, 0, 80, 10, 50) == pytest.approx(30, abs=0.01)


def test_the_edge_under_the_mouse_is_found_and_one_that_is_not_there_is_not() -> None:
    network = design((3, 3))
    layout = compute(network)
    before, after = layout.layers
    x = before.right + 20
    y = edge_y(x, before.right, after.left, before.port(0), after.port(2))
    assert edge_at(layout, network, 1, x, y, 4) == (0, 2)
    by_hand = replace(network.layers[1], wiring="explicit", inputs=((0,), (1,), (2,)))
    assert edge_at(layout, replace(network, layers=(network.layers[0], by_hand)), 1, x, y, 4) is None
    assert edge_at(layout, network, 1, before.x + 10, 50, 4) is None


def test_above_400_edges_a_pair_of_layers_is_a_band() -> None:
    neurons = tuple(NeuronState(str(i)) for i in range(20))
    assert not is_band(LayerState(neurons))
    full = LayerState(neurons, all_of(20, 20))
    assert full.edge_count == BAND_LIMIT
    assert not is_band(full)
    assert is_band(LayerState((*neurons, NeuronState("21")), all_of(20, 21)))


def test_the_wiring_in_a_word() -> None:
    words = {"full": "full", "window": "±2", "explicit": "by hand"}
    for wiring, word in words.items():
        assert LayerState((NeuronState("x"),), wiring=cast(WiringKind, wiring), window=2).wiring_word == word


def test_a_neuron_is_told_as_the_picture_shows_it() -> None:
    network = run()
    assert neuron_words(network, Place(0, 2)) == ("Clarity, layer 1, verdict B, orders differ, AB 8 to 7, BA 6 to 8")
    assert neuron_words(network, Place(0, 3)) == "Safety, layer 1, unscored, Cut at 1,024 tokens"
    assert "changed from B" in neuron_words(network, Place(1, 2))
    assert "writing ba" in neuron_words(network, Place(1, 1))
    assert target_words(network, "vote") == "Vote, c2*(all), A 2, tie 0, B 2, 4 of 7 used"
    assert target_words(network, "verdict") == "Verdict, Waits for 2 neurons, human label A"
    assert "problem: No model chosen" in neuron_words(design(), Place(0, 3))


def test_the_verdict_says_what_it_waits_for() -> None:
    network = run()
    cases = {
        VerdictState(outstanding=1): "Waits for 1 neuron",
        VerdictState(outstanding=68, leads="a"): "A leads, 68 to go",
        VerdictState(verdict="b", outstanding=1): "decided, 1 to come",
        VerdictState(verdict="tie"): "tie",
        VerdictState(): "No verdict",
    }
    for state, words in cases.items():
        assert verdict_words(replace(network, verdict=state)) == words


def test_scores_and_times_are_short() -> None:
    assert [score_text(s) for s in (8, 8.04, 8.5, 10, None)] == ["8", "8", "8.5", "10", "–"]
    assert [duration(s) for s in (4.21, 61.5, 180)] == ["4.2 s", "1 min", "3 min"]


def test_missing_is_never_a_tie_and_ties_are_votes() -> None:
    states = [scored("a", (8, 6), (8, 5), "a"), NeuronState("b", phase="unscored"), NeuronState("c", phase="waiting")]
    count = tally([state.box for state in states])
    assert (count.a, count.tie, count.unscored, count.pending, count.scored, count.total) == (1, 0, 1, 1, 1, 3)
    assert layer_words(count) == "1 of 3 scored"
    assert layer_words(count, short=True) == "1 of 3"


def test_orders_differ_only_where_both_have_a_verdict() -> None:
    both = NeuronState("r", ab=order(8, 7), ba=order(6, 8))
    assert both.orders_differ
    assert both.mean_scores == (7.0, 7.5)
    assert both.by == 0.5
    assert not replace(both, ba=OrderState(unscored="Refused")).orders_differ
    assert not replace(both, ba=None).orders_differ
    assert replace(both, ab=OrderState(verdict="a"), ba=OrderState(verdict="b")).mean_scores is None


def test_the_search_finds_roles_layers_models_and_parts() -> None:
    network = design((4, 3))
    assert [target for _, _, target in search(network, "clar 2")] == [Place(1, 2)]
    assert [target for _, _, target in search(network, "fjord")] == [Place(0, 2)]
    assert search(network, "verdict")[0][2] == "verdict"
    assert search(network, "chair") == []
    assert search(network, "nobody") == []
    assert len(search(network, "")) == 7


def test_states_of_one_shape_differ_in_what_nodes_say_only() -> None:
    network = run()
    later = replace(network, verdict=VerdictState(verdict="a"))
    assert later.shape == network.shape
    wider = replace(network, layers=(network.layers[0],))
    assert wider.shape != network.shape
    assert isinstance(network, NetworkState)
