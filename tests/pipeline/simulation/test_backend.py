"""Where ns-2 runs, what a container sees of the checkout, and what a build has to know."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path

import pytest
from tests.data_of import data_of
from tests.needs import leave_out

from bdpbench.app.planning import Wanted, prepare
from bdpbench.contracts.paths import tcl_dir
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import DockerBackend, NativeBackend, choose_backend
from bdpbench.simulation.build import (
    PREFIX_VARIABLE,
    Ns2Build,
    current_build_id,
    find_build,
    unknown_to_ns2,
)
from bdpbench.studies.load import declared_by, load_study, study_keys


def _volumes(words: tuple[str, ...]) -> list[str]:
    return [after for word, after in itertools.pairwise(words) if word == "--volume"]


@pytest.fixture
def image(monkeypatch: pytest.MonkeyPatch) -> DockerBackend:
    """A backend whose image is known."""
    facts = {"image_id": "sha256:1234"}
    monkeypatch.setattr("bdpbench.simulation.backend._facts_of", lambda _: facts)
    return DockerBackend("b")


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Docker client whose engine answers, and has no images."""
    client = tmp_path / "bin" / "docker"
    client.parent.mkdir()
    client.write_text("#!/bin/sh\n[ $1 != image ]\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{client.parent}:{os.environ['PATH']}")


