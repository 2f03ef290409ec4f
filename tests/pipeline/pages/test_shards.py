"""A report of many runs: a small page, and everything else in files beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.pages.conftest import Page, inflated, with_html
from tests.pipeline.pages.synthetic import Inputs, large_inputs

RUNS = 420


def _index(html: str) -> Any:
    found = re.search('<script type="text/plain" id="shard-index">(.*?)</script>', html)
    assert found
    return inflated(found[1])


def _content(script: str) -> Any:
    found = re.fullmatch(r'bdpbenchShard\("(.*)"\);\n', script)
    assert found
    return with_html(inflated(found[1]))


@dataclass
class Large:
    """The inputs of a report of many runs, the page, its index and the files beside it."""

    inputs: Inputs
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
    return Large(inputs, html, _index(html), files)


def test_every_run_view_and_chart_lies_in_the_file_that_the_page_names(large: Large) -> None:
    index = large.index
    assert sorted(index["files"]) == sorted(large.files)
    content = [large.content(place) for place in range(len(index["files"]))]
    assert [run[0] for run in index["runs"]] == [run["run_id"] for run in large.inputs.plan["runs"]]
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
    (rows,) = spec["datasets"].values()
    first = next(row for row in rows if row["series"] == "HS-TCP" and row["x"] == 10)
    # Runs 0, 2, …, 24 and 364, 366, …, 388 are HS-TCP at 10 ms, with values from 80 on. Of 26
    # values, the median is between the 13th and 14th, and the tenth percentile is 2.5 steps from
    # the first.
    assert (first["value"], first["runs"]) == ((104 + 444) / 2, 26)
    assert (first["low"], first["high"]) == (85, 463)


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
