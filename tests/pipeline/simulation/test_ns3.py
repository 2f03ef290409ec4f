"""The program of ns-3: what it refuses, what it writes, and how it agrees with ns-2."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.data_of import data_of
from tests.needs import leave_out
from tests.waiting import HANGS_S

from bdpbench.contracts.files import sha256_of
from bdpbench.errors import BdpbenchError
from bdpbench.simulation import ns3_backend
from bdpbench.simulation.ns3_backend import Ns3Backend, require_ns3
from bdpbench.studies.engines import COUNTERPARTS

ARGUMENTS = {
    "duration_s": "8",
    "sample_s": "0.1",
    "queue_sample_s": "0.1",
    "seed": "9999",
    "substream": "1",
    "packet_bytes": "1000",
    "window_pkts": "1000",
    "default.TcpSocketBase.Timestamp": "false",
    "links": "1",
    "link.0.mbps": "5",
    "link.0.delay_ms": "8",
    "link.0.holds_pkts": "20",
    "flows": "1",
    "flow.0.sender": "TcpLinuxReno",
    "flow.0.start_s": "0.5",
    "flow.0.access_mbps": "50",
    "flow.0.access_delay_ms": "1",
    "flow.0.receiver_delay_ms": "1",
}


@pytest.fixture(scope="module")
def program() -> Path:
    try:
        require_ns3()
    except BdpbenchError:
        leave_out("no ns-3.37", ns3_backend.NS3_PACKAGES)
    backend = Ns3Backend()
    backend.build()
    return Path(backend.command(Path(), Path(), []).words[0])


def _run(program: Path, folder: Path, **changed: str | None) -> subprocess.CompletedProcess[str]:
    """Run it with arguments changed; a name has ``__`` for a dot, and None leaves one out."""
    given: dict[str, str | None] = {**ARGUMENTS, "datadir": str(folder)}
    given |= {name.replace("__", "."): value for name, value in changed.items()}
    words = [
        word for key, value in given.items() if value is not None for word in (f"-{key}", value)
    ]
    return subprocess.run(
        [program, *words], capture_output=True, text=True, timeout=HANGS_S, check=False
    )


def _facts(folder: Path) -> dict[str, float]:
    rows = [line.split() for line in (folder / "report.txt").read_text().splitlines()]
    return {name: float(value) for name, value, _ in rows}


def test_packets_have_ns2s_size_on_the_wire_and_none_is_forgotten(
    program: Path, tmp_path: Path
) -> None:
    done = _run(program, tmp_path, flow__0__packets="2000")
    assert done.returncode == 0, done.stderr
    facts = _facts(tmp_path)
    kind, subject, start, end, size = (tmp_path / "transfers.out").read_text().split()
    assert (kind, subject, start, size) == ("flow", "flow:0", "0.500000", "2000000")
    # 2,000 packets of 1,040 bytes at 5 Mbit/s take 3.33 s, after a handshake of 20 ms.
    assert 3.85 < float(end) < 4.2
    # Beside the packets only the handshake, with its options: 40 to 80 bytes each way.
    assert 80 <= facts["flow.0.total_bytes"] % 1040 <= 120


def test_one_flow_fills_the_link_and_its_files_have_all_samples(
    program: Path, tmp_path: Path
) -> None:
    assert _run(program, tmp_path).returncode == 0
    facts = _facts(tmp_path)
    assert facts["link.bottleneck.utilization"] > 99
    assert facts["flow.0.goodput"] == pytest.approx(5 * 1000 / 1040, rel=0.01)
    lines = {name: (tmp_path / name).read_text().splitlines() for name in ("queue.out", "util.out")}
    assert [len(each) for each in lines.values()] == [81, 80]
    assert lines["queue.out"][-1].startswith("8.00 ")
    assert max(int(line.split()[1]) for line in lines["queue.out"]) <= 20
    assert len((tmp_path / "tput_hstcp0.out").read_text().splitlines()) == 8
    # Before the flow starts, at 0.5 s, ns-2 samples a cwnd of one packet.
    rows = (tmp_path / "cwnd_hstcp0.out").read_text().splitlines()
    cwnd = [float(line.split()[1]) for line in rows]
    assert cwnd[:5] == [1] * 5


def test_random_losses_have_their_share_and_their_bursts(program: Path, tmp_path: Path) -> None:
    assert _run(program, tmp_path, link__0__loss_rate="0.02").returncode == 0
    facts = _facts(tmp_path)
    lost, passed = (facts[f"link.bottleneck.{each}"] for each in ("random_losses", "packets"))
    assert 0.008 < lost / (lost + passed) < 0.04
    assert facts["link.bottleneck.drops"] >= lost


RED = {"MinTh": "5", "MaxTh": "15", "LInterm": "10", "QW": "0.01", "MeanPktSize": "1040"}
QUEUES: dict[str, dict[str, str]] = {
    "RedQueueDisc": {**RED, "LinkBandwidth": "5Mbps", "LinkDelay": "8ms"},
    "CoDelQueueDisc": {"MinBytes": "1041"},
    "FqCoDelQueueDisc": {},
    "PieQueueDisc": {"MeanPktSize": "1040", "UseDequeueRateEstimator": "true"},
}


def _queue(kind: str, **attributes: str) -> dict[str, str | None]:
    given = {"MaxSize": "40p", "UseEcn": "false", **QUEUES[kind], **attributes}
    fair = {"link__0__quantum_bytes": "1040"} if kind == "FqCoDelQueueDisc" else {}
    return {
        "link__0__queue": kind,
        **{f"link__0__queue__{name}": value for name, value in given.items()},
        **fair,
    }


@pytest.mark.parametrize("kind", QUEUES)
def test_queues_that_manage_themselves_drop_before_they_are_full_and_mark_with_ecn(
    program: Path, tmp_path: Path, kind: str
) -> None:
    for folder in ("drops", "marks"):
        (tmp_path / folder).mkdir()
    assert _run(program, tmp_path / "drops", **_queue(kind)).returncode == 0
    facts = _facts(tmp_path / "drops")
    assert facts["link.bottleneck.total_drops"] > 1
    assert facts["link.bottleneck.marks"] == 0
    assert facts["flow.0.total_drops"] == facts["link.bottleneck.total_drops"]
    if kind == "RedQueueDisc":
        early, forced = (
            facts[f"link.bottleneck.{each}"] for each in ("early_drops", "forced_drops")
        )
        assert early + forced == facts["link.bottleneck.drops"]
    hard = {"UseHardDrop": "false"} if kind == "RedQueueDisc" else {}
    queue = _queue(kind, UseEcn="true", **hard)
    done = _run(program, tmp_path / "marks", **queue, flow__0__socket__UseEcn="On")
    assert done.returncode == 0, done.stderr
    marked = _facts(tmp_path / "marks")
    assert marked["link.bottleneck.marks"] > 0
    assert (
        marked["link.bottleneck.drops"] < facts["link.bottleneck.drops"]
        or not marked["link.bottleneck.drops"]
    )


def test_dctcp_keeps_a_queue_at_the_threshold_at_which_it_is_marked(
    program: Path, tmp_path: Path
) -> None:
    sharp = {"MinTh": "8", "MaxTh": "8.001", "QW": "1", "LInterm": "1", "Gentle": "false"}
    queue = _queue("RedQueueDisc", **sharp, UseEcn="true", UseHardDrop="false")
    dctcp = {"flow__0__sender": "TcpDctcp", "flow__0__socket__UseEcn": "On"}
    assert _run(program, tmp_path, **queue, **dctcp).returncode == 0
    facts = _facts(tmp_path)
    assert facts["link.bottleneck.utilization"] > 95
    assert facts["link.bottleneck.drops"] == 0
    # Reno halves cwnd for a mark; DCTCP needs many.
    assert facts["link.bottleneck.marks"] > 100
    lines = (tmp_path / "queue.out").read_text().splitlines()[40:]
    assert 3 < sum(int(line.split()[1]) for line in lines) / len(lines) < 11


@pytest.mark.parametrize(("loses", "resent"), [("30", 1), ("30 90", 2), ("1", 0)])
def test_packets_are_lost_by_their_numbers(
    program: Path, tmp_path: Path, loses: str, resent: int
) -> None:
    changed = {"link__0__holds_pkts": "4000", "duration_s": "2", "flow__0__start_s": "1"}
    assert _run(program, tmp_path, **changed, flow__0__loses=loses).returncode == 0
    facts = _facts(tmp_path)
    assert facts["link.bottleneck.total_drops"] == 0
    assert facts["flow.0.retransmissions"] == resent
    # A SYN is sent again after a second.
    assert (facts["flow.0.packets"] == 0) == (loses == "1")


def test_each_sender_that_planning_knows_is_there(program: Path, tmp_path: Path) -> None:
    for each in COUNTERPARTS.values():
        attributes = {f"flow__0__set__{name}": value for name, value in each.attributes.items()}
        changed = {"duration_s": "0.6", "flow__0__sender": each.sender, **attributes}
        done = _run(program, tmp_path, **changed)
        assert done.returncode == 0, f"{each.sender}: {done.stderr}"


@pytest.mark.parametrize(("changed", "says"), data_of(__file__)["refused"])
def test_a_wrong_argument_ends_it_with_a_sentence(
    program: Path, tmp_path: Path, changed: dict[str, str | None], says: str
) -> None:
    done = _run(program, tmp_path, **changed)
    assert done.returncode == 1
    assert says in done.stderr


def test_without_ns3_one_sentence_names_the_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("_HEADERS", "_LIBRARIES"):
        monkeypatch.setattr(ns3_backend, place, tmp_path)
    with pytest.raises(BdpbenchError, match=r"ns-3\.37 is not installed\n.*`apt-get install"):
        require_ns3()
    (tmp_path / "core-module.h").touch()
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "libns3-core.so.41").touch()
    with pytest.raises(BdpbenchError, match=r"those of ns-3\.37, and this machine has .*\.so\.41"):
        require_ns3()


def test_a_compilation_that_takes_too_long_is_stopped_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "bin" / "g++"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:/usr/bin:/bin")
    monkeypatch.setenv("BDPBENCH_HOME", str(tmp_path))
    monkeypatch.setattr(ns3_backend, "require_ns3", lambda: None)
    monkeypatch.setattr(ns3_backend, "_TIMEOUT_S", 0.2)
    with pytest.raises(BdpbenchError, match=r"was not compiled within 0\.2 s"):
        Ns3Backend().build()


@pytest.fixture
def compiler(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script to write, which is called in the place of the compiler; nothing is built so far."""
    path = tmp_path / "bin" / "g++"
    path.parent.mkdir()
    path.touch(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("BDPBENCH_HOME", str(tmp_path / "home"))
    return path


def test_a_build_has_its_facts(compiler: Path) -> None:
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho made > "$2"\n')
    backend = Ns3Backend()
    facts = backend.info()
    binary = Path(backend.command(Path(), Path(), []).words[0])
    assert binary.read_text() == "made\n"
    assert (facts["schema_version"], facts["variant"]) == (1, "ns-3.37")
    assert (facts["build_id"], facts["binary_sha256"]) == (backend.build_id, sha256_of(binary))
    assert facts["binary_bytes"] == 5


def test_a_program_that_does_not_compile_is_told_as_the_compiler_tells_it(compiler: Path) -> None:
    compiler.write_text(
        "#!/bin/sh\necho 'note: here' >&2; echo 'error: no such type' >&2; exit 1\n"
    )
    with pytest.raises(BdpbenchError, match="does not compile: error: no such type\n"):
        Ns3Backend().build()
    assert not Ns3Backend().is_built()
