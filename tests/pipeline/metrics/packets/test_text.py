"""What packets.c reads of a text, compared with rows that the patterns read."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.faults.fuzz_traces import mutated
from tests.pipeline.trace.conftest import Traces
from tests.pipeline.trace.conftest import traces as traces

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

CODE = Path(meter.__file__).with_name("packets.c").read_text()


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


REAL = [
    *(("wired",), ("wired", "tcphdr"), ("wired", "hierarchical"), ("wired", "tagged")),
    *(("mixed", "old"), ("mixed", "new"), ("satellite",), ("wireless", "DSR", "old")),
    *(("wireless", "AODV", "old", "energy"), ("wireless", "AODV", "new", "energy")),
]


@pytest.mark.parametrize("script", REAL, ids="-".join)
def test_traces_of_the_real_ns2_come_to_the_same(traces: Traces, script: tuple[str, ...]) -> None:
    trace = open_trace(traces(*script) / "all.tr", kind="packets")
    _check(trace)
    if script[0] == "mixed":
        _check(trace, Window(1, 3))


def test_kinds_of_lines_that_follow_one_another_come_to_the_same(traces: Traces) -> None:
    scripts = [("mixed", "new"), ("wireless", "DSR", "old"), ("mixed", "old"), ("wired",)]
    paths = [traces(*script) / "all.tr" for script in scripts]
    for order in (paths, paths[::-1]):
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


# ---- odd and damaged lines ----

GOOD = "+ 0.1 0 1 tcp 1040 ------- 1 0.0 3.0 7 20"
ENDS = (
    *("1.2.3.0 512.0.0.0 7 20", "1023.2047.2047.0 1024.0.0.0 7 20", "1.2048.0 1.2.3.4.0 7 20"),
    *("-1.0 0.0 -0 1000000000000000000", "1.1.0.1 0.-0.1 7 20", "0.0 0.0 7 -9223372036854775808"),
    *("0.0 0.0 7 20 1 0xFF 20 0", "0.0 0.0 7 20 1 0xffffffff 20 0", "0.0 0.0 400000000 2147483647"),
)


def test_damaged_lines_are_accounted_for_alike() -> None:
    """Flat addresses before hierarchical ones, which no trace of ns-2 has, are summed otherwise."""
    odd = [f"+ 1 0 1 tcp 40 ------- 1 {each}".encode() for each in ENDS]
    odd += [b"+ 1. 0 1 tcp 40 ------- 1 0.0 0.0 7 20", b"+ .5 0 1 tcp 40 ------- 1 0.0 0.0 7 20"]
    odd += [b"r 1 0 1 sctp 500 ------- 1 0.0 3.0 1 2 9 0 1", b"+ 1 0 1 " + b"t" * 40 + odd[0][11:]]
    _check_lines([GOOD.encode(), *odd, GOOD.encode()], sums=False)
    for seed in range(2):
        chance = random.Random(seed)
        lines = [mutated(chance.choice([GOOD.encode(), *odd]), chance) for _ in range(60)]
        _check_lines([GOOD.encode(), *lines], sums=False)


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


@pytest.mark.parametrize("seed", range(6))
def test_damaged_lines_of_nodes_come_to_the_same(seed: int) -> None:
    chance = random.Random(seed)
    lines = [line.encode() for line in RADIO]
    _check_lines(lines + [mutated(chance.choice(lines), chance) for _ in range(60 * min(seed, 1))])


def test_lines_of_nodes_are_read_here(tmp_path: Path) -> None:
    path, found = tmp_path / "a.tr", PacketMeter()
    path.write_text("".join(f"{line}\n" for line in RADIO))
    text = bytearray(path.read_bytes() + bytes(sources.PADDING))
    length = len(text) - sources.PADDING
    assert found.add_text(text, 0, length) == length
    assert found.told.lines == len(RADIO)
    assert sum(1 for lines in found.told.forms if lines) == len(meter.FORMS) - 1
