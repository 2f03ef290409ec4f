"""Results that were damaged are told, set aside and made anew, with the same bytes."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def _checksums(results: Path) -> dict[str, str]:
    """What a tier of the study of tests/data/dumbbell ends with; run.json has times in it."""
    tier = results / "dumbbell" / "quick"
    files = [tier / "metrics.parquet", tier / "scorecard.json", *results.glob("runs/*/*/out/*")]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _overwrite(path: Path, offset: int, content: bytes) -> None:
    """Change some bytes in the middle of a file, whose size stays."""
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

    # What a look at the folders tells.
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
        f"{tier}/scorecard.json has schema version None",
    ):
        assert told in mended.stdout
    assert "finished other_rtt" in mended.stderr or "finished shared" in mended.stderr
    assert _checksums(results) == before
    assert (first / "spec.json").read_text() == spec

    # What only a stage finds that reads the files.
    _overwrite(first / "tables" / "cwnd.parquet", 300, b"XX")
    _overwrite(second / "out" / "util.out", 0, b"9")
    (second / "tables" / "manifest.json").unlink()
    (tier / "metrics.parquet").write_bytes(b"PAR1 is no table PAR1")
    mended = bdpbench("run", "--backend", "native")
    assert mended.returncode == 0, mended.stdout + mended.stderr
    assert "util.out is not what ns-2 wrote: its SHA-256 differs" in mended.stdout
    assert _checksums(results) == before


def test_a_stage_that_fails_speaks_for_itself(finished: Path, bdpbench: Run) -> None:
    """One message of what is wrong, not Snakemake's account of it."""
    run_dir = min((finished / "results" / "runs").glob("*/*"))
    record = (run_dir / "run.json").read_text()
    (run_dir / "run.json").write_text(record.replace('"schema_version": 2', '"schema_version": 9'))
    failed = bdpbench("run", "--backend", "native")
    assert failed.returncode == 1
    assert f"{run_dir}/run.json: has schema version 9" in failed.stderr
    assert len(failed.stderr.splitlines()) <= 3
