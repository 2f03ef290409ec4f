"""`bdpbench archive`: a finished tier with everything that it was made from, in one file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from bdpbench.app.keep.bundle import (
    Bundle,
    collect,
    json_bytes,
    origin,
    run_words,
    study_place,
)
from bdpbench.app.keep.sources import common_sources, folder_sources, study_sources
from bdpbench.app.planning import Wanted, prepare
from bdpbench.app.totals import totals_sentence
from bdpbench.archive.container import CHECKSUMS_NAME, write_archive
from bdpbench.archive.crate import METADATA_NAME, crate_json
from bdpbench.contracts.paths import resolved
from bdpbench.contracts.plan import PLAN_NAME, Plan
from bdpbench.contracts.reports import KEPT_RUNS_NAME, SUMMARY_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.pages.exports import ExportRequest, export_files
from bdpbench.processes import signals_interrupt
from bdpbench.studies.folders import ComponentFolder, ProtocolFolder, QueueFolder
from bdpbench.studies.load import STUDY_NAME, read_study
from bdpbench.studies.ns3_program import simulators

_ARCHIVE = ".zip"


def archive_study(
    study: str | None,
    tier: str | None,
    output: Path | None,
    *,
    allow_partial: bool,
) -> None:
    """Write the archive of a tier, and print its size and SHA-256.

    Equal results, configuration and sources give equal bytes, wherever and whenever the archive is
    made. ns-2's own output files are left out: they are large, and ``runs.parquet`` has their
    checksums.

    Args:
        study: key or folder; None selects that of ``config.yaml``.
        tier: None selects that of ``config.yaml``.
        output: the zip; by default ``<study>-<tier>.zip`` in the folder of the tier.
        allow_partial: archive even if runs are missing.

    Raises:
        BdpbenchError: when runs of the tier are missing, or ``output`` cannot be written.
    """
    wanted = Wanted(study, tier)
    paths = wanted.paths()
    path = output or paths.folder / f"{paths.study}-{paths.tier}{_ARCHIVE}"
    check_output(path)
    bundle = Bundle(collect(prepare(wanted), allow_partial=allow_partial))
    entries = dict(_entries(bundle))
    totals = totals_sentence(bundle.results.scorecard)
    entries[METADATA_NAME] = crate_json(
        entries,
        name=f"Reproduction of {bundle.plan['study']} with "
        f"{' and '.join(simulators(bundle.plan['runs']))}, {bundle.plan['tier']} tier",
        description=f"{bundle.plan['title']}. {totals.replace('**', '')}",
        date=bundle.times()[1][:10],
        paper=bundle.inputs.study.citation,
    )
    with signals_interrupt():
        sha256 = write_archive(path, entries)
    print(totals)
    print(f"{path}: {len(entries) + 1} files, {path.stat().st_size / 1e6:.1f} MB")
    print(f"SHA-256 {sha256}")


def check_output(path: Path) -> None:
    """Refuse a path that no archive can be written to.

    Raises:
        BdpbenchError: when it is a folder, or its folder cannot be written.
    """
    if path.is_dir():
        raise BdpbenchError("is a folder; name the file to write", where=str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise BdpbenchError(f"cannot be written ({error.strerror})", where=str(path)) from None


def _entries(bundle: Bundle) -> Iterator[tuple[str, bytes]]:
    """All files of the archive but those that describe the others."""
    kept = bundle.kept_files()
    yield from kept.items()
    yield SUMMARY_NAME, kept[SUMMARY_NAME] + _readme(bundle).encode()
    yield PLAN_NAME, json_bytes(bundle.plan)
    # The report draws the figures of single runs.
    said = origin(bundle.plan["ns2_build_id"], bundle.plan["runs"])
    request = ExportRequest(("svg",), said, archived=True)
    for name, content in export_files(bundle.inputs, request):
        yield f"exports/{name}", content
    yield from _sources(bundle)


def _sources(bundle: Bundle) -> Iterator[tuple[str, bytes]]:
    """The parts of the checkout that determine results, with only this study's configuration."""
    yield from common_sources()
    study, place = read_study(bundle.folder / STUDY_NAME), study_place(bundle.plan["study"])
    yield from study_sources(study, place)
    for kept, folder in _folders_of(bundle.results.plan):
        if not folder.path.is_relative_to(bundle.folder):
            yield from folder_sources(folder, f"{place}/{kept}")


def _folders_of(plan: Plan) -> Iterator[tuple[str, ComponentFolder]]:
    """Protocols and queues that are folders, under the keys that the study gives them."""
    for key, protocol in plan["protocols"].items():
        if "folder" in protocol:
            yield f"{ProtocolFolder.kind}s/{key}", ProtocolFolder(resolved(protocol["folder"]))
    for key, folder in plan.get("queue_folders", {}).items():
        yield f"{QueueFolder.kind}s/{key}", QueueFolder(resolved(folder))


def _readme(bundle: Bundle) -> str:
    """What an archive's README says beyond that of a published folder."""
    return f"""
## This archive

- `exports/`: figures (SVG) and tables (LaTeX, Markdown, CSV) with their captions
- `plan.json`: the runs of the tier
- `source/`: bdpbench, the study with its published values and claims, Tcl scripts, ns-2 patches
{about_archive(f"`{KEPT_RUNS_NAME}` has", run_words(bundle.plan))}"""


def about_archive(has: str, words: str) -> str:
    """The end of the README of every archive.

    Args:
        has: what has the checksums of the output files of ns-2, with its verb.
        words: the call that simulates its runs.
    """
    return f"""- `{METADATA_NAME}`: all of it for programs (RO-Crate)
- `{CHECKSUMS_NAME}`: SHA-256 of every file

The output files of ns-2 are not in it; {has} their checksums. To check and to repeat:

```sh
sha256sum -c {CHECKSUMS_NAME}              # or: ./bdpbench verify FILE.zip
source/bdpbench {words}     # simulates everything anew
```
"""
