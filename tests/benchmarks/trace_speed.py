"""Throughput per second and flow of a large trace: this engine and the tools that people use.

`PYTHONPATH=pipeline python tests/benchmarks/trace_speed.py [--mb 740] [--passes 3]` lets the real
ns-2 write a trace of that size. All readers compute the bytes that each flow brings over the
bottleneck in each second. In each pass they run one after the other, each as a process. The
benchmark prints medians, and medians of the ratios to mawk's time of the same pass. Python may keep
its compiled modules, as it does for a user. All readers must give the same numbers; a reader whose
program or package is not installed is named and left out. `--only python` runs only this
reader, mawk and the engine, and `--docs` writes the table of docs/traces.md.
`analyze` is `bdpbench analyze` with all of its metrics and series, which must have parsed every
line. CPU time and peak memory are given as well: on a busy machine only the ratios of CPU times are
meaningful.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MB_PER_SIMULATED_S = 4.7
FROM, TO = 0, 1
AWK = (
    f'$1 == "r" && $3 == {FROM} && $4 == {TO} {{ bytes[int($2) " " $8] += $6 }} '
    "END { for (key in bytes) print key, bytes[key] }"
)
NAMES = ["event", "time_s", "from_node", "to_node", "type", "bytes", "flags", "flow", "src", "dst"]

DOCS = Path(__file__).parents[2] / "docs" / "traces.md"
MARKS = ("<!-- speed -->", "<!-- end of speed -->")

Sums = dict[tuple[int, int], int]


def with_engine(path: str) -> Sums:
    """`open_trace` and a lazy query."""
    import polars as pl

    from bdpbench.trace import open_trace

    return _as_sums(_grouped(open_trace(path).frame, pl.col("event") == "r"))


def with_polars(path: str) -> Sums:
    """polars's CSV reader, which does not account for skipped lines."""
    import polars as pl

    text = {"event", "type", "flags", "src", "dst"}
    types = {name: pl.String() if name in text else pl.Int64() for name in NAMES}
    schema = {**types, "time_s": pl.Float64(), "seq": pl.Int64(), "uid": pl.Int64()}
    lines = pl.scan_csv(path, separator=" ", has_header=False, schema=schema, quote_char=None)
    return _as_sums(_grouped(lines, pl.col("event") == "r"))


def with_pandas(path: str) -> Sums:
    """pandas, in chunks of a million lines."""
    import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]

    sums: Sums = defaultdict(int)
    columns = [*NAMES, "seq", "uid"]
    for part in pandas.read_csv(path, sep=" ", names=columns, chunksize=1_000_000):
        wanted = (part.event == "r") & (part.from_node == FROM) & (part.to_node == TO)
        rows = part[wanted]
        grouped = rows.groupby([rows.time_s.astype(int), rows.flow]).bytes.sum()
        for (second, flow), count in grouped.items():
            sums[int(second), int(flow)] += int(count)
    return dict(sums)


def with_python(path: str) -> Sums:
    """A loop over the lines."""
    sums: Sums = defaultdict(int)
    link = (str(FROM), str(TO))
    with open(path) as lines:
        for line in lines:
            words = line.split()
            if words[0] == "r" and (words[2], words[3]) == link:
                sums[int(float(words[1])), int(words[7])] += int(words[5])
    return dict(sums)


READERS: Mapping[str, Callable[[str], Sums]] = {
    "engine": with_engine,
    "polars": with_polars,
    "pandas": with_pandas,
    "python": with_python,
}


def _grouped(lines, is_received):  # type: ignore[no-untyped-def]
    import polars as pl

    on_link = (pl.col("from_node") == FROM) & (pl.col("to_node") == TO)
    return (
        lines.filter(is_received & on_link)
        .group_by(pl.col("time_s").cast(pl.Int32).alias("second"), "flow")
        .agg(pl.col("bytes").sum())
        .collect(engine="streaming")
    )


def _as_sums(frame) -> Sums:  # type: ignore[no-untyped-def]
    return {(second, flow): count for second, flow, count in frame.iter_rows()}


def _commands(path: Path) -> tuple[dict[str, list[str]], list[str]]:
    """Name → command of the readers that can run here, and the names of those that cannot."""
    commands = {
        name: [name, AWK, str(path)] for name in ("mawk", "gawk") if shutil.which(name) is not None
    }
    absent = [name for name in ("mawk", "gawk") if name not in commands]
    for name in READERS:
        if name == "pandas" and _lacks_pandas():
            absent.append(name)
            continue
        commands[name] = [sys.executable, __file__, "--reader", name, str(path)]
    return commands, absent


def _lacks_pandas() -> bool:
    found = subprocess.run(
        [sys.executable, "-c", "import pandas"], capture_output=True, check=False
    )
    return found.returncode != 0


@dataclass(frozen=True)
class Cost:
    """Cost of a call: wall-clock time and CPU time, s, and peak memory, MB."""

    wall_s: float
    cpu_s: float
    memory_mb: float


@dataclass(frozen=True)
class Median:
    """Medians of all passes: of the cost, and of the ratios to the cost of mawk in each pass."""

    cost: Cost
    wall_of_mawk: float
    cpu_of_mawk: float


def _cost_of(command: list[str]) -> tuple[Cost, str]:
    """Run a command; returns its cost and its output."""
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        child = subprocess.Popen(command, stdout=said, stderr=subprocess.DEVNULL, env=_as_a_user())
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.perf_counter() - began
        said.seek(0)
        text = said.read()
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
    return Cost(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3), text


