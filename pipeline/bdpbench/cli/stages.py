"""The commands for this checkout, and for single stages, which rules of the workflow call."""

from __future__ import annotations

from pathlib import Path

import click

from bdpbench.cli.options import (
    PATH,
    Words,
    backend_option,
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


@click.command("test", context_settings={"ignore_unknown_options": True})
@click.argument("pytest_arguments", nargs=-1, type=click.UNPROCESSED)
def test_command(pytest_arguments: tuple[str, ...]) -> None:
    """Run the tests; further arguments go to pytest.

    Proofs that need time on an idle machine are left out; `-m ci` runs them, `-m ''` all.
    """
    from bdpbench.app.validate import run_tests

    raise SystemExit(run_tests(pytest_arguments))


variant_option = click.option(
    "--variant",
    type=click.Choice(["fast", "stock"]),
    help="stock: without the changes that only make ns-2 faster. Default: the variant that runs "
    "use, `ns2_variant` of config.yaml.",
)


@click.group("ns2")
def ns2_command() -> None:
    """Build ns-2.35, and show how it was built."""


@ns2_command.command("build")
@backend_option
@click.option(
    "--source",
    type=PATH,
    help="Your own copy of the source archive, with the checksum given in ns2/SOURCE.lock.",
)
@click.option("--marker", type=PATH, help="File to write after the build.")
@variant_option
def build(
    backend: str | None, source: Path | None, marker: Path | None, variant: str | None
) -> None:
    """Build ns-2 for this checkout if necessary; Docker images contain only the variant fast."""
    from bdpbench.app.run import backend_for
    from bdpbench.contracts.documents import write_json_atomically

    chosen = backend_for(backend, variant)
    chosen.build(source)
    if marker is not None:
        write_json_atomically(marker, chosen.info())


@ns2_command.command("path")
@variant_option
def path(variant: str | None) -> None:
    """Print the ns-2 binary in use (native backend)."""
    from bdpbench.simulation.build import current_build_id, require_build

    click.echo(str(require_build(current_build_id(variant)).binary))


@ns2_command.command("info")
@backend_option
def info(backend: str | None) -> None:
    """Print how the ns-2 in use was built, as JSON."""
    import json

    from bdpbench.app.run import backend_for

    click.echo(json.dumps(backend_for(backend).info(), indent=2, sort_keys=True))
