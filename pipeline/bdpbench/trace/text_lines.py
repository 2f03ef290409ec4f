"""Lines of text → rows of the tables, by the patterns of their forms.

This is the reference for the C parser of wired lines, and reads all other forms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from bdpbench.trace.line_forms import ALL_VARIABLES, LINE_FORMS, LineForm
from bdpbench.trace.schema import TABLES

LINE = "_line"
"""Column with the index of a row's line in its chunk."""

_TEXT = "_text"
_ADDRESSES = ("src_node", "dst_node", "node")
LATEST_S = 1e12
"""Upper limit of packet times, s, some 30,000 years: anything later is not a time."""

_LEVEL_BITS = 11
_MAX_ABOVE = (1 << 21) - 1
_NAM_LINE = re.compile(r"[A-Za-z+-] -t (\*|-?[0-9][0-9.e+-]*)( |$)|# nam4wpan #")
_XGRAPH = r'"|(TitleText|[XY]UnitText|Device|Markers|BoundBox|NoLines|Ticks|[0-9]+\.Color) *:'
_SPACE = r"[ \t]"
_NUMBER = r"-?[0-9]+(?:\.[0-9]*)?(?:e[-+]?[0-9]+)?"
_WIRED_FIELDS = (
    *("event", "time", "from", "to", "type", "bytes", "flags", "flow"),
    *("src.port", "dst.port", "seq", "uid"),
)
_WIRED_COUNTS = (12, 15, 16, 19, 20)
_WIRED_CHECKS: Mapping[str, tuple[str, str]] = {
    "time": ("a time", r"[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?"),
    "src.port": ("an address and a port", r"-?[0-9]+(\.[0-9]+){0,2}\.-?[0-9]+"),
    "dst.port": ("an address and a port", r"-?[0-9]+(\.[0-9]+){0,2}\.-?[0-9]+"),
    "bytes": ("a whole number that is not negative", "[0-9]+"),
} | {name: ("a whole number", "-?[0-9]+") for name in ("from", "to", "flow", "seq", "uid")}


@dataclass
class ParsedText:
    """Rows of lines, and the unrecognised lines.

    Attributes:
        frames: table → its rows with LINE, in the order of the lines.
        forms: name of a form → number of its lines.
        times: LINE and ``time_s`` of each parsed line, and ``half_unit_s`` of its form.
        bad: index and text of each line that has no form.
    """

    frames: dict[str, pl.DataFrame] = field(default_factory=dict)
    forms: dict[str, int] = field(default_factory=dict)
    times: pl.DataFrame = field(default_factory=pl.DataFrame)
    bad: list[tuple[int, str]] = field(default_factory=list)


def parse_text(lines: Sequence[bytes], numbers: Sequence[int], hint: Sequence[str]) -> ParsedText:
    """Parse lines, given without their line ends.

    Args:
        lines: the lines.
        numbers: their indices in their chunk, increasing.
        hint: names of forms to try first, for speed.
    """
    left = pl.DataFrame(
        {LINE: numbers, _TEXT: [line.decode("utf-8", "replace") for line in lines]},
        schema={LINE: pl.Int64, _TEXT: pl.String},
    )
    result = ParsedText()
    frames: dict[str, list[pl.DataFrame]] = {}
    times = []
    for form in sorted(LINE_FORMS, key=lambda form: form.name not in hint):
        if left.is_empty():
            break
        rows, left = _split_by_form(left, form)
        if not rows.is_empty():
            result.forms[form.name] = rows.height
            if form.has_time:
                times.append(rows.select(LINE, "time_s", half_unit_s=pl.lit(form.half_unit_s)))
            frames.setdefault(form.table, []).append(_table_rows(rows, form))
    result.frames = {
        table: pl.concat(parts).sort(LINE, maintain_order=True) for table, parts in frames.items()
    }
    result.times = pl.concat(times).sort(LINE) if times else pl.DataFrame()
    result.bad = list(left.iter_rows())
    return result


