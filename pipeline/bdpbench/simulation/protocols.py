"""Protocols that are folders, compiled into libraries that ns-2 loads.

``<home>/protocols/<interface>/`` contains, for each subclass of ``Agent/TCP/Protocol`` or
``Agent/TCP/Linux/Module``, its library
and a Tcl file that declares it. ns-2 reads those if ``BDPBENCH_PROTOCOLS`` names their folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bdpbench.contracts.files import write_atomically, write_text_atomically
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import INTERFACE_FLAGS, interface_dir, libraries_dir
from bdpbench.simulation.compiler import run_compiler
from bdpbench.simulation.linux_modules import check_module, compile_module
from bdpbench.studies.protocol_folders import LAW_NAME, ProtocolFolder

_COMPILER = "g++"
_HINT = "ns2/laws/congestion_control.h is the interface; docs/protocols.md explains it"


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
    if folder.module:
        check_module(folder, library)
    declared = _declaration(folder, name)
    if not declaration.is_file() or declaration.read_text() != declared:
        write_text_atomically(declaration, declared)


def _make(folder: ProtocolFolder, library: Path) -> None:
    compiles = compile_module if folder.module else _compile
    library.parent.resolve().mkdir(parents=True, exist_ok=True)  # the image has a link to nothing
    write_atomically(library, lambda made: compiles(folder, made))


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
    run_compiler(folder, [_COMPILER, *flags, *include, *map(str, sources), "-o", str(made)], _HINT)


def _declaration(folder: ProtocolFolder, name: str) -> str:
    """The Tcl that declares a subclass with the defaults and ranges of its parameters."""
    ns2_class = f"Agent/{folder.agent}"
    lines = [
        f"Class {ns2_class} -superclass {ns2_class.rpartition('/')[0]}",
        f"{ns2_class} set protocol_ [file join [file dirname [info script]] {name}.so]",
    ]
    for variable, each in folder.file.variables.items():
        lines.append(f"{ns2_class} set {variable} {each.default!r}")
        if each.range is not None:
            lines.append(
                f"{ns2_class} set {variable}range_ {{{each.range[0]!r} {each.range[1]!r}}}"
            )
    return "\n".join(lines) + "\n"
