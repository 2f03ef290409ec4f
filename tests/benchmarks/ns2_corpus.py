"""CPU time of the variants stock and fast on scripts as others write them.

Run `PYTHONPATH=pipeline:. python tests/benchmarks/ns2_corpus.py` after `./bdpbench ns2 build` and
`./bdpbench ns2 build --variant stock`. The scripts of tests/ns2/corpus use nothing of bdpbench: no
monitors, no defaults. Rounds are interleaved; a ratio is the median of the rounds' ratios, given
with the smallest and the largest. Fails unless both variants write the same bytes.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.calls import replace_in_docs
from tests.benchmarks.ns2_speed import (
    Measured,
    different_outputs,
    peak_mib,
    ratios,
    run,
    spread,
)

from bdpbench.simulation.build import current_build_id, require_build

CORPUS = Path(__file__).resolve().parents[1] / "ns2" / "corpus"
# A longer run with DSR writes addresses of memory ("dumping maximally nested error"), which differ
# between two runs of stock as well.
CASES = {
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


def main() -> None:
    """Measure and print the table; exit status 1 if an output differs."""
    options = _options()
    variants = ("stock", "fast")
    binaries = {name: require_build(current_build_id(name)).binary for name in variants}
    chosen = {title: words for title, words in CASES.items() if options.only in words}
    rows = {title: {name: Measured() for name in variants} for title in chosen}
    for i in range(options.rounds):
        for title, words in chosen.items():
            script, *arguments = words.split()
            command = [str(CORPUS / f"{script}.tcl"), *arguments]
            for name, ns in binaries.items():
                rows[title][name].samples.append(run(ns, command))
        print(f"round {i + 1} of {options.rounds}", file=sys.stderr, flush=True)
    lines = markdown(rows)
    faults = [
        f"NOT THE SAME: {title}: {', '.join(names)}"
        for title, row in rows.items()
        if (names := different_outputs(row["stock"], row["fast"]))
    ]
    print("\n".join([*lines, *faults]))
    if options.docs and not faults:
        replace_in_docs("ns2.md", "ns2_corpus", lines)
    sys.exit(1 if faults else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="cases whose arguments contain this")
    parser.add_argument("--docs", action="store_true", help="put the table into docs/ns2.md")
    return parser.parse_args()


def markdown(rows: dict[str, dict[str, Measured]]) -> list[str]:
    """The table as lines of Markdown, and the median of all cases."""
    lines = ["| script | stock | fast | stock / fast | peak memory |", "|---|---:|---:|---:|---:|"]
    lines += [_row(title, row["stock"], row["fast"]) for title, row in rows.items()]
    medians = [statistics.median(ratios(row["stock"], row["fast"])) for row in rows.values()]
    return [*lines, f"| median of all | | | **{_median(medians)}×** | |"]


def _row(title: str, stock: Measured, fast: Measured) -> str:
    cells = [
        title,
        f"{_median(stock.times())} s",
        f"{_median(fast.times())} s",
        f"**{spread(ratios(stock, fast))}**",
        f"{peak_mib(stock):.0f} → {peak_mib(fast):.0f} MiB",
    ]
    return "| " + " | ".join(cells) + " |"


def _median(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f}"


if __name__ == "__main__":
    main()
