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
    from bdpbench.errors import BdpbenchError
    from bdpbench.simulation.backend import DockerBackend, NativeBackend
    from bdpbench.simulation.build import current_build_id
    from bdpbench.simulation.simulate import read_run, read_spec, simulate

    run_dir = run_dir.resolve()
    planned = read_spec(run_dir)["ns2_build_id"]
    if read_run(run_dir) is not None:
        return
    build_id = current_build_id()
    if planned != build_id:
        raise BdpbenchError(
            f"was planned for ns-2 build {planned}, the checkout is now at {build_id}",
            where=str(run_dir),
            hint="run `./bdpbench run` again: it plans anew",
        )
    chosen = DockerBackend(build_id) if backend == "docker" else NativeBackend(build_id)
    simulate(run_dir, chosen, reduce_stream)
