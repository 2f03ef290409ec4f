"""The page and the files beside it: structure, links, missing data, and nothing is loaded."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import polars as pl
import pytest
from tests.pipeline.pages import golden
from tests.pipeline.pages.conftest import (
    Page,
    inflated,
    packed_parts,
    unfolded,
    unpacked,
    with_html,
)
from tests.pipeline.pages.synthetic import Inputs, large_inputs, synthetic_inputs

from bdpbench.contracts.plan import Plan, PlannedRun
from bdpbench.errors import BdpbenchError
from bdpbench.metrics.derived import drops_per_sample, queue_shares
from bdpbench.pages.inputs import shown_over_time
from bdpbench.pages.packing import unpack
from bdpbench.pages.series import bins_for, series_text
from bdpbench.pages.texts import StudyPage
from bdpbench.studies.vocabulary import ParameterDeclaration

NAMES = {run["run_id"]: f"run{nth}" for nth, run in enumerate(synthetic_inputs().plan["runs"])}
# Of views and runs, which are alike, the first, and those of a buffer, a pair and one to come.
SHOWN = "|".join(run_id for run_id, name in NAMES.items() if name in ("run2", "run8", "run11"))
ALIKE = rf"contents|equations|view-.*-[2-9]|run-(?!{SHOWN})\w+"


def _outline(html: str) -> str:
    return golden.outline(unfolded(html), NAMES, ALIKE)


def test_the_page_says_what_it_said(html: str) -> None:
    golden.compare("report.txt", _outline(html))


def test_charts_show_what_they_showed(inputs: Inputs) -> None:
    sections = inputs.sections()
    single, *_ = sections.experiments
    charts = [*sections.charts, *(chart for view in single.views for chart in view.charts)]
    text = "\n".join(map(golden.told, charts))
    for run_id, name in NAMES.items():
        text = text.replace(run_id, name)
    golden.compare("charts.txt", text)


def _partial(inputs: Inputs) -> None:
    inputs.run_info.clear()
    inputs.metrics = inputs.metrics.clear()
    inputs.scorecard["numbers"] = inputs.scorecard["claims"] = []
    for key in ("totals", "claim_totals"):
        inputs.scorecard[key] = dict.fromkeys(inputs.scorecard[key], 0)
    inputs.study = replace(inputs.study, citation=None, notes="", description="")


def _own(inputs: Inputs) -> None:
    """No reproduction; only metrics that were measured are defined."""
    inputs.scorecard["numbers"] = inputs.scorecard["claims"] = []
    inputs.study = replace(inputs.study, citation=None)
    inputs.metrics = inputs.metrics.filter(pl.col("metric") == "utilization")


def _readings(inputs: Inputs) -> None:
    """Another reading stands beside the judged one; choices and notes are linked."""
    (claim, *_), (number, *_) = inputs.scorecard["claims"], inputs.scorecard["numbers"]
    claim["margin"] = 0.02
    shown = {"source": "seeds", "varied": "seeds", "repetitions": 5, "level": 0.05}
    claim["shown"] = {**shown, "holds": 0.02, "fails": 0.98}
    fails = {**claim, "verdict": "fails", "explanation": "7 < 5"}
    read = {"numbers": [{**number, "verdict": "close", "measured": 3.5}], "claims": [fails]}
    inputs.scorecard["readings"] = {"longer <runs>": read}
    number["why"] = "See NOTES."
    page = StudyPage(choices="We chose 2 (NOTES, Bounds).")
    inputs.study = replace(inputs.study, notes="# Bounds\n", page=page)


def _unknown(inputs: Inputs) -> None:
    """Values, memory and files of runs are not there; the script is one of two files."""
    nothing = pl.lit(None, pl.Float64)
    inputs.metrics = inputs.metrics.with_columns(value=nothing, start_s=nothing)
    inputs.places = {}
    for info in inputs.run_info.values():
        path = info["script"]["path"]
        files = {"tcl/lib/args.tcl": "ab" * 32, path: "cd" * 32}
        info.update(cpu_s=None, max_rss_kib=None, script={"path": path, "files": files})


def _twice(inputs: Inputs) -> None:
    """A run of two scenarios counts once; another scenario keeps values only."""
    inputs.plan["runs"].append({**inputs.plan["runs"][0], "scenario": "buffer_size"})
    inputs.plan["scenarios"]["pair"]["time_series"] = False


def _settings(inputs: Inputs) -> None:
    """Defaults of the study, parameters of runs and those of a module of Linux are values too."""
    linux = {"agent": "TCP/Linux", "linux": "bic", "linux_parameters": {"max_increment": 32}}
    low = ParameterDeclaration(description="Low window", sets={"HS": ["low_window_"]})
    inputs.study = replace(
        inputs.study,
        protocols={
            **inputs.study.protocols,
            "Scalable": inputs.study.protocols["Scalable"].model_copy(update=linux),
        },
        parameters={"low_pkts": low},
        defaults={
            "Agent/TCP": {"max_ssthresh_": 100.0, "high_window_": 1.0},
            "Agent/TCP/Sack1": {"high_window_": 83001.0},
        },
    )
    for nth, run in enumerate(inputs.plan["runs"]):
        run["parameters"]["low_pkts"] = 38 - nth % 2


def _without(inputs: Inputs) -> None:
    """A protocol of another agent has no page, one without runs says so."""
    gone = {
        run["run_id"] for run in inputs.plan["runs"] if "Scalable" in run["parameters"].values()
    }
    inputs.run_info = {key: info for key, info in inputs.run_info.items() if key not in gone}
    inputs.metrics = inputs.metrics.filter(~inputs.metrics["run_id"].is_in(list(gone)))
    fack = inputs.study.protocols["HS"].model_copy(update={"agent": "TCP/Fack"})
    inputs.study = replace(inputs.study, protocols={**inputs.study.protocols, "HS": fack})


def _question(inputs: Inputs) -> None:
    """It stands beside the chart of the metric that answers it, or nowhere."""
    question = {"question": "How much of the link?", "answers": ["utilization"]}
    inputs.plan["scenarios"]["buffer_size"] |= question
    inputs.plan["scenarios"]["pair"] |= {**question, "answers": ["time_to_90pct_cwnd"]}


CHANGES: list[Callable[[Inputs], None]] = [
    _partial, _own, _readings, _unknown, _twice, _settings, _without, _question
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_other_contents_change_what_they_should(
    change: Callable[[Inputs], None], inputs: Inputs, html: str, tmp_path: Path
) -> None:
    """The lines that another study adds, and the headings that it lacks."""
    change(inputs)
    found = golden.difference(_outline(html), _outline(inputs.build(tmp_path / "report.html")), 0)
    shown = r"\+(?!figcaption|div\.canvas|figure|dt (?!.*NOTES|With))|-h[1-3]"
    kept = [line for line in found.splitlines() if re.match(shown, line)]
    golden.compare(f"report{change.__name__}.diff", "\n".join(kept))


def test_the_page_is_well_formed_and_loads_nothing(page: Page, html: str) -> None:
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    links = [each.get("href", "") for each in page.all("a")]
    assert {each[1:] for each in links if each.startswith("#")} <= set(page.ids)
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert {each.get("scope") for each in page.all("th")} == {"col", "colgroup", "row"}
    assert not [each for _, each in page.elements if "src" in each]
    assert [each["href"] for each in page.all("link")] == ["data:,"]
    assert not re.search(r"@import|url\(", " ".join(t for tag, t in page.texts if tag == "style"))
    # The citation of the study, and the sources on the pages of the protocols.
    away = r"https://(example\.org/sawtooth|www\.rfc-editor\.org/rfc/.*)"
    assert [each for each in links if "://" in each and not re.fullmatch(away, each)] == []
    policy = next(each["content"] for each in page.all("meta") if "http-equiv" in each)
    assert policy.startswith("default-src 'none';")
    (packed,) = re.findall(r'id="vega">(.*?)</script>', html)
    assert "window.vegaEmbed=" in unpack(packed)


def test_charts_have_alternatives_and_lines_have_points(html: str, page: Page) -> None:
    parts = packed_parts(html)
    charts = {key: chart for part in parts for key, chart in part["charts"].items()}
    for part in parts:
        for row in part["rows"].values():
            charts |= row.get("charts", {})
    series = {run_id: tables for part in parts for run_id, tables in part["series"].items()}
    drawn = [each for each in page.all("div") if "data-chart" in each]
    assert all(each["role"] == "group" and len(each["aria-label"]) > 20 for each in drawn)
    assert {each["data-chart"] for each in drawn} == set(charts)
    assert len(page.all("figcaption")) == len(drawn)
    for chart in charts.values():
        for trace in chart.get("traces", []):
            times, values = unpacked(series[trace["run"]][chart["kind"]][trace["subject"]])
            assert len(times) == len(values) > 0
    # SPIKE_PACKETS of the synthetic study, at sample 1234 of 0.01 s; half a step of 10 packets.
    times, values = unpacked(series[next(iter(NAMES))]["cwnd"]["flow:0"])
    assert max(values) == pytest.approx(9876, abs=5)
    assert times[values.index(max(values))] == pytest.approx(12.34)


def test_equal_inputs_give_equal_bytes(inputs: Inputs, tmp_path: Path, html: str) -> None:
    assert inputs.build(tmp_path / "report.html") == html


def test_a_checkout_without_assets_is_named(
    inputs: Inputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BDPBENCH_ROOT", str(tmp_path))
    said = r"captions\.yaml: a file that every report needs"
    with pytest.raises(BdpbenchError, match=said) as caught:
        inputs.build(tmp_path / "report.html")
    assert caught.value.hint


def test_series_of_noise_stay_small() -> None:
    time = [i / 10 for i in range(5_001)]
    noise = pl.DataFrame({"time_s": time, "value": [i * 7919 % 9000 for i in range(5_001)]})
    pkts = noise.rename({"value": "pkts"}).with_columns(link=pl.lit("bottleneck"))
    queue = pkts.with_columns(drops=3 * pl.int_range(pl.len()))
    flows = pl.DataFrame({"flow": [0, 1]}).join(noise.rename({"value": "cwnd_pkts"}), how="cross")
    tables = {"cwnd": flows, "queue": queue, "queue_share": queue_shares(queue)}
    tables["drops"] = drops_per_sample(queue)

    def load(_: str, name: str) -> pl.LazyFrame | None:
        return tables[name].lazy() if name in tables else None

    # 288 bins: two extremes in each and both ends, of drops one, of the distribution 100.
    found = json.loads(series_text("0" * 16, load, bins_for(250)))
    points = {name: [len(each["t"]) for each in own.values()] for name, own in found.items()}
    assert max(points["cwnd"]) <= 578
    assert max(points["drops"] + points["queue_share"]) <= 289


RUNS = 420


def _index(html: str) -> Any:
    found = re.search('<script type="text/plain" id="shard-index">(.*?)</script>', html)
    assert found
    return inflated(found[1])


def _content(script: str) -> Any:
    found = re.fullmatch(r'bdpbenchShard\("(.*)"\);\n', script)
    assert found
    return with_html(inflated(found[1]))


class Large(NamedTuple):
    """A report of many runs: its plan, the page, its index and the files beside it."""

    runs: list[PlannedRun]
    html: str
    index: Any
    files: dict[str, str]

    def content(self, place: int) -> Any:
        return _content(self.files[self.index["files"][place]])


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Large:
    inputs, out = large_inputs(RUNS), tmp_path_factory.mktemp("large") / "report.html"
    html = inputs.build(out)
    files = {path.name: path.read_text() for path in out.with_name("report-data").iterdir()}
    return Large(inputs.plan["runs"], html, _index(html), files)


def test_every_run_view_and_chart_lies_in_the_file_that_the_page_names(large: Large) -> None:
    index = large.index
    assert sorted(index["files"]) == sorted(large.files)
    content = [large.content(place) for place in range(len(index["files"]))]
    assert [run[0] for run in index["runs"]] == [run["run_id"] for run in large.runs]
    for run_id, _, scenario, finished, file in index["runs"]:
        row, series = content[file]["rows"][f"run-{run_id}"], content[file]["series"][run_id]
        assert row["tables"][0]["title"] == "Metrics"
        assert (index["scenarios"][scenario][0], finished) == ("grid", 1)
        for chart in row["charts"].values():
            assert all(each["subject"] in series[chart["kind"]] for each in chart["traces"])
    # Runs that differ in their random numbers alone have labels of their own.
    labels = [run[1] for run in index["runs"]]
    assert len(set(labels)) == RUNS
    assert labels[0] == "HS-TCP, RTT 10 ms, buffer 20 packets, random substream 1"
    for number, (title, file) in enumerate(index["views"]["grid"], start=1):
        shown = _charts(content[file]["html"][f"view-grid-{number}"])
        assert shown
        assert shown <= set(content[file]["charts"]), title
    assert _charts(large.html) == set(index["charts"])
    assert all(chart in content[file]["charts"] for chart, file in index["charts"].items())


def _charts(html: str) -> set[str]:
    page = Page(html)
    assert page.open == []
    return {each["data-chart"] for each in page.all("div") if "data-chart" in each}


def test_a_sweep_of_more_lines_than_can_be_read_shows_their_middle_and_spread(
    large: Large,
) -> None:
    """RTT 10 ms: 13 buffers with two substreams; each run's value is larger by one."""
    name = "grid-sweep-utilization"
    spec = large.content(large.index["charts"][name])["charts"][name]["spec"]
    rows = next(own for own in spec["datasets"].values() if "runs" in own[0])
    first = next(row for row in rows if row["series"] == "HS-TCP" and row["x"] == 10)
    # Runs 0, 2, …, 24 and 364, 366, …, 388 are HS-TCP at 10 ms, with values from 80 on. Of 26
    # values, the median is between the 13th and 14th, and the tenth percentile is 2.5 steps from
    # the first.
    assert (first["value"], first["runs"]) == ((104 + 444) / 2, 26)
    assert (first["lower"], first["upper"]) == (85, 463)


