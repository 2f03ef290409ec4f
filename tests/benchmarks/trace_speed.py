"""CPU time of reading large traces: mawk, the same query by `open_trace`, and `analyze`.

`PYTHONPATH=pipeline:. python tests/benchmarks/trace_speed.py [--mb 740] [--passes 3]` lets the real
ns-2 write a wired trace, and traces of wireless nodes in both formats, of that size. mawk and
`open_trace` compute the bytes that each flow (in the old format, which has no flow ids, each node)
receives in each second, and must agree; `bdpbench analyze` computes all of its metrics and series,
or throughput alone, and must have parsed every line. In each pass they run one after the other,
each as a process. The benchmark prints medians, and medians of the ratios to mawk's CPU time of the
same pass, which are meaningful on a busy machine, too; a trace of three lines shows what a call
costs at least. `--docs` writes the tables of docs/traces.md.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.calls import ROOT, Cost, cost_of, replace_in_docs

MB_PER_SIMULATED_S = 4.7
_SUM = "END { for (key in bytes) print key, bytes[key] }"
AWK = {
    "wired": '$1 == "r" && $3 == 0 && $4 == 1 { bytes[int($2) " " $8] += $6 } ' + _SUM,
    "old wireless": '$1 == "r" && $4 == "AGT" '
    '{ node = substr($3, 2, length($3) - 2); bytes[int($2) " " node] += $8 } ' + _SUM,
    "new wireless": '$1 == "r" && $19 == "AGT" { for (i = 20; i < NF; i++) '
    '{ if ($i == "-Il") size = $(i + 1); if ($i == "-If") flow = $(i + 1) } '
    'bytes[int($3) " " flow] += size } ' + _SUM,
}
QUERY = """\
import sys
import polars as pl
from bdpbench.trace import open_trace
kind, path = sys.argv[1:]
over = (pl.col("from_node") == 0) & (pl.col("to_node") == 1)
at = over if kind == "wired" else pl.col("layer") == "AGT"
who = "node" if kind == "old wireless" else "flow"
second = pl.col("time_s").cast(pl.Int32).alias("second")
rows = open_trace(path).frame.filter((pl.col("event") == "r") & at).group_by(second, who)
for row in rows.agg(pl.col("bytes").sum()).collect(engine="streaming").iter_rows():
    print(*row)
