"""A few of ns-2's own scripts: their traces are analysed with equal counts, or refused by name."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.needs import validation_suite
from tests.waiting import HANGS_S

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
