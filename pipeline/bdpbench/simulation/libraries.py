"""Protocols and queues that are folders, compiled into libraries that ns-2 loads.

``<home>/libraries/<interface>/`` contains, for each class that is made of a folder, its library, a
Tcl file that declares it, and a list that vouches for both. ns-2 reads those that a run needs.

The class is named after the code, so the compiler may read nothing else of it: its own list of what
it has read is compared with the files of the folder, ns-2's headers and the system's.

A congestion control module of Linux is compiled unchanged: ``ns2/laws/linux_module.h`` takes the
place of the kernel's headers. A small program loads its library, as ns-2 will, and says what it
registers and which parameters it has.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from bdpbench.contracts.files import utf8_text, write_atomically, write_text_atomically
from bdpbench.contracts.kept import difference, seal
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.processes import run
from bdpbench.simulation.build import (
    INTERFACE_FLAGS,
    INTERFACES,
    LIBRARY_SUFFIXES,
    MODULE_FLAGS,
    interface_dir,
    library_list,
    packages_command,
)
from bdpbench.studies.folders import ComponentFolder, ProtocolFolder, QueueFolder

_CXX, _CC = "g++", "gcc"
# What messages of ns-2 and Tcl scripts call the code, and the symbol by which ns-2 finds it.
_WORDS = {
    ProtocolFolder.kind: ("protocol", b"bdpbench_protocol"),
    QueueFolder.kind: ("discipline", b"bdpbench_queue"),
}


def compile_folder(folder: ComponentFolder, *, loads: bool = True) -> None:
    """Compile a protocol or a queue, unless its library exists.

    ``loads``: whether a module of Linux is loaded to see what it registers, which executes it.

    Raises:
        BdpbenchError: when there is no compiler; when the code does not compile, naming file and
            line; or when it does not say which class it is.
    """
    listing = library_list(folder.name)
    library, declaration = (listing.with_suffix(suffix) for suffix in LIBRARY_SUFFIXES)
    declared = _declaration(folder)
    made_of = hashlib.sha256(declared.encode()).hexdigest()
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
    if folder.module and loads:
        _check_module(folder, folder.module, library)
    elif folder.module:
        made_of = f"{made_of} unseen"  # so that it is made again before it is used
    write_text_atomically(declaration, declared)
    seal(listing, [library, declaration], made_of)


def _make(folder: ComponentFolder, library: Path) -> None:
    if folder.module:
        _compile_module(folder, folder.module, library)
        return
    compile_code(folder, folder.sources, library)
    what, symbol = _WORDS[folder.kind]
    if symbol not in library.read_bytes():
        raise BdpbenchError(
            f"does not say which class is the {what}",
            where=str(folder.path / folder.code_name),
            hint=f"end it with {folder.macro}({folder.file.key})",
        )


def compile_code(
    folder: ComponentFolder, sources: Sequence[Path], made: Path, ours: Sequence[Path] = ()
) -> None:
    """Compile C++ files of a folder into a library, or with files of ours into a program.

    Raises:
        BdpbenchError: when they do not compile, naming file and line, or as ``run_compiler``.
    """
    # A program runs once and briefly: -O2 would take as long again before the first packet.
    program = [*(each for each in INTERFACE_FLAGS if each != "-shared"), "-O1"]
    flags = program if ours else [*INTERFACE_FLAGS]
    include = ["-I", str(interface_dir())]
    hint = f"ns2/laws/{folder.header} is the interface; {folder.page} explains it"
    run_compiler(folder, [_CXX, *flags, *include, *map(str, sources), "-o", str(made)], hint, ours)


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

_HEADER = "linux_module.h"
_HINT = (
    "modules have the API of Linux 2.6.22, which TCP/Linux has: ns2/laws/linux_module.h has all of "
    "it, and docs/protocols.md says which later changes do not fit"
)
_LOADING_S = 20.0
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(<[^>\n]+>|\"[^\"\n]+\")", re.MULTILINE)
_NS2_HEADER = re.compile(r"(\.\./)*ns-linux-\w+\.h")
_ANSWER = re.compile(r"(\w+ \w+ -?\d+\n)*\d+ [01]\n")
_NUMBERS = {"int", "uint", "long", "ulong", "short", "ushort", "byte", "bool"}


def _compile_module(folder: ComponentFolder, module: Path, library: Path) -> None:
    """Compile the module of a folder, whose file stays as it is.

    Raises:
        BdpbenchError: when it does not compile, needs a function that TCP/Linux does not have, or
            has no module_init, naming file and line.
    """
    with tempfile.TemporaryDirectory() as scratch:
        inner = Path(scratch, "one", "two", "three")
        _replace_headers(folder, inner)
        include = ["-I", str(inner), "-I", str(interface_dir()), "-include", _HEADER]
        command = [_CC, *MODULE_FLAGS, *include, str(module), "-o", str(library)]
        run_compiler(folder, command, _HINT, [Path(scratch)])
    if b"bdpbench_module_init" not in library.read_bytes():
        raise BdpbenchError("has no module_init", where=str(module), hint=_HINT)
    header = (interface_dir() / _HEADER).read_text(encoding="utf-8")
    for name in _undefined(library):
        if not re.search(rf"\b{name}\b", header) and not name.startswith("tcp_vegas_"):
            where = f"{module}:{_line(module, name)}"
            raise BdpbenchError(
                f"needs {name}, which TCP/Linux does not have", where=where, hint=_HINT
            )


def _replace_headers(folder: ComponentFolder, inner: Path) -> None:
    """Make empty files of the kernel's and ns-2's headers that the code includes."""
    inner.mkdir(parents=True)
    for path in folder.code:
        for given in _INCLUDE.findall(utf8_text(path)):
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


def _check_module(folder: ComponentFolder, module: Path, library: Path) -> None:
    """Check what a module registers, and its parameters against those of ``protocol.yaml``.

    Raises:
        BdpbenchError: naming file and line of what is wrong.
    """
    *lines, last = (line.split() for line in _answer(folder, module, library).splitlines())
    registered, is_complete = map(int, last)
    parameters = {name: (kind, int(value)) for name, kind, value in lines}
    if registered != 1:
        line = _line(module, r"tcp_register_congestion_control\s*\(", min(registered, 2))
        said = f"registers {registered} congestion controls: expected one"
        raise BdpbenchError(said, where=f"{module}:{line}", hint="one folder is one protocol")
    if not is_complete:
        line = _line(module, r"struct\s+tcp_congestion_ops\s+\w+\s*=")
        said = "the congestion control has no ssthresh or no cong_avoid"
        raise BdpbenchError(said, where=f"{module}:{line}", hint=_HINT)
    variables = folder.file.variables
    for name, (kind, value) in parameters.items():
        declared = rf"module_param(_named)?\s*\(\s*{name}\b"
        where = f"{module}:{_line(module, declared)}"
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
        if name not in parameters:
            said = f"{module.name} has no module_param of the name {name}"
            raise source.error((*place, "variable"), said)
        if each.default != parameters[name][1]:
            said = f"the default is {each.default:g}, and in {module.name} it is "
            raise source.error((*place, "default"), f"{said}{parameters[name][1]}")


def _line(module: Path, pattern: str, number: int = 1) -> int:
    """The line of the module's ``number``-th text of this pattern; 1 if there is none."""
    text = utf8_text(module)
    places = [match.start() for match in re.finditer(pattern, text)]
    place = places[min(number, len(places)) - 1] if places else 0
    return 1 + text.count("\n", 0, place)


