"""ns-2 on a cluster node: the checkout's build if it runs there, else one for this kind of node.

The checkout and its builds are on a file system that all machines share. A build from the login
node does not run on nodes with another processor, C library or Tcl.
"""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import NativeBackend
from bdpbench.simulation.build import PREFIX_VARIABLE, build_prefix, find_build

_TRIAL = "set now [[new Simulator] now]; exit [expr {$now != 0}]"
_TRIAL_S = 60.0


def use_build_that_runs_here(build_id: str) -> None:
    """Let this process and its children use a build of ns-2 that runs on this machine.

    If the checkout's build does not run, ns-2 is built once for each kind of machine.

    Raises:
        BdpbenchError: when ns-2 cannot be built here, or when that build does not run either.
    """
    wrong = why_it_does_not_run(build_id)
    if wrong is None:
        return
    os.environ[PREFIX_VARIABLE] = str(node_prefix(build_prefix()))
    try:
        NativeBackend(build_id).build()
    except BdpbenchError as error:
        raise BdpbenchError(
            f"ns-2 as it was built does not run on this node ({wrong}), and {error.message}",
            where=platform.node(),
            hint="install on the nodes what ns2/build.sh says is missing",
        ) from error
    wrong = why_it_does_not_run(build_id)
    if wrong is not None:
        raise BdpbenchError(f"ns-2 was built and does not run: {wrong}", where=platform.node())


def node_prefix(shared: Path) -> Path:
    """Folder of the builds for machines of this kind: processor and C library."""
    return shared / "nodes" / "-".join((platform.machine(), *platform.libc_ver()))


def why_it_does_not_run(build_id: str) -> str | None:
    """Why a build does not run on this machine; None if it can run a small script."""
    build = find_build(build_id)
    if build is None:
        return "it is not there"
    try:
        done = subprocess.run(
            [str(build.binary), "/dev/stdin"],
            input=_TRIAL,
            capture_output=True,
            text=True,
            timeout=_TRIAL_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    said = (done.stderr or done.stdout).strip()
    return said.splitlines()[-1] if said else f"it ended with {done.returncode}"
