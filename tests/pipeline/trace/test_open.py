"""Sources, refusals and the account of lines, on traces written by hand."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import subprocess
import sys
import tarfile
import threading
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from backports import zstd
from tests.data_of import data_of
from tests.pipeline.trace.conftest import read

from bdpbench.contracts.paths import repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.trace import open_trace, sources
from bdpbench.trace.text_lines import LINE_FORMS, _packed_address, fault_of

LINES = (
    "+ 0.1 0 1 tcp 1040 ------- 1 0.0 3.0 7 20",
    "- 0.1 0 1 tcp 1040 ------- 1 0.0 3.0 7 20",
    "r 0.25 0 1 tcp 1040 ------- 1 0.0 3.0 7 20",
)
TEXT = "".join(f"{line}\n" for line in LINES)
CASES: dict[str, dict[str, Any]] = {each["name"]: each for each in data_of(__file__)}  # type: ignore[index]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "out.tr"
    path.write_text(TEXT)
    return path


def _error(path: Path | str | list[Path], **options: bool) -> str:
    with pytest.raises(BdpbenchError) as caught:
        list(open_trace(path, **options).batches())  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize("chunk_bytes", [1, sources.CHUNK_BYTES])
def test_each_title_of_a_file_for_xgraph_begins_a_curve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int
) -> None:
    monkeypatch.setattr(sources, "CHUNK_BYTES", chunk_bytes)  # some 64 kB at least
    path = tmp_path / "out.xg"
    curves = {"queue": 10, "ave queue": 2, None: 7}
    parts = [
        (f'"{title}\n' if title else "") + "".join(f"{i} {value}\n" for i in range(20_000))
        for title, value in curves.items()
    ]
    path.write_text("TitleText: red\nDevice: Postscript\n" + "\n".join(parts))
    assert "the line is empty" in _error(path)
    frame, account = read(path, lenient=True)
    found = frame.group_by("name", maintain_order=True).agg(pl.len(), pl.col("value").mean())
    assert found.rows() == [(title, 20_000, value) for title, value in curves.items()]
    assert (account.parsed, account.skipped) == (60_000, 3)  # two blank lines and a title


COMPRESS = {
    "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd.compress,
}  # fmt: skip


@pytest.mark.parametrize("compression", COMPRESS)
def test_compressed_files_read_like_plain_ones(trace: Path, compression: str) -> None:
    packed = trace.with_suffix(f".{compression}")
    packed.write_bytes(COMPRESS[compression](TEXT.encode()))
    odd_name = trace.with_name("no_suffix")
    packed.rename(odd_name)
    assert read(odd_name)[0].equals(read(trace)[0])
    cut = trace.with_name("cut")
    cut.write_bytes(odd_name.read_bytes()[:-6])
    assert "compressed file is damaged or was cut off" in _error(cut)
    cut.write_bytes(odd_name.read_bytes()[:5] + bytes(90))
    assert "compressed file is damaged or was cut off" in _error(cut)


def test_a_long_compressed_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "long.gz"
    line = "+ {} 0 1 tcp 1040 ------- 1 0.0 3.0 {} {}\n"
    count = 200_000  # several chunks
    path.write_bytes(
        gzip.compress("".join(line.format(i / 1000, i, i) for i in range(count)).encode(), 1)
    )
    frame, account = read(path)
    assert frame["uid"].to_list() == list(range(count))
    assert frame["time_s"].to_list() == [i / 1000 for i in range(count)]
    assert account.lines == count


def test_several_files_are_parts_of_one_trace(trace: Path, tmp_path: Path) -> None:
    second = tmp_path / "second.tr"
    second.write_text(TEXT.replace(" 0.1 ", " 0.3 ").replace(" 0.25 ", " 0.4 "))
    whole = open_trace([trace, second])
    assert pl.concat(list(whole.batches()))["time_s"].to_list() == [0.1, 0.1, 0.25, 0.3, 0.3, 0.4]
    assert whole.account.lines == 6
    assert f"{trace}:1: time runs backwards: 0.1 s after 0.4 s" in _error([second, trace])
    mixed = open_trace([second, trace], lenient=True)
    assert sum(batch.height for batch in mixed.batches()) == 6
    assert mixed.account.backwards == 1


def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(TEXT,))
    writer.start()
    trace = open_trace(pipe)
    assert sum(batch.height for batch in trace.batches()) == 3
    writer.join()
    with pytest.raises(BdpbenchError, match="can be read only once"):
        list(trace.batches())


def test_standard_input_is_read() -> None:
    program = (
        "from bdpbench.trace import open_trace; t = open_trace('-'); "
        "print(sum(b.height for b in t.batches()), t.format)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=gzip.compress(TEXT.encode()),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(repository_root() / "pipeline")},
        check=True,
    )
    assert done.stdout.decode().split() == ["3", "wired"]


def test_a_file_can_be_read_again_and_as_a_lazy_frame(trace: Path) -> None:
    opened = open_trace(trace)
    for _ in range(2):
        assert sum(batch.height for batch in opened.batches(["time_s"])) == 3
    lazy = opened.frame.filter(pl.col("event") == "r").select("bytes", "time_s")
    assert lazy.collect().rows() == [(1040, 0.25)]
    assert lazy.collect(engine="streaming").rows() == [(1040, 0.25)]
    assert opened.frame.head(2).collect().height == 2
    assert opened.frame.select(pl.len()).collect().item() == 3


BAD = {
    "+ 0.2 0 1 tcp 1040 ------- 1 0.0 3.0 7": "12 fields of a wired trace .* got 11",
    "+ 0.2 0 1 tcp 1040 ------- 1 0.0 3.0 7 20 5": "12 fields of a wired trace .* got 13",
    "+ soon 0 1 tcp 1040 ------- 1 0.0 3.0 7 20": "time: expected a time, got 'soon'",
    "+ 0.2 0 1 tcp 1.5 ------- 1 0.0 3.0 7 20": r"bytes: expected a whole number .*'1\.5'",
    "+ 0.2 0 1 tcp -40 ------- 1 0.0 3.0 7 20": r"bytes: expected a whole number that.*got '-40'",
    "s 1.0 _2_ AGT  --- 0 cbr -5 [0 0 0 0] ------- [2:0 3:0 32 0] [0] 0 0": "out of range",
    "+ 0.2 0 1 tcp 1040 ------- 1 0 3.0 7 20": "src.port: expected an address and a port",
    "+ 0.2 0 1 tcp 99999999999 ------- 1 0.0 3.0 7 20": "out of range",
    "+ 1e999 0 1 tcp 1040 ------- 1 0.0 3.0 7 20": r"time: expected less than 1e\+12 s",
    "+ 1000000000000 0 1 tcp 1040 ------- 1 0.0 3.0 7 20": r"time: expected less than 1e\+12 s",
    "+ 0.2 0 1 tcp 1040 ------- 1 0.0 3.0 7 20 1 2 3 4": "the fields after uid are not ones",
    "": "the line is empty",
    "what is this": "this is text that a script printed",
    "s 1.0 _2_ AGT --- 0 cbr 512 [0 0 0 0] ------- [2:0 3": "no line of an ns-2 trace",
    "+ -t 1 -s 0 -d 1 -p tcp -e 40": "nam trace",
    # Lines from ns-2's own suite and examples, and of others.
    " 3.5685 n 2 m <1:1> r 0 Q DETECT": "a log of SRM agents",
    "8.249329 i 0 C GET p _o47:0 s 1 z 43 ": "a log of a web cache",
    "0.00710233021858257 2(2->1): U -1 L3 -1 -1 -1 0": "a log of MPLS",
    "0   3   1       13.469 ms": "a list of delays of a delaybox",
    "0.00000  3  0  1  1  throughput_": "a traced variable without a value",
    "0 2 1 2 0 0 0": "7 columns of numbers",
    "0.Color: red": "a file for xgraph",
    "# nodes: 16.0, max time: 2060.0": "a comment or heading of a script",
    "Session 0 starting page 1, curpage 0": "text that a script printed",
    "# nam4wpan #": "nam trace",
    "+ 2 /NodeList/0/DeviceList/0/$ns3::PointToPointNetDevice/TxQueue": "trace of ns-3",
    '<?xml version="1.0"?>': "XML or HTML",
}


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_line_is_told_with_file_number_and_reason(trace: Path, bad: str) -> None:
    trace.write_text(f"{LINES[0]}\n{LINES[1]}\n{bad}\n{LINES[2]}\n")
    error = _error(trace)
    assert error.startswith(f"{trace}:3: ")
    assert re.search(BAD[bad], error)
    assert repr(bad)[1:40] in error
    frame, account = read(trace, lenient=True)
    assert frame.height == 3
    assert (account.lines, account.parsed, account.skipped) == (4, 3, 1)
    assert (account.first_skipped[0].line, account.first_skipped[0].text) == (3, bad)
    trace.write_text(f"{bad}\n")
    assert re.search(BAD[bad], _error(trace)) or not bad  # a blank line may stand above a trace


@pytest.mark.parametrize("name", CASES)
def test_what_becomes_of_lines(trace: Path, name: str) -> None:
    case = CASES[name]
    trace.write_bytes(case["trace"].encode())
    lenient = case.get("lenient", False)
    if lenient:
        assert case["error"] in _error(trace)
    kind = {"kind": case["kind"]} if "kind" in case else {}
    frame, account = read(trace, lenient=lenient, **kind)
    assert account.forms == case["forms"]
    assert (account.skipped, account.backwards) == (
        case.get("skipped", 0),
        case.get("backwards", 0),
    )
    assert account.lines == account.parsed + account.skipped
    assert account.cut == [str(trace)] * account.skipped
    assert account.complete
    ends = case.get("ends", [account.first_s, account.last_s])
    assert [account.first_s, account.last_s] == ends
    for column, values in case.get("columns", {}).items():
        found = frame[column]
        assert (found if found.dtype.is_numeric() else found.cast(pl.String)).to_list() == values


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"")
    assert _error(path) == f"{path}: the file is empty: expected a trace of ns-2"
    path.write_bytes(bytes(range(256)) * 100)
    assert f"{path}:1: not a trace of ns-2: the line is not text" in _error(path)
    path.write_text("id,name\n1,x\n")
    assert f"{path}:1: not a trace of ns-2" in _error(path)
    for shown, more in (("x" * 80, ""), ("x" * 80 + "...", "x")):
        path.write_text("x" * 80 + more + "\n")
        assert f"the line reads '{shown}'" in _error(path)
    assert "not a trace of ns-2" in _error(path, lenient=True)
    path.write_bytes(b"x" * (sources.LONGEST_LINE + 100))
    assert "not a trace of ns-2" in _error(path) or "no line ends" in _error(path)
    assert "No such file" in _error(tmp_path / "missing")
    assert "Is a directory" in _error(tmp_path)
    with pytest.raises(BdpbenchError, match="no trace was given"):
        open_trace([])


def test_lenience_is_offered_only_where_other_lines_can_be_read(trace: Path) -> None:
    trace.write_text('TitleText: rates\n"flow 1\n')
    assert "for xgraph" in _error(trace)
    assert "--lenient" not in _error(trace)
    trace.write_text(f"{TEXT}TitleText: rates\n")
    assert "--lenient skips such lines" in _error(trace)


def test_archives_and_text_in_utf_16_are_named(trace: Path) -> None:
    path = trace.with_name("packed")
    for mode in ("w", "w:gz", "w:xz"):
        with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
            archive.add(trace, "trace.tr")
        assert f"{path}: this is a tar archive of files" in _error(path, lenient=True)
    with zipfile.ZipFile(path, "w") as packed:
        packed.write(trace, "trace.tr")
    assert f"{path}: this is a zip archive of files" in _error(path)
    for kind, magic in (("7z", b"7z\xbc\xaf\x27\x1c"), ("rar", b"Rar!\x1a\x07")):
        path.write_bytes(magic + bytes(90))
        assert f"{path}: this is a {kind} archive of files" in _error(path)
    path.write_bytes(b"\xd4\xc3\xb2\xa1" + bytes(60))
    assert "this is a packet capture (pcap)" in _error(path)
    path.write_text(TEXT, encoding="utf-16")
    assert f"{path}: this is text in UTF-16" in _error(path)
    assert f"iconv -f UTF-16 -t UTF-8 {path} |" in _error(path)
    path.write_bytes(gzip.compress(gzip.compress(TEXT.encode())))
    assert f"{path}: this is a gzip file in a gzip file" in _error(path)


def test_a_line_without_end_is_told_also_behind_good_lines(trace: Path) -> None:
    trace.write_text(TEXT + "x" * (2 * sources.LONGEST_LINE))
    assert "no line ends within" in _error(trace)


def test_unknown_kinds_and_columns_are_told(trace: Path) -> None:
    with pytest.raises(BdpbenchError, match="unknown kind of rows 'packet'"):
        open_trace(trace, kind="packet")
    with pytest.raises(BdpbenchError, match="no column 'size'"):
        list(open_trace(trace).batches(["size"]))


def test_an_error_in_the_middle_reaches_who_collects(trace: Path) -> None:
    trace.write_text(TEXT * 2)
    with pytest.raises(Exception, match="time runs backwards") as caught:
        open_trace(trace).frame.collect()
    assert isinstance(caught.value, BdpbenchError)


MEMORY = """
import resource, sys
from bdpbench.trace import open_trace
t = open_trace(sys.argv[1])
rows = sum(batch.height for batch in t.batches())
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def test_memory_does_not_grow_with_the_trace(tmp_path: Path) -> None:
    """Ten times the text needs no more additional memory than a chunk's text and rows."""
    lines = "".join(f"+ 1.5 0 1 tcp 1040 ------- 1 0.0 3.0 {i} {i}\n" for i in range(100_000))
    peaks = {}
    for copies in (1, 10):
        path = tmp_path / f"{copies}.tr"
        with path.open("w") as stream:
            for _ in range(copies):
                stream.write(lines)
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, str(path)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(repository_root() / "pipeline")},
            check=True,
        )
        rows, peaks[copies] = (int(word) for word in done.stdout.split())
        assert rows == copies * 100_000
    # 52 MB of text against 5 MB, and more in rows. At most four chunks of 4 MiB are in flight, at
    # about five times their size with all columns, on two threads, whatever the length of the
    # trace.
    assert peaks[10] - peaks[1] < 150


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    "head",
    ["\n\n", '\n\n"flow 1\n', "# a comment\n", "TitleText: x\n", "Time cwnd\n", "#\n" * 3000],
)
def test_headings_are_counted_and_nothing_else_is(trace: Path, head: str, *, lenient: bool) -> None:
    lines = head.count("\n")
    trace.write_text(f"{head}0.5 3\n1 4\n")
    frame, account = read(trace, lenient=lenient)
    curve = "flow 1" if '"flow 1' in head else None
    assert frame.rows() == [(0.5, 3, curve), (1, 4, curve)]
    assert (account.headings, account.parsed, account.skipped) == (lines, 2, 0)
    trace.write_text(f"0.5 3\n{head}1 4\n")
    assert f"{trace}:2: " in _error(trace)
    _, account = read(trace, lenient=True)
    assert (account.headings, account.parsed, account.skipped) == (0, 2, lines)


MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("data", "texts", "cut"),
    [
        # Only the first bytes are a mark; the second line does not fit into the first chunk.
        (
            MARK + b"first\n" + MARK + b"x" * 200_000 + b"\n",
            [b"first\n", MARK + b"x" * 200_000 + b"\n"],
            False,
        ),
        (b"x" * 200_000 + b"\n", [b"x" * 200_000 + b"\n"], False),
        (b"x" * 1000, [b"x" * 1000 + b"\n"], True),
    ],
)
def test_chunks_are_whole_lines_with_room_behind_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, texts: list[bytes], cut: bool
) -> None:
    monkeypatch.setattr(sources, "CHUNK_BYTES", 100)
    path = tmp_path / "trace"
    path.write_bytes(data)
    chunks = list(sources.Source(str(path)).chunks())
    assert [bytes(chunk.buffer[: chunk.length]) for chunk in chunks] == texts
    assert all(len(each.buffer) >= each.length - cut + sources.PADDING for each in chunks)
    assert chunks[-1].cut == cut


@pytest.mark.parametrize("fields", range(11, 23))
def test_a_line_that_begins_as_a_wired_one_is_counted(fields: int) -> None:
    # Wired lines have 12 fields, 16 with TCP's header, and SCTP's 15; four more from a satellite.
    words = ["+ 0.5 0 1 tcp x ------- 1 0.0 1.0"] + ["0"] * (fields - 10)
    fault = fault_of(" ".join(words))
    if fields in {12, 15, 16, 19, 20}:
        assert fault == "bytes: expected a whole number that is not negative, got 'x'"
    else:
        assert fault.endswith(f", got {fields}")