def test_a_container_runs_the_image_that_was_checked_and_sees_its_tcl_folder_alone(
    tmp_path: Path, image: DockerBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    words = image.command(tmp_path, tcl_dir() / "network.tcl", ["-x", "1"]).words
    assert _volumes(words) == [f"{tmp_path}:/run/bdpbench", f"{tcl_dir()}:/opt/bdpbench/tcl:ro"]
    assert words[-3:] == ("/opt/bdpbench/tcl/network.tcl", "-x", "1")
    assert words[words.index("--env") + 1] == "BDPBENCH_TCL=/opt/bdpbench/tcl"
    assert "GLIBC_TUNABLES=glibc.malloc.hugetlb=1" in words
    assert {"sha256:1234", "--read-only", "--tmpfs"} < set(words)
    # A study outside the checkout brings its own.
    script = tmp_path / "study" / "tcl" / "parts" / "x.tcl"
    words = image.command(tmp_path / "run", script, []).words
    assert _volumes(words)[2] == f"{tmp_path}/study/tcl:/opt/bdpbench/study/tcl:ro"
    assert words[-1] == "/opt/bdpbench/study/tcl/parts/x.tcl"


def test_ns2_asks_for_large_pages_unless_the_user_tunes_memory(
    tmp_path: Path, ns_binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    native = NativeBackend(current_build_id())
    for given, used in ((None, "glibc.malloc.hugetlb=1"), ("glibc.malloc.check=3",) * 2):
        monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
        if given is not None:
            monkeypatch.setenv("GLIBC_TUNABLES", given)
        command = native.command(tmp_path, tcl_dir() / "network.tcl", [])
        assert command.environment["GLIBC_TUNABLES"] == used


def test_an_image_is_asked_for_its_facts_and_its_binary_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = tmp_path / "bin" / "docker"
    client.parent.mkdir()
    client.write_text(
        "#!/bin/sh\ncase $1 in image) echo sha256:12 ;; "
        """run) printf 'ab  ns\\n{"binary_sha256": "%s"}' $SHA ;; esac\n"""
    )
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{client.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SHA", "ab")
    backend = DockerBackend("a good one")
    assert backend.is_built()
    assert backend.info() == {"binary_sha256": "ab", "image_id": "sha256:12"}
    monkeypatch.setenv("SHA", "cd")
    assert backend.info()["binary_sha256"] == "ab"  # it is asked once
    with pytest.raises(BdpbenchError, match="not the one that was built"):
        DockerBackend("a bad one").info()


def test_a_missing_image_is_told() -> None:
    with pytest.raises(BdpbenchError, match="image bdpbench-ns2:b is not there"):
        DockerBackend("b").info()


@pytest.mark.usefixtures("engine")
def test_auto_takes_what_is_ready(ns_binary: Path) -> None:
    build_id = ns_binary.parent.name
    assert choose_backend("auto", build_id) == NativeBackend(build_id, "fast")
    assert choose_backend("docker", build_id) == DockerBackend(build_id)


@pytest.mark.usefixtures("engine")
def test_auto_takes_a_ready_image_before_it_builds(tmp_path: Path) -> None:
    (tmp_path / "bin" / "docker").write_text("#!/bin/sh\n")
    assert choose_backend("auto", "b") == DockerBackend("b")


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
    (tmp_path / "bin" / "docker").write_text("#!/bin/sh\n")
    assert choose_backend("auto", "b") == DockerBackend("b")
    (tmp_path / "bin" / "docker").unlink()
    assert choose_backend("auto", "b") == NativeBackend("b", "fast")


@pytest.mark.usefixtures("engine")
def test_a_variant_that_no_image_contains_runs_on_this_machine() -> None:
    for wanted in ("auto", "native"):
        found = choose_backend(wanted, "b", variant="stock")
        assert found == NativeBackend("b", "stock")
    with pytest.raises(BdpbenchError, match="contains the variant fast, not stock"):
        choose_backend("docker", "b", variant="stock")


# ---------------------------------------------------------------- what a study names of ns-2

_DATA = data_of(__file__)
STUDY = _DATA["study"]


@pytest.fixture
def build(ns_binary: Path) -> Ns2Build:
    found = find_build(current_build_id())
    return found or Ns2Build("given", ns_binary, {})


def _study(folder: Path, old: str, new: str) -> Path:
    assert old in STUDY
    path = folder / "mine" / "study.yaml"
    path.parent.mkdir()
    path.write_text(STUDY.replace(old, new, 1))
    return path


@pytest.mark.parametrize("key", study_keys())
def test_ns2_has_all_that_a_study_names(key: str, build: Ns2Build) -> None:
    declared = list(declared_by(load_study(key)))
    assert {"agent", "sink", "variable"} <= {each.kind for each in declared}
    assert unknown_to_ns2(build, declared) == []


NO_VARIABLE = "Agent/TCP/Reno of this ns-2 has no variable"
CUBIC = "linux: cubic\n    linux_parameters: {beta: 717}"


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("maxburst_: 2", "maxbust_: 2", 11, NO_VARIABLE),
        ("[ssthresh_]", "[ssthres_]", 12, NO_VARIABLE),
        (
            "agent: TCP/Reno",
            "agent: TCP/Rino",
            9,
            "this ns-2 has no Agent/TCP/Rino; did you mean 'TCP/Reno'?",
        ),
        ("agent: TCP/Reno", "agent: TCPSink", 9, "expected a kind of Agent/TCP"),
        ("sink: TCPSink\n", "sink: TCP/Reno\n", 10, "expected a kind of Agent/TCPSink"),
        ("linux: cubic", "linux: qbic", 18, "no congestion control 'qbic'"),
        ("{beta: 717}", "{bta: 717}", 19, "cubic of this ns-2 has no parameter 'bta'"),
        ("window_: 1000", "windows_: 1000", 4, "Agent/TCP of this ns-2 has no variable"),
        # What is not there is answered with what is.
        (CUBIC, "linux: bbr", 18, "protocols/bbr}"),
        ("agent: TCP/Reno", "agent: TCP/DCTCP", 9, "protocols/dctcp}"),
        ("agent: TCP/Reno", "agent: MPTCP", 9, "docs/elsewhere.md"),
    ],
)
def test_what_ns2_lacks_is_refused_at_planning(
    tmp_path: Path, build: Ns2Build, old: str, new: str, line: int, told: str
) -> None:
    if build.build_id == "given":
        leave_out("planning asks for the build of this checkout", "unset BDPBENCH_NS")
    path = _study(tmp_path, old, new)
    with pytest.raises(BdpbenchError) as caught:
        prepare(Wanted(str(path.parent), "quick", results=tmp_path, build_id=build.build_id))
    assert told in str(caught.value)
    assert caught.value.where == f"{path}:{line}"


def test_a_congestion_control_may_have_an_underscore(tmp_path: Path, build: Ns2Build) -> None:
    path = _study(tmp_path, "linux: cubic\n    linux_parameters: {beta: 717}", "linux: naive_reno")
    assert unknown_to_ns2(build, declared_by(load_study(str(path.parent)))) == []


def test_an_ns2_that_does_not_answer_is_told(tmp_path: Path) -> None:
    binary = tmp_path / "ns"
    binary.write_text("#!/bin/sh\nexit 3\n")
    binary.chmod(0o755)
    with pytest.raises(BdpbenchError, match="does not answer"):
        unknown_to_ns2(Ns2Build("broken", binary, {}), declared_by(load_study(study_keys()[0])))


def test_what_is_not_built_is_built_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    monkeypatch.setattr("bdpbench.simulation.backend.run_build_script", calls.append)
    for is_there in (True, False):
        monkeypatch.setattr(NativeBackend, "is_built", lambda _self, found=is_there: found)
        NativeBackend("0" * 16, "stock").build()
    assert calls == [["--variant", "stock", "--install-deps"]]
