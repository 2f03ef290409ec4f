"""CPU time of ns-2's variants and of Debian's ns, for the cases of ns2_speed.tcl.

Run `PYTHONPATH=pipeline:. python tests/benchmarks/ns2_speed.py` after `./bdpbench ns2 build` and
`./bdpbench ns2 build --variant stock`. Each round runs each binary once on each case; a ratio is
the median of the rounds' ratios, given with the smallest and the largest. The benchmark fails
unless both variants write the same bytes. Callgrind counts the instructions of a longer and of a
shorter run; their difference leaves out ns-2's start. Debian's ns counts bytes in 32 bits, so
differences of its outputs are only reported.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.benchmarks.calls import replace_in_docs

from bdpbench.contracts.documents import write_json_atomically
from bdpbench.simulation.build import current_build_id, require_build

SCRIPT = Path(__file__).with_suffix(".tcl")
# Standard error shows the simulated time each time that a second of wall-clock time has passed.
PROGRESS = "stderr.txt"


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
# CPU time of the single flow with the bottleneck traced, relative to that without a trace.
TRACE_GOAL = 1.5


@dataclass(frozen=True)
class Sample:
    """One run: CPU time (s), peak memory (KiB), and SHA-256 of every output."""

    cpu_s: float
    max_rss_kib: int
    outputs: Mapping[str, str]


@dataclass
class Measured:
    """The rounds of one binary on one case, and its instructions if they were counted."""

    samples: list[Sample] = field(default_factory=list)
    instructions: int | None = None

    def times(self) -> list[float]:
        """CPU times, s."""
        return [sample.cpu_s for sample in self.samples]


Table = dict[str, dict[str, Measured]]  # case → binary → rounds


def main() -> None:
    """Measure, print the table, and write the files that are asked for."""
    options = _options()
    binaries = _binaries(options)
    cases = [case for case in CASES if not options.cases or case.name in options.cases]
    table = measure(cases, binaries, options.rounds)
    if not options.no_instructions:
        count_instructions(table, cases, binaries)
    faults = different(table)
    text = "\n".join([*markdown(cases, table), "", *goals(table), *faults])
    print(text)
    if options.output is not None:
        write_json_atomically(options.output, as_json(table))
    if options.docs and not faults:
        replace_in_docs("ns2.md", "ns2_speed", markdown(cases, table))
    sys.exit(1 if faults else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--rounds", type=int, default=5)
    parser.add_argument("--case", dest="cases", action="append", choices=[c.name for c in CASES])
    parser.add_argument("--stock", type=Path, help="default: the build of this checkout")
    parser.add_argument("--fast", type=Path, help="default: the build of this checkout")
    parser.add_argument("--debian", type=Path, help="default: /usr/bin/ns, if it exists")
    parser.add_argument("--no-instructions", action="store_true")
    parser.add_argument("--docs", action="store_true", help="put the table into docs/ns2.md")
    parser.add_argument("-o", "--output", type=Path, help="JSON file of all rounds")
    return parser.parse_args()


def _binaries(options: argparse.Namespace) -> dict[str, Path]:
    """Name → ns; stock comes first."""
    found = {
        "stock": options.stock or require_build(current_build_id("stock")).binary,
        "fast": options.fast or require_build(current_build_id("fast")).binary,
    }
    debian = options.debian or Path("/usr/bin/ns")
    if debian.is_file():
        found["debian"] = debian
    else:
        print("Debian's package ns2 is not installed: left out", file=sys.stderr)
    return {name: path.resolve() for name, path in found.items()}


# ---------------------------------------------------------------- measuring


def measure(cases: Sequence[Case], binaries: Mapping[str, Path], rounds: int) -> Table:
    """Rounds of every binary on every case, interleaved."""
    table: Table = {case.name: {name: Measured() for name in binaries} for case in cases}
    for i in range(rounds):
        for case in cases:
            for name, ns in binaries.items():
                arguments = arguments_of(case.name, case.seconds)
                table[case.name][name].samples.append(run(ns, arguments))
        print(f"round {i + 1} of {rounds}", file=sys.stderr, flush=True)
    return table


def run(ns: Path, arguments: Sequence[str]) -> Sample:
    """One run in a folder of its own; ends the program if it fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "stdout.txt").open("w") as out, (folder / PROGRESS).open("w") as err:
            command = [str(ns), *arguments]
            child = subprocess.Popen(command, cwd=folder, stdout=out, stderr=err)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{ns} failed on {arguments}:\n{(folder / PROGRESS).read_text()}")
        return Sample(used.ru_utime + used.ru_stime, used.ru_maxrss, _checksums(folder))


def arguments_of(case: str, seconds: float) -> list[str]:
    """What ns gets for a case."""
    return [str(SCRIPT), "-case", case, "-duration_s", str(seconds)]


