"""One call of `evaluate`: resolve, tell the cost, simulate, measure, compare."""

from __future__ import annotations

import colorsys
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import get_args

import polars as pl

from bdpbench.app.costs import call_wall_s, run_cpu_s
from bdpbench.app.evaluate.cells import StudyCells
from bdpbench.app.evaluate.judging import judged
from bdpbench.app.evaluate.mirrored import Mirrored, Newcomer, find_league, find_newcomers
from bdpbench.app.evaluate.report import WantedFiles, make_files, published_prints
from bdpbench.app.keep.tier import this_version
from bdpbench.app.listing import announce_plan, announce_runs
from bdpbench.app.planning import Paths, check_declared, exclusive, make_folder
from bdpbench.app.progress import View, Watch, duration_text, make_view
from bdpbench.app.run import (
    Call,
    execution_of,
    ready,
    remove_left,
    simulate_missing,
    tell_waiting,
)
from bdpbench.app.scheduling import Execution, failed_runs
from bdpbench.app.stages import elsewhere_of
from bdpbench.contracts.evaluation import (
    EVALUATION_NAME,
    Cell,
    Choice,
    Column,
    EvaluatedProtocol,
    Evaluation,
    Judgement,
    Problem,
    Status,
    cells_schema,
    read_evaluation,
    write_evaluation,
)
from bdpbench.contracts.paths import config_dir, results_dir, run_folder, runs_folder
from bdpbench.contracts.plan import distinct
from bdpbench.contracts.runs import read_run
from bdpbench.contracts.yaml_files import YamlFile, known_or_suggest
from bdpbench.errors import BdpbenchError
from bdpbench.pages.evaluation.findings import value_of
from bdpbench.pages.evaluation.page import EvaluationReport
from bdpbench.pages.evaluation.parts import MOST_NAMED
from bdpbench.processes import signals_interrupt
from bdpbench.simulation.build import current_build_id
from bdpbench.studies.atlas import ATLAS_NAME, Catalogue, Membership
from bdpbench.studies.config import load_config
from bdpbench.studies.evaluate import Mirror, mirrors
from bdpbench.studies.load import folders_of
from bdpbench.units import several

EVALUATIONS_FOLDER = "evaluations"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}")


@dataclass(frozen=True)
class EvaluateRequest(Call):
    """The user's request; with ``dry_run`` it is only told what would be simulated, and the cost.

    Attributes:
        words: the protocols, each ``[NAME=]WHAT`` or a file of several, see ``League``.
        quick: whether minutes have to do.
        name: of the folder in ``results/evaluations/``; made of the protocols' names if None.
        studies: only these studies; all if empty.
        beside: folder of another evaluation, whose protocols are shown as well.
        files: what is made of the evaluation besides its report.
    """

    words: tuple[str, ...]
    quick: bool = False
    name: str | None = None
    studies: tuple[str, ...] = ()
    beside: Path | None = None
    results: Path | None = None
    files: WantedFiles = field(default_factory=WantedFiles)
    keep_going: bool = field(default=True, kw_only=True)


def evaluate(request: EvaluateRequest) -> Path | None:
    """Evaluate protocols; returns the folder of the evaluation, None for a dry run.

    What cannot run is a problem of the evaluation, which names it with its reason; the rest is
    there.

    Raises:
        BdpbenchError: when the input is wrong, when nothing could be evaluated, or at the end if
            runs or protocols are missing in what was written.
    """
    request = _expanded(request)
    with make_view(quiet=request.quiet, as_json=request.as_json) as view, signals_interrupt():
        earlier = request.files.check()
        beside = None if request.beside is None else read_evaluation(request.beside)
        config = load_config()
        execution = execution_of(request, config)
        results = (request.results or results_dir(config.results)) / EVALUATIONS_FOLDER
        evaluating = Evaluating(request, view, results)
        evaluating.announce(execution.cores)
        if request.dry_run:
            return None
        with exclusive(results, partial(tell_waiting, view, results)):
            evaluating.simulate(execution)
            evaluation, cells = evaluating.document()
            if beside is not None:
                evaluation, cells = with_others(evaluation, cells, *beside)
            folder = results / evaluation.name
            write_evaluation(folder, evaluation, cells)
        judgement = judged(evaluation, cells, published_prints(evaluation))
        _tell_ranks(view, judgement)
        path = folder / EVALUATION_NAME
        view.tell("evaluation", f"evaluation: {path}", path=str(path))
        view.tell("making", "making the report and its files")
        elsewhere = elsewhere_of({each.key: each.protocol for each in evaluating.newcomers})
        report = EvaluationReport(judgement, earlier, elsewhere)
        for what, path in make_files(folder, request.files, report):
            view.tell("file", f"{what}: {path}", what=what, path=str(path))
        if evaluation.lacking:
            said = f"lacks {evaluation.lacking}; the report says why, and shows the rest"
            hint = "the same call tries again what failed"
            raise BdpbenchError(said, where=str(folder), hint=hint)
        return folder


