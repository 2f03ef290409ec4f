"""The thesis's own scripts and ours write the same bytes.

The originals are recovered from the copy of the thesis that BDPBENCH_THESIS names; without it the
tests are skipped. They run for a few simulated seconds, which include slow start, growth above
max_ssthresh_, and losses if the buffer is small or a packet is dropped.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tcl.sharma2006.recover.__main__ import recover_scripts
from tests.data_of import data_of
from tests.forks import Forks
from tests.needs import leave_out
from tests.studies.sharma2006.networks import (
    SINGLE_FLOW,
    STANDARD_TCP,
    TWO_FLOWS,
    single_flow,
    standard_tcp,
    two_flows,
    two_rtts,
)
from tests.tcl.conftest import Arguments, Facts, argv

# Protocols of Appendices A and B; H-TCP is only in the others, SACK only in these.
STANDARD = ("SACK", "HS", "Scalable", "BIC", "CUBIC", "FAST")
HIGH_SPEED = ("HS", "Scalable", "BIC", "CUBIC", "HTCP", "FAST")

# Appendices A and B contain their duration; these shorter ones, in s, are enough for a test. At
# 5 Mbit/s they include the first losses; at 622 Mbit/s every packet is traced.
STANDARD_S = {"standard_tcp_low_bdp": 5, "standard_tcp_high_bdp": 2}
HIGH_BDP = {"bottleneck_mbps": 622, "buffer_pkts": 7775}
# Appendices C, E and F: script → simulated s, arguments after those that all of them take, and what
# our script takes instead. A buffer of 40 packets overflows early.
ONE_FLOW: dict[str, tuple[int, list[str], Arguments]] = {
    "single_flow": (3, [], {}),
    "buffer_size": (3, ["40"], {"buffer_pkts": 40, "queue_sample_s": 0.1}),
    "rtt": (2, ["10"], {"bottleneck_delay_ms": 10, "buffer_pkts": 311}),
}
# Appendix D: simulated s by which each protocol has sent the 20,000th packet, which is dropped.
SINGLE_DROP_S = {"HS": 4, "Scalable": 4, "BIC": 7, "CUBIC": 14, "HTCP": 7, "FAST": 3}
# The second flow starts at 1 s.
TWO_FLOWS_S = 4

# In Appendix H the second flow keeps settings of the first one that its own branch does not set.
# One of them is the form of the cwnd file: FAST's, after BIC's, includes BIC's four delays, where
# ours has FAST's own form.
DIFFERENT = {("BIC", "FAST"): {"cwnd_hstcp1.out"}}
# Another one is low_window_: the branches of CUBIC and H-TCP keep that of the previous flow. Their
# laws do not use it, so no file shows it.
LOW_WINDOW = {"HS": 38, "Scalable": 16, "BIC": 14}

Pair = Callable[..., tuple[Path, Path]]


@pytest.fixture(scope="session")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the recovered scripts."""
    thesis = os.environ.get("BDPBENCH_THESIS")
    if not thesis:
        leave_out("no copy of the thesis", "set BDPBENCH_THESIS to its path")
    folder = tmp_path_factory.mktemp("recovered") / "originals"
    recover_scripts(Path(thesis), folder)
    return folder


@pytest.fixture
def run_both(ns: Forks, tcl_root: Path, originals: Path, tmp_path: Path) -> Pair:
    """Run an original and ours in two folders; returns their output folders."""

    def run(
        original: str, theirs: list[str], script: str, ours: Arguments, folder: str = "out"
    ) -> tuple[Path, Path]:
        theirs_dir, ours_dir = tmp_path / "theirs", tmp_path / "ours"
        (theirs_dir / folder).mkdir(parents=True)
        (ours_dir / "out").mkdir(parents=True)
        shutil.copy(originals / "utils.tcl", theirs_dir)
        text = (originals / f"{original}.tcl").read_text()
        end = f"set endtime {STANDARD_S.get(original)}"
        shortened = re.sub(r"^set endtime \d+", end, text, flags=re.M)
        (theirs_dir / f"{original}.tcl").write_text(shortened)
        runner = tcl_root / "sharma2006" / "recover" / "original.tcl"
        original_command = [str(runner), f"{original}.tcl", *theirs]
        own_command = [str(tcl_root / script), *argv(ours)]
        for place, command in ((theirs_dir, original_command), (ours_dir, own_command)):
            done = ns.completed(command, place)
            assert done.returncode == 0, done.stderr
        return theirs_dir / folder, ours_dir / "out"

    return run


