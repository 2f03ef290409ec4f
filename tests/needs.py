"""What some tests need besides bdpbench: without it they are left out, which their end tells.

A reason is "<what is missing>: <how to get it>", in the same words for all tests of a group,
because ``tests/conftest.py`` counts the tests of each reason.
"""

from __future__ import annotations

import shutil
from typing import NoReturn

import pytest
from tests.ns2.validation import Suite, open_suite

from bdpbench.errors import BdpbenchError


def leave_out(missing: str, how: str) -> NoReturn:
    """Leave the test out that calls this, or all tests that use the fixture that does."""
    pytest.skip(f"{missing}: {how}")


def needs(command: str, packages: str) -> pytest.MarkDecorator:
    """Mark a test that needs a command of some Debian packages."""
    return pytest.mark.skipif(
        shutil.which(command) is None, reason=f"no {command}: apt-get install {packages}"
    )


def validation_suite() -> Suite:
    """ns-2's own validation suite; tests of it are left out without what it needs."""
    try:
        return open_suite()
    except BdpbenchError as missing:
        leave_out(missing.message, missing.hint or "./bdpbench ns2 build")
