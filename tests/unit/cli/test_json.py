"""What commands print for machines: every figure that is missing says why, on runs that have little to say too, and
the keys are those of ``resources/figures.md``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judgenet.assets import asset
from judgenet.cli.errors import ExitCode
from tests.fakes.judge_server import JudgeServer
from tests.unit.cli.conftest import Judgenet, Ran

At = tuple[str, ...]

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("metrics", "RUN", "--by", "task", "--anytime"),
    ("metrics", "RUN", "--by", "human", "--evidence", "0", "--scope", "last"),
    ("rate", "RUN"),
    ("rate", "RUN", "--aggregation", "c1", "--labels", "every:2", "--chosen", "imported"),
    ("rate", "RUN", "--chosen", "within-verdict", "--anytime"),
    ("labels", "RUN", "--width", "0.1"),
    ("labels", "RUN", "--difference", "0.03"),
    ("labels", "RUN", "--compare", "RUN"),
    ("labels", "RUN", "--discordance", "0.02"),
    ("learn", "RUN"),
    ("curve", "RUN"),
    ("cascade", "RUN"),
    ("cascade", "RUN", "--stop-when", "margin>=1 after=neurons", "--aggregation", "c2_last"),
    ("panel", "RUN"),
    ("guarantee", "RUN"),
    ("alt-test", "RUN"),
    ("calibration", "RUN"),
    ("calibration", "RUN", "--bins", "3", "--binning", "quantile"),
    ("compare", "RUN", "RUN"),
    ("check", "RUN", "--require", "c1.accuracy >= .5"),
    ("rank", "RUN"),
    ("bias", "--recorded", "RUN"),
)


def parsed(text: str) -> Any:
    """The one JSON value of a text; NaN and the infinities are none."""

    def refused(name: str) -> Any:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refused)


def nulls_without_reason(found: Any) -> Iterator[str]:
    """Where a ``null`` has neither ``reason`` beside it nor a word in ``reasons`` beside it or one level up."""

    def walk(value: Any, path: str, around: tuple[dict[str, Any], ...]) -> Iterator[str]:
        if isinstance(value, dict):
            for key, inner in value.items():
                beside = (value, *around[-1:])
                if inner is None and not key.endswith("reason") and not any(_says(one, key) for one in beside):
                    yield f"{path}.{key}"
                yield from walk(inner, f"{path}.{key}", (*around, value))
        elif isinstance(value, list):
            for place, inner in enumerate(value):
                yield from walk(inner, f"{path}[{place}]", around)

    return walk(found, "", ())


def _says(beside: dict[str, Any], key: str) -> bool:
    return bool(beside.get("reason")) or bool(beside.get("reasons", {}).get(key))


def record(i: int, **more: Any) -> dict[str, Any]:
    return {"id": f"p{i}", "question": f"Why {i}?", "response_a": f"So {i}.", "response_b": "Because.", **more}


NETWORK = ("--width", "2", "--depth", "2", "--roles", "none")
ONE = ("--width", "1", "--depth", "1", "--roles", "none")
LABELS = ("a", "b", "tie")

AWKWARD: dict[str, tuple[list[dict[str, Any]], tuple[str, ...]]] = {
    "no labels": ([record(i) for i in range(6)], NETWORK),
    "one class": ([record(i, human="a", task="one") for i in range(25)], NETWORK),
    "one pair": ([record(0, human="a", annotators={"x": "a", "y": "b"})], NETWORK),
    "one neuron": ([record(i, human=LABELS[i % 3]) for i in range(24)], ONE),
    "one order": ([record(i, human=LABELS[i % 3]) for i in range(24)], (*NETWORK, "--orders", "ab")),
    "no valid call": ([record(i, human=LABELS[i % 3], annotators={"x": "a"}) for i in range(4)], NETWORK),
    "one system": ([record(i, human=LABELS[i % 3], model_a="m", model_b="m") for i in range(24)], ONE),
    "three systems, equal lengths": (
        [
            record(
                i, response_a="So.", response_b="No.", model_a="xyz"[i % 3], model_b="yzx"[i % 3], human=LABELS[i % 3]
            )
            for i in range(24)
        ],
        ONE,
    ),
    "one question": (
        [
            record(i, question="Why?", response_a=f"So {i}.", human=LABELS[i % 3], annotators={"x": "a", "y": "b"})
            for i in range(24)
        ],
        NETWORK,
    ),
    "two systems": (
        [record(i, human=LABELS[i % 3], model_a="m", model_b="n", task=f"t{i % 2}") for i in range(24)],
        NETWORK,
    ),
}


def wrong(ran: Ran) -> list[str]:
    """What is wrong with an answer: it does its work and says why of all that is missing, or it refuses in words."""
    if ran.code in (ExitCode.DONE, ExitCode.NOT_MET):
        return list(nulls_without_reason(parsed(ran.out)))
    refused = ran.code in (1, 2) and ran.err.strip() and not ran.out.strip() and "Traceback" not in ran.err
    return [] if refused else [ran.err or f"exit code {ran.code} without a word"]


def all_wrong(judgenet: Judgenet) -> dict[str, list[str]]:
    """The commands that fail on the run ``out``, with what is wrong."""
    found = {
        " ".join(command): wrong(judgenet(*("out" if word == "RUN" else word for word in command), "--json"))
        for command in COMMANDS
    }
    return {command: problems for command, problems in found.items() if problems}


@pytest.mark.parametrize("kind", AWKWARD)
def test_awkward_runs_say_why(kind: str, judgenet: Judgenet, at: At, server: JudgeServer, tmp_path: Path) -> None:
    records, network = AWKWARD[kind]
    if kind == "no valid call":
        server.set(faults={"prose": 1.0})
    pairs = tmp_path / "awkward.jsonl"
    pairs.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    judgenet("run", "--pairs", pairs, *at, "--out", "out", *network)
    assert all_wrong(judgenet) == {}


@pytest.mark.parametrize("kind", ["verdicts", "scores", "none for some"])
def test_imported_judgments_say_why(kind: str, judgenet: Judgenet, tmp_path: Path) -> None:
    """Recorded verdicts without texts, in one order, by judges that did not see all pairs."""
    pairs, judgments = tmp_path / "pairs.jsonl", tmp_path / "judgments.jsonl"
    with pairs.open("w", encoding="utf-8") as out, judgments.open("w", encoding="utf-8") as said:
        for i in range(24):
            out.write(json.dumps(record(i, human=LABELS[i % 3])) + "\n")
            for judge in ("x", "y"):
                if kind == "none for some" and (judge == "y" or i % 2):
                    continue
                line = {"pair_id": f"p{i}", "judge": judge, "order": "ab"}
                line |= {"scores": [7, 5 + i % 4]} if kind == "scores" else {"verdict": LABELS[i % 2]}
                said.write(json.dumps(line) + "\n")
    ran = judgenet("import", judgments, "--pairs", pairs, "--out", "out")
    assert ran.code == 0, ran.err
    assert all_wrong(judgenet) == {}


@pytest.mark.parametrize("kind", ["no labels", "one class", "no valid call"])
def test_what_comes_before_a_run_and_experiments_say_why(
    kind: str, judgenet: Judgenet, at: At, server: JudgeServer, tmp_path: Path
) -> None:
    """Nobody labelled, all said the same, or no answer can be read."""
    if kind == "no valid call":
        server.set(faults={"prose": 1.0})
    pairs = tmp_path / "awkward.jsonl"
    pairs.write_text("".join(json.dumps(one) + "\n" for one in AWKWARD[kind][0]), encoding="utf-8")
    asked = ("--pairs", pairs, *at)
    trial = (*asked, "--out", "trial", "-q")
    for words in (
        ("estimate", *asked),
        ("bias", *asked, "--estimate", "--out", "lab"),
        ("experiment", "main-table", *trial, "--estimate"),
        ("experiment", "main-table", *trial),
        ("experiment", "annotation-saving", *trial),
        ("experiment", "neuron-budget", *trial, "--neurons", "2"),
    ):
        found = parsed(judgenet(*words, "--json").out)
        assert list(nulls_without_reason(found)) == [], words


@pytest.mark.parametrize("fault", ["prose", "auth"])
def test_a_preflight_says_why(fault: str, judgenet: Judgenet, at: At, server: JudgeServer) -> None:
    server.set(faults={fault: 1.0})
    found = parsed(judgenet("preflight", *at, "-q", "--json").out)
    assert found["light"] == "red"
    assert list(nulls_without_reason(found)) == []


def test_the_simulation_says_why(judgenet: Judgenet) -> None:
    ran = judgenet("selfcheck", "statistics", "--runs", "100", "--json")
    assert list(nulls_without_reason(parsed(ran.out))) == []


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        ({"x": None}, [".x"]),
        ({"x": None, "reason": "why"}, []),
        ({"x": {"y": None}, "reasons": {"y": "why"}}, []),
        ({"x": {"y": {"z": None}}, "reasons": {"z": "why"}}, [".x.y.z"]),
        ({"x": [{"y": None, "reasons": {}}]}, [".x[0].y"]),
    ],
)
def test_a_null_without_a_reason_is_found(value: Any, missing: list[str]) -> None:
    assert list(nulls_without_reason(value)) == missing


# The list of keys


Keys = tuple[str, ...]
_PLAIN = {"number", "text", "list", "interval", "yes/no", "reasons", "object"}
_AT_THE_TOP = {("ranking",), ("bias",), ("estimate",), ("plan",), ("savings",)}
"""Parts whose keys stand at the top of an answer."""


def _tables() -> dict[str, list[tuple[Keys, str]]]:
    """Of each section the keys, as segments, and what they hold."""
    found: dict[str, list[tuple[Keys, str]]] = {}
    section = ""
    for line in asset("figures.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("##"):
            section = line.lstrip("# ")
        elif line.startswith("| `"):
            key, holds, _ = (cell.strip() for cell in line.strip("|").split("|"))
            found.setdefault(section, []).append((tuple(key.strip("`").split(".")), holds))
    return found


def documented(command: str) -> dict[Keys, bool]:
    """The keys of a command, parts filled in, and whether every run has them."""
    tables = _tables()

    def filled(section: str) -> Iterator[tuple[Keys, bool]]:
        for keys, holds in tables[section]:
            part, always = holds.removesuffix("?"), not holds.endswith("?")
            if part in _PLAIN:
                yield keys, always
                continue
            before = () if keys in _AT_THE_TOP else keys
            for inner, inner_always in filled(part):
                yield (*before, *inner), always and inner_always

    return dict(filled(command))


def leaves(value: Any, path: Keys = ()) -> Iterator[Keys]:
    """The paths of all that is no object; lists of objects have ``[]``. What is inside a network is told elsewhere."""
    if isinstance(value, dict) and value and path[-1:] != ("reasons",) and path[-2:-1] != ("networks",):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for inner in value:
            yield from leaves(inner, (*path[:-1], f"{path[-1]}[]"))
    else:
        yield path


def matches(keys: Keys, path: Keys) -> bool:
    """Whether a path is one of these keys, or stops where there is nothing: an empty list, an object that is null."""
    return len(path) <= len(keys) and all(
        key == name
        or key.removesuffix("[]") == name
        or (key.isupper() and not name.endswith("[]"))
        or (key == "c2_LAYER" and name.startswith("c2_"))
        for key, name in zip(keys, path, strict=False)
    )


def rich(folder: Path) -> tuple[Path, Path]:
    """Pairs of three systems and two tasks with annotators, and three judges' verdicts on them in both orders."""
    pairs, judgments = folder / "pairs.jsonl", folder / "judgments.jsonl"
    with pairs.open("w", encoding="utf-8") as out, judgments.open("w", encoding="utf-8") as said:
        for i in range(60):
            human = "tie" if i % 7 == 0 else "ab"[i % 2]
            more = {"model_a": "mnk"[i % 3], "model_b": "nkm"[i % 3], "task": f"t{i % 2}"}
            more |= {"annotators": {"x": human, "y": LABELS[i % 3], "z": human}}
            lengths = {"response_a": "So. " * (1 + i % 3), "response_b": "Because. " * (1 + i % 4)}
            out.write(json.dumps({**record(i, **more), **lengths, **({"human": human} if i % 5 else {})}) + "\n")
            for number, judge in enumerate("uvw"):
                for order in ("ab", "ba"):
                    verdict = human if (i + number + len(judge)) % 4 else LABELS[(i + (order == "ba")) % 3]
                    line = {"pair_id": f"p{i}", "judge": judge, "order": order, "verdict": verdict}
                    said.write(json.dumps(line) + "\n")
    return pairs, judgments


