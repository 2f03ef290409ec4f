"""Runs a call on a full and on a read-only disk, a tmpfs that is enlarged later (needs root).

    BDPBENCH_HOME=.bdpbench PYTHONPATH=pipeline:. python tests/faults/disks.py 4 4.25

The numbers are sizes of the disk, MiB, tried one after the other before it is large enough.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.faults.calls import Workspace, make_workspace

AMPLE_MIB = 256


@contextmanager
def disk(folder: Path, size_mib: float) -> Iterator[None]:
    """A disk of that size at ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    _mount("-t", "tmpfs", "-o", f"size={size_mib * 1024:.0f}k", "tmpfs", str(folder))
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def change(folder: Path, options: str) -> None:
    """Change the mount options of the disk at ``folder``: its size, or read-only."""
    _mount("-o", f"remount,{options}", str(folder))


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def faults_of_full_disk(workspace: Workspace, sizes_mib: Sequence[float]) -> list[str]:
    """Faults of calls on a disk that is too small at first and large enough in the end."""
    faults = []
    for size_mib in sizes_mib:
        change(workspace.results, f"size={size_mib * 1024:.0f}k")
        status, said = workspace.run()
        print(f"{size_mib} MiB: exit status {status}\n{said}", flush=True)
        faults += [f"{size_mib} MiB: {each}" for each in _told_badly(status, said, "full")]
    change(workspace.results, f"size={AMPLE_MIB}m")
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
    return _told_badly(status, said, "read-only")


def _told_badly(status: int, said: str, word: str) -> list[str]:
    faults = []
    if status != 1:
        faults.append(f"exit status {status}")
    if "Traceback" in said:
        faults.append("a traceback")
    if said.count("error: ") != 1 or word not in said:
        faults.append("no word of the disk, or more than one message")
    return faults


def main() -> int:
    """Compare the results on a growing disk with those on an ample one; returns the faults."""
    sizes_mib = [float(each) for each in sys.argv[1:]] or [4, 4.25]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ample = make_workspace(folder, folder / "ample")
        status, said = ample.run()
        if status != 0:
            raise RuntimeError(said)
        small = make_workspace(folder, folder / "small")
        with disk(small.results, sizes_mib[0]):
            faults = faults_of_full_disk(small, sizes_mib)
            if small.checksums() != ample.checksums():
                faults.append("other bytes after enlarging")
            faults += faults_of_read_only_disk(small)
    print("\n".join(faults) or "no fault")
    return len(faults)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
