"""ns-2 in a container: which parts of the checkout, the study and the run it can see."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from bdpbench.contracts.paths import tcl_dir
from bdpbench.errors import BdpbenchError
from bdpbench.simulation import backend
from bdpbench.simulation.backend import DockerBackend, NativeBackend, choose_backend


def _volumes(words: tuple[str, ...]) -> list[str]:
    return [after for word, after in itertools.pairwise(words) if word == "--volume"]


def test_a_script_of_the_checkout_needs_its_tcl_folder_alone(tmp_path: Path) -> None:
    words = DockerBackend("b").command(tmp_path, tcl_dir() / "network.tcl", ["-x", "1"]).words
    assert _volumes(words) == [f"{tmp_path}:/run/bdpbench", f"{tcl_dir()}:/opt/bdpbench/tcl:ro"]
    assert words[-3:] == ("/opt/bdpbench/tcl/network.tcl", "-x", "1")
    assert words[words.index("--env") + 1] == "BDPBENCH_TCL=/opt/bdpbench/tcl"


def test_a_study_outside_the_checkout_brings_its_tcl_folder(tmp_path: Path) -> None:
    script = tmp_path / "study" / "tcl" / "parts" / "x.tcl"
    words = DockerBackend("b").command(tmp_path / "run", script, []).words
    assert _volumes(words)[2] == f"{tmp_path}/study/tcl:/opt/bdpbench/study/tcl:ro"
    assert words[-1] == "/opt/bdpbench/study/tcl/parts/x.tcl"


def test_a_variant_that_no_image_contains_runs_on_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backend, "docker_answers", lambda: True)
    assert choose_backend("auto", "b") == DockerBackend("b")
    for wanted in ("auto", "native"):
        found = choose_backend(wanted, "b", variant="fast-pgo")
        assert found == NativeBackend("b", "fast-pgo")
    with pytest.raises(BdpbenchError, match="contains the variant fast, not fast-pgo"):
        choose_backend("docker", "b", variant="fast-pgo")
