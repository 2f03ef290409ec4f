"""When a call on a cluster gives up, tested with Slurm's real answers and a clock of our own.

`tests/cluster/prove.py` proves that it does so with a real Slurm.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bdpbench.app.scheduling import failed_jobs, find_profile
from bdpbench.app.slurm import (
    JOB_LOGS_FOLDER,
    NoAnswerError,
    Overseer,
    SlurmJob,
    call_prefix,
    results_prefix,
    wait_for_runs,
)
from bdpbench.contracts.paths import run_folder
from bdpbench.errors import BdpbenchError
from bdpbench.studies.config import SlurmConfig

CONFIG = SlurmConfig(
    poll_s=10, unreachable_min=100 / 60, not_started_h=1000 / 3600, silent_min=50 / 60
)
NAME = "bdpbench-0"


def _job(state: str, reason: str = "None") -> SlurmJob:
    return SlurmJob("7", state, reason, NAME)


class _Slurm:
    """Answers from a list, repeating the last one for ever; None stands for no answer."""

    def __init__(self, *answers: Sequence[SlurmJob] | None) -> None:
        self.answers, self.now_s = list(answers), 0.0
        self.overseer = Overseer(self._ask, CONFIG, lambda: self.now_s)

    def _ask(self) -> Sequence[SlurmJob]:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is None:
            raise NoAnswerError("Unable to contact slurm controller (connect failure)")
        return answer

    def look_for(self, seconds: float) -> None:
        """Let time pass, checking every five seconds."""
        end_s = self.now_s + seconds
        while self.now_s < end_s:
            self.now_s += 5
            self.overseer.look()
            while self.overseer.is_asking:  # it asks in a thread
                time.sleep(0.001)


def test_silence_of_slurm_is_borne_for_a_while_only() -> None:
    slurm = _Slurm([_job("RUNNING")], None)
    slurm.look_for(90)
    with pytest.raises(BdpbenchError, match=r"no answer .*connect failure"):
        slurm.look_for(60)


def test_an_answer_ends_the_silence() -> None:
    slurm = _Slurm([_job("RUNNING")], None, None, None, None, [_job("RUNNING")])
    slurm.look_for(500)
    assert slurm.overseer.summary() == (1, 0, "")


@pytest.mark.parametrize(
    "reason",
    ["PartitionTimeLimit", "BadConstraints", "AssocMaxWallDurationPerJobLimit", "JobHeldUser"],
)
def test_what_can_never_start_is_told_soon(reason: str) -> None:
    slurm = _Slurm([_job("PENDING", "None")], [_job("PENDING", reason)])
    with pytest.raises(BdpbenchError, match=f"job 7 can never start.*{reason}"):
        slurm.look_for(60)


def test_a_reason_that_passes_is_no_reason_to_end() -> None:
    waits = [_job("PENDING", "PartitionTimeLimit")]
    slurm = _Slurm(waits, waits, [_job("PENDING", "Resources")])
    slurm.look_for(500)
    assert slurm.overseer.summary() == (0, 1, "Resources")


def test_who_only_waits_gives_up_in_the_end() -> None:
    slurm = _Slurm([_job("PENDING", "Resources")])
    slurm.look_for(900)
    with pytest.raises(BdpbenchError, match=r"none of 1 jobs has started .*Resources"):
        slurm.look_for(200)


def test_running_jobs_let_others_wait() -> None:
    slurm = _Slurm([_job("PENDING", "Resources"), _job("RUNNING")])
    slurm.look_for(3000)


def test_an_empty_queue_is_silent_once_it_has_held_jobs() -> None:
    slurm = _Slurm([], [_job("RUNNING")], [_job("PREEMPTED")])
    slurm.look_for(20)
    assert not slurm.overseer.is_silent
    slurm.look_for(80)
    assert slurm.overseer.queue_is_empty
    assert slurm.overseer.is_silent
    slurm.overseer.begin_again()
    slurm.look_for(200)  # Snakemake restarts
    assert not slurm.overseer.is_silent


def test_names_of_jobs_tell_results_folders_and_calls(tmp_path: Path) -> None:
    first, second = call_prefix(tmp_path), call_prefix(tmp_path)
    assert first != second
    assert first.startswith(results_prefix(tmp_path))
    assert not first.startswith(results_prefix(tmp_path / "other"))
    assert len(first) <= 50  # the plugin refuses longer names


def test_what_slurm_says_of_a_job_is_found(tmp_path: Path) -> None:
    """Lines as Slurm 22.05 and the plugin 2.8 write them."""
    log = tmp_path / "snakemake.log"
    log.write_text(
        "    message: SLURM sbatch failed. The error message was 'sbatch: error: invalid partition "
        "specified: nowhere\nsbatch: error: Batch job submission failed: Invalid partition'.\n"
        "    message: SLURM-job '12' failed, SLURM status is: 'TIMEOUT'. Detailed failure reason\n"
    )
    own = tmp_path / JOB_LOGS_FOLDER / "rule_simulate" / "0000" / "12.log"
    own.parent.mkdir(parents=True)
    own.write_text("host: n1\nslurmstepd-n1: error: *** JOB 12 CANCELLED DUE TO TIME LIMIT ***\n")
    assert failed_jobs(log, tmp_path) == [
        "sbatch refuses a job: invalid partition specified: nowhere",
        "sbatch refuses a job: Batch job submission failed: Invalid partition",
        "Slurm says TIMEOUT of job 12: slurmstepd-n1: error: *** JOB 12 CANCELLED DUE TO TIME "
        "LIMIT ***",
    ]


def test_profiles_are_found_by_name_and_by_path(tmp_path: Path) -> None:
    assert find_profile(Path("slurm")).is_slurm
    assert not find_profile(Path("default")).is_slurm
    (tmp_path / "config.yaml").write_text("executor: slurm\nslurm-qos: long\n")
    assert find_profile(tmp_path).is_slurm
    with pytest.raises(BdpbenchError, match="no such Snakemake profile: slrum"):
        find_profile(Path("slrum"))


def test_a_run_that_other_machines_alone_can_see_is_told(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    (seen / "run.json").touch()
    wait_for_runs([seen])
    with pytest.raises(BdpbenchError, match="is not visible here"):
        wait_for_runs([seen, tmp_path / "missing"], patience_s=0)


def test_a_batch_that_is_tried_again_leaves_out_what_has_failed(
    finished: Path, bdpbench: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """With --keep-going, further attempts do not simulate a run again that ns-2 refuses."""
    script = finished / "config" / "studies" / "dumbbell" / "study.yaml"
    script.write_text(script.read_text().replace("duration_s: 20", "duration_s: 21"))
    assert bdpbench("plan", "--jobs", "1").returncode == 0
    batches = finished / "results" / "dumbbell" / "quick" / "batches"
    plan = json.loads((batches / "0000.json").read_text())
    first, *others = dict.fromkeys(run["run_id"] for run in plan["runs"])
    runs = finished / "results" / "runs"
    (run_folder(runs, first) / "error.txt").write_text("error of the first attempt\n")
    (batches / "0000.told").write_text(f"begun {first}\nfailed {first}\n")
    again = bdpbench("simulate", "--keep-going", "--batch", str(batches), "--index", "0")
    assert again.returncode == 1
    assert "error of the first attempt" in again.stderr
    assert not (run_folder(runs, first) / "run.json").exists()
    assert all((run_folder(runs, each) / "run.json").is_file() for each in others)
    assert others
    elsewhere = bdpbench("simulate", "--batch", shutil.copy(batches / "0000.json", finished))
    assert elsewhere.returncode == 1
    assert "is not among the batches of a results folder" in elsewhere.stderr
