"""`bdpbench recover`: the scripts that a study prints, from a reader's copy of the study."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bdpbench.contracts.files import utf8_text
from bdpbench.contracts.paths import tcl_dir
from bdpbench.contracts.yaml_files import suggest
from bdpbench.errors import BdpbenchError
from bdpbench.recover import (
    ORIGINALS_NAME,
    Originals,
    PrintedScript,
    Problem,
    Recovered,
    Vocabulary,
    check_replaceable,
    check_scripts,
    find_scripts,
    load_originals,
    procedures,
    read_document,
    record_of,
    repair_script,
    write_recovery,
)
from bdpbench.simulation.build import current_build_id, find_build
from bdpbench.studies.load import studies_dir


def recover_scripts(copy: Path, folder: Path, study: str | None = None) -> list[Recovered]:
    """Recover the scripts that a study prints from a copy of it, and write them into ``folder``.

    The helper file that they source, which the study does not print, is added: bdpbench's own,
    unchanged.

    Args:
        copy: text or PDF of the study.
        folder: a new or empty folder, or one with an earlier recovery.
        study: key or folder of a study; None selects the only study that prints its scripts.

    Raises:
        BdpbenchError: when there is no such study, when the copy cannot be read, lacks a script or
            has damage that no rule repairs, when Tcl's parser rejects a script, or when the folder
            cannot be written. Then nothing is written.
    """
    originals = load_originals(originals_path(study))
    check_replaceable(folder)
    document = read_document(copy, originals.document)
    files = _helper_files(originals)
    commands = frozenset(name for text in files.values() for name in procedures(text))
    recovered = _repair_all(find_scripts(document, originals), originals, commands)
    interpreter = tcl_interpreter()
    _check(interpreter, recovered)
    files |= {each.name: each.text for each in recovered}
    write_recovery(folder, files, record_of(document, recovered, interpreter.name))
    return recovered


def originals_path(study: str | None) -> Path:
    """``originals.yaml`` of a study: given by key or folder, or None for the only one.

    Raises:
        BdpbenchError: for a study that has none, and for None if several studies have one.
    """
    known = {path.parent.name: path for path in sorted(studies_dir().glob(f"*/{ORIGINALS_NAME}"))}
    if study is None:
        if len(known) != 1:
            words = f"{'several studies have' if known else 'no study has'} printed scripts"
            raise BdpbenchError(words, where="--study", hint=f"known: {', '.join(known)}")
        return next(iter(known.values()))
    folder = Path(study)
    if (folder / ORIGINALS_NAME).is_file():
        return folder / ORIGINALS_NAME
    if study not in known:
        raise BdpbenchError(
            f"{study!r} is not a study with {ORIGINALS_NAME}",
            where="--study",
            hint=suggest(study, known),
        )
    return known[study]


def _helper_files(originals: Originals) -> dict[str, str]:
    """File name → text of the files that the scripts source."""
    if originals.helper is None:
        return {}
    path = tcl_dir() / originals.helper.path
    try:
        return {originals.helper.file: utf8_text(path)}
    except FileNotFoundError:
        raise BdpbenchError(
            f"no such file, which {ORIGINALS_NAME} names as helper", where=str(path)
        ) from None


def _repair_all(
    scripts: Sequence[PrintedScript], originals: Originals, commands: frozenset[str]
) -> list[Recovered]:
    """Repair all scripts; the errors of all are raised together."""
    vocabulary = Vocabulary.of(scripts)
    recovered, refusals = [], []
    for script in scripts:
        try:
            recovered.append(repair_script(script, originals, commands, vocabulary))
        except BdpbenchError as refusal:
            refusals.append(refusal)
    if len(refusals) == 1:
        raise refusals[0]
    if refusals:
        raise BdpbenchError("\n".join(str(refusal) for refusal in refusals))
    return recovered


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
        f"{script.title}, line {line.number}: Tcl cannot parse this: {problem.message}\n"
        f"    {line.text.strip()}"
    )


def summary_of(recovered: Sequence[Recovered], folder: Path) -> list[str]:
    """What was recovered, as lines for a terminal."""
    lines = []
    for script in recovered:
        counted = ", ".join(f"{count} {rule}" for rule, count in script.count().items())
        lines.append(f"{script.title} -> {script.name}: {counted or 'no damage'}")
        lines += [f"  note, line {note.line}: {note.text}" for note in script.notes]
    total = sum(len(script.repairs) for script in recovered)
    return [*lines, f"{total} repairs, listed in {folder / 'REPAIRS.md'}"]
