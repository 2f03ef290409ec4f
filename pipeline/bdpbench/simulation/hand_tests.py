"""``test.cc`` of a folder: values by hand, checked before anything is simulated.

``check_protocol.h`` and ``check_queue.h`` have what such a file needs. Together with the folder's
code it makes a program, which answers in lines that begin with ``>``: that all holds, or what does
not, with file and line.
"""

from __future__ import annotations

import hashlib
import math
import os
import subprocess
import tempfile
from pathlib import Path

from bdpbench.contracts.files import sha256_of, utf8_text
from bdpbench.contracts.kept import keep, read_kept
from bdpbench.errors import BdpbenchError
from bdpbench.processes import run
from bdpbench.simulation.build import libraries_dir
from bdpbench.simulation.libraries import compile_code
from bdpbench.studies.folders import TEST_NAME, ComponentFolder, QueueFolder

_TIMEOUT_S = 60.0


def check_tests(folder: ComponentFolder) -> None:
    """Check what the tests of a folder expect, unless just these have passed with this code.

    Raises:
        BdpbenchError: naming file and line of a test whose values differ, or that loses a packet;
            or when the tests do not compile, or do not end.
    """
    path = folder.path / TEST_NAME
    if not os.path.lexists(path):
        return
    if folder.module:
        raise BdpbenchError(
            f"cannot test {folder.module.name}: values by hand are for laws in C++",
            where=str(path),
            hint="a module of Linux hears a kernel's events; ns2/linux/README.md says which",
        )
    text = utf8_text(path)  # and not a pipe, for which a checksum would wait
    ours = (Path(__file__), *sorted(Path(__file__).parent.glob("check*.h")))
    read = " ".join(map(sha256_of, (path, folder.path / folder.yaml_name, *ours)))
    tested = hashlib.sha256(read.encode()).hexdigest()
    passed = libraries_dir() / f"{folder.name}.passed"
    if read_kept(passed, tested) is None:
        _check(folder, path, text)
        keep(passed, tested, "")


def _check(folder: ComponentFolder, path: Path, text: str) -> None:
    texts = {"check.cc": _main(folder), TEST_NAME: text}
    # Programs in the system's folder for temporary files may not be executed.
    libraries_dir().resolve().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=libraries_dir().resolve()) as scratch:
        program = Path(scratch, "check")
        compile_code(folder, program, texts)
        try:
            done = run([str(program)], _TIMEOUT_S)
        except subprocess.TimeoutExpired:
            said = f"the {folder.kind}'s tests do not end within a minute"
            raise BdpbenchError(said, where=str(path)) from None
    answer = next((line[2:] for line in done.stdout.splitlines()[::-1] if line[:2] == "> "), "")
    where, _, said = answer.partition(": ")
    if done.returncode == 0 and answer.endswith(" held"):
        return
    if not said:
        where = str(path)
        said = f"the {folder.kind}'s tests end with status {done.returncode} before the last one"
    raise BdpbenchError(said, where=where)


def _main(folder: ComponentFolder) -> str:
    """The main file of the program: the folder's code, its parameters, and its tests."""
    values = []
    for name, each in folder.file.variables.items():
        three = (each.default, *(each.range or (-math.inf, math.inf)))
        values.append(f'{{"{name}", {{{", ".join(map(_number, three))}}}}}')
    lines = [
        f'#include "{folder.code_name}"',
        f'#include "check_{folder.kind}.h"',
        f"const std::map<std::string, check::Parameter> check::defaults = {{{', '.join(values)}}};",
    ]
    if isinstance(folder, QueueFolder):
        marking = "MARKS" if folder.file.marks else "NEVER_MARKS"
        lines.append(f"const Marking check::marking = {marking};")
        lines.append(f"const bool check::draws = {folder.file.random:d};")
    return "\n".join([*lines, f'#include "{TEST_NAME}"', ""])


def _number(value: float) -> str:
    """A number in C++."""
    return repr(value).replace("inf", "INFINITY")
