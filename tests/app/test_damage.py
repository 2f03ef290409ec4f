"""What is damaged counts as absent, and is made again with the same bytes."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.app.conftest import call_bdpbench, check_refused, said_by, write_config

from bdpbench.contracts.documents import write_record_atomically
from bdpbench.pages.shards import read_shards

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def _checksums(results: Path) -> dict[str, str]:
    """Checksums of a tier of tests/data/dumbbell; run.json has times, so it is left out."""
    tier = results / "dumbbell" / "quick"
    files = [tier / "metrics.parquet", tier / "scorecard.json", *results.glob("runs/*/*/out/*")]
    return {
        str(path.relative_to(results)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def _overwrite(path: Path, offset: int, content: bytes) -> None:
    """Change some bytes in the middle of a file without changing its size."""
    with path.open("r+b") as stream:
        stream.seek(offset)
        assert stream.read(len(content)) != content
        stream.seek(offset)
        stream.write(content)


def test_what_is_damaged_is_made_again(finished: Path, bdpbench: Run) -> None:
    results = finished / "results"
    tier = results / "dumbbell" / "quick"
    before = _checksums(results)
    first, second, third = sorted((results / "runs").glob("*/*"))
    text = (first / "run.json").read_text()
    (first / "run.json").write_text(text.replace('"wall_s": ', '"wall_s": 1', 1))
    (second / "run.json").write_text("{")
    (third / "tables" / "cwnd.parquet").write_bytes(b"PAR1 is no table PAR1")
    shutil.rmtree(third / "values")
    (tier / "scorecard.json").write_text("[]")
    (tier / "metrics.parquet").unlink()
    assert "1 finished, 2 to simulate" in said_by(bdpbench("run", "--backend", "native"))
    assert _checksums(results) == before

    # Nothing is simulated for what can be made from intact files.
    (first / "tables" / "queue.parquet").unlink()
    (second / "tables" / "manifest.json").unlink()
    (third / "tables" / "manifest.json").write_text("{")
    shutil.rmtree(third / "values")
    (tier / "report.html").write_text("")
    assert "3 finished, 0 to simulate" in said_by(bdpbench("run", "--backend", "native"))
    assert _checksums(results) == before
    assert (tier / "report.html").stat().st_size > 0


def test_runs_whose_outputs_are_needed_and_damaged_are_named_at_once_and_simulated_again(
    finished: Path, bdpbench: Run
) -> None:
    results = finished / "results"
    before = _checksums(results)
    first, second, third = sorted((results / "runs").glob("*/*"))
    _overwrite(first / "out" / "util.out", 0, b"9")
    assert "0 to simulate" in said_by(bdpbench("run", "--backend", "native"))  # nobody needs it
    shutil.rmtree(first / "tables")
    shutil.rmtree(second / "tables")
    shutil.rmtree(second / "out")
    _overwrite(third / "out" / "util.out", 0, b"9")
    failed = bdpbench("run", "--backend", "native")
    check_refused(failed, str(first / "out" / "util.out"), str(second / "out"))
    assert str(third) not in failed.stderr
    assert "1 finished, 2 to simulate" in said_by(bdpbench("run", "--backend", "native"))
    _overwrite(third / "out" / "util.out", 0, b"0")
    assert _checksums(results) == before


def test_runs_of_another_machine_need_no_outputs(finished_once: Path, tmp_path: Path) -> None:
    """As `rsync` copies them without outputs."""
    elsewhere, runs = tmp_path / "elsewhere", Path("results", "runs")
    write_config(elsewhere)
    shutil.copytree(
        finished_once / runs, elsewhere / runs, ignore=shutil.ignore_patterns(".*", "out")
    )
    assert "3 finished, 0 to simulate" in said_by(call_bdpbench(elsewhere, "run"))
    made, whole = (_checksums(each / "results") for each in (elsewhere, finished_once))
    assert made.items() <= whole.items()
    assert len(made) == 2
    for workspace, linked in ((elsewhere, False), (finished_once, True)):
        tier = workspace / "results" / "dumbbell" / "quick"
        parts = [json.dumps(content) for content in read_shards(tier / "report.html")]
        assert any("../../runs/" in each for each in parts) == linked


def test_a_record_of_another_version_is_left_alone(finished: Path, bdpbench: Run) -> None:
    run_dir = min((finished / "results" / "runs").glob("*/*"))
    record = json.loads((run_dir / "run.json").read_text())
    write_record_atomically(run_dir / "run.json", {**record, "schema_version": 9})
    failed = bdpbench("run", "--backend", "native")
    check_refused(failed, f"{run_dir}/run.json: has schema version 9")
    assert len(failed.stderr.splitlines()) <= 3
