"""From config to report with the real ns-2: a whole run, a second one, and one after a failure."""

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

from bdpbench.app.validate import check_scorecard
from bdpbench.contracts.paths import config_dir, run_folder
from bdpbench.contracts.runs import read_run
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import PREFIX_VARIABLE, current_build_id, find_build, require_build

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_runs_use_the_variant_that_config_names(
    workspace: Path, bdpbench: Run, finished_once: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_id = current_build_id("stock")
    if find_build(build_id) is None:  # what is chosen can also be seen with a copy of fast
        fast = require_build(current_build_id("fast")).binary.parent
        shutil.copytree(fast, workspace / "builds" / build_id)
        monkeypatch.setenv(PREFIX_VARIABLE, str(workspace / "builds"))
    config = workspace / "config" / "config.yaml"
    config.write_text(config.read_text().replace("ns2_variant: fast ", "ns2_variant: stock "))
    refused = bdpbench("run", "--backend", "docker")
    check_refused(refused, "contains the variant fast, not stock")
    plan = Path(said_by(bdpbench("plan", "--scenario", "other_rtt")).strip())
    (folder,) = _run_folders(workspace)
    simulate_runs(bdpbench, plan, [folder.name])
    record = read_run(folder)
    other = read_run(run_folder(finished_once / "results" / "runs", folder.name))
    assert record is not None
    assert other is not None
    assert record["ns2"]["build_id"] == build_id != other["ns2"]["build_id"]
    # The variant changes neither ids nor bytes.
    assert (record["run_id"], record["outputs"]) == (other["run_id"], other["outputs"])


def _run_folders(workspace: Path) -> list[Path]:
    plan = json.loads((workspace / "results" / "dumbbell" / "quick" / "plan.json").read_text())
    return [run_folder(workspace / "results" / "runs", run["run_id"]) for run in plan["runs"]]


def test_a_study_made_by_config_runs_and_runs_no_second_time(
    finished: Path,
    bdpbench: Run,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, runs = finished / "results" / "dumbbell" / "quick", _run_folders(finished)
    assert len(runs) == 3

    card = json.loads((folder / "scorecard.json").read_text())
    assert {each["id"]: each["verdict"] for each in card["numbers"]} == {
        "reno-rate": "reproduced",
        "vegas-absent": "not_run",
    }
    _shares_of_three_flows(pl.read_parquet(folder / "metrics.parquet"))

    # A batch makes the chart data while it has the tables; the report finds it there.
    measured_ns = (folder / "metrics.parquet").stat().st_mtime_ns
    for run in runs:
        # Figures have more time intervals than a page, so they have files of their own, made later.
        made_ns = [each.stat().st_mtime_ns for each in (run / "series").iterdir()]
        assert min(made_ns) < measured_ns

    times = {run: (run / "run.json").stat().st_mtime_ns for run in runs}
    again = said_by(bdpbench("run", "--backend", "native"))
    assert "3 finished, 0 to simulate" in again
    assert f"report: {folder / 'report.html'}" in again
    assert {run: (run / "run.json").stat().st_mtime_ns for run in runs} == times

    monkeypatch.setenv("BDPBENCH_CONFIG", str(finished / "config"))
    monkeypatch.setenv("BDPBENCH_RESULTS", str(finished / "results"))
    check_scorecard(None, None)
    capsys.readouterr()
    check_scorecard(None, None, as_json=True)
    judged = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {"reno-rate"} <= {each["id"] for each in judged if each["is_expected"]}

    published = finished / "config" / "studies" / "dumbbell" / "published.csv"
    published.write_text(published.read_text().replace("5,4.9,5.2", "9,8.9,9.2"))
    full = {"scenario": "other_rtt", "select": {"protocol": "Reno"}, "metric": "max_throughput"}
    claim = {"kind": "compare", "left": full, "op": ">", "right": 1, "found": "stated"}
    claim |= {"id": "fast", "where": "Section 1", "statement": "It is fast."}
    cause = {"cause": "A slow link", "text": "It is slow.", "of": ["fast"]}
    for name, entry in {"claims.yaml": claim, "causes.yaml": cause}.items():
        published.with_name(name).write_text(json.dumps([entry]))
    edited = bdpbench("run", "--backend", "native")  # the verdict changes without a simulation
    assert "0 to simulate" in edited.stdout
    assert "1 not reproduced" in edited.stdout
    with pytest.raises(BdpbenchError, match="reno-rate") as caught:
        check_scorecard(None, None)
    assert "fast: holds, but causes.yaml says why it fails (A slow link)" in str(caught.value)


def _shares_of_three_flows(metrics: pl.DataFrame) -> None:
    """Three flows whose queue never empties share the link's 5 Mbit/s."""
    runs = metrics.filter(scenario="shared").partition_by("run_id")
    assert len(runs) == 2
    for run in runs:
        shares = run.filter(metric="mean_throughput")["value"].to_list()
        assert len(shares) == 3
        # Ten bins of one second for each flow, each rounded to 0.01 Mbit/s.
        assert sum(shares) == pytest.approx(5, abs=3 * 0.005)
        jain = sum(shares) ** 2 / (3 * sum(share**2 for share in shares))
        assert run.filter(metric="jain_index")["value"].to_list() == [pytest.approx(jain)]


def test_a_failing_run_is_named_by_a_quiet_call_and_the_others_are_kept(
    finished: Path, bdpbench: Run
) -> None:
    study = finished / "config" / "studies" / "dumbbell" / "study.yaml"
    good = study.read_text()
    # Planning checks only names, so an unknown law of ns-2 shows when the agent starts.
    vegas = "sink: TCPSink, settings: {window_: 1000}}\ntopologies"
    assert vegas in good
    study.write_text(good.replace(vegas, vegas.replace("1000}", "1000, windowOption_: 77}")))
    failed = bdpbench("run", "--backend", "native", "--keep-going", "--quiet")
    check_refused(failed, "77", "ns.log", "2 of 3 runs are finished and kept")
    assert failed.stdout == ""
    assert (finished / "results" / "dumbbell" / "quick" / "report.html").is_file()
    study.write_text(good)
    mended = bdpbench("run", "--backend", "native", "--quiet")
    assert (mended.returncode, mended.stdout, mended.stderr) == (0, "", "")
    check_refused(bdpbench("run", "--quiet", "--json"), "contradict")


SPOILS = """
        static bool told = false;
        if (path.now_s > 2 && !told) {
            told = true;
            std::ofstream("out/util.out", std::ios::app) << std::string(1 << 20, 'x');
        }
"""


def test_a_run_whose_output_cannot_be_read_has_failed_and_is_simulated_again(
    finished: Path, bdpbench: Run
) -> None:
    study = finished / "config" / "studies" / "dumbbell" / "study.yaml"
    mine = Path(shutil.copytree(config_dir() / "protocols" / "aimd", finished / "mine"))
    begins = "if (path.in_recovery ||"
    sound = (mine / "law.cc").read_text()
    assert begins in sound
    (mine / "law.cc").write_text(f"#include <fstream>\n{sound.replace(begins, SPOILS + begins)}")
    vegas = re.compile(r"  Vegas: .*\n")
    assert vegas.search(study.read_text())
    study.write_text(vegas.sub(f"  Vegas: {{folder: {mine}}}\n", study.read_text()))
    failed = bdpbench("run", "--backend", "native", "--keep-going")
    check_refused(failed, "out/util.out", "2 of 3 runs are finished and kept")
    assert not any((folder / "run.json").is_file() for folder in _run_folders(finished)[1:2])
    assert (finished / "results" / "dumbbell" / "quick" / "report.html").is_file()
    assert "2 finished, 1 to simulate" in said_by(bdpbench("run", "--dry-run"))


def test_events_tell_each_run(finished_once: Path) -> None:
    said = (finished_once / "events.jsonl").read_text()
    events = [json.loads(line) for line in said.splitlines()]
    assert events[0]["event"] == "plan"
    assert events[-1] == {
        "event": "report",
        "path": str(finished_once / "results" / "dumbbell" / "quick" / "report.html"),
    }
    ended = [event for event in events if event["event"] == "run_ended"]
    assert [event["status"] for event in ended] == ["finished"] * 3
