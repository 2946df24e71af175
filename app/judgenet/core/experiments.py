"""The experiments of the paper and the baselines, as definitions: which networks run, and which rows are read of them.

A row names the network that it stands for and the run that holds all of that network's calls. Few runs serve many rows,
since these parts of a run are what a smaller network would have done: the first layers; the first neurons of the last
layer, and of layer 1 where nothing follows; the first samples; one order of layer 1. A narrower layer 1 below a
second layer is a run of its own, whose layer 1 costs nothing: its calls are a part of the wider one's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Literal

from judgenet.core import presets
from judgenet.core.aggregate import deciding_of_all, most_voters
from judgenet.core.network import Language, NetworkError, NetworkSpec, OrderSetting, RolesSpec, Settings
from judgenet.core.plan import count_calls
from judgenet.core.project import Selection
from judgenet.core.wording import aggregation_title

FAIREVAL_SAMPLES = 3
"""FairEval's k: its authors found three evidences to be enough."""
MINI_EACH = 20
"""So many pairs of each task make the small set of the sweep."""

ExperimentKind = Literal["table", "sweep", "budget", "clouds", "saving"]
"""What is shown: rows side by side; width by depth; figures by number of neurons; roles; people's work."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What an experiment leaves open.

    ``settings`` hold for all calls. ``width`` is the number of neurons in a layer, ``None`` as many as roles come
    back; ``samples`` is FairEval's k; ``budget`` the largest number of neurons. ``quorum`` is the fewest neurons with a
    valid answer for a verdict, all of them where an aggregation rests on fewer.
    """

    settings: Settings = field(default_factory=Settings)
    language: Language = "auto"
    seed: int = 0
    width: int | None = None
    samples: int = FAIREVAL_SAMPLES
    widths: tuple[int, ...] = tuple(range(1, 9))
    depths: tuple[int, ...] = (1, 2, 3, 4)
    budget: int = 10
    quorum: int | None = None


