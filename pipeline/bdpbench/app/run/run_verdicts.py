"""Verdicts of the numbers that one finished run decides, while other runs go on."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench.app.run.stages import definitions_of, measure_plan, parse_runs
from bdpbench.contracts.plan import Plan
from bdpbench.contracts.scorecard import ScoredNumber
from bdpbench.errors import BdpbenchError

if TYPE_CHECKING:
    from bdpbench.score.published import PublishedNumber


class RunVerdicts:
    """Measures single runs against the published numbers of a plan's study.

    Its tables and values are those that the workflow would make a little later, so that no work is
    done twice.
    """

    def __init__(self, plan: Plan, runs_dir: Path) -> None:
        self._plan = plan
        self._runs_dir = runs_dir

    @cached_property
    def _published(self) -> list[PublishedNumber]:
        from bdpbench.score import load_published

        return load_published(
            Path(self._plan["folder"]) / "published.csv", definitions_of(self._plan)
        )

    def of(self, run_id: str) -> list[ScoredNumber]:
        """The scored numbers that need no other run; none where the run cannot be measured.

        What is wrong with such a run is told by the workflow's own stages.
        """
        from bdpbench.score import score

        runs = [run for run in self._plan["runs"] if run["run_id"] == run_id]
        alone: Plan = {**self._plan, "runs": runs}
        try:
            parse_runs([self._runs_dir / run_id], alone)
            metrics = measure_plan(alone, self._runs_dir)
            numbers = score(alone, metrics, self._published, [])["numbers"]
        except BdpbenchError:
            return []
        return [each for each in numbers if each["verdict"] != "not_run"]
