"""Each line of an output file becomes a row or is named in an error."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from bdpbench.errors import BdpbenchError
from bdpbench.trace import read_output

KEYS = {
    "cwnd": {"flow": 0},
    "ssthresh": {"flow": 0},
    "sequence": {"flow": 0},
    "acknowledged": {"flow": 0},
    "throughput": {"flow": 0},
    "queue": {"link": "bottleneck"},
    "utilization": {"link": "bottleneck"},
    "red": {"link": "bottleneck"},
    "packets": {},
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


def test_cwnd(tmp_path: Path) -> None:
    path = _file(tmp_path, "0.00 1 \n0.01 2.5 \n")
    expected = pl.DataFrame(
        {"time_s": [0.0, 0.01], "flow": [3, 3], "cwnd_pkts": [1.0, 2.5]},
        schema_overrides={"flow": pl.Int32},
    )
    assert_frame_equal(read_output(path, "cwnd", flow=3).collect(), expected)


@pytest.mark.parametrize(("table", "column"), [("sequence", "seq"), ("acknowledged", "ack")])
def test_numbers_of_packets_begin_below_the_first(tmp_path: Path, table: str, column: str) -> None:
    # The value is -1 before a sender has sent anything, or received an ACK.
    path = _file(tmp_path, "0.000 -1\n0.025 0\n0.050 2\n")
    expected = pl.DataFrame(
        {"time_s": [0.0, 0.025, 0.05], "flow": [0, 0, 0], column: [-1, 0, 2]},
        schema_overrides={"flow": pl.Int32},
    )
    assert_frame_equal(read_output(path, table, flow=0).collect(), expected)


def test_queue(tmp_path: Path) -> None:
    path = _file(tmp_path, "0.10 0 0\n0.20 1555 12\n")
    expected = pl.DataFrame(
        {"time_s": [0.1, 0.2], "link": ["b", "b"], "pkts": [0, 1555], "drops": [0, 12]}
    )
    assert_frame_equal(read_output(path, "queue", link="b").collect(), expected)


def test_packets(tmp_path: Path) -> None:
    path = _file(tmp_path, PACKET)
    frame = read_output(path, "packets").collect()
    assert frame.schema == {
        "event": pl.String,
        "time_s": pl.Float64,
        "from_node": pl.Int32,
        "to_node": pl.Int32,
        "type": pl.String,
        "size_bytes": pl.Int32,
        "flags": pl.String,
        "flow": pl.Int32,
        "src": pl.String,
        "dst": pl.String,
        "seq": pl.Int64,
        "uid": pl.Int64,
    }
    assert frame.row(0) == ("r", 0.151072, 0, 1, "tcp", 40, "-------", 0, "2.0", "3.0", 0, 0)


@pytest.mark.parametrize(
    "line", ["1.50 7", "1.50 7 ", "  1.50 7", "1.50  7", "1.50\t7", " 1.50 \t 7 \t ", "1.50 7\r"]
)
def test_blanks_separate_however_many_there_are(tmp_path: Path, line: str) -> None:
    frame = read_output(_file(tmp_path, f"0.10 5\n{line}\n"), "utilization", link="b").collect()
    assert frame.rows() == [(0.1, "b", 5.0), (1.5, "b", 7.0)]


def test_the_four_further_columns_of_bic_are_left_out(tmp_path: Path) -> None:
    path = _file(tmp_path, "0.00 1 0 0 0 0\n0.01 2.5 0.1 0.1 0.2 0\n")
    assert read_output(path, "cwnd", flow=0).collect().columns == ["time_s", "flow", "cwnd_pkts"]


def test_red(tmp_path: Path) -> None:
    path = _file(tmp_path, "0.10 0 0.1\n0.20 12.25 0.0998\n")
    expected = pl.DataFrame(
        {
            "time_s": [0.1, 0.2],
            "link": ["b", "b"],
            "average_pkts": [0.0, 12.25],
            "max_p": [0.1, 0.0998],
        }
    )
    assert_frame_equal(read_output(path, "red", link="b").collect(), expected)


def test_transfers(tmp_path: Path) -> None:
    path = _file(tmp_path, "flow 3 0.50 1.25 100000\nobject web.7 0.25 1.25 12000\n")
    assert read_output(path, "transfers").collect().rows() == [
        ("flow", "3", 0.5, 1.25, 100000),
        ("object", "web.7", 0.25, 1.25, 12000),
    ]
    # No transfer has ended.
    nothing = read_output(_file(tmp_path, ""), "transfers").collect()
    assert nothing.columns == ["kind", "subject", "start_s", "end_s", "bytes"]
    assert nothing.is_empty()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("file 3 0.5 1.0 9", "kind: expected one of flow object page, got 'file'"),
        ("flow 3 0.5 0.4 9", "end_s is before start_s: 0.4 and 0.5"),
        ("flow 3 0.5 1.0", "expected 5 fields (kind, subject, start_s, end_s, bytes), got 4"),
        ("flow 3 0.5 1.0 -9", "bytes: expected a number of at least 0, got '-9'"),
    ],
)
def test_a_transfer_that_cannot_be_is_named(tmp_path: Path, line: str, said: str) -> None:
    path = _file(tmp_path, f"flow 0 0.1 0.3 9\n{line}\n")
    with pytest.raises(BdpbenchError, match=":2: ") as caught:
        read_output(path, "transfers")
    assert said in str(caught.value)


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


def test_equal_times_are_no_fault(tmp_path: Path) -> None:
    # Two decimals cannot distinguish samples that are 0.005 s apart.
    path = _file(tmp_path, "0.00 1\n0.01 1\n0.01 2\n")
    assert read_output(path, "cwnd", flow=0).collect().height == 3


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
    ],
)
def test_a_line_that_cannot_be_is_named(
    tmp_path: Path, table: str, content: str, line: int, said: str
) -> None:
    path = _file(tmp_path, content)
    message = _error(path, table)
    assert message.startswith(f"{path}:{line}: ")
    assert said in message
    assert "hint: " in message


@pytest.mark.parametrize("table", ["cwnd", "packets"])
def test_the_first_of_several_faults_is_named(tmp_path: Path, table: str) -> None:
    good = {"cwnd": "0.00 1\n", "packets": PACKET}[table]
    path = _file(tmp_path, good * 5000 + "bad\n" + good * 5000 + "worse\n")
    assert _error(path, table).startswith(f"{path}:5001: ")


@pytest.mark.parametrize(
    ("table", "content", "said"),
    [
        ("cwnd", "0.00 1\n0.01 12", ":2: the last line was cut off"),
        ("cwnd", "0.0", ":1: the last line was cut off"),
        ("packets", PACKET * 3 + "r 0.15", ":4: the last line was cut off"),
    ],
)
def test_a_last_line_without_its_end_is_refused_even_if_it_parses(
    tmp_path: Path, table: str, content: str, said: str
) -> None:
    assert said in _error(_file(tmp_path, content), table)


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    path = _file(tmp_path, b"0.00 1\n0.01 \xff\n")
    assert f"{path}:2: the line is not text" in _error(path, "cwnd")


@pytest.mark.parametrize("table", list(KEYS))
def test_an_empty_file_says_what_was_expected(tmp_path: Path, table: str) -> None:
    message = _error(_file(tmp_path, ""), table)
    assert "the file is empty: expected lines of" in message
    assert "time_s" in message


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    message = _error(tmp_path / "none.out", "cwnd")
    assert "No such file or directory: expected an output of ns-2 for table cwnd" in message


def test_a_long_line_is_shortened(tmp_path: Path) -> None:
    message = _error(_file(tmp_path, "9" * 5000 + "\n"), "cwnd")
    assert "999...'" in message
    assert len(message) < 500


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


def test_no_line_of_a_long_file_is_lost(tmp_path: Path) -> None:
    """500 s of cwnd at intervals of 0.01 s."""
    path = _file(tmp_path, "".join(f"{i / 100:.2f} {i % 9000}.5 \n" for i in range(50_000)))
    frame = read_output(path, "cwnd", flow=0).collect()
    assert frame.height == 50_000
    # Five whole rounds of 0 … 8,999 and one of 0 … 4,999, each with a half added.
    total = 5 * 8999 * 9000 / 2 + 4999 * 5000 / 2 + 50_000 / 2
    assert frame["cwnd_pkts"].sum() == total


def test_a_table_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, PACKET)
    with pytest.raises(BdpbenchError, match="files of table packet_flows are parquet, not text"):
        read_output(path, "packet_flows")
