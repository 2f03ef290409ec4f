"""The variant fast does what the variant stock does: in the same order, with the same bytes."""

from __future__ import annotations

import heapq
import itertools
import random
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.data_of import data_of
from tests.ns2.conftest import Script as Tcl
from tests.ns2.conftest import digests_of
from tests.ns2.stock import Stock
from tests.studies.sharma2006.networks import (
    SINGLE_FLOW,
    STANDARD_TCP,
    TWO_FLOWS,
    single_flow,
    standard_tcp,
    two_flows,
)
from tests.tcl.conftest import NETWORK, Arguments, argv, network_flows

_DATA = data_of(__file__)
BUSY_LINK = _DATA["busy_link"]
CALLS = _DATA["calls"]

Outputs = Callable[[Path, list[str], Path], dict[str, str]]
SameOutputs = Callable[..., Path]

HERE = Path(__file__).parent
SCRIPTS = HERE.parent.parent / "tcl"
LINKS = (HERE / "links.tcl").read_text()
HOPS = (HERE / "hops.tcl").read_text()
CHANGES_OF_WAYS = HERE / "changes.tcl"
DROPS = HERE / "drops.tcl"
MESSAGES = HERE / "messages.tcl"
MONITORS = HERE / "monitors.tcl"
ROUTES = HERE / "routes.tcl"
SCHEDULERS = ["Lanes", "Calendar"]

DROPTAIL: Arguments = {
    **NETWORK,
    "duration_s": 6,
    "link.0.mbps": 50,
    "link.0.delay_ms": 20,
    "link.0.queue.limit_": 60,
    "trace": 1,
    **network_flows(
        {"access_mbps": 1000, "agent": "TCP/Linux", "linux": "cubic"},
        {"access_mbps": 1000, "agent": "TCP/Newreno", "sink": "TCPSink", "access_delay_ms": 10},
    ),
}
# test_identity.py compares the agents of all studies.
RUNS: dict[str, tuple[str, Arguments]] = {
    "single-drop": (SINGLE_FLOW, single_flow("HS", 8, drop_packet=20000)),
    "small-buffer": (SINGLE_FLOW, single_flow("HS", 8, buffer_pkts=40)),
    "two-rtts": (TWO_FLOWS, two_flows("HS", "Scalable", 8, 2, **{"flow.0.access_delay_ms": 20})),
    "packet-trace": (STANDARD_TCP, standard_tcp("SACK", 10)),
    "droptail": ("network.tcl", DROPTAIL),
    "red": ("network.tcl", {**DROPTAIL, **_DATA["red"]}),
    "changes": ("network.tcl", {**DROPTAIL, **_DATA["changes"]}),
}


# ---------------------------------------------------------------- order of events


def scheduler_text(name: str, body: str) -> str:
    return f"set ns [new Simulator]\n$ns use-scheduler {name}\n{body}\n$ns run\n"


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_events_of_one_time_come_in_the_order_of_their_scheduling(tcl: Tcl, scheduler: str) -> None:
    body = """
    $ns at 1 {puts first; $ns at 1 {puts fourth}; $ns at-now {puts fifth}}
    $ns at 1 {puts second}
    $ns at 0.5 {$ns at 1 {puts third; $ns at 1 {puts sixth}}}
    $ns at 2 {puts seventh}
    """
    done = tcl(scheduler_text(scheduler, body))
    order = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"]
    assert done.stdout.split() == order


