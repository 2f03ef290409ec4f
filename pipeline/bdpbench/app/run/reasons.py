"""Why a run is to be simulated: it never was, or something of what decides its bytes is new."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bdpbench.errors import BdpbenchError
from bdpbench.simulation.simulate import ERROR_NAME, read_run
from bdpbench.studies.runs import Run


@dataclass(frozen=True)
class _Finished:
    """What a finished run with the same parameters was made of."""

    build_id: str
    script_sha256: str
    argv: tuple[str, ...]


class Reasons:
    """Compares runs that are to be simulated with the finished ones of a results folder."""

    def __init__(self, runs_dir: Path, build_id: str) -> None:
        self._runs_dir = runs_dir
        self._build_id = build_id

    def of(self, run: Run) -> str:
        """Why the run has to be simulated, in a few words."""
        folder = self._runs_dir / run.run_id
        if (folder / ERROR_NAME).is_file():
            return "failed last time"
        if (folder / ".scratch").is_dir():
            return "was interrupted"
        alike = self._finished.get(_key(run.parameters), [])
        if not alike:
            return "not simulated yet"
        return min((self._changes(run, each) for each in alike), key=len)

    def _changes(self, run: Run, before: _Finished) -> str:
        """What is not as it was; a run that finished under other conditions is a result still."""
        changed = [
            word
            for word, differs in (
                ("another build of ns-2", before.build_id != self._build_id),
                ("the script", before.script_sha256 != run.script_sha256),
                ("the script's arguments", before.argv != run.argv),
            )
            if differs
        ]
        return "changed since it was simulated: " + ", ".join(changed or ["its outputs"])

    @cached_property
    def _finished(self) -> Mapping[str, list[_Finished]]:
        found = defaultdict(list)
        for path in sorted(self._runs_dir.glob("*/run.json")):
            try:
                info = read_run(path.parent)
            except BdpbenchError:
                continue  # of another version, and of no use here
            if info is not None:
                found[_key(info["parameters"])].append(
                    _Finished(
                        info["ns2"]["build_id"], info["script"]["sha256"], tuple(info["argv"])
                    )
                )
        return found


def _key(parameters: Mapping[str, Any]) -> str:
    return json.dumps(parameters, sort_keys=True)
