"""The report of a tier, and its figures and tables as files."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from bdpbench.app.keep.publish import collect_published
from bdpbench.app.keep.results import KeptResults
from bdpbench.app.keep.tier import Results, collect, origin, write_tier
from bdpbench.app.planning import Wanted, prepare
from bdpbench.app.programs import found_browser, print_page
from bdpbench.app.progress import duration_text
from bdpbench.contracts.files import write_bytes_atomically
from bdpbench.contracts.paths import config_dir
from bdpbench.contracts.reports import PROVENANCE_NAME, REPORT_NAME, is_reported
from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import STUDY_NAME, studies_dir
from bdpbench.studies.named import named_folder
from bdpbench.units import several

PDF_NAME = "report.pdf"
_PROGRESS_EVERY = 50
_FIGURE_S = 0.2
"""CPU time of a figure in two widths and two formats, s."""


def report_study(
    study: str | None,
    tier: str | None,
    output: Path | None,
    *,
    one_file: bool = False,
    pdf: bool = False,
) -> None:
    """Write the HTML report of the finished runs of a tier, and print its path.

    In the folder of the tier, metrics and scorecard are written beside it, and a report that shows
    the runs as they are is left alone. ``one_file`` is for an ``output`` without files beside it;
    ``pdf`` prints it into a PDF beside it as well.

    Raises:
        BdpbenchError: when the tier has no finished run; for a published folder, which has a
            report; with ``pdf`` as ``print_page``.
    """
    if _published(study) is not None:
        hint = f"open its {REPORT_NAME}; --export FOLDER makes figures, and with --pdf a PDF"
        raise BdpbenchError("is published and has its report", where=str(study), hint=hint)
    if pdf:
        found_browser()
    prepared = prepare(Wanted(study, tier))
    paths = prepared.paths
    if output is not None:
        _write_report(collect(prepared, allow_partial=True), output, one_file=one_file)
    elif not is_reported(paths.folder, prepared.plan, paths.runs):
        write_tier(prepared, collect(prepared, allow_partial=True))
    report = output or paths.report
    print(f"report: {report}")
    if pdf:
        print_page(report, report.with_suffix(".pdf"))
        print(f"PDF: {report.with_suffix('.pdf')}")


def _write_report(results: Results, page: Path, *, one_file: bool = False) -> None:
    from bdpbench.pages.report import build_report

    build_report(results.inputs(), page, with_files=False, one_file=one_file)


def _published(study: str | None) -> KeptResults | None:
    """What ``study`` names if `publish` has written it.

    Raises:
        BdpbenchError: when a study has the same name.
    """
    if not study:
        return None
    names, places = (PROVENANCE_NAME, STUDY_NAME), (studies_dir(), config_dir())
    folder = named_folder(
        study, places, lambda each: any((each / name).is_file() for name in names)
    )
    return KeptResults(folder) if folder and (folder / PROVENANCE_NAME).is_file() else None


def parse_formats(text: str) -> tuple[str, ...]:
    """Parse formats of figures as given on the command line, ``svg,pdf,png``.

    Raises:
        BdpbenchError: naming an unknown format.
    """
    from bdpbench.pages.drawing import FIGURE_FORMATS

    names = [name.strip().lower() for name in text.split(",")]
    for name in names:
        if name not in FIGURE_FORMATS:
            known = ", ".join(FIGURE_FORMATS)
            raise BdpbenchError(f"{name!r} is not a format of figures: {known}", where="--format")
    return tuple(dict.fromkeys(names))


def export_study(
    study: str | None,
    tier: str | None,
    folder: Path,
    formats: str,
    only: Sequence[str],
    *,
    pdf: bool = False,
) -> None:
    """Write figures, tables and captions of the finished runs of a tier into ``folder``.

    Args:
        study: key, or a folder that `publish` has written; None selects that of ``config.yaml``.
        tier: None selects that of ``config.yaml``, or the published one.
        folder: folder to write into, below which the files are in ``<study>/<tier>``; it is created
            if missing, and files with the same names are replaced.
        formats: formats of the figures, separated by commas.
        only: patterns of names of figures; empty for all.
        pdf: print the whole report as well.

    Raises:
        BdpbenchError: before anything is computed, for an invalid format or folder, and with
            ``pdf`` without a browser; when the tier has no finished run; for a pattern that matches
            no figure.
    """
    wanted = parse_formats(formats)
    check_folder(folder)
    if pdf:
        found_browser()
    kept = _published(study)
    if kept is None:
        results = collect(prepare(Wanted(study, tier)), allow_partial=True)
    else:
        results = collect_published(kept.provenance["study"], kept, tier)
    from bdpbench.pages.exports import ExportRequest, export_files

    plan = results.plan
    folder = folder / plan["study"] / plan["tier"]
    request = ExportRequest(wanted, origin(plan["ns2_build_id"], plan["runs"]), tuple(only))
    count, size = write_exported(folder, export_files(results.inputs(), request, _tell))
    if pdf:
        with tempfile.TemporaryDirectory() as scratch:
            page = Path(scratch) / REPORT_NAME if kept is None else kept.path / REPORT_NAME
            if kept is None:
                _write_report(results, page)
            print_page(page, folder / PDF_NAME)
        count, size = count + 1, size + (folder / PDF_NAME).stat().st_size
    if results.missing:
        planned = len(results.finished) + len(results.missing)
        print(f"{len(results.missing)} of {planned} runs are missing, and not in the figures")
    print(f"{count} files, {size / 1e6:.1f} MB: {folder}")


def write_exported(folder: Path, files: Iterable[tuple[str, bytes]]) -> tuple[int, int]:
    """Write exported files; returns how many there are, and their bytes."""
    count = size = 0
    for name, content in files:
        write_bytes_atomically(folder / name, content)
        count, size = count + 1, size + len(content)
    return count, size


def check_folder(folder: Path) -> None:
    """Create a folder for exported files.

    Raises:
        BdpbenchError: when that is not possible, or when files cannot be written into it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "is not a folder" if folder.exists() else f"cannot be made ({error.strerror})"
        raise BdpbenchError(reason, where=str(folder), hint="name a folder of your own") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise BdpbenchError("is not a folder that you may write into", where=str(folder))


def _tell(done: int, of: int) -> None:
    if done == 0:
        cores = len(os.sched_getaffinity(0))
        takes = f"about {duration_text(of * _FIGURE_S / cores)} on {several(cores, 'core')}"
        print(f"figures: {of}, {takes}", file=sys.stderr, flush=True)
    elif done % _PROGRESS_EVERY == 0 or done == of:
        print(f"figures: {done} of {of}", file=sys.stderr, flush=True)