# More events than the sorted list of Scheduler/Lanes holds (256), at few distinct times, so that
# there are ties; every third event is cancelled, before or after others were dispatched, and every
# fifth schedules another.
@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("seed", range(3))
def test_order_of_many_events_with_cancellations(tcl: Tcl, scheduler: str, seed: int) -> None:
    chance, count = random.Random(seed), 2000
    times = [chance.randrange(1, 60) for _ in range(count)]
    follow = {i: times[i] + chance.randrange(1, 30) for i in range(0, count, 5)}
    scripts = [f"puts {i}" for i in range(count)]
    for i, time in follow.items():
        scripts[i] += f"; $ns at {time} {{puts {count + i}}}"
    lines = [f"set id({i}) [$ns at {times[i]} {{{scripts[i]}}}]" for i in range(count)]
    first = set(range(0, count, 6))
    second = {i for i in range(3, count, 6) if times[i] > 30.5}
    at_once, later = ([f"$ns cancel $id({i})" for i in each] for each in (first, second))
    body = "\n".join([*lines, *at_once, "$ns at 30.5 {", *later, "}"])
    done = tcl(scheduler_text(scheduler, body))
    assert [int(word) for word in done.stdout.split()] == dispatched(
        [(times[i], i) for i in range(count) if i not in first | second], follow, count
    )


def dispatched(events: list[tuple[int, int]], follow: Mapping[int, int], count: int) -> list[int]:
    """Numbers of (time, number) in the order of dispatch; i's follower is number count + i.

    Events of one time come in the order of their scheduling, which is that of the first numbers.
    """
    pending = [(time, number, number) for time, number in events]
    heapq.heapify(pending)
    order: list[int] = []
    while pending:
        _, _, number = heapq.heappop(pending)
        order.append(number)
        if number in follow:
            heapq.heappush(pending, (follow[number], count + len(order), count + number))
    return order


def restarted(seed: int, scheduler: str) -> str:
    chance = random.Random(seed)
    calls = [
        f"$ns at {chance.randrange(80) / 4} {{$source({chance.randrange(6)}) {action}}}"
        for action in ["start"] * 120 + ["stop"] * 15
    ]
    return _DATA["restarts"] % (scheduler, "\n".join(calls))


@pytest.mark.parametrize("seed", range(2))
def test_timers_that_are_set_again_are_due_in_the_same_order(
    tcl: Tcl, same: Tcl, seed: int
) -> None:
    calendar, lanes = same(restarted(seed, "Calendar")), tcl(restarted(seed, "Lanes"))
    assert (lanes.stdout, lanes.returncode) == (calendar.stdout, 0), lanes.stderr
    assert lanes.stdout.count("\n+ ") > 150


def test_cancelling_a_dispatched_event_does_nothing(tcl: Tcl) -> None:
    done = tcl(scheduler_text("Lanes", "set i [$ns at 1 {puts 1}]; $ns at 2 {$ns cancel $i}"))
    assert (done.stdout, done.returncode) == ("1\n", 0)


def test_a_run_ends_at_the_last_event_and_can_be_resumed(tcl: Tcl) -> None:
    text = scheduler_text("Lanes", "$ns at 1 {$ns halt}; $ns at 2.5 {puts two}")
    done = tcl(text + "puts [$ns now]; [$ns set scheduler_] resume; puts [$ns now]")
    assert done.stdout.split() == ["1", "two", "2.5"]


def test_lanes_are_the_default_of_the_variant_fast(tcl: Tcl) -> None:
    done = tcl("set ns [new Simulator]; puts [[$ns set scheduler_] info class]")
    assert done.stdout.split() == ["Scheduler/Lanes"]


# ---------------------------------------------------------------- packets in flight


def run_links(tcl: Tcl, scheduler: str, reserve: str, folder: Path) -> tuple[str, str]:
    done = tcl(LINKS, scheduler, reserve)
    assert done.returncode == 0, done.stderr
    return done.stdout, (folder / "links.tr").read_text()


def arrivals(trace: str, link: str) -> list[int]:
    """Unique numbers of the packets received over a link ("0 2"), in their order."""
    fields = (line.split() for line in trace.splitlines())
    return [int(f[11]) for f in fields if f[0] == "r" and f"{f[2]} {f[3]}" == link]


