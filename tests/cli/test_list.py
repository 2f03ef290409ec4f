"""`list` shows what there is and what it costs."""

from __future__ import annotations

import os
import subprocess
import sys

from bdpbench.contracts.paths import repository_root


def _list(*arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "bdpbench", "list", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(repository_root() / "pipeline")},
        check=True,
    )
    return done.stdout.splitlines()


def test_studies_with_their_tiers() -> None:
    lines = _list()
    assert lines[0].split() == ["study", "tier", "runs", "CPU", "time", "title"]
    assert any(line.startswith("sharma2006") and " quick " in line for line in lines)


def test_runs_of_one_protocol() -> None:
    lines = _list(
        "sharma2006", "--tier", "paper", "--scenario", "buffer_size", "--protocol", "HS", "--runs"
    )
    # Buffers of 40, 200, 500, 1,555 and 7,776 packets.
    assert [line.split("buffer ")[1].split()[0] for line in lines[1:]] == [
        "40",
        "200",
        "500",
        "1555",
        "7776",
    ]


def test_scenarios_with_their_cost() -> None:
    lines = _list("sharma2006")
    assert any(line.startswith("single_flow") and "6 runs" in line for line in lines)
