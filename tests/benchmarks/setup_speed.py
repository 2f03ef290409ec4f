"""CPU time that ns-2's variants take to set 100 flows up: hosts, links, agents, no packet.

`PYTHONPATH=pipeline python tests/benchmarks/setup_speed.py`, after `./bdpbench ns2 build` and
`./bdpbench ns2 build --variant stock`. Each round runs each binary with one flow and with 100 more,
so that the start of ns-2 does not count; the ratio is the median of the rounds' ratios, with the
smallest and the largest. Both must print the same of every agent, else the benchmark fails.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bdpbench.simulation.build import current_build_id, require_build

SCRIPT = Path(__file__).with_suffix(".tcl")


def main() -> None:
    """Measure and print the ratio."""
    options = _options()
    stock, fast = options.stock or _build("stock"), options.fast or _build("fast")
    rounds = []
    for _ in range(options.rounds):
        (slow_s, slow_text), (quick_s, quick_text) = (
            set_up(ns, options.flows) for ns in (stock, fast)
        )
        if slow_text != quick_text:
            sys.exit("NOT THE SAME: what stock and fast print of the agents")
        rounds.append((slow_s, quick_s))
    ratios = [slow / quick for slow, quick in rounds]
    stock_s, fast_s = (statistics.median(times) for times in zip(*rounds, strict=True))
    print(
        f"set-up of {options.flows} flows: stock {stock_s:.2f} s, fast {fast_s:.2f} s, "
        f"{statistics.median(ratios):.2f}× ({min(ratios):.2f} to {max(ratios):.2f})"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--rounds", type=int, default=5)
    parser.add_argument("--flows", type=int, default=100)
    parser.add_argument("--stock", type=Path, help="default: the build of this checkout")
    parser.add_argument("--fast", type=Path, help="default: the build of this checkout")
    return parser.parse_args()


def _build(variant: str) -> Path:
    return require_build(current_build_id(variant)).binary


def set_up(ns: Path, flows: int) -> tuple[float, str]:
    """CPU time (s) that flows take beyond a first one, and what is printed of all."""
    (start_s, _), (whole_s, text) = (_run(ns, 1 + more) for more in (0, flows))
    return whole_s - start_s, text


def _run(ns: Path, flows: int) -> tuple[float, str]:
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([str(ns), str(SCRIPT), "-flows", str(flows)], stdout=out)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{ns} failed with {flows} flows")
        out.seek(0)
        return used.ru_utime + used.ru_stime, out.read()


if __name__ == "__main__":
    main()
