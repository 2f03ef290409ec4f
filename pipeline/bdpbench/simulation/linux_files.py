"""Where modules of Linux are, what belongs to one, and what its library says of itself."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

from bdpbench.contracts.files import utf8_text
from bdpbench.contracts.paths import home_dir, kernel_dir
from bdpbench.errors import BdpbenchError
from bdpbench.processes import run
from bdpbench.simulation.linux_modules import BESIDE, INCLUDE, OF_A_KERNEL

_FETCHING_S = 3600.0

_MEANING = re.compile(r'^\s*MODULE_PARM_DESC\s*\(\s*(\w+)\s*,\s*"([^"]*)"', re.MULTILINE)


def module_of_linux(name: str) -> Path:
    """The file of a module of the distribution's Linux, whose source package is fetched once.

    Raises:
        BdpbenchError: when the package cannot be had, or has no such module.
    """
    folder = home_dir() / "linux"
    if not any(folder.glob("linux-*[0-9]")):
        done = run(["bash", str(kernel_dir() / "fetch.sh"), str(folder)], _FETCHING_S)
        if done.returncode:
            hint = (
                "fetch the archive elsewhere (apt-get source --download-only linux) and name it by "
                "BDPBENCH_LINUX_SOURCE, or take a file by --module"
            )
            said = f"the source package of Linux could not be fetched: {done.stderr.strip()}"
            raise BdpbenchError(said, where=str(folder), hint=hint)
    modules = {path.stem.removeprefix("tcp_"): path for path in folder.glob("linux-*[0-9]/*.c")}
    if name not in modules:
        hint = f"it has {', '.join(sorted(modules))}"
        raise BdpbenchError("is no congestion control of Linux here", where=name, hint=hint)
    return modules[name]


def missing_headers(module: Path) -> list[str]:
    """Headers that a module includes as its own, and that are not beside it."""
    names = [given[1:-1] for given in INCLUDE.findall(utf8_text(module)) if given[0] == '"']
    own = (name for name in names if not OF_A_KERNEL.fullmatch(name))
    return [name for name in own if not (module.parent / name).is_file()]


def needed_files(module: Path) -> dict[str, Path]:
    """What a module needs of the files beside it: places in its protocol's folder, and files."""
    found = {module.name: module}
    for given in INCLUDE.findall(utf8_text(module)):
        header = module.parent / given[1:-1]
        if given[0] == '"' and header.is_file() and header.parent == module.parent:
            found[header.name] = header
            other = header.with_suffix(".c")
            if other.is_file() and other != module:
                found[f"{BESIDE}/{other.name}"] = other
    return found


def defaults_of(library: Path) -> dict[str, int]:
    """The parameters of a module's library, with the module's own values."""
    loaded = ctypes.CDLL(str(library))
    next_one = loaded.bdpbench_parameter
    next_one.restype, next_one.argtypes = ctypes.c_char_p, [ctypes.POINTER(ctypes.c_longlong)]
    value, found = ctypes.c_longlong(), {}
    while name := next_one(ctypes.byref(value)):
        found[name.decode()] = value.value
    return dict(reversed(found.items()))


def meanings_of(module: Path) -> dict[str, str]:
    """What a module says of its parameters."""
    return {name: " ".join(text.split()) for name, text in _MEANING.findall(utf8_text(module))}
