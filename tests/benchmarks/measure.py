"""What ns-2, calls, traces and estimates cost, as tables of Markdown.

    export PYTHONPATH=$PWD/pipeline:$PWD
    .bdpbench/venv/bin/python tests/benchmarks/measure.py WHAT [--docs]

    ns2       CPU time of stock, fast and Debian's ns on cases of ns2_speed.tcl and the corpus
    calls     what `run` adds to ns-2's CPU time, by studies of --size tiny runs, in tens
    traces    mawk, the same query by `open_trace`, and `analyze`, on traces of --mb megabytes
    costs     the estimated CPU time of the published runs, beside what they took

What compares goes --rounds times through all that it compares, in turn; a ratio is the median of
the rounds' ratios, so it means something on a busy machine, too. --docs puts the table into docs/.
The exit status is 1 if bytes differ that must not. Debian's ns counts bytes in 32 bits, so its
differences are only told. The first needs `./bdpbench ns2 build`, also of `--variant stock`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bdpbench.contracts.files import sha256_of, write_text_atomically
from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.reports import KEPT_RUNS_NAME, KeptRun, read_kept_runs
from bdpbench.simulation.build import current_build_id, require_build
from bdpbench.studies.cost import estimated_cpu_s
from bdpbench.studies.ns3_program import is_ns3

ROOT = repository_root()
HERE = Path(__file__).resolve().parent
BDPBENCH = (sys.executable, "-P", "-m", "bdpbench")
Found = tuple[list[str], list[str]]  # lines of a table, and faults


@dataclass(frozen=True)
class Cost:
    """A call: times with all processes that it waited for, s; peak memory, MB; what it wrote."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    outputs: Mapping[str, str]
    said: str = ""


def call(command: Sequence[str], environment: Mapping[str, str] = {}, below: str = ".") -> Cost:
    """Run a program in a folder of its own; ``outputs`` are SHA-256 of its files in one below."""
    given = {**os.environ, "PYTHONPATH": str(ROOT / "pipeline"), **environment}
    given.pop("PYTHONDONTWRITEBYTECODE", None)  # a user keeps compiled modules
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryFile("w+") as told:
        folder = Path(name, below)
        folder.mkdir(exist_ok=True)
        began = os.times().elapsed
        said = Path(name, "stdout.txt")
        with said.open("w") as out:
            child = subprocess.Popen(command, cwd=name, stdout=out, stderr=told, env=given)
            _, status, used = os.wait4(child.pid, 0)
        wall_s = os.times().elapsed - began
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            told.seek(0)
            raise SystemExit(f"{' '.join(command)} ended with {child.returncode}:\n{told.read()}")
        outputs = {path.name: sha256_of(path) for path in folder.iterdir() if path.is_file()}
        text = said.read_text()
    return Cost(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, outputs, text)


def table(head: str, *rows: Sequence[object]) -> list[str]:
    """Lines of Markdown; ``head`` has the names of the columns, separated by ``|``."""
    columns = head.split("|")
    lines = ["---", *["---:"] * (len(columns) - 1)]
    return [f"| {' | '.join(map(str, row))} |" for row in (columns, lines, *rows)]


def median(costs: Sequence[Cost], what: str = "cpu_s") -> float:
    """Of one of the numbers of costs."""
    return float(statistics.median(getattr(each, what) for each in costs))


def ratios(slow: Sequence[Cost], quick: Sequence[Cost]) -> list[float]:
    """CPU time relative to another's, round by round."""
    return [a.cpu_s / b.cpu_s for a, b in zip(slow, quick, strict=True)]


def spread(slow: Sequence[Cost], quick: Sequence[Cost]) -> str:
    """Median, smallest and largest ratio."""
    found = ratios(slow, quick)
    return f"{statistics.median(found):.2f}× ({min(found):.2f} to {max(found):.2f})"


def differing(*costs: Cost) -> list[str]:
    """Names of outputs that are not the same in all of these runs."""
    names = {name for each in costs for name in each.outputs}
    return sorted(name for name in names if len({each.outputs.get(name) for each in costs}) > 1)


# ---------------------------------------------------------------- ns-2


