"""The scenario in the README needs only its YAML, and it runs."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.app.totals import totals_sentence
from bdpbench.contracts.paths import repository_root
from bdpbench.studies.load import study_keys

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_the_scenario_of_the_readme_runs(workspace: Path, bdpbench: Run) -> None:
    readme = (repository_root() / "README.md").read_text()
    (block,) = re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL)
    study = workspace / "config" / "studies" / "mystudy" / "study.yaml"
    study.parent.mkdir()
    study.write_text(block)
    planned = bdpbench("run", "mystudy", "--dry-run")
    # 2 protocols × 2 queues × 2 buffers.
    assert "8 to simulate" in planned.stdout
    # The runs of one protocol, which differ in both parameters of the scenario.
    done = bdpbench("run", "mystudy", "--backend", "native", "--protocol", "Vegas")
    assert done.returncode == 0, done.stdout + done.stderr
    folder = workspace / "results" / "mystudy" / "quick"
    plan = json.loads((folder / "plan.json").read_text())
    assert len(plan["runs"]) == 4
    assert {run["parameters"]["flows"] for run in plan["runs"]} == {3}
    assert "Three flows, one after the other" in (folder / "report.html").read_text()


PUBLISHED = sorted(
    path
    for key in study_keys()
    for path in (repository_root() / "reports" / "published").glob(f"{key}/scorecard.json")
)


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: str(path.parent.name))
def test_the_readme_links_what_is_published_and_gives_its_totals(path: Path) -> None:
    readme = " ".join((repository_root() / "README.md").read_text().split())
    assert totals_sentence(json.loads(path.read_text())) in readme
    assert f"(reports/published/{path.parent.name}/" in readme
