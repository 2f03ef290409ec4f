"""`bdpbench check`: the verdicts as an exit status, for CI and scripts."""

from __future__ import annotations

import click

from bdpbench.cli.options import study_argument, tier_option


@click.command("check")
@study_argument
@tier_option
def command(study: str | None, tier: str | None) -> None:
    """Fail unless everything of STUDY that was run is reproduced, except known misses."""
    from bdpbench.app.validate import check_scorecard

    check_scorecard(study, tier)
