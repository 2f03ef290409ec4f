"""A few of ns-2's own scripts: their traces are analysed with equal counts, or refused by name."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.needs import validation_suite
from tests.waiting import HANGS_S

from bdpbench.metrics.packets import COLUMNS, sum_packets
from bdpbench.trace import open_trace

from .coverage import judge

Written = Callable[..., Path]

# A script of ns-2's suite or examples, its arguments, the file that it writes, and its line forms.
TRACES = (
    ("test/test-suite-sctp.tcl", ("sctp-AMR-Exceeded", "QUIET"), "temp.rands", "SCTP"),
    ("test/test-suite-smac.tcl", ("unicast6", "QUIET"), "temp.rands", "old wireless"),
    ("test/test-suite-testReno.tcl", ("Tahoe_TCP", "QUIET"), "all.tr", "wired, TCP events"),
    ("test/test-suite-tagged-trace.tcl", ("wireless", "QUIET"), "temp.rands", "tagged wireless"),
    ("ex/udpdata.tcl", (), "out.tr", "wired, exact annotation"),
    ("ex/srm.tcl", (), "out.tr", "wired, annotation"),
    (
        "ex/diffusion3/simple-diffusion.tcl",
        (),
        "diffusion.tr",
        "old wireless, scenario, title",
    ),
)


@pytest.fixture(scope="module")
def written(ns_binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The folder in which a script from ns-2's ``tcl`` folder has run."""
    root = validation_suite().root / "tcl"

    def run(script: str, *arguments: str) -> Path:
        folder = tmp_path_factory.mktemp("ns2")
        own = root / Path(script).parent
        place = folder / "tcl" / Path(script).parent
        place.parent.mkdir(parents=True)
        shutil.copytree(own, place, ignore=shutil.ignore_patterns("test-output-*"))
        for each in root.iterdir():
            if not (folder / "tcl" / each.name).exists():
                (folder / "tcl" / each.name).symlink_to(each)
        (folder / "bin").symlink_to(root.parent / "bin")
        command = [str(ns_binary), Path(script).name, *arguments]
        subprocess.run(command, cwd=place, capture_output=True, check=False, timeout=HANGS_S)
        return place

    return run


@pytest.mark.parametrize(("script", "arguments", "file", "form"), TRACES)
def test_counts_of_a_trace_of_ns2(
    written: Written, script: str, arguments: tuple[str, ...], file: str, form: str
) -> None:
    verdict = judge(written(script, *arguments) / file)
    assert (verdict.kind, verdict.form) == ("confirmed", form), verdict.words


def test_each_receiver_of_srm(written: Written) -> None:
    path = written("ex/srm.tcl") / "out.tr"
    sums = sum_packets(open_trace(path).batches(COLUMNS))
    came: set[tuple[str, ...]] = set()
    for line in path.read_text().splitlines():
        words = line.split()
        if words[0] == "r" and words[9].startswith("1073741824."):
            came.add((words[3], words[8], words[9], words[11]))
    expected = Counter(int(node) for node, *_ in came)
    rows = sums.receivers.group_by("node").agg(pl.col("received_pkts").sum())
    assert dict(rows.iter_rows()) == expected
    assert sum(expected.values()) > 0


def test_each_layer_of_each_node_of_diffusion(written: Written) -> None:
    path = written("ex/diffusion3/simple-diffusion.tcl") / "diffusion.tr"
    sums = sum_packets(open_trace(path).batches(COLUMNS))
    lines = re.findall(r"^([srDf]) \S+ _(\d+)_ (\w+) ", path.read_text(), re.MULTILINE)
    expected = Counter((int(node), layer, event) for event, node, layer in lines)
    names = {"sent_pkts": "s", "received_pkts": "r", "forwarded_pkts": "f", "dropped_pkts": "D"}
    got = {
        (row["node"], row["layer"], event): row[column]
        for row in sums.nodes.iter_rows(named=True)
        for column, event in names.items()
        if row[column]
    }
    assert got == expected
