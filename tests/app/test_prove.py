"""Published runs get new ids if simulations of a sample give their checksums; all or none."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
from tests.app.conftest import check_refused, said_by
from tests.waiting import HANGS_S, wait_for

from bdpbench.app.keep.proof import Pair, sample_of
from bdpbench.archive.results import KeptResults
from bdpbench.contracts.kept import LIST_NAME
from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.reports import KeptRun, kept_runs_bytes
from bdpbench.pages.packing import pack, unpack
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import expand_tier

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Change = Callable[[KeptRun], None]

PROVE = ("publish", "--prove", "1", "-o")


def old_id(run_id: str) -> str:
    """A different id for a run, as it was before a script changed."""
    return sha256(f"old {run_id}".encode()).hexdigest()[:16]


def rewrite(folder: Path, change: Change) -> None:
    runs = KeptResults(folder).published_runs
    for run in runs:
        change(run)
    (folder / "runs.parquet").write_bytes(kept_runs_bytes(runs))


@pytest.fixture
def old(finished: Path, published_once: Path) -> Path:
    """A published folder whose runs have other ids than today's plan; no run is simulated."""
    folder = finished / "published" / "dumbbell"
    shutil.copytree(published_once, folder)
    (folder / "mine.txt").write_text("a file of somebody's own")
    _make_old(folder, [run["run_id"] for run in KeptResults(folder).published_runs])
    shutil.rmtree(finished / "results")
    return folder


def _make_old(folder: Path, run_ids: Iterable[str]) -> None:
    (folder / LIST_NAME).unlink(missing_ok=True)  # which vouches for what is there today
    ids = {run_id: old_id(run_id) for run_id in run_ids}
    known = {run["run_id"]: run["run_id"] for run in KeptResults(folder).published_runs} | ids
    rewrite(folder, lambda run: run.update(run_id=known[run["run_id"]]))
    metrics = pl.read_parquet(folder / "metrics.parquet")
    metrics.with_columns(pl.col("run_id").replace(ids)).write_parquet(folder / "metrics.parquet")
    _rename_series(folder / "report.html", ids)


def _rename_series(report: Path, ids: dict[str, str]) -> None:
    """Give the packed series of a page other run ids."""

    def renamed(found: re.Match[str]) -> str:
        content = unpack(found[2])
        for new, was in ids.items():
            content = content.replace(new.encode(), was.encode())
        return found[1] + pack(content) + found[3]

    packed = re.compile(r'(<script type="text/plain" class="shard">)(.*?)(</script>)')
    report.write_text(packed.sub(renamed, report.read_text()))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_equal_bytes_give_the_ids_of_today(old: Path, bdpbench: Run, published_once: Path) -> None:
    refused = bdpbench("publish", "-o", str(old.parent))
    check_refused(refused, "are planned differently now, and --prove 1 simulates a sample")

    said_by(bdpbench(*PROVE, str(old.parent)))
    today, found = contents(published_once), contents(old)
    assert found.pop("mine.txt") == b"a file of somebody's own"
    assert set(found) == set(today)
    assert found["scorecard.json"] == today["scorecard.json"]
    assert pl.read_parquet(old / "metrics.parquet").equals(
        pl.read_parquet(published_once / "metrics.parquet")
    )
    runs = (KeptResults(folder).published_runs for folder in (old, published_once))
    for run, same in zip(*runs, strict=True):
        source = run.pop("taken_over")  # type: ignore[typeddict-item]
        assert run == same
        assert source["run_id"] == old_id(run["run_id"])
        assert source["sample"]
    assert "taken over from results with older run ids" in found["README.md"].decode()

    # Now the ids are those of today.
    assert "simulating" not in said_by(bdpbench(*PROVE, str(old.parent)))


def test_runs_that_have_todays_ids_are_not_simulated(
    finished: Path, bdpbench: Run, published_once: Path
) -> None:
    folder = finished / "published" / "dumbbell"
    shutil.copytree(published_once, folder)
    first, *others = [run["run_id"] for run in KeptResults(folder).published_runs]
    _make_old(folder, [first])
    shutil.rmtree(finished / "results")

    said = said_by(bdpbench(*PROVE, str(folder.parent)))
    assert (
        f"1 of {1 + len(others)} published runs with new ids, 1 kind: simulating 1 run again"
        in said
    )
    runs = KeptResults(folder).published_runs
    assert [run["run_id"] for run in runs if "taken_over" in run] == [first]
    assert {run["run_id"] for run in runs} == {first, *others}


def _other_output(run: KeptRun) -> None:
    next(iter(run["outputs"].values()))["sha256"] = "0" * 64


def _other_parameter(run: KeptRun) -> None:
    run["parameters"]["buffer_pkts"] = 51


def _other_label(run: KeptRun) -> None:
    run["places"][0]["label"] = "of another time"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_other_output, "differs: 000000000000, now "),
        (_other_parameter, "buffer_pkts was 51, is "),
        (_other_label, "are not planned any more: of another time"),
    ],
)
def test_what_differs_is_refused_and_nothing_changes(
    change: Change, said: str, old: Path, bdpbench: Run
) -> None:
    rewrite(old, change)
    before = contents(old)
    check_refused(bdpbench(*PROVE, str(old.parent)), said)
    assert contents(old) == before


def test_a_signal_leaves_no_process_and_no_change(old: Path, finished: Path) -> None:
    study = finished / "config" / "studies" / "dumbbell" / "study.yaml"
    study.write_text(study.read_text().replace("duration_s: 20", "duration_s: 900000"))

    def lengthen(run: KeptRun) -> None:
        run["parameters"]["duration_s"] = 900000.0
        for place in run["places"]:
            place["label"] = place["label"].replace("20 s", "900000 s")

    rewrite(old, lengthen)
    before = contents(old)
    folders = {"CONFIG": finished / "config", "RESULTS": finished / "results"}
    child = subprocess.Popen(
        [sys.executable, "-u", "-m", "bdpbench", *PROVE, str(old.parent)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(repository_root() / "pipeline"),
            **{f"BDPBENCH_{name}": str(folder) for name, folder in folders.items()},
        },
    )
    reports = (finished / "results" / "runs").glob
    wait_for(lambda: child.poll() is not None or list(reports("*/*/ns.log")), "simulation")
    child.send_signal(signal.SIGTERM)
    said, _ = child.communicate(timeout=HANGS_S)
    assert child.returncode == 1
    assert "error: interrupted" in said
    assert "Traceback" not in said
    assert contents(old) == before
    assert not _processes_in(finished)


def _processes_in(folder: Path) -> list[str]:
    """Command lines of all processes on this machine that name a folder, or run in it."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            words += str(path.with_name("cwd").readlink())
        except OSError:
            continue
        if str(folder) in words:
            found.append(words)
    return found


def test_a_sample_has_the_cheapest_run_others_and_each_scenario() -> None:
    runs = expand_tier(load_study("sharma2006"), "paper")
    pairs = [Pair(cast("Any", None), run) for run in runs]
    cheapest = min(run["estimated_cpu_s"] for run in runs)
    for size in (1, 5, len(runs)):
        sample = sample_of(pairs, size)
        assert len(sample) >= size
        assert sample[0].today["estimated_cpu_s"] == cheapest
        assert {each.today["scenario"] for each in sample} == {run["scenario"] for run in runs}
        assert sample_of(pairs, size) == sample
