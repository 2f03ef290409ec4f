"""The scoreboards of SACK senders hold the same as the originals of ns-2's archive."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.compiled import compiled

HERE = Path(__file__).parent
NS2 = HERE.parent.parent / "ns2"
PATCHES = NS2 / "patches" / "speed"

# All that TCP/Linux's scoreboard uses of ns-2's own headers.
HEADERS = {
    "tcp.h": """#pragma once
#include <stddef.h>
enum { NSA = 3 };
struct hdr_tcp {
	int ack, sa_length_, sack_area_[NSA][2];
	int& sa_left(int i) { return sack_area_[i][0]; }
	int& sa_right(int i) { return sack_area_[i][1]; }
	int& sa_length() { return sa_length_; }
};
""",
    "linux/ns-linux-util.h": """#pragma once
enum { FLAG_DATA_SACKED = 2, FLAG_DATA_LOST = 8, FLAG_UNSURE_TSTAMP = 16 };
""",
}


def plain_and_fast(folder: Path, originals: Path, patch: str, *names: str) -> None:
    """Put files of ns-2's folder tcp/ into folder/plain, and patched ones into folder/fast."""
    (folder / "plain").mkdir()
    for name in names:
        shutil.copy(originals / name, folder / "plain")
    shutil.copytree(folder / "plain", folder / "patched" / "tcp")
    subprocess.run(
        ["patch", "-d", folder / "patched", "-p1", "--fuzz=0", "--batch", "-i", PATCHES / patch],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    (folder / "patched" / "tcp").rename(folder / "fast")


def complaints(folder: Path, *sources: Path) -> tuple[str, int]:
    """Compile a test program and run it; returns its output and its exit status."""
    folders = [f"-I{each}" for each in (folder, folder / "fast", NS2 / "speed", HERE)]
    compiler = ["g++", "-std=gnu++98", "-fpermissive", "-w", "-O1"]
    binary = compiled([*compiler, *folders, *sources], folder / "test")
    done = subprocess.run([str(binary)], capture_output=True, text=True, check=False)
    return done.stdout, done.returncode


def test_both_boards_hold_the_same(scoreboards: Path, tmp_path: Path) -> None:
    names = ("scoreboard1.cc", "scoreboard1.h")
    plain_and_fast(tmp_path, scoreboards, "scoreboard-stretches.patch", *names)
    for name, text in HEADERS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    stretches = NS2 / "speed" / "scoreboard_stretch.cc"
    assert complaints(tmp_path, HERE / "speed" / "scoreboard_test.cc", stretches) == ("", 0)


def test_both_lists_of_segments_hold_the_same(scoreboards: Path, tmp_path: Path) -> None:
    names = ("rq.cc", "rq.h", "scoreboard-rq.cc")
    plain_and_fast(tmp_path, scoreboards, "reassembly-search.patch", *names)
    assert complaints(tmp_path, HERE / "speed" / "reassembly_test.cc") == ("", 0)
