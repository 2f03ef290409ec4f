"""Documents in the form to keep: without paths of the machine that made them."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from bdpbench.contracts.paths import repository_root, resolved
from bdpbench.contracts.plan import Plan, PlannedRun
from bdpbench.contracts.runs import RunRecord, ScriptRecord

OUTSIDE_FOLDER = "scripts"


def study_place(key: str) -> str:
    """Path of a study in a checkout, and under ``source/`` of an archive."""
    return f"config/studies/{key}"


class Portable:
    """Paths for an archive, all below the root of a checkout: the study is put where others are.

    Of any other path outside the checkout only the last part is kept.

    Args:
        study: key of the study.
        folder: folder of its files, which may be outside the checkout.
    """

    def __init__(self, study: str, folder: Path) -> None:
        self._places: Sequence[tuple[Path, str]] = (
            (folder, study_place(study)),
            (repository_root(), ""),
        )

    def path(self, path: str) -> str:
        """A path from the checkout that leads nowhere else on this machine."""
        found = resolved(path)
        for folder, place in self._places:
            if found.is_relative_to(folder):
                return (PurePosixPath(place) / found.relative_to(folder)).as_posix()
        return f"{OUTSIDE_FOLDER}/{found.name}"

    def record(self, record: RunRecord) -> RunRecord:
        """A run's record with scripts without their folders.

        Their checksums are kept. All else that a record reveals about the machine is its kind
        (``Linux x86_64``), the compiler, and the cost of the run.
        """
        return {**record, "script": self.script(record["script"])}

    def script(self, script: ScriptRecord) -> ScriptRecord:
        """The record of a script without the folders of its files."""
        files = {self.path(name): sha256 for name, sha256 in script["files"].items()}
        return {"path": self.path(script["path"]), "files": files}

    def plan(self, plan: Plan) -> Plan:
        """A plan with study and scripts without their folders."""
        return {
            **plan,
            "folder": self.path(plan["folder"]),
            "runs": [self._run(run) for run in plan["runs"]],
        }

    def _run(self, run: PlannedRun) -> PlannedRun:
        scripts = run["scripts"]
        return {
            **run,
            "script": posixpath.relpath(self.path(f"tcl/{run['script']}"), "tcl"),
            "scripts": self.path(scripts) if scripts else None,
        }
