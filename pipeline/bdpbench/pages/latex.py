"""LaTeX: texts, and tables (booktabs) that fit the text of an article.

LaTeX wraps their texts. A table with many columns is split into blocks, one below the other, each
with the first columns again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from bdpbench.pages.text import NARROW_SPACE
from bdpbench.units import MINUS

# More columns would not have room for their words side by side.
_MOST_COLUMNS = 7

# More rows, in all blocks, may not fit a page, and can be split.
_MOST_ROWS = 15

# Widths relative to one another, and the share of the line that is between two columns.
_TEXT, _NUMBER = 1.6, 1.0
_GAP = 0.018

# Greek letters that do not look like Latin ones, and signs, with their names in formulas.
_SIGNS = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ×·±≤≥≈→←√"
_SIGN_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau"
    " upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
    " times cdot pm leq geq approx rightarrow leftarrow surd"
)

_LATEX = {
    **{character: f"\\{character}" for character in "{}$&#%"},
    "_": r"\_\allowbreak{}",  # names of metrics and classes are wider than a column
    **{sign: rf"$\{name}$" for sign, name in zip(_SIGNS, _SIGN_NAMES.split(), strict=True)},
    "\\": r"\textbackslash{}",
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
    "°": r"\textdegree{}",
    "µ": r"\textmu{}",
    "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}",
    "′": "$'$",
}

_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))


def latex_text(text: str) -> str:
    r"""Any text for LaTeX: nothing in it is a command, and a line break becomes a blank.

    >>> latex_text("90 % of a & {c}")
    '90 \\% of a \\& \\{c\\}'
    """
    return _SPECIAL.sub(lambda found: _LATEX[found[0]], " ".join(text.split()))


def latex_table(
    name: str, caption: str, heads: Sequence[tuple[str, bool]], rows: Sequence[Sequence[str]]
) -> str:
    """A table of texts: one ``table``, or ``longtable`` if it may not fit a page.

    Args:
        name: of its label.
        caption: plain text.
        heads: head of each column, and whether it has numbers.
        rows: as many plain texts as there are columns.
    """
    blocks, title = _blocks(heads), f"\\caption{{{latex_text(caption)}}}\\label{{tab:{name}}}"
    is_long = len(rows) * len(blocks) > _MOST_ROWS
    kind = "tabular" if not is_long else "longtable"
    lines = [f"% needs \\usepackage{{array,booktabs{',longtable' if is_long else ''}}}"]
    lines += ["\\begingroup"] if is_long else ["\\begin{table}", "\\centering"]
    lines += ["\\small\\setlength{\\tabcolsep}{3pt}", *([] if is_long else [title])]
    for number, columns in enumerate(blocks):
        head, *others = (
            " & ".join(latex_text(row[column]) for column in columns) + r" \\"
            for row in ([each for each, _ in heads], *rows)
        )
        if number:
            lines.append("\\addtocounter{table}{-1}" if is_long else "\\par\\medskip")
        lines.append(
            f"\\begin{{{kind}}}{{@{{}}{_layout([heads[each][1] for each in columns])}@{{}}}}"
        )
        if is_long and not number:
            lines.append(f"{title}\\\\")
        lines += ["\\toprule", head, "\\midrule", *(["\\endhead"] if is_long else [])]
        lines += [*others, "\\bottomrule", f"\\end{{{kind}}}"]
    return "\n".join([*lines, "\\endgroup" if is_long else "\\end{table}"]) + "\n"


def _blocks(heads: Sequence[tuple[str, bool]]) -> list[list[int]]:
    """The columns of each block: the first ones, which are texts, and some of the others."""
    keys = len(list(takewhile(lambda each: not each[1], heads)))
    if len(heads) <= _MOST_COLUMNS or keys >= _MOST_COLUMNS:
        return [list(range(len(heads)))]
    room = _MOST_COLUMNS - keys
    count = -(-(len(heads) - keys) // room)
    return [
        [*range(keys), *range(keys + nth * (len(heads) - keys) // count, end)]
        for nth in range(count)
        for end in [keys + (nth + 1) * (len(heads) - keys) // count]
    ]


def _layout(numeric: Sequence[bool]) -> str:
    """The columns for ``tabular``; together they are as wide as the line."""
    weights = [_NUMBER if each else _TEXT for each in numeric]
    unit = (1 - _GAP * (len(weights) - 1)) / sum(weights)
    sides = ("raggedleft" if each else "raggedright" for each in numeric)
    return "".join(
        f">{{\\{side}\\arraybackslash}}p{{{unit * weight:.3f}\\linewidth}}"
        for side, weight in zip(sides, weights, strict=True)
    )
