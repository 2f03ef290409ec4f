"""`bdpbench parse`: stage 3."""

from __future__ import annotations

from pathlib import Path

import click

_PATH = click.Path(path_type=Path)


@click.command("parse")
@click.argument("run_dirs", nargs=-1, required=True, type=_PATH)
@click.option("--plan", "plan_file", type=_PATH, help="Also measure the runs, as this plan says.")
@click.option("-o", "--output", type=_PATH, help="File for the manifests, as JSON.")
def command(run_dirs: tuple[Path, ...], plan_file: Path | None, output: Path | None) -> None:
    """Turn the output files of finished runs in RUN_DIRS into parquet tables.

    With --plan, the values of their metrics are computed and stored beside the tables; values
    whose inputs have not changed are kept.
    """
    from bdpbench.app.stages import measure_runs, parse_runs
    from bdpbench.contracts.documents import write_json_atomically
    from bdpbench.contracts.paths import runs_folder_of
    from bdpbench.contracts.plan import read_plan

    plan = None if plan_file is None else read_plan(plan_file)
    manifests = parse_runs(run_dirs, plan)
    if plan is not None:
        measure_runs(plan, runs_folder_of(run_dirs[0]), manifests)
    if output is not None:
        write_json_atomically(output, manifests)
