from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgenet.core import project as module
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.network import ChairSpec, LayerSpec, NetworkSpec, NeuronSpec, Role, RolesSpec, Settings, Wiring
from judgenet.core.pairs import Pair
from judgenet.core.project import (
    PairsSource,
    Project,
    ProjectError,
    Selection,
    new_salt,
    rebased,
    relative_path,
    select,
)
from judgenet.formats.mapping import PairMapping

KEY = "sk-proj-" + "AbCdEfGhIjKlMnOp1234567890"
SALT = "0123456789abcdef0123456789abcdef"
NETWORK = NetworkSpec(layers=(LayerSpec((NeuronSpec(), NeuronSpec())), LayerSpec((NeuronSpec(),))))
PLAIN = Project("Plain", NETWORK, SALT)
FULL = Project(
    name="Всё вместе 全部",
    network=replace(NETWORK, chair=ChairSpec(), name="two layers"),
    salt=SALT,
    pairs=PairsSource(
        files=("data/pairs.csv", "../more/é.csv"),
        format="csv",
        columns={"question": "prompt", "annotators": "one+two"},
        labels={"1": "a", "2": "b", "0": "tie", "": None},
        options={"no_majority": None, "joiner": " "},
        selection=Selection("sample", count=20, seed=7),
    ),
    endpoints=(
        EndpointProfile("z", base_url="https://z.example/v1", api_key="Z_KEY", model="m"),
        EndpointProfile("a", kind="replay", source="runs/first"),
    ),
    prompts={"judge.en": "Say {what}\nyou think \u2028 {{}}"},
    prices={"prices": 1, "currency": "EUR", "entries": [{"models": ["m*"], "input": 0.15, "output": 1}]},
    metadata={"who": "me", "tags": ["x", None, {"deep": 1.5}]},
)

TEXT = st.text(max_size=20)
SETTINGS = st.builds(
    Settings,
    endpoint=st.none() | TEXT,
    model=st.none() | TEXT,
    temperature=st.none() | st.just("default") | st.floats(0, 2),
    max_tokens=st.none() | st.integers(1, 10_000),
    samples=st.none() | st.integers(1, 9),
)
ROLES = st.builds(Role, st.text(min_size=1, max_size=10), TEXT)
NEURONS = st.builds(NeuronSpec, role=st.none() | ROLES, settings=SETTINGS)
LAYERS = st.builds(
    LayerSpec,
    neurons=st.lists(NEURONS, min_size=1, max_size=3).map(tuple),
    wiring=st.builds(Wiring, st.sampled_from(["full", "window"]), st.integers(1, 3)),
    settings=SETTINGS,
)
NETWORKS = st.builds(
    NetworkSpec,
    layers=st.lists(LAYERS, min_size=1, max_size=3).map(tuple),
    roles=st.builds(RolesSpec, kind=st.sampled_from(["generated", "none"]), limit=st.none() | st.integers(1, 9)),
    orders=st.sampled_from(["both", "ab", "ba", "random"]),
    seed=st.integers(0, 2**63),
    chair=st.none() | st.builds(ChairSpec, SETTINGS),
    name=TEXT,
)
FILES = st.from_regex(r"(\.\./)?[a-z ]{1,8}/[a-z中é.]{1,8}", fullmatch=True)
SELECTIONS = st.one_of(
    st.just(Selection()),
    st.builds(
        Selection, st.sampled_from(["first", "sample", "per_task"]), st.integers(1, 10**6), st.integers(0, 2**40)
    ),
    st.builds(Selection, st.just("ids"), ids=st.lists(TEXT, min_size=1, max_size=3).map(tuple)),
)
SOURCES = st.builds(
    PairsSource,
    files=st.lists(FILES, min_size=1, max_size=4).map(tuple),
    format=st.none() | st.sampled_from(["csv", "llmeval2"]),
    columns=st.dictionaries(TEXT, TEXT, max_size=3),
    labels=st.dictionaries(TEXT, st.sampled_from(["a", "b", "tie", None]), max_size=3),
    selection=SELECTIONS,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=10,
)
PROJECTS = st.builds(
    Project,
    name=TEXT,
    network=NETWORKS,
    salt=st.from_regex(r"[0-9a-f]{32}", fullmatch=True),
    pairs=st.none() | SOURCES,
    endpoints=st.lists(
        st.builds(
            EndpointProfile,
            name=st.from_regex(r"[a-z][a-z0-9.-]{0,8}", fullmatch=True),
            base_url=st.just("https://host.example/v1"),
            concurrency=st.integers(1, 100),
        ),
        max_size=3,
        unique_by=lambda profile: profile.name,
    ).map(tuple),
    prompts=st.dictionaries(TEXT, TEXT, max_size=3),
    prices=st.just({})
    | st.fixed_dictionaries(
        {
            "entries": st.lists(
                st.fixed_dictionaries({"models": st.just(["m"]), "input": st.floats(0, 9), "output": st.integers(0, 9)})
            )
        }
    ),
    metadata=st.dictionaries(TEXT, JSON, max_size=3),
)


