"""`bdpbench run`: everything from the plan to the report."""

from __future__ import annotations

from pathlib import Path

import click

from bdpbench.cli.options import (
    backend_option,
    scripts_option,
    selection_options,
    study_argument,
    tier_option,
)


@click.command("run")
@study_argument
@tier_option
@selection_options
@backend_option
@scripts_option
@click.option("-j", "--jobs", type=click.IntRange(1), help="Simulations at once.")
@click.option("-k", "--keep-going", is_flag=True, help="Continue with other runs if one fails.")
@click.option(
    "-n", "--dry-run", is_flag=True, help="Only say what would be simulated, why, and for how long."
)
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print everything as JSON, one object per line."
)
@click.option("--profile", type=click.Path(path_type=Path), help="Snakemake profile to run with.")
def command(
    study: str | None,
    tier: str | None,
    scenarios: tuple[str, ...],
    protocols: tuple[str, ...],
    backend: str | None,
    scripts: Path | None,
    jobs: int | None,
    keep_going: bool,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
    profile: Path | None,
) -> None:
    """Simulate the missing runs of STUDY and write its report.

    Finished runs are kept and never simulated again. After an interruption, call the same command
    to resume.
    """
    from bdpbench.app.run import RunRequest, run_study
    from bdpbench.errors import BdpbenchError
    from bdpbench.studies.runs import Selection

    if quiet and as_json:
        raise BdpbenchError("--quiet and --json contradict each other", hint="give one of them")
    run_study(
        RunRequest(
            study=study,
            tier=tier,
            selection=Selection(scenarios, protocols),
            backend=backend,
            jobs=jobs,
            keep_going=keep_going,
            dry_run=dry_run,
            profile=profile,
            scripts=scripts,
            quiet=quiet,
            as_json=as_json,
        )
    )
