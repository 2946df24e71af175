"""The page Run is used as a person does: mouse and keys, through a run from its start to its end."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QMenu, QMessageBox, QToolButton, QWidget

from judgenet.core.calls import CallSite
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.events import CallFinished, CallStarted, RunFinished
from judgenet.core.network import ChairSpec, NetworkSpec, Role, RolesSpec, Settings
from judgenet.core.presets import network
from judgenet.core.project import PairsSource, Project
from judgenet.engine.budget import Limits
from judgenet.engine.ports import ChatRequest
from judgenet.store.files import save_project
from judgenet.store.runs import RunInfo
from judgenet.ui.app import Studio
from judgenet.ui.bridge import PERIOD_MS
from judgenet.ui.canvas.model import Place
from judgenet.ui.pages.run import RunPage
from judgenet.ui.run import plots
from judgenet.ui.run.evidence_text import Prose
from judgenet.ui.run.refresh import TURNS
from judgenet.ui.run_progress import Progress
from judgenet.ui.run_state import RunState
from judgenet.ui.theme import current_theme
from tests.fakes.judge_reasoning import THINKING_TOKENS, THOUGHT
from tests.fakes.judge_server import JudgeServer
from tests.ui.conftest import make_studio, settle, until
from tests.ui.person import LEFT, NONE, click, click_node, find, key, name_of, press
from tests.ui.story import (
    ROLES,
    StoryJudge,
    Teller,
    Told,
    answer,
    failure,
    story_network,
    story_pairs,
    story_project,
    use_judge,
    usual,
)

ALT = Qt.KeyboardModifier.AltModifier


def page_of(studio: Studio) -> RunPage:
    page = studio.window.page("run")
    assert isinstance(page, RunPage)
    return page


def state_of(studio: Studio) -> RunState:
    return studio.window.context.run_state


async def opened(studio: Studio, path: Path) -> RunPage:
    """Opens a project and goes to the page with the rail."""
    studio.window.frame_actions.open_file(path)
    await studio.window.context.document.loaded()
    await settle()
    click(studio.window.rail.button("run"))
    await until(lambda: not state_of(studio).loading, "the run is read")
    await settle()
    return page_of(studio)


async def story(
    studio: Studio,
    place: Path,
    tell: Teller | None = None,
    *,
    count: int = 6,
    spec: NetworkSpec | None = None,
    labelled: float = 1.0,
) -> tuple[RunPage, StoryJudge]:
    """A project whose judge tells a story, on the page Run."""
    pairs = story_pairs(count, labelled=labelled)
    judge = use_judge(studio, StoryJudge(tell or usual(pairs)))
    return await opened(studio, story_project(place, pairs, spec or story_network())), judge


AT_ONCE_S = 6.0
"""A run stops within a second. The rest is for a machine that has other work; the calls take far longer."""


async def finished(studio: Studio) -> None:
    await until(lambda: not studio.window.context.runner.running, "the run ends")
    # What came last is shown a moment later, together.
    await asyncio.sleep(2.5 * PERIOD_MS / 1000)


async def ran(studio: Studio, place: Path, tell: Teller | None = None, **changes: Any) -> RunPage:
    """A story told to its end."""
    page, _ = await story(studio, place, tell, **changes)
    press(studio.window.top_bar, "Run")
    await finished(studio)
    return page


def held_at(pairs_count: int, pair: int, holds: Callable[[CallSite], int | None]) -> Teller:
    """The usual judge, who holds some calls of a pair and all calls of later pairs back."""
    base = usual(story_pairs(pairs_count))

    def tell(site: CallSite, request: ChatRequest) -> Told | Exception:
        told = base(site, request)
        if isinstance(told, Told) and site.pair >= pair:
            told.stop = holds(site) if site.pair == pair else 0
        return told

    return tell


def phase_of(page: RunPage, layer: int, neuron: int) -> str:
    now = page.focus.now
    return now[layer, neuron].phase if now is not None and now.has(layer, neuron) else ""


def segment(parent: QWidget, name: str) -> QAbstractButton:
    return find(parent, QAbstractButton, name)


async def test_one_beat_takes_events_to_the_canvas_and_the_grid(studio: Studio, place: Path) -> None:
    page, _ = await story(studio, place)
    state, bridge = state_of(studio), studio.window.bridge
    state.begin(RunInfo("run-1", 1, "", 0.0, None, "running", "", {}), story_network(), story_pairs(6), resumes=False)
    state.set_focus(0)
    await settle()
    scene, grid = page.canvas.scene, page.dock.grid.grid
    pictures: list[None] = []
    scene.repainted.connect(lambda: pictures.append(None))
    drawn: list[int] = []
    grid.range_changed.connect(lambda _first, last: drawn.append(last))
    for neuron in (1, 2):
        bridge.put(CallStarted("run-1", 0, 1, neuron, "ab", 1))
        bridge.put(
            CallFinished("run-1", 0, 1, neuron, "ab", 1, "scored", None, "a", 8.0, 6.0, False, 9, 1, 0, 0.0, 2.0, 1)
        )
    assert scene.state(Place(0, 0)).ab is None
    bridge.drain()
    # Nothing waits for another timer: all that came is one picture.
    assert [scene.state(Place(0, neuron)).ab is not None for neuron in range(3)] == [True, True, False]
    assert len(pictures) == 1
    # The overviews of all pairs take turns at the beats, so that each has its own beat.
    for turn in TURNS.values():
        bridge.beat.emit(turn)
    assert drawn == [0]
    # The grid is drawn anew less often than the canvas, and what is left over when the run ends.
    bridge.put(CallStarted("run-1", 5, 1, 1, "ab", 1))
    bridge.drain()
    for turn in TURNS.values():
        bridge.beat.emit(turn)
    assert drawn == [0]
    bridge.put(RunFinished("run-1", "cancelled", "", 0, 6))
    bridge.drain()
    assert drawn[-1] == 5


# Starting and stopping, over HTTP


def http_project(place: Path, server: JudgeServer, spec: NetworkSpec | None = None, **profile: Any) -> Path:
    pairs = story_pairs(6)
    spec = spec or story_network(3, 2)
    told = {"endpoint": "box", "model": "judge", "temperature": "default", "max_tokens": 512, "samples": 1}
    spec = replace(spec, settings=replace(spec.settings, **told))  # type: ignore[arg-type]
    data = place / "pairs.jsonl"
    data.write_text("".join(json.dumps(pair.to_json()) + "\n" for pair in pairs), encoding="utf-8")
    made = EndpointProfile("box", base_url=f"{server.url}/v1", model="judge", **profile)
    path = place / "http.judgenet"
    save_project(replace(Project.new("http", spec, PairsSource((data.name,))), endpoints=(made,)), path)
    return path


async def test_before_a_run_one_button_starts_it_and_says_what_it_takes(studio: Studio, place: Path) -> None:
    page, _ = await story(studio, place)
    assert not page.dock.isVisible()
    await until(lambda: not studio.window.context.figures.stale)
    assert "Run the network" in page.canvas.empty.sentence.text()
    assert "6 pairs · 84 calls" in page.canvas.empty.note.text()
    press(page.canvas, "Run")
    await finished(studio)
    assert page.canvas.view.isVisible()
    assert page.dock.isVisible()
    assert [state_of(studio).pair_state(index) for index in range(6)] == ["done"] * 6


async def test_a_run_over_http_is_paused_goes_on_and_fills_everything(
    studio: Studio, place: Path, judge: JudgeServer
) -> None:
    judge.set(latency=0.15)
    page = await opened(studio, http_project(place, judge, concurrency=4))
    bar = studio.window.top_bar
    press(bar, "Run")
    state = state_of(studio)
    await until(lambda: len(state.table.finished) >= 1 if state.table else False, "a pair is finished")
    press(bar, "Pause")
    await until(lambda: state.state == "paused" and not state.in_flight, "it pauses")
    asked = judge.requests
    await asyncio.sleep(0.15)
    assert judge.requests == asked
    assert page.inspector.isVisible()
    press(bar, "Resume")
    await finished(studio)
    assert state.state == "done"
    # Every call was asked once, streamed, and stands in the list, the grid and the chart.
    assert judge.requests == 6 * (3 + 2) * 2
    assert all(entry.stream for entry in judge.log)
    assert page.dock.pairs.model.rowCount() == 6
    await until(lambda: page.dock.chart.fact.text() == "6 of 6", "the plot has all pairs")
    assert page.dock.grid.range.text() == "1 to 6"
    strip = state.table.strip(1, 1, 0, 6) if state.table else None
    assert strip is not None
    assert not strip.state.any()


@pytest.mark.parametrize("when", ["before the first token", "paused", "while it is written"])
async def test_stop_ends_a_run_within_a_second_in_every_state(
    studio: Studio, place: Path, judge: JudgeServer, when: str
) -> None:
    if when == "before the first token":
        judge.set(latency=20.0)
    else:
        judge.set(faults={"drip": 1.0}, drip_s=0.05)
    page = await opened(studio, http_project(place, judge, concurrency=4))
    press(studio.window.top_bar, "Run")
    state = state_of(studio)
    await until(lambda: bool(state.in_flight), "calls are on their way")
    if when == "while it is written":
        await until(lambda: any(state.live_text(site) for site in state.in_flight), "something is written")
    if when == "paused":
        press(studio.window.top_bar, "Pause")
        await until(lambda: state.state == "paused")
    began = time.monotonic()
    press(studio.window.top_bar, "Stop")
    await finished(studio)
    assert time.monotonic() - began < AT_ONCE_S
    assert state.state == "cancelled"
    assert not state.in_flight
    assert not any(neuron.busy for layer in (page.focus.now.layers if page.focus.now else []) for neuron in layer)
    # It goes on from there.
    judge.set(latency=0.0, faults={})
    press(studio.window.top_bar, "Run")
    await finished(studio)
    assert state.state == "done"


async def test_after_stop_and_run_all_counts_are_of_the_whole_run(
    studio: Studio, place: Path, judge: JudgeServer
) -> None:
    await opened(studio, http_project(place, judge, concurrency=2))
    runner, state = studio.window.context.runner, state_of(studio)
    runner.limits = Limits(max_calls=30)
    press(studio.window.top_bar, "Run")
    await finished(studio)
    assert state.state == "budget"
    tokens = state.progress.tokens_in
    assert (state.progress.calls, state.table and state.table.calls_in) == (30, 30)
    runner.limits = Limits(max_calls=6)
    seen: list[Progress] = []
    state.progress_changed.connect(lambda: seen.append(state.progress))
    press(studio.window.top_bar, "Run")
    await finished(studio)
    of_this = [one for one in seen if one.tokens_in > tokens]
    assert of_this
    # Five neurons asked in two orders, while the run goes on; what was called, once it stands still.
    assert {(one.pairs, one.calls_planned) for one in of_this} <= {(6, 6 * 5 * 2), (6, 36)}
    assert all(one.calls > 30 for one in of_this)
    again = state.progress
    assert (again.calls, again.pairs) == (36, 6)
    # Read anew from the store, it is the same.
    state.show_run(state.run.id if state.run else None)
    await until(lambda: state.progress.calls > 0, "the run is read")
    assert (state.progress.calls, state.progress.tokens_in) == (again.calls, again.tokens_in)


async def test_rows_of_the_grid_have_the_names_of_the_nodes(studio: Studio, place: Path, judge: JudgeServer) -> None:
    page = await opened(studio, http_project(place, judge, network(3, 2), concurrency=4))
    press(studio.window.top_bar, "Run")
    await finished(studio)
    state = state_of(studio)
    for pair in (0, 4):
        state.set_focus(pair)
        await settle()
        roles = state.roles(pair)
        assert roles is not None
        rows = page.dock.grid.grid._rows
        for layer in (1, 2):
            named = [row.name for row in rows if row.layer == layer and row.neuron]
            assert named == [role.name for role in roles] == page.focus.names(layer)


@pytest.mark.parametrize(
    ("low", "high", "least"), [(0.0, 0.31, 0.0), (0.05, 0.1, 0.0), (0.0, 1.0, 0.0), (-0.2, 0.1, -1.0)]
)
def test_an_axis_has_no_tick_that_its_figure_cannot_have(low: float, high: float, least: float) -> None:
    for height in (40.0, 90.0, 300.0):
        (first, last), ticks = plots._y_axis(low, high, height, least)
        assert least - 1e-9 <= first <= low + 1e-9
        assert high - 1e-9 <= last <= 1 + 1e-9
        assert all(least - 1e-9 <= at <= 1 + 1e-9 for at, _ in ticks)
        assert len(ticks) >= 3


async def test_only_the_unscored_are_retried(studio: Studio, place: Path, judge: JudgeServer) -> None:
    judge.set(faults={"500": 0.15}, seed=4)
    page = await opened(studio, http_project(place, judge, concurrency=4, retries=0))
    press(studio.window.top_bar, "Run")
    await finished(studio)
    state = state_of(studio)
    assert state.table is not None
    failed = state.table.unanswered()
    assert failed > 0
    assert "failed" in [state.pair_state(index) for index in range(6)]
    unscored = next(
        (index, layer.index(neuron), number)
        for index in range(6)
        if state.pair_state(index) == "failed"
        for _ in [state.set_focus(index)]
        for number, layer in enumerate(page.focus.now.layers if page.focus.now else [])
        for neuron in layer
        if any(one.reason == "server_error" for one in neuron.orders)
    )
    page.show_target(Place(unscored[2], unscored[1]))
    await settle()
    texts = [column.state.text() for column in page.inspector.evidence.columns.values()]
    assert "Server error" in texts
    before = judge.requests
    judge.set(faults={})
    click_menu(page.run_choice, "Retry only the unscored")
    await finished(studio)
    # What those that failed have said changes what later layers read, so that those are asked again as well.
    assert failed <= judge.requests - before < 60
    assert state.table is not None
    assert state.table.unanswered() == 0
    assert state.state == "done"
    assert not studio.window.context.actions.qaction("run.retry_unscored").isEnabled()


async def test_answers_that_cannot_be_read_are_found_by_a_click_and_retried(studio: Studio, place: Path) -> None:
    base = usual(story_pairs(4))
    garbled = [True]

    def tell(site: CallSite, request: ChatRequest) -> Told | Exception:
        wrong = garbled[0] and site == CallSite(2, 1, 1, "ab", 1)
        return Told("No comment.") if wrong else base(site, request)

    page = await ran(studio, place, tell, count=4)
    state, status = state_of(studio), studio.window.status
    assert state.progress.unscored_calls == 1
    click(studio.window.rail.button("results"))
    await settle()
    assert status.unscored.text() == "1 unscored"
    click(status.unscored)
    await settle()
    assert studio.window.context.navigator.page == "run"
    assert page.dock.pairs.model.rowCount() == 1
    assert state.focus == 2
    garbled[0] = False
    click_menu(page.run_choice, "Retry only the unscored")
    await finished(studio)
    assert state.state == "done"
    assert state.progress.unscored_calls == 0
    assert state.progress.calls == state.progress.calls_planned
    page.show_call(CallSite(2, 1, 1, "ab", 1))
    page.inspector.show_tab("raw")
    await settle()
    raw = page.inspector.raw
    assert raw.text.toPlainText().endswith("No comment.")
    assert "No comment." not in raw.copy.text
    assert "Asked 2 times" in raw.words.text()


def click_menu(button: QToolButton, text: str) -> None:
    """Opens a button's menu and chooses an entry with the mouse."""
    menu = button.menu()
    assert isinstance(menu, QMenu)
    menu.popup(button.mapToGlobal(QPoint(0, button.height())))
    action = next(action for action in menu.actions() if action.text().startswith(text))
    assert action.isEnabled(), action.toolTip()
    QTest.mouseClick(menu, LEFT, NONE, menu.actionGeometry(action).center())


