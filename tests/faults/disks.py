"""Runs a call on a full and on a read-only disk, a tmpfs that is enlarged later (needs root).

    BDPBENCH_HOME=.bdpbench PYTHONPATH=pipeline:. python tests/faults/disks.py 30i 50i 4 4.25

The numbers are sizes of the disk, MiB, or numbers of inodes, tried one after the other before the
disk is large enough.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.faults.calls import Workspace, make_workspace, told_badly

AMPLE_INODES = 100_000
AMPLE = f"size=256m,nr_inodes={AMPLE_INODES}"


def options_of(size: str) -> str:
    """Mount options of a disk that is small in one respect: ``4.25`` is MiB, ``50i`` inodes."""
    if size.endswith("i"):
        return f"size=256m,nr_inodes={size[:-1]}"
    return f"size={float(size) * 1024:.0f}k,nr_inodes={AMPLE_INODES}"


@contextmanager
def disk(folder: Path, size: str) -> Iterator[None]:
    """A disk of that size at ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    _mount("-t", "tmpfs", "-o", options_of(size), "tmpfs", str(folder))
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def change(folder: Path, options: str) -> None:
    """Change the mount options of the disk at ``folder``: its size, or read-only."""
    _mount("-o", f"remount,{options}", str(folder))


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def faults_of_full_disk(workspace: Workspace, sizes: Sequence[str]) -> list[str]:
    """Faults of calls on a disk that is too small at first and large enough in the end."""
    faults = []
    for size in sizes:
        change(workspace.results, options_of(size))
        status, said = workspace.run()
        print(f"{size}: exit status {status}\n{said}", flush=True)
        faults += [f"{size}: {each}" for each in told_badly(status, said, "full")]
    change(workspace.results, AMPLE)
    finished = workspace.finished()
    status, said = workspace.run()
    if status != 0:
        return [*faults, f"does not resume: {said}"]
    if {path: workspace.finished()[path] for path in finished} != finished:
        faults.append("a finished run was simulated again")
    return faults


def faults_of_read_only_disk(workspace: Workspace) -> list[str]:
    """Faults of a call whose results cannot be written."""
    change(workspace.results, "ro")
    status, said = workspace.run()
    print(f"read-only: exit status {status}\n{said}", flush=True)
    change(workspace.results, "rw")
    return told_badly(status, said, "read-only")


def main() -> int:
    """Compare the results on a growing disk with those on an ample one; returns the faults."""
    sizes = sys.argv[1:] or ["30i", "50i", "4", "4.25"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ample = make_workspace(folder, folder / "ample")
        status, said = ample.run()
        if status != 0:
            raise RuntimeError(said)
        small = make_workspace(folder, folder / "small")
        with disk(small.results, sizes[0]):
            faults = faults_of_full_disk(small, sizes)
            if small.checksums() != ample.checksums():
                faults.append("other bytes after enlarging")
            faults += faults_of_read_only_disk(small)
    print("\n".join(faults) or "no fault")
    return len(faults)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
