"""`bdpbench list`: studies, scenarios and runs as aligned text."""

from __future__ import annotations

import os
from collections.abc import Sequence

from bdpbench.app.kept_estimates import tier_estimates_s
from bdpbench.app.machine import Machine
from bdpbench.app.planning import Paths, is_finished
from bdpbench.app.progress import duration_text
from bdpbench.contracts.paths import results_dir
from bdpbench.contracts.plan import PlannedRun
from bdpbench.errors import BdpbenchError
from bdpbench.studies.batches import make_batches
from bdpbench.studies.config import load_config
from bdpbench.studies.load import load_study, study_keys
from bdpbench.studies.runs import Selection, expand_tier, tiers_of
from bdpbench.studies.study import TIERS


def list_studies() -> None:
    """Print every study with the numbers of runs and the CPU time of its tiers."""
    machine = Machine(results_dir(load_config().results))
    rows = [("study", "tier", "runs", "CPU time", "title")]
    for key in study_keys():
        study = load_study(key)
        estimates_s = tier_estimates_s(study)
        for tier in _ordered(tiers_of(study)):
            runs_s = estimates_s[tier]
            rows.append((key, tier, str(len(runs_s)), _call_cost(runs_s, machine), study.title))
    _print_table(rows)


def list_scenarios(study_key: str, selection: Selection) -> None:
    """Print the scenarios of a study, with runs and CPU time in each tier."""
    study = load_study(study_key)
    selection = selection.in_study(study)
    machine = Machine(results_dir(load_config().results))
    tiers = _ordered(tiers_of(study))
    by_tier = {tier: expand_tier(study, tier) for tier in tiers}
    rows = [("scenario", *tiers, "title")]
    for key, scenario in study.scenarios.items():
        if selection.scenarios and key not in selection.scenarios:
            continue
        cells = []
        for tier in tiers:
            runs = [run for run in by_tier[tier] if run["scenario"] == key and selection.wants(run)]
            cells.append(_count(runs, machine) if runs else "-")
        rows.append((key, *cells, scenario.title))
    print(f"{study.key}: {study.title}")
    print(f"protocols: {', '.join(study.protocols)}\n")
    _print_table(rows)


def list_runs(study_key: str, tier: str | None, selection: Selection) -> None:
    """Print the runs of a tier: id, state, expected CPU time, and label.

    Raises:
        BdpbenchError: when nothing is selected.
    """
    config = load_config()
    study = load_study(study_key)
    selection = selection.in_study(study)
    chosen = tier or config.tier
    paths = Paths(results_dir(config.results), study.key, chosen)
    runs = [run for run in expand_tier(study, chosen) if selection.wants(run)]
    if not runs:
        raise BdpbenchError(f"no run of tier {chosen} is selected", where="selection")
    machine = Machine(paths.results)
    rows = [("run", "state", "CPU time", "scenario", "what")]
    for run in runs:
        state = "finished" if is_finished(paths, run) else "-"
        rows.append((run["run_id"], state, _cost([run], machine), run["scenario"], run["label"]))
    _print_table(rows)


def _ordered(tiers: Sequence[str]) -> list[str]:
    return [tier for tier in TIERS if tier in tiers]


def _count(runs: Sequence[PlannedRun], machine: Machine) -> str:
    noun = "run" if len(runs) == 1 else "runs"
    return f"{len(runs)} {noun}, {_cost(runs, machine)}"


def _cost(runs: Sequence[PlannedRun], machine: Machine) -> str:
    return "~" + duration_text(sum(map(machine.run_cpu_s, runs)))


def _call_cost(estimates_s: Sequence[float], machine: Machine) -> str:
    """CPU time of a call that simulates all runs of a tier, including planning and report."""
    costs_s = {str(index): machine.cpu_s(each) for index, each in enumerate(estimates_s)}
    batches = make_batches(costs_s, len(os.sched_getaffinity(0)))
    return "~" + duration_text(machine.call_cpu_s(estimates_s, len(batches), len(estimates_s)))


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    for line in table_lines(rows):
        print(line)


def table_lines(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows as lines with aligned columns, the first row being the header.

    >>> table_lines([("run", "cost"), ("a", "1")])
    ['run  cost', 'a    1']
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
