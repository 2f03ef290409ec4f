"""`bdpbench score`: stage 5."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("score")
@click.argument("plan_file", type=click.Path(path_type=Path))
@click.option("--metrics", "metrics_file", required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path))
def command(plan_file: Path, metrics_file: Path, output: Path) -> None:
    """Compare the metrics of PLAN_FILE with the published numbers and statements of its study."""
    from bdpbench.app.stages import read_metrics, score_plan
    from bdpbench.contracts.plan import read_plan
    from bdpbench.contracts.scorecard import write_scorecard

    write_scorecard(output, score_plan(read_plan(plan_file), read_metrics(metrics_file)))
