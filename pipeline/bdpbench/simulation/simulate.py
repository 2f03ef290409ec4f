"""One run of ns-2: its ``spec.json``, the run itself, and ``run.json`` when it is complete.

Imports are kept light on purpose, since a process starts for each batch: nothing here imports the
models of a study.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from bdpbench.contracts.documents import write_record_atomically
from bdpbench.contracts.files import (
    disk_error,
    flush_to_disk,
    known_sha256_of,
    remove_temporaries,
    sha256_of,
    utf8_text,
    write_text_atomically,
)
from bdpbench.contracts.paths import relative, resolved, run_folder, tcl_dir
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import (
    ERROR_NAME,
    LOG_NAME,
    MANIFEST_NAME,
    OUTPUT_FOLDER,
    RUN_NAME,
    RUN_VERSION,
    SPEC_NAME,
    SPEC_VERSION,
    TABLES_FOLDER,
    Ns2Record,
    OutputFile,
    RunRecord,
    ScriptRecord,
    Spec,
    read_run,
    read_spec,
)
from bdpbench.errors import BdpbenchError, visible
from bdpbench.simulation.backend import Backend, Command
from bdpbench.simulation.ns2_process import (
    PROGRESS_NAME,
    Reducer,
    RunNames,
    Usage,
    refuse,
    run_ns2,
    streams,
)
from bdpbench.simulation.ns3_backend import Ns3Backend
from bdpbench.studies.identity import Versions, run_id, tcl_files
from bdpbench.studies.ns3_program import is_ns3, ns3_build_id, ns3_code_digest, ns3_files
from bdpbench.units import unit_of

Simulator = Backend | Ns3Backend
"""What runs a run: ns-2 in one of its places, or ns-3."""


def write_specs(runs: Iterable[PlannedRun], ns2_build_id: str, runs_dir: Path) -> None:
    """Write ``<run id>/spec.json``, all that `bdpbench simulate` needs, for each run.

    A file with other content, because it was damaged, changed, or planned for another build of
    ns-2, is rewritten.
    """
    for run in runs:
        folder = run_folder(runs_dir, run["run_id"])
        spec: Spec = {
            "schema_version": SPEC_VERSION,
            "run_id": run["run_id"],
            "identity": run["identity"],
            "label": run["label"],
            "script": run["script"],
            "parameters": run["parameters"],
            "outputs": run["outputs"],
            "ns2_build_id": ns3_build_id() if is_ns3(run["script"]) else ns2_build_id,
            "estimated_cpu_s": run["estimated_cpu_s"],
        }
        if _found(folder) != spec:
            write_record_atomically(folder / SPEC_NAME, spec)


def _found(folder: Path) -> Spec | None:
    """The spec in a run's folder; None if there is none that can be read."""
    try:
        return read_spec(folder)
    except BdpbenchError:
        return None


def read_own_spec(run_dir: Path, backend: Simulator) -> Spec:
    """What is to be run in ``run_dir``, checked against the id that is the folder's name.

    Raises:
        BdpbenchError: when ``spec.json`` is missing or damaged, is not of this run, or was planned
            with another ns-2 or another script than this checkout has.
    """
    spec = read_spec(run_dir)
    reason = _mismatch(spec, run_dir, backend)
    if reason:
        hint = "call `./bdpbench run` again, which makes a new plan"
        raise BdpbenchError(reason, where=str(run_dir / SPEC_NAME), hint=hint)
    return spec


def _mismatch(spec: Spec, run_dir: Path, backend: Simulator) -> str:
    """Why the plan of a run does not apply here, or ""."""
    if not run_dir.name == spec["run_id"] == run_id(spec["identity"]):
        return "has been changed: its content does not match its run id"
    planned = spec["ns2_build_id"]
    if planned != backend.build_id:
        return f"was planned for ns-2 build {planned}, the checkout is now at {backend.build_id}"
    if is_ns3(spec["script"]):
        same = ns3_code_digest() == spec["identity"]["tcl"]
        return "" if same else "the program of ns-3 has changed since this was planned"
    if Versions().digest(script_files(spec)) != spec["identity"]["tcl"]:
        return f"{spec['script']} or a file that it sources has changed since this was planned"
    return ""


def script_path(spec: Spec) -> Path:
    """The path that ns-2 runs: under ``tcl/``, or in the folder of a study outside the checkout."""
    return resolved(spec["script"], tcl_dir())


