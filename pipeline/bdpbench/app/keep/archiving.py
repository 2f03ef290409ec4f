"""`bdpbench archive`: a finished tier with everything that it was made from, in one file."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypedDict

from bdpbench import __version__
from bdpbench.app.keep.bundle import Bundle, json_bytes
from bdpbench.app.keep.checkout import (
    RESULT_SOURCES,
    commit_of,
    files_below,
    origin,
    source_files,
)
from bdpbench.app.keep.collecting import collect
from bdpbench.app.keep.portable import study_place
from bdpbench.app.mending import damaged_tables
from bdpbench.app.planning import Paths
from bdpbench.app.totals import totals_sentence
from bdpbench.archive import (
    CHECKSUMS_NAME,
    METADATA_NAME,
    Author,
    Crate,
    Entry,
    Paper,
    Software,
    crate_json,
    format_checksums,
    write_archive,
)
from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import (
    config_dir,
    repository_root,
    results_dir,
    run_folder,
    run_place,
)
from bdpbench.contracts.plan import PLAN_NAME
from bdpbench.contracts.reports import KEPT_RUNS_NAME, PROVENANCE_NAME, REPORT_NAME, SUMMARY_NAME
from bdpbench.contracts.runs import METRICS_NAME, RUN_NAME, TABLES_FOLDER
from bdpbench.contracts.scorecard import SCORECARD_NAME
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.pages.exports import ExportRequest, export_files
from bdpbench.studies.config import load_config
from bdpbench.studies.load import find_study

_SOURCES = (
    *RESULT_SOURCES,
    ".dockerignore",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "Dockerfile",
    "LICENSE",
    "README.md",
    "bdpbench",
    "pyproject.toml",
)
# Results, pictures of them, and leftovers of other programs.
_LEFT_OUT = re.compile(
    r"reports/(published/|[^/]+\.png$)|(^|/)(__pycache__|\.[^/]+|[^/]+\.egg-info)/|\.pyc$|~$"
)
_SOURCE_FOLDER = "source"
_ARCHIVE = ".zip"
_WORKFLOW = f"{_SOURCE_FOLDER}/Snakefile"

_DESCRIPTIONS = {
    REPORT_NAME: "The report, which opens offline",
    METRICS_NAME: "The same table as parquet",
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
        allow_partial: archive even if runs are missing.
        with_runs: add the tables and the record of every run.

    Raises:
        BdpbenchError: when runs of the tier are missing, or ``output`` cannot be written.
    """
    config = load_config()
    key = find_study(study or config.study).name
    paths = Paths(results_dir(config.results), key, tier or config.tier)
    path = output or paths.folder / f"{paths.study}-{paths.tier}{_ARCHIVE}"
    _check_output(path)
    bundle = Bundle(collect(study, tier, allow_partial=allow_partial))
    entries: dict[str, Entry] = {**bundle.kept_files(), PLAN_NAME: json_bytes(bundle.plan)}
    entries[SUMMARY_NAME] = _readme(bundle, entries[SUMMARY_NAME], with_runs=with_runs)
    entries |= dict(_exports(bundle))
    entries |= dict(_sources(bundle))
    entries |= {name: entries[f"{_SOURCE_FOLDER}/{name}"] for name in ("LICENSE", "CITATION.cff")}
    for facts in bundle.builds():
        short = facts.get("binary_sha256", "unknown")[:12]
        entries[f"environment/ns-bdpbench-{short}.json"] = json_bytes(facts)
    if with_runs:
        entries |= dict(_runs(bundle))
    _seal(entries, bundle)
    sha256 = write_archive(path, entries)
    print(totals_sentence(bundle.results.scorecard))
    print(f"{path}: {len(entries)} files, {path.stat().st_size / 1e6:.1f} MB")
    print(f"SHA-256 {sha256}")