# Watching


async def test_neurons_wake_layer_by_layer_with_their_states_in_words(studio: Studio, place: Path) -> None:
    def holds(site: CallSite) -> int | None:
        if site.layer == 1:
            return None
        return 0 if site.neuron == 1 else 40 if (site.neuron, site.order) == (2, "ba") else None

    page, judge = await story(studio, place, held_at(3, 0, holds), count=3)
    press(studio.window.top_bar, "Run")
    await until(
        lambda: bool(page.focus.now and page.focus.now[2, 2].phase == "writing" and page.focus.now[2, 3].complete)
    )
    scene = page.canvas.scene
    phases = [["scored"] * 4, ["asked", "writing", "scored"]]
    await until(lambda: [[state.phase for state in scene.states(layer)] for layer in (0, 1)] == phases, "it is drawn")
    await until(lambda: scene.ends.verdict.outstanding == 2, "two are outstanding")
    assert scene.ends.vote.used == 5
    assert scene.ends.vote.boxes[1][:2] == ("pending", "pending")
    assert scene.state(Place(1, 1)).writing == "ba"
    assert scene.state(Place(1, 1)).ab is not None
    click_node(page.canvas.view, Place(1, 1))
    inspector = page.inspector
    assert (inspector.title.whole, inspector.tag.text()) == ("Completeness", "Writing BA")
    assert inspector.place.whole == "Layer 2, neuron 2 of 3, meridian-70b"
    writing = inspector.evidence.columns["ba"]
    assert writing.state.text() == "Scores follow the evidence"
    before = writing.text.said
    assert before
    assert "{" not in before
    judge.released.set()
    await until(lambda: bool(page.focus.now and page.focus.now[2, 2].complete))
    await settle()
    assert writing.text.said.startswith(before)
    assert writing.scores.isVisible()
    await finished(studio)


