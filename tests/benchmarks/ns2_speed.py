"""CPU time of ns-2's variants and of Debian's ns, for cases of ours and for scripts of others.

    PYTHONPATH=pipeline:. python tests/benchmarks/ns2_speed.py [cases|corpus] [--rounds 5] [--docs]

Needs `./bdpbench ns2 build` and `./bdpbench ns2 build --variant stock`. Each round runs each
binary once on each case of ns2_speed.tcl, or on each script of tests/ns2/corpus, which use nothing
of bdpbench: no monitors, no defaults. A ratio is the median of the rounds' ratios, given with the
smallest and the largest. Fails unless both variants write the same bytes; Debian's ns counts bytes
in 32 bits, so differences of its outputs are only told. Callgrind counts the instructions of a
longer and of a shorter run of a case; their difference leaves out ns-2's start.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.calls import Sample, replace_in_docs, run

from bdpbench.simulation.build import current_build_id, require_build

SCRIPT = Path(__file__).with_suffix(".tcl")
CORPUS = Path(__file__).resolve().parents[1] / "ns2" / "corpus"


@dataclass(frozen=True)
class Case:
    """A case of ns2_speed.tcl: seconds to simulate when timed, and in the two callgrind runs."""

    name: str
    title: str
    seconds: int
    counted: tuple[int, int]
    goal: float


CASES = (
    Case("single", "single flow", 60, (3, 6), 2.5),
    Case("two", "two flows", 60, (3, 6), 2.5),
    # As long as the single flow, so that the two can be compared.
    Case("queues", "single flow, bottleneck traced", 60, (2, 4), 5.0),
    Case("all", "single flow, all links traced", 15, (2, 4), 5.0),
    Case("red", "100 flows through RED", 30, (1, 2), 2.0),
    Case("ten-red", "ten flows over 2.5 Gbit/s through RED", 15, (2, 3), 1.5),
    Case("ten-ared", "ten flows over 2.5 Gbit/s through adaptive RED", 15, (2, 3), 1.5),
    Case("linux", "two flows of TCP/Linux over 310 ms", 20, (6, 8), 2.5),
)
# A longer run with DSR writes addresses of memory ("dumping maximally nested error"), which differ
# between two runs of stock as well.
SCRIPTS = {
    "802.11, AODV, 50 nodes": "wireless AODV 50 old 40 router 0",
    "802.11, DSR, 50 nodes": "wireless DSR 50 old 20 router 0",
    "802.11, DSDV, 50 nodes": "wireless DSDV 50 old 40 router 0",
    "802.11, AODV, 200 nodes": "wireless AODV 200 old 15 router 0",
    "802.11, DSR, 200 nodes": "wireless DSR 200 old 15 router 0",
    "802.11, DSDV, 200 nodes": "wireless DSDV 200 old 15 router 0",
    "802.11, AODV, 50 nodes, MAC traced in the new format": "wireless AODV 50 new 20 mac 0",
    "802.11, DSR, 50 nodes, MAC traced in the new format": "wireless DSR 50 new 20 mac 0",
    "802.11, DSDV, 50 nodes, MAC traced in the new format": "wireless DSDV 50 new 20 mac 0",
    "802.11, AODV, 50 nodes, energy and nam": "wireless AODV 50 old 15 mac 1",
    "802.11, AODV, 50 nodes, no trace": "wireless AODV 50 none 40 router 0",
    "LAN": "networks lan 20",
    "satellite": "networks satellite 200",
    "DiffServ": "networks diffserv 30",
    "MPLS": "networks mpls 30",
    "multicast": "networks multicast 20",
    "fat tree": "networks tree 10",
    "TCP, no trace": "dumbbell tcp DropTail 1 200 none",
    "TCP, trace": "dumbbell tcp DropTail 4 20 trace",
    "TCP, nam": "dumbbell tcp DropTail 4 20 nam",
    "TCP, trace and nam": "dumbbell tcp DropTail 4 20 both",
    "FullTcp": "dumbbell fulltcp RED 4 100 none",
    "SCTP": "dumbbell sctp RED 4 100 none",
    "UDP, CBR": "dumbbell cbr DropTail 8 100 none",
    "UDP, on and off": "dumbbell onoff DropTail 16 100 none",
    "DRR": "dumbbell mixed DRR 8 100 none",
    "SFQ": "dumbbell mixed SFQ 8 100 none",
    "a thousand flows": "dumbbell tcp DropTail 1000 3 none",
    "ten flows over 10 Gbit/s": "fat 10 4",
    "random variables": "draws 50000",
}

Rounds = dict[str, list[Sample]]  # binary → its runs of a case


def main() -> None:
    """Measure and print the table; exit status 1 if an output differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["cases", "corpus"], default="cases")
    parser.add_argument("-n", "--rounds", type=int, default=5)
    parser.add_argument("--docs", action="store_true", help="put the table into docs/ns2.md")
    given = parser.parse_args()
    binaries = {name: require_build(current_build_id(name)).binary for name in ("stock", "fast")}
    if given.what == "corpus":
        table = measured(
            {title: _of_corpus(each) for title, each in SCRIPTS.items()}, binaries, given.rounds
        )
        lines, marks = corpus_table(table), "ns2_corpus"
    else:
        debian = Path("/usr/bin/ns")
        binaries |= {"debian": debian.resolve()} if debian.is_file() else {}
        cases = {each.name: arguments_of(each.name, each.seconds) for each in CASES}
        table = measured(cases, binaries, given.rounds)
        lines, marks = cases_table(table, binaries), "ns2_speed"
    faults = [
        f"NOT THE SAME: {case}: {name}"
        for case, row in table.items()
        for name in different_outputs(row["stock"], row["fast"])
    ]
    print("\n".join([*lines, *faults]))
    if given.docs and not faults:
        replace_in_docs("ns2.md", marks, lines)
    sys.exit(1 if faults else 0)


