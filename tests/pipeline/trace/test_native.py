"""The C parser of wired lines, compared with the patterns and with what was written."""

from __future__ import annotations

import ctypes
import random
import string
import subprocess
import tempfile
from pathlib import Path
from unittest.mock import Mock

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.random_examples import examples

from bdpbench.compiled import PackedRows
from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets import COLUMNS
from bdpbench.trace import LineAccount, native, open_trace
from bdpbench.trace.schema import PACKETS
from bdpbench.trace.text_lines import LATEST_S

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(10**18) + 1, 10**18 - 1)
MANY = examples(12)
FEW = examples(8)

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


def _read(text: bytes, *, compiled: bool) -> tuple[object, ...]:
    """Rows and account of a text that is read leniently, or the resulting error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace"
        path.write_bytes(text)
        try:
            trace = open_trace(path, lenient=True, kind="packets", compiled=compiled)
            batches = list(trace.batches())
        except BdpbenchError as error:
            return ("error", str(error).replace(folder, ""))
        account = trace.account
        skipped = [(each.line, each.text, each.reason) for each in account.first_skipped]
        frame = pl.concat(batches) if batches else pl.DataFrame(schema=dict(PACKETS))
        counts = (account.lines, account.parsed, account.skipped, account.backwards)
        return (frame, counts, dict(account.forms), skipped, account.first_s, account.last_s)


def _assert_alike(text: bytes) -> tuple[object, ...]:
    compiled, by_patterns = _read(text, compiled=True), _read(text, compiled=False)
    if isinstance(compiled[0], pl.DataFrame):
        assert isinstance(by_patterns[0], pl.DataFrame)
        assert_frame_equal(compiled[0], by_patterns[0], categorical_as_str=True)
    assert compiled[1:] == by_patterns[1:]
    return compiled


def test_there_is_a_parser() -> None:
    assert native.load() is not None


@pytest.mark.parametrize("macro", ["WITHOUT_AVX2", "PORTABLE"])
def test_the_parser_of_other_processors_reads_the_same(macro: str, tmp_path: Path) -> None:
    """What reads 16 bytes at once, or 8, is compiled here, since only AVX2 may run otherwise."""
    library = tmp_path / "parser.so"
    source = Path(native.__file__).with_name("wired_lines.c")
    options = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["cc", *options, f"-D{macro}", "-o", str(library), str(source)], check=True)
    lines = [
        f"{event} {time:g} 0 1 {kind} 40 ------- {flow} 0.0 {'1' * ports}.3 {uid % 5} {uid}\n"
        for uid in range(1, 300)
        for event, time in (("+", uid / 7), ("-", uid / 7), ("r", uid / 7 + 1e-5))
        for kind, flow, ports in (("tcp", uid % 3, uid % 9 + 1), ("averylongtype", 12, 9))
    ]
    text = "".join([*lines, "M 1 2 3\n", *lines]).encode()
    buffer = bytearray(text + bytes(64))
    results = [
        parser.parse(buffer, len(text), native.COLUMNS)
        for parser in (native.load(), native.LineParser(ctypes.CDLL(str(library))))
        if parser is not None
    ]
    ours, other = results
    assert ours.rows == other.rows == 2 * len(lines)
    assert_frame_equal(ours.frame(), other.frame(), categorical_as_str=True)
    assert ours.times == other.times
    assert (ours.other_lines, ours.other_starts) == (other.other_lines, other.other_starts)


@FEW
@given(st.lists(packets(), min_size=1, max_size=12))
def test_what_is_written_is_read(rows: list[dict[str, object]]) -> None:
    text = "".join(f"{_line(row)}\n" for row in rows).encode()
    frame = _assert_alike(text)[0]
    assert isinstance(frame, pl.DataFrame)
    for read, row in zip(frame.iter_rows(named=True), rows, strict=True):
        known = {name: value for name, value in read.items() if value is not None}
        assert known == {**row, "time_s": float(_time_text(float(str(row["time_s"]))))}


@FEW
@given(st.lists(st.integers(0, 10**17), min_size=1, max_size=20), st.integers(0, 18))
def test_times_are_the_nearest_doubles(mantissas: list[int], digits: int) -> None:
    """Whatever the number of digits, the result is that of float(), which rounds correctly."""
    texts = [f"{each:0{digits + 1}d}" for each in mantissas]
    texts = [f"{each[:-digits]}.{each[-digits:]}" if digits else each for each in texts]
    texts = ["0", *(each for each in texts if float(each) < LATEST_S)]
    lines = [f"r {each} 0 1 tcp 40 ------- 1 0.0 3.0 7 20\n" for each in texts]
    frame = _assert_alike("".join(lines).encode())[0]
    assert isinstance(frame, pl.DataFrame)
    assert frame["time_s"].to_list() == [float(each) for each in texts]


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
@given(st.lists(damaged(), min_size=1, max_size=8), st.booleans())
@example([b"+ 1 0 1 tcp 40 ------- 1 1.2.3.0 512.0.0.0 7 20"], True)
@example([b"+ 1 0 1 tcp 40 ------- 1 1023.2047.2047.0 1024.0.0.0 7 20"], True)
@example([b"+ 1 0 1 tcp 40 ------- 1 1.2048.0 1.2.3.4.0 7 20"], True)
@example([b"+ 1 0 1 tcp 40 ------- 1 -1.0 0.0 -0 1000000000000000000"], True)
@example([b"+ 1 0 1 tcp 40 ------- 1 1.1.0.1 0.-0.1 7 20"], True)
@example([b"+ 1 0 1 tcp 40 ------- 1 0.0 0.0 7 -9223372036854775808"], True)
@example([b"+ 1 0 1 averyverylongtypeindeed 40 ------- 1 -1.0 0.0 7 20"], True)
@example([b"+ 1 0 1 tcp 40 ------- 1 0.0 0.0 7 20 1 0xFF 20 0"], True)
@example([b"+ 1 0 1 tcp 40 ------- 1 0.0 0.0 7 20 1 0xffffffff 20 0"], True)
@example(
    [b"+ 1. 0 1 tcp 40 ------- 1 0.0 0.0 7 20", b"+ .5 0 1 tcp 40 ------- 1 0.0 0.0 7 20"], True
)
def test_both_ways_agree_on_damaged_lines(lines: list[bytes], ended: bool) -> None:
    good = GOOD.encode()
    _assert_alike(b"\n".join([good, *lines, good]) + (b"\n" if ended else b""))


@MANY
@given(st.binary(max_size=400))
def test_no_bytes_lead_to_anything_but_a_frame_or_an_error_of_ours(text: bytes) -> None:
    _assert_alike(text)


@FEW
@given(st.binary(max_size=60), st.sampled_from([b"\x1f\x8b", b"BZh9", b"\x28\xb5\x2f\xfd"]))
def test_no_damaged_archive_leads_to_anything_but_an_error_of_ours(
    rest: bytes, magic: bytes
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace"
        path.write_bytes(magic + rest)
        with pytest.raises(BdpbenchError):
            list(open_trace(path, lenient=True).batches())


EVENT, FROM, TO = (pl.col(name) for name in ("event", "from_node", "to_node"))
PREDICATES = (
    (EVENT == "r") & (FROM == 0) & (TO == 1),
    ~(pl.col("dst_node") == TO),
    (TO == 1) & (pl.col("bytes") > 500),
    pl.lit(value=False),
)
SMALL = "{} 1.5 {} {} tcp {} ------- 1 {}.{} {}.{} 7 20\n"
"""A line of a network so small that predicates often match."""


@pytest.mark.parametrize("predicate", PREDICATES, ids=str)
@pytest.mark.parametrize("other", ["", "e 2 1 0 tcp 1000 ------- 1 0.0 1.0 1 1 20 0x10 40 0\n"])
def test_the_rows_that_a_predicate_wants(predicate: pl.Expr, other: str, tmp_path: Path) -> None:
    chance, path = random.Random(1), tmp_path / "trace"
    rows = [
        SMALL.format(chance.choice("+-rd"), *ends, chance.choice([40, 1000]), *ends[::-1], *ends)
        for ends in ([chance.randrange(3), chance.randrange(3)] for _ in range(60))
    ]
    path.write_text("".join([*rows, other, *rows]))
    trace = open_trace([path, path], lenient=True, kind="packets")
    every, account = pl.concat(list(trace.batches())), trace.account
    none = pl.DataFrame(schema=dict(PACKETS))
    got = pl.concat([none, *trace.batches(predicate=predicate)])
    assert_frame_equal(got, every.filter(predicate), categorical_as_str=True)
    assert_frame_equal(trace.frame.filter(predicate).collect(), got, categorical_as_str=True)
    assert trace.account == account


def test_rows_of_more_links_than_the_parser_remembers(tmp_path: Path) -> None:
    """Each link comes twice in a file, with ones in between that take its place."""
    links = [(start, start * 7919 % 20_011) for start in range(1300)]
    lines = [
        f"{event} 1.5 {start} {end} tcp 40 ------- {start % 3} 0.0 1.0 7 {place}"
        for event in ("+", "r")
        for place, (start, end) in enumerate(links)
    ]
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_text("\n".join(lines) + "\n")
    wanted = (EVENT == "r") & (FROM % 5 == 0) & (TO >= 0)
    rows = pl.concat(list(open_trace(paths).batches(["event", "from_node", "to_node"], wanted)))
    assert rows.drop("event").rows() == 2 * [link for link in links if link[0] % 5 == 0]


def test_lines_like_ones_before_but_for_a_fault_or_a_digit_are_read_alike() -> None:
    """The parser remembers texts of links and packets, of which only the same text may be found."""
    head = "tcp 1040 ------- 1 2.0 3.0"
    heads = [head, "tcp 1040 ------- 1 12.0 3.0", "ack 1040 ------- 1 2.0 3.0", f" {head}"]
    heads += ["tcp 1040 ------- 1 2.0 x3.0", "tcp 1040 ------- 1 2.0  3.0", f"{head[1:]}"]
    heads += [f"tcp 1040 ------- 1 {2**31 - 1}.{2**31 - 1} {-(2**31)}.{2**31 - 1}"]
    ends = ["7 20", "17 10020", "7 20 5", "7 x20", "7", f"7 {10**17} {10**17} 0x10 40 20020"]
    ends += ["7 20 9 0x10 40 0", "8 21 9 0x10 40 0", f"{10**17} 20", f"{10**17} 20 "]
    links = ["0 1", "0 -1", "10 1", "0 11", "x 1", f"{2**31 - 1} {2**31 - 1}", f"{2**31} 1"]
    links += [" 0 1", "0  1", "\0 1"]
    lines = [
        f"{event} 1.25 {link} {start} {end}\n"
        for link in links
        for start in heads
        for end in ends
        for event in "+-r"
    ]
    _assert_alike("".join([f"{GOOD}\n", *lines, *lines[::-7]]).encode())


def test_many_types_leave_their_lines_to_the_patterns(tmp_path: Path) -> None:
    """The table of types in a chunk is bounded, but their number is not."""
    path = tmp_path / "trace"
    path.write_text("".join(GOOD.replace("tcp", f"t{i}") + "\n" for i in range(1000)))
    frames = [pl.concat(list(open_trace(path, compiled=each).batches())) for each in (True, False)]
    assert_frame_equal(*frames)
    assert frames[0]["type"].cast(pl.String).to_list() == [f"t{i}" for i in range(1000)]


def test_lines_are_told_up_to_the_end_that_is_given() -> None:
    """Behind it, a buffer that is filled again may have lines of the chunk before."""
    parser, line = native.load(), f"{GOOD}\n".encode()
    assert parser is not None
    takes = (ctypes.c_void_p, ctypes.c_double, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    take = ctypes.CFUNCTYPE(ctypes.c_int, *takes)(lambda *_: 1)
    telling = parser.tell(Mock(function=ctypes.cast(take, ctypes.c_void_p).value, state=0))
    start, end = len(line), 2 * len(line)
    assert telling.tell(bytearray(3 * line + bytes(64)), start, end) == end
    assert telling.told()[0] == 1


def test_without_a_compiler_the_patterns_read_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BDPBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CC", "false")
    native.load.cache_clear()
    try:
        assert native.load() is None
        path = tmp_path / "trace"
        path.write_text(f"{GOOD}\n")
        assert [batch.height for batch in open_trace(path).batches()] == [1]
    finally:
        native.load.cache_clear()


# ---- wireless lines: one of each shape, and what chance makes of them ----

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


def _wireless(path: Path, *, compiled: bool) -> tuple[pl.DataFrame, LineAccount]:
    trace = open_trace(path, lenient=True, compiled=compiled)
    frame = pl.concat(trace.batches(COLUMNS))
    return frame.with_columns(pl.col("type", "reason").cast(pl.String)), trace.account


@pytest.mark.parametrize("seed", range(8))
def test_wireless_lines_are_read_as_by_their_patterns(tmp_path: Path, seed: int) -> None:
    chance, path = random.Random(seed), tmp_path / "wireless.tr"
    lines = [*RADIO, *(_mutant(chance.choice(RADIO), chance) for _ in range(60 * min(seed, 1)))]
    path.write_text("\n".join(lines) + "\n")
    (ours, account), (theirs, expected) = (_wireless(path, compiled=each) for each in (True, False))
    assert_frame_equal(ours, theirs)
    assert account == expected
    if seed == 0:
        assert (account.parsed, account.skipped) == (len(RADIO), 0)
        assert ours["energy_j"].null_count() == 5
        assert [type(each) for each in open_trace(path).packed_batches(COLUMNS)] == [PackedRows]
