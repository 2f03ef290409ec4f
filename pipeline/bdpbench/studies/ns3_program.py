"""The program of ns-3: its files, and what the ids of its runs and of its build are made of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import package_dir
from bdpbench.contracts.plan import Identity, PlannedRun
from bdpbench.studies.identity import Versions

NS3_VERSION = "3.37"
"""The version of ns-3 that the program is written and checked for; others are refused."""

NS3_FLAGS = ("-std=c++17", "-O2", "-Wall")
NS3_LIBRARIES = ("-lns3-traffic-control", "-lns3-internet", "-lns3-network", "-lns3-core")

_SUFFIXES = (".cc", ".h")


def is_ns3(script: str) -> bool:
    """Whether a script, as plans and specs name it, is the program of ns-3."""
    return script.endswith(_SUFFIXES)


def simulators(runs: Iterable[PlannedRun]) -> list[str]:
    """Names of the simulators of some runs."""
    return sorted({f"ns-{NS3_VERSION}" if is_ns3(run["script"]) else "ns-2.35" for run in runs})


def builds_of(runs: Iterable[PlannedRun], ns2_build_id: str) -> dict[str, str]:
    """Simulator of some runs → id of its build; ns-2 if there are none."""
    ids = {"ns-2.35": ns2_build_id, f"ns-{NS3_VERSION}": ns3_build_id()}
    return {name: ids[name] for name in simulators(runs) or ["ns-2.35"]}


def ns3_program() -> Path:
    """The file with the main function of the program."""
    return package_dir() / "simulation" / "ns3" / "network.cc"


def ns3_files() -> list[Path]:
    """All files of the program."""
    return sorted(path for path in ns3_program().parent.iterdir() if path.suffix in _SUFFIXES)


def ns3_code_digest() -> str:
    """SHA-256 over the versions of the program's files."""
    return Versions().digest(ns3_files())


def ns3_digest() -> str:
    """SHA-256 of what else decides how ns-3 behaves: its version, and how the program is made."""
    return hashlib.sha256(" ".join((NS3_VERSION, *NS3_FLAGS)).encode()).hexdigest()


def ns3_build_id() -> str:
    """Id of the build of the program."""
    made_of = "".join([*map(sha256_of, ns3_files()), ns3_digest()])
    return hashlib.sha256(made_of.encode()).hexdigest()[:16]


def ns3_identity(argv: Sequence[str]) -> Identity:
    """Identity of a run of ns-3; its program stands in place of the Tcl files."""
    return {"argv": list(argv), "tcl": ns3_code_digest(), "ns2": ns3_digest(), "streams": []}
