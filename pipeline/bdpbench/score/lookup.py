"""Finds the runs and the metric of a run that a published number or a claim refers to.

Errors name no place: whoever asks knows it, see ``located``.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
from pydantic import Field

from bdpbench.contracts.plan import Parameters, Plan, PlannedRun, Scalar, values_of
from bdpbench.contracts.scorecard import Evidence
from bdpbench.contracts.yaml_files import Location, Strict, YamlFile, known_or_suggest, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.score.chance import ends_of


@contextmanager
def located(where: str) -> Iterator[None]:
    """Give errors inside the block their place: a file and line, or a file and an id."""
    try:
        yield
    except BdpbenchError as error:
        raise BdpbenchError(error.message, where=where, hint=error.hint) from None


@contextmanager
def located_in(path: Path, location: Location) -> Iterator[None]:
    """Give errors inside the block their place in a YAML file: the line of a key."""
    try:
        yield
    except BdpbenchError as error:
        raise YamlFile(path).error(location, error.message, error.hint) from None


class Asked(Strict):
    """A metric of certain runs, as asked for by a published number or a selector of a claim.

    ``select`` names parameters and their values; ``subject`` is None if any will do.
    """

    scenario: str = ""  # if absent, that of the enclosing for_each
    select: dict[str, Scalar] = Field(default_factory=dict)
    metric: str = ""
    subject: str | None = None


@dataclass(frozen=True)
class Measured:
    """A row of metrics: value (None: never reached or not defined), unit, definition, run."""

    subject: str
    value: float | None
    unit: str
    definition: str
    run_id: str
    label: str
    parameters: Parameters

    def evidence(self, metric: str) -> Evidence:
        """The row as a scorecard has it."""
        label = f"{metric}, {self.label}"
        return {"label": label, "value": self.value, "unit": self.unit, "run_id": self.run_id}


def comparable(value: Scalar) -> float | str:
    """A value as selectors compare it: numbers by value, everything else as text.

    >>> comparable("50") == comparable(50.0), comparable("HS"), comparable("5") == comparable("HS")
    (True, 'HS', False)
    """
    try:
        return float(value)
    except (ValueError, OverflowError):
        return str(value)


def _require_known(name: str, known: Collection[str], what: str) -> None:
    if unknown := known_or_suggest(name, known, what):
        raise BdpbenchError(unknown[0], hint=unknown[1])


class RunIndex:
    """Runs by scenario and by the values of their parameters.

    Args:
        scenarios: keys of all scenarios of the study, with runs here or not.
        runs: the runs to search, in the order of results.
    """

    def __init__(self, scenarios: Collection[str], runs: Iterable[PlannedRun]) -> None:
        self._scenarios = scenarios
        self._runs: dict[str, list[PlannedRun]] = {}
        for run in runs:
            self._runs.setdefault(run["scenario"], []).append(run)
        # Scenario and parameter → value → indices of its runs; made when asked for, since few of
        # the parameters of thousands of runs are.
        self._places: dict[tuple[str, str], dict[float | str, set[int]]] = {}

    def _places_of(self, scenario: str, name: str) -> dict[float | str, set[int]]:
        """Value of a parameter → indices of the runs of a scenario that have it."""
        if (scenario, name) not in self._places:
            by_value = self._places[scenario, name] = {}
            for place, run in enumerate(self._runs.get(scenario, [])):
                for value in values_of(run, name):
                    by_value.setdefault(comparable(value), set()).add(place)
        return self._places[scenario, name]

    def find(self, asked: Asked) -> list[PlannedRun]:
        """Runs of a scenario with the selected parameters; may be empty.

        Raises:
            BdpbenchError: for an unknown scenario or parameter.
        """
        _require_known(asked.scenario, self._scenarios, "scenario")
        runs = self._runs.get(asked.scenario, [])
        selected: list[set[int]] = []
        for name, value in asked.select.items() if runs else ():
            places = self._places_of(asked.scenario, name)
            if not places:
                _require_known(
                    name, {key for run in runs for key in run["parameters"]}, "parameter"
                )
            selected.append(places.get(comparable(value), set()))
        if not selected:
            return list(runs)
        # Starting with the smallest set, which excludes most of thousands of runs at once.
        return [runs[place] for place in sorted(set.intersection(*sorted(selected, key=len)))]

    def none_found(self, asked: Asked) -> BdpbenchError:
        """The error about a selector for which ``find`` finds no run."""
        for name, value in asked.select.items():
            known = self._places_of(asked.scenario, name)
            if comparable(value) not in known:
                values = [f"{each:g}" if isinstance(each, float) else each for each in known]
                message = f"no run of {asked.scenario} has {name}={value}"
                return BdpbenchError(message, hint=suggest(str(value), values))
        wanted = ", ".join(f"{name}={value}" for name, value in asked.select.items())
        if not wanted:
            return BdpbenchError(f"scenario {asked.scenario} has no run in any tier")
        return BdpbenchError(f"no run of {asked.scenario} has all of {wanted}")


class Lookup:
    """The metrics of a plan, found by scenario, parameters, metric and subject.

    Args:
        plan: as in ``plan.json``.
        metrics: as in ``metrics.parquet``.
    """

    def __init__(self, plan: Plan, metrics: pl.DataFrame) -> None:
        self._scenarios = plan["scenarios"]
        self._index = RunIndex(plan["scenarios"], plan["runs"])
        self._rows: dict[tuple[str, str, str], list[tuple[str, float | None, str, str]]] = {}
        columns = ("scenario", "run_id", "metric", "subject", "value", "unit", "definition")
        for scenario, run_id, metric, *row in metrics.select(columns).rows():
            self._rows.setdefault((scenario, run_id, metric), []).append(tuple(row))

    def runs(self, asked: Asked) -> list[PlannedRun]:
        """Runs of a scenario with the selected parameters; none if the tier has none.

        Raises:
            BdpbenchError: for an unknown scenario or parameter.
        """
        return self._index.find(asked)

    def all(self, asked: Asked) -> list[Measured]:
        """Every row of a metric among the selected runs that were long enough to have it.

        A value that a run never reached is left out if a tier of the study runs the scenario for
        longer, since a short run does not show that it is never reached.
        """
        return [
            Measured(*row, run["run_id"], run["label"], run["parameters"])
            for run in self.runs(asked)
            for row in self._rows.get((asked.scenario, run["run_id"], asked.metric), [])
            if asked.subject is None or row[0] == asked.subject
            if row[1] is not None or not self._is_shortened(run)
        ]

    def _is_shortened(self, run: PlannedRun) -> bool:
        longest_s = self._scenarios[run["scenario"]]["longest_s"]
        return float(run["parameters"].get("duration_s", longest_s)) < longest_s

    def one(self, asked: Asked) -> Measured | None:
        """The single selected row of a metric; None if it was not run.

        Raises:
            BdpbenchError: when the selector matches several rows.
        """
        found = self.all(asked)
        if len(found) > 1:
            labels = ", ".join(sorted({each.label for each in found}))
            raise BdpbenchError(
                f"ambiguous selector: {asked.metric} fits {len(found)} rows ({labels})",
                hint="name more parameters in select",
            )
        return found[0] if found else None

    def mean(self, asked: Asked, over: Sequence[str]) -> Measured | None:
        """The mean of the selected rows, which differ only in some parameters; None if incomplete.

        A run that stands for several values of such a parameter (``alike``) counts once for each of
        them.

        Raises:
            BdpbenchError: when rows differ in anything else, or the runs lack such a parameter.
        """
        runs = self.runs(asked)
        check_means(asked, over, runs)
        found = {row.run_id: row for row in self.all(asked)}
        if not runs or any(run["run_id"] not in found for run in runs):
            return None
        rows = [found[run["run_id"]] for run in runs]
        weights = [math.prod(len(values_of(run, name)) for name in over) for run in runs]
        known = [row.value for row in rows if row.value is not None]
        value = statistics.fmean(known, weights) if len(known) == len(rows) else None
        selected = ", ".join(f"{name} {each}" for name, each in asked.select.items())
        label = f"mean of {len(rows)} runs of {asked.scenario}, {selected}"
        return replace(rows[0], value=value, label=label)


class Means(Lookup):
    """The means of what several lookups of the same plan find; None where one has no value.

    Args:
        each: the lookups.
        estimates: metrics of which an estimate of a share may be above all of it, by its error.
    """

    def __init__(self, each: Sequence[Lookup], estimates: Collection[str]) -> None:
        self._index, self._each, self._estimates = each[0]._index, each, estimates

    def all(self, asked: Asked) -> list[Measured]:
        """The mean of each row that all of them find."""
        found = [{(row.run_id, row.subject): row for row in one.all(asked)} for one in self._each]
        means = []
        for key, row in found[0].items():
            values = [one[key].value if key in one else None for one in found]
            known = [value for value in values if value is not None]
            # Equal values are their own mean, which their sum may miss by rounding.
            mean = statistics.fmean(known) if len(set(known)) > 1 else row.value
            if asked.metric in self._estimates and mean is not None:
                mean = min(mean, max(ends_of(row.unit)))
            means.append(replace(row, value=mean if len(known) == len(values) else None))
        return means


def check_means(asked: Asked, over: Sequence[str], runs: Sequence[PlannedRun]) -> None:
    """Refuse a mean over runs that differ in parameters that are not named.

    Raises:
        BdpbenchError: naming two such runs, or a parameter that a run does not have.
    """
    seen: dict[tuple[float | str, ...], str] = {}
    for run in runs:
        if unknown := [name for name in over if name not in run["parameters"]]:
            raise BdpbenchError(
                f"mean_over: {run['label']} has no {unknown[0]}",
                hint=suggest(unknown[0], run["parameters"]),
            )
        place = tuple(comparable(run["parameters"][name]) for name in over)
        if place in seen:
            raise BdpbenchError(
                f"ambiguous selector: {asked.metric} of {seen[place]} and of {run['label']} differ "
                "in more than mean_over names",
                hint="name more parameters in select, or in mean_over",
            )
        seen[place] = run["label"]


def point_of(parameters: Parameters, along: str, label: str) -> float:
    """The value of a swept parameter in a run, by which the points of the sweep are ordered.

    Raises:
        BdpbenchError: when the run does not have the parameter, or it is not a number.
    """
    value = parameters.get(along)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BdpbenchError(
            f"along: {along!r} is not a number among the parameters of {label}",
            hint=suggest(
                along, [key for key, each in parameters.items() if not isinstance(each, str)]
            ),
        )
    return value
