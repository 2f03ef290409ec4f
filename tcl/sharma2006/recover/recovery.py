"""Repairs the thesis's scripts, checks them, and writes them with the record of their repairs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from tcl.sharma2006.recover.listing import (
    Block,
    Listing,
    Vocabulary,
    code_of,
    procedures,
    read_structure,
    reads,
    writes,
)
from tcl.sharma2006.recover.printed import (
    HELPER_NAME,
    Document,
    Line,
    Note,
    Repair,
    Script,
    find_scripts,
)
from tcl.sharma2006.recover.rules import RULES

from bdpbench.contracts.files import sha256_of
from bdpbench.errors import BdpbenchError
from bdpbench.processes import run

RECORD_NAME = "repairs.json"
READABLE_NAME = "REPAIRS.md"
RECORD_VERSION = 2

_PARSE = Path(__file__).with_name("parse.tcl")
_PARSE_TIMEOUT_S = 60

_OF_CLASS = re.compile(r"^[A-Z]\w*(?:/\w+)+\s")
_CLASS_SETTING = re.compile(
    r"^[A-Z]\w*(?:/\w+)+\s+set\s+[A-Za-z]\w*_\s+(?:-?\d+(?:\.\d+)?(?:e-?\d+)?|\$\w+)\s*;?$"
)
_NO_VALUE = re.compile(r"^set\s+\S+$")
_INHERITED = (
    "{name} is set for some protocols only, so that the second flow of another protocol inherits"
    " the value of the first; left as it is"
)
_LAST_COMMAND = re.compile(r"^\$ns\s+run$")


@dataclass(frozen=True)
class Recovery:
    """What was recovered.

    Attributes:
        document: the copy of the thesis.
        scripts: its repaired scripts.
        helper: text of the file that they source.
        checked_by: name of the interpreter whose parser has accepted them.
    """

    document: Document
    scripts: Sequence[Script]
    helper: str
    checked_by: str


def recover(document: Document, helper: str, interpreter: Path) -> Recovery:
    """Repair the scripts of the thesis, and let Tcl's own parser check them.

    Args:
        document: the reader's copy.
        helper: text of the file that the scripts source.
        interpreter: ``tclsh`` or ``ns``.

    Raises:
        BdpbenchError: when the copy lacks a script or has damage that no rule repairs, and when
            Tcl's parser rejects a script; the errors of all scripts are told together.
    """
    scripts = find_scripts(document)
    vocabulary = Vocabulary.of(scripts)
    commands = frozenset(procedures(helper))
    refusals = []
    for script in scripts:
        try:
            repair_script(script, commands, vocabulary)
        except BdpbenchError as refusal:
            refusals.append(refusal)
    if len(refusals) == 1:
        raise refusals[0]
    if refusals:
        raise BdpbenchError("\n".join(map(str, refusals)))
    _check_parsed(interpreter, scripts)
    return Recovery(document, scripts, helper, interpreter.name)


def repair_script(script: Script, commands: frozenset[str], vocabulary: Vocabulary) -> None:
    """Repair a script, given the helper's procedures and the words of all scripts.

    Raises:
        BdpbenchError: naming heading, line and text of damage that no rule repairs.
    """
    listing = Listing(script, commands, vocabulary)
    for rule in RULES:
        listing.rule_id = rule.rule_id
        rule.apply(listing)
    _check_end(listing)
    _check_settings(listing)
    script.repairs.sort(key=lambda repair: repair.line)
    script.notes = list(find_notes(script.lines))


def _check_end(listing: Listing) -> None:
    code = [i for i, text in listing.numbered() if code_of(text).strip()]
    last = code[-1] if code else 0
    if not code or not _LAST_COMMAND.match(code_of(listing.lines[last].text).strip()):
        raise listing.refuse(
            last,
            "the script is truncated: a script of the thesis ends with '$ns run'",
            hint="take a complete copy of the thesis",
        )


def _check_settings(listing: Listing) -> None:
    """Refuse a ``set`` command that sets nothing, or nothing that ns-2 could use."""
    for index, text in listing.numbered():
        code = code_of(text).strip()
        if _OF_CLASS.match(code) and not _CLASS_SETTING.match(code):
            raise listing.refuse(index, "expected 'CLASS set NAME_ VALUE', VALUE a number")
        if _NO_VALUE.match(code):
            raise listing.refuse(index, "sets no value")


class Problem(NamedTuple):
    """A problem that Tcl's parser reports for a line of a script."""

    path: Path
    line: int
    message: str


