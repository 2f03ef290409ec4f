"""Cost of a scoreboard per ACK: the array's grows with the window, the list's with the losses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.benchmarks.sack_cost import cost, program


@pytest.fixture(scope="module")
def counted(made_once: Callable[..., Path]) -> Callable[..., float]:
    """Mean number of basic blocks per ACK, for a scoreboard, a window and its losses."""

    def compile_in(folder: Path) -> None:
        program(folder)

    binary = made_once("sack_cost", compile_in) / "sack_cost"
    return lambda *recovery: cost(binary, *recovery).mean


def test_the_array_costs_what_the_window_is(counted: Callable[..., float]) -> None:
    assert counted("array", 1000, 10) / counted("array", 100, 10) == pytest.approx(10, rel=0.1)
    assert counted("array", 1000, 100) / counted("array", 1000, 10) == pytest.approx(1, rel=0.1)


def test_the_list_costs_what_is_lost(counted: Callable[..., float]) -> None:
    assert counted("queue", 1000, 10) / counted("queue", 100, 10) == pytest.approx(1, rel=0.1)
    few, many = counted("queue", 1000, 50), counted("queue", 1000, 200)
    nothing = counted("queue", 1000, 1)
    # Four times the losses cost four times as much, beyond what a single loss costs.
    assert (many - nothing) / (few - nothing) == pytest.approx(4, rel=0.25)


def test_every_packet_that_arrives_is_acknowledged(made_once: Callable[..., Path]) -> None:
    binary = made_once("sack_cost", program) / "sack_cost"
    assert cost(binary, "queue", 100, 10).acks == 100  # 90 at first, and 10 retransmissions
