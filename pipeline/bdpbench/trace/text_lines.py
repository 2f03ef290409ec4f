"""The forms that a line of an ns-2 trace can have, as patterns over its fields.

A form is data: a pattern whose groups are named after columns of its table. The patterns follow the
format strings of ns-2.35 (trace/trace.cc, trace/cmu-trace.cc, satellite/sattrace.cc, tcp/tcp.cc,
tools/queue-monitor.cc, tcl/lib/ns-link.tcl); fields may be separated by several blanks, and lines
may begin and end with blanks. The patterns are written for Rust's regex, which polars uses, with
these abbreviations: ``<column>`` is a field of that column, of the pattern that follows a colon or
else of the usual one; INT, WORD and others are patterns of fields; two blanks are any number of
blanks and tabs.

By them, lines of text become rows. This is the reference for what reads ordinary lines faster:
``parse_wired`` here, and packets.c.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from bdpbench.later import Schema, pl
from bdpbench.trace.schema import PACKETS, TABLES, event_type

_FIELDS = {
    "INT": "-?[0-9]+",
    "TIME": r"[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?",
    "FLOAT": r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?",
    "DECIMAL": r"-?[0-9]+\.[0-9]+",
    "HEX": "[0-9a-f]+",
    "WORD": "[!-~]+",
    "TEXT": "[ -~]*",
    "REMARK": r"[^\x00-\x08\x0a-\x1f\x7f" + "\ufffd]*",  # tabs and letters of all languages
    "ADDRESS": r"-?[0-9]+(?:\.[0-9]+){0,2}",
    "LAYER": "AGT|RTR|TRP|IFQ|MAC|PHY",
    "BALANCED": r"(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*",
}
_KINDS = rf"\b(?:{'|'.join(_FIELDS)})\b"
# Columns whose fields are not whole numbers; hexadecimal ones end with _hex.
_USUAL = {
    "time_s": "TIME",
    **dict.fromkeys(("x_m", "y_m", "z_m", "energy_j", "value"), "FLOAT"),
    **dict.fromkeys(("from_lat", "from_lon", "to_lat", "to_lon"), "DECIMAL"),
    **dict.fromkeys(("type", "flags", "reason"), "WORD"),
    "layer": "LAYER",
    "rest": "BALANCED",
    "owner": "_o[0-9]+",
    "name": "[A-Za-z_][A-Za-z0-9_]*",
}

_ALL = "all variables"
ALL_VARIABLES = (
    *("maxseq", "hiack", "seqno", "cwnd", "ssthresh"),
    *("dupacks", "rtt", "srtt", "rttvar", "bkoff"),
)
"""What a line of this form, with all variables of a TCP agent, prints, in order."""


@dataclass(frozen=True)
class LineForm:
    """One form of a line.

    Attributes:
        name: its name for users.
        table: the table whose rows its lines become.
        pattern: has a group for each column, ``<column>_hex`` if the field is hexadecimal.
        half_unit_s: half a unit of the last digit of its times, s: by how much a time may be
            earlier than one that another form printed at the same moment.
        source: value of the column ``source``, if the lines do not contain one.
    """

    name: str
    table: str
    pattern: str
    half_unit_s: float
    source: str | None = None

    @property
    def has_time(self) -> bool:
        """Whether its lines have a time; those without one are identified by ``what``."""
        return "?P<time_s>" in self.pattern


def _form(
    name: str, table: str, body: str, half_unit_s: float, source: str | None = None
) -> LineForm:
    """A form of whole lines, whose pattern is abbreviated.

    Raises:
        ValueError: naming the groups that are no columns of the table.
    """
    pattern = _pattern(body)
    columns = {*TABLES[table], "rest_arp", *(ALL_VARIABLES if name == _ALL else ())}
    groups = re.findall(r"\?P<(\w+?)(?:_hex)?>", pattern)
    if unknown := ", ".join(each for each in groups if each not in columns):
        raise ValueError(f"form {name!r}: the table {table} has no column {unknown}")
    return LineForm(name, table, f"^[ \t]*{pattern}[ \t\r]*$", half_unit_s, source)


def _pattern(body: str) -> str:
    """A pattern without abbreviations."""
    return re.sub("<([^<>]+)>|" + _KINDS, _expanded, body.replace("  ", "[ \t]+"))


def _expanded(abbreviated: re.Match[str]) -> str:
    if abbreviated[1] is None:
        return _FIELDS[abbreviated[0]]
    name, _, given = abbreviated[1].partition(":")
    usual = "HEX" if name.endswith("_hex") else _USUAL.get(name, "INT")
    pattern = re.sub(_KINDS, lambda kind: _FIELDS[kind[0]], given or usual)
    return f"(?P<{name}>{pattern})"


_UNTIL_FLOW = (
    "<event:[-+rdehc]>  <time_s>  <from_node>  <to_node>  <type>  <bytes>  <flags>  <flow>"
)
_SRC, _DST = r"<src_node:ADDRESS>\.<src_port>", r"<dst_node:ADDRESS>\.<dst_port>"
_ENDS = f"{_SRC}  {_DST}"
_WIRED = f"{_UNTIL_FLOW}  {_ENDS}"
_TCP_HEADER = "(?:  <ack>  0x<tcp_flags_hex>  <header_bytes>  <sack_bytes>)?"
_SCTP = "<chunks>  <seq>  <uid>  <stream>  <stream_seq>"
_POSITIONS = "<from_lat>  <from_lon>  <to_lat>  <to_lon>"
# The addresses of a frame without a packet are those of the packets that it is about.
_HDLC = rf"{_UNTIL_FLOW}  ADDRESS\.INT  ADDRESS\.INT  <seq>  <uid>"
_HDLC_HEADER = r"\[INT INT (?:I INT INT|S INT [A-Z]+|U [A-Z]+)\]"
_TAGGED = (
    "<event:[-+rdehc]>  <time_s>  -s +<from_node>  -d +<to_node>  -p +<type>  -e +<bytes>"
    "  -c +<flow>  -i +<uid>  -a +INT  -x +\\{" + _ENDS + "  <seq>  <flags>  WORD\\}"
)
_OLD_SMAC = r"\[FLOAT  INT  INT\]"
_OLD_WIRELESS = (
    "<event:[srDfx]>  <time_s>  _<node>_  <layer>  <reason>  <uid>  <type>  <bytes>"
    r"(?:  (?:\[<mac_duration_hex>  <mac_to_hex>  <mac_from_hex>  <mac_type_hex>\]"
    rf"|{_OLD_SMAC}))?(?:[ \t]*\[energy <energy_j>(?: [^\]]*)?\])?"
    r"(?:  (?:<flags:------->  \[<src_node>:<src_port> <dst_node>:<dst_port> <ttl> <next_hop>\]"
    r"(?:[ \t]*\[<seq>(?: <ack>)?\] <hops> INT|[ \t]*<rest>)"
    r"|<rest_arp:-------  \[(?:REQUEST|REPLY) INT/INT INT/INT\]>))?"
)
_NEW_WIRELESS = (
    "<event:[srdf]>  -t <time_s>  -Hs INT  -Hd <next_hop>  -Ni <node>"
    "  -Nx <x_m>  -Ny <y_m>  -Nz <z_m>  -Ne <energy_j>  -Nl +<layer>  -Nw <reason>"
    "(?:  (?:-Ma <mac_duration_hex>  -Md <mac_to_hex>  -Ms <mac_from_hex>  -Mt <mac_type_hex>"
    rf"|{_OLD_SMAC}))?(?:  -Is <src_node>\.<src_port>  -Id <dst_node>\.<dst_port>"
    "  -It <type>  -Il <bytes>  -If <flow>  -Ii <uid>  -Iv <ttl>"
    "(?:  -Pn (?:tcp|cbr) -P[si] <seq>(?: -Pa <ack>)? -Pf <hops> -Po INT"
    "|  <rest:-(?:P|type)TEXT>)?|  <rest_arp:-P arp TEXT>)?"
)
_TAGGED_WIRELESS = (
    "<event:[-+rdhsf]>  <time_s>  -s <node>  -d <next_hop>  -p <type>  -k +<layer>  -i <uid>"
    r"  -N:loc \{<x_m> <y_m> <z_m>\}  -N:en <energy_j>"
    "  -M:dur <mac_duration_hex>  -M:s <mac_to_hex>  -M:d <mac_from_hex>  -M:t <mac_type_hex>"
    "(?:  (?:-IP:s <src_node> -IP:sp <src_port> -IP:d <dst_node> -IP:dp <dst_port>"
    " -p WORD -e <bytes> -c <flow> -i INT -IP:ttl <ttl>)"
    "(?:  -(?:tcp|cbr):s <seq>(?: -tcp:a <ack>)? -(?:tcp|cbr):f <hops> -(?:tcp|cbr):o INT"
    "|  <rest:-[a-z]+:TEXT>)?|  <rest_arp:-arp:TEXT>)?"
)

_VARIABLE = "<time_s>  <src_node>  <src_port>  <dst_node>  <dst_port>  <name>"
_ALL_VARIABLES = (
    "time: <time_s>  saddr: <src_node>  sport: <src_port>  daddr: <dst_node>  dport: <dst_port>  "
    + "  ".join(f"{name}: <{name}:FLOAT>" for name in ALL_VARIABLES)
)
_QUEUE_VARIABLE = "[A-Za-z]|[A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]*|Qsize|routerId|X[0-9]+"
_SAMPLES = (
    "<time_s>  <from_node>  <to_node>  <bytes:FLOAT>  <pkts:FLOAT>(?:  <arrived_pkts>"
    "  <departed_pkts>  <dropped_pkts>  <arrived_bytes>  <departed_bytes>  <dropped_bytes>)?"
)
_TCP_EVENT = (
    "E  <time_s>  <node>  <peer_node>  <source:TCP|PGM>  <what:WORD>  <flow>"
    "(?:  <seq>  <cwnd_pkts>)?"
)
_SHORT_TIME_S = r"<time_s:[0-9]+(?:\.[0-9]{1,6})?>"
_LONG_TIME_S = r"<time_s:[0-9]+(?:\.[0-9]+)?e[-+]?[0-9]+|[0-9]+\.[0-9]{7,}>"
_ANNOTATION = "<what:(?:[A-Za-z]|-e)REMARK>"
_SENTENCE = "<what:[!-~]+REMARK>"

_MICROSECOND, _EXACT = 5e-7, 0.0


_ROUTING = r"<source:[ST][A-Za-z0-9$-]*>  <time_s:[0-9]+\.[0-9]{%d}>(?: _<node:ADDRESS>_)?  "
_QUEUE_NOW = "q -t <time_s> -s <from_node> -d <to_node> -l <bytes> -p <pkts>"

_FORMS: Mapping[str, Sequence[tuple[str, str, float]]] = {
    "packets": (
        ("wired", f"{_WIRED}  <seq>  <uid>{_TCP_HEADER}", _MICROSECOND),
        ("satellite", f"{_WIRED}  <seq>  <uid>{_TCP_HEADER}  {_POSITIONS}", 5e-5),
        ("HDLC", f"{_HDLC}{_TCP_HEADER}  {_POSITIONS}<rest:{_HDLC_HEADER}>", 5e-5),
        ("SCTP", f"{_WIRED}  {_SCTP}", _MICROSECOND),
        ("satellite SCTP", f"{_WIRED}  {_SCTP}  {_POSITIONS}", 5e-5),
        ("tagged", _TAGGED, _EXACT),
        ("old wireless", _OLD_WIRELESS, 5e-10),
        ("new wireless", _NEW_WIRELESS, 5e-10),
        ("tagged wireless", _TAGGED_WIRELESS, _EXACT),
        ("node energy", "<event:N>  -t  <time_s>  -n  <node>  -e  <energy_j>", _MICROSECOND),
    ),
    "variables": (
        ("variable", f"{_VARIABLE}  <value>", 5e-6),
        # ns-2 writes the name and a blank, and nothing where a variable has no value yet.
        ("variable without a value", _VARIABLE + "[ \t]", 5e-6),
        (_ALL, _ALL_VARIABLES, 5e-6),
        ("feature variable", "[a-z] t<time_s> a<owner> n<name> v<value>", _MICROSECOND),
        ("tagged variable", "[a-z] <time_s> -a <owner> -n <name> -v <value>", _MICROSECOND),
        # %g prints six digits: near 1000 s, that is 0.01 s.
        ("queue variable", f"<name:{_QUEUE_VARIABLE}>  <time_s>  <value>", 5e-3),
        ("XCP variable", "<time_s>  x  x  x  x  <name>  <value>", 5e-3),
    ),
    "queues": (("queue now", _QUEUE_NOW, 0), ("queue samples", _SAMPLES, _EXACT)),
    "events": (
        ("TCP events", _TCP_EVENT, _MICROSECOND),
        (
            "error model events",
            "E  <time_s>  <source:ErrModelTimer>  WORD  <what:REMARK>",
            _MICROSECOND,
        ),
        ("MAC events", f"E  -t  <time_s>  {_SENTENCE}", _MICROSECOND),
        # Scripts and multicast round to a microsecond; Tcl prints the time with all digits.
        ("annotation", f"<source:v>  {_SHORT_TIME_S}  {_ANNOTATION}", _MICROSECOND),
        ("exact annotation", f"<source:v>  {_LONG_TIME_S}  {_ANNOTATION}", _EXACT),
        ("movement", r"<source:M>  <time_s>  <node>  <what:\(REMARK>", 5e-6),
        ("scenario", "<source:M>  <time_s>  <what:[a-z]+[: ]REMARK>", 5e-6),
        ("name of a test", "<source:v>  <what:testName(?:REMARK)>", _EXACT),
        ("title", "<what:Directed Diffusion:REMARK>", _EXACT),
        # What DSR (S...) and TORA (T) note.
        ("routing events", _ROUTING % 9 + _SENTENCE, 5e-10),
        ("routing events, 5 digits", _ROUTING % 5 + _SENTENCE, 5e-6),
    ),
    "series": (("two columns", "<time_s>  <value>", _EXACT),),
}
_SOURCES = {"MAC events": "MAC", "title": "title"}

LINE_FORMS = tuple(
    _form(name, table, body, half_unit_s, _SOURCES.get(name))
    for table, forms in _FORMS.items()
    for name, body, half_unit_s in forms
)
"""All forms; no line matches more than one of them."""

TABLE_OF_FORM = {form.name: form.table for form in LINE_FORMS}
"""Name of a form → the table that its lines belong to."""


# ---------------------------------------------------------------- lines to rows

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
    "time": ("a time", _FIELDS["TIME"]),
    "src.port": ("an address and a port", _pattern(r"ADDRESS\.INT")),
    "dst.port": ("an address and a port", _pattern(r"ADDRESS\.INT")),
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
        curve: title of the curve that goes on after these lines, "" if it has none; None if no
            line begins or ends one.
    """

    frames: dict[str, pl.DataFrame] = field(default_factory=dict)
    forms: dict[str, int] = field(default_factory=dict)
    times: pl.DataFrame = field(default_factory=lambda: pl.DataFrame())
    bad: list[tuple[int, str]] = field(default_factory=list)
    curve: str | None = None


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
    _name_curves(result)
    return result


