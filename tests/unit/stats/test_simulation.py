"""The simulation of coverage, against one made by an independent script (4,000 runs a line)."""

from __future__ import annotations

from math import sqrt

import pytest

from judgenet.stats.calibration import Method
from judgenet.stats.simulation import (
    GRID,
    ORIGINS,
    PICKS,
    THREE,
    Covered,
    Setting,
    deviations,
    pick_failures,
    shortfalls,
    simulate,
    simulate_origin,
    simulate_pick,
    simulate_three,
    three_words,
    two_words,
)

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
    assert shortfalls([(two_words(setting), methods) for setting, methods in found], 1000) == []
    few = [methods for setting, methods in found if setting.theta == 0.9 and setting.labels == 50]
    assert max(methods["ppi"].coverage for methods in few) < 0.925
    narrower = [setting for setting, methods in found if methods["lee"].width < methods["human_only"].width]
    assert all(setting[:2] == (0.9, 0.9) and setting.theta == 0.5 for setting in narrower)


def test_shortfalls_are_told() -> None:
    where = two_words(Setting(0.8, 0.8, 0.5, 100))
    methods: dict[Method, Covered] = {"stratified": Covered(0.9, 0.2), "human_only": Covered(0.95, 0.19)}
    told = shortfalls([(where, methods)], 4000)
    assert len(told) == 2
    assert all("judge 0.8/0.8, rate 0.5, 100 labels" in line for line in told)
    assert shortfalls([(where, {**methods, "stratified": Covered(0.945, 0.19)})], 4000) == []


THREE_LINES = """
strong .4/.2/.4   100 .948/.054 .981/.162 .957/.157 .949/.104 .948/.175
strong .2/.15/.65 300 .108/.050 .958/.096 .933/.092 .944/.064 .950/.091
typical .4/.2/.4   100 .940/.058 .993/.562 .987/.825 .953/.154 .945/.175
typical .2/.15/.65 100 .000/.056 .996/.556 .993/.834 .943/.142 .949/.158
typical .2/.15/.65 300 .000/.056 .980/.295 .980/.472 .949/.084 .950/.091
"""
THREE_METHODS = ("naive", "k_class", "k_class_bootstrap", "ppi", "human_only")


@pytest.mark.parametrize("line", THREE_LINES.split("\n")[1:-1])
def test_three_classes(line: str) -> None:
    """Judges that are described by their rates of A, tie and B alone; the bootstrap is the mean of 300 runs."""
    name, people, labels, *cells = line.split()
    shares = tuple(float(share) for share in people.split("/"))
    [setting] = [of for of in THREE if of[:3] == (of.judge, shares, int(labels)) and of.judge.name == name]
    found = simulate_three(setting, runs=1000, seed=3)
    for method, cell in zip(THREE_METHODS, cells, strict=True):
        coverage, width = map(float, cell.split("/"))
        runs = 300 if method == "k_class_bootstrap" else 1000
        error = 4 * sqrt(2 * max(coverage * (1 - coverage), 0.001) / runs) + 0.01
        assert found[method].coverage == pytest.approx(coverage, abs=error), method  # type: ignore[index]
        assert found[method].width == pytest.approx(width, abs=0.002 + 0.06 * width), method  # type: ignore[index]
    assert found["stratified"].coverage > 0.94 - 3 * sqrt(0.94 * 0.06 / 1000)
    assert found["stratified"].width <= 1.02 * found["human_only"].width


@pytest.mark.parametrize(("labels", "coverage", "width"), [(30, 0.976, 0.146), (100, 0.948, 0.075)])
def test_few_labels_of_a_nearly_one_sided_pool(labels: int, coverage: float, width: float) -> None:
    """With the pooled pseudo-label or PPI++ .781 and .837 of 30 labels; the even pseudo-label holds."""
    [setting] = [of for of in THREE if of.people[2] == 0.9 and of.labels == labels]
    found = simulate_three(setting, runs=1500, seed=5)
    assert found["stratified"].coverage == pytest.approx(coverage, abs=0.02)
    assert found["stratified"].width == pytest.approx(width, rel=0.03)
    assert found["ppi"].coverage < 0.93


ORIGIN_LINES = (
    "naive .129 -.045 | lee .950 -.001 | ppi .945 +.001 | stratified .947 -.001 | human_only .947 0",
    "naive .133 -.045 | lee .955 +.001 | ppi .001 -.124 | stratified .000 -.130 | human_only .000 -.200",
    "naive .140 -.045 | lee .967 -.008 | ppi .000 +.171 | stratified .001 +.159 | human_only .000 +.200",
    "naive .000 -.100 | lee .372 -.075 | ppi .670 -.035 | stratified .665 -.038 | human_only .947 0",
)


@pytest.mark.parametrize("place", range(4))
def test_where_labels_come_from(place: int) -> None:
    found = simulate_origin(ORIGINS[place], runs=2000, seed=place)
    for cell in ORIGIN_LINES[place].split(" | "):
        method, coverage, bias = cell.split()
        share = float(coverage)
        error = 4 * sqrt(max(share * (1 - share), 0.001) * (1 / 2000 + 1 / 4000))
        of = found[method]  # type: ignore[index]
        assert of.coverage == pytest.approx(share, abs=error), method
        assert of.bias == pytest.approx(float(bias), abs=0.006), method


def test_how_labels_are_picked() -> None:
    """Only labels at random, or at random within each verdict, stand for the others."""
    found = {pick: simulate_pick(pick, runs=300, seed=2) for pick in PICKS}
    assert pick_failures(found, 300) == []
    assert found["within_verdict"]["human_only"].coverage < 0.7 < found["within_verdict"]["ppi"].coverage < 0.9
    assert found["random"]["lee"].width > 4 * found["random"]["human_only"].width
    swapped = {**found, "hardest": found["random"]}
    assert any("hardest" in told and "cannot hold" in told for told in pick_failures(swapped, 300))
    assert any("random" in told for told in pick_failures({**found, "random": found["easiest"]}, 300))


def test_what_is_not_as_elsewhere_is_told() -> None:
    setting = THREE[0]
    where = three_words(setting)
    assert where == "strong judge, people 0.4/0.2/0.4, 100 labels"
    methods = {"ppi": Covered(0.9, 0.104)}
    assert deviations([(where, methods, {"ppi": (0.95, 0.104)})], 4000, 4000, 0.0005) != []
    assert deviations([(where, methods, {"ppi": (0.9, 0.2)})], 4000, 4000, 0.0005) != []
    assert deviations([(where, methods, {"ppi": (0.905, -1)})], 4000, 4000, 0.0005) == []
    assert deviations([(where, methods, {"ppi": (0.95, 0.104)})], 60, 4000, 0.01) == []
