"""`archive`, `verify` and `compare` on a small study that ns-2 has simulated."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.app.conftest import call_bdpbench, check_refused, said_by

from bdpbench.app.keep.sources import RESULT_SOURCES, common_sources
from bdpbench.contracts.kept import LIST_NAME
from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.reports import read_kept_runs

Run = Callable[..., "subprocess.CompletedProcess[str]"]

TIER = Path("dumbbell", "quick")


@pytest.fixture(scope="session")
def archived_once(made_once: Callable[..., Path], finished_once: Path) -> Path:
    """Archive of the finished study; the checkout makes it, as what is published."""

    def archive(folder: Path) -> None:
        archived = ("archive", "-o", str(folder / "a.zip"))
        (folder / "said.txt").write_text(said_by(call_bdpbench(finished_once, *archived)))

    return made_once("archived", archive) / "a.zip"


@pytest.mark.ci
def test_the_same_results_archive_to_the_same_bytes_anywhere(
    finished_once: Path, archived_once: Path, tmp_path: Path
) -> None:
    """Neither dates, folders, language nor threads matter, nor what other users may read."""
    workspace = tmp_path / "some" / "other" / "place"
    for part in ("config", "results"):
        shutil.copytree(finished_once / part, workspace / part, copy_function=shutil.copyfile)
    environment = {
        "PYTHONPATH": str(repository_root() / "pipeline"),
        "BDPBENCH_CONFIG": str(workspace / "config"),
        "BDPBENCH_RESULTS": str(workspace / "results"),
        **dict(TZ="Asia/Kathmandu", LC_ALL="C", POLARS_MAX_THREADS="3"),
    }
    script = "import os; os.umask(0o077); from bdpbench.cli import main; main()"
    command = [sys.executable, "-c", script, "archive", "-o", "b.zip"]
    environment = {**os.environ, **environment}
    subprocess.run(command, cwd=workspace, env=environment, capture_output=True, check=True)
    assert archived_once.read_bytes() == (workspace / "b.zip").read_bytes()


def test_an_archive_holds_what_it_should_and_tells_of_no_machine(
    finished_once: Path, archived_once: Path, tmp_path: Path
) -> None:
    content = archived_once.read_bytes()
    assert hashlib.sha256(content).hexdigest() in archived_once.with_name("said.txt").read_text()
    with zipfile.ZipFile(archived_once) as archive:
        _tells_of_no_machine(archive, tmp_path, finished_once, archived_once.parent)
        _holds_what_it_should(archive)


def _tells_of_no_machine(archive: zipfile.ZipFile, *folders: Path) -> None:
    """Nothing contains a path on this machine, or its name unless that is a word of the sources."""
    contents = {name: archive.read(name) for name in archive.namelist()}
    sources = b"".join(each for name, each in contents.items() if name.startswith("source/"))
    private = [str(path).encode() for path in (*folders, repository_root(), Path(sys.prefix))]
    host = socket.gethostname().encode()
    if len(host) > 4 and host not in sources:  # a machine may be called debian
        private.append(host)
    for name, content in contents.items():
        for each in private:
            assert each not in content, f"{name} holds {each!r}"


def _holds_what_it_should(archive: zipfile.ZipFile) -> None:
    names = set(archive.namelist())
    assert {
        *("README.md", "report.html", "metrics.parquet", "LICENSE", "CITATION.cff"),
        *("exports/captions.json", "exports/tables/numbers.tex", "source/Snakefile"),
        *(f"source/config/studies/dumbbell/{name}" for name in ("study.yaml", "published.csv")),
        *("source/tcl/network.tcl", "source/pipeline/requirements.lock", "source/ns2/SOURCE.lock"),
        *("source/ns2/build.sh", "source/ns2/patches/series", "source/ns2/laws/cubic_tcp.cc"),
        *("source/ns2/agents/tcp_window_law.cc", "source/ns2/speed/lane_scheduler.cc"),
    } <= names
    assert any(re.fullmatch(r"exports/figures/.*\.svg", name) for name in names)
    assert not any(
        part in name for name in names for part in ("__pycache__", ".out", "sharma2006/study")
    )
    runs = read_kept_runs(archive.read("runs.parquet"), Path("runs.parquet"))
    assert len(runs) == 3
    assert all(len(each["sha256"]) == 64 for run in runs for each in run["outputs"].values())


def test_an_archive_verifies_and_compares_as_equal_with_its_results(
    archived_once: Path, bdpbench: Run, published_once: Path, tmp_path: Path
) -> None:
    archive = Path(shutil.copy(archived_once, tmp_path))
    said = said_by(bdpbench("verify", str(archive)))
    assert "whole: every file is there and has its checksum" in said
    told = json.loads(said_by(bdpbench("verify", str(archive), "--json")))
    assert told["whole"]
    assert f"SHA-256 {told['sha256']}" in said

    with zipfile.ZipFile(archive) as found:
        for path in {*published_once.iterdir()} - {published_once / LIST_NAME}:
            if path.name != "README.md":  # the archive's README says more
                assert found.read(path.name) == path.read_bytes(), path.name
    said = said_by(bdpbench("compare", str(archive), str(published_once)))
    equal = r"0 of (\d+) metrics moved by more than they may, 0 by less; \1 are equal\n"
    assert re.match(equal, said)
    assert "differ" not in said

    content = bytearray(archive.read_bytes())
    with zipfile.ZipFile(archive) as found:
        largest = max(found.infolist(), key=lambda each: each.compress_size)
    content[largest.header_offset + largest.compress_size // 2] ^= 1
    archive.write_bytes(content)
    for command in (("verify",), ("compare", str(published_once))):
        done = bdpbench(*command, str(archive))
        check_refused(done, "is not whole")
        assert "missing" not in done.stderr  # what is damaged is there


def test_another_buffer_moves_metrics_beyond_their_bounds(
    finished: Path, bdpbench: Run, published_once: Path, tmp_path: Path
) -> None:
    study = finished / "config" / "studies" / "dumbbell" / "study.yaml"
    study.write_text(study.read_text().replace("buffer_pkts: 50", "buffer_pkts: 5"))
    said_by(bdpbench("run", "--backend", "native"))
    second = finished / "results" / "dumbbell" / "quick"
    page = tmp_path / "c.html"
    done = bdpbench("compare", str(published_once), str(second), "--html", str(page))
    assert done.returncode == 1, done.stderr
    assert "moved by more than they may:" in done.stdout
    found = re.match(r"[1-9]\d* of \d+ metrics moved by more than they may", done.stdout)
    assert found
    assert "SHA-256 of study.yaml" in done.stdout
    assert max(map(len, done.stdout.splitlines()[4:])) <= 80  # behind the names of the folders
    told = bdpbench("compare", str(published_once), str(second), "--json").stdout.splitlines()
    counts, *rows = map(json.loads, told)
    assert counts["kind"] == "compared"
    assert counts["beyond"] == sum(row.get("beyond", False) for row in rows)
    assert {row["name"] for row in rows if row["kind"] == "facts"} >= {"buffer_pkts"}
    html = re.sub(r"<script>.*?</script>", "", page.read_text(), flags=re.DOTALL)
    assert found[0] in html
    assert not re.search(r'(?:src|href)="(?!data:|#)', html)


def test_metrics_are_printed_as_csv(finished: Path, bdpbench: Run, published_once: Path) -> None:
    printed = {
        bdpbench("metrics", str(each)).stdout
        for each in (finished / "results" / TIER, published_once)
    }
    assert printed == {(finished / "results" / TIER / "metrics.csv").read_text()}
    check_refused(bdpbench("metrics", str(finished / "config")), "has no metrics.parquet")


def test_figures_and_tables_are_exported(
    finished: Path, bdpbench: Run, published_once: Path, tmp_path: Path
) -> None:
    export = ("report", "--export", str(tmp_path / "figures"))
    said_by(bdpbench(*export))
    out = tmp_path / "figures" / "dumbbell" / "quick"
    assert {path.suffix for path in (out / "figures").glob("*.*")} == {
        ".svg",
        ".pdf",
        ".csv",
        ".tex",
    }
    assert {path.suffix for path in (out / "figures" / "column").iterdir()} == {".svg", ".pdf"}
    assert {path.suffix for path in (out / "tables").iterdir()} == {".tex", ".md", ".csv"}
    assert "ns-2.35 build" in (out / "captions.json").read_text()
    tables = {path: path.read_bytes() for path in out.glob("tables/*")}
    files = set(out.rglob("*"))
    shutil.rmtree(out)
    # What is published gives the same tables and files; its series have fewer samples.
    published = ("report", str(published_once), *export[1:])
    said_by(bdpbench(*published))
    assert set(out.rglob("*")) == files
    assert {path: path.read_bytes() for path in tables} == tables
    check_refused(bdpbench(*published, "--tier", "paper"), "is the quick tier")
    check_refused(bdpbench("report", str(published_once)), "is published and has its report")
    said_by(bdpbench("report", "-o", str(tmp_path / "report.html")))
    assert "<!doctype html>" in (tmp_path / "report.html").read_text()


def test_all_files_that_results_depend_on_are_sources() -> None:
    kept = {name.removeprefix("source/") for name in common_sources()}
    results = (":!reports/published", ":!reports/evaluations", ":!reports/*.png")
    listed = ["git", "ls-files", "-z", *RESULT_SOURCES, *results]
    tracked = subprocess.check_output(listed, cwd=repository_root(), text=True).split("\0")
    assert {*filter(None, tracked)} - kept == set()
