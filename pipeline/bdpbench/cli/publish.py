"""`bdpbench publish`: a finished study's report, to be kept in the repository."""

from __future__ import annotations

from pathlib import Path

import click

from bdpbench.cli.options import study_argument, tier_option


@click.command("publish")
@study_argument
@tier_option
@click.option(
    "--allow-partial", is_flag=True, help="Publish although runs are missing; the report says so."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of all published studies; reports/published unless given.",
)
def command(study: str | None, tier: str | None, allow_partial: bool, output: Path | None) -> None:
    """Put the report of STUDY with its metrics and scorecard into reports/published/STUDY/."""
    from bdpbench.app.keep.publishing import publish_study

    publish_study(study, tier, allow_partial=allow_partial, output=output)
