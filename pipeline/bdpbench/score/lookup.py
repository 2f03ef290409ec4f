"""Finding the metric of a run that a published number or a claim speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from bdpbench.errors import BdpbenchError
from bdpbench.studies.study import known_or_suggest


@dataclass(frozen=True)
class Measured:
    """A metric row: value (None: never reached, or not defined), unit, definition, run."""

    value: float | None
    unit: str
    definition: str
    run_id: str
    label: str
    parameters: Mapping[str, Any]


def same_value(wanted: Any, given: Any) -> bool:
    """Whether a selector's value is that of a run: numbers by value, everything else as text.

    >>> same_value("50", 50.0), same_value("HS", "HS"), same_value("5", "HS")
    (True, True, False)
    """
    try:
        return float(wanted) == float(given)
    except (TypeError, ValueError):
        return str(wanted) == str(given)


class Lookup:
    """The metrics of a plan, to be asked by scenario, parameters, metric and subject.

    Args:
        plan: as in ``plan.json``.
        metrics: as in ``metrics.parquet``.
    """

    def __init__(self, plan: Mapping[str, Any], metrics: pl.DataFrame) -> None:
        self._scenarios = plan["scenarios"]
        self._runs = plan["runs"]
        self._rows: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        for row in metrics.iter_rows(named=True):
            key = (row["scenario"], row["run_id"], row["metric"])
            self._rows.setdefault(key, []).append(row)

    def runs(self, scenario: str, select: Mapping[str, Any], where: str) -> list[dict[str, Any]]:
        """Runs of a scenario whose parameters are as selected; none if the tier has none.

        Raises:
            BdpbenchError: for an unknown scenario or parameter.
        """
        unknown = known_or_suggest(scenario, self._scenarios, "scenario")
        if unknown:
            raise BdpbenchError(unknown[0], where=where, hint=unknown[1])
        runs = [run for run in self._runs if run["scenario"] == scenario]
        parameters = {name for run in runs for name in run["parameters"]}
        for name in select if runs else ():
            unknown = known_or_suggest(name, parameters, "parameter")
            if unknown:
                raise BdpbenchError(unknown[0], where=where, hint=unknown[1])
        return [
            run
            for run in runs
            if all(
                name in run["parameters"] and same_value(value, run["parameters"][name])
                for name, value in select.items()
            )
        ]

    def all(
        self,
        scenario: str,
        select: Mapping[str, Any],
        metric: str,
        subject: str | None,
        where: str,
    ) -> list[Measured]:
        """Every row of a metric among the selected runs that were long enough to have it.

        What had not come when a run ended is left out where a tier of the study runs the scenario
        for longer: a short run does not tell that it never comes.
        """
        return [
            Measured(
                row["value"],
                row["unit"],
                row["definition"],
                run["run_id"],
                run["label"],
                run["parameters"],
            )
            for run in self.runs(scenario, select, where)
            for row in self._rows.get((scenario, run["run_id"], metric), [])
            if subject is None or row["subject"] == subject
            if row["value"] is not None or not self._is_shortened(run)
        ]

    def _is_shortened(self, run: Mapping[str, Any]) -> bool:
        longest_s = self._scenarios[run["scenario"]].get("longest_s", 0)
        return bool(run["parameters"].get("duration_s", longest_s) < longest_s)

    def one(
        self,
        scenario: str,
        select: Mapping[str, Any],
        metric: str,
        subject: str | None,
        where: str,
    ) -> Measured | None:
        """The one row of a metric that is selected; None where it was not run.

        Raises:
            BdpbenchError: when the selector fits several rows.
        """
        found = self.all(scenario, select, metric, subject, where)
        if len(found) > 1:
            labels = ", ".join(sorted({each.label for each in found}))
            raise BdpbenchError(
                f"ambiguous selector: {metric} fits {len(found)} rows ({labels})",
                where=where,
                hint="name more parameters in select",
            )
        return found[0] if found else None
