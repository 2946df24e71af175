"""The command ``judgenet``."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup

from judgenet.cli.errors import ExitCode, InputError
from judgenet.cli.terminal import harmless_streams

_EXAMPLE = "--example"
"""Opens the studio with the example running."""

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("run:run", "Judge pairs with a network."),
    "estimate": ("estimate:estimate", "Calls, tokens and price of a run, before it."),
    "experiment": ("experiment:experiment", "Run an experiment of the paper, or the baselines."),
    "preflight": ("preflight:check_models", "Test a model as a judge on ten built-in pairs."),
    "import": ("imports:import_judgments", "Make a run of judgments recorded elsewhere."),
    "status": ("status:status", "Watch, pause and stop the shards of a project."),
    "merge": ("merge:merge", "Make one run of the shards of a project."),
    "metrics": ("metrics:metrics", "Agreement of a run with the human labels."),
    "rate": ("rate:rate", "The win rate, corrected by human labels."),
    "labels": ("labels:labels", "Plan, import and export human labels."),
    "compare": ("compare:compare_runs", "Compare two runs on the same pairs."),
    "check": ("check:check", "Check a run against requirements: a release gate."),
    "rank": ("rank:rank_systems", "Rank the systems whose responses were judged."),
    "learn": ("learn:learn", "Learn weights of the neurons from labels."),
    "curve": ("curve:curve", "How accurate smaller networks would be."),
    "cascade": ("cascade:cascade", "What stop rules would save, and how accurate they are."),
    "panel": ("panel:panel", "Effective votes of the neurons, and which adds most."),
    "guarantee": ("guarantee:guarantee_verdicts", "Which verdicts can be accepted with a bounded error."),
    "calibration": ("reliability:calibration", "Whether probabilities are calibrated."),
    "alt-test": ("alt_test:instead_of_people", "Whether a judge may replace people."),
    "bias": ("bias:bias", "Measure the biases of a network and its parts."),
    "export": ("export:export", "Write calls, verdicts, roles, labels or the network."),
    "network": ("network:app", "Import a network that was drawn elsewhere."),
    "report": ("report:report", "Write the report of a run."),
    "shots": ("shots:shots", "Draw the pages of the studio as pictures."),
    "version": ("version:show_version", "Show the versions of JudgeNet and its libraries."),
    "model": ("model:app", "The embedded model: status, download, choice."),
    "endpoint": ("endpoint:app", "Endpoints: list, add, test and trust."),
    "selfcheck": ("selfcheck:app", "Check the program's statistics and its screen."),
}
"""Where each command is (module of this package and name in it), and its line in the list of commands.

A command's module is loaded when the command runs: the list of commands needs none of the libraries below them.
"""

_NO_STUDIO = "The commands work without it: judgenet --help"

_HELP = (
    "Design networks of LLM judges, run them on pairs of responses, and know how far to trust the verdicts.\n\n"
    "Without a command the studio opens: judgenet [PROJECT.judgenet]\n\n"
    "judgenet --example opens it with the example running on the embedded model."
)


class _Commands(TyperGroup):
    """The commands of :data:`COMMANDS`, each loaded when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        if cmd_name not in self.commands:
            self.commands[cmd_name] = _loaded(cmd_name)
        return self.commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


def _loaded(name: str) -> Any:
    """A command with its options."""
    module, _, attribute = COMMANDS[name][0].partition(":")
    value = getattr(import_module(f"judgenet.cli.{module}"), attribute)
    parent = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    if isinstance(value, typer.Typer):
        parent.add_typer(value, name=name)
    else:
        parent.command(name)(value)
    # With a callback the parent stays a group, also of a single command.
    parent.callback()(lambda: None)
    return typer.main.get_group(parent).commands[name]


@cache
def _command() -> _Commands:
    """The program's commands; built once, since a command with its options takes a while to build."""
    return _Commands(name="judgenet", help=_HELP, no_args_is_help=True, rich_markup_mode=None)