# Case of ns2_speed.tcl, or script of tests/ns2/corpus and its arguments → seconds, goal, and title.
# "queues" is as long as "single", so that the two can be compared.
CASES = {
    "single": (60, 2.5, "single flow"),
    "two": (60, 2.5, "two flows"),
    "queues": (60, 5.0, "single flow, bottleneck traced"),
    "all": (15, 5.0, "single flow, all links traced"),
    "red": (30, 2.0, "100 flows through RED"),
    "ten-red": (15, 1.5, "ten flows over 2.5 Gbit/s through RED"),
    "ten-ared": (15, 1.5, "ten flows over 2.5 Gbit/s through adaptive RED"),
    "linux": (20, 2.5, "two flows of TCP/Linux over 310 ms"),
    "dumbbell.tcl tcp DropTail 2 {} variables": (120, 2.5, "two flows, variables traced"),
    "dumbbell.tcl sctp DropTail 2 {} none": (120, 2.2, "two flows of SCTP"),
    "networks.tcl multicast {}": (20, 2.0, "multicast, all links traced"),
    "networks.tcl dv {}": (20, 1.3, "routes by DV, all links traced"),
    "wireless.tcl AODV 50 old {} router 0": (20, 2.0, "802.11, AODV, 50 nodes"),
    "wireless.tcl DSR 50 old {} router 0": (20, 2.0, "802.11, DSR, 50 nodes"),
    "wireless.tcl DSDV 50 new {} mac 0": (10, 2.0, "802.11, DSDV, 50 nodes, new format"),
    "networks.tcl satellite {}": (800, 2.0, "satellite, traced"),
    "networks.tcl diffserv {}": (200, 2.0, "DiffServ, traced"),
    "dumbbell.tcl fulltcp DropTail 8 {} both": (30, 2.0, "eight flows of FullTcp, traced, and nam"),
    "dumbbell.tcl mixed DRR 8 {} trace": (60, 1.8, "TCP, CBR and bursts through DRR, traced"),
    "fat.tcl 4 {}": (3, 1.8, "fat tree"),
}


def binary(variant: str) -> str:
    """The build of a variant."""
    return str(require_build(current_build_id(variant)).binary)


def of_case(case: str, seconds: float) -> list[str]:
    """What ns gets for a case."""
    script, *arguments = case.format(seconds).split()
    if arguments:
        return [str(ROOT / "tests/ns2/corpus" / script), *arguments]
    return [str(HERE / "ns2_speed.tcl"), "-case", case, "-duration_s", str(seconds)]


def in_turn(
    cases: Mapping[str, Sequence[str]], binaries: Mapping[str, str], rounds: int
) -> tuple[dict[str, dict[str, list[Cost]]], list[str]]:
    """Case → binary → its costs; and the outputs in which stock and fast differ."""
    found: dict[str, dict[str, list[Cost]]] = {each: defaultdict(list) for each in cases}
    for number in range(rounds):
        for case, arguments in cases.items():
            for name, ns in binaries.items():
                found[case][name].append(call([ns, *arguments]))
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    faults = [
        f"NOT THE SAME: {case}: {name}"
        for case, row in found.items()
        for name in differing(*row["stock"], *row["fast"])
    ]
    return found, faults


def of_ns2(given: argparse.Namespace) -> Found:
    """The cases, beside Debian's ns if there is one."""
    binaries = {name: binary(name) for name in ("stock", "fast")}
    if Path("/usr/bin/ns").is_file():
        binaries["debian"] = str(Path("/usr/bin/ns").resolve())
    cases = {case: of_case(case, seconds) for case, (seconds, *_) in CASES.items()}
    found, faults = in_turn(cases, binaries, given.rounds)
    rows = []
    for case, (seconds, goal, title) in CASES.items():
        costs, debian = found[case], "-"
        stock, fast = costs["stock"], costs["fast"]
        if "debian" in costs:
            other = ", other bytes" if differing(*stock, *costs["debian"]) else ""
            debian = spread(costs["debian"], fast) + other
        peaks = " → ".join(f"{max(e.peak_mb for e in each):.0f}" for each in (stock, fast))
        cells = (f"{median(stock):.2f} s", f"{median(fast):.2f} s", f"**{spread(stock, fast)}**")
        rows.append([f"{title}, {seconds} s", *cells, f"≥ {goal}×", f"{peaks} MB", debian])
    head = "case, simulated time|stock|fast|stock / fast|goal|peak memory|Debian's / fast"
    return table(head, *rows), faults


# ---------------------------------------------------------------- calls


STUDY = """\
schema_version: 1
key: tiny
title: Tiny runs
protocols:
  Reno: {{label: Reno, colour: "#336699", agent: TCP/Reno, sink: TCPSink}}
topologies:
  small:
    parameters: {{bottleneck_mbps: 5, bottleneck_delay_ms: 8, access_mbps: 50, access_delay_ms: 1,
                  receiver_delay_ms: 1, packet_bytes: 1000}}
scenarios:
  tiny:
    title: Tiny
    topology: small
    parameters: {{protocol: Reno}}
    sweep:
      buffer_pkts: [10, 15, 20, 25, 30, 35, 40, 45, 50, 55]
      substream: {substreams}
    flows: [{{}}]
    tiers: {{quick: [{{duration_s: 2}}]}}
"""


