"""Figures, tables and captions as files: names, contents, sources, stable bytes."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.needs import needs
from tests.pipeline.pages import golden
from tests.pipeline.pages.synthetic import Inputs, synthetic_inputs

from bdpbench.contracts.paths import repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.pages.curves import BAND_TIMES, crowd_of, curve, line_spec, settled, swings
from bdpbench.pages.drawing import (
    BANDS,
    COLUMN_PT,
    PAGE_PT,
    Drawing,
    draw,
    drawn,
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
)
from bdpbench.pages.inputs import read_captions
from bdpbench.pages.latex import latex_text
from bdpbench.pages.report import Sections
from bdpbench.pages.series import pack
from bdpbench.pages.specs import Chart, TimeContent
from bdpbench.pages.tables import Column, PaperTable, markdown_text, render_table

HOSTILE = "a < b & <script>alert(1)</script>"
ORIGIN = f"ns-2.35 build 0123456789abcdef; {HOSTILE}."
ONLY = ("single-flow-*", "buffer-size-sweep-utilization", "pairs-*")
COMMAND = ("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex")


@pytest.fixture(scope="module")
def sections() -> Sections:
    return synthetic_inputs().sections()


@pytest.fixture(scope="module")
def figures(sections: Sections) -> dict[str, Figure]:
    return {figure.name: figure for figure in figures_of(sections)}


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    """An export of the synthetic study, with a figure of each shape."""
    request = ExportRequest(("svg", "pdf"), ORIGIN, only=ONLY)
    return dict(export_files(synthetic_inputs().frozen(), request))


def test_files_say_what_they_said(files: dict[str, bytes]) -> None:
    lines = [golden.flat(each) for each in json.loads(files["captions.json"])["captions"]]
    for stem, names in itertools.groupby(sorted(files), lambda name: name.partition(".")[0]):
        lines.append(f"{stem}: {' '.join(name.partition('.')[2] for name in names)}")
    for name in sorted(files):
        if re.fullmatch(r"tables/(numbers\.tex|(totals|statements)\.md)", name):
            lines += [name, *files[name].decode().splitlines()]
        elif name.endswith(".csv"):
            lines += [name, *files[name].decode().splitlines()[:3]]
    golden.compare("exports.txt", "\n".join(lines))


def test_every_chart_of_the_page_is_a_figure_that_asks_for_no_click(
    figures: dict[str, Figure],
) -> None:
    golden.compare("figures.txt", "\n".join(figures))
    assert any("Click on" in each.chart.caption for each in figures.values())
    printed = {name: printed_caption(each.chart) for name, each in figures.items()}
    assert [name for name, text in printed.items() if "Click" in text] == []
    pair = printed["pairs-pair-asymmetry-of-the-two-flows"]
    assert pair.endswith("share fairly. Blank cells have no results.")


def test_names_are_short_and_of_their_own_and_stay(
    inputs: Inputs, figures: dict[str, Figure]
) -> None:
    chart = figures["single-flow-cwnd"].chart
    for words, first in (("Same words", "same-words"), ("a very long label " * 30, None)):
        names = [each.name for each in named([(words, "", "", chart)] * 3)]
        assert len(set(names)) == 3
        assert max(map(len, names)) <= 255 - len(".svg")
        assert first in (None, names[0])
    # They do not depend on other charts.
    inputs.plan["runs"] = [run for run in inputs.plan["runs"] if run["scenario"] != "single_flow"]
    assert {figure.name for figure in figures_of(inputs.sections())} < set(figures)


def test_drawings_are_inert_and_have_the_widths_of_two_columns_and_of_one(
    files: dict[str, bytes],
) -> None:
    # The columns of IEEEtran are 252 pt wide with 12 pt between them.
    for name, width in itertools.product(
        [name for name in files if re.fullmatch(r"figures/[^/]+\.svg", name)], (516, 252)
    ):
        path = name if width == 516 else name.replace("figures/", "figures/column/")
        svg, pdf = files[path].decode(), files[path.replace(".svg", ".pdf")]
        root = ET.fromstring(svg)
        assert root[0].tag == "{http://www.w3.org/2000/svg}desc"
        assert HOSTILE in str(root[0].text)
        assert "<script" not in svg
        assert not re.search(r'(?:href|src)="(?!#)', svg)
        assert f'width="{width}pt"' in svg
        box = re.search(rb"/MediaBox \[0 0 ([0-9.]+)", pdf)
        assert box is not None
        assert float(box[1]) == pytest.approx(width)
        assert {*re.findall(rb"/BaseFont /[A-Z]{6}\+(\S+)", pdf)} == {b"LiberationSans"}
        if "sweep" in name:
            drawn_px = float(re.search(r'viewBox="0 0 ([0-9.]+)', svg)[1])  # type: ignore[index]
            sizes = {float(each) for each in re.findall(r'font-size="([0-9.]+)px"', svg)}
            assert {8 <= each * width / drawn_px <= 10 for each in sizes} == {True}, path


def test_what_is_drawn_is_what_was_measured(
    sections: Sections, figures: dict[str, Figure], inputs: Inputs, files: dict[str, bytes]
) -> None:
    renderer = Renderer(sections.data.series, read_captions())
    spec = renderer.spec(figures["single-flow-throughput"].chart)
    run_id = inputs.plan["runs"][0]["run_id"]
    rows = inputs.tables[run_id]["throughput"].select("time_s", "mbps").rows()
    # 30 means over a second, preceded by the start of the first one's step.
    own = [each for each in spec["datasets"]["samples"] if each["s"] == "HS-TCP"]
    assert [(each["t"], each["v"]) for each in own] == [(0.0, rows[0][1]), *rows]
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 30]
    told = pl.read_csv(files["figures/single-flow-throughput.csv"]).filter(run_id=run_id)
    assert told.select("time_s", "throughput").rows() == rows
    # SPIKE_PACKETS of the synthetic study; values are packed in steps of 10 packets.
    cwnd = renderer.spec(figures["single-flow-cwnd"].chart)["datasets"]["samples"]
    assert max(each["v"] for each in cwnd) == pytest.approx(9876, abs=5)


def test_an_archive_has_figures_of_several_runs_in_one_width(
    inputs: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(drawings: Iterable[Drawing], _: int) -> Iterator[dict[tuple[int, str], bytes]]:
        return ({(width, "svg"): b"" for width in each.widths_pt} for each in drawings)

    monkeypatch.setattr("bdpbench.pages.exports.drawn", nothing)
    request = ExportRequest(("svg",), ORIGIN, archived=True)
    names = [name for name, _ in export_files(inputs.frozen(), request)]
    kept = {name.partition(".")[0].removeprefix("figures/") for name in names if "figures" in name}
    assert "single-flow-cwnd" in kept
    assert not [each for each in kept if "pair-hs-tcp" in each or each.startswith("column")]
    assert not [name for name in names if re.search(r"figures/.*\.(csv|tex)", name)]


def test_a_pattern_that_fits_nothing_is_told(inputs: Inputs) -> None:
    with pytest.raises(BdpbenchError, match=r"no figure has the name 'nothing-\*'"):
        list(export_files(inputs.frozen(), ExportRequest(("svg",), "", only=("nothing-*",))))


@needs("pdflatex", "texlive-latex-base texlive-latex-recommended")
def test_latex_compiles_a_paper_with_every_figure_and_table(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    """It shows them as docs/figures.md says."""
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    shown = (repository_root() / "docs" / "figures.md").read_text()
    figures = sorted(path.stem for path in tmp_path.glob("figures/*.pdf"))
    tables = sorted(f"tables/{path.name}" for path in tmp_path.glob("tables/*.tex"))
    lines = [
        "\\documentclass[10pt,twocolumn]{article}",
        "\\usepackage[T1]{fontenc}\\usepackage[utf8]{inputenc}",
        shown.partition("```tex\n")[2].partition("```")[0],
        "\\begin{document}",
        *(f"\\columnfigure{{{each}}}\\pagefigure{{{each}}}\\clearpage" for each in figures),
        *(f"\\onecolumn\\input{{{each}}}" for each in tables),
        "\\end{document}",
    ]
    (tmp_path / "paper.tex").write_text("\n".join(lines))
    done = subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    drawn = [f"figures/{folder}{each}.pdf" for each in figures for folder in ("", "column/")]
    said = done.stdout.replace("\n", "")
    assert [each for each in (*drawn, *tables) if each not in said] == []


def test_processes_draw_the_same_in_the_same_order() -> None:
    drawings = [
        _lines([each], [{"t": t, "v": 5.0, "s": each} for t in (0.0, 1.0)]) for each in "AB"
    ]
    assert list(drawn(drawings, 100, processes=2)) == [draw(each) for each in drawings]


def test_few_lines_are_named_at_their_ends_and_no_name_lies_on_another() -> None:
    shown = {"A": 9.0, "B": 9.1, "C": 9.2, "D": 0.0, "E": 0.1}
    rows = [{"t": t, "v": v, "s": name} for name, v in shown.items() for t in (0.0, 1.0)]
    svg = draw(_lines(list(shown), rows))[PAGE_PT, "svg"].decode()
    # How far down the plot the names stand, which are moved on their own.
    found = re.findall(r'translate\([\d.]+,([\d.]+)\)"[^>]*>([A-E])</text>', svg)
    down = {name: float(at) for at, name in found}
    assert sorted(down, key=down.__getitem__) == ["C", "B", "A", "E", "D"]
    places = sorted(down.values())
    assert min(lower - upper for upper, lower in itertools.pairwise(places)) >= 12
    assert max(places) <= 230 + 4  # the height of the plot; a baseline is below the middle
    # Nine names, or names as wide as half of the figure, are in a legend, in the order of the plan.
    for names in ([*"ABCDEFGHI"], ["A" * 60, "B"]):
        assert b"role-legend" in draw(_lines(names, rows))[PAGE_PT, "svg"]


@pytest.mark.parametrize(
    "names", [["A", "B"], *([f"{long} name {n}" for n in range(9)] for long in ("a", "a" * 70))]
)
def test_a_figure_in_two_widths_has_the_bytes_of_each_alone(names: list[str]) -> None:
    """Where the second is drawn with what the first one has shown, at the ends or in a legend."""
    rows = [{"t": t, "v": 9.5, "s": name} for name in names for t in (0.0, 1.0)]
    drawing = replace(
        _lines(names, rows), formats=("svg", "pdf", "png") if len(names) < 9 else ("svg",)
    )
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


def test_many_curves_are_drawn_as_the_median_and_the_band_of_their_group() -> None:
    """In each group, five constant curves of 10, 20, … 50, and of 1, 2, … 5 Mbit/s."""
    found = {
        f"{group}, flow {nth}": ([1.0, 15.0, 30.0], [step * nth] * 3)
        for group, step in (("A", 10.0), ("B", 1.0))
        for nth in range(1, 6)
    }
    traces = [curve(label, "flow:0", label, "#000") for label in found]
    given: TimeContent = {"kind": "throughput", "end": 30, "traces": traces, "thresholds": []}
    chart = Chart("x", "throughput", "", "", settled(given, [*found.values()]))
    assert labels_of(chart) == ["A", "B"]
    told = "Lines are medians of 10 curves, bands their 10th to 90th percentiles."
    assert printed_caption(chart) == told
    series = {label: {"throughput": {"flow:0": pack(*each)}} for label, each in found.items()}
    spec = Renderer(series, read_captions()).spec(chart)
    # Percentiles between two of five are interpolated: 10 % of the way from 10 to 50 is 14.
    bands = {(each["s"], each["low"], each["v"], each["high"]) for each in spec["datasets"][BANDS]}
    assert bands == {("A", 14.0, 30.0, 46.0), ("B", 1.4, 3.0, 4.6)}
    times = sorted({each["t"] for each in spec["datasets"][BANDS]})
    assert times == pytest.approx([1, 15, 30], abs=16 / BAND_TIMES)  # half of a part of the time
    # The axis ends 12 % above the highest band.
    assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0, pytest.approx(46 * 1.12)]


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


def test_curves_that_turn_often_are_drawn_one_below_the_other() -> None:
    calm = [float(value) for value in range(100)]
    wild = [float(10 * (nth % 2)) for nth in range(100)]
    content: TimeContent = {"kind": "cwnd", "end": 1, "traces": [], "thresholds": []}
    assert swings(content, [wild] * 3)
    assert not swings(content, [wild] * 2)
    assert not swings(content, [calm] * 3)
    # An ssthresh that begins more than four times as high as it goes on is beyond the axis.
    far: TimeContent = {**content, "kind": "ssthresh"}
    tops = [settled(far, [([0.0, 1.0], [high, 300.0])])["top"] for high in (1200.0, 1201.0)]
    assert tops == pytest.approx([1200 * 1.12, 300 * 1.12])
    rows = [{"t": t, "v": 5.0 * t, "s": name} for name in "ABC" for t in (0.0, 1.0)]
    drawing = replace(_lines(list("ABC"), rows), widths_pt=(PAGE_PT, COLUMN_PT), apart=True)
    # Longer than a column is wide, and so in several lines.
    drawing.spec["datasets"]["thresholds"] = [{"v": 5.0, "label": "a rule of many words " * 5}]
    for (width_pt, _), svg in draw(drawing).items():
        assert f'width="{width_pt}pt"'.encode() in svg
        assert svg.count(b"lines_marks") == 3
        assert all(f">{name}</text>".encode() in svg for name in "ABC")


DRAWN = """
import hashlib, os
from bdpbench.pages.drawing import Drawing, draw
spec = {"data": {"values": [{"a": "gHSTCP"}]}, "config": {"legend": {}}}
spec["layer"] = [{"mark": "text", "encoding": {"text": {"field": "a"}}}]
files = draw(Drawing(spec, [], "", (252,), ("svg", "pdf")))
print(hashlib.sha256(b"".join(files.values())).hexdigest(), os.environ.get("FONTCONFIG_FILE"))
"""


def test_a_figure_has_the_same_bytes_with_any_fonts_of_the_machine(tmp_path: Path) -> None:
    """With and without them; and the setting that hides them is as before for other programs."""
    none = tmp_path / "fonts.conf"
    none.write_text(f"<fontconfig><dir>{tmp_path}</dir></fontconfig>")
    own = {key: value for key, value in os.environ.items() if key != "FONTCONFIG_FILE"}
    command = [sys.executable, "-c", DRAWN]
    found = [
        subprocess.run(command, env=own | more, capture_output=True, text=True, check=True).stdout
        for more in ({}, {"FONTCONFIG_FILE": str(none)})
    ]
    assert found[0].split()[0] == found[1].split()[0]
    assert [each.split()[1] for each in found] == ["None", str(none)]


SPECIAL = r"\input{/etc/passwd} 100 % & a_b #1 $x$ {y} ~ ^ | <b> `c` *d* [e](f) − 3 × 4"


def _table(rows: int = 2) -> PaperTable:
    return PaperTable(
        name="sample",
        title="A sample",
        columns=(Column("What", "what"), Column("Value", "value", numeric=True)),
        rows=tuple((SPECIAL, str(row)) for row in range(rows)),
        data=tuple({"what": SPECIAL, "value": 0.1 + row} for row in range(rows)),
    )


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("50 % of a_b & {c} #1 $", r"50 \% of a\_\allowbreak{}b \& \{c\} \#1 \$"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("−0.5 × 2\nnext", r"$-$0.5 $\times$ 2 next"),
        ("θ and Ω", r"$\theta$ and $\Omega$"),
    ],
)
def test_nothing_in_a_text_is_a_command_of_latex(text: str, escaped: str) -> None:
    assert latex_text(text) == escaped


def test_every_character_that_published_scorecards_have_can_be_set_in_latex() -> None:
    found = sorted((repository_root() / "reports" / "published").glob("*/scorecard.json"))
    assert found
    for each in found:
        text = json.dumps(json.loads(each.read_text()), ensure_ascii=False)
        latex_text(text).encode("latin-1")  # whose characters both encodings of paper.tex have


@given(st.text())
def test_every_special_character_is_escaped(text: str) -> None:
    # What remains apart from the commands that escape characters has none of these.
    commands = r"\\text(backslash|asciicircum|asciitilde)\{\}|\\[&%]"
    assert not set(re.sub(commands, "", latex_text(text))) & set("&%\n")


def test_long_tables_break_and_repeat_their_head() -> None:
    long, short = (render_table(_table(rows), "")["tex"] for rows in (20, 15))  # of two lines each
    assert ("\\begin{longtable}" in long, "\\begin{longtable}" in short) == (True, False)
    assert long.count("\\endhead") == 1
    assert "|" not in short.replace("\\textbar{}", "")


SENTENCE = "Does it follow sudden changes of the path's rate, of its delay, and of the reordering?"
WORDS = ("Standard TCP", "HighSpeed TCP (HSTCP_SACK)", "BBR (version 3)", "a-protocol-with-hyphens")


def _wide(name: str, texts: int, numbers: int, rows: int, cell: str = "0.00807 (9th)") -> Any:
    heads = [f"95th percentile of the delay through CoDel {n} (ms)" for n in range(numbers)]
    words = [(WORDS[row % 4], SENTENCE, "7.8 and 7.9")[:texts] for row in range(rows)]
    texts_of = [Column(f"Text {n}", f"t{n}") for n in range(texts)]
    columns = (*texts_of, *(Column(head, head, numeric=True) for head in heads))
    return PaperTable(name, name, columns, tuple((*own, *[cell] * numbers) for own in words))


@needs("pdflatex", "texlive-latex-base texlive-latex-recommended")
def test_tables_fit_an_article_however_many_columns_they_have(tmp_path: Path) -> None:
    tables = [
        _wide("few", 1, 2, 3),
        _wide("many-numbers", 1, 16, 11),
        _wide("cases-and-numbers", 3, 9, 8, "94.602 [97.406]"),
        _wide("sentences", 3, 1, 30),
        _wide("words", 3, 0, 60),
        _table(12),
        _table(90),
    ]
    body = "\\clearpage".join(
        f"\\typeout{{TABLE {each.name}}}{render_table(each, f'{SENTENCE} {SPECIAL}')['tex']}"
        for each in tables
    )
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage[utf8]{inputenc}"
        "\\usepackage{textcomp,array,booktabs,longtable}"
        f"\\begin{{document}}{body}\\end{{document}}"
    )
    for _ in range(2):  # longtable learns its widths from the first time
        done = subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, text=True, check=True)
    said = [
        each for each in done.stdout.splitlines() if re.match("TABLE|Overfull|.*too large", each)
    ]
    assert said == [f"TABLE {each.name}" for each in tables]


def test_markdown_keeps_every_text_in_its_cell() -> None:
    text = render_table(_table(), "A *caption*")["md"]
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    cells = [
        tokens[index + 1].children[0].content if len(tokens[index + 1].children or []) == 1 else ""
        for index, token in enumerate(tokens)
        if token.type == "td_open"
    ]
    assert cells == [SPECIAL, "0", SPECIAL, "1"]
    assert markdown_text("a|b") == r"a\|b"
