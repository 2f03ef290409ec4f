"""Agent/TCP/Protocol: what it tells and refuses, and the protocols that come along."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.compiled import compiled as kept
from tests.data_of import data_of
from tests.ns2.conftest import Script

from bdpbench.simulation.libraries import compile_folder
from bdpbench.studies.folders import ProtocolFolder

ROOT = Path(__file__).resolve().parent.parent.parent
PROTOCOLS = ROOT / "config" / "protocols"
COMPILE = ["g++", "-std=gnu++17", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]


_DATA = data_of(__file__)
PATH = _DATA["path"]

RUN = _DATA["run"]


def compiled(source: Path, folder: Path) -> Path:
    include = f"-I{ROOT / 'ns2' / 'laws'}"
    return kept([*COMPILE, include, source], folder / f"{source.parent.name}.so")


@pytest.fixture(scope="session")
def libraries(made_once: Callable[..., Path]) -> Path:
    """A folder with the protocols of ``config/protocols``, each as a library of its name."""

    def compile_all(folder: Path) -> None:
        for source in sorted(PROTOCOLS.glob("*/law.cc")):
            compiled(source, folder)

    return made_once("protocols", compile_all)


def words(done: subprocess.CompletedProcess[str]) -> dict[tuple[str, int], float]:
    """Lines ``name index value`` of a script's output."""
    assert done.returncode == 0, done.stderr
    lines = (line.split() for line in done.stdout.splitlines())
    return {(line[0], int(line[1])): float(line[2]) for line in lines}


def aimd(libraries: Path) -> list[object]:
    return ["TCP/Protocol", "protocol_", libraries / "aimd.so", "increase_pkts_", 1, "cut_", 0.5]


def cubic(libraries: Path, fast_convergence: int = 1) -> list[object]:
    parameters = {"c_": 0.4, "beta_": 0.7, "fast_convergence_": fast_convergence, "hystart_": 1}
    pairs = (word for pair in parameters.items() for word in pair)
    return ["TCP/Protocol", "protocol_", libraries / "cubic.so", *pairs]


def test_aimd_is_standard_tcp_with_sack(tcl: Script, libraries: Path) -> None:
    path = (20, 25, 125, 2, 60)
    ours = words(tcl(PATH + RUN, *path, *aimd(libraries)))
    theirs = words(tcl(PATH + RUN, *path, "TCP/Sack1"))
    for i in range(2):
        assert ours["acked", i] == pytest.approx(theirs["acked", i], rel=0.02)
        assert ours["cuts", i] == pytest.approx(theirs["cuts", i], abs=1)
        assert ours["timeouts", i] == 0


def test_the_initial_window_leaves_after_the_syn(tcl: Script, libraries: Path) -> None:
    # The SYN is packet 0. Its acknowledgement lets RFC 6928's ten packets leave, and does not raise
    # cwnd (RFC 5681, section 3.1).
    path = (10, 50, 100, 1, 1)
    found = words(tcl(PATH + _DATA["beginning"], *path, *aimd(libraries), "windowInit_", 10))
    assert found["sent", 0] == 10


@pytest.fixture(scope="session")
def paced(made_once: Callable[..., Path]) -> Path:
    """A sender with a constant cwnd and a constant rate; 0 stands for none."""

    def compile_it(folder: Path) -> None:
        (folder / "paced").mkdir()
        (folder / "paced" / "law.cc").write_text(_DATA["paced"])
        compiled(folder / "paced" / "law.cc", folder)

    return made_once("paced", compile_it) / "paced.so"


def sender_of(paced: Path, rate_pps: float, most_pkts: float, overhead_s: float) -> list[object]:
    parameters = {"rate_pps_": rate_pps, "most_pkts_": most_pkts, "overhead_": overhead_s}
    return [
        "TCP/Protocol",
        "protocol_",
        paced,
        *(word for pair in parameters.items() for word in pair),
    ]


