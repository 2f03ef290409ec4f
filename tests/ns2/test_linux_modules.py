"""Modules of Linux in protocol folders: ns-2's own behave as those that are built in."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.data_of import data_of
from tests.needs import leave_out
from tests.ns2.conftest import Script
from tests.pipeline.simulation.test_folders import edit, study_of

from bdpbench.errors import BdpbenchError
from bdpbench.simulation import build
from bdpbench.simulation.build import build_script
from bdpbench.simulation.libraries import compile_folder
from bdpbench.studies.folders import ProtocolFolder, folder_in
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import expand_tier

# Two flows and a trace of all packets, with the built-in module or with one from a library.
DATA = data_of(__file__)
MODULES: dict[str, dict[str, int]] = DATA["modules"]
RUN = DATA["run"]


@pytest.fixture(scope="session")
def sources(of_archive: Callable[..., Path]) -> Path:
    """``tcp_*.c`` of ns-2.35, as they are in its source archive."""

    def unpack(folder: Path) -> None:
        command = ["bash", str(build_script()), "--print-source"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            leave_out("no source archive of ns-2", "./bdpbench ns2 build fetches it")
        names = ["*/tcp/linux/src/tcp_*", "*/tcp/linux/tcp_naivereno.c"]
        options = ["-C", str(folder), "-xJf", done.stdout.strip(), "--transform", "s|.*/||"]
        subprocess.run(["tar", *options, "--wildcards", *names], check=True)
        (folder / "tcp_naivereno.c").rename(folder / "tcp_naive_reno.c")

    return of_archive("linux-modules", unpack)


@pytest.fixture
def folder_of(sources: Path, tmp_path: Path, kept_libraries: Path) -> Callable[[str], Path]:
    """Make the folder of a module."""

    def make(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"tcp_{name}.c").write_bytes((sources / f"tcp_{name}.c").read_bytes())
        if name in ("yeah", "vegas"):
            (folder / "tcp_vegas.h").write_bytes((sources / "tcp_vegas.h").read_bytes())
        rows = [
            f"  - {{symbol: x, variable: {each}_, unit: '1', default: {value}, meaning: x}}"
            for each, value in MODULES[name].items()
        ]
        head = f"key: Module\nlabel: {name}\ncolour: '#0f9d76'\nname: {name}\nsummary: Its file.\n"
        head += "sender: tcp-linux\n"
        rest = "parameters:\n" + "\n".join(rows) if rows else ""
        (folder / "protocol.yaml").write_text(head + rest + "\n")
        return folder

    return make


def library_of(folder: Path) -> Path:
    protocol = ProtocolFolder(folder)
    compile_folder(protocol)
    return build.libraries_dir() / f"{protocol.agent.rpartition('/')[2]}.so"


def arguments(name: str, **changed: int) -> list[object]:
    return [
        word for key, value in {**MODULES[name], **changed}.items() for word in (f"{key}_", value)
    ]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_ns2_gives_the_same_packets_as_the_one_that_is_built_in(
    name: str, folder_of: Callable[[str], Path], tcl: Script, tmp_path: Path
) -> None:
    ours, theirs = tmp_path / "ours.tr", tmp_path / "theirs.tr"
    done = tcl(RUN, ours, "library", library_of(folder_of(name)), *arguments(name))
    assert done.returncode == 0, done.stderr
    tcl(RUN, theirs, "built-in", name)
    assert ours.read_bytes() == theirs.read_bytes()
    assert ours.stat().st_size > 100_000


def test_a_changed_copy_and_other_parameters_change_nothing_of_others(
    folder_of: Callable[[str], Path], tcl: Script, tmp_path: Path
) -> None:
    folder = folder_of("cubic")
    before = library_of(folder)
    edit(folder / "tcp_cubic.c", "BICTCP_BETA_SCALE    1024", "BICTCP_BETA_SCALE    2048")
    changed = library_of(folder)
    assert changed != before

    def packets(kind: str, what: object, *words: object) -> bytes:
        out = tmp_path / "out.tr"
        done = tcl(RUN, out, kind, what, *words)
        assert done.returncode == 0, done.stderr
        return out.read_bytes()

    built_in = packets("built-in", "cubic")
    assert packets("library", before, *arguments("cubic")) == built_in
    assert packets("library", changed, *arguments("cubic")) != built_in
    assert packets("library", before, *arguments("cubic", beta=512)) != built_in


def test_a_study_names_a_module_and_sets_its_parameters(folder_of: Callable[[str], Path]) -> None:
    folder = folder_of("vegas")
    (run,) = expand_tier(load_study(study_of(folder, settings={"alpha_": 3})), "quick")
    given = dict(zip(run["argv"][::2], run["argv"][1::2], strict=True))
    assert given["-flow.0.agent"] == ProtocolFolder(folder).agent
    assert given["-flow.0.agent"].startswith("TCP/Linux/Module/Module")
    assert (given["-flow.0.set.alpha_"], given["-flow.0.set.beta_"]) == ("3", "8")
    with pytest.raises(BdpbenchError, match="expected a whole number"):
        load_study(study_of(folder, settings={"alpha_": 2.5}))
    with pytest.raises(BdpbenchError, match="the protocol's folder decides this"):
        load_study(study_of(folder, linux_parameters={"alpha": 3}))


@pytest.mark.parametrize(("old", "new", "message", "line"), DATA["compiled"])
def test_what_is_wrong_in_a_module_is_said_with_its_line(
    old: str,
    new: str,
    message: str,
    line: str,
    folder_of: Callable[[str], Path],
) -> None:
    folder = folder_of("scalable")
    edit(folder / "tcp_scalable.c", old, new)
    with pytest.raises(BdpbenchError) as found:
        library_of(folder)
    assert message in str(found.value).replace("‘", "'").replace("’", "'")
    assert line in found.value.where


def test_parameters_have_to_be_those_of_the_file(folder_of: Callable[[str], Path]) -> None:
    folder = folder_of("hybla")
    edit(folder / "protocol.yaml", "rtt0_", "rtt1_")
    with pytest.raises(BdpbenchError, match="does not have the parameter rtt0"):
        library_of(folder)
    edit(folder / "tcp_hybla.c", "module_param(rtt0", "// module_param(rtt0")
    with pytest.raises(BdpbenchError, match="has no module_param of the name rtt1"):
        library_of(folder)
    (folder / "law.cc").touch()
    assert "law.cc and tcp_hybla.c: expected one of them" in str(folder_in(ProtocolFolder, folder))


@pytest.mark.parametrize(("old", "new", "message"), DATA["loaded"])
def test_ns2_refuses_a_module_that_is_no_congestion_control(
    old: str, new: str, message: str, folder_of: Callable[[str], Path], tcl: Script, tmp_path: Path
) -> None:
    folder = folder_of("scalable")
    edit(folder / "tcp_scalable.c", old, new)
    done = tcl(RUN, tmp_path / "out.tr", "library", library_of(folder))
    assert done.returncode == 1
    assert message in done.stderr


@pytest.mark.parametrize(("new", "message"), DATA["goes_wrong"])
def test_a_module_that_goes_wrong_ends_the_run_and_names_its_function(
    new: str, message: str, folder_of: Callable[[str], Path], tcl: Script, tmp_path: Path
) -> None:
    folder = folder_of("scalable")
    edit(
        folder / "tcp_scalable.c",
        "if (!tcp_is_cwnd_limited(sk, in_flight))",
        new + "\n\tif (!tcp_is_cwnd_limited(sk, in_flight))",
    )
    done = tcl(RUN, tmp_path / "out.tr", "library", library_of(folder))
    assert done.returncode == 1
    assert message in done.stderr