def test_many_links_give_the_same_with_all_schedulers(tcl: Tcl, tmp_path: Path) -> None:
    sampled, trace = run_links(tcl, "Calendar", "false", tmp_path)
    others = [("Lanes", "true"), ("Lanes", "false"), ("Calendar", "true"), ("Heap", "true")]
    for scheduler, reserve in others:
        assert run_links(tcl, scheduler, reserve, tmp_path) == (sampled, trace)
    # The scenario serves its purpose: queues overflow, are read busy and idle, and packets
    # overtake.
    assert "\nd " in trace
    assert {word for line in sampled.splitlines() for word in line.split()[1:]} == {"0", "1"}
    overtaking = arrivals(trace, "0 2")
    assert any(later < earlier for earlier, later in itertools.pairwise(overtaking))


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_blocked_is_read_as_if_the_link_reported_idle(tcl: Tcl, scheduler: str) -> None:
    # 1,000 bytes take 8 ms on 1 Mbit/s: the link is busy from 100 to 108 ms.
    times = {0.05: 0, 0.1: 1, 0.104: 1, 0.1079: 1, 0.1081: 0, 0.12: 0}
    body = BUSY_LINK + "".join(f"$ns at {time} show\n" for time in times)
    done = tcl(scheduler_text(scheduler, body))
    assert [int(word) for word in done.stdout.split()] == list(times.values())


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_packet_that_finds_the_link_busy_waits_for_it(tcl: Tcl, scheduler: str) -> None:
    # The second packet is sent when the first has left, 8 ms after 100 ms, and also takes 8 ms.
    body = BUSY_LINK + "$ns at 0.103 {$udp send 1000}\n"
    body += "".join(f"$ns at {time} show\n" for time in (0.1085, 0.1155, 0.1165))
    done = tcl(scheduler_text(scheduler, body))
    assert done.stdout.split() == ["1", "1", "0"]


def test_the_scheduler_fetches_packets_ahead(ns_binary: Path) -> None:
    # The compiler may drop calls of a function that only fetches, and nothing else shows it.
    done = subprocess.run(
        ["objdump", "--disassemble=_ZN13LaneScheduler3runEv", ns_binary],
        capture_output=True,
        text=True,
        check=True,
    )
    fetches = re.findall(r"\t(?:prefetch|prfm|pld)", done.stdout)
    assert len(fetches) == 5  # four lines of a packet, and one of the ring


def test_tcl_takes_its_memory_from_ns2(ns_binary: Path) -> None:
    # Tcl's library has functions of the same names: without these, ns-2 is only slower.
    # Where the library was linked to call its own (Ubuntu), nothing can take their place.
    def printed(*command: str | Path) -> list[list[str]]:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [line.split() for line in done.stdout.splitlines()]

    (library,) = (words[2] for words in printed("ldd", ns_binary) if words[0].startswith("libtcl"))
    called = {name for words in printed("readelf", "-rW", library) for name in words}
    own = {words[-1] for words in printed("nm", "--dynamic", "--defined-only", ns_binary)}
    assert {"TclpAlloc", "TclpFree", "TclpRealloc"} & called <= own


# ---------------------------------------------------------------- bytes


@pytest.mark.parametrize(("script", "arguments"), RUNS.values(), ids=RUNS.keys())
def test_every_output_is_the_same(
    script: str, arguments: Arguments, same_outputs: SameOutputs
) -> None:
    folder = same_outputs([str(SCRIPTS / script), *argv(arguments, {"datadir": "."})])
    assert len(list(folder.iterdir())) > 3


def test_hops_that_a_script_changes_are_the_same(same: Tcl) -> None:
    fast = same(HOPS)
    assert fast.returncode == 0, fast.stderr
    # The scenario serves its purpose: all streams except that of 2 hops arrive, and packets are
    # lost.
    last = fast.stdout.splitlines()[-1].split()
    received = [float(word) for word in last[13:23:2]]
    assert [count > 0 for count in received] == [True, True, True, False, True]
    assert int(last[27]) > 0
    assert int(last[33]) > 0


