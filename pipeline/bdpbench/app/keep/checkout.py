"""Which version of the sources is at work."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bdpbench import __version__
from bdpbench.contracts.paths import repository_root

RESULT_SOURCES = ("pipeline", "ns2", "tcl", "workflow", "reports", "Snakefile")
"""What of the checkout decides results and reports, configuration apart."""

# Published reports are results themselves.
_NOT_SOURCES = ":(exclude)reports/published"


def commit_of(root: Path) -> str:
    """The commit that is checked out at ``root``, with a + where sources differ from it.

    "" where git does not tell: in a container, or in sources that were unpacked from an archive.
    """
    commit = _git(root, "rev-parse", "--verify", "HEAD")
    top = _git(root, "rev-parse", "--show-toplevel")
    if not commit or not top or Path(top).resolve() != root.resolve():
        return ""
    changed = _git(root, "status", "--porcelain", "--", *RESULT_SOURCES, "config", _NOT_SOURCES)
    return commit + ("+" if changed else "")


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def origin(build_id: str) -> str:
    """Where numbers come from, in a sentence: ns-2 build, version and commit of bdpbench."""
    commit = commit_of(repository_root())
    told = f"commit {commit}" if commit else "commit unknown"
    return f"ns-2.35 build {build_id}; bdpbench {__version__}, {told}."
