"""The simulation of coverage, against one made by an independent script (4,000 runs a line)."""

from __future__ import annotations

from math import sqrt

import pytest

from judgenet.stats.calibration import Method
from judgenet.stats.simulation import GRID, Covered, Setting, shortfalls, simulate

METHODS: tuple[Method, ...] = ("naive", "lee", "ppi", "stratified", "human_only")
RUNS = 4000
LINES = """
.6,.7 .5  50 .104/.062 .990/.802 .941/.260 .950/.258 .942/.265
.6,.7 .5 200 .103/.062 .973/.518 .944/.133 .945/.132 .946/.137
.6,.7 .9  50 .000/.058 .989/.679 .887/.154 .950/.166 .966/.166
.6,.7 .9 200 .000/.058 .985/.405 .938/.081 .953/.082 .957/.083
.8,.8 .5  50 .951/.062 .965/.441 .934/.219 .948/.221 .937/.265
.8,.8 .5 100 .942/.062 .955/.307 .947/.159 .951/.160 .946/.191
.8,.8 .5 200 .945/.062 .947/.221 .942/.115 .946/.116 .942/.137
.8,.8 .5 400 .946/.062 .952/.170 .946/.084 .947/.084 .948/.097
.8,.8 .7 200 .000/.060 .950/.220 .944/.108 .948/.108 .948/.126
.8,.8 .9  50 .000/.054 .952/.374 .889/.144 .950/.155 .971/.167
.8,.8 .9 200 .000/.054 .952/.197 .941/.076 .957/.077 .958/.083
.7,.9 .5 200 .000/.061 .956/.214 .945/.114 .948/.115 .944/.137
.7,.9 .7 200 .722/.056 .950/.199 .944/.105 .953/.105 .952/.126
.7,.9 .9 200 .000/.045 .956/.169 .929/.073 .948/.074 .958/.083
.9,.9 .5  50 .953/.062 .964/.271 .929/.168 .957/.177 .930/.264
.9,.9 .5 200 .946/.062 .948/.136 .944/.094 .949/.095 .939/.137
.9,.9 .7 200 .225/.059 .956/.134 .943/.089 .950/.090 .946/.126
.9,.9 .9  50 .000/.048 .940/.240 .888/.123 .948/.133 .977/.166
.9,.9 .9 200 .000/.048 .949/.128 .938/.068 .954/.068 .956/.083
"""


@pytest.mark.parametrize("line", LINES.split("\n")[1:-1])
def test_coverage_and_width(line: str) -> None:
    """Within four standard errors of both simulations."""
    judge, theta, labels, *cells = line.split()
    q_0, q_1 = map(float, judge.split(","))
    found = simulate(Setting(q_0, q_1, float(theta), int(labels)), runs=RUNS, seed=11)
    for method, cell in zip(METHODS, cells, strict=True):
        coverage, width = map(float, cell.split("/"))
        error = 4 * sqrt(2 * max(coverage * (1 - coverage), 0.001) / RUNS) + 0.0005
        assert found[method].coverage == pytest.approx(coverage, abs=error)
        assert found[method].width == pytest.approx(width, abs=0.0015 + 0.03 * width)


def test_the_pattern_of_the_whole_grid() -> None:
    """The stratified interval holds everywhere and is nowhere wider than human labels alone; PPI++ falls short where
    labels are few and the rate one-sided; Lee's is narrower than human labels alone only for the best judges."""
    found = [(setting, simulate(setting, runs=1000, seed=place)) for place, setting in enumerate(GRID)]
    assert len(found) == 48
    assert shortfalls(found, 1000) == []
    few = [methods for setting, methods in found if setting.theta == 0.9 and setting.labels == 50]
    assert max(methods["ppi"].coverage for methods in few) < 0.925
    narrower = [setting for setting, methods in found if methods["lee"].width < methods["human_only"].width]
    assert all(setting[:2] == (0.9, 0.9) and setting.theta == 0.5 for setting in narrower)


def test_shortfalls_are_told() -> None:
    setting = Setting(0.8, 0.8, 0.5, 100)
    methods: dict[Method, Covered] = {"stratified": Covered(0.9, 0.2), "human_only": Covered(0.95, 0.19)}
    told = shortfalls([(setting, methods)], 4000)
    assert len(told) == 2
    assert all("judge 0.8/0.8, rate 0.5, 100 labels" in line for line in told)
    assert shortfalls([(setting, {**methods, "stratified": Covered(0.945, 0.19)})], 4000) == []
