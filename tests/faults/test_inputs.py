"""Random changes of inputs and documents are accepted, or refused at once with one message."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.data_of import data_of, yaml_of
from tests.faults.fuzz_files import of_data
from tests.random_examples import examples

from bdpbench.app.keep.results import KeptResults
from bdpbench.app.planning import Wanted, prepare
from bdpbench.app.stages import PlanData, score_plan, with_groups
from bdpbench.contracts.documents import write_json_atomically
from bdpbench.contracts.paths import repository_root, run_folder
from bdpbench.contracts.plan import read_plan, write_plan_document
from bdpbench.contracts.reports import read_scorecard
from bdpbench.contracts.runs import RUN_VERSION, read_manifest, read_run
from bdpbench.errors import BdpbenchError
from bdpbench.studies.identity import tcl_files

KEY = "dumbbell"
DATA = repository_root() / "tests" / "data" / KEY
INPUTS = data_of(__file__)
MOST_S = 20.0  # CPU time: planning takes some 0.05 s; the limit detects minutes of silence

MANY = examples(40)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / KEY
    shutil.copytree(DATA, folder)
    return folder


Documents = dict[str, tuple[Path, Callable[[], Any]]]


def told(work: Callable[[], object]) -> str:
    """The one error in which the work ends, or ""; any other exception fails the test."""
    try:
        work()
    except BdpbenchError as error:
        return str(error)
    return ""


def plan_of(folder: Path, *, write: bool = False) -> None:
    began_s = time.process_time()
    try:
        plan = prepare(
            Wanted(str(folder), "quick", results=folder.parent / "results", build_id="b" * 16)
        )
        if write:
            write_plan_document(plan.paths.plan, plan.plan)
    finally:
        assert time.process_time() - began_s < MOST_S


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize(("old", "new", "line", "said"), INPUTS["limits"])
def test_what_no_run_can_have_is_told_with_its_line(
    study: Path, old: str, new: str, line: int, said: str
) -> None:
    path = study / "study.yaml"
    text = path.read_text()
    assert old in text
    new = new.replace("{list}", str(list(range(1, 217))))  # 216³ · 2: twenty million runs
    new += ' "' if new.endswith("[31m") else ""
    text = text.replace(old, new, 1)
    path.write_text(text.replace(' " protocols of ns-2 on a small dumbbell', '"'))
    with pytest.raises(BdpbenchError) as caught:
        plan_of(study)
    assert f"study.yaml:{line}" in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["study.yaml", "published.csv", "claims.yaml", "matrices.yaml", "page.yaml", "history.yaml",
     "causes.yaml", "spread.yaml", "metrics.py", "NOTES.md", "own.tcl"],
)  # fmt: skip
def test_what_is_not_utf8_is_told_with_its_line_and_byte(study: Path, name: str) -> None:
    path = study / name
    path.write_bytes(b"# one\n# \xe9t\xe9\n")
    said = told(lambda: tcl_files(path) if name.endswith(".tcl") else plan_of(study))
    assert f"{path}:2: is not UTF-8 text: byte 0xE9 in column 3" in said


def test_a_path_without_delay_is_planned(study: Path) -> None:
    path = study / "study.yaml"
    text = path.read_text().replace("_delay_ms: 1\n", "_delay_ms: 0\n").replace("ms: 18", "ms: 0")
    path.write_text(text.replace("_delay_ms: 38", "_delay_ms: 0"))
    (study / "published.csv").unlink()
    plan_of(study)


# ---------------------------------------------------------------- anything anywhere


def changed(document: Any, seed: int) -> Any:
    """The document with one to three of its parts replaced, removed, renamed or duplicated."""
    chance = random.Random(seed)
    for _ in range(chance.randrange(1, 4)):
        document = of_data(document, chance)
    return document


@MANY
@given(seed=st.integers(0, 10**9))
def test_study_yaml_with_anything_in_it_is_planned_or_refused(study: Path, seed: int) -> None:
    document = changed(yaml_of((DATA / "study.yaml").read_text()), seed)
    (study / "study.yaml").write_text(yaml.safe_dump(document, allow_unicode=True))
    said = told(lambda: plan_of(study))
    assert not said or str(study) in said or "has no runs in tier" in said


# ---------------------------------------------------------------- documents of bdpbench


def _damaged(content: bytes, chance: random.Random) -> bytes:
    """A file's bytes after it was cut, overwritten or extended; one file in three stays whole."""
    data = bytearray(content)
    at = chance.randrange(len(data) + 1)
    match chance.randrange(6):
        case 0:
            del data[at:]
        case 1:
            data[at : at + 4] = bytes(chance.randrange(256) for _ in range(4))
        case 2:
            data[at:at] = chance.choice((b"\0", b"\xff\xfe", b'"', b"[" * 100_000, b"9" * 5000))
        case 3:
            data = bytearray(b"[" * 100_000)
    return bytes(data)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    """Name → an intact document of this kind, in its place, and the function that reads it."""
    folder = tmp_path_factory.mktemp("documents")
    shutil.copytree(DATA, folder / KEY)
    plan_of(folder / KEY, write=True)
    tier = folder / "results" / KEY / "quick"
    plan = read_plan(tier / "plan.json")
    run_dir = run_folder(folder / "results" / "runs", plan["runs"][0]["run_id"])
    write_json_atomically(
        tier / "scorecard.json",
        score_plan(plan, with_groups(plan, PlanData(plan, run_dir.parents[1]).metrics())),
    )
    run = plan["runs"][0]
    own = {"schema_version": RUN_VERSION, "run_id": run["run_id"], "identity": run["identity"]}
    write_json_atomically(run_dir / "run.json", {**own, **INPUTS["record"]})
    manifest = {**INPUTS["manifest"], "outputs": run["outputs"]}
    write_json_atomically(run_dir / "tables" / "manifest.json", manifest)
    return {
        "plan.json": (tier / "plan.json", lambda: read_plan(tier / "plan.json")),
        "run.json": (run_dir / "run.json", lambda: read_run(run_dir)),
        "manifest.json": (run_dir / "tables" / "manifest.json", lambda: read_manifest(run_dir)),
        "scorecard.json": (
            tier / "scorecard.json",
            lambda: read_scorecard(tier / "scorecard.json"),
        ),
    }


