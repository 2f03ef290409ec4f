"""A SYNTHETIC study for tests of the report: invented curves and numbers, no simulation.

Nothing here is a result. The curves are saw teeth of known shape, the numbers are round, and the
study is called ``synthetic``, so that nobody takes either for a measurement.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, cast

import polars as pl
from tests.data_of import yaml_of

from bdpbench.contracts.plan import Plan, PlannedRun, Scalar, ScenarioText
from bdpbench.contracts.plan import ProtocolText as PlannedProtocol
from bdpbench.contracts.runs import Definition, RunRecord
from bdpbench.contracts.scorecard import Scorecard
from bdpbench.metrics.derived import drops_per_sample, queue_shares
from bdpbench.pages.inputs import ReportInputs, StudyTexts
from bdpbench.pages.report import Sections, build_report
from bdpbench.pages.series import series_text
from bdpbench.pages.texts import Elsewhere, StudyPage
from bdpbench.studies.parts import Protocol
from bdpbench.studies.study import Citation

SPIKE_PACKETS = 9876.0
BESIDE = "two/report.html?protocol=HS-TCP#comparison"
PROTOCOLS: dict[str, PlannedProtocol] = {
    "HS": {"label": "HS-TCP", "colour": "#0b66c3"},
    "Scalable": {"label": "Scalable TCP", "colour": "#c2410c"},
}
INVENTED: dict[str, Any] = yaml_of(Path(__file__).with_suffix(".yaml").read_text())
DEFINITIONS: list[Definition] = INVENTED["definitions"]

Tables: TypeAlias = dict[str, pl.DataFrame]

_MADE: dict[tuple[int, int], tuple[Tables, str]] = {}
"""Bins and the address of a run's tables → the tables, which keep theirs, and its series."""


