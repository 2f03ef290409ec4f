"""The forms that a line of an ns-2 trace can have, as patterns over its fields.

A form is data: a pattern whose groups are named after columns of its table. The patterns follow the
format strings of ns-2.35 (trace/trace.cc, trace/cmu-trace.cc, satellite/sattrace.cc, tcp/tcp.cc,
tools/queue-monitor.cc, tcl/lib/ns-link.tcl); fields may be separated by several blanks, and lines
may begin and end with blanks. The patterns are written for Rust's regex, which polars uses.
"""

from __future__ import annotations

from dataclasses import dataclass

_INT = "-?[0-9]+"
_TIME = r"[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?"
_FLOAT = r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?"
_DECIMAL = r"-?[0-9]+\.[0-9]+"
_HEX = "[0-9a-f]+"
_WORD = "[!-~]+"
_TEXT = "[ -~]*"
_ADDRESS = r"-?[0-9]+(?:\.[0-9]+){0,2}"
_LAYER = "AGT|RTR|TRP|IFQ|MAC|PHY"
_BALANCED = r"(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*"


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


def _group(name: str, pattern: str) -> str:
    return f"(?P<{name}>{pattern})"


def _fields(*parts: str) -> str:
    """Parts of a line, separated by blanks."""
    return "[ \t]+".join(parts)


def _line(body: str) -> str:
    return f"^[ \t]*{body}[ \t\r]*$"


def _ints(*names: str) -> list[str]:
    return [_group(name, _INT) for name in names]


_TIME_S = _group("time_s", _TIME)
_UNTIL_FLOW = (
    _group("event", "[-+rdehc]"),
    _TIME_S,
    *_ints("from_node", "to_node"),
    _group("type", _WORD),
    *_ints("bytes"),
    _group("flags", _WORD),
    *_ints("flow"),
)
_UNTIL_ADDRESSES = _fields(
    *_UNTIL_FLOW,
    rf"{_group('src_node', _ADDRESS)}\.{_group('src_port', _INT)}",
    rf"{_group('dst_node', _ADDRESS)}\.{_group('dst_port', _INT)}",
)
# The addresses of a frame without a packet are those of the packets that it is about.
_HDLC = _fields(*_UNTIL_FLOW, *2 * [rf"{_ADDRESS}\.{_INT}"], *_ints("seq", "uid"))
_HDLC_HEADER = rf"\[{_INT} {_INT} (?:I {_INT} {_INT}|S {_INT} [A-Z]+|U [A-Z]+)\]"
_SEQ_UID = _fields(*_ints("seq", "uid"))
_SCTP = _fields(*_ints("chunks", "seq", "uid", "stream", "stream_seq"))
_TCP_HEADER = _fields(
    *_ints("ack"),
    f"0x{_group('tcp_flags_hex', _HEX)}",
    *_ints("header_bytes", "sack_bytes"),
)
_POSITIONS = _fields(
    *(_group(name, _DECIMAL) for name in ("from_lat", "from_lon", "to_lat", "to_lon"))
)
_TAGGED = _fields(
    _group("event", "[-+rdehc]"),
    _TIME_S,
    *(
        f"-{tag} +{_group(name, pattern)}"
        for tag, name, pattern in (
            ("s", "from_node", _INT),
            ("d", "to_node", _INT),
            ("p", "type", _WORD),
            ("e", "bytes", _INT),
            ("c", "flow", _INT),
            ("i", "uid", _INT),
        )
    ),
    f"-a +{_INT}",
    "-x +\\{"
    + _fields(
        rf"{_group('src_node', _ADDRESS)}\.{_group('src_port', _INT)}",
        rf"{_group('dst_node', _ADDRESS)}\.{_group('dst_port', _INT)}",
        *_ints("seq"),
        _group("flags", _WORD),
        _WORD,
    )
    + "\\}",
)

