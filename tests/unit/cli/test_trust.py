"""A project from somebody else gets no key, header, pair or file that the user has not approved."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from judgenet.core.endpoints import EndpointProfile
from judgenet.core.project import PairsSource
from judgenet.store.approvals import file_needs
from judgenet.store.files import load_project, save_project
from judgenet.store.settings import provider_keys
from tests.fakes.listener import SECRET, Listener, their_project
from tests.unit.cli.conftest import Judgenet


@pytest.fixture
def listener() -> Iterator[Listener]:
    found = Listener()
    yield found
    found.close()


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> str:
    """Keys of the user's in the environment."""
    for name in ("AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, SECRET)
    return SECRET


COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run",),
    "run elsewhere": ("run", "--out", "out"),
    "run with a preflight": ("run", "--preflight"),
    "preflight": ("preflight",),
    "bias": ("bias", "--probes", "order"),
}


def _command(kind: str, project: Path) -> list[object]:
    name, *options = COMMANDS[kind]
    return [name, project, *options]


@pytest.mark.parametrize("kind", COMMANDS)
@pytest.mark.parametrize(
    ("name", "key"), [("box", "AWS_SECRET_ACCESS_KEY"), ("openai", "OPENAI_API_KEY"), ("box", "PATH")]
)
def test_no_key_reaches_an_address_that_was_not_approved(
    judgenet: Judgenet, tmp_path: Path, listener: Listener, secret: str, kind: str, name: str, key: str
) -> None:
    project = their_project(tmp_path / "in", EndpointProfile(name, base_url=listener.url, api_key=key))
    ran = judgenet(*_command(kind, project))
    assert (ran.code, listener.seen) == (2, [])
    address = listener.url.removesuffix("/v1")
    assert f"send the key {key}, prompts and pairs to {address}" in ran.err
    assert f"judgenet endpoint trust {project}" in ran.err
    assert not (tmp_path / "out").exists()


def test_a_test_of_the_endpoint_sends_no_key(
    judgenet: Judgenet, tmp_path: Path, listener: Listener, secret: str
) -> None:
    profile = EndpointProfile("box", base_url=listener.url, api_key="AWS_SECRET_ACCESS_KEY", model="judge")
    project = their_project(tmp_path / "in", profile)
    ran = judgenet("endpoint", "test", "box", "--project", project)
    assert (ran.code, listener.seen) == (2, [])
    judgenet("endpoint", "trust", project)
    ran = judgenet("endpoint", "test", "box", "--project", project)
    assert (ran.code, secret in listener.text) == (0, True)


def test_once_approved_it_runs_and_taken_back_it_stops(
    judgenet: Judgenet, tmp_path: Path, config: Path, listener: Listener, secret: str
) -> None:
    profile = EndpointProfile("box", base_url=listener.url, api_key="AWS_SECRET_ACCESS_KEY", headers=(("X-Team", "z"),))
    project = their_project(tmp_path / "in", profile)
    before = project.read_text()
    assert judgenet("endpoint", "trust", project, "--only", "box").out.count("approved: ") == 2
    assert judgenet("run", project).code == 0
    assert {of["authorization"] for of, _ in listener.seen} == {f"Bearer {secret}"}
    assert {of["x-team"] for of, _ in listener.seen} == {"z"}
    assert project.read_text() == before
    assert secret not in (config / "approvals.json").read_text()
    told = judgenet("endpoint", "trust", "--json").json["approvals"]
    assert sorted(of["kind"] for of in told) == ["header", "key"]
    count = len(listener.seen)
    assert judgenet("endpoint", "trust", "--revoke", listener.url).code == 0
    assert (judgenet("run", project, "--samples", 2).code, len(listener.seen)) == (2, count)
    assert judgenet("endpoint", "trust", "--revoke", "all").code == 2


