"""`bdpbench report`: a study's report, figures and tables; and the last stages of a plan."""

from __future__ import annotations

from pathlib import Path

import click

from bdpbench.cli.options import tier_option

_PATH = click.Path(path_type=Path)


@click.command("report")
@click.argument("study", required=False, metavar="[STUDY | PLAN_FILE]")
@tier_option
@click.option(
    "--export",
    "folder",
    type=_PATH,
    help="Folder for figures, tables and captions: they go to STUDY/TIER in it.",
)
@click.option(
    "--format", "formats", default="svg,pdf,png", show_default=True, help="Formats of the figures."
)
@click.option(
    "--only", multiple=True, metavar="PATTERN", help="Only figures whose names match: 'rtt-*'."
)
@click.option("-o", "--output", type=_PATH, help="File for the HTML report.")
@click.option("--runs", "runs_dir", type=_PATH, help="Folder of the runs of PLAN_FILE.")
@click.option("--metrics", "metrics_file", type=_PATH, help="Use this metrics.parquet.")
@click.option("--scorecard", "scorecard_file", type=_PATH, help="Use this scorecard.json.")
def command(
    study: str | None,
    tier: str | None,
    folder: Path | None,
    formats: str,
    only: tuple[str, ...],
    output: Path | None,
    runs_dir: Path | None,
    metrics_file: Path | None,
    scorecard_file: Path | None,
) -> None:
    """Write the HTML report of STUDY, or its figures and tables as files for papers.

    Without --export: one HTML file about the finished runs, which opens offline.

    With --export: every chart of the report, except those of single runs, as SVG, PDF and PNG; the
    scorecard as LaTeX (booktabs), Markdown and CSV; and captions that name runs, definitions, ns-2
    build and commit.

    With --runs and -o: the last stages of the workflow for one PLAN_FILE, with metrics and
    verdicts beside the report; if both --metrics and --scorecard are given, these files are used.
    """
    if runs_dir is not None:
        _stage(study, runs_dir, metrics_file, scorecard_file, output)
        return
    from bdpbench.app.keep.export import export_study, report_study

    if folder is None:
        report_study(study, tier, output)
    else:
        export_study(study, tier, folder, formats, only)


def _stage(
    plan_file: str | None,
    runs_dir: Path,
    metrics_file: Path | None,
    scorecard_file: Path | None,
    output: Path | None,
) -> None:
    if plan_file is None or output is None or (metrics_file is None) != (scorecard_file is None):
        raise click.UsageError(
            "--runs needs PLAN_FILE and --output, and both or none of --metrics and --scorecard."
        )
    from bdpbench.app.stages import downstream, read_metrics, report_plan
    from bdpbench.contracts.plan import read_plan
    from bdpbench.contracts.scorecard import read_scorecard

    plan = read_plan(Path(plan_file))
    if metrics_file is None or scorecard_file is None:
        downstream(plan, runs_dir, output)
        return
    report_plan(plan, read_metrics(metrics_file), read_scorecard(scorecard_file), runs_dir, output)
