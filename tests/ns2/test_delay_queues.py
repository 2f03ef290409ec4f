"""Queue/CoDel, Queue/FqCoDel and Queue/PIE in ns-2; unit tests check their laws by hand."""

from __future__ import annotations

import pytest
from tests.data_of import data_of
from tests.ns2.conftest import Script

_DATA = data_of(__file__)
PATH = _DATA["path"]


def found(
    tcl: Script, queue: str, *, flows: int = 4, udp_mbps: float = 0, duration_s: float = 30
) -> dict[str, float]:
    ecn, limit_pkts = 0, 1000
    done = tcl(PATH, queue, flows, duration_s, ecn, limit_pkts, udp_mbps)
    assert (done.returncode, done.stderr) == (0, "")
    pairs = (line.split() for line in done.stdout.splitlines())
    return {name: float(value) for name, value in pairs}


@pytest.mark.parametrize(("queue", "target_ms"), [("CoDel", 5), ("FqCoDel", 5), ("PIE", 15)])
def test_the_delay_stays_near_the_target(tcl: Script, queue: str, target_ms: float) -> None:
    assert 0.4 * target_ms < found(tcl, queue)["delay_ms"] < 1.4 * target_ms


def test_without_them_the_delay_is_that_of_a_full_buffer(tcl: Script) -> None:
    assert found(tcl, "DropTail")["delay_ms"] > 200


def test_flows_get_equal_shares_whatever_their_rtts(tcl: Script) -> None:
    values = found(tcl, "FqCoDel", duration_s=60)
    acked = [values[f"acked.{i}"] for i in range(4)]
    assert max(acked) < 1.3 * min(acked)


def test_a_flow_that_does_not_give_way_gets_no_more_than_its_share(tcl: Script) -> None:
    # One TCP flow and 40 Mbit/s of UDP: half of 20 Mbit/s is 1,200 packets/s.
    alone = found(tcl, "FqCoDel", flows=1, udp_mbps=40, duration_s=20)
    together = found(tcl, "CoDel", flows=1, udp_mbps=40, duration_s=20)
    assert alone["acked.0"] > 0.8 * 1200 * 20
    assert together["acked.0"] < 0.1 * alone["acked.0"]
