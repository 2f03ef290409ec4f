"""`bdpbench ns2`: the ns-2 build."""

from __future__ import annotations

from pathlib import Path

import click

from bdpbench.cli.options import PATH, backend_option

variant_option = click.option(
    "--variant",
    type=click.Choice(["fast", "stock"]),
    help="stock: without the changes that only make ns-2 faster. Default: the variant that runs "
    "use, `ns2_variant` of config.yaml.",
)


@click.group("ns2")
def ns2_command() -> None:
    """Build ns-2.35, and show how it was built."""


@ns2_command.command("build")
@backend_option
@click.option(
    "--source",
    type=PATH,
    help="Your own copy of the source archive, with the checksum given in ns2/SOURCE.lock.",
)
@click.option("--marker", type=PATH, help="File to write after the build.")
@variant_option
def build(
    backend: str | None, source: Path | None, marker: Path | None, variant: str | None
) -> None:
    """Build ns-2 for this checkout if necessary; Docker images contain only the variant fast."""
    from bdpbench.app.run import backend_for
    from bdpbench.contracts.documents import write_json_atomically

    chosen = backend_for(backend, variant)
    chosen.build(source)
    if marker is not None:
        write_json_atomically(marker, chosen.info())


@ns2_command.command("path")
@variant_option
def path(variant: str | None) -> None:
    """Print the ns-2 binary in use (native backend)."""
    from bdpbench.simulation.build import current_build_id, require_build

    click.echo(str(require_build(current_build_id(variant)).binary))


@ns2_command.command("info")
@backend_option
def info(backend: str | None) -> None:
    """Print how the ns-2 in use was built, as JSON."""
    import json

    from bdpbench.app.run import backend_for

    click.echo(json.dumps(backend_for(backend).info(), indent=2, sort_keys=True))
