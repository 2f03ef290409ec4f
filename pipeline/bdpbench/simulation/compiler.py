"""Compiles the code of a folder, and says in one sentence what is wrong with it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence

from bdpbench.errors import BdpbenchError
from bdpbench.studies.protocol_folders import ProtocolFolder

_TIMEOUT_S = 300.0
_MOST_ERRORS = 3
_ERROR = re.compile(r"^(?P<where>[^:\n]+:\d+):\d+: (?:fatal )?error: (?P<what>.*)$", re.MULTILINE)


def run_compiler(folder: ProtocolFolder, command: Sequence[str], hint: str) -> None:
    """Compile code of a folder; ``hint`` names the interface that it has to fit.

    Raises:
        BdpbenchError: when there is no compiler, or when the code does not compile, naming file
            and line.
    """
    if shutil.which(command[0]) is None:
        raise BdpbenchError(
            f"needs {command[0]}, which is not there",
            where=str(folder.path),
            hint="`apt-get install g++` installs it",
        )
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BdpbenchError(f"does not compile: {error}", where=str(folder.path)) from None
    if done.returncode != 0:
        raise _compiler_error(folder, done.stderr, hint)


def _compiler_error(folder: ProtocolFolder, text: str, hint: str) -> BdpbenchError:
    found = list(_ERROR.finditer(text))
    if not found:
        last = text.strip().splitlines()[-1:] or ["the compiler gave no reason"]
        return BdpbenchError(f"does not compile: {last[0]}", where=str(folder.path))
    first, *others = (f"{each['where']}: {each['what']}" for each in found[:_MOST_ERRORS])
    where, _, what = first.partition(": ")
    more = "".join(f"\n  {each}" for each in others)
    return BdpbenchError(f"does not compile: {what}{more}", where=where, hint=hint)
