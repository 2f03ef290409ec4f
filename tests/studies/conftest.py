"""A study's files and plans, for tests of all studies and of single ones."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml  # type: ignore[import-untyped]
from tests.planned_runs import loaded_study, runs_of
from tests.tcl.conftest import (
    built,
    columns,
    facts,
    keys_of,
    ns,
    outputs,
    refused,
    run_ns,
    run_ok,
    tcl_root,
)

from bdpbench.contracts.paths import relative, repository_root
from bdpbench.contracts.plan import PlannedRun
from bdpbench.metrics import Definition, definitions_for
from bdpbench.score import (
    Claim,
    Expectations,
    PublishedNumber,
    load_claims,
    load_published,
    score,
)
from bdpbench.studies.load import find_study
from bdpbench.studies.plan import swept_names, tiers_of
from bdpbench.studies.study import Study

# For the tests of the studies' own Tcl scripts.
__all__ = [
    "built",
    "columns",
    "facts",
    "keys_of",
    "ns",
    "outputs",
    "refused",
    "run_ns",
    "run_ok",
    "tcl_root",
]

Row = dict[str, str]
"""A line of ``published.csv`` by column, as text."""


MetricOf = tuple[str, str, str, str]
"""Scenario, run id, metric and subject."""

_METRICS = {
    "scenario": pl.String,
    "run_id": pl.String,
    "metric": pl.String,
    "subject": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
    "definition": pl.String,
}


class StudyFiles:
    """The files of a study, and the contents of its tiers."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.folder = find_study(key)

    @property
    def study(self) -> Study:
        """``study.yaml``."""
        return loaded_study(self.key)

    @cached_property
    def definitions(self) -> Mapping[str, Definition]:
        """Metrics that its numbers and claims may refer to."""
        return definitions_for(self.folder)

    @cached_property
    def rows(self) -> list[Row]:
        """``published.csv``, read without the pipeline."""
        path = self.folder / "published.csv"
        if not path.is_file():
            return []
        with path.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))

    @cached_property
    def statements(self) -> list[dict[str, Any]]:
        """``claims.yaml``, read without the pipeline."""
        path = self.folder / "claims.yaml"
        found = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader) if path.is_file() else []
        assert isinstance(found, list)
        return found

    @cached_property
    def numbers(self) -> list[PublishedNumber]:
        """``published.csv`` as the pipeline scores it."""
        return load_published(self.folder / "published.csv", set(self.definitions))

    @cached_property
    def claims(self) -> list[Claim]:
        """``claims.yaml`` as the pipeline scores it."""
        return load_claims(self.folder / "claims.yaml", set(self.definitions))

    @property
    def expected(self) -> Expectations:
        """Its numbers and claims."""
        return Expectations(self.numbers, self.claims)

    @property
    def tiers(self) -> list[str]:
        """Tiers in which it has runs."""
        return tiers_of(self.study)

    def planned(self, tier: str) -> list[PlannedRun]:
        """The runs of a tier."""
        return list(runs_of(self.key, tier))

    def plan(self, tier: str) -> dict[str, Any]:
        """The part of a plan that scoring needs: the runs of a tier, and how long they may last."""
        longest_s = {
            name: max(entry.duration_s for entries in scenario.tiers.values() for entry in entries)
            for name, scenario in self.study.scenarios.items()
        }
        return {
            "study": self.key,
            "tier": tier,
            "folder": relative(self.study.folder),
            "scenarios": {
                name: {"longest_s": each, "swept": swept_names(self.study.scenarios[name])}
                for name, each in longest_s.items()
            },
            "runs": self.planned(tier),
        }

    @staticmethod
    def selection(row: Row) -> dict[str, str]:
        """The parameters that a number selects."""
        return _selection(row["select"])

    @staticmethod
    def selectors(claim: dict[str, Any]) -> list[dict[str, Any]]:
        """Every selector of a claim, at any depth."""
        return list(_selectors(claim))

    def matching(
        self, tier: str, scenario: str, select: Mapping[str, Any] | str
    ) -> list[PlannedRun]:
        """Runs of a scenario that match a selector, given as the text of a row or as a mapping."""
        if isinstance(select, str):
            select = _selection(select)
        return [
            run
            for run in self.planned(tier)
            if run["scenario"] == scenario
            and all(_same(value, run["parameters"].get(name)) for name, value in select.items())
        ]

    def printed(self, tier: str) -> dict[MetricOf, float]:
        """The published numbers as values of the runs that they describe.

        If a number is printed twice, the first one counts.
        """
        values: dict[MetricOf, float] = {}
        for each in self.numbers:
            for run in self.matching(tier, each.scenario, each.select)[:1]:
                key = (each.scenario, run["run_id"], each.metric, each.subject)
                values.setdefault(key, each.value)
        return values

    def score(self, tier: str, values: Mapping[MetricOf, float]) -> dict[str, Any]:
        """The scorecard of a tier if its runs had measured these values and nothing else."""
        rows = [
            (*key, value, self.definitions[key[2]].unit, self.definitions[key[2]].id)
            for key, value in values.items()
        ]
        metrics = pl.DataFrame(rows, schema=_METRICS, orient="row")
        return score(self.plan(tier), metrics, self.expected)

    @property
    def published(self) -> Path:
        """The folder of its published results, which may not exist."""
        return repository_root() / "reports" / "published" / self.key


def _same(wanted: Any, given: Any) -> bool:
    """Whether a selector's value equals that of a run: numbers by value, others as text."""
    try:
        return float(wanted) == float(given)
    except (TypeError, ValueError):
        return str(wanted) == str(given)


def _selection(text: str) -> dict[str, str]:
    return dict(part.split("=") for part in text.split(";") if part)


def _selectors(node: Any, scenarios: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Selectors of a node; one without a scenario counts for each that its for_each names."""
    if isinstance(node, list):
        for each in node:
            yield from _selectors(each, scenarios)
    elif isinstance(node, dict) and "metric" in node:
        for scenario in [node["scenario"]] if "scenario" in node else scenarios:
            yield {**node, "scenario": scenario}
    elif isinstance(node, dict):
        own = node.get("values", {}).get("scenario", scenarios)
        for each in node.values():
            yield from _selectors(each, own)


@pytest.fixture(scope="session")
def study_of() -> Callable[[str], StudyFiles]:
    """The study with a key; each study is read and planned only once."""
    return cache(StudyFiles)


@pytest.fixture(scope="module")
def study(request: pytest.FixtureRequest, study_of: Callable[[str], StudyFiles]) -> StudyFiles:
    """The study whose tests are in the folder with its name."""
    return study_of(request.path.parent.name)
