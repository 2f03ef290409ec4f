"""Protocols and queues that are folders, compiled into libraries that ns-2 loads.

``<home>/libraries/<interface>/`` contains, for each class that is made of a folder, its library, a
Tcl file that declares it, and a list that vouches for both. ns-2 reads those that a run needs.

The class is named after the code, so the compiler may read nothing else of the folder: it works on
a copy of the files that the name covers.

A congestion control module of Linux is compiled unchanged, behind the interface of kernels in
``ns2/linux`` or, for ``sender: tcp-linux``, behind that of 2.6.22 in ``ns2/laws/linux_module.h``.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bdpbench.contracts.files import utf8_text, write_atomically, write_text_atomically
from bdpbench.contracts.kept import difference, seal
from bdpbench.contracts.paths import kernel_dir
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.processes import run
from bdpbench.simulation import linux_modules
from bdpbench.simulation.build import (
    INTERFACE_FLAGS,
    LIBRARY_SUFFIXES,
    MODULE_FLAGS,
    interface_dir,
    libraries_dir,
    library_list,
    packages_command,
)
from bdpbench.studies.folders import ComponentFolder, ProtocolFolder, QueueFolder

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
    listing = library_list(folder.name)
    library, declaration = (listing.with_suffix(suffix) for suffix in LIBRARY_SUFFIXES)
    declared = _declaration(folder)
    maker = utf8_text(Path(linux_modules.__file__)) if _is_of_kernels(folder) else ""
    made_of = hashlib.sha256((declared + maker).encode()).hexdigest()
    if not any(difference(listing, each.name, made_of) for each in (library, declaration)):
        return
    library.parent.resolve().mkdir(parents=True, exist_ok=True)  # the image has a link there
    write_atomically(library, lambda made: _make(folder, made))
    if type(folder)(folder.path).name != folder.name:
        raise BdpbenchError(
            "has changed while it was compiled",
            where=str(folder.path),
            hint="the same command compiles it again",
        )
    write_text_atomically(declaration, declared)
    seal(listing, [library, declaration], made_of)


def _make(folder: ComponentFolder, library: Path) -> None:
    if isinstance(folder, ProtocolFolder) and folder.module:
        if folder.is_of_tcp_linux:
            _check_parameters(folder, folder.module)
            _compile_module(folder, folder.module, library)
        else:
            _compile_behind_kernel(folder, folder.module, library)
        return
    if isinstance(folder, ProtocolFolder) and folder.file.sender:
        source = YamlFile(folder.path / folder.yaml_name)
        raise source.error(("sender",), "is for modules of Linux: law.cc has a sender of its own")
    compile_code(folder, library)
    what, symbol = _WORDS[folder.kind]
    if symbol not in library.read_bytes():
        raise BdpbenchError(
            f"does not say which class is the {what}",
            where=str(folder.path / folder.code_name),
            hint=f"end it with {folder.macro}({folder.file.key})",
        )


def compile_code(
    folder: ComponentFolder, made: Path, texts: Mapping[str, str] | None = None
) -> None:
    """Compile C++ files of a folder into a library or, with more texts, into a program.

    ``texts``: further files; the first one includes the folder's own main file, and others of this
    room.

    Raises:
        BdpbenchError: as ``run_compiler``.
    """
    hint = f"ns2/laws/{folder.header} is the interface; {folder.page} explains it"
    with copied(folder) as code:
        sources = [str(code / each.name) for each in folder.sources]
        flags = [*INTERFACE_FLAGS, "-g1", "-Wl,-S", "-I", str(interface_dir())]
        if texts:
            for name, text in texts.items():
                (code / name).write_text(text)
            sources.remove(str(code / folder.code_name))
            # It runs once and briefly: -O2 would take as long again before the first packet.
            flags = [*(each for each in flags if each != "-shared"), "-O1"]
            sources += ["-I", str(Path(__file__).parent), str(code / next(iter(texts)))]
        run_compiler(folder, code, ["g++", *flags, *sources, "-o", str(made)], hint)


@contextmanager
def copied(folder: ComponentFolder) -> Iterator[Path]:
    """A copy of the code that the name of a folder's class covers, and of nothing else.

    Raises:
        BdpbenchError: when the code includes a file by its full path.
    """
    # Programs in the system's folder for temporary files may not be executed.
    place = libraries_dir().resolve()
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as scratch:
        code = Path(scratch, "code")
        for path in folder.code:
            if line := _line_of(utf8_text(path), r'#[ \t]*include[ \t]*["<]/'):
                said = "includes a file by its full path, which is no file of C++ in this folder"
                raise BdpbenchError(said, where=f"{path}:{line}", hint=_COVERED)
            copy = code / path.relative_to(folder.path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        yield code


def _line_of(text: str, pattern: str) -> int:
    """The first line of a text that begins with a pattern, behind blanks; 0 if there is none."""
    lines = enumerate(text.splitlines(), start=1)
    return next((number for number, line in lines if re.match(rf"\s*{pattern}", line)), 0)


def _declaration(folder: ComponentFolder) -> str:
    """The Tcl that declares a subclass with the defaults and ranges of its parameters."""
    ns2_class, name = f"{folder.base}/{folder.name}", folder.name
    lines = [
        f"Class {ns2_class} -superclass {folder.base}",
        f"{ns2_class} set {_WORDS[folder.kind][0]}_ "
        f"[file join [file dirname [file normalize [info script]]] {name}.so]",
        *(f"{ns2_class} set {variable} {value!r}" for variable, value in folder.fixed.items()),
    ]
    for variable, each in folder.file.variables.items():
        lines.append(f"{ns2_class} set {variable} {each.default!r}")
        if each.range is not None:
            lines.append(
                f"{ns2_class} set {variable}range_ {{{each.range[0]!r} {each.range[1]!r}}}"
            )
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- modules of Linux


def _is_of_kernels(folder: ComponentFolder) -> bool:
    return isinstance(folder, ProtocolFolder) and bool(folder.module) and not folder.is_of_tcp_linux


def _compile_behind_kernel(folder: ProtocolFolder, module: Path, library: Path) -> None:
    """Compile the module of a folder, whose file stays as it is, for ``Agent/TCP/Protocol``."""
    declared = linux_modules.declared_parameters(folder, module)
    with copied(folder) as code:
        work = code.parent / "work"
        places = [work / "one" / "two" / "three", code, kernel_dir(), interface_dir()]
        include = [word for place in places for word in ("-I", str(place))]
        objects = []
        for source in linux_modules.write_sources(code / module.name, code, work):
            objects.append(f"{source}.o")
            command = ["gcc", *linux_modules.FLAGS, *include, "-c", str(source), "-o", objects[-1]]
            run_compiler(folder, code, command, linux_modules.HINT)
        names = "".join(f'"{name}", ' for name in declared)
        defined = [f"-DMODULE_PARAMETERS={names}", f'-DMODULE_FILE="{module.name}"', *include]
        command = ["g++", *INTERFACE_FLAGS, *defined, str(kernel_dir() / "shim.cc"), *objects]
        hint = (
            "the kernel's own are in ns2/linux/kernel_api.h; the file of another module that has "
            f"it belongs into the folder {linux_modules.BESIDE}/ beside this one"
        )
        run_compiler(folder, code, [*command, "-o", str(library)], hint)


# ---------------------------------------------------------------- modules of TCP/Linux (2.6.22)

_HEADER = "linux_module.h"
_HINT = (
    "modules have the API of Linux 2.6.22, which TCP/Linux has: ns2/laws/linux_module.h has all of "
    "it, and docs/protocols.md says which later changes do not fit"
)
_PARAMETER = re.compile(
    r"^\s*module_param(?:_named)?\s*\(\s*(\w+)\s*,(?:\s*\w+\s*,)?\s*(\w+)\s*,\s*\w+\s*\)",
    re.MULTILINE,
)
_NUMBERS = {"int", "uint", "long", "ulong", "short", "ushort", "byte", "bool"}


def _compile_module(folder: ComponentFolder, module: Path, library: Path) -> None:
    """Compile the module of a folder, whose file stays as it is."""
    with copied(folder) as code:
        inner = code.parent / "one" / "two" / "three"
        inner.mkdir(parents=True)
        for path in folder.code:
            linux_modules.replace_headers(utf8_text(path), inner)
        include = ["-I", str(inner), "-I", str(interface_dir()), "-include", _HEADER]
        command = ["gcc", *MODULE_FLAGS, *include, str(code / module.name), "-o", str(library)]
        run_compiler(folder, code, command, _HINT)
    if b"bdpbench_module_init" not in library.read_bytes():
        raise BdpbenchError("has no module_init", where=str(module), hint=_HINT)


def _check_parameters(folder: ComponentFolder, module: Path) -> None:
    """Check that the parameters of a module are those of ``protocol.yaml``, by their names."""
    text, variables = utf8_text(module), folder.file.variables
    given = dict(_PARAMETER.findall(text))
    for name, kind in given.items():
        where = f"{module}:{_line_of(text, rf'module_param.*{name}')}"
        if kind not in _NUMBERS:
            said = f"the parameter {name} is of type {kind}: expected one of whole numbers"
            raise BdpbenchError(said, where=where, hint=_HINT)
        if f"{name}_" not in variables:
            said = f"{ProtocolFolder.yaml_name} does not have the parameter {name}"
            hint = f"add to its parameters: {{symbol: {name}, variable: {name}_, ...}}"
            raise BdpbenchError(said, where=where, hint=hint)
    for index, each in enumerate(folder.file.parameters):
        if each.variable and each.variable[:-1] not in given:
            said = f"{module.name} has no module_param of the name {each.variable[:-1]}"
            source = YamlFile(folder.path / ProtocolFolder.yaml_name)
            raise source.error(("parameters", index, "variable"), said)


# ---------------------------------------------------------------- the compiler

_COMPILING_S = 300.0
_MOST_LINES = 12
_ERROR = re.compile(r"^[^:\n]+:\d+:\d+: (?:fatal )?error: ", re.MULTILINE)
_UNKNOWN = re.compile(r"(?:undefined reference to|implicit declaration of function) [`'](\w+)'")
_COVERED = (
    "copy it into the folder under a name that ends with .h or .inc: runs are named after all code "
    "of a protocol or queue, so that each change counts"
)


def run_compiler(folder: ComponentFolder, code: Path, command: Sequence[str], hint: str) -> None:
    """Compile a copy of a folder's code; ``hint`` names the interface that it has to fit.

    The variables of the environment that let GCC read other files are left out.

    Raises:
        BdpbenchError: when there is no compiler; or when the code does not compile, naming file and
            line.
    """
    if shutil.which(command[0]) is None:
        raise BdpbenchError(
            f"needs {command[0]}, which is not there",
            where=str(folder.path),
            hint=packages_command(),
        )
    kept = ("HOME", "LD_LIBRARY_PATH", "PATH", "TMPDIR")
    environment = {"LC_ALL": "C", **{name: os.environ[name] for name in kept if name in os.environ}}
    words = [*command, "-pipe", f"-ffile-prefix-map={code}={folder.path}"]
    try:
        done = run(words, _COMPILING_S, cwd=code, env=environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BdpbenchError(f"does not compile: {error}", where=str(folder.path)) from None
    if done.returncode == 0:
        return
    text = done.stderr.replace(str(code), str(folder.path))
    first = _ERROR.search(text)
    shown = text[first.start() if first else 0 :].strip()
    lines = shown.splitlines()[:_MOST_LINES] or ["the compiler gave no reason"]
    named = re.search(rf"{re.escape(str(folder.path))}/[^:\n]+:\d+(?=:)", shown)
    unknown = ", ".join(dict.fromkeys(_UNKNOWN.findall(text)))
    nowhere = f" {unknown}: nowhere defined" if unknown else ""
    said = "\n  ".join([f"does not compile:{nowhere}", *lines])
    hint = _COVERED if "No such file" in shown else hint
    raise BdpbenchError(said, where=named[0] if named else str(folder.path), hint=hint)
