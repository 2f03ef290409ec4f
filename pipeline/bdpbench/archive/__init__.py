"""Archives of results: one zip of equal bytes for equal results, and how it is checked."""

from __future__ import annotations

from bdpbench.archive.container import Entry, write_archive
from bdpbench.archive.crate import Crate, crate_json
from bdpbench.archive.manifest import MANIFEST_NAME, format_manifest
from bdpbench.archive.verify import Verification, verify_archive

__all__ = [
    "MANIFEST_NAME",
    "Crate",
    "Entry",
    "Verification",
    "crate_json",
    "format_manifest",
    "verify_archive",
    "write_archive",
]
