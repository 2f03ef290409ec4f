"""Sets aside results that were damaged after they were made, with a message, to be made again.

Everything that `run` makes follows from its configuration, so nothing is lost by removing
untrustworthy files: a run without ``run.json`` is simulated, tables without a manifest are parsed,
and so on. Files of another version of bdpbench are not damaged, and are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bdpbench.app.planning import Prepared
from bdpbench.app.progress import View
from bdpbench.app.run_data import SERIES_FOLDER, VALUES_FOLDER
from bdpbench.contracts.files import remove_temporaries, sha256_of
from bdpbench.contracts.reports import REPORTED_NAME, changed_files
from bdpbench.contracts.runs import (
    LIGHT_NAME,
    MANIFEST_NAME,
    RUN_NAME,
    TABLES_FOLDER,
    RunRecord,
    is_light,
    read_light,
    read_manifest,
    read_run,
)
from bdpbench.errors import BdpbenchError
from bdpbench.studies.identity import run_id as run_id_of


class Damage(NamedTuple):
    """What is wrong with which file."""

    path: Path
    reason: str


def mend_at_a_glance(view: View, prepared: Prepared) -> bool:
    """Set aside damage that shows without reading whole files; whether there was any."""
    _remove_temporaries(prepared)
    return _set_aside(view, prepared, deep=False)


def _remove_temporaries(prepared: Prepared) -> None:
    """Remove what killed writers left; a run's own folder is cleared before it is simulated."""
    remove_temporaries(prepared.paths.folder)
    for run in prepared.runs:
        folder = prepared.paths.run(run["run_id"])
        for part in (TABLES_FOLDER, VALUES_FOLDER, SERIES_FOLDER):
            remove_temporaries(folder / part)


def mend_after_failure(view: View, prepared: Prepared) -> bool:
    """Set aside damage that checksums show, after a stage has failed."""
    return _set_aside(view, prepared, deep=True)


def _set_aside(view: View, prepared: Prepared, *, deep: bool) -> bool:
    """Remove the files that vouch for damaged ones; whether there were any."""
    found = list(_damages(prepared, deep=deep))
    for (path, reason), remedy, voucher in found:
        text = f"{path} {reason}; {remedy}"
        view.tell("mended", text, path=str(path), reason=reason, remedy=remedy)
        voucher.unlink(missing_ok=True)
    return bool(found)


def _damages(prepared: Prepared, *, deep: bool) -> Iterator[tuple[Damage, str, Path]]:
    """Each damage, what is made again, and the file without which it is."""
    for run_id in dict.fromkeys(run["run_id"] for run in prepared.runs):
        run_dir = prepared.paths.run(run_id)
        is_parsed = (run_dir / RUN_NAME).is_file() and (run_dir / VALUES_FOLDER).is_dir()
        if damage := damaged_run(run_dir, deep=deep):
            yield damage, "the run is simulated again", run_dir / RUN_NAME
        elif is_parsed and (damage := damaged_tables(run_dir, deep=deep)):
            yield damage, "the run is parsed again", _manifest(run_dir)
    reported = prepared.paths.folder / REPORTED_NAME
    try:
        changed = [Damage(*each) for each in changed_files(reported.parent)]
    except BdpbenchError as error:
        changed = [Damage(reported, error.message)]
    for each in changed:
        yield each, "the report is made again", reported


def damaged_run(run_dir: Path, *, deep: bool) -> Damage | None:
    """Damage to ``run.json`` or the outputs that it names; ``deep``: checked by checksums."""
    path = run_dir / RUN_NAME
    try:
        record = read_run(run_dir)
    except BdpbenchError as error:
        if _is_of_another_version(path):
            raise
        return Damage(path, error.message)
    if record is None:
        return None
    if run_id_of(record["identity"]) != run_dir.name:
        return Damage(path, "has been changed: its content does not match its run id")
    if _is_changed(run_dir):
        return Damage(path, "has been changed since the run was parsed: its SHA-256 differs")
    if is_light(run_dir):
        return _damaged_light(run_dir, deep=deep)
    return next(_damaged_outputs(run_dir, record, deep=deep), None)


def _is_changed(run_dir: Path) -> bool:
    """Whether ``run.json`` is not the one from which the tables were made; a new run has none."""
    try:
        return read_manifest(run_dir)["run_json_sha256"] != sha256_of(run_dir / RUN_NAME)
    except BdpbenchError:  # the tables are damaged, or the run was not parsed
        return False


def _is_of_another_version(path: Path) -> bool:
    """Whether a document is intact, but written by another version of bdpbench."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(data, dict) and isinstance(data.get("schema_version"), int)


def _damaged_outputs(run_dir: Path, record: RunRecord, *, deep: bool) -> Iterator[Damage]:
    for name, facts in record["outputs"].items():
        path = run_dir / name
        if not path.is_file():
            yield Damage(path, "is gone")
        elif path.stat().st_size != facts["bytes"]:
            reason = f"has {path.stat().st_size} bytes, and ns-2 wrote {facts['bytes']}"
            yield Damage(path, reason)
        elif deep and sha256_of(path) != facts["sha256"]:
            yield Damage(path, "is not what ns-2 wrote: its SHA-256 differs")


def _damaged_light(run_dir: Path, *, deep: bool) -> Damage | None:
    """Damage to a run without outputs, from which its tables could be made again."""
    try:
        files = read_light(run_dir)["files"]
    except BdpbenchError as error:
        return Damage(run_dir / LIGHT_NAME, error.message)
    manifest = _manifest(run_dir)
    for path in (run_dir / RUN_NAME, manifest) if deep and manifest.is_file() else ():
        name = path.relative_to(run_dir).as_posix()
        if name not in files or sha256_of(path) != files[name]["sha256"]:
            return Damage(path, "is not what was merged: its SHA-256 differs")
    return damaged_tables(run_dir, deep=deep)


def damaged_tables(run_dir: Path, *, deep: bool) -> Damage | None:
    """Damage to the tables of a parsed run; ``deep``: checked by checksums."""
    path = _manifest(run_dir)
    try:
        tables = read_manifest(run_dir)["tables"]
    except BdpbenchError as error:
        return Damage(path, error.message)
    for name, facts in tables.items():
        table = path.with_name(f"{name}.parquet")
        if not table.is_file():
            return Damage(table, "is gone")
        if deep and sha256_of(table) != facts["sha256"]:
            return Damage(table, "is not what was parsed: its SHA-256 differs")
    return None


def _manifest(run_dir: Path) -> Path:
    return run_dir / TABLES_FOLDER / MANIFEST_NAME
