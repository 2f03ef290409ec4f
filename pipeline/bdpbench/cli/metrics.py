"""`bdpbench metrics`: the metrics of a result, for spreadsheets and other tools."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("metrics")
@click.argument("result", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--runs", is_flag=True, help="Print the runs instead, one JSON object a line: arguments, files."
)
def command(result: Path, runs: bool) -> None:
    """Print every metric of every run of RESULT as CSV.

    RESULT is an archive, a folder of reports/published/, or results/STUDY/TIER.
    """
    from bdpbench.archive.results import KeptResults
    from bdpbench.contracts.documents import csv_of_frame

    found = KeptResults(result)
    if runs:
        for run in found.published_runs:
            click.echo(json.dumps(run))
    else:
        click.echo(csv_of_frame(found.metrics).decode(), nl=False)
