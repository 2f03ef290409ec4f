"""The command for traces."""

from __future__ import annotations

from typing import Any

import click

from bdpbench.app.analyze import analyzing
from bdpbench.cli.options import PATH, Words, json_option


@click.command("analyze")
@click.argument("traces", nargs=-1, metavar="TRACE...")
@click.option(
    "-o",
    "--output",
    type=PATH,
    help="File to write, by its suffix: .html, .csv or .parquet.",
)
@click.option(
    "--window",
    type=analyzing.window_of,
    default=":",
    metavar="START:END",
    help="Seconds to measure, [START, END): 50:500.",
)
@click.option("--flow", "flows", multiple=True, help="Only this flow: 1, or flow:1/0.0-3.0.")
@click.option(
    "--link",
    "links",
    type=analyzing.link_of,
    multiple=True,
    metavar="LINK",
    help="Only this link: 0-1.",
)
@click.option("--node", "nodes", type=int, multiple=True, help="Only this node: 3.")
@click.option(
    "--metric",
    "metrics",
    type=analyzing.metric_of,
    multiple=True,
    metavar="METRIC",
    help="Only this metric, with one line for each value.",
)
@click.option(
    "--bin", "bin_s", type=float, metavar="SECONDS", help="Width of the bins of the series."
)
@click.option(
    "--capacity",
    "capacities",
    type=analyzing.capacity_of,
    multiple=True,
    metavar="LINK=MBPS",
    help="Capacity of a link: 0-1=10.",
)
@click.option(
    "--label", "labels", multiple=True, help="Name of a compared file, one for each, in order."
)
@click.option(
    "--kind",
    type=click.Choice(("packets", "variables", "queues", "series")),
    help="Which lines of a mixed trace to measure; packets, if it has any.",
)
@click.option("--lenient", is_flag=True, help="Skip and count unrecognised lines.")
@json_option
@click.option("--list-metrics", is_flag=True, help="Show every metric and its definition.")
def analyze_command(traces: Words, list_metrics: bool, **asked: Any) -> None:
    """Measure the ns-2 trace in TRACE..., files or - for standard input.

    Several files are compared. Files may be compressed (gzip, xz, zstd, bzip2). The format is
    recognised by the content. Memory does not grow with the trace.
    """
    if list_metrics:
        for line in analyzing.definition_lines():
            click.echo(line)
        return
    if not traces:
        raise click.UsageError("Missing argument 'TRACE...'.")
    for line in analyzing.analyze(analyzing.AnalysisRequest(traces, **asked)):
        click.echo(line)
