"""Packet traces that never reach the disk: what a run with ``trace: stream`` keeps of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bdpbench.errors import BdpbenchError

REDUCED_TABLES = ("flows", "links", "link_flows", "flow_series", "link_series", "losses")
"""What a packet trace is reduced to; a table of a run is called ``packet_<name>``."""


def is_traced(parameters: Mapping[str, Any]) -> bool:
    """Whether the script of a run writes a packet trace, into a file or a pipe."""
    return parameters.get("trace") in ("packets", "stream")


def is_streamed(parameters: Mapping[str, Any]) -> bool:
    """Whether the packet trace of a run goes into a pipe."""
    return parameters.get("trace") == "stream"


def streamed_outputs(outputs: Iterable[Mapping[str, Any]], where: str) -> list[dict[str, Any]]:
    """The outputs of a run whose packet trace is streamed.

    In the place of the trace stand the files of what it is reduced to, with ``stream``: the name
    under which the script writes the trace.

    Raises:
        BdpbenchError: when the script writes no packet trace.
    """
    streamed: list[dict[str, Any]] = []
    for output in outputs:
        if output["table"] == "packets":
            streamed += _reduced(output["file"])
        else:
            streamed.append(dict(output))
    if not streams_of(streamed):
        raise BdpbenchError(
            f"{where}: trace: stream, but the script writes no packet trace",
            hint="give its outputs a file with table: packets",
        )
    return streamed


def _reduced(file: str) -> list[dict[str, Any]]:
    return [
        {"file": reduced_file(file, name), "table": f"packet_{name}", "stream": file}
        for name in REDUCED_TABLES
    ]


def reduced_file(stream: str, name: str) -> str:
    """File, under ``out/``, of a table that a streamed trace is reduced to."""
    return f"{stream}.{name}.parquet"


def streams_of(outputs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Names of the traces that are streamed, each once."""
    return list(dict.fromkeys(output["stream"] for output in outputs if "stream" in output))
