"""`bdpbench publish`: a finished study's report, to be kept in the repository."""

from __future__ import annotations

from pathlib import Path

import click

from bdpbench.cli.options import study_argument, tier_option


@click.command("publish")
@study_argument
@tier_option
@click.option(
    "--allow-partial", is_flag=True, help="Publish even if runs are missing; the report says so."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of all published studies. Default: reports/published.",
)
@click.option(
    "--from-kept",
    is_flag=True,
    help="Judge the published values again, and make a new report from them and their series.",
)
@click.option(
    "--add",
    is_flag=True,
    help="With --from-kept: also publish scenarios that the published report lacks, from runs.",
)
@click.option(
    "--prove",
    type=click.IntRange(1),
    metavar="N",
    help="With --from-kept: if scripts or laws have changed, simulate N runs of each kind again, "
    "and keep what is published if their bytes are equal.",
)
def command(
    study: str | None,
    tier: str | None,
    allow_partial: bool,
    output: Path | None,
    from_kept: bool,
    add: bool,
    prove: int | None,
) -> None:
    """Copy the report of STUDY with its metrics and scorecard to reports/published/STUDY/.

    With --from-kept no runs are needed: verdicts are computed from the published values, and
    charts from the series in the published report. With --add as well, scenarios that are
    new since then are added from the results of this machine. A change to a script or a law gives
    the runs that it affects new ids: --prove shows by a sample whether their bytes are the same.
    """
    from bdpbench.app.keep.publish import publish_study

    publish_study(
        study,
        tier,
        allow_partial=allow_partial,
        output=output,
        from_kept=from_kept,
        add=add,
        prove=prove,
    )
