"""`bdpbench adopt`: results of old run ids."""

from __future__ import annotations

from pathlib import Path

import click

from bdpbench.cli.options import backend_option


class _Sample(click.ParamType[int | None]):
    """A number of runs, or ``all``, which is None."""

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
    help="Only this tier; all unless given.",
)
@click.option(
    "--sample",
    type=_Sample(),
    default="1",
    show_default=True,
    help="Runs of each group to simulate anew; all takes nothing over.",
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Of the choice of runs to simulate."
)
@click.option("-j", "--jobs", type=click.IntRange(1), help="Simulations at once; one a processor.")
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
    """Take over the runs of RESULTS, a results folder of an older bdpbench, as runs of today.

    Runs of one scenario with the same protocols are a group. Of each, a sample is simulated anew;
    where all outputs are equal, byte by byte, the group's other runs are taken over. RESULTS is
    only read. What differs is told, and left for `bdpbench run` to simulate.

    RESULTS may be a published folder, such as reports/published/STUDY, too. Of each script with
    each set of protocols, and of each scenario, a sample is simulated; where all outputs have the
    published checksums, the folder gets the ids of today, and else it is left as it is.
    """
    from bdpbench.app.run.adopting import AdoptRequest, adopt
    from bdpbench.app.run.adopting_published import adopt_published
    from bdpbench.contracts.kept import KEPT_RUNS_NAME

    request = AdoptRequest(results, study, tier, sample, seed, jobs, backend)
    take = adopt_published if (results / KEPT_RUNS_NAME).is_file() else adopt
    raise SystemExit(0 if take(request, click.echo) else 1)
