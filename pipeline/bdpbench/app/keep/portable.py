"""Documents in the form to keep: without paths of the machine that made them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.plan import Plan, PlannedRun, ScenarioText
from bdpbench.contracts.runs import RunRecord, ScriptRecord

OUTSIDE_FOLDER = "scripts"


def study_place(key: str) -> str:
    """Path of a study in a checkout, and under ``source/`` of an archive."""
    return f"config/studies/{key}"


class Portable:
    """Paths for an archive: those of the study and of the checkout are made relative.

    Of any other path only the last part is kept.

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
        """A path without parts of this machine; relative paths are unchanged."""
        if not path.startswith("/"):
            return path
        for folder, place in self._places:
            if Path(path).is_relative_to(folder):
                return (PurePosixPath(place) / Path(path).relative_to(folder)).as_posix()
        return f"{OUTSIDE_FOLDER}/{PurePosixPath(path).name}"

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
            "scenarios": {key: self._scenario(each) for key, each in plan["scenarios"].items()},
            "runs": [self._run(run) for run in plan["runs"]],
        }

    def _scenario(self, text: ScenarioText) -> ScenarioText:
        return {**text, "script": self.path(text["script"])}

    def _run(self, run: PlannedRun) -> PlannedRun:
        scripts = run["scripts"]
        return {
            **run,
            "script": self.path(run["script"]),
            "scripts": self.path(scripts) if scripts else None,
        }