def _check_output(path: Path) -> None:
    if path.is_dir():
        raise BdpbenchError("is a folder; name the file to write", where=str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise BdpbenchError(f"cannot be written ({error.strerror})", where=str(path)) from None


def _exports(bundle: Bundle) -> Iterator[tuple[str, bytes]]:
    """Figures of several runs as SVG (the report draws those of single runs), and all tables."""
    request = ExportRequest(("svg",), origin(bundle.plan["ns2_build_id"]), several_runs=True)
    for name, content in export_files(bundle.inputs, request):
        yield f"exports/{name}", content


def _sources(bundle: Bundle) -> Iterator[tuple[str, bytes]]:
    """The parts of the checkout that determine results, with only this study's configuration."""
    for name, path in source_files(_SOURCES):
        if not _LEFT_OUT.search(name):
            yield f"{_SOURCE_FOLDER}/{name}", path.read_bytes()
    yield f"{_SOURCE_FOLDER}/config/config.yaml", (config_dir() / "config.yaml").read_bytes()
    place = study_place(bundle.plan["study"])
    for path in _study_files(bundle.folder):
        relative = path.relative_to(bundle.folder).as_posix()
        yield f"{_SOURCE_FOLDER}/{place}/{relative}", path.read_bytes()


def _study_files(folder: Path) -> Iterator[Path]:
    """Files of a study without results, including its Tcl if it is outside the checkout."""
    results = results_dir(load_config().results)
    for path in files_below(folder):
        relative = path.relative_to(folder).as_posix()
        is_result = path.is_relative_to(results) or path.suffix == _ARCHIVE
        if not is_result and not _LEFT_OUT.search(relative):
            yield path


def _runs(bundle: Bundle) -> Iterator[tuple[str, Entry]]:
    for run_id, record in bundle.records.items():
        place = f"runs/{run_place(run_id)}"
        yield f"{place}/{RUN_NAME}", json_bytes(record)
        run_dir = run_folder(bundle.results.runs_dir, run_id)
        damage = damaged_tables(run_dir, deep=True)
        if damage is not None:
            hint = f"remove {run_dir / TABLES_FOLDER}: the tables are then made again"
            raise BdpbenchError(damage.said, where=str(damage.path), hint=hint)
        for path in sorted((run_dir / TABLES_FOLDER).iterdir()):
            yield f"{place}/{TABLES_FOLDER}/{path.name}", path


def _readme(bundle: Bundle, summary: Entry, *, with_runs: bool) -> bytes:
    text = summary.decode() if isinstance(summary, bytes) else summary.read_text(encoding="utf-8")
    study, tier = bundle.plan["study"], bundle.plan["tier"]
    runs = "- `runs/`: tables and record of every run\n" if with_runs else ""
    return f"""{text}
## This archive

- `exports/`: figures (SVG) and tables (LaTeX, Markdown, CSV) with their captions
- `plan.json`: the runs of the tier; `environment/`: how ns-2 was built
- `source/`: bdpbench, the study with its published values and claims, Tcl scripts, ns-2 patches
{runs}- `ro-crate-metadata.json`: all of it for programs (RO-Crate)
- `{CHECKSUMS_NAME}`: SHA-256 of every file

The output files of ns-2 are not in it; `runs.parquet` has their checksums. To check and to repeat:

```sh
sha256sum -c {CHECKSUMS_NAME}              # or: ./bdpbench verify FILE.zip
source/bdpbench run {study} --tier {tier}     # simulates everything anew
```
""".encode()


def _seal(entries: dict[str, Entry], bundle: Bundle) -> None:
    """Add the metadata and the manifest, which cover everything else."""
    files = {name: _facts(entry) for name, entry in entries.items()}
    entries[METADATA_NAME] = crate_json(_crate(bundle, files), files).encode()
    checksums = {name: sha256 for name, (sha256, _) in files.items()}
    checksums[METADATA_NAME] = _facts(entries[METADATA_NAME])[0]
    entries[CHECKSUMS_NAME] = format_checksums(checksums).encode()


def _facts(entry: Entry) -> tuple[str, int]:
    """SHA-256 and size of a file."""
    if isinstance(entry, bytes):
        return hashlib.sha256(entry).hexdigest(), len(entry)
    return sha256_of(entry), entry.stat().st_size


class _Citation(TypedDict, total=False):
    """The part of ``CITATION.cff`` that an archive repeats."""

    authors: list[dict[str, str]]
    license: str
    url: str


def _crate(bundle: Bundle, files: Mapping[str, tuple[str, int]]) -> Crate:
    plan, study = bundle.plan, _paper(bundle)
    started, ended = bundle.times()
    citation: _Citation = YamlFile(repository_root() / "CITATION.cff").data
    commit = commit_of(repository_root())
    version = f"{__version__}+{commit}" if commit else __version__
    study_files = f"{_SOURCE_FOLDER}/{study_place(plan['study'])}/"
    scripts = {
        f"{_SOURCE_FOLDER}/{place}{run['script']}" for run in plan["runs"] for place in ("tcl/", "")
    }
    totals = totals_sentence(bundle.results.scorecard).replace("**", "")
    return Crate(
        name=f"Reproduction of {plan['study']} with ns-2.35, {plan['tier']} tier",
        description=f"{plan['title']}. {totals}",
        date=ended[:10],
        started=started,
        ended=ended,
        authors=[_author(each) for each in citation["authors"]],
        licence=citation["license"],
        study=study,
        workflow=_WORKFLOW,
        software=[
            Software("bdpbench", version, _home(citation)),
            Software(
                "ns-2", f"2.35, build {plan['ns2_build_id']}", "https://www.isi.edu/nsnam/ns/"
            ),
        ],
        inputs=sorted(name for name in files if name.startswith(study_files) or name in scripts),
        outputs=sorted(name for name in files if "/" not in name and name in _DESCRIPTIONS),
        descriptions={name: text for name, text in _DESCRIPTIONS.items() if name in files},
    )


def _paper(bundle: Bundle) -> Paper:
    """The paper that the study cites, or else the study's own title."""
    cited = bundle.inputs.study.citation
    if cited is None:
        return Paper(bundle.plan["title"])
    return Paper(cited.title, cited.authors, cited.year, cited.doi, cited.url)


def _author(author: Mapping[str, str]) -> Author:
    """An author of ``CITATION.cff``."""
    if "name" in author:
        return Author(author["name"], is_person=False)
    return Author(f"{author['given-names']} {author['family-names']}", is_person=True)


def _home(citation: Mapping[str, object]) -> str:
    return str(citation.get("repository-code") or citation.get("url") or "")
