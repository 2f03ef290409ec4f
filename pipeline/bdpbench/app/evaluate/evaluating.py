"""One call of `evaluate`: resolve, tell the cost, simulate, measure, compare."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from bdpbench.app.costs import call_wall_s, run_cpu_s
from bdpbench.app.evaluate.cells import StudyCells, frame_of
from bdpbench.app.evaluate.judging import criterion_of, figure_of
from bdpbench.app.evaluate.mirrored import Mirrored, Newcomer, find_newcomers
from bdpbench.app.evaluate.report import WantedFiles, make_files
from bdpbench.app.keep.bundle import this_version
from bdpbench.app.planning import Paths, check_declared, exclusive, make_folder
from bdpbench.app.progress import LINE_INTERVAL_S, View, Watch, duration_text, make_view
from bdpbench.app.run import Call, built, execution_of, remove_left, simulate_missing
from bdpbench.app.scheduling import Execution, failed_runs
from bdpbench.contracts.evaluation import (
    EVALUATION_NAME,
    Cell,
    Choice,
    Cost,
    Criterion,
    EvaluatedProtocol,
    EvaluatedStudy,
    Evaluation,
    Figure,
    Problem,
    Status,
    read_evaluation_document,
    write_evaluation,
)
from bdpbench.contracts.paths import config_dir, relative, results_dir, runs_folder
from bdpbench.contracts.plan import PLAN_NAME, write_plan_document
from bdpbench.contracts.runs import read_run
from bdpbench.contracts.yaml_files import YamlFile, known_or_suggest
from bdpbench.errors import BdpbenchError
from bdpbench.pages.evaluation.findings import nearest
from bdpbench.processes import signals_interrupt
from bdpbench.simulation.build import current_build_id
from bdpbench.studies.atlas import ATLAS_NAME, Catalogue, Membership
from bdpbench.studies.config import load_config
from bdpbench.studies.evaluate import Mirror, mirrors
from bdpbench.studies.load import folders_of

EVALUATIONS_FOLDER = "evaluations"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}")

_SPARE_COLOURS = ("#d946ef", "#0e7490", "#4d7c0f", "#be123c", "#57534e", "#1e3a8a")

INCOMPLETE = "~incomplete"
"""After the name of a folder: what lacks runs beside a complete evaluation; no name ends so."""


@dataclass(frozen=True)
class EvaluateRequest(Call):
    """The user's request; with ``dry_run`` it is only told what would be simulated, and the cost.

    Attributes:
        words: the protocols, each ``[NAME=]WHAT``.
        quick: whether minutes have to do.
        name: of the folder in ``results/evaluations/``; made of the protocols' names if None.
        studies: only these studies; all if empty.
        files: what is made of the evaluation besides its report.
    """

    words: tuple[str, ...]
    quick: bool = False
    name: str | None = None
    studies: tuple[str, ...] = ()
    results: Path | None = None
    files: WantedFiles = field(default_factory=WantedFiles)
    keep_going: bool = field(default=True, kw_only=True)


def evaluate(request: EvaluateRequest) -> Path | None:
    """Evaluate protocols; returns the folder of the evaluation, None for a dry run.

    What cannot run is a problem of the evaluation, which names it with its reason; the rest is
    there. A complete evaluation of the same name is replaced only by a complete one: one that lacks
    runs or protocols is written beside it.

    Raises:
        BdpbenchError: when the input is wrong, when nothing could be evaluated, or at the end if
            runs or protocols are missing in what was written.
    """
    with make_view(quiet=request.quiet, as_json=request.as_json) as view, signals_interrupt():
        earlier = request.files.check()
        config = load_config()
        newcomers = find_newcomers(request.words)
        choice: Choice = "quick" if request.quick else "full"
        name = _name_of(request, newcomers)
        execution = execution_of(request, config)
        results = (request.results or results_dir(config.results)) / EVALUATIONS_FOLDER
        evaluating = Evaluating(view, name, choice, newcomers, results, request.dry_run)
        evaluating.resolve(request.studies)
        evaluating.announce(execution.cores)
        if request.dry_run:
            evaluating.announce_runs()
            return None
        waiting = partial(_tell_waiting, view, results)
        with exclusive(results, waiting):
            evaluating.simulate(execution)
            folder = evaluating.write()
        evaluating.conclude(folder)
        begin = partial(_tell_making, view)
        for what, path in make_files(folder, request.files, earlier, begin):
            view.tell("file", f"{what}: {path}", what=what, path=str(path))
        evaluating.check_complete(folder)
        return folder


def _name_of(request: EvaluateRequest, newcomers: Sequence[Newcomer]) -> str:
    name = request.name
    if name is None:
        joined = "+".join(each.key.lower() for each in newcomers)[:50]
        return f"{joined}-quick" if request.quick else joined
    if not _NAME.fullmatch(name):
        said = "cannot be the name of a folder: use letters, digits and ._+-"
        raise BdpbenchError(said, where=f"--name {name}")
    return name


def _tell_making(view: View, what: str) -> None:
    view.tell("making", f"making the {what}", what=what)


def _tell_waiting(view: View, results: Path, text: str) -> None:
    view.tell("waiting", text, results=str(results))


class Evaluating:
    """An evaluation while it is made.

    Args:
        view: is told what happens.
        name: of its folder.
        choice: quick or full.
        newcomers: the protocols.
        results: folder of all evaluations and their runs.
        dry_run: whether it only says what would be simulated.
    """

    def __init__(
        self,
        view: View,
        name: str,
        choice: Choice,
        newcomers: Sequence[Newcomer],
        results: Path,
        dry_run: bool,
    ) -> None:
        self._view, self._name, self._choice = view, name, choice
        self._newcomers, self._results = list(newcomers), results
        self._problems: list[Problem] = []
        self._mirrored: list[Mirrored] = []
        self._build_id = current_build_id()
        self._told_s = 0.0
        self._runs_code = not dry_run

    # ------------------------------------------------------------ resolve

    def resolve(self, studies: Sequence[str]) -> None:
        """Compile the protocols, and find their runs.

        Raises:
            BdpbenchError: for an unknown study, when no protocol compiles, or when nothing runs.
        """
        self._newcomers = [each for each in self._newcomers if self._compiles(each)]
        if not self._newcomers:
            raise BdpbenchError("\n".join(each.said for each in self._problems))
        known = mirrors()
        for key in studies:
            if key not in {each.key for each in known}:
                hint = f"those that do: {', '.join(each.key for each in known)}"
                raise BdpbenchError("is not a study that takes newcomers", where=key, hint=hint)
        for mirror in known:
            if mirror.key in studies if studies else not mirror.file.only_named:
                self._resolve_study(mirror)
        if not any(each.plan["runs"] for each in self._mirrored):
            said = "\n".join(each.said for each in self._problems) or "no study has runs for it"
            raise BdpbenchError(f"nothing can be evaluated: {said}")

    def _compiles(self, newcomer: Newcomer) -> bool:
        if newcomer.folder is None:
            return True
        try:
            make_folder(newcomer.folder, runs_code=self._runs_code)
        except BdpbenchError as error:
            self._add_problem(newcomer.key, "", str(error))
            return False
        return True

    def _resolve_study(self, mirror: Mirror) -> None:
        known = set(common_names(mirror).values())
        for key, told in mirror.file.criteria.items():
            if told.of and (unknown := known_or_suggest(told.of, known, "common name")):
                raise mirror.source.error(("criteria", key, "of"), *unknown)
        for named in self._newcomers:
            if named.key in known:
                said = f"{named.key} is the name of a protocol of {mirror.key}"
                hint = f"give it another one: Other={named.source}"
                raise BdpbenchError(said, where=named.source, hint=hint)
        paths = Paths(self._results, self._name, mirror.key)
        mirrored = Mirrored(mirror, self._choice, self._newcomers, paths, self._build_id)
        StudyCells(mirrored, document_keys(mirror, self._newcomers)).check()
        for folder in folders_of(mirror.study):
            make_folder(folder, runs_code=self._runs_code)
        check_declared(mirror.study, self._build_id)
        for each in mirrored.refused:
            self._add_problem(each.newcomer, mirror.key, f"{each.scenario}: {each.why}")
        self._mirrored.append(mirrored)

    def _add_problem(self, protocol: str, study: str, said: str) -> None:
        problem = Problem(protocol=protocol, study=study, said=said)
        if problem not in self._problems:
            self._problems.append(problem)
            where = ", ".join(filter(None, (study, protocol)))
            self._view.tell("problem", f"  {where} cannot be evaluated: {said}", **dict(problem))

    # ------------------------------------------------------------ cost

    def announce(self, cores: int) -> None:
        """Say how many runs there are, how many of them are known, and what the rest costs."""
        expected_s = 0.0
        for each in self._mirrored:
            missing = each.prepared().missing
            wall_s = call_wall_s(missing, cores) if missing else 0.0
            expected_s += wall_s
            runs = len({run["run_id"] for run in each.plan["runs"]})
            known = runs - len({run["run_id"] for run in each.to_simulate})
            self._view.tell(
                "plan",
                f"{each.mirror.key}: {runs} runs, {known} published, {len(missing)} to simulate "
                f"(about {duration_text(wall_s)} on {cores} cores)",
                study=each.mirror.key,
                runs=runs,
                published=known,
                to_simulate=len(missing),
                expected_s=wall_s,
            )
        self._view.tell(
            "cost",
            f"{self._choice} evaluation {self._name}: about {duration_text(expected_s)} "
            f"on {cores} cores",
            name=self._name,
            choice=self._choice,
            expected_s=expected_s,
            jobs=cores,
        )

    def announce_runs(self) -> None:
        """Say which runs would be simulated."""
        for each in self._mirrored:
            for run in each.prepared().missing:
                cost_s = run_cpu_s(run)
                place = f"{each.mirror.key}, {run['scenario']}"
                self._view.tell(
                    "to_simulate",
                    f"  {run['run_id']}  {place}: {run['label']}, ~{cost_s:.0f} s",
                    run_id=run["run_id"],
                    study=each.mirror.key,
                    scenario=run["scenario"],
                    label=run["label"],
                    expected_cpu_s=cost_s,
                )

    # ------------------------------------------------------------ simulate

    def simulate(self, execution: Execution) -> None:
        """Simulate the missing runs, study by study; a run that fails does not stop the others.

        Raises:
            BdpbenchError: when it is interrupted, or ns-2 cannot be built.
        """
        for each in self._mirrored:
            remove_left(each.prepared())
        parts = {each.mirror.key: each.prepared().missing for each in self._mirrored}
        if any(parts.values()):
            execution = replace(execution, backend=built(execution.backend).name)
        runs = [run for missing in parts.values() for run in missing]
        watch = Watch(runs_folder(self._results), runs, execution.cores, run_cpu_s)
        for each in self._mirrored:
            watch.part = each.mirror.key
            prepared = each.prepared()
            if not prepared.missing:
                continue
            failed = simulate_missing(prepared, execution, self._view, watch, judged=False)
            # What a run says itself is told with its values, of which it has none.
            if failed is not None and not failed_runs(prepared):
                self._add_problem("", each.mirror.key, str(failed))

    # ------------------------------------------------------------ write

    def write(self) -> Path:
        """Measure, compare and write; returns the folder.

        Raises:
            BdpbenchError: when no run of a newcomer has a value.
        """
        self._told_s = time.monotonic()
        document = Joined(self._mirrored, self._newcomers, self._tell_measured)
        for each in document.problems:
            self._add_problem(each.protocol, each.study, each.said)
        cost = document.cost
        if not cost.simulated + cost.published:
            said = "\n".join(each.said for each in self._problems)
            raise BdpbenchError(f"no run has results: {said}")
        evaluation = Evaluation(
            name=self._name,
            choice=self._choice,
            bdpbench=this_version(),
            ns2_build_id=self._build_id,
            protocols=document.protocols,
            figures=document.figures,
            criteria=document.criteria,
            studies=document.studies,
            problems=self._problems,
            cost=cost,
        )
        folder = self._place(evaluation)
        for mirrored in self._mirrored:
            write_plan_document(folder / mirrored.mirror.key / PLAN_NAME, mirrored.prepared().plan)
        write_evaluation(folder, evaluation, frame_of(document.cells))
        if _is_complete(evaluation):
            shutil.rmtree(self._incomplete, ignore_errors=True)
        self._written = evaluation
        return folder

    def _tell_measured(self, study: str, done: int, of: int) -> None:
        """Say how many runs of a study are measured, if the last word was some time ago."""
        if time.monotonic() - self._told_s >= LINE_INTERVAL_S:
            self._told_s = time.monotonic()
            said = f"{study}: {done} of {of} runs are measured"
            self._view.tell("measuring", said, study=study, measured=done, runs=of)

    @property
    def _incomplete(self) -> Path:
        return self._results / f"{self._name}{INCOMPLETE}"

    def _place(self, evaluation: Evaluation) -> Path:
        """Where an evaluation belongs: beside a complete one if it is not complete itself."""
        folder = self._results / self._name
        if _is_complete(evaluation) or not _may_be_complete(folder):
            return folder
        self._view.tell(
            "incomplete",
            f"{folder} stays as it is, because this evaluation lacks {_lacking(evaluation)}: "
            f"it is in {self._incomplete}",
            kept=str(folder),
            path=str(self._incomplete),
            runs=evaluation.cost.failed + evaluation.cost.missing,
        )
        return self._incomplete

    def conclude(self, folder: Path) -> None:
        """Say where each protocol ranks, and where the evaluation is."""
        for each in self._newcomers:
            ranks = [
                f"{figure.title}: {value.rank} of {value.of}"
                for figure in self._written.figures
                for value in figure.values
                if value.protocol == each.key and value.rank is not None
            ]
            if ranks:
                said = "\n  ".join([each.protocol.label, *ranks])
                self._view.tell("ranks", said, protocol=each.key, ranks=ranks)
        path = folder / EVALUATION_NAME
        self._view.tell("evaluation", f"evaluation: {path}", path=str(path))

    def check_complete(self, folder: Path) -> None:
        """Let the call fail if runs or protocols are missing.

        Raises:
            BdpbenchError: saying how many.
        """
        if not _is_complete(self._written):
            raise BdpbenchError(
                f"lacks {_lacking(self._written)}; the report says why, and shows the rest",
                where=str(folder),
                hint="the same call tries again what failed",
            )


def _lacking(evaluation: Evaluation) -> str:
    lacking = evaluation.cost.failed + evaluation.cost.missing
    return f"{lacking} runs" if lacking else "a protocol"


def _is_complete(evaluation: Evaluation) -> bool:
    """Whether all runs have values, and all protocols that were named are there."""
    cost = evaluation.cost
    left_out = any(not each.study for each in evaluation.problems)
    return not (cost.failed or cost.missing or left_out)


def _may_be_complete(folder: Path) -> bool:
    """Whether a folder has an evaluation, unless that says itself that it is not complete."""
    path = folder / EVALUATION_NAME
    try:
        return path.is_file() and _is_complete(read_evaluation_document(path))
    except BdpbenchError:  # of another version, whose page can be read
        return True


class Joined:
    """The parts of all studies, put together.

    Attributes:
        protocols, figures, criteria, studies, problems: as in the document.
        cells: all cells.
    """

    def __init__(
        self,
        mirrored: Sequence[Mirrored],
        newcomers: Sequence[Newcomer],
        tell: Callable[[str, int, int], None],
    ) -> None:
        names = {each.mirror.key: document_keys(each.mirror, newcomers) for each in mirrored}
        self.problems: list[Problem] = []
        self.cells: list[Cell] = []
        self.studies: list[EvaluatedStudy] = []
        self.figures: list[Figure] = []
        self.criteria: list[Criterion] = []
        self._mirrored = mirrored
        self._counts: list[Mapping[Status, int]] = []
        self.protocols = list(_told_apart(_protocols(mirrored, newcomers, names)))
        for each in mirrored:
            self._add(each, names[each.mirror.key], partial(tell, each.mirror.key))
        others = [each.key for each in self.protocols if not each.evaluated]
        self.protocols = [
            each.model_copy(update={"relative": nearest(self.figures, each.key, others)})
            if each.evaluated
            else each
            for each in self.protocols
        ]

    def _add(
        self, mirrored: Mirrored, names: Mapping[str, str], tell: Callable[[int, int], None]
    ) -> None:
        mirror, found = mirrored.mirror, StudyCells(mirrored, names, tell)
        made = list(found.parts())
        cells = [cell for _, _, of_part in made for cell in of_part]
        study = EvaluatedStudy(
            key=mirror.key,
            title=mirror.study.title,
            folder=relative(mirror.study.folder),
            paper=mirror.study.citation is not None,
            parts={key: part for key, part, _ in made},
        )
        self.studies.append(study)
        self.cells += cells
        self._counts.append(found.counts())
        labels = {each.key: each.label for each in self.protocols}
        figures = (figure_of(mirror, key, study, cells, labels) for key in mirror.file.figures)
        self.figures += [each for each in figures if each is not None]
        common = {name: names[key] for key, name in common_names(mirror).items()}
        self.criteria += [
            criterion_of(mirror, key, study, cells, labels, common) for key in mirror.file.criteria
        ]
        own = [run for runs in mirrored.own.values() for run in runs]
        lacking = sum(not mirrored.is_published(run) for run in own)
        said = f"{lacking} of the {len(own)} runs of its own protocols are not published here"
        reasons = {"": [said] if lacking else []}
        for newcomer, runs in mirrored.runs.items():
            reasons[newcomer] = [found.failed.get(each.run["run_id"], "") for each in runs]
        self.problems += [
            Problem(protocol=protocol, study=mirror.key, said=why)
            for protocol, found_reasons in reasons.items()
            for why in dict.fromkeys(filter(None, found_reasons))
        ]

    @property
    def cost(self) -> Cost:
        """Numbers of runs, and CPU time of those that were simulated."""
        folders = {
            run["run_id"]: each.paths.run(run["run_id"])
            for each in self._mirrored
            for run in each.to_simulate
        }
        records = [each for each in map(read_run, folders.values()) if each is not None]
        totals = {
            status: sum(each[status] for each in self._counts)
            for status in ("published", "simulated", "failed", "missing")
        }
        cpu_s = sum(each["cpu_s"] or 0.0 for each in records)
        return Cost(**totals, cpu_s=round(cpu_s, 2))


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
    labels, spare = {""}, list(_SPARE_COLOURS)
    colours: set[str] = set()
    for each in protocols:
        label, colour = each.label, each.colour.lower()
        if label in labels:
            label = f"{label} ({each.key if each.evaluated else 'published'})"
        if colour in colours and spare:
            colour = spare.pop(0)
        labels.add(label)
        colours.add(colour)
        yield each.model_copy(update={"label": label, "colour": colour})


def _protocols(
    mirrored: Sequence[Mirrored],
    newcomers: Sequence[Newcomer],
    names: Mapping[str, Mapping[str, str]],
) -> Iterator[EvaluatedProtocol]:
    """The newcomers, then the protocols of the studies, each common name once."""
    for each in newcomers:
        yield EvaluatedProtocol(
            key=each.key,
            label=each.protocol.label,
            colour=each.protocol.colour,
            evaluated=True,
            source=each.source,
            folder="" if each.folder is None else relative(each.folder.path),
        )
    common = YamlFile(config_dir() / ATLAS_NAME).validate(Catalogue).protocols
    known = {each.key for each in newcomers}
    for mirror in (each.mirror for each in mirrored):
        for key, name in names[mirror.key].items():
            if name not in known:
                known.add(name)
                protocol = mirror.study.protocols[key]
                yield EvaluatedProtocol(
                    key=name,
                    label=common[name].name if name in common else protocol.label,
                    colour=protocol.colour,
                    evaluated=False,
                    source=f"{mirror.key}:{key}",
                    folder=relative(Path(protocol.folder)) if protocol.folder else "",
                )