@pytest.fixture
def two_runs(judgenet: Judgenet, at: At, tmp_path: Path) -> None:
    """A run of two layers with roles (``asked``) and one of recorded judgments (``recorded``), of the same pairs."""
    pairs, judgments = rich(tmp_path)
    roles = tmp_path / "roles.json"
    roles.write_text(
        json.dumps([{"name": "Critic", "description": "Finds."}, {"name": "Reader", "description": "Reads."}]),
        encoding="utf-8",
    )
    asked = judgenet("run", "--pairs", pairs, *at, "--out", "asked", "--depth", "2", "--roles", roles)
    assert asked.code == 0, asked.err
    assert judgenet("import", judgments, "--pairs", pairs, "--out", "recorded").code == 0
    assert judgenet("import", judgments, "--pairs", pairs, "--out", "labelled").code == 0
    document = json.loads((tmp_path / "asked" / "run.judgenet").read_text(encoding="utf-8"))
    document["pairs"]["files"] = ["pairs.jsonl"]
    (tmp_path / "divided.judgenet").write_text(json.dumps(document), encoding="utf-8")
    assert judgenet("run", "divided.judgenet", *at, "--shard", "1/2", "-q").code == 0
    (tmp_path / "said.csv").write_text("pair_id,label\np0,a\np1,tie\n", encoding="utf-8")


