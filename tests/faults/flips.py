"""Flips and truncations of everything that is kept: nothing damaged is believed, nothing is lost.

    PYTHONPATH=pipeline:. python tests/faults/flips.py --damages 200 --seed 1

Files of each kind get that many: a bit of some byte flipped, or the end cut off. Afterwards
whoever reads the kind has to find what was written, find nothing, or say that it is damaged; and
values and series of a run, which are made again, have to be those that they were.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.app.conftest import call_bdpbench, write_config
from tests.pipeline.pages import evaluated as made

from bdpbench.app.keep.archive import verify_archive
from bdpbench.app.keep.results import KeptResults
from bdpbench.app.keep.tier import collect
from bdpbench.app.planning import Wanted, prepare
from bdpbench.contracts.evaluation import read_evaluation, write_evaluation
from bdpbench.contracts.kept import LIST_NAME, difference, keep, read_kept, seal, sealed
from bdpbench.contracts.reports import is_reported
from bdpbench.contracts.runs import read_run
from bdpbench.errors import BdpbenchError

Read = Callable[[], object]
BINS = 2000


def damaged(whole: bytes, chance: random.Random) -> bytes:
    """A content with a bit flipped or the end cut off."""
    at = chance.randrange(len(whole))
    if chance.random() < 0.5:
        return whole[:at]
    return whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :]


def kinds(folder: Path) -> Iterator[tuple[str, list[Path], Read]]:
    """Kind, its files, and what reads them: to what was written, to None, or to an error."""
    tier, runs = folder / "results" / "dumbbell" / "quick", folder / "results" / "runs"
    published, archive = folder / "published" / "dumbbell", folder / "a.zip"
    prepared = prepare(Wanted("dumbbell", "quick"))

    def measured() -> object:
        found = collect(prepared, allow_partial=True)
        if found.missing:
            return None
        runs_of = {run["run_id"]: run for run in prepared.runs}
        series = [found.data.of(runs_of[each]).series(BINS) for each in found.finished]
        return found.metrics.rows(), series

    def kept() -> object:
        found = KeptResults(published)
        return found.metrics.rows(), found.scorecard, found.runs, found.provenance

    def unpacked() -> object:
        if verify_archive(archive):
            return None
        with zipfile.ZipFile(archive) as found:
            return [found.read(name) for name in sorted(found.namelist())]

    record = min(runs.glob("*/*/run.json"))
    yield "records of runs", [record], lambda: read_run(record.parent)
    for name, pattern in (
        ("manifests of tables", "*/*/tables/manifest.json"),
        ("tables", "*/*/tables/*.parquet"),
        ("values", "*/*/values/*"),
        ("series", f"*/*/series/{BINS}.txt"),
    ):
        yield name, sorted(runs.glob(pattern)), measured
    files = [tier / each for each in sealed(tier / LIST_NAME)]
    yield "files of a tier", files, lambda: is_reported(tier, prepared.plan, runs) or None
    read_files = ("metrics.parquet", "scorecard.json", "runs.parquet", "provenance.json")
    yield "published folders", [published / each for each in read_files], kept
    yield "archives", [archive], unpacked

    values = [made.value("Mine", 1, 1), made.value("cubic", 2, 2)]
    evaluation = folder / "evaluation"
    write_evaluation(evaluation, made.evaluation([made.figure("a", *values)]), made.cells())

    def evaluated() -> object:
        document, cells = read_evaluation(evaluation)
        return document, cells.rows()

    yield "evaluations and their cells", sorted(evaluation.iterdir()), evaluated
    library, listing, cache = folder / "law.so", folder / "law.sha256", folder / "cache.txt"
    shutil.copy(sys.executable, library)
    seal(listing, [library], "made of")

    def vouched() -> object:
        return None if difference(listing, library.name, "made of") else "whole"

    yield "libraries", [library, listing], vouched
    keep(cache, "made of", "a text that is kept\n" * 1000)
    yield "caches", [cache], lambda: read_kept(cache, "made of")


def outcome(read: Read, whole: object) -> str:
    """How reading ends: *whole*, *absent* or *refused*; or *believed*, which is a fault."""
    try:
        found = read()
    except BdpbenchError:
        return "refused"
    return "absent" if found is None else "whole" if found == whole else "believed"


def damage(files: list[Path], read: Read, count: int, chance: random.Random) -> Counter[str]:
    """Outcomes of damages to the files of a kind; *lost* is what does not come back."""
    whole, found = read(), Counter[str]()
    for _ in range(count):
        path = chance.choice(files)
        content = path.read_bytes()
        path.write_bytes(damaged(content, chance))
        found[outcome(read, whole)] += 1
        path.write_bytes(content)
    found["lost"] = int(read() != whole)
    return found


def main() -> int:
    """Damage each kind so often; returns whether anything was believed or lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--damages", type=int, default=20, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_config(folder)
        for words in (["run"], ["publish", "-o", f"{folder}/published"],
                      ["archive", "-o", f"{folder}/a.zip"]):  # fmt: skip
            done = call_bdpbench(folder, *words)
            assert done.returncode == 0, done.stderr
        os.environ |= {
            "BDPBENCH_CONFIG": f"{folder}/config",
            "BDPBENCH_RESULTS": f"{folder}/results",
        }
        os.environ["BDPBENCH_HOME"] = f"{folder}/home"
        for kind, files, read in kinds(folder):
            found = damage(files, read, given.damages, random.Random(given.seed))
            faults += found["believed"] + found["lost"]
            told = ", ".join(f"{count} {each}" for each, count in sorted(found.items()))
            print(f"{kind}: {told}", flush=True)
    return min(faults, 1)


if __name__ == "__main__":
    sys.exit(main())
