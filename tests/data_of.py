"""The scripts and the data of a file of tests: ``name.yaml`` beside ``test_name.py``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]


def data_of(test: str) -> dict[str, Any]:
    """What belongs to a file of tests, given its ``__file__``."""
    path = Path(test)
    text = path.with_name(f"{path.stem.removeprefix('test_')}.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml_of(text)
    return found


def yaml_of(text: str) -> Any:
    """What a text of YAML holds, by the parser in C: each worker reads all files of data."""
    return yaml.load(text, yaml.CSafeLoader)