_MAC_FIELDS = ("mac_duration_hex", "mac_to_hex", "mac_from_hex", "mac_type_hex")
_OLD_MAC = rf"\[{_fields(*(_group(name, _HEX) for name in _MAC_FIELDS))}\]"
_OLD_SMAC = rf"\[{_fields(_FLOAT, _INT, _INT)}\]"
_OLD_ENERGY = rf"\[energy {_group('energy_j', _FLOAT)}(?: [^\]]*)?\]"
_OLD_IP = (
    rf"{_group('flags', '-------')}[ \t]+\[{_group('src_node', _INT)}:{_group('src_port', _INT)}"
    rf" {_group('dst_node', _INT)}:{_group('dst_port', _INT)}"
    rf" {_group('ttl', _INT)} {_group('next_hop', _INT)}\]"
)
_OLD_SEQ = (
    rf"[ \t]*\[{_group('seq', _INT)}(?: {_group('ack', _INT)})?\]"
    rf" {_group('hops', _INT)} {_INT}"
)
_OLD_ARP = rf"-------[ \t]+\[(?:REQUEST|REPLY) {_INT}/{_INT} {_INT}/{_INT}\]"
_OLD_WIRELESS = (
    _fields(
        _group("event", "[srDfx]"),
        _TIME_S,
        f"_{_group('node', _INT)}_",
        _group("layer", _LAYER),
        _group("reason", _WORD),
        _group("uid", _INT),
        _group("type", _WORD),
        _group("bytes", _INT),
    )
    + rf"(?:[ \t]+(?:{_OLD_MAC}|{_OLD_SMAC}))?(?:[ \t]*{_OLD_ENERGY})?"
    + rf"(?:[ \t]+(?:{_OLD_IP}(?:{_OLD_SEQ}|[ \t]*{_group('rest', _BALANCED)})"
    + rf"|{_group('rest_arp', _OLD_ARP)}))?"
)

_NEW_MAC = _fields(
    *(
        f"-{tag} {_group(name, _HEX)}"
        for tag, name in zip(("Ma", "Md", "Ms", "Mt"), _MAC_FIELDS, strict=True)
    )
)
_NEW_IP = _fields(
    rf"-Is {_group('src_node', _INT)}\.{_group('src_port', _INT)}",
    rf"-Id {_group('dst_node', _INT)}\.{_group('dst_port', _INT)}",
    f"-It {_group('type', _WORD)}",
    *(
        f"-{tag} {_group(name, _INT)}"
        for tag, name in (("Il", "bytes"), ("If", "flow"), ("Ii", "uid"), ("Iv", "ttl"))
    ),
)
_NEW_SEQ = (
    rf"[ \t]+-Pn (?:tcp|cbr) -P[si] {_group('seq', _INT)}(?: -Pa {_group('ack', _INT)})?"
    rf" -Pf {_group('hops', _INT)} -Po {_INT}"
)
_NEW_REST = _group("rest", f"-(?:P|type){_TEXT}")
_NEW_ARP = _group("rest_arp", f"-P arp {_TEXT}")
_NEW_WIRELESS = (
    _fields(
        _group("event", "[srdf]"),
        f"-t {_TIME_S}",
        f"-Hs {_INT}",
        f"-Hd {_group('next_hop', _INT)}",
        f"-Ni {_group('node', _INT)}",
        *(
            f"-{tag} {_group(name, _FLOAT)}"
            for tag, name in (("Nx", "x_m"), ("Ny", "y_m"), ("Nz", "z_m"), ("Ne", "energy_j"))
        ),
        f"-Nl +{_group('layer', _LAYER)}",
        f"-Nw {_group('reason', _WORD)}",
    )
    + rf"(?:[ \t]+(?:{_NEW_MAC}|{_OLD_SMAC}))?"
    + rf"(?:[ \t]+{_NEW_IP}(?:{_NEW_SEQ}|[ \t]+{_NEW_REST})?|[ \t]+{_NEW_ARP})?"
)
_TAGGED_IP = (
    rf"(?:-IP:s {_group('src_node', _INT)} -IP:sp {_group('src_port', _INT)}"
    rf" -IP:d {_group('dst_node', _INT)} -IP:dp {_group('dst_port', _INT)}"
    rf" -p {_WORD} -e {_group('bytes', _INT)} -c {_group('flow', _INT)} -i {_INT}"
    rf" -IP:ttl {_group('ttl', _INT)})"
)
_TAGGED_SEQ = (
    rf"[ \t]+-(?:tcp|cbr):s {_group('seq', _INT)}(?: -tcp:a {_group('ack', _INT)})?"
    rf" -(?:tcp|cbr):f {_group('hops', _INT)} -(?:tcp|cbr):o {_INT}"
)
_TAGGED_WIRELESS = (
    _fields(
        _group("event", "[-+rdhsf]"),
        _TIME_S,
        f"-s {_group('node', _INT)}",
        f"-d {_group('next_hop', _INT)}",
        f"-p {_group('type', _WORD)}",
        f"-k +{_group('layer', _LAYER)}",
        f"-i {_group('uid', _INT)}",
        r"-N:loc \{" + " ".join(_group(name, _FLOAT) for name in ("x_m", "y_m", "z_m")) + r"\}",
        f"-N:en {_group('energy_j', _FLOAT)}",
        *(
            f"-M:{tag} {_group(name, _HEX)}"
            for tag, name in zip(("dur", "s", "d", "t"), _MAC_FIELDS, strict=True)
        ),
    )
    + rf"(?:[ \t]+{_TAGGED_IP}(?:{_TAGGED_SEQ}|[ \t]+{_group('rest', f'-[a-z]+:{_TEXT}')})?"
    + rf"|[ \t]+{_group('rest_arp', f'-arp:{_TEXT}')})?"
)

