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
    from bdpbench.archive.side import read_metrics_of, read_runs_of
    from bdpbench.contracts.documents import csv_of_frame

    if runs:
        for run in read_runs_of(result):
            click.echo(json.dumps(run))
    else:
        click.echo(csv_of_frame(read_metrics_of(result)).decode(), nl=False)