@pytest.fixture
def keeping_or_not(
    ns_binary: Path, outputs: Outputs, same_outputs: SameOutputs, tmp_path: Path
) -> Callable[..., Path]:
    """Run a script; its outputs, in the folder that is returned, do not depend on kept routes.

    Routes are kept, or not, or half of the packets take kept ones (keep_routes_ 1, 0 and 2).
    """

    def run(script: Path, *arguments: str) -> Path:
        folder = same_outputs([str(script), "1", *arguments])
        kept = digests_of(folder)
        for keep in "02":
            command = [str(script), keep, *arguments]
            assert outputs(ns_binary, command, tmp_path / keep) == kept, keep
        return folder

    return run


@pytest.mark.parametrize(
    ("traced", "interval_s", "flows"), [(1, "0.0031", 1), (0, "0.05", 2), (1, "0.05", 3)]
)
def test_equal_flows_whose_ways_change_are_the_same(
    keeping_or_not: Callable[..., Path], flows: int, traced: int, interval_s: str
) -> None:
    folder = keeping_or_not(CHANGES_OF_WAYS, str(flows), str(traced), interval_s)
    # The scenario serves its purpose: it reaches its end, all transfers end before, and others
    # follow them.
    lines = [line.split() for line in (folder / "stdout.txt").read_text().splitlines()]
    assert max(float(line[0]) for line in lines if line[0][0].isdigit()) > 0.85
    assert sum(line[-1] == "ends" for line in lines) >= flows


def test_links_that_messages_change_are_the_same(keeping_or_not: Callable[..., Path]) -> None:
    folder = keeping_or_not(MESSAGES)
    # The scenario serves its purpose: each message arrives and leads to its change, and packets
    # arrive until the end.
    lines = (folder / "stdout.txt").read_text().splitlines()
    samples = [line.split() for line in lines if len(line.split()) == 7]
    assert len(samples) == 20  # 19 changes and the end
    assert float(samples[-1][1]) > 1.1 * float(samples[-4][1])


@pytest.mark.parametrize("keep", [0, 2])
def test_hops_with_and_without_kept_routes_are_the_same(tcl: Tcl, keep: int) -> None:
    text = f"Scheduler/Lanes set keep_routes_ {keep}\n{HOPS}"
    assert tcl(text).stdout == tcl(HOPS).stdout


def test_static_routes_are_the_same(same_outputs: SameOutputs) -> None:
    folder = same_outputs([str(ROUTES)])
    # The scenario serves its purpose: many routes lead over other nodes.
    rows = [line.split() for line in (folder / "stdout.txt").read_text().splitlines()]
    over_others = sum(hop not in ("-1", str(to)) for row in rows for to, hop in enumerate(row))
    assert over_others > 3000


def test_drops_and_what_receivers_tell_of_them_are_the_same(same_outputs: SameOutputs) -> None:
    folder = same_outputs([str(DROPS)])
    # The scenario serves its purpose: the queue drops, and ACKs have SACK blocks.
    lines = [line.split() for line in (folder / "drops.tr").read_text().splitlines()]
    assert sum(line[0] == "d" for line in lines) > 200
    assert sum(line[0] == "r" and line[4] == "ack" and int(line[15]) > 1 for line in lines) > 400


def test_everything_that_monitors_count_is_the_same(same_outputs: SameOutputs) -> None:
    folder = same_outputs([str(MONITORS)])
    # The scenario serves its purpose: packets are dropped and marked, the rate is estimated, and
    # RTTs and sequence numbers are counted.
    lines = (folder / "stdout.txt").read_text().splitlines()
    last = [line.split() for line in lines if line.startswith("by_fid")][-1]
    assert min(float(word) for word in (last[7], last[9], last[13])) > 0
    assert (folder / "stats.tr").read_text().count("frac") > 20


