"""`bdpbench merge`: several results folders into one."""

from __future__ import annotations

from pathlib import Path

import click

_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command("merge")
@click.argument("into", type=_FOLDER)
@click.argument(
    "others", nargs=-1, required=True, type=click.Path(path_type=Path, file_okay=False, exists=True)
)
@click.option(
    "--without-outputs",
    is_flag=True,
    help="Copy only what reports need: records, tables, values and series.",
)
def command(into: Path, others: tuple[Path, ...], without_outputs: bool) -> None:
    """Copy the finished runs of the results folders OTHERS into the results folder INTO.

    Use it for a grid that was simulated in parts, on several machines. Ids and checksums are
    checked first; if a run is damaged, or two folders have different outputs for it, the run is
    named and nothing is copied. OTHERS are only read. Afterwards `BDPBENCH_RESULTS=INTO ./bdpbench
    run STUDY` simulates what is still missing and writes the report.
    """
    from bdpbench.app.merging import merge

    merge(into, others, click.echo, outputs=not without_outputs)
