"""Options that several commands share.

The parameters of a function that a command calls, or fields of its request, have the names of the
options: ``asked`` hands over all that the command itself does not look at.
"""

from __future__ import annotations

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


def selection_options(function: Function) -> Function:
    """``--scenario`` and ``--protocol``, each of which may be given several times."""
    decorate = click.option(
        "--protocol", "protocols", multiple=True, help="Only runs with this protocol."
    )
    decorated = decorate(function)
    return click.option(
        "--scenario", "scenarios", multiple=True, help="Only runs of this scenario."
    )(decorated)
