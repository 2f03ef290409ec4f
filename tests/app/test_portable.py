"""Kept results contain no path of this machine, wherever the study and its scripts are."""

from __future__ import annotations

import json
from pathlib import Path

from bdpbench.app.keep.bundle import Portable
from bdpbench.contracts.paths import relative, repository_root, tcl_dir
from bdpbench.contracts.plan import Plan, PlannedRun
from bdpbench.contracts.runs import RunRecord

STUDY = Path("/home/someone/studies/mine")


def _run(script: str, scripts: str | None) -> PlannedRun:
    return {"run_id": "a", "scenario": "one", "script": script, "scripts": scripts}  # type: ignore[typeddict-item]


def test_paths_of_study_and_checkout_are_relative_and_others_keep_their_name() -> None:
    portable = Portable("mine", STUDY)
    for path, kept in {
        "tcl/network.tcl": "tcl/network.tcl",
        relative(STUDY): "config/studies/mine",
        # Kept runs of earlier versions have absolute paths.
        f"{STUDY}": "config/studies/mine",
        f"{STUDY}/tcl/own.tcl": "config/studies/mine/tcl/own.tcl",
        f"{repository_root()}/tcl/lib/args.tcl": "tcl/lib/args.tcl",
        "/home/someone/originals": "scripts/originals",
        f"{STUDY}-2/tcl/own.tcl": "scripts/own.tcl",
    }.items():
        assert portable.path(path) == kept


def test_a_plan_loses_its_folders() -> None:
    plan: Plan = {  # type: ignore[typeddict-item]
        "study": "mine",
        "folder": relative(STUDY),
        "runs": [
            _run(relative(STUDY / "tcl" / "own.tcl", tcl_dir()), None),
            _run("network.tcl", relative(Path("/home/someone/originals"))),
        ],
    }
    kept = Portable("mine", STUDY).plan(plan)
    assert "home" not in json.dumps(kept)
    assert [run["script"] for run in kept["runs"]] == [
        "../config/studies/mine/tcl/own.tcl",
        "network.tcl",
    ]
    assert [run["scripts"] for run in kept["runs"]] == [None, "scripts/originals"]


def test_a_record_loses_the_folders_of_its_scripts() -> None:
    files = {f"{STUDY}/tcl/own.tcl": "1", "tcl/lib/args.tcl": "2", "/home/other/b.tcl": "3"}
    record: RunRecord = {  # type: ignore[typeddict-item]
        "run_id": "a",
        "script": {"path": f"{STUDY}/tcl/own.tcl", "files": files},
    }
    assert Portable("mine", STUDY).record(record)["script"] == {
        "path": "config/studies/mine/tcl/own.tcl",
        "files": {
            "config/studies/mine/tcl/own.tcl": "1",
            "tcl/lib/args.tcl": "2",
            "scripts/b.tcl": "3",
        },
    }
