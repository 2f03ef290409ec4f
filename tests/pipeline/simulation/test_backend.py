"""ns-2 in a container: which parts of the checkout, the study and the run it can see."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path

import pytest

from bdpbench.contracts.paths import tcl_dir
from bdpbench.errors import BdpbenchError
from bdpbench.simulation import backend
from bdpbench.simulation.backend import DockerBackend, NativeBackend, choose_backend
from bdpbench.simulation.build import PREFIX_VARIABLE, BuildFacts, Ns2Build


def _volumes(words: tuple[str, ...]) -> list[str]:
    return [after for word, after in itertools.pairwise(words) if word == "--volume"]


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DockerBackend:
    """A backend whose image is known."""
    monkeypatch.setenv(PREFIX_VARIABLE, str(tmp_path / "builds"))
    facts = tmp_path / "builds" / "b" / "docker.json"
    facts.parent.mkdir(parents=True)
    facts.write_text('{"image_id": "sha256:1234"}')
    return DockerBackend("b")


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Docker client whose engine answers everything."""
    client = tmp_path / "bin" / "docker"
    client.parent.mkdir()
    client.write_text("#!/bin/sh\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{client.parent}:{os.environ['PATH']}")


def test_a_script_of_the_checkout_needs_its_tcl_folder_alone(
    tmp_path: Path, image: DockerBackend
) -> None:
    words = image.command(tmp_path, tcl_dir() / "network.tcl", ["-x", "1"]).words
    assert _volumes(words) == [f"{tmp_path}:/run/bdpbench", f"{tcl_dir()}:/opt/bdpbench/tcl:ro"]
    assert words[-3:] == ("/opt/bdpbench/tcl/network.tcl", "-x", "1")
    assert words[words.index("--env") + 1] == "BDPBENCH_TCL=/opt/bdpbench/tcl"


def test_a_container_runs_the_image_that_was_checked_and_writes_only_the_run(
    tmp_path: Path, image: DockerBackend
) -> None:
    words = image.command(tmp_path, tcl_dir() / "network.tcl", []).words
    assert "sha256:1234" in words
    assert {"--read-only", "--tmpfs"} < set(words)


def test_the_facts_of_an_image_are_kept_with_its_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PREFIX_VARIABLE, str(tmp_path / "builds"))
    client = tmp_path / "bin" / "docker"
    client.parent.mkdir()
    client.write_text(
        "#!/bin/sh\ncase $1 in image) echo sha256:12 ;; "
        """run) printf 'ab  ns\\n{"binary_sha256": "%s"}' $SHA ;; esac\n"""
    )
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{client.parent}:{os.environ['PATH']}")
    backend = DockerBackend("b")
    assert not backend.is_built()
    monkeypatch.setenv("SHA", "ab")
    backend.build()
    assert backend.info() == {"binary_sha256": "ab", "image_id": "sha256:12"}
    assert backend.is_built()
    (tmp_path / "builds" / "b" / "docker.json").unlink()
    monkeypatch.setenv("SHA", "cd")
    with pytest.raises(BdpbenchError, match="image "):
        backend.build()


def test_a_missing_image_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX_VARIABLE, str(tmp_path))
    with pytest.raises(BdpbenchError, match="image bdpbench-ns2:b is not there"):
        DockerBackend("b").info()


def test_a_study_outside_the_checkout_brings_its_tcl_folder(
    tmp_path: Path, image: DockerBackend
) -> None:
    script = tmp_path / "study" / "tcl" / "parts" / "x.tcl"
    words = image.command(tmp_path / "run", script, []).words
    assert _volumes(words)[2] == f"{tmp_path}/study/tcl:/opt/bdpbench/study/tcl:ro"
    assert words[-1] == "/opt/bdpbench/study/tcl/parts/x.tcl"


@pytest.mark.usefixtures("engine")
def test_auto_takes_what_is_ready(ns_binary: Path) -> None:
    build_id = ns_binary.parent.name
    assert choose_backend("auto", build_id) == NativeBackend(build_id, "fast")
    assert choose_backend("docker", build_id) == DockerBackend(build_id)


@pytest.mark.usefixtures("engine")
def test_auto_takes_a_ready_image_before_it_builds(image: DockerBackend) -> None:
    assert choose_backend("auto", "b") == image


@pytest.mark.usefixtures("engine")
def test_auto_builds_here_if_it_can_and_otherwise_takes_docker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PREFIX_VARIABLE, str(tmp_path))
    assert choose_backend("auto", "b") == NativeBackend("b", "fast")
    lacking = tmp_path / "lacking"
    lacking.mkdir()
    for name in ("bash", "dirname", "realpath", "cat", "id"):  # and neither g++ nor apt-get
        found = shutil.which(name)
        assert found is not None
        (lacking / name).symlink_to(found)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{lacking}")
    (tmp_path / "bin" / "docker").write_text(f"#!{shutil.which('bash')}\n")
    assert choose_backend("auto", "b") == DockerBackend("b")
    (tmp_path / "bin" / "docker").unlink()
    assert choose_backend("auto", "b") == NativeBackend("b", "fast")


@pytest.mark.usefixtures("engine")
def test_a_variant_that_no_image_contains_runs_on_this_machine() -> None:
    for wanted in ("auto", "native"):
        found = choose_backend(wanted, "b", variant="fast-pgo")
        assert found == NativeBackend("b", "fast-pgo")
    with pytest.raises(BdpbenchError, match="contains the variant fast, not fast-pgo"):
        choose_backend("docker", "b", variant="fast-pgo")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 0", None),
        ("echo a >&2; echo lost it >&2; exit 1", "lost it"),
        ("echo a; exit 1", "a"),
        ("exit 3", "it ended with 3"),
    ],
)
def test_a_build_that_does_not_run_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, why: str | None
) -> None:
    binary = tmp_path / "ns"
    binary.write_text(f"#!/bin/sh\n{script}\n")
    binary.chmod(0o755)
    build = Ns2Build("b", binary, BuildFacts())
    monkeypatch.setattr(backend, "find_build", lambda build_id: build)
    assert backend.why_it_does_not_run("b") == why
    monkeypatch.setattr(backend, "find_build", lambda build_id: None)
    assert backend.why_it_does_not_run("b") == "it is not there"
