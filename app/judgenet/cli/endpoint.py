"""``judgenet endpoint``: endpoints, their keys, and approvals."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from judgenet.cli.common import JsonOption
from judgenet.cli.errors import ExitCode, InputError
from judgenet.cli.terminal import Terminal
from judgenet.core.endpoints import DEFAULT_URLS, EndpointKind, EndpointProfile
from judgenet.core.extra_fields import extra_of_text
from judgenet.core.network import Settings
from judgenet.core.project import PairsSource
from judgenet.engine.embedded_model import DEMO_NOTICE, MODEL_NAME
from judgenet.engine.endpoints import EndpointError, NotApproved, require_approved
from judgenet.engine.options import read_extra, read_reasoning
from judgenet.engine.ports import EndpointState
from judgenet.engine.probe import EndpointProbe, probe
from judgenet.engine.server_models import server_models
from judgenet.engine.session import endpoints_of
from judgenet.engine.setup import read_source
from judgenet.formats.errors import DataError
from judgenet.store.approvals import ApprovalNeed, approve, approved, project_needs, revoke
from judgenet.store.files import load_project
from judgenet.store.secrets import (
    SecretError,
    find_key,
    forget_key,
    keyring_problem,
    missing_key_message,
    scrub,
    store_key,
)
from judgenet.store.settings import (
    SettingsError,
    UnknownEndpoint,
    builtin_profiles,
    delete_profile,
    profile_from_flags,
    profile_problem,
    profiles,
    resolve,
    save_profile,
    settings_path,
    user_profiles,
)

app = typer.Typer(
    help="Endpoints: list, add and test the servers of the judges' models, and store their keys.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_WIDE = 240
"""The width of a table that is piped: nothing is folded."""

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the endpoint.", show_default=False)]
OwnProjectOption = Annotated[
    Path | None,
    typer.Option("--project", help="Project whose own endpoints and .env count too.", show_default=False),
]


@app.command("list")
def list_endpoints(project: OwnProjectOption = None, as_json: JsonOption = False) -> int:
    """List all endpoints, where each comes from and whether its key is found.

    Example: judgenet endpoint list
    """
    own, folder = _of_project(project)
    known = profiles(own, folder)
    origins = _origins(own)
    if as_json:
        records = [_record(profile, origins[name], folder) for name, profile in known.items()]
        typer.echo(json.dumps(records, allow_nan=False))
        return ExitCode.DONE
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "kind", "address", "model", "key", "from"):
        table.add_column(heading, overflow="fold")
    for name, profile in known.items():
        place = profile.source or "" if profile.kind in ("embedded", "replay") else profile.base_url or "(not set)"
        model = _model(profile) or ""
        table.add_row(name, profile.kind, place, model, _key_state(profile, folder), origins[name])
    Terminal(width=None if sys.stdout.isatty() else _WIDE).print(table)
    return ExitCode.DONE


@app.command()
def show(name: NameArgument, project: OwnProjectOption = None, as_json: JsonOption = False) -> int:
    """Show all settings of an endpoint. Keys are shown by name only.

    Example: judgenet endpoint show openai
    """
    own, folder = _of_project(project)
    known = profiles(own, folder)
    if name not in known:
        raise UnknownEndpoint(name, known)
    record = _record(known[name], _origins(own)[name], folder)
    if as_json:
        typer.echo(json.dumps(record, allow_nan=False))
        return ExitCode.DONE
    for field, value in record.items():
        if value not in (None, {}):
            typer.echo(f"{field}: {json.dumps(value) if isinstance(value, dict) else value}")
    return ExitCode.DONE


@app.command()
def add(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name for the endpoint, such as gpu-box.", show_default=False)
    ],
    base_url: Annotated[str | None, typer.Option(help="Address, with or without /v1.", show_default=False)] = None,
    kind: Annotated[
        EndpointKind | None,
        typer.Option(
            help="API type. Default: by the address (openai for servers of your own). ollama is Ollama's own API, "
            "which takes a context length.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Default model.", show_default=False)] = None,
    api_key_name: Annotated[
        str | None,
        typer.Option(
            "--api-key-name",
            "--api-key-env",
            metavar="NAME",
            help="Name (not value) of the key: a variable, or an entry of the system's key store. '' for none.",
            show_default=False,
        ),
    ] = None,
    concurrency: Annotated[int | None, typer.Option(help="Most parallel calls.", show_default=False)] = None,
    requests_per_minute: Annotated[
        float | None, typer.Option("--rpm", help="Most requests a minute.", show_default=False)
    ] = None,
    tokens_per_minute: Annotated[
        float | None, typer.Option("--tpm", help="Most tokens a minute.", show_default=False)
    ] = None,
    connect_timeout: Annotated[float | None, typer.Option(help="Seconds to connect.", show_default=False)] = None,
    idle_timeout: Annotated[
        float | None, typer.Option(help="Longest silence within an answer, in seconds.", show_default=False)
    ] = None,
    deadline: Annotated[
        float | None, typer.Option(help="Longest time of one attempt, in seconds.", show_default=False)
    ] = None,
    retries: Annotated[int | None, typer.Option(help="Further attempts after the first.", show_default=False)] = None,
    patience: Annotated[
        float | None,
        typer.Option(help="Seconds to wait for an endpoint that is not reached any more.", show_default=False),
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option(help="A further header, 'Name: value'; no keys. Repeatable.", show_default=False)
    ] = None,
    structured: Annotated[
        Literal["auto", "never"] | None,
        typer.Option(help="Ask for JSON replies where possible, or never.", show_default=False),
    ] = None,
    extra: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help="Further fields of every request, as a JSON object: '{\"top_k\": 20}'; '{}' for none. No keys.",
            show_default=False,
        ),
    ] = None,
    context_length: Annotated[
        int | None,
        typer.Option(
            metavar="TOKENS",
            help="kind ollama: the context that models are loaded with; 0 for the server's own.",
            show_default=False,
        ),
    ] = None,
    api_version: Annotated[str | None, typer.Option(help="Azure's API version.", show_default=False)] = None,
    source: Annotated[
        Path | None, typer.Option(help="replay: the recorded run. embedded: another GGUF.", show_default=False)
    ] = None,
) -> int:
    """Add an endpoint, or change some settings of an existing one.

    No key is stored here: give its name, then set the variable of that name or use: judgenet endpoint key NAME

    \b
    Examples:
      judgenet endpoint add gpu-box --base-url http://gpu-box:8000/v1 \\
        --model qwen3-32b --concurrency 64
      judgenet endpoint add ollama --kind ollama --context-length 16384
    """
    known = profiles()
    there = known.get(name)
    if there is not None:
        profile = there
    elif base_url is not None:
        profile = replace(profile_from_flags(base_url, kind=kind), name=name)
    else:
        profile = EndpointProfile(name, base_url=DEFAULT_URLS.get(kind or "openai", ""))
    changes: dict[str, Any] = {
        "base_url": base_url,
        "kind": kind,
        "model": model,
        "api_key": api_key_name,
        "concurrency": concurrency,
        "requests_per_minute": requests_per_minute,
        "tokens_per_minute": tokens_per_minute,
        "connect_timeout": connect_timeout,
        "idle_timeout": idle_timeout,
        "deadline": deadline,
        "retries": retries,
        "patience": patience,
        "headers": None if header is None else tuple(map(_header, header)),
        "structured": structured,
        "extra": None if extra is None else read_extra("--extra", extra),
        "context_length": context_length,
        "api_version": api_version,
        "source": None if source is None else str(source.absolute()),
    }
    profile = replace(profile, **{field: value for field, value in changes.items() if value is not None})
    if profile.api_key == "":
        profile = replace(profile, api_key=None)
    if profile.extra == "{}":
        profile = replace(profile, extra=None)
    if profile.context_length == 0:
        profile = replace(profile, context_length=None)
    if profile.kind == "embedded" and profile.model is None:
        profile = replace(profile, model=_model(profile))
    save_profile(profile)
    done = "added" if there is None else "changed"
    typer.echo(f"{name} {done} in {settings_path()}. Test it with: judgenet endpoint test {name}")
    if profile.api_key and find_key(profile.api_key) is None:
        typer.echo(f"Its key {profile.api_key} is not set yet: set the variable, or use: judgenet endpoint key {name}")
    return ExitCode.DONE


@app.command()
def remove(name: NameArgument) -> int:
    """Remove an endpoint of your own. A built-in one gets its original settings back.

    Example: judgenet endpoint remove gpu-box
    """
    built_in = name in builtin_profiles()
    if delete_profile(name):
        typer.echo(f"{name} is the built-in endpoint again." if built_in else f"{name} removed.")
        return ExitCode.DONE
    if built_in:
        raise InputError(f"{name} is built in and has no settings of yours; it cannot be removed.")
    raise UnknownEndpoint(name, profiles())


@app.command()
def key(
    name: NameArgument,
    forget: Annotated[bool, typer.Option("--forget", help="Remove the key from the system's key store.")] = False,
    project: OwnProjectOption = None,
) -> int:
    """Store an endpoint's key in the system's key store. It is typed without echo, or read from standard input.

    Example: judgenet endpoint key openai
    """
    own, folder = _of_project(project)
    known = profiles(own, folder)
    if name not in known:
        raise UnknownEndpoint(name, known)
    profile = known[name]
    if profile.api_key is None:
        raise InputError(f"{name} uses no key. Name one first: judgenet endpoint add {name} --api-key-name NAME")
    if forget:
        return _forget(profile.api_key, folder)
    # Checked before the key is typed.
    if problem := keyring_problem():
        typer.echo(f"judgenet: {problem} Set the environment variable {profile.api_key} instead.", err=True)
        return ExitCode.FAILED
    if sys.stdin.isatty():
        value = typer.prompt(f"Key for {name} ({profile.api_key})", hide_input=True, err=True)
    else:
        value = sys.stdin.readline()
    if not value.strip():
        raise InputError("No key was given; nothing is changed.")
    try:
        store_key(profile.api_key, value)
    except SecretError as error:
        typer.echo(f"judgenet: {scrub(str(error))}", err=True)
        return ExitCode.FAILED
    typer.echo(f"{profile.api_key} is in the system's key store.")
    known_key = find_key(profile.api_key, folder)
    if known_key is not None and known_key.source != "keyring":
        typer.echo(f"It is also set in another place, which takes precedence: {known_key.source}.")
    return ExitCode.DONE


@app.command()
def trust(
    project: Annotated[
        Path | None,
        typer.Argument(metavar="PROJECT", help="The project. Without one, approvals are listed.", show_default=False),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="Only what this endpoint of the project needs. Repeatable."),
    ] = None,
    revoke_word: Annotated[
        str | None,
        typer.Option(
            "--revoke",
            metavar="WHAT",
            help="Revoke an approval: an address, the name of a key, a file, or 'all'.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Approve what a project from somebody else wants to send, where to, and which files outside its folder it reads.

    Nothing is sent or read without your approval. Without a project, this lists what you have approved. An approval is
    kept on this computer, never in the project. What you set up yourself (judgenet endpoint add, --base-url, --pairs)
    needs none.

    \b
    Examples:
      judgenet endpoint trust shared.judgenet
      judgenet endpoint trust
      judgenet endpoint trust --revoke https://gpu-box:8000
    """
    if revoke_word is not None:
        if project is not None or name:
            raise InputError("--revoke cannot be combined with a project or --only.")
        gone = revoke(revoke_word)
        if not gone:
            raise InputError(
                f"--revoke {revoke_word}: there is no such approval. List them with: judgenet endpoint trust"
            )
        return _tell_trust(gone, "taken back", as_json)
    if project is None:
        if name:
            raise InputError("--only needs the project: judgenet endpoint trust PROJECT --only NAME")
        return _tell_trust(approved(), "approved", as_json)
    given, folder = load_project(project), project.absolute().parent
    known = profiles(given.endpoints, folder)
    for endpoint_name in name or ():
        if endpoint_name not in known:
            raise UnknownEndpoint(endpoint_name, known)
    needs = project_needs(given, known, endpoints_of(given.network), folder)
    if name:
        needs = tuple(need for need in needs if need.endpoint in name)
    approve(needs)
    if not name and given.pairs is not None:
        needs += _approve_pictures(given.pairs, folder, given.salt)
    return _tell_trust(needs, "approved", as_json)


