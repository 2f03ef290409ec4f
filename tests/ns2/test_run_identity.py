"""What ns-2 really sources and creates agrees with the identity of the run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.data_of import data_of
from tests.forks import Forks
from tests.planned_runs import agents_of, loaded_study, runs_of, small

from bdpbench.contracts.paths import tcl_dir
from bdpbench.contracts.plan import AgentUse, PlannedRun
from bdpbench.studies.identity import Identities, tcl_files
from bdpbench.studies.load import study_keys
from bdpbench.studies.plan import tiers_of

_DATA = data_of(__file__)
RECORDER = _DATA["recorder"]


def runs_to_record(key: str) -> Iterator[PlannedRun]:
    """Runs from all tiers that cover each script of a study and each kind of senders.

    A script sources the same files for all senders, and how it creates them is the same for all
    their kinds, so not every script is run with every kind.
    """
    seen = set[tuple[str, ...]]()
    for tier in tiers_of(loaded_study(key)):
        for run in runs_of(key, tier):
            kind = {(run["script"],), *agents_of(run)}
            if not kind <= seen and len(run["protocols"]) == 1:
                seen |= kind
                yield run


def shortened(argv: list[str]) -> list[str]:
    """Arguments for a run of half a second, or of 21 s if its first flow starts at 20 s."""
    argv = small(argv)
    given = dict(zip(argv[::2], argv[1::2], strict=True))
    late = float(given.get("-flow.0.start_s", "0")) >= 1
    given["-duration_s"] = "21" if late else "0.5"
    for key in given:
        if re.fullmatch(r"-flow\.[1-9][0-9]*\.start_s", key):
            given[key] = "0.2"
        elif key.endswith(".within_s"):
            given[key] = "0.1"
    return [word for pair in given.items() for word in pair]


@pytest.mark.parametrize("key", study_keys())
def test_what_is_sourced_and_created_is_what_the_id_covers(
    key: str, forks: Callable[[Path], Forks], ns_binary: Path, tmp_path: Path
) -> None:
    recorder = tmp_path / "recorder.tcl"
    recorder.write_text(RECORDER)
    (tmp_path / "out").mkdir()
    runs = list(runs_to_record(key))
    assert runs
    for run in runs:
        sourced, uses = recorded(run, forks(ns_binary), recorder)
        assert sourced == tcl_files(tcl_dir() / run["script"]), run["label"]
        assert uses, run["label"]
        assert Identities().behaviour(uses) == run["identity"]["ns2"], run["label"]


def recorded(run: PlannedRun, ns: Forks, recorder: Path) -> tuple[list[Path], list[AgentUse]]:
    """The files that a run sources, in order, and the senders that it creates."""
    command = [str(recorder), str(tcl_dir() / run["script"]), *shortened(run["argv"])]
    done = ns.completed(command, recorder.parent)
    assert done.returncode == 0, f"{run['label']}: {done.stderr}"
    told = [line.split(" ", 1) for line in done.stdout.splitlines() if " " in line]
    senders = [rest.split() for word, rest in told if word == "SENDER"]
    return (
        [Path(rest) for word, rest in told if word == "SOURCED"],
        [AgentUse(each.removeprefix("Agent/"), int(option)) for each, option in senders],
    )
