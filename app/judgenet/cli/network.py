"""``judgenet network``: networks that were drawn in other programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from judgenet.cli.errors import InputError
from judgenet.core.checks import check
from judgenet.core.project import PROJECT_SUFFIX, Project
from judgenet.core.wording import plural
from judgenet.formats.network_files import read_network
from judgenet.store.files import load_project, save_project

app = typer.Typer(
    help="Import a network that was drawn elsewhere. Export one: judgenet export --what network.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _group() -> None:
    """Keeps the name of a single command."""


@app.command("import")
def import_network(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A graph as GraphML or node-link JSON.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="The project to write.", show_default=False)
    ] = None,
    project: Annotated[
        Path | None,
        typer.Option(
            "--project",
            metavar="FILE",
            help="A project whose network is replaced. With --out the project stays unchanged and a copy gets the "
            "network.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make a project from a network that was drawn elsewhere, or put the network into a project.

    \b
    Nodes are neurons, and an edge leads from a neuron to the one that reads it.
    These attributes of a node count; all are optional:
      layer, neuron            where it stands, from 1
      role, description        its perspective
      endpoint, model          the judge's model
      temperature, max_tokens, samples, reasoning, scores, extra (JSON)
      kind                     neuron, pair, roles, aggregation, chair, verdict;
                               without it in the graph all nodes are neurons
    A graph that judgenet export --what network wrote comes back as it was, with
    the changes made to its nodes and edges.

    \b
    Example: judgenet network import network.graphml --out study.judgenet
    """
    target = out or project
    if target is None:
        raise InputError("--out is missing. Name the project to write, or one to change with --project.")
    if out is not None and out.suffix != PROJECT_SUFFIX:
        raise InputError(f"--out {out}: the name of a project ends in {PROJECT_SUFFIX}.")
    if out is not None and out.exists():
        raise InputError(f"--out {out}: exists. Name another file, or replace its network with --project {out}")
    spec = read_network(file)
    written = Project.new(target.stem, spec) if project is None else replace(load_project(project), network=spec)
    target.parent.mkdir(parents=True, exist_ok=True)
    save_project(written, target, loaded_from=project)
    widths = (
        plural(layer.width, "neuron") if layer.width is not None else "as many neurons as roles"
        for layer in spec.layers
    )
    typer.echo(f"{target}: {spec.name}, {plural(spec.depth, 'layer')} ({', '.join(widths)})")
    for problem in check(spec):
        typer.echo(f"{problem.severity.capitalize()}: {problem}", err=True)