LAB = (
    *("--pairs", "pairs.jsonl", "AT", "--out", "lab", "--limit", "12", "-q", "--own-system", "m"),
    *("--width", "1", "--depth", "2", "--roles", "none"),
)

TRIAL = ("--pairs", "pairs.jsonl", "AT", "--out", "trial", "--limit", "12")

LISTED: dict[str, tuple[tuple[str, ...], ...]] = {
    "judgenet metrics": (("metrics", "asked", "--by", "task"), ("metrics", "recorded", "--by", "human", "--anytime")),
    "judgenet rate": (("rate", "asked"), ("rate", "recorded", "--chosen", "random", "--anytime")),
    "judgenet labels": (("labels", "asked"), ("labels", "recorded", "--chosen", "random")),
    "judgenet labels --compare": (
        ("labels", "asked", "--compare", "recorded"),
        ("labels", "--discordance", "0.2", "--difference", "0.05"),
    ),
    "judgenet labels --import": (
        ("labels", "labelled", "--import", "said.csv", "--annotator", "Ada", "--no-majority", "tie"),
        ("labels", "labelled", "--export", "kept.csv"),
    ),
    "judgenet learn": (("learn", "asked", "--leave-out", "task"), ("learn", "recorded")),
    "judgenet curve": (("curve", "asked"), ("curve", "recorded")),
    "judgenet cascade": (
        ("cascade", "asked"),
        ("cascade", "recorded", "--first", "u", "--first", "v", "--then", "w", "--stop-when", "neurons-agree"),
    ),
    "judgenet panel": (("panel", "asked"), ("panel", "recorded", "--neuron", "u", "--neuron", "v")),
    "judgenet guarantee": (("guarantee", "asked"), ("guarantee", "recorded", "--alpha", "0.45", "--chosen", "random")),
    "judgenet calibration": (("calibration", "asked"), ("calibration", "recorded")),
    "judgenet alt-test": (("alt-test", "asked"), ("alt-test", "recorded", "--epsilon", "0.1")),
    "judgenet compare": (("compare", "asked", "recorded"),),
    "judgenet check": (
        ("check", "asked", "--require", "state == running", "--require", "rate.corrected.low > .5"),
        ("check", "recorded", "--require", "c1.accuracy >= .1", "--against", "asked"),
    ),
    "judgenet rank": (("rank", "asked"), ("rank", "recorded")),
    "judgenet experiment": (
        ("experiment", "main-table", *TRIAL, "-q"),
        ("experiment", "annotation-saving", *TRIAL, "-q"),
        ("experiment", "word-clouds", *TRIAL, "-q"),
        ("experiment", "width-depth", *TRIAL, "-q", "--widths", "1..2", "--depths", "1..2"),
    ),
    "judgenet experiment --estimate": (("experiment", "main-table", *TRIAL, "--estimate"),),
    "judgenet experiment list": (("experiment", "list"),),
    "judgenet estimate": (("estimate", "--pairs", "pairs.jsonl", "AT"),),
    "judgenet preflight": (("preflight", "AT", "-q"),),
    "judgenet import": (("import", "judgments.jsonl", "--pairs", "pairs.jsonl", "--out", "again"),),
    "judgenet status": (("status", "divided.judgenet"),),
    "judgenet merge": (("merge", "divided.judgenet", "--partial"),),
    "judgenet export --what calls": (("export", "asked", "--what", "calls"), ("export", "recorded", "--what", "calls")),
    "judgenet export --what verdicts": (("export", "asked", "--what", "verdicts"),),
    "judgenet export --what preferences": (("export", "asked", "--what", "preferences"),),
    "judgenet export --what systems": (("export", "asked", "--what", "systems", "--format", "jsonl"),),
    "judgenet export --what roles": (("export", "asked", "--what", "roles"),),
    "judgenet bias": (("bias", *LAB, "--probes", "all"),),
    "judgenet bias --for-people": (("bias", *LAB, "--probes", "all", "--for-people", "sheet.csv"),),
    "judgenet bias --people": (("bias", *LAB, "--probes", "all", "--people", "sheet.csv", "--annotator", "Ada"),),
    "judgenet bias --estimate": (("bias", *LAB, "--probes", "all", "--estimate"),),
    "judgenet export --what labels": (("export", "labelled", "--what", "labels"),),
    "judgenet export --what network": (("export", "asked", "--what", "network"),),
    "judgenet export --what bias": (("export", "lab", "--what", "bias"),),
    "judgenet bias --recorded": (("bias", "--recorded", "asked"), ("bias", "--recorded", "recorded")),
    "judgenet endpoint trust": (("endpoint", "trust"),),
    "judgenet endpoint models": (("endpoint", "models", "embedded"),),
    "judgenet version --check": (("version", "--check"),),
    "judgenet selfcheck screen": (("selfcheck", "screen"),),
    "judgenet selfcheck statistics": (("selfcheck", "statistics", "--runs", "100"),),
    "judgenet selfcheck statistics --grid edges": (("selfcheck", "statistics", "--grid", "edges", "--runs", "10"),),
    "judgenet selfcheck statistics --grid anytime": (("selfcheck", "statistics", "--grid", "anytime", "--runs", "40"),),
}


