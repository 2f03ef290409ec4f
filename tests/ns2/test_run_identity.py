"""What ns-2 really sources and creates is what the identity of the run says."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bdpbench.contracts.paths import repository_root, tcl_dir
from bdpbench.contracts.plan import PlannedRun
from bdpbench.studies.identity import AgentUse, ns2_digest, tcl_files
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import expand_tier, tiers_of

# Runs a script with `source`, `new` and `exit` recorded on standard output.
RECORDER = r"""
rename source real_source
proc source {file} {
    puts "SOURCED [file normalize $file]"
    uplevel 1 [list real_source $file]
}
rename new real_new
set senders {}
proc new {class args} {
    set object [uplevel 1 [list real_new $class {*}$args]]
    if {"Agent/TCP" in [concat $class [$class info heritage]]} {
        lappend ::senders $object
    }
    return $object
}
rename exit real_exit
proc exit {{status 0}} {
    foreach sender $::senders {
        puts "SENDER [$sender info class] [$sender set windowOption_]"
    }
    flush stdout
    real_exit $status
}
set argv [lassign $argv script]
source $script
"""


def runs_to_record() -> Iterator[tuple[str, PlannedRun]]:
    """For each script, one run for each kind of senders, of all studies."""
    seen = set()
    for folder in sorted((repository_root() / "config" / "studies").iterdir()):
        study = load_study(folder.name)
        for tier in tiers_of(study):
            for run in expand_tier(study, tier):
                key = (run["script"], run["identity"]["ns2"])
                if key not in seen and len(run["protocols"]) == 1:
                    seen.add(key)
                    yield f"{run['script']}-{run['protocols'][0]}", run


def shortened(argv: list[str]) -> list[str]:
    """Arguments of a run of 2 s; of 21 s where the first flow starts at 20 s."""
    given = dict(zip(argv[::2], argv[1::2], strict=True))
    late = float(given.get("-flow.0.start_s", "0")) >= 1
    given["-duration_s"] = "21" if late else "2"
    for key in given:
        if re.fullmatch(r"-flow\.[1-9]\.start_s", key):
            given[key] = "1"
    return [word for pair in given.items() for word in pair]


RUNS = dict(runs_to_record())


@pytest.mark.parametrize("name", RUNS)
def test_what_is_sourced_and_created_is_what_the_id_covers(
    name: str, ns_binary: Path, tmp_path: Path
) -> None:
    run = RUNS[name]
    script = tcl_dir() / run["script"]
    recorder = tmp_path / "recorder.tcl"
    recorder.write_text(RECORDER)
    (tmp_path / "out").mkdir()
    done = subprocess.run(
        [str(ns_binary), str(recorder), str(script), *shortened(run["argv"])],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = [line.split(" ", 1) for line in done.stdout.splitlines() if " " in line]
    sourced = [Path(rest) for word, rest in told if word == "SOURCED"]
    assert sourced == tcl_files(script)
    senders = [rest.split() for word, rest in told if word == "SENDER"]
    assert senders
    uses = [AgentUse(each.removeprefix("Agent/"), int(option)) for each, option in senders]
    assert ns2_digest(uses) == run["identity"]["ns2"]
