"""Stored runs: damage is found and set aside, and the runs of other results folders are copied.

Everything that `run` makes follows from its configuration, so nothing is lost by removing
untrustworthy files: a run without ``run.json`` is simulated, tables without a manifest are parsed,
and so on. Files of another version of bdpbench are not damaged, and are kept.

A run id stands for the bytes that ns-2 writes, so a grid can be simulated in parts, on several
machines, and put together by `bdpbench merge`: the copied runs are those that `run` would simulate.
Everything is checked before anything is written; each run is then copied in one step, so that an
interrupted call can be repeated to continue. The output files of ns-2 may be left out, because
reports need only records, tables, values and series.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from bdpbench.app.planning import Prepared, exclusive
from bdpbench.app.progress import View
from bdpbench.app.stages import SERIES_FOLDER, VALUES_FOLDER
from bdpbench.contracts.documents import json_of, write_record_atomically
from bdpbench.contracts.files import remove_temporaries, replace_folder, sha256_of
from bdpbench.contracts.kept import LIST_NAME, damaged
from bdpbench.contracts.paths import run_folder, run_folders, runs_folder
from bdpbench.contracts.plan import PLAN_NAME
from bdpbench.contracts.runs import (
    LIGHT_NAME,
    LIGHT_VERSION,
    MANIFEST_NAME,
    RUN_NAME,
    SPEC_NAME,
    TABLES_FOLDER,
    LightRecord,
    OutputFile,
    RunRecord,
    differences,
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
    listing = prepared.paths.folder / LIST_NAME
    for path, said in damaged(listing):
        if path.name != PLAN_NAME:  # a new plan is written before its report
            yield Damage(path, said), "the report is made again", listing


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
        data = json_of(path, "")
    except BdpbenchError:
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


# -------------------------------------------------------------------------------- `bdpbench merge`


_SCRATCH = ".merging"
_SHOWN = 5
# Locks, and temporary files of killed writers.
_NOT_OF_THE_RUN = shutil.ignore_patterns(".*")
_WITHOUT_OUTPUTS = (RUN_NAME, SPEC_NAME, TABLES_FOLDER, VALUES_FOLDER, SERIES_FOLDER)
"""The parts of a run that are copied if its outputs are not."""
# Made from the tables if missing.
_MADE_ANEW = (VALUES_FOLDER, SERIES_FOLDER)

Say = Callable[[str], None]


@dataclass
class Findings:
    """What was found in the other folders.

    Attributes:
        new: folders of the runs to copy, by run id.
        known: how many are already here, with the same outputs.
        unfinished: how many are not finished there.
        unparsed: how many lack complete tables there, so that their outputs would be needed.
        problems: why nothing can be copied, one sentence each.
    """

    new: dict[str, Path] = field(default_factory=dict)
    known: int = 0
    unfinished: int = 0
    unparsed: int = 0
    problems: list[str] = field(default_factory=list)


def merge(into: Path, others: Sequence[Path], say: Say, *, outputs: bool = True) -> None:
    """Copy the finished runs of other results folders, which are only read.

    Args:
        into: results folder to copy them to.
        others: results folders, each with ``runs/``.
        say: called with sentences about what was done.
        outputs: also copy the output files of ns-2 if they exist.

    Raises:
        BdpbenchError: when a folder has no runs, when a run in it is damaged or does not match its
            id, and when two folders have different outputs for one run; then nothing is copied.
    """
    for other in others:
        _check_place(into, other)
    with exclusive(into, say):
        shutil.rmtree(into / _SCRATCH, ignore_errors=True)
        found = Findings()
        for run_dir in _run_folders(others):
            _look_at(run_dir, run_folder(runs_folder(into), run_dir.name), found, outputs=outputs)
        if found.problems:
            raise _refusal(found.problems)
        for run_id, run_dir in found.new.items():
            here = run_folder(runs_folder(into), run_id)
            _take(run_dir, here, into / _SCRATCH, outputs=outputs)
        shutil.rmtree(into / _SCRATCH, ignore_errors=True)
    for sentence in _summary(into, found, outputs=outputs):
        say(sentence)


def _summary(into: Path, found: Findings, *, outputs: bool) -> Iterator[str]:
    taken = "taken" if outputs else "taken without their outputs"
    yield (
        f"{into}: {len(found.new)} runs {taken}, {found.known} were already there, "
        f"{found.unfinished} are unfinished in the other folders"
    )
    if found.unparsed:
        yield (
            f"{found.unparsed} finished runs were skipped, because their tables are "
            "incomplete; `./bdpbench run` in their folder completes them"
        )


def _check_place(into: Path, other: Path) -> None:
    if not runs_folder(other).is_dir():
        raise BdpbenchError(
            "is not a results folder: it has no runs/",
            where=str(other),
            hint="name the folder that `bdpbench run` wrote its results to",
        )
    if other.resolve() == into.resolve():
        raise BdpbenchError("is the folder that the runs are copied to", where=str(other))


def _run_folders(others: Sequence[Path]) -> Iterator[Path]:
    for other in others:
        yield from run_folders(runs_folder(other))


def _look_at(run_dir: Path, here: Path, found: Findings, *, outputs: bool) -> None:
    """Determine what to do with a run of another folder."""
    if not (run_dir / RUN_NAME).is_file():
        found.unfinished += 1
        return
    damage = damaged_run(run_dir, deep=True)
    if damage is not None:
        found.problems.append(f"{damage.path} {damage.reason}")
        return
    record = read_run(run_dir)
    earlier = found.new.get(run_dir.name, here)
    known = _record_of(earlier)
    if known is not None and record is not None:
        lines = differences(known["outputs"], record["outputs"], whose=f"in {run_dir}")
        found.problems += [f"{earlier}: {line}" for line in lines]
        if lines or not (outputs and is_light(earlier) and not is_light(run_dir)):
            found.known += not lines
            return
    if outputs or is_light(run_dir) or _has_tables(run_dir):
        found.new[run_dir.name] = run_dir
    else:
        found.unparsed += 1


def _record_of(run_dir: Path) -> RunRecord | None:
    """``run.json`` of a run; None if it is not finished, or if `run` would set it aside."""
    if damaged_run(run_dir, deep=False) is not None:
        return None
    return read_run(run_dir)


def _has_tables(run_dir: Path) -> bool:
    """Whether the tables of a run are complete and belong to this record."""
    path = run_dir / TABLES_FOLDER / MANIFEST_NAME
    return path.is_file() and damaged_tables(run_dir, deep=True) is None


def _refusal(problems: Sequence[str]) -> BdpbenchError:
    more = [f"and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
    listed = "\n  ".join([*problems[:_SHOWN], *more])
    return BdpbenchError(
        f"nothing was taken:\n  {listed}",
        hint="equal ids must have equal bytes: remove the run.json of such a run in one of the "
        "folders and simulate it again there",
    )


def _take(run_dir: Path, here: Path, scratch: Path, *, outputs: bool) -> None:
    """Copy a run and put it into place in one step; incomplete parts are made again here."""
    copy = scratch / run_dir.name
    if outputs and not is_light(run_dir):
        shutil.copytree(run_dir, copy, ignore=_NOT_OF_THE_RUN)
        _drop_damaged_tables(copy)
    else:
        _copy_light(run_dir, copy)
    damage = damaged_run(copy, deep=True)
    if damage is not None:
        raise BdpbenchError(f"{damage.reason}, after it was copied", where=str(damage.path))
    here.parent.mkdir(parents=True, exist_ok=True)
    if here.exists():
        replace_folder(copy, here)
    else:
        copy.rename(here)


def _drop_damaged_tables(copy: Path) -> None:
    (copy / LIGHT_NAME).unlink(missing_ok=True)
    manifest = copy / TABLES_FOLDER / MANIFEST_NAME
    if manifest.is_file() and damaged_tables(copy, deep=True) is not None:
        shutil.rmtree(copy / TABLES_FOLDER)
        shutil.rmtree(copy / VALUES_FOLDER, ignore_errors=True)


def _copy_light(run_dir: Path, copy: Path) -> None:
    """Copy what reports need, with its checksums."""
    shutil.copytree(run_dir, copy, ignore=_others)
    if is_light(run_dir):
        _drop_changed(copy, read_light(run_dir)["files"])
    light: LightRecord = {"schema_version": LIGHT_VERSION, "files": _facts_of(copy)}
    write_record_atomically(copy / LIGHT_NAME, light)


def _others(folder: str, names: Sequence[str]) -> set[str]:
    """The parts of a run's folder that are not copied if its outputs are not."""
    hidden = {name for name in names if name.startswith(".")}
    is_run = (Path(folder) / RUN_NAME).is_file()
    return hidden | ({*names} - {*_WITHOUT_OUTPUTS} if is_run else set())


def _drop_changed(copy: Path, known: Mapping[str, OutputFile]) -> None:
    """Remove values and series that differ from the merged ones: they are made from the tables."""
    for name, facts in _facts_of(copy).items():
        if name.startswith(_MADE_ANEW) and known.get(name) != facts:
            (copy / name).unlink()


def _facts_of(folder: Path) -> dict[str, OutputFile]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): {
            "sha256": sha256_of(path),
            "bytes": path.stat().st_size,
        }
        for path in files
    }
