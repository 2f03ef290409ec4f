"""Fixtures that tests of several rooms share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.simulation.build import build_prefix, current_build_id


@pytest.fixture(scope="session")
def ns_binary() -> Path:
    """The ns-2 under test: $BDPBENCH_NS, else the build that the sources in ns2/ ask for."""
    if given := os.environ.get("BDPBENCH_NS"):
        binary = Path(given)
    else:
        binary = build_prefix() / current_build_id() / "ns"
    if not binary.is_file():
        pytest.fail(f"no ns-2 at {binary}: run `./bdpbench test`, which builds it")
    return binary


@pytest.fixture
def thesis_text() -> Callable[..., str]:
    """Make a thesis of our own: eight appendices of three lines, or with the lines given."""

    def text(**listings: list[str]) -> str:
        parts = ["A thesis of our own", "", "Contents", "Appendix A ........ 7", ""]
        for letter in "ABCDEFGH":
            lines = listings.get(letter, ["# Two nodes", "set ns [new Simulator]", "$ns run"])
            parts += [
                f"Appendix {letter}",
                "",
                "Tcl script of a test",
                "",
                "```",
                *lines,
                "```",
                "",
            ]
        return "\n".join([*parts, "REFERENCES", "", "- nobody"]) + "\n"

    return text