def check_scripts(interpreter: Path, scripts: Sequence[Path]) -> list[Problem]:
    """Have a Tcl interpreter parse scripts, bodies of blocks included, without running them.

    Args:
        interpreter: ``tclsh`` or ``ns``, which is also a Tcl interpreter.
        scripts: paths of scripts.

    Raises:
        BdpbenchError: when the interpreter fails.
    """
    command = [str(interpreter), str(_PARSE), *map(str, scripts)]
    try:
        done = run(command, _PARSE_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BdpbenchError(
            f"could not parse the scripts: {error}", where=str(interpreter)
        ) from None
    lines = done.stdout.splitlines()
    if done.returncode != 0 or lines[-1:] != [f"checked {len(scripts)}"]:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise BdpbenchError(f"could not parse the scripts: {said}", where=str(interpreter))
    found = (line.split("\t", 2) for line in lines[:-1])
    return [Problem(Path(path), int(number), message) for path, number, message in found]


def _check_parsed(interpreter: Path, scripts: Sequence[Script]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        paths = {Path(scratch) / each.name: each for each in scripts}
        for path, script in paths.items():
            path.write_text(script.text, encoding="utf-8")
        problems = check_scripts(interpreter, list(paths))
    lines = []
    for problem in problems:
        script = paths[problem.path]
        line = script.lines[problem.line - 1]
        lines.append(
            f"{script.title}, line {line.number}: Tcl cannot parse this: {problem.message}\n"
            f"    {line.text.strip()}"
        )
    if lines:
        raise BdpbenchError("\n".join(lines))


def find_notes(lines: Sequence[Line]) -> Iterator[Note]:
    """Find variables that a pass of a loop inherits from the previous one.

    Such a variable has a value before the loop, and only some branches of an ``if`` inside it set
    the variable, although the loop uses it. In a pass without such a branch it keeps the value of
    an earlier pass.
    """
    around = read_structure(lines).around
    loops = {block for blocks in around for block in blocks if block.command == "for"}
    for loop in sorted(loops, key=lambda block: block.opened):
        for name, used in _inherited(lines, around, loop):
            yield Note(lines[used].number, _INHERITED.format(name=name))


def _inherited(
    lines: Sequence[Line], around: Sequence[tuple[Block, ...]], loop: Block
) -> Iterator[tuple[str, int]]:
    """Variables of a loop that may keep an old value, with the index of the line of last use."""
    inside = [index for index, blocks in enumerate(around) if loop in blocks]
    before = {name for line in lines[: loop.opened] for name in writes(line.text)}
    always = {name for i in inside if around[i][-1] == loop for name in writes(lines[i].text)}
    sometimes = {name for i in inside for name in writes(lines[i].text)} - always
    for name in sorted(sometimes & before):
        used = [i for i in inside if name in reads(lines[i].text)]
        if used:
            yield name, used[-1]


def count_repairs(script: Script) -> dict[str, int]:
    """Rule → number of repairs, for the rules that made any."""
    counted = Counter(repair.rule for repair in script.repairs)
    return {rule.rule_id: counted[rule.rule_id] for rule in RULES if counted[rule.rule_id]}


# ---------------------------------------------------------------- the record of the repairs


def record_of(recovery: Recovery) -> dict[str, object]:
    """Content of ``repairs.json``: the rules, and every repair and note of each script."""
    document = recovery.document
    return {
        "schema_version": RECORD_VERSION,
        "document": {
            "file": document.path.name,
            "kind": document.kind,
            "sha256": sha256_of(document.path),
            "lines": _numbered_by(document),
        },
        "checked_by": recovery.checked_by,
        "rules": [
            {"rule": rule.rule_id, "damage": rule.damage, "reason": rule.reason} for rule in RULES
        ],
        "scripts": [
            {
                "heading": script.title,
                "script": script.name,
                "lines": [script.lines[0].number, script.lines[-1].number],
                "count": count_repairs(script),
                "repairs": [repair._asdict() for repair in script.repairs],
                "notes": [note._asdict() for note in script.notes],
            }
            for script in recovery.scripts
        ],
    }


def _numbered_by(document: Document) -> str:
    return "of `pdftotext -layout`" if document.kind == "pdf" else "of the file"


def readable_record(recovery: Recovery) -> str:
    """Content of ``REPAIRS.md``: the record for readers."""
    document = recovery.document
    parts = [
        f"# Repairs of {document.path.name}",
        f"Line numbers are those {_numbered_by(document)}. The repaired scripts were parsed by "
        f"{recovery.checked_by}.",
        "## Rules",
        "\n".join(f"- **{rule.rule_id}**: {rule.damage} {rule.reason}" for rule in RULES),
        *("\n".join(_readable_script(each)) for each in recovery.scripts),
    ]
    return "\n\n".join(parts) + "\n"


def _readable_script(script: Script) -> Iterator[str]:
    yield f"## {script.title}: `{script.name}`"
    yield ""
    order = [rule.rule_id for rule in RULES]
    ordered = sorted(script.repairs, key=lambda repair: (order.index(repair.rule), repair.line))
    for rule_id, group in groupby(ordered, key=lambda repair: repair.rule):
        yield from _readable_rule(rule_id, list(group))
    yield from (f"- line {note.line}, *left as it is*: {note.text}" for note in script.notes)


def _readable_rule(rule_id: str, repairs: Sequence[Repair]) -> list[str]:
    if rule_id == "page-furniture":
        return [f"- {rule_id}, lines {', '.join(str(repair.line) for repair in repairs)}"]
    return [
        f"- line {repair.line}, *{rule_id}*: {_quoted(repair.before)} → "
        f"{'removed' if repair.after is None else _quoted(repair.after)} ({repair.why})"
        for repair in repairs
    ]


def _quoted(text: str) -> str:
    return " ⏎ ".join(f"`` {line.strip()} ``" for line in text.split("\n"))


# ---------------------------------------------------------------- the folder


def write_recovery(recovery: Recovery, folder: Path) -> None:
    """Write helper, scripts, record and its readable form into ``folder``, all of them or none.

    Raises:
        BdpbenchError: when the folder contains anything, or cannot be written.
    """
    folder = folder.resolve()
    check_folder(folder)
    scripts = {each.name: each.text for each in recovery.scripts}
    files = {HELPER_NAME: recovery.helper, **scripts, READABLE_NAME: readable_record(recovery)}
    scratch = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        _fill(scratch, files, record_of(recovery))
        scratch.rename(folder)  # which the system refuses if the folder is no longer empty
    except OSError as error:
        raise BdpbenchError(f"cannot be written: {error.strerror}", where=str(folder)) from None
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)


def _fill(scratch: Path, files: Mapping[str, str], record: Mapping[str, object]) -> None:
    for name, text in files.items():
        (scratch / name).write_text(text, encoding="utf-8")
    sums = {path.name: sha256_of(path) for path in sorted(scratch.iterdir())}
    text = json.dumps({**record, "files": sums}, indent=1, ensure_ascii=False)
    (scratch / RECORD_NAME).write_text(text + "\n", encoding="utf-8")
    # mkdtemp makes folders private; this one is for everyone to read.
    umask = os.umask(0)
    os.umask(umask)
    scratch.chmod(0o777 & ~umask)


def check_folder(folder: Path) -> None:
    """Refuse a folder in which there is anything already.

    Raises:
        BdpbenchError: naming the folder.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise BdpbenchError("is a file, expected a folder to write into", where=str(folder))
    if any(folder.iterdir()):
        raise BdpbenchError(
            "is not empty: nothing was written",
            where=str(folder),
            hint="name a folder that is new or empty",
        )
