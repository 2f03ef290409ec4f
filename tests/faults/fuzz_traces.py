"""Mutated lines of real traces, summed in two ways, and hostile traces, measured by `analyze`.

    export PYTHONPATH=$PWD/pipeline:$PWD
    python tests/faults/fuzz_traces.py sums --ns "$(./bdpbench ns2 path)" --lines 1000000
    python tests/faults/fuzz_traces.py analyze --traces 1000 --seed 1

``sums`` lets ns-2 write wired, satellite, and old and new wireless traces, mutates their lines, and
sums them as text, by packets.c, and as rows that the patterns read. Both have to give the same sums
and the same account of lines, or the same error. The C code alone then sums as many mutated lines,
and random rows, in a build with the address and undefined behaviour sanitizers.

``analyze`` measures traces with valid and invalid lines, and with numbers that make no sense, with
bins and into a file, with `--lenient` and without. This has to succeed or end in one BdpbenchError.

Neither may end in a traceback, or take more time or memory than the constants below say.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType

import polars as pl
from polars.testing import assert_frame_equal

from bdpbench.app.analyze.analyzing import AnalysisRequest, analyze
from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets import COLUMNS, PacketMeter, sum_packets
from bdpbench.trace import open_trace

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "tests" / "pipeline" / "trace" / "scripts"
HARNESS = Path(__file__).with_name("fuzz_packets.c")
BATCH = 2_000  # lines that are read at a time
# Time for a batch, of which the patterns read some 100,000 lines a second, or for a trace, s.
MOST_S = 60.0
# Peak memory beyond that before, MiB: polars and two readers of a batch take 150. That of `analyze`
# is beyond that of a plain trace: what Python, polars and the library of charts take differs
# between machines (150 to 400 MiB), because polars keeps memory for each thread.
MOST_MORE_MIB = {"sums": 400, "analyze": 100}
ADDRESSES_GIB = 16  # that the process may take, so that a fault does not take the machine with it


def mutated(line: bytes, chance: random.Random) -> bytes:
    """A line with up to three places replaced, removed or inserted; some stay unchanged."""
    text = bytearray(line)
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(text) + 1)
        text[at : at + chance.randrange(5)] = chance.choice(PIECES)
    return bytes(text).replace(b"\n", b"")


PIECES = (
    *(b"", b" ", b"  ", b"\t", b".", b"-", b"+", b"e9", b"0x", b"0", b"\0", b"\xff", b"\r", b"nan"),
    *(b"9223372036854775808", b"-9223372036854775808", b"9" * 40, b"2147483648", b"-1", b"1e400"),
    *(b"1e18", b"[", b"]", b"{", b"_", b"-Hs", b"-------", b"\xef\xbb\xbf", b"a" * 40),
)


def peak_mib() -> float:
    """The peak memory of this process so far, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# ---------------------------------------------------------------- sums


RUNS = ("wired", "wired tcphdr", "wired hierarchical", "wireless AODV old", "wireless AODV new",
        "wireless DSR old", "mixed new", "satellite tcphdr")  # fmt: skip
Found = tuple[dict[str, pl.DataFrame] | str, object]


def batches(ns: Path, folder: Path, lines: int, seed: int) -> Iterator[bytes]:
    """Texts of BATCH mutated lines, each text from a single trace of RUNS."""
    samples = []
    for index, (script, *arguments) in enumerate(map(str.split, RUNS)):
        place = folder / str(index)
        place.mkdir()
        command = [str(ns), str(SCRIPTS / f"{script}.tcl"), str(place), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=place)
        samples.append((place / "all.tr").read_bytes().splitlines())
    chance = random.Random(seed)
    for _ in range(0, lines, BATCH):
        source = chance.choice(samples)
        text = b"\n".join(mutated(chance.choice(source), chance) for _ in range(BATCH))
        yield text + (b"\n" if chance.random() < 0.9 else b"")


def summed(path: Path, *, lenient: bool, by_text: bool) -> Found:
    """The sums of a trace as packets.c reads it, or of the rows that the patterns read.

    Returns: these, or what is wrong; and the account of its lines.
    """
    try:
        trace = open_trace(path, lenient=lenient, kind="packets")
        if by_text:
            meter = PacketMeter()
            trace.sum_into(meter, COLUMNS)
            return meter.result().all_tables(), trace.account
        return sum_packets(list(trace.batches(COLUMNS))).all_tables(), trace.account
    except BdpbenchError as error:
        return str(error), None


