"""Proves that `run` and `evaluate --profile slurm` work on a real Slurm, which this script starts.

Run `PYTHONPATH=pipeline:. python tests/cluster/prove.py` after `./bdpbench ns2 build`; `--all` adds
the longer tests. It needs slurm-wlm and munge (Debian); without them it says so and does nothing.
Nothing that it starts outlives it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.cluster.calls import RATES, ROOT, Workspace, ours, start
from tests.cluster.slurm import Slurm, missing_programs

Proof = Callable[[Workspace, Slurm, Workspace], None]


def a_killed_batch(workspace: Workspace, slurm: Slurm, local: Workspace) -> None:
    """A killed batch keeps its finished runs and starts again; bytes are those of a local call."""
    first, second, third, fourth = RATES
    workspace.make(batch_min=_two_runs_min(local))
    workspace.open(first)
    call = start(workspace, slurm, "--jobs", "2")
    call.wait_for("the second run of a batch", lambda: workspace.started(second))
    call.wait_for("the other batch beside it", lambda: workspace.started(third))
    before = workspace.record(first)
    (job,) = (each for each in _comments(slurm) if _comments(slurm)[each].endswith("0000"))
    _must(slurm.ask("scancel", "--signal=KILL", "--full", job) is not None, "the job is killed")
    call.wait_for("the batch to begin again", lambda: _count_begun(workspace, second) == 2)
    workspace.open(second, third, fourth)
    _must(call.end() == 0, call.said())
    _must(workspace.record(first) == before, "the finished run was not simulated again")
    _must(workspace.outputs() == local.outputs(), "other bytes than on this machine")
    metrics = "metrics.csv"
    _must(_values(workspace.tier / metrics) == _values(local.tier / metrics), "other metrics")
    ended = [each["status"] for each in call.told("run_ended")]
    _must(ended == ["finished"] * len(RATES), f"told of {ended}")
    _must(len(ours(slurm.jobs())) == 3, "two batches, one of them submitted twice")


def a_cancelled_call(workspace: Workspace, slurm: Slurm, local: Workspace) -> None:
    """Ctrl-C cancels the jobs of this call and no others, and keeps finished runs."""
    first, second = RATES[:2]
    other = slurm.ask(
        "sbatch", "--output=/dev/null", "--parsable", "--job-name=other", "--wrap", "sleep 600"
    )
    before = {job for job, _ in ours(slurm.jobs())}
    workspace.make()
    workspace.open(first)
    call = start(workspace, slurm)
    call.wait_for("the second run", lambda: workspace.started(second))
    _must(call.interrupt() == 1, call.said())
    _must("interrupted; what was finished is kept" in call.said(), call.said())
    (state,) = (state for job, state in ours(slurm.jobs()) if job not in before)
    _must(state in ("CANCELLED", "COMPLETING"), f"the job is {state}")
    states = {job: state for job, state, _ in slurm.jobs()}
    _must(states[str(other)] == "RUNNING", "another's job was ended")
    slurm.ask("scancel", str(other))
    _must(workspace.record(first)["outputs"] == local.record(first)["outputs"], "other bytes")


def a_job_that_never_starts(workspace: Workspace, slurm: Slurm, local: Workspace) -> None:
    """A job that can never start in its partition ends the call with Slurm's reason."""
    workspace.make(partition="brief")
    call = start(workspace, slurm)
    _must(call.end() == 1, call.said())
    _must("can never start; Slurm's reason: PartitionTimeLimit" in call.said(), call.said())
    waiting = [job for job, state in ours(slurm.jobs()) if state == "PENDING"]
    _must(waiting == [], "its jobs are still there")


def a_refused_job(workspace: Workspace, slurm: Slurm, local: Workspace) -> None:
    """If sbatch refuses a job, its own message is reported."""
    workspace.make(partition="nowhere")
    call = start(workspace, slurm)
    _must(call.end() == 1, call.said())
    _must("invalid partition specified: nowhere" in call.said(), call.said())


def a_dead_controller(workspace: Workspace, slurm: Slurm, local: Workspace) -> None:
    """A call ends if Slurm does not answer; the next cancels its jobs and gives the same bytes."""
    first, second, *others = RATES
    workspace.make(unreachable_min=0.1)
    workspace.open(first)
    call = start(workspace, slurm)
    call.wait_for("the second run", lambda: workspace.started(second))
    slurm.stop_controller()
    status = call.end()
    refused = start(workspace, slurm)
    _must(refused.end() == 1, refused.said())
    _must("Slurm does not answer" in refused.said(), refused.said())
    slurm.start_controller()
    _must(status == 1, "the call ended without an answer")
    workspace.open(second, *others)
    again = start(workspace, slurm)
    _must(again.end() == 0, again.said())
    _must(workspace.outputs() == local.outputs(), "other bytes than on this machine")


