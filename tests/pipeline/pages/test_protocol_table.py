"""The table at the top: rows are protocols, or pairs where little is measured of single ones."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from bdpbench.pages import protocols as table_module
from bdpbench.pages.experiments import experiments
from bdpbench.pages.inputs import ReportData
from bdpbench.pages.protocols import ProtocolTable, protocol_table


def _table(inputs: Any, *keys: str) -> ProtocolTable | None:
    data = ReportData(inputs.frozen(), 200)
    shown = [
        replace(each, asked=("utilization",)) for each in experiments(data) if each.key in keys
    ]
    return protocol_table(data, shown, [], ["HS"])


def test_a_row_is_a_protocol(inputs: Any) -> None:
    found = _table(inputs, "single_flow", "pair")
    assert found is not None
    assert [(row.who, row.protocols, row.anchor) for row in found.rows] == [
        ("HS-TCP", ("HS-TCP",), "protocol-HS"),
        ("Scalable TCP", ("Scalable TCP",), ""),
    ]
    assert (found.title, [each.scenario for each in found.columns]) == (
        "By protocol",
        ["single_flow"],
    )


def test_a_row_is_a_pair_where_most_experiments_have_pairs(inputs: Any) -> None:
    found = _table(inputs, "pair")
    assert found is not None
    assert found.title == "By protocols that meet"
    assert found.protocols == ["HS-TCP", "Scalable TCP"]
    # The synthetic runs have 80 % and one more for each run before: eight are before the pairs.
    assert [
        (row.who, row.anchor, [cell and cell.text for cell in row.cells]) for row in found.rows
    ] == [
        ("HS-TCP and Scalable TCP", "", ["88"]),
        ("Scalable TCP and HS-TCP", "", ["89"]),
    ]


def test_more_pairs_than_a_table_can_show_are_left_to_matrices(
    inputs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.parametrize(
    ("better", "values", "marks"),
    [
        ("more", (97.531, 97.534, 90.0), ["best", "best", "worst"]),
        ("less", (1.0, 2.0, 3.0), ["best", "", "worst"]),
        ("", (1.0, 2.0, None), ["lowest", "highest", ""]),
        ("more", (97.531, 97.534, None), ["", "", ""]),
    ],
)
def test_what_looks_the_same_is_marked_alike(
    better: str, values: tuple[float | None, ...], marks: list[str]
) -> None:
    column = table_module.Column("one", "utilization", "One", "Utilization", "%", "", better)
    of = pl.DataFrame({"who": ["A", "B", "C"], "value": values, "run_id": ["1", "2", "3"]})
    cells = table_module._cells(column, of, {who: (who,) for who in "ABC"}, [])
    assert [cell and cell.mark for cell in cells] == marks
