"""Original scripts are found beside the study, suit their scenario, run, and count for the id."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.paths import relative, run_folder, tcl_dir
from bdpbench.contracts.plan import PlannedRun
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.simulate import write_specs
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import expand_tier

BUILD = "0123456789abcdef"
FIXED = (
    "{bottleneck_mbps: 10, bottleneck_delay_ms: 18, access_mbps: 100, access_delay_ms: 1, "
    "receiver_delay_ms: 1, packet_bytes: 1000}"
)
ORIGINAL = (
    "{script: theirs.tcl, arguments: [duration_s, protocol, 312, DATADIR, buffer_pkts], "
    f"fixed: {FIXED}}}"
)
SCRIPT = "set endtime [lindex $argv 0]\nset type [lindex $argv 1]\nset q [lindex $argv 4]\n"


@pytest.fixture
def study(own_script: Callable[..., Path]) -> Callable[..., Path]:
    """A study whose scenario has an original script, and more lines for the scenario."""

    def write(*lines: str, original: str = ORIGINAL) -> Path:
        return own_script(*(f"    {line}" for line in lines), original=original)

    return write


@pytest.fixture
def originals(study: Callable[..., Path]) -> Path:
    folder = study().parent / "originals"
    folder.mkdir()
    (folder / "theirs.tcl").write_text(SCRIPT)
    return folder


def _run(scripts: Path | None = None) -> PlannedRun:
    (run,) = expand_tier(load_study("mine", scripts), "quick")
    return run


def test_a_relative_folder_starts_at_the_study(study: Callable[..., Path], originals: Path) -> None:
    study("scripts: originals")
    run = _run()
    assert (run["scripts"], run["script"]) == (relative(originals), "theirs.tcl")
    study()
    assert _run()["scripts"] is None
    assert run["run_id"] != _run()["run_id"]
    assert run["label"] == _run()["label"]


def test_it_gets_literals_and_parameters_in_its_own_order(
    study: Callable[..., Path], originals: Path
) -> None:
    study("scripts: originals")
    assert _run()["argv"] == ["5", "Reno", "312", "out", "50"]


def test_the_id_covers_what_the_script_says_and_not_where_it_lies(
    study: Callable[..., Path], originals: Path, tmp_path: Path
) -> None:
    study("scripts: originals")
    first = _run()["run_id"]
    originals.rename(tmp_path / "moved")
    study(f"scripts: {tmp_path / 'moved'}")
    assert _run()["run_id"] == first
    (tmp_path / "moved" / "theirs.tcl").write_text(SCRIPT + "set edited 1\n")
    assert _run()["run_id"] != first


def test_the_command_line_s_folder_is_that_of_every_scenario(
    study: Callable[..., Path], originals: Path
) -> None:
    study()
    by_option = _run(originals)
    study("scripts: originals")
    assert by_option == _run()


def test_a_run_keeps_its_script(
    study: Callable[..., Path], originals: Path, tmp_path: Path
) -> None:
    study("scripts: originals")
    run = _run()
    write_specs([run], BUILD, tmp_path / "runs")
    folder = run_folder(tmp_path / "runs", run["run_id"])
    assert (folder / "scripts" / "theirs.tcl").read_text() == SCRIPT
    utils = (tcl_dir() / "lib" / "utils.tcl").read_text()
    assert (folder / "scripts" / "utils.tcl").read_text() == utils
    spec = json.loads((folder / "spec.json").read_text())
    assert spec["scripts"] == relative(originals)
    assert spec["identity"] == run["identity"]


@pytest.mark.parametrize(
    ("original", "script", "said"),
    [
        ("", SCRIPT, "the scenario has no original: that says"),
        (ORIGINAL.replace("theirs", "other"), SCRIPT, "no script"),
        (ORIGINAL, SCRIPT.replace("argv 4", "argv 3"), "takes no argument buffer_pkts"),
        (ORIGINAL, "set endtime 5\n", "takes no argument duration_s"),
    ],
)
def test_scripts_that_do_not_fit_are_told_with_key_and_line(
    study: Callable[..., Path], originals: Path, original: str, script: str, said: str
) -> None:
    (originals / "theirs.tcl").write_text(script)
    path = study("scripts: originals", original=original)
    line = 1 + path.read_text().splitlines().index("    scripts: originals")
    with pytest.raises(BdpbenchError) as caught:
        load_study("mine")
    assert f"{path}:{line}: scenarios.buffers.scripts: " in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "bottleneck_mbps: 10",
            "bottleneck_mbps: 622",
            "theirs.tcl has bottleneck_mbps 622, but here it is 10",
        ),
        (
            "packet_bytes: 1000",
            "packet_bytes: 1000, duration_s: 50",
            "theirs.tcl has duration_s 50, but here it is 5",
        ),
        (
            "packet_bytes: 1000",
            "packet_bytes: 1000, drop_packet: 3",
            "theirs.tcl has drop_packet 3, but here it is not given",
        ),
        (
            ", packet_bytes: 1000",
            "",
            "packet_bytes would have no effect: theirs.tcl does not take it",
        ),
    ],
)
def test_a_run_that_the_original_cannot_simulate_is_refused(
    study: Callable[..., Path], originals: Path, old: str, new: str, said: str
) -> None:
    path = study("scripts: originals", original=ORIGINAL.replace(old, new))
    with pytest.raises(BdpbenchError) as caught:
        _run()
    assert f"{path}:" in str(caught.value)
    assert said in str(caught.value)


def test_what_an_original_computes_is_said(study: Callable[..., Path], originals: Path) -> None:
    implied = ORIGINAL.replace(", packet_bytes: 1000}", "}, implied: {packet_bytes: its default}")
    study("scripts: originals", original=implied)
    assert _run()["scripts"] == relative(originals)


def test_a_folder_that_fits_no_scenario_is_refused_on_the_command_line(
    study: Callable[..., Path], tmp_path: Path
) -> None:
    study()
    with pytest.raises(BdpbenchError, match=r"--scripts: no such folder[\s\S]*recover"):
        load_study("mine", tmp_path / "nowhere")