async def test_a_verdict_that_nothing_can_change_is_said_before_all_is_in(studio: Studio, place: Path) -> None:
    def tell(site: CallSite, request: ChatRequest) -> Told:
        told = Told(answer(site, "A is right.", 8, 5))
        told.stop = 0 if (site.layer, site.neuron) == (2, 3) else None
        return told

    page, _ = await story(studio, place, tell, count=1)
    press(studio.window.top_bar, "Run")
    await until(lambda: page.canvas.scene.ends.verdict.outstanding == 1, "one is to come")
    verdict = page.canvas.scene.ends.verdict
    assert verdict.verdict == "a"
    assert "decided, 1 to come" in page.canvas.view.tip(page.canvas.scene.spot_at(node_center(page, "verdict")))


def node_center(page: RunPage, target: Any) -> Any:
    rect = page.canvas.scene.layout.rect_of(target)
    return QPointF(rect.x + rect.w / 2, rect.y + rect.h / 2)


async def test_the_newest_pair_is_followed_until_one_is_pinned(studio: Studio, place: Path) -> None:
    page, judge = await story(studio, place, held_at(8, 2, lambda site: 0), count=8)
    judge.concurrency = 100
    state = state_of(studio)
    press(studio.window.top_bar, "Run")
    await until(lambda: state.focus is not None and state.focus >= 2, "it follows")
    strip = page.canvas.strip
    assert strip.segment.current == "follow"
    followed = state.focus
    click(strip.previous)
    assert state.focus == (followed or 0) - 1
    assert strip.segment.current == "pin"
    assert strip.number.text() == f"Pair {followed}"
    click(segment(strip, "Which pair: Follow newest"))
    assert state.follow
    judge.released.set()
    await finished(studio)


