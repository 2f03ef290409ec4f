"""A metric is one decorated function: what it must declare, and what is refused at once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.data_of import yaml_of
from tests.make import measure_run

from bdpbench.app.keep.results import KeptResults
from bdpbench.contracts.paths import config_dir, repository_root
from bdpbench.contracts.runs import TABLE_KEYS
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import (
    DEFINITIONS,
    Definition,
    Metric,
    code_of,
    definitions_for,
    percentile,
)
from bdpbench.studies.load import find_study, study_keys
from bdpbench.trace import OUTPUT_FORMATS

Load = Callable[..., dict[str, Definition]]
# Metrics of published results that no study has any more.
_GONE = """
early_drops finished_pages forced_drop_rate forced_drops group_jain_index
last_max_p max_queueing_delay mean_object_response_time mean_page_objects mean_page_response_time
mean_red_average median_flow_completion_time median_object_response_time median_page_response_time
median_queueing_delay min_cwnd p95_page_response_time p99_flow_completion_time
p99_object_response_time p99_page_response_time p99_queueing_delay queue_min_after_peak
random_loss_rate
"""
GONE = {*_GONE.split()}


def test_a_definition_says_what_is_measured_in_what_and_after_whom() -> None:
    for each in DEFINITIONS.values():
        assert each.unit in {"s", "ms", "1", "%", "packets", "Mbit/s"}, each
        assert each.text.endswith("."), each
        assert each.text[0].isupper() or each.text.startswith(("cwnd", "(x1", "time_to")), each
        assert each.source, each
        assert 0 < len(each.title) < 60, each
        assert "  " not in each.text, each
    assert len({each.title for each in DEFINITIONS.values()}) == len(DEFINITIONS)


def test_the_tables_that_metrics_may_need_are_those_that_runs_can_have() -> None:
    assert set(TABLE_KEYS) == set(OUTPUT_FORMATS)


def test_a_run_says_what_it_lacks_for_a_metric() -> None:
    metric = definitions_for(find_study("sharma2006"))["time_to_90pct_cwnd_after_drop"]
    assert isinstance(metric, Metric)
    assert metric.lacking(["queue"], ["rtt_1_ms", "rtt_2_ms", "bdp_pkts"]) == [
        "table cwnd",
        "parameter drop_packet",
    ]
    assert metric.lacking(["cwnd"], ["rtt_ms", "bdp_pkts", "drop_packet"]) == []


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load the definitions of a study whose module has this body after the imports."""

    def of(body: str) -> dict[str, Definition]:
        (tmp_path / "metrics.py").write_text(f"from bdpbench.metrics import *\n\n{body}")
        return dict(definitions_for(tmp_path))

    return of


FIVE = """\
@link_metric(unit="1", title="Five", text="Five.", source="RFC 1", tables=("queue",))
def five(link):
    return 5.0
"""


