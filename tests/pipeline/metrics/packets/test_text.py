"""What packets.c reads of a text, compared with rows that the patterns read."""

from __future__ import annotations

import random
import re
import string
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.pipeline.trace.conftest import Traces
from tests.pipeline.trace.conftest import traces as traces
from tests.random_examples import examples

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets import (
    COLUMNS,
    PacketMeter,
    PacketSums,
    Window,
    meter,
    rows,
    sum_packets,
)
from bdpbench.trace import LineAccount, Trace, open_trace, sources
from bdpbench.trace.text_lines import LINE_FORMS

FEW = settings(examples(6), phases=[Phase.explicit, Phase.generate])
MANY = examples(12)
CODE = Path(meter.__file__).with_name("packets.c").read_text()


class Network:
    """Packets over a row of links, each with a queue of four.

    Times are sums of powers of 1/2, which binary numbers represent exactly. TCP counts packets or
    bytes and is acknowledged, CBR is not; lost packets are retransmitted.
    """

    def __init__(self, seed: int, *, nodes: int = 3, flows: int = 3, ticks: int = 60) -> None:
        self._dice = random.Random(seed)
        self._nodes, self._flows, self._ticks = nodes, flows, ticks
        self._uid = 0
        self._queues: dict[tuple[int, int], list[tuple[float, str]]] = {}
        self._seq = [0] * flows
        self._again: list[list[int]] = [[] for _ in range(flows)]
        self._bytes = [self._dice.random() < 0.3 for _ in range(flows)]
        self._came: list[dict[int, int]] = [{} for _ in range(flows)]
        self._expected = [0] * flows
        self.lines: list[str] = []

    def run(self) -> list[str]:
        """Run the network; returns the lines of its trace."""
        for tick in range(self._ticks):
            self._forward(tick / 64)
            if self._dice.random() < 0.7:
                self._send(tick / 64 + self._dice.choice((0.0, 1 / 128)))
        self.lines.sort(key=lambda line: float(line.split()[1]))
        return self.lines

    def _send(self, time_s: float) -> None:
        flow = self._dice.randrange(self._flows)
        size = self._dice.choice((540, 1040))
        step = size - 40 if self._bytes[flow] else 1
        if self._again[flow] and flow:
            seq = self._again[flow].pop()
        else:
            seq, self._seq[flow] = self._seq[flow], self._seq[flow] + step
        kind = "tcp" if flow else "cbr"
        self._put(time_s, 0, f"{kind} {size} {flow} 0.{flow} {self._nodes}.{flow} {seq}")

    def _put(self, time_s: float, node: int, packet: str, uid: int | None = None) -> None:
        if uid is None:
            self._uid += 1
            uid = self._uid
        kind, end = packet.split()[0], int(packet.split()[4].split(".")[0])
        link = (node, node + (1 if end > node else -1))
        queue = self._queues.setdefault(link, [])
        kind, size, rest = packet.split(" ", 2)
        text = f"{link[0]} {link[1]} {kind} {size} ------- {rest} {uid}"
        self.lines.append(f"+ {time_s} {text}")
        if kind != "ack" and (len(queue) == 4 or self._dice.random() < 0.05):
            self.lines.append(f"{self._dice.choice('de')} {time_s} {text}")
            self._again[int(packet.split()[2])].append(int(packet.split()[5]))
        elif not queue and self._dice.random() < 0.5:
            self._leave(time_s, text)
        else:
            queue.append((time_s, text))

    def _leave(self, time_s: float, text: str) -> None:
        _, to, kind, size, _, flow, src, dst, seq, uid = text.split()
        late = time_s + 1 / 256
        self.lines += [f"- {time_s} {text}", f"r {late} {text}"]
        if to != dst.split(".")[0]:
            self._put(late, int(to), f"{kind} {size} {flow} {src} {dst} {seq}", int(uid))
        elif kind == "tcp":
            self._acknowledge(late, int(to), flow, src, dst, int(seq), int(size))

    def _acknowledge(
        self, time_s: float, node: int, flow: str, src: str, dst: str, seq: int, size: int
    ) -> None:
        """Acknowledge the last number up to which everything has arrived."""
        step = size - 40 if self._bytes[int(flow)] else 1
        came, after = self._came[int(flow)], self._expected
        came[seq] = seq + step
        while after[int(flow)] in came:
            after[int(flow)] = came[after[int(flow)]]
        highest = max((each for each in came if came[each] <= after[int(flow)]), default=-1)
        self._put(time_s, node, f"ack 40 {flow} {dst} {src} {highest}")

    def _forward(self, time_s: float) -> None:
        for queue in list(self._queues.values()):
            if queue and queue[0][0] <= time_s and self._dice.random() < 0.8:
                self._leave(time_s, queue.pop(0)[1])


