"""`run --until-decided`: repetitions of those runs whose numbers and statements are undecided.

The numbers of repetitions at which it looks are stated in ``spread.yaml``, so that looking again
raises no rate of false verdicts (``score/chance.py``). What is added is written to the study's
``repetitions.yaml``: each look is the run of a larger tier, and any call resumes it. Published runs
count as they are, and are not simulated again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import yaml

from bdpbench.app.costs import run_cpu_s
from bdpbench.app.planning import Paths, Prepared
from bdpbench.app.progress import View, duration_text
from bdpbench.app.stages import definitions_of, score_plan
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.plan import PlannedRun, Scalar, study_folder
from bdpbench.contracts.reports import PROVENANCE_NAME, read_scorecard
from bdpbench.contracts.scorecard import SCORECARD_NAME, Scorecard, rows_of
from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import load_study
from bdpbench.studies.plan import Selection
from bdpbench.studies.study import REPETITIONS_NAME, Study
from bdpbench.studies.vocabulary import REPETITION
from bdpbench.units import several

if TYPE_CHECKING:
    from bdpbench.app.keep.results import KeptResults
    from bdpbench.score.lookup import Asked
    from bdpbench.score.spreads import Run

_HEAD = """\
# Repetitions that `run --until-decided` has added to the sweeps of study.yaml: scenario, the runs
# that are repeated, and their last substream. They belong to the study, as its results do.
"""


def published_of(paths: Paths) -> KeptResults | None:
    """What is published of a tier, whose runs need not be simulated again; None if nothing is."""
    from bdpbench.app.keep.results import KeptResults

    folder = repository_root() / "reports" / "published" / paths.study
    if not (folder / PROVENANCE_NAME).is_file():
        return None
    found = KeptResults(folder)
    return found if found.provenance["tier"] == paths.tier else None


def tell_most(planned: Prepared, selection: Selection, view: View) -> None:
    """Say what it costs at most, if nothing is decided before the last look.

    Raises:
        BdpbenchError: for a study whose ``spread.yaml`` states no looks, or a tier without
            repetitions.
    """
    added = _to_add(planned, selection, most=True)
    _tell(view, "up to the last look, if nothing is decided before", planned, added, 1)


def add_repetitions(planned: Prepared, selection: Selection, view: View) -> bool:
    """Add the repetitions of the next look to the study, and say what they cost.

    Returns:
        Whether there are any: not if everything is decided, or has had its last look.
    """
    added = _to_add(planned, selection)
    if added:
        _tell(view, "for the next look", planned, added, 0)
        study = load_study(study_folder(planned.plan))
        found = {key: [*cells] for key, cells in study.repetitions.items()}
        for run, (more, _) in added:
            cell = _cell(study, run)
            cells = [each for each in found.get(run["scenario"], []) if each | cell != each]
            last = int(run["parameters"][REPETITION]) + more
            found[run["scenario"]] = [*cells, {**cell, REPETITION: last}]
        text = yaml.safe_dump(found, default_flow_style=None, sort_keys=False, width=1000)
        write_text_atomically(study.folder / REPETITIONS_NAME, _HEAD + text)
    return bool(added)


def _to_add(
    planned: Prepared, selection: Selection, *, most: bool = False
) -> list[tuple[PlannedRun, tuple[int, int]]]:
    """The last repetition of each run to repeat, and how many more the next and all looks need.

    These are the runs of all that is undecided (``most``), or of what comes first and needs the
    fewest of them.
    """
    import polars as pl

    from bdpbench.score import load_expectations
    from bdpbench.score.spreads import Repetitions

    folder = study_folder(planned.plan)
    expected = load_expectations(folder, definitions_of(planned.plan))
    if not any(each.repeats and each.repeats.looks for each in expected.spreads):
        hint = "give repeats: looks: [4, 8, 12, 20], for example (docs/publications.md)"
        raise BdpbenchError("no entry of spread.yaml has looks", where=str(folder), hint=hint)
    # Only of finished runs repetitions are counted, and here all of the plan are or will be.
    every = {name: [run[name] for run in planned.runs] for name in ("scenario", "run_id")}
    blank = dict.fromkeys(("metric", "subject", "value", "unit", "definition"), pl.lit(""))
    repetitions = Repetitions(planned.plan, pl.DataFrame(every).with_columns(**blank), ())
    if not repetitions.have_looks(expected.spreads):
        what = f"no run of tier {planned.paths.tier} is repeated"
        hint = "give the --tier whose scenarios are named by repeats: of spread.yaml"
        raise BdpbenchError(what, where=str(folder), hint=hint)
    asked: dict[str, list[Asked]] = {each.id: [each] for each in expected.numbers}
    asked |= {each.text.id: [own for _, own in each.questions] for each in expected.claims}
    runs = {(run["scenario"], run["run_id"]): run for run in planned.runs}
    looks = 0 if most else max(len(each.repeats.looks) for each in expected.spreads if each.repeats)
    for names in _in_order(planned, asked, looks):
        needs = (
            repetitions.to_add([each for each in expected.spreads if each.is_of(name)], asked[name])
            for name in names
        )
        wanted = ({run: need[run] for run in need if selection.wants(runs[run])} for need in needs)
        if found := sorted(filter(None, wanted), key=len):
            added: dict[Run, tuple[int, int]] = {}
            for need in found if most else [each for each in found if len(each) == len(found[0])]:
                added |= {run: max(added.get(run, more), more) for run, more in need.items()}
            return [(runs[key], more) for key, more in added.items()]
    return []


def _in_order(planned: Prepared, asked: Collection[str], looks: int) -> Iterator[Collection[str]]:
    """What is undecided: first what the next look would decide, then a later one, then all of it.

    What a look would decide is what it decides if the repetitions so far come again. No order
    raises the rate of false verdicts, as each look has its own part of the level.
    """
    from bdpbench.app.keep.results import KeptResults

    folder = planned.paths.folder
    if not (folder / SCORECARD_NAME).is_file():
        yield asked
        return
    undecided = _undecided(read_scorecard(folder / SCORECARD_NAME))
    metrics = KeptResults(folder).metrics
    for ahead in range(1, looks):
        left = _undecided(score_plan(planned.plan, metrics, ahead))
        yield [name for name in undecided if name not in left]
    yield undecided


def _undecided(card: Scorecard) -> list[str]:
    rows = [row for number in card["numbers"] for row in rows_of(number)]
    return [row["id"] for row in (*rows, *card["claims"]) if row["verdict"] == "undecided"]


def _cell(study: Study, run: PlannedRun) -> dict[str, Scalar]:
    """The swept parameters of a run without its repetition, as the study gives them."""
    scenario = study.scenarios[run["scenario"]]
    names = [*scenario.sweep, *(name for case in scenario.cases for name in case)]
    if REPETITION not in scenario.sweep:
        place = ("scenarios", run["scenario"])
        raise study.error(place, f"no sweep of {REPETITION}, which more repetitions would go on")
    return {name: run["parameters"][name] for name in dict.fromkeys(names) if name != REPETITION}


def _tell(
    view: View,
    when: str,
    planned: Prepared,
    added: Sequence[tuple[PlannedRun, tuple[int, int]]],
    which: int,
) -> None:
    runs = sum(more[which] for _, more in added)
    cpu_s = sum(run_cpu_s(run) * more[which] for run, more in added)
    text = f"{planned.plan['study']}: {several(len(added), 'run')} to repeat, "
    text += f"{several(runs, 'repetition')} {when} (~{duration_text(cpu_s)} of CPU)"
    view.tell("repetitions", text, runs=len(added), repetitions=runs, expected_cpu_s=cpu_s)
