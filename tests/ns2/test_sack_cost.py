"""Cost of a scoreboard per ACK: the array's grows with the window, the list's with the losses."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.benchmarks.sack_cost import cost, program


@pytest.fixture(scope="module")
def binary(scoreboards: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled experiment."""
    folder = tmp_path_factory.mktemp("sack_cost")
    return program(Path(shutil.copytree(scoreboards, folder, dirs_exist_ok=True)))


@pytest.fixture(scope="module")
def counted(binary: Path) -> Callable[..., float]:
    """Mean number of basic blocks per ACK, for a scoreboard, a window and its losses."""
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


def test_every_packet_that_arrives_is_acknowledged(binary: Path) -> None:
    assert cost(binary, "queue", 100, 10).acks == 100  # 90 at first, and 10 retransmissions
