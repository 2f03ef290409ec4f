"""Why a workflow has failed, in the words of what failed: a run, a stage, or the disk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from bdpbench.app.run.planning import Prepared, is_finished
from bdpbench.contracts.disks import RESUME_HINT, free_bytes, size_text
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import ERROR_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.ns2_process import LEAST_FREE_BYTES

_LOG_TAIL_LINES = 15
_ERROR = "error: "
# What Snakemake says of a stage that failed: "    log: <file> (check log file(s) for …)".
_STAGE_LOG = re.compile(r"^\s+log: (.+?) \(check log file", re.MULTILINE)
_STAGE = re.compile(r"^Error in rule (\w+)", re.MULTILINE)


def failure(prepared: Prepared, log: Path) -> BdpbenchError:
    """What to raise when a workflow has failed whose log is ``log``."""
    failed = failed_runs(prepared)
    if failed:
        finished = sum(is_finished(prepared.paths, run) for run in prepared.runs)
        return BdpbenchError(
            "\n".join(_error_of(prepared, run) for run in failed),
            hint=f"{finished} of {len(prepared.runs)} runs are finished and kept; "
            "the same command resumes",
        )
    text = log.read_text(encoding="utf-8", errors="replace")
    said = "\n".join(dict.fromkeys(_said_by_stages(prepared.paths.results, text)))
    if said:
        return BdpbenchError(said)
    return _full_disk(prepared) or _unexplained(text, log)


def failed_runs(prepared: Prepared) -> list[PlannedRun]:
    """The runs that left word of why they failed."""
    runs = prepared.paths.runs
    return [run for run in prepared.missing if (runs / run["run_id"] / ERROR_NAME).is_file()]


def _error_of(prepared: Prepared, run: PlannedRun) -> str:
    path = prepared.paths.runs / run["run_id"] / ERROR_NAME
    return path.read_text(encoding="utf-8").strip()


def _said_by_stages(results: Path, log: str) -> Iterator[str]:
    """The errors that stages told in their logs, or in Snakemake's."""
    for name in dict.fromkeys(_STAGE_LOG.findall(log)):
        path = results / name
        if path.is_file():
            yield from _errors_in(path.read_text(encoding="utf-8", errors="replace").splitlines())
    yield from _errors_in(log.splitlines())


def _errors_in(lines: Sequence[str]) -> Iterator[str]:
    """Each message that begins with ``error: ``, with the lines that are indented below it."""
    message: list[str] = []
    for line in [*lines, ""]:
        if message and line.startswith("  "):
            message.append(line)
            continue
        if message:
            yield "\n".join(message)
        message = [line.removeprefix(_ERROR)] if line.startswith(_ERROR) else []


def _full_disk(prepared: Prepared) -> BdpbenchError | None:
    results = prepared.paths.results
    left = free_bytes(results)
    if left >= LEAST_FREE_BYTES:
        return None
    return BdpbenchError(
        f"the disk is full: {size_text(left)} are left, and at least "
        f"{size_text(LEAST_FREE_BYTES)} are needed",
        where=str(results),
        hint=f"make room; {RESUME_HINT}",
    )


def _unexplained(text: str, log: Path) -> BdpbenchError:
    """A stage that said nothing: it was killed, or it has a fault, which its log tells."""
    stages = ", ".join(dict.fromkeys(_STAGE.findall(text)))
    logs = ", ".join(dict.fromkeys(_STAGE_LOG.findall(text)))
    if stages:
        said = f"the stage {stages} ended without saying why; its log: {logs or 'none'}"
    else:
        tail = text.splitlines()[-_LOG_TAIL_LINES:]
        said = "the workflow failed:\n    " + "\n    ".join(tail)
    return BdpbenchError(said, where=str(log), hint=RESUME_HINT)
