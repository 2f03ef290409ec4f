"""What users get of every study, as text, to compare two versions of the code by ``diff -r``.

    python tests/snapshots.py STORE [RESULTS]

writes the plans of all tiers with run ids and arguments, and metrics, verdicts and the words of the
report of each published study, judged again, into the new folder STORE; with RESULTS, into which
`./bdpbench run` has simulated the quick tiers, also those of each quick tier, with the SHA-256 of
its exported figures and tables. All goes through the command line of this checkout.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

ROOT = Path(__file__).resolve().parent.parent
STUDIES = ROOT / "config" / "studies"
COMMIT = re.compile(r"\b[0-9a-f]{40}\b|\b[0-9a-f]{7,12}(?=[- ](?:modified|with))")


def bdpbench(*words: str | Path, results: str | Path, unless: str = " ") -> str:
    """Standard output of a command of this checkout; "" if it is refused with ``unless``."""
    given = {**os.environ, "BDPBENCH_RESULTS": str(results)}
    command = [str(ROOT / "bdpbench"), *map(str, words)]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=False)
    if done.returncode != 0 and unless not in done.stderr:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout if done.returncode == 0 else ""


def keep(path: Path, text: str) -> None:
    """Write a text of the snapshot, without commits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(COMMIT.sub("COMMIT", text))


def keep_tier(folder: Path, kept: Path) -> None:
    """Metrics, verdicts and the words of the report of a finished tier."""
    keep(kept / "metrics.csv", pl.read_parquet(folder / "metrics.parquet").write_csv())
    keep(kept / "scorecard.json", (folder / "scorecard.json").read_text())
    page = (folder / "report.html").read_text()
    words = re.sub(r"<(script|style|svg)\b.*?</\1>|<[^>]*>", "\n", page, flags=re.DOTALL)
    keep(kept / "report.txt", "\n".join(html.unescape(words).split("\n")))


def main(store: Path, results: Path | None = None) -> None:
    """Write a snapshot of this checkout."""
    store.mkdir()
    folders = [
        path.parent for path in (*STUDIES.glob("*/study.yaml"), *STUDIES.glob("*/*/study.yaml"))
    ]
    with tempfile.TemporaryDirectory() as name:
        for folder in folders:
            for tier in ("quick", "paper", "full"):
                asked = ("plan", folder, "--tier", tier)
                if path := bdpbench(*asked, results=name, unless="has no runs in tier").strip():
                    runs = json.loads(Path(path).read_text())["runs"]
                    rows = [
                        [run["scenario"], run["label"], run["run_id"], *run["argv"]] for run in runs
                    ]
                    lines = "".join("\t".join(row) + "\n" for row in rows)
                    keep(store / "plans" / f"{folder.name}.{tier}.tsv", lines)
    with tempfile.TemporaryDirectory() as name:
        copied = shutil.copytree(ROOT / "reports" / "published", Path(name) / "published")
        for folder in sorted(copied.iterdir()):
            study, _, tier = folder.name.partition("-")
            study = study if (STUDIES / study).is_dir() else f"config/{study}"
            options = ["--tier", tier] if tier else []
            bdpbench("publish", study, "-o", copied, *options, results=f"{name}/results")
            keep_tier(folder, store / "published" / folder.name)
    for folder in folders if results else ():
        bdpbench("run", folder, "--tier", "quick", results=results or "")
        kept = store / "quick" / folder.name
        keep_tier(Path(results or "", folder.name, "quick"), kept)
        with tempfile.TemporaryDirectory() as name:
            asked = ("report", folder, "--tier", "quick", "--format", "svg", "--export", name)
            bdpbench(*asked, results=results or "")
            files = sorted(path for path in Path(name).rglob("*") if path.is_file())
            own = re.compile(rb"commit [0-9a-f]+[^.,;)\s]*")  # captions name the commit
            sums = [hashlib.sha256(own.sub(b"", path.read_bytes())).hexdigest() for path in files]
            lines = "".join(f"{a}  {path.name}\n" for a, path in zip(sums, files, strict=True))
            keep(kept / "exported.txt", lines)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*(Path(each).resolve() for each in sys.argv[1:]))
