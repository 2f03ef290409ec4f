"""`bdpbench measure`: stage 4."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("measure")
@click.argument("plan_file", type=click.Path(path_type=Path))
@click.option("--runs", "runs_dir", required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path))
def command(plan_file: Path, runs_dir: Path, output: Path) -> None:
    """Write the metrics of the finished runs of PLAN_FILE as parquet and CSV.

    Values that `parse --plan` has already computed are reused.
    """
    from bdpbench.app.stages import measure_plan, write_metrics
    from bdpbench.contracts.plan import read_plan

    write_metrics(measure_plan(read_plan(plan_file), runs_dir), output)
