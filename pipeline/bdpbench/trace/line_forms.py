"""The forms that a line of an ns-2 trace can have, as patterns over its fields.

A form is data: a pattern whose groups are named after columns of its table. The patterns follow the
format strings of ns-2.35 (trace/trace.cc, trace/cmu-trace.cc, satellite/sattrace.cc, tcp/tcp.cc,
tools/queue-monitor.cc, tcl/lib/ns-link.tcl); fields may be separated by several blanks, and lines
may begin and end with blanks. The patterns are written for Rust's regex, which polars uses, with
these abbreviations: ``<column>`` is a field of that column, of the pattern that follows a colon or
else of the usual one; INT, WORD and others are patterns of fields; two blanks are any number of
blanks and tabs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FIELDS = {
    "INT": "-?[0-9]+",
    "TIME": r"[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?",
    "FLOAT": r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?",
    "DECIMAL": r"-?[0-9]+\.[0-9]+",
    "HEX": "[0-9a-f]+",
    "WORD": "[!-~]+",
    "TEXT": "[ -~]*",
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
        has_time: whether its lines have a time; those without one are identified by ``what``.
    """

    name: str
    table: str
    pattern: str
    half_unit_s: float
    source: str | None = None
    has_time: bool = True


def _form(
    name: str,
    table: str,
    body: str,
    half_unit_s: float,
    source: str | None = None,
    *,
    has_time: bool = True,
) -> LineForm:
    """A form of whole lines, whose pattern is abbreviated."""
    spaced = body.replace("  ", "[ \t]+")
    pattern = re.sub("<([^<>]+)>|" + _KINDS, _expanded, spaced)
    return LineForm(name, table, f"^[ \t]*{pattern}[ \t\r]*$", half_unit_s, source, has_time)


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
_ENDS = r"<src_node:ADDRESS>\.<src_port>  <dst_node:ADDRESS>\.<dst_port>"
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
ALL_VARIABLES = (
    *("maxseq", "hiack", "seqno", "cwnd", "ssthresh"),
    *("dupacks", "rtt", "srtt", "rttvar", "bkoff"),
)
"""What a line with all variables of a TCP agent prints, in order."""

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
_ANNOTATION = "<what:(?:[A-Za-z]|-e)TEXT>"
_SENTENCE = "<what:[!-~]+TEXT>"

_MICROSECOND, _EXACT = 5e-7, 0.0


def _routing_events(name: str, *, digits: int) -> LineForm:
    """What DSR (S...) and TORA (T) note, with this many decimals of a second."""
    time_s = rf"<time_s:[0-9]+\.[0-9]{{{digits}}}>"
    body = f"<source:[ST][A-Za-z0-9$-]*>  {time_s}(?: _<node:ADDRESS>_)?  {_SENTENCE}"
    return _form(name, "events", body, 0.5 * 10**-digits)


LINE_FORMS = (
    _form("wired", "packets", f"{_WIRED}  <seq>  <uid>{_TCP_HEADER}", _MICROSECOND),
    _form("satellite", "packets", f"{_WIRED}  <seq>  <uid>{_TCP_HEADER}  {_POSITIONS}", 5e-5),
    _form("HDLC", "packets", f"{_HDLC}{_TCP_HEADER}  {_POSITIONS}<rest:{_HDLC_HEADER}>", 5e-5),
    _form("SCTP", "packets", f"{_WIRED}  {_SCTP}", _MICROSECOND),
    _form("satellite SCTP", "packets", f"{_WIRED}  {_SCTP}  {_POSITIONS}", 5e-5),
    _form("tagged", "packets", _TAGGED, _EXACT),
    _form("old wireless", "packets", _OLD_WIRELESS, 5e-10),
    _form("new wireless", "packets", _NEW_WIRELESS, 5e-10),
    _form("tagged wireless", "packets", _TAGGED_WIRELESS, _EXACT),
    _form(
        "node energy",
        "packets",
        "<event:N>  -t  <time_s>  -n  <node>  -e  <energy_j>",
        _MICROSECOND,
    ),
    _form("variable", "variables", f"{_VARIABLE}  <value>", 5e-6),
    # ns-2 writes the name and a blank, and nothing where a variable has no value yet.
    _form("variable without a value", "variables", _VARIABLE + "[ \t]", 5e-6),
    _form("all variables", "variables", _ALL_VARIABLES, 5e-6),
    _form(
        *("feature variable", "variables"),
        "[a-z] t<time_s> a<owner> n<name> v<value>",
        _MICROSECOND,
    ),
    _form(
        *("tagged variable", "variables"),
        "[a-z] <time_s> -a <owner> -n <name> -v <value>",
        _MICROSECOND,
    ),
    # %g prints six digits: near 1000 s, that is 0.01 s.
    _form("queue variable", "variables", f"<name:{_QUEUE_VARIABLE}>  <time_s>  <value>", 5e-3),
    _form("XCP variable", "variables", "<time_s>  x  x  x  x  <name>  <value>", 5e-3),
    _form(
        "queue now", "queues", "q -t <time_s> -s <from_node> -d <to_node> -l <bytes> -p <pkts>", 0
    ),
    _form("queue samples", "queues", _SAMPLES, _EXACT),
    _form("TCP events", "events", _TCP_EVENT, _MICROSECOND),
    _form(
        *("error model events", "events"),
        "E  <time_s>  <source:ErrModelTimer>  WORD  <what:TEXT>",
        _MICROSECOND,
    ),
    _form("MAC events", "events", f"E  -t  <time_s>  {_SENTENCE}", _MICROSECOND, "MAC"),
    # Scripts and multicast round to a microsecond; Tcl prints the time with all digits.
    _form("annotation", "events", f"v  {_SHORT_TIME_S}  {_ANNOTATION}", _MICROSECOND, "v"),
    _form("exact annotation", "events", f"v  {_LONG_TIME_S}  {_ANNOTATION}", _EXACT, "v"),
    _form("movement", "events", r"M  <time_s>  <node>  <what:\(TEXT>", 5e-6, "M"),
    _form("scenario", "events", "M  <time_s>  <what:[a-z]+[: ]TEXT>", 5e-6, "M"),
    _form("name of a test", "events", "v  <what:testName[ -~]*>", _EXACT, "v", has_time=False),
    _form(*("title", "events", "<what:Directed Diffusion:TEXT>", _EXACT, "title"), has_time=False),
    _routing_events("routing events", digits=9),
    _routing_events("routing events, 5 digits", digits=5),
    _form("two columns", "series", "<time_s>  <value>", _EXACT),
)
"""All forms; no line matches more than one of them."""

TABLE_OF_FORM = {form.name: form.table for form in LINE_FORMS}
"""Name of a form → the table that its lines belong to."""
