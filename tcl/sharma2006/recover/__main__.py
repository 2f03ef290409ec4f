"""Recover the thesis's own ns-2 scripts from a copy of it (``docs/originals.md``).

Called in a checkout, by the Python that ``./bdpbench`` has set up::

    export PYTHONPATH=$PWD/pipeline:$PWD
    .bdpbench/venv/bin/python -m tcl.sharma2006.recover THESIS -o FOLDER
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from tcl.sharma2006.recover.printed import HELPER_NAME, Script, read_document
from tcl.sharma2006.recover.recovery import (
    READABLE_NAME,
    check_folder,
    count_repairs,
    recover,
    write_recovery,
)

from bdpbench.contracts.files import utf8_text
from bdpbench.contracts.paths import tcl_dir
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import current_build_id, find_build


def recover_scripts(copy: Path, folder: Path) -> Sequence[Script]:
    """Recover the scripts from a copy of the thesis, and write them into ``folder``.

    The helper file that they source, which the thesis does not print, is added: bdpbench's own,
    unchanged.

    Args:
        copy: text or PDF of the thesis.
        folder: a new or empty folder.

    Raises:
        BdpbenchError: when the copy cannot be read, lacks a script or has damage that no rule
            repairs, when Tcl's parser rejects a script, or when the folder cannot be written. Then
            nothing is written.
    """
    check_folder(folder)
    helper = utf8_text(tcl_dir() / "lib" / HELPER_NAME)
    recovery = recover(read_document(copy), helper, tcl_interpreter())
    write_recovery(recovery, folder)
    return recovery.scripts


def tcl_interpreter() -> Path:
    """A Tcl interpreter: ``tclsh``, or else the ns-2 of this checkout, which is also one.

    Debian's tcl8.6, with which ns-2 is built, has only ``tclsh8.6``.

    Raises:
        BdpbenchError: when there is neither.
    """
    tclsh = shutil.which("tclsh") or shutil.which("tclsh8.6")
    if tclsh is not None:
        return Path(tclsh)
    build = find_build(current_build_id())
    if build is None:
        raise BdpbenchError(
            "no Tcl interpreter is here to check the scripts: neither tclsh nor ns-2",
            hint="`./bdpbench ns2 build`, or apt-get install tcl8.6",
        )
    return build.binary


def summary_of(scripts: Sequence[Script], folder: Path) -> Iterator[str]:
    """What was recovered, as lines for a terminal."""
    for script in scripts:
        counted = ", ".join(f"{count} {rule}" for rule, count in count_repairs(script).items())
        yield f"{script.title} -> {script.name}: {counted or 'no damage'}"
        yield from (f"  note, line {note.line}: {note.text}" for note in script.notes)
    total = sum(len(script.repairs) for script in scripts)
    yield f"{total} repairs, listed in {folder / READABLE_NAME}"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("copy", metavar="THESIS", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder for the scripts, new or empty.",
)
def main(copy: Path, output: Path) -> None:
    """Recover the ns-2 scripts that THESIS prints as its Appendices A to H.

    THESIS is your copy of it: its text (UTF-8), or a PDF with text, which pdftotext reads. Rules
    repair the damage of scanning; if no rule can repair something, the program stops and names
    appendix, line and text. The folder gets one script for each appendix, the helper file that they
    source, and repairs.json and REPAIRS.md, which list every repair with its line and its reason,
    and the faults of the originals, which are kept.
    """
    try:
        scripts = recover_scripts(copy, output)
    except BdpbenchError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)
    for line in summary_of(scripts, output):
        click.echo(line)


if __name__ == "__main__":
    main(prog_name="recover")
