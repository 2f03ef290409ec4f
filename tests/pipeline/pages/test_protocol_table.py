"""The table at the top: rows are protocols, or pairs where little is measured of single ones."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from tests.pipeline.pages.synthetic import Inputs

from bdpbench.contracts.judged import Judged
from bdpbench.pages import protocols as table_module
from bdpbench.pages.experiments import experiments
from bdpbench.pages.inputs import ReportData
from bdpbench.pages.protocols import ProtocolTable, protocol_table


def _table(inputs: Inputs, *keys: str) -> ProtocolTable | None:
    data = ReportData(inputs.frozen(), 200)
    shown = [
        replace(each, asked=("utilization",)) for each in experiments(data) if each.key in keys
    ]
    return protocol_table(data, shown, [], ["HS"])


def test_a_row_is_a_protocol_or_a_pair(inputs: Inputs, monkeypatch: pytest.MonkeyPatch) -> None:
    both, pairs = _table(inputs, "single_flow", "pair"), _table(inputs, "pair")
    assert both is not None
    assert both.title == "By protocol"
    rows = {row.who: row.anchor for row in both.rows}
    assert rows == {"HS-TCP": "protocol-HS", "Scalable TCP": ""}
    assert pairs is not None  # most experiments have pairs
    assert pairs.title == "By protocols that meet"
    # The synthetic runs have 80 % and one more for each run before: eight are before the pairs.
    cells = {row.who: row.cells[0] and row.cells[0].text for row in pairs.rows}
    assert cells == {"HS-TCP and Scalable TCP": "88", "Scalable TCP and HS-TCP": "89"}
    assert both.protocols == pairs.protocols == ["HS-TCP", "Scalable TCP"]
    # More pairs than a table can show are left to matrices.
    monkeypatch.setattr(table_module, "MOST_PAIRS", 1)
    assert _table(inputs, "pair") is None


def test_where_few_experiments_compare_queues_these_have_no_columns() -> None:
    """Their rows, one for each queue, would be empty in all other columns."""
    plain, red, tail = "A and B", "A and B with RED", "A and B with DropTail"
    keys_of = {who: ("A", "B") for who in (plain, red, tail)}
    whose = {"one": [plain], "two": [plain], "queues": [red, tail]}
    found = {(key, "utilization"): pl.DataFrame({"who": who}) for key, who in whose.items()}
    asked: Any = [SimpleNamespace(key=key, question="") for key in whose]
    main = table_module._main(found, keys_of, asked)
    assert [scenario for scenario, _ in main] == ["one", "two"]
    del found["one", "utilization"]
    assert len(table_module._main(found, keys_of, asked)) == 2


SETTING: Any = {"x": None, "others": "", "rank": 0, "unit": "%"}
UTILIZATION = Judged("more", 1.0, 100, "%")


def _marks(judged: Judged, *runs: tuple[str, float | None]) -> list[tuple[str, str]]:
    column = table_module.Column("one", "metric", "One", "Metric", "%", "", judged)
    rows = [
        {"who": who, "value": value, "run_id": str(n), **SETTING}
        for n, (who, value) in enumerate(runs)
    ]
    of = pl.DataFrame(rows, schema_overrides={"value": pl.Float64, "x": pl.Float64})
    whom = {who: (who,) for who, _ in runs}
    return [(each.text, each.mark) for each in table_module._cells(column, of, whom, []).values()]


@pytest.mark.parametrize(
    ("judged", "values", "marks"),
    [
        (UTILIZATION, (97.534, 97.486, 90.0), ["best", "best", "worst"]),
        (UTILIZATION, (99.98, 99.95, 99.9), ["", "", ""]),  # smaller than what counts
        (UTILIZATION, (97.531, 97.534, None), ["best", "best", "worst"]),
        (Judged("less", 0.05, None, "s"), (0.6, 2.0, 5.5), ["best", "", "worst"]),
        (Judged("nearest", 0.05, 1.0, "1"), (1.91, 1.0, 0.2), ["", "best", "worst"]),
        (Judged("nearest", 0.05, 0.0, "1"), (-0.228, 0.9, -0.93), ["best", "worst", "worst"]),
        (Judged(), (1.0, 2.0, None), ["lowest", "highest", ""]),
    ],
)
def test_what_is_marked_differs_by_what_counts(
    judged: Judged, values: tuple[float | None, ...], marks: list[str]
) -> None:
    found = _marks(judged, *zip("ABC", values, strict=True))
    assert [mark for _, mark in found] == marks
    # The mean of B is the smallest, but A was once faster.
    seconds = Judged("less", 0.05, None, "s")
    open_place = _marks(seconds, ("A", 3.4), ("A", 25.8), ("B", 3.6), ("B", 3.8), ("C", 40.0))
    assert open_place == [("14.6", ""), ("3.7", ""), ("40", "worst")]