# What leaves between two moments. Packets have 1,000 bytes.
SENT = _DATA["sent"]


@pytest.mark.parametrize(
    ("mbps", "overhead_s"), [(10, 1e-3), (100, 8e-6), (1000, 1e-3), (10000, 0)]
)
def test_a_paced_sender_has_its_rate_whatever_delays_single_packets(
    tcl: Script, paced: Path, mbps: float, overhead_s: float
) -> None:
    rate_pps = mbps * 1e6 / 8000
    span_s = 20000 / rate_pps + overhead_s * 2000  # so that the delays of its ends do not count
    script = f"{PATH}set begin_s 0.1\n{SENT}"
    sender = sender_of(paced, rate_pps, 1000000, overhead_s)
    found = words(tcl(script, 2 * mbps, 5, 1000000, 1, 0.1 + span_s, *sender))
    assert found["sent", 0] == pytest.approx(rate_pps * span_s, rel=0.001)


@pytest.mark.parametrize("most_pkts", [40, 1000000])  # of 100 in flight at this rate
def test_a_pause_of_the_data_or_of_cwnd_is_not_made_up_for(
    tcl: Script, paced: Path, tmp_path: Path, most_pkts: float
) -> None:
    overhead_s = 0.0005
    sender = sender_of(paced, 1000, most_pkts, overhead_s)
    script = PATH.replace('"$ftp($i) start"', "{}") + _DATA["pause"]
    assert tcl(script, 1000, 50, 1000000, 1, 3, *sender).returncode == 0
    lines = (line.split() for line in (tmp_path / "sent.tr").read_text().splitlines())
    left = [float(line[1]) for line in lines if line[0] == "+"]
    assert len(left) == 1000
    for count in (1, 10, 100):
        spans = [after - before for before, after in zip(left, left[count:], strict=False)]
        assert min(spans) > count / 1000 - overhead_s - 1e-6


def test_jitter_does_not_look_like_a_lack_of_data(tcl: Script, paced: Path) -> None:
    # Acknowledgements come a microsecond apart, and each packet waits for up to 20.
    end = '$ns at $duration_s {puts "held 0 [$tcp(0) shown held]"; exit 0}\n$ns run\n'
    for rate_pps in (0, 1e9):
        sender = sender_of(paced, rate_pps, 100, 20e-6)
        found = words(tcl(PATH + end, 8000, 1, 1000000, 1, 0.1, *sender))
        assert found["held", 0] > 0.99


# Every packet of a given number is lost, on a path without a queue and with an RTT of 100 ms.
RESPONSE = _DATA["response"]


def mean_cwnd(tcl: Script, period_pkts: int, duration_s: float, sender: list[object]) -> float:
    script = f"{PATH}set period_pkts {period_pkts}\n{RESPONSE}{RUN}"
    return words(tcl(script, 10000, 50, 1000000, 1, duration_s, *sender))["cwnd", 0]


@pytest.mark.parametrize(
    ("period_pkts", "pkts", "duration_s"), [(1000, 38, 200), (10000, 120, 400)]
)
def test_aimd_has_the_window_that_rfc_9438_prints_for_reno(
    tcl: Script, libraries: Path, period_pkts: int, pkts: float, duration_s: float
) -> None:
    assert mean_cwnd(tcl, period_pkts, duration_s, aimd(libraries)) == pytest.approx(pkts, rel=0.05)


@pytest.mark.parametrize(
    ("period_pkts", "fast_convergence", "tolerance"), [(10000, 0, 0.15), (30000, 1, 0.1)]
)
def test_cubic_has_the_mean_window_of_its_equation(
    tcl: Script,
    libraries: Path,
    period_pkts: int,
    fast_convergence: int,
    tolerance: float,
) -> None:
    # Near W_max the curve is flat, so without fast convergence cwnd stays above the equation's for
    # hundreds of cuts. RFC 9438, equation 5: (C (3 + β) / (4 (1 − β)))^(1/4) RTT^(3/4) / p^(3/4).
    expected = (0.4 * 3.7 / 1.2) ** 0.25 * 0.1**0.75 * period_pkts**0.75
    found = mean_cwnd(tcl, period_pkts, 300, cubic(libraries, fast_convergence))
    assert found == pytest.approx(expected, rel=tolerance)


