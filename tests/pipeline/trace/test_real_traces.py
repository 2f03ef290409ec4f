"""Traces that the real ns-2 writes in every format are read and checked independently."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.pipeline.trace.conftest import Traces, read

from bdpbench.errors import BdpbenchError
from bdpbench.trace import open_trace
from bdpbench.trace.schema import TABLES
from bdpbench.trace.text_lines import ALL_VARIABLES, _form

SAMPLES = [
    (("wired",), "all.tr", {"wired", "TCP events", "annotation"}),
    (("wired", "tcphdr"), "all.tr", {"wired", "TCP events", "annotation"}),
    (("wired", "hierarchical"), "all.tr", {"wired", "TCP events", "annotation"}),
    (("wired", "tagged"), "all.tr", {"tagged", "TCP events", "annotation"}),
    (("wired",), "queue_samples.tr", {"queue samples"}),
    (("wired",), "red.tr", {"queue variable"}),
    (("wired",), "variables.tr", {"variable"}),
    (("wired",), "all_variables.tr", {"all variables"}),
    (("wired",), "series.tr", {"two columns"}),
    (("wireless", "AODV", "old"), "all.tr", {"old wireless", "movement"}),
    (("wireless", "AODV", "new"), "all.tr", {"new wireless", "movement"}),
    (
        ("wireless", "AODV", "old", "energy"),
        "all.tr",
        {"old wireless", "movement", "node energy"},
    ),
    (
        ("wireless", "DSR", "old"),
        "all.tr",
        {"old wireless", "movement", "routing events", "routing events, 5 digits"},
    ),
    (("wireless", "DSDV", "new"), "all.tr", {"new wireless", "movement"}),
    (("mixed", "old"), "all.tr", {"wired", "old wireless"}),
    (("mixed", "new"), "all.tr", {"wired", "new wireless"}),
    (("satellite",), "all.tr", {"satellite"}),
    (("satellite", "tcphdr"), "all.tr", {"satellite"}),
]


def _name(value: str | tuple[str, ...] | set[str]) -> str:
    """A name that is the same in every process, unlike the order of a set."""
    return value if isinstance(value, str) else "-".join(sorted(value))


@pytest.mark.parametrize(("script", "file", "forms"), SAMPLES, ids=_name)
def test_every_line_is_parsed(
    traces: Traces, script: tuple[str, ...], file: str, forms: set[str]
) -> None:
    path = traces(*script) / file
    frame, account = read(path)
    lines = path.read_bytes().count(b"\n")
    assert set(account.forms) == forms
    assert (account.lines, account.parsed, account.skipped) == (lines, lines, 0)
    assert account.backwards == 0
    table = open_trace(path).table
    assert frame.schema == dict(TABLES[table])


def test_a_wired_trace_equals_its_fields_split_by_python(traces: Traces) -> None:
    path = traces("wired", "tcphdr") / "all.tr"
    frame, _ = read(path)
    words = [line.split() for line in path.read_text().splitlines() if line[0] in "+-rde"]
    assert frame["time_s"].to_list() == [float(each[1]) for each in words]
    for column, place in {"event": 0, "type": 4, "flags": 6}.items():
        assert frame[column].cast(pl.String).to_list() == [each[place] for each in words]
    for column, place in {"from_node": 2, "to_node": 3, "bytes": 5, "flow": 7, "seq": 10}.items():
        assert frame[column].to_list() == [int(each[place]) for each in words]
    ends = [(*each[8].split("."), *each[9].split(".")) for each in words]
    assert frame.select("src_node", "src_port", "dst_node", "dst_port").rows() == [
        tuple(int(part) for part in each) for each in ends
    ]
    for column, place in {"uid": 11, "ack": 12, "header_bytes": 14, "sack_bytes": 15}.items():
        assert frame[column].to_list() == [int(each[place]) for each in words]
    assert frame["tcp_flags"].to_list() == [int(each[13], 16) for each in words]
    assert {"+", "-", "r", "d"} <= set(frame["event"].cast(pl.String))


def test_hierarchical_addresses_are_the_integers_that_ns2_uses(traces: Traces) -> None:
    flat, _ = read(traces("wired") / "all.tr")
    levels, _ = read(traces("wired", "hierarchical") / "all.tr")
    # Levels of 10, 11 and 11 bits: node d, 1.1.0, is 1 · 2^22 + 1 · 2^11; a is 0.0.0.
    assert set(levels["dst_node"]) == {0, (1 << 22) + (1 << 11)}
    rest = [name for name in flat.columns if name not in ("src_node", "dst_node")]
    assert_frame_equal(flat.select(rest), levels.select(rest))
    # The same number occurs in ns-2's own event lines, which print it in full.
    events, _ = read(traces("wired", "hierarchical") / "all.tr", kind="events")
    peers = events.filter(pl.col("source").cast(pl.String) == "TCP")["peer_node"]
    assert set(peers) == {(1 << 22) + (1 << 11)}


def test_a_tagged_trace_tells_the_same_packets(traces: Traces) -> None:
    plain, _ = read(traces("wired") / "all.tr")
    tagged, _ = read(traces("wired", "tagged") / "all.tr")
    same = tagged.filter(pl.col("event") != "h")
    assert_frame_equal(plain.drop("time_s"), same.drop("time_s"))
    # Plain times are rounded to a microsecond; tagged ones are not.
    assert (plain["time_s"] - same["time_s"]).abs().max() <= 0.5000001e-6  # type: ignore[operator]


@pytest.mark.parametrize("routing", ["AODV", "DSR", "DSDV"])
def test_the_old_and_the_new_wireless_format_tell_the_same(traces: Traces, routing: str) -> None:
    old, _ = read(traces("wireless", routing, "old") / "all.tr")
    new, _ = read(traces("wireless", routing, "new") / "all.tr")
    assert old.height == new.height
    columns = ["time_s", "node", "layer", "reason", "mac_duration", "mac_to", "mac_from"]
    assert_frame_equal(old.select(columns), new.select(columns))
    ip = pl.col("ttl").is_not_null()
    columns = ["type", "bytes", "src_node", "src_port", "dst_node", "dst_port", "ttl", "uid"]
    assert_frame_equal(old.filter(ip).select(columns), new.filter(ip).select(columns))
    numbered = pl.col("type").cast(pl.String).is_in(["tcp", "ack", "cbr"])
    columns = ["seq", "ack", "hops"]
    assert_frame_equal(old.filter(numbered).select(columns), new.filter(numbered).select(columns))
    told = old["event"].cast(pl.String).replace({"D": "d"})
    assert told.to_list() == new["event"].cast(pl.String).to_list()


def test_a_wired_cum_wireless_trace_has_both_kinds_of_lines_in_their_order(traces: Traces) -> None:
    path = traces("mixed", "old") / "all.tr"
    frame, _ = read(path)
    firsts = ["_" in line.split()[2] for line in path.read_text().splitlines()]
    assert frame["layer"].is_not_null().to_list() == firsts
    wired = frame.filter(pl.col("layer").is_null())
    assert wired["from_node"].null_count() == 0
    # The mobile node 1.0.1, by levels in the wired lines and as an integer in the wireless ones.
    data = frame.filter(pl.col("type").cast(pl.String) == "tcp")
    assert set(data["dst_node"]) == {(1 << 22) + 1}


def test_variables_are_what_the_script_prints(traces: Traces) -> None:
    folder = traces("wired")
    path = folder / "all_variables.tr"
    first = path.read_text().splitlines()[0].split()
    told = dict(zip(first[::2], first[1::2], strict=True))
    rows = read(path)[0].head(len(ALL_VARIABLES))
    assert rows["name"].cast(pl.String).to_list() == list(ALL_VARIABLES)
    assert rows["value"].to_list() == [float(told[f"{name}:"]) for name in ALL_VARIABLES]
    assert rows["dst_node"].to_list() == [int(told["daddr:"])] * len(ALL_VARIABLES)
    changes, _ = read(folder / "variables.tr")
    cwnd = changes.filter(pl.col("name").cast(pl.String) == "cwnd_").select("time_s", "value")
    series, _ = read(folder / "series.tr")
    later = series.filter(pl.col("time_s") > 0.01)
    at = later.join_asof(cwnd, on="time_s", suffix="_traced")
    # A line prints cwnd with three decimals.
    assert (at["value"] - at["value_traced"]).abs().max() <= 0.5001e-3  # type: ignore[operator]


def test_queue_samples_count_what_the_trace_counts(traces: Traces) -> None:
    folder = traces("wired")
    samples, _ = read(folder / "queue_samples.tr")
    packets, _ = read(folder / "all.tr")
    on_link = packets.filter((pl.col("from_node") == 1) & (pl.col("to_node") == 2))
    last = samples.row(-1, named=True)
    before = on_link.filter(pl.col("time_s") < last["time_s"])
    left = before.filter(pl.col("event") == "-")
    assert left.height == last["departed_pkts"]
    assert left["bytes"].sum() == last["departed_bytes"]
    assert before.filter(pl.col("event") == "d").height == last["dropped_pkts"]


def test_satellite_lines_carry_positions(traces: Traces) -> None:
    frame, _ = read(traces("satellite") / "all.tr")
    ends = frame.filter(pl.col("event") == "+").select("from_lat", "from_lon").unique()
    # The positions of the terminals in the script, with the trace's two decimals.
    assert {(37.9, -122.3), (42.3, -71.1)} <= set(ends.rows())
    assert read(traces("satellite", "tcphdr") / "all.tr")[0]["ack"].null_count() == 0


def test_a_nam_trace_is_refused_with_what_to_give_instead(traces: Traces) -> None:
    path = traces("wired") / "all.nam"
    with pytest.raises(BdpbenchError, match="nam trace") as caught:
        open_trace(path)
    assert "trace-all" in str(caught.value)
    with pytest.raises(BdpbenchError, match="nam trace"):
        open_trace(path, lenient=True)


def test_a_form_whose_fields_are_no_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="'new': the table queues has no column pakets, ttl"):
        _form("new", "queues", "<time_s>  <pakets>  <ttl_hex>  <bytes>", 0)
