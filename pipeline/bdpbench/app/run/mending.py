"""Sets aside results that were damaged after they were made, with a message, to be made again.

Everything that `run` makes follows from its configuration, so nothing is lost by removing
untrustworthy files: a run without ``run.json`` is simulated, tables without a manifest are parsed,
and so on. Files of another version of bdpbench are not damaged, and are kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bdpbench.app.run.kept_series import SERIES_FOLDER
from bdpbench.app.run.planning import Paths, Prepared
from bdpbench.app.run.stages import VALUES_FOLDER, read_metrics
from bdpbench.app.say.progress import View
from bdpbench.contracts.files import read_json, remove_temporaries, sha256_of
from bdpbench.contracts.runs import (
    LIGHT_NAME,
    RUN_NAME,
    RunRecord,
    is_light,
    read_light,
    read_run,
)
from bdpbench.contracts.scorecard import SCORECARD_NAME, read_scorecard
from bdpbench.contracts.shapes import shaped
from bdpbench.contracts.tables import (
    MANIFEST_NAME,
    MANIFEST_VERSION,
    METRICS_NAME,
    TABLES_FOLDER,
    TableManifest,
)
from bdpbench.errors import BdpbenchError
from bdpbench.studies.identity import run_id

_PARQUET_MARK = b"PAR1"


@dataclass(frozen=True)
class Damage:
    """What is wrong with which file, and which files to remove so that it is made again."""

    path: Path
    said: str
    remedy: str
    remove: tuple[Path, ...]


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
    found = [*_damaged_runs(prepared, deep=deep), *_damaged_documents(prepared.paths, deep=deep)]
    for each in found:
        text = f"{each.path} {each.said}; {each.remedy}"
        view.tell("mended", text, path=str(each.path), reason=each.said, remedy=each.remedy)
        for path in each.remove:
            path.unlink(missing_ok=True)
    return bool(found)


def _damaged_runs(prepared: Prepared, *, deep: bool) -> Iterator[Damage]:
    for each in dict.fromkeys(run["run_id"] for run in prepared.runs):
        run_dir = prepared.paths.run(each)
        if not (run_dir / RUN_NAME).is_file():
            continue
        damage = damaged_run(run_dir, deep=deep)
        if damage is None and (run_dir / VALUES_FOLDER).is_dir():  # the run was parsed
            damage = damaged_tables(run_dir, deep=deep)
        if damage is not None:
            yield damage


def damaged_run(run_dir: Path, *, deep: bool) -> Damage | None:
    """Damage to ``run.json`` or the outputs that it names; ``deep``: checked by checksums."""
    path = run_dir / RUN_NAME
    remedy, remove = "the run is simulated again", (path,)
    try:
        record = read_run(run_dir)
    except BdpbenchError as error:
        if _is_of_another_version(path):
            raise
        return Damage(path, error.message, remedy, remove)
    if record is None:
        return None
    if run_id(record["identity"]) != run_dir.name:
        said = "has been changed: its content does not match its run id"
        return Damage(path, said, remedy, remove)
    wrong = _damaged_light if is_light(run_dir) else _damaged_outputs
    for file, said in wrong(run_dir, record, deep=deep):
        return Damage(file, said, remedy, remove)
    return None


def _is_of_another_version(path: Path) -> bool:
    """Whether a document is intact, but written by another version of bdpbench."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return isinstance(data, dict) and isinstance(data.get("schema_version"), int)


def _damaged_outputs(run_dir: Path, record: RunRecord, *, deep: bool) -> Iterator[tuple[Path, str]]:
    for name, facts in record["outputs"].items():
        path = run_dir / name
        if not path.is_file():
            yield path, "is gone"
        elif path.stat().st_size != facts["bytes"]:
            yield path, f"has {path.stat().st_size} bytes, and ns-2 wrote {facts['bytes']}"
        elif deep and sha256_of(path) != facts["sha256"]:
            yield path, "is not what ns-2 wrote: its SHA-256 differs"


def _damaged_light(run_dir: Path, _: RunRecord, *, deep: bool) -> Iterator[tuple[Path, str]]:
    """Damage to a run without outputs, from which its tables could be made again."""
    try:
        files = read_light(run_dir)["files"]
    except BdpbenchError as error:
        yield run_dir / LIGHT_NAME, error.message
        return
    manifest = _manifest(run_dir)
    for path in (run_dir / RUN_NAME, manifest) if deep and manifest.is_file() else ():
        name = path.relative_to(run_dir).as_posix()
        if name not in files or sha256_of(path) != files[name]["sha256"]:
            yield path, "is not what was merged: its SHA-256 differs"
    damage = damaged_tables(run_dir, deep=deep)
    if damage is not None:
        yield damage.path, damage.said


def damaged_tables(run_dir: Path, *, deep: bool) -> Damage | None:
    """Damage to the tables of a parsed run; ``deep``: checked by checksums."""
    path = _manifest(run_dir)
    remedy, remove = "the run is parsed again", (path,)
    try:
        what = "a manifest"
        data = read_json(path, what=what, schema_version=MANIFEST_VERSION)
        tables = shaped(data, TableManifest, path, what)["tables"]
    except BdpbenchError as error:
        return Damage(path, error.message, remedy, remove)
    for name, facts in tables.items():
        table = path.with_name(f"{name}.parquet")
        if not table.is_file():
            return Damage(table, "is gone", remedy, remove)
        if deep and sha256_of(table) != facts["sha256"]:
            said = "is not what was parsed: its SHA-256 differs"
            return Damage(table, said, remedy, remove)
    return None


def _manifest(run_dir: Path) -> Path:
    return run_dir / TABLES_FOLDER / MANIFEST_NAME


def _damaged_documents(paths: Paths, *, deep: bool) -> Iterator[Damage]:
    """Metrics and scorecard of a tier that cannot be read."""
    metrics = paths.folder / METRICS_NAME
    whole = not metrics.is_file() or _is_parquet(metrics)
    if not whole or (deep and metrics.is_file() and _unreadable(read_metrics, metrics)):
        yield Damage(
            metrics, "is not a table of metrics", "the runs are measured again", (metrics,)
        )
    scorecard = paths.folder / SCORECARD_NAME
    said = _unreadable(read_scorecard, scorecard)
    if scorecard.is_file() and said:
        yield Damage(scorecard, said, "the metrics are scored again", (scorecard,))


def _is_parquet(path: Path) -> bool:
    content = path.read_bytes()
    return content.startswith(_PARQUET_MARK) and content.endswith(_PARQUET_MARK)


def _unreadable(read: Callable[[Path], object], path: Path) -> str:
    """What is wrong with a document, or ""."""
    try:
        read(path)
    except BdpbenchError as error:
        return error.message
    return ""
