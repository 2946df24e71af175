"""Criteria in the studio: chosen as roles on Design, read beside a pair on Data, and judged by on Run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from judgenet.core.criteria import Criterion
from judgenet.core.pairs import Pair
from judgenet.ui.app import Studio
from judgenet.ui.pages.data import DataPage
from judgenet.ui.pages.design import DesignPage
from judgenet.ui.pages.run import RunPage
from tests.ui.conftest import settle, until
from tests.ui.person import press
from tests.ui.story import StoryJudge, story_network, story_pairs, story_project, use_judge, usual

FACTS, TONE, SHORT = Criterion("Facts", "All claims are true.", 3), Criterion("Tone"), Criterion("Short")


def weighed() -> tuple[Pair, ...]:
    sets = ((FACTS, TONE), (TONE, SHORT, FACTS), ())
    return tuple(replace(pair, criteria=of) for pair, of in zip(story_pairs(3), sets, strict=True))


async def test_criteria_are_chosen_seen_and_judged_by(studio: Studio, tmp_path: Path) -> None:
    pairs = weighed()
    use_judge(studio, StoryJudge(usual(pairs)))
    context = studio.window.context
    spec = replace(story_network(2, None), name="Criteria")
    spec = replace(spec, roles=replace(spec.roles, kind="none", roles=()))
    studio.window.frame_actions.open_file(story_project(tmp_path, pairs, spec))
    await context.document.loaded()

    context.navigator.go("design")
    design = studio.window.page("design")
    assert isinstance(design, DesignPage)
    design.editor.select((), "roles")
    await settle()
    section = design.inspector.roles
    press(section, "Roles: Criteria")
    await settle()
    assert context.document.spec.layers[0].adaptive
    assert section.note.text().endswith("2 of 3 pairs have criteria (2 to 3 each).")
    assert "1 of 3 pairs have no criteria" in design.editor.problems[0].message
    context.document.undo_stack.undo()
    assert not context.document.spec.layers[0].adaptive, "one step"

    context.navigator.go("data")
    data = studio.window.page("data")
    assert isinstance(data, DataPage)
    await settle()
    data.browse.open_pair(1)
    await settle()
    view = data.browse.pair_view
    press(view, "Text above the responses: Criteria")
    assert "(weight 3): All claims are true." in view.question.toPlainText()
    assert not view.which.button("reference").isVisible()
    data.browse.open_pair(2)
    await settle()
    assert not view.which.isVisible(), "this pair has neither reference nor criteria"


async def test_design_has_the_widths_of_the_pairs(studio: Studio, tmp_path: Path) -> None:
    """Before pairs are loaded nobody knows the width: n."""
    context = studio.window.context
    context.navigator.go("welcome")
    press(studio.window.page("welcome"), "One judge per criterion")
    await settle()
    spec = context.document.spec
    assert (spec.roles.kind, spec.depth, spec.layers[0].adaptive) == ("criteria", 1, True)
    design = studio.window.page("design")
    assert isinstance(design, DesignPage)
    assert design.scene.network.layers[0].widths == ()
    pairs = weighed()[:2]
    studio.window.frame_actions.open_file(story_project(tmp_path, pairs, spec))
    await context.document.loaded()
    context.navigator.go("design")
    await settle()
    network = design.scene.network
    assert network.layers[0].widths == ("2 to 3, by question", "2–3")
    assert network.roles is not None
    assert network.roles.count == "2–3"
    assert len(network.layers[0].neurons) == 3, "no more than there are"


async def test_neurons_are_called_by_the_criterion_of_the_pair(studio: Studio, tmp_path: Path) -> None:
    pairs = weighed()[:2]
    use_judge(studio, StoryJudge(usual(pairs)))
    context = studio.window.context
    spec = story_network(1, None)
    layer = replace(spec.layers[0], adaptive=True)
    spec = replace(spec, layers=(layer,), roles=replace(spec.roles, kind="criteria", roles=()))
    studio.window.frame_actions.open_file(story_project(tmp_path, pairs, spec))
    await context.document.loaded()
    context.navigator.go("run")
    await settle()
    press(studio.window.top_bar, "Run")
    await until(lambda: not context.runner.running and context.run_state.run is not None, "the run ends")
    page = studio.window.page("run")
    assert isinstance(page, RunPage)
    for index, names in enumerate((["Facts", "Tone"], ["Tone", "Short", "Facts"])):
        context.run_state.set_focus(index)
        await settle()
        now = page.focus.now
        assert now is not None
        assert [of.role.name for of in now.layers[0] if of.role is not None] == names
    table = context.run_state.table
    assert table is not None
    assert (table.calls_in, table.calls_planned) == (10, 10)
