"""Checks before a simulation that ns-2 has the classes and variables that a study declares."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from bdpbench.contracts.paths import tcl_dir
from bdpbench.contracts.plan import Declared
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import Ns2Build

_NO_PARAMETER = re.compile(
    r"do not find (\S+) as a parameter for congestion control algorithm (\S+)"
)
_TIMEOUT_S = 60.0
"""Time limit, s: an answer takes a tenth of a second, and longer on a very busy machine."""


def unknown_to_ns2(build: Ns2Build, declared: Sequence[Declared]) -> list[tuple[Declared, str]]:
    """Declarations of a study that a build of ns-2 does not know, each with the reason.

    Raises:
        BdpbenchError: when ns-2 does not answer.
    """
    triples = [word for each in declared for word in (each.kind, each.ns2_class, each.name or "-")]
    script = tcl_dir() / "declared.tcl"
    told = _answer(_state_of(build.binary), _state_of(script), tuple(triples))
    answers = (line.split(" ", 2) for line in told.splitlines())
    unknown = [(declared[int(each[1])], each[2]) for each in answers if each[0] == "unknown"]
    return unknown + _without_parameter(told, declared)


def _state_of(path: Path) -> tuple[Path, int, int]:
    """Path, modification time (ns) and size of a file; zeros if it does not exist."""
    try:
        about = path.stat()
    except OSError:
        return path, 0, 0
    return path, about.st_mtime_ns, about.st_size


@lru_cache(maxsize=32)
def _answer(
    binary: tuple[Path, int, int], script: tuple[Path, int, int], triples: tuple[str, ...]
) -> str:
    """ns-2's answers about declarations, cached as long as binary and script are unchanged."""
    command = [str(binary[0]), str(script[0]), *triples]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BdpbenchError(f"ns-2 does not answer: {error}", where=str(binary[0])) from None
    if done.returncode != 0:
        raise BdpbenchError(
            f"ns-2 does not answer: {done.stderr.strip()}",
            where=str(binary[0]),
            hint="`./bdpbench ns2 build` rebuilds it if it is damaged",
        )
    return done.stdout


def _without_parameter(text: str, declared: Sequence[Declared]) -> list[tuple[Declared, str]]:
    """Parameters that congestion controls of TCP/Linux do not have, according to the agent."""
    missing = set(_NO_PARAMETER.findall(text))
    return [
        (each, f"congestion control {each.ns2_class} of this ns-2 has no parameter {each.name!r}")
        for each in declared
        if each.kind == "parameter" and (each.name, each.ns2_class) in missing
    ]