_WIRED_COLUMNS = Schema(
    {
        "event": lambda: pl.Enum(tuple("+-rdehc")),
        "time_s": "String",
        "from_node to_node": "Int32",
        "type": "Categorical",
        "bytes": "Int32",
        "flags": "Categorical",
        "flow": "Int32",
        "src dst": "Categorical",
        "seq uid ack": "Int64",
        "hex": "Categorical",
        "header_bytes sack_bytes": "Int32",
    }
)
_WIRED_PARTS = {
    name: f"^{_pattern(each)}$"
    for name, each in {"src": _SRC, "dst": _DST, "hex": "0x<tcp_flags_hex>"}.items()
}
_PRINTABLE = bytes(range(ord(" "), ord("~") + 1)) + b"\n"


def parse_wired(text: bytes) -> ParsedText | None:
    """What ``parse_text`` makes of lines that are all plain wired ones, read by polars as CSV.

    None if a line may be another one: polars skips or fills what is missing, and takes signs and
    blanks that no field has.
    """
    if b" +" in text or text.translate(None, _PRINTABLE):
        return None
    count = 16 if text.count(b" ", 0, text.find(b"\n")) == 15 else 12
    schema = dict(islice(_WIRED_COLUMNS.items(), count))
    options: dict[str, Any] = {"has_header": False, "separator": " ", "quote_char": None}
    try:
        frame = pl.read_csv(text, schema=schema, **options)
    except pl.exceptions.PolarsError:
        return None
    if frame.height != text.count(b"\n") or any(frame.null_count().row(0)):
        return None
    for name in _WIRED_PARTS.keys() & schema:
        texts = frame.select(pl.col(name).unique())
        column = texts.get_column(name).cast(pl.String)
        parts = column.str.extract_groups(_WIRED_PARTS[name]).struct.unnest()
        typed = (_cast(parts, each, PACKETS[each.removesuffix("_hex")]) for each in parts.columns)
        texts = texts.hstack(parts.select(typed))
        if any(texts.null_count().row(0)):
            return None
        frame = frame.join(texts, on=name, how="left", maintain_order="left")
    time_s = pl.col("time_s")
    good = time_s.str.contains(f"^{_FIELDS['TIME']}$") & (
        time_s.cast(pl.Float64, strict=False) < LATEST_S
    )
    if not frame.select((good & (pl.col("bytes") >= 0)).all()).item():
        return None
    form, numbers = LINE_FORMS[0], pl.row_index(LINE).cast(pl.Int64)
    event = pl.col("event").cast(event_type())
    frame = frame.select(
        numbers, pl.all().exclude("event", "time_s"), time_s.cast(pl.Float64), event
    )
    rows = _table_rows(frame, form)
    times = rows.select(LINE, "time_s", half_unit_s=pl.lit(form.half_unit_s))
    return ParsedText({form.table: rows}, {form.name: rows.height}, times)