def script_record(spec: Spec) -> ScriptRecord:
    """The script of a run, and the checksum of every Tcl file that it needs."""
    files = {relative(path): path for path in script_files(spec)}
    return {
        "path": relative(script_path(spec)),
        "files": {name: known_sha256_of(path) for name, path in sorted(files.items())},
    }


def script_files(spec: Spec) -> list[Path]:
    """All Tcl files that ns-2 reads, in the order of the run's identity."""
    if is_ns3(spec["script"]):
        return ns3_files()
    return tcl_files(script_path(spec))


# ---------------------------------------------------------------- simulate

SCRATCH_FOLDER = ".scratch"


def simulate(run_dir: Path, backend: Simulator, reduce: Reducer = refuse) -> RunRecord:
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


def _simulate(spec: Spec, run_dir: Path, backend: Simulator, reduce: Reducer) -> RunRecord:
    started = datetime.now(UTC)
    try:
        # Before the run, as a new build may replace it meanwhile.
        info = backend.info()
        ns2: Ns2Record = {
            "build_id": spec["ns2_build_id"],
            "backend": backend.name,
            "binary_sha256": info.get("binary_sha256"),
            "info": info,
        }
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


def _run_in_scratch(spec: Spec, run_dir: Path, backend: Simulator, reduce: Reducer) -> Usage:
    """Let ns-2 write into a scratch folder, which becomes ``out/`` when everything is there."""
    scratch = _empty_scratch(run_dir)
    script = str(script_path(spec))
    names = RunNames(
        f"run {spec['run_id']} ({spec['label']})",
        script,
        run_dir,
        "ns-3" if is_ns3(spec["script"]) else "ns-2",
    )
    traces = [scratch / OUTPUT_FOLDER / name for name in spec["identity"]["streams"]]
    try:
        with streams(traces, reduce) as pipes:
            command = _command(spec, run_dir, scratch, backend)
            usage = run_ns2(command, scratch, names, pipes, native=backend.name != "docker")
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
    # The progress of a killed attempt says nothing about this one, and tables that were made from
    # other outputs do not count.
    for name in (ERROR_NAME, PROGRESS_NAME, f"{TABLES_FOLDER}/{MANIFEST_NAME}"):
        (run_dir / name).unlink(missing_ok=True)
    return scratch


def _command(spec: Spec, run_dir: Path, scratch: Path, backend: Simulator) -> Command:
    argv = spec["identity"]["argv"]
    return backend.command(scratch, script_path(spec), argv)


def _check_outputs(spec: Spec, names: RunNames, scratch: Path) -> None:
    for output in spec["outputs"]:
        written = scratch / OUTPUT_FOLDER / output["file"]
        if not written.is_file():
            raise BdpbenchError(
                f"{names.simulator} ended well but did not write {output['file']}",
                where=names.run,
                hint=f"{names.script} and the outputs of the scenario disagree",
            )
        if output["table"] == "facts" and written.stat().st_size == 0:
            raise BdpbenchError(
                f"{names.simulator} ended before its script did: {output['file']} is empty",
                where=names.run,
                hint="does the code of a protocol end the program?",
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


# ---------------------------------------------------------------- record

REPORT_NAME = "report.txt"


def make_record(
    spec: Spec, run_dir: Path, ns2: Ns2Record, started: datetime, usage: Usage
) -> RunRecord:
    """The record of a run whose outputs lie in ``run_dir/out``."""
    report = run_dir / OUTPUT_FOLDER / REPORT_NAME
    return {
        "schema_version": RUN_VERSION,
        "run_id": spec["run_id"],
        "identity": spec["identity"],
        "label": spec["label"],
        "parameters": spec["parameters"],
        "units": {name: unit_of(name) for name in spec["parameters"] if unit_of(name)},
        "script": script_record(spec),
        "argv": spec["identity"]["argv"],
        "ns2": ns2,
        "started": started.isoformat(timespec="seconds"),
        "wall_s": usage.wall_s,
        "cpu_s": usage.cpu_s,
        "max_rss_kib": usage.max_rss_kib,
        "exit_status": 0,
        "outputs": _outputs(run_dir),
        "ns2_report": visible(utf8_text(report)) if report.is_file() else "",
    }


def _outputs(run_dir: Path) -> dict[str, OutputFile]:
    files = sorted(path for path in (run_dir / OUTPUT_FOLDER).iterdir() if path.is_file())
    return {
        f"{OUTPUT_FOLDER}/{path.name}": {"sha256": sha256_of(path), "bytes": path.stat().st_size}
        for path in files
    }