def _as_a_user() -> dict[str, str]:
    """This environment, in which Python keeps compiled modules unless it cannot."""
    return {name: each for name, each in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _timed(command: list[str]) -> tuple[Cost, Sums]:
    cost, text = _cost_of(command)
    rows = (line.split() for line in text.splitlines())
    return cost, {(int(second), int(flow)): int(float(count)) for second, flow, count in rows}


def _time_analyze(path: Path) -> Cost:
    """Cost of all metrics and series of the trace, written as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, "-m", "bdpbench", "analyze", str(path), "-o", str(result)]
        cost, _ = _cost_of(command)
        account = json.loads(result.read_text())["account"]
    with path.open("rb") as lines:
        expected = sum(1 for _ in lines)
    if account["parsed"] != expected:
        raise SystemExit(f"analyze parsed {account['parsed']} of {expected} lines")
    return cost


def _median(costs: Sequence[Cost], of_mawk: Sequence[Cost]) -> Median:
    """The median of each figure."""
    cost = Cost(
        statistics.median(each.wall_s for each in costs),
        statistics.median(each.cpu_s for each in costs),
        statistics.median(each.memory_mb for each in costs),
    )
    pairs = list(zip(costs, of_mawk, strict=True))
    return Median(
        cost,
        statistics.median(each.wall_s / mawk.wall_s for each, mawk in pairs),
        statistics.median(each.cpu_s / mawk.cpu_s for each, mawk in pairs),
    )


def _make_trace(path: Path, megabytes: float) -> None:
    # Imported here, since every reader is a process that would pay for it.
    from bdpbench.simulation.build import build_prefix, current_build_id

    binary = build_prefix() / current_build_id() / "ns"
    script = Path(__file__).with_suffix(".tcl")
    duration_s = str(megabytes / MB_PER_SIMULATED_S)
    subprocess.run([str(binary), str(script), str(path), duration_s], check=True)


def compare(path: Path, passes: int, only: Collection[str]) -> dict[str, Median]:
    """Print the cost of each reader and check that all agree; returns the medians."""
    commands, absent = _commands(path)
    if "mawk" in absent:
        raise SystemExit("mawk is not installed: all times are compared with its")
    chosen = {"mawk", "engine", *only} if only else set(commands)
    commands = {name: each for name, each in commands.items() if name in chosen}
    costs: dict[str, list[Cost]] = {name: [] for name in [*commands, "analyze"]}
    for _ in range(passes):
        sums = {}
        for name, command in commands.items():
            cost, sums[name] = _timed(command)
            costs[name].append(cost)
        costs["analyze"].append(_time_analyze(path))
        if any(each != sums["engine"] for each in sums.values()):
            raise SystemExit("the readers disagree")
    print(f"{path.stat().st_size / 1e6:.0f} MB, {len(sums['engine'])} sums, all readers agree")
    medians = {name: _median(each, costs["mawk"]) for name, each in costs.items()}
    _tell(medians, path.stat().st_size)
    if absent:
        print(f"not installed: {', '.join(absent)}")
    return medians


def _tell(medians: Mapping[str, Median], size: int) -> None:
    for name, median in medians.items():
        cost = median.cost
        print(
            f"{name:8s} {cost.wall_s:7.2f} s  {size / cost.wall_s / 1e6:6.0f} MB/s"
            f"  {median.wall_of_mawk:5.2f} of mawk"
            f"  CPU {cost.cpu_s:7.2f} s  {median.cpu_of_mawk:5.2f} of mawk"
            f"  {cost.memory_mb:6.0f} MB of memory"
        )


def write_docs(path: Path, medians: Mapping[str, Median], passes: int) -> None:
    """Update the table of docs/traces.md, between its marks."""
    with path.open("rb") as lines:
        count = sum(1 for _ in lines) / 1e6
    rows = [
        f"{name} | {each.cost.cpu_s:.1f} s | {each.cpu_of_mawk:.2f} | {each.cost.memory_mb:.0f} MB"
        for name, each in (
            ("mawk: throughput per flow and second", medians["mawk"]),
            ("the same by `open_trace` and a query", medians["engine"]),
            ("`analyze`: all metrics and series, as JSON", medians["analyze"]),
        )
    ]
    size = path.stat().st_size / 1e9
    title = f"trace of {count:.1f} million lines, {size:.2f} GB"
    head = [f"| {title} | CPU time | of mawk's | peak memory |", "|---|---:|---:|---:|"]
    table = "\n".join([*head, *(f"| {row} |" for row in rows)])
    told = (
        f"Medians of {passes} passes in turn, and of the ratios within each pass, by\n"
        "`tests/benchmarks/trace_speed.py --docs`."
    )
    text = DOCS.read_text()
    before, rest = text.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    DOCS.write_text(f"{before}{MARKS[0]}\n{table}\n\n{told}\n{MARKS[1]}{after}")


def main() -> None:
    """Make the trace and compare; with --reader, act as one of the readers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", nargs="?", type=Path, help="an existing trace")
    parser.add_argument("--mb", type=float, default=740.0)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], help="readers; all by default")
    parser.add_argument("--docs", action="store_true", help="write the table of docs/traces.md")
    parser.add_argument("--reader", choices=READERS)
    options = parser.parse_args()
    if options.reader:
        for (second, flow), count in READERS[options.reader](str(options.trace)).items():
            print(second, flow, count)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = options.trace or Path(folder) / "trace.tr"
        if not options.trace:
            _make_trace(path, options.mb)
        medians = compare(path, options.passes, options.only)
        if options.docs:
            write_docs(path, medians, options.passes)


if __name__ == "__main__":
    main()
