"""Random changes of inputs and documents are accepted, or refused at once with one message."""

from __future__ import annotations

import copy
import csv
import io
import json
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bdpbench.app.planning import Wanted, prepare, write_plan
from bdpbench.app.stages import measure_plan, read_metrics, score_plan, write_metrics
from bdpbench.contracts.documents import write_json_atomically
from bdpbench.contracts.paths import repository_root, run_folder
from bdpbench.contracts.plan import read_plan
from bdpbench.contracts.runs import RUN_VERSION, read_light, read_manifest, read_run, read_spec
from bdpbench.contracts.scorecard import read_scorecard
from bdpbench.errors import BdpbenchError
from bdpbench.studies.identity import tcl_files
from bdpbench.studies.limits import MOST_FLOWS, MOST_RUNS

KEY = "dumbbell"
DATA = repository_root() / "tests" / "data" / KEY
MOST_S = 20.0  # planning takes some 0.05 s; the limit detects minutes of silence

NUMBERS = (0, -1, 0.5, 1e16, 1e300, 1e-300, -1e300, 2**31, 2**63, 10**400, float("inf"))
WORDS = ("", "..", "{y}", "$x", "$buffer_pkts", "=1+1", "é", "x" * 300, "a\nb", "\x1b[31m", "~")
VALUES = (*NUMBERS, float("nan"), *WORDS, None, True, [], {}, [[]], {"a": {}}, [None])

many = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)


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
    began = time.monotonic()
    try:
        plan = prepare(
            Wanted(str(folder), "quick", results=folder.parent / "results", build_id="b" * 16)
        )
        if write:
            write_plan(plan)
    finally:
        assert time.monotonic() - began < MOST_S


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("bottleneck_mbps: 5", "bottleneck_mbps: 1e300", 10, "at most 1e+11"),
        ("bottleneck_mbps: 5", "bottleneck_mbps: 1e-300", 10, "at least 1e-06"),
        ("bottleneck_mbps: 5", f"bottleneck_mbps: {10**400}", 10, "at most 1e+11"),
        ("packet_bytes: 1000", "packet_bytes: 1e16", 16, "at most"),
        ("packet_bytes: 1000", "packet_bytes: 70000", 16, "at most 65535"),
        ("window_: 1000", "window_: .inf", 5, "finite number"),
        ("window_: 1000", "window_: .nan", 5, "finite number"),
        ("window_: 1000", "window_: 3e9", 5, "less than or equal to 2147483646"),
        ("window_: 1000", "window_: 2e9", 5, "100,000,000 at most"),
        ("bottleneck_mbps: 5", "bottleneck_mbps: 1e-6", 10, "takes 8320 s, and a run ends after"),
        ("buffer_pkts: 25", "buffer_pkts: 2.1e6", 15, "2,064,888 packets at most"),
        ("packet_bytes: 1000", "packet_bytes: 1000\n      substream: 1000001", 17, "at most 1e+06"),
        ("duration_s: 20", "duration_s: 1e-9", 26, "greater than or equal to 0.01"),
        ("- {count: 3, stagger_s: 2}", "- {size_pkts: 1000000001}", 24, "equal to 1000000000"),
        ("    flows:", "    background: [{count: 1001}]\n    flows:", 23, "equal to 1000"),
        ("buffer_pkts: 50}", "loss_burst_pkts: 3, buffer_pkts: 50}\n    changes: [{at_s: 9, "
         "loss_rate: 0.9}]", 31, "bursts of 10"),
        ("buffer_pkts: 50}", "buffer_pkts: 50, loss_rate: 1e-18, loss_burst_pkts: 4}", 29,
         "too small for bursts"),
        *(("packet_bytes: 1000", f"packet_bytes: 1000\n      queue: Q\nqueues:\n  Q: {{{kind}}}",
           19, said) for kind, said in (
            ("kind: RED, settings: {min_th_pkts: 3, max_p: 1e-10}", "linterm_ of ns-2's queue"),
            ("kind: ARED, settings: {min_th_pkts: 3, interval_s: 1e-9}", "at least 1e-06"),
            ("kind: PI, settings: {updates_per_s: 1e9}", "at most 1000000"),
            ("kind: REM, settings: {update_s: 1e-15}", "at least 1e-06"),
        )),
        ("bottleneck_delay_ms: 18", "bottleneck_delay_ms: 1e300", 11, "at most"),
        ("duration_s: 20", "duration_s: 1e300", 26, "less than or equal to 10000000"),
        ("packet_bytes: 1000", "packet_bytes: 1000\n      sample_s: 1e-300", 17, "at least 1e-06"),
        ("count: 3, stagger_s: 2", "count: 100000000", 24, f"less than or equal to {MOST_FLOWS}"),
        ("protocol: [Reno, Vegas]", "protocol: [Reno, Vegas]\n      buffer_pkts: {list}\n"
         "      access_mbps: {list}\n      sample_s: {list}", 21, f"at most {MOST_RUNS:,}"),
        ("  shared:", f"  {'s' * 300}:", 18, "at most 60 characters"),
        ("title: Stock", 'title: "\\e[31m', 3, "controls a terminal"),
        ("title: Three flows", "title: Three\u202e flows", 19, "the character U+202E"),
        ("  small:", '  "sm\\u2066all":', 8, "the character U+2066"),
        ("label: Reno", f"label: {'R' * 81}", 5, "at most 80 characters"),
        ("label: Reno", 'label: "Re\\rno"', 5, "expected one line"),
        ("title: Three flows", f"title: {'T' * 201}", 19, "at most 200 characters"),
    ],
)  # fmt: skip
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
     "spread.yaml", "metrics.py", "NOTES.md", "own.tcl"],
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


