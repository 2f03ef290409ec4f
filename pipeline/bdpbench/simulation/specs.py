"""``spec.json`` on its way to ns-2: it has to be of its run, and of this checkout."""

from __future__ import annotations

from pathlib import Path

from bdpbench.contracts.runs import SPEC_NAME, Spec, read_spec
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import Backend
from bdpbench.simulation.scripts import script_path
from bdpbench.studies.identity import run_id, tcl_digest, tcl_files

_ANEW = "run `./bdpbench run` again: it plans anew"


def read_own_spec(run_dir: Path, backend: Backend) -> Spec:
    """What is to be run in ``run_dir``; what it says has to lead to the id in the folder's name.

    Raises:
        BdpbenchError: when ``spec.json`` is missing or damaged, is not of this run, or was planned
            with another ns-2 or another script than this checkout has.
    """
    spec = read_spec(run_dir)
    where = str(run_dir / SPEC_NAME)
    if not run_dir.name == spec["run_id"] == run_id(spec["identity"]):
        raise BdpbenchError("has been changed: it is not what its run id stands for", where=where, hint=_ANEW)
    if spec["ns2_build_id"] != backend.build_id:
        planned = f"was planned for ns-2 build {spec['ns2_build_id']}"
        raise BdpbenchError(f"{planned}, the checkout is now at {backend.build_id}", where=where, hint=_ANEW)
    if "scripts" not in spec and _tcl_digest(spec) != spec["identity"]["tcl"]:
        said = f"{spec['script']} or a file that it sources has changed since this was planned"
        raise BdpbenchError(said, where=where, hint=_ANEW)
    return spec


def _tcl_digest(spec: Spec) -> str:
    return tcl_digest(tcl_files(script_path(spec)))
