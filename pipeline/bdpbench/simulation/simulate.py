"""One run of ns-2: what is planned of it, the run itself, and ``run.json`` when it is complete.

Imports are kept light on purpose, since a process starts for each batch: nothing here imports the
models of a study.
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
    known_sha256_of,
    remove_temporaries,
    sha256_of,
    utf8_text,
    write_text_atomically,
)
from bdpbench.contracts.paths import relative, resolved, tcl_dir
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import (
    ERROR_NAME,
    LOG_NAME,
    MANIFEST_NAME,
    OUTPUT_FOLDER,
    RUN_NAME,
    RUN_VERSION,
    TABLES_FOLDER,
    OutputFile,
    RunRecord,
    ScriptRecord,
    build_file,
    read_build,
    read_run,
)
from bdpbench.errors import BdpbenchError, visible
from bdpbench.simulation.backend import Backend
from bdpbench.simulation.ns2_process import Reducer, RunNames, Usage, refuse, run_ns2, streams
from bdpbench.simulation.ns3_backend import Ns3Backend
from bdpbench.studies.identity import Versions, run_id, tcl_files
from bdpbench.studies.ns3_program import is_ns3, ns3_code_digest, ns3_files
from bdpbench.units import unit_of

SCRATCH_FOLDER = ".scratch"
REPORT_NAME = "report.txt"

Simulator = Backend | Ns3Backend
"""What runs a run: ns-2 in one of its places, or ns-3."""


def simulate(
    run: PlannedRun, run_dir: Path, backend: Simulator, reduce: Reducer = refuse
) -> RunRecord:
    """Run ns-2 for a run, unless it is finished, and write ``run.json`` last.

    ns-2 writes into a scratch folder, which becomes ``out/`` only when the run is complete, so an
    interrupted run leaves nothing that could be taken for a result. A streamed trace goes through a
    named pipe in that folder to ``reduce``, which writes its files beside the pipe.

    Returns:
        The content of ``run.json``.

    Raises:
        BdpbenchError: when the run was planned with another script than this checkout has; when
            the binary is not the one that was built; when ns-2 fails or is killed, naming the run,
            the reason and the log; when the disk is full; what ``reduce`` raises, after ns-2 has
            been stopped.
    """
    with _only_one(run_dir):
        # Another study, or a process that outlived its workflow, may have finished the run
        # meanwhile.
        return read_run(run_dir) or _simulate(run, run_dir, backend, reduce)


@contextmanager
def _only_one(run_dir: Path) -> Iterator[None]:
    """Lock a run's folder, so that no other process writes the run meanwhile."""
    run_dir.mkdir(parents=True, exist_ok=True)
    with (run_dir / ".lock").open("w", encoding="utf-8") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _simulate(run: PlannedRun, run_dir: Path, backend: Simulator, reduce: Reducer) -> RunRecord:
    started = datetime.now(UTC)
    try:
        _check_plan(run)
        info = backend.info()  # before the run, as a new build may replace it meanwhile
        usage = _run_in_scratch(run, run_dir, backend, reduce)
        report = run_dir / OUTPUT_FOLDER / REPORT_NAME
        record: RunRecord = {
            "schema_version": RUN_VERSION,
            "run_id": run["run_id"],
            "identity": run["identity"],
            "label": run["label"],
            "parameters": run["parameters"],
            "units": {name: unit_of(name) for name in run["parameters"] if unit_of(name)},
            "script": script_record(run),
            "argv": run["identity"]["argv"],
            "ns2": {
                "build_id": backend.build_id,
                "backend": backend.name,
                "binary_sha256": info.get("binary_sha256"),
            },
            "started": started.isoformat(timespec="seconds"),
            "wall_s": usage.wall_s,
            "cpu_s": usage.cpu_s,
            "max_rss_kib": usage.max_rss_kib,
            "exit_status": 0,
            "outputs": _outputs(run_dir),
            "ns2_report": visible(utf8_text(report)) if report.is_file() else "",
        }
        if image := info.get("image_id"):
            record["ns2"]["image_id"] = image
        described = build_file(run_dir, record["ns2"])
        if read_build(described) is None:
            # The same binary may also run outside an image.
            shared = {name: each for name, each in info.items() if name != "image_id"}
            write_record_atomically(described, shared)
        write_record_atomically(run_dir / RUN_NAME, record)
        record["ns2"]["info"] = info
    except (BdpbenchError, OSError) as error:
        told = disk_error(error) if isinstance(error, OSError) else error
        if told is not None:
            with suppress(OSError):  # on a full disk
                write_text_atomically(run_dir / ERROR_NAME, f"{told}\n")
        raise told or error from None
    return record


