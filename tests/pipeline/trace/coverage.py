"""Every trace that ns-2's own suite and examples write: analysed with equal counts, or refused.

    coverage.py NS STORE [-o docs/trace-coverage.md] [--most-mb MB]

runs ns-2.35's validation suite and the scripts of ``tcl/ex``, keeps what they write in STORE (what
has been run before is not run again), analyses each file and holds its packets to a counter that
reads the lines by itself (``tests/pipeline/metrics/packets/counter.py``): for all ends together
what was sent, received, in bytes, and dropped, and for each node the energy that was told first and
last. It writes the table of all files, and ends with 1 where one is neither confirmed nor refused
with a reason. Of files beyond MB only the beginning is read, which tells whether they are traces.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from tests.ns2 import validation_recorder
from tests.ns2.validation import Limits, open_suite, run_subset
from tests.pipeline.metrics.packets.counter import Count, Ends, count, energies

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets import COLUMNS, PacketSums, sum_packets
from bdpbench.trace import Trace, open_trace

MOST_SUBSET_S = 3600.0
MOST_EXAMPLE_S = 400.0
_BEGINNING = 1 << 20


@dataclass(frozen=True)
class Verdict:
    """What became of a file.

    Attributes:
        kind: "confirmed", "cut", "samples", "refused", "differs", or "not checked".
        form: forms of its lines, "" where it was refused.
        words: what confirms it, why it was refused, or what differs.
    """

    kind: str
    form: str
    words: str


# Script → test of it, "" for an example, and file → SHA-256 of its content.
Written = dict[str, list[tuple[str, dict[str, str]]]]


def collect(ns: Path, store: Path) -> Written:
    """Run the scripts that have not been run, and keep what they write."""
    index, suite = store / "index.json", open_suite()
    found: Written = json.loads(index.read_text()) if index.exists() else {}
    os.environ["BDPBENCH_KEEP"] = str(store)
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "ns"
        shutil.copytree(suite.root, root, symlinks=True)
        examples = root / "tcl" / "ex"
        for name in [f"test/{each}" for each in suite.subsets()] + [
            f"ex/{each.relative_to(examples)}" for each in sorted(examples.rglob("*.tcl"))
        ]:
            if name in found:
                continue
            if name.startswith("test/"):
                tests = run_subset(suite, name[5:], ns, Limits(MOST_SUBSET_S)).tests
                found[name] = [(each.name, dict(each.outputs)) for each in tests]
            else:
                found[name] = [("", _files_of_example(ns, examples / name[3:]))]
            index.write_text(json.dumps(found))
            print(name, flush=True)
    return found


def _files_of_example(ns: Path, script: Path) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as name:
        log, records = Path(name) / "log.txt", Path(name) / "records.jsonl"
        program = [sys.executable, "-I", "-S", validation_recorder.__file__]
        with log.open("wb") as said, suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [*program, str(ns), str(records), str(log), script.name],
                cwd=script.parent, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                timeout=MOST_EXAMPLE_S, check=False,
            )  # fmt: skip
        return dict(json.loads(records.read_text())["files"]) if records.exists() else {}


def judge(path: Path) -> Verdict:
    """Analyse a file, strictly, and hold what was found to the counter.

    Where ns-2 was ended while it wrote, which is told strictly, the whole lines are counted.
    """
    try:
        return _judged(path, lenient=False)
    except BdpbenchError as error:
        if "the last line was cut off" in error.message:
            return _judged(path, lenient=True)
        return Verdict("refused", "", _reason(error, path))


def _judged(path: Path, *, lenient: bool) -> Verdict:
    trace = open_trace(path, lenient=lenient)
    if trace.table != "packets":
        return _samples(trace, path)
    sums = sum_packets(trace.batches(COLUMNS))
    lines = _text(path).splitlines()
    if trace.account.cut:
        lines.pop()
    if trace.account.parsed + trace.account.headings != len(lines):
        words = f"{trace.account.parsed} of {len(lines)} lines parsed"
        return Verdict("differs", trace.format, words)
    counted = count(lines)
    differences = [*_differences(sums, counted), *_of_energy(sums, energies(lines))]
    if differences:
        return Verdict("differs", trace.format, "; ".join(differences[:3]))
    total = sum(each.received for each in counted.values())
    words = f"{len(lines)} lines, {total} packets received"
    return Verdict("cut" if trace.account.cut else "confirmed", trace.format, words)


def glance(path: Path) -> Verdict | None:
    """That a file is refused, if its first lines are those of no trace; else None."""
    try:
        open_trace(path)
    except BdpbenchError as error:
        return Verdict("refused", "", _reason(error, path))
    return None


def _reason(error: BdpbenchError, path: Path) -> str:
    return error.message.replace(str(path), path.name)


def _text(path: Path) -> str:
    """The lines of a file, without blank ones at its end."""
    data = path.read_bytes()
    data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    return data.rstrip(b" \t\r\n").decode("ascii", "replace")


def _samples(trace: Trace, path: Path) -> Verdict:
    rows = sum(batch.height for batch in trace.batches())
    lines = len(_text(path).splitlines()) - len(trace.account.cut)
    if trace.account.parsed + trace.account.headings != lines:
        return Verdict("differs", trace.format, f"{trace.account.parsed} of {lines} lines parsed")
    return Verdict("samples", trace.format, f"{lines} lines, {rows} rows of {trace.table}")


def _differences(sums: PacketSums, counted: dict[Ends, Count]) -> Iterator[str]:
    """What the analysis counts otherwise, by the ends of packets."""
    ends = ["src_node", "src_port", "dst_node", "dst_port"]
    names = ("sent", "received", "received_bytes", "dropped")
    columns = ("sent_pkts", "received_pkts", "received_bytes", "dropped_pkts")
    flows = sums.flows.with_columns(pl.col("^.*_port$").fill_null(-1)).drop_nulls(ends)
    rows = flows.group_by(ends).agg(pl.col(columns).sum())
    ours = {tuple(row[:4]): row[4:] for row in rows.select(*ends, *columns).iter_rows()}
    for key in sorted(ours.keys() | counted.keys()):
        theirs = counted.get(key, Count())
        expected = tuple(getattr(theirs, name) for name in names)
        got = ours.get(key, (0, 0, 0, 0))
        if tuple(got) != expected:
            yield f"{key}: {dict(zip(names, got, strict=True))}, counted {expected}"


def _of_energy(sums: PacketSums, counted: dict[int, tuple[float, float]]) -> Iterator[str]:
    """Nodes whose energy the analysis reads otherwise."""
    rows = sums.energy.select("node", "first_j", "last_j").iter_rows()
    ours = {node: (first_j, last_j) for node, first_j, last_j in rows}
    for node in sorted(ours.keys() | counted.keys()):
        if ours.get(node) != counted.get(node):
            yield f"energy of node {node}: {ours.get(node)}, counted {counted.get(node)}"


def check(store: Path, written: Written, most_bytes: float) -> dict[str, Verdict]:
    """SHA-256 → verdict of each file that was kept."""
    found: dict[str, Verdict] = {}
    names = {sha256: file for tests in written.values() for _, files in tests
             for file, sha256 in files.items()}  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        for sha256, file in names.items():
            kept, path = store / f"{sha256}.gz", Path(scratch) / file
            if not kept.is_file():  # it is empty, or an exit status
                continue
            with gzip.open(kept) as packed, path.open("wb") as plain:
                shutil.copyfileobj(packed, plain)
            if path.stat().st_size > most_bytes:
                path.write_bytes(path.read_bytes()[:_BEGINNING].rpartition(b"\n")[0] + b"\n")
                left = Verdict("not checked", "", f"larger than {most_bytes / 1e6:g} MB")
                found[sha256] = glance(path) or left
            else:
                found[sha256] = judge(path)
            path.unlink()
    return found


_ANALYSED = ("confirmed", "cut", "samples")
HEAD = """\
# What ns-2's own traces come to

