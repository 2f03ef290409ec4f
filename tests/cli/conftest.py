"""The command line inside the test process: starting another process takes a second."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bdpbench.cli import main


@dataclass(frozen=True)
class Done:
    """The outcome of a call of the command line."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """What was printed, if the call has succeeded."""
        assert self.code == 0, self.err
        return self.out.splitlines()


@pytest.fixture
def bdpbench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    """Call the command line in an empty folder."""

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["bdpbench", *arguments])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        return Done(code, *capsys.readouterr())

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BDPBENCH_RESULTS", str(tmp_path / "results"))
    return call
