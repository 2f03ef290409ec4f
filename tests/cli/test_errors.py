"""Wrong input on the command line: one message, an exit code, no traceback, nothing written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Done
from tests.faults.disturb import WRAPPER

from bdpbench.contracts.paths import config_dir, repository_root


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "sharma2007"], "did you mean 'sharma2006'"),
        (["run", "--protocol", "Scaleable"], "did you mean 'Scalable'"),
        (["run", "--scenario", "single_flw"], "did you mean 'single_flow'"),
        (["run", "--tier", "fast"], "'fast' is not one of"),
        (["run", "--scenario", "inter_protocol"], "no run of tier quick"),
        (["rnu"], "Did you mean 'run'"),
        (["simulate", "--batch", "nowhere"], "is not among the batches of a results folder"),
        (["report", "--export", "out", "--format", "svg,eps"], "'eps' is not a format of figures"),
        (["report", "--export", "/dev/null/out"], "cannot be made"),
        (["report", "--export", "/dev/null"], "is not a folder"),
        (["report", "--export", "out", "-o", "r.html"], "leave it out, or --export"),
        (["report", "--only", "rtt-*"], "--format and --only go with --export"),
        (["report", "sharma2007", "--export", "out"], "did you mean 'sharma2006'"),
        (["archive", "--tier", "full"], "runs have no results"),
        (["archive", "-o", "/dev/null/a.zip"], "cannot be written"),
        (["verify", "none.zip"], "there is no such file"),
        (["compare", "none", "none"], "does not exist"),
        (["compare", ".", "."], "has no scorecard.json"),
        (["check", "--tier", "full"], "--tier full` makes them"),
        (["run", "-n", "-q"], "leave nothing of --dry-run"),
    ],
)
def test_a_mistake_is_one_message(
    tmp_path: Path, bdpbench: Callable[..., Done], arguments: list[str], said: str
) -> None:
    done = bdpbench(*arguments)
    assert done.code != 0
    assert said in done.err
    assert "Traceback" not in done.out + done.err
    assert not list(tmp_path.rglob("run.json"))


def test_a_misspelt_key_is_told_before_anything_runs(
    tmp_path: Path, bdpbench: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(repository_root() / "config", tmp_path / "config")
    study = tmp_path / "config" / "studies" / "sharma2006" / "study.yaml"
    study.write_text(study.read_text().replace("bottleneck_mbps: 622", "botleneck_mbps: 622", 1))
    monkeypatch.setenv("BDPBENCH_CONFIG", str(tmp_path / "config"))
    done = bdpbench("run")
    line = 1 + study.read_text().splitlines().index("      botleneck_mbps: 622")
    assert done.code == 1
    assert "Traceback" not in done.out + done.err
    assert f"study.yaml:{line}: topologies.topology1.parameters.botleneck_mbps" in done.err
    assert "did you mean 'bottleneck_mbps'?" in done.err
    assert not (tmp_path / "results").exists()


def _imported(commands: list[list[str]], names: tuple[str, ...], folder: Path) -> list[str]:
    """Which of the packages have been imported after some commands in one process."""
    code = f"""
import sys
from bdpbench.cli import cli
for command in {commands!r}:
    cli.main(command, standalone_mode=False)
    print("imported", [name for name in {names!r} if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(repository_root() / "pipeline"),
            "BDPBENCH_RESULTS": str(folder),
        },
        check=True,
    )
    lines = done.stdout.splitlines()
    return [line.partition(" ")[2] for line in lines if line.startswith("imported ")]


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    heavy = ("polars", "pydantic", "altair", "rich", "snakemake")
    assert _imported([["--help"]], heavy, tmp_path) == ["[]"]


def test_what_makes_no_chart_imports_no_altair(tmp_path: Path) -> None:
    study = str(config_dir() / "studies" / "examples" / "rate_change")
    listing, dry_run = ["list", study, "--runs"], ["run", study, "--dry-run"]
    assert _imported([listing, dry_run], ("altair",), tmp_path) == ["[]", "[]"]


def test_an_output_that_takes_nothing_is_one_message() -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >/dev/full', "sh", WRAPPER, "list"],
        env={**os.environ, "BDPBENCH_VENV": sys.prefix},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "the disk is full" in done.stderr.splitlines()[0]


def test_the_metrics_of_a_study_outside_the_configuration_are_not_executed_for_a_list(
    bdpbench: Callable[..., Done],
) -> None:
    study = str(repository_root() / "tests" / "data" / "transfer")
    assert bdpbench("list", study).err == ""
    assert bdpbench("run", "zhang2006", "--dry-run").err == ""
