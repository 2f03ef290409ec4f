"""Cached patterns of charts, stored beside ns-2 and Vega.

One file has the patterns made by one version of the code and of altair; a change of either begins
another file.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.paths import home_dir
from bdpbench.pages.chart import Spec

_HOLE = "$hole"


class Hole(str):
    """The name of the hole in whose place a chart puts its own value."""

    __slots__ = ()


def kept_pattern(shape: str) -> Spec | None:
    """The specification of a shape of chart; None if it has to be made.

    Args:
        shape: the function that makes it and its arguments.
    """
    found = _kept(_file()).get(shape)
    return None if found is None else _with_holes(found)


def keep_pattern(shape: str, spec: Spec) -> None:
    """Store a specification if the disk allows it; otherwise the next call takes longer."""
    path = _file()
    kept = _kept(path)
    kept[shape] = _without_holes(spec)
    with contextlib.suppress(OSError):
        write_text_atomically(path, json.dumps(kept))


def _file() -> Path:
    return home_dir() / "cache" / f"charts-{_code()}.json"


@functools.cache
def _code() -> str:
    """A digest of what determines a pattern: the modules of this room, and altair."""
    digest = hashlib.sha256(version("altair").encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def _kept(path: Path) -> dict[str, Spec]:
    """Shape → specification, as in the file; empty if no file can be read."""
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return found
    return {}


def _without_holes(node: Any) -> Any:
    if isinstance(node, Hole):
        return {_HOLE: str(node)}
    if isinstance(node, Mapping):
        return {key: _without_holes(value) for key, value in node.items()}
    return [_without_holes(each) for each in node] if isinstance(node, list | tuple) else node


def _with_holes(node: Any) -> Any:
    if isinstance(node, dict):
        if set(node) == {_HOLE}:
            return Hole(node[_HOLE])
        return {key: _with_holes(value) for key, value in node.items()}
    return [_with_holes(each) for each in node] if isinstance(node, list) else node
