"""A report of many runs: a small page, and everything else in files beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.pages.conftest import Page, inflated, with_html
from tests.pipeline.pages.synthetic import large_inputs, synthetic_inputs

from bdpbench.pages.series import PageSeries

RUNS = 420


def _index(html: str) -> Any:
    found = re.search('<script type="text/plain" id="shard-index">(.*?)</script>', html)
    assert found
    return inflated(found[1])


def _content(script: str) -> Any:
    found = re.fullmatch(r'bdpbenchShard\("(.*)"\);\n', script)
    assert found
    return with_html(inflated(found[1]))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """The inputs of a report of many runs, and the report itself."""
    inputs = large_inputs(RUNS)
    out = tmp_path_factory.mktemp("large") / "report.html"
    inputs.build(out)
    return inputs, out


@pytest.fixture(scope="module")
def files(large: tuple[Any, Path]) -> dict[str, str]:
    """Name → text, for the files beside the report."""
    folder = large[1].with_name("report-data")
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_every_run_lies_in_the_file_that_the_page_names(
    large: tuple[Any, Path], files: dict[str, str]
) -> None:
    inputs, out = large
    index = _index(out.read_text())
    assert sorted(index["files"]) == sorted(files)
    content = [_content(files[name]) for name in index["files"]]
    planned = [run["run_id"] for run in inputs.plan["runs"]]
    assert [run[0] for run in index["runs"]] == planned
    for run_id, label, scenario, finished, file in index["runs"]:
        row = content[file]["rows"][f"run-{run_id}"]
        assert label
        assert row["tables"][0]["title"] == "Metrics"
        assert run_id in content[file]["series"]
        assert (index["scenarios"][scenario][0], finished) == ("grid", 1)
        for chart in row["charts"].values():
            for trace in chart["traces"]:
                assert trace["subject"] in content[file]["series"][run_id][chart["kind"]]


def test_every_view_and_chart_lies_in_its_file(
    large: tuple[Any, Path], files: dict[str, str]
) -> None:
    html = large[1].read_text()
    index = _index(html)
    content = [_content(files[name]) for name in index["files"]]
    for number, (title, file) in enumerate(index["views"]["grid"], start=1):
        view = Page(content[file]["html"][f"view-grid-{number}"])
        shown = [each["data-chart"] for each in view.all("div") if "data-chart" in each]
        assert shown
        assert set(shown) <= set(content[file]["charts"]), title
    page = Page(html)
    drawn = {each["data-chart"] for each in page.all("div") if "data-chart" in each}
    assert drawn == set(index["charts"])
    assert all(chart in content[file]["charts"] for chart, file in index["charts"].items())
    assert page.open == []


def test_runs_that_differ_in_their_random_numbers_alone_have_labels_of_their_own(
    large: tuple[Any, Path],
) -> None:
    labels = [run[1] for run in _index(large[1].read_text())["runs"]]
    assert len(set(labels)) == RUNS
    assert labels[0] == "HS-TCP, RTT 10 ms, buffer 20 packets, random substream 1"


def test_a_sweep_of_more_lines_than_can_be_read_shows_their_middle_and_spread(
    large: tuple[Any, Path], files: dict[str, str]
) -> None:
    """RTT 10 ms: 13 buffers with two substreams; each run's value is larger by one."""
    index = _index(large[1].read_text())
    name = "grid-sweep-utilization"
    spec = _content(files[index["files"][index["charts"][name]]])["charts"][name]["spec"]
    (rows,) = spec["datasets"].values()
    first = next(row for row in rows if row["series"] == "HS-TCP" and row["x"] == 10)
    # Runs 0, 2, …, 24 and 364, 366, …, 388 are HS-TCP at 10 ms, with values from 80 on. Of 26
    # values, the median is between the 13th and 14th, and the tenth percentile is 2.5 steps from
    # the first.
    assert (first["value"], first["runs"]) == ((104 + 444) / 2, 26)
    assert (first["low"], first["high"]) == (85, 463)


def test_the_page_grows_by_little_more_than_the_names_of_its_runs(
    large: tuple[Any, Path], files: dict[str, str]
) -> None:
    """The page, its index and the files beside it may only grow by so much per run."""
    html = large[1].read_text()
    (vega,) = re.findall('id="vega">(.*?)</script>', html)
    # 24,000 runs may take 15 MB: 600 bytes each, including Vega and the style.
    assert len(html) - len(vega) < 200_000
    index = re.search('id="shard-index">(.*?)</script>', html)
    assert index
    assert len(index[1]) / RUNS < 60
    assert sum(map(len, files.values())) / RUNS < 5_000


def test_equal_inputs_give_equal_files_and_others_leave_none_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, folder = tmp_path / "report.html", tmp_path / "report-data"
    with monkeypatch.context() as patched:
        patched.setattr("bdpbench.pages.report.MOST_RUNS_OF_ONE_FILE", 0)
        html = synthetic_inputs().build(out)
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert synthetic_inputs().build(tmp_path / "2" / "report.html") == html
        again = tmp_path / "2" / "report-data"
        assert {path.name: path.read_bytes() for path in again.iterdir()} == files
        (folder / "notes.txt").write_text("a reader's own")
        inputs = synthetic_inputs()
        inputs.run_info.popitem()
        inputs.build(out)
    left = {path.name for path in folder.iterdir()} - {"notes.txt"}
    assert left == set(_index(out.read_text())["files"]) != set(files)
    synthetic_inputs().build(out)
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_a_build_that_fails_leaves_the_old_report_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bdpbench.pages.report.MOST_RUNS_OF_ONE_FILE", 0)
    out = tmp_path / "report.html"
    inputs = synthetic_inputs()
    inputs.build(out)
    names = set(_index(out.read_text())["files"])
    inputs.plan["title"] = "Another"
    inputs.run_info.popitem()
    monkeypatch.setattr(
        "bdpbench.pages.report.write_text_atomically", lambda *_: (_ for _ in ()).throw(OSError(28))
    )
    with pytest.raises(OSError, match="28"):
        inputs.build(out)
    assert set(_index(out.read_text())["files"]) == names
    assert names <= {path.name for path in (tmp_path / "report-data").iterdir()}


def test_series_that_were_read_make_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bdpbench.pages.series._MOST_PARSED", 2)
    asked: list[str] = []

    def load(run_id: str) -> str:
        asked.append(run_id)
        return json.dumps({"cwnd": {run_id: {}}})

    series = PageSeries("abc", load)
    assert [list(series[each]["cwnd"]) for each in "abcabc"] == [[each] for each in "abcabc"]
    assert asked == ["a", "b", "c"]  # their texts are kept
    assert "d" not in series
