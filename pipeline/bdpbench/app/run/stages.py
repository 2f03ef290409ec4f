"""The stages after the simulation: parse, measure, score, report. Each reads and writes files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bdpbench.contracts.files import write_json_atomically
from bdpbench.contracts.plan import Plan, PlannedRun
from bdpbench.contracts.runs import read_run, read_spec
from bdpbench.contracts.scorecard import SCORECARD_NAME, Scorecard
from bdpbench.contracts.tables import METRICS_NAME
from bdpbench.errors import BdpbenchError

if TYPE_CHECKING:
    import polars as pl

    from bdpbench.contracts.runs import RunRecord
    from bdpbench.contracts.tables import Definition
    from bdpbench.pages import ReportInputs, StudyTexts
    from bdpbench.pages.inputs import LoadTable
    from bdpbench.studies.study import Study


def parse_runs(run_dirs: Iterable[Path]) -> dict[str, Any]:
    """Turn the output files of finished runs into tables; tables that are current stay.

    Returns:
        Run id → manifest of its tables.

    Raises:
        BdpbenchError: for a run that is not finished, or naming file and line of bad output.
    """
    from bdpbench.trace import write_tables

    manifests = {}
    for run_dir in run_dirs:
        spec = read_spec(run_dir)
        if read_run(run_dir) is None:
            raise BdpbenchError("is not a finished run: it has no run.json", where=str(run_dir))
        manifests[spec["run_id"]] = write_tables(run_dir, spec["outputs"])
    return manifests


def finished_runs(plan: Plan, runs_dir: Path) -> list[PlannedRun]:
    """The runs of a plan that have been simulated and parsed."""
    return [
        run
        for run in plan["runs"]
        if (runs_dir / run["run_id"] / "tables" / "manifest.json").is_file()
    ]


def measure_plan(plan: Plan, runs_dir: Path) -> pl.DataFrame:
    """Metrics of all finished runs of a plan, and those that take several runs together."""
    import polars as pl

    from bdpbench.metrics import METRICS_SCHEMA, measure_groups, measure_run
    from bdpbench.trace import load_table

    frames = [pl.DataFrame(schema=METRICS_SCHEMA)]
    finished = finished_runs(plan, runs_dir)
    for run in finished:
        run_dir = runs_dir / run["run_id"]
        names = sorted({output["table"] for output in run["outputs"]})
        tables = {name: load_table(run_dir, name) for name in names}
        frames.append(
            measure_run(run["parameters"], tables, run_id=run["run_id"], scenario=run["scenario"])
        )
    metrics = pl.concat(frames)
    return pl.concat([metrics, measure_groups(metrics, plan["runs"], _sweeps(plan["folder"]))])


def _sweeps(folder: str) -> dict[str, dict[str, list[Any]]]:
    """Scenario → numeric parameter → every value that the study gives it, in any tier."""
    from bdpbench.studies.load import load_study

    sweeps: dict[str, dict[str, list[Any]]] = {}
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
    """Write the metrics table as parquet, and as CSV beside it for other tools; atomically."""
    write_atomically(path, metrics.write_parquet)
    write_metrics_csv(metrics, path.with_suffix(".csv"))


def write_metrics_csv(metrics: pl.DataFrame, path: Path) -> None:
    """Write the metrics table as CSV, atomically."""
    write_atomically(path, metrics.write_csv)


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` make a file under a temporary name, and rename it to ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.tmp")
    write(scratch)
    scratch.replace(path)


def score_plan(plan: Plan, metrics: pl.DataFrame) -> Scorecard:
    """Scorecard of a plan: the metrics beside the published numbers and claims of its study."""
    from bdpbench.metrics import DEFINITIONS
    from bdpbench.score import load_expectations, score

    expected = load_expectations(Path(plan["folder"]), DEFINITIONS)
    return score(plan, metrics, expected.numbers, expected.claims)


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
    from bdpbench.pages import build_report

    inputs = report_inputs(plan, metrics, scorecard, runs_dir)
    build_report(inputs, out, with_files=with_files)


def report_inputs(
    plan: Plan, metrics: pl.DataFrame, scorecard: Scorecard, runs_dir: Path
) -> ReportInputs:
    """What the report and the exports show of a plan."""
    from bdpbench.metrics import definitions_as_dicts
    from bdpbench.metrics.repetitions import over_repetitions
    from bdpbench.pages import ReportInputs
    from bdpbench.studies.load import load_study

    infos = {run["run_id"]: read_run(runs_dir / run["run_id"]) for run in plan["runs"]}
    finished = {run["run_id"] for run in finished_runs(plan, runs_dir)}
    return ReportInputs(
        plan=plan,
        metrics=metrics,
        scorecard=scorecard,
        definitions=cast("list[Definition]", definitions_as_dicts()),
        load_table=_loader(plan, runs_dir, finished),
        run_info=cast(
            "dict[str, RunRecord]",
            {run_id: info for run_id, info in sorted(infos.items()) if run_id in finished and info},
        ),
        study=study_texts(load_study(plan["folder"])),
        repetitions=over_repetitions(metrics, plan["runs"]),
    )


def _loader(plan: Plan, runs_dir: Path, finished: Collection[str]) -> LoadTable:
    """Tables of finished runs, and those that are derived from a sampled queue."""
    from bdpbench.metrics.queues import drops_per_sample, queue_shares
    from bdpbench.trace import load_table

    derived = {"queue_share": queue_shares, "drops": drops_per_sample}
    tables = {run["run_id"]: {output["table"] for output in run["outputs"]} for run in plan["runs"]}

    def load(run_id: str, table: str) -> pl.LazyFrame | None:
        source = "queue" if table in derived else table
        if run_id not in finished or source not in tables[run_id]:
            return None
        frame = load_table(runs_dir / run_id, source)
        return derived[table](frame.collect()).lazy() if table in derived else frame

    return load


def study_texts(study: Study) -> StudyTexts:
    """What a study says of itself on its pages.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong in its files.
    """
    from bdpbench.metrics import DEFINITIONS
    from bdpbench.pages import StudyTexts, load_matrices, load_page

    folder = study.folder
    metrics = {definition.metric for definition in DEFINITIONS.values()}
    notes = folder / "NOTES.md"
    return StudyTexts(
        title=study.title,
        description=study.description,
        citation=study.citation,
        protocols=study.protocols,
        parameters=study.parameters,
        defaults=study.defaults,
        page=load_page(folder / "page.yaml", study, metrics),
        matrices=load_matrices(folder / "matrices.yaml", study, metrics),
        notes=notes.read_text(encoding="utf-8") if notes.is_file() else "",
    )


def downstream(plan: Plan, folder: Path, runs_dir: Path) -> Scorecard:
    """Measure, score and report what a plan has, runs missing or not; returns the scorecard."""
    metrics = measure_plan(plan, runs_dir)
    write_metrics(metrics, folder / METRICS_NAME)
    scorecard = score_plan(plan, metrics)
    write_json_atomically(folder / SCORECARD_NAME, scorecard)
    report_plan(plan, metrics, scorecard, runs_dir, folder / "report.html")
    return scorecard


def read_metrics(path: Path) -> pl.DataFrame:
    """Read ``metrics.parquet``.

    Raises:
        BdpbenchError: when it is missing or is no parquet file.
    """
    import polars as pl

    try:
        return pl.read_parquet(path)
    except FileNotFoundError:
        raise BdpbenchError("no such file: expected a table of metrics", where=str(path)) from None
    except pl.exceptions.PolarsError as error:
        raise BdpbenchError(f"is not a table of metrics ({error})", where=str(path)) from None
