"""What is made of a finished evaluation: its report, files for a paper and PDF."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bdpbench.app.evaluate.judging import Prints, judged
from bdpbench.app.keep.export import check_folder, parse_formats, write_exported
from bdpbench.app.keep.tier import origin
from bdpbench.app.programs import found_browser, print_page
from bdpbench.contracts.evaluation import Evaluation, Judgement, read_evaluation
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.paths import published_folder
from bdpbench.contracts.reports import read_scorecard
from bdpbench.contracts.scorecard import SCORECARD_NAME, rows_of
from bdpbench.errors import visible
from bdpbench.pages.evaluation.files import evaluation_files
from bdpbench.pages.evaluation.page import EvaluationReport, evaluation_page

PAGE_NAME = "evaluation.html"
PDF_NAME = "evaluation.pdf"


@dataclass(frozen=True)
class WantedFiles:
    """What is made of an evaluation besides its report.

    Attributes:
        against: folder of another evaluation that the report compares it with.
        export: folder for tables, figures and values; None for none.
        formats: formats of the figures, as given on the command line: ``svg,pdf,png``.
        pdf: whether the report is printed as well.
    """

    against: Path | None = None
    export: Path | None = None
    formats: str = "pdf"
    pdf: bool = False

    def check(self) -> tuple[str, Judgement] | None:
        """Refuse, before anything is simulated, what could not be made.

        Returns:
            The earlier evaluation, which may be the one that is replaced, and its name.

        Raises:
            BdpbenchError: for an unknown format, a folder that cannot be written, an earlier
                evaluation that is none, and when no browser can print.
        """
        parse_formats(self.formats)
        if self.export is not None:
            check_folder(self.export)
        if self.pdf:
            found_browser()
        if self.against is None:
            return None
        evaluation, cells = read_evaluation(self.against)
        return self.against.name, judged(evaluation, cells, published_prints(evaluation))


def make_files(
    folder: Path, wanted: WantedFiles, report: EvaluationReport
) -> Iterator[tuple[str, Path]]:
    """Write the report of an evaluation, and what else is wanted: what it is, and its path.

    Raises:
        BdpbenchError: when a browser prints nothing, or a file cannot be written.
    """
    page = folder / PAGE_NAME
    write_text_atomically(page, visible(evaluation_page(report)))
    yield "report", page
    if wanted.export is not None:
        formats, said = parse_formats(wanted.formats), origin(report.evaluation.ns2_build_id)
        write_exported(wanted.export, evaluation_files(report, formats, said))
        yield "tables and figures", wanted.export
    if wanted.pdf:
        print_page(page, folder / PDF_NAME)
        yield "PDF", folder / PDF_NAME


def published_prints(evaluation: Evaluation) -> Prints:
    """The numbers that the studies print, by the runs that have to show them.

    Raises:
        BdpbenchError: when a published scorecard is damaged.
    """
    found: dict[tuple[str, str, str, str], float] = {}
    for study in evaluation.studies:
        path = published_folder(study.key) / SCORECARD_NAME
        for number in read_scorecard(path)["numbers"] if path.is_file() else ():
            for row in rows_of(number):
                for run_id in row["run_ids"]:
                    place = (study.key, run_id, row["metric"], row["subject"])
                    found.setdefault(place, row["published"])
    return found
