"""`bdpbench merge`: finished runs of other results folders become runs of this one.

A run id stands for the bytes that ns-2 writes, so a grid can be simulated in parts, on several
machines, and put together: what is copied is what `run` would simulate. All is checked before
anything is written; each run then comes in one step, so that a call that was cut short is made
again and goes on.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bdpbench.app.run.exclusive import exclusive
from bdpbench.app.run.mending import damaged_run, damaged_tables
from bdpbench.app.run.old_results import differences
from bdpbench.app.run.stages import VALUES_FOLDER
from bdpbench.contracts.files import replace_folder
from bdpbench.contracts.paths import run_folder, run_folders, runs_folder
from bdpbench.contracts.runs import RUN_NAME, RunRecord, read_run
from bdpbench.contracts.tables import MANIFEST_NAME, TABLES_FOLDER
from bdpbench.errors import BdpbenchError

_SCRATCH = ".merging"
_SHOWN = 5
# Locks, and what writers left behind that were killed.
_NOT_OF_THE_RUN = shutil.ignore_patterns(".*")

Say = Callable[[str], None]


@dataclass
class Findings:
    """What was found in the other folders.

    Attributes:
        new: folders of the runs to take, by run id.
        known: how many are here already, with the same outputs.
        unfinished: how many have not happened there.
        problems: why nothing can be taken, a sentence each.
    """

    new: dict[str, Path] = field(default_factory=dict)
    known: int = 0
    unfinished: int = 0
    problems: list[str] = field(default_factory=list)


def merge(into: Path, others: Sequence[Path], say: Say) -> None:
    """Take the finished runs of other results folders, which are only read.

    Args:
        into: results folder that gets them.
        others: results folders, each with ``runs/``.
        say: told in sentences what was done.

    Raises:
        BdpbenchError: when a folder has no runs, when a run there is damaged or is not what its id
            says, and when two folders have different outputs of one run; nothing is taken then.
    """
    for other in others:
        _check_place(into, other)
    with exclusive(into, say):
        shutil.rmtree(into / _SCRATCH, ignore_errors=True)
        found = Findings()
        for run_dir in _run_folders(others):
            _look_at(run_dir, run_folder(runs_folder(into), run_dir.name), found)
        if found.problems:
            raise _refusal(found.problems)
        for run_id, run_dir in found.new.items():
            _take(run_dir, run_folder(runs_folder(into), run_id), into / _SCRATCH)
        shutil.rmtree(into / _SCRATCH, ignore_errors=True)
    say(
        f"{into}: {len(found.new)} runs taken, {found.known} were there already, "
        f"{found.unfinished} have not been finished in the other folders"
    )


def _check_place(into: Path, other: Path) -> None:
    if not runs_folder(other).is_dir():
        raise BdpbenchError(
            "is no results folder: it has no runs/",
            where=str(other),
            hint="name the folder that `bdpbench run` wrote its results to",
        )
    if other.resolve() == into.resolve():
        raise BdpbenchError("is the folder that the runs are to be brought to", where=str(other))


def _run_folders(others: Sequence[Path]) -> Iterator[Path]:
    for other in others:
        yield from run_folders(runs_folder(other))


def _look_at(run_dir: Path, here: Path, found: Findings) -> None:
    """Find out what is to be done about a run of another folder."""
    if not (run_dir / RUN_NAME).is_file():
        found.unfinished += 1
        return
    damage = damaged_run(run_dir, deep=True)
    if damage is not None:
        found.problems.append(f"{damage.path} {damage.said}")
        return
    record = read_run(run_dir)
    earlier = found.new.get(run_dir.name, here)
    known = _record_of(earlier)
    if known is None:
        found.new[run_dir.name] = run_dir
    elif record is not None:
        lines = differences(known["outputs"], record["outputs"], whose=f"in {run_dir}")
        found.known += not lines
        found.problems += [f"{earlier}: {line}" for line in lines]


def _record_of(run_dir: Path) -> RunRecord | None:
    """``run.json`` of a run; None where it has not happened, or where `run` would mend it."""
    if damaged_run(run_dir, deep=False) is not None:
        return None
    return read_run(run_dir)


def _refusal(problems: Sequence[str]) -> BdpbenchError:
    more = [f"and {len(problems) - _SHOWN} more"] if len(problems) > _SHOWN else []
    listed = "\n  ".join([*problems[:_SHOWN], *more])
    return BdpbenchError(
        f"nothing was taken:\n  {listed}",
        hint="equal ids stand for equal bytes: simulate such a run again in either folder, after "
        "removing its run.json there",
    )


def _take(run_dir: Path, here: Path, scratch: Path) -> None:
    """Copy a run, and put it into its place in one step; tables that are not whole stay away."""
    copy = scratch / run_dir.name
    shutil.copytree(run_dir, copy, ignore=_NOT_OF_THE_RUN)
    manifest = copy / TABLES_FOLDER / MANIFEST_NAME
    if manifest.is_file() and damaged_tables(copy, deep=True) is not None:
        shutil.rmtree(copy / TABLES_FOLDER)
        shutil.rmtree(copy / VALUES_FOLDER, ignore_errors=True)
    damage = damaged_run(copy, deep=True)
    if damage is not None:
        raise BdpbenchError(f"{damage.said}, after it was copied", where=str(damage.path))
    here.parent.mkdir(parents=True, exist_ok=True)
    if here.exists():
        replace_folder(copy, here)
    else:
        copy.rename(here)
