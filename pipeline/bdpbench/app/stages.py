"""The stages after the simulation: read, measure, judge and page.

Each takes the plan and what the stage before it has made, and makes one thing: the tables of runs,
the table of metrics, the scorecard, and the report. Values and series of a run are stored with its
tables, so that they are not made again for each report.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from bdpbench.contracts.files import read_text
from bdpbench.contracts.kept import keep, read_kept
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import Output, Plan, PlannedRun, Scalar, study_folder
from bdpbench.contracts.reports import REPORT_NAME
from bdpbench.contracts.runs import (
    MANIFEST_NAME,
    TABLES_FOLDER,
    RunRecord,
    TableManifest,
    read_manifest,
    read_runs,
)
from bdpbench.contracts.scorecard import Scorecard
from bdpbench.errors import BdpbenchError

if TYPE_CHECKING:
    import polars as pl

    from bdpbench.metrics import Definition, Value
    from bdpbench.pages.inputs import StudyTexts
    from bdpbench.pages.texts import Elsewhere
    from bdpbench.score.spreads import Groups
    from bdpbench.studies.parts import Protocol
    from bdpbench.studies.study import Study

# -------------------------------------------------------------------------------- the data of runs


VALUES_FOLDER = "values"
"""Folder of a run with its measured values, one file per place in a study."""

SERIES_FOLDER = "series"
"""Folder of a run with its chart data, one file per number of bins."""


def values_path(run_dir: Path, study: str, scenario: str) -> Path:
    """Path of a run's values; studies may give it different parameters, labels and metrics."""
    return run_dir / VALUES_FOLDER / f"{study}.{scenario}.txt"


def definitions_of(plan: Plan) -> Mapping[str, Definition]:
    """Metric → its definition: the common ones, and those of the plan's study."""
    from bdpbench.metrics import definitions_for

    return definitions_for(study_folder(plan))


def unread_tables(definitions: Mapping[str, Definition]) -> frozenset[str]:
    """Tables of large traces, which are not parsed because no metric needs them."""
    from bdpbench.metrics import Metric
    from bdpbench.trace import OUTPUT_FORMATS

    metrics = [each for each in definitions.values() if isinstance(each, Metric)]
    wanted = {table for each in metrics for table in each.tables}
    return frozenset(name for name, each in OUTPUT_FORMATS.items() if each.streamed) - wanted


class PlanData:
    """The data of the runs of a plan.

    Attributes:
        definitions: metric → its definition.
        code: digest of the code that determines values.
        runs_dir: folder of all runs.

    Args:
        plan: content of ``plan.json``.
    """

    def __init__(self, plan: Plan, runs_dir: Path) -> None:
        from bdpbench.metrics import code_of

        self.definitions, self.code = definitions_of(plan), code_of(study_folder(plan))
        self._plan, self.runs_dir = plan, runs_dir

    @functools.cached_property
    def _unread(self) -> frozenset[str]:
        return unread_tables(self.definitions)

    def outputs(self, outputs: Sequence[Output]) -> list[Output]:
        """Those outputs of a run that become tables."""
        return [each for each in outputs if each["table"] not in self._unread]

    def of(self, run: PlannedRun) -> RunData:
        """The data of a run in its place in the plan."""
        run_dir = run_folder(self.runs_dir, run["run_id"])
        return RunData(self._plan["study"], run, run_dir, self.outputs(run["outputs"]))

    @functools.cached_property
    def records(self) -> Mapping[str, RunRecord]:
        """Run id → record of the finished runs of the plan."""
        run_ids = sorted({run["run_id"] for run in self._plan["runs"]})
        return read_runs(run_folder(self.runs_dir, each) for each in run_ids)

    def finished(self) -> list[PlannedRun]:
        """The runs of the plan that have been simulated and parsed."""
        from bdpbench.trace import holds_outputs

        return [
            run
            for run in self._plan["runs"]
            if run["run_id"] in self.records
            and holds_outputs(
                run_folder(self.runs_dir, run["run_id"]), self.outputs(run["outputs"])
            )
        ]

    def metrics(self) -> pl.DataFrame:
        """Metrics of the finished runs, without those of several runs together."""
        import polars as pl

        from bdpbench.metrics import as_metrics, metric_rows

        # Making a frame takes a millisecond, and a row of it takes much less memory than its parts.
        frames, rows = [], []
        for run in self.finished():
            values = self.of(run).measured(self.definitions, self.code)
            rows += metric_rows(
                values, self.definitions, run_id=run["run_id"], scenario=run["scenario"]
            )
            if len(rows) >= _ROWS_OF_A_FRAME:
                frames.append(as_metrics(rows))
                rows = []
        return pl.concat([*frames, as_metrics(rows)])