NAMES = ("plan.json", "run.json", "manifest.json", "scorecard.json")


@pytest.mark.parametrize("name", NAMES)
@examples(60)
@given(seed=st.integers(0, 10**9))
def test_a_damaged_document_is_whole_or_one_error(
    documents: Documents, name: str, seed: int
) -> None:
    path, read = documents[name]
    whole = path.read_bytes()
    try:
        assert read() is not None
        chance = random.Random(seed)
        text = json.dumps(changed(json.loads(whole), seed)).encode()
        path.write_bytes(_damaged(text, chance))
        said = told(read)
        assert not said or said.startswith(f"{path}: ")
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize(("name", "place", "value"), INPUTS["kinds"])
def test_a_value_of_another_kind_is_told_with_its_place(
    documents: Documents, name: str, place: list[Any], value: object
) -> None:
    path, read = documents[name]
    whole = path.read_bytes()
    document = json.loads(whole)
    node = document
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    path.write_text(json.dumps(document))
    try:
        with pytest.raises(BdpbenchError) as caught:
            read()
    finally:
        path.write_bytes(whole)
    assert f"{'.'.join(map(str, place))} is " in str(caught.value)


@MANY
@given(seed=st.integers(0, 10**9))
def test_a_damaged_table_of_metrics_is_whole_or_one_error(tmp_path: Path, seed: int) -> None:
    from bdpbench.metrics import METRICS_SCHEMA

    path = tmp_path / "metrics.parquet"
    if not path.is_file():
        rows = {name: [None] * 3 for name in METRICS_SCHEMA}
        pl.DataFrame(rows, schema=METRICS_SCHEMA).write_parquet(path)
        path.rename(tmp_path / "whole")
    path.write_bytes(_damaged((tmp_path / "whole").read_bytes(), random.Random(seed)))
    said = told(lambda: KeptResults(tmp_path).metrics)
    assert not said or said.startswith(f"{path}: ")


def test_another_table_is_no_table_of_metrics(tmp_path: Path) -> None:
    path = tmp_path / "metrics.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(path)
    with pytest.raises(BdpbenchError, match="is not a table of metrics"):
        assert KeptResults(tmp_path).metrics.is_empty()
