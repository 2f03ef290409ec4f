"""Keys: the documentation names all, and a study's own script may take more."""

from __future__ import annotations

from pathlib import Path

from tests.pipeline.studies.network.conftest import write_study

from bdpbench.app.keep.sources import study_sources
from bdpbench.contracts.paths import repository_root, tcl_dir
from bdpbench.studies.identity import tcl_files
from bdpbench.studies.load import read_study
from bdpbench.studies.parts import (
    Bottleneck,
    Cbr,
    Change,
    Exponential,
    Flow,
    OwnSource,
    Web,
)
from bdpbench.studies.queues import QUEUE_KINDS
from bdpbench.studies.runs import expand_tier


def test_the_documentation_tells_every_key() -> None:
    text = (repository_root() / "docs" / "scenarios.md").read_text()

    def told(name: str) -> bool:
        return f"`{name}`" in text or f"{name}:" in text

    for model in (Flow, Bottleneck, Change, Cbr, Exponential, Web, OwnSource):
        assert [name for name in model.model_fields if not told(name)] == []
    for kind in QUEUE_KINDS.values():
        for name, parameter in kind.parameters.items():
            assert f"| `{name}` | {parameter.text} |" in text


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
