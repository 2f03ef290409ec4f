"""The reason why a run has to be simulated, derived from what is in the results folder."""

from __future__ import annotations

import json
from pathlib import Path

from tests.app.planned import IDENTITY, finished_run, planned_run

from bdpbench.app.listing import Reasons
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import Identity

RUN = planned_run()


def _finished(
    runs: Path,
    run_id: str,
    *,
    identity: Identity = IDENTITY,
    build_id: str = "any",
    rtt_ms: int = 100,
) -> None:
    record = finished_run(
        run_id,
        identity=identity,
        parameters={"rtt_ms": rtt_ms},
        ns2={"build_id": build_id, "backend": "native", "binary_sha256": None},
    )
    run_folder(runs, run_id).mkdir(parents=True)
    (run_folder(runs, run_id) / "run.json").write_text(json.dumps(record))


def test_nothing_is_known_of_a_new_run(tmp_path: Path) -> None:
    _finished(tmp_path, "a", rtt_ms=20)
    assert Reasons(tmp_path).of(RUN) == "not simulated yet"


def test_what_has_changed_is_named(tmp_path: Path) -> None:
    _finished(tmp_path, "a", identity={**IDENTITY, "tcl": "old", "argv": ["y"]})
    told = "changed since it was simulated: the script's arguments, the script or what it sources"
    assert Reasons(tmp_path).of(RUN) == told
    _finished(tmp_path, "b", identity={**IDENTITY, "ns2": "b0"})  # closer to what is wanted
    told = "changed since it was simulated: the behaviour of ns-2 towards its agents"
    assert Reasons(tmp_path).of(RUN) == told


def test_a_failed_and_an_interrupted_run_say_so(tmp_path: Path) -> None:
    failed, interrupted = planned_run("f"), planned_run("i")
    run_folder(tmp_path, "f").mkdir(parents=True)
    (run_folder(tmp_path, "f") / "error.txt").write_text("ns-2 stopped")
    (run_folder(tmp_path, "i") / ".scratch").mkdir(parents=True)
    assert Reasons(tmp_path).of(failed) == "failed last time"
    assert Reasons(tmp_path).of(interrupted) == "was interrupted"


def test_a_broken_record_is_no_reason_to_stop(tmp_path: Path) -> None:
    run_folder(tmp_path, "x").mkdir(parents=True)
    (run_folder(tmp_path, "x") / "run.json").write_text("{")
    assert Reasons(tmp_path).of(RUN) == "not simulated yet"
