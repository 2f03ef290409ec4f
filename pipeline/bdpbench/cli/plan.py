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
@click.option("-j", "--jobs", type=click.IntRange(1), help="Batches that will run at once.")
@click.option("--where", is_flag=True, help="Only print the path of the plan.")
def command(
    study: str | None,
    tier: str | None,
    scenarios: tuple[str, ...],
    protocols: tuple[str, ...],
    scripts: Path | None,
    jobs: int | None,
    where: bool,
) -> None:
    """Write the plan of a tier of STUDY and batches of the missing runs; print its path."""
    from bdpbench.app.planning import Paths
    from bdpbench.contracts.paths import results_dir
    from bdpbench.studies.config import load_config
    from bdpbench.studies.load import find_study

    config = load_config()
    chosen, results = study or config.study, results_dir(config.results)
    if where:
        paths = Paths(results, find_study(chosen).name, tier or config.tier)
    else:
        from bdpbench.app.planning import plan_batches
        from bdpbench.studies.runs import Selection

        selection = Selection(scenarios, protocols)
        paths = plan_batches(chosen, tier or config.tier, selection, results, scripts, jobs)
    click.echo(str(paths.plan))
