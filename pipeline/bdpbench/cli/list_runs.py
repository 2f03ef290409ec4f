"""`bdpbench list`: what can be run, and what it costs."""

from __future__ import annotations

import click

from bdpbench.cli.options import selection_options, study_argument, tier_option


@click.command("list")
@study_argument
@tier_option
@selection_options
@click.option("--runs", "show_runs", is_flag=True, help="Show every run with its id.")
def command(
    study: str | None,
    tier: str | None,
    scenarios: tuple[str, ...],
    protocols: tuple[str, ...],
    show_runs: bool,
) -> None:
    """List studies, their scenarios and runs, and their expected CPU time."""
    from bdpbench.app.listing import list_runs, list_scenarios, list_studies
    from bdpbench.studies.runs import Selection

    selection = Selection(scenarios, protocols)
    if study is None:
        list_studies()
    elif show_runs:
        list_runs(study, tier, selection)
    else:
        list_scenarios(study, selection)
