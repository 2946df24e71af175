from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backends.fail
import pytest

from judgenet.cli import endpoint
from judgenet.cli.main import main
from judgenet.core.endpoints import EndpointProfile
from judgenet.core.evaluation import Reason
from judgenet.core.network import LayerSpec, NetworkSpec, NeuronSpec, Settings
from judgenet.core.project import Project
from judgenet.engine.endpoints import key_finder
from judgenet.engine.ports import ChatReply, EndpointState, OnState, Usage
from judgenet.engine.probe import EndpointProbe
from judgenet.store.files import save_project
from judgenet.store.settings import resolve, settings_path, user_profiles
from tests.fakes.judge_server import JudgeServer
from tests.fakes.keyrings import MemoryKeyring

KEY = "correct-horse-battery-staple"


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    """A server that wants a key and knows no reply schema."""
    with JudgeServer(key=KEY, refuse=["schema"]) as found:
        yield found


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["endpoint", *arguments])
    told = capsys.readouterr()
    assert KEY not in told.out + told.err
    return code, told.out, told.err


def test_list_tells_where_each_endpoint_comes_from_and_whether_its_key_is_found(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    code, out, _ = run(capsys, "list", "--json")
    records = {record["name"]: record for record in json.loads(out)}
    assert code == 0
    assert records["anthropic"]["key_found_in"] == "environment"
    assert records["openai"]["key_found_in"] is None
    assert {record["from"] for record in records.values()} == {"built-in"}
    code, out, _ = run(capsys, "list")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert "OPENAI_API_KEY: not set" in lines["openai"]
    assert "ANTHROPIC_API_KEY: set (environment)" in lines["anthropic"]
    assert "SmolLM2" in lines["embedded"]


def test_an_endpoint_is_added_shown_changed_and_removed(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, *("add", "gpu", "--base-url", "http://gpu:8000/v1", "--model", "m", "--api-key-name", "GPU_KEY")
    )
    assert code == 0
    assert "gpu added" in out
    assert "GPU_KEY is not set yet" in out
    run(capsys, "add", "gpu", "--concurrency", "64", "--rpm", "90", "--header", "X-Team: a: b", "--structured", "never")
    assert user_profiles()["gpu"] == EndpointProfile(
        "gpu",
        base_url="http://gpu:8000/v1",
        api_key="GPU_KEY",
        model="m",
        concurrency=64,
        requests_per_minute=90,
        headers=(("X-Team", "a: b"),),
        structured="never",
    )
    code, out, _ = run(capsys, "show", "gpu", "--json")
    assert (json.loads(out)["from"], json.loads(out)["concurrency"]) == ("user", 64)
    _, out, _ = run(capsys, "show", "gpu")
    assert "base_url: http://gpu:8000/v1" in out
    run(capsys, "add", "gpu", "--api-key-name", "")
    assert user_profiles()["gpu"].api_key is None
    assert run(capsys, "remove", "gpu")[0] == 0
    assert user_profiles() == {}


def test_the_kind_is_told_by_the_address_unless_given(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "add", "claude", "--base-url", "https://api.anthropic.com")
    assert (resolve("claude").kind, resolve("claude").api_key) == ("anthropic", "ANTHROPIC_API_KEY")
    run(capsys, "add", "corp", "--base-url", "https://corp.example", "--kind", "azure")
    assert (resolve("corp").kind, resolve("corp").api_version) == ("azure", "2024-10-21")


def test_ollamas_own_api_with_a_context_length(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "add", "box", "--kind", "ollama", "--context-length", "16384")[0] == 0
    assert (resolve("box").base_url, resolve("box").context_length) == ("http://localhost:11434", 16384)
    _, out, _ = run(capsys, "show", "box", "--json")
    assert (json.loads(out)["kind"], json.loads(out)["context_length"]) == ("ollama", 16384)
    run(capsys, "add", "ollama", "--kind", "ollama")
    assert resolve("ollama").kind == "ollama"
    run(capsys, "add", "box", "--context-length", "0")
    assert resolve("box").context_length is None
    code, _, err = run(capsys, "add", "vllm", "--context-length", "8192")
    assert code != 0
    assert "is sent by the API type ollama only" in err


def test_a_built_in_endpoint_is_changed_and_comes_back(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "add", "vllm", "--concurrency", "16")
    assert resolve("vllm").concurrency == 16
    code, out, _ = run(capsys, "remove", "vllm")
    assert (code, resolve("vllm").concurrency) == (0, 64)
    assert "built-in endpoint again" in out
    code, _, err = run(capsys, "remove", "vllm")
    assert code == 2
    assert "cannot be removed" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("show", "opnai"), "Did you mean 'openai'"),
        (("remove", "opnai"), "Did you mean 'openai'"),
        (("key", "opnai"), "Did you mean 'openai'"),
        (("test", "opnai"), "Did you mean 'openai'"),
        (("test", "openai"), "--model"),
        (("test", "azure", "--model", "m"), "AZURE_OPENAI_ENDPOINT"),
        (("key", "ollama"), "--api-key-name"),
        (("add", "x"), "x.base_url: is missing"),
        (("add", "x", "--base-url", "gpu:8000"), "must begin with http"),
        (("add", "x", "--base-url", "http://h", "--concurrency", "0"), "concurrency: must be 1 or more"),
        (("add", "x", "--base-url", "http://h", "--header", "none"), "Name: value"),
        (("add", "x", "--base-url", "http://h", "--api-key-name", "sk-proj-abcdefghijklmnop1234"), "the key itself"),
        (("add", "x", "--kind", "magic"), "magic"),
        (("nonsense",), "nonsense"),
    ],
)
def test_bad_input_is_2_and_says_how_to_mend_it(
    config: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert words in err
    assert "sk-proj" not in err
    assert not settings_path().exists()


def test_a_key_is_read_from_standard_input_kept_and_forgotten(
    config: Path, key_store: MemoryKeyring, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    code, out, _ = run(capsys, "key", "openai")
    assert (code, key_store.kept) == (0, {("judgenet", "OPENAI_API_KEY"): KEY})
    assert "OPENAI_API_KEY is in the system's key store" in out
    code, out, _ = run(capsys, "list", "--json")
    assert {r["name"]: r["key_found_in"] for r in json.loads(out)}["openai"] == "keyring"
    code, out, _ = run(capsys, "key", "openai", "--forget")
    assert (code, key_store.kept) == (0, {})
    assert "no longer" in out
    assert "was not" in run(capsys, "key", "openai", "--forget")[1]
    assert not config.exists()


def test_a_key_that_is_typed_is_not_shown(
    config: Path, key_store: MemoryKeyring, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    asked: list[bool] = []

    def typed(text: str, *, hide_input: bool, err: bool) -> str:
        asked.append(hide_input)
        return KEY

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("typer.prompt", typed)
    assert run(capsys, "key", "openai")[0] == 0
    assert asked == [True]
    assert key_store.kept == {("judgenet", "OPENAI_API_KEY"): KEY}


def test_no_key_is_asked_for_where_none_can_be_kept(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring.set_keyring(keyring.backends.fail.Keyring())  # type: ignore[no-untyped-call]
    stdin = io.StringIO(f"{KEY}\n")
    monkeypatch.setattr("sys.stdin", stdin)
    code, _, err = run(capsys, "key", "openai")
    assert (code, stdin.tell()) == (1, 0)
    assert "no key store" in err
    assert "environment variable OPENAI_API_KEY" in err


def test_an_empty_key_changes_nothing(
    config: Path, key_store: MemoryKeyring, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    assert run(capsys, "key", "openai")[0] == 2
    assert key_store.kept == {}


def test_a_test_call_tells_what_was_negotiated(
    config: Path, server: JudgeServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    run(capsys, "add", "mine", "--base-url", server.url, "--model", "m", "--api-key-name", "MY_KEY")
    code, out, _ = run(capsys, "test", "mine")
    assert code == 0
    assert "mine answers: m" in out
    assert "plain text (no reply schema)" in out
    assert [entry.status for entry in server.log] == [400, 200]
    code, out, _ = run(capsys, "test", "mine", "--model", "other", "--json")
    record = json.loads(out)
    assert (code, record["ok"], record["form"], record["returned_model"]) == (0, True, "text", "other-2026")
    assert record["text"] == server.log[-1].answer
    assert server.log[-1].model == "other"


def test_a_test_call_that_fails_is_1_with_the_reason_and_one_request(
    config: Path, server: JudgeServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "another-key")
    run(capsys, "add", "mine", "--base-url", server.url, "--model", "m", "--api-key-name", "MY_KEY")
    code, out, _ = run(capsys, "test", "mine", "--json")
    assert (code, json.loads(out)["ok"], json.loads(out)["reason"]) == (1, False, "auth")
    assert server.requests == 1
    code, _, err = run(capsys, "test", "mine")
    assert code == 1
    assert "mine did not answer (auth)" in err
    server.set(key=None, script=["503"])
    code, _, err = run(capsys, "test", "mine")
    assert code == 1
    assert [entry.status for entry in server.log[2:]] == [400, 503]
    assert "mine did not answer (server_error)" in err


def test_a_key_that_an_endpoint_sends_back_is_not_shown(
    config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(
        profile: EndpointProfile,
        model: str,
        folder: Path | None,
        salt: str,
        told: OnState,
        settings: Settings,
        picture: bool,
    ) -> EndpointProbe:
        key = key_finder(profile, folder)
        told(EndpointState(profile.name, "slow", f"{key()} is throttled"))
        if model == "bad":
            return EndpointProbe(profile.name, model, "text", reason=Reason.BAD_REQUEST, message=f"wrong key {key()}")
        return EndpointProbe(profile.name, model, "text", ChatReply(f"your key is {key()}", usage=Usage(40, 9)))

    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setattr(endpoint, "probe", answer)
    run(capsys, "add", "mine", "--base-url", "http://h", "--model", "m", "--api-key-name", "MY_KEY")
    code, out, _ = run(capsys, "test", "mine")
    assert code == 0
    assert "it said: your key is [key MY_KEY]" in out
    assert "40 in, 9 out" in out
    assert json.loads(run(capsys, "test", "mine", "--json")[1])["text"] == "your key is [key MY_KEY]"
    assert "wrong key [key MY_KEY]" in run(capsys, "test", "mine", "--model", "bad")[2]


def test_a_test_call_without_its_key_is_1_and_sends_nothing(
    config: Path, server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "add", "mine", "--base-url", server.url, "--model", "m", "--api-key-name", "MY_KEY")
    code, _, err = run(capsys, "test", "mine")
    assert code == 1
    assert "There is no API key MY_KEY" in err
    assert server.requests == 0


def test_a_projects_own_endpoints_and_dotenv_count(
    config: Path, server: JudgeServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = EndpointProfile("own", base_url=server.url, api_key="OWN_KEY", model="m")
    network = NetworkSpec(layers=(LayerSpec((NeuronSpec(),)),))
    path = tmp_path / "p.judgenet"
    save_project(Project("p", network, "0123456789abcdef", endpoints=(own,)), path)
    (tmp_path / ".env").write_text(f"OWN_KEY={KEY}\n", encoding="utf-8")
    code, out, _ = run(capsys, "show", "own", "--project", str(path), "--json")
    assert (code, json.loads(out)["from"], json.loads(out)["key_found_in"]) == (0, "project", ".env")
    assert run(capsys, "test", "own", "--project", str(path))[0] == 2
    assert run(capsys, "trust", str(path))[0] == 0
    assert run(capsys, "test", "own", "--project", str(path))[0] == 0
    assert run(capsys, "show", "own")[0] == 2


def test_a_replay_cannot_be_tested(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "add", "again", "--kind", "replay", "--source", str(tmp_path))[0] == 0
    code, _, err = run(capsys, "test", "again")
    assert code == 2
    assert "replays" in err


def test_the_models_of_an_endpoint_are_listed(
    server: JudgeServer, config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(capsys, "add", "lab", "--base-url", server.url, "--api-key-name", "LAB_KEY")
    code, _, err = run(capsys, "models", "lab")
    assert code == 1
    assert "LAB_KEY" in err
    monkeypatch.setenv("LAB_KEY", KEY)
    assert run(capsys, "models", "lab")[:2] == (0, "fake\n")
    code, out, _ = run(capsys, "models", "lab", "--json")
    assert json.loads(out) == {"endpoint": "lab", "models": ["fake"]}
    code, _, err = run(capsys, "models", "replay")
    assert code != 0
