"""Results as files: a tier's report, its figures and tables, and the comparison of two results."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import polars as pl

from bdpbench.app.keep.bundle import Results, collect, origin
from bdpbench.app.keep.publish import collect_published
from bdpbench.app.keep.published import read_published
from bdpbench.app.planning import Wanted, prepare
from bdpbench.app.programs import found_browser, print_page
from bdpbench.app.stages import report_plan, write_results
from bdpbench.archive.compare import compare, read_sides
from bdpbench.contracts.documents import write_json_atomically
from bdpbench.contracts.files import write_bytes_atomically, write_text_atomically
from bdpbench.contracts.paths import config_dir
from bdpbench.contracts.plan import write_plan_document
from bdpbench.contracts.reports import (
    PROVENANCE_NAME,
    REPORT_NAME,
    Comparison,
    MovedMetric,
    Row,
    is_reported,
)
from bdpbench.errors import BdpbenchError, visible
from bdpbench.metrics import DEFINITIONS
from bdpbench.pages.comparison import comparison_page, moved_words
from bdpbench.studies.load import STUDY_NAME, studies_dir
from bdpbench.studies.named import named_folder
from bdpbench.units import table_lines

PDF_NAME = "report.pdf"
_PROGRESS_EVERY = 50
_SHOWN = 40
_SHOWN_FACTS = 12
_DIGITS_OF_A_CHECKSUM = 16


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
    paths, plan = prepared.paths, prepared.plan
    if output is not None or not is_reported(paths.folder, plan, paths.runs):
        results = collect(prepared, allow_partial=True)
        made = (plan, results.metrics, results.scorecard, paths.runs)
        if output is None:
            write_plan_document(paths.plan, plan)
            write_results(*made, paths.report)
        else:
            report_plan(*made, output, with_files=False, one_file=one_file)
    report = output or paths.report
    print(f"report: {report}")
    if pdf:
        print_page(report, report.with_suffix(".pdf"))
        print(f"PDF: {report.with_suffix('.pdf')}")


def _published(study: str | None) -> Path | None:
    """The folder that ``study`` names if `publish` has written it.

    Raises:
        BdpbenchError: when a study has the same name.
    """
    if not study:
        return None
    names = (PROVENANCE_NAME, STUDY_NAME)
    places = (studies_dir(), config_dir())
    folder = named_folder(
        study, places, lambda each: any((each / name).is_file() for name in names)
    )
    return folder if folder and (folder / PROVENANCE_NAME).is_file() else None


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
            no figure; when ``paper.tex`` was changed since it was exported.
    """
    wanted = parse_formats(formats)
    check_folder(folder)
    if pdf:
        found_browser()
    kept = _published(study)
    if kept is None:
        results = collect(prepare(Wanted(study, tier)), allow_partial=True)
    else:
        results = collect_published(read_published(kept).provenance["study"], kept, tier)
    from bdpbench.pages.exports import ExportRequest, export_files

    plan = results.plan
    folder = folder / plan["study"] / plan["tier"]
    check_paper(folder)
    request = ExportRequest(wanted, origin(plan["ns2_build_id"], plan["runs"]), tuple(only))
    count, size = write_exported(folder, export_files(results.inputs(), request, _tell))
    if pdf:
        _print_report(results, kept, folder / PDF_NAME)
        count, size = count + 1, size + (folder / PDF_NAME).stat().st_size
    if results.missing:
        planned = len(results.finished) + len(results.missing)
        print(f"{len(results.missing)} of {planned} runs are missing, and not in the figures")
    print(f"{count} files, {size / 1e6:.1f} MB: {folder}")