def _places(node: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    children = node.items() if isinstance(node, dict) else enumerate(node)
    for key, child in children:
        yield (*place, key)
        if isinstance(child, (dict, list)):
            yield from _places(child, (*place, key))


def changed(document: Any, seed: int) -> Any:
    """The document with one to three of its parts replaced, removed or duplicated."""
    chance, found = random.Random(seed), copy.deepcopy(document)
    for _ in range(chance.randrange(1, 4)):
        places = list(_places(found))
        if not places:
            break
        *above, last = chance.choice(places)
        node = found
        for key in above:
            node = node[key]
        if chance.random() < 0.2:
            del node[last]
        elif isinstance(node, dict) and chance.random() < 0.1:
            node[chance.choice(WORDS)] = node[last]
        else:
            node[last] = chance.choice(VALUES)
    return found


@many
@given(seed=st.integers(0, 10**9))
def test_study_yaml_with_anything_in_it_is_planned_or_refused(study: Path, seed: int) -> None:
    document = changed(yaml.safe_load((DATA / "study.yaml").read_text()), seed)
    (study / "study.yaml").write_text(yaml.safe_dump(document, allow_unicode=True))
    said = told(lambda: plan_of(study))
    assert not said or str(study) in said or "has no runs in tier" in said


CLAIMS = yaml.safe_load("""
- {id: a, where: w, page: 1, found: chosen on, chosen_on: [b], statement: s, kind: within,
    lower: 0, upper: 9,
    value: {scenario: other_rtt, metric: max_throughput, subject: 'link:bottleneck'}}
- {id: b, where: w, found: stated, statement: s, kind: compare, left: 1, op: <, factor: 2, right:
    {scenario: shared, select: {protocol: Reno}, metric: max_throughput, subject:
    'link:bottleneck'}}
""")
MATRICES = yaml.safe_load("""
matrices:
- {scenario: shared, metric: utilization, rows: {parameter: protocol, title: a}, columns:
    {parameter: protocol, title: b}, ends: [0, 1], stated: {title: a, where: b, levels:
    [{words: a, up_to: 1}, {words: b, up_to: 2}], cells: {Reno: {Vegas: 1}}}, points: {metric:
    utilization, ranking: [[Reno], [Vegas]]}}
""")
PAGE = yaml.safe_load(
    (repository_root() / "config" / "studies" / "sharma2006" / "page.yaml").read_text()
)
FILES = {"claims.yaml": CLAIMS, "matrices.yaml": MATRICES, "page.yaml": PAGE}


@pytest.mark.parametrize("name", FILES)
@settings(many, max_examples=20)
@given(seed=st.integers(0, 10**9))
def test_other_files_of_a_study_are_taken_or_refused(study: Path, name: str, seed: int) -> None:
    text = yaml.safe_dump(changed(FILES[name], seed), allow_unicode=True)
    (study / name).write_text(text)
    said = told(lambda: plan_of(study))
    assert not said or str(study / name) in said


@many
@given(seed=st.integers(0, 10**9))
def test_published_csv_with_anything_in_it_is_taken_or_refused(study: Path, seed: int) -> None:
    chance = random.Random(seed)
    rows = list(csv.reader(io.StringIO((DATA / "published.csv").read_text())))
    for _ in range(chance.randrange(1, 4)):
        row = chance.choice(rows)
        row[chance.randrange(len(row))] = str(chance.choice(VALUES))
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    (study / "published.csv").write_bytes(_damaged(text.getvalue().encode(), chance))
    said = told(lambda: plan_of(study))
    assert not said or str(study / "published.csv") in said


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


def _record(run_id: str, identity: object) -> dict[str, Any]:
    return {
        "schema_version": RUN_VERSION,
        "run_id": run_id,
        "identity": identity,
        "label": "Reno",
        "parameters": {"duration_s": 20.0, "protocol": "Reno"},
        "units": {"duration_s": "s"},
        "script": {"path": "network.tcl", "files": {"network.tcl": "0" * 64}},
        "argv": ["-duration_s", "20"],
        "ns2": {"build_id": "b" * 16, "backend": "native", "binary_sha256": None},
        "started": "2024-01-01T00:00:00+00:00",
        "wall_s": 1.5,
        "cpu_s": None,
        "max_rss_kib": 1000,
        "exit_status": 0,
        "outputs": {"out/util.out": {"sha256": "0" * 64, "bytes": 10}},
        "ns2_report": "",
    }


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
        tier / "scorecard.json", score_plan(plan, measure_plan(plan, run_dir.parents[1]))
    )
    write_json_atomically(run_dir / "run.json", _record(run_dir.name, plan["runs"][0]["identity"]))
    manifest = {
        "schema_version": 1,
        "run_json_sha256": "0" * 64,
        "outputs": plan["runs"][0]["outputs"],
        "tables": {"cwnd": {"rows": 1, "sha256": "0" * 64, "schema": "cwnd/1"}},
    }
    write_json_atomically(run_dir / "tables" / "manifest.json", manifest)
    facts = {"sha256": "0" * 64, "bytes": 10}
    light = {"schema_version": 1, "files": {"run.json": facts, "tables/manifest.json": facts}}
    write_json_atomically(run_dir / "light.json", light)
    return {
        "plan.json": (tier / "plan.json", lambda: read_plan(tier / "plan.json")),
        "spec.json": (run_dir / "spec.json", lambda: read_spec(run_dir)),
        "run.json": (run_dir / "run.json", lambda: read_run(run_dir)),
        "light.json": (run_dir / "light.json", lambda: read_light(run_dir)),
        "manifest.json": (run_dir / "tables" / "manifest.json", lambda: read_manifest(run_dir)),
        "scorecard.json": (
            tier / "scorecard.json",
            lambda: read_scorecard(tier / "scorecard.json"),
        ),
    }


