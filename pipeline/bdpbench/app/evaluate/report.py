"""What is made of a finished evaluation: its report, the files for a paper, and the PDF."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench.app.keep.archive import check_output
from bdpbench.app.keep.export import check_folder, check_paper, parse_formats, write_exported
from bdpbench.app.keep.results import origin
from bdpbench.app.printing import found_browser, print_page
from bdpbench.app.run_data import PlanData
from bdpbench.contracts.documents import write_json_atomically
from bdpbench.contracts.evaluation import (
    CELLS_NAME,
    EVALUATION_NAME,
    GALLERY,
    Evaluation,
    read_evaluation,
    read_evaluation_document,
)
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.paths import checkout_root, repository_root
from bdpbench.contracts.plan import PLAN_NAME, PlannedRun, read_plan
from bdpbench.contracts.reports import REPORT_NAME, read_scorecard
from bdpbench.contracts.scorecard import SCORECARD_NAME, rows_of
from bdpbench.errors import BdpbenchError, visible
from bdpbench.pages.evaluation.files import evaluation_files
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

if TYPE_CHECKING:
    import polars as pl

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
        from bdpbench.app.evaluate.archive import archive_evaluation

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
    return EvaluationReport(EvaluationInputs(evaluation, cells, prints, series.of, earlier))


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


def published_folder(study: str) -> Path:
    """Folder of the published reproduction of a study."""
    return repository_root() / "reports" / "published" / study


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