def changed(project: Project, **members: Any) -> str:
    """The project's document with some top members replaced, as an editor would leave it."""
    return json.dumps(json.loads(project.dumps()) | members)


@given(PROJECTS)
def test_a_project_survives_its_file(project: Project) -> None:
    text = project.dumps()
    assert Project.loads(text) == project
    assert Project.loads(text).dumps() == text


def test_everything_in_a_project_survives_its_file() -> None:
    loaded = Project.loads(FULL.dumps())
    assert loaded == FULL
    assert [profile.name for profile in loaded.endpoints] == ["a", "z"]
    assert (loaded.readonly, loaded.notice, loaded.extra) == (False, "", ())


def test_the_mapping_is_what_the_formats_take() -> None:
    assert FULL.pairs is not None
    mapping = PairMapping.from_json(FULL.pairs.mapping or {})
    assert mapping == PairMapping(columns=FULL.pairs.columns, labels=FULL.pairs.labels, joiner=" ", no_majority=None)
    assert PairsSource(("x",)).mapping is None
    assert PairMapping.from_json(PairsSource(("x",), columns={"question": "q"}).mapping or {}).labels is None


def test_the_document_is_sorted_versioned_readable_json() -> None:
    text = FULL.dumps()
    document = json.loads(text)
    assert (document["schema"], document["requires"]) == (1, "0.1.0")
    assert text == json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    assert "全部" in text


def test_a_lone_surrogate_in_a_prompt_survives_utf8() -> None:
    project = replace(PLAIN, prompts={"judge": "half \ud83d of a pair"})
    assert Project.loads(project.dumps().encode("utf-8").decode("utf-8")) == project


def test_each_new_project_has_a_salt_of_its_own() -> None:
    salts = {Project.new("x", NETWORK).salt for _ in range(50)}
    assert len(salts) == 50
    assert all(len(salt) == 32 and int(salt, 16) >= 0 for salt in salts)
    assert len(new_salt()) == 32


def test_unknown_members_are_kept_at_every_depth_and_through_edits() -> None:
    document = json.loads(FULL.dumps())
    document["canvas"] = {"zoom": 1.5}
    document["pairs"]["sheet"] = "Sheet 2"
    document["pairs"]["selection"]["strata"] = ["task"]
    document["endpoints"]["z"]["region"] = "eu"
    document["network"]["layers"][0]["colour"] = "blue"
    document["network"]["layers"][0]["neurons"][1]["pinned"] = True
    project = Project.loads(json.dumps(document))
    assert replace(project, extra=()) == FULL
    assert json.loads(project.dumps()) == document
    edited = replace(project, name="New", endpoints=project.endpoints[:1])
    document["name"] = "New"
    del document["endpoints"]["z"]
    assert json.loads(edited.dumps()) == document


