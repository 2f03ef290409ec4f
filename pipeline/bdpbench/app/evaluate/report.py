"""What is made of a finished evaluation: its report, files for a paper, PDF and archive."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench.app.evaluate.mirrored import find_newcomers
from bdpbench.app.keep.archive import about_archive, check_output
from bdpbench.app.keep.bundle import Portable, json_bytes, origin
from bdpbench.app.keep.export import check_folder, check_paper, parse_formats, write_exported
from bdpbench.app.keep.sources import (
    SOURCE_FOLDER,
    common_sources,
    folder_sources,
    study_sources,
)
from bdpbench.app.programs import found_browser, print_page
from bdpbench.app.stages import PlanData, elsewhere_of
from bdpbench.archive.container import write_archive
from bdpbench.archive.crate import METADATA_NAME, crate_json
from bdpbench.contracts.documents import write_json_atomically
from bdpbench.contracts.evaluation import (
    CELLS_NAME,
    EVALUATION_NAME,
    GALLERY,
    EvaluatedProtocol,
    Evaluation,
    read_evaluation,
    read_evaluation_document,
)
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.paths import (
    checkout_root,
    config_dir,
    published_folder,
    resolved,
    run_folder,
    run_place,
)
from bdpbench.contracts.plan import PLAN_NAME, PlannedRun, read_plan
from bdpbench.contracts.reports import REPORT_NAME, SUMMARY_NAME, read_scorecard
from bdpbench.contracts.runs import METRICS_NAME, RUN_NAME, RunRecord, read_run
from bdpbench.contracts.scorecard import SCORECARD_NAME, rows_of
from bdpbench.errors import BdpbenchError, visible
from bdpbench.pages.evaluation.files import evaluation_files
from bdpbench.pages.evaluation.findings import findings_of
from bdpbench.pages.evaluation.gallery import reduced
from bdpbench.pages.evaluation.page import (
    Earlier,
    EvaluationInputs,
    EvaluationReport,
    evaluation_page,
)
from bdpbench.pages.evaluation.parts import Prints
from bdpbench.pages.series import bins_for
from bdpbench.pages.shards import series_of_report
from bdpbench.studies.evaluate import mirrors
from bdpbench.studies.folders import ComponentFolder, ProtocolFolder
from bdpbench.studies.load import folders_of, load_study, studies_dir, study_keys

if TYPE_CHECKING:
    import polars as pl

    from bdpbench.studies.parts import Protocol

PAGE_NAME = "evaluation.html"
PDF_NAME = "evaluation.pdf"

RUNS_FOLDER = "runs"
"""Folder of the runs of all evaluations, beside those of the evaluations."""


@dataclass(frozen=True)
class WantedFiles:
    """What is made of an evaluation besides its report.

    Attributes:
        against: another evaluation, or an archive of one, that the report compares it with.
        export: folder for tables, figures and values; None for none.
        formats: formats of the figures, as given on the command line: ``svg,pdf,png``.
        pdf: whether the report is printed as well.
        archive: file for all of it with its sources; None for none.
        gallery: whether figures and answers are kept for the gallery of the documentation.
    """

    against: Path | None = None
    export: Path | None = None
    formats: str = "pdf"
    pdf: bool = False
    archive: Path | None = None
    gallery: bool = False

    def check(self) -> Earlier | None:
        """Refuse, before anything is simulated, what could not be made.

        Returns:
            The earlier evaluation, which may be the one that is replaced.

        Raises:
            BdpbenchError: for an unknown format, a folder that cannot be written, an earlier
                evaluation that is none, when no browser can print, and when there is no checkout
                for the gallery.
        """
        parse_formats(self.formats)
        if self.export is not None:
            check_folder(self.export)
            check_paper(self.export)
        if self.pdf:
            found_browser()
        if self.archive is not None:
            check_output(self.archive)
        if self.gallery:
            checkout_root()
        return None if self.against is None else read_earlier(self.against)


def make_files(
    folder: Path,
    wanted: WantedFiles,
    earlier: Earlier | None = None,
    begin: Callable[[str], None] = lambda what: None,
) -> Iterator[tuple[str, Path]]:
    """Write the report of an evaluation, and what else is wanted: what it is, and its path.

    Args:
        folder: folder of the evaluation.
        wanted: what to make.
        earlier: the evaluation that the report compares this one with.
        begin: is told before what takes a while.

    Raises:
        BdpbenchError: as ``WantedFiles.check``; when the evaluation is missing, damaged or of
            another version.
    """
    report = report_of(folder, *read_evaluation(folder), earlier)
    page = folder / PAGE_NAME
    write_text_atomically(page, visible(evaluation_page(report)))
    yield "report", page
    if wanted.export is not None:
        begin("tables and figures")
        formats, said = parse_formats(wanted.formats), origin(report.evaluation["ns2_build_id"])
        write_exported(wanted.export, evaluation_files(report, formats, said))
        yield "tables and figures", wanted.export
    if wanted.pdf:
        begin("PDF")
        print_page(page, folder / PDF_NAME)
        yield "PDF", folder / PDF_NAME
    if wanted.archive is not None:
        begin("archive")
        archive_evaluation(folder, wanted.archive)
        yield "archive", wanted.archive
    if wanted.gallery:
        yield "gallery, of which `docs` makes a page", _keep_for_gallery(report.evaluation)


def _keep_for_gallery(evaluation: Evaluation) -> Path:
    """Write what the gallery shows of an evaluation, with the description that the gallery has."""
    path, kept = checkout_root() / GALLERY, reduced(evaluation)
    if path.is_file():
        described = read_evaluation_document(path).get("description")
        kept = {**kept, "description": described} if described else kept
    write_json_atomically(path, kept)
    return path


def report_of(
    folder: Path, evaluation: Evaluation, cells: pl.DataFrame, earlier: Earlier | None = None
) -> EvaluationReport:
    """What page and files show of an evaluation whose runs and plans are beside a folder."""
    series, prints = StoredSeries(folder, evaluation), published_prints(evaluation)
    found = elsewhere_of(dict(_evaluated(evaluation)))
    return EvaluationReport(EvaluationInputs(evaluation, cells, prints, series.of, earlier, found))


def _evaluated(evaluation: Evaluation) -> Iterator[tuple[str, Protocol]]:
    """The evaluated protocols that are still where they were."""
    for each in evaluation["protocols"]:
        if each["evaluated"]:
            named = str(resolved(each["folder"])) if each["folder"] else each["source"]
            with suppress(BdpbenchError):
                yield each["key"], find_newcomers([named])[0].protocol


def read_earlier(path: Path) -> Earlier:
    """An earlier evaluation, from its folder or from an archive.

    Raises:
        BdpbenchError: when it is not one, damaged, or of another version.
    """
    if path.is_dir():
        return Earlier(path.name, *read_evaluation(path))
    with tempfile.TemporaryDirectory() as scratch:
        for name, content in _members(path):
            (Path(scratch) / name).write_bytes(content)
        try:
            return Earlier(path.name, *read_evaluation(Path(scratch)))
        except BdpbenchError as error:
            raise BdpbenchError(error.message, where=str(path), hint=error.hint) from None


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    """The two files of an evaluation in an archive, wherever they are in it."""
    hint = "name an archive or a folder of `bdpbench evaluate`"
    try:
        with zipfile.ZipFile(path) as archive:
            for wanted in (EVALUATION_NAME, CELLS_NAME):
                named = [each for each in archive.namelist() if Path(each).name == wanted]
                found = [wanted] if wanted in named else named
                if len(found) != 1:
                    said = f"is not an evaluation: it has {len(found) or 'no'} {wanted}"
                    raise BdpbenchError(said, where=str(path), hint=hint)
                yield wanted, archive.read(found[0])
    except (OSError, zipfile.BadZipFile) as error:
        raise BdpbenchError(f"cannot be read ({error})", where=str(path), hint=hint) from None


def published_prints(evaluation: Evaluation) -> Prints:
    """The numbers that the studies print, by the runs that have to show them.

    Raises:
        BdpbenchError: when a published scorecard is damaged.
    """
    found: dict[tuple[str, str, str, str], float] = {}
    for study in evaluation["studies"]:
        path = published_folder(study["key"]) / SCORECARD_NAME
        for number in read_scorecard(path)["numbers"] if path.is_file() else ():
            for row in rows_of(number):
                for run_id in row["run_ids"]:
                    place = (study["key"], run_id, row["metric"], row["subject"])
                    found.setdefault(place, row["published"])
    return found


class StoredSeries:
    """Series of runs over time: of those that were simulated, and of published ones.

    Args:
        folder: folder of the evaluation.
        evaluation: its document.
    """

    def __init__(self, folder: Path, evaluation: Evaluation) -> None:
        self._folder, self._evaluation = folder, evaluation
        self._published: dict[str, Mapping[str, str]] = {}
        shown = {
            run["run_id"]
            for study in evaluation["studies"]
            for part in study["parts"]
            if part["kind"] == "history"
            for run in part["runs"]
        }
        self._bins = bins_for(len(shown))

    def of(self, run_id: str) -> str | None:
        """Series of a run as JSON; None if nothing of it is stored here."""
        if run_id in self._simulated:
            data, run = self._simulated[run_id]
            return data.of(run).series(self._bins)
        for study in self._studies.get(run_id, ()):
            if study not in self._published:
                path = published_folder(study) / REPORT_NAME
                self._published[study] = series_of_report(path) if path.is_file() else {}
            if run_id in self._published[study]:
                return self._published[study][run_id]
        return None

    @cached_property
    def _studies(self) -> dict[str, list[str]]:
        """Run id → studies that have it."""
        found: dict[str, list[str]] = {}
        for study in self._evaluation["studies"]:
            for run_id in {run["run_id"] for part in study["parts"] for run in part["runs"]}:
                found.setdefault(run_id, []).append(study["key"])
        return found

    @cached_property
    def _simulated(self) -> dict[str, tuple[PlanData, PlannedRun]]:
        """Run id → the finished run in its plan."""
        found: dict[str, tuple[PlanData, PlannedRun]] = {}
        for study in self._evaluation["studies"]:
            path = self._folder / study["key"] / PLAN_NAME
            if path.is_file():
                data = PlanData(read_plan(path), self._folder.parent / RUNS_FOLDER)
                found |= {run["run_id"]: (data, run) for run in data.finished()}
        return found


# ------------------------------------------------------------------------------------- the archive


def archive_evaluation(folder: Path, path: Path) -> None:
    """Write the archive of an evaluation, whose bytes depend on nothing but its contents.

    The output files of ns-2 are left out; the records of the runs have their checksums.

    Args:
        folder: folder of the evaluation.
        path: file to write.

    Raises:
        BdpbenchError: when the evaluation is missing, damaged or of another version.
    """
    evaluation, cells = read_evaluation(folder)
    portable: Evaluation = {
        **evaluation,
        "protocols": [_portable(each) for each in evaluation["protocols"]],
    }
    report = report_of(folder, portable, cells)
    entries = {
        EVALUATION_NAME: json_bytes(portable),
        PAGE_NAME: evaluation_page(report).encode(),
    }
    entries[CELLS_NAME] = (folder / CELLS_NAME).read_bytes()
    said = origin(evaluation["ns2_build_id"])
    for name, content in evaluation_files(report, ("svg",), said):
        entries[f"exports/{name}"] = content
    records = dict(_records(folder, evaluation))
    entries |= dict(_runs(records)) | dict(_plans(folder, evaluation))
    entries |= dict(_sources(evaluation))
    entries[SUMMARY_NAME] = _readme(portable).encode()
    labels = " and ".join(each["label"] for each in portable["protocols"] if each["evaluated"])
    entries[METADATA_NAME] = crate_json(
        entries,
        name=f"Evaluation of {labels} with ns-2.35",
        description=f"{labels} beside the protocols of the literature, by bdpbench.",
        date=max((each["started"] for each in records.values()), default="1980-01-01")[:10],
    )
    write_archive(path, entries)


def _portable(protocol: EvaluatedProtocol) -> EvaluatedProtocol:
    """A protocol whose folder, if it is outside the checkout, is named as in the archive."""
    if not _is_outside(protocol):
        return protocol
    place = f"{SOURCE_FOLDER}/{_kept(protocol)}"
    return {**protocol, "source": place, "folder": place}


def _is_outside(protocol: EvaluatedProtocol) -> bool:
    folder = protocol["folder"]
    return bool(folder) and not resolved(folder).is_relative_to(config_dir())


def _kept(protocol: EvaluatedProtocol) -> str:
    """Where an archive has the folder of a protocol, below its sources."""
    return f"protocols/{protocol['key']}"


def _plans(folder: Path, evaluation: Evaluation) -> Iterator[tuple[str, bytes]]:
    """The plan of each study, with paths that lead nowhere else on this machine."""
    for study in evaluation["studies"]:
        path = folder / study["key"] / PLAN_NAME
        if path.is_file():
            plan = Portable(study["key"], resolved(study["folder"])).plan(read_plan(path))
            yield f"plans/{study['key']}.json", json_bytes(plan)


def _records(folder: Path, evaluation: Evaluation) -> Iterator[tuple[str, RunRecord]]:
    """Run id → record of the runs that were simulated, with such paths, too."""
    for study in evaluation["studies"]:
        places = Portable(study["key"], resolved(study["folder"]))
        for part in study["parts"]:
            for run in part["runs"]:
                if run["status"] == "simulated":
                    record = read_run(run_folder(folder.parent / RUNS_FOLDER, run["run_id"]))
                    if record is not None:
                        yield run["run_id"], places.record(record)


def _runs(records: Mapping[str, RunRecord]) -> Iterator[tuple[str, bytes]]:
    for run_id, record in records.items():
        yield f"runs/{run_place(run_id)}/{RUN_NAME}", json_bytes(record)


def _sources(evaluation: Evaluation) -> Iterator[tuple[str, bytes]]:
    """bdpbench, the studies with their published values, and the evaluated protocols."""
    yield from common_sources()
    sources = (each["source"].partition(":")[0] for each in evaluation["protocols"])
    named = (load_study(studies_dir() / key) for key in sources if key in study_keys())
    studies = {each.folder: each for each in (*(each.study for each in mirrors()), *named)}
    along = sorted(config_dir().glob(f"protocols/*/{ProtocolFolder.yaml_name}"))
    folders: dict[Path, ComponentFolder] = {
        path.parent: ProtocolFolder(path.parent) for path in along
    }
    for study in studies.values():
        yield from study_sources(study, _place_in_config(study.folder))
        folders |= {each.path: each for each in folders_of(study) if each.comes_along}
    for path, folder in folders.items():
        yield from folder_sources(folder, _place_in_config(path))
    for part in evaluation["studies"]:
        for name in (METRICS_NAME, SCORECARD_NAME):
            path = published_folder(part["key"]) / name
            if path.is_file():
                yield f"{SOURCE_FOLDER}/reports/published/{part['key']}/{name}", path.read_bytes()
    for protocol in evaluation["protocols"]:
        if protocol["evaluated"] and _is_outside(protocol):
            yield from folder_sources(ProtocolFolder(resolved(protocol["folder"])), _kept(protocol))


def _place_in_config(path: Path) -> str:
    return f"config/{path.relative_to(config_dir()).as_posix()}"


def _readme(evaluation: Evaluation) -> str:
    said = "\n".join(
        f"- {findings_of(evaluation, each['key']).summary}"
        for each in evaluation["protocols"]
        if each["evaluated"]
    )
    words = " ".join(
        f"{each['key']}={each['source']}" for each in evaluation["protocols"] if each["evaluated"]
    )
    quick = " --quick" if evaluation["choice"] == "quick" else ""
    return f"""# {evaluation["name"]}: an evaluation by bdpbench

{said}

- `{PAGE_NAME}`: the report; `{EVALUATION_NAME}` and `{CELLS_NAME}`: all that it shows
- `exports/`: tables (LaTeX, Markdown, CSV) and figures (SVG)
- `plans/`, `runs/`: the runs, and the record of each that was simulated
- `source/`: bdpbench, the studies with their published values, and the protocols
{about_archive("the records have", f"evaluate {words}{quick}")}"""
