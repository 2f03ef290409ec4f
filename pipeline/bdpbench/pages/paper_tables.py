"""Tables for papers: the same rows as LaTeX (booktabs), Markdown and CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from bdpbench.contracts.documents import csv_of
from bdpbench.pages.text import MINUS, NARROW_SPACE

TABLE_FORMATS = ("tex", "md", "csv")

# Most rows of a table that LaTeX sets on one page; a longer one may be split.
_ROWS_OF_A_PAGE = 40

Cell: TypeAlias = str | float | int | None


@dataclass(frozen=True)
class Column:
    """A column: its title for readers, its name in CSV, and its typesetting.

    ``numeric`` columns are right-aligned; text in a column with a ``width`` (as a share of the
    page's) is wrapped.
    """

    title: str
    key: str
    numeric: bool = False
    width: float = 0.0


@dataclass(frozen=True)
class PaperTable:
    """A table with rows for readers and for programs.

    Attributes:
        name: name of the files, without extension.
        title: one phrase.
        columns: columns of the readers' rows.
        rows: cells as text, as many as columns.
        data: rows for CSV: column → value, unrounded; empty if ``rows`` have everything.
        run_ids: runs that the numbers come from.
        definitions: ids of the definitions of the numbers.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    data: tuple[Mapping[str, Cell], ...] = ()
    run_ids: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()


def render_table(table: PaperTable, caption: str) -> dict[str, str]:
    """A table as text: format of ``TABLE_FORMATS`` → content, with the caption in the first two."""
    draw: Mapping[str, Callable[[], str]] = {
        "tex": lambda: _latex(table, caption),
        "md": lambda: _markdown(table, caption),
        "csv": lambda: _csv(table),
    }
    return {name: draw[name]() for name in TABLE_FORMATS}


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    MINUS: "$-$",
    NARROW_SPACE: r"\,",
    "\N{NO-BREAK SPACE}": "~",
    "–": "--",
    "—": "---",
    "…": r"\dots{}",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "√": r"$\surd$",
    "°": r"\textdegree{}",
    "µ": r"\textmu{}",
    "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "δ": r"$\delta$",
    "λ": r"$\lambda$",
    "μ": r"$\mu$",
    "τ": r"$\tau$",
}
_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))


def latex_text(text: str) -> str:
    r"""Any text for LaTeX: nothing in it is a command, and a line break becomes a blank.

    >>> latex_text("90 % of a_b & {c}")
    '90 \\% of a\\_b \\& \\{c\\}'
    """
    return _SPECIAL.sub(lambda found: _LATEX[found[0]], " ".join(text.split()))


def _latex(table: PaperTable, caption: str) -> str:
    """One ``table``, or a ``longtable`` if the rows do not fit a page."""
    head = " & ".join(latex_text(column.title) for column in table.columns) + r" \\"
    lines = [" & ".join(latex_text(cell) for cell in row) + r" \\" for row in table.rows]
    layout = "".join(map(_layout, table.columns))
    label = f"\\label{{tab:{table.name}}}"
    title = f"\\caption{{{latex_text(caption)}}}"
    if len(table.rows) > _ROWS_OF_A_PAGE:
        parts = [
            "% needs \\usepackage{booktabs,longtable}",
            "\\begingroup\\small\\setlength{\\tabcolsep}{3pt}",
            f"\\begin{{longtable}}{{{layout}}}",
            f"{title}{label}\\\\",
            *("\\toprule", head, "\\midrule", "\\endfirsthead"),
            *("\\toprule", head, "\\midrule", "\\endhead"),
            *("\\bottomrule", "\\endfoot"),
            *lines,
            "\\end{longtable}",
            "\\endgroup",
        ]
    else:
        parts = [
            "% needs \\usepackage{booktabs}",
            "\\begin{table}",
            "\\centering\\small",
            title,
            label,
            f"\\begin{{tabular}}{{{layout}}}",
            *("\\toprule", head, "\\midrule"),
            *lines,
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{table}",
        ]
    return "\n".join(parts) + "\n"


def _layout(column: Column) -> str:
    if column.width:
        return f"p{{{column.width:g}\\linewidth}}"
    return "r" if column.numeric else "l"


_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~&])")


def markdown_text(text: str) -> str:
    r"""Any text for a cell of Markdown: no markup, no HTML, no line break.

    >>> markdown_text("a_b | <i>")
    'a\\_b \\| \\<i\\>'
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _markdown(table: PaperTable, caption: str) -> str:
    titles = " | ".join(markdown_text(column.title) for column in table.columns)
    marks = "|".join("---:" if column.numeric else "---" for column in table.columns)
    rows = [" | ".join(markdown_text(cell) for cell in row) for row in table.rows]
    lines = [f"| {titles} |", f"|{marks}|", *(f"| {row} |" for row in rows)]
    return f"{markdown_text(caption)}\n\n" + "\n".join(lines) + "\n"


def _csv(table: PaperTable) -> str:
    """The unrounded rows; numbers as Python prints them, so that no digit is lost."""
    keys = [column.key for column in table.columns]
    data: Sequence[Mapping[str, Any]] = table.data or [
        dict(zip(keys, row, strict=True)) for row in table.rows
    ]
    return csv_of(list(data[0]) if data else keys, data)
