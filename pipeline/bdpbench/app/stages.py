"""The stages after the simulation: parse, measure, score, report. Each reads and writes files."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench.contracts.documents import csv_of_frame
from bdpbench.contracts.files import (
    keep,
    read_kept,
    read_text,
    write_atomically,
    write_bytes_atomically,
)
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import Output, Parameters, Plan, PlannedRun, Scalar, study_folder
from bdpbench.contracts.reports import check_reported, forget_report, record_report
from bdpbench.contracts.runs import (
    METRICS_CSV_NAME,
    METRICS_NAME,
    RUN_NAME,
    TableManifest,
    is_light,
    read_manifest,
    read_runs,
    read_spec,
)
from bdpbench.contracts.scorecard import SCORECARD_NAME, Scorecard, write_scorecard
from bdpbench.errors import BdpbenchError

if TYPE_CHECKING:
    import polars as pl

    from bdpbench.metrics import Definition
    from bdpbench.pages.inputs import LoadTable, ReportInputs, StudyTexts
    from bdpbench.studies.study import Study

_ROWS_OF_A_FRAME = 20_000

VALUES_FOLDER = "values"
"""Folder of a run with its measured values, one file per place in a study."""

# Rows of VALUES_SCHEMA: each names the digest of what it depends on.
_VALUES_KEY = "values/1"


def values_path(run_dir: Path, study: str, scenario: str) -> Path:
    """Path of a run's values; studies may give it different parameters, labels and metrics."""
    return run_dir / VALUES_FOLDER / f"{study}.{scenario}.txt"


def definitions_of(plan: Plan) -> Mapping[str, Definition]:
    """Metric → its definition: the common ones, and those of the plan's study."""
    from bdpbench.metrics import definitions_for

    return definitions_for(study_folder(plan))


def parse_runs(run_dirs: Iterable[Path], plan: Plan | None = None) -> dict[str, TableManifest]:
    """Turn the output files of finished runs into tables; current tables are kept.

    A packet trace on disk becomes a table only if a metric of the plan's study needs it.

    Args:
        run_dirs: folders of runs.
        plan: plan with the outputs of its runs; without it, ``spec.json`` lists them.

    Returns:
        Run id → manifest of its tables.

    Raises:
        BdpbenchError: for a run that is not finished, or naming file and line of bad output.
    """
    from bdpbench.trace import write_tables

    wanted = _wanted_tables(definitions_of(plan)) if plan else frozenset()
    places: dict[str, list[Sequence[Output]]] = {}
    for run in plan["runs"] if plan else ():
        places.setdefault(run["run_id"], []).append(run["outputs"])
    manifests = {}
    for run_dir in run_dirs:
        of_run = places.get(run_dir.name) or [read_spec(run_dir)["outputs"]]
        if not (run_dir / RUN_NAME).is_file():
            raise BdpbenchError("is not a finished run: it has no run.json", where=str(run_dir))
        for outputs in of_run:
            manifests[run_dir.name] = write_tables(run_dir, parsed_outputs(outputs, wanted))
    return manifests


def _wanted_tables(definitions: Mapping[str, Definition]) -> frozenset[str]:
    from bdpbench.metrics import Metric

    metrics = [each for each in definitions.values() if isinstance(each, Metric)]
    return frozenset(table for each in metrics for table in each.tables)


def parsed_outputs(outputs: Sequence[Output], wanted: Collection[str]) -> list[Output]:
    """The outputs that become tables; large traces only if their table is needed."""
    from bdpbench.trace import OUTPUT_FORMATS

    large = {table for table, form in OUTPUT_FORMATS.items() if form.streamed}
    return [each for each in outputs if each["table"] not in large or each["table"] in wanted]


def finished_runs(plan: Plan, runs_dir: Path) -> list[PlannedRun]:
    """The runs of a plan that have been simulated and parsed."""
    from bdpbench.trace import holds_outputs

    wanted = _wanted_tables(definitions_of(plan))
    return [
        run
        for run in plan["runs"]
        if holds_outputs(
            run_folder(runs_dir, run["run_id"]), parsed_outputs(run["outputs"], wanted)
        )
    ]


