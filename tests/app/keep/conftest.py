"""A small archive with made-up contents, written as real ones are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bdpbench.app.keep.archive import METADATA_NAME, crate_json, write_archive
from bdpbench.studies.study import Citation

Make = Callable[..., Path]

PAPER = Citation(authors="N. N.", title="Sawtooth curves", venue="-", year=2006, doi="10.1000/182")
CONTENTS: Mapping[str, bytes] = {
    **{
        name: f"content of {name}\n".encode() * 3
        for name in ("CITATION.cff", "README.md", "metrics.parquet", "report.html")
    },
    "source/Snakefile": b"rule all:\n",
    "source/bdpbench": b"#!/bin/sh\n",
    "exports/figures/a.png": bytes(range(40)),
}


def described(contents: Mapping[str, bytes], paper: Citation | None = PAPER) -> dict[str, bytes]:
    """Contents with their metadata."""
    metadata = crate_json(
        contents, name="A small archive", description="Made by a test.", date="2006-08-01",
        paper=paper,
    )  # fmt: skip
    return {**contents, METADATA_NAME: metadata}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """An archive of CONTENTS."""
    path = tmp_path / "small.zip"
    write_archive(path, described(CONTENTS))
    return path
