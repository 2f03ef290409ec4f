"""Snakemake without a limit on jobs per second: its scheduler sleeps until a job ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

# On one core: 12 jobs that end at once, then two of 1 s each.
JOBS = """
rule all:
    input: expand("short.{i}", i=range(12)), expand("long.{i}", i=range(2))
rule short:
    output: "short.{i}"
    priority: 1
    shell: "touch {output}"
rule long:
    output: "long.{i}"
    shell: "sleep 1; touch {output}"
"""


def snakemake(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bdpbench.app.snakemake_cli", "--cores", "1", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_jobs_are_chosen_when_one_ends_and_at_no_other_time(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(JOBS)
    done = snakemake(tmp_path, "--verbose")
    assert done.returncode == 0, done.stderr
    # One choice at the start, and one after each of the 15 jobs except the last.
    assert done.stderr.count("Ready jobs: ") == 15


# A rule that fails, and an invalid file; one process does both, as importing Snakemake takes 1.5 s.
FAILURES = """
import sys
from bdpbench.app.snakemake_cli import main

for text in sys.argv[1:]:
    open("Snakefile", "w").write(text)
    print("status", main(["--cores", "1"]))
"""


def test_a_failure_is_an_exit_status(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAILURES, "rule all:\n    shell: 'exit 3'\n", "rule all\n"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.count("status 1\n") == 2, done.stdout + done.stderr
