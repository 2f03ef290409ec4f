"""The stages after the simulation: parse, measure, score, report. Each reads and writes files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bdpbench.contracts.files import read_json, write_json_atomically
from bdpbench.contracts.runs import read_run, read_spec
from bdpbench.errors import BdpbenchError

if TYPE_CHECKING:
    import polars as pl

METRICS_NAME = "metrics.parquet"
SCORECARD_NAME = "scorecard.json"
SCORECARD_VERSION = 1


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


def finished_runs(plan: dict[str, Any], runs_dir: Path) -> list[dict[str, Any]]:
    """The runs of a plan that have been simulated and parsed."""
    return [
        run
        for run in plan["runs"]
        if (runs_dir / run["run_id"] / "tables" / "manifest.json").is_file()
    ]


def measure_plan(plan: dict[str, Any], runs_dir: Path) -> pl.DataFrame:
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


def score_plan(plan: dict[str, Any], metrics: pl.DataFrame) -> dict[str, Any]:
    """Scorecard of a plan: the metrics beside the published numbers and claims of its study."""
    from bdpbench.metrics import DEFINITIONS
    from bdpbench.score import load_claims, load_published, score

    folder = Path(plan["folder"])
    known = set(DEFINITIONS)
    return score(
        plan,
        metrics,
        load_published(folder / "published.csv", known),
        load_claims(folder / "claims.yaml", known),
    )


def read_scorecard(path: Path) -> dict[str, Any]:
    """Read ``scorecard.json``.

    Raises:
        BdpbenchError: when it is missing, broken or of another version.
    """
    return read_json(path, what="a scorecard", schema_version=SCORECARD_VERSION)


def report_plan(
    plan: dict[str, Any],
    metrics: pl.DataFrame,
    scorecard: dict[str, Any],
    runs_dir: Path,
    out: Path,
    *,
    with_files: bool = True,
) -> None:
    """Write the HTML report of a plan; ``with_files`` links the output files of its runs."""
    from bdpbench.pages import build_report

    inputs = report_inputs(plan, metrics, scorecard, runs_dir)
    build_report(**inputs, out=out, with_files=with_files)


def report_inputs(
    plan: dict[str, Any], metrics: pl.DataFrame, scorecard: dict[str, Any], runs_dir: Path
) -> dict[str, Any]:
    """What the report and the exports show of a plan: the arguments that both take."""
    from bdpbench.metrics import definitions_as_dicts
    from bdpbench.metrics.repetitions import over_repetitions
    from bdpbench.pages import load_regions
    from bdpbench.studies.load import load_study
    from bdpbench.trace import load_table

    finished = {run["run_id"] for run in finished_runs(plan, runs_dir)}
    tables = {run["run_id"]: {output["table"] for output in run["outputs"]} for run in plan["runs"]}

    def load(run_id: str, table: str) -> pl.LazyFrame | None:
        if run_id not in finished or table not in tables[run_id]:
            return None
        return load_table(runs_dir / run_id, table)

    infos = {run_id: read_run(runs_dir / run_id) for run_id in sorted(finished)}
    study = load_study(plan["folder"])
    folder = Path(plan["folder"])
    notes = folder / "NOTES.md"
    return {
        "plan": plan,
        "metrics": metrics,
        "scorecard": scorecard,
        "definitions": definitions_as_dicts(),
        "load_table": load,
        "run_info": {run_id: info for run_id, info in infos.items() if info is not None},
        "study": {
            **study.model_dump(include={"key", "title", "description", "citation", "protocols"}),
            "regions": load_regions(folder / "regions.yaml", study),
            "repetitions": over_repetitions(metrics, plan["runs"]),
            "notes": notes.read_text(encoding="utf-8") if notes.is_file() else "",
        },
    }


def downstream(plan: dict[str, Any], folder: Path, runs_dir: Path) -> dict[str, Any]:
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
