"""Verdicts of numbers that a single finished run decides, while other runs continue."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench.app.stages import definitions_of, measure_plan
from bdpbench.contracts.plan import Plan, PlannedRun, study_folder
from bdpbench.contracts.scorecard import ScoredNumber
from bdpbench.errors import BdpbenchError

if TYPE_CHECKING:
    from bdpbench.score.published import PublishedNumber


class RunVerdicts:
    """Judges single runs, which their batch has measured, by the numbers of the study."""

    def __init__(self, plan: Plan, runs_dir: Path) -> None:
        self._plan = plan
        self._runs_dir = runs_dir

    @cached_property
    def _published(self) -> dict[str, list[PublishedNumber]]:
        """Scenario → its numbers."""
        from bdpbench.score import load_published

        path = study_folder(self._plan) / "published.csv"
        found: dict[str, list[PublishedNumber]] = {}
        for each in load_published(path, definitions_of(self._plan)):
            found.setdefault(each.scenario, []).append(each)
        return found

    @cached_property
    def _places(self) -> dict[str, list[PlannedRun]]:
        """Run id → the run's places in scenarios with numbers."""
        found: dict[str, list[PlannedRun]] = {}
        for run in self._plan["runs"]:
            if run["scenario"] in self._published:
                found.setdefault(run["run_id"], []).append(run)
        return found

    def of(self, run_id: str) -> list[ScoredNumber]:
        """The scored numbers that need no other run; none if the run cannot be measured.

        Its batch and the report say what is wrong with such a run.
        """
        from bdpbench.score import score_rows

        runs = self._places.get(run_id, [])
        published = [each for run in runs for each in self._published[run["scenario"]]]
        if not published:
            return []
        alone: Plan = {**self._plan, "runs": runs}
        try:
            metrics = measure_plan(alone, self._runs_dir)
            numbers = score_rows(alone, metrics, published)
        except BdpbenchError:
            return []
        return [each for each in numbers if each["verdict"] != "not_run"]
