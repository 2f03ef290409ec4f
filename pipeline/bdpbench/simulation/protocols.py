"""Protocols that are folders, compiled into libraries that ns-2 loads.

``<home>/protocols/<interface>/`` contains, for each subclass of ``Agent/TCP/Protocol``, its library
and a Tcl file that declares it. ns-2 reads those if ``BDPBENCH_PROTOCOLS`` names their folder.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bdpbench.contracts.files import write_atomically, write_text_atomically
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import INTERFACE_FLAGS, interface_dir, libraries_dir
from bdpbench.studies.protocol_folders import LAW_NAME, ProtocolFolder

_COMPILER = "g++"
_TIMEOUT_S = 300.0
_MOST_ERRORS = 3
_ERROR = re.compile(r"^(?P<where>[^:\n]+:\d+):\d+: (?:fatal )?error: (?P<what>.*)$", re.MULTILINE)


def compile_protocol(folder: ProtocolFolder) -> None:
    """Compile a protocol, unless its library exists.

    Raises:
        BdpbenchError: when there is no compiler; when the code does not compile, naming file and
            line; or when it does not say which class is the protocol.
    """
    name = folder.agent.rpartition("/")[2]
    library, declaration = (libraries_dir() / f"{name}.{kind}" for kind in ("so", "tcl"))
    if not library.is_file():
        _make(folder, library)
    declared = _declaration(folder, name)
    if not declaration.is_file() or declaration.read_text() != declared:
        write_text_atomically(declaration, declared)


def _make(folder: ProtocolFolder, library: Path) -> None:
    if shutil.which(_COMPILER) is None:
        raise BdpbenchError(
            f"needs {_COMPILER}, which is not there",
            where=str(folder.path),
            hint="`apt-get install g++` installs it",
        )
    library.parent.resolve().mkdir(parents=True, exist_ok=True)  # the image has a link to nothing
    write_atomically(library, lambda made: _compile(folder, made))


def _compile(folder: ProtocolFolder, library: Path) -> None:
    compile_code(folder, [path for path in folder.code if path.suffix == ".cc"], library)
    if b"bdpbench_protocol" not in library.read_bytes():
        raise BdpbenchError(
            "does not say which class is the protocol",
            where=str(folder.path / LAW_NAME),
            hint=f"end it with CONGESTION_CONTROL({folder.file.key})",
        )


def compile_code(
    folder: ProtocolFolder, sources: Sequence[Path], made: Path, *, shared: bool = True
) -> None:
    """Compile C++ files of a protocol into a library, or into a program.

    Raises:
        BdpbenchError: when they do not compile, naming file and line.
    """
    flags = [each for each in INTERFACE_FLAGS if shared or each != "-shared"]
    include = ["-I", str(interface_dir())]
    command = [_COMPILER, *flags, *include, *map(str, sources), "-o", str(made)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BdpbenchError(f"does not compile: {error}", where=str(folder.path)) from None
    if done.returncode != 0:
        raise _compiler_error(folder, done.stderr)


def _compiler_error(folder: ProtocolFolder, text: str) -> BdpbenchError:
    found = list(_ERROR.finditer(text))
    if not found:
        last = text.strip().splitlines()[-1:] or ["the compiler gave no reason"]
        return BdpbenchError(f"does not compile: {last[0]}", where=str(folder.path))
    first, *others = (f"{each['where']}: {each['what']}" for each in found[:_MOST_ERRORS])
    where, _, what = first.partition(": ")
    more = "".join(f"\n  {each}" for each in others)
    return BdpbenchError(
        f"does not compile: {what}{more}",
        where=where,
        hint="ns2/laws/congestion_control.h is the interface; docs/protocols.md explains it",
    )


def _declaration(folder: ProtocolFolder, name: str) -> str:
    """The Tcl that declares a subclass with the defaults and ranges of its parameters."""
    ns2_class = f"Agent/{folder.agent}"
    lines = [
        f"Class {ns2_class} -superclass Agent/TCP/Protocol",
        f"{ns2_class} set protocol_ [file join [file dirname [info script]] {name}.so]",
    ]
    for variable, each in folder.file.variables.items():
        lines.append(f"{ns2_class} set {variable} {each.default!r}")
        if each.range is not None:
            lines.append(
                f"{ns2_class} set {variable}range_ {{{each.range[0]!r} {each.range[1]!r}}}"
            )
    return "\n".join(lines) + "\n"