async def test_pairs_are_stepped_through_with_keys(studio: Studio, place: Path) -> None:
    page = await ran(studio, place)
    state = state_of(studio)
    state.set_focus(2)
    view = page.canvas.view
    view.setFocus()
    key(view, Qt.Key.Key_Right, ALT)
    assert state.focus == 3
    key(view, Qt.Key.Key_Left, ALT)
    key(view, Qt.Key.Key_BracketLeft)
    assert state.focus == 1
    key(view, Qt.Key.Key_BracketRight)
    assert state.focus == 2
    # In the list the arrows do the same, the newest on top.
    rows = page.dock.pairs.list
    rows.setFocus()
    key(rows, Qt.Key.Key_Down)
    assert state.focus == 1
    key(rows, Qt.Key.Key_Home)
    assert state.focus == 5
    assert not page.canvas.strip.next.isEnabled()
    # On the canvas they go from neuron to neuron, and Enter leads to the inspector.
    view.setFocus()
    page.canvas.select(Place(0, 0))
    key(view, Qt.Key.Key_Right)
    key(view, Qt.Key.Key_Down)
    assert page.inspector.target == Place(1, 1)
    key(view, Qt.Key.Key_Return)
    assert page.inspector.tabs.hasFocus()
    key(page.inspector.tabs, Qt.Key.Key_Right)
    assert page.inspector.tab == "read"


# The inspector