def _checksums(folder: Path) -> dict[str, str]:
    sums = {}
    for path in sorted(folder.iterdir()):
        if path.name != PROGRESS:
            with path.open("rb") as stream:
                sums[path.name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return sums


def count_instructions(table: Table, cases: Sequence[Case], binaries: Mapping[str, Path]) -> None:
    """Add callgrind's count of instructions to the table, if valgrind is installed."""
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: instructions are not counted", file=sys.stderr)
        return
    for case in cases:
        for name, ns in binaries.items():
            short, long = (_instructions(ns, case.name, seconds) for seconds in case.counted)
            table[case.name][name].instructions = long - short
        print(f"instructions of {case.name} counted", file=sys.stderr, flush=True)


def _instructions(ns: Path, case: str, seconds: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(ns)]
        done = subprocess.run(
            [*command, *arguments_of(case, seconds)],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    counted = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or counted is None:
        sys.exit(f"callgrind failed on {case}:\n{done.stderr}")
    return int(counted.group(1))


# ---------------------------------------------------------------- telling


def ratios(slow: Measured, quick: Measured) -> list[float]:
    """CPU time of one binary relative to another's, round by round."""
    return [a / b for a, b in zip(slow.times(), quick.times(), strict=True)]


def different(table: Table) -> list[str]:
    """Complaints about outputs that differ in any round of any variant."""
    return [
        f"NOT THE SAME: {case}: {name}"
        for case, row in table.items()
        for name in different_outputs(row["stock"], row["fast"])
    ]


def different_outputs(one: Measured, other: Measured) -> list[str]:
    """Names of outputs that differ in any round."""
    expected = one.samples[0].outputs
    found = {
        name
        for sample in [*one.samples, *other.samples]
        for name in {*expected, *sample.outputs}
        if expected.get(name) != sample.outputs.get(name)
    }
    return sorted(found)


def markdown(cases: Sequence[Case], table: Table) -> list[str]:
    """The table as lines of Markdown."""
    names = ["case, simulated time", "stock", "fast", "stock / fast", "goal"]
    names += ["instructions, stock / fast", "peak memory", "Debian's / fast"]
    lines = ["| " + " | ".join(names) + " |", "|---" + "|---:" * (len(names) - 1) + "|"]
    return lines + [_markdown_row(case, table[case.name]) for case in cases]


def _markdown_row(case: Case, row: Mapping[str, Measured]) -> str:
    stock, fast = row["stock"], row["fast"]
    cells = [
        f"{case.title}, {case.seconds} s",
        f"{statistics.median(stock.times()):.2f} s",
        f"{statistics.median(fast.times()):.2f} s",
        f"**{spread(ratios(stock, fast))}**",
        f"≥ {case.goal}×",
        _instruction_ratio(stock, fast),
        f"{peak_mib(stock):.0f} → {peak_mib(fast):.0f} MiB",
        _debian_cell(row),
    ]
    return "| " + " | ".join(cells) + " |"


def spread(values: Sequence[float]) -> str:
    """Median, smallest and largest ratio."""
    return f"{statistics.median(values):.2f}× ({min(values):.2f} to {max(values):.2f})"


def _instruction_ratio(slow: Measured, quick: Measured) -> str:
    if slow.instructions is None or quick.instructions is None:
        return "-"
    return f"{slow.instructions / quick.instructions:.2f}×"


def peak_mib(measured: Measured) -> float:
    """Peak memory of all rounds, MiB."""
    return max(sample.max_rss_kib for sample in measured.samples) / 1024


def _debian_cell(row: Mapping[str, Measured]) -> str:
    if "debian" not in row:
        return "-"
    same = not different_outputs(row["stock"], row["debian"])
    note = "" if same else ", other bytes"
    return f"{spread(ratios(row['debian'], row['fast']))}{note}"


def goals(table: Table) -> list[str]:
    """Which goals are met."""
    lines = []
    for case in CASES:
        if case.name in table:
            row = table[case.name]
            ratio = statistics.median(ratios(row["stock"], row["fast"]))
            lines.append(
                _goal(case.title, f"{ratio:.2f}×, at least {case.goal}×", ratio >= case.goal)
            )
    if {"single", "queues"} <= set(table):
        cost = statistics.median(ratios(table["queues"]["fast"], table["single"]["fast"]))
        said = f"{cost:.2f}× the time of the untraced run, less than {TRACE_GOAL}×"
        lines.append(_goal("trace", said, cost < TRACE_GOAL))
    return lines


def _goal(title: str, said: str, met: bool) -> str:
    return f"{title}: {said}: {'met' if met else 'NOT MET'}"


def as_json(table: Table) -> dict[str, object]:
    """All rounds."""
    rows = {case: {n: asdict(m) for n, m in row.items()} for case, row in table.items()}
    return {"schema_version": 1, "cases": rows}


if __name__ == "__main__":
    main()
