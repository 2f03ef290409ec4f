"""The series embedded in a finished report: the data of its charts, without the runs."""

from __future__ import annotations

from pathlib import Path

from bdpbench.pages.embed import embed_json
from bdpbench.pages.shards import read_shards


def series_of_report(report: Path) -> dict[str, str]:
    """Run id → its series as JSON, from a report and the files beside it.

    Raises:
        BdpbenchError: when a file cannot be read or is damaged.
    """
    return {
        run_id: embed_json(series)
        for _, content in read_shards(report)
        for run_id, series in content["series"].items()
    }