def a_pre_empted_batch(workspace: Workspace, slurm: Slurm, local: Workspace) -> None:
    """A batch that Slurm pre-empts without requeueing it is submitted again."""
    first, second, *others = RATES
    workspace.make(silent_min=0.2)
    workspace.open(first)
    call = start(workspace, slurm)
    call.wait_for("the second run", lambda: workspace.started(second))
    options = (
        "--partition=urgent",
        "--exclusive",
        f"--nodes={len(slurm.nodes)}",
        "--parsable",
        "-o",
        "/dev/null",
    )
    urgent = slurm.ask("sbatch", *options, "--wrap", "sleep 5")
    call.wait_for("the pre-emption", lambda: "PREEMPTED" in dict(map(reversed, ours(slurm.jobs()))))
    workspace.open(second, *others)
    _must(call.end() == 0, call.said())
    slurm.ask("scancel", str(urgent))
    _must(workspace.outputs() == local.outputs(), "other bytes than on this machine")


def an_evaluation(workspace: Workspace, slurm: Slurm, local: Workspace) -> None:
    """`evaluate` on the cluster gives the same cells as on this machine."""
    cells = []
    for name, cluster in (("here", None), ("there", slurm)):
        place = Workspace(workspace.folder / name)
        config = place.folder / "config"
        shutil.copytree(ROOT / "tests" / "data" / "newcomers", config)
        (config / "studies").mkdir()
        text = (ROOT / "config" / "config.yaml").read_text().partition("slurm:")[0]
        (config / "config.yaml").write_text(f"{text}slurm: {{poll_s: 1}}\n")
        mine = str(ROOT / "config" / "protocols" / "aimd")
        call = start(place, cluster, "--quick", "--name", "mine", mine, command="evaluate")
        _must(call.end() == 0, call.said())
        cells.append((place.results / "evaluations" / "mine" / "cells.parquet").read_bytes())
    _must(cells[0] == cells[1], "other cells than on this machine")
    _must("COMPLETED" in dict(map(reversed, ours(slurm.jobs()))), "no job was run")


PROOFS: tuple[Proof, ...] = (a_killed_batch, a_cancelled_call, a_job_that_never_starts)
LONGER: tuple[Proof, ...] = (
    a_refused_job,
    a_dead_controller,
    a_pre_empted_batch,
    an_evaluation,
)


def _two_runs_min(local: Workspace) -> float:
    """The length of a batch that holds two of the runs, min, according to the cost model."""
    plan = json.loads((local.tier / "plan.json").read_text())
    batches = json.loads((local.tier / "batches" / "jobs.json").read_text())["jobs"].values()
    expected_s = sum(each["cpu_s"] for each in batches) / len(plan["runs"])
    return 2.5 * expected_s / 60


def _count_begun(workspace: Workspace, rate: int) -> int:
    return sum(run["back_kbps"] == rate for run in workspace.begun())


def _comments(slurm: Slurm) -> dict[str, str]:
    """Running jobs with their comments, in which the plugin names the batch."""
    said = slurm.ask("squeue", "--noheader", "--states=running", "--format=%i|%k") or ""
    return {job: comment for job, _, comment in (line.partition("|") for line in said.splitlines())}


def _values(metrics: Path) -> list[str]:
    return sorted(metrics.read_text().splitlines())


def _must(holds: bool, why: str) -> None:
    if not holds:
        raise AssertionError(why)


def main() -> int:
    """Start a cluster, run all tests on it, and shut it down."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="include the longer proofs")
    parser.add_argument("--only", help="only the proof with this name")
    options = parser.parse_args()
    # A background process of a shell script ignores Ctrl-C, and so would the calls that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # On SIGTERM, too, everything that was started has to be shut down.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    missing = missing_programs()
    if missing:
        print(f"cluster: SKIPPED: {', '.join(missing)} missing (Debian: slurm-wlm munge)")
        return 0
    known = {each.__name__: each for each in (*PROOFS, *LONGER)}
    chosen = [known[options.only]] if options.only else [*PROOFS, *(LONGER if options.all else ())]
    # The path of a socket is limited to about a hundred characters.
    with tempfile.TemporaryDirectory(prefix="bdpb-", dir="/tmp") as folder:
        local = Workspace(Path(folder) / "local")
        local.make()
        call = start(local, None)
        _must(call.end() == 0, call.said())
        with Slurm(Path(folder) / "slurm", nodes=3) as slurm:
            for proof in chosen:
                began_s = time.monotonic()
                proof(Workspace(Path(folder) / proof.__name__), slurm, local)
                took_s = time.monotonic() - began_s
                print(f"cluster: {str(proof.__doc__).splitlines()[0]} ({took_s:.0f} s)", flush=True)
    print("cluster: passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
