"""The inputs of a report: results, the texts of its study, and the words of all reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import polars as pl

from bdpbench.contracts.plan import Plan, PlannedRun
from bdpbench.contracts.runs import Definition, RunRecord
from bdpbench.contracts.scorecard import Scorecard
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.pages.names import Captions, Names, are_mixed, grouped
from bdpbench.pages.series import PageSeries, embed_json
from bdpbench.pages.text import assets_dir, read_asset
from bdpbench.pages.texts import Elsewhere, Matrix, StudyPage
from bdpbench.studies.ns3_program import simulators
from bdpbench.studies.parts import Protocol
from bdpbench.studies.study import Citation, ClassDefaults, QueueDeclaration
from bdpbench.studies.vocabulary import REPETITION, ParameterDeclaration

MOST_RUNS_OF_ONE_FILE = 100
"""Runs above which a page has files beside it: as one file it could exceed 2 MB."""

LoadSeries: TypeAlias = Callable[[str, int], str]
"""(run id, bins) → what ``pages.series.series_text`` makes of the run, or has stored."""

RunRecords: TypeAlias = Mapping[str, RunRecord]
"""Run id → content of ``run.json``, for finished runs."""


@dataclass(frozen=True)
class StudyTexts:
    """The texts of a study about itself.

    Attributes:
        title, description, citation: as in ``study.yaml``.
        protocols: key → its agent and settings; those with a description get a page.
        queues: key → its kind or folder and settings; those that are folders get a page.
        parameters: its own parameters, and which variables of agents they set.
        defaults: class of ns-2 → variable → value that all runs get.
        page: content of ``page.yaml``.
        matrices: content of ``matrices.yaml``.
        notes: Markdown of ``NOTES.md``.
        elsewhere: key of a protocol → what reports of other studies say about it.
    """

    title: str
    description: str = ""
    citation: Citation | None = None
    protocols: Mapping[str, Protocol] = field(default_factory=dict)
    queues: Mapping[str, QueueDeclaration] = field(default_factory=dict)
    parameters: Mapping[str, ParameterDeclaration] = field(default_factory=dict)
    defaults: ClassDefaults = field(default_factory=dict)
    page: StudyPage = field(default_factory=StudyPage)
    matrices: Sequence[Matrix] = ()
    notes: str = ""
    elsewhere: Mapping[str, Sequence[Elsewhere]] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportInputs:
    """A tier of a study, with everything that was planned, run, measured and scored.

    Attributes:
        plan: content of ``plan.json``.
        metrics: table of ``metrics.parquet``.
        scorecard: content of ``scorecard.json``.
        definitions: definitions of all metrics.
        run_info: the finished runs; others of the plan are shown as not run.
        study: its texts.
        load_series: returns the chart data of a run.
        repetitions: means over runs that differ only in their random numbers: scenario, metric,
            subject, unit, run_ids, mean, low, high; None if they are not requested.
        places: run id → folder of a run whose output files can be linked, relative to the folder of
            all runs.
    """

    plan: Plan
    metrics: pl.DataFrame
    scorecard: Scorecard
    definitions: Sequence[Definition]
    load_series: LoadSeries
    run_info: RunRecords
    study: StudyTexts
    repetitions: pl.DataFrame | None = None
    places: Mapping[str, str] = field(default_factory=dict)

    @property
    def simulators(self) -> list[str]:
        """Names of the simulators of its runs."""
        return simulators(self.plan["runs"])


def read_captions(page: StudyPage | None = None) -> Captions:
    """Words of ``reports/captions.yaml``, and a study's own, which take precedence.

    Raises:
        BdpbenchError: when the file is missing or lacks a section.
    """
    read_asset("captions.yaml")
    path, own = assets_dir() / "captions.yaml", page or StudyPage()
    common = YamlFile(path).validate(Captions)
    parameters = {**common.parameters, **own.parameters}
    return common.model_copy(update={"parameters": parameters, "filled_share": own.filled_share})


def shown_over_time(plan: Plan) -> Set[str]:
    """Ids of the runs that a report shows over time: of scenarios with ``time_series``.

    Where different protocols meet, runs are shown one by one, and a report that does not fit in one
    file shows of their repetitions only the first: the others would be the larger part of it.
    """
    found = set[str]()
    is_large = len({run["run_id"] for run in plan["runs"]}) > MOST_RUNS_OF_ONE_FILE
    for key, runs in grouped(plan["runs"], lambda run: run["scenario"]).items():
        if not plan["scenarios"][key].get("time_series", True):
            continue
        if is_large and are_mixed(runs):
            alike = grouped(runs, lambda run: (*{**run["parameters"], REPETITION: 0}.items(),))
            runs = [min(each, key=_repetition) for each in alike.values()]
        found.update(run["run_id"] for run in runs)
    return found


def _repetition(run: PlannedRun) -> float:
    return float(run["parameters"].get(REPETITION, 0))


@dataclass(frozen=True)
class ReportData:
    """The inputs of a report in the form that its sections need.

    Attributes:
        inputs: what to show.
        bins: intervals of time whose extremes a series keeps.
    """

    inputs: ReportInputs
    bins: int

    @cached_property
    def names(self) -> Names:
        """The names for readers."""
        captions = read_captions(self.inputs.study.page)
        return Names(self.inputs.plan, captions, self.inputs.definitions)

    @cached_property
    def series(self) -> PageSeries:
        """Run id → table → subject → packed points, for finished runs in the order of the plan."""
        inputs, bins = self.inputs, self.bins

        def load(run_id: str) -> str:
            return (
                embed_json({}) if run_id in self.values_only else inputs.load_series(run_id, bins)
            )

        return PageSeries((each for each in self.runs if each in inputs.run_info), load)

    @cached_property
    def values_only(self) -> Set[str]:
        """Runs that are not shown over time."""
        return self.runs.keys() - shown_over_time(self.inputs.plan)

    @cached_property
    def runs(self) -> dict[str, PlannedRun]:
        """Run id → the run, at its first place in the plan."""
        runs: dict[str, PlannedRun] = {}
        for run in self.inputs.plan["runs"]:
            runs.setdefault(run["run_id"], run)
        return runs

    @cached_property
    def scenarios(self) -> dict[str, list[PlannedRun]]:
        """Scenario → its planned runs."""
        return grouped(self.inputs.plan["runs"], lambda run: run["scenario"])