def test_a_newer_version_opens_read_only_with_a_message() -> None:
    text = changed(FULL, schema=7, requires="3.2.0", judges={"new": "thing"})
    project = Project.loads(text)
    assert project.readonly is True
    assert (project.name, project.network, project.pairs) == (FULL.name, FULL.network, FULL.pairs)
    assert "newer program" in project.notice
    assert "JudgeNet 3.2.0 or newer" in project.notice
    with pytest.raises(ProjectError, match=r"read-only and was not saved.*JudgeNet 3\.2\.0"):
        project.dumps()


def test_a_newer_version_without_its_programs_number_says_so_too() -> None:
    document = json.loads(changed(PLAIN, schema=2))
    del document["requires"]
    assert "a newer JudgeNet" in Project.loads(json.dumps(document)).notice


def test_a_newer_version_that_cannot_be_read_says_what_it_needs() -> None:
    with pytest.raises(ProjectError, match=r"network\.layers.*JudgeNet 9\.0 or newer"):
        Project.loads(changed(PLAIN, schema=9, requires="9.0", network={"graph": []}))


def test_an_older_version_is_brought_up_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    old = changed(PLAIN, title="Old name")
    monkeypatch.setattr(module, "SCHEMA", 3)
    monkeypatch.setitem(module.MIGRATIONS, 1, lambda document: document | {"label": document["title"]})
    monkeypatch.setitem(module.MIGRATIONS, 2, lambda document: document | {"name": document["label"]})
    project = Project.loads(old)
    assert (project.name, project.readonly) == ("Old name", False)
    assert json.loads(project.dumps())["schema"] == 3


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("", "", "not JSON"),
        ("[]", "", "must be an object, but is a list"),
        ("{}", "schema", "no JudgeNet project"),
        ('{"schema": "1"}', "schema", "must be a whole number"),
        ('{"schema": 0}', "schema", "no JudgeNet project"),
        ('{"schema": 1, "schema": 2}', "", "occurs twice"),
        (changed(PLAIN, salt=None), "salt", '"salt": "'),
        (changed(PLAIN, salt="short"), "salt", "16 to 128"),
        (changed(PLAIN, name=None), "name", "is missing"),
        (changed(PLAIN, name=3), "name", "must be a text, but is a number"),
        (changed(PLAIN, network=[]), "network", "must be an object"),
        (changed(PLAIN, network={"layers": [{"neurons": 3}]}), "network.layers[0].neurons", "must be a list"),
        (changed(PLAIN, network={"layers": [], "orders": "up"}), "network.orders", "must be one of both"),
        (changed(PLAIN, pairs={}), "pairs.files", "one file or more"),
        (changed(PLAIN, pairs={"files": "a.csv"}), "pairs.files", "must be a list of texts"),
        (changed(PLAIN, pairs={"files": [""]}), "pairs.files", "one file or more"),
        (changed(PLAIN, pairs={"files": ["a"], "labels": {"1": "x"}}), "pairs.labels.1", "a, b, tie or null"),
        (changed(PLAIN, pairs={"files": ["a"], "columns": {"q": 1}}), "pairs.columns.q", "but is a number"),
        (changed(PLAIN, pairs={"files": ["a"], "selection": {"kind": "some"}}), "pairs.selection.kind", "all, first"),
        (changed(PLAIN, pairs={"files": ["a"], "selection": {"kind": "first"}}), "pairs.selection.count", "1 or more"),
        (
            changed(PLAIN, pairs={"files": ["a"], "selection": {"kind": "per_task"}}),
            "pairs.selection.count",
            "1 or more",
        ),
        (
            changed(PLAIN, pairs={"files": ["a"], "selection": {"kind": "sample", "count": 0}}),
            "pairs.selection.count",
            "1 or more",
        ),
        (changed(PLAIN, pairs={"files": ["a"], "selection": {"kind": "ids"}}), "pairs.selection.ids", "one pair"),
        (changed(PLAIN, endpoints={"m": {"base_url": "nowhere"}}), "endpoints.m.base_url", "must begin with http"),
        (changed(PLAIN, endpoints={"m": {"base_url": "http://h", "api_key": KEY}}), "endpoints.m.api_key", "the key"),
        (changed(PLAIN, prompts={"judge": ["a"]}), "prompts.judge", "must be a text, but is a list"),
        (changed(PLAIN, prices={"entries": [{"models": ["m"], "input": -1}]}), "prices.entries[0].input", "0 or more"),
        (changed(PLAIN, prices={"gpt": {"input": 1}}), "prices.gpt", "is not known"),
        (changed(PLAIN, metadata=[]), "metadata", "must be an object"),
    ],
)
def test_trouble_is_named_by_its_path_and_a_key_is_not_repeated(text: str, path: str, words: str) -> None:
    with pytest.raises(ProjectError) as caught:
        Project.loads(text)
    assert caught.value.path == path
    assert words in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": KEY},
        {"prompts": {"judge": f"the key is {KEY}."}},
        {"prompts": {KEY: "text"}},
        {"metadata": {"notes": ["", {"here": KEY}]}},
        {"metadata": {"api_key": "correct horse battery"}},
        {"metadata": {"url": "https://me:" + "pass-word@host"}},
        {"prices": {"entries": [], "note": KEY}},
        {"network": replace(NETWORK, settings=Settings(model=KEY))},
        {"pairs": PairsSource(files=(f"{KEY}.csv",))},
        {"endpoints": (EndpointProfile("m", base_url="http://h", api_key=KEY),)},
        {"endpoints": (EndpointProfile("m", base_url="http://h", headers=(("X-Api-Key", "x"),)),)},
        {"extra": ((("endpoints", "m", "api_token"), KEY), (("note",), KEY))},
    ],
)
def test_nothing_that_looks_like_a_key_is_written_or_repeated(changes: dict[str, Any]) -> None:
    with pytest.raises(ProjectError) as caught:
        replace(PLAIN, **changes).dumps()
    assert KEY not in str(caught.value)
    assert "pass-word" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"metadata": {"x": float("nan")}},
        {"metadata": {"x": {1, 2}}},
        {"salt": "no"},
        {"pairs": PairsSource(files=())},
        {"pairs": PairsSource(files=("/data/pairs.csv",))},
        {"pairs": PairsSource(files=("a",), selection=Selection("first"))},
        {"endpoints": (EndpointProfile("m", base_url="http://a"), EndpointProfile("m", base_url="http://b"))},
        {"endpoints": (EndpointProfile("m", kind="replay", source="/runs/1"),)},
    ],
)
def test_what_could_not_be_read_again_is_not_written(changes: dict[str, Any]) -> None:
    with pytest.raises(ProjectError):
        replace(PLAIN, **changes).dumps()


