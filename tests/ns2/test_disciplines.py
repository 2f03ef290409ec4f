"""Queue/Discipline does what a queue of ns-2 with the same rules does, and tells what is wrong."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.compiled import compiled as kept
from tests.data_of import data_of
from tests.ns2.conftest import Script

from bdpbench.app.beginning import begin
from bdpbench.contracts.paths import tcl_dir
from bdpbench.simulation.backend import NativeBackend
from bdpbench.simulation.build import current_build_id, libraries_dir, loads_libraries
from bdpbench.simulation.libraries import compile_folder
from bdpbench.studies.load import folders_of, load_study
from bdpbench.studies.runs import expand_tier

ROOT = Path(__file__).resolve().parent.parent.parent
LAWS = ROOT / "ns2" / "laws"
COMPILE = ["g++", "-std=gnu++17", "-O0", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]


_DATA = data_of(__file__)
PATH = _DATA["path"]

FIFO = _DATA["fifo"]

# The law of Queue/CoDel in the words of a user's discipline.
CODEL = _DATA["codel"]
WRONG = _DATA["wrong"]


def fifo(**parts: str) -> str:
    text = FIFO
    for name in ("BEFORE", "CONSTRUCTOR", "ENQUEUE", "DEQUEUE", "WOKEN"):
        text = text.replace(name, parts.get(name.lower(), ""))
    return text


def compiled(text: str, folder: Path, *more: Path) -> Path:
    source, library = folder / "discipline.cc", folder / "discipline.so"
    source.write_text(text)
    return kept([*COMPILE, f"-I{LAWS}", source, *more], library)


def traced(
    tcl: Script, trace: Path, kind: str, limit: int, *settings: object, ecn: int = 0, s: float = 8
) -> tuple[str, bytes]:
    done = tcl(PATH, kind, limit, ecn, s, trace, *settings)
    assert done.returncode == 0, done.stderr
    return done.stdout, trace.read_bytes()


def test_a_plain_queue_does_what_droptail_does(tcl: Script, tmp_path: Path) -> None:
    library = compiled(fifo(), tmp_path)
    ours = traced(tcl, tmp_path / "1.tr", "Discipline", 30, "discipline_", library)
    # ns-2's DropTail has room for one packet less than its limit.
    theirs = traced(tcl, tmp_path / "2.tr", "DropTail", 31)
    assert b"\nd " in ours[1]
    assert ours == theirs


@pytest.mark.parametrize("ecn", [0, 1])
def test_codel_as_a_folder_does_what_the_one_of_ns2_does(
    tcl: Script, tmp_path: Path, ecn: int
) -> None:
    library = compiled(CODEL, tmp_path, LAWS / "codel.cc")
    settings = ["target_", 0.005, "interval_", 0.1, "packet_bytes_", 1040, "setbit_", ecn]
    own = [*settings, "discipline_", library]
    ours = traced(tcl, tmp_path / "1.tr", "Discipline", 100, *own, ecn=ecn)
    theirs = traced(tcl, tmp_path / "2.tr", "CoDel", 100, *settings, ecn=ecn)
    assert b"\nd " in ours[1]
    assert bool(re.search(rb" tcp 1040 ....E", ours[1])) == bool(ecn)
    assert ours == theirs


def test_a_shaper_wakes_up_and_sends_at_its_rate(tcl: Script, tmp_path: Path) -> None:
    # One packet at most each 5 ms, though the link could carry six in that time.
    shaper = fifo(
        dequeue="if (queue.now_s() < value_) { queue.wake_at(value_); return nullptr; }"
        "if (!packets_.empty()) value_ = queue.now_s() + 0.005;"
    )
    library = compiled(shaper, tmp_path)
    told, _ = traced(tcl, tmp_path / "1.tr", "Discipline", 30, "discipline_", library)
    departed = float(dict(line.split() for line in told.splitlines())["departed"])
    assert departed == pytest.approx(8 / 0.005, rel=0.03)


@pytest.mark.parametrize(("parts", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_a_discipline_does_wrong_ends_with_a_sentence(
    tcl: Script, tmp_path: Path, parts: dict[str, str], message: str
) -> None:
    library = compiled(fifo(**parts), tmp_path)
    done = tcl(PATH, "Discipline", 30, 0, 3, tmp_path / "1.tr", "discipline_", library)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.startswith("ns: queue ")


def test_a_queue_without_a_discipline_says_so(tcl: Script, tmp_path: Path) -> None:
    done = tcl(PATH, "Discipline", 30, 0, 1, tmp_path / "1.tr")
    assert done.returncode == 1
    assert "has no discipline: set discipline_ before the first packet" in done.stderr


def test_the_study_of_a_new_queue_runs_and_its_marks_are_counted(
    ns_binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its library is found below a folder with letters outside ASCII, in the C locale as well."""
    begin("queue", tmp_path / "mine")
    study = load_study(tmp_path / "mine")
    (queue,) = folders_of(study)
    compile_folder(queue)
    made = shutil.copytree(libraries_dir(), tmp_path / "ü b")
    monkeypatch.setattr("bdpbench.simulation.build.libraries_dir", lambda: made)
    run = next(each for each in expand_tier(study, "quick") if loads_libraries(each["argv"]))
    (tmp_path / "out").mkdir()
    native = NativeBackend(current_build_id("fast"))
    command = native.command(tmp_path, tcl_dir() / run["script"], run["argv"])
    done = subprocess.run(
        command.words,
        cwd=tmp_path,
        env={**os.environ, "LC_ALL": "C", **command.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = (line.split() for line in (tmp_path / "out" / "report.txt").read_text().splitlines())
    facts = {line[0]: line[1] for line in lines if line}
    assert float(facts["link.bottleneck.marks"]) > 0
    assert float(facts["link.bottleneck.drops"]) == 0
