"""Scripts from outside: found beside the study, fit for their scenario, covered by the run id."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.paths import tcl_dir
from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import load_study
from bdpbench.studies.plan import write_specs
from bdpbench.studies.runs import Run, expand_tier

BUILD = "0123456789abcdef"
SCENARIO = """\
    script: sharma2006/single_flow.tcl
    arguments: [duration_s, protocol, DATADIR]
    outputs: one
    parameters: {protocol: Reno}
    tiers:
      quick: [{duration_s: 5}]
"""
SCRIPT = "set endtime [lindex $argv 0]\nset type [lindex $argv 1]\nset DATADIR [lindex $argv 2]\n"


@pytest.fixture
def study(study_file: Callable[[str, str], Path]) -> Callable[..., Path]:
    """A study whose scenario runs a fixed script, with further keys for the scenario."""

    def write(*keys: str, scenario: str = SCENARIO) -> Path:
        path = study_file("", "")
        head = path.read_text().split("    sweep:")[0]
        sets = "output_sets:\n  one: [{file: a.out, table: cwnd, flow: 0}]\nscenarios:"
        extra = "".join(f"    {key}\n" for key in keys)
        path.write_text(head.replace("scenarios:", sets) + extra + scenario)
        return path

    return write


@pytest.fixture
def originals(study: Callable[..., Path]) -> Path:
    folder = study().parent / "originals"
    folder.mkdir()
    (folder / "single_flow.tcl").write_text(SCRIPT)
    return folder


def _run(scripts: Path | None = None) -> Run:
    (run,) = expand_tier(load_study("mine", scripts), "quick", BUILD)
    return run


def test_a_relative_folder_starts_at_the_study(study: Callable[..., Path], originals: Path) -> None:
    study("scripts: originals")
    run = _run()
    assert run.scripts == str(originals)
    # Beside it, the run is that of bdpbench's own script.
    study()
    assert (run.argv, run.parameters) == (_run().argv, _run().parameters)
    assert _run().scripts is None
    assert run.run_id != _run().run_id


def test_the_id_covers_what_the_script_says_and_not_where_it_lies(
    study: Callable[..., Path], originals: Path, tmp_path: Path
) -> None:
    study("scripts: originals")
    first = _run().run_id
    originals.rename(tmp_path / "moved")
    study(f"scripts: {tmp_path / 'moved'}")
    assert _run().run_id == first
    (tmp_path / "moved" / "single_flow.tcl").write_text(SCRIPT + "# edited\n")
    assert _run().run_id != first


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
    folder = tmp_path / "runs" / run.run_id
    assert (folder / "scripts" / "single_flow.tcl").read_text() == SCRIPT
    utils = (tcl_dir() / "lib" / "utils.tcl").read_text()
    assert (folder / "scripts" / "utils.tcl").read_text() == utils
    spec = json.loads((folder / "spec.json").read_text())
    assert spec["scripts"] == str(originals)
    assert spec["script_sha256"] == run.script_sha256


@pytest.mark.parametrize(
    ("keys", "scenario", "script", "said"),
    [
        (["scripts: nowhere"], SCENARIO, SCRIPT, "no such folder"),
        (["scripts: originals"], SCENARIO.replace("single_flow", "rtt"), SCRIPT, "no script"),
        (
            ["scripts: originals"],
            SCENARIO.replace("DATADIR]", "DATADIR, buffer_pkts]"),
            SCRIPT,
            "takes no argument buffer_pkts",
        ),
        (
            ["scripts: originals"],
            SCENARIO.replace("[duration_s, protocol,", "[protocol, duration_s,"),
            "set type [lindex $argv 0]\nset endtime 50\n",
            "always simulates 50 s, tier quick asks for 5 s",
        ),
        (
            ["scripts: originals"],
            SCENARIO.replace("[duration_s, protocol,", "[protocol, duration_s,"),
            "set type [lindex $argv 0]\n",
            "takes no duration",
        ),
        (['scripts: ""'], SCENARIO, SCRIPT, "at least 1 character"),
    ],
)
def test_scripts_that_do_not_fit_are_told_with_key_and_line(
    study: Callable[..., Path],
    originals: Path,
    keys: list[str],
    scenario: str,
    script: str,
    said: str,
) -> None:
    (originals / "single_flow.tcl").write_text(script)
    path = study(*keys, scenario=scenario)
    line = 1 + path.read_text().splitlines().index(f"    {keys[0]}")
    with pytest.raises(BdpbenchError) as caught:
        load_study("mine")
    assert f"{path}:{line}: scenarios.buffers.scripts: " in str(caught.value)
    assert said in str(caught.value)


def test_a_script_with_a_time_of_its_own_fits_a_run_of_that_time(
    study: Callable[..., Path], originals: Path
) -> None:
    (originals / "single_flow.tcl").write_text("set type [lindex $argv 0]\nset endtime 5 ;# s\n")
    arguments = SCENARIO.replace("[duration_s, protocol,", "[protocol, duration_s,")
    study("scripts: originals", scenario=arguments)
    assert _run().scripts == str(originals)


def test_dumbbell_has_no_namesake(study_file: Callable[[str, str], Path]) -> None:
    study_file("    topology: small", "    scripts: originals\n    topology: small")
    with pytest.raises(BdpbenchError, match=r"dumbbell\.tcl takes its arguments by name"):
        load_study("mine")


def test_a_folder_that_fits_no_scenario_is_refused_on_the_command_line(
    study: Callable[..., Path], tmp_path: Path
) -> None:
    study()
    with pytest.raises(BdpbenchError, match=r"--scripts: no such folder[\s\S]*recover"):
        load_study("mine", tmp_path / "nowhere")
