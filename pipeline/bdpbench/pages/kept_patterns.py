"""Cached patterns of charts, stored beside ns-2 and Vega.

The file has the patterns made by one version of the code and of altair; a change of either begins
it anew.
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

from bdpbench.contracts.files import keep, read_kept
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
    found = _kept(_file(), _code()).get(shape)
    return None if found is None else _with_holes(found)


def keep_pattern(shape: str, spec: Spec) -> None:
    """Store a specification if the disk allows it; otherwise the next call takes longer."""
    kept = _kept(_file(), _code())
    kept[shape] = _without_holes(spec)
    with contextlib.suppress(OSError):
        keep(_file(), _code(), json.dumps(kept))


def _file() -> Path:
    return home_dir() / "cache" / "charts.json"


@functools.cache
def _code() -> str:
    """A digest of what determines a pattern: the modules of this room, and altair."""
    digest = hashlib.sha256(version("altair").encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _kept(path: Path, code: str) -> dict[str, Spec]:
    """Shape → specification, as in the file; empty if it is of other code, damaged or missing."""
    found: dict[str, Spec] = json.loads(read_kept(path, code) or "{}")
    return found


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
