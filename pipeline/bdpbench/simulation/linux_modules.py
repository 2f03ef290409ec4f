"""Congestion control modules of Linux in protocol folders: compiled unchanged, and looked into.

``ns2/laws/linux_module.h`` takes the place of the kernel's headers. A small program loads the
library, as ns-2 will, and says what it registers and which parameters it has.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bdpbench.contracts.files import write_text_atomically, written_text
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import MODULE_FLAGS, interface_dir
from bdpbench.simulation.compiler import run_compiler
from bdpbench.studies.protocol_folders import ProtocolFolder

_COMPILER = "gcc"
_HEADER = "linux_module.h"
_HINT = (
    "modules have the API of Linux 2.6.22, which TCP/Linux has: ns2/laws/linux_module.h has all of "
    "it, and docs/protocols.md says which later changes do not fit"
)
_TIMEOUT_S = 20.0
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(<[^>\n]+>|\"[^\"\n]+\")", re.MULTILINE)
_NS2_HEADER = re.compile(r"(\.\./)*ns-linux-\w+\.h")
_ANSWER = re.compile(r"(\w+ \w+ -?\d+\n)*\d+ [01]\n")
_NUMBERS = {"int", "uint", "long", "ulong", "short", "ushort", "byte", "bool"}


@dataclass(frozen=True)
class _Found:
    """What a library has: congestion controls that it registers, and parameter → type and value."""

    registered: int
    is_complete: bool
    parameters: dict[str, tuple[str, int]]


def compile_module(folder: ProtocolFolder, library: Path) -> None:
    """Compile the module of a folder, whose file stays as it is.

    Raises:
        BdpbenchError: when it does not compile, needs a function that TCP/Linux does not have, or
            has no module_init, naming file and line.
    """
    module = _module(folder)
    with tempfile.TemporaryDirectory() as scratch:
        inner = Path(scratch, "one", "two", "three")
        _replace_headers(folder, inner)
        include = ["-I", str(inner), "-I", str(interface_dir()), "-include", _HEADER]
        run_compiler(
            folder, [_COMPILER, *MODULE_FLAGS, *include, str(module), "-o", str(library)], _HINT
        )
    if b"bdpbench_module_init" not in library.read_bytes():
        raise BdpbenchError("has no module_init", where=str(module), hint=_HINT)
    header = (interface_dir() / _HEADER).read_text(encoding="utf-8")
    for name in _undefined(library):
        if not re.search(rf"\b{name}\b", header) and not name.startswith("tcp_vegas_"):
            where = f"{module}:{_line(folder, name)}"
            raise BdpbenchError(
                f"needs {name}, which TCP/Linux does not have", where=where, hint=_HINT
            )


def _module(folder: ProtocolFolder) -> Path:
    if folder.module is None:
        raise BdpbenchError("has no module of Linux", where=str(folder.path))
    return folder.module


def _replace_headers(folder: ProtocolFolder, inner: Path) -> None:
    """Make empty files of the kernel's and ns-2's headers that the code includes."""
    inner.mkdir(parents=True)
    for path in folder.code:
        for given in _INCLUDE.findall(written_text(path)):
            name = given[1:-1]
            if given.startswith("<") or _NS2_HEADER.fullmatch(name):
                made = (inner / name).resolve()
                if made.is_relative_to(inner.parent.parent):
                    made.parent.mkdir(parents=True, exist_ok=True)
                    made.touch()


def _undefined(library: Path) -> Iterator[str]:
    """Symbols that a library expects of ns-2, rather than of the C library."""
    command = ["nm", "-D", "--undefined-only", "--format=posix", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        name, kind = line.split()[:2]
        if kind == "U" and "@" not in name:
            yield name


def check_module(folder: ProtocolFolder, library: Path) -> None:
    """Check what a module registers, and its parameters against those of ``protocol.yaml``.

    Raises:
        BdpbenchError: naming file and line of what is wrong.
    """
    found, module = _looked_into(folder, library), _module(folder)
    if found.registered != 1:
        number = min(found.registered, 2)
        line = _line(folder, r"tcp_register_congestion_control\s*\(", number)
        said = f"registers {found.registered} congestion controls: expected one"
        raise BdpbenchError(said, where=f"{module}:{line}", hint="one folder is one protocol")
    if not found.is_complete:
        line = _line(folder, r"struct\s+tcp_congestion_ops\s+\w+\s*=")
        said = "the congestion control has no ssthresh or no cong_avoid"
        raise BdpbenchError(said, where=f"{module}:{line}", hint=_HINT)
    variables = folder.file.variables
    for name, (kind, value) in found.parameters.items():
        declared = rf"module_param(_named)?\s*\(\s*{name}\b"
        where = f"{module}:{_line(folder, declared)}"
        if kind not in _NUMBERS:
            said = f"the parameter {name} is of type {kind}: expected one of whole numbers"
            raise BdpbenchError(said, where=where, hint=_HINT)
        if f"{name}_" not in variables:
            example = f"{{symbol: {name}, variable: {name}_, unit: ..., default: {value}, ...}}"
            said = f"{ProtocolFolder.yaml_name} does not have the parameter {name}"
            raise BdpbenchError(said, where=where, hint=f"add to its parameters: {example}")
    source = YamlFile(folder.path / ProtocolFolder.yaml_name)
    for index, each in enumerate(folder.file.parameters):
        if not each.variable:
            continue
        place, name = ("parameters", index), each.variable.removesuffix("_")
        if name not in found.parameters:
            said = f"{module.name} has no module_param of the name {name}"
            raise source.error((*place, "variable"), said)
        if each.default != found.parameters[name][1]:
            said = f"the default is {each.default:g}, and in {module.name} it is "
            raise source.error((*place, "default"), f"{said}{found.parameters[name][1]}")


def _line(folder: ProtocolFolder, pattern: str, number: int = 1) -> int:
    """The line of the module's ``number``-th text of this pattern; 1 if there is none."""
    text = written_text(_module(folder))
    places = [match.start() for match in re.finditer(pattern, text)]
    place = places[min(number, len(places)) - 1] if places else 0
    return 1 + text.count("\n", 0, place)


def _looked_into(folder: ProtocolFolder, library: Path) -> _Found:
    """What a library has, which is written beside it."""
    kept = library.with_suffix(".module")
    if not kept.is_file():
        write_text_atomically(kept, _answer(folder, library))
    *lines, last = kept.read_text(encoding="utf-8").splitlines()
    registered, is_complete = map(int, last.split())
    words = (line.split() for line in lines)
    return _Found(registered, bool(is_complete), {name: (kind, int(n)) for name, kind, n in words})


def _answer(folder: ProtocolFolder, library: Path) -> str:
    module = _module(folder)
    # Programs in the system's folder for temporary files may not be executed.
    with tempfile.TemporaryDirectory(dir=library.parent.resolve()) as scratch:
        program = Path(scratch, "check")
        driver = Path(__file__).with_name("check_module.c")
        include = ["-I", str(interface_dir())]
        command = [_COMPILER, "-w", "-rdynamic", *include, str(driver), "-o", str(program), "-ldl"]
        run_compiler(folder, command, _HINT)
        try:
            done = subprocess.run(
                [str(program), str(library)],
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            said = f"its module_init does not end within {_TIMEOUT_S:g} s"
            raise BdpbenchError(said, where=str(module)) from None
    if done.returncode != 0 or not _ANSWER.fullmatch(done.stdout):
        reason = done.stderr.strip() or f"its module_init ends with status {done.returncode}"
        raise BdpbenchError(f"cannot be loaded: {reason}", where=str(module), hint=_HINT)
    return done.stdout
