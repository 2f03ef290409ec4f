"""What there is to run and what it costs: `bdpbench list`, and what `run` says before it begins."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from bdpbench.app.costs import call_wall_s, run_cpu_s, tier_costs
from bdpbench.app.planning import Paths, Prepared, is_finished
from bdpbench.app.progress import View, duration_text
from bdpbench.contracts.paths import results_dir, run_folder, run_folders
from bdpbench.contracts.plan import Identity, Parameters, PlannedRun, distinct
from bdpbench.contracts.runs import ERROR_NAME, read_run
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.simulate import SCRATCH_FOLDER
from bdpbench.studies.background import remarks
from bdpbench.studies.config import load_config
from bdpbench.studies.engines import engine_remarks
from bdpbench.studies.load import load_study, studies_dir, study_keys
from bdpbench.studies.plan import Selection, tiers_of
from bdpbench.studies.runs import expand_tier
from bdpbench.studies.study import TIERS
from bdpbench.units import several

# -------------------------------------------------------------------------------- of `list`


def list_studies() -> None:
    """Print every study with the numbers of runs and the CPU time of its tiers."""
    rows = [("study", "tier", "runs", "CPU time", "title")]
    for key in study_keys():
        study = load_study(studies_dir() / key)
        costs = tier_costs(study)
        for tier in _ordered(tiers_of(study)):
            runs, cpu_s, is_most = costs[tier]
            shown = f"≤ {runs}" if is_most else str(runs)
            rows.append((key, tier, shown, f"~{duration_text(cpu_s)}", study.title))
    _print_table(rows)


def list_scenarios(study_key: str, selection: Selection) -> None:
    """Print the scenarios of a study, with runs and CPU time in each tier."""
    study = load_study(study_key)
    selection = selection.in_study(study)
    tiers = _ordered(tiers_of(study))
    by_tier = {tier: expand_tier(study, tier) for tier in tiers}
    rows = [("scenario", *tiers, "title")]
    for key, scenario in study.scenarios.items():
        if selection.scenarios and key not in selection.scenarios:
            continue
        cells = []
        for tier in tiers:
            runs = [run for run in by_tier[tier] if run["scenario"] == key and selection.wants(run)]
            runs = distinct(runs)
            cells.append(f"{several(len(runs), 'run')}, {_cost(runs)}" if runs else "-")
        rows.append((key, *cells, scenario.title))
    print(f"{study.key}: {study.title}")
    print(f"protocols: {', '.join(study.protocols)}\n")
    _print_table(rows)
    for tier, runs in by_tier.items():
        if len(distinct(runs)) < len(runs):
            said = f"{several(len(distinct(runs)), 'run')} in all, since scenarios share some"
            print(f"{tier}: {said}")


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
    places: dict[str, list[PlannedRun]] = defaultdict(list)
    for run in expand_tier(study, chosen):
        if selection.wants(run):
            places[run["run_id"]].append(run)
    if not places:
        raise BdpbenchError(f"no run of tier {chosen} is selected", where="selection")
    rows = [("run", "state", "CPU time", "scenario", "what")]
    for run, *others in places.values():
        state = "finished" if is_finished(paths, run) else "-"
        scenarios = ", ".join(dict.fromkeys(each["scenario"] for each in (run, *others)))
        rows.append((run["run_id"], state, _cost([run]), scenarios, run["label"]))
    _print_table(rows)


def _ordered(tiers: Sequence[str]) -> list[str]:
    return [tier for tier in TIERS if tier in tiers]


def _cost(runs: Sequence[PlannedRun]) -> str:
    return "~" + duration_text(sum(map(run_cpu_s, runs)))


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    print("\n".join(table_lines(rows)))


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


# --------------------------------------------------------------------------------- of `run`


def announce_plan(view: View, prepared: Prepared, cores: int, published: int = 0) -> None:
    """Say how many runs are to be simulated, beside published ones, and how long that takes."""
    plan, missing = prepared.plan, prepared.missing
    done = sum(is_finished(prepared.paths, run) for run in distinct(plan["runs"]))
    runs = published + done + len(missing)
    known = f"{done} finished, {published} published" if published else f"{done} finished"
    expected_s = call_wall_s(missing, cores)
    takes = f"about {duration_text(expected_s)} on {several(cores, 'core')}"
    view.tell(
        "plan",
        f"{plan['study']}, tier {plan['tier']}: {several(runs, 'run')}, {known}, "
        f"{len(missing)} to simulate ({takes})",
        study=plan["study"],
        tier=plan["tier"],
        runs=runs,
        finished=done,
        published=published,
        to_simulate=len(missing),
        expected_s=expected_s,
        jobs=cores,
    )
    for remark in (*remarks(plan["runs"]), *engine_remarks(plan["runs"])):
        view.tell("remark", f"  {remark}", remark=remark)


def announce_runs(view: View, prepared: Prepared) -> None:
    """Say for each missing run what it is, why it has to be simulated, and how long it takes."""
    reasons = Reasons(prepared.paths.runs)
    for run in prepared.missing:
        why = reasons.of(run)
        cost_s = run_cpu_s(run)
        view.tell(
            "to_simulate",
            f"  {run['run_id']}  {run['scenario']}: {run['label']}, ~{cost_s:.0f} s; {why}",
            run_id=run["run_id"],
            scenario=run["scenario"],
            label=run["label"],
            expected_cpu_s=cost_s,
            why=why,
        )


class Reasons:
    """Why runs have to be simulated, compared with the finished runs of a results folder."""

    def __init__(self, runs_dir: Path) -> None:
        self._runs_dir = runs_dir

    def of(self, run: PlannedRun) -> str:
        """Why the run has to be simulated, in a few words."""
        folder = run_folder(self._runs_dir, run["run_id"])
        if (folder / ERROR_NAME).is_file():
            return "failed last time"
        if (folder / SCRATCH_FOLDER).is_dir():
            return "was interrupted"
        alike = self._finished.get(_key(run["parameters"]), [])
        if not alike:
            return "not simulated yet"
        nearest = min((_changes(each, run["identity"]) for each in alike), key=len)
        return "changed since it was simulated: " + ", ".join(nearest)

    @cached_property
    def _finished(self) -> Mapping[str, list[Identity]]:
        """Identities of all finished runs, by their parameters."""
        found = defaultdict(list)
        for folder in run_folders(self._runs_dir):
            try:
                record = read_run(folder)
            except BdpbenchError:
                continue  # of another version, which is of no use here
            if record is not None:
                found[_key(record["parameters"])].append(record["identity"])
        return found


def _key(parameters: Parameters) -> str:
    return json.dumps(parameters, sort_keys=True)


def _changes(before: Identity, now: Identity) -> list[str]:
    """The parts of a run's identity that have changed, in words; the build of ns-2 is not one.

    >>> old = Identity(argv=["10"], tcl="aa", ns2="bb", streams=[])
    >>> _changes(old, {**old, "argv": ["20"], "ns2": "cc"})
    ["the script's arguments", 'the behaviour of ns-2 towards its agents']
    """
    compared = {
        "the script's arguments": before["argv"] == now["argv"],
        "the script or what it sources": before["tcl"] == now["tcl"],
        "the behaviour of ns-2 towards its agents": before["ns2"] == now["ns2"],
        "the traces that are streamed": before["streams"] == now["streams"],
    }
    return [words for words, is_same in compared.items() if not is_same]
