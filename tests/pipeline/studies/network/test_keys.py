"""A study's own script may take more keys than network.tcl."""

from __future__ import annotations

from pathlib import Path

from tests.pipeline.studies.network.conftest import write_study

from bdpbench.app.keep.sources import study_sources
from bdpbench.contracts.paths import tcl_dir
from bdpbench.studies.identity import tcl_files
from bdpbench.studies.load import read_study
from bdpbench.studies.runs import expand_tier


def test_a_study_may_have_a_script_that_adds_to_that_of_all(tmp_path: Path) -> None:
    scenario = {"network": "more.tcl", "arguments": ["own"], "declared": ["own"]}
    path = write_study(tmp_path, {**scenario, "parameters": {"own": 3}})
    script = path.parent / "tcl" / "more.tcl"
    script.parent.mkdir()
    script.write_text("source [file join $::env(BDPBENCH_TCL) network.tcl]\n")
    study = read_study(path)
    (run,) = expand_tier(study, "quick")
    assert run["argv"][run["argv"].index("-own") + 1] == "3"
    assert Path(run["script"]).name == "more.tcl"
    assert tcl_files(script)[1] == tcl_dir() / "network.tcl"
    assert "source/x/tcl/more.tcl" in dict(study_sources(study, "x"))