async def test_prompt_raw_answer_and_calls_are_what_went_over_the_wire(
    studio: Studio, place: Path, judge: JudgeServer
) -> None:
    page = await opened(studio, http_project(place, judge))
    press(studio.window.top_bar, "Run")
    await finished(studio)
    state_of(studio).set_focus(3)
    click_node(page.canvas.view, Place(1, 1))
    inspector = page.inspector
    for name in ("Prompt", "Raw answer", "Calls"):
        place_of = [inspector.tabs.tabText(i) for i in range(inspector.tabs.count())].index(name)
        click(inspector.tabs, inspector.tabs.tabRect(place_of).center())
        await settle()
        if name == "Prompt":
            press(inspector.prompt, "Order: Order BA")
            user = inspector.prompt.user.toPlainText()
            assert inspector.prompt.system.toPlainText() == "You judge texts fairly and with care."
        elif name == "Raw answer":
            press(inspector.raw, "Order: Order BA")
            raw = inspector.raw.text.toPlainText()
    sent = [entry for entry in judge.log if any(message["content"] == user for message in entry.messages)]
    assert len(sent) == 1
    assert sent[0].answer == raw
    assert json.loads(raw)["evidence"]
    calls = inspector.calls
    texts = [calls.table.texts.rows[row].cells for row in range(2)]
    assert [row[0] for row in texts] == ["AB", "BA"]
    assert all(row[2] and row[3] and row[6] == "1" for row in texts)
    assert calls._fact_rows["Answered by"].text().startswith("judge-2026")
    assert "first attempt" in inspector.facts.whole


async def test_the_thinking_of_a_call(studio: Studio, place: Path, judge: JudgeServer) -> None:
    """What was asked for, what came of it, and the text of the thinking beside the answer's."""
    spec = story_network(3, 2)
    settings = replace(spec.settings, reasoning="low", extra='{"top_k":20}')
    page = await opened(studio, http_project(place, judge, replace(spec, settings=settings)))
    press(studio.window.top_bar, "Run")
    await finished(studio)
    click_node(page.canvas.view, Place(0, 0))
    page.inspector.show_tab("calls")
    await settle()
    facts = page.inspector.calls._fact_rows
    assert facts["Parameters"].text() == (
        "endpoint’s own temperature, at most 512 tokens, structured output (JSON schema), reasoning low with room for "
        '1,024 thinking tokens, further fields {"top_k":20}'
    )
    assert facts["Thinking"].text().startswith(f"{THINKING_TOKENS} of the ")
    page.inspector.show_tab("raw")
    await settle()
    press(page.inspector.raw, "Show: Thinking")
    assert page.inspector.raw.text.toPlainText() == THOUGHT


async def test_the_probabilities_of_a_call(studio: Studio, place: Path, judge: JudgeServer) -> None:
    """A bar over the scale for each response, and where the scores come from, in words."""
    judge.set(tokens="joined")
    spec = story_network(3, 2)
    spec = replace(spec, settings=replace(spec.settings, scores="probabilities"))
    page = await opened(studio, http_project(place, judge, spec))
    press(studio.window.top_bar, "Run")
    await finished(studio)
    click_node(page.canvas.view, Place(0, 0))
    page.inspector.show_tab("calls")
    await settle()
    calls = page.inspector.calls
    assert calls.likely.isVisible()
    assert calls.likely.accessibleName().startswith("Expected scores A ")
    assert calls._fact_rows["Scores"].text().startswith("Expected score from token probabilities; written: ")
    image = calls.likely.grab().toImage()
    colors = {image.pixelColor(x, y).name() for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)}
    theme = current_theme()
    assert {theme.color("a").name(), theme.color("b").name()} <= colors


async def test_a_prompt_can_be_read_before_its_answer_is_in(studio: Studio, place: Path) -> None:
    page, judge = await story(studio, place, held_at(2, 0, lambda site: 0 if site.layer == 1 else None), count=2)
    press(studio.window.top_bar, "Run")
    await until(lambda: phase_of(page, 1, 1) == "asked")
    click_node(page.canvas.view, Place(0, 0))
    page.inspector.show_tab("prompt")
    await settle()
    assert "Judge above all from this perspective" in page.inspector.prompt.user.toPlainText()
    assert ROLES[0].description in page.inspector.prompt.user.toPlainText()
    assert page.inspector.prompt.words.text() == "As it was sent."
    click_node(page.canvas.view, Place(1, 1))
    await settle()
    assert page.inspector.prompt.words.text() == "It waits for the layer before."
    page.inspector.show_tab("evidence")
    await settle()
    assert page.inspector.evidence.columns["ab"].text.said == "It waits for layer 1."
    judge.released.set()
    await finished(studio)


CHANGED = "The Accuracy review is right that Response 1 leaves nothing out. So I change my mind."


def changing(site: CallSite, request: ChatRequest) -> Told:
    if site.neuron == 2:
        scores = (5, 8) if site.layer == 1 else (8, 6)
        return Told(answer(site, "Response 2 is longer." if site.layer == 1 else CHANGED, *scores))
    return Told(answer(site, "Response 1 is right.", 8, 6))


async def test_the_thread_shows_what_changed_a_mind_and_its_names_lead_there(studio: Studio, place: Path) -> None:
    page = await ran(studio, place, changing, count=2)
    click_node(page.canvas.view, Place(1, 1))
    inspector = page.inspector
    assert inspector.thread_panel.mark.accessibleName() == "Changed its mind from B to A"
    assert not inspector.thread_panel.so_far.isVisible()
    rows = inspector.thread_panel._rows
    assert [row.scores.text() for row in rows] == ["5 – 8, 5 – 8", "8 – 6, 8 – 6"]
    assert "Accuracy review is right" in rows[1].text.said
    assert page.canvas.scene.state(Place(1, 1)).changed_from == "b"
    click_name(rows[1].text, "Accuracy")
    await settle()
    assert inspector.target == Place(0, 0)
    assert page.canvas.scene.selection == frozenset({Place(0, 0)})
    assert inspector.title.whole == "Accuracy"


