"""`bdpbench archive`: a finished tier with everything that it was made from, in one file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from bdpbench import __version__
from bdpbench.app.keep.bundle import (
    Bundle,
    collect,
    commit_of,
    json_bytes,
    origin,
    run_words,
    study_place,
)
from bdpbench.app.keep.sources import (
    SOURCE_FOLDER,
    common_sources,
    folder_sources,
    study_sources,
)
from bdpbench.app.planning import prepare, wanted_as_run
from bdpbench.app.totals import totals_sentence
from bdpbench.archive.container import CHECKSUMS_NAME, Entry, sealed, write_archive
from bdpbench.archive.crate import Author, Crate, Software
from bdpbench.contracts.paths import (
    repository_root,
    resolved,
    run_folder,
    run_place,
)
from bdpbench.contracts.plan import PLAN_NAME, Plan, PlannedRun
from bdpbench.contracts.reports import KEPT_RUNS_NAME, PROVENANCE_NAME, REPORT_NAME, SUMMARY_NAME
from bdpbench.contracts.runs import METRICS_NAME, RUN_NAME, TABLES_FOLDER, read_manifest
from bdpbench.contracts.scorecard import SCORECARD_NAME
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.pages.exports import ExportRequest, export_files
from bdpbench.processes import signals_interrupt
from bdpbench.studies.folders import ComponentFolder, ProtocolFolder, QueueFolder
from bdpbench.studies.load import STUDY_NAME, read_study
from bdpbench.studies.ns3_program import builds_of, simulators
from bdpbench.trace import load_table

_ARCHIVE = ".zip"
_HOMES = {"ns-2": "https://www.isi.edu/nsnam/ns/", "ns-3": "https://www.nsnam.org/"}
WORKFLOW = f"{SOURCE_FOLDER}/Snakefile"
"""Its rules simulate and measure."""

_DESCRIPTIONS = {
    REPORT_NAME: "The report, which opens offline",
    METRICS_NAME: "Every metric of every run",
    SCORECARD_NAME: "Every published number and statement with its verdict",
    PLAN_NAME: "The runs of the tier and their parameters",
    KEPT_RUNS_NAME: "Parameters, checksums of outputs, times and memory of every run",
    PROVENANCE_NAME: "Versions of bdpbench, ns-2 and the configuration",
    "exports/captions.md": "Captions of figures and tables: runs, definitions, build, commit",
    "source/ns2/SOURCE.lock": "Name, checksum and origins of the source archive of ns-2.35",
    "source/pipeline/requirements.lock": "Every Python package with version and checksums",
}


def archive_study(
    study: str | None,
    tier: str | None,
    output: Path | None,
    *,
    engine: str | None = None,
    allow_partial: bool,
    with_runs: bool,
) -> None:
    """Write the archive of a tier, and print its size and SHA-256.

    Equal results, configuration and sources give equal bytes, wherever and whenever the archive is
    made. ns-2's own output files are left out: they are large, and ``runs.parquet`` has their
    checksums.

    Args:
        study: key or folder; None selects that of ``config.yaml``.
        tier: None selects that of ``config.yaml``.
        output: the zip; by default ``<study>-<tier>.zip`` in the folder of the tier.
        engine: that of `run`, if it was given one.
        allow_partial: archive even if runs are missing.
        with_runs: add the tables and the record of every run.

    Raises:
        BdpbenchError: when runs of the tier are missing, or ``output`` cannot be written.
    """
    wanted = wanted_as_run(study, tier, engine)
    paths = wanted.paths()
    path = output or paths.folder / f"{paths.study}-{paths.folder.name}{_ARCHIVE}"
    check_output(path)
    bundle = Bundle(collect(prepare(wanted), allow_partial=allow_partial))
    entries = dict(_entries(bundle, with_runs=with_runs))
    entries |= {name: entries[f"{SOURCE_FOLDER}/{name}"] for name in ("LICENSE", "CITATION.cff")}
    entries = sealed(entries, _crate(bundle, entries))
    with signals_interrupt():
        sha256 = write_archive(path, entries)
    print(totals_sentence(bundle.results.scorecard))
    print(f"{path}: {len(entries)} files, {path.stat().st_size / 1e6:.1f} MB")
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


def _entries(bundle: Bundle, *, with_runs: bool) -> Iterator[tuple[str, Entry]]:
    """All files of the archive but those that describe the others."""
    kept = bundle.kept_files()
    yield from kept.items()
    yield SUMMARY_NAME, kept[SUMMARY_NAME] + _readme(bundle, with_runs=with_runs).encode()
    yield PLAN_NAME, json_bytes(bundle.plan)
    # The report draws the figures of single runs.
    said = origin(bundle.plan["ns2_build_id"], bundle.plan["runs"])
    request = ExportRequest(("svg",), said, archived=True)
    for name, content in export_files(bundle.inputs, request):
        yield f"exports/{name}", content
    yield from _sources(bundle)
    for facts in bundle.builds():
        short = facts.get("binary_sha256", "unknown")[:12]
        yield f"environment/ns-bdpbench-{short}.json", json_bytes(facts)
    if with_runs:
        yield from _runs(bundle)


def _sources(bundle: Bundle) -> Iterator[tuple[str, Entry]]:
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


def _runs(bundle: Bundle) -> Iterator[tuple[str, Entry]]:
    for run_id, record in bundle.records.items():
        place = f"runs/{run_place(run_id)}"
        yield f"{place}/{RUN_NAME}", json_bytes(record)
        run_dir = run_folder(bundle.results.runs_dir, run_id)
        for name in read_manifest(run_dir)["tables"]:
            load_table(run_dir, name)  # made again if it is damaged
        for path in sorted((run_dir / TABLES_FOLDER).iterdir()):
            yield f"{place}/{TABLES_FOLDER}/{path.name}", path


def _readme(bundle: Bundle, *, with_runs: bool) -> str:
    """What an archive's README says beyond that of a published folder."""
    again = run_words(bundle.plan)
    runs = "- `runs/`: tables and record of every run\n" if with_runs else ""
    return f"""
## This archive

- `exports/`: figures (SVG) and tables (LaTeX, Markdown, CSV) with their captions
- `plan.json`: the runs of the tier; `environment/`: how the simulator was built
- `source/`: bdpbench, the study with its published values and claims, Tcl scripts, ns-2 patches
{runs}- `ro-crate-metadata.json`: all of it for programs (RO-Crate)
- `datacite.json`: what a repository asks for that gives it a DOI
- `{CHECKSUMS_NAME}`: SHA-256 of every file

The output files of ns-2 are not in it; `runs.parquet` has their checksums. To check and to repeat:

```sh
sha256sum -c {CHECKSUMS_NAME}              # or: ./bdpbench verify FILE.zip
source/bdpbench {again}     # simulates everything anew
```
"""


