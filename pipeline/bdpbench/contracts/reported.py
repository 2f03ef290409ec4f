"""``reported.json`` of a tier: what its report was made from, and the checksum of what was made."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypedDict

from bdpbench.contracts.files import read_json, sha256_of, write_json_atomically
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import PLAN_NAME, Plan, plan_sha256
from bdpbench.contracts.runs import RUN_NAME, is_light
from bdpbench.contracts.shapes import shaped
from bdpbench.contracts.tables import MANIFEST_NAME, TABLES_FOLDER
from bdpbench.errors import BdpbenchError

REPORTED_NAME = "reported.json"
_VERSION = 1


class Reported(TypedDict):
    """Content of ``reported.json``, written last: a report without it is made again.

    ``runs_sha256`` covers records and tables of the runs; ``files``: path in the folder → SHA-256.
    """

    schema_version: int
    runs_sha256: str
    files: dict[str, str]


def record_report(folder: Path, plan: Plan, runs_dir: Path, made: Iterable[Path]) -> None:
    """Record that the files ``made`` in a folder show the runs of a plan."""
    files = {path.relative_to(folder).as_posix(): sha256_of(path) for path in made}
    files[PLAN_NAME] = plan_sha256(plan)
    found: Reported = {
        "schema_version": _VERSION,
        "runs_sha256": _runs_sha256(plan, runs_dir),
        "files": files,
    }
    write_json_atomically(folder / REPORTED_NAME, found)


def forget_report(folder: Path) -> None:
    """Say, before one of its files is written, that a folder has no complete report."""
    (folder / REPORTED_NAME).unlink(missing_ok=True)


def is_reported(folder: Path, plan: Plan, runs_dir: Path) -> bool:
    """Whether the report in a folder shows the runs of this plan as they are, undamaged."""
    try:
        found = _read(folder)
    except BdpbenchError:
        return False
    return (
        found is not None
        and found["files"].get(PLAN_NAME) == plan_sha256(plan)
        and found["runs_sha256"] == _runs_sha256(plan, runs_dir)
        and not any(changed_files(folder))
    )


def changed_files(folder: Path) -> Iterator[tuple[Path, str]]:
    """The files of a report that are not what was written, and in what way.

    A new plan is no damage: it is written before its report.

    Raises:
        BdpbenchError: when ``reported.json`` is damaged or of another version.
    """
    found = _read(folder)
    files = dict(found["files"]) if found else {}
    files.pop(PLAN_NAME, None)
    for name, sha256 in files.items():
        said = _change(folder / name, sha256)
        if said:
            yield folder / name, said


def check_reported(path: Path) -> None:
    """Refuse a file of a report that is not what was written; others pass.

    Raises:
        BdpbenchError: naming the file, or ``reported.json`` if that is damaged.
    """
    found = _read(path.parent)
    sha256 = found["files"].get(path.name) if found else None
    said = _change(path, sha256) if sha256 and path.is_file() else ""
    if said:
        raise BdpbenchError(said, where=str(path), hint="`./bdpbench run` makes it again")


def _read(folder: Path) -> Reported | None:
    path, what = folder / REPORTED_NAME, "checksums of a report"
    if not path.exists():
        return None
    return shaped(read_json(path, what=what, schema_version=_VERSION), Reported, path, what)


def _change(path: Path, sha256: str) -> str:
    """How a file differs from what was written, or ""."""
    if not path.is_file():
        return "is not a file" if path.exists() else "is gone"
    return "" if sha256_of(path) == sha256 else "is not what was written: its SHA-256 differs"


def _runs_sha256(plan: Plan, runs_dir: Path) -> str:
    """A digest of the records and tables of all runs, and of whether their outputs are here."""
    digest = hashlib.sha256()
    for run_id in dict.fromkeys(run["run_id"] for run in plan["runs"]):
        run_dir = run_folder(runs_dir, run_id)
        manifest = run_dir / TABLES_FOLDER / MANIFEST_NAME
        known = [_bytes(path) for path in (run_dir / RUN_NAME, manifest)]
        facts = [run_id, is_light(run_dir), *(hashlib.sha256(each).hexdigest() for each in known)]
        digest.update(f"{facts}\n".encode())
    return digest.hexdigest()


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""