def test_a_path_typed_on_windows_is_understood_everywhere() -> None:
    text = changed(
        PLAIN,
        pairs={"files": ["data\\sub\\pairs.csv"]},
        endpoints={"again": {"kind": "replay", "source": "runs\\first"}},
    )
    project = Project.loads(text)
    assert project.pairs is not None
    assert project.pairs.files == ("data/sub/pairs.csv",)
    assert project.endpoints[0].source == "runs/first"
    assert "\\\\" not in project.dumps()


@pytest.mark.parametrize(
    ("target", "folder", "text"),
    [
        (PurePosixPath("/srv/me/p/data/x.csv"), PurePosixPath("/srv/me/p"), "data/x.csv"),
        (PurePosixPath("/data/x.csv"), PurePosixPath("/srv/me"), "../../data/x.csv"),
        (PureWindowsPath("C:\\Me\\p\\data\\x.csv"), PureWindowsPath("c:\\me\\p"), "data/x.csv"),
        (PureWindowsPath("C:\\data\\x.csv"), PureWindowsPath("C:\\me\\p"), "../../data/x.csv"),
        (PureWindowsPath("D:\\data\\x.csv"), PureWindowsPath("C:\\me"), "D:/data/x.csv"),
        (PureWindowsPath("\\\\server\\share\\x.csv"), PureWindowsPath("C:\\me"), "//server/share/x.csv"),
    ],
)
def test_paths_are_written_relative_with_forward_slashes(target: PurePath, folder: PurePath, text: str) -> None:
    assert relative_path(target, folder) == text


