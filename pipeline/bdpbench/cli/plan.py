"""`bdpbench plan`: stage 1."""

from __future__ import annotations

from pathlib import Path

import click

from bdpbench.cli.options import scripts_option, selection_options, study_argument, tier_option


@click.command("plan")
@study_argument
@tier_option
@selection_options
@scripts_option
def command(
    study: str | None,
    tier: str | None,
    scenarios: tuple[str, ...],
    protocols: tuple[str, ...],
    scripts: Path | None,
) -> None:
    """Write the plan of a tier of STUDY, and print its path."""
    from bdpbench.app.run.planning import prepare
    from bdpbench.contracts.paths import results_dir
    from bdpbench.simulation.build import current_build_id
    from bdpbench.studies.config import load_config
    from bdpbench.studies.runs import Selection

    config = load_config()
    prepared = prepare(
        study or config.study,
        tier or config.tier,
        Selection(scenarios, protocols),
        current_build_id(),
        results_dir(config.results),
        scripts=scripts,
    )
    click.echo(str(prepared.paths.plan))
