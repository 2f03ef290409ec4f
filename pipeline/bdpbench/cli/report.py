"""`bdpbench report`: stage 6."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("report")
@click.argument("plan_file", type=click.Path(path_type=Path))
@click.option("--runs", "runs_dir", required=True, type=click.Path(path_type=Path))
@click.option("--metrics", "metrics_file", required=True, type=click.Path(path_type=Path))
@click.option("--scorecard", "scorecard_file", required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path))
def command(
    plan_file: Path, runs_dir: Path, metrics_file: Path, scorecard_file: Path, output: Path
) -> None:
    """Write the HTML report of PLAN_FILE: one file that opens offline."""
    from bdpbench.model.plan import read_plan
    from bdpbench.workflow.stages import read_metrics, read_scorecard, report_plan

    report_plan(
        read_plan(plan_file),
        read_metrics(metrics_file),
        read_scorecard(scorecard_file),
        runs_dir,
        output,
    )