def test_a_name_that_windows_cannot_read_is_refused() -> None:
    with pytest.raises(ProjectError, match="backslash"):
        relative_path(PurePosixPath("/p/a\\b.csv"), PurePosixPath("/p"))


def test_a_moved_project_still_points_to_its_files() -> None:
    here, there = PurePosixPath("/srv/me/a"), PurePosixPath("/srv/me/b/deep")
    moved = rebased(FULL, here, there)
    assert moved.pairs is not None
    assert moved.pairs.files == ("../../a/data/pairs.csv", "../../more/é.csv")
    assert moved.endpoints[0].source == "../../a/runs/first"
    assert rebased(moved, there, here) == FULL
    assert rebased(FULL, here, here) == FULL


def test_absolute_paths_become_relative_where_they_can() -> None:
    project = replace(PLAIN, pairs=PairsSource(files=("/srv/me/a/x.csv", "D:/data/y.csv")))
    on_linux = rebased(project, PurePosixPath("/srv/me/a"), PurePosixPath("/srv/me/a"))
    assert on_linux.pairs is not None
    assert on_linux.pairs.files == ("x.csv", "D:/data/y.csv")
    on_windows = rebased(project, PureWindowsPath("D:/me"), PureWindowsPath("D:/me"))
    assert on_windows.pairs is not None
    assert on_windows.pairs.files[1] == "../data/y.csv"


PAIRS = [Pair(str(number), "q", "a", "b") for number in range(100)]


def ids(selection: Selection, pairs: list[Pair] = PAIRS) -> list[str]:
    return [pair.id for pair in select(pairs, selection)]


def test_all_and_first_and_ids_are_taken_in_the_order_of_the_source() -> None:
    assert select(PAIRS, Selection()) == tuple(PAIRS)
    assert ids(Selection("first", 3)) == ["0", "1", "2"]
    assert ids(Selection("first", 1000)) == [pair.id for pair in PAIRS]
    assert ids(Selection("ids", ids=("7", "3", "7"))) == ["3", "7"]


def test_a_sample_depends_on_its_seed_alone_and_grows_by_adding() -> None:
    small, large = ids(Selection("sample", 10, 1)), ids(Selection("sample", 30, 1))
    assert len(small) == 10
    assert small == sorted(small, key=int)
    assert set(small) < set(large)
    assert set(ids(Selection("sample", 10, 1), PAIRS[::-1])) == set(small)
    assert ids(Selection("sample", 10, 2)) != small
    assert len(ids(Selection("sample", 1000, 1))) == 100


def test_so_many_of_each_task() -> None:
    tasks = ["code", "talk", None, "code", "code"]
    pairs = [replace(pair, task=tasks[place % 5]) for place, pair in enumerate(PAIRS)]
    chosen = select(pairs, Selection("per_task", 3, 1))
    assert Counter(pair.task for pair in chosen) == {"code": 3, "talk": 3, None: 3}
    assert [pair.id for pair in chosen] == sorted((pair.id for pair in chosen), key=int)
    assert set(ids(Selection("per_task", 3, 1), pairs[::-1])) == {pair.id for pair in chosen}
    assert {pair.id for pair in chosen} < set(ids(Selection("per_task", 4, 1), pairs))
    assert Counter(pair.task for pair in select(pairs, Selection("per_task", 30, 1))) == {
        "code": 30,
        "talk": 20,
        None: 20,
    }
    # One task: the same as a sample of all.
    assert select(PAIRS, Selection("per_task", 7, 5)) == select(PAIRS, Selection("sample", 7, 5))


def test_ids_that_are_not_there_are_named() -> None:
    with pytest.raises(ProjectError, match=r"pairs\.selection\.ids: 2 of the ids are not in the pairs: '007', 'x'"):
        select(PAIRS, Selection("ids", ids=("x", "007", "3")))
    with pytest.raises(ProjectError, match="1 or more"):
        select(PAIRS, Selection("sample"))
    with pytest.raises(ProjectError, match="1 or more"):
        select(PAIRS, Selection("per_task", 0))
