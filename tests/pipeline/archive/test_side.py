"""Kept results can be read: folders, archives and results folders."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.pipeline.archive.conftest import sealed, small_contents

from bdpbench.archive import verify_archive, write_archive
from bdpbench.archive.compare import Tolerance, compare
from bdpbench.archive.side import read_metrics_of, read_runs_of, read_sides
from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.reports import KEPT_VERSION, Comparison, KeptRun, kept_runs_bytes
from bdpbench.errors import BdpbenchError

KEPT = repository_root() / "tests" / "data" / "kept"
VALUES = 188
PUBLISHED = sorted((repository_root() / "reports" / "published").glob("*/scorecard.json"))


def _compare(first: Path, second: Path) -> Comparison:
    return compare(*read_sides(first, second), Tolerance(share=0.05, asymmetry=0.05))


def _rewrite(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A copy of a published folder."""
    return Path(shutil.copytree(KEPT, tmp_path / "kept"))


@pytest.mark.parametrize("folder", [path.parent for path in PUBLISHED], ids=lambda each: each.name)
def test_what_is_published_is_compared(folder: Path) -> None:
    found = _compare(folder, folder)
    card = json.loads((folder / "scorecard.json").read_text())
    assert found["compared"] > len(card["numbers"])
    assert (found["moved"], found["facts"], found["parameters"]) == ([], [], [])


def test_an_archive_verifies_and_is_compared_with_a_folder(tmp_path: Path, kept: Path) -> None:
    contents = {
        **small_contents(),
        **{path.name: path.read_bytes() for path in KEPT.iterdir()},
        "plan.json": json.dumps({"schema_version": 2, "ns2_build_id": "0", "runs": []}).encode(),
    }
    archive = tmp_path / "kept.zip"
    write_archive(archive, sealed(contents))
    assert verify_archive(archive).problems == ()
    found = _compare(archive, KEPT)
    assert found["compared"] == VALUES
    assert (found["moved"], found["facts"], found["parameters"]) == ([], [], [])
    assert read_metrics_of(archive).equals(read_metrics_of(KEPT))
    runs = read_runs_of(kept)
    runs[0]["parameters"]["buffer_pkts"] = 9
    (kept / "runs.parquet").write_bytes(kept_runs_bytes(runs))
    assert {each["parameter"] for each in _compare(archive, kept)["parameters"]} == {"buffer_pkts"}


def test_results_without_what_is_kept_are_told_by_their_plan(kept: Path) -> None:
    runs = read_runs_of(kept)
    planned = [
        {"run_id": run["run_id"], "parameters": run["parameters"], **place}
        for run in runs
        for place in run["places"]
    ]
    plan = {"schema_version": 2, "ns2_build_id": "0" * 16, "runs": planned}
    (kept / "plan.json").write_text(json.dumps(plan))
    for name in ("runs.parquet", "provenance.json"):
        (kept / name).unlink()
    found = _compare(KEPT, kept)
    assert (found["compared"], found["moved"], found["parameters"]) == (VALUES, [], [])
    assert "versions and checksums" in [each["name"] for each in found["facts"]]


@pytest.mark.parametrize("name", ["provenance.json", "scorecard.json"])
def test_a_later_version_is_refused(kept: Path, name: str) -> None:
    _rewrite(kept / name, lambda content: content.update(schema_version=4))
    with pytest.raises(BdpbenchError, match=rf"{name}: is of a version that this bdpbench"):
        read_sides(KEPT, kept)


@pytest.mark.parametrize(
    ("name", "key"),
    [("provenance.json", "builds"), ("scorecard.json", "numbers")],
)
def test_a_file_that_lacks_what_its_version_has_is_told(kept: Path, name: str, key: str) -> None:
    _rewrite(kept / name, lambda content: content.pop(key))
    with pytest.raises(BdpbenchError, match=f"is damaged.*{key}"):
        read_sides(KEPT, kept)


def _cut(content: bytes) -> bytes:
    return content[:-9]


def _renamed(content: bytes) -> bytes:
    stream = io.BytesIO()
    pl.read_parquet(io.BytesIO(content)).rename({"outputs": "files"}).write_parquet(stream)
    return stream.getvalue()


def _later(content: bytes) -> bytes:
    stream = io.BytesIO()
    later = pl.lit(KEPT_VERSION + 1).alias("schema_version")
    pl.read_parquet(io.BytesIO(content)).with_columns(later).write_parquet(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_cut, "is not a table of the runs"),
        (_renamed, "run 1: is damaged"),
        (_later, "is of a version that this bdpbench does not read"),
    ],
)
def test_damaged_runs_are_refused(kept: Path, damage: Callable[[bytes], bytes], said: str) -> None:
    path = kept / "runs.parquet"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(BdpbenchError, match=said):
        read_runs_of(kept)


def test_runs_are_kept_as_they_are(kept: Path) -> None:
    runs: list[KeptRun] = read_runs_of(kept)
    runs[0]["taken_over"] = {"run_id": "a", "build_id": "b", "sample": []}
    (kept / "runs.parquet").write_bytes(kept_runs_bytes(runs))
    assert read_runs_of(kept) == runs
