"""Figures, tables and captions as files: names, contents, sources, stable bytes."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import vl_convert
from tests.needs import needs

from bdpbench.contracts.paths import repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.pages.curves import crowd_of, curve, line_spec, settled, swings
from bdpbench.pages.drawing import (
    BANDS,
    COLUMN_PT,
    FIGURE_FORMATS,
    PAGE_PT,
    Drawing,
    draw,
    drawn,
    sized,
)
from bdpbench.pages.exports import (
    ExportRequest,
    Figure,
    Renderer,
    export_files,
    figures_of,
    labels_of,
    named,
    printed_caption,
    run_ids_of,
)
from bdpbench.pages.inputs import read_captions
from bdpbench.pages.series import pack
from bdpbench.pages.specs import Chart, Threshold, TimeContent


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
        found.setdefault(
            f"{content['kind']} {[each['mark'] for each in marks if 'mark' in each]}", figure
        )
    return list(found.values())


def _drawing(figure: Figure, renderer: Renderer, about: str, *formats: str) -> Drawing:
    spec = renderer.spec(figure.chart)
    return Drawing(spec, labels_of(figure.chart), about, (PAGE_PT,), formats)


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
    # SPIKE_PACKETS of the synthetic study; values are packed in steps of 10 packets.
    assert max(each["v"] for each in spec["datasets"]["samples"]) == pytest.approx(9876, abs=5)


@pytest.mark.parametrize(
    "name",
    ["single-flow-cwnd", "buffer-size-sweep-utilization", "pairs-pair-asymmetry-of-the-two-flows"],
)
def test_equal_charts_give_equal_bytes(
    name: str, figures: dict[str, Figure], renderer: Renderer
) -> None:
    drawing = _drawing(figures[name], renderer, "about", *FIGURE_FORMATS)
    files = [draw(drawing) for _ in range(2)]
    assert files[1] == files[0]
    assert files[0][PAGE_PT, "png"].startswith(b"\x89PNG\r\n")
    assert files[0][PAGE_PT, "pdf"].startswith(b"%PDF-")


def test_a_pdf_embeds_one_face_of_the_font_that_comes_along(
    shapes: list[Figure], renderer: Renderer
) -> None:
    for figure in shapes:
        pdf = draw(_drawing(figure, renderer, "", "pdf"))[PAGE_PT, "pdf"]
        faces = set(re.findall(rb"/BaseFont /[A-Z]{6}\+(\S+)", pdf))
        assert faces == {b"LiberationSans"}, figure.name


def test_an_svg_is_xml_that_carries_its_caption_and_loads_nothing(
    shapes: list[Figure], renderer: Renderer
) -> None:
    hostile = "a < b & <script>alert(1)</script>"
    for figure in shapes:
        svg = draw(_drawing(figure, renderer, hostile, "svg"))[PAGE_PT, "svg"].decode()
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
        f"figures/{folder}single-flow-{table}.{ending}"
        for table in ("cwnd", "queue", "queue-share")
        for folder, endings in (("", ("svg", "png", "csv", "tex")), ("column/", ("svg", "png")))
        for ending in endings
    }
    tables = {name for name in files if name.startswith("tables/")}
    assert {
        f"tables/{name}.{ending}"
        for name in ("numbers", "statements", "totals")
        for ending in ("tex", "md", "csv")
    } <= tables
    assert "captions.json" in files


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
    names = _export(inputs, "svg", archived=True)
    assert "figures/single-flow-cwnd.svg" in names
    assert not any("pair-hs-tcp-and-scalable-tcp" in name for name in names)
    assert not any(name.startswith("figures/column/") for name in names)


def test_a_figure_has_the_widths_of_one_and_of_two_columns(inputs: Any) -> None:
    name = "buffer-size-sweep-utilization"
    files = _export(inputs, "svg", "pdf", only=(name,))
    # The columns of IEEEtran are 252 pt wide with 12 pt between them.
    for folder, width in (("figures/column", 252), ("figures", 516)):
        box = re.search(rb"/MediaBox \[0 0 ([0-9.]+)", files[f"{folder}/{name}.pdf"])
        assert box is not None
        assert float(box[1]) == pytest.approx(width)
        svg = files[f"{folder}/{name}.svg"].decode()
        assert f'width="{width}pt"' in svg
        drawn_px = float(re.search(r'viewBox="0 0 ([0-9.]+)', svg)[1])  # type: ignore[index]
        sizes = {float(each) for each in re.findall(r'font-size="([0-9.]+)px"', svg)}
        assert {8 <= each * width / drawn_px <= 10 for each in sizes} == {True}


def test_the_data_of_a_figure_is_what_it_shows(inputs: Any) -> None:
    files = _export(inputs, "svg", only=("single-flow-throughput", "buffer-size-sweep-*"))
    lines = files["figures/single-flow-throughput.csv"].decode().splitlines()
    assert lines[0].startswith("run_id,series,time_s,")
    run = next(run for run in inputs.plan["runs"] if run["scenario"] == "single_flow")
    table = inputs.tables[run["run_id"], "throughput"]
    told = [line.split(",")[2:] for line in lines if line.startswith(f"{run['run_id']},")]
    assert [[float(each) for each in row] for row in told] == [
        list(row) for row in table.select("time_s", "mbps").rows()
    ]
    sweep = files["figures/buffer-size-sweep-utilization.csv"].decode().splitlines()
    assert {"x", "value", "series", "run_id"} <= set(sweep[0].split(","))
    assert len(sweep) > 6  # two protocols, three buffers


def test_a_caption_on_paper_asks_for_no_click(figures: dict[str, Figure]) -> None:
    assert any("Click on" in figure.chart.caption for figure in figures.values())
    for figure in figures.values():
        assert "Click" not in printed_caption(figure.chart)
    pair = printed_caption(figures["pairs-pair-asymmetry-of-the-two-flows"].chart)
    assert pair.endswith("Blank cells have no results.")


def test_figures_of_the_same_words_have_names_of_their_own(figures: dict[str, Figure]) -> None:
    chart = figures["single-flow-cwnd"].chart
    names = [each.name for each in named([("Same words", "", "", chart)] * 3)]
    assert len(set(names)) == 3
    assert names[0] == "same-words"


def test_processes_draw_the_same_in_the_same_order(
    shapes: list[Figure], renderer: Renderer
) -> None:
    drawings = [_drawing(figure, renderer, "", "svg") for figure in shapes[:3]]
    assert list(drawn(drawings, 100, processes=2)) == [draw(each) for each in drawings]


@needs("pdflatex", "texlive-latex-base texlive-latex-recommended")
def test_latex_compiles_a_paper_with_every_figure_and_table(inputs: Any, tmp_path: Path) -> None:
    """It shows them as docs/figures.md says."""
    only = ("single-flow-*", "buffer-size-sweep-*", "pairs-*")
    for name, content in _export(inputs, "pdf", only=only).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    shown = (repository_root() / "docs" / "figures.md").read_text()
    names = sorted(path.stem for path in tmp_path.glob("figures/*.pdf"))
    tables = sorted(f"tables/{path.name}" for path in tmp_path.glob("tables/*.tex"))
    lines = [
        "\\documentclass[10pt,twocolumn]{article}",
        "\\usepackage[T1]{fontenc}\\usepackage[utf8]{inputenc}",
        shown.partition("```tex\n")[2].partition("```")[0],
        "\\begin{document}",
        *(f"\\columnfigure{{{each}}}\\pagefigure{{{each}}}\\clearpage" for each in names),
        *(f"\\onecolumn\\input{{{each}}}" for each in tables),
        "\\end{document}",
    ]
    (tmp_path / "paper.tex").write_text("\n".join(lines))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    figures = {path.stem for path in tmp_path.glob("figures/*.pdf")}
    assert len(figures) >= 6
    for figure in figures:
        assert f"figures/{figure}.pdf" in done.stdout.replace("\n", "")
        assert f"figures/column/{figure}.pdf" in done.stdout.replace("\n", "")
    for path in tmp_path.glob("tables/*.tex"):
        assert f"tables/{path.name}" in done.stdout.replace("\n", "")


def test_a_pattern_that_fits_nothing_is_told(inputs: Any) -> None:
    with pytest.raises(BdpbenchError, match=r"no figure has the name 'nothing-\*'"):
        _export(inputs, "svg", only=("nothing-*",))


def test_numbers_in_tables_are_those_of_the_scorecard(inputs: Any) -> None:
    files = _export(inputs, "svg", only=("single-flow-cwnd",))
    text = files["tables/numbers.csv"].decode()
    assert "scalable-40" in text
    assert "70.7" in text  # deviation in percent, as in the scorecard
    assert "| all | 1 | 1 | 2 | 0 | 1 | 1 | 0 | 0 | 1 |" in files["tables/totals.md"].decode()


def _texts(svg: bytes) -> dict[str, float]:
    """Text → how far down the plot it stands, of texts that are moved on their own."""
    found = re.findall(r'translate\([\d.]+,([\d.]+)\)"[^>]*>([^<]+)</text>', svg.decode())
    return {text: float(down) for down, text in found}


def test_few_lines_are_named_at_their_ends_and_no_name_lies_on_another() -> None:
    shown = {"A": 9.0, "B": 9.1, "C": 9.2, "D": 0.0, "E": 0.1}
    rows = [{"t": t, "v": v, "s": name} for name, v in shown.items() for t in (0.0, 1.0)]
    svg = draw(_lines(list(shown), rows))[PAGE_PT, "svg"]
    down = {name: at for name, at in _texts(svg).items() if name in shown}
    assert sorted(down, key=down.__getitem__) == ["C", "B", "A", "E", "D"]
    places = sorted(down.values())
    assert min(lower - upper for upper, lower in itertools.pairwise(places)) >= 12
    assert max(places) <= 230 + 4  # the height of the plot; a baseline is below the middle
    # Nine names, or names as wide as half of the figure, are in a legend, in the order of the plan.
    for names in ([f"{each}" for each in "ABCDEFGHI"], ["A" * 60, "B"]):
        svg = draw(_lines(names, rows))[PAGE_PT, "svg"]
        assert b"role-legend" in svg


@pytest.mark.parametrize(
    "names",
    [
        ["A", "B"],
        *([f"{long} name {each}" for each in "ABCDEFGHI"] for long in ("a long", "a" * 70)),
    ],
)
def test_a_figure_in_two_widths_has_the_bytes_of_each_alone(names: list[str]) -> None:
    """Where the second is drawn with what the first one has shown, at the ends or in a legend."""
    rows = [{"t": t, "v": 9.5, "s": name} for name in names for t in (0.0, 1.0)]
    drawing = _lines(names, rows)
    both = draw(replace(drawing, widths_pt=(PAGE_PT, COLUMN_PT)))
    apart = [draw(replace(drawing, widths_pt=(each,))) for each in (PAGE_PT, COLUMN_PT)]
    assert both == apart[0] | apart[1]
    assert f'width="{COLUMN_PT}pt"'.encode() in both[COLUMN_PT, "svg"]


def _lines(labels: list[str], rows: list[dict[str, Any]]) -> Drawing:
    spec = line_spec("time (s)", "v (1)")
    spec["layer"] = [each for each in spec["layer"] if each.get("name") != BANDS]
    spec["params"] = [{"name": "zoom", "value": {}}]
    spec["layer"][0].pop("params", None)
    encoding = spec["layer"][0]["encoding"]
    encoding.pop("opacity")
    encoding["y"]["scale"]["domain"] = [0, 10]
    for channel, value in (("color", "#000"), ("strokeDash", [1, 0])):
        encoding[channel]["scale"] = {"domain": labels, "range": [value for _ in labels]}
    spec["datasets"] = {"samples": rows, "thresholds": [], "drops": []}
    return Drawing(spec, labels, "", (PAGE_PT,), ("svg",))


def test_many_curves_are_drawn_as_the_median_and_the_band_of_their_group(
    figures: dict[str, Figure], inputs: Any
) -> None:
    shown = figures["single-flow-throughput"].chart
    labels = [f"{name}, flow {number}" for name in ("A", "B") for number in range(1, 6)]
    content = shown.content
    assert "spec" not in content
    trace = content["traces"][0]
    content = {
        **content,
        "thresholds": [],
        "traces": [{**trace, "run": each, "label": each} for each in labels],
    }
    # In each group, five constant curves of 10, 20, … 50, and of 1, 2, … 5 Mbit/s.
    values = [step * number for step in (10.0, 1.0) for number in range(1, 6)]
    series = {
        label: {"throughput": {trace["subject"]: pack([1.0, 15.0, 30.0], [value] * 3)}}
        for label, value in zip(labels, values, strict=True)
    }
    points = [([1.0, 15.0, 30.0], [value] * 3) for value in values]
    del content["top"]
    content = settled(content, points)
    assert [(each["label"], each["dash"]) for each in content["medians"]] == [
        (name, trace["dash"]) for name in "AB"
    ]
    chart = replace(shown, content=content)
    assert labels_of(chart) == ["A", "B"]
    assert printed_caption(chart).endswith(
        "Lines are medians of 10 curves, bands their 10th to 90th percentiles."
    )
    spec = Renderer(series, read_captions()).spec(chart)
    drawn = vl_convert.vegalite_to_scenegraph(sized(spec, ["A", "B"], PAGE_PT))["scenegraph"]
    # Percentiles between two of five are interpolated: 10 % of the way from 10 to 50 is 14. The
    # plot is 230 px high; its axis ends 12 % above the highest band.
    top = 46 * 1.12
    assert {round(top * (1 - each["y"] / 230), 6) for each in _marks(drawn, "lines_marks")} == {
        30.0,
        3.0,
    }
    bands = {(each["y"], each["y"] + each["height"]) for each in _marks(drawn, "bands_marks")}
    assert {tuple(round(top * (1 - end / 230), 6) for end in each) for each in bands} == {
        (14.0, 46.0),
        (1.4, 4.6),
    }


def test_flows_of_one_kind_are_a_crowd() -> None:
    """Two long flows and twenty short ones are two groups; the median of all would be at 0."""
    labels = ["A, flow 1", "A, flow 2", *(f"A, flow {each}, 20 packets" for each in range(3, 23))]
    traces = [curve("run", f"flow:{nth}", label, "#000") for nth, label in enumerate(labels)]
    content: TimeContent = {"kind": "throughput", "end": 9, "traces": traces, "thresholds": []}
    groups = {name: len(curves) for name, curves in crowd_of(content).items()}
    assert groups == {"A": 2, "A, 20 packets": 20}
    # Of nine kinds, which cannot be named beside the lines, what begins alike is one.
    kinds = [f"{'AB'[nth % 2]}, flow {nth}, {nth} packets" for nth in range(9)]
    content["traces"] = [curve("run", f"flow:{each}", each, "#000") for each in kinds]
    assert list(crowd_of(content)) == ["A", "B"]


def test_page_and_file_end_their_axes_alike_where_a_first_threshold_is_far_above() -> None:
    """xu2004: an ssthresh that begins at 20,000 packets pressed the rest flat in exported files."""
    trace = curve("run", "flow:0", "A", "#000", (9, 3))
    rules: list[Threshold] = [{"v": 310.0, "label": "upper"}, {"v": 300.0, "label": "lower"}]
    given: TimeContent = {"kind": "ssthresh", "end": 9, "traces": [trace], "thresholds": rules}
    points = ([0.0, 2.0, 9.0], [20_000.0, 400.0, 250.0])
    content = settled(given, [points])
    chart = Chart("one", "ssthresh", "", "", content)
    spec = Renderer({"run": {"ssthresh": {"flow:0": pack(*points)}}}, read_captions()).spec(chart)
    lines = spec["layer"][0]["encoding"]
    # The page takes its axis, its dashes and its words from the content, as the file does.
    assert lines["y"]["scale"]["domain"] == [0, content["top"]] == [0, pytest.approx(400 * 1.12)]
    assert lines["strokeDash"]["scale"]["range"] == [[1, 0]]
    assert spec["datasets"]["thresholds"] == content["thresholds"]
    assert [each["label"] for each in content["thresholds"]] == ["upper; lower", ""]


def test_curves_that_turn_often_are_drawn_one_below_the_other() -> None:
    calm = [float(value) for value in range(100)]
    wild = [float(10 * (nth % 2)) for nth in range(100)]
    content: TimeContent = {"kind": "cwnd", "end": 1, "traces": [], "thresholds": []}
    assert swings(content, [wild] * 3)
    assert not swings(content, [wild] * 2)
    assert not swings(content, [calm] * 3)
    rows = [{"t": t, "v": 5.0 * t, "s": name} for name in "ABC" for t in (0.0, 1.0)]
    drawing = replace(_lines(list("ABC"), rows), widths_pt=(PAGE_PT, COLUMN_PT), apart=True)
    # Longer than a column is wide, and so in several lines.
    drawing.spec["datasets"]["thresholds"] = [{"v": 5.0, "label": "a rule of many words " * 5}]
    for (width_pt, _), svg in draw(drawing).items():
        assert f'width="{width_pt}pt"'.encode() in svg
        assert svg.count(b"lines_marks") == 3
        assert all(f">{name}</text>".encode() in svg for name in "ABC")


def _marks(node: dict[str, Any], name: str) -> list[dict[str, Any]]:
    if node.get("name") == name:
        found: list[dict[str, Any]] = node["items"]
        return found
    return [mark for each in node.get("items", ()) for mark in _marks(each, name)]


def test_a_figure_has_the_same_bytes_with_any_fonts_of_the_machine(tmp_path: Path) -> None:
    """With and without them; and the setting that hides them is as before for other programs."""
    drawn_text = (
        "import hashlib, os\n"
        "from bdpbench.pages.drawing import Drawing, draw\n"
        "spec = {'data': {'values': [{'a': 'gHSTCP'}]},"
        " 'config': {'legend': {}}}\n"
        "spec['layer'] = [{'mark': 'text', 'encoding': {'text': {'field': 'a'}}}]\n"
        "files = draw(Drawing(spec, [], '', (252,), ('svg', 'pdf')))\n"
        "print(hashlib.sha256(b''.join(files.values())).hexdigest(),"
        " os.environ.get('FONTCONFIG_FILE'))\n"
    )
    none = tmp_path / "fonts.conf"
    none.write_text(f"<fontconfig><dir>{tmp_path}</dir></fontconfig>")
    own = {key: value for key, value in os.environ.items() if key != "FONTCONFIG_FILE"}
    found = []
    for more in ({}, {"FONTCONFIG_FILE": str(none)}):
        run = subprocess.run(
            [sys.executable, "-c", drawn_text],
            env=own | more,
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(run.stdout.rstrip().split(" ", 1))
    assert found[0][0] == found[1][0]
    assert [each[1] for each in found] == ["None", str(none)]
