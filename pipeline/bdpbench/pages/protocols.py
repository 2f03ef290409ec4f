"""A page for each protocol: rules, statements of the study, measured values and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from bdpbench.contracts.plan import Plan, PlannedRun
from bdpbench.contracts.scorecard import CLAIM_VERDICTS, NUMBER_VERDICTS
from bdpbench.pages.chart import Chart
from bdpbench.pages.inputs import StudyTexts
from bdpbench.pages.names import Names
from bdpbench.pages.protocol_charts import protocol_charts
from bdpbench.pages.protocol_data import (
    Parameter,
    ProtocolData,
    data_of,
    read_protocols,
)
from bdpbench.pages.series import RunSeries
from bdpbench.pages.study_page import Statement
from bdpbench.pages.sweeps import is_protocol, protocols_of
from bdpbench.pages.text import MINUS
from bdpbench.pages.verdicts import ClaimRow, NumberRow, Total, tally
from bdpbench.studies.study import ClassDefaults


@dataclass(frozen=True)
class ParameterRow:
    """A parameter with its values as text; ``value`` is the one in the study."""

    parameter: Parameter
    default: str
    range: str
    value: str


@dataclass(frozen=True)
class ProtocolPage:
    """Everything that the page shows about one protocol of the study.

    Attributes:
        key, label: key and label of the protocol in the study.
        finished, planned: numbers of runs in which it has a flow.
        numbers, claims: rows of the scorecard that concern it, and their totals.
    """

    key: str
    label: str
    data: ProtocolData
    parameters: tuple[ParameterRow, ...]
    said: tuple[Statement, ...]
    finished: int
    planned: int
    numbers: tuple[NumberRow, ...]
    number_totals: tuple[Total, ...]
    claims: tuple[ClaimRow, ...]
    claim_totals: tuple[Total, ...]
    charts: tuple[Chart, ...]


@dataclass(frozen=True)
class TierResults:
    """Everything that can be shown of a study: its plan, measured values and verdicts."""

    plan: Plan
    metrics: pl.DataFrame
    numbers: Sequence[NumberRow]
    claims: Sequence[ClaimRow]
    series: Mapping[str, RunSeries]


def protocol_pages(results: TierResults, study: StudyTexts, names: Names) -> list[ProtocolPage]:
    """Pages of the protocols that ``reports/protocols/`` describes, in the order of the study.

    Args:
        results: what to show.
        study: the study with its protocols, and what sets the variables of their agents.
        names: the names for readers.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong under ``reports/protocols/``.
    """
    known = read_protocols()
    found = ((key, data_of(each, known)) for key, each in study.protocols.items())
    return [_page(key, data, study, results, names) for key, data in found if data is not None]


def _page(
    key: str, data: ProtocolData, study: StudyTexts, results: TierResults, names: Names
) -> ProtocolPage:
    runs = [run for run in results.plan["runs"] if key in protocols_of(run)]
    done = [run for run in runs if run["run_id"] in results.series]
    rows = (row for number in results.numbers for row in number.rows)
    numbers = tuple(row for row in rows if key in _protocols_of_number(row))
    claims = tuple(row for row in results.claims if key in row.claim["protocols"])
    text = names.page.of(key)
    charts = protocol_charts(
        key, _alone(done, results.plan), results.metrics, numbers, results.series, names
    )
    return ProtocolPage(
        key=key,
        label=names.protocol(key),
        data=data,
        parameters=tuple(
            _parameter_row(each, _values(each, key, study, runs)) for each in data.parameters
        ),
        said=tuple(text.said),
        finished=len({run["run_id"] for run in done}),
        planned=len({run["run_id"] for run in runs}),
        numbers=numbers,
        number_totals=tally(numbers, NUMBER_VERDICTS),
        claims=claims,
        claim_totals=tally(claims, CLAIM_VERDICTS),
        charts=tuple(charts),
    )


def _alone(runs: Sequence[PlannedRun], plan: Plan) -> list[PlannedRun]:
    """Runs of the scenarios in which no two different protocols meet."""
    mixed = {run["scenario"] for run in plan["runs"] if len(set(protocols_of(run))) > 1}
    return [run for run in runs if run["scenario"] not in mixed]


def _protocols_of_number(row: NumberRow) -> set[str]:
    return {value for name, value in row.number["select"].items() if is_protocol(name)}


def _parameter_row(parameter: Parameter, values: Sequence[float]) -> ParameterRow:
    return ParameterRow(
        parameter=parameter,
        default=_number(parameter.default),
        range=" to ".join(_number(each) for each in parameter.range) if parameter.range else "",
        value=", ".join(_number(each) for each in values),
    )


def _number(value: float) -> str:
    """A parameter with all digits, even if it is small.

    >>> _number(83000), _number(1e-07), _number(0.8)
    ('83,000', '0.0000001', '0.8')
    """
    text = f"{value:,.10f}".rstrip("0").rstrip(".")
    return text.replace("-", MINUS)


def _values(
    parameter: Parameter, key: str, study: StudyTexts, runs: Sequence[PlannedRun]
) -> Sequence[float]:
    """Values of a parameter in the study, ascending: from its runs, settings or defaults."""
    for name, declared in study.parameters.items():
        if parameter.variable in declared.sets.get(key, ()):
            found = {run["parameters"].get(name) for run in runs}
            return sorted(value for value in found if isinstance(value, int | float))
    protocol = study.protocols[key]
    default = _default(parameter, protocol.agent, study.defaults)
    return [protocol.settings.get(parameter.variable, default)]


def _default(parameter: Parameter, agent: str, defaults: ClassDefaults) -> float:
    """Default in the study: that of the agent's own class precedes those of its parents."""
    value, name = parameter.default, "Agent"
    for part in agent.split("/"):
        name = f"{name}/{part}"
        found = defaults.get(name, {}).get(parameter.variable)
        value = found if isinstance(found, int | float) else value
    return value