def measure_runs(
    plan: Plan, runs_dir: Path, run_ids: Collection[str], *, bins: int | None = None
) -> None:
    """Measure parsed runs for all their places in a plan, and store the values with the runs.

    With ``bins``, the number of intervals of a report's series, their chart data is stored as well
    while their tables are loaded.
    """
    definitions = definitions_of(plan)
    wanted = _wanted_tables(definitions)
    for run in plan["runs"]:
        if run["run_id"] in run_ids:
            tables = _Tables(
                run_folder(runs_dir, run["run_id"]), parsed_outputs(run["outputs"], wanted)
            )
            _values_of(plan["study"], run, tables, definitions)
            if bins is not None:
                _keep_series(run, tables, runs_dir, bins)


def _keep_series(run: PlannedRun, tables: _Tables, runs_dir: Path, bins: int) -> None:
    from bdpbench.app.kept_series import KeptSeries

    run_id = run["run_id"]
    parameters = {run_id: run["parameters"]}
    load_table = _loader(lambda _: tables, parameters, {run_id})
    KeptSeries(runs_dir, load_table, {run_id: tables.outputs}, parameters)(run_id, bins)


def measure_plan(plan: Plan, runs_dir: Path) -> pl.DataFrame:
    """Metrics of all finished runs of a plan, including those of several runs together.

    Stored values of a run are reused if nothing that they depend on has changed.
    """
    import polars as pl

    from bdpbench.metrics import as_metrics, measure_groups, metric_rows

    definitions = definitions_of(plan)
    wanted = _wanted_tables(definitions)
    # Making a frame takes a millisecond, and a row of it takes much less memory than its parts.
    frames, rows = [], []
    for run in finished_runs(plan, runs_dir):
        run_id, scenario = run["run_id"], run["scenario"]
        tables = _Tables(run_folder(runs_dir, run_id), parsed_outputs(run["outputs"], wanted))
        values = _values_of(plan["study"], run, tables, definitions)
        rows += metric_rows(values, definitions, run_id=run_id, scenario=scenario)
        if len(rows) >= _ROWS_OF_A_FRAME:
            frames.append(as_metrics(rows))
            rows = []
    metrics = pl.concat([*frames, as_metrics(rows)])
    groups = measure_groups(metrics, plan["runs"], _sweeps(study_folder(plan)), definitions)
    return pl.concat([metrics, groups])


def _values_of(
    study: str, run: PlannedRun, tables: _Tables, definitions: Mapping[str, Definition]
) -> pl.DataFrame:
    """Values of the metrics of one run; those that are not stored are measured and stored."""
    from bdpbench.metrics import measure_values

    path = values_path(tables.run_dir, study, run["scenario"])
    kept = _read_values(path)
    values = measure_values(
        run["parameters"],
        tables,
        tables.checksums(),
        definitions,
        kept=kept,
        where=f"run {run['run_id']}",
    )
    if values is not kept and (kept is None or not values.equals(kept)):
        keep(path, _VALUES_KEY, json.dumps(values.rows()))
    return values


def _read_values(path: Path) -> pl.DataFrame | None:
    """Stored values; None if there are none, or they are not what was stored."""
    import polars as pl

    from bdpbench.metrics import VALUES_SCHEMA

    kept = read_kept(path, _VALUES_KEY)
    if kept is None:
        return None
    return pl.DataFrame(json.loads(kept), schema=VALUES_SCHEMA, orient="row")


