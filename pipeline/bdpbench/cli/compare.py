"""`bdpbench compare`: which metrics moved between two results."""

from __future__ import annotations

import sys
from pathlib import Path

import click

_PATH = click.Path(path_type=Path)


@click.command("compare")
@click.argument("first", type=click.Path(path_type=Path, exists=True))
@click.argument("second", type=click.Path(path_type=Path, exists=True))
@click.option("--html", type=_PATH, help="Write the comparison as a page that opens offline.")
@click.option("--json", "json_file", type=_PATH, help="Write the comparison as JSON.")
@click.option(
    "--tolerance",
    "percent",
    type=click.FloatRange(0),
    help="How far a metric without a published number may move, %. Default: 5.",
)
def command(
    first: Path, second: Path, html: Path | None, json_file: Path | None, percent: float | None
) -> None:
    """Show which metrics moved between FIRST and SECOND beyond their bounds.

    Each is an archive, a folder of reports/published/, or results/STUDY/TIER. Runs are matched by
    scenario and label, so that results of different builds of ns-2 can be compared. Metrics
    that only one of them has, and different definitions or versions, are listed.

    The exit code is 1 if any metric moved beyond its bounds.
    """
    from bdpbench.app.keep.export import compare_results

    share = None if percent is None else percent / 100
    if compare_results(first, second, html, json_file, share):
        sys.exit(1)
