"""Checks that ``spec.json`` belongs to its run and to this checkout."""

from __future__ import annotations

from pathlib import Path

from bdpbench.contracts.runs import SPEC_NAME, Spec, read_spec
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import Backend
from bdpbench.simulation.scripts import script_files
from bdpbench.studies.identity import run_id, tcl_digest


def read_own_spec(run_dir: Path, backend: Backend) -> Spec:
    """What is to be run in ``run_dir``, checked against the id that is the folder's name.

    Raises:
        BdpbenchError: when ``spec.json`` is missing or damaged, is not of this run, or was planned
            with another ns-2 or another script than this checkout has.
    """
    spec = read_spec(run_dir)
    reason = _mismatch(spec, run_dir, backend)
    if reason:
        hint = "call `./bdpbench run` again, which makes a new plan"
        raise BdpbenchError(reason, where=str(run_dir / SPEC_NAME), hint=hint)
    return spec


def _mismatch(spec: Spec, run_dir: Path, backend: Backend) -> str:
    """Why the plan of a run does not apply here, or ""."""
    if not run_dir.name == spec["run_id"] == run_id(spec["identity"]):
        return "has been changed: its content does not match its run id"
    planned = spec["ns2_build_id"]
    if planned != backend.build_id:
        return f"was planned for ns-2 build {planned}, the checkout is now at {backend.build_id}"
    if tcl_digest(script_files(spec, run_dir)) != spec["identity"]["tcl"]:
        return f"{spec['script']} or a file that it sources has changed since this was planned"
    return ""
