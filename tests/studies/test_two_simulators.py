"""``config/two_simulators``: each cell is simulated by both, and compared by hand-checked means."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bdpbench.app.stages import elsewhere_of
from bdpbench.contracts.paths import config_dir
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import definitions_for
from bdpbench.metrics.groups import Group
from bdpbench.score import check_expectations
from bdpbench.simulation import ns3_backend
from bdpbench.studies import atlas
from bdpbench.studies.identity import Identities
from bdpbench.studies.load import load_study
from bdpbench.studies.plan import tiers_of
from bdpbench.studies.runs import expand_tier

FOLDER = config_dir() / "two_simulators"
COMPARED = ("engine", "substream")


def test_every_cell_of_every_tier_is_planned_for_both_without_ns_3(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ns3_backend, "require_ns3", lambda: pytest.fail("needs ns-3"))
    study = load_study(FOLDER)
    runs = {tier: expand_tier(study, tier, Identities()) for tier in tiers_of(study)}
    assert set(runs) == {"quick", "paper", "full"}
    for planned in runs.values():
        cells = {
            engine: Counter(
                (run["scenario"], *(pair for pair in _rest(run["parameters"])))
                for run in planned
                if run["parameters"]["engine"] == engine
            )
            for engine in ("ns2", "ns3")
        }
        assert cells["ns2"]
        assert cells["ns2"] == cells["ns3"]
    check_expectations(FOLDER, study, runs, definitions_for(FOLDER))


def _rest(parameters: Any) -> list[tuple[str, Any]]:
    return sorted((name, value) for name, value in parameters.items() if name not in COMPARED)


def _values(metric: str, measured: str, cells: dict[str, list[float | None]]) -> list[float | None]:
    """A metric of one cell whose repetitions have these values in each engine."""
    runs: list[Any] = []
    rows = []
    for engine, values in cells.items():
        for number, value in enumerate(values, start=1):
            run_id = f"{engine}-{number}"
            parameters = {"engine": engine, "substream": number, "rtt_ms": 20}
            runs.append({"run_id": run_id, "scenario": "s", "parameters": parameters})
            for subject, each in (("flow:0", value), ("flow:1", 99.0)):
                rows.append((run_id, "s", measured, subject, each, 0.0, 1.0))
    columns = ["run_id", "scenario", "metric", "subject", "value", "start_s", "end_s"]
    group = Group(pl.DataFrame(rows, schema=columns, orient="row"), runs, {})
    found: Any = definitions_for(FOLDER)[metric]
    answered = list(found.compute(group))
    assert {row.run_id for row, _ in answered} <= {"ns2-1"}
    return [value for _, value in answered]


def test_means_of_the_repetitions_of_the_first_flow_are_compared() -> None:
    cells: dict[str, list[float | None]] = {"ns2": [8.0, 10.0], "ns3": [9.0, 9.0]}
    assert _values("goodput_ratio", "goodput", cells) == [1.0]
    assert _values("more_retransmissions", "retransmissions", {"ns2": [3.0], "ns3": [5.0]}) == [2.0]
    cells = {"ns2": [4.0], "ns3": [5.0]}
    assert _values("time_between_cuts_ratio", "time_between_cuts", cells) == [1.25]


def test_there_is_no_value_where_one_of_the_runs_has_none() -> None:
    assert _values("goodput_ratio", "goodput", {"ns2": [8.0, None], "ns3": [9.0, 9.0]}) == []
    assert _values("goodput_ratio", "goodput", {"ns2": [8.0]}) == []
    assert _values("mean_queue_ratio", "mean_queue", {"ns2": [0.0], "ns3": [1.0]}) == [None]


def test_reports_of_other_studies_name_it_where_it_has_the_same_law() -> None:
    found = elsewhere_of(load_study("sharma2006").protocols)
    assert found.keys() >= {"HS", "HTCP"}
    assert "FAST" not in found
    assert found["HTCP"][0].place == "two_simulators/report.html?protocol=H-TCP#comparison"
    assert elsewhere_of(load_study(FOLDER).protocols, "two_simulators") == {}


def test_a_comparison_without_a_study_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atlas, "config_dir", lambda: tmp_path)
    assert elsewhere_of({}) == {}  # an archive has no config/atlas.yaml
    (tmp_path / "atlas.yaml").write_text(
        "schema_version: 1\ncomparisons:\n  - {study: gone, section: a, says: b}\n"
    )
    with pytest.raises(BdpbenchError, match="no study in gone") as raised:
        elsewhere_of({})
    assert raised.value.where == f"{tmp_path / 'atlas.yaml'}:3"