_ENDS = _fields(*_ints("src_node", "src_port", "dst_node", "dst_port"))
ALL_VARIABLES = (
    "maxseq",
    "hiack",
    "seqno",
    "cwnd",
    "ssthresh",
    "dupacks",
    "rtt",
    "srtt",
    "rttvar",
    "bkoff",
)
"""What a line with all variables of a TCP agent prints, in order."""

_ALL_VARIABLES = _fields(
    f"time: {_TIME_S}",
    *(
        f"{tag}: {_group(name, _INT)}"
        for tag, name in (
            ("saddr", "src_node"),
            ("sport", "src_port"),
            ("daddr", "dst_node"),
            ("dport", "dst_port"),
        )
    ),
    *(f"{name}: {_group(name, _FLOAT)}" for name in ALL_VARIABLES),
)
_OWNER = _group("owner", "_o[0-9]+")
_NAME = _group("name", "[A-Za-z_][A-Za-z0-9_]*")
_VALUE = _group("value", _FLOAT)
_QUEUE_VARIABLE = "[A-Za-z]|[A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]*|Qsize|routerId|X[0-9]+"

_SHORT_TIME_S = _group("time_s", r"[0-9]+(?:\.[0-9]{1,6})?")
_LONG_TIME_S = _group("time_s", r"[0-9]+(?:\.[0-9]+)?e[-+]?[0-9]+|[0-9]+\.[0-9]{7,}")
_ANNOTATION = _group("what", f"(?:[A-Za-z]|-e){_TEXT}")

_MICROSECOND, _EXACT = 5e-7, 0.0


def _routing_events(name: str, *, digits: int) -> LineForm:
    """What DSR (S...) and TORA (T) note, with this many decimals of a second."""
    time_s = _group("time_s", rf"[0-9]+\.[0-9]{{{digits}}}")
    word = _group("source", "[ST][A-Za-z0-9$-]*")
    node = rf"(?: _{_group('node', _ADDRESS)}_)?"
    pattern = _line(_fields(word, f"{time_s}{node}", _group("what", f"{_WORD}{_TEXT}")))
    return LineForm(name, "occurrences", pattern, 0.5 * 10**-digits)