NAMES = ("plan.json", "spec.json", "run.json", "light.json", "manifest.json", "scorecard.json")


@pytest.mark.parametrize("name", NAMES)
@settings(many, max_examples=60)
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


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("plan.json", ("runs", 0, "parameters"), None),
        ("plan.json", ("runs", 0, "outputs", 0, "file"), 5),
        ("plan.json", ("protocols",), []),
        ("spec.json", ("identity", "argv"), "-duration_s 20"),
        ("spec.json", ("estimated_cpu_s",), True),
        ("run.json", ("outputs", "out/util.out", "bytes"), "10"),
        ("run.json", ("cpu_s",), "1"),
        ("light.json", ("files", "run.json"), "0"),
        ("manifest.json", ("tables", "cwnd", "sha256"), None),
        ("scorecard.json", ("numbers", 0, "verdict"), "excellent"),
    ],
)
def test_a_value_of_another_kind_is_told_with_its_place(
    documents: Documents, name: str, place: tuple[Any, ...], value: object
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


@many
@given(seed=st.integers(0, 10**9))
def test_a_damaged_table_of_metrics_is_whole_or_one_error(tmp_path: Path, seed: int) -> None:
    from bdpbench.metrics import METRICS_SCHEMA

    path = tmp_path / "metrics.parquet"
    if not path.is_file():
        rows = {name: [None] * 3 for name in METRICS_SCHEMA}
        write_metrics(pl.DataFrame(rows, schema=METRICS_SCHEMA), path)
        path.rename(tmp_path / "whole")
    path.write_bytes(_damaged((tmp_path / "whole").read_bytes(), random.Random(seed)))
    said = told(lambda: read_metrics(path))
    assert not said or said.startswith(f"{path}: ")


def test_another_table_is_no_table_of_metrics(tmp_path: Path) -> None:
    path = tmp_path / "metrics.parquet"
    pl.DataFrame({"a": [1]}).write_parquet(path)
    with pytest.raises(BdpbenchError, match="it has the columns a"):
        read_metrics(path)
