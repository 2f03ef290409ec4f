"""Damaged results are reported, set aside, and made again with the same bytes."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from bdpbench.contracts.documents import write_record_atomically

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def _checksums(results: Path) -> dict[str, str]:
    """Checksums of a tier of tests/data/dumbbell; run.json has times, so it is left out."""
    tier = results / "dumbbell" / "quick"
    files = [tier / "metrics.parquet", tier / "scorecard.json", *results.glob("runs/*/*/out/*")]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _overwrite(path: Path, offset: int, content: bytes) -> None:
    """Change some bytes in the middle of a file without changing its size."""
    with path.open("r+b") as stream:
        stream.seek(offset)
        assert stream.read(len(content)) != content
        stream.seek(offset)
        stream.write(content)


def test_damaged_results_are_told_and_made_anew(finished: Path, bdpbench: Run) -> None:
    results = finished / "results"
    tier = results / "dumbbell" / "quick"
    before = _checksums(results)
    first, second, third = sorted((results / "runs").glob("*/*"))
    spec = (first / "spec.json").read_text()

    # Damage that shows when the folders are checked.
    (first / "out" / "util.out").write_text("0.1 0.5\n")
    (first / "spec.json").write_text(spec.replace('"5"', '"50"', 1))
    (second / "run.json").write_text("{")
    (third / "tables" / "cwnd.parquet").unlink()
    (tier / "scorecard.json").write_text("[]")
    (tier / "metrics.parquet").unlink()
    mended = bdpbench("run", "--backend", "native")
    assert mended.returncode == 0, mended.stdout + mended.stderr
    for told in (
        f"{first}/out/util.out has 8 bytes, and ns-2 wrote",
        f"{second}/run.json is not valid JSON",
        f"{third}/tables/cwnd.parquet is gone; the run is parsed again",
        f"{tier}/scorecard.json is not what was written: its SHA-256 differs; the report is made",
        f"{tier}/metrics.parquet is gone; the report is made again",
    ):
        assert told in mended.stdout
    assert "finished other_rtt" in mended.stderr or "finished shared" in mended.stderr
    assert _checksums(results) == before
    assert (first / "spec.json").read_text() == spec

    # Damage that only a stage that reads the files can find.
    _overwrite(first / "tables" / "cwnd.parquet", 300, b"XX")
    _overwrite(second / "out" / "util.out", 0, b"9")
    (second / "tables" / "manifest.json").unlink()
    (tier / "metrics.parquet").write_bytes(b"PAR1 is no table PAR1")
    mended = bdpbench("run", "--backend", "native")
    assert mended.returncode == 0, mended.stdout + mended.stderr
    assert "util.out is not what ns-2 wrote: its SHA-256 differs" in mended.stdout
    assert _checksums(results) == before


def test_a_stage_that_fails_speaks_for_itself(finished: Path, bdpbench: Run) -> None:
    """One message says what is wrong, without Snakemake's account of it."""
    run_dir = min((finished / "results" / "runs").glob("*/*"))
    record = json.loads((run_dir / "run.json").read_text())
    write_record_atomically(run_dir / "run.json", {**record, "schema_version": 9})
    failed = bdpbench("run", "--backend", "native")
    assert failed.returncode == 1
    assert f"{run_dir}/run.json: has schema version 9" in failed.stderr
    assert len(failed.stderr.splitlines()) <= 3
