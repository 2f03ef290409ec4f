"""Where things lie: the checkout, its configuration, and the results of the user."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from bdpbench.contracts.runs import RUN_NAME

_RUNS_FOLDER = "runs"
# Of a run id that names the folder among 256: with a million runs each has four thousand.
_SHARD_CHARACTERS = 2


def repository_root() -> Path:
    """Root of the checkout that this package belongs to (``BDPBENCH_ROOT`` overrides it)."""
    return _root(os.environ.get("BDPBENCH_ROOT"))


@cache
def _root(override: str | None) -> Path:
    """Asked for several times a run, of thousands."""
    return Path(override).resolve() if override else Path(__file__).resolve().parents[3]


def expanded(path: Path) -> Path:
    """A path with ``~`` made a home folder; as it is, where there is no such user."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def home_dir() -> Path:
    """Folder of what bdpbench builds for itself: ns-2, caches (``BDPBENCH_HOME`` overrides it)."""
    override = os.environ.get("BDPBENCH_HOME")
    return Path(override).resolve() if override else repository_root() / ".bdpbench"


def config_dir() -> Path:
    """Folder of ``config.yaml`` and ``studies/`` (``BDPBENCH_CONFIG`` overrides it)."""
    override = os.environ.get("BDPBENCH_CONFIG")
    return Path(override).resolve() if override else repository_root() / "config"


def tcl_dir() -> Path:
    """Folder of the scenario scripts and their library."""
    return repository_root() / "tcl"


def results_dir(configured: str) -> Path:
    """Folder of runs and reports: ``BDPBENCH_RESULTS``, else ``results`` of the configuration."""
    override = os.environ.get("BDPBENCH_RESULTS")
    return Path(override).resolve() if override else (repository_root() / configured).resolve()


def runs_folder(results: Path) -> Path:
    """Folder of all runs of a results folder, shared by the studies."""
    return results / _RUNS_FOLDER


def run_place(run_id: str) -> str:
    """Where a run lies from the folder of all runs, ``ab/ab12…``, so that no folder has them all.

    >>> run_place("ab12cd34ef567890")
    'ab/ab12cd34ef567890'
    """
    return f"{run_id[:_SHARD_CHARACTERS]}/{run_id}"


def run_folder(runs: Path, run_id: str) -> Path:
    """Folder of a run, which need not be there yet.

    Older versions put all runs beside one another, as ``runs/ab12…``. Such a run is used where it
    lies, finished or begun, since reports link to it and jobs may still be writing it; only one
    that has been finished in today's place comes before it.

    Args:
        runs: folder of all runs.
        run_id: of the run.
    """
    place = runs / run_place(run_id)
    flat = runs / run_id
    return flat if flat.is_dir() and not (place / RUN_NAME).is_file() else place


def run_folders(runs: Path) -> Iterator[Path]:
    """Folders of all runs that there are, finished or not, in the order of their ids."""
    names = _folders_in(runs) if runs.is_dir() else set()
    shards = {name for name in names if len(name) == _SHARD_CHARACTERS}
    ids = (names - shards).union(*(_folders_in(runs / shard) for shard in shards))
    yield from (run_folder(runs, each) for each in sorted(ids))


def _folders_in(folder: Path) -> set[str]:
    with os.scandir(folder) as entries:
        return {each.name for each in entries if each.is_dir()}


def runs_folder_of(run_dir: Path) -> Path:
    """The folder of all runs that a run's folder lies in, in whichever of the two ways."""
    folder = run_dir.absolute().parent
    return folder.parent if folder.name == run_dir.absolute().name[:_SHARD_CHARACTERS] else folder