def tiny(runs: int) -> tuple[list[str], float]:
    """Plan a study of so many runs, run it, and run it again: a row, and CPU s beside ns-2."""
    with tempfile.TemporaryDirectory() as name:
        config, results = Path(name) / "config", Path(name) / "results"
        study = config / "studies" / "tiny" / "study.yaml"
        study.parent.mkdir(parents=True)
        study.write_text(STUDY.format(substreams=list(range(1, runs // 10 + 1))))
        given = (ROOT / "config" / "config.yaml").read_text().replace("sharma2006", "tiny")
        (config / "config.yaml").write_text(given)
        where = {"BDPBENCH_CONFIG": str(config), "BDPBENCH_RESULTS": str(results)}
        command = [*BDPBENCH, "run", "--backend", "native"]
        options = ("--dry-run", "--json", "--quiet")
        plan, first, again = (call([*command, each], where) for each in options)
        records = list((results / "runs").rglob("run.json"))
        if len(records) != runs:
            raise SystemExit(f"{len(records)} of {runs} runs have finished")
        ns2_s = sum(json.loads(path.read_text())["cpu_s"] for path in records)
        tier = results / "tiny" / "quick"
        pages = (tier / "report.html", *(tier / "report-data").glob("*"))
        own_s, page_mb = first.cpu_s - ns2_s, sum(path.stat().st_size for path in pages) / 1e6
        row = [f"{runs:,}", f"{plan.cpu_s:.1f} s", f"{ns2_s:.1f} s", f"**{own_s / runs:.3f} s**"]
        row += [f"{again.cpu_s:.1f} s", f"{first.peak_mb:.0f} MB"]
        return [*row, f"{sum(1 for _ in results.rglob('*')):,}", f"{page_mb:.1f} MB"], own_s


def of_calls(given: argparse.Namespace) -> Found:
    """Studies of tiny runs; one more run costs the difference of the smallest and the largest."""
    sizes = sorted(given.size or [10, 400])
    rows, own_s = zip(*map(tiny, sizes), strict=True)
    if len(sizes) > 1:
        slope_s = (own_s[-1] - own_s[0]) / (sizes[-1] - sizes[0])
        print(f"one more run: {slope_s:.3f} CPU s beside ns-2")
        print(f"a call without runs: {own_s[0] - sizes[0] * slope_s:.2f} s")
    head = "runs|planning|ns-2|beside ns-2, a run|again|peak memory|files|report"
    return table(head, *rows), []


# ---------------------------------------------------------------- traces


_SUM = "END { for (key in bytes) print key, bytes[key] }"
# Bytes that each flow (in the old format, which has no flow ids, each node) gets in each second.
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
_TIME = re.compile(rb"^(. (?:-t )?)([0-9]+)")
TITLES = ("mawk: throughput per flow and second", "the same by `open_trace` and a query",
          "`analyze`: all metrics and series", "`analyze --metric throughput`")  # fmt: skip


def make_trace(kind: str, path: Path, megabytes: float) -> int:
    """Let ns-2 write a trace of that size; returns the number of its lines.

    A wired one has 4.7 MB for each simulated second; of wireless nodes, 4 s are repeated.
    """
    if kind == "wired":
        call([binary("fast"), str(HERE / "trace_speed.tcl"), str(path), str(megabytes / 4.7)])
        return sum(1 for _ in path.open("rb"))
    script = ROOT / "tests/pipeline/trace/scripts/wireless.tcl"
    call([binary("fast"), str(script), str(path.parent), "AODV", kind.split()[0], "energy"])
    with (path.parent / "all.tr").open("rb") as stream:
        lines = [line for line in stream if line[:1] != b"M"]
    count = 0
    with path.open("wb") as out:
        for shift_s in range(0, sys.maxsize, 4):
            if out.tell() >= 1e6 * megabytes:
                break
            for line in lines:
                out.write(_TIME.sub(lambda f, s=shift_s: b"%s%d" % (f[1], int(f[2]) + s), line))  # type: ignore[misc]
            count += len(lines)
    return count


def of_traces(given: argparse.Namespace) -> Found:
    """Each kind of trace, and what a call costs at least. The first two readers must agree."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        path, short = Path(name) / "trace.tr", Path(name) / "short.tr"
        for kind in AWK:
            lines = make_trace(kind, path, given.mb)
            analyze = [*BDPBENCH, "analyze", str(path)]
            query = [sys.executable, "-c", QUERY, kind, str(path)]
            commands = [["mawk", AWK[kind], str(path)], query, analyze]
            commands.append([*analyze, "--metric", "throughput"])
            costs = [[call(each) for each in commands] for _ in range(given.rounds)]
            for *both, all_metrics, _ in costs:
                split = [[line.split() for line in each.said.splitlines()] for each in both]
                sums = [{(a, b): int(float(n)) for a, b, n in rows} for rows in split]
                if sums[0] != sums[1]:
                    raise SystemExit("the readers disagree")
                if f"{lines:,} lines" not in all_metrics.said.splitlines()[0]:
                    raise SystemExit(f"analyze did not read {lines:,} lines: {all_metrics.said}")
            size = f"{lines / 1e6:.1f} million lines, {path.stat().st_size / 1e9:.2f} GB"
            rows = []
            for title, of in zip(TITLES, zip(*costs, strict=True), strict=True):
                of_mawk = statistics.median(ratios(of, [each[0] for each in costs]))
                peak = f"{median(of, 'peak_mb'):.0f} MB"
                rows.append([title, f"{median(of):.1f} s", f"{of_mawk:.2f}", peak])
            head = f"{kind} trace of {size}|CPU time|of mawk's|peak memory"
            found += [*table(head, *rows), ""]
        short.write_text("".join(f"{e} 0.1 0 1 tcp 1040 ------- 1 0.0 1.0 0 0\n" for e in "+-r"))
        rows = []
        for title, options in (("`analyze`", []), (TITLES[-1], ["--metric", "throughput"])):
            each = [call([*BDPBENCH, "analyze", str(short), *options]) for _ in range(given.rounds)]
            times = (f"{median(each, what):.2f} s" for what in ("cpu_s", "wall_s"))
            rows.append([title, *times, f"{median(each, 'peak_mb'):.0f} MB"])
    found += [*table("trace of three lines|CPU time|wall time|peak memory", *rows), ""]
    told = f"Medians of {given.rounds} passes in turn, and of the ratios within each pass, by\n"
    return [*found, f"{told}`tests/benchmarks/measure.py traces --docs`."], []


# ---------------------------------------------------------------- estimates


def of_costs(given: argparse.Namespace) -> Found:
    """Estimated / measured CPU time."""
    head = "study|engine|runs|CPU time, h|all|median|10 %|90 %"
    rows = []
    for path in sorted((ROOT / "reports" / "published").glob(f"*/{KEPT_RUNS_NAME}")):
        runs = [run for run in read_kept_runs(path.read_bytes(), path) if run["cpu_s"]]
        for engine in ("ns-2", "ns-3"):
            own = [run for run in runs if is_ns3(run["script"]["path"]) == (engine == "ns-3")]
            if not own:
                continue
            took_s = {run["run_id"]: float(run["cpu_s"] or 0) for run in own}
            costs_s = {run["run_id"]: estimate_s(run) for run in own}
            each = sorted(costs_s[run_id] / took for run_id, took in took_s.items())
            low, high = (each[round(q * (len(each) - 1))] for q in (0.1, 0.9))
            of_all = sum(costs_s.values()) / sum(took_s.values())
            numbers = (sum(took_s.values()) / 3600, of_all, statistics.median(each), low, high)
            cells = [f"{number:.2f}" for number in numbers]
            rows.append([path.parent.name, engine, len(own), *cells])
    return table(head, *rows), []


def estimate_s(run: KeptRun) -> float:
    """The estimate of a run, whose number of flows its arguments give."""
    argv = dict(zip(run["argv"][::2], run["argv"][1::2], strict=False))
    flows = int(argv.get("-flows") or run["parameters"].get("flows") or 2)
    return estimated_cpu_s(run["parameters"], flows, ns3=is_ns3(run["script"]["path"]))


# What → its function, and page and marks of docs/ between which its table stands.
MEASURED = {
    "ns2": (of_ns2, "ns2.md", "ns2_speed"),
    "calls": (of_calls, "promises.md", "orchestration"),
    "traces": (of_traces, "traces.md", "speed"),
    "costs": (of_costs, "", ""),
}


def main() -> int:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=MEASURED)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=int, action="append", help="runs of a study, in tens")
    parser.add_argument("--mb", type=float, default=740.0)
    parser.add_argument("--docs", action="store_true", help="put the table into docs/")
    given = parser.parse_args()
    measure, page, marks = MEASURED[given.what]
    lines, faults = measure(given)
    print("\n".join([*lines, *faults]))
    if given.docs and page and not faults:
        path = ROOT / "docs" / page
        begin, end = f"<!-- {marks}: begin -->", f"<!-- {marks}: end -->"
        before, found, rest = path.read_text(encoding="utf-8").partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise SystemExit(f"{path} has no {begin} … {end}")
        write_text_atomically(path, "\n".join([before + begin, *lines, end + after]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
