"""A study in a folder outside the checkout, with its own Tcl, metric, numbers and claims."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import zipfile
from pathlib import Path

import polars as pl
import pytest
from tests.app.conftest import call_here
from tests.pipeline.pages.conftest import unfolded

from bdpbench.contracts.paths import repository_root

KEY = "transfer"


@pytest.fixture
def folder(tmp_path: Path, ns_binary: Path) -> Path:
    """A copy of the study in tests/data/transfer outside the checkout."""
    return Path(shutil.copytree(repository_root() / "tests" / "data" / KEY, tmp_path / "my" / KEY))


def _bdpbench(
    *arguments: str, cwd: Path, results: Path, **more: str
) -> subprocess.CompletedProcess[str]:
    with contextlib.chdir(cwd):
        return call_here({"BDPBENCH_RESULTS": str(results), **more}, *arguments)


def _files(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _status() -> str:
    """Output of git status for the checkout."""
    return subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=all"],
        cwd=repository_root(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_a_study_outside_the_checkout_runs_and_leaves_it_clean(
    folder: Path, tmp_path: Path
) -> None:
    status, files = _status(), _files(folder)
    results = tmp_path / "results"
    # A relative path, as users give it.
    done = _bdpbench("run", f"my/{KEY}", "--backend", "native", cwd=tmp_path, results=results)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"report: {results / KEY / 'quick' / 'report.html'}" in done.stdout

    tier = results / KEY / "quick"
    documents = [tier / "plan.json", *tier.glob("batches/*.json"), *results.glob("runs/*/*/*.json")]
    assert [path for path in documents if '"/' in path.read_text()] == []
    plan = json.loads((tier / "plan.json").read_text())
    assert [run["parameters"]["transfer_pkts"] for run in plan["runs"]] == [450, 1000, 2000]
    assert "450 packets" in plan["runs"][0]["label"]
    # Times are ends of bins of 0.1 s. The first 31 packets take five round trips of slow start of
    # 21.1 ms each (20 ms of links, 1.04 ms for a packet, 0.04 ms for its ACK). After that each
    # round trip carries 20 packets, 1.04 ms apart: the window allows no more, and does not fill
    # the path. The last packet leaves the queue after 0.547 s, 1.127 s and 2.182 s.
    metrics = pl.read_parquet(tier / "metrics.parquet").filter(metric="transfer_time")
    times_s = dict(metrics.select("run_id", "value").iter_rows())
    assert [times_s[run["run_id"]] for run in plan["runs"]] == pytest.approx([0.6, 1.2, 2.2])
    card = json.loads((tier / "scorecard.json").read_text())
    assert {each["id"]: each["verdict"] for each in (*card["numbers"], *card["claims"])} == {
        "time-1000": "reproduced",
        "more-takes-longer": "holds",
        "twice-as-many-take-twice-as-long": "fails",
    }
    assert "End of the last bin of 0.1 s" in unfolded((tier / "report.html").read_text())

    listed = _bdpbench(
        "list", str(folder), "--tier", "quick", "--runs", cwd=tmp_path, results=results
    )
    assert listed.stdout.count("finished") == 3, listed.stdout + listed.stderr
    archive = str(tmp_path / "transfer.zip")
    archived = _bdpbench("archive", str(folder), "-o", archive, cwd=tmp_path, results=results)
    assert archived.returncode == 0, archived.stdout + archived.stderr
    assert archived.stderr.count("not in the archive") == 0
    with zipfile.ZipFile(archive) as found:
        place = f"source/config/studies/{KEY}/"
        kept = {name.removeprefix(place) for name in found.namelist() if name.startswith(place)}
    assert kept == {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")}

    assert _files(folder) == files
    assert _status() == status
    _what_it_brings_is_part_of_its_runs(folder, tmp_path, results, plan)


def _what_it_brings_is_part_of_its_runs(
    folder: Path, tmp_path: Path, results: Path, plan: dict[str, object]
) -> None:
    """Its Tcl files affect the run ids; its metric affects only what is measured."""
    arguments = ("run", str(folder / "study.yaml"), "--backend", "native", "--dry-run")
    metric = folder / "metrics.py"
    metric.write_text(metric.read_text().replace('mbps") > 0', 'mbps") > 0.01'))
    done = _bdpbench(*arguments, cwd=tmp_path, results=results)
    assert "3 finished, 0 to simulate" in done.stdout, done.stdout + done.stderr
    limited = folder / "tcl" / "lib" / "limited.tcl"
    limited.write_text(
        limited.read_text().replace("advanceby $packets", "advanceby [expr {$packets}]")
    )
    done = _bdpbench(*arguments, cwd=tmp_path, results=results)
    assert "0 finished, 3 to simulate" in done.stdout, done.stdout + done.stderr


def test_the_name_of_a_folder_that_is_here_will_do(folder: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    done = _bdpbench("run", KEY, "--dry-run", cwd=folder.parent, results=results)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 to simulate" in done.stdout
    assert not results.exists()


def test_it_is_published_where_it_is_told(folder: Path, tmp_path: Path) -> None:
    done = _bdpbench("publish", str(folder), cwd=tmp_path, results=tmp_path / "results")
    assert done.returncode == 1
    assert "-o" in done.stderr
    assert not (repository_root() / "reports" / "published" / KEY).exists()


OWN_PROTOCOL = """
schema_version: 1
key: own
title: A protocol of one's own
protocols: {Mine: {folder: ../mine, settings: {cut_: 0.3}}}
topologies:
  path:
    parameters:
      bottleneck_mbps: 10
      bottleneck_delay_ms: 10
      access_mbps: 100
      rtt_ms: 40
      buffer_bdp: 1
      protocol: Mine
