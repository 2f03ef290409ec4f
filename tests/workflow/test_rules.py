"""Each rule file opens with what it reads and writes, and names the rules that exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdpbench.model.paths import repository_root

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