def _records(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Records that have the same keys as one, with a value of each where one has it."""
    assert len({tuple(record) for record in lines}) == 1
    return {key: next((one[key] for one in lines if one[key]), None) for key in lines[0]}


def answer(judgenet: Judgenet, words: list[str]) -> Any:
    """What a command prints for machines, with a reason beside all that is missing."""
    if words[-1] == "network":
        network = parsed(judgenet(*words).out)
        assert network["graph"]["design"].pop("layers")
        return network | {"graph": network["graph"] | {"design": None}}
    if words[0] == "export":
        return _records(judgenet(*words).lines)
    found = parsed(judgenet(*words, "--json").out)
    assert list(nulls_without_reason(found)) == [], words
    return found


def test_the_listed_keys_are_those_that_come_out(
    judgenet: Judgenet, two_runs: None, at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # no index is asked for a newer version
    assert set(LISTED) == {section for section in _tables() if section.startswith("judgenet ")}
    unlisted, never = set[str](), set[str]()
    for section, commands in LISTED.items():
        listed = documented(section)
        asked = [[part for word in command for part in (at if word == "AT" else (word,))] for command in commands]
        paths = {path for words in asked for path in leaves(answer(judgenet, words))}
        for path in paths:
            if not any(matches(keys, path) for keys in listed):
                unlisted.add(f"{section}: {'.'.join(path)}")
        for keys, always in listed.items():
            if always and not any(matches(keys, path) for path in paths):
                never.add(f"{section}: {'.'.join(keys)}")
    assert (sorted(unlisted), sorted(never)) == ([], [])
