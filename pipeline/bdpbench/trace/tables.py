"""The tables of a run: parquet files beside the text that they were read from.

``tables/manifest.json`` is written last, so tables without it do not count. It contains the
checksum of the run.json that the tables were made from, which in turn contains the checksum of
every output file.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import polars as pl

from bdpbench.contracts.documents import write_record_atomically
from bdpbench.contracts.files import sha256_of, write_atomically, write_text_atomically
from bdpbench.contracts.plan import Output
from bdpbench.contracts.runs import (
    ERROR_NAME,
    MANIFEST_NAME,
    MANIFEST_VERSION,
    OUTPUT_FOLDER,
    RUN_NAME,
    TABLES_FOLDER,
    TableFacts,
    TableManifest,
    read_manifest,
    read_run,
)
from bdpbench.errors import BdpbenchError
from bdpbench.trace.reader import OUTPUT_FORMATS, OutputFormat, output_format_of, read_output

SCHEMA_KEY = "bdpbench_schema"


def write_tables(run_dir: Path, outputs: Sequence[Output]) -> TableManifest:
    """Make the tables of one run: all files of a table in one ``tables/<table>.parquet``.

    Rows are sorted by flow (or link), then time; packets stay in the order of the trace. A table
    that already has these outputs of this run.json in this schema is kept. So are tables and files
    that others asked for: studies may share a run and read different parts of it. If an output file
    that is needed is not what the run wrote, or cannot be read, the record of the run is replaced
    by the reason: it counts as not run, and is simulated again.

    Args:
        run_dir: folder of the run, with ``run.json`` and ``out/``.
        outputs: outputs of the run in the plan.

    Returns:
        The manifest of all existing tables.

    Raises:
        BdpbenchError: when the run did not finish, when an output is missing, changed or damaged,
            or when the outputs cannot form tables.
    """
    record = read_run(run_dir)
    if record is None:
        said = f"is not a finished run: it has no {RUN_NAME} that can be read"
        raise BdpbenchError(said, where=str(run_dir))
    wanted = _by_table(run_dir, outputs)
    with _only_writer(run_dir):
        manifest = _kept_manifest(run_dir)
        missing = [table for table, files in wanted.items() if not _holds(manifest, table, files)]
        if not missing and _manifest_path(run_dir).is_file():
            return manifest
        files = {table: _joined(manifest, wanted[table], table) for table in missing}
        needed = [f"{OUTPUT_FOLDER}/{each['file']}" for table in missing for each in files[table]]
        for name in needed:
            if name not in record["outputs"]:
                said, hint = f"run.json records no output {name}", f"remove {run_dir} and run again"
                raise BdpbenchError(said, where=str(run_dir), hint=hint)
        try:
            for name in needed:
                _check_unchanged(run_dir / name, record["outputs"][name]["sha256"])
            _drop_tables(run_dir, manifest, missing)
            for table in missing:
                form = OUTPUT_FORMATS[table]
                manifest["tables"][table] = _write_table(run_dir, form, files[table])
                manifest["outputs"] += files[table]
        except BdpbenchError as error:
            write_text_atomically(run_dir / ERROR_NAME, f"{error}\n")
            (run_dir / RUN_NAME).unlink()
            raise
        manifest["outputs"] = _in_order_of(outputs, manifest["outputs"])
        write_record_atomically(_manifest_path(run_dir), manifest)
    return manifest


def holds_outputs(run_dir: Path, outputs: Sequence[Output]) -> bool:
    """Whether a run was parsed, and its tables contain these outputs."""
    manifest = _manifest_of(run_dir)
    return manifest is not None and all(
        _holds(manifest, table, files) for table, files in _by_table(run_dir, outputs).items()
    )


def load_table(
    run_dir: Path,
    name: str,
    outputs: Sequence[Output] | None = None,
    manifest: TableManifest | None = None,
) -> pl.LazyFrame:
    """A table of a run, with the columns that ``read_output`` describes.

    A table that is gone, damaged or of another schema is made again.

    Args:
        run_dir: folder of the run.
        name: name of the table.
        outputs: outputs of the run in a plan: other flows and links are left out; None takes all.
        manifest: manifest of the run, to pass if several of its tables are loaded.

    Raises:
        BdpbenchError: when the run has no such table, or as ``write_tables`` if it is made again.
    """
    path = _table_path(run_dir, name)
    form = output_format_of(name, where=str(path))
    manifest = manifest or read_manifest(run_dir)
    if name not in manifest["tables"]:
        raise BdpbenchError(
            f"the run has no table {name!r}; it has {', '.join(manifest['tables']) or 'none'}",
            where=str(path),
        )
    facts = manifest["tables"][name]
    is_ours = facts["schema"] == form.schema_id
    if not (is_ours and path.is_file() and sha256_of(path) == facts["sha256"]):
        with _only_writer(run_dir):
            manifest = read_manifest(run_dir)
            held = manifest["outputs"]
            _drop_tables(run_dir, manifest, [name])
        manifest = write_tables(run_dir, held)
    frame = pl.scan_parquet(path, glob=False)
    others = _keys(manifest["outputs"], form) - _keys(outputs or manifest["outputs"], form)
    return frame.filter(~pl.col(form.key).is_in(sorted(others))) if form.key and others else frame


def _keys(outputs: Sequence[Output], form: OutputFormat) -> set[Any]:
    """Flows or links of a table."""
    return {_key_of(each, form) for each in outputs if each["table"] == form.table and form.key}


def _key_of(output: Output, form: OutputFormat) -> Any:
    return output.get("flow") if form.key == "flow" else output.get("link")


def _by_table(run_dir: Path, outputs: Sequence[Output]) -> dict[str, list[Output]]:
    """The outputs of each table, ordered by flow or link; no flow or link may occur twice."""
    by_table: dict[str, dict[Any, Output]] = {}
    for output in outputs:
        where = f"{run_dir}: output {output.get('file', '?')}"
        if not isinstance(output.get("file"), str):
            raise BdpbenchError("the output names no file", where=where)
        form = output_format_of(str(output.get("table")), where=where)
        key = _key_of(output, form) if form.key else None
        files = by_table.setdefault(form.table, {})
        if key in files:
            owner = f"{form.key} {key} of table {form.table}" if form.key else f"table {form.table}"
            raise BdpbenchError(f"{owner} comes from {files[key]['file']} already", where=where)
        files[key] = output
    return {
        table: [files[key] for key in (sorted(files) if len(files) > 1 else files)]
        for table, files in by_table.items()
    }


@contextmanager
def _only_writer(run_dir: Path) -> Iterator[None]:
    """Wait until no other process makes tables of the run; the lock ends with its process."""
    folder = run_dir / TABLES_FOLDER
    folder.mkdir(exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _manifest_of(run_dir: Path) -> TableManifest | None:
    """The manifest of a run; None without one that can be read."""
    try:
        return read_manifest(run_dir)
    except BdpbenchError:  # there is none, or it is damaged, or of another version
        return None


def _kept_manifest(run_dir: Path) -> TableManifest:
    """The manifest with the tables that are current: made from this run.json, in our schemas."""
    sha256, manifest = sha256_of(run_dir / RUN_NAME), _manifest_of(run_dir)
    is_ours = manifest is not None and manifest["run_json_sha256"] == sha256
    current = {
        table: facts
        for table, facts in (manifest["tables"] if manifest and is_ours else {}).items()
        if table in OUTPUT_FORMATS
        and facts.get("schema") == OUTPUT_FORMATS[table].schema_id
        and _table_path(run_dir, table).is_file()
    }
    outputs = manifest["outputs"] if manifest else []
    return {
        "schema_version": MANIFEST_VERSION,
        "run_json_sha256": sha256,
        "outputs": [each for each in outputs if each["table"] in current],
        "tables": current,
    }


def _holds(manifest: TableManifest, table: str, files: Sequence[Output]) -> bool:
    return table in manifest["tables"] and all(each in manifest["outputs"] for each in files)


def _joined(manifest: TableManifest, files: Sequence[Output], table: str) -> list[Output]:
    """The requested files, and those of other flows or links that the table already has."""
    form = OUTPUT_FORMATS[table]
    asked = _keys(files, form)
    others = [
        each
        for each in manifest["outputs"]
        if each["table"] == table and form.key and _key_of(each, form) not in asked
    ]
    joined = [*files, *others]
    return sorted(joined, key=lambda each: _key_of(each, form)) if others else joined


def _drop_tables(run_dir: Path, manifest: TableManifest, tables: Collection[str]) -> None:
    """Remove from the manifest the tables that are made again, and those that are not current."""
    for table in tables:
        manifest["tables"].pop(table, None)
    manifest["outputs"] = [each for each in manifest["outputs"] if each["table"] not in tables]
    if manifest["tables"]:
        write_record_atomically(_manifest_path(run_dir), manifest)
    else:
        _manifest_path(run_dir).unlink(missing_ok=True)


def _in_order_of(outputs: Sequence[Output], held: Sequence[Output]) -> list[Output]:
    """The outputs in a table: first those that a plan names, in its order."""
    named = [dict(each) for each in outputs if each in held]
    return cast("list[Output]", [*named, *(each for each in held if each not in named)])


def _check_unchanged(path: Path, sha256: str) -> None:
    """Refuse an output that is not, byte for byte, what the run wrote."""
    hint = "the run counts as not run; the same command simulates it again"
    if not path.is_file():
        raise BdpbenchError("the run wrote this file, and it is gone", where=str(path), hint=hint)
    if sha256_of(path) != sha256:
        raise BdpbenchError(
            f"the file has changed since the run: its SHA-256 is not {sha256}",
            where=str(path),
            hint=hint,
        )


def _write_table(run_dir: Path, form: OutputFormat, files: Sequence[Output]) -> TableFacts:
    places = [run_dir / OUTPUT_FOLDER / output["file"] for output in files]
    frames = [
        pl.scan_parquet(place, glob=False)
        if form.reduced
        else read_output(
            *(place, form.table),
            flow=output.get("flow"),
            link=output.get("link"),
            names=output.get("names", ()),
        )
        for place, output in zip(places, files, strict=True)
    ]
    path = _table_path(run_dir, form.table)
    # Within each file times increase, and files come in the order of their keys: sorted already.
    table = pl.concat(frames)
    rows = None
    if not (form.streamed or form.reduced):
        collected = table.collect()
        table, rows = collected.lazy(), collected.height
    metadata = {SCHEMA_KEY: form.schema_id}
    write_atomically(
        path, lambda scratch: table.sink_parquet(scratch, compression="zstd", metadata=metadata)
    )
    if rows is None:
        rows = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
    return {"rows": rows, "sha256": sha256_of(path), "schema": form.schema_id}


def _manifest_path(run_dir: Path) -> Path:
    return run_dir / TABLES_FOLDER / MANIFEST_NAME


def _table_path(run_dir: Path, table: str) -> Path:
    return run_dir / TABLES_FOLDER / f"{table}.parquet"
