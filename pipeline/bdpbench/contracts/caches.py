"""What is kept only to save time: each file carries its checksum, and is derived again without it.

``cached`` keeps what follows from unchanged files alone, beside ns-2 for the next processes. A call
of `run` starts several, and each of them needs it: reading it is ten times faster than deriving it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar, cast

from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.paths import home_dir

Document = TypeVar("Document")


def cached(name: str, inputs: Iterable[bytes], derive: Callable[[], Document]) -> Document:
    """A document that is derived from some inputs: the cached one, or else the derived one.

    One file for each name keeps the document of the last inputs. With ``BDPBENCH_ROOT`` nothing is
    cached, as the documents of several roots would displace one another.

    Args:
        name: what the document is.
        inputs: all that determines it, including the code that derives it.
        derive: derives it, as JSON can hold it: without tuples, and with texts as keys.
    """
    if os.environ.get("BDPBENCH_ROOT"):
        return derive()
    digest = hashlib.sha256()
    for each in inputs:
        digest.update(len(each).to_bytes(8, "big") + each)
    key, path = digest.hexdigest(), home_dir() / "cache" / f"{name}.json"
    kept = read_kept(path, key)
    if kept is not None:
        return cast("Document", json.loads(kept))
    derived = derive()
    with contextlib.suppress(OSError):  # without it the next process takes longer
        keep(path, key, json.dumps(derived))
    return derived


def read_kept(path: Path, key: str) -> str | None:
    """The text that ``keep`` wrote under this key; None if it is damaged or missing."""
    with contextlib.suppress(OSError, ValueError):
        head, _, text = path.read_text(encoding="utf-8").partition("\n")
        if head == _head(key, text):
            return text
    return None


def keep(path: Path, key: str, text: str) -> None:
    """Write a text, whose first line says from what it was made, and which checksum it has.

    Raises:
        OSError: as ``write_atomically``.
    """
    write_text_atomically(path, f"{_head(key, text)}\n{text}")


def _head(key: str, text: str) -> str:
    return f"{key} {hashlib.sha256(text.encode()).hexdigest()}"
