"""`bdpbench docs`: the references of the documentation."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("docs")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder to write into.")
@click.pass_context
def command(context: click.Context, output: Path | None) -> None:
    """Write the references of keys, metrics and commands (default: docs/reference).

    Without -o, config/estimates.json is written as well: what the runs of the studies cost.

    They are generated from the schema, the registry of metrics and the command line. `mkdocs
    build` builds the site from them and the other files under docs/.
    """
    from bdpbench.app.costs import ESTIMATES_NAME, write_estimates
    from bdpbench.app.references import write_references
    from bdpbench.contracts.paths import checkout_root, config_dir

    program = context.find_root().command
    if not isinstance(program, click.Group):
        raise click.UsageError("docs is a command of bdpbench and is called as one.")
    folder = output or checkout_root() / "docs" / "reference"
    if output is None:
        write_estimates(config_dir() / ESTIMATES_NAME)
    for path in write_references(program, folder):
        click.echo(str(path))
