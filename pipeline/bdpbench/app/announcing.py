"""What `run` prints before it simulates: how much, what, why, and with which scripts."""

from __future__ import annotations

from pathlib import Path

from bdpbench.app.machine import Machine
from bdpbench.app.planning import Prepared, is_finished
from bdpbench.app.progress import View, duration_text
from bdpbench.app.reasons import Reasons
from bdpbench.studies.batches import make_batches
from bdpbench.studies.network import remarks
from bdpbench.studies.scripts import OWN_SETTINGS, unfit


def announce_plan(view: View, prepared: Prepared, jobs: int) -> None:
    """Print how many runs the tier has, how many are to be simulated, and how long that takes."""
    done = sum(is_finished(prepared.paths, run) for run in prepared.runs)
    runs = done + len(prepared.missing)
    machine = Machine(prepared.paths.results)
    costs_s = {run["run_id"]: machine.run_cpu_s(run) for run in prepared.missing}
    batches = len(make_batches(costs_s, jobs))
    expected_s = machine.call_wall_s(prepared.missing, batches, runs, jobs)
    study, tier = prepared.plan["study"], prepared.plan["tier"]
    view.tell(
        "plan",
        f"{study}, tier {tier}: {runs} runs, {done} finished, "
        f"{len(prepared.missing)} to simulate "
        f"(about {duration_text(expected_s)} on {jobs} cores)",
        study=study,
        tier=tier,
        runs=runs,
        finished=done,
        to_simulate=len(prepared.missing),
        expected_s=expected_s,
        jobs=jobs,
    )
    for remark in remarks(prepared.runs):
        view.tell("remark", f"  {remark}", remark=remark)


def announce_runs(view: View, prepared: Prepared) -> None:
    """Print for each missing run what it is, why it has to be simulated, and how long it takes."""
    reasons = Reasons(prepared.paths.runs)
    machine = Machine(prepared.paths.results)
    for run in prepared.missing:
        why = reasons.of(run)
        cost_s = machine.run_cpu_s(run)
        view.tell(
            "to_simulate",
            f"  {run['run_id']}  {run['scenario']}: {run['label']}, ~{cost_s:.0f} s; {why}",
            run_id=run["run_id"],
            scenario=run["scenario"],
            label=run["label"],
            expected_cpu_s=cost_s,
            why=why,
        )


def announce_scripts(view: View, prepared: Prepared, folder: Path) -> None:
    """Print what the scripts in ``folder`` do, and which scenarios they cannot run."""
    view.tell("originals", f"  {OWN_SETTINGS}", folder=str(folder))
    study = prepared.study
    planned = {run["scenario"] for run in prepared.runs}
    for name in study.scenarios:
        reason = unfit(folder, study.scenarios[name])
        if name in planned and reason is not None:
            text = f"  {name} keeps its script: {reason}"
            view.tell("keeps_script", text, scenario=name, reason=reason)
