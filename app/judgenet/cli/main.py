"""The command ``judgenet``."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import typer
import typer.main

from judgenet.cli import endpoint, model, selfcheck
from judgenet.cli.bias import bias
from judgenet.cli.common import ExitCode, InputError
from judgenet.cli.compare import compare_runs
from judgenet.cli.curve import curve
from judgenet.cli.estimate import estimate
from judgenet.cli.experiment import experiment
from judgenet.cli.export import export
from judgenet.cli.imports import import_judgments
from judgenet.cli.labels import labels
from judgenet.cli.learn import learn
from judgenet.cli.metrics import metrics
from judgenet.cli.preflight import check_models
from judgenet.cli.rank import rank_systems
from judgenet.cli.rate import rate
from judgenet.cli.report import report
from judgenet.cli.run import run
from judgenet.cli.shots import shots
from judgenet.cli.terminal import harmless_streams
from judgenet.cli.version import show_version
from judgenet.core.bias.base import BiasError
from judgenet.core.documents import DocumentError
from judgenet.core.network import NetworkError
from judgenet.core.plan import PriceError
from judgenet.core.project import PROJECT_SUFFIX
from judgenet.core.prompts import PromptError
from judgenet.core.roles import RoleError
from judgenet.engine.endpoints import EndpointError
from judgenet.formats.errors import DataError
from judgenet.store.db import StoreError, StoreInUse
from judgenet.store.files import FileError
from judgenet.store.secrets import SecretError, SecretFilter, scrub
from judgenet.store.settings import SettingsError

_BAD_INPUT = (
    InputError,
    BiasError,
    DataError,
    DocumentError,
    FileError,
    NetworkError,
    PriceError,
    PromptError,
    RoleError,
    SecretError,
    EndpointError,
    SettingsError,
    StoreError,
)

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
"""Variables of which one is set where Qt finds a screen, or is told to do without."""

app = typer.Typer(
    name="judgenet",
    help="Design networks of LLM judges, run them on pairs of responses, and know how far to trust the verdicts.\n\n"
    "Without a command the studio opens: judgenet [PROJECT.judgenet]",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("run")(run)
app.command("estimate")(estimate)
app.command("experiment")(experiment)
app.command("preflight")(check_models)
app.command("import")(import_judgments)
app.command("metrics")(metrics)
app.command("rate")(rate)
app.command("labels")(labels)
app.command("compare")(compare_runs)
app.command("rank")(rank_systems)
app.command("learn")(learn)
app.command("curve")(curve)
app.command("bias")(bias)
app.command("export")(export)
app.command("report")(report)
app.add_typer(model.app, name="model")
app.add_typer(endpoint.app, name="endpoint")
app.add_typer(selfcheck.app, name="selfcheck")
app.command("shots")(shots)
app.command("version")(show_version)


@cache
def _command() -> Callable[..., object]:
    """The commands with their options. To build them takes longer than many a command, so they are built once."""
    return typer.main.get_command(app)


def _studio_project(arguments: Sequence[str]) -> tuple[Path | None] | None:
    """The project with which the studio is to be opened (``None`` for none of them), in a tuple; ``None`` where a
    command is meant."""
    if not arguments:
        return (None,)
    if len(arguments) == 1 and Path(arguments[0]).suffix == PROJECT_SUFFIX:
        return (Path(arguments[0]),)
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Opens the studio, or runs a command and returns its exit code: 0 done, 1 failed, 2 bad usage or input, 3 stopped
    by a limit, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        # A console that cannot show a character of the data must not end a run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    with harmless_streams():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    handler = logging.StreamHandler()
    handler.addFilter(SecretFilter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], format="%(levelname)s %(name)s: %(message)s")
    studio = _studio_project(sys.argv[1:] if arguments is None else arguments)
    try:
        if studio is not None:
            return _open_studio(studio[0])
        result = _command()(args=None if arguments is None else list(arguments), standalone_mode=False)
        return int(result) if isinstance(result, int) else ExitCode.DONE
    except typer.TyperException as error:
        if hasattr(error, "show"):
            error.show()
        # Without a command the help is shown, which is no mistake.
        return ExitCode.DONE if type(error).__name__ == "NoArgsIsHelpError" else ExitCode.BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except StoreInUse as error:
        return _say(error, ExitCode.FAILED)
    except _BAD_INPUT as error:
        return _say(error, ExitCode.BAD_INPUT)
    except BrokenPipeError:
        # The reader of a pipe (head, less) has seen enough.
        sys.stderr.close()
        return ExitCode.DONE
    except OSError as error:
        return _say(error, ExitCode.FAILED)


def _open_studio(project: Path | None) -> int:
    if project is not None and not project.exists():
        raise InputError(f"{project}: there is no such project.")
    if sys.platform == "linux" and not any(os.environ.get(name) for name in _SCREENS):
        raise InputError("There is no screen here, and the studio needs one. The commands do not: judgenet --help")
    try:
        # Qt takes a while to load, and the commands do without it.
        from judgenet.ui.app import open_studio
    except ImportError as error:
        raise InputError(
            f"The studio cannot be opened: {error}. On Linux it needs the libraries libgl1, libegl1, libxkbcommon0, "
            "libfontconfig1, libglib2.0-0, libdbus-1-3 and, for a screen, libxcb-cursor0. "
            "The commands work without them: judgenet --help"
        ) from None
    return open_studio(project)


def _say(error: Exception, code: ExitCode) -> int:
    typer.echo(f"judgenet: {scrub(str(error))}", err=True)
    return code
