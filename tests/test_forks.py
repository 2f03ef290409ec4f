"""For a script, a child of a running ns-2 is the same as a process of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.forks import Forks
from tests.waiting import has_ended, wait_for

TELLS = """
puts "$argv0 $argc [list $argv] [info script] [pwd] [gets stdin]"
puts stderr "[llength [info globals]] [lsort [info globals t*]]"
set ns [new Simulator]
$ns at 1 {puts [$ns now]; file mkdir made; %s}
$ns run
"""


@pytest.fixture
def ns(forks: Callable[[Path], Forks], ns_binary: Path) -> Forks:
    return forks(ns_binary)


@pytest.mark.parametrize(
    "end", ["exit 0", "exit 3", "$ns halt", 'exec sh -c "kill -TERM [pid]"; after 60000']
)
def test_output_files_and_status_are_those_of_a_process(
    ns: Forks, ns_binary: Path, tmp_path: Path, end: str
) -> None:
    script = tmp_path / "script.tcl"
    script.write_text(TELLS % end)
    command = [str(script), "-key", "two words", "{", "", "$x[y]é\\"]
    alone = subprocess.run(
        [str(ns_binary), *command], cwd=tmp_path, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert (tmp_path / "made").is_dir()
    (tmp_path / "made").rmdir()
    forked = ns.completed(command, tmp_path)
    assert (forked.returncode, forked.stdout) == (alone.returncode, alone.stdout)
    assert forked.stderr == alone.stderr
    assert (tmp_path / "made").is_dir()


def test_a_fault_is_told(ns: Forks, tmp_path: Path) -> None:
    (tmp_path / "script.tcl").write_text("puts before\nerror {a fault}\nputs after\n")
    done = ns.completed(["script.tcl"], tmp_path)
    assert (done.returncode, done.stdout) == (1, "before\n")
    assert done.stderr.startswith("a fault\n")
    assert '(file "script.tcl" line 2)' in done.stderr


def test_nothing_of_a_script_is_left_to_the_next(ns: Forks, tmp_path: Path) -> None:
    (tmp_path / "script.tcl").write_text(
        "puts [info exists x][Agent/TCP set window_][info exists env(ONE)]\n"
        "set x 1; Agent/TCP set window_ 7; new Simulator; cd /; set env(ONE) 1\n"
    )
    for _ in range(2):
        assert ns.completed(["script.tcl"], tmp_path).stdout == "0200\n"


@pytest.fixture
def another(forks: Callable[[Path], Forks], ns_binary: Path) -> Iterator[Forks]:
    """A separate process, which a test may kill."""
    own = Forks(ns_binary, forks(ns_binary).library)
    yield own
    own.close()


def test_a_script_that_does_not_end_is_killed(another: Forks, tmp_path: Path) -> None:
    (tmp_path / "hangs.tcl").write_text("puts [pid]; flush stdout; vwait forever")
    (tmp_path / "ends.tcl").write_text("puts ended")
    said, most_s = tmp_path / "out", 1.0
    while not said.exists() or not said.read_text().endswith("\n"):  # it has not come so far
        with pytest.raises(subprocess.TimeoutExpired):
            another.run(["hangs.tcl"], tmp_path, said, tmp_path / "err", timeout_s=most_s)
        most_s *= 2
    pid = int(said.read_text())
    wait_for(lambda: has_ended(pid), "end of a script that was killed")
    assert another.completed(["ends.tcl"], tmp_path).stdout == "ended\n"
