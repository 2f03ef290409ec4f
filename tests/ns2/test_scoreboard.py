"""TCP/Linux's scoreboard with stretches has the same content as the original of ns-2's archive."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
NS2 = HERE.parent.parent / "ns2"
PATCH = NS2 / "patches" / "speed" / "scoreboard-stretches.patch"
NAMES = ("scoreboard1.cc", "scoreboard1.h")

# All that the scoreboard uses of ns-2's own headers.
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


def test_both_boards_hold_the_same(scoreboards: Path, tmp_path: Path) -> None:
    plain, fast = tmp_path / "plain", tmp_path / "fast"
    plain.mkdir()
    for name in NAMES:
        shutil.copy(scoreboards / name, plain)
    shutil.copytree(plain, tmp_path / "patched" / "tcp")
    subprocess.run(
        ["patch", "-d", tmp_path / "patched", "-p1", "--fuzz=0", "--batch", "-i", PATCH],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    (tmp_path / "patched" / "tcp").rename(fast)
    for name, text in HEADERS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    binary = tmp_path / "scoreboard_test"
    folders = [f"-I{each}" for each in (tmp_path, fast, NS2 / "speed", HERE)]
    sources = [HERE / "speed" / "scoreboard_test.cc", NS2 / "speed" / "scoreboard_stretch.cc"]
    compiler = ["g++", "-std=gnu++98", "-fpermissive", "-w", "-O1"]
    subprocess.run([*compiler, *folders, *map(str, sources), "-o", str(binary)], check=True)
    done = subprocess.run([str(binary)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0)