def _expanded(request: EvaluateRequest) -> EvaluateRequest:
    """The request with the protocols, the studies and the name of files that it names."""
    words: list[str] = []
    for word in request.words:
        found = find_league(word)
        if found is None:
            words.append(word)
            continue
        name, league = found
        words += league.protocols
        request = replace(request, studies=request.studies or tuple(league.studies))
        if request.name is None and len(request.words) == 1:
            request = replace(request, name=f"{name}-quick" if request.quick else name)
    return replace(request, words=tuple(words))


def _tell_ranks(view: View, judgement: Judgement) -> None:
    """The ranks of a few protocols; the page shows those of many side by side."""
    evaluated = judgement.evaluation.evaluated
    for each in evaluated if len(evaluated) <= MOST_NAMED else ():
        ranks = [
            f"{figure.column.title}: {value['rank']} of {value['of']}"
            + (", though chance may decide" if value["unsure"] else "")
            for figure in judgement.figures
            for value in [value_of(figure, each.key)]
            if value and value["rank"] is not None
        ]
        if ranks:
            view.tell("ranks", "\n  ".join([each.label, *ranks]), protocol=each.key, ranks=ranks)


class Evaluating:
    """An evaluation while it is made: protocols that compile, and the studies with their runs.

    Args:
        request: what is asked.
        view: is told what happens.
        results: folder of all evaluations and their runs.

    Raises:
        BdpbenchError: for an unknown study, when no protocol compiles, or when nothing runs.
    """

    def __init__(self, request: EvaluateRequest, view: View, results: Path) -> None:
        self._request, self._view, self._results = request, view, results
        self._choice: Choice = "quick" if request.quick else "full"
        self._problems: list[Problem] = []
        self._cells: dict[str, StudyCells] = {}
        self.mirrored: list[Mirrored] = []
        self.newcomers = find_newcomers(request.words)
        self._name = self._named()
        self._build_id = current_build_id()
        self.newcomers = [each for each in self.newcomers if self._compiles(each)]
        if not self.newcomers:
            raise BdpbenchError(self._said())
        known, studies = mirrors(), request.studies
        for key in studies:
            if key not in {each.key for each in known}:
                hint = f"those that do: {', '.join(each.key for each in known)}"
                raise BdpbenchError(
                    "is not a study in config/ that takes newcomers", where=key, hint=hint
                )
        for mirror in known:
            if mirror.key in studies if studies else not mirror.file.only_named:
                self._add_study(mirror)
        if not any(each.plan["runs"] for each in self.mirrored):
            said = self._said() or "no study has runs for it"
            raise BdpbenchError(f"nothing can be evaluated: {said}")

    def _named(self) -> str:
        name = self._request.name
        if name is None:
            joined = "+".join(each.key.lower() for each in self.newcomers)[:50]
            return f"{joined}-quick" if self._request.quick else joined
        if not _NAME.fullmatch(name):
            said = "cannot be the name of a folder: use letters, digits and ._+-"
            raise BdpbenchError(said, where=f"--name {name}")
        return name

    def _compiles(self, newcomer: Newcomer) -> bool:
        if newcomer.folder is not None:
            try:
                make_folder(newcomer.folder, runs_code=not self._request.dry_run)
            except BdpbenchError as error:
                self._add_problem(newcomer.key, "", str(error))
                return False
        return True

    def _add_study(self, mirror: Mirror) -> None:
        known = set(common_names(mirror).values())
        for key, told in mirror.file.criteria.items():
            if told.of and (unknown := known_or_suggest(told.of, known, "common name")):
                raise mirror.source.error(("criteria", key, "of"), *unknown)
        for each in self.newcomers:
            if each.key in known:
                said = f"{each.key} is the name of a protocol of {mirror.key}"
                hint = f"give it another one: Other={each.source}"
                raise BdpbenchError(said, where=each.source, hint=hint)
        paths = Paths(self._results, self._name, mirror.key)
        mirrored = Mirrored(mirror, self._choice, self.newcomers, paths, self._build_id)
        cells = StudyCells(mirrored, document_keys(mirror, self.newcomers))
        cells.check()
        for folder in folders_of(mirror.study):
            make_folder(folder, runs_code=not self._request.dry_run)
        check_declared(mirror.study, self._build_id)
        for newcomer, said in mirrored.refused:
            self._add_problem(newcomer, mirror.key, said)
        self.mirrored.append(mirrored)
        self._cells[mirror.key] = cells

    def _add_problem(self, protocol: str, study: str, said: str) -> None:
        problem = Problem(protocol=protocol, study=study, said=said)
        if problem not in self._problems:
            self._problems.append(problem)
            where = ", ".join(filter(None, (study, protocol)))
            self._view.tell("problem", f"  {where} cannot be evaluated: {said}", **dict(problem))

    def _said(self) -> str:
        return "\n".join(each.said for each in self._problems)

    def announce(self, cores: int) -> None:
        """Say what there is to simulate in each study, in a dry run each run, and what it costs."""
        missing = []
        for each in self.mirrored:
            prepared = each.prepared()
            published = len(distinct(each.plan["runs"])) - len(distinct(prepared.runs))
            announce_plan(self._view, prepared, cores, published)
            if self._request.dry_run:
                announce_runs(self._view, prepared)
            missing += prepared.missing
        expected_s = call_wall_s(missing, cores)
        takes = f"about {duration_text(expected_s)} on {several(cores, 'core')}"
        said = f"{self._choice} evaluation {self._name}: {takes}"
        self._view.tell("cost", said, name=self._name, choice=self._choice, expected_s=expected_s)

    def simulate(self, execution: Execution) -> None:
        """Simulate the missing runs, study by study; a run that fails does not stop the others.

        Raises:
            BdpbenchError: when it is interrupted, or a simulator cannot be built.
        """
        parts = {each.mirror.key: each.prepared() for each in self.mirrored}
        runs = [run for prepared in parts.values() for run in prepared.missing]
        if runs:
            execution = ready(execution, runs)
        watch = Watch(runs_folder(self._results), runs, execution.cores, run_cpu_s)
        for key, prepared in parts.items():
            watch.part = key
            remove_left(prepared)
            failed = simulate_missing(prepared, execution, self._view, watch)
            # What a run says itself is told with its values, of which it has none.
            if failed is not None and not failed_runs(prepared):
                self._add_problem("", key, str(failed))

    def document(self) -> tuple[Evaluation, pl.DataFrame]:
        """Measure: the document, and its cells.

        Raises:
            BdpbenchError: when no run of a newcomer has a value.
        """
        counts: dict[Status, int] = dict.fromkeys(get_args(Status), 0)
        studies, cells = [], list[Cell]()
        for mirrored in self.mirrored:
            found = self._cells[mirrored.mirror.key]
            study = found.study(common_names(mirrored.mirror))
            studies.append(study)
            cells += (cell for key in study.parts for cell in found.cells(key))
            for status in found.statuses().values():
                counts[status] += 1
            for protocol, why in found.problems():
                self._add_problem(protocol, study.key, why)
        if not counts["simulated"] + counts["published"]:
            raise BdpbenchError(f"no run has results: {self._said()}")
        evaluation = Evaluation(
            name=self._name,
            choice=self._choice,
            bdpbench=this_version(),
            ns2_build_id=self._build_id,
            protocols=list(_told_apart(_protocols(self.mirrored, self.newcomers))),
            studies=studies,
            problems=self._problems,
            runs=counts,
            cpu_s=round(self._cpu_s(), 2),
        )
        return evaluation, pl.DataFrame(cells, schema=cells_schema())

    def _cpu_s(self) -> float:
        """CPU time of all runs that were simulated for newcomers, s."""
        runs = (run for each in self.mirrored for run in each.to_simulate)
        folders = (run_folder(runs_folder(self._results), run["run_id"]) for run in distinct(runs))
        records = (record for record in map(read_run, folders) if record is not None)
        return sum(record["cpu_s"] or 0.0 for record in records)


