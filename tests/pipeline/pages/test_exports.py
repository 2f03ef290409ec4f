"""Figures, tables and captions as files: names, contents, sources, stable bytes."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.pages.exports import (
    FIGURE_FORMATS,
    ExportRequest,
    Figure,
    Renderer,
    export_files,
    figures_of,
    run_ids_of,
)
from bdpbench.pages.inputs import read_captions


@pytest.fixture(scope="module")
def sections(synthetic: Any) -> Any:
    return synthetic.synthetic_inputs().sections()


@pytest.fixture(scope="module")
def figures(sections: Any) -> dict[str, Figure]:
    return {figure.name: figure for figure in figures_of(sections)}


@pytest.fixture(scope="module")
def renderer(sections: Any) -> Renderer:
    return Renderer(sections.data.series, read_captions())


@pytest.fixture(scope="module")
def shapes(figures: dict[str, Figure]) -> list[Figure]:
    """One figure of each shape: of each table over time, and of each kind of mark in the others."""
    found: dict[str, Figure] = {}
    for figure in figures.values():
        content = figure.chart.content
        marks = content.get("spec", {}).get("layer", ())
        found.setdefault(f"{content['kind']} {[each['mark'] for each in marks]}", figure)
    return list(found.values())


def test_there_are_shapes_of_all_kinds(shapes: list[Figure]) -> None:
    # Four tables and the distribution of the queue; the sweep over buffers, and the matrix of
    # pairs.
    kinds = [figure.chart.content["kind"] for figure in shapes]
    assert {"cwnd", "throughput", "utilization", "queue", "queue_share"} < set(kinds)
    assert kinds.count("spec") >= 2


def test_names_say_where_a_chart_belongs_and_what_it_shows(figures: dict[str, Figure]) -> None:
    assert {
        "single-flow-cwnd",
        "buffer-size-buffer-40-packets-queue",
        "buffer-size-hs-tcp-all-values-cwnd",
        "buffer-size-sweep-utilization",
        "pairs-pair-asymmetry-of-the-two-flows",
    } <= set(figures)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in figures)


def test_a_name_stays_when_other_charts_go(inputs: Any, figures: dict[str, Figure]) -> None:
    inputs.plan["runs"] = [run for run in inputs.plan["runs"] if run["scenario"] != "single_flow"]
    fewer = inputs.sections()
    left = {figure.name for figure in figures_of(fewer)}
    assert left <= set(figures)
    assert "single-flow-cwnd" not in left


def test_every_chart_of_the_page_becomes_one_figure(
    sections: Any, figures: dict[str, Figure]
) -> None:
    charts = [
        *(chart for each in sections.experiments for chart in each.summaries),
        *(chart for each in sections.experiments for view in each.views for chart in view.charts),
        *(chart for group in sections.matrices for chart in group.charts),
    ]
    assert sorted(each.chart.chart_id for each in figures.values()) == sorted(
        chart.chart_id for chart in charts
    )


def test_a_long_name_is_cut_to_what_file_systems_take(inputs: Any) -> None:
    for run in inputs.plan["runs"]:
        if run["scenario"] == "pair":
            run["label"] = f"{'a very long label ' * 30}{run['parameters']['protocol_1']}"
    sections = inputs.sections()
    names = [figure.name for figure in figures_of(sections)]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= 255 - len(".svg")


def test_a_time_chart_holds_every_point_of_its_lines(
    figures: dict[str, Figure], renderer: Renderer, inputs: Any
) -> None:
    figure = figures["single-flow-throughput"]
    spec = renderer.spec(figure.chart)
    run_id = run_ids_of(figure.chart)[0]
    table = inputs.tables[run_id, "throughput"]
    drawn = [
        (each["t"], each["v"]) for each in spec["datasets"]["samples"] if each["s"] == "HS-TCP"
    ]
    # 30 means over a second, preceded by the start of the first one's step; 200 bins keep them all.
    assert drawn[0] == (0.0, table["mbps"][0])
    assert drawn[1:] == list(zip(table["time_s"], table["mbps"], strict=True))
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 30]


def test_the_peak_of_a_single_sample_is_in_the_figure(
    figures: dict[str, Figure], renderer: Renderer
) -> None:
    spec = renderer.spec(figures["single-flow-cwnd"].chart)
    # SPIKE_PACKETS of the synthetic study; values are packed in steps of 5 packets.
    assert max(each["v"] for each in spec["datasets"]["samples"]) == pytest.approx(9876, abs=2.5)


@pytest.mark.parametrize(
    "name",
    ["single-flow-cwnd", "buffer-size-sweep-utilization", "pairs-pair-asymmetry-of-the-two-flows"],
)
def test_equal_charts_give_equal_bytes(
    name: str, figures: dict[str, Figure], renderer: Renderer
) -> None:
    chart = figures[name].chart
    drawn = [renderer.render(chart, "about", FIGURE_FORMATS) for _ in range(2)]
    assert drawn[1] == drawn[0]
    assert drawn[0]["png"].startswith(b"\x89PNG\r\n")
    assert drawn[0]["pdf"].startswith(b"%PDF-")


def test_a_pdf_embeds_one_face_of_the_font_that_comes_along(
    shapes: list[Figure], renderer: Renderer
) -> None:
    for figure in shapes:
        pdf = renderer.render(figure.chart, "", ["pdf"])["pdf"]
        faces = set(re.findall(rb"/BaseFont /[A-Z]{6}\+(\S+)", pdf))
        assert faces == {b"LiberationSans"}, figure.name


def test_an_svg_is_xml_that_carries_its_caption_and_loads_nothing(
    shapes: list[Figure], renderer: Renderer
) -> None:
    hostile = "a < b & <script>alert(1)</script>"
    for figure in shapes:
        svg = renderer.render(figure.chart, hostile, ["svg"])["svg"].decode()
        root = ET.fromstring(svg)
        assert root[0].tag == "{http://www.w3.org/2000/svg}desc"
        assert root[0].text == hostile
        assert "<script" not in svg
        assert not re.search(r'(?:href|src)="(?!#)', svg)


def test_the_runs_of_a_chart_are_those_of_its_lines_and_points(
    figures: dict[str, Figure], inputs: Any
) -> None:
    runs = {run["run_id"]: run for run in inputs.plan["runs"]}
    sweep = run_ids_of(figures["buffer-size-sweep-utilization"].chart)
    assert {runs[each]["scenario"] for each in sweep} == {"buffer_size"}
    assert len(sweep) == 6  # two protocols, three buffers
    assert len(run_ids_of(figures["single-flow-cwnd"].chart)) == 2


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
    assert "| all | 1 | 1 | 2 | 0 | 1 | 1 | 0 | 0 | 1 |" in files["tables/totals.md"].decode()