def click_name(prose: Prose, name: str) -> None:
    """Clicks on a name in a text."""
    cursor: QTextCursor = prose.document().find(name)
    assert cursor.charFormat().isAnchor()
    cursor.setPosition(cursor.selectionStart() + 2)
    at = prose.cursorRect(cursor).center()
    QTest.mouseClick(prose.viewport(), LEFT, NONE, at)


async def test_what_a_neuron_read_is_listed_and_leads_to_its_authors(studio: Studio, place: Path) -> None:
    page = await ran(studio, place, changing, count=1)
    click_node(page.canvas.view, Place(1, 2))
    page.inspector.show_tab("read")
    await settle()
    read = page.inspector.read
    assert read.words.text().startswith("4 neurons of layer 1, 8 evaluations")
    names = [name_of(button) for button in read.findChildren(QAbstractButton) if button.isVisible()]
    assert [name for name in names if name.endswith("layer 1")] == [f"{role.name}, layer 1" for role in ROLES]
    said = [prose.said for prose in read.findChildren(Prose)]
    assert said.count("Response 1 is right.") + said.count("Response 2 is right.") == 6
    press(read, "Completeness, layer 1")
    await settle()
    assert page.inspector.target == Place(0, 1)
    assert read.words.text() == "The first layer reads the pair alone."
    press(read, "Show the pair")
    assert page.inspector.target == "pair"
    assert page.inspector.pair.question.said.startswith("How do I add a NOT NULL column")


async def test_evidence_is_never_html_and_loads_nothing(studio: Studio, place: Path) -> None:
    text = (
        "<b>Bold</b> <img src='http://127.0.0.1:9/x.png'> ![p](http://127.0.0.1:9/y.png) "
        "[Accuracy](http://evil) & **so**"
    )

    def tell(site: CallSite, request: ChatRequest) -> Told:
        return Told(answer(site, text, 8, 6))

    page = await ran(studio, place, tell, count=1)
    click_node(page.canvas.view, Place(1, 1))
    prose = page.inspector.evidence.columns["ab"].text
    shown = prose.document().toPlainText()
    assert "<b>Bold</b>" in shown
    anchors = set()
    block = prose.document().begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            form = iterator.fragment().charFormat()
            if form.isAnchor() and form.anchorHref():
                anchors.add(form.anchorHref())
            iterator += 1
        block = block.next()
    assert anchors <= {"judge:1/1"}
    studio.settings.set(markdown=False)
    await settle()
    assert prose.document().toPlainText() == text


async def test_chair_vote_and_roles_have_views_of_their_own(studio: Studio, place: Path) -> None:
    spec = replace(story_network(3, 2), chair=ChairSpec())
    page = await ran(studio, place, spec=spec, count=2)
    inspector = page.inspector
    click_node(page.canvas.view, "chair")
    assert (inspector.title.whole, inspector.place.whole) == ("Chair", "Reads layer 2 and decides, meridian-70b")
    assert inspector.evidence.columns["ab"].text.said
    assert not inspector.thread_panel.isVisible()
    click_node(page.canvas.view, "vote")
    assert inspector.title.whole == "Vote"
    words = [words.text() for _, words in inspector.vote._votes]
    assert words == ["3 of 3 used", "2 of 2 used", "5 of 5 used"]
    assert [name for name, _, _ in inspector.vote._verdicts] == ["c1", "c2_l1", "c2_l2", "c2_all", "chair"]
    click_node(page.canvas.view, "roles")
    assert inspector.title.whole == "Roles"
    names = [label.text() for label in inspector.roles.widget().findChildren(QWidget) if hasattr(label, "text")]
    assert ROLES[0].name in names
    verdict = page.canvas.scene.ends.verdict
    assert verdict.verdict == (state_of(studio).verdicts(0) or {}).get("chair") if state_of(studio).focus == 0 else True


# All pairs


async def test_the_list_is_filtered_and_shows_what_others_ask_for(studio: Studio, place: Path) -> None:
    def tell(site: CallSite, request: ChatRequest) -> Told | Exception:
        if site.pair == 2 and site.layer == 1 and site.neuron == 1:
            return failure("timeout", "No answer within 60 s.")
        return Told(answer(site, "A is right.", 8, 5))

    page = await ran(studio, place, tell, count=6)
    pane = page.dock.pairs
    humans = [state_of(studio).human(index) for index in range(6)]
    click_menu(pane.filter_button, "Network and people disagree")
    shown = [pane.model.pair(row) for row in range(pane.model.rowCount())]
    assert shown == [index for index in reversed(range(6)) if humans[index] != "a"]
    click_menu(pane.filter_button, "With unscored calls")
    assert [pane.model.pair(row) for row in range(pane.model.rowCount())] == [2]
    assert "1: with unscored calls" in pane.amount.whole
    press(pane, "Show all")
    assert pane.model.rowCount() == 6
    studio.window.context.navigator.go("run", pairs=(4, 1), why="network A, people B")
    await settle()
    assert [pane.model.pair(row) for row in range(pane.model.rowCount())] == [4, 1]
    assert state_of(studio).focus == 4
    assert pane.amount.whole == "2 pairs: network A, people B"
    press(pane, "Show all")
    index: QModelIndex = pane.model.index(pane.model.row_of(2), 0)
    words = str(index.data())
    assert words.startswith("Pair 3, finished, some calls without an answer, network A, people")