def with_others(
    evaluation: Evaluation, cells: pl.DataFrame, other: Evaluation, others: pl.DataFrame
) -> tuple[Evaluation, pl.DataFrame]:
    """An evaluation with the protocols of another one beside its own, in the columns of both.

    A column is that of both if what it shows is the same, and if the protocols of the studies that
    both show have values of the same runs there. A quick choice has some of these runs, so the
    values of the other evaluation are taken.
    """
    names = {
        key: study.names[name]
        for study in evaluation.studies
        for known in other.studies
        if known.key == study.key
        for name, key in known.names.items()
        if name in study.names
    }
    renamed = others.with_columns(pl.col("protocol", "beside").replace(names), evaluated=False)
    column = ["study", "part", "column"]
    place = [*column, "protocol", "row", "beside", "panel", "x"]
    shared = cells.filter(~pl.col("evaluated")).join(renamed, on=place, nulls_equal=True)
    is_other = pl.col("run_ids").list.set_difference("run_ids_right").list.len() > 0
    differing = set(shared.filter(is_other).select(column).iter_rows())
    ours, theirs = evaluation.columns, other.columns
    both = ours.keys() & theirs.keys()
    same = {at for at in both - differing if _shows(ours[at]) == _shows(theirs[at])}
    own = {each.key for each in evaluation.evaluated}
    new = [
        each for each in other.protocols if names.get(each.key, each.key) not in evaluation.labels
    ]
    shown = [*(evaluation.labels.keys() - own), *(each.key for each in new)]
    added = renamed.filter(
        pl.concat_str(column, separator="/").is_in(["/".join(at) for at in same]),
        pl.col("protocol").is_in(shown),
        pl.col("beside").is_in(["", *shown]),
    )
    kept = cells.join(added, on=place, how="anti", nulls_equal=True)
    protocols = (each.model_copy(update={"evaluated": False}) for each in new)
    problems = (
        Problem(protocol="", study=study, said=f"{key} of {part} is not what {other.name} has")
        for study, part, key in sorted(both - same)
    )
    update = {
        "protocols": list(_told_apart([*evaluation.protocols, *protocols])),
        "problems": [*evaluation.problems, *problems],
    }
    return evaluation.model_copy(update=update), pl.concat([kept, added.select(cells.columns)])


