"""Where things lie: the checkout, its configuration, and the results of the user."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path


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