def test_a_condition_selects_rows_and_empty_batches_are_left_out(trace: Path) -> None:
    opened = open_trace(trace)
    (frame,) = opened.batches(columns=["time_s", "event"], predicate=pl.col("event") != "+")
    assert frame["time_s"].to_list() == [0.1, 0.25]
    assert list(opened.batches(predicate=pl.col("event") == "d")) == []


def test_only_the_first_skipped_lines_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "out.tr"
    path.write_text("".join(f"{line}\nno line\n" for line in LINES * 8))
    _, account = read(path, lenient=True)
    assert (account.skipped, len(account.first_skipped)) == (24, 20)


@pytest.mark.parametrize(
    ("text", "packed"),
    [
        ("7", 7),
        ("1.2", (1 << 11) + 2),
        ("1.2.3", (1 << 22) + (2 << 11) + 3),
        ("511.2047.2047", (1 << 31) - 1),
        ("512.0.0", -(1 << 31)),  # ns-2's integers have 32 bits
        ("2097151.2047", -1),
        ("2097152.0", None),
        ("1.2048", None),
        ("-1.0", None),
    ],
)
def test_an_address_of_levels_is_ns2_s_integer(text: str, packed: int | None) -> None:
    frame = pl.DataFrame({"node": [text]})
    assert frame.select(_packed_address(pl.col("node"))).item() == packed


# Digits behind the point of the times that ns-2 writes; None: all that the number has.
DIGITS = {
    **dict.fromkeys(("wired", "SCTP", "node energy", "feature variable", "tagged variable"), 6),
    **dict.fromkeys(("TCP events", "error model events", "MAC events", "annotation"), 6),
    **dict.fromkeys(("satellite", "HDLC", "satellite SCTP"), 4),
    **dict.fromkeys(("variable", "variable without a value", "all variables"), 5),
    **dict.fromkeys(("movement", "scenario", "routing events, 5 digits"), 5),
    **dict.fromkeys(("old wireless", "new wireless", "routing events"), 9),
    **dict.fromkeys(("queue variable", "XCP variable"), 2),
}


def test_times_may_run_backwards_by_half_of_their_last_digit() -> None:
    units = {form.name: form.half_unit_s for form in LINE_FORMS}
    assert {name: unit for name, unit in units.items() if unit} == pytest.approx(
        {name: 0.5 * 10**-digits for name, digits in DIGITS.items()}
    )
