"""`bdpbench recover`: the thesis's own scripts from a reader's copy of it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bdpbench.contracts.paths import tcl_dir
from bdpbench.errors import BdpbenchError
from bdpbench.recover import (
    Appendix,
    Problem,
    Recovered,
    Vocabulary,
    check_replaceable,
    check_scripts,
    find_appendices,
    procedures,
    read_thesis,
    record_of,
    repair_appendix,
    write_recovery,
)
from bdpbench.simulation.build import current_build_id, find_build

UTILS_NAME = "utils.tcl"


def recover_scripts(thesis_path: Path, folder: Path) -> list[Recovered]:
    """Recover Appendices A to H from a copy of the thesis and write them into ``folder``.

    ``utils.tcl``, which the thesis does not print, is put beside them: bdpbench's own, unchanged.

    Raises:
        BdpbenchError: when the copy cannot be read, lacks an appendix or has damage that no rule
            repairs, when Tcl's parser refuses a script, or when the folder cannot be written.
            Nothing is written then.
    """
    check_replaceable(folder)
    thesis = read_thesis(thesis_path)
    utils = (tcl_dir() / "lib" / UTILS_NAME).read_text(encoding="utf-8")
    recovered = _repair_all(find_appendices(thesis), frozenset(procedures(utils)))
    interpreter = tcl_interpreter()
    _check(interpreter, recovered)
    files = {UTILS_NAME: utils, **{each.name: each.text for each in recovered}}
    write_recovery(folder, files, record_of(thesis, recovered, interpreter.name))
    return recovered


def _repair_all(appendices: Sequence[Appendix], commands: frozenset[str]) -> list[Recovered]:
    """Repair all appendices; the refusals of all are told together."""
    vocabulary = Vocabulary.of(appendices)
    recovered, refusals = [], []
    for appendix in appendices:
        try:
            recovered.append(repair_appendix(appendix, commands, vocabulary))
        except BdpbenchError as refusal:
            refusals.append(refusal)
    if len(refusals) == 1:
        raise refusals[0]
    if refusals:
        raise BdpbenchError("\n".join(str(refusal) for refusal in refusals))
    return recovered


def tcl_interpreter() -> Path:
    """A Tcl interpreter: ``tclsh``, or else the ns-2 of this checkout, which is one too.

    Raises:
        BdpbenchError: when there is neither.
    """
    tclsh = shutil.which("tclsh")
    if tclsh is not None:
        return Path(tclsh)
    build = find_build(current_build_id())
    if build is None:
        raise BdpbenchError(
            "no Tcl interpreter is here to check the scripts: neither tclsh nor ns-2",
            hint="`./bdpbench ns2 build`, or apt-get install tcl",
        )
    return build.binary


def _check(interpreter: Path, recovered: Sequence[Recovered]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        paths = {Path(scratch) / each.name: each for each in recovered}
        for path, script in paths.items():
            path.write_text(script.text, encoding="utf-8")
        problems = check_scripts(interpreter, list(paths))
    if problems:
        raise BdpbenchError("\n".join(_told(paths[each.path], each) for each in problems))


def _told(script: Recovered, problem: Problem) -> str:
    line = script.lines[problem.line - 1]
    return (
        f"Appendix {script.letter}, line {line.number}: Tcl cannot parse this: {problem.message}\n"
        f"    {line.text.strip()}"
    )


def summary_of(recovered: Sequence[Recovered], folder: Path) -> list[str]:
    """What was recovered, in lines for a terminal."""
    lines = []
    for script in recovered:
        counted = ", ".join(f"{count} {rule}" for rule, count in script.count().items())
        lines.append(f"Appendix {script.letter} -> {script.name}: {counted or 'no damage'}")
        lines += [f"  note, line {note.line}: {note.text}" for note in script.notes]
    total = sum(len(script.repairs) for script in recovered)
    return [*lines, f"{total} repairs, each told in {folder / 'REPAIRS.md'}"]
