"""CPU time of measuring a tier of 250 runs: the first time, unchanged, and with one new metric.

`PYTHONPATH=pipeline python tests/benchmarks/measuring.py` prints each time, also as a ratio to the
first, which is what any change of any file cost before values were kept. The runs are copies of one
run of 500 s with a cwnd sample every 0.1 s, one flow and one link.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from bdpbench.app.stages import measure_runs
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import Output, Plan, PlannedRun
from bdpbench.contracts.runs import RUN_VERSION
from bdpbench.trace import write_tables

RUNS = 250
SAMPLES = 5000
DURATION_S = 500
OUTPUTS: list[Output] = [
    {"file": "cwnd.out", "table": "cwnd", "flow": 0},
    {"file": "throughput.out", "table": "throughput", "flow": 0},
    {"file": "queue.out", "table": "queue", "link": "bottleneck"},
    {"file": "utilization.out", "table": "utilization", "link": "bottleneck"},
]
PARAMETERS: dict[str, int | float | str] = {
    "duration_s": DURATION_S,
    "bottleneck_mbps": 622,
    "bdp_pkts": 1000,
    "rtt_ms": 100,
    "buffer_pkts": 1555,
    "packet_bytes": 1000,
}
OWN_METRIC = """\
from bdpbench.metrics import flow_metric


@flow_metric(unit="packets", title="", text="A.", source="B", tables=("cwnd",))
def one(flow):
    return flow.cwnd["cwnd_pkts"].median()
"""


def _make_run(run_dir: Path) -> None:
    """A regular saw-tooth of cwnd, and a full link."""
    out = run_dir / "out"
    out.mkdir(parents=True)
    times_s = [f"{each * DURATION_S / SAMPLES:.2f}" for each in range(1, SAMPLES + 1)]
    lines = {
        "cwnd.out": [f"{t} {500 + index % 501}" for index, t in enumerate(times_s)],
        "throughput.out": [f"{t}.00 622.00" for t in range(1, DURATION_S + 1)],
        "queue.out": [f"{t} {index % 1555} 0" for index, t in enumerate(times_s)],
        "utilization.out": [f"{t} 622.00" for t in times_s],
    }
    for name, each in lines.items():
        (out / name).write_text("".join(f"{line}\n" for line in each))
    outputs = {
        f"out/{path.name}": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in out.iterdir()
    }
    record = {"schema_version": RUN_VERSION, "run_id": run_dir.name, "outputs": outputs}
    (run_dir / "run.json").write_text(json.dumps(record))
    write_tables(run_dir, OUTPUTS)


def _plan(folder: Path, ids: list[str]) -> Plan:
    run: dict[str, Any] = {"scenario": "s", "parameters": PARAMETERS, "outputs": OUTPUTS}
    runs = [cast("PlannedRun", {**run, "run_id": each}) for each in ids]
    return cast("Plan", {"study": "benchmark", "folder": str(folder), "runs": runs})


def _cpu_s(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own, runs_dir = folder / "metrics.py", folder / "runs"
        ids = [f"{each:016x}" for each in range(RUNS)]
        _make_run(run_folder(runs_dir, ids[0]))
        for each in ids[1:]:
            shutil.copytree(run_folder(runs_dir, ids[0]), run_folder(runs_dir, each))
        own.write_text(OWN_METRIC)
        plan = _plan(folder, ids)

        def measure() -> None:
            measure_runs(plan, runs_dir, ids)

        spent = {"all metrics": _cpu_s(measure), "nothing changed": _cpu_s(measure)}
        own.write_text(OWN_METRIC.replace("median", "min"))
        spent["one metric changed"] = _cpu_s(measure)
    for what, cpu_s in spent.items():
        print(f"{what:20s} {cpu_s:6.2f} s CPU  {cpu_s / spent['all metrics']:.3f} of the first")


if __name__ == "__main__":
    main()