@pytest.mark.parametrize("law", ["aimd", "dctcp"])
def test_that_a_receiver_can_echo_is_no_mark(tcl: Script, libraries: Path, law: str) -> None:
    sender = [*aimd(libraries), "gain_", 0.0625, "protocol_", libraries / f"{law}.so"]
    on, off = (tcl(PATH + RUN, 20, 25, 500, 1, 0.5, *sender, "ecn_", ecn) for ecn in (1, 0))
    assert words(on) == words(off)


@pytest.mark.parametrize("flows", [2, 40])
def test_dctcp_keeps_the_queue_near_the_threshold(tcl: Script, libraries: Path, flows: int) -> None:
    script = _DATA["step"] + PATH.replace(
        "DropTail\n$ns queue-limit $a $b", "RED\n$ns queue-limit $a $b", 1
    )
    sender = ["TCP/Protocol", "protocol_", libraries / "dctcp.so", "gain_", 0.0625, "ecn_", 1]
    found = words(tcl(script + _DATA["queue"] + RUN, 1000, 0.05, 1000, flows, 5, *sender))
    assert 15 < found["queue", 0] < 20 + flows
    goodput_mbps = sum(found["acked", i] for i in range(flows)) * 960 * 8e-6 / 5
    assert goodput_mbps > 930  # of 1000, of which headers are 4 %


STATES = {"Startup": 0, "Drain": 1, "Down": 2, "Cruise": 3, "Refill": 4, "Up": 5, "ProbeRTT": 6}


def test_bbr_fills_the_path_and_leaves_the_queue_short(tcl: Script, libraries: Path) -> None:
    sender = ["TCP/Protocol", "protocol_", libraries / "bbr.so"]
    found = words(tcl(PATH + _DATA["shown"] + RUN, 20, 25, 500, 1, 43, *sender))
    assert found["acked", 0] * 960 * 8e-6 / 43 > 0.9 * 20 * 0.96
    assert found["queue", 0] < 0.1 * 125  # a tenth of the BDP, where the buffer holds four
    seconds = {name: found.get(("state", number), 0) / 100 for name, number in STATES.items()}
    assert seconds["Startup"] == seconds["Drain"] == 0  # over before 3 s
    # Of eight spans of 5 s each ends with 200 ms of ProbeRTT and the round trips around them.
    assert 8 * 0.2 < seconds["ProbeRTT"] < 8 * 0.4
    assert seconds["Cruise"] > seconds["Down"] + seconds["Refill"] + seconds["Up"] > 0


def test_bbr_needs_no_buffer_of_a_bdp(tcl: Script, libraries: Path) -> None:
    path = (20, 25, 12, 1, 40)  # a tenth of the BDP
    bbr = words(tcl(PATH + RUN, *path, "TCP/Protocol", "protocol_", libraries / "bbr.so"))
    reno = words(tcl(PATH + RUN, *path, *aimd(libraries)))
    assert bbr["acked", 0] > 1.1 * reno["acked", 0]


# Packets are lost at random at the end of the bottleneck.
RANDOM_LOSS = _DATA["random_loss"]


def share_at_loss(tcl: Script, loss_rate: float, sender: list[object]) -> float:
    """Share of 20 Mbit/s at an RTT of 50 ms that is delivered with random losses."""
    script = f"ns-random 1\n{PATH}set loss_rate {loss_rate}\n{RANDOM_LOSS}{RUN}"
    found = words(tcl(script, 20, 25, 500, 1, 40, *sender))
    return found["acked", 0] * 1000 * 8e-6 / 40 / 20


