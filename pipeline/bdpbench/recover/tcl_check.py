"""Checks scripts with Tcl's own parser."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bdpbench.errors import BdpbenchError

_PARSE = Path(__file__).with_name("parse.tcl")
_TIMEOUT_S = 60


@dataclass(frozen=True)
class Problem:
    """A problem that Tcl's parser reports for a line of a script."""

    path: Path
    line: int
    message: str


def check_scripts(interpreter: Path, scripts: Sequence[Path]) -> list[Problem]:
    """Have a Tcl interpreter parse scripts, bodies of blocks included, without running them.

    Args:
        interpreter: ``tclsh`` or ``ns``, which is also a Tcl interpreter.
        scripts: paths of scripts.

    Raises:
        BdpbenchError: when the interpreter fails.
    """
    command = [str(interpreter), str(_PARSE), *map(str, scripts)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BdpbenchError(
            f"could not parse the scripts: {error}", where=str(interpreter)
        ) from None
    lines = done.stdout.splitlines()
    if done.returncode != 0 or lines[-1:] != [f"checked {len(scripts)}"]:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise BdpbenchError(f"could not parse the scripts: {said}", where=str(interpreter))
    return [_problem(line) for line in lines[:-1]]


def _problem(line: str) -> Problem:
    path, number, message = line.split("\t", 2)
    return Problem(Path(path), int(number), message)
