"""`bdpbench recover`: the scripts that a study prints, from a reader's copy of the study."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from bdpbench.contracts.files import utf8_text
from bdpbench.contracts.paths import tcl_dir
from bdpbench.contracts.yaml_files import suggest
from bdpbench.errors import BdpbenchError
from bdpbench.recover.printed import (
    ORIGINALS_NAME,
    Originals,
    Script,
    load_originals,
    read_document,
)
from bdpbench.recover.recovery import (
    READABLE_NAME,
    check_replaceable,
    count_repairs,
    recover,
    write_recovery,
)
from bdpbench.simulation.build import current_build_id, find_build
from bdpbench.studies.load import studies_dir


def recover_scripts(copy: Path, folder: Path, study: str | None = None) -> Sequence[Script]:
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
    recovery = recover(document, originals, _helper(originals), tcl_interpreter())
    write_recovery(recovery, folder)
    return recovery.scripts


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


def _helper(originals: Originals) -> dict[str, str]:
    """File name → text of the file that the scripts source, if there is one."""
    if originals.helper is None:
        return {}
    path = tcl_dir() / originals.helper.path
    try:
        return {originals.helper.file: utf8_text(path)}
    except FileNotFoundError:
        said = f"no such file, which {ORIGINALS_NAME} names as helper"
        raise BdpbenchError(said, where=str(path)) from None


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
