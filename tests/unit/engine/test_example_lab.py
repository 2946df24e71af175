"""The example's lab: always the same, with the biases of its rule."""

from __future__ import annotations

from pathlib import Path

from judgenet.engine.example import example_project
from judgenet.engine.example_lab import PROBES_SHOWN, record_example_lab
from judgenet.engine.setup import read_source
from judgenet.store.db import Store
from judgenet.store.labs import lab_calls, lab_info, lab_result


def test_the_lab_of_the_example_is_whole_and_the_same_each_time(tmp_path: Path) -> None:
    project = example_project()
    assert project.pairs is not None
    pairs = read_source(project.pairs, tmp_path, project.salt).pairs[:6]
    found = []
    for place in ("one", "other"):
        with Store.open(tmp_path / f"{place}.db") as store:
            lab = record_example_lab(store, project, pairs, tmp_path)
            info = lab_info(store, lab)
            result = lab_result(store, lab, coins=0)
            found.append((info.created_at, {(cell.probe, cell.judge): cell.codes for cell in result.cells}))
            if place == "one":
                judges = {judge.id: judge for judge in result.judges}
                item = result.plan("bandwagon").items[0]
                of = {
                    judge: [len(calls) for calls in lab_calls(store, info, judges[judge], item.prompts)]
                    for judge in ("single", "l2.n3", "layer-1", "network")
                }
                sent = lab_calls(store, info, judges["l2.n3"], item.prompts)[1][0]
                nothing = lab_calls(store, info, judges["network"], ["no such prompt"])
    assert found[0] == found[1]
    assert tuple(plan.key for plan in result.lab.probes) == PROBES_SHOWN
    assert {judge.kind for judge in result.judges} == {"single", "neuron", "layer", "aggregation", "network"}
    assert all(cell.valid_rate in (None, 1.0) for cell in result.cells)
    # A call of the single judge and of a neuron, three of a layer, six of the network, for each of two prompts.
    assert of == {"single": [1, 1], "l2.n3": [1, 1], "layer-1": [3, 3], "network": [6, 6]}
    assert "85 % think that Response 2 is better" in sent.messages[-1][1]
    assert nothing == [()]
