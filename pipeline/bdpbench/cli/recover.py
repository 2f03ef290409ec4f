"""`bdpbench recover`: the scripts of the thesis, from the reader's own copy."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("recover")
@click.argument("thesis", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder for the scripts: new, empty, or an earlier recovery's.",
)
def command(thesis: Path, output: Path) -> None:
    """Recover the ns-2 scripts that THESIS prints as Appendices A to H.

    THESIS is your copy of P. Sharma's thesis of 2006: its text (UTF-8), or a PDF with text, which
    pdftotext reads. The damage of scanning is repaired by rules, and what no rule repairs is
    refused with appendix, line and text. The folder gets one script an appendix, under the name of
    bdpbench's script for the same experiment, utils.tcl, which they source, repairs.json and
    REPAIRS.md: every repair with its line and its reason, and the faults of the originals, which
    stay as they are.

    `./bdpbench run sharma2006 --scripts DIR` repeats the study with the recovered scripts.
    """
    from bdpbench.app.recovering import recover_scripts, summary_of

    for line in summary_of(recover_scripts(thesis, output), output):
        click.echo(line)
