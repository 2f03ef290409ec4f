"""The ns-2 build of this checkout: its id, its binary, how it was built, and what it has to know.

Studies name classes and variables of ns-2; a build is asked before a simulation whether it has
them.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import platform
import re
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from bdpbench.contracts.files import known_sha256_of, remembered
from bdpbench.contracts.kept import difference
from bdpbench.contracts.paths import config_dir, home_dir, repository_root, tcl_dir
from bdpbench.contracts.plan import AGENT, MODULE_AGENT, QUEUE, Declared
from bdpbench.contracts.runs import BuildFacts
from bdpbench.errors import BdpbenchError
from bdpbench.processes import run, signals_interrupt, start

BINARY_NAME = "ns"
INFO_NAME = "ns-bdpbench.json"
PREFIX_VARIABLE = "BDPBENCH_NS2_PREFIX"
"""Environment variable with another folder of builds."""

LIBRARIES_VARIABLE = "BDPBENCH_LIBRARIES"
"""Environment variable by which ns-2 finds the libraries of protocols and queues in folders."""

NS2_LOCALE = {"LC_ALL": "C.UTF-8"}
"""In any other locale, a path with letters outside ASCII is another in its C++ than in its Tcl."""

# Without -fno-gnu-unique, statics of classes of one name are shared by all libraries of a process.
INTERFACE_FLAGS = (
    "-std=gnu++17", "-O2", "-fPIC", "-shared", "-fno-gnu-unique", "-Wl,--no-undefined", "-Wall",
    "-Werror=date-time",
)  # fmt: skip
MODULE_FLAGS = (
    "-std=gnu89", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fsigned-char",
    "-ffp-contract=off", "-fno-strict-aliasing", "-fno-delete-null-pointer-checks",
    "-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion", "-Werror=date-time",
)  # fmt: skip
"""A module of Linux is compiled as those of ns-2, with its own functions before ns-2's."""

INTERFACES = (
    "congestion_control.h", "folder_parameters.h", "linux_module.h", "queue_discipline.h",
)  # fmt: skip
"""Headers in ``interface_dir`` that libraries are compiled with."""


@dataclass(frozen=True)
class Ns2Build:
    """A finished build: its folder, binary and the facts recorded beside it."""

    build_id: str
    binary: Path
    info: BuildFacts


def build_script() -> Path:
    """The script that builds ns-2, both on this machine and in the Docker image."""
    return repository_root() / "ns2" / "build.sh"


def build_environment() -> dict[str, str]:
    """Environment of the build script, which would otherwise store archives beside itself."""
    return {**os.environ, "BDPBENCH_HOME": str(home_dir())}


def variant_of_runs() -> str:
    """The variant of ns-2 that runs use: ``ns2_variant`` of ``config.yaml``."""

    def configured() -> str:
        from bdpbench.studies.config import load_config  # takes as long as all else of a short call

        return load_config().ns2_variant

    path = config_dir() / "config.yaml"
    return remembered("ns2_variant", [path], configured) if path.is_file() else configured()


def current_build_id(variant: str | None = None) -> str:
    """Id of the build that results from the checkout's patches, laws, agents and flags.

    ``variant`` is "fast", or "stock" for ns-2 without the changes that only make it faster; None is
    the variant that runs use.

    The compiler is not part of it: with ``-ffp-contract=off`` ns-2's results are the same for all
    compilers.

    Raises:
        BdpbenchError: when ``ns2/build.sh`` cannot tell.
    """
    return _printed_id(build_script(), variant or variant_of_runs())


@cache
def _printed_id(script: Path, variant: str) -> str:
    command = ["bash", str(script), "--variant", variant, "--print-id"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=build_environment(), check=False
    )
    if done.returncode != 0:
        raise BdpbenchError(done.stderr.strip() or "failed", where="ns2/build.sh --print-id")
    return done.stdout.strip()


def build_prefix() -> Path:
    """Folder of all builds; each has a folder of its own, named by its id."""
    override = os.environ.get(PREFIX_VARIABLE)
    return Path(override) if override else home_dir() / "ns2"


def read_facts(path: Path) -> BuildFacts:
    """The facts recorded of a build; empty if there are none."""
    try:
        return cast("BuildFacts", json.loads(path.read_text(encoding="utf-8")))
    except (OSError, json.JSONDecodeError):
        return BuildFacts()


def find_build(build_id: str) -> Ns2Build | None:
    """The finished native build ``build_id``, or None if it does not exist.

    Its binary is read once in a process, and again when it has changed.

    Raises:
        BdpbenchError: when the binary is not the one that was built.
    """
    folder = build_prefix() / build_id
    info, binary = read_facts(folder / INFO_NAME), folder / BINARY_NAME
    if not info or not binary.is_file():
        return None
    check_binary(known_sha256_of(binary), info, str(binary))
    return Ns2Build(build_id, binary, info)


def check_binary(found: str, info: BuildFacts, where: str) -> None:
    """Check the SHA-256 of a binary of ns-2 against the facts of its build.

    Raises:
        BdpbenchError: when it is another.
    """
    built = info.get("binary_sha256")
    if found != built:
        raise BdpbenchError(
            f"this ns-2 is not the one that was built: its SHA-256 is {found}, not {built}",
            where=where,
            hint="nothing was run with it; `./bdpbench ns2 build` makes it again",
        )


def require_build(build_id: str) -> Ns2Build:
    """The finished native build ``build_id``.

    Raises:
        BdpbenchError: when it does not exist yet, or as ``find_build``.
    """
    build = find_build(build_id)
    if build is None:
        raise BdpbenchError(
            f"ns-2 build {build_id} is not there", hint="run `./bdpbench ns2 build` first"
        )
    return build