class RunData(Mapping[str, "pl.LazyFrame"]):
    """The tables of a run in a plan, each read once, when it is needed.

    Args:
        study: key of the study.
        run: the run in one of its places.
        run_dir: folder of the run.
        outputs: outputs of the run that the plan reads.
    """

    def __init__(
        self, study: str, run: PlannedRun, run_dir: Path, outputs: Sequence[Output]
    ) -> None:
        self._study, self._run, self._run_dir, self._outputs = study, run, run_dir, outputs
        self._names = sorted({each["table"] for each in outputs})
        self._frames: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.LazyFrame:
        return self._frame(name).lazy()

    def __contains__(self, name: object) -> bool:
        return name in self._names  # without opening the file

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @functools.cached_property
    def _manifest(self) -> TableManifest:
        return read_manifest(self._run_dir)

    def _frame(self, name: str) -> pl.DataFrame:
        from bdpbench.trace import load_table

        if name not in self._names:
            raise KeyError(name)
        if name not in self._frames:
            table = load_table(self._run_dir, name, self._outputs, self._manifest)
            self._frames[name] = table.collect()
        return self._frames[name]

    def charted(self, name: str) -> pl.LazyFrame | None:
        """A table, or one that is derived from others; None if the run does not have it."""
        from bdpbench.metrics.derived import DERIVED

        if name not in DERIVED:
            return self.get(name)
        derived = DERIVED[name]
        if not all(each in self for each in derived.sources):
            return None
        tables = {each: self._frame(each) for each in derived.sources}
        return derived.make(self._run["parameters"], tables).lazy()

    def measured(self, definitions: Mapping[str, Definition], code: str) -> Sequence[Value]:
        """Values of the run's metrics.

        Stored ones are used as long as the tables, the plan of the run and the code that measures
        are unchanged; others are measured and stored.

        Args:
            definitions: metrics to measure.
            code: digest of their code.
        """
        from bdpbench.metrics import Value, measure_values

        path = values_path(self._run_dir, self._study, self._run["scenario"])
        stamp = self._stamp(code)
        stored = read_kept(path, stamp)
        if stored is not None:
            return [Value(*each) for each in json.loads(stored)]
        where = f"run {self._run['run_id']}"
        values = measure_values(self._run["parameters"], self, definitions, where=where)
        keep(path, stamp, json.dumps(values))
        return values

    def series(self, bins: int) -> str:
        """JSON of the run's chart data, each series with at most ``bins`` intervals of time.

        The stored text is used as long as the tables, the plan of the run and the code that makes
        points from tables are unchanged.
        """
        path = self._run_dir / SERIES_FOLDER / f"{bins}.txt"
        stamp = self._stamp(_series_code())
        stored = read_kept(path, stamp)
        if stored is not None:
            return stored
        from bdpbench.pages.series import series_text

        text = series_text(self._run["run_id"], lambda _, table: self.charted(table), bins)
        with contextlib.suppress(OSError):  # if results cannot be written, this only costs time
            keep(path, stamp, text)
        return text

    def _stamp(self, code: str) -> str:
        """A digest of everything that values and series of the run depend on."""
        digest = hashlib.sha256(code.encode())
        digest.update((self._run_dir / TABLES_FOLDER / MANIFEST_NAME).read_bytes())
        inputs = [self._outputs, self._run["parameters"]]
        digest.update(json.dumps(inputs, sort_keys=True).encode())
        return digest.hexdigest()


@functools.cache
def _series_code() -> str:
    """A digest of what determines the points: the modules that derive, reduce and pack tables."""
    from bdpbench import metrics
    from bdpbench.pages import series

    derive = sorted(Path(str(metrics.__file__)).parent.glob("*.py"))
    pack = Path(str(series.__file__))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in (*derive, pack)))
    return digest.hexdigest()


_ROWS_OF_A_FRAME = 20_000


# ------------------------------------------------------------------------------------ read


