"""The commands that show, keep and compare results."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from bdpbench.cli.options import (
    EXISTING,
    FOLDER,
    PATH,
    json_option,
    study_argument,
    tier_option,
)

FORMATS = "svg,pdf"
"""Formats of figures, if none are named."""


@click.command("report")
@study_argument
@tier_option
@click.option(
    "--export",
    "folder",
    type=PATH,
    help="Folder for figures, tables and captions: they go to STUDY/TIER in it.",
)
@click.option("--format", "formats", help=f"Of the figures: svg, pdf, png. Default: {FORMATS}.")
@click.option(
    "--only", multiple=True, metavar="PATTERN", help="Only figures whose names match: 'rtt-*'."
)
@click.option("-o", "--output", type=PATH, help="File for the HTML report.")
@click.option("--pdf", is_flag=True, help="Print the report as well, with an installed Chromium.")
@click.option("--one-file", is_flag=True, help="With -o: one file, however many runs there are.")
def report_command(
    study: str | None,
    folder: Path | None,
    formats: str | None,
    only: tuple[str, ...],
    output: Path | None,
    one_file: bool,
    **asked: Any,
) -> None:
    """Write the HTML report of STUDY, or its figures and tables as files for papers.

    Without --export: an HTML page about the finished runs, which opens offline. Of more than 100
    runs it needs the folder beside it, except with --one-file.

    With --export: every chart of several runs in the width of one column and of two, with its data
    as CSV and its caption in LaTeX; the scorecard as LaTeX (booktabs), Markdown and CSV; and
    captions that name runs, definitions, ns-2 build and commit. --only also selects charts of
    single runs. STUDY may be a folder that `publish` has written.
    """
    if one_file and (output is None or folder is not None):
        raise click.UsageError("--one-file goes with STUDY and -o FILE alone")
    if output is not None and folder is not None:
        raise click.UsageError("-o is for the HTML report: leave it out, or --export")
    if folder is None and (only or formats is not None):
        raise click.UsageError("--format and --only go with --export")
    from bdpbench.app.keep.export import export_study, report_study

    if folder is None:
        report_study(study, output=output, one_file=one_file, **asked)
    else:
        export_study(study, folder=folder, formats=formats or FORMATS, only=only, **asked)


@click.command("archive")
@study_argument
@tier_option
@click.option(
    "-o",
    "--output",
    type=PATH,
    help="File to write. Default: results/STUDY/TIER/STUDY-TIER.zip.",
)
@click.option(
    "--allow-partial", is_flag=True, help="Archive even if runs are missing; the report says so."
)
def archive_command(**asked: Any) -> None:
    """Write STUDY into one zip: report, figures, tables, metrics, verdicts, sources.

    Equal results and sources give equal bytes. Every file has its SHA-256 in manifest-sha256.txt,
    and its place in ro-crate-metadata.json. `bdpbench verify` checks all of it.

    The output files of ns-2 are left out; their checksums are in runs.parquet.
    """
    from bdpbench.app.keep.publish import archive_study

    archive_study(**asked)


@click.command("verify")
@click.argument("file", type=PATH)
@json_option
def verify_command(file: Path, as_json: bool) -> None:
    """Check every checksum of the archive FILE without unpacking it.

    Names files that are missing, altered, damaged or additional, links, and paths that lead
    outside. The exit code is 1 if anything is wrong.
    """
    from bdpbench.app.keep.archive import verify_archive
    from bdpbench.contracts.files import sha256_of
    from bdpbench.errors import BdpbenchError

    if problems := verify_archive(file):
        raise BdpbenchError("\n  ".join(["is not whole", *problems]), where=str(file))
    if as_json:
        click.echo(json.dumps({"file": str(file), "sha256": sha256_of(file), "whole": True}))
    else:
        click.echo(f"SHA-256 {sha256_of(file)}")
        click.echo("whole: every file is there and has its checksum")


@click.command("publish")
@study_argument
@tier_option
@click.option(
    "--allow-partial", is_flag=True, help="Publish even if runs are missing; the report says so."
)
@click.option(
    "-o",
    "--output",
    type=FOLDER,
    help="Folder of all published studies. Default: reports/published.",
)
def publish_command(**asked: Any) -> None:
    """Copy the report of STUDY with its metrics and scorecard to reports/published/STUDY/.

    A second tier goes to STUDY-TIER; without --tier, the published tier is published again.

    A run that is not in the results folder keeps its published values and charts, so only what has
    changed needs to be simulated. Verdicts and texts are always made anew.
    """
    from bdpbench.app.keep.publish import publish_study

    publish_study(**asked)


@click.command("compare")
@click.argument("first", type=EXISTING)
@click.argument("second", type=EXISTING)
@click.option("--html", type=PATH, help="Write the comparison as a page that opens offline.")
@click.option(
    "--tolerance",
    "percent",
    type=click.FloatRange(0),
    default=5.0,
    show_default=True,
    help="How far a metric without a published number may move, %.",
)
@json_option
def compare_command(
    first: Path, second: Path, html: Path | None, percent: float, as_json: bool
) -> None:
    """Show which metrics moved between FIRST and SECOND beyond their bounds.

    Each is an archive, a folder of reports/published/, or results/STUDY/TIER. Runs are matched by
    scenario and label, so that results of different builds of ns-2 can be compared. Metrics
    that only one of them has, and different definitions or versions, are listed.

    The exit code is 1 if any metric moved beyond its bounds.
    """
    from bdpbench.app.keep.compare import compare_results

    if compare_results(first, second, html, percent / 100, as_json=as_json):
        sys.exit(1)


@click.command("metrics")
@click.argument("result", type=EXISTING)
@click.option(
    "--runs", is_flag=True, help="Print the runs instead, one JSON object a line: arguments, files."
)
@json_option
def metrics_command(result: Path, runs: bool, as_json: bool) -> None:
    """Print every metric of every run of RESULT as CSV.

    RESULT is an archive, a folder of reports/published/, or results/STUDY/TIER.
    """
    from bdpbench.app.keep.results import KeptResults

    found = KeptResults(result)
    if runs:
        for run in found.runs:
            click.echo(json.dumps(run))
    else:
        click.echo(found.metrics.write_ndjson() if as_json else found.metrics.write_csv(), nl=False)


@click.command("atlas")
@click.argument("protocols", nargs=-1, metavar="[PROTOCOL [PROTOCOL]]")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write. Default: results/atlas.html, or atlas-PROTOCOL.html.",
)
@click.option(
    "--study",
    "studies",
    type=PATH,
    multiple=True,
    help="Folder of another study to include, with its atlas.yaml.",
)
def atlas_command(
    protocols: tuple[str, ...], output: Path | None, studies: tuple[Path, ...]
) -> None:
    """Write a page with what all studies say about PROTOCOL, or about two protocols together.

    The page shows where studies agree, where they contradict each other and under which conditions,
    with our own measurements. Name a protocol as any study does: HS-TCP, HSTCP.
    Without a protocol the page shows all of them.
    """
    from bdpbench.app.atlas import write_atlas

    for line in write_atlas(protocols, output, studies):
        click.echo(line)