def run_id_of(name: str) -> str:
    """A run id that never changes: 16 hex digits derived from the run's name."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]


@dataclass
class Inputs:
    """The inputs of a report, which tests may change; runs that are alike share their tables."""

    plan: Plan
    metrics: pl.DataFrame
    scorecard: Scorecard
    tables: dict[str, Tables]
    run_info: dict[str, RunRecord]
    study: StudyTexts
    definitions: list[Definition] = field(default_factory=lambda: copy.deepcopy(DEFINITIONS))
    places: dict[str, str] | None = None

    def load_table(self, run_id: str, table: str) -> pl.LazyFrame | None:
        """A table of a run; None if it does not have it."""
        frame = self.tables.get(run_id, {}).get(table)
        return None if frame is None else frame.lazy()

    def load_series(self, run_id: str, bins: int) -> str:
        """The ``load_series`` of ``ReportInputs``, computed once for all runs with the same tables.

        ``KeptSeries`` does so for runs on disk: computing series is most of the cost of a report.
        """
        tables = self.tables.get(run_id, {})
        key = bins, id(tables)
        if key not in _MADE:
            _MADE[key] = tables, series_text(run_id, self.load_table, bins)
        return _MADE[key][1]

    def frozen(self) -> ReportInputs:
        """The inputs in the form that the report takes."""
        own = {key: each for key, each in vars(self).items() if key not in ("tables", "places")}
        places = {run_id: f"{run_id[:2]}/{run_id}" for run_id in self.run_info}
        own["load_series"] = self.load_series
        return ReportInputs(**own, places=places if self.places is None else self.places)

    def build(self, out: Path) -> str:
        """Write the report and return its text."""
        build_report(self.frozen(), out)
        return out.read_text(encoding="utf-8")

    def sections(self) -> Sections:
        """The contents of its report, drawn with 200 bins."""
        return Sections(self.frozen(), 200)


def synthetic_inputs() -> Inputs:
    """A study with one scenario of each kind that reports treat differently."""
    invented = copy.deepcopy(INVENTED)
    runs = [_run(scenario, label, **own) for scenario, label, own in invented["runs"]]
    finished = [run for run in runs if run["scenario"] != "pending"]
    plan: Any = {
        **invented["plan"],
        "protocols": copy.deepcopy(PROTOCOLS),
        "parameters": invented["parameters"],
        "scenarios": {
            key: _scenario(key, [run for run in runs if run["scenario"] == key])
            for key in dict.fromkeys(run["scenario"] for run in runs)
        },
        "runs": runs,
    }
    return Inputs(
        plan=plan,
        metrics=_metrics(finished),
        scorecard=_scorecard(runs),
        tables={run["run_id"]: _tables(run) for run in finished},
        run_info={run["run_id"]: _info(run) for run in finished},
        study=StudyTexts(
            title="A synthetic study of sawtooth curves",
            description="Invented for tests.",
            citation=Citation(**invented["citation"]),
            protocols={
                key: Protocol(**PROTOCOLS[key], agent="TCP/Sack1", settings=own)
                for key, own in invented["settings"].items()
            },
            page=StudyPage.model_validate(invented["page"]),
            notes="# Notes\n\nRead off by *nobody*.\n",
            elsewhere={"HS": [Elsewhere("What another says", "Two of it", "two", "HS", BESIDE)]},
        ),
    )


def swept_of(runs: Iterable[PlannedRun]) -> list[str]:
    """Parameters of runs that nothing else decides, as they come."""
    given = dict.fromkeys(name for run in runs for name in run["parameters"])
    return [name for name in given if name not in ("bdp_pkts", "duration_s")]


def _scenario(key: str, runs: Iterable[PlannedRun]) -> ScenarioText:
    return {
        "title": key.replace("_", " ").capitalize(),
        "section": "0.1",
        "figures": ["1", "2"],
        "description": f"Synthetic scenario {key}.",
        "summary": [],
        "script": f"synthetic/{key}.tcl",
        "longest_s": 30.0,
        "swept": swept_of(runs),
    }


def _run(scenario: str, label: str, **parameters: Scalar) -> PlannedRun:
    return {
        "run_id": run_id_of(f"{scenario} {label}"),
        "scenario": scenario,
        "label": label,
        "script": f"synthetic/{scenario}.tcl",
        "argv": ["30", "out"],
        "parameters": {**INVENTED["common"], **parameters},
        "outputs": [],
        "protocols": [],
        "estimated_cpu_s": 1.0,
    }


def _flows(run: PlannedRun) -> int:
    return 2 if "protocol_1" in run["parameters"] else 1


def _tables(run: PlannedRun) -> Tables:
    flows = _flows(run)
    return _made(flows, 700 + 120 * len(run["label"]), run["scenario"] == "unsampled")


@cache
def _made(flows: int, period: int, only_cwnd: bool) -> Tables:
    if only_cwnd:
        return {"cwnd": _cwnd(flows, period)}
    sampled = [i / 100 for i in range(3001)]
    link = {"link": "bottleneck"}
    pkts, drops = [(i * 3) % 1556 for i in range(3001)], [i // 500 for i in range(3001)]
    queue = pl.DataFrame({"time_s": sampled, **link, "pkts": pkts, "drops": drops})
    load = [622.0 if i % 50 else 540.0 for i in range(1, 301)]
    seconds = range(1, 31)
    means = [
        pl.DataFrame(
            {
                "time_s": [float(i) for i in seconds],
                "flow": flow,
                "mbps": [600.0 / flows - (i % 7) for i in seconds],
            }
        )
        for flow in range(flows)
    ]
    return {
        "cwnd": _cwnd(flows, period),
        "throughput": pl.concat(means).cast({"flow": pl.Int32}),
        "queue": queue,
        "queue_share": queue_shares(queue),
        "drops": drops_per_sample(queue),
        "utilization": pl.DataFrame(
            {"time_s": [i / 10 for i in range(1, 301)], **link, "mbps": load}
        ),
    }


def _cwnd(flows: int, period: int) -> pl.DataFrame:
    """Saw teeth, each of which rises from half of its top within a period."""
    parts = []
    for flow in range(flows):
        teeth = period + 300 * flow
        values = [4500.0 * (1 + (i % teeth) / teeth) for i in range(3001)]
        values[1234] = SPIKE_PACKETS
        times = [i / 100 for i in range(3001)]
        parts.append(pl.DataFrame({"time_s": times, "flow": flow, "cwnd_pkts": values}))
    return pl.concat(parts).cast({"flow": pl.Int32})


def _metrics(runs: Sequence[PlannedRun]) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for position, run in enumerate(runs):
        time_s = None if run["parameters"]["buffer_pkts"] == 40 else 14.57
        common = {"run_id": run["run_id"], "scenario": run["scenario"], "end_s": 30.0}
        for metric, subject, value, unit, start_s in (
            ("utilization", "link:bottleneck", 80.0 + position, "%", 15.0),
            ("time_to_90pct_cwnd", "flow:0", time_s, "s", 0.0),
            *([("asymmetry", "run", 0.5, "1", 15.0)] if _flows(run) == 2 else []),
        ):
            given = {"metric": metric, "subject": subject, "value": value, "start_s": start_s}
            rows.append({**common, **given, "definition": f"{metric}/1", "unit": unit})
    return pl.DataFrame(rows)


def _scorecard(runs: Sequence[PlannedRun]) -> Scorecard:
    ids = {run["label"]: run["run_id"] for run in runs}
    invented = copy.deepcopy(INVENTED)
    numbers = [{**invented["number"], **each} for each in invented["numbers"]]
    for number in numbers:
        number["run_ids"] = [ids[label] for label in number["run_ids"]]
    for claim in invented["claims"]:
        for each in claim["evidence"]:
            each["run_id"] = ids[each["run_id"]]
    own = {"numbers": numbers, "claims": invented["claims"]}
    return cast("Scorecard", {**invented["scorecard"], **own})


def _info(run: PlannedRun) -> RunRecord:
    path = f"tcl/{run['script']}"
    record = {
        **copy.deepcopy(INVENTED["record"]),
        **{key: run[key] for key in ("run_id", "label", "parameters", "argv")},  # type: ignore[literal-required]
        "identity": {"argv": run["argv"], "tcl": "", "ns2": "", "streams": []},
        "script": {"path": path, "files": {path: "a" * 64}},
    }
    return cast("RunRecord", record)


def large_inputs(count: int) -> Inputs:
    """``count`` runs of a scenario that sweeps RTT and buffer five times, with a few curves."""
    few = synthetic_inputs()
    sweep = itertools.product(range(1, 6), range(10, 150, 10), range(20, 150, 10), PROTOCOLS)
    points = itertools.islice(itertools.cycle(sweep), count)
    runs = [
        {
            **_run(
                "grid",
                f"{PROTOCOLS[key]['label']}, RTT {rtt_ms} ms, buffer {buffer_pkts} packets",
                protocol=key,
                rtt_ms=rtt_ms,
                buffer_pkts=buffer_pkts,
                bottleneck_mbps=10 + place // (5 * 14 * 13 * len(PROTOCOLS)),
                substream=substream,
            ),
            "run_id": run_id_of(f"large {place}"),
        }
        for place, (substream, rtt_ms, buffer_pkts, key) in enumerate(points)
    ]
    single = [run["run_id"] for run in few.plan["runs"] if _flows(run) == 1]
    drawn = [few.tables[each] for each in single if "queue" in few.tables.get(each, {})]
    few.tables = {run["run_id"]: drawn[i % len(drawn)] for i, run in enumerate(runs)}
    few.plan = {**few.plan, "runs": runs, "scenarios": {"grid": _scenario("grid", runs)}}
    few.metrics = _metrics(runs)
    few.scorecard = {**few.scorecard, "numbers": [], "claims": []}
    few.run_info = {run["run_id"]: _info(run) for run in runs}
    return few
