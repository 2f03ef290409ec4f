"""The recovered scripts and what was repaired in them, written into a folder as a whole."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from bdpbench.contracts.files import sha256_of
from bdpbench.errors import BdpbenchError
from bdpbench.recover.listing import Repair
from bdpbench.recover.repair import Recovered
from bdpbench.recover.rules import RULES
from bdpbench.recover.thesis import Thesis

RECORD_NAME = "repairs.json"
READABLE_NAME = "REPAIRS.md"
RECORD_VERSION = 1


def record_of(thesis: Thesis, recovered: Sequence[Recovered], checked_by: str) -> dict[str, Any]:
    """``repairs.json``: rules, and per appendix every repair and note."""
    return {
        "schema_version": RECORD_VERSION,
        "thesis": {
            "file": thesis.path.name,
            "kind": thesis.kind,
            "sha256": sha256_of(thesis.path),
            "lines": "of `pdftotext -layout`" if thesis.kind == "pdf" else "of the file",
        },
        "checked_by": checked_by,
        "rules": [
            {"rule": rule.rule_id, "damage": rule.damage, "reason": rule.reason} for rule in RULES
        ],
        "appendices": [_appendix(each) for each in recovered],
    }


def _appendix(recovered: Recovered) -> dict[str, Any]:
    return {
        "appendix": recovered.letter,
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


def readable(record: Mapping[str, Any]) -> str:
    """``REPAIRS.md``: the record for people."""
    parts = [
        f"# Repairs of {record['thesis']['file']}",
        f"Line numbers are those {record['thesis']['lines']}. The repaired scripts were parsed by "
        f"{record['checked_by']}.",
        "## Rules",
        "\n".join(
            f"- **{rule['rule']}**: {rule['damage']} {rule['reason']}" for rule in record["rules"]
        ),
        *(_readable_appendix(each) for each in record["appendices"]),
    ]
    return "\n\n".join(parts) + "\n"


def _readable_appendix(appendix: Mapping[str, Any]) -> str:
    repairs = [
        Repair(each["rule"], each["line"], each["before"], each["after"], each["why"])
        for each in appendix["repairs"]
    ]
    lines = [f"## Appendix {appendix['appendix']}: `{appendix['script']}`", ""]
    order = {rule.rule_id: place for place, rule in enumerate(RULES)}
    ordered = sorted(repairs, key=lambda repair: (order[repair.rule], repair.line))
    for rule_id, group in groupby(ordered, key=lambda repair: repair.rule):
        lines += _readable_rule(rule_id, list(group))
    lines += [
        f"- line {note['line']}, *left as it is*: {note['text']}" for note in appendix["notes"]
    ]
    return "\n".join(lines)


def _readable_rule(rule_id: str, repairs: Sequence[Repair]) -> list[str]:
    if all(repair.rule == "page-furniture" for repair in repairs):
        numbers = ", ".join(str(repair.line) for repair in repairs)
        return [f"- {rule_id}, lines {numbers}"]
    return [
        f"- line {repair.line}, *{rule_id}*: {_quoted(repair.before)} → "
        f"{'removed' if repair.after is None else _quoted(repair.after)} ({repair.why})"
        for repair in repairs
    ]


def _quoted(text: str) -> str:
    return " ⏎ ".join(f"`` {line.strip()} ``" for line in text.split("\n"))


def write_recovery(folder: Path, files: Mapping[str, str], record: Mapping[str, Any]) -> None:
    """Write scripts, record and its readable form into ``folder``, all of them or none.

    A folder that holds an earlier recovery, unchanged, is replaced; nothing else is ever lost.

    Args:
        folder: a new or empty folder, or one that an earlier recovery wrote.
        files: file name → text of everything but the record.
        record: what ``record_of`` made.

    Raises:
        BdpbenchError: when the folder holds something else or cannot be written.
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


def _fill(scratch: Path, files: Mapping[str, str], record: Mapping[str, Any]) -> None:
    for name, text in {**files, READABLE_NAME: readable(record)}.items():
        (scratch / name).write_text(text, encoding="utf-8")
    sums = {path.name: sha256_of(path) for path in sorted(scratch.iterdir())}
    text = json.dumps({**record, "files": sums}, indent=1, ensure_ascii=False)
    (scratch / RECORD_NAME).write_text(text + "\n", encoding="utf-8")
    # mkdtemp makes folders private; this one is meant to be read like any other.
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
    """Refuse a folder in which something would be lost.

    Raises:
        BdpbenchError: naming what the folder holds that no earlier recovery wrote.
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
    """File → checksum of what an earlier recovery wrote here; nothing where there was none.

    The record, which cannot hold its own checksum, has its name for one.
    """
    try:
        record = json.loads((folder / RECORD_NAME).read_text(encoding="utf-8"))
        files = {str(name): str(value) for name, value in record["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {**files, RECORD_NAME: RECORD_NAME}
