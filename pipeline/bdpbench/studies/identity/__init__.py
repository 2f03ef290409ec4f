"""The id of a run: a hash of everything that determines the bytes ns-2 writes, and nothing else.

ns-2 gets arguments, reads Tcl files, and treats this run's agents as its source, patches and laws
define. The id is made of these three, and of the names of the traces that ns-2 writes into pipes.
Parameters, labels, tables, paths, comments and the build id are not part of it: a run keeps its id,
and so its results, when its descriptions change or other runs are added.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bdpbench.contracts.runs import Identity
from bdpbench.studies.identity.tcl_files import tcl_digest, tcl_files

if TYPE_CHECKING:
    from bdpbench.studies.identity.behaviour import (
        AgentUse,
        ns2_digest,
        queue_classes,
        queues_named,
    )

__all__ = [
    "RUN_ID_DIGITS",
    "AgentUse",
    "make_identity",
    "ns2_digest",
    "queue_classes",
    "queues_named",
    "run_id",
    "tcl_digest",
    "tcl_files",
]

RUN_ID_DIGITS = 16


def __getattr__(name: str) -> Any:
    """Import names of ``behaviour`` at their first use: running ns-2 does not need pydantic."""
    if name not in ("AgentUse", "ns2_digest", "queue_classes", "queues_named"):
        raise AttributeError(name)
    from bdpbench.studies.identity import behaviour

    return getattr(behaviour, name)


def make_identity(
    script: Path,
    argv: Sequence[str],
    uses: Collection[AgentUse] | None,
    streams: Sequence[str],
    *,
    files: Sequence[Path] | None = None,
) -> Identity:
    """Identity of one run.

    Args:
        script: the script that ns-2 runs.
        argv: its arguments.
        uses: the senders that it creates; None if they are unknown, so that everything counts.
        streams: names of the traces that ns-2 writes into pipes.
        files: all Tcl files that ns-2 reads, for a script whose ``source`` commands cannot be
            followed.

    Raises:
        BdpbenchError: when the script sources a file in a way that cannot be followed.
    """
    from bdpbench.studies.identity.behaviour import ns2_digest, queues_named

    read = tcl_files(script) if files is None else files
    return Identity(
        argv=list(argv),
        tcl=tcl_digest(read),
        ns2=ns2_digest(uses, queues_named(argv, read)),
        streams=list(streams),
    )


def run_id(identity: Identity) -> str:
    """The id of a run: 16 hex digits that stand for its identity."""
    canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:RUN_ID_DIGITS]
