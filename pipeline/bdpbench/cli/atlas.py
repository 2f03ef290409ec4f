"""`bdpbench atlas`: what all studies say of a protocol, side by side."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("atlas")
@click.argument("protocols", nargs=-1, metavar="[PROTOCOL [PROTOCOL]]")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write; results/atlas.html, or atlas-PROTOCOL.html, unless given.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON: printed, or written with -o.")
@click.option(
    "--study",
    "studies",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Folder of a study of your own that joins, with its atlas.yaml.",
)
def command(
    protocols: tuple[str, ...], output: Path | None, as_json: bool, studies: tuple[Path, ...]
) -> None:
    """Write what all studies print and state of PROTOCOL, or of two against each other, as a page.

    Where they agree, where they contradict each other and under which conditions, with our
    measurement of each. A protocol is named as the field or any study calls it: HS-TCP, HSTCP.
    Without one the page has them all.
    """
    from bdpbench.app.atlas.making import write_atlas

    for line in write_atlas(protocols, output, as_json=as_json, studies=studies):
        click.echo(line)