_TITLE = re.compile(r'"(.*?)"?\s*')


def _name_curves(result: ParsedText) -> None:
    """Give samples the title of their curve: of a line ``"title`` before it, up to a blank one."""
    begins = {number: "" for number, text in result.bad if not text.strip()}
    begins |= {number: found[1] for number, text in result.bad if (found := _TITLE.fullmatch(text))}
    if not begins:
        return
    lines = sorted(begins)
    result.curve = begins[lines[-1]]
    if "series" in result.frames:
        titles = pl.DataFrame(
            {LINE: lines, "name": [begins[each] for each in lines]},
            schema={LINE: pl.Int64, "name": pl.String},
        )
        samples = result.frames["series"].drop("name")
        result.frames["series"] = samples.join_asof(titles, on=LINE)


def _split_by_form(lines: pl.DataFrame, form: LineForm) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The fields of the lines that have the form, and the lines that do not."""
    groups = lines.get_column(_TEXT).str.extract_groups(form.pattern).struct.unnest()
    matched = groups.get_column("time_s" if form.has_time else "what").is_not_null()
    if not matched.any():
        return pl.DataFrame(), lines
    texts = lines.hstack(groups).filter(matched)
    typed = texts.select(LINE, _TEXT, *_typed(texts, form))
    good = _in_range(texts, typed, LATEST_S if form.table == "packets" else math.inf)
    others = lines.filter(~matched)
    if good.all():
        return typed.drop(_TEXT), others
    left = pl.concat([others, typed.filter(~good).select(LINE, _TEXT)]).sort(LINE)
    return typed.filter(good).drop(_TEXT), left


def _typed(texts: pl.DataFrame, form: LineForm) -> list[pl.Expr]:
    """The groups as columns of the form's table; null if a field is invalid for its column."""
    more = ALL_VARIABLES if form.name == _ALL else ()
    types = {**TABLES[form.table], **dict.fromkeys(more, pl.Float64())}
    exprs = [
        _cast(texts, name, types[name.removesuffix("_hex")])
        for name in texts.columns
        if name.removesuffix("_hex") in types and name != "rest"
    ]
    if rests := [name for name in ("rest", "rest_arp") if name in texts.columns]:
        rest = pl.coalesce(rests).str.strip_chars()
        exprs.append(pl.when(rest != "").then(rest).alias("rest"))
    return exprs


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
    packed, *levels = (
        text.str.split(".").list.get(level, null_on_oob=True).cast(pl.Int64, strict=False)
        for level in range(3)
    )
    for level in levels:
        fits = packed.is_between(0, _MAX_ABOVE) & level.is_between(0, (1 << _LEVEL_BITS) - 1)
        joined = pl.when(fits).then(packed * (1 << _LEVEL_BITS) + level)
        packed = pl.when(level.is_null()).then(packed).otherwise(joined)
    packed = pl.when(packed >= 1 << 31).then(packed - (1 << 32)).otherwise(packed)
    return packed.alias(text.meta.output_name())


