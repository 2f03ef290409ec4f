"""`analyze` measures a trace, prints and writes the results, and refuses bad input early."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import Done

from bdpbench.metrics.packets import PACKET_DEFINITIONS

# Flow 1 from node 0 to node 1: three packets, the second of which is dropped and retransmitted.
TRACE = """\
+ 1 0 1 tcp 1040 ------- 1 0.0 1.0 0 0
- 1 0 1 tcp 1040 ------- 1 0.0 1.0 0 0
+ 1.1 0 1 tcp 1040 ------- 1 0.0 1.0 1 1
d 1.1 0 1 tcp 1040 ------- 1 0.0 1.0 1 1
r 1.5 0 1 tcp 1040 ------- 1 0.0 1.0 0 0
+ 1.5 1 0 ack 40 ------- 1 1.0 0.0 0 2
- 1.5 1 0 ack 40 ------- 1 1.0 0.0 0 2
r 1.75 1 0 ack 40 ------- 1 1.0 0.0 0 2
+ 2 0 1 tcp 1040 ------- 1 0.0 1.0 1 3
- 2 0 1 tcp 1040 ------- 1 0.0 1.0 1 3
r 2.5 0 1 tcp 1040 ------- 1 0.0 1.0 1 3
+ 3 0 1 tcp 1040 ------- 1 0.0 1.0 2 4
- 3 0 1 tcp 1040 ------- 1 0.0 1.0 2 4
r 3.5 0 1 tcp 1040 ------- 1 0.0 1.0 2 4
"""


GOLDEN = Path(__file__).with_name("analyze.txt")
Analyze = Callable[..., Done]


@pytest.fixture
def analyze(folder: Path, bdpbench: Callable[..., Done]) -> Analyze:
    """Call `bdpbench analyze` in the folder of the trace."""
    return lambda *arguments: bdpbench("analyze", *arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my.tr").write_text(TRACE)
    return tmp_path


def test_what_is_printed_is_what_analyze_txt_has(folder: Path, analyze: Analyze) -> None:
    """Calls of `analyze` and what they print, of which ``analyze.txt`` says what is by hand.

    After a change of what is printed, write ``printed`` to the file.
    """
    cwnd = "".join(f"0.{number:05d} 0 0 1 0 cwnd_ {number}\n" for number in range(2000))
    movement = "M 0.00000 0 (1.00, 2.00, 0.00), (3.00, 4.00), 5.00\n" * 300
    (folder / "new.tr").write_text(TRACE.replace(" 1040 ", " 520 "))
    (folder / "mixed.tr").write_text(cwnd + TRACE)
    (folder / "moving.tr").write_text(movement + TRACE)
    (folder / "cwnd.tr").write_text("0.0 1\n1.0 2\n2.0 6\n")
    for name, fall in (("reno", 5), ("hs", 8)):
        lines = [f"0.{k} 0 0 1 0 cwnd_ {value}\n" for k, value in enumerate((1, 10, fall, 7.5))]
        (folder / f"{name}.tr").write_text("".join(lines))
    printed = "".join(
        f"{line}{analyze(*line.split()[2:]).out}\n" if line.startswith("$ analyze") else line
        for line in GOLDEN.read_text().splitlines(keepends=True)
        if line.startswith(("$", "#"))
    )
    assert printed == GOLDEN.read_text()


def test_standard_input_and_compressed_files(
    folder: Path, analyze: Analyze, piped: Callable[..., Done]
) -> None:
    (folder / "my.tr.gz").write_bytes(gzip.compress(TRACE.encode()))
    plain = analyze("my.tr").lines
    assert piped(TRACE).lines[1:] == plain[1:]
    assert analyze("my.tr.gz").lines[1:] == plain[1:]


@pytest.fixture
def piped(analyze: Analyze) -> Iterator[Callable[..., Done]]:
    """Call `bdpbench analyze -` with a text in a pipe as its standard input."""
    kept = os.dup(0)

    def call(text: str, *options: str) -> Done:
        read, write = os.pipe()
        os.write(write, text.encode())
        os.close(write)
        os.dup2(read, 0)
        os.close(read)
        return analyze("-", *options)

    yield call
    os.dup2(kept, 0)
    os.close(kept)


def test_a_pipe_of_several_kinds_is_refused_unless_one_is_named(piped: Callable[..., Done]) -> None:
    text = "0.5 0 0 1 0 cwnd_ 1\n" * 300 + TRACE
    assert "several kinds: 14 lines of packets, 300 lines of variables" in piped(text).err
    named = piped(text, "--kind", "packets")
    assert named.lines[0] == "standard input: variable, wired trace, 314 lines"


def test_traces_side_by_side(folder: Path, analyze: Analyze) -> None:
    # The second flow delivers packets of half the size.
    (folder / "new.tr").write_text(TRACE.replace(" 1040 ", " 520 "))
    labels = ("--label", "old", "--label", "new")
    for suffix in (".csv", ".parquet", ".html"):
        assert analyze("my.tr", "new.tr", *labels, "-o", f"out{suffix}").code == 0
    rows = pl.read_csv(folder / "out.csv").filter(
        (pl.col("metric") == "total_throughput") & (pl.col("label") == "new")
    )
    assert rows.select("value", "difference", "difference_pct").row(0) == pytest.approx(
        (0.004992, -0.004992, -50)
    )
    assert rows.equals(
        pl.read_parquet(folder / "out.parquet").filter(
            (pl.col("metric") == "total_throughput") & (pl.col("label") == "new")
        )
    )
    page = (folder / "out.html").read_text()
    assert "new − old" in page
    assert "old: flow 1" in page


def test_a_subject_that_one_trace_lacks(folder: Path, analyze: Analyze) -> None:
    (folder / "new.tr").write_text(TRACE.replace(" 1 0.0 1.0", " 2 0.0 1.0"))
    labels = ("--label", "old", "--label", "new")
    assert analyze("my.tr", "new.tr", *labels, "-o", "out.csv").code == 0
    rows = pl.read_csv(folder / "out.csv").filter(pl.col("metric") == "throughput")
    assert rows.select("subject", "label", "value", "difference").rows() == [
        ("flow:1", "old", 0.009984, None),
        ("flow:1", "new", None, None),
        ("flow:2", "old", None, None),
        ("flow:2", "new", 0.009984, None),
    ]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_tables(folder: Path, analyze: Analyze, suffix: str) -> None:
    assert analyze("my.tr", "-o", f"out{suffix}").code == 0
    read = pl.read_csv if suffix == ".csv" else pl.read_parquet
    rows = read(folder / f"out{suffix}")
    assert rows.columns == ["metric", "subject", "value", "unit", "start_s", "end_s", "definition"]
    loss = rows.filter(pl.col("metric") == "packet_loss_rate").row(0, named=True)
    assert loss["subject"] == "flow:1"
    assert loss["value"] == 0.25
    assert (loss["start_s"], loss["end_s"]) == (1.0, 3.5)
    assert loss["definition"] == "packet_loss_rate/2"
    assert pl.read_ndjson(analyze("my.tr", "--json").out.encode()).equals(rows)


def test_a_page_escapes_what_the_trace_says(folder: Path, analyze: Analyze) -> None:
    name = "<script>alert(1)<script>.tr"
    bad = "<img src=x onerror=alert(2)>"
    (folder / name).write_text(TRACE.replace("+ 2 0", f"{bad}\n+ 2 0"))
    lines = analyze(name, "--lenient", "-o", "out.html").lines
    assert any("1 of 15 lines skipped" in line for line in lines)
    page = (folder / "out.html").read_text()
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert bad not in page
    assert "Account of the lines" in page
    assert "http://" not in page.split("<script>")[0]


def test_a_fault_in_standard_input_is_named_as_such(piped: Callable[..., Done]) -> None:
    for text, told in (
        (TRACE.replace(" 2 4", " 2", 1), "error: standard input:12: expected the 12 fields"),
        ("", "error: standard input: it is empty: expected a trace of ns-2"),
    ):
        done = piped(text)
        assert done.code == 1
        assert done.err.startswith(told)


def test_metrics_are_listed_with_their_definitions(analyze: Analyze) -> None:
    text = "\n".join(analyze("--list-metrics").lines)
    for metric in PACKET_DEFINITIONS:
        assert f"\n{metric}" in f"\n{text}"
    assert "RFC 5166" in text


def test_traces_of_cwnd_side_by_side(folder: Path, analyze: Analyze) -> None:
    for name, cut in (("reno", 5), ("hs", 8)):
        lines = [f"0.{k} 0 0 1 0 cwnd_ {value}\n" for k, value in enumerate((1, 10, cut, 7.5))]
        (folder / f"{name}.tr").write_text("".join(lines))
    analyze("reno.tr", "hs.tr", "-o", "page.html")
    page = (folder / "page.html").read_text()
    assert "<h1>reno, hs</h1>" in page
    assert "reno: 0-0-1-0" in page
    analyze("reno.tr", "hs.tr", "-o", "all.csv")
    rows = pl.read_csv(folder / "all.csv")
    assert rows.columns == ["subject", "name", "time_s", "value"]
    assert rows["value"].to_list() == [1, 10, 5, 7.5, 1, 10, 8, 7.5]
    analyze("hs.tr", "--window", "0.1:0.3", "-o", "part.parquet")
    assert pl.read_parquet(folder / "part.parquet")["value"].to_list() == [10, 8]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.tr"], "nowhere.tr: No such file or directory"),
        (["my.tr", "-o", "out.pdf"], "the suffix of 'out.pdf' names no known format"),
        (["my.tr", "-o", "no/out.csv"], "no such folder"),
        (["my.tr", "--window", "5"], "'5' is not a window"),
        (["my.tr", "--window", "9:5"], "'9:5' is not a window"),
        (["my.tr", "--window", "50:60"], "no packet event in the window"),
        (["my.tr", "--flow", "7"], "it has flow:1"),
        (["my.tr", "--link", "7"], "'7' is not a link"),
        (["my.tr", "--link", "7-8"], "it has link:0-1, link:1-0"),
        (["my.tr", "--metric", "goodptu"], "did you mean 'goodput'?"),
        (["my.tr", "--bin", "0"], "is not a width"),
        (["my.tr", "--capacity", "0-1"], "is not a capacity"),
        (["bad.tr"], "bad.tr:2"),
        (["moving.tr"], "moving.tr: the trace has no packet event"),
        ([], "Missing argument"),
        (["my.tr", "my.tr"], "my.tr: the file is given twice"),
        (["cwnd.tr", "--flow", "1"], "--flow: chooses among packets, and the trace has none"),
        (["cwnd.tr", "--bin", "1"], "--bin: chooses among packets, and the trace has none"),
        (["my.tr", "cwnd.tr"], "cwnd.tr: the trace has no packets, and my.tr has some"),
        (["empty"], "empty: is a folder"),
        (["my.tr", "--kind", "queues"], "my.tr: the trace has no line of queues"),
        (["my.tr", "cwnd.tr", "--kind", "series", "-o", "a.csv"], "my.tr: the trace has no line"),
        (["cwnd.tr", "--window", "5:6"], "cwnd.tr: no sample is in the window"),
        (["my.tr", "my.tr", "--label", "a"], "1 label for 2 traces"),
        (["my.tr", "my.tr", "--label", "a", "--label", "a"], "two traces have the label 'a'"),
        (["my.tr", "--label", "a"], "a single trace cannot be compared"),
        (["my.tr", "--node", "7"], "it has node:0, node:1"),
    ],
)
def test_a_mistake_is_one_message(
    folder: Path, analyze: Analyze, arguments: list[str], said: str
) -> None:
    (folder / "bad.tr").write_text(TRACE.splitlines()[0] + "\nsomething else\n")
    (folder / "cwnd.tr").write_text("0.0 1\n1.0 2\n")
    (folder / "moving.tr").write_text("M 0.0 0 (1.00, 2.00, 0.00), (3.00, 4.00), 5.00\n")
    (folder / "empty").mkdir()
    done = analyze(*arguments)
    assert done.code != 0
    assert said in done.err
    assert "Traceback" not in done.err
    assert not list(folder.glob("out*"))
