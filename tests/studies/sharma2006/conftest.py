"""The Tcl scripts of the study in the real ns-2."""

from tests.tcl.conftest import (
    built,
    columns,
    facts,
    keys_of,
    ns,
    outputs,
    refused,
    run_ns,
    run_ok,
    tcl_root,
    written_alone,
)

__all__ = [
    "built",
    "columns",
    "facts",
    "keys_of",
    "ns",
    "outputs",
    "refused",
    "run_ns",
    "run_ok",
    "tcl_root",
    "written_alone",
]
