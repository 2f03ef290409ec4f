"""CPU time of reading a large trace: mawk, the same query by `open_trace`, and `analyze`.

`PYTHONPATH=pipeline:. python tests/benchmarks/trace_speed.py [--mb 740] [--passes 3]` lets the real
ns-2 write a trace of that size. mawk and `open_trace` compute the bytes that each flow brings over
the bottleneck in each second, and must agree; `bdpbench analyze` computes all of its metrics and
series, and must have parsed every line. In each pass they run one after the other, each as a
process. The benchmark prints medians, and medians of the ratios to mawk's CPU time of the same
pass, which are meaningful on a busy machine, too; `--docs` writes the table of docs/traces.md.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.calls import Cost, cost_of, replace_in_docs

MB_PER_SIMULATED_S = 4.7
AWK = (
    '$1 == "r" && $3 == 0 && $4 == 1 { bytes[int($2) " " $8] += $6 } '
    "END { for (key in bytes) print key, bytes[key] }"
)
QUERY = """\
import sys
import polars as pl
from bdpbench.trace import open_trace
over = (pl.col("event") == "r") & (pl.col("from_node") == 0) & (pl.col("to_node") == 1)
second = pl.col("time_s").cast(pl.Int32).alias("second")
rows = open_trace(sys.argv[1]).frame.filter(over).group_by(second, "flow")
for row in rows.agg(pl.col("bytes").sum()).collect(engine="streaming").iter_rows():
    print(*row)
"""
TITLES = {
    "mawk": "mawk: throughput per flow and second",
    "query": "the same by `open_trace` and a query",
    "analyze": "`analyze`: all metrics and series, as JSON",
}


def measure(trace: Path, lines: int, result: Path) -> dict[str, Cost]:
    """Cost of each reader in one pass."""
    python = [sys.executable, "-c", QUERY, str(trace)]
    costs, sums = {}, {}
    for name, command in {"mawk": ["mawk", AWK, str(trace)], "query": python}.items():
        costs[name], said = cost_of(command)
        rows = (line.split() for line in said.splitlines())
        sums[name] = {(second, flow): int(float(count)) for second, flow, count in rows}
    if sums["mawk"] != sums["query"]:
        raise SystemExit("the readers disagree")
    analyze = [sys.executable, "-m", "bdpbench", "analyze", str(trace), "-o", str(result)]
    costs["analyze"], _ = cost_of(analyze)
    account = json.loads(result.read_text())["account"]
    if account["parsed"] != lines:
        raise SystemExit(f"analyze parsed {account['parsed']} of {lines} lines")
    return costs


def table(passes: list[dict[str, Cost]], lines: int, size: int) -> list[str]:
    """Medians of the passes, and of the ratios within each pass, as Markdown."""
    title = f"trace of {lines / 1e6:.1f} million lines, {size / 1e9:.2f} GB"
    rows = [f"| {title} | CPU time | of mawk's | peak memory |", "|---|---:|---:|---:|"]
    for name, told in TITLES.items():
        cpu_s = statistics.median(each[name].cpu_s for each in passes)
        of_mawk = statistics.median(each[name].cpu_s / each["mawk"].cpu_s for each in passes)
        peak_mb = statistics.median(each[name].peak_mb for each in passes)
        rows.append(f"| {told} | {cpu_s:.1f} s | {of_mawk:.2f} | {peak_mb:.0f} MB |")
    return rows


def _make_trace(path: Path, megabytes: float) -> None:
    from bdpbench.simulation.build import build_prefix, current_build_id

    binary = build_prefix() / current_build_id() / "ns"
    script = Path(__file__).with_suffix(".tcl")
    duration_s = str(megabytes / MB_PER_SIMULATED_S)
    subprocess.run([str(binary), str(script), str(path), duration_s], check=True)


def main() -> None:
    """Make the trace and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", nargs="?", type=Path, help="an existing trace")
    parser.add_argument("--mb", type=float, default=740.0)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--docs", action="store_true", help="write the table of docs/traces.md")
    options = parser.parse_args()
    if shutil.which("mawk") is None:
        raise SystemExit("mawk is not installed: all times are compared with its")
    with tempfile.TemporaryDirectory() as folder:
        path = options.trace or Path(folder) / "trace.tr"
        if not options.trace:
            _make_trace(path, options.mb)
        with path.open("rb") as stream:
            lines = sum(1 for _ in stream)
        result = Path(folder) / "result.json"
        passes = [measure(path, lines, result) for _ in range(options.passes)]
        found = table(passes, lines, path.stat().st_size)
    print("\n".join(found))
    if options.docs:
        told = (
            f"Medians of {options.passes} passes in turn, and of the ratios within each pass, by\n"
            "`tests/benchmarks/trace_speed.py --docs`."
        )
        replace_in_docs("traces.md", "speed", [*found, "", told])


if __name__ == "__main__":
    main()
