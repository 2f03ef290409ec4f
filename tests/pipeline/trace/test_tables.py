"""Tables are written whole, made again only if their source changed, and refused if unknown."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bdpbench.contracts.documents import json_of
from bdpbench.contracts.runs import RUN_VERSION, read_run
from bdpbench.errors import BdpbenchError
from bdpbench.trace import holds_outputs, load_table, write_tables

OUTPUTS = [
    {"file": "cwnd_hstcp1.out", "table": "cwnd", "flow": 1},
    {"file": "cwnd_hstcp0.out", "table": "cwnd", "flow": 0},
    {"file": "queue.out", "table": "queue", "link": "bottleneck"},
]
FILES = {
    "cwnd_hstcp0.out": "0.00 1 \n0.01 2 \n",
    "cwnd_hstcp1.out": "0.00 5 \n",
    "queue.out": "0.00 0 0\n0.01 3 1\n",
}
RECORD = {
    "run_id": "r",
    "identity": {"argv": [], "tcl": "", "ns2": "", "streams": []},
    "parameters": {},
    "units": {},
    "script": {"path": "network.tcl", "files": {}},
    "argv": [],
    "ns2": {"build_id": "b", "backend": "native", "binary_sha256": None},
    "started": "2024-01-01T00:00:00+00:00",
    "wall_s": 1.5,
    "cpu_s": None,
    "max_rss_kib": None,
    "exit_status": 0,
    "ns2_report": "",
    "label": "Reno",
}


def _finish(run_dir: Path, **changes: Any) -> Path:
    """Write a run.json for the files in out/."""
    outputs = {
        f"out/{path.name}": {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "bytes": path.stat().st_size,
        }
        for path in sorted((run_dir / "out").iterdir())
    }
    record = {"schema_version": RUN_VERSION, **RECORD, "outputs": outputs, **changes}
    (run_dir / "run.json").write_text(json.dumps(record))
    return run_dir


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "one[1]*"  # signs of a pattern, which the name of a folder may have
    (folder / "out").mkdir(parents=True)
    for name, text in FILES.items():
        (folder / "out" / name).write_text(text)
    return _finish(folder)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_all_files_of_a_table_are_in_it_by_flow_and_time(run_dir: Path) -> None:
    first = write_tables(run_dir, OUTPUTS)["tables"]
    assert load_table(run_dir, "cwnd").collect().rows() == [
        (0.0, 0, 1.0),
        (0.01, 0, 2.0),
        (0.0, 1, 5.0),
    ]
    assert load_table(run_dir, "queue").collect().rows() == [
        (0.0, "bottleneck", 0, 0),
        (0.01, "bottleneck", 3, 1),
    ]
    shutil.rmtree(run_dir / "tables")
    assert write_tables(run_dir, OUTPUTS)["tables"] == first  # in equal bytes


def test_the_manifest_says_what_is_there_and_what_from(run_dir: Path) -> None:
    manifest = write_tables(run_dir, OUTPUTS)
    assert manifest == {
        "schema_version": 1,
        "run_json_sha256": _sha256(run_dir / "run.json"),
        "outputs": OUTPUTS,
        "tables": {
            name: {
                "rows": rows,
                "sha256": _sha256(run_dir / "tables" / f"{name}.parquet"),
                "schema": f"{name}/1",
            }
            for name, rows in (("cwnd", 3), ("queue", 2))
        },
    }
    assert json_of(run_dir / "tables" / "manifest.json", "a manifest") == manifest
    assert sorted(path.name for path in (run_dir / "tables").iterdir()) == [
        "cwnd.parquet",
        "manifest.json",
        "queue.parquet",
    ]


def test_current_tables_are_left_alone(run_dir: Path) -> None:
    first = write_tables(run_dir, OUTPUTS)
    shutil.rmtree(run_dir / "out")  # so they could not be made again
    assert write_tables(run_dir, OUTPUTS) == first


def _lost_table(run_dir: Path) -> list[dict[str, Any]]:
    (run_dir / "tables" / "cwnd.parquet").unlink()
    return OUTPUTS


def _broken_manifest(run_dir: Path) -> list[dict[str, Any]]:
    (run_dir / "tables" / "manifest.json").write_text('{"schema_version": 1, "tab')
    return OUTPUTS


def _other_schema(run_dir: Path) -> list[dict[str, Any]]:
    path = run_dir / "tables" / "manifest.json"
    path.write_text(path.read_text().replace("cwnd/1", "cwnd/0"))
    return OUTPUTS


@pytest.mark.parametrize("change", [_lost_table, _broken_manifest, _other_schema])
def test_tables_that_are_not_current_are_made_anew(run_dir: Path, change: Any) -> None:
    write_tables(run_dir, OUTPUTS)
    cwnd, queue = (run_dir / "tables" / f"{name}.parquet" for name in ("cwnd", "queue"))
    before, other = cwnd.stat().st_ino, queue.stat().st_ino
    outputs = change(run_dir)
    manifest = write_tables(run_dir, outputs)
    assert cwnd.stat().st_ino != before
    assert (queue.stat().st_ino == other) == (change is _lost_table)
    assert manifest["outputs"] == outputs
    assert manifest["tables"]["cwnd"]["schema"] == "cwnd/1"


def test_tables_of_another_record_are_made_anew(run_dir: Path) -> None:
    first = write_tables(run_dir, OUTPUTS)
    _finish(run_dir, wall_s=9)
    second = write_tables(run_dir, OUTPUTS)
    assert second["run_json_sha256"] == _sha256(run_dir / "run.json") != first["run_json_sha256"]
    assert second["tables"] == first["tables"]


def test_studies_that_read_different_outputs_of_a_run_are_both_served(run_dir: Path) -> None:
    flow_1, flow_0, queue = OUTPUTS
    write_tables(run_dir, [flow_0])
    both = write_tables(run_dir, [flow_1, queue])
    assert set(both["tables"]) == {"cwnd", "queue"}
    assert both["tables"]["cwnd"]["rows"] == 3
    # Each gets the tables that it asked for, and no others; neither rebuilds those of the other.
    assert load_table(run_dir, "cwnd", [flow_0]).collect()["cwnd_pkts"].to_list() == [1, 2]
    assert load_table(run_dir, "cwnd", [flow_1]).collect()["cwnd_pkts"].to_list() == [5]
    before = (run_dir / "tables" / "cwnd.parquet").stat().st_ino
    for outputs in ([flow_0], [flow_1, queue], OUTPUTS):
        assert write_tables(run_dir, outputs)["tables"] == both["tables"]
        assert holds_outputs(run_dir, outputs)
    assert (run_dir / "tables" / "cwnd.parquet").stat().st_ino == before


def test_a_table_of_another_file_is_made_anew(run_dir: Path) -> None:
    # Another study may take the table of flow 0 from a different file.
    other = {**OUTPUTS[1], "file": "cwnd_hstcp1.out"}
    write_tables(run_dir, [OUTPUTS[1]])
    assert not holds_outputs(run_dir, [other])
    write_tables(run_dir, [other])
    assert load_table(run_dir, "cwnd").collect()["cwnd_pkts"].to_list() == [5]
    assert not holds_outputs(run_dir, [OUTPUTS[1]])


def test_a_table_that_cannot_be_extended_is_not_there(run_dir: Path) -> None:
    write_tables(run_dir, OUTPUTS[1:])
    (run_dir / "out" / "cwnd_hstcp1.out").write_text("0.00 5 \n0.0")
    before = _sha256(run_dir / "run.json")
    with pytest.raises(BdpbenchError, match="has changed since the run"):
        write_tables(run_dir, OUTPUTS)
    manifest = run_dir / "tables" / "manifest.json"
    _finish(run_dir)  # as if the output had been damaged while the run was parsed
    manifest.write_text(manifest.read_text().replace(before, _sha256(run_dir / "run.json")))
    with pytest.raises(BdpbenchError, match="the last line was cut off"):
        write_tables(run_dir, OUTPUTS)
    assert not holds_outputs(run_dir, [OUTPUTS[1]])


def test_what_a_run_has_reduced_is_a_table_as_it_is(run_dir: Path) -> None:
    rows = pl.DataFrame({"flow": [0, 1], "packets": [7, 9]})
    rows.write_parquet(run_dir / "out" / "x.flows.parquet")
    outputs = [{"file": "x.flows.parquet", "table": "packet_flows"}]
    facts = write_tables(_finish(run_dir), outputs)["tables"]["packet_flows"]
    assert facts["rows"] == 2
    assert load_table(run_dir, "packet_flows").collect().rows() == rows.rows()


def test_a_damaged_output_leaves_no_manifest_and_no_scratch_file(run_dir: Path) -> None:
    (run_dir / "out" / "queue.out").write_text("0.00 0 0\n0.0")
    _finish(run_dir)
    with pytest.raises(BdpbenchError, match=r"queue\.out:2: the last line was cut off"):
        write_tables(run_dir, OUTPUTS)
    assert [path.name for path in (run_dir / "tables").iterdir()] == ["cwnd.parquet"]
    with pytest.raises(BdpbenchError, match="no such file: expected the manifest"):
        load_table(run_dir, "cwnd")


def test_packets_keep_the_order_of_the_trace(run_dir: Path) -> None:
    line = "{} 0 1 tcp 40 ------- {} 2.0 3.0 0 0\n"
    (run_dir / "out" / "pckts.trq").write_text(line.format("+ 0.1", 1) + line.format("r 0.2", 0))
    _finish(run_dir)
    write_tables(run_dir, [{"file": "pckts.trq", "table": "packets"}])
    assert load_table(run_dir, "packets").collect()["flow"].to_list() == [1, 0]


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        ([{"file": "a.out", "table": "cwmd", "flow": 0}], "output a.out: unknown table 'cwmd'"),
        ([{"table": "cwnd", "flow": 0}], "names no file"),
        ([OUTPUTS[0], {**OUTPUTS[0], "file": "b"}], "flow 1 of table cwnd comes from cwnd_hstcp1"),
        ([{"file": "queue.out", "table": "queue"}], "table queue takes a link, got neither"),
        ([{"file": "util.out", "table": "utilization", "link": "b"}], "records no output out/util"),
    ],
)
def test_outputs_that_make_no_tables_are_refused(
    run_dir: Path, outputs: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(BdpbenchError, match=said):
        write_tables(run_dir, outputs)


CHANGES = {
    # Cut at the end of a line, so that checking the lines cannot find it.
    "the file has changed since the run": lambda path: path.write_text("0.00 0 0\n"),
    "the run wrote this file, and it is gone": Path.unlink,
}


@pytest.mark.parametrize("said", CHANGES)
def test_a_run_of_which_a_needed_output_is_damaged_or_gone_counts_as_not_run(
    run_dir: Path, said: str
) -> None:
    write_tables(run_dir, OUTPUTS[:2])
    CHANGES[said](run_dir / "out" / "queue.out")
    write_tables(run_dir, OUTPUTS[:2])  # which does not need it
    with pytest.raises(BdpbenchError, match=rf"queue\.out: {said}"):
        write_tables(run_dir, OUTPUTS)
    assert read_run(run_dir) is None
    assert said in (run_dir / "error.txt").read_text()


def test_a_run_without_run_json_did_not_happen(run_dir: Path) -> None:
    (run_dir / "run.json").unlink()
    with pytest.raises(BdpbenchError, match="is not a finished run"):
        write_tables(run_dir, OUTPUTS)


def test_a_table_that_the_run_does_not_have_is_told(run_dir: Path) -> None:
    write_tables(run_dir, OUTPUTS)
    with pytest.raises(BdpbenchError, match="no table 'packets'; it has cwnd, queue"):
        load_table(run_dir, "packets")
    with pytest.raises(BdpbenchError, match="unknown table 'packet'"):
        load_table(run_dir, "packet")


def _cut_table(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def _older_schema(path: Path) -> None:
    manifest = path.with_name("manifest.json")
    told = re.sub(r'\A{\n "sha256": "\w+",\n', "{\n", manifest.read_text())
    manifest.write_text(told.replace("cwnd/1", "cwnd/0"))


@pytest.mark.parametrize("damage", [_cut_table, _older_schema, Path.unlink])
def test_a_table_that_is_not_current_is_made_again_when_it_is_loaded(
    run_dir: Path, damage: Callable[[Path], object]
) -> None:
    write_tables(run_dir, OUTPUTS)
    path = run_dir / "tables" / "cwnd.parquet"
    before = path.read_bytes()
    damage(path)
    assert load_table(run_dir, "cwnd").collect()["cwnd_pkts"].to_list() == [1, 2, 5]
    assert path.read_bytes() == before
    assert load_table(run_dir, "queue").collect().height == 2


def test_a_table_whose_outputs_are_gone_too_is_told(run_dir: Path) -> None:
    write_tables(run_dir, OUTPUTS)
    shutil.rmtree(run_dir / "out")
    assert load_table(run_dir, "cwnd").collect().height == 3
    _cut_table(run_dir / "tables" / "cwnd.parquet")
    with pytest.raises(BdpbenchError, match="the run wrote this file, and it is gone"):
        load_table(run_dir, "cwnd")
    assert read_run(run_dir) is None
