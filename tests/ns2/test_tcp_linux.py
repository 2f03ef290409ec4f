"""TCP/Linux: its parameters, types and arithmetic are those of the kernel on every machine."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from tests.data_of import data_of
from tests.ns2.conftest import Script as Tcl

from bdpbench.pages.texts import ProtocolData, read_protocols

_DATA = data_of(__file__)
LAW = _DATA["law"]


PARAMETERS = ["sysctl_tcp_abc", "tcp_max_burst", "debug_level"]
DEFAULTS = [1, 3, 1]

SHOW = "\n".join(f"$tcp get_ca_default_param linux {name}" for name in PARAMETERS)


def values(output: str) -> list[int]:
    """Numbers in answers of the form "tcp_linux.NAME = NUMBER"."""
    return [int(line.split(" = ")[1]) for line in output.splitlines() if " = " in line]


def test_defaults_of_the_parameters(tcl: Tcl) -> None:
    done = tcl("set ns [new Simulator]; set tcp [new Agent/TCP/Linux]\n" + SHOW)
    assert values(done.stdout) == DEFAULTS


def test_a_table_of_send_times_that_grows_prints_no_address(tcl: Tcl) -> None:
    # In flight are up to 1,000 packets, and the table begins with room for 100.
    said = tcl(_DATA["grows"]).stdout.splitlines()  # C and Tcl have buffers of their own
    assert sorted(said) == ["at most 2000", "cmd select_ca compound"]


PAGES = [each for each in read_protocols() if each.linux]


@pytest.mark.parametrize("page", PAGES, ids=[str(each.linux) for each in PAGES])
def test_parameters_of_modules_are_those_that_pages_tell(tcl: Tcl, page: ProtocolData) -> None:
    told = {each.variable: each.default for each in page.parameters if each.variable}
    show = "\n".join(f"$tcp get_ca_default_param {page.linux} {name}" for name in told)
    done = tcl("set ns [new Simulator]; set tcp [new Agent/TCP/Linux]\n" + show)
    assert values(done.stdout) == list(told.values())


@pytest.mark.parametrize(
    ("linux", "packets"),
    [
        ("reno", lambda window: 1),
        ("scalable", lambda window: window / 51),
        # Far below the window at the loss: S_max of 16, times 31/16.
        ("bic", lambda window: 31),
    ],
)
def test_windows_grow_after_a_loss_as_pages_tell(
    tcl: Tcl, linux: str, packets: Callable[[int], float]
) -> None:
    windows = values(tcl(f"set module {linux}\n{LAW}").stdout)
    assert len(windows) == 11
    for before, after in pairwise(windows):
        # Both are whole, and ACKs come in bursts, so that a step may have a packet more or less.
        assert after - before == pytest.approx(packets(before), abs=2)


@pytest.mark.parametrize("name", PARAMETERS)
def test_setting_a_parameter_leaves_the_others(tcl: Tcl, name: str) -> None:
    # Writing a character as an int, 2, would zero the three bytes after it.
    text = f"set ns [new Simulator]; set tcp [new Agent/TCP/Linux]\n{SHOW}\n"
    done = tcl(text + f"$tcp set_ca_default_param linux {name} 2\n" + SHOW)
    expected = [2 if other == name else DEFAULTS[i] for i, other in enumerate(PARAMETERS)]
    assert values(done.stdout) == [*DEFAULTS, *expected]


def test_products_overflow_at_32_bits(tcl: Tcl) -> None:
    # TCP Veno computes the packets in the queue from (cwnd * base RTT in us) << 1, a u32. With
    # 20,000 packets and 300 ms that is 1.2e10, more than 2^32: the queue seems long, and cwnd is
    # halved. With 64 bits the queue would seem empty, and cwnd would be cut to 4/5, 16,000.
    before, least = values(tcl(_DATA["long_path"]).stdout)
    assert before == 20000
    # Recovery ends at ssthresh, 10,000; the last ACK of it may add a packet.
    assert 10000 <= least <= 10001


def test_compound_knows_an_empty_queue_with_a_long_path(tcl: Tcl) -> None:
    # (cwnd * base RTT in us) << 1 exceeds 32 bits above 2^31 / 310,000 = 6,927 packets. With an
    # empty queue the delay window grows by cwnd^0.75 / 8 - 1 per round trip (alpha 1/8, k 0.75),
    # with the cwnd of the previous round trip, and Reno's window by 1: 99 packets in total at
    # 7,400.
    cwnds = values(tcl(_DATA["compound"]).stdout)
    steps = [(before, after - before) for before, after in pairwise(cwnds) if before > 7000]
    assert len(steps) >= 10
    assert max(before for before, _ in steps) > 8500
    for before, step in steps:
        assert step == pytest.approx(before**0.75 / 8, abs=3)


def test_numbers_of_bytes_turn_without_notice(tcl: Tcl) -> None:
    # As plain numbers, the byte acknowledged before the wrap exceeds the end of a window after it.
    # Round trips would then end with every ACK, and the window would not grow during that round
    # trip.
    output = tcl(_DATA["turn"]).stdout
    acks = [int(line.split()[1]) for line in output.splitlines() if line.startswith("packet")]
    cwnds = values(output)
    assert acks[0] < 2**32 / 60_000 < acks[-1]
    for before, after in pairwise(cwnds):
        assert after - before == pytest.approx(before**0.75 / 8, abs=3)


def test_a_connection_begins_with_clear_memory(tcl: Tcl) -> None:
    # Compound takes the packets of a round trip from a variable that nothing else sets.
    first, second = values(tcl(_DATA["reused"]).stdout)
    assert first == second < 1000