Made by `tests/pipeline/trace/coverage.py`, which runs the validation suite of ns-2.35 and the
scripts of its `tcl/ex`, analyses every file that they write, and counts its packets again with
plain Python: for all pairs of agents what was sent, received, in bytes, and dropped, and for each
node the energy that was told first and last.

- **confirmed**: every line was parsed, and all counts agree.
- **cut**: the same but for the last line, which ns-2 did not finish: it fell over, or was ended for
  its time or the file's size. Such a file is analysed with `--lenient`, and refused without.
- **samples**: no packets, but values over time; every line became rows.
- **refused**: the file is not a trace of packets or samples, or not one of ns-2's, and is told to
  be what stands there.

"""


def document(written: Written, verdicts: dict[str, Verdict]) -> str:
    """The table of all files, each content of a script once, equal ones in one line."""
    groups: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for source, tests in sorted(written.items()):
        seen = set[str]()
        for test, files in tests:
            for file, sha256 in files.items():
                if sha256 in verdicts and sha256 not in seen:
                    seen.add(sha256)
                    verdict = verdicts[sha256]
                    words = "" if verdict.kind in _ANALYSED else _cell(verdict.words)
                    groups[source, file, verdict.form, verdict.kind, words][sha256] = test
    totals = Counter(kind for (*_, kind, _), files in groups.items() for _ in files)
    text = [HEAD, ", ".join(f"{number:,} {kind}" for kind, number in sorted(totals.items()))]
    text.append(f" of {totals.total():,} files.\n\n")
    text.append("| script | files | lines are | verdict | of |\n|---|---|---|---|---|\n")
    for (source, file, form, kind, words), files in sorted(groups.items()):
        about = f"{kind}: {words}" if words else kind
        name = f"`{file}`" if len(files) == 1 else f"{len(files)} × `{file}`"
        tests_of = ", ".join(dict.fromkeys(filter(None, files.values()))) or "–"
        text.append(f"| {source} | {name} | {form or '–'} | {about} | {tests_of} |\n")
    return "".join(text)


def _cell(text: str) -> str:
    """Words without what differs from file to file."""
    text = text.split("; the line reads")[0].removeprefix("not a trace of ns-2: ")
    text = re.split(r"[:;,] ", text)[0].removeprefix("this is ")  # as much as tells files apart
    return text.replace("|", r"\|").replace("`", "'")


def main() -> int:
    """Collect, check, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ns", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--most-mb", type=float, default=math.inf)
    given = parser.parse_args()
    given.store.mkdir(parents=True, exist_ok=True)
    written = collect(given.ns, given.store.absolute())
    verdicts = check(given.store, written, 1e6 * given.most_mb)
    if given.output:
        given.output.write_text(document(written, verdicts), encoding="utf-8")
    wrong = {sha256: each for sha256, each in verdicts.items() if each.kind == "differs"}
    for sha256, verdict in wrong.items():
        print(sha256, verdict.words)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