def _check_plan(run: PlannedRun) -> None:
    """Check that a plan applies to this checkout, whose files may have changed since.

    Raises:
        BdpbenchError: when it does not.
    """
    if run["run_id"] != run_id(run["identity"]):
        reason = "the plan has been changed: its content does not match the run's id"
    elif is_ns3(run["script"]) and ns3_code_digest() != run["identity"]["tcl"]:
        reason = "the program of ns-3 has changed since this was planned"
    elif not is_ns3(run["script"]) and Versions().digest(_files(run)) != run["identity"]["tcl"]:
        reason = f"{run['script']} or a file that it sources has changed since this was planned"
    else:
        return
    hint = "call `./bdpbench run` again, which makes a new plan"
    raise BdpbenchError(reason, where=f"run {run['run_id']} ({run['label']})", hint=hint)


def script_record(run: PlannedRun) -> ScriptRecord:
    """The script of a run, and the checksum of every file that it needs."""
    files = {relative(path): known_sha256_of(path) for path in _files(run)}
    return {"path": relative(_script(run)), "files": dict(sorted(files.items()))}


def _script(run: PlannedRun) -> Path:
    """The path that ns-2 runs: under ``tcl/``, or in the folder of a study outside the checkout."""
    return resolved(run["script"], tcl_dir())


def _files(run: PlannedRun) -> list[Path]:
    """All files that the simulator reads, in the order of the run's identity."""
    return ns3_files() if is_ns3(run["script"]) else tcl_files(_script(run))


def _run_in_scratch(run: PlannedRun, run_dir: Path, backend: Simulator, reduce: Reducer) -> Usage:
    """Let ns-2 write into a scratch folder, which becomes ``out/`` when everything is there."""
    scratch = run_dir / SCRATCH_FOLDER
    shutil.rmtree(scratch, ignore_errors=True)  # of an earlier attempt
    remove_temporaries(run_dir)
    # Its log says nothing about this one, and tables that were made from other outputs do not
    # count.
    for name in (ERROR_NAME, LOG_NAME, f"{TABLES_FOLDER}/{MANIFEST_NAME}"):
        (run_dir / name).unlink(missing_ok=True)
    out, final = scratch / OUTPUT_FOLDER, run_dir / OUTPUT_FOLDER
    out.mkdir(parents=True)
    script, simulator = _script(run), "ns-3" if is_ns3(run["script"]) else "ns-2"
    names = RunNames(f"run {run['run_id']} ({run['label']})", str(script), run_dir, simulator)
    try:
        traces = [out / name for name in run["identity"]["streams"]]
        with streams(traces, reduce) as failures:
            command = backend.command(scratch, script, run["identity"]["argv"])
            usage = run_ns2(command, scratch, names, failures, native=backend.name != "docker")
        _check_outputs(run, names, out)
        shutil.rmtree(final, ignore_errors=True)
        os.replace(out, final)
    finally:
        # A reducer may have made a table from the partial output of an interrupted ns-2.
        shutil.rmtree(scratch, ignore_errors=True)
    return usage


def _check_outputs(run: PlannedRun, names: RunNames, out: Path) -> None:
    for output in run["outputs"]:
        written = out / output["file"]
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


def _outputs(run_dir: Path) -> dict[str, OutputFile]:
    files = sorted(path for path in (run_dir / OUTPUT_FOLDER).iterdir() if path.is_file())
    return {
        f"{OUTPUT_FOLDER}/{path.name}": {"sha256": sha256_of(path), "bytes": path.stat().st_size}
        for path in files
    }