@pytest.mark.parametrize("headers", _DATA["headers"])
def test_headers_lie_where_they_did(same: Tcl, headers: str) -> None:
    body = """
    set ns [new Simulator]
    foreach class [lsort [PacketHeader info subclass]] {puts "$class [$class offset]"}
    puts [[$ns set packetManager_] set hdrlen_]
    puts [PktHdr_offset PacketHeader/Common size_]
    """
    fast = same(f"{headers}\n{body}")
    assert fast.returncode == 0, fast.stderr


@pytest.mark.parametrize(("before", "after"), _DATA["ways_of_headers"])
def test_packets_have_the_headers_that_are_used(same: Tcl, before: str, after: str) -> None:
    fast = same(_DATA["crossing"] % (before, after))
    assert fast.returncode == 0, fast.stderr
    assert len(fast.stdout.splitlines()) > 4000


def test_a_header_with_a_negative_offset_ends_the_run(same: Tcl) -> None:
    fast = same(_DATA["negative_offset"])
    assert (fast.stdout, fast.returncode) == ("", 1)


def test_agents_get_the_ports_that_they_did(same: Tcl) -> None:
    fast = same(_DATA["ports"])
    assert fast.stdout.splitlines()[0] == "3 7 30 40", fast.stderr


@pytest.mark.parametrize(("before", "after"), _DATA["ways_of_attaching"])
def test_agents_of_tmix_are_attached_and_connected_as_they_were(
    same: Tcl, before: str, after: str
) -> None:
    fast = same(_DATA["tmix"] % (before, after))
    assert (fast.stdout.splitlines() or [""])[-1].endswith(" 6"), fast.stderr


@pytest.mark.parametrize(
    ("vectors", "fault"),
    [
        ("# No data.\nS 1 1 0 1\nm 1460 1460", "2: this connection vector has no line I or A"),
        ("S 1 1 0 1\nI 0 0 9\nS 2 1 0 2\n> 9", "3: this connection vector has no line I or A"),
        ("# No S or C.\nm 1460 1460", "2: this line is not behind a line S or C"),
    ],
)
def test_a_malformed_vector_of_tmix_ends_the_run(tcl: Tcl, vectors: str, fault: str) -> None:
    write = f"set file [open attached.cvec w]; puts $file {{{vectors}}}; close $file"
    fast = tcl(_DATA["tmix"] % ("", write))
    assert (fast.returncode, fast.stderr.splitlines()[-1]) == (1, f"attached.cvec:{fault}")


def test_copies_of_packets_are_the_same(same: Tcl) -> None:
    fast = same(_DATA["multicast"])
    assert fast.returncode == 0, fast.stderr
    received = [int(line.split()[0]) for line in fast.stdout.splitlines()]
    assert min(received) > 0
    assert received[1] < received[0]


# ---------------------------------------------------------------- scripts


def test_calls_of_now_and_at_give_the_same_values_and_faults(tcl: Tcl, stock: Stock) -> None:
    fast, other = tcl(CALLS), CALLS.replace("$ns use-scheduler Lanes\n", "")

    def outcome(done: subprocess.CompletedProcess[str]) -> list[object]:
        said = done.stdout.replace("Scheduler/Calendar", "Scheduler/Lanes")
        return [done.returncode, said, done.stderr]

    stock.gives(outcome(fast), lambda ns: outcome(tcl(other, ns=ns)), other)
    assert "can't schedule command in past" in fast.stdout
    assert "a script's own fault" in fast.stdout


# There are two paths between all nodes, and one of them fails for a while.
FAILURE = "$ns rtmodel-at 1 down $node(2) $node(3); $ns rtmodel-at 3 up $node(2) $node(3)"


@pytest.mark.parametrize(
    ("protocol", "failure"), [("Static", ""), ("Session", FAILURE), ("DV", FAILURE)]
)
def test_routes_are_the_same(same: Tcl, protocol: str, failure: str) -> None:
    fast = same(_DATA["ring"] % (protocol, failure))
    assert fast.returncode == 0, fast.stderr
    received = [int(line.split()[1]) for line in fast.stdout.splitlines()]
    assert len(received) == 21
    assert min(received) > 0
