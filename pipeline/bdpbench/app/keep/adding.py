"""Scenarios that a published report lacks, measured in the runs of this machine."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bdpbench.app.planning import Prepared, is_finished
from bdpbench.app.stages import measure_plan, parse_runs, report_inputs
from bdpbench.contracts.plan import Plan
from bdpbench.contracts.reports import KeptRun
from bdpbench.contracts.scorecard import Scorecard
from bdpbench.errors import BdpbenchError

if TYPE_CHECKING:
    import polars as pl

    from bdpbench.pages.inputs import ReportInputs


@dataclass(frozen=True)
class Added:
    """Scenarios that are published for the first time, beside others that are kept.

    Attributes:
        prepared: the whole tier.
        scenarios: keys of those that are added.
        metrics: of their runs, as in ``metrics.parquet``.
    """

    prepared: Prepared
    scenarios: Sequence[str]
    metrics: pl.DataFrame

    @property
    def run_ids(self) -> list[str]:
        """Their runs, each once."""
        return list(dict.fromkeys(run["run_id"] for run in _part(self)["runs"]))

    def inputs(self, scorecard: Scorecard) -> ReportInputs:
        """What a report of these scenarios alone shows."""
        return report_inputs(_part(self), self.metrics, scorecard, self.prepared.paths.runs)


def _part(added: Added) -> Plan:
    return _of_scenarios(added.prepared.plan, added.scenarios)


def _of_scenarios(plan: Plan, scenarios: Collection[str]) -> Plan:
    return {**plan, "runs": [run for run in plan["runs"] if run["scenario"] in scenarios]}


def measure_added(prepared: Prepared, kept: Sequence[KeptRun], where: str) -> Added:
    """Measure the scenarios of a tier that none of its published runs is part of.

    A scenario is added whole or not at all: metrics that take several runs together would
    otherwise be made of some that are kept and some that are not.

    Args:
        prepared: the tier as it is planned.
        kept: its published runs.
        where: they are published, for messages.

    Raises:
        BdpbenchError: when no scenario is new, or when runs of a new one are not finished.
    """
    known = {place["scenario"] for run in kept for place in run["places"]}
    new = list(dict.fromkeys(run["scenario"] for run in prepared.runs))
    scenarios = [each for each in new if each not in known]
    if not scenarios:
        raise BdpbenchError(
            "there is nothing to add: the published report has every scenario of its tier",
            where=where,
            hint="leave --add out",
        )
    runs = [run for run in prepared.runs if run["scenario"] in scenarios]
    missing = [run for run in runs if not is_finished(prepared.paths, run)]
    if missing:
        plan = prepared.plan
        raise BdpbenchError(
            f"{len(missing)} of {len(runs)} runs of the scenarios to add"
            f" ({', '.join(scenarios)}) have no results",
            where=str(prepared.paths.folder),
            hint=f"`./bdpbench run {plan['study']} --tier {plan['tier']} --scenario"
            f" {missing[0]['scenario']}` simulates those of one scenario",
        )
    parse_runs(prepared.paths.run(each) for each in dict.fromkeys(run["run_id"] for run in runs))
    metrics = measure_plan(_of_scenarios(prepared.plan, scenarios), prepared.paths.runs)
    return Added(prepared, scenarios, metrics)
