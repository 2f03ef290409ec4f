"""`analyze` on odd lines: no traceback, and no wrong number."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_analyze import Analyze, analyze, folder  # noqa: F401 - the fixtures

SATELLITE = """\
+ 1.0000 66 -2 cbr 210 ------- 0 66.0 67.0 0 0 0.00 -10.00 -999.00 -999.00
- 1.0000 66 -2 cbr 210 ------- 0 66.0 67.0 0 0 0.00 -10.00 -999.00 -999.00
r 1.2700 66 67 cbr 210 ------- 0 66.0 67.0 0 0 0.00 -10.00 0.00 10.00
+ 2.0000 -1 -2 cbr 210 ------- 0 66.0 67.0 1 1 0.00 -10.00 -999.00 -999.00
d 2.0100 -1 -2 cbr 210 ------- 0 66.0 67.0 1 1 0.00 -10.00 -999.00 -999.00
"""
LATE = """\
+ 900000000.0 0 1 cbr 1000 ------- 1 0.0 1.0 0 1
- 900000000.0 0 1 cbr 1000 ------- 1 0.0 1.0 0 1
r 900000001.5 0 1 cbr 1000 ------- 1 0.0 1.0 0 1
"""


@pytest.fixture
def odd(folder: Path, analyze: Analyze) -> Analyze:  # noqa: F811
    """Write a text into odd.tr and analyze it."""

    def call(*arguments: str) -> object:
        text, *options = arguments
        (folder / "odd.tr").write_text(text)
        return analyze("odd.tr", *options)

    return call  # type: ignore[return-value]


def _cbr(gaps_s: list[float]) -> str:
    """Packets of 1000 bytes, each so long after the one before, over a link of 10 ms."""
    text, time_s = "", 1.0
    for uid, gap_s in enumerate(gaps_s):
        time_s = round(time_s + gap_s, 3)
        fields = f"0 1 cbr 1000 ------- 1 0.0 1.0 {uid} {uid}"
        text += f"+ {time_s} {fields}\n- {time_s} {fields}\nr {time_s + 0.01:.3f} {fields}\n"
    return text


def _row(lines: list[str], name: str) -> list[str]:
    """The row of a table that begins with a name; the sentence at the head is none."""
    rows = [line.split() for line in lines if not line.endswith(".")]
    return next(row for row in rows if row[:1] == [name])


def test_negative_nodes_of_satellites(odd: Analyze) -> None:
    lines = odd(SATELLITE).lines
    assert _row(lines, "-1--2")[1:4] == ["0", "-", "-"]
    # One packet of 210 bytes, from 1 s to 2.01 s.
    assert _row(lines, "66--2")[1] == "0.001663"
    assert odd(SATELLITE, "--link", "-1--2").code == 0


def test_late_times_and_narrow_bins(odd: Analyze) -> None:
    # 1000 bytes in 1.5 s.
    assert _row(odd(LATE, "--bin", "0.1").lines, "1")[3] == "0.005333"
    done = odd(LATE.replace("r 9", "r 19"), "--bin", "0.1")
    assert done.code == 1
    assert "bins of 0.1 s are too narrow" in done.err
    assert "a series has at most 1,000,000" in done.err


HEADERS = """\
M 0.0 nn 3 x 670 y 670 rp DSDV
M 0.0 prop Propagation/TwoRayGround ant Antenna/OmniAntenna
v testName DM1
v 0.5 sim_annotation: link down
"""


def test_headers_of_the_examples_of_ns2(odd: Analyze) -> None:
    lines = odd(HEADERS + LATE).lines
    assert lines[0].startswith("odd.tr: ")
    assert lines[0].endswith("trace, 7 lines")
    assert _row(lines, "1")[1] == "cbr"


def test_no_reason_and_hierarchical_addresses(odd: Analyze) -> None:
    ends = "[4194305:0 8388608:1 32 0] [0] 0 0"
    text = (
        f"s 1.0 _0_ AGT  --- 0 cbr 210 [0 0 0 0] ------- {ends}\n"
        f"D 1.5 _0_ RTR  --- 0 cbr 230 [13a 2 1 800] ------- {ends}\n"
    )
    lines = odd(text, "-o", "odd.html").lines
    assert "None" not in "\n".join(lines)
    assert any(line.split()[:4] == ["RTR", "-", "cbr", "1"] for line in lines)
    assert any("1.0.1>2.0.0" in line for line in lines)
    assert any(line.startswith("1.0.1.0-2.0.0.1 ") for line in lines)
    assert "4194305" not in "\n".join(lines)
    page = Path("odd.html").read_text()
    assert "1.0.1 to 2.0.0" in page


def test_a_capacity_of_a_link_that_is_not_there(odd: Analyze) -> None:
    done = odd(LATE, "--capacity", "5-6=1")
    assert done.code == 1
    assert "--capacity: the trace has no link '5-6'" in done.err
    assert odd(LATE, "--capacity", "0-1=1").code == 0


def test_rounding_is_no_difference(folder: Path, analyze: Analyze) -> None:  # noqa: F811
    """Every packet takes 10 ms: the jitter of both is 0 but for the rounding of doubles."""
    (folder / "even.tr").write_text(_cbr([0.1] * 50))
    (folder / "odd.tr").write_text(_cbr([0.3, 0.7] * 3))
    lines = analyze("even.tr", "odd.tr", "--label", "a", "--label", "b").lines
    assert _row(lines, "jitter")[-4:] == ["0", "0", "0", "-"]
    assert not any(cell == "-0" for line in lines for cell in line.split())


def test_a_place_where_time_runs_backwards_is_counted(folder: Path, analyze: Analyze) -> None:  # noqa: F811
    (folder / "twice.tr").write_text(_cbr([0.1]) * 2)
    assert "time runs backwards in 1 line" in analyze("twice.tr", "--lenient").lines
    # Of both halves, which are longer than what is read at once, a window has the first seconds.
    (folder / "long.tr").write_text(_cbr([0.001] * 3000) * 2)
    options = ("--lenient", "--window", "1:2", "--metric", "throughput")
    lines = analyze("long.tr", *options).lines
    # 989 packets of 1000 bytes arrive before 2 s, in each of the halves.
    assert ["throughput", "flow:1", "15.824", "Mbit/s"] in [line.split() for line in lines]


def test_a_metric_without_a_value_of_what_is_chosen(odd: Analyze) -> None:
    done = odd(LATE, "--metric", "throughput", "--link", "0-1")
    assert done.code == 1
    assert "--metric: throughput has no value: it is of a flow" in done.err
