"""The tables of a run: parquet files beside the text that they were read from.

``tables/manifest.json`` is written last, so tables without it are not there. It names the run.json
that the tables were made from, which in turn names the checksum of every output file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from bdpbench.contracts.files import read_json, sha256_of, write_json_atomically
from bdpbench.contracts.runs import RUN_VERSION
from bdpbench.errors import BdpbenchError
from bdpbench.trace.formats import FORMATS, Format, format_of
from bdpbench.trace.reader import read_output

MANIFEST_VERSION = 1
SCHEMA_KEY = "bdpbench_schema"

_OUTPUTS_DIR = "out"
_TABLES_DIR = "tables"


def write_tables(run_dir: Path, outputs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Make the tables of one run: all files of a table in one ``tables/<table>.parquet``.

    Rows are sorted by flow (or link), then time; packets stay in the order of the trace. Nothing
    is done when the manifest shows that these outputs of this run.json, in these schemas, are
    there already. An output file that differs from what run.json recorded is refused.

    Args:
        run_dir: folder of the run, with ``run.json`` and ``out/``.
        outputs: of the run in the plan: ``file`` (under ``out/``), ``table``, and ``flow`` or
            ``link`` where the table has such a column.

    Returns:
        The manifest: ``schema_version``, ``run_json_sha256``, ``outputs``, and ``tables``: name →
        ``rows``, ``sha256``, ``schema`` (e.g. "cwnd/1").

    Raises:
        BdpbenchError: when the run did not finish, when an output is missing, changed or damaged,
            or when the outputs are not a set of files that tables can be made of.
    """
    run = read_json(
        run_dir / "run.json", what="the record of a finished run", schema_version=RUN_VERSION
    )
    run_json_sha256 = sha256_of(run_dir / "run.json")
    outputs = [dict(output) for output in outputs]
    by_table = _by_table(run_dir, outputs)
    found = _manifest_if_current(run_dir, run_json_sha256, outputs)
    if found is not None:
        return found
    for output in outputs:
        _check_unchanged(run_dir, output["file"], run.get("outputs", {}))
    (run_dir / _TABLES_DIR).mkdir(exist_ok=True)
    manifest = {
        "schema_version": MANIFEST_VERSION,
        "run_json_sha256": run_json_sha256,
        "outputs": outputs,
        "tables": {
            table: _write_table(run_dir, FORMATS[table], files) for table, files in by_table.items()
        },
    }
    write_json_atomically(_manifest_path(run_dir), manifest)
    return manifest


def load_table(run_dir: Path, name: str) -> pl.LazyFrame:
    """A table of a run, with the columns that ``read_output`` describes.

    Raises:
        BdpbenchError: when the run has no such table, or its schema is not the one that this
            version of bdpbench reads.
    """
    path = _table_path(run_dir, name)
    form = format_of(name, where=str(path))
    manifest = _read_manifest(run_dir)
    if name not in manifest["tables"] or not path.is_file():
        raise BdpbenchError(
            f"the run has no table {name!r}; it has {', '.join(manifest['tables']) or 'none'}",
            where=str(path),
            hint="run `bdpbench parse` again" if name in manifest["tables"] else "",
        )
    _check_schema(path, form)
    _check_whole(path, manifest["tables"][name]["sha256"])
    return pl.scan_parquet(path, glob=False)


def _by_table(
    run_dir: Path, outputs: Sequence[Mapping[str, Any]]
) -> dict[str, list[Mapping[str, Any]]]:
    """The outputs of each table, ordered by flow or link; each may be claimed once."""
    by_table: dict[str, dict[Any, Mapping[str, Any]]] = {}
    for output in outputs:
        where = f"{run_dir}: output {output.get('file', '?')}"
        if not isinstance(output.get("file"), str):
            raise BdpbenchError("the output names no file", where=where)
        form = format_of(str(output.get("table")), where=where)
        key = output.get(form.key) if form.key else None
        files = by_table.setdefault(form.table, {})
        if key in files:
            owner = f"{form.key} {key} of table {form.table}" if form.key else f"table {form.table}"
            raise BdpbenchError(f"{owner} comes from {files[key]['file']} already", where=where)
        files[key] = output
    return {
        table: [files[key] for key in (sorted(files) if len(files) > 1 else files)]
        for table, files in by_table.items()
    }


