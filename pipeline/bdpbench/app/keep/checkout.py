"""Which version of the sources is in use."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from bdpbench import __version__
from bdpbench.contracts.paths import is_installed, package_dir, repository_root
from bdpbench.contracts.reports import Version

RESULT_SOURCES = ("pipeline", "ns2", "tcl", "workflow", "reports", "Snakefile")
"""The parts of the checkout that determine results and reports, except configuration."""

# Published reports are results themselves.
_NOT_SOURCES = ":(exclude)reports/published"


def commit_of(root: Path) -> str:
    """The commit that is checked out at ``root``, followed by + if sources differ from it.

    "" if git cannot tell: in a container, or in sources unpacked from an archive. If pip installed
    bdpbench from a repository, pip has recorded the commit.
    """
    if is_installed():
        return _installed_commit()
    commit = _git(root, "rev-parse", "--verify", "HEAD")
    top = _git(root, "rev-parse", "--show-toplevel")
    if not commit or not top or Path(top).resolve() != root.resolve():
        return ""
    changed = _git(root, "status", "--porcelain", "--", *RESULT_SOURCES, "config", _NOT_SOURCES)
    return commit + ("+" if changed else "")


def this_version() -> Version:
    """The bdpbench that is at work."""
    return {"version": __version__, "commit": commit_of(repository_root())}


def _installed_commit() -> str:
    """The commit that pip recorded when installing (PEP 610); "" if not from a repository."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution("bdpbench").read_text("direct_url.json")
    except PackageNotFoundError:  # unpacked, not installed
        text = None
    found: object = json.loads(text or "{}").get("vcs_info", {}).get("commit_id", "")
    return str(found)


def source_files(names: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Files of bdpbench by their names in the repository, sorted within each folder.

    Args:
        names: files and folders at the root of the repository.
    """
    root, package = repository_root(), package_dir()
    if is_installed() and "pipeline" in names:
        for path in files_below(package):
            if not path.is_relative_to(root):
                yield f"pipeline/bdpbench/{path.relative_to(package).as_posix()}", path
    for name in names:
        top = root / name
        for path in files_below(top) if top.is_dir() else [top]:
            if path.is_file():
                yield path.relative_to(root).as_posix(), path


def files_below(folder: Path) -> list[Path]:
    """Every file below a folder, sorted; links are excluded."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def origin(build_id: str) -> str:
    """The origin of numbers, in a sentence: ns-2 build, version and commit of bdpbench."""
    commit = commit_of(repository_root())
    told = f"commit {commit}" if commit else "commit unknown"
    return f"ns-2.35 build {build_id}; bdpbench {__version__}, {told}."
