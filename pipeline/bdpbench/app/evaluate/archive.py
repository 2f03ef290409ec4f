"""The archive of an evaluation: report, values, tables and figures, and all their sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from bdpbench.app.evaluate.report import (
    PAGE_NAME,
    RUNS_FOLDER,
    published_folder,
    report_of,
)
from bdpbench.app.keep.archive import (
    SOURCE_FOLDER,
    WORKFLOW,
    authors_and_licence,
    common_sources,
    files_below,
    software_of,
)
from bdpbench.app.keep.bundle import Portable, json_bytes
from bdpbench.app.keep.results import origin
from bdpbench.archive.container import CHECKSUMS_NAME, Entry, sealed, write_archive
from bdpbench.archive.crate import Crate
from bdpbench.contracts.evaluation import (
    CELLS_NAME,
    EVALUATION_NAME,
    EvaluatedProtocol,
    Evaluation,
    read_evaluation,
)
from bdpbench.contracts.paths import config_dir, resolved, run_folder, run_place
from bdpbench.contracts.plan import PLAN_NAME, read_plan
from bdpbench.contracts.reports import SUMMARY_NAME
from bdpbench.contracts.runs import METRICS_NAME, RUN_NAME, RunRecord, read_run
from bdpbench.contracts.scorecard import SCORECARD_NAME
from bdpbench.pages.evaluation.files import evaluation_files
from bdpbench.pages.evaluation.findings import findings_of
from bdpbench.pages.evaluation.page import evaluation_page

_DESCRIPTIONS = {
    PAGE_NAME: "The report, which opens offline",
    EVALUATION_NAME: "Figures with ranks and intervals, and the answers to RFC 9743",
    CELLS_NAME: "Every value of every table and figure",
}


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
    entries: dict[str, Entry] = {
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
    entries |= {name: entries[f"{SOURCE_FOLDER}/{name}"] for name in ("LICENSE", "CITATION.cff")}
    entries[SUMMARY_NAME] = _readme(portable).encode()
    write_archive(path, sealed(entries, _crate(portable, records, entries)))


def _portable(protocol: EvaluatedProtocol) -> EvaluatedProtocol:
    """A protocol whose folder, if it is outside the checkout, is named as in the archive."""
    if not _is_outside(protocol):
        return protocol
    place = _place(protocol)
    return {**protocol, "source": place, "folder": place}


def _is_outside(protocol: EvaluatedProtocol) -> bool:
    folder = protocol["folder"]
    return bool(folder) and not resolved(folder).is_relative_to(config_dir())


def _place(protocol: EvaluatedProtocol) -> str:
    return f"{SOURCE_FOLDER}/protocols/{protocol['key']}"


def _plans(folder: Path, evaluation: Evaluation) -> Iterator[tuple[str, Entry]]:
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


def _runs(records: Mapping[str, RunRecord]) -> Iterator[tuple[str, Entry]]:
    for run_id, record in records.items():
        yield f"runs/{run_place(run_id)}/{RUN_NAME}", json_bytes(record)


def _sources(evaluation: Evaluation) -> Iterator[tuple[str, Entry]]:
    """bdpbench, the studies with their published values, and the evaluated protocols."""
    yield from common_sources()
    for folder in ("studies", "protocols", "evaluation"):
        for path in files_below(config_dir() / folder):
            name = path.relative_to(config_dir()).as_posix()
            if path.suffix != ".pyc":
                yield f"{SOURCE_FOLDER}/config/{name}", path
    for study in evaluation["studies"]:
        for name in (METRICS_NAME, SCORECARD_NAME):
            path = published_folder(study["key"]) / name
            if path.is_file():
                yield f"{SOURCE_FOLDER}/reports/published/{study['key']}/{name}", path
    for protocol in evaluation["protocols"]:
        if protocol["evaluated"] and _is_outside(protocol):
            folder_of = resolved(protocol["folder"])
            for path in files_below(folder_of):
                yield f"{_place(protocol)}/{path.relative_to(folder_of).as_posix()}", path


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
- `ro-crate-metadata.json`: all of it for programs (RO-Crate)
- `datacite.json`: what a repository asks for that gives it a DOI
- `{CHECKSUMS_NAME}`: SHA-256 of every file

The output files of ns-2 are not in it; the records have their checksums. To check and to repeat:

```sh
sha256sum -c {CHECKSUMS_NAME}              # or: ./bdpbench verify FILE.zip
source/bdpbench evaluate {words}{quick}
```
"""


def _crate(
    evaluation: Evaluation, records: Mapping[str, RunRecord], entries: Mapping[str, Entry]
) -> Crate:
    authors, licence = authors_and_licence()
    labels = [each["label"] for each in evaluation["protocols"] if each["evaluated"]]
    started = sorted(each["started"] for each in records.values()) or ["1980-01-01T00:00:00Z"]
    inputs = [name for name in entries if name.startswith(f"{SOURCE_FOLDER}/protocols/")]
    inputs += [name for name in entries if name.startswith(f"{SOURCE_FOLDER}/config/evaluation/")]
    title = f"{' and '.join(labels)} beside the protocols of the literature"
    return Crate(
        name=f"Evaluation of {' and '.join(labels)} with ns-2.35",
        description=f"{title}, by bdpbench.",
        started=started[0],
        ended=started[-1],
        authors=authors,
        licence=licence,
        title=title,
        citation=None,
        workflow=WORKFLOW,
        software=software_of(evaluation["ns2_build_id"]),
        inputs=sorted(inputs),
        outputs=sorted(_DESCRIPTIONS),
        descriptions=_DESCRIPTIONS,
    )
