"""A metric is one decorated function: what it must declare, and what is refused at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.tables import TABLE_KEYS
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import DEFINITIONS, Definition, Metric, definitions_for
from bdpbench.trace import OUTPUT_FORMATS

Load = Callable[..., dict[str, Definition]]


@pytest.mark.parametrize("definition", DEFINITIONS.values(), ids=lambda each: each.metric)
def test_a_definition_says_what_is_measured_in_what_and_after_whom(definition: Definition) -> None:
    assert definition.unit in {"s", "ms", "1", "%", "packets", "Mbit/s"}
    assert definition.text.endswith(".")
    assert definition.text[0].isupper() or definition.text.startswith(("cwnd", "(x1", "time_to"))
    assert definition.source
    assert definition.title


def test_titles_tell_metrics_apart() -> None:
    assert len({each.title for each in DEFINITIONS.values()}) == len(DEFINITIONS)


def test_sources_are_literature_and_no_key_of_a_study() -> None:
    for each in DEFINITIONS.values():
        assert "sharma2006" not in each.source + each.text
        assert "xu2004" not in each.source + each.text


def test_definitions_travel_as_json() -> None:
    documents = [each.as_document() for each in DEFINITIONS.values()]
    loaded = json.loads(json.dumps(documents))
    assert [each["metric"] for each in loaded] == list(DEFINITIONS)
    by_metric = {each["metric"]: each for each in loaded}
    assert by_metric["utilization"]["unit"] == "%"
    assert by_metric["utilization"]["id"] == "utilization/1"
    assert by_metric["min_buffer_90pct"]["level"] == "group"


def test_the_tables_that_metrics_may_need_are_those_that_runs_can_have() -> None:
    assert set(TABLE_KEYS) == set(OUTPUT_FORMATS)


def test_a_run_says_what_it_lacks_for_a_metric() -> None:
    metric = DEFINITIONS["time_to_90pct_cwnd_after_drop"]
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


def test_a_study_without_metrics_has_the_common_ones(tmp_path: Path) -> None:
    assert definitions_for(tmp_path) == DEFINITIONS


def test_a_study_s_metrics_are_its_alone(load: Load, tmp_path: Path) -> None:
    found = load(FIVE)
    assert list(found) == [*DEFINITIONS, "five"]
    assert found["five"].title == "Five"
    assert "five" not in definitions_for(tmp_path / "other")
    assert not list(tmp_path.rglob("*.pyc"))


def test_the_name_may_be_given(load: Load) -> None:
    assert "six" in load(FIVE.replace("unit=", 'name="six", unit='))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"queue"', '"queues"', r"metrics\.py:3: metric five needs table 'queues', which no run"),
        ('("queue",)', "()", "metric five names no table"),
        ('"Five."', '" "', "metric five has no text"),
        ('source="RFC 1"', 'source=""', "metric five has no source"),
        ("five(link)", "utilization(link)", "metric utilization is defined twice"),
        ("return 5.0", "return 5.0 +", r"metrics\.py:5: .*SyntaxError"),
        ("@link", "1 / 0\n@link", r"metrics\.py:3: .*ZeroDivisionError"),
        ('("queue",))', '("queue",), when=lambda link: True)', "stands inside of another function"),
        ("@link", "import nowhere\n@link", r"metrics\.py:3: .*ModuleNotFoundError.*nowhere"),
    ],
)
def test_a_metric_that_will_not_do_is_refused_when_it_is_loaded(
    load: Load, before: str, after: str, said: str
) -> None:
    assert before in FIVE
    with pytest.raises(BdpbenchError, match=said):
        load(FIVE.replace(before, after))


def test_a_metric_of_several_runs_is_made_of_metrics_that_there_are(load: Load) -> None:
    group = """\
@group_metric(unit="1", title="", text="All.", source="RFC 1", metrics=("utilisation",))
def all_of_them(group):
    yield from ((row, row.value) for row in group.rows_of("utilisation"))
"""
    with pytest.raises(BdpbenchError, match="made of 'utilisation', which is not a metric of"):
        load(group)
    assert "all_of_them" in load(group.replace("utilisation", "utilization"))
