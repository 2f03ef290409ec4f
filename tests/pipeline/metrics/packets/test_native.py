"""The sums in C, compared with those of Python, which define them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.pipeline.metrics.packets.conftest import frame_of
from tests.pipeline.trace.conftest import Traces
from tests.pipeline.trace.conftest import traces as traces
from tests.random_examples import examples

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets import (
    COLUMNS,
    Extent,
    PacketMeter,
    PacketSums,
    Window,
    measure_packets,
    measure_received,
    meter,
    row_by_row,
    sum_packets,
)
from bdpbench.metrics.packets.definitions import OF_THROUGHPUT, measured_at_ends
from bdpbench.trace import Trace, batches, open_trace, sources

FEW = settings(examples(6), phases=[Phase.explicit, Phase.generate])


@pytest.fixture(autouse=True, scope="module")
def language() -> None:
    """Both languages are compared here."""


class Network:
    """Packets over a row of links, each with a queue of four.

    Times are sums of powers of 1/2, which binary numbers represent exactly. TCP counts packets or
    bytes and is acknowledged, CBR is not; lost packets are retransmitted.
    """

    def __init__(self, seed: int, *, nodes: int = 3, flows: int = 3, ticks: int = 60) -> None:
        self._dice = random.Random(seed)
        self._nodes, self._flows, self._ticks = nodes, flows, ticks
        self._uid = 0
        self._queues: dict[tuple[int, int], list[tuple[float, str]]] = {}
        self._seq = [0] * flows
        self._again: list[list[int]] = [[] for _ in range(flows)]
        self._bytes = [self._dice.random() < 0.3 for _ in range(flows)]
        self._came: list[dict[int, int]] = [{} for _ in range(flows)]
        self._expected = [0] * flows
        self.lines: list[str] = []

    def run(self) -> list[str]:
        """Run the network; returns the lines of its trace."""
        for tick in range(self._ticks):
            self._forward(tick / 64)
            if self._dice.random() < 0.7:
                self._send(tick / 64 + self._dice.choice((0.0, 1 / 128)))
        self.lines.sort(key=lambda line: float(line.split()[1]))
        return self.lines

    def _send(self, time_s: float) -> None:
        flow = self._dice.randrange(self._flows)
        size = self._dice.choice((540, 1040))
        step = size - 40 if self._bytes[flow] else 1
        if self._again[flow] and flow:
            seq = self._again[flow].pop()
        else:
            seq, self._seq[flow] = self._seq[flow], self._seq[flow] + step
        kind = "tcp" if flow else "cbr"
        self._put(time_s, 0, f"{kind} {size} {flow} 0.{flow} {self._nodes}.{flow} {seq}")

    def _put(self, time_s: float, node: int, packet: str, uid: int | None = None) -> None:
        if uid is None:
            self._uid += 1
            uid = self._uid
        kind, end = packet.split()[0], int(packet.split()[4].split(".")[0])
        link = (node, node + (1 if end > node else -1))
        queue = self._queues.setdefault(link, [])
        text = f"{link[0]} {link[1]} {packet} {uid}"
        self.lines.append(f"+ {time_s} {text}")
        if kind != "ack" and (len(queue) == 4 or self._dice.random() < 0.05):
            self.lines.append(f"{self._dice.choice('de')} {time_s} {text}")
            self._again[int(packet.split()[2])].append(int(packet.split()[5]))
        elif not queue and self._dice.random() < 0.5:
            self._leave(time_s, text)
        else:
            queue.append((time_s, text))

    def _leave(self, time_s: float, text: str) -> None:
        _, to, kind, size, flow, src, dst, seq, uid = text.split()
        late = time_s + 1 / 256
        self.lines += [f"- {time_s} {text}", f"r {late} {text}"]
        if to != dst.split(".")[0]:
            self._put(late, int(to), f"{kind} {size} {flow} {src} {dst} {seq}", int(uid))
        elif kind == "tcp":
            self._acknowledge(late, int(to), flow, src, dst, int(seq), int(size))

    def _acknowledge(
        self, time_s: float, node: int, flow: str, src: str, dst: str, seq: int, size: int
    ) -> None:
        """Acknowledge the last number up to which everything has arrived."""
        step = size - 40 if self._bytes[int(flow)] else 1
        came, after = self._came[int(flow)], self._expected
        came[seq] = seq + step
        while after[int(flow)] in came:
            after[int(flow)] = came[after[int(flow)]]
        highest = max((each for each in came if came[each] <= after[int(flow)]), default=-1)
        self._put(time_s, node, f"ack 40 {flow} {dst} {src} {highest}")

    def _forward(self, time_s: float) -> None:
        for queue in list(self._queues.values()):
            if queue and queue[0][0] <= time_s and self._dice.random() < 0.8:
                self._leave(time_s, queue.pop(0)[1])


def _equal(one: PacketSums, other: PacketSums) -> None:
    for (name, left), right in zip(
        one.all_tables().items(), other.all_tables().values(), strict=True
    ):
        keys = [each for each in left.columns if left.schema[each] == pl.String]
        keys += [each for each in ("time_s", "node") if each in left.columns]
        assert_frame_equal(left.sort(keys), right.sort(keys), rel_tol=1e-12, abs_tol=1e-12), name
    for name in ("start_s", "end_s", "bin_s", "last_s", "routing_pkts", "forgotten"):
        assert getattr(one, name) == getattr(other, name), name


def _both(
    batches: Iterable[pl.DataFrame], window: Window | None = None, bin_s: float | None = None
) -> None:
    """Check that both ways give the same sums or the same refusal."""
    rows = list(batches)
    found = []
    for compiled in (True, False):
        try:
            found.append(sum_packets(rows, window, bin_s=bin_s, compiled=compiled))
        except BdpbenchError as error:
            found.append(error.message)
    if isinstance(found[0], PacketSums) and isinstance(found[1], PacketSums):
        _equal(found[0], found[1])
    else:
        assert found[0] == found[1]


WINDOWS = st.sampled_from([None, Window(0.25, 0.75), Window(0.5), Window(0, 0.5)])


@FEW
@given(st.integers(0, 10**6), WINDOWS, st.sampled_from([None, 0.1, 0.005]))
def test_networks_come_to_the_same(seed: int, window: Window | None, bin_s: float | None) -> None:
    assert meter._library() is not None
    _both([frame_of(Network(seed).run())], window, bin_s)


ODD = (
    "+ {t} 0 1 cbr 500 9 0.9 -1.9 0 {n}",  # broadcast
    "r {t} 0 1 cbr 500 9 0.9 -1.9 0 {n}",
    "+ {t} 0 1 cbr 500 9 0.9 1073741825.0 0 {n}",  # multicast
    "+ {t} 0 1 cbr 500 9 5000.9 1.9 0 {n}",  # from a hierarchical address
    "s {t} 0 1 cbr 500 9 0.9 3.9 0 {n}",
    "r {t} 0 3 tcp 1040 1 0.1 3.1 -1 {n}",
    "+ {t} 0 1 AODV 40 9 0.9 3.9 0 {n}",
)


@FEW
@given(st.integers(0, 10**6), st.floats(0, 0.6), st.integers(0, 60), WINDOWS)
def test_damaged_traces_come_to_the_same(
    seed: int, share: float, strange: int, window: Window | None
) -> None:
    """Lines are missing, come again now or earlier, or are of a kind that stands alone."""
    dice = random.Random(seed)
    lines = [line for line in Network(seed).run() if dice.random() >= share]
    for _ in range(strange if lines else 0):
        place = dice.randrange(len(lines))
        words = dice.choice(lines[max(0, place - 30) : place + 1]).split()
        if dice.random() < 0.9:
            words[1] = lines[place].split()[1]  # else time runs backwards
        odd = dice.choice(ODD).format(t=words[1], n=dice.choice((words[-1], dice.randrange(9))))
        lines.insert(place + 1, " ".join(words) if dice.random() < 0.8 else odd)
    _both([frame_of(lines or Network(seed).run())], window)


@FEW
@given(st.integers(0, 10**6), st.integers(1, 30))
def test_batches_do_not_matter(seed: int, rows: int) -> None:
    frame = frame_of(Network(seed, ticks=20).run())  # each part takes as long as the whole
    parts = [frame.slice(start, rows) for start in range(0, frame.height, rows)]
    _equal(sum_packets(parts), sum_packets([frame]))


def test_packets_that_never_end_come_to_the_same() -> None:
    """Lists of what waits are tidied, and their heads move."""
    lines = []
    for uid in range(20_000):
        stays = uid % 3 == 0
        lines.append(f"+ {uid / 1000} 0 1 cbr 500 1 0.0 2.0 {uid} {uid}")
        if not stays:
            lines.append(f"- {uid / 1000 + 0.0005} 0 1 cbr 500 1 0.0 2.0 {uid} {uid}")
            lines.append(f"r {uid / 1000 + 0.0005} 1 2 cbr 500 1 0.0 2.0 {uid} {uid}")
    _both([frame_of(lines)])


def test_packets_whose_leaving_is_not_traced_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first waits for 1 s; of the next three, one too many, the first is forgotten."""
    monkeypatch.setattr(row_by_row, "MOST_OPEN", 2)
    rows = (("+", 1, 0), ("-", 2, 0), ("+", 3, 1), ("+", 4, 2), ("+", 5, 3), ("-", 9, 1))
    lines = [f"{event} {at_s} 0 1 cbr 500 1 0.0 1.0 {uid} {uid}" for event, at_s, uid in rows]
    found = sum_packets([frame_of(lines)], compiled=False)
    assert found.links["wait_max_s"].to_list() == [1]


