"""A small archive with made-up contents, written as real ones are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bdpbench.archive import (
    CHECKSUMS_NAME,
    METADATA_NAME,
    Author,
    Crate,
    Paper,
    Software,
    crate_json,
    format_checksums,
    write_archive,
)
from bdpbench.archive.verify import REQUIRED

Make = Callable[..., Path]


def small_crate(**given: Any) -> Crate:
    """Made-up facts for a crate."""
    facts: dict[str, Any] = {
        "name": "A small archive",
        "description": "Made by a test.",
        "date": "2006-08-01",
        "started": "2006-08-01T12:00:00+00:00",
        "ended": "2006-08-01T12:00:07+00:00",
        "authors": [Author("The authors", is_person=False)],
        "licence": "MIT",
        "study": Paper("Sawtooth curves", authors="N. N.", year=2006),
        "workflow": "source/Snakefile",
        "software": [Software("ns-2", "2.35", "https://www.isi.edu/nsnam/ns/")],
        "inputs": ["plan.json"],
        "outputs": ["report.html"],
        "descriptions": {"report.html": "The report"},
    }
    return Crate(**{**facts, **given})


def small_contents() -> dict[str, bytes]:
    """Path → bytes of everything except metadata and manifest."""
    own = {CHECKSUMS_NAME, METADATA_NAME}
    contents = {name: f"content of {name}\n".encode() * 3 for name in REQUIRED if name not in own}
    return {
        **contents,
        "source/Snakefile": b"rule all:\n",
        "source/bdpbench": b"#!/bin/sh\n",
        "exports/figures/a.png": bytes(range(40)),
    }


def sealed(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Contents with metadata and manifest added."""
    files = {name: (hashlib.sha256(each).hexdigest(), len(each)) for name, each in contents.items()}
    metadata = crate_json(small_crate(), files).encode()
    checksums = {name: sha256 for name, (sha256, _) in files.items()}
    checksums[METADATA_NAME] = hashlib.sha256(metadata).hexdigest()
    manifest = format_checksums(checksums).encode()
    return {**contents, METADATA_NAME: metadata, CHECKSUMS_NAME: manifest}


@pytest.fixture
def make_archive(tmp_path: Path) -> Make:
    """Write an archive of the small contents; ``change`` may alter the contents after sealing."""

    def make(change: Callable[[dict[str, bytes]], None] = lambda entries: None) -> Path:
        entries = sealed(small_contents())
        change(entries)
        path = tmp_path / "small.zip"
        write_archive(path, entries)
        return path

    return make
