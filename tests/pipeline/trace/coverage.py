"""Every trace that ns-2's own suite and examples write: analysed with equal counts, or refused.

    coverage.py collect NS STORE [--examples | --suite]
    coverage.py check STORE [-o docs/trace-coverage.md]

``collect`` runs ns-2.35's validation suite and the scripts of ``tcl/ex`` and keeps what they write
(``keep_traces.py``); what has been run before is not run again. ``check`` analyses each file and
holds its packets to a counter that reads the lines by itself (``tests/pipeline/metrics/packets/
counter.py``): for all ends together what was sent, received, in bytes, and dropped, and for each
node the energy that was told first and last. It writes the
table of all files, and ends with 1 where one is neither confirmed nor refused with a reason.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from tests.ns2.validation import Limits, open_suite, run_subset
from tests.pipeline.metrics.packets.counter import Count, Ends, count, energies

from bdpbench.errors import BdpbenchError
from bdpbench.metrics.packets import COLUMNS, PacketSums, sum_packets
from bdpbench.trace import Trace, open_trace

KEEPER = Path(__file__).with_name("keep_traces.py")
MOST_SUBSET_S = 3600.0
MOST_EXAMPLE_S = 400.0
_BEGINNING = 1 << 20


@dataclass(frozen=True)
class Written:
    """A file that a script wrote: where from, what it is called, and its content's SHA-256."""

    source: str
    test: str
    file: str
    sha256: str
    size: int


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


def collect(ns: Path, store: Path, *, suite: bool, examples: bool) -> None:
    """Run the scripts that have not been run, and keep what they write."""
    store.mkdir(parents=True, exist_ok=True)
    known = open_suite()
    with tempfile.TemporaryDirectory() as scratch:
        if suite:
            for subset in _left(store, [f"test/{each}" for each in known.subsets()]):
                keeper = _keeper(Path(scratch), ns, store, subset)
                run_subset(known, subset.removeprefix("test/"), keeper, Limits(MOST_SUBSET_S))
                _done(store, subset)
        if examples:
            root = Path(scratch) / "ns"
            shutil.copytree(known.root, root, symlinks=True)
            folder = root / "tcl" / "ex"
            scripts = sorted(folder.rglob("*.tcl"))
            names = [f"ex/{each.relative_to(folder)}" for each in scripts]
            for name in _left(store, names):
                _run_example(_keeper(Path(scratch), ns, store, name), folder / name[3:])
                _done(store, name)


def _left(store: Path, names: Sequence[str]) -> Iterator[str]:
    path = store / "done.txt"
    done = path.read_text().splitlines() if path.is_file() else []
    yield from (name for name in names if name not in done)


def _done(store: Path, name: str) -> None:
    with (store / "done.txt").open("a") as stream:
        stream.write(f"{name}\n")
    print(name, flush=True)


def _keeper(folder: Path, ns: Path, store: Path, source: str) -> Path:
    path = folder / "ns-keeping"
    words = " ".join(
        f'"{each}"' for each in (sys.executable, "-I", "-S", KEEPER, ns, store, source)
    )
    path.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    path.chmod(0o755)
    return path


