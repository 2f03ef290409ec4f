"""`bdpbench simulate`: stage 2, and of a batch stages 2 and 3."""

from __future__ import annotations

from pathlib import Path

import click

_PATH = click.Path(path_type=Path)


@click.command("simulate")
@click.argument("run_dir", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--batch", type=_PATH, help="Simulate the runs of this batch, made by `bdpbench plan`."
)
@click.option(
    "--index",
    type=click.IntRange(0),
    help="With --batch FOLDER: number of the batch in the folder.",
)
@click.option("-k", "--keep-going", is_flag=True, help="Continue with other runs if one fails.")
@click.option(
    "--on-node",
    is_flag=True,
    help="Build ns-2 for this machine if the build in the checkout does not run here.",
)
@click.option(
    "--backend",
    type=click.Choice(["docker", "native"]),
    default="native",
    show_default=True,
    help="Where ns-2 runs.",
)
def command(
    run_dir: Path | None,
    batch: Path | None,
    index: int | None,
    keep_going: bool,
    on_node: bool,
    backend: str,
) -> None:
    """Run ns-2 for the planned run in RUN_DIR, unless it is finished.

    With --batch: simulate, parse and measure all runs of a batch, one after the
    other.
    """
    if (run_dir is None) == (batch is None):
        raise click.UsageError("Give either RUN_DIR or --batch.")
    given_options = {"--keep-going": keep_going, "--on-node": on_node, "--index": index is not None}
    for option, given in given_options.items():
        if run_dir is not None and given:
            raise click.UsageError(f"{option} needs --batch.")
    if on_node and backend != "native":
        raise click.UsageError("--on-node needs --backend native.")
    if batch is not None:
        from bdpbench.app.batch import one_thread_for_tables, run_batch
        from bdpbench.contracts.plan import batch_path

        one_thread_for_tables()
        if on_node:
            from bdpbench.simulation.build import current_build_id
            from bdpbench.simulation.node_build import use_build_that_runs_here

            use_build_that_runs_here(current_build_id())
        path = batch if index is None else batch_path(batch, index)
        run_batch(path.resolve(), backend, keep_going=keep_going)
    elif run_dir is not None:
        from bdpbench.app.batch import reduce_stream
        from bdpbench.contracts.runs import read_run
        from bdpbench.simulation.backend import named_backend
        from bdpbench.simulation.build import current_build_id
        from bdpbench.simulation.simulate import simulate

        run_dir = run_dir.resolve()
        if read_run(run_dir) is None:
            simulate(run_dir, named_backend(backend, current_build_id()), reduce_stream)
