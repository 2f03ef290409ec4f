"""Writes the recovered scripts and the record of their repairs into a folder, all or nothing."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TypedDict

from bdpbench.contracts.files import sha256_of
from bdpbench.errors import BdpbenchError
from bdpbench.recover.document import Document
from bdpbench.recover.repair import Recovered
from bdpbench.recover.rules import RULES

RECORD_NAME = "repairs.json"
READABLE_NAME = "REPAIRS.md"
RECORD_VERSION = 2


class RuleText(TypedDict):
    """A kind of damage that a rule repairs, and how it differs from the author's own text."""

    rule: str
    damage: str
    reason: str


class RepairRecord(TypedDict):
    """One repair; ``after`` is null if the line was removed."""

    rule: str
    line: int
    before: str
    after: str | None
    why: str


class NoteRecord(TypedDict):
    """A fault of the original, and the line of the copy where it shows."""

    line: int
    text: str


class ScriptRepairs(TypedDict):
    """The repairs of one script; ``lines`` are its first and last line in the copy."""

    heading: str
    script: str
    lines: list[int]
    count: dict[str, int]
    repairs: list[RepairRecord]
    notes: list[NoteRecord]


class DocumentRecord(TypedDict):
    """The copy; ``lines`` says what its line numbers count."""

    file: str
    kind: str
    sha256: str
    lines: str


class RecoveryRecord(TypedDict):
    """Content of ``repairs.json``, without the checksums of the files beside it."""

    schema_version: int
    document: DocumentRecord
    checked_by: str
    rules: list[RuleText]
    scripts: list[ScriptRepairs]


def record_of(
    document: Document, recovered: Sequence[Recovered], checked_by: str
) -> RecoveryRecord:
    """Content of ``repairs.json``: the rules, and every repair and note of each script."""
    return {
        "schema_version": RECORD_VERSION,
        "document": {
            "file": document.path.name,
            "kind": document.kind,
            "sha256": sha256_of(document.path),
            "lines": "of `pdftotext -layout`" if document.kind == "pdf" else "of the file",
        },
        "checked_by": checked_by,
        "rules": [
            {"rule": rule.rule_id, "damage": rule.damage, "reason": rule.reason} for rule in RULES
        ],
        "scripts": [_repairs_of(each) for each in recovered],
    }


def _repairs_of(recovered: Recovered) -> ScriptRepairs:
    return {
        "heading": recovered.title,
        "script": recovered.name,
        "lines": [recovered.lines[0].number, recovered.lines[-1].number],
        "count": recovered.count(),
        "repairs": [
            {
                "rule": repair.rule,
                "line": repair.line,
                "before": repair.before,
                "after": repair.after,
                "why": repair.why,
            }
            for repair in recovered.repairs
        ],
        "notes": [{"line": note.line, "text": note.text} for note in recovered.notes],
    }


def readable(record: RecoveryRecord) -> str:
    """Content of ``REPAIRS.md``: the record for readers."""
    document = record["document"]
    parts = [
        f"# Repairs of {document['file']}",
        f"Line numbers are those {document['lines']}. The repaired scripts were parsed by "
        f"{record['checked_by']}.",
        "## Rules",
        "\n".join(
            f"- **{rule['rule']}**: {rule['damage']} {rule['reason']}" for rule in record["rules"]
        ),
        *(_readable_script(each) for each in record["scripts"]),
    ]
    return "\n\n".join(parts) + "\n"


def _readable_script(script: ScriptRepairs) -> str:
    lines = [f"## {script['heading']}: `{script['script']}`", ""]
    order = {rule.rule_id: place for place, rule in enumerate(RULES)}
    ordered = sorted(script["repairs"], key=lambda repair: (order[repair["rule"]], repair["line"]))
    for rule_id, group in groupby(ordered, key=lambda repair: repair["rule"]):
        lines += _readable_rule(rule_id, list(group))
    lines += [f"- line {note['line']}, *left as it is*: {note['text']}" for note in script["notes"]]
    return "\n".join(lines)


def _readable_rule(rule_id: str, repairs: Sequence[RepairRecord]) -> list[str]:
    if rule_id == "page-furniture":
        numbers = ", ".join(str(repair["line"]) for repair in repairs)
        return [f"- {rule_id}, lines {numbers}"]
    return [
        f"- line {repair['line']}, *{rule_id}*: {_quoted(repair['before'])} → "
        f"{'removed' if repair['after'] is None else _quoted(repair['after'])} ({repair['why']})"
        for repair in repairs
    ]


def _quoted(text: str) -> str:
    return " ⏎ ".join(f"`` {line.strip()} ``" for line in text.split("\n"))


def write_recovery(folder: Path, files: Mapping[str, str], record: RecoveryRecord) -> None:
    """Write scripts, record and its readable form into ``folder``, all of them or none.

    A folder with an unchanged earlier recovery is replaced; nothing else is ever lost.

    Args:
        folder: a new or empty folder, or one that an earlier recovery wrote.
        files: file name → text of every file except the record.
        record: the result of ``record_of``.

    Raises:
        BdpbenchError: when the folder contains anything else or cannot be written.
    """
    folder = folder.resolve()
    check_replaceable(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    except OSError as error:
        raise _unwritable(folder, error) from None
    try:
        _fill(scratch, files, record)
        _take_place(scratch, folder)
    except OSError as error:
        raise _unwritable(folder, error) from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _unwritable(folder: Path, error: OSError) -> BdpbenchError:
    return BdpbenchError(f"cannot be written: {error.strerror}", where=str(folder))


def _fill(scratch: Path, files: Mapping[str, str], record: RecoveryRecord) -> None:
    for name, text in {**files, READABLE_NAME: readable(record)}.items():
        (scratch / name).write_text(text, encoding="utf-8")
    sums = {path.name: sha256_of(path) for path in sorted(scratch.iterdir())}
    text = json.dumps({**record, "files": sums}, indent=1, ensure_ascii=False)
    (scratch / RECORD_NAME).write_text(text + "\n", encoding="utf-8")
    # mkdtemp makes folders private; this one is for everyone to read.
    umask = os.umask(0)
    os.umask(umask)
    scratch.chmod(0o777 & ~umask)


def _take_place(scratch: Path, folder: Path) -> None:
    if folder.exists():
        old = scratch.with_name(f"{scratch.name}.old")
        folder.rename(old)
        scratch.rename(folder)
        shutil.rmtree(old)
    else:
        scratch.rename(folder)


def check_replaceable(folder: Path) -> None:
    """Refuse a folder whose replacement would lose something.

    Raises:
        BdpbenchError: naming a file of the folder that no earlier recovery wrote.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise BdpbenchError("is a file, expected a folder to write into", where=str(folder))
    written = _written_before(folder)
    foreign = [
        path.name
        for path in sorted(folder.iterdir())
        if not path.is_file() or written.get(path.name) not in (sha256_of(path), RECORD_NAME)
    ]
    if foreign:
        more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise BdpbenchError(
            f"holds {foreign[0]}{more}, which would be lost: nothing was written",
            where=str(folder),
            hint="name a folder that is new or empty",
        )


def _written_before(folder: Path) -> dict[str, str]:
    """File → checksum of what an earlier recovery wrote here; empty if there was none.

    The record cannot contain its own checksum; its name stands for it.
    """
    try:
        record = json.loads((folder / RECORD_NAME).read_text(encoding="utf-8"))
        files = {str(name): str(value) for name, value in record["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {**files, RECORD_NAME: RECORD_NAME}
