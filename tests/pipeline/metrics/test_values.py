"""Values are kept with a digest of what they depend on; only affected ones are computed again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.metrics import (
    DEFINITIONS,
    VALUES_SCHEMA,
    Definition,
    as_metrics,
    definitions_for,
    measure_run,
    measure_values,
    metric_rows,
)

PARAMETERS: dict[str, Any] = {
    "duration_s": 10,
    "bottleneck_mbps": 100,
    "rtt_ms": 100,
    "bdp_pkts": 1000,
    "buffer_pkts": 50,
}
CHECKSUMS = {"cwnd": "c", "utilization": "u"}
# Each metric appends its name to a file, which shows the test what was computed.
MODULE = """\
from pathlib import Path

from bdpbench.metrics import flow_metric, link_metric

LOG = Path({log!r})


def note(name):
    with LOG.open("a") as stream:
        stream.write(name + " ")


@flow_metric(unit="packets", title="", text="A.", source="B", tables=("cwnd",),
             parameters=("bdp_pkts",))
def of_cwnd(flow):
    note("of_cwnd")
    return flow.number("bdp_pkts") + flow.cwnd.height


@link_metric(unit="packets", title="", text="A.", source="B", tables=("utilization",),
             optional=("buffer_pkts",))
def of_link(link):
    note("of_link")
    return link.number("buffer_pkts") if link.has("buffer_pkts") else None


@flow_metric(unit="s", title="", text="A.", source="B", tables=("cwnd",), parameters=("rtt_ms",))
def of_rtt(flow):
    note("of_rtt")
    return flow.rtt_s
"""


@pytest.fixture
def tables(build: Any) -> dict[str, pl.LazyFrame]:
    cwnd = build.cwnd([(0.0, 1), (5.0, 2), (10.0, 3)])
    return {
        "cwnd": build.table({0: cwnd, 1: cwnd}),
        "utilization": build.table({"b": build.bins([50] * 10)}),
    }


class Study:
    """A study whose own metrics record when they are computed."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._log = folder, folder / "log.txt"
        self.text = MODULE.format(log=str(self._log))

    def definitions(self) -> Mapping[str, Definition]:
        (self._folder / "metrics.py").write_text(self.text)
        found = definitions_for(self._folder)
        return {name: each for name, each in found.items() if name not in DEFINITIONS}

    def computed(self) -> set[str]:
        """The metrics that were computed since the last call."""
        names = set(self._log.read_text().split()) if self._log.exists() else set()
        self._log.unlink(missing_ok=True)
        return names


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


def _parameters(**changes: Any) -> dict[str, Any]:
    merged = {**PARAMETERS, **changes}
    return {name: value for name, value in merged.items() if value is not None}


ALL = {"of_cwnd", "of_link", "of_rtt"}


def test_what_is_kept_is_not_computed_again(study: Study, tables: Any) -> None:
    first = measure_values(PARAMETERS, tables, CHECKSUMS, study.definitions())
    assert study.computed() == ALL
    again = measure_values(PARAMETERS, tables, CHECKSUMS, study.definitions(), kept=first)
    assert study.computed() == set()
    assert again.equals(first)
    assert first.schema == VALUES_SCHEMA


def test_where_all_is_kept_no_table_is_read(study: Study, tables: Any) -> None:
    first = measure_values(PARAMETERS, tables, CHECKSUMS, study.definitions())
    gone = dict.fromkeys(tables, pl.scan_parquet("gone.parquet"))
    again = measure_values(PARAMETERS, gone, CHECKSUMS, study.definitions(), kept=first)
    assert again.equals(first)


def _metric(study: Study) -> None:
    study.text = study.text.replace("+ flow.cwnd.height", "- flow.cwnd.height")


def test_a_changed_file_of_metrics_computes_its_metrics(study: Study, tables: Any) -> None:
    first = measure_values(PARAMETERS, tables, CHECKSUMS, study.definitions())
    study.computed()
    _metric(study)
    again = measure_values(PARAMETERS, tables, CHECKSUMS, study.definitions(), kept=first)
    assert study.computed() == ALL
    values = dict(again.filter(pl.col("subject") == "flow:0").select("metric", "value").iter_rows())
    assert values["of_cwnd"] == 997.0
    assert values["of_rtt"] == 0.1