def _manifest_if_current(
    run_dir: Path, run_json_sha256: str, outputs: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    if not _manifest_path(run_dir).is_file():
        return None
    try:
        manifest = _read_manifest(run_dir)
    except BdpbenchError:  # of another version or cut off: the tables are made anew
        return None
    same_input = (manifest.get("run_json_sha256"), manifest.get("outputs")) == (
        run_json_sha256,
        outputs,
    )
    current = all(
        table in FORMATS
        and entry.get("schema") == FORMATS[table].schema_id
        and _table_path(run_dir, table).is_file()
        for table, entry in manifest.get("tables", {}).items()
    )
    return manifest if same_input and current else None


def _check_unchanged(run_dir: Path, file: str, recorded: Mapping[str, Any]) -> None:
    """Refuse an output that is not, byte for byte, what the run wrote."""
    name = f"{_OUTPUTS_DIR}/{file}"
    path = run_dir / name
    hint = f"remove {run_dir} and run again"
    if name not in recorded:
        raise BdpbenchError(f"run.json records no output {name}", where=str(run_dir), hint=hint)
    if not path.is_file():
        raise BdpbenchError("the run wrote this file, and it is gone", where=str(path), hint=hint)
    if sha256_of(path) != recorded[name]["sha256"]:
        raise BdpbenchError(
            f"the file has changed since the run: its SHA-256 is not {recorded[name]['sha256']}",
            where=str(path),
            hint=hint,
        )


def _write_table(run_dir: Path, form: Format, files: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    frames = [_read_file(run_dir / _OUTPUTS_DIR / output["file"], form, output) for output in files]
    path = _table_path(run_dir, form.table)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        # Each file rises in time and the files come in the order of their keys: sorted already.
        pl.concat(frames).sink_parquet(
            temporary, compression="zstd", metadata={SCHEMA_KEY: form.schema_id}
        )
        rows = pl.scan_parquet(temporary, glob=False).select(pl.len()).collect().item()
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return {"rows": rows, "sha256": sha256_of(path), "schema": form.schema_id}


def _read_file(path: Path, form: Format, output: Mapping[str, Any]) -> pl.LazyFrame:
    if form.reduced:
        return pl.scan_parquet(path, glob=False)
    return read_output(path, form.table, flow=output.get("flow"), link=output.get("link"))


def _check_schema(path: Path, form: Format) -> None:
    try:
        schema = pl.read_parquet_metadata(path).get(SCHEMA_KEY)
    except pl.exceptions.PolarsError:
        raise BdpbenchError(
            "is not a parquet file", where=str(path), hint="remove it and run `bdpbench parse`"
        ) from None
    if schema != form.schema_id:
        raise BdpbenchError(
            f"has schema {schema!r}, and this bdpbench reads {form.schema_id!r}",
            where=str(path),
            hint="run `bdpbench parse` again to make the tables in this version's schema",
        )


def _check_whole(path: Path, sha256: str) -> None:
    """Refuse a table that is not, byte for byte, what was parsed: it would tell wrong numbers."""
    if sha256_of(path) != sha256:
        raise BdpbenchError(
            f"the table has changed since it was parsed: its SHA-256 is not {sha256}",
            where=str(path),
            hint=f"remove {_manifest_path(path.parent.parent)} and run again",
        )


def _read_manifest(run_dir: Path) -> dict[str, Any]:
    return read_json(
        _manifest_path(run_dir),
        what="the manifest that `bdpbench parse` writes",
        schema_version=MANIFEST_VERSION,
    )


def _manifest_path(run_dir: Path) -> Path:
    return run_dir / _TABLES_DIR / "manifest.json"


def _table_path(run_dir: Path, table: str) -> Path:
    return run_dir / _TABLES_DIR / f"{table}.parquet"