def measured(
    cases: Mapping[str, Sequence[str]], binaries: Mapping[str, Path], rounds: int
) -> dict[str, Rounds]:
    """Rounds of every binary on every case, interleaved."""
    table: dict[str, Rounds] = {case: {name: [] for name in binaries} for case in cases}
    for number in range(rounds):
        for case, arguments in cases.items():
            for name, ns in binaries.items():
                table[case][name].append(run([str(ns), *arguments]))
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    return table


def arguments_of(case: str, seconds: float) -> list[str]:
    """What ns gets for a case."""
    return [str(SCRIPT), "-case", case, "-duration_s", str(seconds)]


def _of_corpus(words: str) -> list[str]:
    script, *arguments = words.split()
    return [str(CORPUS / f"{script}.tcl"), *arguments]


def instructions(ns: Path, case: Case) -> int:
    """Callgrind's count for the seconds between its two runs."""
    counts = []
    for seconds in case.counted:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(ns)]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [*command, *arguments_of(case.name, seconds)],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
        counted = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode != 0 or counted is None:
            sys.exit(f"callgrind failed on {case.name}:\n{done.stderr}")
        counts.append(int(counted[1]))
    return counts[1] - counts[0]


def different_outputs(*rounds: Sequence[Sample]) -> list[str]:
    """Names of outputs that differ in any round."""
    outputs = [sample.outputs for samples in rounds for sample in samples]
    names = {name for each in outputs for name in each}
    return sorted(name for name in names if len({each.get(name) for each in outputs}) > 1)


def cases_table(table: Mapping[str, Rounds], binaries: Mapping[str, Path]) -> list[str]:
    """The cases of ns2_speed.tcl as lines of Markdown."""
    counts = shutil.which("valgrind") is not None
    names = ["case, simulated time", "stock", "fast", "stock / fast", "goal"]
    names += ["instructions, stock / fast", "peak memory", "Debian's / fast"]
    lines = ["| " + " | ".join(names) + " |", "|---" + "|---:" * (len(names) - 1) + "|"]
    for case in CASES:
        row, instructions_of = table[case.name], "-"
        if counts:
            stock, fast = (instructions(binaries[name], case) for name in ("stock", "fast"))
            instructions_of = f"{stock / fast:.2f}×"
        debian = "-"
        if "debian" in row:
            other = ", other bytes" if different_outputs(row["stock"], row["debian"]) else ""
            debian = spread(row["debian"], row["fast"]) + other
        compared, memory = _compared(row)
        cells = [f"{case.title}, {case.seconds} s", *compared, f"≥ {case.goal}×"]
        lines.append("| " + " | ".join([*cells, instructions_of, memory, debian]) + " |")
    return lines


def corpus_table(table: Mapping[str, Rounds]) -> list[str]:
    """The scripts of the corpus as lines of Markdown, and the median of all."""
    lines = ["| script | stock | fast | stock / fast | peak memory |", "|---|---:|---:|---:|---:|"]
    for title, row in table.items():
        compared, memory = _compared(row)
        lines.append("| " + " | ".join([title, *compared, memory]) + " |")
    all_ratios = (statistics.median(ratios(row["stock"], row["fast"])) for row in table.values())
    return [*lines, f"| median of all | | | **{statistics.median(all_ratios):.2f}×** | |"]


def _compared(row: Rounds) -> tuple[list[str], str]:
    """Both CPU times and their ratio; and the peak memory of both."""
    both = (row["stock"], row["fast"])
    times = [f"{statistics.median(each.cpu_s for each in rounds):.2f} s" for rounds in both]
    peaks = [f"{max(each.peak_mib for each in rounds):.0f}" for rounds in both]
    return [*times, f"**{spread(*both)}**"], f"{' → '.join(peaks)} MiB"


def ratios(slow: Sequence[Sample], quick: Sequence[Sample]) -> list[float]:
    """CPU time of one binary relative to another's, round by round."""
    return [a.cpu_s / b.cpu_s for a, b in zip(slow, quick, strict=True)]


def spread(slow: Sequence[Sample], quick: Sequence[Sample]) -> str:
    """Median, smallest and largest ratio."""
    found = ratios(slow, quick)
    return f"{statistics.median(found):.2f}× ({min(found):.2f} to {max(found):.2f})"


if __name__ == "__main__":
    main()