def _in_range(texts: pl.DataFrame, typed: pl.DataFrame, latest_s: float) -> pl.Series:
    """Whether each field of a line is a number that its column can represent."""
    good = pl.lit(value=True)
    for name in texts.columns:
        column = name.removesuffix("_hex")
        if column not in typed.columns or name in (LINE, _TEXT, "rest", "reason"):
            continue
        value = pl.col(column)
        is_real = typed.schema[column].is_float()
        fine = (value.is_finite() if is_real else value.is_not_null()).fill_null(value=False)
        if column == "bytes":
            fine = fine & (value >= 0)
        if column == "time_s":
            fine = fine & (value < latest_s)
        given = texts.get_column(name)
        good = good & (fine | given.is_null() if given.null_count() else fine)
    return typed.select(_good=good).to_series()


def _table_rows(rows: pl.DataFrame, form: LineForm) -> pl.DataFrame:
    """Rows with LINE and all columns of the form's table, in order."""
    if form.name == _ALL:
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
    words = text.split()
    columns = "a number" if len(words) == 1 else f"{len(words)} columns of numbers"
    for pattern, what in _FOREIGN:
        if re.match(pattern, text):
            return f"this is {what.format(columns=columns)}"
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
    (
        rf"{_SPACE}*{_NUMBER}(?:{_SPACE}+{_NUMBER})*{_SPACE}*$",
        "{columns} that a script printed; of columns, a time and a value can be read",
    ),
    (_PRINTED, "text that a script printed"),
)
"""Descriptions of lines that are not of ns-2's traces."""


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
