"""Profiles, and why batches have failed."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from tests.app.conftest import call_bdpbench, check_refused

from bdpbench.app.planning import Wanted, prepare
from bdpbench.app.run import Call, execution_of
from bdpbench.app.scheduling import Execution, Profile, failure, find_profile, run_batches
from bdpbench.errors import BdpbenchError
from bdpbench.studies.config import load_config


def test_a_profile_is_found_by_name_and_by_path_and_may_say_how_many_jobs_there_are(
    tmp_path: Path,
) -> None:
    assert find_profile(Path("slurm")).is_elsewhere
    assert not find_profile(Path("default")).is_elsewhere
    with pytest.raises(BdpbenchError, match="no such Snakemake profile: slrum"):
        find_profile(Path("slrum"))
    own, config = tmp_path / "config.yaml", load_config()
    own.write_text("executor: slurm\njobs: 7\nslurm-qos: long\n")
    found = find_profile(tmp_path)
    assert (found.is_elsewhere, found.folder) == (True, tmp_path)
    assert execution_of(Call(profile=tmp_path), config).cores == 7
    assert execution_of(Call(profile=tmp_path, jobs=3), config).cores == 3
    own.write_text("executor: slurm\njobs: unlimited\n")
    here = execution_of(Call(), config).cores
    assert execution_of(Call(profile=tmp_path), config).cores == here


def test_a_plugin_that_is_missing_is_named_before_anything_is_started(
    workspace: Path, ns_binary: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.yaml").write_text("executor: no-such-cluster\n")
    done = call_bdpbench(
        workspace, "run", "--backend", "native", "--profile", str(tmp_path / "mine")
    )
    check_refused(done, "executor no-such-cluster is not installed", "docs/clusters.md")


def test_settings_of_slurm_are_refused_where_they_were(workspace: Path) -> None:
    config = workspace / "config" / "config.yaml"
    config.write_text(f"{config.read_text()}slurm:\n  partition: long\n")
    check_refused(
        call_bdpbench(workspace, "run", "-n"),
        f"config.yaml:{len(config.read_text().splitlines()) - 1}: slurm: this key is gone",
        "docs/clusters.md",
    )


ENDS = {
    "error: out/a is cut\n  hint: remove it\nerror: out/a is cut\n  hint: remove it\n": (
        1,
        "out/a is cut\n  hint: remove it",
    ),
    "": (-signal.SIGKILL, "Snakemake was ended by SIGKILL: by a user or scheduler"),
    "Terminating processes on user request, this might take some time.\n": (1, "ended by SIGINT"),
    "snakemake: error: argument --executor/-e: invalid choice: 'slrum'\n": (2, "choice: 'slrum'"),
    "Nothing to be done\n": (0, "some runs are not finished"),
}


@pytest.mark.parametrize("log", ENDS)
def test_why_batches_have_failed_is_what_they_say_or_how_snakemake_ended(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, log: str
) -> None:
    monkeypatch.setenv("BDPBENCH_CONFIG", str(workspace / "config"))
    prepared = prepare(Wanted(results=workspace / "results"))
    prepared.paths.folder.mkdir(parents=True)
    path = prepared.paths.folder / "snakemake.log"
    path.write_text(log)
    status, said = ENDS[log]
    assert said in str(failure(prepared, path, status))
    error = prepared.paths.run(prepared.missing[0]["run_id"]) / "error.txt"
    error.parent.mkdir(parents=True)
    error.write_text("ns-2 refuses\n")
    told = str(failure(prepared, path, status))
    assert told.startswith("ns-2 refuses\n  hint: 0 of 3 runs are finished and kept")


STANDS_IN = """\
import signal, sys, time
try:
    print("submitted", flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    print("cancelled", flush=True)
"""


def test_snakemake_cancels_its_jobs_elsewhere_before_it_is_ended(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BDPBENCH_CONFIG", str(workspace / "config"))
    prepared = prepare(Wanted(results=workspace / "results"))
    prepared.paths.folder.mkdir(parents=True)
    log = prepared.paths.folder / "snakemake.log"
    (workspace / "snakemake.py").write_text(STANDS_IN)

    def look() -> None:
        if "submitted" in log.read_text():
            raise KeyboardInterrupt

    monkeypatch.setattr("bdpbench.app.scheduling.find_spec", lambda name: name)
    command = ["python3", str(workspace / "snakemake.py")]
    monkeypatch.setattr(Execution, "command", lambda self, prepared: command)
    with pytest.raises(KeyboardInterrupt):
        run_batches(prepared, Execution("native", 1, profile=Profile(executor="slurm")), look)
    assert log.read_text().splitlines() == ["submitted", "cancelled"]
