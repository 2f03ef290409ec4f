"""Functions that run the Tcl scripts in the real ns-2 and read their output."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.forks import Forks

Run = Callable[..., "subprocess.CompletedProcess[str]"]
RunOk = Callable[..., Path]
Built = Callable[..., list[str]]
Columns = Callable[[Path], list[list[float]]]
Facts = Callable[[Path], dict[str, tuple[float, str]]]
Arguments = Mapping[str, object]
Keys = Callable[[str, Arguments], set[str]]
Outputs = Callable[..., dict[str, bytes]]
Refused = Callable[..., str]


def argv(*changes: Arguments) -> list[str]:
    """Pairs ``-key value``; later ones replace earlier ones, and None removes a key."""
    pairs: dict[str, object] = {}
    for change in changes:
        pairs.update(change)
    return [word for k, v in pairs.items() if v is not None for word in (f"-{k}", str(v))]


def flows(*each: Arguments) -> dict[str, object]:
    """Arguments of flows: SACK from 0 s on, 1 ms to the router, unless given otherwise."""
    sack = {"agent": "TCP/Sack1", "sink": "TCPSink/Sack1", "start_s": 0, "access_delay_ms": 1}
    pairs: dict[str, object] = {"flows": len(each)}
    for fid, own in enumerate(each):
        pairs |= {f"flow.{fid}.{key}": value for key, value in {**sack, **own}.items()}
    return pairs


# The same path for network.tcl; a DropTail limit of 41 holds 40 packets.
NETWORK: Arguments = {
    "duration_s": 4,
    "links": 1,
    "link.0.mbps": 8,
    "link.0.delay_ms": 18,
    "link.0.queue": "DropTail",
    "link.0.queue.limit_": 41,
    "default.Agent/TCP.window_": 10000,
    "datadir": "out",
}


def network_flows(*each: Arguments) -> dict[str, object]:
    """The same for flows of network.tcl: access links of 100 Mbit/s, 1 ms to the receiver."""
    own = {"access_mbps": 100, "receiver_delay_ms": 1}
    return flows(*({**own, **flow} for flow in each))


@pytest.fixture(scope="session")
def tcl_root() -> Path:
    return Path(__file__).resolve().parent.parent.parent / "tcl"


@pytest.fixture(scope="session")
def ns(forks: Callable[[Path], Forks], ns_binary: Path) -> Forks:
    """The ns-2 under test."""
    return forks(ns_binary)


@pytest.fixture
def run_ns(ns: Forks, tcl_root: Path, tmp_path: Path) -> Run:
    """Run a script in tmp_path; relative paths start from tcl/."""

    def run(script: str | Path, *args: object) -> subprocess.CompletedProcess[str]:
        return ns.completed([str(tcl_root / script), *map(str, args)], tmp_path)

    return run


@pytest.fixture
def run_ok(run_ns: Run, tmp_path: Path) -> RunOk:
    """Run a script that must succeed; creates and returns its folder, tmp_path/<out>."""

    def run(script: str | Path, *args: object, out: str = "out") -> Path:
        (tmp_path / out).mkdir(exist_ok=True)
        done = run_ns(script, *args)
        assert done.returncode == 0, done.stderr
        return tmp_path / out

    return run


@pytest.fixture
def built(ns: Forks, tcl_root: Path, tmp_path: Path) -> Built:
    """Let a script build its network and, instead of running it, query it in Tcl.

    Returns the lines that the query printed. Nodes are 0 and 1 (the routers), then each flow's
    sender and receiver.
    """

    def ask(question: str, script: str, *args: object) -> list[str]:
        driver = tmp_path / "driver.tcl"
        driver.write_text(
            f"""
            Simulator instproc run {{}} {{
                set ns $self
                {question}
                exit 0
            }}
            source "{tcl_root / script}"
            """
        )
        (tmp_path / "out").mkdir(exist_ok=True)
        done = ns.completed([str(driver), *map(str, args)], tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return ask


# The keys in the tables of a script and of the files that it sources.
KEYS = """
foreach space [namespace children ::] {
    foreach table [info vars ${space}::*keys] {
        foreach row [set $table] {
            puts "key [expr {$space eq {::flows} ? {flow.0.} : {}}][lindex $row 0]"
        }
    }
}
"""


@pytest.fixture
def keys_of(built: Built) -> Keys:
    """The keys that a script knows; keys of flows are listed for flow 0."""

    def ask(script: str, arguments: Arguments) -> set[str]:
        lines = built(KEYS, script, *argv(arguments))
        keys = {line.removeprefix("key ") for line in lines if line.startswith("key ")}
        return {*keys, "duration_s", "datadir", "flows"}

    return ask


@pytest.fixture(scope="session")
def outputs(ns: Forks, tcl_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    """The files that a script writes with some arguments: name -> bytes."""

    @functools.cache
    def write(script: str, *args: str) -> dict[str, bytes]:
        folder = tmp_path_factory.mktemp("outputs")
        (folder / "out").mkdir()
        done = ns.completed([str(tcl_root / script), *args], folder)
        assert done.returncode == 0, done.stderr
        return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}

    return write


@pytest.fixture
def refused(run_ns: Run, tmp_path: Path) -> Refused:
    """Run a script that must refuse its arguments and write nothing; returns its message."""

    def run(script: str, *args: object) -> str:
        (tmp_path / "out").mkdir(exist_ok=True)
        done = run_ns(script, *args)
        assert done.returncode == 1
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        start = f"error: {Path(script).name}: "
        assert line.startswith(start)
        assert list((tmp_path / "out").iterdir()) == []
        return line.removeprefix(start)

    return run


@pytest.fixture(scope="session")
def columns() -> Columns:
    """Read an output file as rows of numbers."""

    def read(path: Path) -> list[list[float]]:
        return [[float(word) for word in line.split()] for line in path.read_text().splitlines()]

    return read


@pytest.fixture(scope="session")
def facts() -> Facts:
    """Read the facts in a report.txt: key -> (value, unit); comments are left out."""

    def read(path: Path) -> dict[str, tuple[float, str]]:
        found = {}
        for line in path.read_text().splitlines():
            words = line.split()
            if len(words) == 3 and words[1].replace(".", "", 1).isdigit():
                found[words[0]] = (float(words[1]), words[2])
        return found

    return read
