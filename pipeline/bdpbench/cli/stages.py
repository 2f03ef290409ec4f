"""The stages of a call, one command each: the rules of the workflow call some of them."""

from __future__ import annotations

from pathlib import Path

import click

from bdpbench.cli.options import (
    FOLDER,
    PATH,
    Words,
    scripts_option,
    selection_options,
    study_argument,
    tier_option,
)


@click.command("plan")
@study_argument
@tier_option
@selection_options
@scripts_option
@click.option("-j", "--jobs", type=click.IntRange(1), help="Batches that will run at once.")
@click.option("--where", is_flag=True, help="Only print the path of the plan.")
def plan_command(
    study: str | None,
    tier: str | None,
    scenarios: Words,
    protocols: Words,
    scripts: Path | None,
    jobs: int | None,
    where: bool,
) -> None:
    """Write the plan of a tier of STUDY and batches of the missing runs; print its path."""
    from bdpbench.app.planning import Wanted, plan_batches
    from bdpbench.studies.plan import Selection

    wanted = Wanted(study, tier, Selection(scenarios, protocols), scripts=scripts)
    click.echo(str(wanted.paths().plan if where else plan_batches(wanted, jobs)))


@click.command("simulate")
@click.argument("run_dir", required=False, type=FOLDER)
@click.option(
    "--batch", type=PATH, help="Simulate the runs of this batch, made by `bdpbench plan`."
)
@click.option(
    "--index",
    type=click.IntRange(0),
    help="With --batch FOLDER: number of the batch in the folder.",
)
@click.option("-k", "--keep-going", is_flag=True, help="Continue with other runs if one fails.")
@click.option(
    "--backend",
    type=click.Choice(["docker", "native"]),
    default="native",
    show_default=True,
    help="Where ns-2 runs.",
)
def simulate_command(
    run_dir: Path | None,
    batch: Path | None,
    index: int | None,
    keep_going: bool,
    backend: str,
) -> None:
    """Run ns-2 for the planned run in RUN_DIR, unless it is finished.

    With --batch: simulate, parse and measure all runs of a batch, one after the
    other.
    """
    if (run_dir is None) == (batch is None):
        raise click.UsageError("Give either RUN_DIR or --batch.")
    given_options = {"--keep-going": keep_going, "--index": index is not None}
    for option, given in given_options.items():
        if run_dir is not None and given:
            raise click.UsageError(f"{option} needs --batch.")
    if batch is not None:
        from bdpbench.app.batch import one_thread_for_tables, run_batch
        from bdpbench.contracts.plan import batch_path

        one_thread_for_tables()
        path = (batch if index is None else batch_path(batch, index)).resolve()
        run_batch(path, backend, keep_going=keep_going)
    elif run_dir is not None:
        from bdpbench.app.batch import reduce_stream
        from bdpbench.contracts.runs import read_run
        from bdpbench.simulation.backend import named_backend
        from bdpbench.simulation.build import current_build_id
        from bdpbench.simulation.simulate import simulate

        run_dir = run_dir.resolve()
        if read_run(run_dir) is None:
            simulate(run_dir, named_backend(backend, current_build_id()), reduce_stream)


@click.command("parse")
@click.argument("run_dirs", nargs=-1, required=True, type=PATH)
@click.option("--plan", "plan_file", type=PATH, help="Also measure the runs, as this plan says.")
@click.option("-o", "--output", type=PATH, help="File for the manifests, as JSON.")
def parse_command(run_dirs: tuple[Path, ...], plan_file: Path | None, output: Path | None) -> None:
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


@click.command("measure")
@click.argument("plan_file", type=PATH)
@click.option("--runs", "runs_dir", required=True, type=PATH)
@click.option("-o", "--output", required=True, type=PATH)
def measure_command(plan_file: Path, runs_dir: Path, output: Path) -> None:
    """Write the metrics of the finished runs of PLAN_FILE as parquet and CSV.

    Values that `parse --plan` has already computed are reused.
    """
    from bdpbench.app.stages import measure_plan, write_metrics
    from bdpbench.contracts.plan import read_plan

    write_metrics(measure_plan(read_plan(plan_file), runs_dir), output)


@click.command("score")
@click.argument("plan_file", type=PATH)
@click.option("--metrics", "metrics_file", required=True, type=PATH)
@click.option("-o", "--output", required=True, type=PATH)
def score_command(plan_file: Path, metrics_file: Path, output: Path) -> None:
    """Compare the metrics of PLAN_FILE with the published numbers and statements of its study."""
    from bdpbench.app.stages import read_metrics, score_plan
    from bdpbench.contracts.plan import read_plan
    from bdpbench.contracts.reports import write_scorecard

    write_scorecard(output, score_plan(read_plan(plan_file), read_metrics(metrics_file)))