def _bad_input() -> tuple[type[Exception], ...]:
    """The errors that the user can fix. Imported only when an error occurred."""
    from judgenet.core.bias.base import BiasError
    from judgenet.core.documents import DocumentError
    from judgenet.core.matches import MatchesError
    from judgenet.core.network import NetworkError
    from judgenet.core.plan import PriceError
    from judgenet.core.prompts import PromptError
    from judgenet.core.roles import RoleError
    from judgenet.core.until import UntilError
    from judgenet.engine.endpoints import EndpointError
    from judgenet.engine.options import OptionError
    from judgenet.figures.errors import FiguresError
    from judgenet.formats.errors import DataError
    from judgenet.store.db import StoreError
    from judgenet.store.files import FileError
    from judgenet.store.secrets import SecretError
    from judgenet.store.settings import SettingsError

    return (
        *(InputError, BiasError, DataError, DocumentError, FileError, MatchesError, NetworkError, PriceError),
        *(PromptError, UntilError),
        *(RoleError, OptionError, SecretError, EndpointError, SettingsError, StoreError, FiguresError),
    )


@dataclass(frozen=True, slots=True)
class _StudioStart:
    """What the studio opens: a project, the example, or neither."""

    project: Path | None = None
    example: bool = False


def _studio_start(arguments: Sequence[str]) -> _StudioStart | None:
    """What the studio is to open; ``None`` where a command is meant."""
    if not arguments:
        return _StudioStart()
    if list(arguments) == [_EXAMPLE]:
        return _StudioStart(example=True)
    if len(arguments) == 1 and Path(arguments[0]).suffix:
        from judgenet.core.project import PROJECT_SUFFIX

        if Path(arguments[0]).suffix == PROJECT_SUFFIX:
            return _StudioStart(Path(arguments[0]))
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Opens the studio, or runs a command and returns its exit code: 0 done, 1 failed, 2 bad usage or input, 3 stopped
    by a limit, 4 a requirement is not met, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        # A console that cannot show a character of the data must not end a run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    with harmless_streams():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    handler = logging.StreamHandler()
    handler.addFilter(_without_secrets)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], format="%(levelname)s %(name)s: %(message)s")
    studio = _studio_start(sys.argv[1:] if arguments is None else arguments)
    try:
        if studio is not None:
            return _open_studio(studio)
        result = _command()(args=None if arguments is None else list(arguments), standalone_mode=False)
        return int(result) if isinstance(result, int) else ExitCode.DONE
    except typer.TyperException as error:
        if hasattr(error, "show"):
            error.show()
        # Without a command the help is shown, which is no mistake.
        return ExitCode.DONE if type(error).__name__ == "NoArgsIsHelpError" else ExitCode.BAD_INPUT
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe (head, less) has seen enough.
        sys.stderr.close()
        return ExitCode.DONE
    except Exception as error:
        code = _code_of(error)
        if code is None:
            raise
        return _report(error, code)


def _code_of(error: Exception) -> ExitCode | None:
    """The exit code of an error that is reported in one line; ``None`` for a fault of the program."""
    from judgenet.store.db import StoreInUse

    if isinstance(error, StoreInUse):
        return ExitCode.FAILED
    if isinstance(error, _bad_input()):
        return ExitCode.BAD_INPUT
    return ExitCode.FAILED if isinstance(error, OSError) else None


def _without_secrets(record: logging.LogRecord) -> bool:
    """Takes keys out of what is logged."""
    from judgenet.store.secrets import SecretFilter

    return SecretFilter().filter(record)


def _open_studio(start: _StudioStart) -> int:
    from judgenet.ui.screen_check import ScreenCheck, no_screen

    if start.project is not None and not start.project.exists():
        raise InputError(f"{start.project}: there is no such project.")
    if (trouble := no_screen(os.environ)) is not None:
        raise InputError(f"{trouble} {_NO_STUDIO}")
    check = ScreenCheck()
    try:
        # Qt takes a while to load, and the commands do without it.
        from judgenet.ui.app import open_studio
    except ImportError as error:
        raise InputError(f"The studio cannot be opened: {check.trouble() or error} {_NO_STUDIO}") from None
    if (trouble := check.trouble()) is not None:
        raise InputError(f"The studio cannot be opened: {trouble} {_NO_STUDIO}")
    return open_studio(start.project, example=start.example)


def _report(error: Exception, code: ExitCode) -> int:
    from judgenet.store.secrets import scrub

    typer.echo(f"judgenet: {scrub(str(error))}", err=True)
    return code
