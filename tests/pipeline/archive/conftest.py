"""A small archive with made-up contents, written as real ones are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bdpbench.archive.container import CHECKSUMS_NAME, REQUIRED, Entry, sealed, write_archive
from bdpbench.archive.crate import METADATA_NAME, Author, Crate, Software
from bdpbench.studies.study import Citation

Make = Callable[..., Path]

CRATE = Crate(
    name="A small archive",
    description="Made by a test.",
    started="2006-08-01T12:00:00+00:00",
    ended="2006-08-01T12:00:07+00:00",
    authors=[Author("The authors", is_person=False)],
    licence="MIT",
    title="Sawtooth curves again",
    citation=Citation(authors="N. N.", title="Sawtooth curves", venue="-", year=2006),
    workflow="source/Snakefile",
    software=[Software("ns-2", "2.35", "https://www.isi.edu/nsnam/ns/")],
    inputs=["plan.json"],
    outputs=["report.html"],
    descriptions={"report.html": "The report"},
)
CONTENTS: Mapping[str, bytes] = {
    **{
        name: f"content of {name}\n".encode() * 3
        for name in REQUIRED
        if name not in (CHECKSUMS_NAME, METADATA_NAME)
    },
    "source/Snakefile": b"rule all:\n",
    "source/bdpbench": b"#!/bin/sh\n",
    "exports/figures/a.png": bytes(range(40)),
}


@pytest.fixture
def make_archive(tmp_path: Path) -> Make:
    """Write an archive of CONTENTS; ``change`` may alter them after sealing."""

    def make(change: Callable[[dict[str, Entry]], object] = lambda entries: None) -> Path:
        entries = sealed(CONTENTS, CRATE)
        change(entries)
        path = tmp_path / "small.zip"
        write_archive(path, entries)
        return path

    return make