def test_the_page_grows_by_little_more_than_the_names_of_its_runs(large: Large) -> None:
    """The page, its index and the files beside it may only grow by so much per run."""
    (vega,) = re.findall('id="vega">(.*?)</script>', large.html)
    (index,) = re.findall('id="shard-index">(.*?)</script>', large.html)
    # 24,000 runs may take 15 MB: 600 bytes each, including Vega and the style.
    assert len(large.html) - len(vega) < 200_000
    assert len(index) / RUNS < 60
    assert sum(map(len, large.files.values())) / RUNS < 5_000


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Every report has files beside it."""
    monkeypatch.setattr("bdpbench.pages.report.MOST_RUNS_OF_ONE_FILE", 0)
    return monkeypatch


@pytest.mark.parametrize(("most", "shown"), [(7, "abcdef"), (6, "abdef")])
def test_a_large_report_shows_one_of_the_repetitions_in_which_protocols_meet_over_time(
    monkeypatch: pytest.MonkeyPatch, most: int, shown: str
) -> None:
    monkeypatch.setattr("bdpbench.pages.inputs.MOST_RUNS_OF_ONE_FILE", most)
    runs = [
        *(("meet", {"rtt_ms": 10, "substream": at}, run) for run, at in (("c", 2), ("a", 1))),
        ("meet", {"rtt_ms": 20, "substream": 2}, "b"),
        *(("alone", {"substream": at}, run) for run, at in (("d", 1), ("e", 2))),
        ("meet", {"rtt_ms": 30}, "f"),
        ("unseen", {"substream": 1}, "g"),
    ]
    second = {"alone": "Reno", "meet": "BIC", "unseen": "BIC"}
    planned = [
        {
            "run_id": run,
            "scenario": key,
            "parameters": {"protocol_1": "Reno", "protocol_2": second[key], **parameters},
        }
        for key, parameters, run in runs
    ]
    scenarios = {"meet": {}, "alone": {}, "unseen": {"time_series": False}}
    plan = cast("Plan", {"runs": planned, "scenarios": scenarios})
    assert shown_over_time(plan) == {*shown}


def test_equal_inputs_give_equal_files_and_others_leave_none_behind(
    tmp_path: Path, inputs: Inputs, always: pytest.MonkeyPatch
) -> None:
    out, folder = tmp_path / "report.html", tmp_path / "report-data"
    html = inputs.build(out)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert inputs.build(tmp_path / "2" / "report.html") == html
    again = tmp_path / "2" / "report-data"
    assert {path.name: path.read_bytes() for path in again.iterdir()} == files
    (folder / "notes.txt").write_text("a reader's own")
    inputs.run_info.popitem()
    inputs.build(out)
    left = {path.name for path in folder.iterdir()} - {"notes.txt"}
    assert left == set(_index(out.read_text())["files"]) != set(files)
    always.undo()
    inputs.build(out)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_a_build_that_fails_leaves_the_old_report_whole(
    tmp_path: Path, inputs: Inputs, always: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "report.html"
    names = set(_index(inputs.build(out))["files"])
    inputs.plan["title"] = "Another"
    inputs.run_info.popitem()
    full = lambda *_: (_ for _ in ()).throw(OSError(28))  # noqa: E731
    always.setattr("bdpbench.pages.report.write_text_atomically", full)
    with pytest.raises(OSError, match="28"):
        inputs.build(out)
    assert set(_index(out.read_text())["files"]) == names
    assert names <= {path.name for path in (tmp_path / "report-data").iterdir()}
