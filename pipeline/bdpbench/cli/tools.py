"""The commands for traces, for scripts that a study prints, and for this checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bdpbench.cli.options import PATH, Words


@click.command("analyze")
@click.argument("traces", nargs=-1, metavar="TRACE...")
@click.option(
    "-o",
    "--output",
    type=PATH,
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
    "--label", "labels", multiple=True, help="Name of a compared file, one for each, in order."
)
@click.option(
    "--kind",
    type=click.Choice(("packets", "variables", "queues", "series")),
    help="Which lines of a mixed trace to measure; packets, if it has any.",
)
@click.option("--lenient", is_flag=True, help="Skip and count unrecognised lines.")
@click.option("--list-metrics", is_flag=True, help="Show every metric and its definition.")
def analyze_command(traces: Words, list_metrics: bool, **asked: Any) -> None:
    """Measure the ns-2 trace in TRACE..., files or - for standard input.

    Several files, and those of a folder with its folders, are compared; --parts joins them to one
    trace.
    Files may be compressed (gzip, xz, zstd, bzip2). The format is recognised by the content. Memory
    does not grow with the trace.
    """
    from bdpbench.app.analyze.analyzing import AnalysisRequest, analyze, definition_lines

    if list_metrics:
        for line in definition_lines():
            click.echo(line)
        return
    if not traces:
        raise click.UsageError("Missing argument 'TRACE...'.")
    for line in analyze(AnalysisRequest(traces, **asked)):
        click.echo(line)


@click.command("recover")
@click.argument("copy", metavar="THESIS", type=PATH)
@click.option(
    "-o",
    "--output",
    required=True,
    type=PATH,
    help="Folder for the scripts: new, empty, or from an earlier recovery.",
)
@click.option("--study", help="Study that prints them; required if several studies do.")
def recover_command(copy: Path, output: Path, study: str | None) -> None:
    """Recover the ns-2 scripts that THESIS prints, e.g. as its Appendices A to H.

    THESIS is your copy of the study: its text (UTF-8), or a PDF with text, which pdftotext reads.
    Rules repair the damage of scanning; if no rule can repair something, the command stops and
    names appendix, line and text. The folder gets one script for each appendix, with the name of
    bdpbench's script for the same experiment, the helper file that they source, and repairs.json
    and REPAIRS.md, which list every repair with its line and its reason, and the faults of the
    originals, which are kept.

    `./bdpbench run STUDY --scripts DIR` repeats the study with the recovered scripts.
    """
    from bdpbench.app.recover import recover_scripts, summary_of

    for line in summary_of(recover_scripts(copy, output, study), output):
        click.echo(line)


@click.command("test", context_settings={"ignore_unknown_options": True})
@click.argument("pytest_arguments", nargs=-1, type=click.UNPROCESSED)
def test_command(pytest_arguments: tuple[str, ...]) -> None:
    """Run the tests; further arguments go to pytest.

    Proofs that need time on an idle machine are left out; `-m ci` runs them, `-m ''` all.
    """
    from bdpbench.app.validate import run_tests

    raise SystemExit(run_tests(pytest_arguments))


@click.command("docs")
@click.option("-o", "--output", type=PATH, help="Folder to write into.")
@click.pass_context
def docs_command(context: click.Context, output: Path | None) -> None:
    """Write the references of keys, metrics and commands (default: docs/reference).

    They are generated from the schema, the registry of metrics and the command line. `bdpbench
    site` builds a site from them and the other files under docs/.
    """
    from bdpbench.app.references import write_references
    from bdpbench.contracts.paths import checkout_root

    program = context.find_root().command
    if not isinstance(program, click.Group):
        raise click.UsageError("docs is a command of bdpbench and is called as one.")
    folder = output or checkout_root() / "docs" / "reference"
    for path in write_references(program, folder):
        click.echo(str(path))


@click.command("site")
@click.option("-o", "--output", type=PATH, help="Folder for it. Default: site in the checkout.")
def site_command(output: Path | None) -> None:
    """Put documentation, atlas and all published reports into one folder.

    Any static web server can serve it, from any of its folders, and it opens without one; only the
    search of the documentation needs a server. All links are relative, and every one is checked.
    MkDocs, which builds it, is installed into a folder of its own by the first call.
    """
    from bdpbench.app.site import write_site

    for line in write_site(output):
        click.echo(line)


@click.command("schema")
@click.option("-o", "--output", type=PATH, help="Folder to write into.")
def schema_command(output: Path | None) -> None:
    """Write the JSON Schemas of the YAML files (default: workflow/schemas)."""
    from bdpbench.app.references import write_schemas
    from bdpbench.contracts.paths import checkout_root

    for path in write_schemas(output or checkout_root() / "workflow" / "schemas"):
        click.echo(str(path))
