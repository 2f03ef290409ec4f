"""`bdpbench simulate`: stage 2."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("simulate")
@click.argument("run_dir", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--backend",
    type=click.Choice(["docker", "native"]),
    default="native",
    show_default=True,
    help="Where ns-2 runs.",
)
def command(run_dir: Path, backend: str) -> None:
    """Run ns-2 for the planned run in RUN_DIR, unless it is finished."""
    from bdpbench.app.run.streaming import reduce_stream
    from bdpbench.contracts.runs import read_run
    from bdpbench.simulation.backend import DockerBackend, NativeBackend
    from bdpbench.simulation.build import current_build_id
    from bdpbench.simulation.simulate import simulate

    run_dir = run_dir.resolve()
    if read_run(run_dir) is not None:
        return
    build_id = current_build_id()
    chosen = DockerBackend(build_id) if backend == "docker" else NativeBackend(build_id)
    simulate(run_dir, chosen, reduce_stream)
