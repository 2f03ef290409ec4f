"""LaTeX: texts, and tables (booktabs).

Tables fit the text of an ordinary article, in width and in height. The widths of texts are
estimated, rather too wide than too narrow. Columns that fit as they are stay so; else their texts
are wrapped. Where even the longest words of a row have no room side by side, the columns of numbers
are split into blocks, one below the other, each with the first columns again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from bdpbench.pages.text import NARROW_SPACE
from bdpbench.units import MINUS

# \textwidth of the class article with 10 pt, in which tables are \small: 9 pt with this quad.
_TEXT_PT = 345.0
_QUAD_PT = 9.25
_GAP_PT = 6.0

# Widths of characters of Computer Modern, in quads; of all others the largest.
_WIDTHS = {
    **dict.fromkeys("iljI.,;:'!|()[] /", 0.4),
    **dict.fromkeys("abcdefghknopqrstuvxyz0123456789-–", 0.56),
    **dict.fromkeys("mwABCDEFGHJKLNOPQRSTUVXYZ=+<>*", 0.83),
}
_WIDEST = 1.03

# Most lines of a table that LaTeX sets on one page; a longer one may be split.
_LINES_OF_A_PAGE = 38

_GREEK = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ"  # the others look like Latin letters
_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau"
    " upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)

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
    "′": "$'$",
    "←": r"$\leftarrow$",
    **{letter: rf"$\{name}$" for letter, name in zip(_GREEK, _GREEK_NAMES.split(), strict=True)},
}

_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))


def latex_text(text: str) -> str:
    r"""Any text for LaTeX: nothing in it is a command, and a line break becomes a blank.

    >>> latex_text("90 % of a_b & {c}")
    '90 \\% of a\\_b \\& \\{c\\}'
    """
    return _SPECIAL.sub(lambda found: _LATEX[found[0]], " ".join(text.split()))


@dataclass(frozen=True)
class _Column:
    """A column: its head and texts, and their widths in pt: of all, and of the longest word."""

    head: str
    is_numeric: bool
    texts: tuple[str, ...]

    @property
    def natural_pt(self) -> float:
        return max(map(_width_pt, (self.head, *self.texts)))

    @property
    def least_pt(self) -> float:
        """Width of its longest word; numbers stay whole."""
        words = (self.head,) if self.is_numeric else (self.head, *self.texts)
        whole = self.texts if self.is_numeric else ()
        parts = (part for text in words for part in re.split(r"(?<=-)|\s+", text))
        return max(map(_width_pt, (*parts, *whole)))


@dataclass(frozen=True)
class _Block:
    """Columns side by side, with their widths in pt; None where each is as wide as its texts."""

    columns: tuple[_Column, ...]
    widths_pt: tuple[float, ...] | None

    @property
    def layout(self) -> str:
        """Its columns for ``tabular``."""
        if self.widths_pt is None:
            return "".join("r" if each.is_numeric else "l" for each in self.columns)
        sides = ("raggedleft" if each.is_numeric else "raggedright" for each in self.columns)
        shares = (math.floor(1000 * each / _TEXT_PT) / 1000 for each in self.widths_pt)
        return "".join(
            f">{{\\{side}\\arraybackslash}}p{{{share:g}\\linewidth}}"
            for side, share in zip(sides, shares, strict=True)
        )

    @property
    def lines(self) -> int:
        """How many lines it takes."""
        widths = self.widths_pt or tuple(each.natural_pt for each in self.columns)
        rows = zip(*((each.head, *each.texts) for each in self.columns), strict=True)
        return sum(
            # A line is rarely full where words are not divided.
            max(
                math.ceil(1.15 * _width_pt(text) / width) if self.widths_pt else 1
                for text, width in zip(row, widths, strict=True)
            )
            for row in rows
        )

    @property
    def rows(self) -> tuple[str, list[str]]:
        """Its head, and its other rows."""
        head, *others = zip(*((each.head, *each.texts) for each in self.columns), strict=True)
        return _row(head), list(map(_row, others))


def latex_table(
    name: str, caption: str, heads: Sequence[tuple[str, bool]], rows: Sequence[Sequence[str]]
) -> str:
    """A table of texts: one ``table``, or ``longtable`` if it does not fit a page.

    Args:
        name: of its label.
        caption: plain text.
        heads: head of each column, and whether it has numbers.
        rows: as many plain texts as there are columns.
    """
    columns = [
        _Column(*head, texts=tuple(row[index] for row in rows)) for index, head in enumerate(heads)
    ]
    blocks = list(_blocks(columns))
    title = f"\\caption{{{latex_text(caption)}}}"
    label = f"\\label{{tab:{name}}}"
    if sum(each.lines for each in blocks) > _LINES_OF_A_PAGE:
        parts = [
            "% needs \\usepackage{array,booktabs,longtable}",
            "\\begingroup\\small\\setlength{\\tabcolsep}{3pt}",
            *(line for n, each in enumerate(blocks) for line in _long(each, title + label, n)),
            "\\endgroup",
        ]
    else:
        parts = [
            "% needs \\usepackage{array,booktabs}",
            "\\begin{table}",
            "\\centering\\small\\setlength{\\tabcolsep}{3pt}",
            title,
            label,
            *(line for n, each in enumerate(blocks) for line in _short(each, n)),
            "\\end{table}",
        ]
    return "\n".join(parts) + "\n"


def _short(block: _Block, number: int) -> Iterator[str]:
    head, rows = block.rows
    if number:
        yield "\\par\\medskip"
    yield f"\\begin{{tabular}}{{@{{}}{block.layout}@{{}}}}"
    yield from ("\\toprule", head, "\\midrule", *rows, "\\bottomrule", "\\end{tabular}")


def _long(block: _Block, title: str, number: int) -> Iterator[str]:
    head, rows = block.rows
    if number:
        yield "\\addtocounter{table}{-1}"
    yield f"\\begin{{longtable}}{{@{{}}{block.layout}@{{}}}}"
    yield from () if number else (f"{title}\\\\",)
    yield from ("\\toprule", head, "\\midrule", "\\endfirsthead")
    yield from ("\\toprule", head, "\\midrule", "\\endhead")
    yield from ("\\bottomrule", "\\endfoot", *rows, "\\end{longtable}")


def _row(texts: Sequence[str]) -> str:
    return " & ".join(map(latex_text, texts)) + r" \\"


def _width_pt(text: str) -> float:
    return _QUAD_PT * sum(_WIDTHS.get(each, _WIDEST) for each in text)


def _blocks(columns: Sequence[_Column]) -> Iterator[_Block]:
    """The columns in as few blocks as have room, of about as many columns each."""
    if _least_pt(columns) <= _TEXT_PT:
        yield _fitted(columns)
        return
    keys = list(takewhile(lambda each: not each.is_numeric, columns))
    if len(keys) == len(columns):
        keys = keys[:1]
    values = columns[len(keys) :]
    for count in range(2, len(values) + 1):
        size = math.ceil(len(values) / count)
        parts = [[*keys, *values[start : start + size]] for start in range(0, len(values), size)]
        if count == len(values) or all(_least_pt(each) <= _TEXT_PT for each in parts):
            yield from map(_fitted, parts)
            return


def _least_pt(columns: Sequence[_Column]) -> float:
    return _GAP_PT * (len(columns) - 1) + sum(each.least_pt for each in columns)


def _fitted(columns: Sequence[_Column]) -> _Block:
    """Columns with their widths.

    What the longest words leave goes to all in equal shares; what one does not need of its share
    goes to the others.
    """
    room_pt = _TEXT_PT - _GAP_PT * (len(columns) - 1)
    natural_pt = [each.natural_pt for each in columns]
    if sum(natural_pt) <= room_pt:
        return _Block(tuple(columns), None)
    widths_pt = [each.least_pt for each in columns]
    spare_pt = room_pt - sum(widths_pt)
    if spare_pt < 0:  # a word that is wider than the page has to stick out
        return _Block(
            tuple(columns), tuple(width * room_pt / sum(widths_pt) for width in widths_pt)
        )
    needs_pt = [natural - least for natural, least in zip(natural_pt, widths_pt, strict=True)]
    for left, index in zip(
        range(len(columns), 0, -1),
        sorted(range(len(columns)), key=needs_pt.__getitem__),
        strict=True,
    ):
        given_pt = min(needs_pt[index], spare_pt / left)
        widths_pt[index] += given_pt
        spare_pt -= given_pt
    return _Block(tuple(columns), tuple(widths_pt))
