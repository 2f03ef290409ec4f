"""Scripts from outside ``tcl/`` that take the place of bdpbench's own of the same file name.

They are scripts like the appendices of sharma2006 as `bdpbench recover` writes them: made for
ns-2.27, run by ``tcl/original.tcl`` in a folder that has ``utils.tcl``, with the arguments of the
scripts whose place they take.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import tcl_dir
from bdpbench.studies.study import DATADIR_ARGUMENT, DUMBBELL_SCRIPT, Scenario

UTILS_NAME = "utils.tcl"

_ARGUMENT = re.compile(r"\[lindex \$argv (\d+)\]")
_END_TIME = re.compile(r"^set endtime (\d+(?:\.\d+)?)\s*(?:;.*)?$", re.MULTILINE)


def outside_files(folder: Path, script: str) -> dict[str, Path]:
    """File name → path of what a run of an outside script needs in its working directory."""
    name = Path(script).name
    return {name: folder / name, UTILS_NAME: tcl_dir() / "lib" / UTILS_NAME}


def outside_checksum(folder: Path, script: str) -> str:
    """SHA-256 over the script and what bdpbench runs it with, names and contents."""
    digest = hashlib.sha256()
    files = outside_files(folder, script)
    for path in (tcl_dir() / "original.tcl", tcl_dir() / "lib" / "agents.tcl"):
        files[path.name] = path
    for name, path in sorted(files.items()):
        digest.update(f"outside/{name}\0{sha256_of(path)}\n".encode())
    return digest.hexdigest()


def unfit(folder: Path, scenario: Scenario) -> str | None:
    """Why no script of ``folder`` can run a scenario; None where one can.

    Its namesake has to take the scenario's arguments, but for two: Appendices A and B simulate
    for a time of their own, which has to be the scenario's, and write into a folder that is named
    like the protocol, which the run makes of its output folder.
    """
    if scenario.script == DUMBBELL_SCRIPT:
        return f"{DUMBBELL_SCRIPT} takes its arguments by name, so that no other can replace it"
    if not folder.is_dir():
        return f"no such folder: {folder}"
    path = folder / Path(scenario.script).name
    if not path.is_file():
        return f"no script {path}"
    text = path.read_text(encoding="utf-8", errors="replace")
    taken = 1 + max((int(index) for index in _ARGUMENT.findall(text)), default=-1)
    for name in scenario.arguments[taken:]:
        if name == "duration_s":
            return _wrong_duration(path, text, scenario)
        if name != DATADIR_ARGUMENT:
            return f"{path} takes no argument {name}"
    return None


def _wrong_duration(path: Path, text: str, scenario: Scenario) -> str | None:
    fixed = _END_TIME.search(text)
    if fixed is None:
        return f"{path} takes no duration"
    for tier, entries in scenario.tiers.items():
        for entry in entries:
            if entry.duration_s != float(fixed.group(1)):
                always = f"{path} always simulates {fixed.group(1)} s"
                return f"{always}, tier {tier} asks for {entry.duration_s:g} s"
    return None
