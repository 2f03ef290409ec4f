"""Documents as they are kept: without a path of the machine that they were made on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.plan import Plan, PlannedRun, ScenarioText
from bdpbench.contracts.runs import RunRecord

OUTSIDE_FOLDER = "scripts"


def study_place(key: str) -> str:
    """Where a study lies in a checkout, and under ``source/`` of an archive."""
    return f"config/studies/{key}"


class Portable:
    """Paths as an archive has them: those of the study and of the checkout are relative.

    Of a path that leads anywhere else only the last part is kept.

    Args:
        study: key of the study.
        folder: where its files lie; a study may lie outside the checkout.
    """

    def __init__(self, study: str, folder: Path) -> None:
        self._places: Sequence[tuple[Path, str]] = (
            (folder, study_place(study)),
            (repository_root(), ""),
        )

    def path(self, path: str) -> str:
        """A path without the machine; a relative one is none of the machine."""
        if not path.startswith("/"):
            return path
        for folder, place in self._places:
            if Path(path).is_relative_to(folder):
                return (PurePosixPath(place) / Path(path).relative_to(folder)).as_posix()
        return f"{OUTSIDE_FOLDER}/{PurePosixPath(path).name}"

    def record(self, record: RunRecord) -> RunRecord:
        """A run's record in which scripts have lost the folders that they lie in.

        Their checksums stay. Nothing else of a record tells of the machine but its kind (``Linux
        x86_64``), the compiler, and what the run cost.
        """
        script = record["script"]
        files = {self.path(name): sha256 for name, sha256 in script["files"].items()}
        return {**record, "script": {"path": self.path(script["path"]), "files": files}}

    def plan(self, plan: Plan) -> Plan:
        """A plan whose study and scripts have lost the folders that they lie in."""
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
