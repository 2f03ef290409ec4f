"""Sums mutated lines of real traces in both ways and compares the results.

`PYTHONPATH=pipeline:. python tests/faults/fuzz_traces.py NS [--lines N] [--seed S]` lets the given
ns-2 write wired, satellite, and old and new wireless traces, mutates their lines, and sums them
as text, by packets.c, and as rows that the patterns read. Both have to give the same sums and the
same account of lines, or the same error. Neither may end in a traceback, take more than
`MOST_MORE_MIB` of memory on top of what the process had before, or more than `MOST_S` for a batch
of lines. The C code alone then sums as many mutated lines, and random rows, in a build with the
address and undefined behaviour sanitizers.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets import COLUMNS, PacketMeter, sum_packets
from bdpbench.trace import open_trace

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "tests" / "pipeline" / "trace" / "scripts"
HARNESS = Path(__file__).with_name("fuzz_packets.c")
RUNS = (
    ("wired", ()),
    ("wired", ("tcphdr",)),
    ("wired", ("hierarchical",)),
    ("wireless", ("AODV", "old")),
    ("wireless", ("AODV", "new")),
    ("wireless", ("DSR", "old")),
    ("mixed", ("new",)),
    ("satellite", ("tcphdr",)),
)
BATCH = 2_000
"""Lines that are read at a time."""

MOST_MORE_MIB = 400
"""Peak memory beyond what the process has before: polars and two readers of a batch take 150."""

MOST_S = 60.0
"""Time for a batch: the patterns read some 100,000 lines a second, so one takes a fraction."""

PIECES = (
    *(b"", b" ", b"  ", b"\t", b".", b"-", b"+", b"e9", b"0x", b"0", b"\0", b"\xff", b"\r", b"nan"),
    *(b"9223372036854775808", b"-9223372036854775808", b"9" * 40, b"2147483648", b"-1", b"1e400"),
    *(b"1e18", b"[", b"]", b"{", b"_", b"-Hs", b"-------", b"\xef\xbb\xbf", b"a" * 40),
)


def traces(ns: Path, folder: Path) -> list[Path]:
    """Traces that ns-2 writes for the scripts of the parser's tests."""
    paths = []
    for index, (script, arguments) in enumerate(RUNS):
        place = folder / str(index)
        place.mkdir()
        command = [str(ns), str(SCRIPTS / f"{script}.tcl"), str(place), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=place)
        paths.append(place / "all.tr")
    return paths


def mutated(line: bytes, chance: random.Random) -> bytes:
    """A line with up to three places replaced, removed or inserted; some stay unchanged."""
    text = bytearray(line)
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(text) + 1)
        text[at : at + chance.randrange(5)] = chance.choice(PIECES)
    return bytes(text).replace(b"\n", b"")


def batches(paths: list[Path], lines: int, seed: int) -> Iterator[bytes]:
    """Texts of BATCH mutated lines, each text from a single trace."""
    chance = random.Random(seed)
    samples = [path.read_bytes().splitlines() for path in paths]
    for _ in range(0, lines, BATCH):
        source = chance.choice(samples)
        text = b"\n".join(mutated(chance.choice(source), chance) for _ in range(BATCH))
        yield text + (b"\n" if chance.random() < 0.9 else b"")


Found = tuple[dict[str, pl.DataFrame] | str, object]


def by_text(path: Path, *, lenient: bool) -> Found:
    """The sums of a trace as packets.c reads it, or what is wrong; and the account of its lines."""
    try:
        trace, meter = open_trace(path, lenient=lenient, kind="packets"), PacketMeter()
        trace.sum_into(meter, COLUMNS)
        return meter.result().all_tables(), trace.account
    except BdpbenchError as error:
        return str(error), None


def by_rows(path: Path, *, lenient: bool) -> Found:
    """The same of the rows that the patterns read."""
    try:
        trace = open_trace(path, lenient=lenient, kind="packets")
        frames = list(trace.batches(COLUMNS))
        return sum_packets(frames).all_tables(), trace.account
    except BdpbenchError as error:
        return str(error), None


def compare(path: Path, *, lenient: bool) -> None:
    """Fail unless both ways of reading give the same result."""
    (ours, told), (theirs, also) = (each(path, lenient=lenient) for each in (by_text, by_rows))
    if told != also or isinstance(ours, str) or isinstance(theirs, str):
        if (ours, told) != (theirs, also):
            raise AssertionError(f"by text: {ours} {told}\nby rows: {theirs} {also}")
        return
    # A trace of ns-2 has hierarchical addresses from its first packet on; a mutated one may not.
    ends = pl.col("src_node", "dst_node").is_between(1 << 11, (1 << 30) - 1).any()
    if any(ours["flows"].select(ends).row(0)):
        return
    for name, table in ours.items():
        assert_frame_equal(table, theirs[name], check_row_order=False)


def peak_mib() -> float:
    """The peak memory of this process so far, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fuzz(ns: Path, folder: Path, lines: int, seed: int) -> int:
    """Read mutated lines both ways; returns their number, or fails at the first fault."""
    done, before_mib = 0, peak_mib()
    path = folder / "mutated.tr"
    for text in batches(traces(ns, folder), lines, seed):
        path.write_bytes(text)
        began_s = time.process_time()
        for lenient in (True, False):
            compare(path, lenient=lenient)
        took_s = time.process_time() - began_s
        if took_s > MOST_S:
            raise AssertionError(f"{BATCH} lines took {took_s:.0f} s: {path}")
        done += BATCH
    if peak_mib() > before_mib + MOST_MORE_MIB:
        raise AssertionError(f"{done} lines took {peak_mib() - before_mib:.0f} MiB")
    return done


def sanitized(folder: Path, lines: int, seed: int) -> str:
    """Sum mutated lines with the sanitized C code; returns its output."""
    return _sanitized(folder, seed, lines, *folder.glob("*/all.tr"))


def sanitized_sums(folder: Path, rows: int, seed: int) -> str:
    """Sum random rows with the sanitized C code; returns its output."""
    return _sanitized(folder, seed, rows)


def _sanitized(folder: Path, *arguments: object) -> str:
    binary = folder / HARNESS.stem
    # Without optimization, which takes three times as long and hides faults from the sanitizers.
    flags = ["-std=gnu11", "-g", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["cc", *flags, "-o", str(binary), str(HARNESS)], check=True)
    command = [str(binary), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout.strip()


def main() -> int:
    """Fuzz as the command line says, and print the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ns", type=Path, help="binary of ns-2: `./bdpbench ns2 path`")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        done = fuzz(options.ns, folder, options.lines, options.seed)
        print(f"{done} lines summed both ways, seed {options.seed}: same sums and messages")
        print(sanitized(folder, options.lines, options.seed))
        print(sanitized_sums(folder, options.lines, options.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
