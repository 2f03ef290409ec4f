"""`bdpbench verify`: whether an archive is whole."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("verify")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--max-size",
    "most_gb",
    type=click.FloatRange(0, min_open=True),
    default=8.0,
    show_default=True,
    help="Refuse archives that unpack to more, GB.",
)
def command(file: Path, most_gb: float) -> None:
    """Check the structure and every checksum of the archive FILE without unpacking it.

    Names files that are missing, altered, damaged or additional, and refuses paths that lead
    outside. The exit code is 1 if anything is wrong.
    """
    from bdpbench.archive.container import verify_archive
    from bdpbench.errors import BdpbenchError

    found = verify_archive(file, int(most_gb * 1e9))
    if found.problems:
        raise BdpbenchError("\n  ".join(["is not whole", *found.problems]), where=str(file))
    click.echo(f"{file}: {found.files} files, {found.unpacked_bytes / 1e6:.1f} MB unpacked")
    click.echo(f"SHA-256 {found.sha256}")
    click.echo("whole: every file is there and has its checksum")