def parse_runs(run_dirs: Iterable[Path], plan: Plan) -> dict[str, TableManifest]:
    """Turn the output files of finished runs into tables; current tables are kept.

    A packet trace on disk becomes a table only if a metric of the plan's study needs it.

    Args:
        run_dirs: folders of runs.
        plan: plan with the outputs of its runs.

    Returns:
        Run id → manifest of its tables.

    Raises:
        BdpbenchError: as ``write_tables``, about all runs that have no tables.
    """
    from bdpbench.trace import write_tables

    unread = unread_tables(definitions_of(plan))
    places: dict[str, list[Sequence[Output]]] = {}
    for run in plan["runs"]:
        places.setdefault(run["run_id"], []).append(run["outputs"])
    manifests, errors = dict[str, TableManifest](), list[BdpbenchError]()
    for run_dir in run_dirs:
        try:
            for outputs in places[run_dir.name]:
                read = [each for each in outputs if each["table"] not in unread]
                manifests[run_dir.name] = write_tables(run_dir, read)
        except BdpbenchError as error:
            errors.append(error)
    if len(errors) > 1:
        raise BdpbenchError("\n".join(map(str, errors)))
    if errors:
        raise errors[0]
    return manifests


# --------------------------------------------------------------------------------- measure


def measure_runs(
    plan: Plan, runs_dir: Path, run_ids: Collection[str], *, bins: int | None = None
) -> None:
    """Measure parsed runs for all their places in a plan, and store the values with the runs.

    With ``bins``, the number of intervals of a report's series, chart data of runs that it shows
    over time is stored as well while their tables are loaded.
    """
    from bdpbench.pages.inputs import shown_over_time

    data, shown = PlanData(plan, runs_dir), shown_over_time(plan)
    for run in plan["runs"]:
        if run["run_id"] in run_ids:
            of_run = data.of(run)
            of_run.measured(data.definitions, data.code)
            if bins is not None and run["run_id"] in shown:
                of_run.series(bins)


def with_groups(plan: Plan, metrics: pl.DataFrame) -> pl.DataFrame:
    """Metrics of single runs of a plan, and those of several runs together."""
    import polars as pl

    return pl.concat([metrics, group_metrics(plan)(metrics, plan["runs"])])


def group_metrics(plan: Plan) -> Groups:
    """What computes the metrics of several runs of a plan from those of single runs."""
    from bdpbench.metrics import measure_groups

    sweeps, definitions = _sweeps(study_folder(plan)), definitions_of(plan)
    return lambda metrics, runs: measure_groups(metrics, runs, sweeps, definitions)


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


# ----------------------------------------------------------------------------------- judge


def score_plan(plan: Plan, metrics: pl.DataFrame, ahead: int = 0) -> Scorecard:
    """Scorecard of a plan: the metrics compared with the numbers and claims of its study.

    ``ahead``: by how many looks, as if the repetitions so far came again until then.
    """
    from bdpbench.score import load_expectations, score

    expected = load_expectations(study_folder(plan), definitions_of(plan))
    return score(plan, metrics, expected, group_metrics(plan), ahead)


# ------------------------------------------------------------------------------------ page


def study_texts(study: Study) -> StudyTexts:
    """The texts of a study for its pages.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong in its files.
    """
    from bdpbench.metrics import definitions_for
    from bdpbench.pages.inputs import StudyTexts
    from bdpbench.pages.texts import MATRICES_NAME, load_matrices, load_page

    folder = study.folder
    metrics = set(definitions_for(folder))
    notes = folder / "NOTES.md"
    return StudyTexts(
        title=study.title,
        description=study.description,
        citation=study.citation,
        protocols=study.protocols,
        queues=study.queues,
        parameters=study.parameters,
        defaults=study.defaults,
        page=load_page(folder / "page.yaml", study),
        matrices=load_matrices(folder / MATRICES_NAME, study, metrics),
        notes=read_text(notes) if notes.is_file() else "",
    )


def elsewhere_of(protocols: Mapping[str, Protocol], study: str = "") -> dict[str, list[Elsewhere]]:
    """Protocol → what the reports of comparisons say about one of the same description.

    Args:
        protocols: key → protocol.
        study: key of the study of the report, which does not name itself.

    Raises:
        BdpbenchError: when one of the studies that compare is not there, or invalid.
    """
    from bdpbench.pages.texts import Elsewhere, data_of, read_protocols
    from bdpbench.studies.atlas import load_comparisons

    known, found = read_protocols(), dict[str, list[Elsewhere]]()
    for comparison, other in load_comparisons():
        if other.key == study:
            continue
        described = [(data_of(each, known), each.label) for each in other.protocols.values()]
        for key, protocol in protocols.items():
            data = data_of(protocol, known)
            label = next((label for each, label in described if data and each == data), None)
            if label is not None:
                at = f"{other.key}/{REPORT_NAME}?protocol={quote(label)}#{comparison.section}"
                shown = Elsewhere(comparison.says, other.title, other.key, label, at)
                found.setdefault(key, []).append(shown)
    return found