def test_a_study_s_metrics_are_its_alone(
    load: Load, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert definitions_for(tmp_path) == DEFINITIONS
    found = load(FIVE)
    assert f"{tmp_path / 'metrics.py'}: is executed" in capsys.readouterr().err
    assert list(found) == [*DEFINITIONS, "five"]
    assert found["five"].title == "Five"
    assert "five" not in definitions_for(tmp_path / "other")
    assert not list(tmp_path.rglob("*.pyc"))


def test_what_a_study_s_metrics_import_counts(
    load: Load, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    imported = f"from parts.words import TEXT\nimport sums\n{FIVE}".replace('"Five."', "TEXT")
    (tmp_path / "parts").mkdir()
    (tmp_path / "sums.py").write_text("")
    codes = []
    for words in ("One.", "Two."):
        (tmp_path / "parts" / "words.py").write_text(f"TEXT = {words!r}\n")
        assert load(imported)["five"].text == words
        codes.append(code_of(tmp_path))
    (tmp_path / "sums.py").write_text("TWO = 2\n")
    assert len({*codes, code_of(tmp_path)}) == 3
    other = tmp_path_factory.mktemp("other")  # has modules of its own under the same names
    (other / "sums.py").write_text("THREE = 3\n")
    (other / "metrics.py").write_text(f"from bdpbench.metrics import *\nimport sums\n\n{FIVE}\n")
    assert "five" in definitions_for(other)
    assert not [each for each in ("sums", "parts", "parts.words") if each in sys.modules]
    assert not list(tmp_path.rglob("__pycache__"))


@pytest.mark.parametrize("from_there", ["sys.path.insert(0, {beside!r})", "pass"])
def test_a_study_s_metrics_import_nothing_that_no_digest_covers(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, from_there: str
) -> None:
    beside = tmp_path.parent / f"{tmp_path.name}_beside"
    beside.mkdir()
    (beside / "helper.py").write_text("")
    if from_there == "pass":
        monkeypatch.syspath_prepend(beside)
    body = f"import sys\n{from_there.format(beside=str(beside))}\nimport helper\n{FIVE}"
    with pytest.raises(BdpbenchError, match=r"metrics\.py: imports helper, which is neither"):
        load(body)
    assert str(beside) not in sys.path or from_there == "pass"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"queue"', '"queues"', r"metrics\.py:3: metric five needs table 'queues', which no run"),
        ('("queue",)', "()", "metric five names no table"),
        ('"Five."', '" "', "metric five has no text"),
        ('text="Five.", ', "", "metric five has no text"),
        ('source="RFC 1"', 'source=""', "metric five has no source"),
        ("five(link)", "utilization(link)", "metric utilization is defined twice"),
        ("return 5.0", "return 5.0 +", r"metrics\.py:5: .*SyntaxError"),
        ("@link", "1 / 0\n@link", r"metrics\.py:3: .*ZeroDivisionError"),
        ('unit="1", ', "", r"metrics\.py:3: .*TypeError.* missing 1 .*'unit'"),
        ("unit=", "units=1, unit=", "metric five: its declaration got an unexpected .*'units'"),
        ("def five(link):\n    return", "(lambda link:", "metrics.py:4: .*SyntaxError"),
        ("@link", "import nowhere\n@link", r"metrics\.py:3: .*ModuleNotFoundError.*nowhere"),
        ("unit=", 'better="best", apart=1.0, unit=', "expected more, less or nearest"),
        ("unit=", 'better="less", unit=', "better needs apart"),
        ("unit=", "apart=1.0, unit=", "apart needs better"),
        ("unit=", 'better="nearest", apart=1.0, unit=', "needs reference"),
    ],
)
def test_a_metric_that_will_not_do_is_refused_when_it_is_loaded(
    load: Load, before: str, after: str, said: str
) -> None:
    assert before in FIVE
    with pytest.raises(BdpbenchError, match=said):
        load(FIVE.replace(before, after))


def test_a_metric_that_reads_a_table_that_a_run_lacks_is_told(load: Load, build: Any) -> None:
    found = {"five": load(FIVE.replace("5.0", "link.rows('red').height"))["five"]}
    tables = {"queue": build.table({"b": build.queue([1] * 10)})}
    with pytest.raises(BdpbenchError, match="run r: a metric reads table red, which the run does"):
        measure_run({"duration_s": 10}, tables, run_id="r", scenario="s", definitions=found)


def test_an_error_in_a_study_s_metric_names_its_line(load: Load, build: Any) -> None:
    found = {"five": load(FIVE.replace("5.0", "link.nothing"))["five"]}
    tables = {"queue": build.table({"b": build.queue([1] * 10)})}
    with pytest.raises(BdpbenchError, match=r"metrics\.py:5: five cannot be computed: Attribute"):
        measure_run({"duration_s": 10}, tables, run_id="r", scenario="s", definitions=found)


def test_the_code_of_a_study_is_also_that_of_its_metrics(load: Load, tmp_path: Path) -> None:
    common = code_of(tmp_path)
    assert common == code_of(tmp_path / "other")
    load(FIVE)
    own = code_of(tmp_path)
    load(FIVE.replace("5.0", "6.0"))
    assert len({common, own, code_of(tmp_path)}) == 3


def test_a_metric_of_several_runs_is_made_of_metrics_that_there_are(load: Load) -> None:
    group = """\
@group_metric(unit="1", title="", text="All.", source="RFC 1", metrics=("utilisation",))
def all_of_them(group):
    yield from ((row, row.value) for row in group.rows_of("utilisation"))
"""
    with pytest.raises(BdpbenchError, match="made of 'utilisation', which is not a metric of"):
        load(group)
    assert "all_of_them" in load(group.replace("utilisation", "utilization"))