def test_an_approval_is_of_one_key_at_one_address(
    judgenet: Judgenet, tmp_path: Path, listener: Listener, secret: str
) -> None:
    profile = EndpointProfile("box", base_url=listener.url, api_key="AWS_SECRET_ACCESS_KEY")
    judgenet("endpoint", "trust", their_project(tmp_path / "in", profile))
    others = (
        replace(profile, api_key="OPENAI_API_KEY"),
        replace(profile, base_url=listener.url.replace("127.0.0.1", "localhost")),
        replace(profile, headers=(("X-Forwarded-For", "1"),)),
    )
    for number, other in enumerate(others):
        assert judgenet("run", their_project(tmp_path / f"in{number}", other)).code == 2
    assert listener.seen == []


def test_pairs_go_to_no_unknown_host_even_without_a_key(judgenet: Judgenet, tmp_path: Path) -> None:
    project = their_project(tmp_path / "in", EndpointProfile("box", base_url="http://203.0.113.7:8000/v1"))
    ran = judgenet("run", project)
    assert (ran.code, "send prompts and pairs to http://203.0.113.7:8000" in ran.err) == (2, True)


def test_an_address_in_a_dotenv_beside_the_project_gets_no_key(
    judgenet: Judgenet, tmp_path: Path, listener: Listener, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = their_project(tmp_path / "in", EndpointProfile("unused", base_url=listener.url))
    record = json.loads(project.read_text())
    record["network"]["settings"] |= {"endpoint": "openai", "model": "judge"}
    project.write_text(json.dumps(record))
    (tmp_path / "in" / ".env").write_text(f"OPENAI_BASE_URL={listener.url}\n")
    assert (judgenet("run", project).code, listener.seen) == (2, [])
    monkeypatch.setenv("OPENAI_BASE_URL", listener.url)  # the user's own environment is the user's word
    assert judgenet("run", project).code == 0
    assert secret in listener.text


@pytest.mark.parametrize("beside", [".env", "theirs.judgenet.db", "theirs.judgenet.db.lock", "theirs.judgenet.db-wal"])
def test_links_among_a_projects_own_files_are_not_followed(
    judgenet: Judgenet, tmp_path: Path, listener: Listener, beside: str
) -> None:
    mine = tmp_path / "mine"
    mine.write_text("A=precious")
    project = their_project(tmp_path / "in", EndpointProfile("box", base_url=listener.url))
    (tmp_path / "in" / beside).symlink_to(mine)
    ran = judgenet("run", project)
    assert (ran.code, "is a link to" in ran.err, mine.read_text(), listener.seen) == (2, True, "A=precious", [])


def test_backups_and_results_do_not_overwrite_what_a_link_leads_to(
    judgenet: Judgenet, tmp_path: Path, listener: Listener
) -> None:
    mine = tmp_path / "mine"
    mine.write_text("precious")
    project = their_project(tmp_path / "in", EndpointProfile("box", base_url=listener.url))
    for name in ("theirs.judgenet.bak", "bias.json"):
        (tmp_path / "in" / name).symlink_to(mine)
    assert judgenet("bias", project, "--probes", "order").code == 0
    save_project(replace(load_project(project), name="Changed"), project)
    assert mine.read_text() == "precious"
    assert (tmp_path / "in" / "theirs.judgenet.bak").read_text() != "precious"
    assert json.loads((tmp_path / "in" / "bias.json").read_text())["state"] == "done"


def test_estimates_and_lists_send_nothing_and_ask_nothing(
    judgenet: Judgenet, tmp_path: Path, listener: Listener, secret: str
) -> None:
    profile = EndpointProfile("box", base_url=listener.url, api_key="AWS_SECRET_ACCESS_KEY")
    project = their_project(tmp_path / "in", profile)
    for command in (
        ("estimate", project),
        ("bias", project, "--probes", "order", "--estimate"),
        ("endpoint", "list", "--project", project),
        ("endpoint", "show", "box", "--project", project),
    ):
        assert judgenet(*command).code == 0
    assert listener.seen == []


@pytest.mark.parametrize("way", ["up", "absolute", "link", "folder of links", "deep link", "hidden"])
def test_a_project_reads_below_its_own_folder_only(
    judgenet: Judgenet, tmp_path: Path, listener: Listener, pairs: Path, way: str
) -> None:
    folder = tmp_path / "in"
    (folder / "set").mkdir(parents=True)
    if way == "link":
        (folder / "mine.jsonl").symlink_to(pairs)
    elif way == "folder of links":
        (folder / "set" / "mine.jsonl").symlink_to(pairs)
    elif way == "deep link":
        (folder / "set" / "deep").mkdir()
        (folder / "set" / "deep" / "mine.jsonl").symlink_to(pairs)
    elif way == "hidden":
        (folder / ".private").write_text(pairs.read_text())
    named = {"up": "../pairs.jsonl", "absolute": str(pairs), "link": "mine.jsonl"}
    named |= {"folder of links": "set", "deep link": "set"}
    outside = str(folder / ".private") if way == "hidden" else str(pairs)
    project = their_project(folder, EndpointProfile("box", base_url=listener.url), [named.get(way, ".private")])
    for command in (("run", project), ("estimate", project), ("run", project, "--out", "out")):
        ran = judgenet(*command)
        assert (ran.code, listener.seen) == (2, [])
        assert f"read {outside}, which is outside its folder" in ran.err
    judgenet("endpoint", "trust", project)
    assert judgenet("run", project).code == 0
    assert judgenet("run", project, "--out", "out").code == 0
    assert judgenet("run", "out/run.judgenet").code == 0
    # The approval is of this project: another that names the file is asked again.
    other = their_project(folder, EndpointProfile("box", base_url=listener.url), [outside], "other")
    assert judgenet("run", other).code == 2


def test_a_sheet_of_a_linked_workbook_is_its_file(tmp_path: Path, config: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "book.xlsx").write_bytes(b"")
    (tmp_path / "in" / "book.xlsx").symlink_to(tmp_path / "book.xlsx")
    (need,) = file_needs(["book.xlsx#pairs"], tmp_path / "in", "0" * 16)
    assert need.place == str(tmp_path / "book.xlsx")


def test_a_replay_and_a_model_file_outside_the_folder_need_approval(
    judgenet: Judgenet, tmp_path: Path, pairs: Path, at: tuple[str, ...], listener: Listener
) -> None:
    assert judgenet("run", "--pairs", pairs, *at, "--width", 1, "--depth", 1, "--out", "mine").code == 0
    replay = EndpointProfile("box", kind="replay", source="../mine")
    project = their_project(tmp_path / "in", replay)
    ran = judgenet("run", project)
    assert (ran.code, "mine/run.judgenet.db, which is outside its folder (endpoint box)" in ran.err) == (2, True)
    judgenet("endpoint", "trust", project)
    assert judgenet("run", project).code == 0
    gguf = EndpointProfile("box", kind="embedded", source="/etc/hostname", model="m")
    ran = judgenet("run", their_project(tmp_path / "gguf", gguf))
    assert (ran.code, "read /etc/hostname, which is outside" in ran.err) == (2, True)


def test_what_the_user_names_himself_is_never_asked_about(
    judgenet: Judgenet, tmp_path: Path, pairs: Path, listener: Listener, secret: str
) -> None:
    mine = ("--base-url", listener.url, "--model", "judge", "--api-key-env", "AWS_SECRET_ACCESS_KEY")
    shape = ("--width", 1, "--depth", 1, "--roles", "none")
    assert judgenet("preflight", *mine).code in (0, 1)
    assert judgenet("run", "--pairs", pairs, *mine, *shape, "--out", "sub/out").code == 0
    assert secret in listener.text
    # The run's own project, which names the file above it, the address and the key.
    project = tmp_path / "sub" / "out" / "run.judgenet"
    assert load_project(project).pairs == PairsSource(("../../pairs.jsonl",))
    assert judgenet("run", project).code == 0
    assert judgenet("run", project, "--samples", 2, "--out", "again").code == 0
    replayed = judgenet("run", "--pairs", pairs, "--endpoint", "replay:sub/out", "--out", "replayed")
    assert replayed.code == 0
    assert judgenet("run", "replayed/run.judgenet").code == 0
    added = judgenet(
        "endpoint", "add", "box", "--base-url", "http://gpu:1/v1", "--api-key-name", "AWS_SECRET_ACCESS_KEY"
    )
    assert added.code == 0
    assert (
        judgenet(
            "endpoint",
            "trust",
            their_project(
                tmp_path / "in", EndpointProfile("other", base_url="http://gpu:1/v2", api_key="AWS_SECRET_ACCESS_KEY")
            ),
        ).out
        == "There is nothing to approve.\n"
    )


def test_a_project_saved_by_the_user_may_be_moved(
    judgenet: Judgenet, tmp_path: Path, pairs: Path, listener: Listener
) -> None:
    assert judgenet("run", "--pairs", pairs, "--base-url", listener.url, "--model", "m", "--out", "out").code == 0
    (tmp_path / "deeper").mkdir()
    moved = tmp_path / "deeper" / "study.judgenet"
    save_project(load_project(tmp_path / "out" / "run.judgenet"), moved, loaded_from=tmp_path / "out" / "run.judgenet")
    assert judgenet("estimate", moved).code == 0


def test_a_redirect_carries_nothing_on(
    judgenet: Judgenet, tmp_path: Path, pairs: Path, listener: Listener, secret: str
) -> None:
    first = Listener(redirect=listener.url + "/chat/completions")
    try:
        mine = ("--base-url", first.url, "--model", "judge", "--api-key-env", "AWS_SECRET_ACCESS_KEY")
        judgenet("endpoint", "add", "first", *mine[:2], "--api-key-name", "AWS_SECRET_ACCESS_KEY", "--model", "judge")
        assert judgenet("endpoint", "test", "first").code == 1
        assert (secret in first.text, listener.seen) == (True, [])
    finally:
        first.close()


def test_approvals_that_cannot_be_kept_or_read(
    judgenet: Judgenet, tmp_path: Path, config: Path, pairs: Path, listener: Listener, secret: str
) -> None:
    config.mkdir(exist_ok=True)
    (config / "approvals.json").write_text('{"approved": [{"kind": "all"}]}')
    project = their_project(tmp_path / "in", EndpointProfile("box", base_url=listener.url, api_key="PATH"))
    ran = judgenet("run", project)
    assert (ran.code, listener.seen, "approvals.json" in ran.err) == (2, [], True)


@pytest.mark.parametrize(
    ("address", "keys"),
    [
        ("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
        ("https://API.OpenAI.com:443", ("OPENAI_API_KEY",)),
        ("http://api.openai.com/v1", ()),
        ("https://api.openai.com:8443/v1", ()),
        ("https://api.openai.com.evil.example/v1", ()),
        ("https://evil.example/api.openai.com", ()),
        ("https://xopenai.azure.com", ()),
        ("https://mine.openai.azure.com", ("AZURE_OPENAI_API_KEY",)),
        ("https://api.anthropic.com", ("ANTHROPIC_API_KEY",)),
        ("https://generativelanguage.googleapis.com", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        ("https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",)),
    ],
)
def test_keys_that_are_a_providers_own(address: str, keys: tuple[str, ...]) -> None:
    assert provider_keys(address) == keys


@pytest.mark.skipif(os.name == "nt", reason="permissions of folders are told otherwise on Windows")
def test_a_settings_folder_that_cannot_be_written_stops_no_run_of_the_users_own(
    judgenet: Judgenet, tmp_path: Path, config: Path, pairs: Path, listener: Listener, secret: str
) -> None:
    config.parent.mkdir(exist_ok=True)
    config.write_text("a file where the folder would be")
    mine = ("--base-url", listener.url, "--model", "judge", "--api-key-env", "AWS_SECRET_ACCESS_KEY")
    assert judgenet("run", "--pairs", pairs, *mine, "--width", 1, "--depth", 1, "--out", "out").code == 0
    assert secret in listener.text
