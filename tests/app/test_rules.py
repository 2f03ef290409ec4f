"""Each rule file opens with what it reads and writes, and names the rules that exist."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.paths import repository_root

Run = Callable[..., "subprocess.CompletedProcess[str]"]

RULES = sorted((repository_root() / "workflow" / "rules").glob("*.smk"))


@pytest.mark.parametrize("path", RULES, ids=lambda path: str(path.stem))
def test_a_rule_file_opens_with_inputs_and_outputs(path: Path) -> None:
    header = [line for line in path.read_text().splitlines()[:6] if line.startswith("#")]
    text = " ".join(header)
    assert "Inputs:" in text
    assert "Outputs:" in text


def test_the_snakefile_includes_every_rule_file() -> None:
    text = (repository_root() / "Snakefile").read_text()
    for path in RULES:
        assert f'include: "workflow/rules/{path.name}"' in text


# Advice of `snakemake --lint` that is not taken: the rules call bdpbench alone, whose environment
# is pinned by pipeline/requirements.lock and whose ns-2 is built by a rule or lies in the image.
DECLINED = "Specify a conda environment or container for each rule."


def test_snakemake_lint_finds_nothing_else(workspace: Path, bdpbench: Run) -> None:
    plan = bdpbench("plan").stdout.strip()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "snakemake", "--lint"),
            *("--snakefile", str(repository_root() / "Snakefile")),
            *("--directory", str(workspace / "results")),
            *("--config", f"plan={plan}", "backend=native"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stderr + done.stdout
    assert "Lints for rule simulate" in said  # it did look at the rules
    findings = {line.strip() for line in said.splitlines() if line.startswith("    * ")}
    assert findings == {f"* {DECLINED}:"}
