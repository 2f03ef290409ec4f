"""Kept results of every version can be read: folders, archives and results folders."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.archive.conftest import sealed, small_contents

from bdpbench.archive import verify_archive, write_archive
from bdpbench.archive.compare import Tolerance, compare
from bdpbench.archive.side import read_sides
from bdpbench.contracts.comparison import Comparison
from bdpbench.contracts.paths import repository_root
from bdpbench.errors import BdpbenchError

# As `publish` wrote it when runs.json and provenance.json had version 1.
VERSION_1 = repository_root() / "tests" / "data" / "kept_version_1" / "dumbbell"
PUBLISHED = sorted((repository_root() / "reports" / "published").glob("*/scorecard.json"))
IDENTITY = {"argv": ["-duration_s", "20"], "tcl": "0" * 64, "ns2": "1" * 64, "streams": []}


def _compare(first: Path, second: Path) -> Comparison:
    return compare(*read_sides(first, second), Tolerance(share=0.05, asymmetry=0.05))


def _rewrite(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def _to_version_2(content: dict[str, Any]) -> None:
    content["schema_version"] = 2
    for run in content["runs"] if isinstance(content["runs"], list) else ():
        run["identity"] = IDENTITY
        run["script"] = {"path": run["script"]["path"], "files": {"tcl/a.tcl": "0" * 64}}


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A copy of the folder kept with version 1."""
    return Path(shutil.copytree(VERSION_1, tmp_path / "kept"))


@pytest.mark.parametrize("folder", [path.parent for path in PUBLISHED], ids=lambda each: each.name)
def test_what_is_published_is_compared(folder: Path) -> None:
    found = _compare(folder, folder)
    card = json.loads((folder / "scorecard.json").read_text())
    assert found["compared"] > len(card["numbers"])
    assert (found["moved"], found["facts"], found["parameters"]) == ([], [], [])


def test_version_1_and_version_2_are_compared_with_one_another(kept: Path) -> None:
    for name in ("runs.json", "provenance.json"):
        _rewrite(kept / name, _to_version_2)
    found = _compare(VERSION_1, kept)
    # metrics.csv has 188 rows below its header.
    assert found["compared"] == len((VERSION_1 / "metrics.csv").read_text().splitlines()) - 1
    assert (found["moved"], found["facts"], found["parameters"]) == ([], [], [])
    _rewrite(kept / "runs.json", lambda each: each["runs"][0]["parameters"].update(buffer_pkts=9))
    assert [each["parameter"] for each in _compare(VERSION_1, kept)["parameters"]] == [
        "buffer_pkts"
    ]


@pytest.mark.parametrize("version", [1, 2])
def test_an_archive_of_either_version_verifies_and_is_compared(
    tmp_path: Path, version: int
) -> None:
    contents = {
        **small_contents(),
        **{path.name: path.read_bytes() for path in VERSION_1.iterdir()},
        "plan.json": json.dumps(
            {"schema_version": version, "ns2_build_id": "0", "runs": []}
        ).encode(),
    }
    archive = tmp_path / "kept.zip"
    write_archive(archive, sealed(contents))
    assert verify_archive(archive).problems == ()
    found = _compare(archive, VERSION_1)
    assert found["compared"] == 188
    assert (found["moved"], found["facts"], found["parameters"]) == ([], [], [])


def test_results_without_what_is_kept_are_told_by_their_plan(kept: Path) -> None:
    runs = json.loads((kept / "runs.json").read_text())["runs"]
    planned = [
        {"run_id": run["run_id"], "parameters": run["parameters"], **place}
        for run in runs
        for place in run["places"]
    ]
    for version in (1, 2):
        plan = {"schema_version": version, "ns2_build_id": "0" * 16, "runs": planned}
        (kept / "plan.json").write_text(json.dumps(plan))
        for name in ("runs.json", "provenance.json"):
            (kept / name).unlink(missing_ok=True)
        found = _compare(VERSION_1, kept)
        assert (found["compared"], found["moved"], found["parameters"]) == (188, [], [])
        assert "versions and checksums" in [each["name"] for each in found["facts"]]


@pytest.mark.parametrize("name", ["runs.json", "provenance.json", "scorecard.json"])
def test_a_later_version_is_refused(kept: Path, name: str) -> None:
    _rewrite(kept / name, lambda content: content.update(schema_version=3))
    with pytest.raises(BdpbenchError, match=rf"{name}: is of a version that this bdpbench"):
        read_sides(VERSION_1, kept)


@pytest.mark.parametrize(
    ("name", "key"),
    [("runs.json", "runs"), ("provenance.json", "builds"), ("scorecard.json", "numbers")],
)
def test_a_file_that_lacks_what_its_version_has_is_told(kept: Path, name: str, key: str) -> None:
    _rewrite(kept / name, lambda content: content.pop(key))
    with pytest.raises(BdpbenchError, match=f"is damaged.*{key}"):
        read_sides(VERSION_1, kept)
