"""``judgenet preflight``: a test of models on ten pairs with an evident answer, before a run."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from judgenet.cli.common import JsonOption
from judgenet.cli.errors import ExitCode
from judgenet.cli.run_options import with_options
from judgenet.cli.terminal import Terminal
from judgenet.core.preflight import Light
from judgenet.core.wording import duration, money
from judgenet.engine.options import RunOptions
from judgenet.engine.preflight import Preflight, calls_needed, models_of, preflight
from judgenet.engine.prepare import prepare_models, require_others_approved
from judgenet.engine.session import Engine, Start
from judgenet.store.secrets import scrub

_STYLES: dict[Light | None, str] = {"green": "green", "yellow": "yellow", "red": "bold red", None: "dim"}


@partial(
    with_options,
    names=("project", "endpoint", "base_url", "model", "api_key_env", "reasoning", "scores", "extra", "stand_in"),
    texts={
        "project": "A project: all models of its network, its stand-ins with them.",
        "endpoint": "Name of an endpoint.",
        "stand_in": "Model that will stand in for the others: it is tried as well. Repeatable; 'none' drops the "
        "project's.",
    },
)
def check_models(
    options: RunOptions,
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress.")] = False,
) -> int:
    """Try a model as a judge on ten built-in pairs, before any run: green, yellow or red, and what that means.

    The pairs are a plain mistake and the same swapped, one text twice, planted instructions, an empty and a very long
    response, other scripts, and braces. Each is asked in both orders: at most 20 calls a model, which are paid for.
    The exit code is 1 where a model is red.

    \b
    Examples:
      judgenet preflight --endpoint openai --model gpt-4.1-mini
      judgenet preflight --endpoint openai --model gpt-4.1-mini \\
        --stand-in gemini/gemini-2.5-flash
      judgenet preflight study.judgenet
    """
    start, own = prepare_models(options)
    require_others_approved(start, own, options.project)
    preflights = run_preflights(start, Terminal(stderr=True), quiet=quiet)
    if as_json:
        sys.stdout.write(scrub(json.dumps(preflight_record(preflights), allow_nan=False)) + "\n")
    else:
        print_preflights(preflights, Terminal())
    return (
        ExitCode.FAILED
        if any(model_preflight.assessment.light == "red" for model_preflight in preflights)
        else ExitCode.DONE
    )


def run_preflights(start: Start, console: Console, *, quiet: bool = False) -> list[Preflight]:
    """Asks each model of a run about the built-in pairs, and shows the progress on ``console``."""
    preflights = []
    with Engine() as engine:
        for settings in models_of(start.spec):
            asked = f"{settings.model} at {settings.endpoint}"
            if quiet:
                preflights.append(preflight(engine, start, settings))
                continue
            with console.status(Text(f"Pre-flight of {asked}: {calls_needed()} calls")) as status:

                def told(done: int, total: int, asked: str = asked) -> None:
                    status.update(Text(f"Pre-flight of {asked}: {done} of {total} calls"))

                preflights.append(preflight(engine, start, settings, told))
    return preflights


def preflight_record(preflights: Sequence[Preflight]) -> dict[str, Any]:
    """The record that ``--json`` prints; ``light`` is the worst of all models."""
    lights = [model_preflight.assessment.light for model_preflight in preflights]
    worst = next((light for light in ("red", "yellow") if light in lights), "green")
    return {"light": worst, "models": [model_preflight.to_json() for model_preflight in preflights]}


def print_preflights(preflights: Sequence[Preflight], console: Console) -> None:
    """A line for each model, and a table of its checks."""
    for model_preflight in preflights:
        light = model_preflight.assessment.light
        line = Text(f"{model_preflight.model} at {model_preflight.endpoint}: ")
        line.append(light.upper(), style=_STYLES[light])
        line.append(f". {scrub(model_preflight.assessment.sentence)}")
        console.print(line, soft_wrap=True)
        for check in model_preflight.assessment.checks:
            line = Text(f"  {check.light or 'not seen':<8}  ", style=_STYLES[check.light])
            line.append(f"{check.title}: {check.found}", style="not bold default")
            console.print(line, soft_wrap=True)
            console.print(Text(f"{'':12}{check.meaning}", style="dim"), soft_wrap=True)
        console.print(Text(f"  {_facts(model_preflight)}"), soft_wrap=True)
        if model_preflight.message:
            console.print(Text(scrub(model_preflight.message)), soft_wrap=True)


def _facts(model_preflight: Preflight) -> str:
    facts = [f"{model_preflight.assessment.scored} of {model_preflight.assessment.calls} calls scored"]
    if model_preflight.seconds is not None:
        facts.append(f"{duration(model_preflight.seconds)} a call")
    facts.append("price unknown" if model_preflight.price is None else money(model_preflight.price))
    if model_preflight.form:
        facts.append(
            {"json": "asked for JSON by schema", "text": "asked for plain text"}.get(
                model_preflight.form, model_preflight.form
            )
        )
    if model_preflight.returned_model and model_preflight.returned_model != model_preflight.model:
        facts.append(f"answers as {model_preflight.returned_model}")
    if model_preflight.context is not None:
        facts.append(f"a context of {model_preflight.context:,} tokens, as the server reports it")
    facts += [f"{name}: {value}" for name, value in model_preflight.learned.items()]
    return ", ".join(facts)
