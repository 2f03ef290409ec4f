"""`bdpbench recover`: the scripts that a study prints, from the reader's own copy."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("recover")
@click.argument("copy", metavar="THESIS", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder for the scripts: new, empty, or from an earlier recovery.",
)
@click.option("--study", help="Study that prints them; required if several studies do.")
def command(copy: Path, output: Path, study: str | None) -> None:
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