class _Tables(Mapping[str, "pl.LazyFrame"]):
    """The tables of a run in a plan, each read once, when it is needed.

    Attributes:
        run_dir: folder of the run.
        outputs: outputs of the run that the plan reads.
    """

    def __init__(self, run_dir: Path, outputs: Sequence[Output]) -> None:
        self.run_dir, self.outputs = run_dir, outputs
        self._names = sorted({each["table"] for each in outputs})
        self._frames: dict[str, pl.DataFrame] = {}

    @functools.cached_property
    def _manifest(self) -> TableManifest:
        return read_manifest(self.run_dir)

    def frame(self, name: str) -> pl.DataFrame:
        """The rows of a table."""
        from bdpbench.trace import load_table

        if name not in self._names:
            raise KeyError(name)
        if name not in self._frames:
            table = load_table(self.run_dir, name, self.outputs, self._manifest)
            self._frames[name] = table.collect()
        return self._frames[name]

    def __getitem__(self, name: str) -> pl.LazyFrame:
        return self.frame(name).lazy()

    def __contains__(self, name: object) -> bool:
        return name in self._names  # without opening the file

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def checksums(self) -> dict[str, str]:
        """Table → a text that changes with its rows: the file's checksum, and the flows read."""
        facts = self._manifest["tables"]
        return {
            name: facts[name]["sha256"] + json.dumps(sorted(self._subjects(name), key=str))
            for name in self._names
        }

    def _subjects(self, name: str) -> list[int | str | None]:
        return [
            each.get("flow", each.get("link")) for each in self.outputs if each["table"] == name
        ]


def _sweeps(folder: Path) -> dict[str, dict[str, list[Scalar]]]:
    """Scenario → numeric parameter → every value that the study gives it, in any tier."""
    from bdpbench.studies.load import load_study

    sweeps: dict[str, dict[str, list[Scalar]]] = {}
    for key, scenario in load_study(folder).scenarios.items():
        swept = {name: list(values) for name, values in scenario.sweep.items()}
        for case in scenario.cases:
            for name, value in case.items():
                swept.setdefault(name, []).append(value)
        sweeps[key] = {
            name: sorted(set(values))
            for name, values in swept.items()
            if all(isinstance(value, (int, float)) for value in values)
        }
    return sweeps


def write_metrics(metrics: pl.DataFrame, path: Path) -> None:
    """Write the metrics table as parquet, and as CSV for other tools; atomically."""
    forget_report(path.parent)
    write_atomically(path, metrics.write_parquet)
    write_metrics_csv(metrics, path.with_suffix(".csv"))


def write_metrics_csv(metrics: pl.DataFrame, path: Path) -> None:
    """Write the metrics table as CSV, atomically."""
    write_bytes_atomically(path, csv_of_frame(metrics))


def score_plan(plan: Plan, metrics: pl.DataFrame) -> Scorecard:
    """Scorecard of a plan: the metrics compared with the numbers and claims of its study."""
    from bdpbench.score import load_expectations, score

    expected = load_expectations(study_folder(plan), definitions_of(plan))
    return score(plan, metrics, expected)


def report_plan(
    plan: Plan,
    metrics: pl.DataFrame,
    scorecard: Scorecard,
    runs_dir: Path,
    out: Path,
    *,
    with_files: bool = True,
) -> None:
    """Write the HTML report of a plan; ``with_files`` links the output files of its runs."""
    from bdpbench.pages.page import build_report

    forget_report(out.parent)
    inputs = report_inputs(plan, metrics, scorecard, runs_dir)
    build_report(inputs, out, with_files=with_files)


def report_inputs(
    plan: Plan, metrics: pl.DataFrame, scorecard: Scorecard, runs_dir: Path
) -> ReportInputs:
    """The inputs of the report and the exports of a plan."""
    from bdpbench.app.kept_series import KeptSeries
    from bdpbench.metrics.repetitions import over_repetitions
    from bdpbench.pages.inputs import ReportInputs
    from bdpbench.studies.load import load_study

    finished = sorted({run["run_id"] for run in finished_runs(plan, runs_dir)})
    wanted = _wanted_tables(definitions_of(plan))
    outputs = {run["run_id"]: parsed_outputs(run["outputs"], wanted) for run in plan["runs"]}
    parameters = {run["run_id"]: run["parameters"] for run in plan["runs"]}

    @functools.lru_cache(maxsize=1)
    def tables_of(run_id: str) -> _Tables:
        return _Tables(run_folder(runs_dir, run_id), outputs[run_id])

    load_table = _loader(tables_of, parameters, frozenset(finished))
    return ReportInputs(
        plan=plan,
        metrics=metrics,
        scorecard=scorecard,
        definitions=[each.as_document() for each in definitions_of(plan).values()],
        load_table=load_table,
        load_series=KeptSeries(runs_dir, load_table, outputs, parameters),
        places=_places(runs_dir, finished),
        run_info=read_runs(run_folder(runs_dir, each) for each in finished),
        study=study_texts(load_study(study_folder(plan))),
        repetitions=over_repetitions(metrics, plan["runs"]),
    )


