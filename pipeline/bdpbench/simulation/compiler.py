"""Compiles the code of a folder, and says in one sentence what is wrong with it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence

from bdpbench.contracts.files import written_text
from bdpbench.errors import BdpbenchError
from bdpbench.studies.component_folders import ComponentFolder

_TIMEOUT_S = 300.0
_MOST_ERRORS = 3
_UNDEFINED = re.compile(r"undefined reference to [`‘'](?P<name>[^'’]+)['’]")
_ERROR = re.compile(r"^(?P<where>[^:\n]+:\d+):\d+: (?:fatal )?error: (?P<what>.*)$", re.MULTILINE)


def run_compiler(folder: ComponentFolder, command: Sequence[str], hint: str) -> None:
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


def _compiler_error(folder: ComponentFolder, text: str, hint: str) -> BdpbenchError:
    found = list(_ERROR.finditer(text))
    undefined = _UNDEFINED.search(text)
    if undefined is not None and not found:
        name = undefined["name"]
        said = f"uses {name}, which is nowhere defined"
        return BdpbenchError(said, where=_use_of(name, folder), hint=hint)
    if not found:
        last = text.strip().splitlines()[-1:] or ["the compiler gave no reason"]
        return BdpbenchError(f"does not compile: {last[0]}", where=str(folder.path))
    own = re.compile(rf"^({re.escape(str(folder.path))}/[^:\n]+:\d+):\d+: note: ", re.MULTILINE)

    def place(each: re.Match[str]) -> str:
        """Of an error, in the folder; one of a header is that of the macro that leads there."""
        note = None if each["where"].startswith(f"{folder.path}/") else own.search(text, each.end())
        return note[1] if note else each["where"]

    first, *others = (f"{place(each)}: {each['what']}" for each in found[:_MOST_ERRORS])
    where, _, what = first.partition(": ")
    more = "".join(f"\n  {each}" for each in others)
    return BdpbenchError(f"does not compile: {what}{more}", where=where, hint=hint)


def _use_of(symbol: str, folder: ComponentFolder) -> str:
    """The first line of the code that uses what a linker calls so; the folder if there is none."""
    name = re.sub(r"\(.*", "", symbol).rpartition("::")[2]
    for path in folder.code:
        for number, line in enumerate(written_text(path).splitlines(), start=1):
            if re.search(rf"\b{re.escape(name)}\b", line):
                return f"{path}:{number}"
    return str(folder.path)