def _answer(folder: ComponentFolder, module: Path, library: Path) -> str:
    # Programs in the system's folder for temporary files may not be executed.
    with tempfile.TemporaryDirectory(dir=library.parent.resolve()) as scratch:
        program, driver = Path(scratch, "check"), Path(__file__).with_name("check_module.c")
        words = ["-w", "-rdynamic", "-I", str(interface_dir()), str(driver), "-ldl"]
        run_compiler(folder, [_CC, *words, "-o", str(program)], _HINT, [driver.parent])
        try:
            done = run([str(program), str(library)], _LOADING_S)
        except subprocess.TimeoutExpired:
            said = f"its module_init does not end within {_LOADING_S:g} s"
            raise BdpbenchError(said, where=str(module)) from None
    if done.returncode != 0 or not _ANSWER.fullmatch(done.stdout):
        reason = done.stderr.strip() or f"its module_init ends with status {done.returncode}"
        raise BdpbenchError(f"cannot be loaded: {reason}", where=str(module), hint=_HINT)
    return done.stdout


# ---------------------------------------------------------------- the compiler

_COMPILING_S = 300.0
_MOST_LINES = 12
_ERROR = re.compile(r"^[^:\n]+:\d+:\d+: (?:fatal )?error: ", re.MULTILINE)
_UNDEFINED = re.compile(r"undefined reference to [`‘'](?P<name>[^'’]+)['’]")


