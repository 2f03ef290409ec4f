"""Python packages that only some commands need, each set in a folder of its own."""

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


def pinned_packages(
    name: str,
    what: str,
    say: Callable[[str], None],
    complete: Callable[[Path], None] = lambda folder: None,
) -> Path:
    """The folder with the packages that ``pipeline/requirements-NAME.lock`` pins.

    The first call that needs them installs them, into a temporary folder that replaces the final
    one when it is complete.

    Args:
        name: of the lock file.
        what: what the packages are, for messages.
        say: told that something is installed.
        complete: adds to the folder what is made of the packages.

    Raises:
        BdpbenchError: when they cannot be installed.
    """
    lock = repository_root() / "pipeline" / f"requirements-{name}.lock"
    folder = home_dir() / "plugins" / f"{name}-{sha256_of(lock)[:12]}"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / ".lock").open("w", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another bdpbench is installing Python packages; waiting for it to end")
            fcntl.flock(stream, fcntl.LOCK_EX)
        if not folder.is_dir():
            say(f"installing the Python packages of pipeline/{lock.name} (once)")
            unfinished = folder.with_name(f"{folder.name}.unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            _install(lock, unfinished, what)
            complete(unfinished)
            unfinished.replace(folder)
    return folder


def _install(lock: Path, folder: Path, what: str) -> None:
    # Packages that are shared with bdpbench are already installed, hence --no-deps.
    words = ("install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", *words, "--only-binary", ":all:", "--no-compile"),
            *("--target", str(folder), "-r", str(lock)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        last = "".join(done.stderr.strip().splitlines()[-1:])
        raise BdpbenchError(
            f"{what} could not be installed: {last}",
            where=f"pipeline/{lock.name}",
            hint="the installation needs pip and a package index, so make the first call with both",
        )