def left_between_probes(loss_rate: float, rounds: float) -> float:
    """Mean rate over a cruise: section 5.3.3.8.3 of the draft keeps (1 - p)^k after k rounds."""
    return (1 - (1 - loss_rate) ** rounds) / (rounds * loss_rate)


def test_bbr_stays_near_the_full_rate_at_one_per_cent_of_loss(tcl: Script, libraries: Path) -> None:
    sender = ["TCP/Protocol", "protocol_", libraries / "bbr.so"]
    # 1 % of margin, 2 % for ProbeRTT, and at most 3 s or 60 round trips of 50 ms between probes.
    full = 0.99 * 0.98
    found = {loss: share_at_loss(tcl, loss, sender) for loss in (0.001, 0.01, 0.02)}
    assert found[0.001] > 0.9
    assert full * left_between_probes(0.01, 60) < found[0.01] < full
    # At the threshold of 2 %, half of the probes lose too much and lower the long-term bound.
    assert found[0.02] < full * left_between_probes(0.02, 40)
    # Reno's mean window is sqrt(1.5 / p) packets, where the path holds 125.
    reno = share_at_loss(tcl, 0.02, aimd(libraries))
    assert reno < (1.5 / 0.02) ** 0.5 / 125 * 1.2
    assert found[0.02] > 4 * reno


# Twenty packets; those at the given places of all that reach the bottleneck are lost.
LOSSES = _DATA["losses"]


def events(tcl: Script, folder: Path, lost: str) -> list[str]:
    (folder / "told").mkdir()
    source = folder / "told" / "law.cc"
    source.write_text(_DATA["events"])
    sender = ["TCP/Protocol", "protocol_", compiled(source, folder), "minrto_", 1]
    script = PATH.replace('"$ftp($i) start"', "{}") + f"set lost {{{lost}}}\n{LOSSES}"
    done = tcl(script, 10, 50, 100, 1, 3, *sender)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_protocol_hears_of_a_loss_in_the_order_that_its_interface_states(
    tcl: Script, tmp_path: Path
) -> None:
    assert events(tcl, tmp_path, "2") == _DATA["expected"].split("\n")[1:-1]


def test_the_loss_of_a_retransmission_is_found_without_a_timeout(
    tcl: Script, tmp_path: Path
) -> None:
    # The third packet, and its retransmission, the thirteenth packet at the bottleneck.
    told = events(tcl, tmp_path, "2 12")
    assert "lost retransmission 1 of 2" in told
    assert "timed_out" not in told
    assert told.count("recovery_began") == 1


def test_the_loss_of_the_last_packets_ends_in_a_timeout(tcl: Script, tmp_path: Path) -> None:
    told = events(tcl, tmp_path, "18 19")
    assert told[-6:] == [
        "lost retransmission 0 of 2",
        "lost retransmission 0 of 2",
        "timed_out",
        "acknowledged 1 lost 0 flight 1>0 delivered 19 round 4 timeout rtt -1.000",
        "recovery_ended",
        "acknowledged 1 lost 0 flight 1>0 delivered 20 round 5 rtt -1.000",
    ]


LAW = _DATA["law"]


NOTHING = "limits.cwnd_pkts += 0 * value_;"
END = "CONGESTION_CONTROL(Bad)"
OTHER_VERSION = f"""\
#undef CONGESTION_CONTROL_INTERFACE
#define CONGESTION_CONTROL_INTERFACE 999
{END}"""
WRONG: dict[str, tuple[str, int | None, str, str]] = _DATA["wrong"]


