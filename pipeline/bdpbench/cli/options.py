"""Options that several commands share.

The parameters of a function that a command calls, or fields of its request, have the names of the
options: ``asked`` hands over all that the command itself does not look at.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])

Words = tuple[str, ...]
"""What an option got that may be given several times."""

PATH = click.Path(path_type=Path)
FOLDER = click.Path(path_type=Path, file_okay=False)
EXISTING = click.Path(path_type=Path, exists=True)

study_argument = click.argument("study", required=False)

tier_option = click.option(
    "--tier",
    type=click.Choice(["quick", "paper", "full"]),
    help="quick: minutes; paper: the paper's own durations; full: every grid point.",
)

backend_option = click.option(
    "--backend",
    type=click.Choice(["auto", "docker", "native"]),
    help="Where ns-2 runs; auto uses what is built, else builds natively, or in Docker "
    "where no compiler can be had.",
)


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print everything as JSON, one object per line."
)


def _together(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Several options as one decorator."""
    return lambda function: functools.reduce(lambda made, each: each(made), options[::-1], function)


def _alone(context: click.Context, _option: click.Parameter, quiet: bool) -> bool:
    if quiet and context.params.get("dry_run"):
        raise click.UsageError("--quiet would leave nothing of --dry-run")
    return quiet


selection_options = _together(
    click.option("--scenario", "scenarios", multiple=True, help="Only runs of this scenario."),
    click.option("--protocol", "protocols", multiple=True, help="Only runs with this protocol."),
)

call_options = _together(
    backend_option,
    click.option("-j", "--jobs", type=click.IntRange(1), help="Simulations at once."),
    click.option(
        "-n",
        "--dry-run",
        is_flag=True,
        is_eager=True,
        help="Only say what would be simulated, and for how long.",
    ),
    click.option("-q", "--quiet", is_flag=True, callback=_alone, help="Print errors only."),
    json_option,
    click.option("--profile", type=PATH, help="Snakemake profile to run with."),
)