def test_limits_are_the_same_in_both_languages() -> None:
    code = Path(row_by_row.__file__).with_name("packet_sums.c").read_text()
    limits = dict(re.findall(r"#define (\w+) (\S+).*row_by_row\.py", code))
    assert "MOST_CELLS" in limits
    for name, value in limits.items():
        assert getattr(row_by_row, name) == float(value), name


TURNED_AWAY = (
    "+ 0.25 0 1 cbr 500 1 0.1 1.1 0 1",
    "+ 0.5 0 1 cbr 500 1 0.1 1.1 0 2",
    "- 0.5 0 1 cbr 500 1 0.1 1.1 0 1",
    "+ 0.5 0 1 cbr 500 1 0.1 1.1 0 3",
    "+ 0.5 0 1 cbr 500 1 0.1 1.1 0 4",
    "d 0.5 0 1 cbr 500 1 0.1 1.1 0 3",
    "- 0.75 0 1 cbr 500 1 0.1 1.1 0 2",
    "- 0.75 0 1 cbr 500 1 0.1 1.1 0 4",
)


@pytest.mark.parametrize("cut", range(len(TURNED_AWAY)))
def test_what_leaves_at_the_moment_of_its_coming_was_never_in_the_queue(cut: int) -> None:
    """The queue has 1, 2, 1, 2 packets; the third one, which would make it 3, is turned away."""
    frame = frame_of(TURNED_AWAY)
    parts = [frame.head(cut), frame.slice(cut)]
    for window in (None, Window(0.5), Window(0.6)):
        _both(parts, window)
    assert sum_packets(parts).links["longest_pkts"].to_list() == [2]