async def test_a_cell_of_the_grid_opens_its_call(studio: Studio, place: Path) -> None:
    page = await ran(studio, place)
    grid = page.dock.grid.grid
    await until(lambda: grid.cell_at(grid.cell_rect(2, 3, 4).center()) is not None, "the grid is drawn")
    cell = grid.cell_rect(2, 3, 4)
    QTest.mouseClick(grid.viewport(), LEFT, NONE, cell.center())
    assert state_of(studio).focus == 4
    assert page.inspector.target == Place(1, 2)
    words = grid.words((grid.cell_at(cell.center()) or (0, 0))[0:2])
    assert words.startswith("Clarity, layer 2, pair 5: AB ")
    grid.setFocus(Qt.FocusReason.TabFocusReason)
    for code in (Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Return):
        key(grid, code)
    assert state_of(studio).focus == 3
    assert page.inspector.target == Place(1, 1)
    assert "pair 4" in grid.accessibleDescription()
    press(page.dock.grid, "Narrower columns, more pairs")
    press(page.dock.grid, "Narrower columns, more pairs")
    assert grid.heat
    assert grid.cell_at(grid.cell_rect(1, 1, 5).center()) is not None


async def test_the_chart_says_n_used_of_n_and_what_it_is_compared_with(studio: Studio, place: Path) -> None:
    page = await ran(studio, place, count=30, labelled=0.8)
    state, chart = state_of(studio), page.dock.chart
    assert state.table is not None
    wanted = state.table.curves("c2_all").last
    labelled = wanted.n_total - wanted.n_unlabelled
    assert labelled < 30
    chart.refresh()
    assert chart.fact.text() == f"{wanted.n_used} of {labelled}"
    told = chart.chart.accessibleDescription()
    assert wanted.accuracy is not None
    assert f"c2*(all) {wanted.accuracy:.2f}".replace(" 0.", " .") in told
    assert wanted.majority_baseline is not None
    assert f"majority {wanted.majority_baseline:.2f}".replace(" 0.", " .") in told
    assert {"c1*", "c2*(l1)", "c2*(l2)", "c2*(all)"} <= {label.name for _, label in chart.chart.ends.labels}
    assert "orders differ" in chart.foot.left.text
    assert chart.foot.right.text == "0.0 % unscored"
    chart.choice.setFocus()
    key(chart.choice, Qt.Key.Key_Down)
    key(chart.choice, Qt.Key.Key_Down)
    assert chart.kind == "kappa"
    assert "chance 0" in chart.chart.accessibleDescription()
    places = [place for place, _ in chart.chart.ends.labels]
    step = 18.9 * studio.theme.theme.scale
    assert all(after - before >= step for before, after in pairwise(places))


async def test_without_labels_the_chart_says_so(studio: Studio, place: Path) -> None:
    page = await ran(studio, place, count=3, labelled=0.0)
    assert "no human labels" in page.dock.chart.nothing.text()
    assert page.dock.chart.nothing.isVisible()


async def test_the_call_that_is_longest_under_way_is_named_and_found(studio: Studio, place: Path) -> None:
    stuck = CallSite(0, 1, 3, "ba", 1)

    def tell(site: CallSite, request: ChatRequest) -> Told:
        told = usual(story_pairs(12))(site, request)
        assert isinstance(told, Told)
        told.stop = 0 if site == stuck else None
        return told

    page, judge = await story(studio, place, tell, count=12)
    press(studio.window.top_bar, "Run")
    state = state_of(studio)
    await until(lambda: set(state.in_flight) == {stuck}, "one call is stuck")
    page.dock.chart.choose("calls")
    await settle()
    press(
        page.dock.chart,
        next(n for n in [name_of(page.dock.chart.slow.link)] if n.startswith("Longest running: pair 1, neuron 1.3")),
    )
    await settle()
    assert state.focus == 0
    assert page.inspector.target == Place(0, 2)
    judge.released.set()
    await finished(studio)


# Coming back


async def test_closing_in_the_middle_asks_stops_and_opens_again_where_it_was(place: Path, qapp: Any, loop: Any) -> None:
    studio = make_studio()
    page, judge = await story(studio, place, held_at(6, 3, lambda site: 0), count=6)
    judge.concurrency = 100
    press(studio.window.top_bar, "Run")
    state = state_of(studio)
    await until(lambda: len(state.table.finished) == 3 if state.table else False, "three pairs are finished")
    state.set_focus(1)
    click_node(page.canvas.view, Place(1, 2))
    page.inspector.show_tab("raw")
    await asyncio.sleep(0.6)
    studio.window.close()
    await until(lambda: bool(visible_questions(studio)), "it asks")
    press(visible_questions(studio)[0], "Keep running")
    await settle()
    assert studio.window.context.runner.running
    studio.window.close()
    await until(lambda: bool(visible_questions(studio)), "it asks again")
    began = time.monotonic()
    press(visible_questions(studio)[0], "Stop and close")
    await until(lambda: not studio.window.isVisible(), "it closes")
    assert time.monotonic() - began < AT_ONCE_S
    await studio.close()

    again = make_studio()
    try:
        page = await opened(again, place / "Release check.judgenet")
        state = state_of(again)
        await until(lambda: state.table is not None)
        await settle()
        assert [state.pair_state(index) for index in range(3)] == ["done"] * 3
        assert state.focus == 1
        assert page.inspector.target == Place(1, 2)
        assert page.inspector.tab == "raw"
        assert "evidence" in page.inspector.raw.text.toPlainText()
        use_judge(again, StoryJudge(usual(story_pairs(6))))
        press(again.window.top_bar, "Run")
        await finished(again)
        assert state.state == "done"
        assert len(state.runs) == 1
    finally:
        await again.close()


