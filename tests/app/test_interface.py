"""``import bdpbench`` as scripts and notebooks use it, on a study simulated by ns-2."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import altair as alt
import polars as pl
import pytest

import bdpbench
from bdpbench import BdpbenchError, Study, Tier
from bdpbench.contracts.paths import repository_root, run_folder
from bdpbench.interface.studies import NUMBERS_SCHEMA, RUNS_SCHEMA, STATEMENTS_SCHEMA
from bdpbench.metrics import METRICS_SCHEMA

PAGE = repository_root() / "docs" / "python.md"
STUDY = repository_root() / "tests" / "data" / "dumbbell"


@pytest.fixture(scope="module")
def study(finished_once: Path) -> Iterator[Study]:
    """The finished study, whose results no test here changes."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("BDPBENCH_CONFIG", str(finished_once / "config"))
        yield bdpbench.study("dumbbell", results=finished_once / "results")


@pytest.fixture(scope="module")
def tier(study: Study) -> Tier:
    return study.tier()


def test_the_notebook_of_the_documentation(
    finished: Path, ns_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run every block of the page in order, as a notebook runs its cells."""
    monkeypatch.setenv("BDPBENCH_CONFIG", str(finished / "config"))
    monkeypatch.setenv("BDPBENCH_RESULTS", str(finished / "results"))
    cells = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(cells) == 6
    script = "\n".join(cells)
    example = "config/studies/examples/red_droptail"
    assert script.count(example) == 1
    before = {path: path.stat().st_mtime_ns for path in finished.glob("results/runs/*/*/run.json")}
    assert before
    found: dict[str, object] = {}
    exec(compile(script.replace(example, "dumbbell"), str(PAGE), "exec"), found)
    assert before == {path: path.stat().st_mtime_ns for path in before}, "simulated again"
    goodput, cwnd, chart = found["goodput"], found["cwnd"], found["chart"]
    assert isinstance(goodput, pl.DataFrame)
    # Three flows of each protocol, and one with a different RTT, share 5 Mbit/s.
    assert goodput.height == 3 + 3 + 1
    assert goodput["mean"].is_between(0.1, 5).all()
    assert isinstance(cwnd, pl.DataFrame)
    assert cwnd["cwnd_pkts"].max() > 10
    assert isinstance(chart, alt.LayerChart)
    assert chart.to_dict()["width"] == 500


def test_a_notebook_shows_frames_and_charts_without_a_network(tier: Tier) -> None:
    """altair's own way would be HTML that loads Vega from a server."""
    chart = tier.chart(tier.charts()["name"][0])
    shown = chart.properties(width=300)._repr_mimebundle_()
    assert "text/html" not in shown
    assert re.search(r'<svg [^>]*width="(?:3\d\d|[4-9]\d\d)', shown["image/svg+xml"])
    assert "</table>" in tier.metrics()._repr_html_()
    with alt.renderers.enable("json"):  # another renderer is left as it is
        assert "image/svg+xml" not in chart._repr_mimebundle_()


def test_values_are_means_of_the_runs_of_a_scenario_that_agree_in_the_parameters(
    tier: Tier,
) -> None:
    found = tier.values("goodput", by=["bottleneck_mbps"], scenario="shared")
    runs = tier.metrics().filter(metric="goodput", scenario="shared", subject="flow:0")["value"]
    assert len(runs) == 2
    assert found.row(0, named=True) == {
        "scenario": "shared", "bottleneck_mbps": 5, "subject": "flow:0", "unit": "Mbit/s",
        "mean": pytest.approx(sum(runs) / 2), "least": min(runs), "greatest": max(runs), "runs": 2,
    }  # fmt: skip
    with pytest.raises(BdpbenchError, match="no 'godput'"):
        tier.values("godput")
    with pytest.raises(BdpbenchError, match="no 'protcol'"):
        tier.values("goodput", by=["protcol"])


def test_a_curve_is_that_of_the_table_and_charts_say_what_they_show(tier: Tier) -> None:
    run_id = tier.runs()["run_id"][0]
    curve = tier.curve(run_id, "queue").group_by("subject").agg(pl.col("value").max())
    table = tier.table(run_id, "queue")
    assert curve["value"].item() == pytest.approx(table["pkts"].max(), rel=0.01)
    shown = tier.charts().filter(pl.col("shows").list.contains("queue"))
    assert set(shown["scenario"]) == {"shared", "other_rtt"}
    with pytest.raises(BdpbenchError, match="no curve of 'queu'") as caught:
        tier.curve(run_id, "queu")
    assert caught.value.hint == "did you mean 'queue'?"


def test_a_tier_compared_with_itself_differs_in_nothing(tier: Tier) -> None:
    assert tier.compare(tier).is_empty()


def test_the_page_tells_every_column() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for title, schema in (
        ("runs", RUNS_SCHEMA),
        ("metrics", METRICS_SCHEMA),
        ("numbers", NUMBERS_SCHEMA),
        ("statements", STATEMENTS_SCHEMA),
    ):
        section = text.split(f"### Columns of `{title}`")[1].split("\n### ")[0]
        told = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`[^|]+) \|", section, re.M)))
        assert sorted(told) == sorted(schema), title


def test_the_page_tells_every_call() -> None:
    section = PAGE.read_text(encoding="utf-8").split("## Reference")[1]
    told = set(re.findall(r"^\| `(?:bdpbench|study|tier)\.(\w+)\(", section, re.M))
    public = {name for each in (Study, Tier) for name in vars(each) if name[0] != "_"}
    fields = set(Study.__dataclass_fields__)
    functions = {name for name in bdpbench.__all__ if name.islower() and name[0] != "_"}
    assert told == (public - fields) | functions


def test_what_can_be_asked_of_a_study(study: Study) -> None:
    assert (study.key, study.title) == ("dumbbell", "Stock protocols of ns-2 on a small dumbbell")
    assert study.tiers == ("quick",)
    assert study.protocols == {"Reno": "Reno", "Vegas": "Vegas"}
    assert study.scenarios["other_rtt"] == "One flow, another RTT and buffer"
    assert bdpbench.list_studies().drop("estimated_cpu_s").rows() == [
        ("dumbbell", study.title, "quick", 3)
    ]
    assert bdpbench.study(study.folder).key == "dumbbell"


def test_runs_have_their_parameters_as_columns(tier: Tier) -> None:
    runs = tier.runs()
    assert runs["finished"].to_list() == [True] * 3
    assert runs.select("scenario", "protocol", "buffer_pkts", "duration_s").rows() == [
        ("shared", "Reno", 25, 20.0),
        ("shared", "Vegas", 25, 20.0),
        ("other_rtt", "Reno", 50, 20.0),
    ]
    assert runs.schema["buffer_pkts"] == pl.Int64
    assert runs.schema["bottleneck_mbps"].is_numeric()


def test_a_table_has_what_ns2_wrote(tier: Tier) -> None:
    run_id = tier.runs().filter(scenario="other_rtt")["run_id"][0]
    written = list((run_folder(tier.results / "runs", run_id) / "out").glob("*cwnd*"))
    assert len(written) == 1
    lines = written[0].read_text().splitlines()
    cwnd = tier.table(run_id, "cwnd")
    assert cwnd.height == len(lines)
    assert cwnd["time_s"][-1] == pytest.approx(float(lines[-1].split()[0]))
    assert "queue" in tier.tables(run_id)


def test_numbers_are_those_of_the_study_with_verdicts(tier: Tier) -> None:
    with (STUDY / "published.csv").open(newline="") as stream:
        listed = list(csv.DictReader(stream))
    rows = {row["id"]: row for row in tier.numbers(each_run=True).rows(named=True)}
    assert {(key, row["published"]) for key, row in rows.items()} == {
        (each["id"], float(each["value"])) for each in listed
    }
    for row in rows.values():
        if row["measured"] is None:
            assert row["verdict"] == "not_run"
        else:
            inside = row["lower"] <= row["measured"] <= row["upper"]
            assert (row["verdict"] == "reproduced") == inside
    reported = pl.read_parquet(tier.report.with_name("metrics.parquet"))
    assert tier.metrics().equals(reported)
    assert tier.statements().is_empty()
    assert tier.statements().columns == list(STATEMENTS_SCHEMA)


def test_published_results_are_read_without_runs(
    tier: Tier, published_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BDPBENCH_RESULTS", str(tmp_path / "none"))
    kept = bdpbench.published("dumbbell", folder=published_once)
    assert kept.numbers().equals(tier.numbers())
    assert kept.metrics().equals(tier.metrics())
    assert kept.runs().equals(tier.runs())
    assert kept.charts().equals(tier.charts())
    assert kept.report.parent == published_once
    with pytest.raises(BdpbenchError, match="not published"):
        kept.table(kept.runs()["run_id"][0], "cwnd")
    with pytest.raises(BdpbenchError, match="only read"):
        kept.simulate()
    assert not (tmp_path / "none").exists()


def test_what_is_wrong_is_told_with_a_hint(study: Study, tier: Tier, tmp_path: Path) -> None:
    run_id = tier.runs()["run_id"][0]
    fresh = bdpbench.study("dumbbell", results=tmp_path / "fresh").tier("quick")
    assert not fresh.runs()["finished"].any()
    for call, said, hint in (
        (lambda: bdpbench.study("dumbell"), "unknown study", "did you mean 'dumbbell'"),
        (lambda: study.tier("paper"), "no runs in tier 'paper'", "its tiers: quick"),
        (lambda: tier.table("0" * 16, "cwnd"), "has no run", "ids of all runs"),
        (lambda: tier.table(run_id, "cwmd"), "has no table 'cwmd'", "did you mean 'cwnd'"),
        (lambda: tier.chart("x"), "no chart 'x'", "lists all names"),
        (lambda: fresh.table(run_id, "cwnd"), "has no results", "simulate() makes them"),
        (fresh.metrics, "3 of 3 runs have no results", "run dumbbell --tier quick"),
        (lambda: bdpbench.published("dumbbell"), "nothing of dumbbell is published", "folder="),
    ):
        with pytest.raises(BdpbenchError, match=re.escape(said)) as raised:
            call()
        assert hint in raised.value.hint


def test_the_import_loads_nothing_else() -> None:
    """It loads no more than the command line does for `--help`, until a notebook asks for more."""
    code = """
import sys
before = set(sys.modules)
import bdpbench
print(sorted(set(sys.modules) - before), hasattr(bdpbench, "no_such_name"), dir(bdpbench))
from bdpbench import BdpbenchError
print(BdpbenchError.__module__, "polars" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    names = "'BdpbenchError', 'Study', 'Tier', '__version__', 'list_studies', 'published', 'study'"
    assert first == f"['__future__', 'bdpbench'] False [{names}]"
    assert second == "bdpbench.errors False"
