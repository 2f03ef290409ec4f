"""The stages of a call, one command each: the rules of the workflow call some of them."""

from __future__ import annotations

from pathlib import Path

import click

from bdpbench.cli.options import (
    PATH,
    Words,
    selection_options,
    study_argument,
    tier_option,
)


@click.command("plan")
@study_argument
@tier_option
@selection_options
@click.option("-j", "--jobs", type=click.IntRange(1), help="Batches that will run at once.")
def plan_command(
    study: str | None,
    tier: str | None,
    scenarios: Words,
    protocols: Words,
    jobs: int | None,
) -> None:
    """Write the plan of a tier of STUDY and batches of the missing runs; print its path."""
    from bdpbench.app.planning import Wanted, plan_batches
    from bdpbench.app.run import backend_for
    from bdpbench.studies.plan import Selection

    wanted = Wanted(study, tier, Selection(scenarios, protocols))
    click.echo(str(plan_batches(wanted, jobs, backend_for(None).name)))


@click.command("simulate")
@click.option("--batch", type=PATH, required=True, help="A batch, made by `bdpbench plan`.")
@click.option(
    "--index",
    type=click.IntRange(0),
    help="With --batch FOLDER: number of the batch in the folder.",
)
@click.option("-k", "--keep-going", is_flag=True, help="Continue with other runs if one fails.")
@click.option(
    "--backend",
    type=click.Choice(["docker", "native"]),
    default="native",
    show_default=True,
    help="Where ns-2 runs.",
)
def simulate_command(batch: Path, index: int | None, keep_going: bool, backend: str) -> None:
    """Simulate, parse and measure all runs of a batch, one after the other."""
    from bdpbench.app.batch import one_thread_for_tables, run_batch
    from bdpbench.contracts.plan import batch_path

    one_thread_for_tables()
    path = (batch if index is None else batch_path(batch, index)).resolve()
    run_batch(path, backend, keep_going=keep_going)
