"""The scripts accept the arguments that studies plan for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest
from tests.planned_runs import loaded_study, runs_of, small
from tests.tcl.conftest import Built

from bdpbench.contracts.paths import config_dir
from bdpbench.contracts.plan import PlannedRun
from bdpbench.studies.plan import tiers_of

STUDIES = sorted(path.parent.name for path in (config_dir() / "studies").glob("*/study.yaml"))


@cache
def unnumbered(name: str) -> str:
    """The key of an argument, which is the same for each link and flow."""
    return re.sub(r"\.\d+\.", ".", name)


def different_runs(key: str) -> Iterator[PlannedRun]:
    """Runs that give a script a key or a kind of agent that no previous run had."""
    seen: set[tuple[str, str]] = set()
    for run in (run for tier in tiers_of(loaded_study(key)) for run in runs_of(key, tier)):
        pairs = zip(run["argv"][::2], run["argv"][1::2], strict=True)
        brings = {
            (run["script"], value if name.endswith(".agent") else unnumbered(name))
            for name, value in pairs
        }
        if brings - seen:
            seen |= brings
            yield run


@pytest.mark.parametrize("key", STUDIES)
def test_a_script_builds_what_a_study_plans(built: Built, key: str) -> None:
    runs = list(different_runs(key))
    assert runs
    for run in runs:
        assert "built" in built("puts built", run["script"], *small(run["argv"])), run["label"]
