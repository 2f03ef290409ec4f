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
@click.option(
    "--from-kept",
    is_flag=True,
    help="Judge and show anew what is published already, from its own values and series.",
)
def command(
    study: str | None, tier: str | None, allow_partial: bool, output: Path | None, from_kept: bool
) -> None:
    """Put the report of STUDY with its metrics and scorecard into reports/published/STUDY/.

    With --from-kept no run is needed: verdicts follow from the values that are published, and
    charts from the series in the published report.
    """
    from bdpbench.app.keep.publishing import publish_study

    publish_study(study, tier, allow_partial=allow_partial, output=output, from_kept=from_kept)
