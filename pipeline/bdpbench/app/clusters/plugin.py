"""Snakemake's plugin for Slurm, installed by the first call that needs it.

It is in a folder of its own, which only such calls have in their ``PYTHONPATH``: Snakemake imports
every plugin that it finds at each start, and this one imports pandas. A job, in which Snakemake
starts twice, needs only a small part of it.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import home_dir, repository_root
from bdpbench.errors import BdpbenchError

LOCK_NAME = "requirements-slurm.lock"
NODE_FOLDER = "node"
"""Subfolder of the plugin's folder with the part that jobs need."""

_NODE_PACKAGES = "snakemake_executor_plugin_slurm_jobstep*"


def slurm_plugin(say: Callable[[str], None]) -> Path:
    """The folder of the plugin and its dependencies, as pinned by the lock file.

    Raises:
        BdpbenchError: when they cannot be installed.
    """
    lock = repository_root() / "pipeline" / LOCK_NAME
    folder = home_dir() / "plugins" / f"slurm-{sha256_of(lock)[:12]}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / ".lock").open("w", encoding="utf-8") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        if not folder.is_dir():
            say(f"installing the Python packages of pipeline/{LOCK_NAME} (once)")
            _install(lock, folder)
    return folder


def _install(lock: Path, folder: Path) -> None:
    """Install into a temporary folder, which replaces the final one when it is complete."""
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    # Packages that the plugin shares with bdpbench are already installed, hence --no-deps.
    words = ("install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", *words, "--only-binary", ":all:", "--no-compile"),
            *("--target", str(unfinished), "-r", str(lock)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        last = "".join(done.stderr.strip().splitlines()[-1:])
        raise BdpbenchError(
            f"Snakemake's plugin for Slurm could not be installed: {last}",
            where=f"pipeline/{LOCK_NAME}",
            hint="the installation needs pip and a package index, so make the first call with both",
        )
    node = unfinished / NODE_FOLDER
    node.mkdir()
    for path in unfinished.glob(_NODE_PACKAGES):
        shutil.copytree(path, node / path.name)
    unfinished.replace(folder)