def visible_questions(studio: Studio) -> list[QMessageBox]:
    return [box for box in studio.window.findChildren(QMessageBox) if box.isVisible()]


async def test_another_run_is_chosen_from_the_menu(studio: Studio, place: Path) -> None:
    page = await ran(studio, place, count=3)
    context = studio.window.context
    context.document.edit_network("One layer", story_network(3, None))
    await settle()
    press(studio.window.top_bar, "Run")
    await finished(studio)
    assert page.run_choice.text() == "Run 2"
    await until(lambda: len(page.focus.now.layers if page.focus.now else ()) == 1, "the pair of the second run")
    click_menu(page.run_choice, "Run 1")
    await until(lambda: not state_of(studio).loading)
    await settle()
    assert page.run_choice.text() == "Run 1"
    await until(lambda: len(page.focus.now.layers if page.focus.now else ()) == 2, "the pair of the first run")
    assert page.dock.pairs.model.rowCount() == 3


# Room and look


async def test_in_a_narrow_window_panes_are_tabs_and_one_order_stands_alone(studio: Studio, place: Path) -> None:
    page = await ran(studio, place)
    assert not page.dock.tabs.isVisible()
    assert page.inspector.evidence.wide
    studio.window.resize(1280, 720)
    await settle()
    dock, evidence = page.dock, page.inspector.evidence
    assert dock.tabs.isVisible()
    assert abs(page.inspector.width() + 1 - 392) <= 1
    assert not dock.grid.isVisible()
    click(dock.tabs, dock.tabs.tabRect(1).center())
    assert dock.grid.isVisible()
    click(dock.tabs, dock.tabs.tabRect(2).center())
    assert dock.speed.isVisible()
    assert evidence.choice.isVisible()
    press(evidence, "Order: BA")
    assert not evidence.columns["ab"].isVisible()
    assert evidence.columns["ba"].isVisible()
    assert page.inspector.tabs.tabText(3) == "Raw"
    key(page.canvas.view, Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    assert not dock.isVisible()
    click(page.canvas.strip.dock)
    assert dock.isVisible()


@pytest.mark.parametrize("look", ["dark", "contrast"])
async def test_every_theme_and_scale_is_taken_on_while_a_run_stands(studio: Studio, place: Path, look: str) -> None:
    page = await ran(studio, place)
    click_node(page.canvas.view, Place(1, 1))
    for scale in (2.0, 1.0):
        studio.settings.set(theme=look, scale=scale)
        for size in ((2560, 1440), (1280, 720)):
            studio.window.resize(*size)
            await settle()
            for name in ("read", "prompt", "raw", "calls", "evidence"):
                page.inspector.show_tab(name)
                await settle(1)
            assert not page.grab().isNull()


async def test_wide_layers_are_coloured_and_searched(studio: Studio, place: Path) -> None:
    page = await ran(studio, place, count=1, spec=story_network_of(30))
    assert page.canvas.dense.isVisible()
    assert page.canvas.legend.isVisible()
    press(page.canvas, "Cells show: Orders differ")
    assert page.canvas.scene.cell_color == "differ"
    assert "orders differ" in page.canvas.legend.accessibleName()
    press(page.canvas, "Zoom in")
    assert any(row.dense for row in page.dock.grid.grid._rows)


def story_network_of(width: int) -> NetworkSpec:
    roles = RolesSpec("fixed", roles=tuple(Role(f"Aspect {place + 1}") for place in range(width)))
    return replace(network(width, 2, settings=Settings(endpoint="story", model="meridian-70b")), roles=roles)


BROKEN = "Half a sign \ud83d, a line\u2028separator, \u0000 and العربية"


async def test_texts_that_qt_cannot_take_are_shown_all_the_same(studio: Studio, place: Path) -> None:
    pairs = tuple(
        replace(pair, question=f"{BROKEN} {place}", response_a=BROKEN * 3, response_b=BROKEN)
        for place, pair in enumerate(story_pairs(2))
    )

    def tell(site: CallSite, request: ChatRequest) -> Told:
        return Told(answer(site, BROKEN, 8, 6))

    use_judge(studio, StoryJudge(tell))
    spec = replace(
        story_network(), roles=RolesSpec("fixed", roles=tuple(Role(f"{BROKEN} {n}", BROKEN) for n in range(4)))
    )
    page = await opened(studio, story_project(place, pairs, spec))
    press(studio.window.top_bar, "Run")
    await finished(studio)
    assert page.canvas.strip.title.whole.startswith("Half a sign \ufffd, a line separator")
    for target in (Place(1, 1), "pair", "roles", "vote"):
        click_node(page.canvas.view, target)
        for name in ("evidence", "read", "prompt", "raw", "calls"):
            page.inspector.show_tab(name)
            await settle(1)
    click_node(page.canvas.view, Place(1, 1))
    page.inspector.show_tab("evidence")
    await settle()
    assert page.inspector.evidence.columns["ab"].text.document().toPlainText().startswith("Half a sign \ufffd, a line")
    page.inspector.show_tab("raw")
    press(page.inspector.raw, "Copy the answer")
    assert not page.grab().isNull()
