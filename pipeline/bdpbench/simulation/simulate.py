"""One run of ns-2: started, watched, and recorded in ``run.json`` when it is complete.

Imports are kept light on purpose, since a process starts for each simulation.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from bdpbench.contracts.documents import write_record_atomically
from bdpbench.contracts.files import (
    disk_error,
    flush_to_disk,
    remove_temporaries,
    write_text_atomically,
)
from bdpbench.contracts.paths import resolved
from bdpbench.contracts.runs import (
    ERROR_NAME,
    LIGHT_NAME,
    LOG_NAME,
    MANIFEST_NAME,
    OUTPUT_FOLDER,
    RUN_NAME,
    SCRIPTS_FOLDER,
    SPEC_NAME,
    TABLES_FOLDER,
    Ns2Record,
    RunRecord,
    Spec,
    read_run,
)
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import Backend, Command
from bdpbench.simulation.ns2_process import PROGRESS_NAME, RunNames, Usage, run_ns2
from bdpbench.simulation.record import make_record
from bdpbench.simulation.specs import read_own_spec, script_name, script_path
from bdpbench.simulation.streams import Reducer, Streams, refuse, streams

SCRATCH_FOLDER = ".scratch"


def simulate(run_dir: Path, backend: Backend, reduce: Reducer = refuse) -> RunRecord:
    """Run ns-2 for ``run_dir``, unless the run is finished, and write ``run.json`` last.

    ns-2 writes into a scratch folder, which becomes ``out/`` only when the run is complete, so an
    interrupted run leaves nothing that could be taken for a result. A streamed trace goes through a
    named pipe in that folder to ``reduce``, which writes its files beside the pipe.

    Returns:
        The content of ``run.json``.

    Raises:
        BdpbenchError: when ``spec.json`` is not of this run or of this checkout; when the binary is
            not the one that was built; when ns-2 fails or is killed, naming the run, the reason and
            the log; when the disk is full; what
            ``reduce`` raises, after ns-2 has been stopped.
    """
    with only_one(run_dir):
        # Another study, or a process that outlived its workflow, may have finished the run
        # meanwhile.
        found = read_run(run_dir)
        if found is not None:
            return found
        return _simulate(read_own_spec(run_dir, backend), run_dir, backend, reduce)


@contextmanager
def only_one(run_dir: Path) -> Iterator[None]:
    """Lock a run's folder, so that no other process writes the run meanwhile.

    Raises:
        BdpbenchError: when there is no such folder.
    """
    try:
        stream = (run_dir / ".lock").open("w", encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise BdpbenchError(
            "no such file: expected a run of `bdpbench plan`", where=str(run_dir / SPEC_NAME)
        ) from None
    with stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _simulate(spec: Spec, run_dir: Path, backend: Backend, reduce: Reducer) -> RunRecord:
    started = datetime.now(UTC)
    try:
        ns2 = _checked_ns2(spec, backend)  # before the run: a new build may replace it meanwhile
        usage = _run_in_scratch(spec, run_dir, backend, reduce)
        record = make_record(spec, run_dir, ns2, started, usage)
        write_record_atomically(run_dir / RUN_NAME, record, durable=True)
    except BdpbenchError as error:
        _keep_error(run_dir, error)
        raise
    except OSError as error:
        told = disk_error(error)
        if told is None:
            raise
        _keep_error(run_dir, told)
        raise told from error
    return record


def _checked_ns2(spec: Spec, backend: Backend) -> Ns2Record:
    """The ns-2 that a run will use, after its binary has been compared with its build."""
    info = backend.info()
    return {
        "build_id": spec["ns2_build_id"],
        "backend": backend.name,
        "binary_sha256": info.get("binary_sha256"),
        "info": info,
    }


def _run_in_scratch(spec: Spec, run_dir: Path, backend: Backend, reduce: Reducer) -> Usage:
    """Let ns-2 write into a scratch folder, which becomes ``out/`` when everything is there."""
    scratch = _empty_scratch(run_dir)
    script = str(resolved(script_name(spec)))
    names = RunNames(f"run {spec['run_id']} ({spec['label']})", script, run_dir)
    traces = [scratch / OUTPUT_FOLDER / name for name in spec["identity"]["streams"]]
    try:
        with streams(traces, reduce) as pipes:
            usage = _run(spec, run_dir, scratch, names, backend, pipes)
        _check_outputs(spec, names, scratch)
        _install_outputs(run_dir, scratch)
    finally:
        with suppress(OSError):
            (scratch / LOG_NAME).replace(run_dir / LOG_NAME)
        (run_dir / PROGRESS_NAME).unlink(missing_ok=True)
        # A reducer may have made a table from the partial output of an interrupted ns-2.
        shutil.rmtree(scratch, ignore_errors=True)
    return usage


def _empty_scratch(run_dir: Path) -> Path:
    """Create an empty scratch folder, removing what an earlier attempt left."""
    scratch = run_dir / SCRATCH_FOLDER
    shutil.rmtree(scratch, ignore_errors=True)
    remove_temporaries(run_dir)
    (scratch / OUTPUT_FOLDER).mkdir(parents=True)
    # The progress of a killed attempt and the record of a merge say nothing about this attempt, and
    # tables that were made from other outputs do not count.
    for name in (ERROR_NAME, LIGHT_NAME, PROGRESS_NAME, f"{TABLES_FOLDER}/{MANIFEST_NAME}"):
        (run_dir / name).unlink(missing_ok=True)
    return scratch


def _run(
    spec: Spec, run_dir: Path, scratch: Path, names: RunNames, backend: Backend, pipes: Streams
) -> Usage:
    command = _command(spec, run_dir, scratch, backend)
    return run_ns2(command, scratch, names, pipes, native=backend.name == "native")


def _command(spec: Spec, run_dir: Path, scratch: Path, backend: Backend) -> Command:
    argv = spec["identity"]["argv"]
    if "scripts" not in spec:
        return backend.command(scratch, script_path(spec), argv)
    for path in (run_dir / SCRIPTS_FOLDER).iterdir():
        shutil.copy(path, scratch)
    # Appendices A and B of Sharma (2006) write into a folder named after the protocol.
    if "protocol" in spec["parameters"]:
        (scratch / str(spec["parameters"]["protocol"])).symlink_to(OUTPUT_FOLDER)
    return backend.command(scratch, script_path(spec), [Path(spec["script"]).name, *argv])


def _check_outputs(spec: Spec, names: RunNames, scratch: Path) -> None:
    for output in spec["outputs"]:
        if not (scratch / OUTPUT_FOLDER / output["file"]).is_file():
            raise BdpbenchError(
                f"ns-2 ended well but did not write {output['file']}",
                where=names.run,
                hint=f"{names.script} and the outputs of the scenario disagree",
            )


def _install_outputs(run_dir: Path, scratch: Path) -> None:
    """Move the outputs into place, where they are complete even after a crash of the machine."""
    final = run_dir / OUTPUT_FOLDER
    shutil.rmtree(final, ignore_errors=True)
    for path in (scratch / OUTPUT_FOLDER).iterdir():
        if path.is_file():
            flush_to_disk(path)
    os.replace(scratch / OUTPUT_FOLDER, final)


def _keep_error(run_dir: Path, error: BdpbenchError) -> None:
    """Leave the message for `bdpbench run`; on a full disk this may fail."""
    with suppress(OSError):
        write_text_atomically(run_dir / ERROR_NAME, f"{error}\n")