def _equal(one: PacketSums, other: PacketSums) -> None:
    for (name, left), right in zip(
        one.all_tables().items(), other.all_tables().values(), strict=True
    ):
        keys = [each for each in left.columns if left.schema[each] == pl.String]
        keys += [each for each in ("time_s", "node") if each in left.columns]
        assert_frame_equal(left.sort(keys), right.sort(keys), rel_tol=1e-12, abs_tol=1e-12), name
    for name in ("start_s", "end_s", "bin_s", "last_s", "routing_pkts", "forgotten"):
        assert getattr(one, name) == getattr(other, name), name


def _by_text(trace: Trace, window: Window | None) -> tuple[PacketSums | str, LineAccount]:
    """The sums of a trace, or what is wrong with them, and the account of its lines."""
    try:
        found = PacketMeter(window)
        trace.sum_into(found, COLUMNS)
        return found.result(), trace.account
    except BdpbenchError as error:
        return error.message, trace.account


def _check(trace: Trace, window: Window | None = None) -> None:
    """Check that text comes to the same as rows that the patterns read."""
    ours, account = _by_text(trace, window)
    frames, theirs, by_rows = [], "", None
    try:
        frames = list(trace.batches(COLUMNS))
        by_rows = sum_packets(frames, window)
    except BdpbenchError as error:
        theirs = error.message
    if isinstance(ours, PacketSums) and by_rows is not None:
        _equal(ours, by_rows)
    else:
        assert ours == theirs
    if account.complete:
        assert account == replace(trace.account, first_skipped=account.first_skipped)
        assert account.first_skipped == trace.account.first_skipped