TAILS = """\
from functools import partial

def longest(link, *, less):
    return link.queue["pkts"].max() - less

for less in (1, 2):
    link_metric(unit="packets", title=f"Less {less}", text="The longest.", source="RFC 1",
                tables=("queue",), name=f"longest_less_{less}",
                when=lambda link, least=less: link.queue["pkts"].max() >= least,
    )(partial(longest, less=less))

@family(partial(link_metric, "packets", source="RFC 1", tables=("queue",)), MEAN, percentile(90),
        Statistic("least", "Least", "Least", lambda x: x.min()), title="queue", text="queue.")
def length(link):
    return link.queue["pkts"]
"""


def test_metrics_may_be_closures_partials_and_families(
    load: Load, build: Any, tmp_path: Path
) -> None:
    found = load(TAILS)
    own = {name: each for name, each in found.items() if name not in DEFINITIONS}
    queue = build.table({"b": build.queue([5, 1, 1, 1, 1, 1, 1, 1, 1, 2])})
    rows = measure_run(
        {"duration_s": 10}, {"queue": queue}, run_id="r", scenario="s", definitions=own
    )
    assert dict(rows.select("metric", "value").iter_rows()) == {
        "longest_less_1": 4.0,
        "longest_less_2": 3.0,
        "mean_length": 1.5,
        "p90_length": 2.0,
        "least_length": 1.0,
    }
    assert found["p90_length"].title == "90th percentile of the queue"
    with pytest.raises(BdpbenchError, match=r"metrics\.py:8: a metric has no name.*hint|no name"):
        load(TAILS.replace('name=f"longest_less_{less}",', ""))


def test_a_docstring_is_the_definition(load: Load) -> None:
    body = FIVE.replace('text="Five.", ', "").replace(
        "    return", '    """Five of {WHAT}, over\n    {HALF}."""\n    return'
    )
    found = load("WHAT = 'the links'\n" + body)
    assert found["five"].text == (
        "Five of the links, over the second half of the run, (duration/2, duration]."
    )


@pytest.mark.parametrize(
    ("rank", "nth"), [(1, "1st"), (11, "11th"), (21, "21st"), (22, "22nd"), (93, "93rd")]
)
def test_a_percentile_has_the_name_of_its_rank(rank: int, nth: str) -> None:
    samples = pl.Series(range(1, 101))
    assert percentile(rank).title == f"{nth} percentile of the"
    assert (percentile(rank).name, percentile(rank).value(samples)) == (f"p{rank}", rank)


def test_published_ids_are_what_they_were() -> None:
    """Each definition that a published study was measured by is one of today's, or is gone."""
    folders = list(repository_root().glob("reports/published/*"))
    beside = [path.parent for path in config_dir().glob("*/evaluate.yaml")]
    studies = [*map(find_study, study_keys()), *beside, config_dir() / "two_simulators"]
    assert {KeptResults(each).provenance["study"] for each in folders} == {
        each.name for each in studies
    }
    known = {
        metric: each.id for study in studies for metric, each in definitions_for(study).items()
    }
    for folder in folders:
        published = pl.read_parquet(folder / "metrics.parquet", columns=["metric", "definition"])
        for metric, definition in published.unique().iter_rows():
            assert metric in GONE or known[metric] == definition


def test_each_metric_has_one_direction() -> None:
    """``directions.yaml`` was written by reading what each metric means."""
    folders = [path.parent for path in config_dir().rglob("metrics.py")]
    known = {name: each for path in folders for name, each in definitions_for(path).items()}
    expected = {
        name: (row["better"], row.get("reference"))
        for row in yaml_of(Path(__file__).with_name("directions.yaml").read_text())
        for name in row["metrics"].split()
    }
    found = {name: (each.better, each.reference) for name, each in known.items()}
    assert found == expected
    # 0.6 s to 90 % utilization is better than 5.5 s, whatever else a name contains.
    assert found["time_to_90pct_utilization"] == ("less", None)