def _places(runs_dir: Path, run_ids: Sequence[str]) -> dict[str, str]:
    """Run id → its folder, relative to that of all runs, for runs with outputs."""
    folders = {each: run_folder(runs_dir, each) for each in run_ids}
    return {
        run_id: folder.relative_to(runs_dir).as_posix()
        for run_id, folder in folders.items()
        if not is_light(folder)
    }


def _loader(
    tables_of: Callable[[str], _Tables],
    parameters: Mapping[str, Parameters],
    finished: Collection[str],
) -> LoadTable:
    """The tables of finished runs, including derived ones."""
    from bdpbench.metrics.derived import DERIVED

    def load(run_id: str, table: str) -> pl.LazyFrame | None:
        sources = DERIVED[table].sources if table in DERIVED else (table,)
        if run_id not in finished or not all(each in tables_of(run_id) for each in sources):
            return None
        tables = {each: tables_of(run_id).frame(each) for each in sources}
        if table not in DERIVED:
            return tables[table].lazy()
        return DERIVED[table].make(parameters[run_id], tables).lazy()

    return load


def study_texts(study: Study) -> StudyTexts:
    """The texts of a study for its pages.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong in its files.
    """
    from bdpbench.metrics import definitions_for
    from bdpbench.pages.inputs import StudyTexts
    from bdpbench.pages.matrices import MATRICES_NAME, load_matrices
    from bdpbench.pages.study_page import load_page

    folder = study.folder
    metrics = set(definitions_for(folder))
    notes = folder / "NOTES.md"
    return StudyTexts(
        title=study.title,
        description=study.description,
        citation=study.citation,
        protocols=study.protocols,
        parameters=study.parameters,
        defaults=study.defaults,
        page=load_page(folder / "page.yaml", study, metrics),
        matrices=load_matrices(folder / MATRICES_NAME, study, metrics),
        notes=read_text(notes) if notes.is_file() else "",
    )


def downstream(plan: Plan, runs_dir: Path, report: Path) -> Scorecard:
    """Parse, measure, score and report the runs of a plan, whether or not some are missing.

    Returns:
        The scorecard.
    """
    finished = {run["run_id"] for run in plan["runs"]}
    run_dirs = (run_folder(runs_dir, each) for each in sorted(finished))
    parse_runs((each for each in run_dirs if (each / RUN_NAME).is_file()), plan)
    metrics = measure_plan(plan, runs_dir)
    scorecard = score_plan(plan, metrics)
    write_results(plan, metrics, scorecard, runs_dir, report)
    return scorecard


def write_results(
    plan: Plan, metrics: pl.DataFrame, scorecard: Scorecard, runs_dir: Path, report: Path
) -> None:
    """Write metrics and scorecard beside the report, the report, and last their checksums."""
    from bdpbench.pages.shards import shards_folder

    made = [report.with_name(METRICS_NAME), report.with_name(METRICS_CSV_NAME)]
    made.append(report.with_name(SCORECARD_NAME))
    write_metrics(metrics, made[0])
    write_scorecard(made[2], scorecard)
    report_plan(plan, metrics, scorecard, runs_dir, report)
    made += [report, *sorted(shards_folder(report).glob("*"))]
    record_report(report.parent, plan, runs_dir, made)


def read_metrics(path: Path) -> pl.DataFrame:
    """Read ``metrics.parquet``.

    Raises:
        BdpbenchError: when it is missing or not a table of metrics, or is not what was written into
            the folder of a tier.
    """
    import polars as pl

    from bdpbench.metrics import METRICS_SCHEMA

    check_reported(path)

    try:
        metrics = pl.read_parquet(path)
    except FileNotFoundError:
        raise BdpbenchError("no such file: expected a table of metrics", where=str(path)) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BdpbenchError(f"is not a table of metrics ({error})", where=str(path)) from None
    if metrics.schema != METRICS_SCHEMA:
        raise BdpbenchError(
            f"is not a table of metrics: it has the columns {', '.join(metrics.columns)}",
            where=str(path),
        )
    return metrics
