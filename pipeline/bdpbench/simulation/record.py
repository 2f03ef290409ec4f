"""The content of ``run.json`` of a complete run."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from bdpbench.contracts.files import sha256_of, utf8_text
from bdpbench.contracts.runs import (
    OUTPUT_FOLDER,
    RUN_VERSION,
    Ns2Record,
    OutputFile,
    RunRecord,
    Spec,
)
from bdpbench.errors import visible
from bdpbench.simulation.ns2_process import Usage
from bdpbench.simulation.specs import script_record
from bdpbench.units import unit_of

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
        "script": script_record(spec, run_dir),
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