def can_be_built() -> bool:
    """Whether what ``ns2/build.sh`` needs is on this machine or can be installed."""
    command = ["bash", str(build_script()), "--check"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def packages_command() -> str:
    """The command that installs what is missing here for compiling ns-2, protocols and queues."""
    script = 'source "$0"; install_command $(missing_packages ns2)'
    command = ["bash", "-c", script, str(build_script().with_name("packages.sh"))]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def run_build_script(arguments: list[str]) -> None:
    """Run ``ns2/build.sh`` and show its progress on this terminal.

    Raises:
        BdpbenchError: when the build fails; the script has printed the reason on standard error.
    """
    command = ["bash", str(build_script()), "--prefix", str(build_prefix()), *arguments]
    with (
        signals_interrupt(),
        start(command, env=build_environment()) as build,  # sudo may ask on this terminal
    ):
        try:
            build.wait()
        except BaseException:
            build.terminate()  # it removes what it has unpacked
            raise
    if build.returncode != 0:
        raise BdpbenchError("ns-2 could not be built, see the message above", where="ns2/build.sh")


# ---------------------------------------------------------------- declared

_NO_PARAMETER = re.compile(
    r"do not find (\S+) as a parameter for congestion control algorithm (\S+)"
)
_TIMEOUT_S = 60.0
"""Time limit, s: an answer takes a tenth of a second, and longer on a very busy machine."""


def interface_dir() -> Path:
    """Folder of the headers that the code of folders includes."""
    return repository_root() / "ns2" / "laws"


def libraries_dir() -> Path:
    """Folder of their libraries: for these headers, compiled in this way, for such machines."""
    return home_dir() / "libraries" / _interface_digest()


FOLDER_CLASSES = tuple(f"{each}/" for each in (AGENT, MODULE_AGENT, QUEUE))
LIBRARY_SUFFIXES = (".so", ".tcl")
"""A library, and the file that declares its class."""


def library_list(name: str) -> Path:
    """The list that vouches for the library of a class, whose files are beside it."""
    return libraries_dir() / f"{name}.sha256"


def loads_libraries(words: Iterable[str]) -> list[str]:
    """The classes of protocols and queues in folders that arguments of a script name, sorted."""
    named = (word.removeprefix("Agent/").removeprefix("Queue/") for word in words)
    return sorted({each.rpartition("/")[2] for each in named if each.startswith(FOLDER_CLASSES)})


def link_libraries(names: Iterable[str], work: Path, places: str | None = None) -> dict[str, str]:
    """Give ns-2 links to the libraries of these classes and to nothing else.

    Args:
        names: of the classes.
        work: the folder in which ns-2 will work, for a folder with the links.
        places: where ns-2 sees ``libraries_dir()``, if elsewhere.

    Returns:
        The variable of the environment by which ns-2 finds them: a path without characters that
        have a meaning in Tcl's patterns.

    Raises:
        BdpbenchError: when one is not there, or not what was compiled.
    """
    folder = work / "libraries"
    folder.mkdir()
    for name in names:
        listing = library_list(name)
        for path in map(listing.with_suffix, LIBRARY_SUFFIXES):
            if said := difference(listing, path.name):
                hint = "`./bdpbench run` compiles it again"
                raise BdpbenchError(f"the library {said}", where=str(path), hint=hint)
            (folder / path.name).symlink_to(Path(places or path.parent.resolve(), path.name))
    return {LIBRARIES_VARIABLE: folder.name}


@cache
def _interface_digest() -> str:
    headers = b"".join((interface_dir() / name).read_bytes() for name in INTERFACES)
    made_by = "\0".join([platform.machine(), *INTERFACE_FLAGS, *MODULE_FLAGS]).encode()
    return hashlib.sha256(headers + made_by).hexdigest()[:16]


def _meant(declared: Declared, agents: list[str]) -> str:
    """The agent that a misspelt one resembles, as a question."""
    if declared.kind not in ("agent", "sink") or declared.ns2_class in agents:
        return ""
    close = difflib.get_close_matches(declared.ns2_class, agents, n=1)
    return "".join(f"; did you mean {each!r}?" for each in close)


def unknown_to_ns2(build: Ns2Build, named: Iterable[Declared]) -> list[tuple[Declared, str]]:
    """What a study names of ns-2 and a build of it does not know, each with the reason.

    Raises:
        BdpbenchError: when ns-2 does not answer.
    """
    declared = list(named)
    triples = [word for each in declared for word in (each.kind, each.ns2_class, each.name or "-")]
    command = [str(build.binary), str(tcl_dir() / "declared.tcl"), *triples]
    try:
        with tempfile.TemporaryDirectory() as scratch:
            linked = link_libraries(loads_libraries(triples), Path(scratch))
            done = run(command, _TIMEOUT_S, cwd=scratch, env={**os.environ, **NS2_LOCALE, **linked})
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BdpbenchError(f"ns-2 does not answer: {error}", where=command[0]) from None
    if done.returncode != 0:
        raise BdpbenchError(
            f"ns-2 does not answer: {done.stderr.strip()}",
            where=command[0],
            hint="`./bdpbench ns2 build` rebuilds it if it is damaged",
        )
    answers = [line.split(" ", 2) for line in done.stdout.splitlines()]
    agents = [name for each in answers if each[0] == "agents" for name in each[2].split()]
    unknown = [
        (named, each[2] + _meant(named, agents))
        for each in answers
        if each[0] == "unknown"
        for named in [declared[int(each[1])]]
    ]
    missing = set(_NO_PARAMETER.findall(done.stdout))  # of congestion controls of TCP/Linux
    return unknown + [
        (each, f"congestion control {each.ns2_class} of this ns-2 has no parameter {each.name!r}")
        for each in declared
        if each.kind == "parameter" and (each.name, each.ns2_class) in missing
    ]
