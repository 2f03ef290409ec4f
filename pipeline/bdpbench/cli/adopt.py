"""`bdpbench adopt`: results of old run ids."""

from __future__ import annotations

from pathlib import Path

import click

from bdpbench.cli.options import backend_option


class _Sample(click.ParamType[int | None]):
    """A number of runs, or ``all``, which becomes None."""

    name = "N|all"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        if value == "all":
            return None
        if not str(value).isdecimal():
            self.fail(f"{value!r} is neither a number of runs nor `all`", param, ctx)
        return int(value)


@click.command("adopt")
@click.argument("results", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.argument("study", required=False)
@click.option(
    "--tier",
    type=click.Choice(["quick", "paper", "full"]),
    help="Only this tier. Default: all tiers.",
)
@click.option(
    "--sample",
    type=_Sample(),
    default="1",
    show_default=True,
    help="Number of runs of each group to simulate again; `all` takes no run over.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Seed for the random choice of runs to simulate.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    help="Simulations at once. Default: one for each processor.",
)
@backend_option
def command(
    results: Path,
    study: str | None,
    tier: str | None,
    sample: int | None,
    seed: int,
    jobs: int | None,
    backend: str | None,
) -> None:
    """Take over the runs of an older results folder RESULTS under their current ids.

    Runs of one scenario with the same protocols form a group. A sample of each group is simulated
    again; if all outputs are byte-identical, the other runs of the group are taken over. RESULTS is
    only read. Groups that differ are reported, and `bdpbench run` has to simulate them.

    RESULTS may also be a published folder, such as reports/published/STUDY. A sample of each script
    with each set of protocols, and of each scenario, is simulated. If all outputs have the
    published checksums, the folder gets the current ids; otherwise it is not changed.
    """
    from bdpbench.app.run.adopting import AdoptRequest, adopt
    from bdpbench.app.run.adopting_published import adopt_published
    from bdpbench.contracts.kept import KEPT_RUNS_NAME

    request = AdoptRequest(results, study, tier, sample, seed, jobs, backend)
    take = adopt_published if (results / KEPT_RUNS_NAME).is_file() else adopt
    raise SystemExit(0 if take(request, click.echo) else 1)
