"""The page Bias: a lab is chosen, run, watched and read by mouse and keys, with judges whose bias is known."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import RolesSpec, Settings
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.store.files import save_project
from judgenet.store.labs import lab_result
from judgenet.ui.app import Studio
from judgenet.ui.pages.bias import BiasPage
from judgenet.ui.pages.data import DataPage
from tests.fakes.judge_server import JudgeServer
from tests.ui.conftest import settle, until
from tests.ui.person import click, key, press
from tests.unit.cli.test_bias import write_pairs

COUNT = 12
CONCURRENCY = 16


@pytest.fixture
def page(studio: Studio, place: Path, judge: JudgeServer) -> BiasPage:
    """The page of a project with a 2 × 2 network and pairs of two systems."""
    write_pairs(place / "pairs.jsonl", COUNT)
    spec = replace(network(2, 2, settings=Settings(endpoint="lab", model="one")), roles=RolesSpec(kind="none"))
    project = replace(
        Project.new("Lab", spec, PairsSource(("pairs.jsonl",))),
        endpoints=(EndpointProfile("lab", base_url=f"{judge.url}/v1", concurrency=CONCURRENCY),),
    )
    path = place / "lab.judgenet"
    save_project(project, path)
    studio.window.frame_actions.open_file(path)
    studio.window.context.navigator.go("bias")
    found = studio.window.page("bias")
    assert isinstance(found, BiasPage)
    return found


async def planned(page: BiasPage) -> None:
    await until(lambda: page.state.plan.estimate is not None and not page.state.planning, "no plan")
    await settle()


def only(page: BiasPage, *probes: str) -> None:
    """Chooses probes with the mouse."""
    for probe, box in page.side.probes.items():
        if box.isChecked() != (probe in probes):
            click(box, QPoint(8, box.height() // 2))


async def run(page: BiasPage) -> None:
    await planned(page)
    before = page.state.ended
    await until(lambda: page.context.actions.why_not("bias.run") is None)
    page.context.actions.trigger("bias.run")
    await until(
        lambda: page.state.ended is not None and page.state.ended is not before and not page.state.going, "no end", 25
    )
    await until(lambda: page.state.result is not None and not page.state.reading, "no result")
    await settle()


async def test_a_judge_that_takes_the_first_shows_it_in_every_part(
    page: BiasPage, studio: Studio, judge: JudgeServer
) -> None:
    judge.judge.settings.mind = "first"
    await planned(page)
    only(page, "order", "bandwagon")
    await run(page)
    result = page.state.result
    assert result is not None
    shares = {judged.id: result.cell("order", judged.id).share for judged in result.judges}
    assert set(shares.values()) == {1.0}
    # The single judge was there first; the bars are the network's all the same.
    assert page.judge_choice.currentText() == "Network 2×2"
    assert {"single", "layer-1", "layer-2", "network", "l1.n1", "l2.n2"} <= set(shares)
    order, bandwagon = (row.row for row in page.card.rows)
    assert order is not None
    assert bandwagon is not None
    assert (order.share, order.n, order.items) == (1.0, COUNT, COUNT)
    # First in both prompts is what the majority wants once and not the other time.
    assert bandwagon.share == 0.0
    assert "1.00" in page.card.rows[0].accessibleName()
    assert not page.context.runner.busy
    # Another design does not take the figures away, but it is said that they are not its own.
    await planned(page)
    assert "another network" not in page.note.text()
    studio.window.frame_actions.set_size(3, 1)
    await until(lambda: "Measured on another network" in page.note.text())
    assert page.card.rows[0].row is not None
    assert page.card.rows[0].row.share == 1.0


@pytest.mark.parametrize(("mind", "side"), [("first-20", "first"), ("last-20", "last")])
async def test_a_judge_that_is_swayed_now_and_then_is_never_marked_good(
    page: BiasPage, place: Path, studio: Studio, judge: JudgeServer, mind: str, side: str
) -> None:
    write_pairs(place / "pairs.jsonl", 100)
    studio.window.frame_actions.open_file(place / "lab.judgenet")
    studio.window.context.navigator.go("bias")
    judge.judge.settings.mind = mind
    await planned(page)
    only(page, "order", "planted")
    await run(page)
    assert page.headline.text() == f"The network is biased toward the {side} response"
    row = page.card.rows[0].row
    assert row is not None
    # Below the coin's quarter, and yet biased.
    assert row.share is not None
    assert row.share < 0.25
    assert (row.words, row.mood) == (f"Prefers the {side} response", "warning")
    assert row.net is not None
    assert (row.net > 0) == (side == "first")
    assert f"net {'+' if side == 'first' else '−'}0." in page.card.rows[0].accessibleName()
    assert f"Prefers the {side} response" in page.card.rows[0].toolTip()


async def test_a_finding_is_never_cut(page: BiasPage, studio: Studio, judge: JudgeServer) -> None:
    judge.judge.settings.mind = "unbiased"
    await planned(page)
    only(page, "order", "planted")
    await run(page)
    studio.window.resize(1280, 720)
    first = page.card.rows[0]
    assert first.row is not None
    short = first.height()
    first.say(replace(first.row, words=" ".join([first.row.words] * 4)), 1.0, with_way=True)
    await settle()
    assert first.height() > short
    assert first.height() >= first.heightForWidth(first.width())
    assert page.card.rows[1].y() >= first.geometry().bottom()


async def test_few_pairs_are_no_tick(page: BiasPage, place: Path, studio: Studio, judge: JudgeServer) -> None:
    # Thirty instructions are too few to rule out .05: Wilson's 90 % interval of 0 of 30 ends at .08.
    write_pairs(place / "pairs.jsonl", 60)
    studio.window.frame_actions.open_file(place / "lab.judgenet")
    studio.window.context.navigator.go("bias")
    judge.judge.settings.mind = "unbiased"
    await planned(page)
    only(page, "order", "planted", "identical", "repeats")
    await run(page)
    assert page.headline.text() == "No significant bias found in the network"
    for widget in page.card.rows:
        assert widget.row is not None
        assert widget.row.mood == "neutral", widget.row
    planted = next(widget.row for widget in page.card.rows if widget.row is not None and widget.row.probe == "planted")
    assert planted.words.startswith("Followed in 0 of 60 pairs; not enough pairs")
    # Another margin is set on the page, and reads the same answers.
    page.side.margin.setFocus()
    page.side.margin.setValue(0.5)
    await planned(page)
    assert page.state.choice.settings.margin == 0.5
    asked = judge.requests
    await run(page)
    assert judge.requests == asked
    assert len(page.state.labs) == 1
    assert "no-bias margin 0.5" in page.note.text()
    row = next(widget.row for widget in page.card.rows if widget.row is not None and widget.row.probe == "identical")
    assert row.mood == "good"


async def test_the_pairs_behind_a_bar_are_one_click_away(page: BiasPage, studio: Studio, judge: JudgeServer) -> None:
    judge.judge.settings.mind = "obedient"
    await planned(page)
    only(page, "bandwagon")
    await run(page)
    assert page.card.rows[0].row is not None
    assert page.card.rows[0].row.share == 1.0
    click(page.card.rows[0])
    await until(page.behind.isVisible)
    assert set(page.behind.pairs) == {f"p{i}" for i in range(COUNT)}
    assert page.behind.rows[0].answers == "first, second"
    assert {row.outcome for row in page.behind.rows} == {"followed"}
    # Beside the list stands what was asked and said of the pair that is chosen in it.
    await until(lambda: page.state.look is not None and page.state.look.calls is not None)
    assert "Layer 2, neuron 2 – Response 1: 9, Response 2: 3" in page.behind.text.text
    assert page.behind.text.text.count("PROMPT") == 2
    assert "% think that" not in page.behind.text.text
    before = page.state.look
    page.behind.table.setFocus()
    key(page.behind.table, Qt.Key.Key_Down)
    await until(lambda: page.state.look is not before and page.state.look is not None and bool(page.state.look.calls))
    assert page.state.look is not None
    assert page.state.look.item.pair == page.behind.rows[1].pair
    click(page.behind.what.button("prompts"))
    assert "85 % think that Response 1 is better" in page.behind.text.text
    assert "85 % think that Response 2 is better" in page.behind.text.text
    press(page.behind, "Show on page Data")
    await settle()
    assert studio.window.context.navigator.page == "data"
    assert isinstance(studio.window.page("data"), DataPage)
    studio.window.context.navigator.go("bias")
    page.card.rows[0].setFocus()
    key(page.card.rows[0], Qt.Key.Key_Escape)
    assert not page.behind.isVisible()


async def test_the_same_again_pays_for_nothing(page: BiasPage, judge: JudgeServer) -> None:
    judge.judge.settings.mind = "unbiased"
    await planned(page)
    only(page, "order", "salience")
    await run(page)
    asked = judge.requests
    assert asked > 0
    await planned(page)
    assert page.state.plan.estimate is not None
    assert page.state.plan.estimate.calls_open.high == 0
    await run(page)
    assert judge.requests == asked
    assert len(page.state.labs) == 1
    # Runs of labs are no runs of the project.
    page.context.run_state.refresh_runs()
    assert page.context.run_state.runs == ()


async def test_it_is_stopped_within_a_second_and_goes_on(page: BiasPage, studio: Studio, judge: JudgeServer) -> None:
    judge.judge.settings.mind = "unbiased"
    judge.judge.settings.latency = 0.05
    await planned(page)
    only(page, "order")
    await planned(page)
    await until(lambda: page.context.actions.why_not("bias.run") is None)
    assert page.state.plan.estimate is not None
    calls = page.state.plan.estimate.calls.high
    page.context.actions.trigger("bias.run")
    await until(lambda: page.state.progress is not None and page.state.progress.calls > 0)
    assert page.context.runner.busy
    assert "bias lab" in page.context.runner.why_not()
    assert not page.side.probes["order"].isEnabled()
    press(page.side, "Stop the lab")
    await until(lambda: not page.state.going)
    assert not page.context.runner.busy
    judge.judge.settings.latency = 0.0
    before = judge.requests
    await run(page)
    for judged in ("single", "network"):
        assert page.state.result is not None
        assert page.state.result.cell("order", judged).n == COUNT
    # What is finished is not asked again; the calls on their way at the stop are.
    assert before < judge.requests <= calls + CONCURRENCY


async def test_what_a_probe_does_not_allow_is_said(page: BiasPage) -> None:
    await planned(page)
    assert page.state.plan.built is not None
    assert "Own system" in page.side.left_out.text()
    assert "1 probe skips some pairs" in page.side.left_out.text()
    # The reasons are a click away, in the page itself.
    assert not page.side.reasons.isVisible()
    press(page.side, "Why some probes skip pairs")
    assert page.side.reasons.isVisible()
    assert "the judge's own system is not named" in page.side.reasons.text()
    own = page.side.own
    assert [own.itemText(place) for place in range(1, own.count())] == ["famous", "mine"]
    own.setFocus()
    key(own, Qt.Key.Key_Down)
    await until(lambda: page.state.planning or page.state.choice.settings.own == ("famous",))
    await planned(page)
    assert page.state.choice.settings.own == ("famous",)
    assert "Own system" not in page.side.left_out.text()
    assert not page.side.reasons.isVisible()


async def test_without_a_probe_nothing_can_be_run(page: BiasPage) -> None:
    await planned(page)
    only(page)
    await until(lambda: page.state.plan.why_not == "Choose a probe.")
    await settle()
    assert page.side.why.isVisible()
    assert page.context.actions.why_not("bias.run") == "Choose a probe."
    assert page.side.stop.isHidden()


async def test_a_reading_that_ends_after_a_newer_one_is_not_waited_for(
    page: BiasPage, judge: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge.judge.settings.mind = "unbiased"
    await planned(page)
    only(page, "order")
    await run(page)
    free = threading.Event()
    begun: list[bool] = []
    read: list[object] = []

    def first_is_slow(*args: object, **options: object) -> object:
        begun.append(True)
        if len(begun) == 1:
            free.wait(30)
        result = lab_result(*args, **options)  # type: ignore[arg-type]
        read.append(result)
        return result

    monkeypatch.setattr("judgenet.ui.bias.state.lab_result", first_is_slow)
    page.state._read()
    await until(lambda: len(begun) == 1)
    page.state._read()
    await until(lambda: len(read) == 1 and not page.state.reading, "the newer reading")
    assert page.state.result is read[0]
    free.set()
    await until(lambda: len(read) == 2, "the older reading")
    await settle()
    assert not page.state.reading
    assert page.state.result is read[0]


async def test_orders_of_several_responses_are_asked_after_the_probes(page: BiasPage, judge: JudgeServer) -> None:
    judge.judge.settings.mind = "unbiased"
    await planned(page)
    only(page, "order")
    page.side.nwise.setFocus()
    key(page.side.nwise, Qt.Key.Key_Up)
    await until(lambda: page.state.plan.orders is not None and not page.state.planning)
    assert page.state.plan.orders is not None
    assert (page.state.plan.orders.calls, page.state.plan.orders.recorded) == (COUNT // 2, 0)
    before = judge.requests
    await run(page)
    estimate = page.state.plan.estimate
    assert estimate is not None
    assert judge.requests - before == COUNT // 2 + COUNT * 2 * 4
    assert "At once: 2 responses ranked in one call; 6 of 6 answers valid." in page.ranks.fact.text()
    assert page.state.result is not None
    assert "at_once" in page.state.result.ranks.raters
    await until(lambda: page.state.plan.orders is not None and page.state.plan.orders.recorded == COUNT // 2)
