"""The series embedded in a finished report: the data of its charts, without the runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import cast

from bdpbench.contracts.files import read_text
from bdpbench.errors import BdpbenchError
from bdpbench.pages.embed import embed_json
from bdpbench.pages.shards import ShardContent, shard_text, shards_folder

_SERIES = re.compile(
    r'<script type="application/json" id="series-([0-9a-f]{16})">(.*?)</script>', re.DOTALL
)


def series_of_report(report: Path) -> dict[str, str]:
    """Run id → its series as JSON, from a report and the files beside it.

    Raises:
        BdpbenchError: when a file cannot be read or contains damaged JSON.
    """
    found = dict(_SERIES.findall(read_text(report)))
    for run_id, text in found.items():
        try:
            json.loads(text)
        except ValueError as error:
            raise BdpbenchError(
                f"is damaged: the series of run {run_id} is not JSON ({error})", where=str(report)
            ) from None
    folder = shards_folder(report)
    for path in sorted(folder.glob("*.js")) if folder.is_dir() else ():
        try:
            content = cast("ShardContent", json.loads(shard_text(read_text(path))))
        except ValueError as error:
            raise BdpbenchError(f"is damaged ({error})", where=str(path)) from None
        except BdpbenchError as error:
            raise BdpbenchError(error.message, where=str(path)) from None
        found |= {run_id: embed_json(each) for run_id, each in content["series"].items()}
    return found
