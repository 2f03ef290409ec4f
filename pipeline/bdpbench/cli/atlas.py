"""`bdpbench atlas`: what all studies say about a protocol, side by side."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("atlas")
@click.argument("protocols", nargs=-1, metavar="[PROTOCOL [PROTOCOL]]")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write. Default: results/atlas.html, or atlas-PROTOCOL.html.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, or write it with -o.")
@click.option(
    "--study",
    "studies",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Folder of another study to include, with its atlas.yaml.",
)
def command(
    protocols: tuple[str, ...], output: Path | None, as_json: bool, studies: tuple[Path, ...]
) -> None:
    """Write a page with what all studies say about PROTOCOL, or about two protocols together.

    The page shows where studies agree, where they contradict each other and under which conditions,
    with our own measurements. Name a protocol as the field or any study does: HS-TCP, HSTCP.
    Without a protocol the page shows all of them.
    """
    from bdpbench.app.atlas import write_atlas

    for line in write_atlas(protocols, output, as_json=as_json, studies=studies):
        click.echo(line)
