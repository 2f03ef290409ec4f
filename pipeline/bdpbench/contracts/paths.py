"""Where files are: those that bdpbench ships, its configuration, and its results.

In a checkout all files are below one root. If pip installed bdpbench, it has the same files inside
its package (``shipped/``) and writes nothing there: builds go to the user's cache folder, and
results go below the current folder.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from bdpbench.errors import BdpbenchError

_SHIPPED = "shipped"
_RUNS_FOLDER = "runs"
# Digits of a run id that name its folder among 256; with a million runs each holds four thousand.
_SHARD_CHARACTERS = 2


def package_dir() -> Path:
    """Folder of the Python package itself."""
    return Path(__file__).resolve().parents[1]


def repository_root() -> Path:
    """Root of ``ns2/``, ``tcl/``, ``config/`` and ``reports/``, for reading.

    It is the checkout that this package belongs to, or the folder of files shipped with an
    installed package; ``BDPBENCH_ROOT`` overrides both.
    """
    return _root(os.environ.get("BDPBENCH_ROOT"))


@cache
def _root(override: str | None) -> Path:
    """The root, cached: it is needed several times for each of thousands of runs."""
    if override:
        return Path(override).resolve()
    shipped = package_dir() / _SHIPPED
    return shipped if shipped.is_dir() else package_dir().parents[1]


def is_installed() -> bool:
    """Whether pip installed this bdpbench, so that there is no checkout."""
    return repository_root() == package_dir() / _SHIPPED


def checkout_root() -> Path:
    """Root of the checkout, for writing.

    Raises:
        BdpbenchError: when there is none, because pip installed this bdpbench.
    """
    if is_installed():
        raise BdpbenchError(
            "this works only in a checkout of bdpbench, and this one was installed with pip",
            where=str(repository_root()),
            hint="name a folder of your own with -o, or use a clone of the repository",
        )
    return repository_root()


def published_folder(study: str) -> Path:
    """Folder of the published reproduction of a study, by its key; it may be missing."""
    return repository_root() / "reports" / "published" / study


def expanded(path: Path) -> Path:
    """A path with ``~`` replaced by the home folder; unchanged if there is no such user."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def home_dir() -> Path:
    """Folder of what bdpbench builds for itself: ns-2, caches.

    ``BDPBENCH_HOME`` if it is set. Otherwise ``.bdpbench`` in the checkout, or, if pip installed
    bdpbench, ``bdpbench`` in the user's cache folder (``XDG_CACHE_HOME``, ``~/.cache``).
    """
    override = os.environ.get("BDPBENCH_HOME")
    if override:
        return Path(override).resolve()
    return _user_cache() / "bdpbench" if is_installed() else repository_root() / ".bdpbench"


def _user_cache() -> Path:
    """The user's cache folder according to the XDG Base Directory Specification."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    cache_dir = configured if configured.is_absolute() else expanded(Path("~/.cache"))
    if not cache_dir.is_absolute():
        raise BdpbenchError(
            "this user has no home folder for what bdpbench builds",
            where="~/.cache",
            hint="set BDPBENCH_HOME to a folder",
        )
    return cache_dir.resolve()


def config_dir() -> Path:
    """Folder of ``config.yaml`` and ``studies/`` (``BDPBENCH_CONFIG`` overrides it)."""
    override = os.environ.get("BDPBENCH_CONFIG")
    return Path(override).resolve() if override else repository_root() / "config"


def kernel_dir() -> Path:
    """Folder of the kernel's interface for modules of Linux, and of what plays the kernel."""
    return repository_root() / "ns2" / "linux"


def tcl_dir() -> Path:
    """Folder of the scenario scripts and their library."""
    return repository_root() / "tcl"


def relative(path: Path, start: Path | None = None) -> str:
    """A path as documents name it: from the checkout or from ``start``, with ``..`` for outside.

    A checkout and what lies beside it can therefore be moved together.
    """
    return Path(os.path.relpath(path, start or repository_root())).as_posix()


def resolved(path: str, start: Path | None = None) -> Path:
    """The absolute path that ``relative`` has written."""
    return Path(os.path.normpath((start or repository_root()) / path))


def results_dir(configured: str) -> Path:
    """Folder of runs and reports: ``BDPBENCH_RESULTS``, or else ``results`` of the configuration.

    The latter is relative to the checkout, or to the current folder if pip installed bdpbench.
    """
    override = os.environ.get("BDPBENCH_RESULTS")
    if override:
        return Path(override).resolve()
    return ((Path() if is_installed() else repository_root()) / configured).resolve()


def places(results: Path) -> dict[str, str]:
    """Environment variables by which a process in any folder finds these folders."""
    return {
        "BDPBENCH_HOME": str(home_dir()),
        "BDPBENCH_CONFIG": str(config_dir()),
        "BDPBENCH_RESULTS": str(results),
    }


def runs_folder(results: Path) -> Path:
    """Folder of all runs of a results folder, shared by the studies."""
    return results / _RUNS_FOLDER


def run_place(run_id: str) -> str:
    """Path of a run in the folder of all runs, ``ab/ab12…``, so that no folder gets too large.

    >>> run_place("ab12cd34ef567890")
    'ab/ab12cd34ef567890'
    """
    return f"{run_id[:_SHARD_CHARACTERS]}/{run_id}"


def run_folder(runs: Path, run_id: str) -> Path:
    """Folder of a run, which need not exist yet, in the folder of all runs."""
    return runs / run_place(run_id)
