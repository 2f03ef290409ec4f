"""`bdpbench schema`: the JSON Schemas for editors."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("schema")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder to write into.")
def command(output: Path | None) -> None:
    """Write the JSON Schemas of the YAML files (default: workflow/schemas)."""
    from bdpbench.contracts.paths import checkout_root
    from bdpbench.studies.schema import write_schemas

    for path in write_schemas(output or checkout_root() / "workflow" / "schemas"):
        click.echo(str(path))
