"""The folder of exports: its files, and captions that say where every number comes from."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.pages.exports import ExportRequest, export_files

ORIGIN = "ns-2.35 build 0123456789abcdef; bdpbench 9.9, commit abc."


def _export(inputs: Any, *formats: str, **wanted: Any) -> dict[str, bytes]:
    files = export_files(
        inputs.frozen(),
        ExportRequest(formats, ORIGIN, **wanted),
    )
    return dict(files)


def test_figures_tables_and_captions_are_there(inputs: Any) -> None:
    files = _export(inputs, "svg", "png", only=("single-flow-[cq]*",))
    figures = {name for name in files if name.startswith("figures/")}
    assert figures == {
        f"figures/single-flow-{table}.{ending}"
        for table in ("cwnd", "queue", "queue-share")
        for ending in ("svg", "png")
    }
    tables = {name for name in files if name.startswith("tables/")}
    assert {
        f"tables/{name}.{ending}"
        for name in ("numbers", "statements", "totals")
        for ending in ("tex", "md", "csv")
    } <= tables
    assert {"captions.json", "captions.md"} <= set(files)


def test_a_caption_names_runs_definition_build_and_commit(inputs: Any) -> None:
    files = _export(inputs, "svg", only=("buffer-size-sweep-utilization",))
    captions = {each["file"]: each for each in json.loads(files["captions.json"])["captions"]}
    caption = captions["figures/buffer-size-sweep-utilization"]
    ids = {run["run_id"] for run in inputs.plan["runs"] if run["scenario"] == "buffer_size"}
    assert set(caption["run_ids"]) == ids
    assert caption["origin"] == ORIGIN
    assert list(caption["definitions"]) == ["utilization/1"]
    assert "second half of the run" in caption["definitions"]["utilization/1"]
    svg = files["figures/buffer-size-sweep-utilization.svg"].decode()
    assert all(run_id in svg for run_id in ids)
    assert ORIGIN in svg
    for ending in ("tex", "md"):
        assert "0123456789abcdef" in files[f"tables/numbers.{ending}"].decode()


def test_equal_inputs_give_equal_bytes(inputs: Any) -> None:
    only = ("single-flow-cwnd", "buffer-size-sweep-utilization")
    assert _export(inputs, "svg", only=only) == _export(inputs, "svg", only=only)


def test_figures_of_single_runs_can_be_left_out(inputs: Any) -> None:
    names = _export(inputs, "svg", only=("single-flow-cwnd", "pair-*"), several_runs=True)
    assert "figures/single-flow-cwnd.svg" in names
    assert not any("pair-hs-tcp-and-scalable-tcp" in name for name in names)


def test_a_pattern_that_fits_nothing_is_told(inputs: Any) -> None:
    with pytest.raises(BdpbenchError, match=r"no figure has the name 'nothing-\*'"):
        _export(inputs, "svg", only=("nothing-*",))


def test_numbers_in_tables_are_those_of_the_scorecard(inputs: Any) -> None:
    files = _export(inputs, "svg", only=("single-flow-cwnd",))
    text = files["tables/numbers.csv"].decode()
    assert "scalable-40" in text
    assert "70.7" in text  # deviation in percent, as in the scorecard
    assert "| all | 1 | 1 | 2 | 1 | 1 | 0 | 1 |" in files["tables/totals.md"].decode()
