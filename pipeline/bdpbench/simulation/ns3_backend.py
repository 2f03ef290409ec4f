"""Compiles the program of ns-3 against the ns-3 of this machine, once, and runs it."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bdpbench.contracts.documents import write_json_atomically
from bdpbench.contracts.files import known_sha256_of, write_atomically
from bdpbench.contracts.paths import home_dir
from bdpbench.contracts.runs import BuildFacts
from bdpbench.errors import BdpbenchError
from bdpbench.processes import run
from bdpbench.simulation.backend import Command
from bdpbench.simulation.build import INFO_NAME, read_facts
from bdpbench.studies.ns3_program import (
    NS3_FLAGS,
    NS3_LIBRARIES,
    NS3_VERSION,
    ns3_build_id,
    ns3_files,
)

BINARY_NAME = "network"
NS3_PACKAGES = "apt-get install --no-install-recommends libns3-dev g++"
_HEADERS, _LIBRARIES = Path("/usr/include/ns3"), Path("/usr/lib")
_TIMEOUT_S = 900.0


@dataclass(frozen=True)
class Ns3Backend:
    """ns-3 on this machine, a ``simulation.backend.Backend``."""

    name: str = "ns3"

    @property
    def build_id(self) -> str:
        """Id of the build of the program of this checkout."""
        return ns3_build_id()

    @property
    def folder(self) -> Path:
        """Where the program and the facts of its build are, for this kind of machine."""
        return home_dir() / "ns3" / f"{self.build_id}-{platform.machine()}"

    def build(self, source: Path | None = None) -> None:
        """Compile the program, unless it is there.

        Raises:
            BdpbenchError: when the compiler, or the ns-3 that the program is for, is not there.
        """
        require_ns3()
        if not self.is_built():
            binary = self.folder / BINARY_NAME
            write_atomically(binary, _compile)
            facts: BuildFacts = {
                "schema_version": 1,
                "build_id": self.build_id,
                "variant": f"ns-{NS3_VERSION}",
                "binary_sha256": known_sha256_of(binary),
                "binary_bytes": binary.stat().st_size,
                "cxx_flags": " ".join(NS3_FLAGS),
                "libraries": " ".join(NS3_LIBRARIES),
                "machine": platform.machine(),
            }
            write_json_atomically(self.folder / INFO_NAME, facts)

    def is_built(self) -> bool:
        """Whether the program is there as it was compiled."""
        binary = self.folder / BINARY_NAME
        facts = read_facts(self.folder / INFO_NAME)
        return binary.is_file() and known_sha256_of(binary) == facts.get("binary_sha256")

    def command(self, run_dir: Path, script: Path, argv: Sequence[str]) -> Command:
        """How to run the program; ``script`` is its source, which it does not need."""
        return Command((str(self.folder / BINARY_NAME), *argv))

    def info(self) -> BuildFacts:
        """The facts of the build, which is made if it is not there.

        Raises:
            BdpbenchError: as ``build``.
        """
        if not self.is_built():
            self.build()
        return read_facts(self.folder / INFO_NAME)


def _compile(made: Path) -> None:
    code = [str(path) for path in ns3_files() if path.suffix == ".cc"]
    command = ["g++", *NS3_FLAGS, "-o", str(made), *code, *NS3_LIBRARIES]
    try:
        done = run(command, _TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise BdpbenchError(
            f"the program of ns-3 was not compiled within {_TIMEOUT_S:g} s and was stopped",
            where=code[-1],
            hint="it takes half a minute on an idle machine; the same command tries again",
        ) from error
    if done.returncode != 0:
        said = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)
        raise BdpbenchError(
            f"the program of ns-3 does not compile: {said.strip()}",
            where=code[-1],
            hint=f"it is written for ns-3.{NS3_VERSION.partition('.')[2]} of Debian 12",
        )


def require_ns3() -> None:
    """Make sure that what the program is compiled with is there.

    Raises:
        BdpbenchError: in one sentence with the packages, if it is not.
    """
    found = sorted(_LIBRARIES.glob("*/libns3-core.so.*"))
    if shutil.which("g++") is None or not found or not (_HEADERS / "core-module.h").is_file():
        said = f"ns-{NS3_VERSION} is not installed"
    elif found[0].name != f"libns3-core.so.{NS3_VERSION.partition('.')[2]}":
        said = f"runs of this engine are those of ns-{NS3_VERSION}, and this machine has {found[0]}"
    else:
        return
    hint = f"on Debian 12, `{NS3_PACKAGES}` installs it"
    raise BdpbenchError(said, where="engine: ns3", hint=hint)
