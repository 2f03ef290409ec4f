"""Plain wired lines, which polars' reader of CSV reads, become the same as by their pattern."""

from __future__ import annotations

import pytest
from polars.testing import assert_frame_equal
from tests.pipeline.trace.conftest import Traces

from bdpbench.trace.text_lines import parse_text, parse_wired

GOOD = (
    b"+ 0.1 0 1 tcp 1040 ------- 1 0.0 3.0 7 20",
    b"- 1e-05 -1 1 ack 40 ---A--N 0 1.0.2.0 0.3 -1 21",
    b"e 0.25 0 11 cbr 0 ------- -3 -1.2 4194304.1 7 99999999999",
)
HEADER = b" 33 0x1a 40 0"
WORDS = (
    *b"-1 +5 0005 2147483648 4294967296 99999999999999999999 -0 00000000000000000005 0x10".split(),
    *b"1e5 1E5 -0.0 .5 5. nan inf 1e400 1e-400 1_0 1000000000000 999999999999.9 0.1e+2".split(),
    *b"123456789.1234567890123456789 0.30000000000000004441 00.50 x e # null 7 1.-2 -1.2.3".split(),
    *b"3.0.0.0 1.2.3.4.5 1024.0.0.1 1023.2047.2047.1 1.2048.0 0xffffffff 0x7fffffff 0xF 0x".split(),
    *(b"", b'"', b'"a', b"\xff", b"\xc3\xbc", b"\0", b"\t1", b"1\r", b"1\x0b"),
)
OTHERS = (
    b"",
    b" ",
    GOOD[0] + b" ",
    GOOD[0].replace(b" tcp", b"  tcp"),
    b" " + GOOD[0],
    GOOD[0][:-3],
    b"v 0.2 eval {}",
    GOOD[0] + HEADER,
)


def _same(lines: list[bytes]) -> bool:
    """Whether polars read the lines; what it reads is compared with what the patterns read."""
    fast = parse_wired(b"".join(line + b"\n" for line in lines))
    if fast is None:
        return False
    slow = parse_text(lines, range(len(lines)), ())
    assert (fast.forms, fast.bad, fast.curve) == (slow.forms, slow.bad, slow.curve)
    assert_frame_equal(fast.times, slow.times, check_exact=True)
    assert fast.frames.keys() == slow.frames.keys()
    for table, frame in fast.frames.items():
        assert_frame_equal(frame, slow.frames[table], check_exact=True)
    return True


@pytest.mark.parametrize("place", range(16))
def test_odd_words_stand_at_any_place(place: int) -> None:
    read = [GOOD[1] + HEADER, GOOD[2] + HEADER]
    for word in WORDS:
        words = (GOOD[0] + HEADER).split(b" ")
        words[place : place + 1] = [word] if word else []
        line = b" ".join(words)
        if parse_wired(line + b"\n") is not None:
            read.insert(1, line)
    assert _same(read)


@pytest.mark.parametrize("line", OTHERS)
def test_other_lines_are_left_to_the_patterns(line: bytes) -> None:
    for lines in ([line, *GOOD], [GOOD[0], line, GOOD[1]], [*GOOD, line]):
        assert not _same(lines)


@pytest.mark.parametrize(
    "arguments", [("wired",), ("wired", "tcphdr"), ("wired", "hierarchical")], ids=" ".join
)
def test_traces_of_ns2_are_read_by_polars(traces: Traces, arguments: tuple[str, ...]) -> None:
    lines = (traces(*arguments) / "all.tr").read_bytes().splitlines()
    assert _same([line for line in lines if line[:1] in b"+-rde"])