def _differing(folders: tuple[Path, Path]) -> set[str]:
    theirs, ours = ({path.name: path.read_bytes() for path in each.iterdir()} for each in folders)
    assert set(theirs) == set(ours)
    assert all(theirs.values())
    return {name for name in theirs if theirs[name] != ours[name]}


@pytest.mark.parametrize("protocol", STANDARD)
@pytest.mark.parametrize("original", STANDARD_S)
def test_appendices_a_and_b(run_both: Pair, original: str, protocol: str) -> None:
    ours = standard_tcp(protocol, STANDARD_S[original])
    if original == "standard_tcp_high_bdp":
        ours = {**ours, **HIGH_BDP}
    folders = run_both(original, [protocol], STANDARD_TCP, ours, folder=protocol)
    assert _differing(folders) == set()


@pytest.mark.parametrize("protocol", HIGH_SPEED)
@pytest.mark.parametrize("original", ONE_FLOW)
def test_appendices_c_e_and_f(run_both: Pair, original: str, protocol: str) -> None:
    seconds, more, changes = ONE_FLOW[original]
    theirs = [str(seconds), protocol, "312", "1", "out", *more]
    ours = single_flow(protocol, seconds, **changes)
    assert _differing(run_both(original, theirs, SINGLE_FLOW, ours)) == set()


@pytest.mark.parametrize("protocol", HIGH_SPEED)
def test_appendix_d(run_both: Pair, protocol: str, facts: Facts) -> None:
    seconds = SINGLE_DROP_S[protocol]
    ours = single_flow(protocol, seconds, drop_packet=20000)
    theirs = [str(seconds), protocol, "312", "1", "out"]
    folders = run_both("single_drop", theirs, SINGLE_FLOW, ours)
    assert _differing(folders) == set()
    assert facts(folders[0] / "report.txt")["flow.0.total_drops"][0] >= 1


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("protocol", HIGH_SPEED)
def test_appendix_g(run_both: Pair, protocol: str, which: int) -> None:
    theirs = [str(TWO_FLOWS_S), protocol, protocol, "312", "1", "1", "out", "68", str(which)]
    ours = two_rtts(protocol, TWO_FLOWS_S, (34, 74) if which == 0 else (74, 34))
    assert _differing(run_both("two_flows_rtt", theirs, TWO_FLOWS, ours)) == set()


@pytest.mark.parametrize(("first", "second"), [*itertools.product(HIGH_SPEED, HIGH_SPEED)])
def test_appendix_h(run_both: Pair, first: str, second: str) -> None:
    theirs = [str(TWO_FLOWS_S), first, second, "312", "1", "1", "out"]
    ours = two_flows(first, second, TWO_FLOWS_S)
    folders = run_both("inter_protocol", theirs, TWO_FLOWS, ours)
    differing = _differing(folders)
    assert differing == DIFFERENT.get((first, second), set())
    for name in differing:  # time and cwnd are the same; the original adds BIC's four columns
        rows = [[line.split() for line in (each / name).read_text().splitlines()]
                for each in folders]  # fmt: skip
        assert [row[:2] for row in rows[0]] == rows[1]
        assert {len(row) for row in rows[0]} == {6}


# Prints the second flow's low_window_ instead of running.
_DATA = data_of(__file__)
ASK = _DATA["ask"]


@pytest.mark.parametrize(("first", "second"), [*itertools.product(LOW_WINDOW, ("CUBIC", "HTCP"))])
def test_the_second_flow_inherits_low_window_in_the_original_only(
    ns: Forks, tcl_root: Path, originals: Path, tmp_path: Path, first: str, second: str
) -> None:
    (tmp_path / "out").mkdir()
    shutil.copy(originals / "utils.tcl", tmp_path)
    found = []
    for script, arguments in (
        (originals / "inter_protocol.tcl", ["1", first, second, "312", "0.5", "1", "out"]),
        (tcl_root / TWO_FLOWS, argv(two_flows(first, second, 1, 0.5))),
    ):
        (tmp_path / "driver.tcl").write_text(ASK % script)
        done = ns.completed(["driver.tcl", *arguments], tmp_path)
        assert done.returncode == 0, done.stderr
        found.append(float(done.stdout.split("second ")[1]))
    assert found == [LOW_WINDOW[first], 0]