_MOST_FOLDERS = 100


def _approve_pictures(source: PairsSource, folder: Path, salt: str) -> tuple[ApprovalNeed, ...]:
    """Approves the folders of the pictures that the pairs name. They become known one after the other, as the pairs are
    read."""
    needs: list[ApprovalNeed] = []
    while len(needs) < _MOST_FOLDERS:
        try:
            read_source(source, folder, salt)
        except NotApproved as asked:
            approve(asked.needs)
            needs += asked.needs
        except (DataError, OSError):
            break  # the commands that use the pairs report what is wrong with them
        else:
            break
    return tuple(needs)


def _tell_trust(needs: Sequence[ApprovalNeed], what: str, as_json: bool) -> int:
    if as_json:
        records = [{"kind": need.kind, "place": need.place, "name": need.name} for need in needs]
        typer.echo(json.dumps({"what": what, "approvals": records}, allow_nan=False))
        return ExitCode.DONE
    for need in needs:
        typer.echo(f"{what}: {need.words}")
    if not needs:
        typer.echo("There is nothing to approve." if what == "approved" else "Nothing was taken back.")
    return ExitCode.DONE


@app.command("test")
def ask_once(
    name: NameArgument,
    model: Annotated[
        str | None, typer.Option(help="Model to test. Default: the endpoint's.", show_default=False)
    ] = None,
    reasoning: Annotated[
        str | None,
        typer.Option(
            metavar="EFFORT|TOKENS",
            help="Test a reasoning setting, as of judgenet run --reasoning, and show how the endpoint took it.",
            show_default=False,
        ),
    ] = None,
    picture: Annotated[
        bool,
        typer.Option(
            "--picture",
            help="Send a small picture along, and show whether the model sees it: a server may accept pictures and "
            "drop them.",
        ),
    ] = False,
    project: OwnProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Make one call to an endpoint, and show whether it answers and which parameters it takes. The call is small, but
    paid.

    \b
    Examples:
      judgenet endpoint test openai --model gpt-5-mini
      judgenet endpoint test ollama --model llava --picture
    """
    given = None if project is None else load_project(project)
    own, folder = _of_project(project)
    profile = resolve(name, own, folder)
    if profile.kind == "replay":
        raise InputError(f"{name} replays a recorded run; there is nothing to ask.")
    asked = model or _model(profile)
    if asked is None:
        raise InputError(f"{name} has no default model. Name one: judgenet endpoint test {name} --model MODEL")

    salt = "" if given is None else given.salt
    require_approved([name], {name: profile}, folder, salt, project)
    if profile.api_key and find_key(profile.api_key, folder) is None:
        typer.echo(f"judgenet: {missing_key_message(profile.api_key, folder)}", err=True)
        return ExitCode.FAILED
    messages: list[str] = []

    def on_state(state: EndpointState) -> None:
        # The result of the one call is printed below.
        if state.state != "failing":
            messages.append(scrub(state.message))

    # One attempt: a test shows what is wrong at once, without retries.
    settings = Settings()
    if reasoning is not None:
        settings = replace(settings, reasoning=read_reasoning("--reasoning", reasoning))
    once = replace(profile, retries=0)
    result = asyncio.run(probe(once, asked, folder, salt, on_state, settings, picture=picture))
    if as_json:
        typer.echo(scrub(json.dumps(result.to_json() | {"told": messages}, allow_nan=False)))
    else:
        _print_probe(profile, result, messages)
    return ExitCode.DONE if result.reply is not None and result.sees is not False else ExitCode.FAILED


@app.command("models")
def list_models(name: NameArgument, project: OwnProjectOption = None, as_json: JsonOption = False) -> int:
    """List the models that an endpoint's server has. This costs nothing.

    Example: judgenet endpoint models ollama
    """
    given = None if project is None else load_project(project)
    own, folder = _of_project(project)
    profile = resolve(name, own, folder)
    salt = "" if given is None else given.salt
    require_approved([name], {name: profile}, folder, salt, project)
    if profile.api_key and find_key(profile.api_key, folder) is None:
        typer.echo(f"judgenet: {missing_key_message(profile.api_key, folder)}", err=True)
        return ExitCode.FAILED
    try:
        names = asyncio.run(server_models(profile, folder, salt))
    except EndpointError as error:
        typer.echo(f"judgenet: {scrub(str(error))}", err=True)
        return ExitCode.FAILED
    if as_json:
        typer.echo(json.dumps({"endpoint": name, "models": names}, allow_nan=False))
        return ExitCode.DONE
    for model_name in names:
        typer.echo(scrub(model_name))
    return ExitCode.DONE


def _print_probe(profile: EndpointProfile, result: EndpointProbe, messages: Sequence[str]) -> None:
    for line in dict.fromkeys(messages):
        typer.echo(f"  {line}")
    if result.reply is None:
        typer.echo(f"{result.endpoint} did not answer ({result.reason}): {scrub(result.message)}", err=True)
        return
    reply = result.reply
    typer.echo(f"{result.endpoint} answers: {result.model}" + (f" (as {reply.model})" if reply.model else ""))
    typer.echo(f"  time: {reply.latency_s:.1f} s, attempts: {reply.attempts}")
    about = "about " if reply.usage.estimated else ""
    thinking = f" ({reply.usage.reasoning} of them thinking)" if reply.usage.reasoning else ""
    typer.echo(f"  tokens: {about}{reply.usage.prompt} in, {reply.usage.completion} out{thinking}")
    if result.sees is not None:
        seen = "sees pictures: it named the colour of the one that was sent"
        blind = "may not see pictures: it did not name the colour of the one that was sent"
        typer.echo(f"  {seen if result.sees else blind}")
    form = "JSON by schema" if result.form == "json" else "plain text (no reply schema)"
    typer.echo(f"  replies are asked for as {form}")
    for parameter, value in result.learned:
        typer.echo(f"  {parameter}: {value}")
    text = " ".join(scrub(reply.text).split())
    typer.echo(f"  it said: {text[:300]}{'…' if len(text) > 300 else ''}")
    if profile.kind == "embedded" and profile.source is None:
        typer.echo(DEMO_NOTICE)


def _forget(key_name: str, folder: Path | None) -> int:
    try:
        gone = forget_key(key_name)
    except SecretError as error:
        typer.echo(f"judgenet: {scrub(str(error))}", err=True)
        return ExitCode.FAILED
    typer.echo(
        f"{key_name} is no longer in the system's key store."
        if gone
        else f"{key_name} was not in the system's key store."
    )
    left = find_key(key_name, folder)
    if left is not None:
        typer.echo(f"It is still set: {left.source}.")
    return ExitCode.DONE


def _of_project(project: Path | None) -> tuple[tuple[EndpointProfile, ...], Path | None]:
    if project is None:
        return (), None
    return load_project(project).endpoints, project.absolute().parent


def _origins(own: Sequence[EndpointProfile]) -> Mapping[str, str]:
    return {
        **dict.fromkeys(builtin_profiles(), "built-in"),
        **dict.fromkeys(user_profiles(), "user"),
        **{profile.name: "project" for profile in own},
    }


def _model(profile: EndpointProfile) -> str | None:
    if profile.kind == "embedded" and profile.model is None:
        return MODEL_NAME if profile.source is None else Path(profile.source).stem
    return profile.model


def _key_state(profile: EndpointProfile, folder: Path | None) -> str:
    if profile.api_key is None:
        return "none needed"
    known_key = find_key(profile.api_key, folder)
    return f"{profile.api_key}: " + (f"set ({known_key.source})" if known_key else "not set")


def _record(profile: EndpointProfile, origin: str, folder: Path | None) -> dict[str, Any]:
    known_key = find_key(profile.api_key, folder) if profile.api_key else None
    return asdict(profile) | {
        "headers": dict(profile.headers),
        "extra": extra_of_text(profile.extra) or None,
        "key_found_in": None if known_key is None else known_key.source,
        "from": origin,
        "problem": profile_problem(profile),
    }


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise SettingsError("--header: write 'Name: value'.")
    return name.strip(), value.strip()