@pytest.mark.parametrize(
    ("changes", "computed"),
    [
        ({"bdp_pkts": 2000}, {"of_cwnd"}),
        ({"buffer_pkts": None}, {"of_link"}),  # an optional parameter is missing
        ({"rtt_2_ms": 50}, {"of_rtt"}),  # a parameter of a single flow
        ({"bottleneck_mbps": 1}, set()),
        ({"label": "other"}, set()),
        ({"duration_s": 9.5}, ALL),
    ],
)
def test_a_changed_parameter_computes_the_metrics_that_read_it(
    study: Study, tables: Any, changes: dict[str, Any], computed: set[str]
) -> None:
    first = measure_values(PARAMETERS, tables, CHECKSUMS, study.definitions())
    study.computed()
    measure_values(_parameters(**changes), tables, CHECKSUMS, study.definitions(), kept=first)
    assert study.computed() == computed


def test_a_changed_table_computes_the_metrics_that_read_it(study: Study, tables: Any) -> None:
    first = measure_values(PARAMETERS, tables, CHECKSUMS, study.definitions())
    study.computed()
    changed = {**CHECKSUMS, "utilization": "other"}
    measure_values(PARAMETERS, tables, changed, study.definitions(), kept=first)
    assert study.computed() == {"of_link"}


def test_a_metric_that_a_run_does_not_have_is_not_asked_again(study: Study, tables: Any) -> None:
    parameters = _parameters(bdp_pkts=None)
    first = measure_values(parameters, tables, CHECKSUMS, study.definitions())
    assert study.computed() == ALL - {"of_cwnd"}
    assert first.filter(pl.col("metric") == "of_cwnd")["subject"].to_list() == [None]
    rows = as_metrics(metric_rows(first, study.definitions(), run_id="r", scenario="s"))
    assert "of_cwnd" not in set(rows["metric"])
    assert measure_values(parameters, tables, CHECKSUMS, study.definitions(), kept=first).equals(
        first
    )


def test_kept_values_are_those_that_are_measured(tables: Any) -> None:
    fresh = measure_run(PARAMETERS, tables, run_id="r", scenario="s")
    kept = measure_values(PARAMETERS, tables, CHECKSUMS)
    again = measure_values(PARAMETERS, tables, CHECKSUMS, kept=kept)
    assert as_metrics(metric_rows(again, DEFINITIONS, run_id="r", scenario="s")).equals(fresh)


def test_a_series_that_ends_early_is_told_whatever_is_kept(study: Study, tables: Any) -> None:
    first = measure_values(PARAMETERS, tables, CHECKSUMS, study.definitions())
    with pytest.raises(BdpbenchError, match="ends at 10 s, the run lasts 20 s"):
        measure_values(
            _parameters(duration_s=20), tables, CHECKSUMS, study.definitions(), kept=first
        )


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('parameters=("bdp_pkts",)', "parameters=()", "of_cwnd reads parameter bdp_pkts and does"),
        (
            "link.number(",
            "link.run.table('cwnd').height + link.number(",
            "of_link reads table cwnd",
        ),
        ("return flow.rtt_s", "return flow.full_cuts.height", "of_rtt reads parameter bdp_pkts"),
    ],
)
def test_what_is_read_has_to_be_declared(
    study: Study, tables: Any, before: str, after: str, said: str
) -> None:
    # Otherwise a change of it would leave the kept value unchanged.
    assert before in study.text
    study.text = study.text.replace(before, after)
    with pytest.raises(BdpbenchError, match=said):
        measure_values(PARAMETERS, tables, CHECKSUMS, study.definitions())


def test_a_shared_result_has_to_be_declared_even_if_another_metric_asked_first(
    study: Study, tables: Any
) -> None:
    study.text = study.text.replace("return flow.rtt_s", "return flow.cuts.height").replace(
        'parameters=("bdp_pkts",)', 'parameters=("bdp_pkts", "rtt_ms")'
    )
    study.text = study.text.replace('flow.number("bdp_pkts")', "flow.cuts.height")
    measure_values(PARAMETERS, tables, CHECKSUMS, study.definitions())  # both declare rtt_ms
    study.text = study.text.replace('parameters=("rtt_ms",)', "parameters=()")
    with pytest.raises(BdpbenchError, match="of_rtt reads parameter rtt_ms and does not declare"):
        measure_values(PARAMETERS, tables, CHECKSUMS, study.definitions())
