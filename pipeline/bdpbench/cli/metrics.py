"""`bdpbench metrics`: the metrics of a result, for spreadsheets and other tools."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("metrics")
@click.argument("result", type=click.Path(path_type=Path, exists=True))
def command(result: Path) -> None:
    """Print every metric of every run of RESULT as CSV.

    RESULT is an archive, a folder of reports/published/, or results/STUDY/TIER.
    """
    from bdpbench.archive.side import read_metrics_of
    from bdpbench.contracts.csv_files import csv_of_frame

    click.echo(csv_of_frame(read_metrics_of(result)).decode(), nl=False)