@dataclass(frozen=True, slots=True)
class Arm:
    """A network that runs. ``width_of`` names the arm whose roles give this one its width, pair by pair; the width in
    ``spec`` is then the one that estimates assume. ``roles_only`` asks for the roles and nothing else."""

    key: str
    title: str
    spec: NetworkSpec
    width_of: str | None = None
    roles_only: bool = False


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """A line of the table: a network under one aggregation, read of the run of ``arm``.

    ``group`` and ``x`` place it in a plot; ``against`` is the row that it is compared with. The experiment is about its
    ``subject`` rows. ``quorum`` is that of its verdicts.
    """

    key: str
    title: str
    arm: str
    network: NetworkSpec
    rule: str
    group: str = ""
    x: int | None = None
    against: str | None = None
    subject: bool = False
    quorum: int | None = None

    @property
    def name(self) -> str:
        """The network with its aggregation, ``WideDeep, c2*(all)``; of a single judge there is but one."""
        return self.title if self.network.depth == 1 and self.rule == "c1" else f"{self.title}, {self.aggregation}"

    @property
    def aggregation(self) -> str:
        return aggregation_title(self.rule)


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment as it runs: ``arms`` in an order in which each finds the calls that it shares."""

    key: str
    kind: ExperimentKind
    title: str
    arms: tuple[Arm, ...]
    rows: tuple[ExperimentRow, ...]
    choices: Choices

    def arm(self, key: str) -> Arm:
        return next(arm for arm in self.arms if arm.key == key)

    def row(self, key: str) -> ExperimentRow:
        return next(row for row in self.rows if row.key == key)

    @property
    def networks(self) -> tuple[NetworkSpec, ...]:
        """The networks that the rows stand for, each once."""
        networks: list[NetworkSpec] = []
        for row in self.rows:
            if row.network not in networks:
                networks.append(row.network)
        return tuple(networks)


@dataclass(frozen=True, slots=True)
class ExperimentPreset:
    """An experiment by name. ``cost`` says in words what it asks per pair; ``labels`` whether it says nothing without
    human labels; ``each`` how many pairs of each task it takes by default."""

    key: str
    title: str
    description: str
    cost: str
    make: Callable[[Choices], Experiment]
    labels: bool = True
    each: int | None = None


# Networks


def _network(
    choices: Choices,
    width: int | None,
    depth: int,
    name: str,
    *,
    limit: int | None = None,
    roles: bool = True,
    orders: OrderSetting = "both",
    samples: int = 1,
    evidence: bool = True,
) -> NetworkSpec:
    spec = presets.network(
        width,
        depth,
        roles="generated" if roles else "none",
        orders=orders,
        samples=samples,
        seed=choices.seed,
        evidence=evidence,
        settings=replace(choices.settings, samples=None),
        name=name,
    )
    if roles and limit is not None:
        spec = replace(spec, roles=RolesSpec(limit=limit))
    return replace(spec, language=choices.language)


def _widedeep(choices: Choices, depth: int = 2, name: str = "WideDeep") -> NetworkSpec:
    return _network(choices, choices.width, depth, name)


def _fair_eval(choices: Choices, samples: int) -> NetworkSpec:
    return _network(choices, 1, 1, f"FairEval, k = {samples}", roles=False, samples=samples)


_WIDEDEEP = ("c1", "c2_l1", "c2_l2", "c2_all")


def _rows_of(
    arm: str, network: NetworkSpec, title: str, rules: Sequence[str], against: str | None
) -> list[ExperimentRow]:
    return [
        ExperimentRow(f"{arm}.{rule}", title, arm, network, rule, against=against, subject=rule == "c2_all")
        for rule in rules
    ]


# Presets


def main_table(choices: Choices) -> Experiment:
    """FairEval and the network under each aggregation (the paper's tables 1 and 2)."""
    wide, fair = _widedeep(choices), _fair_eval(choices, choices.samples)
    rows = [
        ExperimentRow("faireval", fair.name, "faireval", fair, "c1"),
        *_rows_of("widedeep", wide, "WideDeep", _WIDEDEEP, "faireval"),
    ]
    arms = (Arm("faireval", fair.name, fair), Arm("widedeep", "WideDeep", wide))
    return Experiment("main-table", "table", "Main table", arms, tuple(rows), choices)


def baselines(choices: Choices) -> Experiment:
    """The baselines that a network must beat, on the same pairs."""
    wide, fair = _widedeep(choices), _fair_eval(choices, choices.samples)
    single = _network(choices, 1, 1, "Single judge, scores only", roles=False, orders="ab", evidence=False)
    evidence = _network(choices, 1, 1, "Single judge, evidence first", roles=False, orders="ab")
    jury = _widedeep(choices, 1, "Flat jury")
    bare = _without_roles(choices, choices.width, "Network without roles")
    arms = (
        Arm("single", single.name, single),
        Arm("faireval", fair.name, fair),
        Arm("widedeep", "WideDeep", wide),
        Arm("no-roles", bare.name, bare, width_of="widedeep" if choices.width is None else None),
    )
    rows = (
        ExperimentRow("single", single.name, "single", single, "c1", against="widedeep"),
        ExperimentRow("single-evidence", evidence.name, "faireval", evidence, "c1", against="widedeep"),
        ExperimentRow("faireval", fair.name, "faireval", fair, "c1", against="widedeep"),
        ExperimentRow("jury", jury.name, "widedeep", jury, "c2_all", against="widedeep"),
        ExperimentRow("no-roles", bare.name, "no-roles", bare, "c2_all", against="widedeep"),
        ExperimentRow("widedeep", "WideDeep", "widedeep", wide, "c2_all", subject=True),
    )
    return Experiment("baselines", "table", "Baselines", arms, rows, choices)


RECKONED_WIDTH = 4
"""The width that estimates assume where the roles of each pair will decide it; also the fixed width in
:func:`roles`."""


def _without_roles(choices: Choices, width: int | None, name: str) -> NetworkSpec:
    return _network(choices, width or RECKONED_WIDTH, 2, name, roles=False)


def width_depth(choices: Choices) -> Experiment:
    """Every width and depth: a run for each width at the greatest depth holds all shallower ones (the paper's sweep
    over n and l)."""
    widths, depths = sorted(set(choices.widths)), sorted(set(choices.depths))
    limit = widths[-1]
    arms, rows = [], []
    # The widest first: its layer 1 holds all others'.
    for width in reversed(widths):
        name = f"{width}×{depths[-1]}"
        arms.append(Arm(f"n{width}", name, _network(choices, width, depths[-1], name, limit=limit)))
    for depth in depths:
        for width in widths:
            spec = _network(choices, width, depth, f"{width}×{depth}", limit=limit)
            for rule in ("c1", "c2_all"):
                group = f"l = {depth}"
                key = f"n{width}.l{depth}.{rule}"
                rows.append(
                    ExperimentRow(key, spec.name, f"n{width}", spec, rule, group, width, subject=rule == "c2_all")
                )
    return Experiment("width-depth", "sweep", "Width and depth", tuple(arms), tuple(rows), choices)


def roles(choices: Choices) -> Experiment:
    """The network with and without roles, two layers deep: at a fixed width, and as wide as there are roles (the
    paper's table 3). Without roles, each pair gets as many neurons as it has with them."""
    width = choices.width or RECKONED_WIDTH
    some = _network(choices, width, 2, f"With roles, n = {width}")
    some_bare = _without_roles(choices, width, f"Without roles, n = {width}")
    wide = _network(choices, None, 2, "With roles, n unlimited")
    wide_bare = _without_roles(choices, None, "Without roles, n as with them")
    arms = (
        Arm("roles", some.name, some),
        Arm("no-roles", some_bare.name, some_bare),
        Arm("roles-wide", wide.name, wide),
        Arm("no-roles-wide", wide_bare.name, wide_bare, width_of="roles-wide"),
    )
    rows = [
        ExperimentRow(
            f"{key}.{rule}",
            network.name,
            key,
            network,
            rule,
            against=f"{against}.{rule}" if against else None,
            subject=rule == "c2_all" and against is not None,
        )
        for key, network, against in (
            ("roles", some, "no-roles"),
            ("no-roles", some_bare, None),
            ("roles-wide", wide, "no-roles-wide"),
            ("no-roles-wide", wide_bare, None),
        )
        for rule in ("c1", "c2_all")
    ]
    return Experiment("roles", "table", "With and without roles", arms, tuple(rows), choices)


def budget_layers(neurons: int) -> tuple[int, ...]:
    """The widths of two layers that have so many neurons; an odd one is taken from layer 2 (the paper's figure 6).
    One neuron is one layer."""
    first = (neurons + 1) // 2
    return (first, neurons - first) if neurons > 1 else (first,)


def neuron_budget(choices: Choices) -> Experiment:
    """Accuracy by the number of neurons, the network against FairEval with as many samples (the paper's figure 6)."""
    most = choices.budget
    widest = budget_layers(most)[0]
    fair = _fair_eval(choices, most)
    arms = [Arm("faireval", fair.name, fair)]
    for width in range(widest, 0, -1):
        # An even number holds the odd one below it, the last neuron of layer 2 left out; the largest may be odd.
        layers = budget_layers(min(2 * width, most))
        arms.append(Arm(f"n{width}", "+".join(map(str, layers)), _shaped(choices, layers, widest)))
    rows = []
    for neurons in range(1, most + 1):
        layers = budget_layers(neurons)
        spec = _shaped(choices, layers, widest)
        arm = f"n{layers[0]}"
        for rule in ("c1", "c2_all"):
            key, title = f"widedeep.{neurons}.{rule}", f"WideDeep {spec.name}"
            rows.append(ExperimentRow(key, title, arm, spec, rule, "WideDeep", neurons, subject=rule == "c2_all"))
        fair = _fair_eval(choices, neurons)
        rows.append(ExperimentRow(f"faireval.{neurons}", fair.name, "faireval", fair, "c1", "FairEval", neurons))
    return Experiment("neuron-budget", "budget", "Number of neurons", tuple(arms), tuple(rows), choices)


def _shaped(choices: Choices, layers: Sequence[int], limit: int) -> NetworkSpec:
    """A network of fully connected layers of these widths."""
    spec = _network(choices, layers[0], len(layers), "+".join(map(str, layers)), limit=limit)
    first = spec.layers[0]
    deeper = [
        replace(layer_spec, neurons=first.neurons[:1] * width)
        for layer_spec, width in zip(spec.layers[1:], layers[1:], strict=True)
    ]
    return replace(spec, layers=(first, *deeper))


def word_clouds(choices: Choices) -> Experiment:
    """The roles that the model names, by task (the paper's word clouds)."""
    wide = _network(choices, None, 2, "WideDeep")
    arms = (Arm("roles", "Roles", wide, roles_only=True),)
    return Experiment("word-clouds", "clouds", "Roles by task", arms, (), choices)


def annotation_saving(choices: Choices) -> Experiment:
    """How much people must still review so that all reaches the agreement that people have with each other."""
    wide, fair = _widedeep(choices), _fair_eval(choices, choices.samples)
    rows = (
        ExperimentRow("faireval", fair.name, "faireval", fair, "c1", "FairEval"),
        *_rows_of("widedeep", wide, "WideDeep", ("c1", "c2_all"), "faireval"),
    )
    arms = (Arm("faireval", fair.name, fair), Arm("widedeep", "WideDeep", wide))
    return Experiment("annotation-saving", "saving", "Annotation saving", arms, rows, choices)


EXPERIMENTS: dict[str, ExperimentPreset] = {
    preset.key: preset
    for preset in (
        ExperimentPreset(
            "main-table",
            "Main table",
            "Accuracy, macro-F1 and kappa of FairEval and of WideDeep, by each aggregation: c1* (average score), "
            "c2*(l1), c2*(l2) and c2*(all) (votes of layer 1, of layer 2, of all layers).",
            "1 + 4n + 2k calls per pair (n roles, k samples)",
            main_table,
        ),
        ExperimentPreset(
            "width-depth",
            "Width and depth",
            "Networks of 1 to 8 neurons per layer and 1 to 4 layers, on 20 pairs per task.",
            "1 + 2N + 2(L - 1)(1 + 2 + … + N) calls per pair (N neurons, L layers at most)",
            width_depth,
            each=MINI_EACH,
        ),
        ExperimentPreset(
            "roles",
            "With and without roles",
            "Two layers with and without roles, at a fixed width and with one neuron per role.",
            "2 + 8w + 8n calls per pair at most (w neurons of fixed width, n roles)",
            roles,
        ),
        ExperimentPreset(
            "neuron-budget",
            "Number of neurons",
            "Accuracy by the number of neurons: two layers compared with FairEval with as many samples.",
            "1 + 2N + 2w + 2(1 + 2 + … + w) calls per pair (N neurons, w = N/2 wide; 2 fewer where N is odd)",
            neuron_budget,
        ),
        ExperimentPreset(
            "word-clouds",
            "Roles by task",
            "The roles that the model names, as a word cloud for each task. Needs no labels.",
            "1 call per pair",
            word_clouds,
            labels=False,
        ),
        ExperimentPreset(
            "annotation-saving",
            "Annotation saving",
            "The share of pairs that people must still review to reach the agreement between annotators.",
            "1 + 4n + 2k calls per pair, none where the main table has run in the same folder",
            annotation_saving,
        ),
        ExperimentPreset(
            "baselines",
            "Baselines",
            "Single judge with scores only, evidence first, FairEval, flat jury and no roles, compared with WideDeep.",
            "8n + 2k calls per pair (n roles, k samples)",
            baselines,
        ),
    )
}
"""The experiments by name."""


def make(key: str, choices: Choices) -> Experiment:
    """An experiment by name.

    :raises NetworkError: there is none of that name, or a number is below 1.
    """
    preset = EXPERIMENTS.get(key)
    if preset is None:
        raise NetworkError(f"There is no experiment {key!r}. There are: {', '.join(EXPERIMENTS)}.")
    numbers = {
        "width": choices.width or 1,
        "samples": choices.samples,
        "budget": choices.budget,
        "widths": min(choices.widths, default=0),
        "depths": min(choices.depths, default=0),
    }
    if choices.width == 0:
        numbers["width"] = 0
    for name, number in numbers.items():
        if number < 1:
            raise NetworkError(f"{name} of an experiment begins at 1, not {number}.")
    experiment = preset.make(choices)
    return experiment if choices.quorum is None else _with_quorum(experiment, choices.quorum)


def _with_quorum(experiment: Experiment, quorum: int) -> Experiment:
    """The experiment with a quorum of so many neurons. Its networks differ in size: where a verdict rests on fewer
    neurons, all of them are needed. Where the roles of a pair decide how many these are, the quorum stays."""
    if quorum < 1:
        raise NetworkError(f"The quorum of an experiment begins at 1 neuron, not {quorum}.")

    def at_most(spec: NetworkSpec, rule: str, arm: Arm) -> int:
        most = None if arm.width_of is not None else most_voters(spec, rule)
        return quorum if most is None else min(quorum, most)

    arms = tuple(
        replace(
            arm,
            spec=replace(
                arm.spec,
                aggregation=replace(arm.spec.aggregation, quorum=at_most(arm.spec, deciding_of_all(arm.spec), arm)),
            ),
        )
        for arm in experiment.arms
    )
    rows = tuple(
        replace(row, quorum=at_most(row.network, row.rule, experiment.arm(row.arm))) for row in experiment.rows
    )
    return replace(experiment, arms=arms, rows=rows)


def selection_of(preset: ExperimentPreset, limit: int | None, each: int | None, seed: int) -> tuple[Selection, str]:
    """Which pairs an experiment takes, and the same in words: ``limit`` drawn of all, or ``each`` of every task (0: all
    pairs; ``None``: as the experiment does)."""
    if limit is not None:
        return Selection("sample", limit, seed), f"{limit:,} drawn with seed {seed}"
    each = preset.each if each is None else each
    if not each:
        return Selection(), "all pairs"
    return Selection("per_task", each, seed), f"{each:,} of each task, drawn with seed {seed}"


def set_name(file: PurePath) -> str:
    """The name of a set of pairs by its file; one that is only called ``pairs`` by its folder."""
    return file.parent.name if file.stem == "pairs" and file.parent.name else file.stem


def calls_alone(experiment: Experiment, roles: Mapping[str, int]) -> int:
    """The calls for a pair if each network of the rows ran by itself. ``roles`` is how many roles the pair has in each
    arm; where another arm's decide the width, that is the width."""
    calls = 0
    for network in experiment.networks:
        arm = experiment.arm(next(row.arm for row in experiment.rows if row.network == network))
        if arm.width_of is not None:
            network = as_wide_as(network, roles[arm.key])
        calls += count_calls(network, roles[arm.key] if network.roles.kind == "generated" else None).total
    return calls or len(experiment.arms)


def as_wide_as(network: NetworkSpec, width: int) -> NetworkSpec:
    """The network with so many neurons in each layer."""
    return replace(
        network,
        layers=tuple(
            replace(layer_spec, neurons=layer_spec.neurons[:1] * width, adaptive=False) for layer_spec in network.layers
        ),
    )