# The part of ``CITATION.cff`` that an archive repeats.
_Citation = TypedDict(
    "_Citation",
    {"authors": list[dict[str, str]], "license": str, "url": str, "repository-code": str},
    total=False,
)


def _crate(bundle: Bundle, entries: Mapping[str, Entry]) -> Crate:
    plan = bundle.plan
    started, ended = bundle.times()
    authors, licence = authors_and_licence()
    study_files = f"{SOURCE_FOLDER}/{study_place(plan['study'])}/"
    scripts = {
        f"{SOURCE_FOLDER}/{place}{run['script']}" for run in plan["runs"] for place in ("tcl/", "")
    }
    totals = totals_sentence(bundle.results.scorecard).replace("**", "")
    used = " and ".join(simulators(plan["runs"]))
    return Crate(
        name=f"Reproduction of {plan['study']} with {used}, {plan['tier']} tier",
        description=f"{plan['title']}. {totals}",
        started=started,
        ended=ended,
        authors=authors,
        licence=licence,
        title=plan["title"],
        citation=bundle.inputs.study.citation,
        workflow=WORKFLOW,
        software=software_of(plan["ns2_build_id"], plan["runs"]),
        inputs=sorted(name for name in entries if name.startswith(study_files) or name in scripts),
        outputs=sorted(name for name in entries if "/" not in name and name in _DESCRIPTIONS),
        descriptions={name: text for name, text in _DESCRIPTIONS.items() if name in entries},
    )


def authors_and_licence() -> tuple[list[Author], str]:
    """Authors and licence of bdpbench, from ``CITATION.cff``."""
    citation: _Citation = YamlFile(repository_root() / "CITATION.cff").data
    return [_author(each) for each in citation["authors"]], citation["license"]


def software_of(ns2_build_id: str, runs: Sequence[PlannedRun] = ()) -> list[Software]:
    """The programs that the results of runs come from, with their versions."""
    citation: _Citation = YamlFile(repository_root() / "CITATION.cff").data
    home = citation.get("repository-code") or citation.get("url") or ""
    commit = commit_of(repository_root())
    version = f"{__version__}+{commit}" if commit else __version__
    return [
        Software("bdpbench", version, home),
        *(_simulator(*each) for each in builds_of(runs, ns2_build_id).items()),
    ]


def _simulator(name: str, build: str) -> Software:
    """A build of a simulator, such as ``ns-2.35``, whose version is 2.35."""
    family, version = name.partition(".")[0], name.removeprefix("ns-")
    return Software(family, f"{version}, build {build}", _HOMES[family])


def _author(author: Mapping[str, str]) -> Author:
    """An author of ``CITATION.cff``."""
    if "name" in author:
        return Author(author["name"], is_person=False)
    return Author(f"{author['given-names']} {author['family-names']}", is_person=True)
