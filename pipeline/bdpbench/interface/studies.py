"""Studies, their tiers, and published results; each tier has runs, metrics, verdicts and charts.

Results are polars frames, whose columns are the interface.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from bdpbench.app.costs import tier_costs
from bdpbench.app.keep.compare import compare, read_sides
from bdpbench.app.keep.publish import collect_published
from bdpbench.app.keep.results import KeptResults
from bdpbench.app.keep.tier import Results, collect
from bdpbench.app.planning import Paths, Wanted, is_finished, prepare
from bdpbench.app.run import RunRequest, run_study
from bdpbench.contracts.paths import expanded, published_folder, results_dir, run_folder
from bdpbench.contracts.plan import Output, PlannedRun, Scalar
from bdpbench.contracts.reports import REPORT_NAME
from bdpbench.contracts.scorecard import rows_of
from bdpbench.contracts.yaml_files import suggest
from bdpbench.errors import BdpbenchError
from bdpbench.later import Schema
from bdpbench.pages.exports import Charts
from bdpbench.pages.series import points_of
from bdpbench.studies.config import load_config
from bdpbench.studies.load import load_study, studies_dir, study_keys
from bdpbench.studies.plan import Selection, tiers_of
from bdpbench.studies.runs import expand_tier
from bdpbench.trace import load_table, write_tables

if TYPE_CHECKING:
    import altair as alt

# ------------------------------------------------------------------------------------------ frames


RUNS_SCHEMA = Schema(
    {
        "run_id scenario label": "String",
        "protocols": lambda: pl.List(pl.String),
        "finished": "Boolean",
        "estimated_cpu_s": "Float64",
    }
)
"""One row for each run of a scenario; a column for each parameter follows."""

NUMBERS_SCHEMA = Schema(
    {
        "id where page scenario metric subject unit": "String",
        "published lower upper measured deviation deviation_pct": "Float64",
        "verdict": "String",
        "margin": "Float64",
        "kind found": "String",
        "chosen_on": lambda: pl.List(pl.String),
        "known_miss reason definition": "String",
        "run_ids": lambda: pl.List(pl.String),
    }
)
"""One row per published number; the names are those of ``scorecard.json``."""

STATEMENTS_SCHEMA = Schema(
    {
        "id where page statement verdict": "String",
        "margin": "Float64",
        "kind found": "String",
        "chosen_on": lambda: pl.List(pl.String),
        "known_miss explanation": "String",
        "protocols run_ids": lambda: pl.List(pl.String),
    }
)
"""One row per statement; the names are those of ``scorecard.json``."""


def _parameter(name: str, values: Sequence[Scalar | None]) -> pl.Series:
    """A column: null where a run lacks the parameter, of numbers if all of its values are some.

    One with the name of a column of ``RUNS_SCHEMA`` gets a longer name.
    """
    column = f"parameter_{name}" if name in RUNS_SCHEMA else name
    if any(isinstance(value, str) for value in values):
        words = [None if value is None else str(value) for value in values]
        return pl.Series(column, words, dtype=pl.String)
    whole = all(value is None or isinstance(value, int) for value in values)
    return pl.Series(column, values, dtype=pl.Int64 if whole else pl.Float64, strict=False)


def _frame(rows: Iterable[Mapping[str, object]], schema: Schema) -> pl.DataFrame:
    return pl.DataFrame(
        [tuple(row[name] for name in schema) for row in rows], schema=schema, orient="row"
    )


# ----------------------------------------------------------------------------------------- studies


@dataclass(frozen=True)
class Study:
    """A study that can be simulated; made by ``study``.

    Attributes:
        key, title, description: as in ``study.yaml``.
        folder: folder of the study.
        tiers: tiers in which it has runs.
        scenarios: key → title.
        protocols: key → label.
        results: folder of runs and reports.
    """

    key: str
    title: str
    description: str
    folder: Path
    tiers: tuple[str, ...]
    scenarios: dict[str, str]
    protocols: dict[str, str]
    results: Path

    def tier(self, name: str | None = None) -> Tier:
        """A tier of the study; None selects that of ``config.yaml``.

        Raises:
            BdpbenchError: when the study has no runs in it.
        """
        chosen = name or load_config().tier
        if chosen not in self.tiers:
            raise BdpbenchError(
                f"study {self.key} has no runs in tier {chosen!r}",
                hint="its tiers: " + ", ".join(self.tiers),
            )
        return Tier(self.folder, chosen, self.results)


def study(name_or_path: str | Path, *, results: str | Path | None = None) -> Study:
    """A study by its key, or by its folder.

    Args:
        name_or_path: key of a configured study, or any folder with a ``study.yaml``.
        results: folder of runs and reports; None selects that of the configuration, as `bdpbench
            run` does.

    Raises:
        BdpbenchError: for an unknown study, or naming file, line and key of what is wrong.
    """
    found = load_study(name_or_path)
    chosen = results_dir(load_config().results) if results is None else expanded(Path(results))
    return Study(
        key=found.key,
        title=found.title,
        description=found.description,
        folder=found.folder,
        tiers=tuple(tiers_of(found)),
        scenarios={key: each.title for key, each in found.scenarios.items()},
        protocols={key: each.label for key, each in found.protocols.items()},
        results=chosen.resolve(),
    )


def list_studies() -> pl.DataFrame:
    """The configured studies.

    Returns:
        One row for each tier: study (str, key), title (str), tier (str), runs (i64, number of
            runs; at most so many in a tier of more than 100 that is not published, as scenarios may
            share some),
        estimated_cpu_s (f64, expected CPU time of all of them, s).

    Raises:
        BdpbenchError: naming file, line and key of what is wrong with a study.
    """
    rows = []
    for key in study_keys():
        found = load_study(studies_dir() / key)
        costs = tier_costs(found)
        rows += [
            (key, found.title, tier, costs[tier].runs, costs[tier].cpu_s)
            for tier in tiers_of(found)
        ]
    schema = {"study title tier": "String", "runs": "Int64", "estimated_cpu_s": "Float64"}
    return pl.DataFrame(rows, schema=Schema(schema), orient="row")


def published(name: str, *, folder: str | Path | None = None) -> Tier:
    """The published results of a study; verdicts and charts are computed anew from them.

    Args:
        name: key of a configured study.
        folder: folder written by `bdpbench publish`; None selects that of the checkout.

    Returns:
        The tier that was published. Its runs have no tables.

    Raises:
        BdpbenchError: when the study has no published results, or they no longer match the study.
    """
    found = study(name)
    place = expanded(Path(folder)).resolve() if folder else published_folder(found.key)
    if folder is None and not place.is_dir():
        hint = "folder= names one that `bdpbench publish` has written; a clone has some"
        raise BdpbenchError(
            f"nothing of {found.key} is published here", where=str(place), hint=hint
        )
    kept = collect_published(str(found.folder), KeptResults(place))
    tier = Tier(found.folder, kept.plan["tier"], kept.data.runs_dir.parent)
    tier._published, tier.report = kept, place / REPORT_NAME
    return tier


class Tier:
    """A tier of a study. Made by ``Study.tier`` and ``published``.

    Results are read when they are first needed and then stay the same until ``simulate`` adds to
    them; a new ``Tier`` also sees later results.

    Attributes:
        study: key of the study.
        name: "quick", "paper" or "full".
        folder: folder of the study.
        results: folder of runs and reports.
        report: the HTML report, which `bdpbench run` and ``simulate`` write.

    Raises:
        BdpbenchError: by all that shows results, when no run of the tier is finished.
    """

    def __init__(self, folder: Path, name: str, results: Path) -> None:
        self.study, self.name, self.folder, self.results = folder.name, name, folder, results
        self._paths = Paths(results, self.study, name)
        self._published: Results | None = None
        self.report = self._paths.report

    def __repr__(self) -> str:
        place = self.results if self._published is None else self.report.parent
        return f"<tier {self.name} of {self.study}, results in {place}>"

    def runs(self) -> pl.DataFrame:
        """The runs of the tier, simulated or not, in the order of the study.

        Returns:
            run_id (str), scenario (str), label (str, unique within a scenario), protocols
            (list of str), finished (bool), estimated_cpu_s (f64, CPU time of ns-2, s), and a
            column for each parameter, in the unit of its name (i64, f64 or str; null if a run does
                not have it). A run that two scenarios share has two rows.

        Raises:
            BdpbenchError: naming file, line and key of what is wrong with the study.
        """
        finished = self._finished()
        rows = ({**run, "finished": run["run_id"] in finished} for run in self._planned)
        names = dict.fromkeys(name for run in self._planned for name in run["parameters"])
        return _frame(rows, RUNS_SCHEMA).with_columns(
            _parameter(name, [run["parameters"].get(name) for run in self._planned])
            for name in names
        )

    def tables(self, run_id: str) -> list[str]:
        """Names of the tables that a run has, such as cwnd, queue and throughput.

        Raises:
            BdpbenchError: when the tier has no such run.
        """
        return sorted({each["table"] for each in self._outputs(run_id)})

    def table(self, run_id: str, name: str) -> pl.DataFrame:
        """A table of a finished run; if it is missing, it is made from the output files of ns-2.

        Returns:
            The columns of the table, such as flow (i64), time_s (f64, s) and cwnd_pkts (f64,
            packets) of cwnd. Rows are sorted by flow or link, then by time.

        Raises:
            BdpbenchError: when the tier has no such run, the run no such table, or no results.
        """
        outputs = [each for each in self._outputs(run_id) if each["table"] == name]
        if not outputs:
            hint = suggest(name, self.tables(run_id))
            raise BdpbenchError(f"run {run_id} has no table {name!r}", hint=hint)
        if self._published is not None:
            hint = f"simulate the run: bdpbench.study({self.study!r}).tier({self.name!r})"
            raise BdpbenchError("tables of runs are not published", hint=hint)
        if run_id not in self._finished():
            raise BdpbenchError(f"run {run_id} has no results", hint="simulate() makes them")
        run_dir = run_folder(self._paths.runs, run_id)
        write_tables(run_dir, outputs)
        return load_table(run_dir, name, outputs).collect()

    def metrics(self) -> pl.DataFrame:
        """Every metric of the finished runs, as in ``metrics.parquet``.

        Returns:
            run_id (str), scenario (str), metric (str), subject (str: run, flow:0, link:bottleneck,
            ...), value (f64 in ``unit``; null if never reached), unit (str), start_s and
            end_s (f64, s, the window), definition (str, metric and version).
        """
        return self._measured.metrics

    def values(
        self, metric: str, by: Sequence[str] = (), *, scenario: str | None = None
    ) -> pl.DataFrame:
        """A metric over parameters: means of the runs that agree in them, and their extremes.

        Args:
            metric: one of those in ``metrics``.
            by: columns of ``runs``, such as protocol and rtt_ms.
            scenario: only runs of this one. Runs of different scenarios are never averaged.

        Returns:
            scenario (str), the columns of ``by``, subject (str), unit (str), mean, least and
            greatest (f64 in ``unit``; null if never reached), and runs (u32, number of runs that
            have a value).

        Raises:
            BdpbenchError: when no finished run has the metric, or runs have no such column.
        """
        metrics, runs = self.metrics(), self.runs()
        names = metrics["metric"].unique().to_list()
        for name, known in (*((name, runs.columns) for name in by), (metric, names)):
            if name not in known:
                hint = suggest(name, known)
                raise BdpbenchError(f"runs of tier {self.name} have no {name!r}", hint=hint)
        found = metrics.filter(metric=metric, **({"scenario": scenario} if scenario else {}))
        keys = list(dict.fromkeys(["scenario", *by]))
        parameters = runs.select(list(dict.fromkeys(["run_id", *keys])))
        value = pl.col("value")
        return (
            found.join(parameters, on=["run_id", "scenario"])
            .group_by([*keys, "subject", "unit"], maintain_order=True)
            .agg(mean=value.mean(), least=value.min(), greatest=value.max(), runs=value.count())
        )

    def compare(self, other: Tier) -> pl.DataFrame:
        """Values that differ from those of another tier of the study, which are the second ones.

        Both need their files: `bdpbench run`, ``simulate`` and `bdpbench publish` write them.

        Returns:
            As `bdpbench compare` prints them, the largest changes beyond their bounds first: run,
            metric (str), first, second, change (f64 in ``unit``) and beyond (bool), among others.

        Raises:
            BdpbenchError: when one has no files, or they are of different studies.
        """
        first, second = read_sides(self.report.parent, other.report.parent)
        return pl.DataFrame(compare(first, second)["moved"], infer_schema_length=None)

    def numbers(self, *, each_run: bool = False) -> pl.DataFrame:
        """The numbers that the study prints, beside the measured ones, with their verdicts.

        Args:
            each_run: one row for each run if several runs have to show a number; otherwise such a
                number has one row, with the value that deviates most.

        Returns:
            ``interface.studies.NUMBERS_SCHEMA``: among others published, lower, upper, measured,
            deviation (f64 in ``unit``) and verdict: reproduced, close, not_reproduced, undecided
            or not_run.
        """
        numbers = self._measured.scorecard["numbers"]
        rows = [row for each in numbers for row in rows_of(each)] if each_run else numbers
        return _frame(rows, NUMBERS_SCHEMA)

    def statements(self) -> pl.DataFrame:
        """The statements of the study, with their verdicts.

        Returns:
            ``interface.studies.STATEMENTS_SCHEMA``: among others statement, explanation (str) and
            verdict: holds, fails, undecided or not_run.
        """
        rows = []
        for claim in self._measured.scorecard["claims"]:
            run_ids = dict.fromkeys(each["run_id"] for each in claim["evidence"] if each["run_id"])
            rows.append({**claim, "page": str(claim["page"]), "run_ids": list(run_ids)})
        return _frame(rows, STATEMENTS_SCHEMA)

    def charts(self) -> pl.DataFrame:
        """The charts of the report.

        Returns:
            name (str, for ``chart``), title (str), scenario (str; "" if it shows several), shows
            (list of str: metrics, or of a chart over time its table, such as cwnd).
        """
        rows = [
            (
                each.name,
                each.title,
                each.scenario,
                each.chart.metrics or [each.chart.content["kind"]],
            )
            for each in self._charts.figures
        ]
        schema = Schema({"name title scenario": "String", "shows": lambda: pl.List(pl.String)})
        return pl.DataFrame(rows, schema=schema, orient="row")

    def curve(self, run_id: str, table: str) -> pl.DataFrame:
        """What a run's chart over time draws, thinned out as there; published runs have it, too.

        Returns:
            subject (str), time_s (f64, s) and value (f64, in the unit of the table).

        Raises:
            BdpbenchError: when no chart shows the run, or not that.
        """
        series = self._charts.sections.data.series
        curves = series.get(run_id, {})
        if table not in curves:
            hint = suggest(table, curves) or "runs() has the ids of all runs"
            raise BdpbenchError(f"run {run_id} has no curve of {table!r}", hint=hint)
        rows = [
            (subject, *point)
            for subject in curves[table]
            for point in zip(*points_of(curves, table, subject), strict=True)
        ]
        schema = Schema({"subject": "String", "time_s value": "Float64"})
        return pl.DataFrame(rows, schema=schema, orient="row")

    def chart(self, name: str) -> alt.LayerChart:
        """A chart of the report with its data, which notebooks display.

        Raises:
            BdpbenchError: when there is no chart of that name.
        """
        return self._charts.chart(name)

    def simulate(
        self,
        *,
        scenarios: Sequence[str] = (),
        protocols: Sequence[str] = (),
        jobs: int | None = None,
        quiet: bool = True,
    ) -> None:
        """Simulate the missing runs and write the report, as `bdpbench run` does.

        Args:
            scenarios: only runs of these scenarios; empty for all.
            protocols: only runs with one of these protocols; empty for all.
            jobs: simulations at once; None selects that of the configuration.
            quiet: print nothing; otherwise progress goes to standard output and standard error.

        Raises:
            BdpbenchError: when the input is wrong, or naming the runs that failed and why.
        """
        if self._published is not None:
            hint = f"bdpbench.study({self.study!r}).tier({self.name!r}) can be simulated"
            raise BdpbenchError("published results are only read", hint=hint)
        if threading.current_thread() is not threading.main_thread():
            hint = "only the main thread receives the signals that end a call and its processes"
            raise BdpbenchError("simulate() has to be called from the main thread", hint=hint)
        selection = Selection(tuple(scenarios), tuple(protocols))
        run_study(
            RunRequest(
                study=str(self.folder),
                tier=self.name,
                selection=selection,
                jobs=jobs,
                quiet=quiet,
                results=self.results,
            )
        )
        for each in ("_planned", "_measured", "_charts"):
            self.__dict__.pop(each, None)

    @cached_property
    def _planned(self) -> list[PlannedRun]:
        if self._published is not None:
            return self._published.plan["runs"]
        return expand_tier(load_study(self.folder), self.name)

    def _finished(self) -> set[str]:
        """Ids of the runs that have results."""
        if self._published is not None:
            return set(self._published.finished)
        return {run["run_id"] for run in self._planned if is_finished(self._paths, run)}

    def _outputs(self, run_id: str) -> list[Output]:
        """The outputs of a run in any scenario.

        Raises:
            BdpbenchError: when the tier has no such run.
        """
        outputs = [run["outputs"] for run in self._planned if run["run_id"] == run_id]
        if not outputs:
            hint = "runs() has the ids of all runs"
            raise BdpbenchError(f"tier {self.name} has no run {run_id!r}", hint=hint)
        return list({each["file"]: each for of_run in outputs for each in of_run}.values())

    @cached_property
    def _measured(self) -> Results:
        if self._published is not None:
            return self._published
        wanted = Wanted(str(self.folder), self.name, results=self.results)
        return collect(prepare(wanted), allow_partial=True)

    @cached_property
    def _charts(self) -> Charts:
        return Charts(self._measured.inputs())
