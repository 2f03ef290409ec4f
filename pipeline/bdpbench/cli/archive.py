"""`bdpbench archive`: a finished tier with everything that it was made from, in one file."""

from __future__ import annotations

from pathlib import Path

import click

from bdpbench.cli.options import study_argument, tier_option


@click.command("archive")
@study_argument
@tier_option
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write. Default: results/STUDY/TIER/STUDY-TIER.zip.",
)
@click.option(
    "--with-runs", is_flag=True, help="Add the tables (parquet) and the record of every run."
)
@click.option(
    "--allow-partial", is_flag=True, help="Archive even if runs are missing; the report says so."
)
def command(
    study: str | None,
    tier: str | None,
    output: Path | None,
    with_runs: bool,
    allow_partial: bool,
) -> None:
    """Write STUDY into one zip: report, figures, tables, metrics, verdicts, sources, environment.

    Equal results and sources give equal bytes. Every file has its SHA-256 in manifest-sha256.txt,
    and its place in ro-crate-metadata.json. `bdpbench verify` checks all of it.

    The output files of ns-2 are left out; their checksums are in runs.parquet. --with-runs adds
    the same series as parquet tables, about 2 MB for each run.
    """
    from bdpbench.app.keep.archive import archive_study

    archive_study(study, tier, output, allow_partial=allow_partial, with_runs=with_runs)
