"""The data of the runs of a plan: their tables, and the values and series stored with them.

Values and series are made from tables, and stored so that they are not made again for each report.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench.contracts.documents import keep, read_kept
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import Output, Plan, PlannedRun, study_folder
from bdpbench.contracts.runs import MANIFEST_NAME, TABLES_FOLDER, TableManifest, read_manifest

if TYPE_CHECKING:
    import polars as pl

    from bdpbench.metrics import Definition

VALUES_FOLDER = "values"
"""Folder of a run with its measured values, one file per place in a study."""

SERIES_FOLDER = "series"
"""Folder of a run with its chart data, one file per number of bins."""

# Rows of VALUES_SCHEMA: each names the digest of what it depends on.
_VALUES_KEY = "values/1"


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

    Args:
        plan: content of ``plan.json``.
        runs_dir: folder of all runs.
    """

    def __init__(self, plan: Plan, runs_dir: Path) -> None:
        self.definitions = definitions_of(plan)
        self._plan, self._runs_dir = plan, runs_dir

    @functools.cached_property
    def _unread(self) -> frozenset[str]:
        return unread_tables(self.definitions)

    def outputs(self, outputs: Sequence[Output]) -> list[Output]:
        """Those outputs of a run that become tables."""
        return [each for each in outputs if each["table"] not in self._unread]

    def of(self, run: PlannedRun) -> RunData:
        """The data of a run in its place in the plan."""
        run_dir = run_folder(self._runs_dir, run["run_id"])
        return RunData(self._plan["study"], run, run_dir, self.outputs(run["outputs"]))

    def finished(self) -> list[PlannedRun]:
        """The runs of the plan that have been simulated and parsed."""
        from bdpbench.trace import holds_outputs

        return [
            run
            for run in self._plan["runs"]
            if holds_outputs(
                run_folder(self._runs_dir, run["run_id"]), self.outputs(run["outputs"])
            )
        ]


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

    def measured(self, definitions: Mapping[str, Definition]) -> pl.DataFrame:
        """Values of the run's metrics; those that are not stored are measured and stored."""
        from bdpbench.metrics import measure_values

        path = values_path(self._run_dir, self._study, self._run["scenario"])
        stored = _read_values(path)
        values = measure_values(
            self._run["parameters"],
            self,
            self._checksums(),
            definitions,
            kept=stored,
            where=f"run {self._run['run_id']}",
        )
        if values is not stored and (stored is None or not values.equals(stored)):
            keep(path, _VALUES_KEY, json.dumps(values.rows()))
        return values

    def _checksums(self) -> dict[str, str]:
        """Table → a text that changes with its rows: the file's checksum, and the flows read."""
        facts = self._manifest["tables"]
        return {
            name: facts[name]["sha256"] + json.dumps(sorted(self._subjects(name), key=str))
            for name in self._names
        }

    def _subjects(self, name: str) -> list[int | str | None]:
        return [
            each.get("flow", each.get("link")) for each in self._outputs if each["table"] == name
        ]

    def series(self, bins: int) -> str:
        """JSON of the run's chart data, each series with at most ``bins`` intervals of time.

        The stored text is used as long as the tables, the plan of the run and the code that makes
        points from tables are unchanged.
        """
        path = self._run_dir / SERIES_FOLDER / f"{bins}.txt"
        stamp = self._series_stamp()
        stored = read_kept(path, stamp)
        if stored is not None:
            return stored
        from bdpbench.pages.series import series_text

        text = series_text(self._run["run_id"], lambda _, table: self.charted(table), bins)
        with contextlib.suppress(OSError):  # if results cannot be written, this only costs time
            keep(path, stamp, text)
        return text

    def _series_stamp(self) -> str:
        digest = hashlib.sha256(_series_code().encode())
        digest.update((self._run_dir / TABLES_FOLDER / MANIFEST_NAME).read_bytes())
        inputs = [self._outputs, self._run["parameters"]]
        digest.update(json.dumps(inputs, sort_keys=True).encode())
        return digest.hexdigest()


def _read_values(path: Path) -> pl.DataFrame | None:
    """Stored values; None if there are none, or they are not what was stored."""
    import polars as pl

    from bdpbench.metrics import VALUES_SCHEMA

    stored = read_kept(path, _VALUES_KEY)
    if stored is None:
        return None
    return pl.DataFrame(json.loads(stored), schema=VALUES_SCHEMA, orient="row")


@functools.cache
def _series_code() -> str:
    """A digest of what determines the points: the modules that derive, reduce and pack tables."""
    from bdpbench import metrics
    from bdpbench.pages import series

    derive = sorted(Path(str(metrics.__file__)).parent.glob("*.py"))
    pack = Path(str(series.__file__))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in (*derive, pack)))
    return digest.hexdigest()
