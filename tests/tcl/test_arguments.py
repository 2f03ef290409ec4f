"""A wrong argument ends a script: one line that names it and what it should be, status 1."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SINGLE = ["5", "HS", "312", "1", "out"]
PAIR = ["5", "HS", "HS", "312", "1", "1", "out"]

WRONG = [
    ("single_flow", SINGLE[:4], "DATADIR", "missing"),
    ("single_flow", [], "endtime", "missing"),
    ("single_flow", [*SINGLE, "7"], "6 arguments", "expected 5"),
    ("single_flow", ["soon", *SINGLE[1:]], "endtime", "a number above 0 (s)"),
    ("single_flow", ["-5", *SINGLE[1:]], "endtime", "a number above 0 (s)"),
    ("single_flow", ["1e999", *SINGLE[1:]], "endtime", "a number above 0 (s)"),
    ("single_flow", ["010", *SINGLE[1:]], "endtime", "a number above 0 (s)"),
    ("single_flow", ["[exit 3]", *SINGLE[1:]], "endtime", "a number above 0 (s)"),
    ("single_flow", ["5", "Hs", *SINGLE[2:]], "flow_type", "one of SACK, HS, Scalable"),
    ("single_flow", ["5", "HS", "0", "1", "out"], "alpha", "a number above 0 (packets)"),
    ("single_flow", ["5", "HS", "312", "0", "out"], "run", "an integer from 1"),
    ("single_flow", ["5", "HS", "312", "1", "absent"], "DATADIR", "directory"),
    ("single_drop", ["5", "HS", "312", "1.5", "out"], "run", "an integer from 1"),
    ("buffer_size", [*SINGLE, "0"], "Qbuff", "an integer from 1"),
    ("buffer_size", SINGLE, "Qbuff", "missing"),
    ("rtt", [*SINGLE, "-3"], "delay", "a number above 0 (ms)"),
    ("rtt", [*SINGLE, "0.01"], "delay", "at least 0.04 (ms)"),
    ("two_flows_rtt", [*PAIR, "-2", "0"], "RTTdiff", "a number of 0 or more (ms)"),
    ("two_flows_rtt", [*PAIR, "2", "2"], "which", "0 or 1"),
    ("inter_protocol", ["5", "HS", "TCP", *PAIR[3:]], "flow2_type", "one of SACK, HS"),
    ("inter_protocol", [*PAIR[:4], "-1", "1", "out"], "flow2_start", "a number of 0 or more (s)"),
    ("inter_protocol", [*PAIR, "0"], "Qbuff", "an integer from 1"),
    ("standard_tcp_low_bdp", [], "hstcp_type", "missing"),
    ("standard_tcp_low_bdp", ["HTCP"], "hstcp_type", "one of SACK"),
    ("standard_tcp_low_bdp", ["SACK"], "DATADIR", "directory"),
    ("standard_tcp_high_bdp", ["SACK", "-1", "out"], "endtime", "a number above 0 (s)"),
]


@pytest.mark.parametrize(("script", "args", "name", "expected"), WRONG)
def test_a_wrong_argument_is_named(
    run_ns: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    script: str,
    args: list[str],
    name: str,
    expected: str,
) -> None:
    (tmp_path / "out").mkdir()
    done = run_ns(f"sharma2006/{script}.tcl", *args)
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {script}.tcl: ")
    assert name in line
    assert expected in line
    assert list((tmp_path / "out").iterdir()) == []


def test_a_protocol_that_the_build_lacks_is_named(
    ns_binary: Path,
    tcl_root: Path,
    run_ns: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
) -> None:
    # No build has an agent of this name: the class that the protocol asks for is absent.
    driver = tmp_path / "driver.tcl"
    driver.write_text(
        f"""
        source "{tcl_root / "lib" / "bdpbench.tcl"}"
        new_simulator 1
        ::agents::connect HS [$ns node] [$ns node] 0 312 TCP/NoSuchAgent
        """
    )
    done = run_ns(driver)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: driver.tcl: this ns-2 has no Agent/TCP/NoSuchAgent")
    assert "protocol HS" in line