"""
_TIME = re.compile(rb"^(. (?:-t )?)([0-9]+\.[0-9]+)")
_SHORT = "".join(f"{event} 0.1 0 1 tcp 1040 ------- 1 0.0 1.0 0 0\n" for event in "+-r")
_REPEATED_S = 4  # what a run of wireless.tcl writes, from 1 s on
TITLES = {
    "mawk": "mawk: throughput per flow and second",
    "query": "the same by `open_trace` and a query",
    "analyze": "`analyze`: all metrics and series",
    "throughput": "`analyze --metric throughput`",
}


def measure(kind: str, trace: Path, lines: int) -> dict[str, Cost]:
    """Cost of each reader in one pass."""
    python = [sys.executable, "-c", QUERY, kind, str(trace)]
    costs, sums = {}, {}
    for name, command in {"mawk": ["mawk", AWK[kind], str(trace)], "query": python}.items():
        costs[name], said = cost_of(command)
        rows = (line.split() for line in said.splitlines())
        sums[name] = {(second, flow): int(float(count)) for second, flow, count in rows}
    if sums["mawk"] != sums["query"]:
        raise SystemExit("the readers disagree")
    analyze = [sys.executable, "-m", "bdpbench", "analyze", str(trace)]
    costs["analyze"], said = cost_of(analyze)
    costs["throughput"], _ = cost_of([*analyze, "--metric", "throughput"])
    if f"{lines:,} lines" not in said.splitlines()[0]:
        raise SystemExit(f"analyze did not read {lines:,} lines: {said}")
    return costs


def table(kind: str, passes: list[dict[str, Cost]], lines: int, size: int) -> list[str]:
    """Medians of the passes, and of the ratios within each pass, as Markdown."""
    title = f"{kind} trace of {lines / 1e6:.1f} million lines, {size / 1e9:.2f} GB"
    rows = [f"| {title} | CPU time | of mawk's | peak memory |", "|---|---:|---:|---:|"]
    for name, told in TITLES.items():
        cpu_s = statistics.median(each[name].cpu_s for each in passes)
        of_mawk = statistics.median(each[name].cpu_s / each["mawk"].cpu_s for each in passes)
        peak_mb = statistics.median(each[name].peak_mb for each in passes)
        rows.append(f"| {told} | {cpu_s:.1f} s | {of_mawk:.2f} | {peak_mb:.0f} MB |")
    return rows


def short_table(folder: Path, passes: int) -> list[str]:
    """Medians of what a trace of three lines takes, as Markdown."""
    path = folder / "short.tr"
    path.write_text(_SHORT)
    analyze = [sys.executable, "-m", "bdpbench", "analyze", str(path)]
    calls = {"`analyze`": analyze, TITLES["throughput"]: [*analyze, "--metric", "throughput"]}
    costs = [{name: cost_of(call)[0] for name, call in calls.items()} for _ in range(passes)]
    rows = ["| trace of three lines | CPU time | wall time | peak memory |", "|---|---:|---:|---:|"]
    for name in calls:
        cpu_s, wall_s, peak_mb = (
            statistics.median(getattr(each[name], what) for each in costs)
            for what in ("cpu_s", "wall_s", "peak_mb")
        )
        rows.append(f"| {name} | {cpu_s:.2f} s | {wall_s:.2f} s | {peak_mb:.0f} MB |")
    print("\n".join(rows), flush=True)
    return [*rows, ""]


def _make_trace(kind: str, path: Path, megabytes: float) -> None:
    from bdpbench.simulation.build import build_prefix, current_build_id

    binary = build_prefix() / current_build_id() / "ns"
    if kind == "wired":
        script = Path(__file__).with_suffix(".tcl")
        duration_s = str(megabytes / MB_PER_SIMULATED_S)
        subprocess.run([str(binary), str(script), str(path), duration_s], check=True)
        return
    script = ROOT / "tests/pipeline/trace/scripts/wireless.tcl"
    arguments = [str(path.parent), "AODV", kind.split()[0], "energy"]
    subprocess.run([str(binary), str(script), *arguments], check=True, capture_output=True)
    with (path.parent / "all.tr").open("rb") as stream:
        lines = [line for line in stream if line[:1] != b"M"]
    with path.open("wb") as out:
        shift_s = 0
        while out.tell() < 1e6 * megabytes:
            out.writelines(_TIME.sub(_later(shift_s), line) for line in lines)
            shift_s += _REPEATED_S


def _later(shift_s: int) -> Callable[[re.Match[bytes]], bytes]:
    def moved(found: re.Match[bytes]) -> bytes:
        whole, _, part = found[2].partition(b".")
        return b"%s%d.%s" % (found[1], int(whole) + shift_s, part)

    return moved


def _tables_of(kind: str, options: argparse.Namespace, folder: Path) -> list[str]:
    """Makes the trace of a kind and measures it."""
    path = folder / "trace.tr"
    _make_trace(kind, path, options.mb)
    with path.open("rb") as stream:
        lines = sum(1 for _ in stream)
    passes = [measure(kind, path, lines) for _ in range(options.passes)]
    found = table(kind, passes, lines, path.stat().st_size)
    print("\n".join(found), flush=True)
    return [*found, ""]


def main() -> None:
    """Make the traces and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=float, default=740.0)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--docs", action="store_true", help="write the tables of docs/traces.md")
    options = parser.parse_args()
    if shutil.which("mawk") is None:
        raise SystemExit("mawk is not installed: all times are compared with its")
    found = []
    for kind in AWK:
        with tempfile.TemporaryDirectory() as folder:
            found += _tables_of(kind, options, Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        found += short_table(Path(folder), 3 * options.passes)
    if options.docs:
        told = (
            f"Medians of {options.passes} passes in turn, and of the ratios within each pass, by\n"
            "`tests/benchmarks/trace_speed.py --docs`."
        )
        replace_in_docs("traces.md", "speed", [*found, told])


if __name__ == "__main__":
    main()
