"""`bdpbench publish`: what it publishes, and when it refuses to."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.app.conftest import check_refused, said_by, simulate_runs

from bdpbench.app.keep.results import KeptResults
from bdpbench.app.totals import totals_sentence
from bdpbench.contracts.kept import LIST_NAME
from bdpbench.contracts.reports import kept_runs_bytes
from bdpbench.errors import BdpbenchError

Run = Callable[..., "subprocess.CompletedProcess[str]"]

# What names the bdpbench that made a report; all other files follow from runs and code.
BY_WHOM = {"provenance.json", "README.md", LIST_NAME}


def _plan(bdpbench: Run) -> Path:
    return Path(said_by(bdpbench("plan")).strip())


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _same_but_for_whom(one: Path, other: Path) -> bool:
    kept = [{name: each for name, each in _files(folder).items() if name not in BY_WHOM}
            for folder in (one, other)]  # fmt: skip
    return kept[0] == kept[1]


@pytest.fixture
def study(finished: Path) -> Path:
    """``study.yaml`` of the finished study."""
    return finished / "config" / "studies" / "dumbbell" / "study.yaml"


@pytest.fixture
def published(tmp_path: Path, published_once: Path) -> Path:
    """A copy of the folder that `publish` wrote for the finished study."""
    return Path(shutil.copytree(published_once, tmp_path / "published" / "dumbbell"))


def test_a_finished_tier_is_published_in_equal_bytes(
    finished: Path, bdpbench: Run, published_once: Path
) -> None:
    files = _files(published_once)
    assert set(files) == BY_WHOM | {
        *("report.html", "metrics.parquet", "scorecard.json", "runs.parquet"),
    }
    card = json.loads(files["scorecard.json"])
    # published.csv: one rate is measured, and no scenario could show the other number.
    assert {key: each for key, each in card["totals"].items() if each} == {
        "reproduced": 1,
        "not_run": 1,
    }
    assert totals_sentence(card) in files["README.md"].decode()
    assert set(pl.read_parquet(files["metrics.parquet"])["run_id"]) == {
        path.name for path in (finished / "results" / "runs").glob("*/*")
    }
    scripts = re.compile(r"<script\b.*?</script>", re.DOTALL)  # they contain the words for others
    assert "no results yet" not in scripts.sub("", files["report.html"].decode())
    said_by(bdpbench("publish", "-o", str(finished / "published")))
    assert _files(finished / "published" / "dumbbell") == files


def test_missing_runs_are_told_published_only_when_asked_for_and_completed_later(
    workspace: Path, bdpbench: Run
) -> None:
    plan = _plan(bdpbench)
    planned = [run["run_id"] for run in json.loads(plan.read_text())["runs"]]
    out = workspace / "published"
    publish = ("publish", "-o", str(out))
    check_refused(bdpbench(*publish, "--allow-partial"), "3 of 3 runs have no results")

    simulate_runs(bdpbench, plan, planned[1:])
    check_refused(
        bdpbench(*publish),
        "1 of 3 runs have no results (shared: Reno",
        "`./bdpbench run dumbbell --tier quick` simulates them",
    )
    assert not out.exists()
    said_by(bdpbench(*publish, "--allow-partial"))
    report, readme = (out / "dumbbell" / name for name in ("report.html", "README.md"))
    assert "1 of 3 planned runs has no results yet." in report.read_text()
    assert "2 of 3 runs of the tier have been simulated" in readme.read_text()

    simulate_runs(bdpbench, plan, planned[:1])
    said_by(bdpbench(*publish))
    assert "planned runs has no results yet" not in report.read_text()
    assert "have been simulated" not in readme.read_text()
    kept = KeptResults(out / "dumbbell").runs
    assert {run["run_id"] for run in kept} == set(planned)


def test_two_tiers_are_published_beside_each_other(
    finished: Path, bdpbench: Run, published: Path
) -> None:
    (published / LIST_NAME).unlink()  # which vouches for the files as they were
    provenance = published / "provenance.json"
    ours = provenance.read_text()
    provenance.write_text(ours.replace('"tier": "quick"', '"tier": "paper"'))
    before = _files(published)
    publish = ("publish", "-o", str(published.parent), "--tier", "quick")
    said_by(bdpbench(*publish))
    assert _files(published) == before
    beside = published.with_name("dumbbell-quick")
    assert (beside / "provenance.json").read_text() == ours
    shutil.rmtree(finished / "results" / "runs")
    said_by(bdpbench(*publish))
    assert _same_but_for_whom(beside, published)
    assert _files(published) == before


def test_what_is_published_is_judged_and_shown_anew_without_its_runs(
    finished: Path, bdpbench: Run, published: Path, published_once: Path
) -> None:
    """If nothing changes, only the author differs; if a bound moves, so does the verdict."""
    shutil.rmtree(finished / "results" / "runs")
    said_by(bdpbench("publish", "-o", str(published.parent)))
    assert _same_but_for_whom(published, published_once)
    runs = KeptResults(published).runs
    for run in runs:
        run["measured_by"] = {"version": "0.2.0", "commit": "abcdef0123456789"}
    (published / "runs.parquet").write_bytes(kept_runs_bytes(runs))
    (published / LIST_NAME).unlink()
    said_by(bdpbench("publish", "-o", str(published.parent)))
    assert KeptResults(published).runs == runs
    readme = (published / "README.md").read_text()
    assert "measured by bdpbench 0.2.0 (commit `abcdef012345`, 3 runs); verdicts" in readme


def test_what_is_published_is_not_taken_for_what_is_measured_otherwise(
    finished: Path, bdpbench: Run, published: Path
) -> None:
    (published / LIST_NAME).unlink()
    shutil.rmtree(finished / "results" / "runs")
    path = published / "metrics.parquet"
    pl.read_parquet(path).with_columns(definition=pl.lit("older/1")).write_parquet(path)
    check_refused(
        bdpbench("publish", "-o", str(published.parent)),
        "metrics that are defined differently today: ",
        "`publish` then measures them again",
    )


def test_no_damage_to_what_is_published_is_read_as_other_values(published: Path) -> None:
    for name in ("metrics.parquet", "runs.parquet", "scorecard.json", "provenance.json"):
        whole = (published / name).read_bytes()
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes([whole[middle] ^ 4]) + whole[middle + 1 :]
        for content in (flipped, b"", whole[:-1], whole[:middle]):
            (published / name).write_bytes(content)
            with pytest.raises(BdpbenchError, match=f"{name}: is not what was written"):
                _read_all(published)
        (published / name).write_bytes(whole)
        _read_all(published)
    (published / LIST_NAME).write_bytes((published / LIST_NAME).read_bytes()[:-1])
    with pytest.raises(BdpbenchError, match="is not what was written"):
        _read_all(published)


def _read_all(folder: Path) -> None:
    kept = KeptResults(folder)
    assert kept.metrics.height == len(kept.metrics)
    assert all([kept.runs, kept.scorecard, kept.provenance])


LATER = """\
  later:
    title: One flow, a scenario that came later
    topology: small
    parameters: {protocol: Reno, buffer_pkts: 60}
    flows:
      - {}
    tiers:
      quick: [{duration_s: 3}]
