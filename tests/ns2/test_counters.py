"""Byte counters count beyond 2^31 and 2^32, where those of Debian's ns2 2.35+dfsg-5 wrap."""

from __future__ import annotations

from pathlib import Path

from tests.ns2.conftest import Script as Tcl

SCRIPT = Path(__file__).with_name("counters.tcl")

# 600 packets of 10,000,000 bytes.
BYTES = 6_000_000_000
# TCP's sink also counts headers: 40 bytes per packet, and a SYN of 40 bytes.
SINK_BYTES = BYTES + 601 * 40


def counters(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in map(str.split, text.splitlines())}


def test_no_byte_counter_wraps(tcl: Tcl) -> None:
    done = tcl(SCRIPT.read_text())
    assert done.returncode == 0, done.stderr
    assert counters(done.stdout) == {
        "queue_arrivals": BYTES,
        "queue_departures": BYTES,
        "link_departures": BYTES,
        "flow_arrivals": BYTES,
        "flow_departures": BYTES,
        "flow_departures_as_double": BYTES,
        "link_drops": BYTES,
        "flow_drops": BYTES,
        "loss_monitor": BYTES,
        "tcp_sent": BYTES,
        "sink": SINK_BYTES,
        "after_reset": 0,
    }


def test_traces_and_dumps_show_all_digits(tcl: Tcl, tmp_path: Path) -> None:
    tcl(SCRIPT.read_text())
    *_, name, value = (tmp_path / "tcp.trace").read_text().splitlines()[-1].split()
    assert (name, int(value)) == ("ndatabytes_", BYTES)
    # A flow monitor's line: field 17 counts the bytes dropped on the link, field 19 those of the
    # flow.
    fields = (tmp_path / "flows.txt").read_text().split()
    assert (int(fields[16]), int(fields[18])) == (BYTES, BYTES)
