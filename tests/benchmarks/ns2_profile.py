"""Which parts of ns-2 the instructions of a packet go to, for the cases of ns2_speed.tcl.

Run `PYTHONPATH=pipeline:. python tests/benchmarks/ns2_profile.py` after `./bdpbench ns2 build`,
with valgrind installed. Callgrind counts the instructions of each function in a longer and in a
shorter run; their difference leaves out ns-2's start. --docs puts the table into docs/ns2.md.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.benchmarks.calls import replace_in_docs
from tests.benchmarks.ns2_speed import CASES, arguments_of

from bdpbench.simulation.build import current_build_id, require_build

PROFILED = {"single": (10, 20), "red": (6, 12)}
"""Case → simulated seconds of the two runs."""

PARTS = {
    "scheduler and timers": "Scheduler|TimerHandler",
    "monitors": "FlowMon|QueueMonitor",
    "links, queues and routes": "WiredHop|LinkDelay|Classifier|TTLChecker|Queue|Connector|NixNode",
    "sender": "TcpAgent|Sack1|ScoreBoard|TracedInt|TracedDouble|WindowLaw|RNG|libm",
    "receiver": "TcpSink|Acker|Sacker",
    "packets": "Packet::|Agent::(alloc|init)pkt",
    "Tcl, and what samplers print": "libtcl|OTcl|Tcl|printf|strto|mpn|strcmp|strstr|xsputn|digit",
}
"""Part → pattern of the names of its functions and libraries; the first one that fits counts."""

_LINE = re.compile(r"\s*([\d,]+) \(\s*[\d.]+%\)\s+(\S.*)")
_TOTAL = "PROGRAM TOTALS"


def main() -> None:
    """Profile the cases and print the table."""
    ns = require_build(current_build_id("fast")).binary
    found = {case: _profile(ns, case, *seconds) for case, seconds in PROFILED.items()}
    titles = [case.title for case in CASES if case.name in found]
    lines = ["| share of the instructions | " + " | ".join(titles) + " |", "|---|---:|---:|"]
    for part in [*PARTS, "other"]:
        shares = (counts[part] / counts[_TOTAL] for counts, _ in found.values())
        lines.append(f"| {part} | " + " | ".join(f"{share:.0%}" for share in shares) + " |")
    each = (f"{counts[_TOTAL] / packets:,.0f}" for counts, packets in found.values())
    lines.append("| instructions for a packet and its ACK | " + " | ".join(each) + " |")
    print("\n".join(lines))
    if "--docs" in sys.argv[1:]:
        replace_in_docs("ns2.md", "ns2_profile", lines)


def _profile(ns: Path, case: str, short: int, long: int) -> tuple[Counter[str], float]:
    """Part → instructions of the seconds between both ends, and the packets of these seconds."""
    (before, sent), (after, sent_at_last) = (_counted(ns, case, each) for each in (short, long))
    after.subtract(before)
    return after, sent_at_last - sent


def _counted(ns: Path, case: str, seconds: int) -> tuple[Counter[str], float]:
    """Part → instructions of a run, and the packets of 1,050 bytes that passed the bottleneck."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = ["valgrind", "--tool=callgrind", "--callgrind-out-file=counts", str(ns)]
        for command in (
            [*count, *arguments_of(case, seconds)],
            ["callgrind_annotate", "--threshold=99.99", "counts"],
        ):
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, check=False, timeout=3600
            )
            if done.returncode != 0:
                sys.exit(f"{command[0]} failed on {case}:\n{done.stderr}")
        report = (folder / "report.txt").read_text()
    counts: Counter[str] = Counter()
    for number, function in _LINE.findall(done.stdout):
        fitting = (part for part, names in PARTS.items() if re.search(names, function))
        part = _TOTAL if _TOTAL in function else next(fitting, "other")
        counts[part] += int(number.replace(",", ""))
    passed = re.search(r"link\.bottleneck\.total_bytes (\d+)", report)
    if passed is None or not counts[_TOTAL]:
        sys.exit(f"callgrind or the report of {case} says nothing about it")
    return counts, int(passed[1]) / 1050


if __name__ == "__main__":
    main()
