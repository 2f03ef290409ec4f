"""`bdpbench parse`: stage 3."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("parse")
@click.argument("run_dirs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="File for the manifests, as JSON."
)
def command(run_dirs: tuple[Path, ...], output: Path | None) -> None:
    """Turn the output files of finished runs in RUN_DIRS into parquet tables."""
    from bdpbench.app.run.stages import parse_runs
    from bdpbench.contracts.files import write_json_atomically

    manifests = parse_runs(run_dirs)
    if output is not None:
        write_json_atomically(output, manifests)
