"""Proof that a change of the code left all outputs as they were.

    python tests/snapshots.py take RESULTS STORE
    python tests/snapshots.py compare BEFORE AFTER

``take`` writes what users get of every study, as text, into the folder STORE: the plans of all
tiers with run ids and arguments, metrics, verdicts, exported figures and tables and the words of
the report of each quick tier, and the same of each published study, judged again. The quick tiers
must have been simulated into RESULTS by `./bdpbench run`. ``compare`` shows how two such folders
differ. Everything goes through the command line, so that any version of the code can be used.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import polars as pl

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ROOT / "config" / "studies"
SHOWN_LINES = 12


def bdpbench(*arguments: str | Path, results: Path, unless: str = "") -> str:
    """Standard output of a command of this checkout; "" if it is refused with ``unless``."""
    command = [str(ROOT / "bdpbench"), *map(str, arguments)]
    environment = {**os.environ, "BDPBENCH_RESULTS": str(results)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if unless and unless in done.stderr:
        return ""
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def studies() -> Iterator[tuple[str, str]]:
    """Name in the snapshot and argument of the command line, of every study and example."""
    for path in sorted(STUDIES.glob("*/study.yaml")):
        yield path.parent.name, path.parent.name
    for path in sorted(STUDIES.glob("examples/*/study.yaml")):
        yield path.parent.name, str(path.parent.relative_to(ROOT))


class _Words(HTMLParser):
    """The words of a page, without scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style", "svg")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style", "svg")

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.words.append(" ".join(data.split()))


def words_of(page: Path) -> str:
    """The words of a page, a line for each piece of text; commits are left out."""
    reader = _Words()
    reader.feed(page.read_text())
    text = "\n".join(reader.words) + "\n"
    return re.sub(r"\b[0-9a-f]{40}\b|\b[0-9a-f]{7,12}(?=[- ](?:modified|with))", "COMMIT", text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _take_plans(store: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        for name, study in studies():
            for tier in ("quick", "paper", "full"):
                asked = ("plan", study, "--tier", tier)
                path = bdpbench(*asked, results=Path(scratch), unless="has no runs in tier")
                if not path:
                    continue
                plan = json.loads(Path(path.strip()).read_text())
                lines = [
                    "\t".join([run["scenario"], run["label"], run["run_id"], *run["argv"]])
                    for run in plan["runs"]
                ]
                _write(store / "plans" / f"{name}.{tier}.tsv", "\n".join(lines) + "\n")


def _take_results(folder: Path, kept: Path) -> None:
    """Metrics, verdicts and the words of the report of a finished tier."""
    _write(kept / "metrics.csv", pl.read_parquet(folder / "metrics.parquet").write_csv())
    _write(kept / "scorecard.json", (folder / "scorecard.json").read_text())
    _write(kept / "report.txt", words_of(folder / "report.html"))


def _take_quick(results: Path, store: Path) -> None:
    for name, study in studies():
        bdpbench("run", study, "--tier", "quick", results=results)
        _take_results(results / name / "quick", store / "quick" / name)
        with tempfile.TemporaryDirectory() as scratch:
            arguments = ("report", study, "--tier", "quick", "--format", "svg", "--export", scratch)
            bdpbench(*arguments, results=results)
            files = [path for path in sorted(Path(scratch).rglob("*")) if path.is_file()]
            sums = [f"{_digest(path)}  {path.name}" for path in files]
            _write(store / "quick" / name / "exported.txt", "\n".join(sums) + "\n")


def _digest(path: Path) -> str:
    """SHA-256 of an exported file; captions name the commit, which is left out."""
    content = re.sub(rb"commit [0-9a-f]+[^.,;)\s]*", b"commit", path.read_bytes())
    return hashlib.sha256(content).hexdigest()


def _take_published(store: Path) -> None:
    for folder in sorted((ROOT / "reports" / "published").iterdir()):
        with tempfile.TemporaryDirectory() as scratch:
            published = Path(scratch) / folder.name
            shutil.copytree(folder, published)
            study, _, tier = folder.name.partition("-")
            if tier:  # it is published as such only beside another one
                shutil.copytree(folder.with_name(study), published.with_name(study))
            study = study if (STUDIES / study).is_dir() else f"config/{study}"
            again = ("publish", study, "-o", scratch, *(["--tier", tier] if tier else []))
            bdpbench(*again, results=Path(scratch) / "results")
            _take_results(published, store / "published" / folder.name)


def take(results: Path, store: Path) -> None:
    """Write a snapshot of this checkout into an empty folder."""
    if store.exists():
        sys.exit(f"{store} exists")
    _take_plans(store)
    _take_published(store)
    _take_quick(results, store)


def compare(before: Path, after: Path) -> int:
    """Print the differences of two snapshots, a few lines of each; return their number."""
    names = {path.relative_to(each) for each in (before, after) for path in each.rglob("*.*")}
    count = 0
    for name in sorted(names):
        texts = [_text(before / name), _text(after / name)]
        if texts[0] != texts[1]:
            count += 1
            lines = list(
                difflib.unified_diff(*(each.splitlines() for each in texts), lineterm="", n=0)
            )
            print(f"{name}: {len(lines)} lines of difference")
            for line in lines[2 : 2 + SHOWN_LINES]:
                print(f"    {line[:200]}")
    print(f"{len(names)} files compared, {count} differ")
    return count


def _text(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["take", results, store]:
            take(Path(results).resolve(), Path(store).resolve())
        case ["compare", before, after]:
            sys.exit(bool(compare(Path(before), Path(after))))
        case _:
            sys.exit(__doc__)
