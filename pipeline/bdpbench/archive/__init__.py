"""Archives of results: a zip with equal bytes for equal results, and how it is checked."""

from __future__ import annotations

from bdpbench.archive.checksums import CHECKSUMS_NAME, format_checksums
from bdpbench.archive.container import Entry, write_archive
from bdpbench.archive.crate import METADATA_NAME, Author, Crate, Paper, Software, crate_json
from bdpbench.archive.verify import Verification, verify_archive

__all__ = [
    "CHECKSUMS_NAME",
    "METADATA_NAME",
    "Author",
    "Crate",
    "Entry",
    "Paper",
    "Software",
    "Verification",
    "crate_json",
    "format_checksums",
    "verify_archive",
    "write_archive",
]
