"""What there is to run and what it costs: `bdpbench list`, and what `run` says before it begins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill

from bdpbench.app.costs import call_wall_s, run_cpu_s, tier_costs
from bdpbench.app.planning import Prepared, Wanted, is_finished
from bdpbench.app.progress import View, duration_text
from bdpbench.contracts.plan import PlannedRun, distinct
from bdpbench.contracts.runs import ERROR_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.simulate import SCRATCH_FOLDER
from bdpbench.studies.config import load_config
from bdpbench.studies.engines import engine_remarks
from bdpbench.studies.load import load_study, studies_dir, study_keys
from bdpbench.studies.plan import Selection, tiers_of
from bdpbench.studies.runs import expand_tier
from bdpbench.studies.study import TIERS
from bdpbench.units import several, table_lines

# -------------------------------------------------------------------------------- of `list`


Told = tuple[str, Mapping[str, object] | None]
"""A line, and what it tells as data; None for a title, whose words stand in what follows it."""


def list_studies() -> list[Told]:
    """Every study with the numbers of runs and the CPU time of its tiers."""
    told: list[Told] = []
    for key in study_keys():
        study = load_study(studies_dir() / key)
        costs, tiers = tier_costs(study), _ordered(tiers_of(study))
        rows = []
        for tier in tiers:
            shown = f"{'at most ' * costs[tier].is_most}{several(costs[tier].runs, 'run')}"
            rows.append((tier, f"{shown}, ~{duration_text(costs[tier].cpu_s)}"))
        named = {"study": key, "title": study.title}
        facts = [{**named, "tier": tier, **costs[tier]._asdict()} for tier in tiers]
        told += _titled(key, study.title, rows, facts)
    return told


def list_scenarios(study_key: str, selection: Selection) -> list[Told]:
    """The scenarios of a study, with runs and CPU time in each tier."""
    study = load_study(study_key)
    selection = selection.in_study(study)
    by_tier = {tier: expand_tier(study, tier) for tier in _ordered(tiers_of(study))}
    told: list[Told] = [(f"{study.key}: {study.title}", None)]
    told += [(f"protocols: {', '.join(study.protocols)}\n", None)]
    for key, scenario in study.scenarios.items():
        if selection.scenarios and key not in selection.scenarios:
            continue
        rows, facts = [], []
        for tier, planned in by_tier.items():
            runs = distinct(
                run for run in planned if run["scenario"] == key and selection.wants(run)
            )
            if runs:
                cpu_s = sum(map(run_cpu_s, runs))
                rows.append((tier, f"{several(len(runs), 'run')}, ~{duration_text(cpu_s)}"))
                named = {"study": study.key, "scenario": key, "title": scenario.title}
                facts.append({**named, "tier": tier, "runs": len(runs), "cpu_s": cpu_s})
        told += _titled(key, scenario.title, rows, facts)
    for tier, planned in by_tier.items():
        if len(distinct(planned)) < len(planned):
            said = f"{several(len(distinct(planned)), 'run')} in all, since scenarios share some"
            told.append((f"{tier}: {said}", None))
    return told


def list_runs(study_key: str, tier: str | None, selection: Selection) -> list[Told]:
    """The runs of a tier: id, state, expected CPU time, scenarios, and label.

    Raises:
        BdpbenchError: when nothing is selected.
    """
    study = load_study(study_key)
    selection = selection.in_study(study)
    chosen = tier or load_config().tier
    paths = Wanted(study_key, chosen).paths()
    places: dict[str, list[PlannedRun]] = defaultdict(list)
    for run in expand_tier(study, chosen):
        if selection.wants(run):
            places[run["run_id"]].append(run)
    if not places:
        raise BdpbenchError(f"no run of tier {chosen} is selected", where="selection")
    rows = [("run", "state", "CPU time", "scenario", "what")]
    facts: list[Mapping[str, object] | None] = [None]
    for run_id, (run, *others) in places.items():
        finished, cpu_s = is_finished(paths, run), run_cpu_s(run)
        scenarios = list(dict.fromkeys(each["scenario"] for each in (run, *others)))
        state, cost = "finished" if finished else "-", f"~{duration_text(cpu_s)}"
        rows.append((run_id, state, cost, ", ".join(scenarios), run["label"]))
        known = {"run_id": run_id, "finished": finished, "cpu_s": cpu_s}
        facts.append({**known, "scenarios": scenarios, "label": run["label"]})
    return list(zip(table_lines(rows), facts, strict=True))


def _ordered(tiers: Sequence[str]) -> list[str]:
    return [tier for tier in TIERS if tier in tiers]


def _titled(
    key: str, title: str, rows: Sequence[tuple[str, ...]], facts: Sequence[Mapping[str, object]]
) -> list[Told]:
    head = fill(f"{key}: {title}", 80, subsequent_indent="  ", break_on_hyphens=False)
    lines = [f"  {line}" for line in table_lines(rows)]
    return [(head, None), *zip(lines, facts, strict=True)]


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
    for remark in engine_remarks(plan["runs"]):
        view.tell("remark", f"  {remark}", remark=remark)


def announce_runs(view: View, prepared: Prepared) -> None:
    """Say for each missing run what it is, why it has to be simulated, and how long it takes."""
    for run in prepared.missing:
        why = _why(prepared.paths.run(run["run_id"]))
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


def _why(folder: Path) -> str:
    """Why the run of a folder has to be simulated, in a few words."""
    if (folder / ERROR_NAME).is_file():
        return "failed last time"
    return "was interrupted" if (folder / SCRATCH_FOLDER).is_dir() else "not simulated yet"