def _split_by_form(lines: pl.DataFrame, form: LineForm) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The fields of the lines that have the form, and the lines that do not."""
    groups = lines.get_column(_TEXT).str.extract_groups(form.pattern).struct.unnest()
    matched = groups.get_column("time_s" if form.has_time else "what").is_not_null()
    if not matched.any():
        return pl.DataFrame(), lines
    texts = lines.hstack(groups).filter(matched)
    typed = texts.select(LINE, _TEXT, *_typed(texts, form))
    good = _in_range(texts, typed)
    if form.table == "packets":
        good &= typed.get_column("time_s") < LATEST_S
    others = lines.filter(~matched)
    if good.all():
        return typed.drop(_TEXT), others
    left = pl.concat([others, typed.filter(~good).select(LINE, _TEXT)]).sort(LINE)
    return typed.filter(good).drop(_TEXT), left


def _typed(texts: pl.DataFrame, form: LineForm) -> list[pl.Expr]:
    """The groups as columns of the form's table; null if a field is invalid for its column."""
    types = {**TABLES[form.table], **dict.fromkeys(_of_all_variables(form), pl.Float64())}
    exprs = [
        _cast(texts, name, types[name.removesuffix("_hex")])
        for name in texts.columns
        if name.removesuffix("_hex") in types and name != "rest"
    ]
    if rests := [name for name in ("rest", "rest_arp") if name in texts.columns]:
        rest = pl.coalesce(rests).str.strip_chars()
        exprs.append(pl.when(rest != "").then(rest).alias("rest"))
    return exprs


def _of_all_variables(form: LineForm) -> tuple[str, ...]:
    return ALL_VARIABLES if form.name == "all variables" else ()


def _cast(texts: pl.DataFrame, name: str, dtype: pl.DataType) -> pl.Expr:
    text = pl.col(name)
    if name.endswith("_hex"):
        number = text.str.to_integer(base=16, strict=False)
        return number.cast(dtype, strict=False).alias(name.removesuffix("_hex"))
    if name in _ADDRESSES and texts.get_column(name).str.contains(".", literal=True).any():
        return _packed_address(text).cast(dtype, strict=False)
    if name == "reason":
        return pl.when(text != "---").then(text).cast(dtype)
    return text.cast(dtype, strict=False)


def _packed_address(text: pl.Expr) -> pl.Expr:
    """An address of up to three levels as ns-2's integer; null if a level has too many bits."""
    first, second, third = (
        text.str.split(".").list.get(level, null_on_oob=True).cast(pl.Int64, strict=False)
        for level in range(3)
    )
    packed = _with_level(_with_level(first, second), third)
    packed = pl.when(packed >= 1 << 31).then(packed - (1 << 32)).otherwise(packed)
    return packed.alias(text.meta.output_name())


def _with_level(above: pl.Expr, level: pl.Expr) -> pl.Expr:
    """The levels so far and one more; ``above`` unchanged if there is none."""
    fits = above.is_between(0, _MAX_ABOVE) & level.is_between(0, (1 << _LEVEL_BITS) - 1)
    joined = pl.when(fits).then(above * (1 << _LEVEL_BITS) + level)
    return pl.when(level.is_null()).then(above).otherwise(joined)


def _in_range(texts: pl.DataFrame, typed: pl.DataFrame) -> pl.Series:
    """Whether each field of a line is a number that its column can represent."""
    faults = [pl.lit(False)]
    for name in texts.columns:
        column = name.removesuffix("_hex")
        if column not in typed.columns or name in (LINE, _TEXT, "rest", "reason"):
            continue
        value = pl.col(column)
        fault = value.is_null()
        if typed.schema[column].is_float():
            fault = fault | ~value.is_finite()
        if column == "bytes":
            fault = fault | (value < 0)
        fault = fault.fill_null(True)
        given = texts.get_column(name)
        faults.append(fault & given.is_not_null() if given.null_count() else fault)
    return typed.select(_good=~pl.any_horizontal(faults)).to_series()


def _table_rows(rows: pl.DataFrame, form: LineForm) -> pl.DataFrame:
    """Rows with LINE and all columns of the form's table, in order."""
    if form.name == "all variables":
        rows = _one_variable_a_row(rows)
    if form.source is not None:
        rows = rows.with_columns(source=pl.lit(form.source, dtype=pl.Categorical()))
    columns = TABLES[form.table]
    missing = [
        pl.lit(None, dtype=columns[name]).alias(name) for name in columns.keys() - rows.columns
    ]
    return rows.with_columns(missing).select(LINE, *columns)


