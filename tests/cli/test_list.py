"""`list` shows what there is and what it costs."""

from __future__ import annotations

from collections.abc import Callable

from tests.cli.conftest import Done

Call = Callable[..., Done]


def test_studies_with_their_tiers(bdpbench: Call) -> None:
    lines = bdpbench("list").out.splitlines()
    assert lines[0].split() == ["study", "tier", "runs", "CPU", "time", "title"]
    assert any(line.startswith("sharma2006") and " quick " in line for line in lines)


def test_runs_of_one_protocol(bdpbench: Call) -> None:
    only = ("--scenario", "buffer_size", "--protocol", "HS")
    lines = bdpbench("list", "sharma2006", "--tier", "paper", *only, "--runs").out.splitlines()
    # Buffers of 40, 200, 500, 1,555 and 7,776 packets.
    assert [line.split("buffer ")[1].split()[0] for line in lines[1:]] == [
        "40",
        "200",
        "500",
        "1555",
        "7776",
    ]


def test_scenarios_with_their_cost(bdpbench: Call) -> None:
    lines = bdpbench("list", "sharma2006").out.splitlines()
    assert any(line.startswith("single_flow") and "6 runs" in line for line in lines)
