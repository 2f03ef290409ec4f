"""Packet traces that never reach the disk: what a run with ``trace: stream`` keeps of them."""

from __future__ import annotations

from collections.abc import Iterable

from bdpbench.contracts.plan import Output, Parameters

REDUCED_TABLES = ("flows", "links", "link_flows", "flow_series", "link_series", "losses")
"""What a packet trace is reduced to; the table of a run is called ``packet_<name>``."""


def is_traced(parameters: Parameters) -> bool:
    """Whether the script of a run writes a packet trace, to a file or a pipe."""
    return parameters.get("trace") in ("packets", "stream")


def is_streamed(parameters: Parameters) -> bool:
    """Whether the packet trace of a run goes into a pipe."""
    return parameters.get("trace") == "stream"


def outputs_of_trace(outputs: Iterable[Output], parameters: Parameters) -> list[Output]:
    """The outputs of a run, with its packet trace as the parameter ``trace`` asks.

    If the trace is streamed, it is replaced by the files that it is reduced to, whose ``stream`` is
    the name under which the script writes the trace.
    """
    if not is_streamed(parameters):
        return list(outputs)
    kept: list[Output] = []
    for output in outputs:
        kept += _reduced(output["file"]) if output["table"] == "packets" else [output]
    return kept


def _reduced(file: str) -> list[Output]:
    return [
        {"file": reduced_file(file, name), "table": f"packet_{name}", "stream": file}
        for name in REDUCED_TABLES
    ]


def reduced_file(stream: str, name: str) -> str:
    """File, under ``out/``, of a table that a streamed trace is reduced to."""
    return f"{stream}.{name}.parquet"


def streams_of(outputs: Iterable[Output]) -> list[str]:
    """Names of the traces that are streamed, each once."""
    return list(dict.fromkeys(output["stream"] for output in outputs if "stream" in output))
