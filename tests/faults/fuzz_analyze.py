"""`analyze` on traces with valid and invalid lines, and with numbers that make no sense.

    PYTHONPATH=pipeline:. python tests/faults/fuzz_analyze.py --traces 1000 --seed 1

Each trace is measured with bins and into a file, with `--lenient` and without. This has to succeed
or end in one BdpbenchError, within MOST_S and with at most MOST_MORE_MIB more than a plain trace.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

from tests.faults.fuzz_traces import mutated, peak_mib

from bdpbench.app.analyze.analyzing import AnalysisRequest, analyze
from bdpbench.errors import BdpbenchError

MOST_MORE_MIB = 100
"""Peak memory beyond that of a plain trace measured before, MiB.

What Python, polars and the library of charts take by themselves differs between machines (150 to
400 MiB): polars keeps memory for each thread."""

PLAIN = b"".join(
    b"%s %d.%04d 0 1 tcp 1040 ------- 1 0.0 1.0 %d %d\n" % (event, n // 50, n % 50 * 200 + k, n, n)
    for n in range(100)
    for k, event in enumerate((b"+", b"-", b"r"))
)
"""One flow of 100 packets over one link: nothing in it is hostile."""

ADDRESSES_GIB = 16
"""Addresses that the process may take, so that a fault does not take the machine with it."""

MOST_S = 60
"""CPU time for a trace, s: these of some 100 lines take a fraction of one."""

NUMBERS = (
    *(-1, -2, 0, 1, 7, 5593, 400_000_000, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62),
    *(2**63 - 1, 2**63, -(2**63), 10**30),
)
TIMES = ("-1", "0", "1e-300", "0.1", "9e8", "900000000.000001", "1e18", "1e300", "inf", "nan")
KINDS = ("tcp", "ack", "cbr", "udp", "exp", "video", "sctp", "DCCP_Data", "x" * 40)
SUFFIXES = (".csv", ".parquet")

# Lines that say nothing about what was sent or when, or that are far apart in time or number.
KNOWN = {
    "satellite": ["{e} 1.0 -1 -2 cbr 210 ------- 1 0.0 1.0 0 0 0.00 0.00 -48.90 -120.94"],
    "late": ["r 0.5 0 1 tcp 40 ------- 1 0.0 1.0 0 0", "r 9e8 0 1 tcp 40 ------- 1 0.0 1.0 1 1"],
    "beyond": ["r 0.5 0 1 tcp 40 ------- 1 0.0 1.0 0 0", "r 1e18 0 1 tcp 40 ------- 1 0.0 1.0 1 1"],
    "gap": [f"r {t} 0 1 tcp 40 ------- 1 0.0 1.0 {n} {t}" for t, n in ((1, 0), (2, 400_000_000))],
    "ACKs": [f"r {t} 0 1 ack 40 ------- 1 0.0 1.0 {n} {t}" for t, n in ((1, 5593), (2, 2**31))],
    "wide": [f"r {t} 0 1 tcp 40 ------- 1 0.0 1.0 {n} {t}" for t, n in ((1, 0), (2, 2**63 - 1))],
    "wireless": [
        f"r {t} _1_ AGT --- {t} tcp 512 [0 0 0 0] ------- [0:0 1:0 32 0] [{n} 0] 0 0"
        for t, n in ((1, 0), (2, 400_000_000), (3, 2**31 - 1))
    ],
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


def known_trace(name: str) -> bytes:
    """One of KNOWN; where a line leaves the event open, once with each event."""
    lines = [each.format(e=e) for each in KNOWN[name] for e in ("+-r" if "{e}" in each else "r")]
    return "".join(f"{line}\n" for line in lines).encode()


def measure(content: bytes, folder: Path, suffix: str, *, lenient: bool) -> None:
    """Analyze a trace into a file and with narrow bins; a reported error is fine."""
    path = folder / "hostile.tr"
    path.write_bytes(content)
    with suppress(BdpbenchError):
        list(
            analyze(AnalysisRequest([str(path)], output=path.with_suffix(suffix), lenient=lenient))
        )
    if not lenient:
        return  # lenient reading measures the same as strict reading
    with suppress(BdpbenchError):
        list(analyze(AnalysisRequest([str(path)], bin_s=0.1, lenient=True)))


def check(name: str, content: bytes, folder: Path, suffix: str, most_mib: float) -> None:
    """Fail if a trace ends in anything but numbers or one error, or takes too much."""
    began_s = time.process_time()
    # The alarm ends what would never end; its exception says which trace it was.
    signal.alarm(10 * MOST_S)
    for lenient in (True, False):
        try:
            measure(content, folder, suffix, lenient=lenient)
        except BaseException as error:
            raise AssertionError(
                f"{name}, {suffix}:\n{content.decode(errors='replace')}"
            ) from error
    signal.alarm(0)
    took_s = time.process_time() - began_s
    if took_s > MOST_S or peak_mib() > most_mib:
        raise AssertionError(
            f"{name}, {suffix}: {took_s:.0f} s, {peak_mib():.0f} MiB where "
            f"{most_mib:.0f} is the most"
        )


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TimeoutError


def main() -> int:
    """Measure as many traces as requested; an AssertionError reports the first fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for limit, most in ((resource.RLIMIT_AS, ADDRESSES_GIB << 30), (resource.RLIMIT_CPU, 36_000)):
        resource.setrlimit(limit, (most, most))
    signal.signal(signal.SIGALRM, _too_long)
    with tempfile.TemporaryDirectory() as name:
        for suffix in (".html", *SUFFIXES):
            measure(PLAIN, Path(name), suffix, lenient=False)
        most_mib = peak_mib() + MOST_MORE_MIB
        for known in KNOWN:
            check(known, known_trace(known), Path(name), ".html", most_mib)
        for number in range(options.traces):
            chance = random.Random(f"{options.seed} {number}")
            # A page takes a second, so most traces are measured into other files.
            suffix = ".html" if number % 50 == 49 else chance.choice(SUFFIXES)
            check(f"trace {number}", random_trace(chance), Path(name), suffix, most_mib)
    print(
        f"{options.traces} traces, seed {options.seed}: no fault, at most {peak_mib():.0f} MiB, "
        f"{peak_mib() - most_mib + MOST_MORE_MIB:.0f} more than a plain trace takes"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
