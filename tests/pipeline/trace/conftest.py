from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from bdpbench.trace import LineAccount, open_trace

SCRIPTS = Path(__file__).parent / "scripts"

Traces = Callable[..., Path]


@pytest.fixture(scope="session")
def traces(ns_binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Traces:
    """The folder of traces that ns-2 writes for a script, which runs only once per session."""
    made: dict[tuple[str, ...], Path] = {}

    def run(script: str, *arguments: str) -> Path:
        key = (script, *arguments)
        if key not in made:
            folder = tmp_path_factory.mktemp("traces")
            subprocess.run(
                [str(ns_binary), str(SCRIPTS / f"{script}.tcl"), str(folder), *arguments],
                check=True,
                capture_output=True,
                cwd=folder,
            )
            made[key] = folder
        return made[key]

    return run


def read(path: Path | str, **options: object) -> tuple[pl.DataFrame, LineAccount]:
    """All rows of a trace, and the account of its lines."""
    trace = open_trace(path, **options)  # type: ignore[arg-type]
    frames = list(trace.batches())
    return pl.concat(frames), trace.account