scenarios:
  alone: {title: Alone, topology: path, flows: [{}], tiers: {quick: [{duration_s: 2}]}}
"""


def test_an_archive_has_the_folder_of_a_protocol_and_runs_again(
    tmp_path: Path, ns_binary: Path
) -> None:
    mine, study, zipped = tmp_path / "mine", tmp_path / "own", tmp_path / "own.zip"
    shutil.copytree(repository_root() / "config" / "protocols" / "aimd", mine)
    (mine / "law.cc").rename(tmp_path / "elsewhere.cc")
    (mine / "law.cc").symlink_to(tmp_path / "elsewhere.cc")
    study.mkdir()
    (study / "study.yaml").write_text(OWN_PROTOCOL)
    (study / "metrics.py").write_text("import pathlib\n")
    for folder in (mine, study):
        for name in (".git/config", ".env", ".netrc", "core", "notes/plan.md", "secret.yaml"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text("a token")

    def call(*arguments: str, results: str = "results") -> str:
        done = _bdpbench(*arguments, cwd=tmp_path, results=tmp_path / results)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    assert f"{mine}: is executed by ns-2" in call("run", "own", "--backend", "native")
    said = call("archive", "own", "-o", str(zipped))
    others = "nothing has read it: .env, .git, .netrc, core, notes, secret.yaml"
    assert f"{study}: not in the archive, because {others}" in said
    assert f"{mine}: not in the archive, because {others}" in said
    call("verify", str(zipped))
    place = "source/config/studies/own/"
    with zipfile.ZipFile(zipped) as archive:
        names = [name for name in archive.namelist() if name.startswith(place)]
        assert not any(b"a token" in archive.read(name) for name in archive.namelist())
    of_protocol = [f"protocols/Mine/{name}" for name in ("law.cc", "protocol.yaml", "test.cc")]
    assert names == [f"{place}{name}" for name in ("metrics.py", *of_protocol, "study.yaml")]
    shutil.rmtree(mine)
    shutil.unpack_archive(zipped, tmp_path / "unpacked")
    again = tmp_path / "unpacked" / "source" / "config" / "studies" / "own"
    assert "is executed by ns-2" in call("run", str(again), "--backend", "native", results="again")
    (run,) = (tmp_path / "results" / "runs").glob("*/*")
    kept = f"runs/{run.parent.name}/{run.name}/out"
    assert _files(tmp_path / "again" / kept) == _files(run / "out")
