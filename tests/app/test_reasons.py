"""Why a run is to be simulated, told from what lies in the results folder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from bdpbench.app.run.reasons import Reasons
from bdpbench.studies.runs import Run

RUN = Run(
    "0" * 16, "s", "single_flow", "HS", "a.tcl", "5c1", ("x",), {"rtt_ms": 100}, (), ("HS",), 10.0
)


def _finished(runs: Path, run_id: str, **changes: object) -> None:
    facts = {"build_id": "b1", "script": "5c1", "argv": ["x"], "parameters": {"rtt_ms": 100}}
    facts |= changes
    info = {
        "schema_version": 1,
        "run_id": run_id,
        "parameters": facts["parameters"],
        "argv": facts["argv"],
        "script": {"path": "tcl/a.tcl", "sha256": facts["script"]},
        "ns2": {"build_id": facts["build_id"]},
    }
    (runs / run_id).mkdir()
    (runs / run_id / "run.json").write_text(json.dumps(info))


def test_nothing_is_known_of_a_new_run(tmp_path: Path) -> None:
    _finished(tmp_path, "a", parameters={"rtt_ms": 20})
    assert Reasons(tmp_path, "b1").of(RUN) == "not simulated yet"


def test_what_has_changed_is_named(tmp_path: Path) -> None:
    _finished(tmp_path, "a", script="old", argv=["y"])
    assert (
        Reasons(tmp_path, "b1").of(RUN)
        == "changed since it was simulated: the script, the script's arguments"
    )
    _finished(tmp_path, "b", build_id="b0")  # nearer to what is wanted
    assert (
        Reasons(tmp_path, "b1").of(RUN) == "changed since it was simulated: another build of ns-2"
    )


def test_a_failed_and_an_interrupted_run_say_so(tmp_path: Path) -> None:
    failed, interrupted = replace(RUN, run_id="f"), replace(RUN, run_id="i")
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "error.txt").write_text("ns-2 stopped")
    (tmp_path / "i" / ".scratch").mkdir(parents=True)
    assert Reasons(tmp_path, "b1").of(failed) == "failed last time"
    assert Reasons(tmp_path, "b1").of(interrupted) == "was interrupted"


def test_a_broken_record_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "run.json").write_text("{")
    assert Reasons(tmp_path, "b1").of(RUN) == "not simulated yet"
