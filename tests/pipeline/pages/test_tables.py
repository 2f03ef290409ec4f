"""Tables for papers: valid LaTeX, intact Markdown tables, and CSV without lost digits."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.needs import needs

from bdpbench.contracts.paths import repository_root
from bdpbench.pages.latex import latex_text
from bdpbench.pages.tables import Column, PaperTable, markdown_text, render_table

HOSTILE = r"\input{/etc/passwd} 100 % & a_b #1 $x$ {y} ~ ^ | <b> `c` *d* [e](f) − 3 × 4"


def _table(rows: int = 2) -> PaperTable:
    return PaperTable(
        name="sample",
        title="A sample",
        columns=(Column("What", "what"), Column("Value", "value", numeric=True)),
        rows=tuple((HOSTILE, str(row)) for row in range(rows)),
        data=tuple({"what": HOSTILE, "value": 0.1 + row} for row in range(rows)),
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


def _wide(
    name: str, texts: int, numbers: int, rows: int, cell: str = "0.00807 (9th)"
) -> PaperTable:
    heads = [f"95th percentile of the delay through CoDel {index} (ms)" for index in range(numbers)]
    return PaperTable(
        name=name,
        title=name,
        columns=(
            *(Column(f"Text {index}", f"t{index}") for index in range(texts)),
            *(Column(head, head, numeric=True) for head in heads),
        ),
        rows=tuple(
            (*((WORDS[row % 4], SENTENCE, "7.8 and 7.9")[:texts]), *[cell] * numbers)
            for row in range(rows)
        ),
    )


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
        f"\\typeout{{TABLE {each.name}}}{render_table(each, f'{SENTENCE} {HOSTILE}')['tex']}"
        for each in tables
    )
    (tmp_path / "all.tex").write_text(
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage[utf8]{inputenc}"
        "\\usepackage{textcomp,array,booktabs,longtable}"
        f"\\begin{{document}}{body}\\end{{document}}"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    for _ in range(2):  # longtable learns its widths from the first time
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
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
    assert cells == [HOSTILE, "0", HOSTILE, "1"]
    assert markdown_text("a|b") == r"a\|b"


def test_csv_holds_numbers_unrounded() -> None:
    rows = list(csv.DictReader(io.StringIO(render_table(_table(), "")["csv"])))
    assert [float(row["value"]) for row in rows] == [0.1, 1.1]
    assert rows[0]["what"] == HOSTILE