def _run_example(keeper: Path, script: Path) -> None:
    child = subprocess.Popen(
        [keeper, script.name],
        cwd=script.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(MOST_EXAMPLE_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def written(stores: Sequence[Path]) -> list[Written]:
    """What was kept, each content of a script once, in the order of its scripts."""
    found: dict[tuple[str, str], Written] = {}
    for store in stores:
        for line in (store / "index.jsonl").read_text().splitlines():
            row = json.loads(line)
            words = [each for each in row["arguments"] if each.upper() != "QUIET"]
            test = " ".join(words[1:]) if row["source"].startswith("test/") else ""
            each = Written(row["source"], test, row["file"], row["sha256"], row["bytes"])
            found.setdefault((each.source, each.sha256), each)
    return sorted(found.values(), key=lambda each: (each.source, each.file, each.test))


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


def check(stores: Sequence[Path], kept: Path, most_bytes: float) -> dict[str, Verdict]:
    """SHA-256 → verdict of each file: what is ``kept`` is not judged again.

    Of larger files only the beginning is looked at, which tells whether they are traces.
    """
    known: dict[str, Verdict] = {}
    if kept.is_file():
        known = {name: Verdict(**each) for name, each in json.loads(kept.read_text()).items()}
    with tempfile.TemporaryDirectory() as scratch:
        for each in sorted(written(stores), key=lambda each: each.size):
            if each.sha256 in known:
                continue
            is_large = each.size > most_bytes
            store = next(store for store in stores if (store / f"{each.sha256}.gz").is_file())
            path = Path(scratch) / Path(each.file).name
            with gzip.open(store / f"{each.sha256}.gz") as packed, path.open("wb") as plain:
                if is_large:
                    plain.write(packed.read(_BEGINNING).rpartition(b"\n")[0] + b"\n")
                else:
                    shutil.copyfileobj(packed, plain)
            verdict = glance(path) if is_large else judge(path)
            path.unlink()
            if verdict is None:
                continue
            known[each.sha256] = verdict
            kept.write_text(json.dumps({name: vars(every) for name, every in known.items()}))
    left = Verdict("not checked", "", f"larger than {most_bytes / 1e6:g} MB")
    return {each.sha256: known.get(each.sha256, left) for each in written(stores)}


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


def document(rows: Sequence[Written], verdicts: dict[str, Verdict]) -> str:
    """The table of all files, those of one script, form and verdict in one line."""
    totals = Counter(verdicts[each.sha256].kind for each in rows)
    text = [HEAD]
    text.append(", ".join(f"{number:,} {kind}" for kind, number in sorted(totals.items())))
    text.append(f" of {len(rows):,} files.\n\n")
    text.append("| script | files | lines are | verdict | of |\n|---|---|---|---|---|\n")
    groups: dict[tuple[str, ...], list[Written]] = defaultdict(list)
    for each in rows:
        verdict = verdicts[each.sha256]
        words = "" if verdict.kind in _ANALYSED else _cell(verdict.words)
        groups[each.source, each.file, verdict.form, verdict.kind, words].append(each)
    for (source, file, form, kind, words), files in groups.items():
        about = f"{kind}: {words}" if words else kind
        count = f"`{file}`" if len(files) == 1 else f"{len(files)} × `{file}`"
        text.append(f"| {source} | {count} | {form or '–'} | {about} | {_tests(files)} |\n")
    return "".join(text)


def _tests(files: Sequence[Written]) -> str:
    return ", ".join(dict.fromkeys(each.test for each in files if each.test)) or "–"


def _cell(text: str) -> str:
    """Words without what differs from file to file."""
    text = text.split("; the line reads")[0].removeprefix("not a trace of ns-2: ")
    return text.replace("|", r"\|").replace("`", "'")


def main() -> int:
    """Collect, or check and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    collecting = commands.add_parser("collect")
    collecting.add_argument("ns", type=Path)
    collecting.add_argument("store", type=Path)
    collecting.add_argument("--suite", action="store_true")
    collecting.add_argument("--examples", action="store_true")
    checking = commands.add_parser("check")
    checking.add_argument("stores", type=Path, nargs="+")
    checking.add_argument("-o", "--output", type=Path)
    checking.add_argument("--most-mb", type=float, default=math.inf, help="leave out larger files")
    options = parser.parse_args()
    if options.command == "collect":
        both = not options.suite and not options.examples
        suite, examples = options.suite or both, options.examples or both
        collect(options.ns, options.store.absolute(), suite=suite, examples=examples)
        return 0
    kept = options.stores[0] / "verdicts.json"
    verdicts = check(options.stores, kept, 1e6 * options.most_mb)
    rows = written(options.stores)
    if options.output:
        options.output.write_text(document(rows, verdicts), encoding="utf-8")
    wrong = [each for each in rows if verdicts[each.sha256].kind == "differs"]
    for each in wrong:
        print(each.source, each.test, each.file, verdicts[each.sha256].words)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
