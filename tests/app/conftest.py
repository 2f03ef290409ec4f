from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from bdpbench.cli import main
from bdpbench.contracts.paths import repository_root

Workspace = Callable[..., "subprocess.CompletedProcess[str]"]
MadeOnce = Callable[[str, Callable[[Path], None]], Path]

EVENTS = "events.jsonl"


def write_config(folder: Path) -> None:
    """Write a configuration with the study of tests/data/dumbbell."""
    studies = folder / "config" / "studies"
    shutil.copytree(repository_root() / "tests" / "data" / "dumbbell", studies / "dumbbell")
    config = (repository_root() / "config" / "config.yaml").read_text()
    (folder / "config" / "config.yaml").write_text(
        config.replace("study: sharma2006", "study: dumbbell")
    )


def call_bdpbench(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call bdpbench in the workspace at ``folder``, inside the test process, which saves a second.

    Whatever the call starts itself, such as ns-2 and batches of runs, still runs as a process.
    """
    environment = {
        "BDPBENCH_CONFIG": str(folder / "config"),
        "BDPBENCH_RESULTS": str(folder / "results"),
    }
    return call_here(environment, *arguments)


def without_checksum(text: str) -> str:
    """A record of a run, or a manifest, in whose first line no checksum vouches for the rest."""
    return re.sub(r'\A{\n "sha256": "\w+",\n', "{\n", text)


def call_here(environment: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the command line in this process, with additional environment variables."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    with (
        patch.dict(os.environ, environment),
        patch.object(sys, "argv", ["bdpbench", *arguments]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
    return subprocess.CompletedProcess(list(arguments), status, out.getvalue(), err.getvalue())


def said_by(done: subprocess.CompletedProcess[str]) -> str:
    """What a call printed that has to have succeeded."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def simulate_runs(
    bdpbench: Callable[..., subprocess.CompletedProcess[str]], plan: Path, run_ids: Iterable[str]
) -> None:
    """Simulate some runs of a plan, in a batch of their own."""
    document, wanted = json.loads(plan.read_text()), set(run_ids)
    runs = [run for run in document["runs"] if run["run_id"] in wanted]
    batch = plan.parent / "batches" / "some.json"
    batch.write_text(json.dumps({**document, "runs": runs}))
    said_by(bdpbench("simulate", "--batch", str(batch)))


def check_refused(done: subprocess.CompletedProcess[str], *said: str) -> None:
    """Check that a call failed with an error that says all of this, and no traceback."""
    assert done.returncode == 1, done.stdout + done.stderr
    assert [each for each in said if each not in done.stderr] == []
    assert "Traceback" not in done.stderr


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A configuration with the study of tests/data/dumbbell, and an empty results folder."""
    write_config(tmp_path)
    return tmp_path


@pytest.fixture
def bdpbench(workspace: Path, ns_binary: Path) -> Workspace:
    """Run bdpbench in the workspace; ns-2 is the real one."""
    return lambda *arguments: call_bdpbench(workspace, *arguments)


@pytest.fixture(scope="session")
def finished_once(made_once: MadeOnce, ns_binary: Path) -> Path:
    """A workspace whose study `bdpbench run --json` has finished; EVENTS holds its output."""

    def run(folder: Path) -> None:
        write_config(folder)
        done = call_bdpbench(folder, "run", "--backend", "native", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        (folder / EVENTS).write_text(done.stdout)

    return made_once("finished", run)


@pytest.fixture
def finished(workspace: Path, finished_once: Path) -> Path:
    """The workspace with every run of its study simulated, and its report written."""
    shutil.copytree(finished_once / "results", workspace / "results")
    return workspace


@pytest.fixture(scope="session")
def published_once(made_once: MadeOnce, finished_once: Path) -> Path:
    """The folder that `bdpbench publish` writes for the finished study."""

    def publish(folder: Path) -> None:
        done = call_bdpbench(finished_once, "publish", "-o", str(folder))
        assert done.returncode == 0, done.stderr

    return made_once("published", publish) / "dumbbell"