@pytest.mark.parametrize(("body", "value", "message", "before"), WRONG.values(), ids=WRONG.keys())
def test_what_a_protocol_does_wrong_ends_with_a_sentence(
    tcl: Script, tmp_path: Path, body: str, value: int | None, message: str, before: str
) -> None:
    law = LAW.replace("BODY", body).replace("class Bad", f"{before}class Bad")
    assert message in told_of(tcl, tmp_path, law, *([] if value is None else ["value_", value]))


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ("", "does not end with CONGESTION_CONTROL(its class)"),
        (OTHER_VERSION, "was made for version 999 of congestion_control.h"),
    ],
)
def test_a_protocol_without_the_end_of_this_version_is_told(
    tcl: Script, tmp_path: Path, end: str, message: str
) -> None:
    law = LAW.replace("BODY", NOTHING).replace(END, end)
    assert message in told_of(tcl, tmp_path, law, "value_", 1)


def told_of(tcl: Script, tmp_path: Path, law: str, *variables: object) -> str:
    """What ns-2 says when it fails with a law."""
    (tmp_path / "bad").mkdir()
    source = tmp_path / "bad" / "law.cc"
    source.write_text(law)
    sender = ["TCP/Protocol", "protocol_", compiled(source, tmp_path), *variables]
    done = tcl(PATH + RUN, 10, 10, 50, 1, 2, *sender)
    assert done.returncode == 1
    return done.stderr


CWND_SHOWN = """
$ns at 1 {puts "cwnd 0 [$tcp(0) set cwnd_]"}
"""


def test_an_infinite_cwnd_is_limited_and_shown_as_the_receivers_window(
    tcl: Script, tmp_path: Path
) -> None:
    (tmp_path / "endless").mkdir()
    source = tmp_path / "endless" / "law.cc"
    source.write_text(LAW.replace("BODY", "limits.cwnd_pkts = value_ * HUGE_VAL;"))
    sender = ["TCP/Protocol", "protocol_", compiled(source, tmp_path), "value_", 1]
    found = words(tcl(PATH + CWND_SHOWN + RUN, 10, 10, 50, 1, 2, *sender, "window_", 30))
    assert found["cwnd", 0] == 30
    # 30 packets of 1,000 bytes fit into the path and its buffer: nothing is lost.
    assert found["drops", 0] == 0
    assert found["acked", 0] == pytest.approx(2 * 10e6 / 8 / 1000, rel=0.05)


COUNTING = LAW.replace("BODY", "limits.cwnd_pkts = value_;").replace(
    "    void acknowledged",
    "    static int made() { static int count = 0; return ++count; }\n"
    "    double shown(const std::string&) const override { return made(); }\n    void acknowledged",
)


def test_two_folders_with_a_class_of_one_name_share_no_variable(
    tcl: Script, tmp_path: Path, kept_libraries: Path
) -> None:
    made = []
    for name in ("one", "two"):
        folder = Path(shutil.copytree(PROTOCOLS / "aimd", tmp_path / name))
        (folder / "law.cc").write_text(f"// {name}\n{COUNTING}".replace("Bad", "Aimd"))
        compile_folder(ProtocolFolder(folder))
        made.append(kept_libraries / f"{ProtocolFolder(folder).name}.so")
    other = f"$tcp(1) set protocol_ {{{made[1]}}}\n"
    asked = "$ns at 1 {foreach i {0 1} {puts [list made $i [$tcp($i) shown made]]}}\n"
    sender = ["TCP/Protocol", "protocol_", made[0], "value_", 2]
    found = words(tcl(PATH + other + asked + RUN, 10, 10, 50, 2, 2, *sender))
    assert [found["made", i] for i in range(2)] == [1, 1]


def test_a_library_that_is_not_there_is_named(tcl: Script) -> None:
    done = tcl(PATH + RUN, 10, 10, 50, 1, 2, "TCP/Protocol", "protocol_", "/nowhere/mine.so")
    assert done.returncode == 1
    assert "cannot load its protocol: /nowhere/mine.so" in done.stderr


def test_a_sender_without_a_protocol_says_so(tcl: Script) -> None:
    done = tcl(PATH + RUN, 10, 10, 50, 1, 2, "TCP/Protocol")
    assert done.returncode == 1
    assert "has no protocol: set protocol_ before the first packet" in done.stderr
