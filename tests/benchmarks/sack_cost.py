"""Cost of ns-2's scoreboards per ACK of a loss recovery, for ``tests/ns2/test_sack_cost.py``.

ns-2 has two. Agent/TCP/Fack uses an array with an entry for each packet in flight, Agent/TCP/Sack1
a list of the blocks that have arrived. The benchmark counts the basic blocks that an ACK executes,
not seconds: how this count grows with the window and with the losses depends on the algorithms
alone, not on the machine.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.compiled import compiled

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "ns2" / "build.sh"
SOURCES = ("scoreboard.cc", "scoreboard-rq.cc", "rq.cc")
NAMES = (*SOURCES, "scoreboard.h", "scoreboard-rq.h", "rq.h")

# All that the scoreboards use of ns-2's tcp.h: the SACK blocks of an ACK.
TCP_H = """#pragma once
struct hdr_tcp {
	int left[3], right[3], count;
	int& sa_left(int i) { return left[i]; }
	int& sa_right(int i) { return right[i]; }
	int& sa_length() { return count; }
};
"""


@dataclass(frozen=True)
class Cost:
    """One recovery: its ACKs, and the basic blocks executed per ACK, mean and maximum."""

    acks: int
    mean: float
    most: int


def sources(folder: Path, names: Sequence[str] = NAMES) -> None:
    """Extract the scoreboards from the pinned archive of ns-2 into a folder."""
    done = subprocess.run(
        ["bash", str(BUILD), "--print-source"], capture_output=True, text=True, check=True
    )
    wanted = [f"ns-2.35/tcp/{name}" for name in names]
    archive = done.stdout.strip().splitlines()[-1]
    # tar stops after the last of these files, which are near the end of the archive.
    command = ["tar", "-xf", archive, "--occurrence=1", "--strip-components=2", *wanted]
    subprocess.run(command, cwd=folder, check=True)


def program(folder: Path) -> Path:
    """Compile the experiment beside its sources; only the scoreboards' code is instrumented."""
    (folder / "tcp.h").write_text(TCP_H)
    compiler = ["g++", "-std=gnu++98", "-fpermissive", "-w", "-O1", f"-I{folder}"]
    objects = []
    for source in (*(folder / name for name in SOURCES), HERE / "sack_cost.cc"):
        counted = ["-fsanitize-coverage=trace-pc"] if source.parent == folder else []
        command = [*compiler, *counted, "-c", source]
        objects.append(compiled(command, folder / f"{source.stem}.o"))
    return compiled(["g++", *objects], folder / "sack_cost")


def cost(binary: Path, board: str, packets: int, losses: int) -> Cost:
    """Cost of recovering the losses in a window; ``board`` is "array" or "queue"."""
    command = [str(binary), board, str(packets), str(losses)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    acks, mean, most = done.stdout.split()
    return Cost(int(acks), float(mean), int(most))
