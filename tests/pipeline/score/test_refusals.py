"""Planning reports, with file and line, what is wrong in expectations and what no run can show."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from tests.data_of import data_of
from tests.pipeline.score.conftest import make_run

from bdpbench.contracts.plan import Output, PlannedRun, Scalar
from bdpbench.errors import BdpbenchError
from bdpbench.score import Expectations, check_expectations, what_lacks
from bdpbench.score.published import COLUMNS
from bdpbench.studies.study import Study

CWND: Output = {"file": "cwnd.out", "table": "cwnd", "flow": 0}
QUEUE: Output = {"file": "queue.out", "table": "queue", "link": "bottleneck"}
HS40 = {"scenario": "one", "select": {"protocol": "HS", "buffer_pkts": 40}, "metric": "max_cwnd"}
ABOVE_1 = {"kind": "compare", "left": HS40, "op": ">", "right": 1}
ENTRIES: Mapping[str, dict[str, Any]] = {
    "published.csv": {
        **dict.fromkeys(COLUMNS, ""),
        "id": "n",
        "where": "Table 1",
        "scenario": "one",
        "metric": "max_cwnd",
        "select": "protocol=HS;buffer_pkts=40",
        "subject": "flow:0",
        "unit": "packets",
        "value": "1",
        "lower": "1",
        "upper": "1",
        "how": "stated",
        "found": "stated",
        "why": "a reason",
    },
    "claims.yaml": {"id": "c", "where": "1", "found": "stated", "statement": "It is so."},
    "spread.yaml": {"of": ["n"], "varied": "v"},
    "causes.yaml": {"cause": "Why", "text": "It is so.", "of": ["c"], "shown": [HS40]},
    "history.yaml": {
        "date": "2026-11-21",
        "commit": "0123abc",
        "what": "bounds",
        "published": True,
        "of": ["n"],
        "before": "wide",
        "after": "narrow",
        "why": "the print is exact",
    },
}
CASES = [
    pytest.param(name, change, line, said, id=f"{name}-{change}")
    for name, cases in data_of(__file__).items()
    for change, line, *said in cases
]


@dataclass(frozen=True)
class Known:
    unit: str
    subject: str
    level: str = "run"
    title: str = ""


@dataclass(frozen=True)
class Needing(Known):
    tables: tuple[str, ...] = ("cwnd",)

    def lacking(self, tables: Sequence[str], parameters: Sequence[str]) -> list[str]:
        return [f"table {each}" for each in self.tables if each not in tables]


METRICS = {
    "max_cwnd": Needing("packets", "flow"),
    "mean_queue": Needing("packets", "link", tables=("queue",)),
    "acked": Needing("packets", "flow", tables=("acknowledged",)),
    "asymmetry": Known("1", "run"),
    "min_buffer": Known("packets", "run", level="group"),
}


def _run(protocol: str, buffer_pkts: Scalar, duration_s: Scalar, *outputs: Output) -> PlannedRun:
    given = {"protocol": protocol, "buffer_pkts": buffer_pkts, "duration_s": duration_s}
    run = make_run(f"{protocol}{buffer_pkts}{duration_s}", *(outputs or (CWND, QUEUE)), **given)
    return {**run, "label": f"{protocol}, {buffer_pkts}"}


# The paper tier has the runs of the quick tier, only longer, and one more buffer.
RUNS: Mapping[str, Sequence[PlannedRun]] = {
    "quick": [_run(key, size, 50) for key in ("HS", "Reno") for size in (40, 200)],
    "paper": [_run(key, size, 500) for key in ("HS", "Reno") for size in (40, 200, 500.0)],
}


@pytest.fixture(scope="module")
def study() -> Study:
    """A study with scenario ``one``, which has all runs, and scenario ``other``, which has none."""
    scenario = {"title": "", "topology": "t", "flows": [{}], "tiers": {}}
    scenario |= {"sweep": {"buffer_pkts": [40, 200]}}
    return Study.model_validate(
        {
            "schema_version": 1,
            "key": "mine",
            "title": "",
            "protocols": {},
            "topologies": {"t": {"parameters": {}}},
            "scenarios": {"one": scenario, "other": scenario},
        }
    )


def _write(folder: Path, name: str, change: Any) -> None:
    """Write a file of one valid entry, or of several, each with a change; or a text."""
    entries = [
        {key: value for key, value in {**ENTRIES[name], **each}.items() if value != "absent"}
        for each in ([change] if isinstance(change, dict) else change)
        if isinstance(each, dict)
    ]
    if name == "claims.yaml":
        entries = [each if "kind" in each else {**each, **ABOVE_1} for each in entries]
    with (folder / name).open("w", newline="") as stream:
        if isinstance(change, str):
            stream.write(change)
        elif name == "published.csv":
            csv.writer(stream).writerows([COLUMNS, *(each.values() for each in entries)])
        else:
            yaml.safe_dump(entries, stream, sort_keys=False)


def test_a_study_without_expectations_has_none(tmp_path: Path, study: Study) -> None:
    assert check_expectations(tmp_path, study, RUNS, METRICS) == Expectations([], [], [], [], [])


@pytest.mark.parametrize(("name", "change", "line", "said"), CASES)
def test_a_slip_is_told_with_its_line_and_nothing_else_is(
    tmp_path: Path, study: Study, name: str, change: Any, line: int | None, said: list[str]
) -> None:
    for each in ("published.csv", "claims.yaml"):
        _write(tmp_path, each, {})
    _write(tmp_path, name, change)
    if not said:
        check_expectations(tmp_path, study, RUNS, METRICS)
        return
    with pytest.raises(BdpbenchError) as caught:
        check_expectations(tmp_path, study, RUNS, METRICS)
    told = str(caught.value)
    assert [each for each in said if each not in told] == []
    assert told.startswith(f"{tmp_path / name}:{line}: ")


def _check(folder: Path, study: Study, runs: Sequence[PlannedRun], **metrics: Known) -> str:
    """What is said of expectations that one tier has to show; "" if nothing is wrong."""
    try:
        check_expectations(folder, study, {"quick": runs}, {**METRICS, **metrics})
    except BdpbenchError as error:
        return str(error)
    return ""


def test_a_packet_trace_may_have_flows_that_no_file_tells(tmp_path: Path, study: Study) -> None:
    traced = _run("HS", 40, 50, CWND, QUEUE, {"file": "pckts.trq", "table": "packets"})
    _write(tmp_path, "published.csv", {"metric": "lost", "subject": "flow:7", "unit": "%"})
    assert not _check(tmp_path, study, [traced], lost=Needing("%", "flow", tables=("packets",)))


def test_a_spread_is_checked_for_the_numbers_that_it_is_about(tmp_path: Path, study: Study) -> None:
    """A queue has no flow 0, but the entry is about the other number alone."""
    queue = {"id": "m", "metric": "mean_queue", "subject": "link:bottleneck"}
    _write(tmp_path, "published.csv", [{}, queue])
    _write(tmp_path, "spread.yaml", {"metric": "max_cwnd", "runs": {"scenario": "one"}})
    assert len(check_expectations(tmp_path, study, RUNS, METRICS).numbers) == 2


def test_a_mean_and_a_sweep_of_means_have_one_subject(tmp_path: Path, study: Study) -> None:
    flows: list[Output] = [{**CWND, "file": f"cwnd{flow}.out", "flow": flow} for flow in range(3)]
    runs = [_run("HS", size, 50, *flows) for size in (40, 200, 500)]
    of_all = {"scenario": "one", "metric": "max_cwnd", "mean_over": ["protocol", "buffer_pkts"]}
    mean = {"kind": "within", "lower": 1, "upper": 2, "value": of_all}
    along = {"direction": "increasing", "along": "buffer_pkts", "mean_over": ["protocol"]}
    sweep = {"kind": "monotone", **of_all, **along}
    for claim in (mean, sweep):
        _write(tmp_path, "claims.yaml", claim)
        assert "several subjects, flow:0 and flow:1\n" in _check(tmp_path, study, runs)
    _write(tmp_path, "claims.yaml", {**sweep, "subject": "flow:2"})
    assert not _check(tmp_path, study, runs)
    few = _check(tmp_path, study, runs[:2])
    assert "no tier has more than 2 runs, and a sweep needs 3" in few


def test_the_first_selected_run_says_what_it_lacks(tmp_path: Path, study: Study) -> None:
    lacking = [{**_run("HS", 40, 50), "outputs": []}, _run("HS", 200, 50)]
    _write(tmp_path, "published.csv", {"select": "protocol=HS"})
    three = Needing("packets", "flow", tables=("cwnd", "queue", "acknowledged"))
    said = _check(tmp_path, study, lacking, max_cwnd=three)  # type: ignore[arg-type]
    assert "HS, 40: it has no table cwnd, table queue, table acknowledged" in said
    assert not _check(tmp_path, study, lacking)  # type: ignore[arg-type]


def test_the_first_table_of_a_metric_has_its_subjects(tmp_path: Path, study: Study) -> None:
    other: Output = {**CWND, "table": "other", "flow": 1}
    _write(tmp_path, "published.csv", {"subject": "flow:1"})
    both = Needing("packets", "flow", tables=("cwnd", "other"))
    said = _check(tmp_path, study, [_run("HS", 40, 50, CWND, other)], max_cwnd=both)
    assert "max_cwnd of HS, 40 has no 'flow:1'" in said


@pytest.mark.parametrize(
    ("metric", "outputs", "lacks"),
    [
        ("acked", [[QUEUE], [CWND]], ["table acknowledged"]),
        ("max_cwnd", [[QUEUE], [CWND]], []),
        ("max_cwnd", [[CWND], [QUEUE]], []),
        ("max_cwnd", [], []),
        ("asymmetry", [[]], []),
    ],
)
def test_what_runs_lack_is_what_none_of_them_has(
    metric: str, outputs: list[list[Output]], lacks: list[str]
) -> None:
    runs = [{**_run("HS", 40, 50), "outputs": each} for each in outputs]
    assert what_lacks(METRICS[metric], runs) == lacks  # type: ignore[arg-type]


def test_a_change_names_all_that_it_concerns(tmp_path: Path, study: Study) -> None:
    for name in ("published.csv", "claims.yaml"):
        _write(tmp_path, name, {})
    _write(tmp_path, "history.yaml", {"of": ["*"]})
    expected = check_expectations(tmp_path, study, RUNS, METRICS)
    (change,) = expected.history
    written = {**ENTRIES["history.yaml"], "of": ["n", "c"]}
    assert change.document(expected.ids) == written


def test_a_file_that_is_not_utf8_is_told(tmp_path: Path, study: Study) -> None:
    _write(tmp_path, "published.csv", {})
    path = tmp_path / "published.csv"
    path.write_bytes(path.read_bytes() + "größer".encode("latin-1"))
    assert f"{path}:3: is not UTF-8 text" in _check(tmp_path, study, [])