def _check_lines(
    lines: list[str] | list[bytes], window: Window | None = None, *, sums: bool = True
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.tr"
        texts = (line.encode() if isinstance(line, str) else line for line in lines)
        path.write_bytes(b"".join(line + b"\n" for line in texts))
        try:
            trace = open_trace(path, lenient=True, kind="packets")
        except BdpbenchError:  # not a line of it is one
            return
        if sums:
            _check(trace, window)
            return
        _, account = _by_text(trace, None)
        list(trace.batches(COLUMNS))
        assert account == trace.account


WINDOWS = st.sampled_from([None, Window(0.25, 0.75), Window(0.5), Window(0, 0.5)])
ODD = (
    "+ {t} 0 1 cbr 500 ------- 9 0.9 -1.9 0 {n}",  # broadcast
    "r {t} 0 1 cbr 500 ------- 9 0.9 -1.9 0 {n}",
    "+ {t} 0 1 cbr 500 ------- 9 0.9 1073741825.0 0 {n}",  # multicast
    "+ {t} 0 1 AODV 40 ------- 9 0.9 3.9 0 {n}",
    "r {t} 0 3 tcp 1040 ------- 1 0.1 3.1 -1 {n}",
    "v {t} eval {{nothing}}",
    "v {t} the text of an annotation",
    "s {t} _0_ AGT --- {n} cbr 500 [0 0 0 0] ------- [0:9 3:9 32 0] [0] 0 0",
    "r {t} 0 1 sctp 500 ------- 1 0.0 3.0 1 2 {n} 0 1",
)
"""Lines that stand alone, or that only the patterns read."""


@FEW
@given(st.integers(0, 10**6), st.floats(0, 0.3), st.integers(0, 40), WINDOWS)
def test_networks_come_to_the_same(
    seed: int, share: float, strange: int, window: Window | None
) -> None:
    """Lines are missing, come again now or earlier, or are odd."""
    dice = random.Random(seed)
    lines = [line for line in Network(seed, flows=5).run() if dice.random() >= share]
    for _ in range(strange if lines else 0):
        place = dice.randrange(len(lines))
        words = dice.choice(lines[max(0, place - 30) : place + 1]).split()
        if dice.random() < 0.9:
            words[1] = lines[place].split()[1]  # else time runs backwards
        odd = dice.choice(ODD).format(t=words[1], n=dice.choice((words[-1], dice.randrange(9))))
        lines.insert(place + 1, " ".join(words) if dice.random() < 0.6 else odd)
    _check_lines(lines or Network(seed).run(), window)


def test_packets_that_never_end_come_to_the_same() -> None:
    """Lists of what waits are tidied, and their heads move."""
    lines = []
    for uid in range(20_000):
        stays = uid % 3 == 0
        lines.append(f"+ {uid / 1000} 0 1 cbr 500 ------- 1 0.0 2.0 {uid} {uid}")
        if not stays:
            lines.append(f"- {uid / 1000 + 0.0005} 0 1 cbr 500 ------- 1 0.0 2.0 {uid} {uid}")
            lines.append(f"r {uid / 1000 + 0.0005} 1 2 cbr 500 ------- 1 0.0 2.0 {uid} {uid}")
    _check_lines(lines)


def test_limits_and_codes_are_those_of_rows() -> None:
    limits = dict(re.findall(r"#define (\w+) (\S+).*; rows\.py", CODE))
    assert {"LATEST_TIME", "BIN_ROUNDING"} <= limits.keys()
    named = {"LATEST_TIME": "LATEST_S"}
    for name, value in limits.items():
        if re.fullmatch(r"[0-9.e-]+", value):
            assert getattr(rows, named.get(name, name)) == float(value), name


def test_forms_are_known_to_the_half_of_their_last_digits() -> None:
    units = re.search(r"HALF_UNIT_S\[FORMS\] = \{([^}]*)\}", CODE)
    assert units is not None
    known = {form.name: form.half_unit_s for form in LINE_FORMS}
    found = [float(each) for each in units[1].split(",")]
    assert dict(zip(meter.FORMS, found, strict=True)) == {name: known[name] for name in meter.FORMS}


HOSTILE = (
    *("-1", "0", "1", "2147483647", "-2147483648", "999999999999999999"),
    *("9223372036854775807", "-9223372036854775808", "400000000"),
)


@FEW
@given(st.integers(0, 10**6))
def test_numbers_that_nothing_can_mean_come_to_the_same(seed: int) -> None:
    dice = random.Random(seed)
    lines = Network(seed, ticks=20).run()
    for _ in range(3):
        at, field = dice.randrange(len(lines)), dice.choice((10, 11))
        words = lines[at].split()
        words[field] = dice.choice(HOSTILE)
        lines[at] = " ".join(words)
    _check_lines(lines)


REAL = [
    *(("wired",), ("wired", "tcphdr"), ("wired", "hierarchical"), ("wired", "tagged")),
    *(("mixed", "old"), ("mixed", "new"), ("satellite",), ("satellite", "tcphdr")),
    *(("wireless", "AODV", "old", "energy"), ("wireless", "AODV", "new", "energy")),
    *(("wireless", "DSR", "old"), ("wireless", "DSR", "new"), ("wireless", "DSDV", "old")),
]


@pytest.mark.parametrize("script", REAL, ids="-".join)
def test_traces_of_the_real_ns2_come_to_the_same(traces: Traces, script: tuple[str, ...]) -> None:
    trace = open_trace(traces(*script) / "all.tr", kind="packets")
    _check(trace)
    _check(trace, Window(1, 3))


def test_kinds_of_lines_that_follow_one_another_come_to_the_same(traces: Traces) -> None:
    scripts = [("mixed", "new"), ("wireless", "DSR", "old"), ("mixed", "old"), ("wired",)]
    paths = [traces(*script) / "all.tr" for script in scripts]
    for order in (paths, paths[::-1], [paths[3], *paths[:3]]):
        _check(open_trace(order, lenient=True, kind="packets"))


@pytest.mark.parametrize("chunk_bytes", [1, 3000])
def test_chunks_do_not_matter(
    chunk_bytes: int, traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = traces("mixed", "old") / "all.tr"
    whole, account = _by_text(open_trace(path), None)
    monkeypatch.setattr(sources, "CHUNK_BYTES", chunk_bytes)
    parts, also = _by_text(open_trace(path), None)
    assert isinstance(whole, PacketSums)
    assert isinstance(parts, PacketSums)
    _equal(parts, whole)
    assert also == account


def test_without_a_compiler_an_error_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BDPBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CC", "false")
    meter._library.cache_clear()
    try:
        with pytest.raises(BdpbenchError, match=r"packets\.c: cannot be compiled(.|\n)*g\+\+"):
            PacketMeter()
    finally:
        meter._library.cache_clear()


# ---- lines of which chance has changed some bytes ----

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(10**18) + 1, 10**18 - 1)
TIMES = st.floats(0, 999_999_999_999, allow_nan=False, allow_infinity=False, allow_subnormal=False)
WORDS = st.text(string.ascii_letters + string.digits + "-_/", min_size=1, max_size=16)


def _time_text(time_s: float) -> str:
    """A time as ns-2 prints it: %.15g."""
    return f"{time_s:.15g}"


@st.composite
def packets(draw: st.DrawFn) -> dict[str, object]:
    """The fields of a wired line, which may be extended."""
    names = ["from_node", "to_node", "flow", "src_node", "src_port", "dst_node"]
    row: dict[str, object] = {name: draw(INT32) for name in [*names, "dst_port"]}
    row |= {
        "time_s": draw(TIMES),
        "event": draw(st.sampled_from("+-rdehc")),
        "bytes": draw(st.integers(0, 2**31 - 1)),
        "type": draw(WORDS),
        "flags": draw(WORDS),
        "seq": draw(INT64),
        "uid": draw(INT64),
    }
    if draw(st.booleans()):
        row |= {
            "ack": draw(INT64),
            "tcp_flags": draw(st.integers(0, 2**31 - 1)),
            "header_bytes": draw(INT32),
            "sack_bytes": draw(INT32),
        }
    return row


def _line(row: dict[str, object]) -> str:
    text = (
        "{event} {time} {from_node} {to_node} {type} {bytes} {flags} {flow} "
        "{src_node}.{src_port} {dst_node}.{dst_port} {seq} {uid}"
    ).format(time=_time_text(float(str(row["time_s"]))), **row)
    if "ack" in row:
        text += " {ack} 0x{tcp_flags:x} {header_bytes} {sack_bytes}".format(**row)
    return text


GOOD = "+ 0.1 0 1 tcp 1040 ------- 1 0.0 3.0 7 20"


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A line with something replaced, removed or inserted."""
    line = bytearray(_line(draw(packets())).encode())
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, max(0, len(line) - 1)))
        length = draw(st.integers(0, 3))
        line[place : place + length] = draw(
            st.sampled_from([b"", b" ", b"\t", b".", b"-", b"e", b"0x", b"9" * 20, b"\xff", b"\0"])
            | st.binary(max_size=3)
        )
    return bytes(line).replace(b"\n", b"")


@MANY
@given(st.lists(damaged(), min_size=1, max_size=8))
@example([b"+ 1 0 1 tcp 40 ------- 1 1.2.3.0 512.0.0.0 7 20"])
@example([b"+ 1 0 1 tcp 40 ------- 1 1023.2047.2047.0 1024.0.0.0 7 20"])
@example([b"+ 1 0 1 tcp 40 ------- 1 1.2048.0 1.2.3.4.0 7 20"])
@example([b"+ 1 0 1 tcp 40 ------- 1 -1.0 0.0 -0 1000000000000000000"])
@example([b"+ 1 0 1 tcp 40 ------- 1 1.1.0.1 0.-0.1 7 20"])
@example([b"+ 1 0 1 tcp 40 ------- 1 0.0 0.0 7 -9223372036854775808"])
@example([b"+ 1 0 1 averyverylongtypeindeed 40 ------- 1 -1.0 0.0 7 20"])
@example([b"+ 1 0 1 tcp 40 ------- 1 0.0 0.0 7 20 1 0xFF 20 0"])
@example([b"+ 1 0 1 tcp 40 ------- 1 0.0 0.0 7 20 1 0xffffffff 20 0"])
@example([b"+ 1. 0 1 tcp 40 ------- 1 0.0 0.0 7 20", b"+ .5 0 1 tcp 40 ------- 1 0.0 0.0 7 20"])
def test_damaged_lines_are_accounted_for_alike(lines: list[bytes]) -> None:
    """Flat addresses before hierarchical ones, which no trace of ns-2 has, are summed otherwise."""
    _check_lines([GOOD.encode(), *lines, GOOD.encode()], sums=False)


def test_lines_like_ones_before_but_for_a_fault_or_a_digit_are_read_alike() -> None:
    head = "tcp 1040 ------- 1 2.0 3.0"
    heads = [head, "tcp 1040 ------- 1 12.0 3.0", "ack 1040 ------- 1 2.0 3.0", f" {head}"]
    heads += ["tcp 1040 ------- 1 2.0 x3.0", "tcp 1040 ------- 1 2.0  3.0", f"{head[1:]}"]
    heads += [f"tcp 1040 ------- 1 {2**31 - 1}.{2**31 - 1} {-(2**31)}.{2**31 - 1}"]
    ends = ["7 20", "17 10020", "7 20 5", "7 x20", "7", f"7 {10**17} {10**17} 0x10 40 20020"]
    ends += ["7 20 9 0x10 40 0", "8 21 9 0x10 40 0", f"{10**17} 20", f"{10**17} 20 "]
    links = ["0 1", "0 -1", "10 1", "0 11", "x 1", f"{2**31 - 1} {2**31 - 1}", f"{2**31} 1"]
    links += [" 0 1", "0  1", "\0 1"]
    lines = [
        f"{event} 1.25 {link} {start} {end}"
        for link in links
        for start in heads
        for end in ends
        for event in "+-r"
    ]
    _check_lines([GOOD, *lines, *lines[::-7]])


def test_types_may_be_many() -> None:
    _check_lines([GOOD.replace("tcp", f"t{i}") for i in range(1000)])


_IP = "------- [1:0 2:0 30 2]"
_MAC = "[13a 1 0 800]"
_ENERGY = "[energy 99.688154 ei 0.000 es 0.000 et 0.201 er 0.111]"
_NODE = "-Hs 0 -Hd -2 -Ni 0 -Nx 20.00 -Ny 50.00 -Nz 0.00 -Ne 99.500000 -Nl"
_PACKET = "-Is 0.0 -Id 2.0 -It tcp -Il 40 -If 7 -Ii 9 -Iv 32"
RADIO = (
    "N -t 0.500000 -n 3 -e 99.999999",
    f"s 1.000000000 _0_ AGT  --- 0 tcp 40 [0 0 0 0] {_IP} [0 0] 0 0 ",
    f"r 1.100000000 _2_ AGT  --- 0 cbr 512 {_MAC} {_ENERGY} {_IP} [7] 2 0 ",
    f"D 1.200000000 _1_ IFQ  END 4 cbr 512 {_MAC} {_IP} [7] 1 0 ",
    f"f 1.300000000 _1_ RTR  --- 0 AODV 48 {_MAC} {_IP} [0x2 1 1 [2 0] [1 4]] (REQUEST) ",
    "s 1.400000000 _1_ MAC  --- 0 ARP 86 [0 ffffffff 1 806] ------- [REQUEST 1/1 0/2]",
    "r 1.500000000 _0_ MAC  --- 0 RTS 44 [54e 0 1 0] ",
    f"s -t 2.000000000 {_NODE} AGT -Nw --- -Ma 0 -Md 0 -Ms 0 -Mt 0 {_PACKET} "
    "-Pn tcp -Ps 0 -Pa 0 -Pf 0 -Po 0 ",
    f"r -t 2.100000000 {_NODE} RTR -Nw --- -Ma 13a -Md 1 -Ms 0 -Mt 800 {_PACKET} "
    "-P aodv -Pt 0x2 -Ph 1 -Pc REQUEST ",
    f"d -t 2.200000000 {_NODE} MAC -Nw COL -Ma 13a -Md 1 -Ms 0 -Mt 800 {_PACKET} "
    "-Pn cbr -Pi 3 -Pf 1 -Po 0 ",
    f"s -t 2.300000000 {_NODE} MAC -Nw --- -Ma 0 -Md ffffffff -Ms 1 -Mt 806 -P arp -Po REQUEST ",
    "M 2.40000 0 (1.00, 2.00, 0.00), (3.00, 4.00), 5.00",
    "v 2.5 sets rate to 3",
    "E 2.6 0 3 TCP TIMEOUT 1 17 1",
    "SRR 2.700000000 _2_ 0 [1 -> 0] 1(1) to 0",
    "S$hit 2.80000 salvaging 1 -> 2 with [(0) ]",
)
_WORDS = ("-1", "0", "4294967295", "1e5", "-0.0", "nan", "x", "", "1.5", "---", "AGT", "9" * 20)


def _mutant(line: str, chance: random.Random) -> str:
    at, words = chance.randrange(len(line)), line.split(" ")
    match chance.randrange(6):
        case 0:
            return line[:at] + chance.choice([" ", "\t", "-", "0", "e5", "[", "]", "."]) + line[at:]
        case 1:
            return line[:at] + line[at + 1 :]
        case 2:
            return line + chance.choice([" ", "\t", "\r", " x", " [", " ]", " [[1] 2]"])
        case 3:
            words[chance.randrange(len(words))] = chance.choice(_WORDS)
        case 4:
            chance.shuffle(words)
    return " ".join(words)


@pytest.mark.parametrize("seed", range(8))
def test_damaged_lines_of_nodes_come_to_the_same(seed: int) -> None:
    chance = random.Random(seed)
    mutants = (_mutant(chance.choice(RADIO), chance) for _ in range(60 * min(seed, 1)))
    _check_lines([*RADIO, *mutants])


def test_lines_of_nodes_are_read_here(tmp_path: Path) -> None:
    path, found = tmp_path / "a.tr", PacketMeter()
    path.write_text("".join(f"{line}\n" for line in RADIO))
    text = bytearray(path.read_bytes() + bytes(sources.PADDING))
    length = len(text) - sources.PADDING
    assert found.add_text(text, 0, length) == length
    assert found.told.lines == len(RADIO)
    assert sum(1 for lines in found.told.forms if lines) == len(meter.FORMS) - 1
