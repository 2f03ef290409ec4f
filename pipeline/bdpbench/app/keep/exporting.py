"""`bdpbench report`: the report of a study's finished runs, and its figures and tables as files."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from bdpbench.app.keep.checkout import origin
from bdpbench.app.keep.collecting import collect, collect_prepared, prepared_tier
from bdpbench.app.stages import report_inputs, report_plan, write_results
from bdpbench.contracts.files import write_bytes_atomically
from bdpbench.contracts.plan import write_plan_document
from bdpbench.contracts.reports import is_reported
from bdpbench.errors import BdpbenchError

_TOLD_EVERY = 50


def report_study(study: str | None, tier: str | None, output: Path | None) -> None:
    """Write the HTML report of the finished runs of a tier, and print its path.

    In the folder of the tier, metrics and scorecard are written beside it, and a report that shows
    the runs as they are is left alone.

    Raises:
        BdpbenchError: when the tier has no finished run.
    """
    prepared = prepared_tier(study, tier)
    paths, plan = prepared.paths, prepared.plan
    if output is not None or not is_reported(paths.folder, plan, paths.runs):
        results = collect_prepared(prepared, allow_partial=True)
        made = (plan, results.metrics, results.scorecard, paths.runs)
        if output is None:
            write_plan_document(paths.plan, plan)
            write_results(*made, paths.report)
        else:
            report_plan(*made, output, with_files=False)
    print(f"report: {output or paths.report}")


def parse_formats(text: str) -> tuple[str, ...]:
    """Parse formats of figures as given on the command line, ``svg,pdf,png``.

    Raises:
        BdpbenchError: naming an unknown format.
    """
    from bdpbench.pages.figures import FIGURE_FORMATS

    names = [name.strip().lower() for name in text.split(",")]
    for name in names:
        if name not in FIGURE_FORMATS:
            known = ", ".join(FIGURE_FORMATS)
            raise BdpbenchError(f"{name!r} is not a format of figures: {known}", where="--format")
    return tuple(dict.fromkeys(names))


def export_study(
    study: str | None, tier: str | None, folder: Path, formats: str, only: Sequence[str]
) -> None:
    """Write figures, tables and captions of the finished runs of a tier into ``folder``.

    Args:
        study: key; None selects that of ``config.yaml``.
        tier: None selects that of ``config.yaml``.
        folder: folder to write into, below which the files are in ``<study>/<tier>``; it is created
            if missing, and files with the same names are replaced.
        formats: formats of the figures, separated by commas.
        only: patterns of names of figures; empty for all.

    Raises:
        BdpbenchError: before anything is computed, for an invalid format or folder; when the tier
            has no finished run; for a pattern that matches no figure.
    """
    wanted = parse_formats(formats)
    _check_folder(folder)
    results = collect(study, tier, allow_partial=True)
    from bdpbench.pages.exports import ExportRequest, export_files

    folder = folder / results.plan["study"] / results.plan["tier"]
    request = ExportRequest(wanted, origin(results.plan["ns2_build_id"]), tuple(only))
    inputs = report_inputs(results.plan, results.metrics, results.scorecard, results.runs_dir)
    count = size = 0
    for name, content in export_files(inputs, request, _tell):
        write_bytes_atomically(folder / name, content)
        count, size = count + 1, size + len(content)
    if results.missing:
        planned = len(results.finished) + len(results.missing)
        print(f"{len(results.missing)} of {planned} runs are missing, and not in the figures")
    print(f"{count} files, {size / 1e6:.1f} MB: {folder}")


def _check_folder(folder: Path) -> None:
    """Create the folder, or raise an error if files cannot be written into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "is no folder" if folder.exists() else f"cannot be made ({error.strerror})"
        raise BdpbenchError(reason, where=str(folder), hint="name a folder of your own") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise BdpbenchError("is not a folder that you may write into", where=str(folder))


def _tell(done: int, of: int) -> None:
    if done % _TOLD_EVERY == 0 or done == of:
        print(f"figures: {done} of {of}", file=sys.stderr, flush=True)
