"""The window laws and agents inside the real ns-2."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Tcl = Callable[..., "subprocess.CompletedProcess[str]"]

SCRIPTS = Path(__file__).resolve().parent.parent.parent / "tcl" / "sharma2006"
SINGLE_FLOW = SCRIPTS / "single_flow.tcl"
SINGLE_DROP = SCRIPTS / "single_drop.tcl"
