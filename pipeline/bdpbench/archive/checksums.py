"""Checksums of all files of an archive, as ``sha256sum`` writes and checks them."""

from __future__ import annotations

import re
from collections.abc import Mapping

CHECKSUMS_NAME = "manifest-sha256.txt"

_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")


def format_checksums(checksums: Mapping[str, str]) -> str:
    """One line per file, ``<SHA-256>  <path>``, sorted by path.

    >>> format_checksums({"b": "1" * 64, "a": "0" * 64}).splitlines()[0][-3:]
    '  a'
    """
    return "".join(f"{checksums[path]}  {path}\n" for path in sorted(checksums))


def parse_checksums(text: str) -> dict[str, str]:
    """Path → SHA-256.

    Raises:
        ValueError: naming the invalid line, or the path that occurs twice.
    """
    checksums: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        found = _LINE.fullmatch(line)
        if found is None:
            raise ValueError(f"line {number} is not '<SHA-256>  <path>'")
        if found[2] in checksums:
            raise ValueError(f"line {number}: {found[2]} occurs twice")
        checksums[found[2]] = found[1]
    return checksums