# Times of one packet, or of several with their uids, run backwards; of each a value of its sums.
BACKWARDS = (
    # A packet is sent again when it was last sent at another moment: three times.
    (("+ 0.5 1", "+ 0.25 1", "+ 0.5 1"), "flows", "sent_pkts", 3),
    # The first loss is the first that the trace has.
    (("d 0.5 1", "d 0.25 1"), "flows", "first_drop_s", 0.5),
    # Packet 2 entered at 0.5 s, but not in the moment that is at 0.5 s now: it was in the queue.
    (("+ 0.5 1", "+ 0.5 2", "+ 0.25 3", "+ 0.5 4", "- 0.5 2"), "links", "longest_pkts", 4),
)


@pytest.mark.parametrize(("lines", "table", "name", "value"), BACKWARDS)
def test_time_that_runs_backwards_comes_to_the_same(
    lines: tuple[str, ...], table: str, name: str, value: float
) -> None:
    words = (line.split() for line in lines)
    frame = frame_of(f"{event} {t} 0 1 tcp 1040 1 0.1 1.1 {n} {n}" for event, t, n in words)
    for window in (None, Window(0.25, 0.75)):
        _both([frame], window)
    found = getattr(sum_packets([frame], Window(0.25, 0.75)), table)
    assert found[name].sum() == value


HOSTILE = (
    *("-1", "0", "1", "2147483647", "-2147483648", "999999999999999999"),
    *("9223372036854775807", "-9223372036854775808", "400000000"),
)


@FEW
@given(st.integers(0, 10**6))
def test_numbers_that_nothing_can_mean_come_to_the_same(seed: int) -> None:
    dice = random.Random(seed)
    lines = Network(seed, ticks=20).run()
    for _ in range(3):
        at, field = dice.randrange(len(lines)), dice.choice((9, 10))
        words = lines[at].split()
        words[field] = dice.choice(HOSTILE)
        lines[at] = " ".join(words)
    measure_packets(sum_packets([frame_of(lines)]))
    _both([frame_of(lines)])


def test_extended_lines_of_the_real_ns2_come_to_the_same(traces: Traces) -> None:
    path = traces("wired", "tcphdr") / "all.tr"
    _both(open_trace(path).batches(COLUMNS))


def _told(trace: Trace, window: Window | None, extent: Extent) -> PacketMeter:
    """The sums of a trace whose wired lines are told one by one as they are parsed."""
    told = PacketMeter(window, extent=extent)
    for batch in trace.packed_batches(told.columns, told.sink):
        told.update(batch)
        if told.is_done:
            break
    told.finish()
    return told


