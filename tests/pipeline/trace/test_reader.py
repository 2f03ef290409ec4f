"""Each line of an output file becomes a row or is named in an error."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdpbench.errors import BdpbenchError
from bdpbench.trace import OUTPUT_FORMATS, read_output

KEYS = {
    "cwnd": {"flow": 0},
    "ssthresh": {"flow": 0},
    "sequence": {"flow": 0},
    "acknowledged": {"flow": 0},
    "throughput": {"flow": 0},
    "queue": {"link": "b"},
    "utilization": {"link": "b"},
    "red": {"link": "b"},
    "packets": {},
    "transfers": {},
}
PACKET = "r 0.151072 0 1 tcp 40 ------- 0 2.0 3.0 0 0\n"


def _file(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "x.out"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def _error(path: Path, table: str) -> str:
    with pytest.raises(BdpbenchError) as caught:
        read_output(path, table, **KEYS[table])
    return str(caught.value)


# A table, its file, and the rows that it becomes.
GOOD = [
    ("cwnd", "0.00 1 \n0.01 2.5 \n", [(0.0, 0, 1.0), (0.01, 0, 2.5)]),
    # BIC's four further columns are left out.
    ("cwnd", "0.00 1 0 0 0 0\n0.01 2.5 0.1 0.1 0.2 0\n", [(0.0, 0, 1.0), (0.01, 0, 2.5)]),
    # Two decimals cannot distinguish samples that are 0.005 s apart.
    ("cwnd", "0.01 1\n0.01 2\n", [(0.01, 0, 1.0), (0.01, 0, 2.0)]),
    # The value is -1 before a sender has sent anything, or received an ACK.
    ("sequence", "0.000 -1\n0.025 0\n0.050 2\n", [(0.0, 0, -1), (0.025, 0, 0), (0.05, 0, 2)]),
    ("acknowledged", "0.000 -1\n0.025 0\n", [(0.0, 0, -1), (0.025, 0, 0)]),
    ("queue", "0.10 0 0\n0.20 1555 12\n", [(0.1, "b", 0, 0), (0.2, "b", 1555, 12)]),
    ("red", "0.10 0 0.1\n0.2 12.25 0.0998\n", [(0.1, "b", 0.0, 0.1), (0.2, "b", 12.25, 0.0998)]),
    ("packets", PACKET, [("r", 0.151072, 0, 1, "tcp", 40, "-------", 0, "2.0", "3.0", 0, 0)]),
    (
        "transfers",
        "flow 3 0.50 1.25 100000\nobject web.7 0.25 1.25 12000\n",
        [("flow", "3", 0.5, 1.25, 100000), ("object", "web.7", 0.25, 1.25, 12000)],
    ),
    ("transfers", "", []),  # none has ended
    *(
        ("utilization", f"0.10 5\n{line}\n", [(0.1, "b", 5.0), (1.5, "b", 7.0)])
        for line in ("1.50 7 ", "  1.50 7", "1.50  7", "1.50\t7", " 1.50 \t 7 \t ", "1.50 7\r")
    ),
]


@pytest.mark.parametrize(("table", "text", "rows"), GOOD)
def test_a_line_is_a_row(
    tmp_path: Path, table: str, text: str, rows: list[tuple[object, ...]]
) -> None:
    frame = read_output(_file(tmp_path, text), table, **KEYS[table]).collect()
    assert frame.rows() == rows
    form = OUTPUT_FORMATS[table]
    types = {**form.fields, "flow": pl.Int32(), "link": pl.String()}
    assert frame.schema == {name: types[name] for name in form.columns}


def test_variables_behind_cwnd_are_rows_of_their_own(tmp_path: Path) -> None:
    path = _file(tmp_path, "0.00 1 0 -4\n0.01 2.5 1 7\n")
    names = ["mode_", "offset_"]
    assert read_output(path, "recorded", flow=2, names=names).collect().rows() == [
        (0.0, 2, "mode_", 0.0),
        (0.0, 2, "offset_", -4.0),
        (0.01, 2, "mode_", 1.0),
        (0.01, 2, "offset_", 7.0),
    ]
    assert read_output(path, "cwnd", flow=2, names=names).collect().rows() == [
        (0.0, 2, 1.0),
        (0.01, 2, 2.5),
    ]
    with pytest.raises(BdpbenchError, match=r"3 fields \(time_s, cwnd_pkts, mode_\), got 4"):
        read_output(path, "cwnd", flow=2, names=["mode_"])
    with pytest.raises(BdpbenchError, match="recorded has no names"):
        read_output(path, "recorded", flow=2)


def test_variables_of_one_time_keep_their_order(tmp_path: Path) -> None:
    lines = 20_000
    path = _file(tmp_path, "".join(f"{i / 100:.2f} 1 {i} {-i} 7\n" for i in range(lines)))
    names = ["b_", "c_", "a_"]
    rows = read_output(path, "recorded", flow=0, names=names).collect()
    assert rows["name"].to_list() == names * lines


REPORT = """\
# flow.<id>.* counts one flow
flow.0.bytes 3000 B
flow.0.marks 7
link.bottleneck_1.throughput 24.5 Mbit/s
run.seed 9999
took 3 s
flow.0.remark of three words
link.bottleneck.queue is RED
"""


def test_facts_of_a_report_and_its_remarks(tmp_path: Path) -> None:
    assert read_output(_file(tmp_path, REPORT), "facts").collect().rows() == [
        ("flow:0", "bytes", 3000.0, "B"),
        ("flow:0", "marks", 7.0, ""),
        ("link:bottleneck_1", "throughput", 24.5, "Mbit/s"),
        ("run", "seed", 9999.0, ""),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("flow.0.bytes 4 B", ":9: the fact bytes of flow:0 stands here again"),
        ("flow.1.bytes nan B", ":9: bytes of flow:1: expected a finite number"),
    ],
)
def test_a_fact_that_cannot_be_is_named(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(BdpbenchError, match=said):
        read_output(_file(tmp_path, f"{REPORT}{line}\n"), "facts")


@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 10**6),
            st.floats(0, 1e9, allow_nan=False).map(lambda value: round(value, 4)),
            st.sampled_from([" ", "  ", "\t"]),
            st.sampled_from(["", " "]),
        ),
        min_size=1,
    )
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, float, str, str]]
) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    text = "".join(f"{ms / 100:.2f}{gap}{cwnd!r}{end}\n" for ms, cwnd, gap, end in rows)
    path = _file(tmp_path_factory.mktemp("given"), text)
    frame = read_output(path, "cwnd", flow=0).collect()
    assert frame["time_s"].to_list() == [float(f"{ms / 100:.2f}") for ms, *_ in rows]
    assert frame["cwnd_pkts"].to_list() == [cwnd for _, cwnd, *_ in rows]


@pytest.mark.parametrize(
    ("table", "content", "line", "said"),
    [
        ("cwnd", "0.00 1\n0.01\n", 2, "expected 2 fields (time_s, cwnd_pkts), got 1"),
        ("cwnd", "0.00 1\n0.01 2 3\n", 2, "got 3; the line reads '0.01 2 3'"),
        ("cwnd", "0.00 1\n\n0.01 2\n", 2, "got 0; the line reads ''"),
        ("cwnd", "0.00 1 2\n", 1, "expected 2 fields (time_s, cwnd_pkts), got 3"),
        ("cwnd", "0.00 1 0 0 0 0\n0.01 2\n", 2, "expected 6 fields"),
        ("cwnd", "0.00 1\n0.01 2 0 0 0 0\n", 2, "expected 2 fields (time_s, cwnd_pkts), got 6"),
        ("cwnd", "0.00 1 0 0 0 0\n0.01 2 0 x 0 0\n", 2, "numbers in the fields after cwnd_pkts"),
        ("cwnd", "0.00 1\n0.01 1_0\n", 2, "cwnd_pkts: expected a number, got '1_0'"),
        ("cwnd", "0.00 1\nnow 2\n", 2, "time_s: expected a number, got 'now'"),
        ("cwnd", "0.00 nan\n", 1, "cwnd_pkts: expected a finite number, got 'nan'"),
        ("cwnd", "inf 1\n", 1, "time_s: expected a finite number, got 'inf'"),
        ("cwnd", "0.00 -1\n", 1, "cwnd_pkts: expected a number of at least 0, got '-1'"),
        ("cwnd", "0.02 1\n0.01 2\n", 2, "time_s runs backwards: 0.01 after 0.02"),
        ("throughput", "1.00 622.02\n2.00 -37.4\n", 2, "mbps: expected a number of at least 0"),
        ("sequence", "0.000 2\n0.025 1\n", 2, "seq runs backwards: 1 after 2"),
        ("acknowledged", "0.000 0.5\n", 1, "ack: expected a whole number, got '0.5'"),
        ("ssthresh", "0.000 -2\n", 1, "ssthresh_pkts: expected a number of at least 0"),
        ("queue", "0.00 1.5 0\n", 1, "pkts: expected a whole number, got '1.5'"),
        ("queue", "0.00 1 5\n0.01 1 4\n", 2, "drops runs backwards: 4 after 5"),
        ("packets", PACKET + "x" + PACKET[1:], 2, "event: expected one of + - r d h e, got 'x'"),
        ("packets", PACKET + "r 0.15\n", 2, "expected 12 fields"),
        ("packets", PACKET + PACKET[:-1] + " 9\n", 2, "expected 12 fields"),
        ("packets", PACKET + PACKET.replace("0.151072", "0.1"), 2, "time_s runs backwards"),
        ("packets", PACKET.replace(" 40 ", " 40.5 "), 1, "size_bytes: expected a whole number"),
        ("packets", PACKET * 3 + "r 0.15", 4, "the last line was cut off"),
        ("cwnd", "0.00 1\n0.01 12", 2, "the last line was cut off"),  # even if it parses
        ("cwnd", b"0.00 1\n0.01 \xff\n", 2, "the line is not text"),
        ("cwnd", "0.00 1\n" * 5000 + "bad\n" + "0.00 1\n" * 5000 + "worse\n", 5001, "'bad'"),
        ("packets", PACKET * 5000 + "bad\n" + PACKET * 5000 + "worse\n", 5001, "'bad'"),
        ("cwnd", "9" * 5000 + "\n", 1, "9" * 80 + "...'"),
        ("transfers", "flow 0 0.1 0.3 9\nfile 3 0.5 1.0 9\n", 2, "one of flow object page, got"),
        ("transfers", "flow 3 0.5 0.4 9\n", 1, "end_s is before start_s: 0.4 and 0.5"),
        ("transfers", "flow 3 0.5 1.0\n", 1, "(kind, subject, start_s, end_s, bytes), got 4"),
        ("transfers", "flow 3 0.5 1.0 -9\n", 1, "bytes: expected a number of at least 0, got"),
    ],
)
def test_a_line_that_cannot_be_is_named(
    tmp_path: Path, table: str, content: str | bytes, line: int, said: str
) -> None:
    path = _file(tmp_path, content)
    message = _error(path, table)
    assert message.startswith(f"{path}:{line}: ")
    assert said in message
    assert "hint: " in message


@pytest.mark.parametrize("table", [*KEYS][:-1])
def test_an_empty_file_says_what_was_expected(tmp_path: Path, table: str) -> None:
    message = _error(_file(tmp_path, ""), table)
    assert "the file is empty: expected lines of" in message
    assert "time_s" in message


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    message = _error(tmp_path / "none.out", "cwnd")
    assert "No such file or directory: expected an output of ns-2 for table cwnd" in message


def test_unknown_tables_and_wrong_keys_are_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, "0.00 1\n")
    with pytest.raises(BdpbenchError, match="unknown table 'cwmd'"):
        read_output(path, "cwmd", flow=0)
    with pytest.raises(BdpbenchError, match="table cwnd takes a flow, got link b"):
        read_output(path, "cwnd", link="b")
    with pytest.raises(BdpbenchError, match="table queue takes a link, got neither"):
        read_output(path, "queue")
    with pytest.raises(BdpbenchError, match="packets takes neither flow nor link, got flow 1"):
        read_output(path, "packets", flow=1)
    with pytest.raises(BdpbenchError, match="files of table packet_flows are parquet, not text"):
        read_output(path, "packet_flows")
