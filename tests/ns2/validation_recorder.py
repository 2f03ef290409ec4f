"""Stands in for ``ns`` in a validation suite, and records what each call wrote.

    recorder.py NS RECORDS LOG ARGUMENT...

runs ``NS ARGUMENT...`` with the same standard streams and exit status, and appends one line of JSON
to RECORDS: arguments, exit status, CPU time (s), and SHA-256 of what was appended to LOG meanwhile
and of each file of the working folder that is new or has changed. Memory addresses, which TCP/Linux
prints, are random and count as equal. With ``$BDPBENCH_KEEP``, a folder, it also keeps these files
there, as ``<SHA-256>.gz``, and ends ns-2 at MOST_CPU_S or when a file grows beyond MOST_BYTES.

It runs once per test, so it imports nothing from bdpbench and no slow module of Python.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import sys
from pathlib import Path

MOST_CPU_S = 150
MOST_BYTES = 400 << 20
_ADDRESS = re.compile(rb"0x[0-9a-f]{9,}")


def _sha256(data: bytes, keep: str | None = None) -> str:
    digest = hashlib.sha256(data).hexdigest()
    if keep and data:
        import gzip

        Path(keep, f"{digest}.gz").write_bytes(gzip.compress(data, 1, mtime=0))
    return digest


def _files() -> dict[str, tuple[int, int, int]]:
    """Name → state of each file of the working folder, which changes when the file is written."""
    found = {}
    with os.scandir() as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                about = entry.stat()
                found[entry.name] = (about.st_mtime_ns, about.st_size, about.st_ino)
    return found


def main(ns: str, records: str, log: str, arguments: list[str]) -> int:
    """Run ns-2 and record the call; returns the exit status as a shell would."""
    before, logged, keep = _files(), Path(log).stat().st_size, os.environ.get("BDPBENCH_KEEP")
    ending: tuple[int, ...] = ()
    if keep:
        import signal

        ending = (signal.SIGXFSZ,)  # which Python ignores
        resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, resource.RLIM_INFINITY))
    child = os.posix_spawn(ns, [ns, *arguments], os.environ, setsigdef=ending)
    _, waited, used = os.wait4(child, 0)
    status = os.waitstatus_to_exitcode(waited)
    after = _files()
    changed = sorted(name for name in after if after[name] != before.get(name))
    record = {
        "arguments": arguments,
        "exit_status": status,
        "cpu_s": round(used.ru_utime + used.ru_stime, 3),
        "said": _sha256(_ADDRESS.sub(b"(address)", Path(log).read_bytes()[logged:])),
        "files": {name: _sha256(Path(name).read_bytes(), keep) for name in changed},
    }
    with open(records, "a", encoding="utf-8") as stream:
        stream.write(json.dumps(record) + "\n")
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