def _check_told(trace: Trace, window: Window | None = None) -> None:
    """Check that told lines come to the same as frames, also where not all is summed."""
    try:
        expected = sum_packets(trace.batches(COLUMNS), window)
    except BdpbenchError as error:
        with pytest.raises(BdpbenchError, match=error.message):
            _told(trace, window, Extent.ALL).result()
        with pytest.raises(BdpbenchError, match=error.message):
            _told(trace, window, Extent.RECEIVED).received()
        return
    accounts = []
    for extent in (Extent.ALL, Extent.ENDS):
        found = _told(trace, window, extent).result()
        accounts.append(trace.account)
        if extent is Extent.ALL:
            _equal(found, expected)
        at_ends = pl.col("metric").is_in(measured_at_ends())
        assert_frame_equal(*(measure_packets(each).filter(at_ends) for each in (found, expected)))
    received = _told(trace, window, Extent.RECEIVED).received()
    accounts.append(trace.account)
    of_throughput = measure_packets(expected).filter(pl.col("metric").is_in(OF_THROUGHPUT))
    rows = of_throughput.select("metric", "subject", "value", "unit").rows()
    assert measure_received(received) == rows
    if window is None:
        list(trace.batches(COLUMNS))
        assert accounts == [trace.account] * 3


@FEW
@given(st.integers(0, 10**6), st.integers(0, 40), WINDOWS)
# Rows come after the told lines of the same window, whose end is then not the last time.
@example(50782, 31, Window(start_s=0, end_s=0.5))
def test_told_lines_come_to_the_same(seed: int, strange: int, window: Window | None) -> None:
    """Chunks are short, and some lines are odd, or not wired, or nothing of a packet."""
    dice = random.Random(seed)
    lines = Network(seed, flows=5, ticks=80).run()
    for _ in range(strange):
        place = dice.randrange(len(lines))
        odd = dice.choice((*ODD[:3], ODD[-1], "v {t} eval {{nothing}}"))
        if strange > 30 and window is None:
            odd = dice.choice(ODD)
        time_s, uid = lines[place].split()[1], dice.choice((lines[place].split()[-1], "7"))
        lines.insert(place + 1, odd.format(t=time_s, n=uid))
    words = [line.split() for line in lines]
    told = [
        " ".join((*each[:6], "-------", *each[6:])) if each[0] in "+-rdesN" else " ".join(each)
        for each in words
        if each[0] != "s"
    ]
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        path = Path(folder) / "a.tr"
        path.write_text("\n".join(told) + "\n")
        patch.setattr(batches, "TOLD_BYTES", dice.choice((200, 3000)))
        patch.setattr(sources, "_HEAD_BYTES", 1 << 9)
        _check_told(open_trace(path, lenient=True), window)


REAL = [
    ("wired",),
    ("wired", "hierarchical"),
    ("wired", "tagged"),
    ("mixed", "old"),
    ("mixed", "new"),
    ("satellite",),
    ("wireless", "AODV", "old"),
    ("wireless", "DSR", "new"),
]


@pytest.mark.parametrize("script", REAL, ids="-".join)
def test_traces_of_the_real_ns2_come_to_the_same(traces: Traces, script: tuple[str, ...]) -> None:
    trace = open_trace(traces(*script) / "all.tr", kind="packets")
    frames = list(trace.batches(COLUMNS))
    _both(frames)
    _both(frames, Window(1, 3))
    _equal(sum_packets(trace.packed_batches(COLUMNS)), sum_packets(frames))
    _check_told(trace)
    _check_told(trace, Window(1, 3))


def test_packed_rows_before_others_teach_them_the_same(traces: Traces, tmp_path: Path) -> None:
    """Kinds of lines that follow one another in batches of their own, and packed rows in Python."""
    paths = [tmp_path / f"{number}.tr" for number in range(4)]
    scripts = [("mixed", "new"), ("wireless", "DSR", "old"), ("mixed", "old"), ("wired",)]
    for path, script in zip(paths, scripts, strict=True):
        path.write_bytes((traces(*script) / "all.tr").read_bytes())
    for order in (paths, paths[::-1], [paths[3], *paths[:3]]):
        trace = open_trace(order, lenient=True, kind="packets")
        frames = list(trace.batches(COLUMNS))
        _equal(sum_packets(trace.packed_batches(COLUMNS)), sum_packets(frames))
        _equal(_told(trace, None, Extent.ALL).result(), sum_packets(frames))
    wired, window = open_trace(paths[3]), Window(1, 3)
    frames = list(wired.batches(COLUMNS))
    _equal(sum_packets(wired.packed_batches(COLUMNS), window), sum_packets(frames, window))
    found = sum_packets(wired.packed_batches(COLUMNS), compiled=False)
    _equal(found, sum_packets(frames))


def test_without_a_compiler_python_sums_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny: pl.DataFrame
) -> None:
    monkeypatch.setenv("BDPBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CC", "false")
    meter._library.cache_clear()
    try:
        assert meter._library() is None
        assert sum_packets([tiny]).flows.height == 2
    finally:
        meter._library.cache_clear()
