"""The chart data of a run, stored with it, so that it is not made again for each report."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bdpbench.contracts.files import keep, read_kept
from bdpbench.contracts.paths import run_folder
from bdpbench.contracts.plan import Output, Parameters
from bdpbench.contracts.runs import MANIFEST_NAME, TABLES_FOLDER

if TYPE_CHECKING:
    from bdpbench.pages.inputs import LoadTable

SERIES_FOLDER = "series"
"""Folder of a run with its series, one file per number of bins."""


class KeptSeries:
    """The ``load_series`` of a report: reads the file of the run, or makes and stores it.

    A file is valid as long as the tables, the plan of the run and the code that makes points from
    tables are unchanged.

    Args:
        runs_dir: folder of all runs.
        load_table: returns the tables of runs.
        outputs: run id → outputs of the run that the plan reads.
        parameters: run id → its parameters in the plan, which derived tables need.
    """

    def __init__(
        self,
        runs_dir: Path,
        load_table: LoadTable,
        outputs: Mapping[str, Sequence[Output]],
        parameters: Mapping[str, Parameters],
    ) -> None:
        self._runs_dir, self._load_table = runs_dir, load_table
        self._outputs, self._parameters = outputs, parameters

    def __call__(self, run_id: str, bins: int) -> str:
        """JSON of the series of a run, each with at most ``bins`` intervals of time."""
        path = run_folder(self._runs_dir, run_id) / SERIES_FOLDER / f"{bins}.txt"
        stamp = self._stamp(run_id)
        kept = read_kept(path, stamp)
        return self._make(path, stamp, run_id, bins) if kept is None else kept

    def _make(self, path: Path, stamp: str, run_id: str, bins: int) -> str:
        from bdpbench.pages.series import series_text

        text = series_text(run_id, self._load_table, bins)
        with contextlib.suppress(OSError):  # if results cannot be written, this only costs time
            keep(path, stamp, text)
        return text

    def _stamp(self, run_id: str) -> str:
        digest = hashlib.sha256(_code().encode())
        tables = run_folder(self._runs_dir, run_id) / TABLES_FOLDER
        digest.update((tables / MANIFEST_NAME).read_bytes())
        said = [self._outputs[run_id], self._parameters[run_id]]
        digest.update(json.dumps(said, sort_keys=True).encode())
        return digest.hexdigest()


@functools.cache
def _code() -> str:
    """A digest of what determines the points: the modules that derive, reduce and pack tables."""
    from bdpbench import metrics
    from bdpbench.pages import packing, reduce, series

    derive = sorted(Path(str(metrics.__file__)).parent.glob("*.py"))
    pack = [Path(str(each.__file__)) for each in (packing, reduce, series)]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in (*derive, *pack)))
    return digest.hexdigest()
