"""The options of a run on the command line, which run, estimate, experiment, bias and preflight share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, fields
from functools import cache, wraps
from typing import Annotated, Any, get_args, get_type_hints

import typer

from judgenet.cli.errors import InputError
from judgenet.engine.options import RunOptions, option_info
from judgenet.engine.prepare import prepare

ALL = tuple(of.name for of in fields(RunOptions))


@cache
def _types() -> Mapping[str, Any]:
    return get_type_hints(RunOptions)


def _parameter(option: Field[Any], text: str) -> inspect.Parameter:
    """A field as a parameter for typer, with its help text."""
    info, hint, default = option_info(option), _types()[option.name], option.default
    if default == ():
        # Typer takes an option that can be repeated as a list.
        hint, default = list[get_args(hint)[0]] | None, None  # type: ignore[misc]
    if info.argument:
        declared = typer.Argument(metavar=info.metavar, help=text)
    else:
        declared = typer.Option(*info.flags, metavar=info.metavar, help=text, min=info.minimum)
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(option.name, kind, default=default, annotation=Annotated[hint, declared])


def options_of(values: Mapping[str, Any]) -> RunOptions:
    """The options as one value, from the values that typer gives."""
    several = {value.name for value in fields(RunOptions) if value.default == ()}
    given: dict[str, Any] = {name: tuple(value or ()) if name in several else value for name, value in values.items()}
    return RunOptions(**given)


def with_options(
    command: Callable[..., Any],
    names: Collection[str] = ALL,
    texts: Mapping[str, str] | None = None,
    instead: Mapping[str, Callable[..., Any]] | None = None,
) -> Callable[..., Any]:
    """A command whose first argument is :class:`RunOptions`; on the command line it takes those of them in ``names``.

    ``texts`` are help texts by option, where they differ from those of a run.

    Where an option of ``instead`` is given, its command runs, which needs no run: it takes options by their names,
    and no others may be given.
    """
    texts = texts or {}
    shared = {
        field.name: _parameter(field, texts.get(field.name) or option_info(field).help)
        for field in fields(RunOptions)
        if field.name in names
    }
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    # Arguments without a default come first in the help as in the call.
    parameters = sorted((*shared.values(), *own), key=lambda parameter: parameter.default is not parameter.empty)

    @wraps(command)
    def wrapper(**values: Any) -> Any:
        for option, replacement in (instead or {}).items():
            if values[option] is not None:
                return _run_instead(
                    option, replacement, values, {parameter.name: parameter.default for parameter in parameters}
                )
        options = options_of({name: values[name] for name in shared})
        return command(options, **{parameter.name: values[parameter.name] for parameter in own})

    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapper


def _run_instead(
    option: str, replacement: Callable[..., Any], values: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Any:
    taken = inspect.signature(replacement).parameters
    for name, value in values.items():
        if name not in taken and value and value != defaults[name]:
            raise InputError(f"--{option} makes no call: --{name.replace('_', '-')} does not apply. Leave it out.")
    return replacement(**{name: values[name] for name in taken})


def with_setup(command: Callable[..., Any], **settings: Any) -> Callable[..., Any]:
    """As :func:`with_options`, for a command that takes the :class:`Setup` made from the options."""

    @wraps(command)
    def prepared(options: RunOptions, **values: Any) -> Any:
        return command(prepare(options), **values)

    return with_options(prepared, **settings)
