"""Figures as files: their names, their content, and bytes that do not change."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from bdpbench.pages.exports import FIGURE_FORMATS, Figure, Renderer, figures_of, run_ids_of
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
        "protocol-hs-buffer-size-utilization",
        "pairs-pair-asymmetry-of-the-two-flows",
    } <= set(figures)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in figures)


def test_a_name_stays_when_other_charts_go(inputs: Any, figures: dict[str, Figure]) -> None:
    inputs.plan["runs"] = [run for run in inputs.plan["runs"] if run["scenario"] != "single_flow"]
    fewer = inputs.sections()
    left = {figure.name for figure in figures_of(fewer)}
    # Charts of a protocol still name the path, although its other scenarios are gone.
    assert left <= set(figures)
    assert "single-flow-cwnd" not in left


def test_every_chart_of_the_page_becomes_one_figure(
    sections: Any, figures: dict[str, Figure]
) -> None:
    charts = [
        *(chart for each in sections.experiments for chart in each.summaries),
        *(chart for each in sections.experiments for view in each.views for chart in view.charts),
        *(chart for page in sections.protocols for chart in page.charts),
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
    # SPIKE_PACKETS of the synthetic study; values are packed in steps of 0.2 packets.
    assert max(each["v"] for each in spec["datasets"]["samples"]) == pytest.approx(9876, abs=0.1)


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
