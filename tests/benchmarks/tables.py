"""CPU time of parsing and of measuring a run of 500 s with a cwnd sample every 0.01 s.

`PYTHONPATH=pipeline python tests/benchmarks/tables.py` prints the median over several passes, also
as a ratio to the time of a plain Python loop over the same lines, which is measured in between.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bdpbench.metrics import measure_run
from bdpbench.trace import read_output

LINES = 50_000
PASSES = 9
PARAMETERS = {"duration_s": 500, "bottleneck_mbps": 622, "bdp_pkts": 1000, "rtt_ms": 100}


def _python_loop(path: Path) -> float:
    total = 0.0
    with path.open() as stream:
        for line in stream:
            time_s, cwnd = line.split()
            total += float(time_s) * float(cwnd)
    return total


def _median_ms(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()  # the first query starts polars's threads, which must not count
    for _ in range(PASSES):
        for name, work in works.items():
            began = time.process_time()
            work()
            times[name].append(1000 * (time.process_time() - began))
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cwnd_hstcp.out"
        path.write_text(
            "".join(f"{i / 100:.2f} {500 + (i % 1000) / 2} \n" for i in range(LINES + 1))
        )
        cwnd = read_output(path, "cwnd", flow=0).collect()
        medians = _median_ms(
            {
                "loop in Python": lambda: _python_loop(path),
                "read_output": lambda: read_output(path, "cwnd", flow=0).collect(),
                "measure_run": lambda: measure_run(
                    PARAMETERS, {"cwnd": cwnd.lazy()}, run_id="0" * 16, scenario="benchmark"
                ),
            }
        )
    base = medians["loop in Python"]
    for name, value in medians.items():
        print(f"{name:16s} {value:7.1f} ms CPU  {value / base:5.2f} of the loop")


if __name__ == "__main__":
    main()