LINE_FORMS = (
    LineForm(
        "wired",
        "packets",
        _line(_fields(_UNTIL_ADDRESSES, _SEQ_UID) + f"(?:[ \t]+{_TCP_HEADER})?"),
        _MICROSECOND,
    ),
    LineForm(
        "satellite",
        "packets",
        _line(_fields(_UNTIL_ADDRESSES, _SEQ_UID) + f"(?:[ \t]+{_TCP_HEADER})?[ \t]+{_POSITIONS}"),
        5e-5,
    ),
    LineForm(
        "HDLC",
        "packets",
        _line(f"{_HDLC}(?:[ \t]+{_TCP_HEADER})?[ \t]+{_POSITIONS}{_group('rest', _HDLC_HEADER)}"),
        5e-5,
    ),
    LineForm("SCTP", "packets", _line(_fields(_UNTIL_ADDRESSES, _SCTP)), _MICROSECOND),
    LineForm(
        "satellite SCTP",
        "packets",
        _line(_fields(_UNTIL_ADDRESSES, _SCTP, _POSITIONS)),
        5e-5,
    ),
    LineForm("tagged", "packets", _line(_TAGGED), _EXACT),
    LineForm("old wireless", "packets", _line(_OLD_WIRELESS), 5e-10),
    LineForm("new wireless", "packets", _line(_NEW_WIRELESS), 5e-10),
    LineForm("tagged wireless", "packets", _line(_TAGGED_WIRELESS), _EXACT),
    LineForm("variable", "variables", _line(_fields(_TIME_S, _ENDS, _NAME, _VALUE)), 5e-6),
    # ns-2 writes the name and a blank, and nothing where a variable has no value yet.
    LineForm(
        "variable without a value",
        "variables",
        _line(_fields(_TIME_S, _ENDS, _NAME) + "[ \t]"),
        5e-6,
    ),
    LineForm("all variables", "variables", _line(_ALL_VARIABLES), 5e-6),
    LineForm(
        "feature variable",
        "variables",
        _line(f"[a-z] t{_TIME_S} a{_OWNER} n{_NAME} v{_VALUE}"),
        _MICROSECOND,
    ),
    LineForm(
        "tagged variable",
        "variables",
        _line(f"[a-z] {_TIME_S} -a {_OWNER} -n {_NAME} -v {_VALUE}"),
        _MICROSECOND,
    ),
    # %g prints six digits: near 1000 s, that is 0.01 s.
    LineForm(
        "queue variable",
        "variables",
        _line(_fields(_group("name", _QUEUE_VARIABLE), _TIME_S, _VALUE)),
        5e-3,
    ),
    LineForm(
        "XCP variable",
        "variables",
        _line(_fields(_TIME_S, "x", "x", "x", "x", _NAME, _VALUE)),
        5e-3,
    ),
    LineForm(
        "queue now",
        "queues",
        _line(
            f"q -t {_TIME_S} -s {_group('from_node', _INT)} -d {_group('to_node', _INT)}"
            f" -l {_group('bytes', _INT)} -p {_group('pkts', _INT)}"
        ),
        _EXACT,
    ),
    LineForm(
        "queue samples",
        "queues",
        _line(
            _fields(
                _TIME_S,
                *_ints("from_node", "to_node"),
                _group("bytes", _FLOAT),
                _group("pkts", _FLOAT),
            )
            + "(?:[ \t]+"
            + _fields(
                *_ints(
                    "arrived_pkts",
                    "departed_pkts",
                    "dropped_pkts",
                    "arrived_bytes",
                    "departed_bytes",
                    "dropped_bytes",
                )
            )
            + ")?"
        ),
        _EXACT,
    ),
    LineForm(
        "TCP events",
        "occurrences",
        _line(
            _fields(
                "E",
                _TIME_S,
                *_ints("node", "peer_node"),
                _group("source", "TCP|PGM"),
                _group("what", _WORD),
                _group("flow", _INT),
            )
            + f"(?:[ \t]+{_fields(_group('seq', _INT), _group('cwnd_pkts', _INT))})?"
        ),
        _MICROSECOND,
    ),
    LineForm(
        "error model events",
        "occurrences",
        _line(
            _fields("E", _TIME_S, _group("source", "ErrModelTimer"), _WORD, _group("what", _TEXT))
        ),
        _MICROSECOND,
    ),
    LineForm(
        "MAC events",
        "occurrences",
        _line(_fields("E", "-t", _TIME_S, _group("what", f"{_WORD}{_TEXT}"))),
        _MICROSECOND,
        source="MAC",
    ),
    LineForm(
        "annotation",
        "occurrences",
        _line(_fields("v", _SHORT_TIME_S, _ANNOTATION)),
        _MICROSECOND,  # scripts and multicast round to that
        source="v",
    ),
    LineForm(
        "exact annotation",
        "occurrences",
        _line(_fields("v", _LONG_TIME_S, _ANNOTATION)),
        _EXACT,  # Tcl prints the time with all digits
        source="v",
    ),
    LineForm(
        "movement",
        "occurrences",
        _line(_fields("M", _TIME_S, _group("node", _INT), _group("what", rf"\({_TEXT}"))),
        5e-6,
        source="M",
    ),
    LineForm(
        "node energy",
        "occurrences",
        _line(
            _fields("N", "-t", _TIME_S, "-n", _group("node", _INT), _group("what", f"-e {_TEXT}"))
        ),
        _MICROSECOND,
        source="N",
    ),
    LineForm(
        "scenario",
        "occurrences",
        _line(_fields("M", _TIME_S, _group("what", f"[a-z]+[: ]{_TEXT}"))),
        5e-6,
        source="M",
    ),
    LineForm(
        "name of a test",
        "occurrences",
        _line(_fields("v", _group("what", f"testName{_TEXT}"))),
        _EXACT,
        source="v",
        has_time=False,
    ),
    LineForm(
        "title",
        "occurrences",
        _line(_group("what", f"Directed Diffusion:{_TEXT}")),
        _EXACT,
        source="title",
        has_time=False,
    ),
    _routing_events("routing events", digits=9),
    _routing_events("routing events, 5 digits", digits=5),
    LineForm("two columns", "series", _line(_fields(_TIME_S, _VALUE)), _EXACT),
)
"""All forms; no line matches more than one of them."""
