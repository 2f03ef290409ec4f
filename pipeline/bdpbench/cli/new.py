"""`bdpbench new`: a study or a metric to begin with."""

from __future__ import annotations

from pathlib import Path

import click


@click.group("new")
def command() -> None:
    """Write a study or a metric to begin with, with comments; it runs as it is."""


@command.command("study")
@click.argument("folder", metavar="NAME", type=click.Path(path_type=Path))
def study(folder: Path) -> None:
    """Write NAME/study.yaml: two protocols, one path, three buffers."""
    from bdpbench.app.beginning import begin_study

    click.echo(f"{begin_study(folder)}: edit it; `./bdpbench run {folder}` simulates it")


@command.command("metric")
@click.argument("name")
@click.argument("study")
def metric(name: str, study: str) -> None:
    """Write the metric NAME into metrics.py of STUDY, the folder or the key of a study."""
    from bdpbench.app.beginning import begin_metric

    click.echo(f"{begin_metric(name, study)}: edit it; `./bdpbench run {study}` measures it")
