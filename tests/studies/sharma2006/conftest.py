"""The Tcl scripts of the study in the real ns-2."""

from tests.tcl.conftest import (
    built,
    columns,
    facts,
    keys_of,
    outputs,
    refused,
    run_ns,
    run_ok,
    tcl_root,
)

__all__ = [
    "built",
    "columns",
    "facts",
    "keys_of",
    "outputs",
    "refused",
    "run_ns",
    "run_ok",
    "tcl_root",
]
