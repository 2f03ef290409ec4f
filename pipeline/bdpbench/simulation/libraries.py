"""Protocols and queues that are folders, compiled into libraries that ns-2 loads.

``<home>/libraries/<interface>/`` contains, for each class that is made of a folder, its library and
a Tcl file that declares it. ns-2 reads those if ``BDPBENCH_LIBRARIES`` names their folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bdpbench.contracts.files import write_atomically, write_text_atomically
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import INTERFACE_FLAGS, interface_dir, libraries_dir
from bdpbench.simulation.compiler import run_compiler
from bdpbench.simulation.linux_modules import check_module, compile_module
from bdpbench.studies.component_folders import ComponentFolder
from bdpbench.studies.protocol_folders import ProtocolFolder
from bdpbench.studies.queue_folders import QueueFolder

_COMPILER = "g++"
# What messages of ns-2 and Tcl scripts call the code, and the symbol by which ns-2 finds it.
_WORDS = {
    ProtocolFolder.kind: ("protocol", b"bdpbench_protocol"),
    QueueFolder.kind: ("discipline", b"bdpbench_queue"),
}


def compile_folder(folder: ComponentFolder) -> None:
    """Compile a protocol or a queue, unless its library exists.

    Raises:
        BdpbenchError: when there is no compiler; when the code does not compile, naming file and
            line; or when it does not say which class it is.
    """
    library, declaration = (libraries_dir() / f"{folder.name}.{kind}" for kind in ("so", "tcl"))
    module = isinstance(folder, ProtocolFolder) and folder.module is not None
    if not library.is_file():
        library.parent.resolve().mkdir(parents=True, exist_ok=True)  # the image has a link there
        write_atomically(library, lambda made: _make(folder, made))
    if module and isinstance(folder, ProtocolFolder):
        check_module(folder, library)
    declared = _declaration(folder)
    if not declaration.is_file() or declaration.read_text() != declared:
        write_text_atomically(declaration, declared)


def _make(folder: ComponentFolder, library: Path) -> None:
    if isinstance(folder, ProtocolFolder) and folder.module:
        compile_module(folder, library)
        return
    compile_code(folder, [path for path in folder.code if path.suffix == ".cc"], library)
    what, symbol = _WORDS[folder.kind]
    if symbol not in library.read_bytes():
        raise BdpbenchError(
            f"does not say which class is the {what}",
            where=str(folder.path / folder.code_name),
            hint=f"end it with {folder.macro}({folder.file.key})",
        )


def compile_code(
    folder: ComponentFolder, sources: Sequence[Path], made: Path, *, shared: bool = True
) -> None:
    """Compile C++ files of a folder into a library, or into a program.

    Raises:
        BdpbenchError: when they do not compile, naming file and line.
    """
    # A program runs once and briefly: -O2 would take as long again before the first packet.
    program = [*(each for each in INTERFACE_FLAGS if each != "-shared"), "-O1"]
    flags = [*INTERFACE_FLAGS] if shared else program
    include = ["-I", str(interface_dir())]
    hint = f"ns2/laws/{folder.header} is the interface; {folder.page} explains it"
    run_compiler(folder, [_COMPILER, *flags, *include, *map(str, sources), "-o", str(made)], hint)


def _declaration(folder: ComponentFolder) -> str:
    """The Tcl that declares a subclass with the defaults and ranges of its parameters."""
    ns2_class, name = f"{folder.base}/{folder.name}", folder.name
    lines = [
        f"Class {ns2_class} -superclass {folder.base}",
        f"{ns2_class} set {_WORDS[folder.kind][0]}_ [file join [file dirname [info script]] "
        f"{name}.so]",
        *(f"{ns2_class} set {variable} {value!r}" for variable, value in folder.fixed.items()),
    ]
    for variable, each in folder.file.variables.items():
        lines.append(f"{ns2_class} set {variable} {each.default!r}")
        if each.range is not None:
            lines.append(
                f"{ns2_class} set {variable}range_ {{{each.range[0]!r} {each.range[1]!r}}}"
            )
    return "\n".join(lines) + "\n"