def _one_variable_a_row(rows: pl.DataFrame) -> pl.DataFrame:
    long = rows.unpivot(
        ALL_VARIABLES,
        index=[LINE, "time_s", "src_node", "src_port", "dst_node", "dst_port"],
        variable_name="name",
        value_name="value",
    )
    return long.with_columns(pl.col("name").cast(pl.Categorical())).sort(LINE, maintain_order=True)


def fault_of(text: str) -> str:
    """Why a line matches no form, and what was expected."""
    if not text.strip():
        return "the line is empty, which none of ns-2's is; files for plotters part curves so"
    if "\N{REPLACEMENT CHARACTER}" in text or not text.replace("\t", " ").strip("\r").isprintable():
        return "the line is not text"
    if is_nam_line(text):
        return "this is a line of a nam trace, which is made for the animator"
    if foreign := _foreign(text):
        return foreign
    words = text.split()
    if words[0] in ("+", "-", "r", "d", "e", "h", "c") and not any(
        w.startswith("-s") for w in words
    ):
        return _wired_fault(words)
    return "no line of an ns-2 trace looks like this, or a field is out of range"


_COMMENT = rf"#.*|.*:{_SPACE}*$"
_PRINTED = rf"{_SPACE}*[A-Za-z][a-z]{{2,}}[^\s]*(?:\s|$)"
_HEADINGS = (_XGRAPH, _COMMENT, _PRINTED)
_FOREIGN = (
    (
        r"[+\-rdst] +[0-9.e+-]+ +/NodeList/",
        "an ASCII trace of ns-3, which is another simulator than ns-2: ns-3's FlowMonitor and "
        "the pcap files that it writes are what measures it",
    ),
    (r"\s*<[?!A-Za-z]", "XML or HTML, such as files of ns-3, NetAnim or SUMO, not packets of ns-2"),
    (_XGRAPH, "a file for xgraph, which draws it: titles and curves, not packets"),
    (r" *[0-9.]+ n \d+ m <\S+> r \d+ ", "a log of SRM agents: requests and repairs, not packets"),
    (r"[0-9.]+ i \d+ [A-Z] [A-Z]+ ", "a log of a web cache: requests for pages, not packets"),
    (r"[0-9.]+(?: +\d+){4} +[A-Za-z_]+ *$", "a traced variable without a value"),
    (r"[0-9]+(?: +[0-9]+){2} +[0-9.]+ ms", "a list of delays of a delaybox, not packets"),
    (r"[0-9.]+ \d+\(\d+->\d+\):", "a log of MPLS: labels of packets on links"),
    (_COMMENT, "a comment or heading of a script"),
    (rf"{_SPACE}*{_NUMBER}(?:{_SPACE}+{_NUMBER})*{_SPACE}*$", ""),
    (_PRINTED, "text that a script printed"),
)
"""Descriptions of lines that are not of ns-2's traces; lines of numbers are recognised by column
count."""


def _foreign(text: str) -> str | None:
    """What kind of foreign line this is; None if it is unknown."""
    for pattern, words in _FOREIGN:
        if re.match(pattern, text):
            return f"this is {words or _columns(text)}"
    return None


def _columns(text: str) -> str:
    count = len(text.split())
    columns = "a number" if count == 1 else f"{count} columns of numbers"
    return f"{columns} that a script printed; of columns, a time and a value can be read"


def is_heading(text: str) -> bool:
    """Whether an unrecognised line may stand above a trace: a blank one, a comment, a title."""
    return not text.strip() or any(re.match(pattern, text) for pattern in _HEADINGS)


def is_nam_line(text: str) -> bool:
    """Whether an unrecognised line belongs to a nam trace, whose times follow ``-t``."""
    return _NAM_LINE.match(text) is not None


def _wired_fault(words: Sequence[str]) -> str:
    if len(words) not in _WIRED_COUNTS:
        fields = " ".join(_WIRED_FIELDS)
        return f"expected the 12 fields of a wired trace ({fields}), got {len(words)}"
    for word, name in zip(words, _WIRED_FIELDS, strict=False):
        if name in _WIRED_CHECKS:
            expected, pattern = _WIRED_CHECKS[name]
            if not re.fullmatch(pattern, word):
                return f"{name}: expected {expected}, got {word!r}"
            if name == "time" and float(word) >= LATEST_S:
                return f"time: expected less than {LATEST_S:g} s, got {word!r}"
    return "a field is out of range, or the fields after uid are not ones that ns-2 prints"
