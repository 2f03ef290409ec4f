"""Every metric on traces of a few lines, compared with values worked out by hand."""

from __future__ import annotations

import itertools
import random
import resource
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.data_of import data_of

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets import (
    COLUMNS,
    PACKET_DEFINITIONS,
    PacketMeter,
    PacketSums,
    Window,
    measure_packets,
    sum_packets,
)
from bdpbench.metrics.packets.rows import FIRST_GROUP, goes_to_group
from bdpbench.trace import open_trace

from ..conftest import number
from .counter import count

CASES: dict[str, dict[str, Any]] = {each["name"]: each for each in data_of(__file__)}  # type: ignore[index]
MOST_MORE_MB = 200

Sum = Callable[..., PacketSums]


def text_of(case: dict[str, Any]) -> str:
    """The lines of a case, which may be those of another one, changed and continued."""
    text = text_of(CASES[case["of"]]) if "of" in case else case["trace"]
    before, after = case.get("replace", ("", ""))
    return (text.replace(before, after) if before else text) + case.get("more", "")


@pytest.fixture
def sum_of(tmp_path: Path) -> Sum:
    """Sums a trace as text, and as rows in a few batches, which comes to the same."""

    def of(lines: str | Iterable[str], window: Window | None = None, **options: Any) -> PacketSums:
        path = tmp_path / "by_hand.tr"
        path.write_text(lines if isinstance(lines, str) else "".join(f"{x}\n" for x in lines))
        trace, meter = (
            open_trace(path, lenient=True, kind="packets"),
            PacketMeter(window, **options),
        )
        trace.sum_into(meter, COLUMNS)
        rows = pl.concat(trace.batches(COLUMNS))
        found = meter.result()
        batches = rows.iter_slices(max(1, rows.height // 4))
        other = sum_packets(batches, window, **options).all_tables()
        for name, table in found.all_tables().items():
            assert_frame_equal(table, other[name], rel_tol=1e-12, abs_tol=1e-12)
        return found

    return of


def values_of(sums: PacketSums) -> dict[tuple[str, str], float | None]:
    """Subject and metric → value."""
    rows = measure_packets(sums).select("subject", "metric", "value").iter_rows()
    return {(subject, metric): value for subject, metric, value in rows}


@pytest.mark.parametrize("name", CASES)
def test_values_worked_out_by_hand(sum_of: Sum, name: str) -> None:
    case = CASES[name]
    links = {tuple(map(int, link.split("-"))): c for link, c in case.get("capacities", {}).items()}
    window = Window(*case["window"]) if "window" in case else None
    before_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    sums = sum_of(text_of(case), window, bin_s=case.get("bin_s"), capacities=links)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3 - before_mb < MOST_MORE_MB
    values, rel = values_of(sums), float(case.get("rel", 1e-6))
    for subject, metrics in case.get("values", {}).items():
        for metric, told in metrics.items():
            expected = number(told)
            expected = expected if expected is None else pytest.approx(expected, rel=rel)
            assert values[subject, metric] == expected, (subject, metric)
    for table, columns in case.get("sums", {}).items():
        rows = sums.all_tables()[table].filter(**case.get("where", {}).get(table, {}))
        for column, told in columns.items():
            found = rows[column].to_list()
            assert len(found) == len(told), (table, column)
            for one, other in zip(found, map(number, told), strict=True):
                assert one == (pytest.approx(other) if isinstance(other, float) else other), column


def test_every_metric_is_worked_out_by_hand_or_below(sum_of: Sum) -> None:
    told = {m for each in CASES.values() for of in each.get("values", {}).values() for m in of}
    below = {"max_min_fairness_index", "throughput_convergence_time", "throughput_recovery_time"}
    below |= {"type_received_bytes", "total_remaining_energy"}
    assert told | below == set(PACKET_DEFINITIONS)
    lines = [
        f"{event} {uid / 8} 0 1 cbr {size} ------- {flow} 0.{flow} 1.{flow} {uid} {2 * uid + flow}"
        for uid in range(8 * 40)
        for event in "+-r"
        for flow, size in ((1, 1500 if uid < 8 * 20 else 500), (2, 500))
        if flow == 1 or uid >= 8 * 2
    ]
    values = values_of(sum_of(lines, bin_s=1.0))
    # 10 s with a seconds of 1500 bytes are fair where 1000 a is at most 0.3 (10000 + 1000 a), which
    # is where a is at most 4.29: first in those that end at 26 s.
    assert values["trace", "throughput_convergence_time"] == 26 - 2
    # Shares are what both send: 8 · 8 (20 · 1500 + 20 · 500)/40 s and 8 · 8 (38 · 500)/40 s.
    assert values["trace", "max_min_fairness_index"] == pytest.approx(1)
    assert values["type:cbr", "type_received_bytes"] == 8 * (20 * 2000 + 38 * 500)
    energy = values_of(sum_of(text_of(CASES["radio"])))
    assert energy["trace", "total_remaining_energy"] == 97 + 48 + 9
    # 1 s of 8 packets, a loss, 1 s of one packet, and 1 s of 8 again.
    times = [n / 8 for n in range(8)] + [1.5] + [2 + n / 8 for n in range(8)]
    line = "0 1 cbr 500 ------- 1 0.0 1.0"
    lost = [f"{e} {t} {line} {n} {n}" for n, t in enumerate(times) for e in "+-r"]
    lost.insert(24, f"d 1.25 {line} 99 99")
    assert values_of(sum_of(lost, bin_s=1.0))["flow:1", "throughput_recovery_time"] == 2.875 - 1.25
    for each in PACKET_DEFINITIONS.values():
        assert each.text.endswith("."), each.metric
        assert each.source, each.metric


def test_choosing_nodes_leaves_out_what_is_about_all(sum_of: Sum) -> None:
    metrics = measure_packets(sum_of(text_of(CASES["radio"])), nodes={1})
    assert {"node:1", "node:1/RTR"} <= set(metrics["subject"])
    assert not metrics.filter(pl.col("subject").str.contains("^(node:0|type:|drops:)")).height


def test_windows_add_up(sum_of: Sum) -> None:
    text = text_of(CASES["tiny"])
    whole, *parts = (sum_of(text, Window(*each)) for each in ((1, 4), (1, 2), (2, 4)))
    for column in ("sent_pkts", "received_bytes", "good_bytes", "dropped_pkts", "rtts"):
        assert whole.flows[column].sum() == sum(part.flows[column].sum() for part in parts)
    areas = [part.links["length_area"].sum() for part in parts]
    assert whole.links["length_area"].sum() == pytest.approx(sum(areas))


@pytest.mark.parametrize(("given_s", "expected_s"), [(None, 0.1), (0.02, 0.02)])
def test_bins_for_people_are_wider_where_few_packets_arrive_unless_their_width_is_given(
    tmp_path: Path, given_s: float | None, expected_s: float
) -> None:
    # Three packets in 2.4 s would need bins of more than 1 s, but at least twenty bins are left.
    (tmp_path / "tiny.tr").write_text(text_of(CASES["tiny"]))
    meter = PacketMeter(bin_s=given_s)
    open_trace(tmp_path / "tiny.tr").sum_into(meter, COLUMNS)
    assert meter.readable_width_s == expected_s


def test_nothing_in_the_window(sum_of: Sum) -> None:
    with pytest.raises(BdpbenchError, match="no packet event in the window"):
        sum_of(text_of(CASES["tiny"]), Window(10, 20))


def test_hops_and_changes_of_a_route_on_wires(sum_of: Sum) -> None:
    def packet(uid: int, *nodes: int) -> str:
        line = f"cbr 500 ------- 1 0.0 9.0 {uid} {uid}"
        return "".join(
            f"+ {uid}.{place} {start} {end} {line}\n- {uid}.{place} {start} {end} {line}\n"
            f"r {uid}.{place + 1} {start} {end} {line}\n"
            for place, (start, end) in enumerate(itertools.pairwise(nodes))
        )

    ways = [(0, 1, 9), (0, 1, 9), (0, 2, 3, 9), (0, 1, 9), (0, 1, 9)]
    sums = sum_of("".join(packet(uid, *way) for uid, way in enumerate(ways)))
    values = values_of(sums)
    assert values["flow:1", "route_changes"] == 2
    assert values["flow:1", "hop_count"] == 11 / 5
    assert values["flow:1", "path_length"] == 5
    # Packet 2 arrives at 2.3 s, packet 1 at 1.2 s.
    assert values["flow:1", "longest_gap"] == pytest.approx(1.1)
    assert sums.nodes["node"].to_list() == [0, 1, 2, 3, 9]
    assert sums.nodes["sent_pkts"].to_list() == [5, 0, 0, 0, 0]
    assert sums.nodes["forwarded_pkts"].to_list() == [0, 4, 1, 1, 0]
    assert sums.nodes["received_pkts"].to_list() == [0, 0, 0, 0, 5]
    straight = values_of(sum_of("".join(packet(uid, 0, 1, 9) for uid in range(5))))
    assert straight["flow:1", "route_changes"] == 0


# ---- capacities ----

_SPACE = " 42.30 -71.10 0.00 -95.00"


def _busy(nodes: str, digits: int, last_s: float) -> str:
    """Packets of 1250 bytes that wait for a link of 10 Mbit/s, from 1 s on: 1 ms for each."""
    line = f"{nodes} cbr 1250 ------- 1 {nodes.replace(' ', '.0 ')}.0 0"
    uids, where = range(round((last_s - 1) / 0.001) + 1), _SPACE if digits == 4 else ""
    lines = [f"+ {1:.{digits}f} {line} {uid}{where}\n" for uid in uids]
    return "".join(
        [*lines, *(f"- {1 + 0.001 * uid:.{digits}f} {line} {uid}{where}\n" for uid in uids)]
    )


def test_the_capacity_of_a_satellite_takes_a_longer_time_to_tell(sum_of: Sum) -> None:
    # An end may be off by 0.1 ms, which is 0.5 % of 20 ms; on wires by 1 us.
    for digits, last_s, expected in ((6, 1.01, 10), (4, 1.01, None), (4, 1.03, 10)):
        link = sum_of(_busy("0 1", digits, last_s)).links.row(0, named=True)
        assert link["capacity_mbps"] == (expected and pytest.approx(expected)), digits
    # Links from one antenna have none each.
    both = _busy("0 1", 4, 1.03) + _busy("0 2", 4, 1.03).replace("cbr", "udp")
    links = sum_of(sorted(both.splitlines(), key=lambda line: line.split()[1])).links
    assert links["capacity_mbps"].to_list() == [None, None]


def _lan(stations: int) -> str:
    """Stations 0, 1, ... of LAN 9, which take turns sending 20 packets each to the next.

    Each packet occupies the medium for 4 ms and waits for its turn.
    """
    lines = []
    for uid in range(20 * stations):
        station, peer = uid % stations, (uid + 1) % stations
        packet = f"cbr 500 ------- {station} {station}.0 {peer}.1 {uid // stations} {uid}"
        time_s = 1 + 0.004 * uid
        lines += [(1 + 1e-6 * uid, f"+ {1 + 1e-6 * uid:.6f} {station} 9 {packet}")]
        lines += [(time_s + 0.001, f"- {time_s + 0.001:.6f} {station} 9 {packet}")]
        lines += [(time_s + 0.005, f"r {time_s + 0.005:.6f} 9 {peer} {packet}")]
    return "".join(f"{line}\n" for _, line in sorted(lines))


def test_stations_of_a_lan_have_no_capacity_of_their_own(sum_of: Sum) -> None:
    sums = sum_of(_lan(4))
    assert sums.links.select("subject", "shared", "capacity_mbps").rows() == [
        (f"link:{station}-9", True, None) for station in range(4)
    ]
    shares = measure_packets(sums).filter(pl.col("metric") == "max_min_share")["value"]
    # Nothing is known of what each flow could have except what it sends.
    assert shares.to_list() == [pytest.approx(8 * 20 * 500e-6 / sums.seconds)] * 4
    links = sum_of(_lan(4), capacities={(0, 9): 1.0}).links
    assert links["capacity_mbps"].to_list() == [1.0, None, None, None]
    # The same lines, received on the link on which they were sent, are of a queue of its own.
    lines = [line.split() for line in _lan(1).splitlines()]
    own = sum_of(" ".join([*w[:2], "0", "9", *w[4:9], "9.1", *w[10:]]) for w in lines).links
    assert own.select("shared", "capacity_mbps").rows() == [
        (False, pytest.approx(8 * 500e-6 / 0.004))
    ]


# ---- what chance writes, held against plain Python ----


def test_many_lost_packets_of_one_uid_take_no_time(sum_of: Sum) -> None:
    # As tcl/ex/pkts.tcl writes them: half a million, of a few numbers.
    line = "0 1 cbr 1000 ------- 1 0.0 1.0 0 7"
    lost = (f"+ {1 + n / 1e5:.5f} {line}\nd {1 + n / 1e5:.5f} {line}\n" for n in range(30_000))
    end = f"+ 2.0 {line}\n- 2.0 {line}\nr 2.25 {line}\nr 2.5 {line}\n"
    began_s = time.process_time()
    flow = sum_of("".join(lost) + end).flows.row(0, named=True)
    assert time.process_time() - began_s < 8  # half a second; looking through all that wait, 15 s
    assert (flow["sent_pkts"], flow["received_pkts"], flow["lost_pkts"]) == (30_001, 2, 29_999)
    # What nobody has dropped came first; the second arrival is that of the first packet.
    assert (flow["delay_min_s"], flow["delay_max_s"]) == (0.25, 1.5)


def _counted(seed: int) -> list[str]:
    """Lines of two flows whose packets are sent, received and dropped by chance."""
    dice = random.Random(seed)
    lines, time_s = [], 0.0
    for _ in range(60):
        time_s += dice.choice((0.25, 0.5))
        event = dice.choice("++rrd")
        flow, uid = dice.randrange(2), dice.randrange(8)
        lines.append(f"{event} {time_s} 0 1 udp 500 ------- {flow} 0.{flow} 1.{flow} -1 {uid}")
    return lines


@pytest.mark.parametrize("seed", range(6))
def test_counts_are_those_of_plain_python(sum_of: Sum, seed: int) -> None:
    lines = _counted(seed)
    expected = count(lines)
    for row in sum_of(lines).flows.iter_rows(named=True):
        ends = tuple(row[each] for each in ("src_node", "src_port", "dst_node", "dst_port"))
        one = expected[ends]
        got = (row["sent_pkts"] or 0, row["received_pkts"] or 0, row["dropped_pkts"])
        assert got == (one.sent, one.received, one.dropped)
        assert row["delay_min_s"] is None or row["delay_min_s"] >= 0
        assert (row["delay_sum_s"] or 0.0) == pytest.approx(one.delay_s)


@pytest.mark.parametrize("seed", range(8))
def test_new_is_what_a_set_of_numbers_says(sum_of: Sum, seed: int) -> None:
    dice = random.Random(seed)
    numbers = [dice.randrange(10), *(dice.randrange(30) for _ in range(59))]
    # Numbers below the first one are not holes.
    expected = len({each for each in numbers if each >= numbers[0]})
    line = "r {uid} 0 1 cbr 100 ------- 1 0.0 1.0 {seq} {uid}"
    flows = sum_of(line.format(uid=uid, seq=seq) for uid, seq in enumerate(numbers)).flows
    assert flows["good_bytes"].to_list() == [100 * expected]


def test_node_0_is_no_group() -> None:
    nodes = pl.DataFrame({"dst_node": [-1, 0, 7, FIRST_GROUP]})
    assert nodes.select(goes_to_group())["dst_node"].to_list() == [True, False, False, True]