def compare(path: Path, *, lenient: bool) -> None:
    """Fail unless both ways of reading give the same result."""
    ours, told = summed(path, lenient=lenient, by_text=True)
    theirs, also = summed(path, lenient=lenient, by_text=False)
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


def fuzz(ns: Path, folder: Path, lines: int, seed: int) -> int:
    """Read mutated lines both ways; returns their number, or fails at the first fault."""
    done, most_mib, path = 0, peak_mib() + MOST_MORE_MIB["sums"], folder / "mutated.tr"
    for text in batches(ns, folder, lines, seed):
        path.write_bytes(text)
        began_s = time.process_time()
        for lenient in (True, False):
            compare(path, lenient=lenient)
        took_s = time.process_time() - began_s
        if took_s > MOST_S:
            raise AssertionError(f"{BATCH} lines took {took_s:.0f} s: {path}")
        done += BATCH
    if peak_mib() > most_mib:
        raise AssertionError(f"{peak_mib():.0f} MiB after {done} lines, {most_mib:.0f} at most")
    return done


def sanitized(folder: Path, count: int, seed: int, *traces: Path) -> str:
    """Sum mutated lines of traces, or random rows, with the sanitized C code; returns its words."""
    binary = folder / HARNESS.stem
    # Without optimization, which takes three times as long and hides faults from the sanitizers.
    flags = ["-std=gnu11", "-g", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["cc", *flags, "-o", str(binary), str(HARNESS)], check=True)
    command = [str(binary), *map(str, (seed, count, *traces))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout.strip()


# ---------------------------------------------------------------- analyze


PLAIN = b"".join(  # one flow of 100 packets over one link: nothing in it is hostile
    b"%s %d.%04d 0 1 tcp 1040 ------- 1 0.0 1.0 %d %d\n" % (event, n // 50, n % 50 * 200 + k, n, n)
    for n in range(100)
    for k, event in enumerate((b"+", b"-", b"r"))
)
NUMBERS = (
    *(-1, -2, 0, 1, 7, 5593, 400_000_000, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62),
    *(2**63 - 1, 2**63, -(2**63), 10**30),
)
TIMES = ("-1", "0", "1e-300", "0.1", "9e8", "900000000.000001", "1e18", "1e300", "inf", "nan")
KINDS = ("tcp", "ack", "cbr", "udp", "exp", "video", "sctp", "DCCP_Data", "x" * 40)
SUFFIXES = (".csv", ".parquet")


def received(*rows: tuple[object, ...], kind: str = "tcp") -> str:
    """Lines of packets that arrive at a time with these numbers."""
    lines = (f"r {t} 0 1 {kind} 40 ------- 1 0.0 1.0 {n} {uid}" for t, n, uid in rows)
    return "".join(f"{line}\n" for line in lines)


# Lines that say nothing about what was sent or when, or that are far apart in time or number.
KNOWN = {
    "satellite": "".join(
        f"{e} 1.0 -1 -2 cbr 210 ------- 1 0.0 1.0 0 0 0.00 0.00 -48.90 -120.94\n" for e in "+-r"
    ),
    "late": received((0.5, 0, 0), ("9e8", 1, 1)),
    "beyond": received((0.5, 0, 0), ("1e18", 1, 1)),
    "gap": received((1, 0, 1), (2, 400_000_000, 2)),
    "ACKs": received((1, 5593, 1), (2, 2**31, 2), kind="ack"),
    "wide": received((1, 0, 1), (2, 2**63 - 1, 2)),
    "wireless": "".join(
        f"r {t} _1_ AGT --- {t} tcp 512 [0 0 0 0] ------- [0:0 1:0 32 0] [{n} 0] 0 0\n"
        for t, n in ((1, 0), (2, 400_000_000), (3, 2**31 - 1))
    ),
}


def random_trace(chance: random.Random) -> bytes:
    """Up to 100 lines of a few flows; the rarer odd values are in a trace, the odder it may be."""
    time_s, lines = 0.0, []
    odd = chance.choice((0.0, 0.02, 0.3))

    def of(plain: int) -> int:
        return chance.choice(NUMBERS) if chance.random() < odd else plain

    for number in range(chance.randrange(1, 100)):
        time_s += chance.choice((0.0, 0.001, 0.5, 1.0))
        when = chance.choice(TIMES) if chance.random() < odd / 5 else f"{time_s:g}"
        a, b = of(chance.randrange(3)), of(chance.randrange(3))
        kind, event = chance.choice(KINDS), chance.choice("+-rd")
        flow = of(chance.randrange(3))
        line = (
            f"{event} {when} {a} {b} {kind} {of(1040)} ------- {flow} {a}.{of(0)} {b}.0 "
            f"{of(number)} {of(number)}"
        )
        lines.append(mutated(line.encode(), chance) if chance.random() < odd / 5 else line.encode())
    return b"\n".join(lines) + b"\n"


def measure(content: bytes, folder: Path, suffix: str, *, lenient: bool) -> None:
    """Analyze a trace into a file and with narrow bins; a reported error is fine."""
    path = folder / "hostile.tr"
    path.write_bytes(content)
    out = path.with_suffix(suffix)
    with suppress(BdpbenchError):
        list(analyze(AnalysisRequest([str(path)], output=out, lenient=lenient)))
    with suppress(BdpbenchError):
        if lenient:  # it measures the same as strict reading
            list(analyze(AnalysisRequest([str(path)], bin_s=0.1, lenient=True)))


def check(name: str, content: bytes, folder: Path, suffix: str, most_mib: float) -> None:
    """Fail if a trace ends in anything but numbers or one error, or takes too much."""
    began_s = time.process_time()
    # The alarm ends what would never end; its exception says which trace it was.
    signal.alarm(round(10 * MOST_S))
    told = f"{name}, {suffix}:"
    try:
        for lenient in (True, False):
            measure(content, folder, suffix, lenient=lenient)
    except BaseException as error:
        raise AssertionError(f"{told}\n{content.decode(errors='replace')}") from error
    signal.alarm(0)
    took_s = time.process_time() - began_s
    if took_s > MOST_S or peak_mib() > most_mib:
        raise AssertionError(f"{told} {took_s:.0f} s, {peak_mib():.0f} of {most_mib:.0f} MiB")


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TimeoutError


def fuzz_analyze(folder: Path, traces: int, seed: int) -> str:
    """Measure KNOWN and random traces; returns what that took, or fails at the first fault."""
    for limit, most in ((resource.RLIMIT_AS, ADDRESSES_GIB << 30), (resource.RLIMIT_CPU, 36_000)):
        resource.setrlimit(limit, (most, most))
    signal.signal(signal.SIGALRM, _too_long)
    for suffix in (".html", *SUFFIXES):
        measure(PLAIN, folder, suffix, lenient=False)
    plain_mib = peak_mib()
    most_mib = plain_mib + MOST_MORE_MIB["analyze"]
    for name, text in KNOWN.items():
        check(name, text.encode(), folder, ".html", most_mib)
    for number in range(traces):
        chance = random.Random(f"{seed} {number}")
        # A page takes a second, so most traces are measured into other files.
        suffix = ".html" if number % 50 == 49 else chance.choice(SUFFIXES)
        check(f"trace {number}", random_trace(chance), folder, suffix, most_mib)
    return f"at most {peak_mib():.0f} MiB, {peak_mib() - plain_mib:.0f} more than a plain one takes"


def main() -> int:
    """Fuzz as the command line says, and print the result; an AssertionError is the first fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=MOST_MORE_MIB)
    parser.add_argument("--ns", type=Path, help="binary of ns-2: `./bdpbench ns2 path`")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--traces", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if given.what == "analyze":
            took = fuzz_analyze(folder, given.traces, given.seed)
            print(f"{given.traces} traces, seed {given.seed}: no fault, {took}")
            return 0
        done = fuzz(given.ns, folder, given.lines, given.seed)
        print(f"{done} lines summed both ways, seed {given.seed}: same sums and messages")
        print(sanitized(folder, given.lines, given.seed, *folder.glob("*/all.tr")))
        print(sanitized(folder, given.lines, given.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
