"""A plugin of pytest that writes which tests call which functions below a folder, as JSON.

$MUTATED is the folder, $MUTATED_CALLS the file: lists of a file's path, the first and the last line
of a function in it, and the tests without their parameters.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from types import CodeType, FrameType

import pytest

_calls: dict[CodeType, set[str]] = defaultdict(set)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Note each function that a test and its fixtures call."""
    test, folder = item.nodeid.partition("[")[0], os.environ["MUTATED"]

    def called(frame: FrameType, event: str, argument: object) -> None:
        if frame.f_code.co_filename.startswith(folder):
            _calls[frame.f_code].add(test)

    sys.settrace(called)
    try:
        return (yield)
    finally:
        sys.settrace(None)


def pytest_sessionfinish() -> None:
    """Write what was found."""
    rows = []
    for code, tests in _calls.items():
        lines = [line for *_, line in code.co_lines() if line is not None]
        if code.co_name != "<module>" and lines:
            rows.append([code.co_filename, min(lines), max(lines), sorted(tests)])
    Path(os.environ["MUTATED_CALLS"]).write_text(json.dumps(rows), encoding="utf-8")