def _shows(column: Column) -> object:
    """What a column shows, whatever it is called."""
    return column.scenario, column.metric, column.subject, column.only, column.mean_over


def common_names(mirror: Mirror) -> dict[str, str]:
    """Protocol of a study → its common name, or ``STUDY:PROTOCOL``."""
    path = mirror.study.folder / ATLAS_NAME
    known = YamlFile(path).validate(Membership).known_as if path.is_file() else {}
    return {key: known.get(key, f"{mirror.key}:{key}") for key in mirror.study.protocols}


def document_keys(mirror: Mirror, newcomers: Sequence[Newcomer]) -> dict[str, str]:
    """Protocol of a study → its key in the document: that of a newcomer if it is the same."""
    same = {
        key: each.key
        for each in newcomers
        for key, protocol in mirror.study.protocols.items()
        if each.is_itself(protocol)
    }
    return common_names(mirror) | same


def _told_apart(protocols: Iterable[EvaluatedProtocol]) -> Iterator[EvaluatedProtocol]:
    """The protocols with labels and colours that no earlier one has, by which plots tell them."""
    labels, spare = {""}, _spare_colours()
    colours: set[str] = set()
    for each in protocols:
        label, colour = each.label, each.colour.lower()
        if label in labels:
            label = f"{label} ({each.key if each.evaluated else 'published'})"
        if colour in colours:
            colour = next(one for one in spare if one not in colours)
        labels.add(label)
        colours.add(colour)
        yield each.model_copy(update={"label": label, "colour": colour})


def _spare_colours() -> Iterator[str]:
    """Colours without end, each far from the last ones: hues a golden section apart."""
    for number in itertools.count():
        parts = colorsys.hls_to_rgb(number * 0.618034 % 1, 0.4, 0.6)
        yield "#" + "".join(f"{round(255 * each):02x}" for each in parts)


def _protocols(
    mirrored: Sequence[Mirrored], newcomers: Sequence[Newcomer]
) -> Iterator[EvaluatedProtocol]:
    """The newcomers, then the protocols of the studies, each common name once."""
    common = YamlFile(config_dir() / ATLAS_NAME).validate(Catalogue).protocols
    found = [(each.key, each.protocol, each.protocol.label, each.source) for each in newcomers]
    for mirror in (each.mirror for each in mirrored):
        for key, name in document_keys(mirror, newcomers).items():
            protocol = mirror.study.protocols[key]
            label = common[name].name if name in common else protocol.label
            found.append((name, protocol, label, f"{mirror.key}:{key}"))
    known: set[str] = set()
    for number, (key, protocol, label, source) in enumerate(found):
        if key not in known:
            known.add(key)
            yield EvaluatedProtocol(
                key=key,
                label=label,
                colour=protocol.colour,
                evaluated=number < len(newcomers),
                source=source,
            )