def run_compiler(
    folder: ComponentFolder, command: Sequence[str], hint: str, ours: Sequence[Path] = ()
) -> None:
    """Compile code of a folder; ``hint`` names the interface that it has to fit.

    The variables of the environment that let GCC read or write other files are left out.

    Raises:
        BdpbenchError: when there is no compiler; when the code does not compile, naming file and
            line; or when the compiler has read a file that is neither the folder's nor the
            system's, nor in one of the folders ``ours``.
    """
    if shutil.which(command[0]) is None:
        raise BdpbenchError(
            f"needs {command[0]}, which is not there",
            where=str(folder.path),
            hint=packages_command(),
        )
    # The preprocessor adds rules to this file; the assembler, which has .incbin, writes its own.
    environment = {**_environment(), "SUNPRO_DEPENDENCIES": "read all"}
    with tempfile.TemporaryDirectory() as scratch:
        try:
            names = "-fno-canonical-system-headers"  # as they are found, not where they lead
            words = [*command, "-pipe", names, "-Wa,--MD,/dev/stdout"]
            done = run(words, _COMPILING_S, cwd=scratch, env=environment)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BdpbenchError(f"does not compile: {error}", where=str(folder.path)) from None
        if done.returncode != 0:
            raise _compiler_error(folder, done.stderr, hint)
        rules = Path(scratch, "read").read_text(encoding="utf-8") + done.stdout
    _check_read(folder, rules, [*ours, *_searched(command[0])])


def _check_read(folder: ComponentFolder, rules: str, others: Sequence[Path]) -> None:
    """Compare what the compiler has read, as rules for make, with what the class covers."""
    headers = (interface_dir() / each for each in INTERFACES)
    known = {each.resolve() for each in (*folder.code, *headers)}
    # Headers of the system may be links to elsewhere, as /usr/include/…/asm/errno.h in Debian 13.
    places = {Path(os.path.normpath(each)) for each in others} | {each.resolve() for each in others}
    for rule in rules.replace("\\\n", " ").splitlines():
        for word in re.split(r"(?<!\\)\s+", rule.partition(": ")[2]):
            if not word.startswith("/"):  # it worked in an empty folder, so this is only a title
                continue
            path = Path(os.path.normpath(re.sub(r"\\([ #])", r"\1", word).replace("$$", "$")))
            names = {path, path.resolve()}
            above = {each for name in names for each in name.parents}
            if not names & known and not above & places:
                raise BdpbenchError(
                    f"reads {path}, which is no file of C++ in this folder",
                    where=_use_of(path.name, folder),
                    hint="copy it into the folder under a name that ends with .h or .inc: runs are "
                    "named after all code of a protocol or queue, so that each change counts",
                )


@cache
def _searched(compiler: str) -> Sequence[Path]:
    """Folders in which a compiler finds headers by itself."""
    command = [compiler, "-E", "-v", "-x", "c++" if compiler == _CXX else "c", "/dev/null"]
    done = run(command, _COMPILING_S, env=_environment())
    listed = done.stderr.partition("search starts here:")[2].partition("End of search list")[0]
    return [Path(line.strip()) for line in listed.splitlines() if line.startswith(" ")]


def _environment() -> dict[str, str]:
    """What a compiler gets of the environment, where CPATH and its like would add files."""
    kept = ("HOME", "LD_LIBRARY_PATH", "PATH", "TMPDIR")
    return {"LC_ALL": "C", **{name: os.environ[name] for name in kept if name in os.environ}}


def _compiler_error(folder: ComponentFolder, text: str, hint: str) -> BdpbenchError:
    """What the compiler says, and the first place in the folder that it names."""
    error = _ERROR.search(text)
    shown = text[error.start() if error else 0 :].strip()
    lines = shown.splitlines()[:_MOST_LINES] or ["the compiler gave no reason"]
    named = re.search(rf"^{re.escape(str(folder.path))}/[^:\n]+:\d+(?=:)", shown, re.MULTILINE)
    undefined = _UNDEFINED.search(text)
    where = named[0] if named else _use_of(undefined["name"], folder) if undefined else ""
    said = "\n  ".join(["does not compile:", *lines])
    return BdpbenchError(said, where=where or str(folder.path), hint=hint)


def _use_of(symbol: str, folder: ComponentFolder) -> str:
    """The first line of the code that uses what a linker calls so; the folder if there is none."""
    name = re.sub(r"\(.*", "", symbol).rpartition("::")[2]
    for path in folder.code:
        for number, line in enumerate(utf8_text(path).splitlines(), start=1):
            if re.search(rf"\b{re.escape(name)}\b", line):
                return f"{path}:{number}"
    return str(folder.path)