def _print_report(results: Results, kept: Path | None, pdf: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / REPORT_NAME if kept is None else kept / REPORT_NAME
        if kept is None:
            made = (results.plan, results.metrics, results.scorecard, results.runs_dir)
            report_plan(*made, page, with_files=False)
        print_page(page, pdf)


def check_paper(folder: Path) -> None:
    """Refuse to replace a ``paper.tex`` that somebody has worked on.

    Raises:
        BdpbenchError: when it is not as it was exported.
    """
    from bdpbench.pages.latex import PAPER_NAME, is_exported

    path = folder / PAPER_NAME
    if path.exists() and not is_exported(path.read_bytes()):
        said = "was changed since it was exported, and would be replaced"
        hint = "give it another name, or export into another folder"
        raise BdpbenchError(said, where=str(path), hint=hint)


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
    if done % _PROGRESS_EVERY == 0 or done == of:
        print(f"figures: {done} of {of}", file=sys.stderr, flush=True)


def compare_results(
    first: Path, second: Path, html: Path | None, json_file: Path | None, share: float
) -> bool:
    """Print what differs between two results, and write it to the requested files.

    Args:
        first: an archive, a folder of ``reports/published/``, or ``results/STUDY/TIER``.
        second: another one.
        html: page to write.
        json_file: JSON file to write.
        share: how far a metric without bounds may move, relative to its first value.

    Returns:
        Whether any metric moved beyond its bounds.

    Raises:
        BdpbenchError: when one is not a result or damaged, or when they have no metrics in common.
    """
    found = compare(*read_sides(first, second), share)
    if not found["compared"] and not found["redefined"]:
        raise BdpbenchError("have no metrics in common", where=f"{first} and {second}")
    if html is not None:
        titles = {each.metric: each.title for each in DEFINITIONS.values()}
        write_text_atomically(html, visible(comparison_page(found, titles)))
    if json_file is not None:
        write_json_atomically(json_file, found)
    for line in comparison_lines(found):
        print(visible(line))
    return found["beyond"] > 0


def comparison_lines(found: Comparison) -> Iterator[str]:
    """The comparison as text for a terminal."""
    moved = len(found["moved"])
    yield (
        f"{found['beyond']} of {found['compared']} metrics moved beyond their bounds, "
        f"{moved - found['beyond']} within them; {found['compared'] - moved} are equal"
    )
    yield ""
    yield f"first:  {found['first']}"
    yield f"second: {found['second']}"
    beyond = [_row(each) for each in found["moved"] if each["beyond"]]
    yield from _titled("moved beyond their bounds", beyond)
    yield from _titled("versions and configuration that differ", found["facts"], _SHOWN_FACTS)
    yield from _titled("runs that are configured differently", found["parameters"])
    yield from _titled("units or definitions that differ: not compared", found["redefined"])
    yield from _titled("only in the first", _by_scenario(found["only_first"]))
    yield from _titled("only in the second", _by_scenario(found["only_second"]))


def _by_scenario(unshared: Sequence[Row]) -> list[Row]:
    """Metrics and values of each scenario that only one side has."""
    by_scenario = pl.DataFrame(unshared, {"scenario": pl.String, "values": pl.Int64}).group_by(
        "scenario", maintain_order=True
    )
    return by_scenario.agg(metrics=pl.len(), values=pl.col("values").sum()).to_dicts()


def _row(moved: MovedMetric) -> Row:
    words = moved_words(moved)
    return {
        "metric": f"{moved['metric']} ({words['subject']})",
        "run": f"{moved['scenario']}: {moved['run']}",
        "first": words["first"],
        "second": words["second"],
        "change": words["change"],
        "percent": words["change_pct"],
        "bounds": words["bounds"],
        "why": moved["why"],
    }


def _titled(title: str, rows: Sequence[Row], shown: int = _SHOWN) -> Iterator[str]:
    """A table under its title; empty without rows."""
    if not rows:
        return
    yield ""
    yield f"{title}:"
    cells = [tuple(rows[0]), *(tuple(map(_short, row.values())) for row in rows[:shown])]
    yield from (f"  {line}" for line in table_lines(cells))
    if len(rows) > shown:
        yield f"  … and {len(rows) - shown} more; --html and --json have all of them"


def _short(value: str | int) -> str:
    """A cell; a checksum or commit is shortened to its first characters."""
    text = str(value)
    is_hex = len(text) > _DIGITS_OF_A_CHECKSUM and set(text) <= set("0123456789abcdef+")
    return text[:_DIGITS_OF_A_CHECKSUM] if is_hex else text or "–"