"""


def test_runs_that_came_later_are_published_with_those_that_were(
    finished: Path, bdpbench: Run, study: Path, published: Path, tmp_path: Path
) -> None:
    """What comes out is what publishing all runs gives, but for who measured them."""
    runs, publish = finished / "results" / "runs", ("publish", "-o", str(published.parent))
    earlier = runs.rename(tmp_path / "earlier")

    def simulate_later() -> None:
        plan = _plan(bdpbench)
        planned = json.loads(plan.read_text())["runs"]
        later = [run["run_id"] for run in planned if run["scenario"] == "later"]
        simulate_runs(bdpbench, plan, later)

    study.write_text(study.read_text() + LATER)
    check_refused(bdpbench(*publish), "1 of 4 runs have no results (later", "run dumbbell --tier")
    simulate_later()
    said_by(bdpbench(*publish))
    # A scenario that gets another run keeps the one that it had; some numbers need both.
    one = "{protocol: Reno, buffer_pkts: 60}"
    two = "{protocol: Reno}\n    sweep: {buffer_pkts: [60, 70]}"
    study.write_text(study.read_text().replace(one, two))
    simulate_later()
    said_by(bdpbench(*publish))
    shutil.copytree(earlier, runs, dirs_exist_ok=True)
    said_by(bdpbench("publish", "-o", str(tmp_path / "whole")))
    assert _same_but_for_whom(tmp_path / "whole" / "dumbbell", published)
    measured = pl.read_parquet(published / "metrics.parquet").filter(scenario="later")
    assert measured["run_id"].n_unique() == 2
    assert not measured.select("run_id", "metric", "subject").is_duplicated().any()

    # What is published under other ids is no longer planned.
    study.write_text(study.read_text().replace("[60, 70]", "[60, 80]"))
    check_refused(
        bdpbench(*publish),
        "1 of 5 runs have no results",
        "or the study, a script or ns-2 has changed since",
    )
