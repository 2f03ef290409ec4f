"""What runs, calls and tiers cost: as published where they are, else as estimated."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.app.planned import planned_run
from tests.planned_runs import loaded_study, runs_of

from bdpbench.app import costs
from bdpbench.app.costs import call_wall_s, run_cpu_s, tier_costs
from bdpbench.studies.cost import CALL_S, OWN_S

STUDY = "xu2004"


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of published studies, which is empty."""
    for cached in (costs._cpu_s_of, costs._published_cpu_s):
        monkeypatch.setattr(costs, cached.__name__, cached.__wrapped__)
    monkeypatch.setattr(costs, "_published_folder", lambda: tmp_path)
    return tmp_path


def publish(folder: Path, costs_s: dict[str, float | None]) -> None:
    """Publish runs of the paper tier that took so long."""
    folder.mkdir()
    (folder / "provenance.json").write_text('{"tier": "paper"}')
    cpu_s = [json.dumps(each) for each in costs_s.values()]
    frame = pl.DataFrame({"run_id": list(costs_s), "cpu_s": cpu_s})
    frame.write_parquet(folder / "runs.parquet")


def test_a_published_run_takes_what_it_took(published: Path) -> None:
    publish(published / "one", {"a" * 16: 20.0, "b" * 16: None})
    (published / "two").mkdir()
    (published / "two" / "runs.parquet").write_text("no table")
    assert run_cpu_s(planned_run("a" * 16, estimated_cpu_s=5)) == 20 + OWN_S
    assert run_cpu_s(planned_run("c" * 16, estimated_cpu_s=5)) == 5 + OWN_S
    # It ran in a container, which does not say.
    assert run_cpu_s(planned_run("b" * 16, estimated_cpu_s=5)) == 5 + OWN_S


def test_a_call_shares_its_runs_among_the_cores_but_divides_none(published: Path) -> None:
    runs = [planned_run(f"{index:016x}", estimated_cpu_s=10 - OWN_S) for index in range(6)]
    assert call_wall_s(runs, 2) == pytest.approx(CALL_S + 30)
    assert call_wall_s(runs, 100) == pytest.approx(CALL_S + 10)
    assert call_wall_s([], 2) == CALL_S


def test_a_small_tier_has_the_runs_that_are_planned(published: Path) -> None:
    runs = {run["run_id"]: run_cpu_s(run) for run in runs_of(STUDY, "quick")}
    assert tier_costs(loaded_study(STUDY))["quick"] == (
        len(runs),
        pytest.approx(sum(runs.values())),
        False,
    )


def test_a_large_tier_is_sampled_unless_it_is_published(published: Path) -> None:
    study, runs = loaded_study(STUDY), {run["run_id"]: run for run in runs_of(STUDY, "paper")}
    sampled = tier_costs(study)["paper"]
    assert (sampled.runs >= len(runs), sampled.is_most) == (True, True)
    assert sampled.cpu_s == pytest.approx(sum(map(run_cpu_s, runs.values())), rel=0.5)
    publish(published / STUDY, dict.fromkeys(runs, 2.0))
    assert tier_costs(study)["paper"] == (len(runs), pytest.approx((2 + OWN_S) * len(runs)), False)
    assert tier_costs(study)["full"].is_most


@pytest.mark.parametrize("provenance", ['{"tier": "paper"}', "", "[]", "{}"])
def test_other_runs_and_a_damaged_provenance_tell_nothing_of_a_tier(
    published: Path, provenance: str
) -> None:
    publish(published / STUDY, {"a" * 16: 2.0})
    (published / STUDY / "provenance.json").write_text(provenance)
    assert tier_costs(loaded_study(STUDY))["paper"].is_most
