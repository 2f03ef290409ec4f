"""`bdpbench analyze`: measures any trace of ns-2."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("analyze")
@click.argument("traces", nargs=-1, metavar="TRACE...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="File to write, by its suffix: .html, .csv, .parquet or .json.",
)
@click.option("--window", metavar="START:END", help="Seconds to measure, [START, END): 50:500.")
@click.option("--flow", "flows", multiple=True, help="Only this flow: 1, or flow:1/0.0-3.0.")
@click.option("--link", "links", multiple=True, help="Only this link: 0-1.")
@click.option("--node", "nodes", type=int, multiple=True, help="Only this node: 3.")
@click.option(
    "--metric", "metrics", multiple=True, help="Only this metric, with one line for each value."
)
@click.option(
    "--bin", "bin_s", type=float, metavar="SECONDS", help="Width of the bins of the series."
)
@click.option(
    "--capacity",
    "capacities",
    multiple=True,
    metavar="LINK=MBPS",
    help="Capacity of a link: 0-1=10.",
)
@click.option("--parts", is_flag=True, help="The files are parts of one trace, in this order.")
@click.option(
    "--label", "labels", multiple=True, help="Compare the files; one label for each, in order."
)
@click.option("--lenient", is_flag=True, help="Skip and count unrecognised lines.")
@click.option("--list-metrics", is_flag=True, help="Show every metric and its definition.")
def command(
    traces: tuple[str, ...],
    output: Path | None,
    window: str | None,
    flows: tuple[str, ...],
    links: tuple[str, ...],
    nodes: tuple[int, ...],
    metrics: tuple[str, ...],
    bin_s: float | None,
    capacities: tuple[str, ...],
    parts: bool,
    labels: tuple[str, ...],
    lenient: bool,
    list_metrics: bool,
) -> None:
    """Measure the ns-2 trace in TRACE..., files or - for standard input.

    Several files are either compared, with a --label for each, or read as --parts of one trace.
    Files may be compressed (gzip, xz, zstd, bzip2). The format is recognised by the content. Memory
    does not grow with the trace.
    """
    from bdpbench.app.analyze.analyzing import analyze, definition_lines
    from bdpbench.app.analyze.request import AnalysisRequest

    if list_metrics:
        for line in definition_lines():
            click.echo(line)
        return
    if not traces:
        raise click.UsageError("Missing argument 'TRACE...'.")
    request = AnalysisRequest(
        traces,
        labels=labels,
        parts=parts,
        output=output,
        window=window,
        flows=flows,
        links=links,
        nodes=nodes,
        metrics=metrics,
        bin_s=bin_s,
        capacities=capacities,
        lenient=lenient,
    )
    for line in analyze(request):
        click.echo(line)
