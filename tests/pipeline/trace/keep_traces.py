"""Takes the place of ``ns`` and keeps what each call writes.

    keep_traces.py NS STORE SOURCE ARGUMENT...

runs ``NS ARGUMENT...`` with limits on time and size, and keeps every new or changed file below the
working folder as ``STORE/<SHA-256>.gz``, with a line of JSON in ``STORE/index.jsonl``: source,
arguments, exit status, file, SHA-256 and bytes.

It is started for each script, so it imports nothing of bdpbench.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import resource
import subprocess
import sys
from pathlib import Path

MOST_CPU_S = 150
MOST_BYTES = 400 << 20
"""A file that grows beyond that ends ns-2; its trace is kept as far as it came."""

_REFERENCES = "test-output-"


def _files() -> dict[str, tuple[int, int]]:
    """Path → values that change when a file below the working folder is written."""
    found = {}
    for path in Path().rglob("*"):
        if path.parts[0].startswith(_REFERENCES) or path.is_symlink() or not path.is_file():
            continue
        about = path.stat()
        found[str(path)] = (about.st_mtime_ns, about.st_size)
    return found


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES, MOST_BYTES))


def _kept(name: str, store: Path) -> tuple[str, int]:
    """Put a file into the store; returns its SHA-256 and size."""
    data = Path(name).read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    target = store / f"{digest}.gz"
    if not target.exists():
        target.write_bytes(gzip.compress(data, 1, mtime=0))
    return digest, len(data)


def main(ns: str, store: str, source: str, arguments: list[str]) -> int:
    """Run ns-2 and keep what it writes; returns its exit status in the convention of shells."""
    before = _files()
    status = subprocess.run([ns, *arguments], check=False, preexec_fn=_limit).returncode
    for name, state in sorted(_files().items()):
        if before.get(name) == state or state[1] == 0:
            continue
        digest, size = _kept(name, Path(store))
        row = {"source": source, "arguments": arguments, "status": status, "file": name}
        with open(Path(store) / "index.jsonl", "a", encoding="utf-8") as index:
            fcntl.flock(index, fcntl.LOCK_EX)
            index.write(json.dumps({**row, "sha256": digest, "bytes": size}) + "\n")
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
