"""Modules of Linux of every generation in Agent/TCP/Protocol: arguments, order, states, traps."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.app.beginning import begin, linux_folder
from bdpbench.app.evaluate.mirrored import find_newcomers
from bdpbench.contracts.paths import repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.libraries import compile_folder
from bdpbench.studies.folders import ProtocolFolder

Script = Callable[..., "subprocess.CompletedProcess[str]"]

# A module with functions of one generation; %(functions)s and %(fields)s are that generation's.
MODULE = """
#include <linux/module.h>
#include <net/tcp.h>
#define say(...) printk(KERN_ERR __VA_ARGS__)
static void grow(struct tcp_sock *tp)
{
    if (tp->snd_cwnd < tp->snd_ssthresh)
        tp->snd_cwnd++;
    else if (++tp->snd_cwnd_cnt >= tp->snd_cwnd) {
        tp->snd_cwnd_cnt = 0;
        tp->snd_cwnd++;
    }
}
static u32 mine_ssthresh(struct sock *sk) { return max(tcp_sk(sk)->snd_cwnd >> 1U, 2U); }
%(functions)s
static struct tcp_congestion_ops mine __read_mostly = {
    .ssthresh = mine_ssthresh,
    %(fields)s
    .owner = THIS_MODULE,
    .name = "mine",
};
static int __init mine_register(void) { return tcp_register_congestion_control(&mine); }
module_init(mine_register);
MODULE_LICENSE("Dual MIT/GPL");
"""
AVOID = ".cong_avoid = mine_avoid,"
BOTH = AVOID + " .pkts_acked = mine_acked,"
# Generation -> functions and fields; each says all numbers that it gets but for the sequence.
GENERATIONS = {
    "2.6.13": (
        """static void mine_avoid(struct tcp_sock *tp, u32 ack, u32 rtt, u32 in_flight, int good)
        { say("avoid %u %u\\n", in_flight, good); grow(tp); }
        static void mine_acked(struct tcp_sock *tp, u32 n) { say("acked %u\\n", n); }""",
        BOTH,
    ),
    "2.6.22": (
        """static void mine_avoid(struct sock *sk, u32 ack, u32 rtt, u32 in_flight, int good)
        { say("avoid %u %u %u\\n", rtt, in_flight, good); grow(tcp_sk(sk)); }
        static void mine_acked(struct sock *sk, u32 n, ktime_t last)
        { say("acked %u %lld\\n", n, ktime_to_us(net_timedelta(last)) / 1000); }""",
        BOTH,
    ),
    "2.6.23": (
        """static void mine_avoid(struct sock *sk, u32 ack, u32 in_flight, int good)
        { say("avoid %u %u\\n", in_flight, good); grow(tcp_sk(sk)); }""",
        AVOID,
    ),
    "2.6.25": (
        """static void mine_avoid(struct sock *sk, u32 ack, u32 in_flight)
        { say("avoid %u\\n", in_flight); grow(tcp_sk(sk)); }
        static void mine_acked(struct sock *sk, u32 n, s32 rtt_us)
        { say("acked %u %d\\n", n, rtt_us / 1000); }""",
        BOTH,
    ),
    "3.13": (
        """static void mine_avoid(struct sock *sk, u32 ack, u32 acked, u32 in_flight)
        { say("avoid %u %u\\n", acked, in_flight); grow(tcp_sk(sk)); }""",
        AVOID,
    ),
    "3.15": (
        """static void mine_avoid(struct sock *sk, u32 ack, u32 acked)
        { say("avoid %u\\n", acked); grow(tcp_sk(sk)); }""",
        AVOID,
    ),
    "4.8": (
        """static void mine_avoid(struct sock *sk, u32 ack, u32 acked)
        { say("avoid %u\\n", acked); grow(tcp_sk(sk)); }
        static void mine_acked(struct sock *sk, const struct ack_sample *sample)
        {
            say("acked %u %d ", sample->pkts_acked, sample->rtt_us / 1000);
            say("%u\\n", sample->in_flight);
        }""",
        BOTH,
    ),
}
EXPECTED = {
    "2.6.13": ["acked 1", "avoid 4 1"],
    "2.6.22": ["acked 1 40", "avoid 40 4 1"],
    "2.6.23": ["avoid 4 1"],
    "2.6.25": ["acked 1 40", "avoid 4"],
    "3.13": ["avoid 1 4"],
    "3.15": ["avoid 1"],
    "4.8": ["acked 1 40 1000", "avoid 1"],
}

NO_LOSS = "1000000"

# One flow over 10 Mbit/s with an RTT of 40 ms, and a packet lost; cwnd goes to standard output.
RUN = """
lassign $argv library drops seconds
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns duplex-link $a $b 10Mb 20ms DropTail
$ns queue-limit $a $b 1000
set losses [new ErrorModel/List]
$losses droplist $drops
$losses drop-target [new Agent/Null]
$ns lossmodel $losses $a $b
set tcp [new Agent/TCP/Protocol]
$tcp set protocol_ $library
$tcp set packetSize_ 1000
$tcp set window_ 60
$tcp set windowInit_ 4
foreach {name value} [lrange $argv 3 end] {
    $tcp set $name $value
}
set sink [new Agent/TCPSink/Sack1]
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
[new Application/FTP] attach-agent $tcp
$ns at 0 {$tcp send -1}
proc show {} {
    global ns tcp
    puts "[$tcp set cwnd_] [$tcp set ack_]"
    $ns after 0.02 show
}
$ns at 0 show
$ns at $seconds {exit 0}
$ns run
"""


@pytest.fixture
def library_of(tmp_path: Path, kept_libraries: Path) -> Callable[..., Path]:
    """Make the folder of a module, and its library."""

    def make(name: str, functions: str, fields: str) -> Path:
        module = tmp_path / f"tcp_{name}.c"
        module.write_text(MODULE % {"functions": functions, "fields": fields})
        folder = tmp_path / f"folder_{name}"
        begin("protocol", folder, module=module)
        protocol = ProtocolFolder(folder)
        compile_folder(protocol)
        return kept_libraries / f"{protocol.name}.so"

    return make


def of_generation(name: str, library_of: Callable[..., Path]) -> Path:
    return library_of("g" + name.replace(".", "_"), *GENERATIONS[name])


@pytest.mark.parametrize("name", GENERATIONS)
def test_functions_of_each_generation_get_their_arguments(
    name: str, library_of: Callable[..., Path], tcl: Script
) -> None:
    done = tcl(RUN, of_generation(name, library_of), NO_LOSS, 0.2)
    assert done.returncode == 0, done.stderr
    # The handshake's acknowledgement tells no data; the next one is that of the first of four.
    assert done.stderr.splitlines()[: len(EXPECTED[name])] == EXPECTED[name]


def test_reno_has_one_series_of_cwnd_in_all_generations(
    library_of: Callable[..., Path], tcl: Script
) -> None:
    series = {
        name: tcl(RUN, of_generation(name, library_of), "300 700 701", 4).stdout
        for name in GENERATIONS
    }
    assert len(set(series.values())) == 1
    assert len({line.split()[0] for line in series["3.15"].splitlines()}) > 20


# Says each call: the module cuts, and the kernel's side leads cwnd down.
RECORDER = """
static int window = 7;
module_param(window, int, 0644);
static void mine_init(struct sock *sk)
{ say("init %u %d\\n", (tcp_sk(sk)->srtt_us >> 3) / 1000, window); }
static void mine_release(struct sock *sk) { say("release\\n"); }
static void mine_avoid(struct sock *sk, u32 ack, u32 acked) { grow(tcp_sk(sk)); }
static u32 said_ssthresh(struct sock *sk)
{ say("ssthresh %u\\n", tcp_sk(sk)->snd_cwnd); return mine_ssthresh(sk); }
static void mine_state(struct sock *sk, u8 state)
{ say("state %d %u\\n", state, tcp_sk(sk)->snd_cwnd); }
static void mine_event(struct sock *sk, enum tcp_ca_event event)
{
    if (event == CA_EVENT_COMPLETE_CWR || event == CA_EVENT_LOSS)
        say("event %s\\n", event == CA_EVENT_LOSS ? "loss" : "complete");
}
"""
RECORDER_FIELDS = """.init = mine_init, .release = mine_release, .cong_avoid = mine_avoid,
    .ssthresh = said_ssthresh, .set_state = mine_state, .cwnd_event = mine_event,"""


def test_a_loss_and_a_timeout_are_told_in_the_order_of_a_kernel(
    library_of: Callable[..., Path], tcl: Script
) -> None:
    library = library_of("recorder", RECORDER, RECORDER_FIELDS)
    done = tcl(RUN, library, "50", 1, "module_window_", 7)
    said = done.stderr.splitlines()
    assert said[0] == "init 40 7"  # the handshake's RTT is known, and the module's own value holds
    assert [line.split()[0:2] for line in said[1:]] == [
        ["state", "1"],
        ["ssthresh", said[2].split()[1]],
        ["state", "3"],
        ["event", "complete"],
        ["state", "0"],
    ]
    cwnd = int(said[2].split()[1])
    assert said[-1] == f"state 0 {cwnd // 2}"  # where proportional rate reduction has led
    # Packets 20 to 79 and all that follow are lost: only the timer tells.
    lost = " ".join(map(str, range(20, 400)))
    late = tcl(RUN, library, lost, 3, "module_window_", 7).stderr.splitlines()
    first = next(i for i, line in enumerate(late) if line == "event loss")
    assert late[first - 1].startswith("ssthresh")
    assert late[first + 1].startswith("state 4 1")
    # Two sets of parameters do not meet.
    done = tcl(TWO, library, NO_LOSS, 0.2, "module_window_", 7)
    assert sorted(done.stderr.splitlines()) == ["init 40 7", "init 40 9"]


TWO = RUN.replace(
    "set sink [",
    "set other [new Agent/TCP/Protocol]\n$other set protocol_ $library\n"
    "$other set module_window_ 9\nset far [new Agent/TCPSink/Sack1]\n$ns attach-agent $a $other\n"
    "$ns attach-agent $b $far\n$ns connect $other $far\n$ns at 0.001 {$other send -1}\nset sink [",
    1,
)


CONTROL = """%s
{
    struct tcp_sock *tp = tcp_sk(sk);
    if (rs->interval_us > 0 && rs->delivered > 0 && tp->snd_cwnd < 40)
        tp->snd_cwnd++;
    if (tp->delivered == 101)
        say("rate %%llu\\n", (u64)rs->delivered * USEC_PER_SEC / rs->interval_us / 10);
    sk->sk_pacing_rate = 500000;
}
"""


@pytest.mark.parametrize(
    "head",
    [
        "static void mine_control(struct sock *sk, const struct rate_sample *rs)",
        "static void mine_control(struct sock *sk, u32 a, int f, const struct rate_sample *rs)",
    ],
    ids=["4.9", "6.10"],
)
def test_control_by_rate_samples_and_pacing(
    head: str, library_of: Callable[..., Path], tcl: Script
) -> None:
    library = library_of("control", CONTROL % head, ".cong_control = mine_control,")
    done = tcl(RUN, library, NO_LOSS, 2)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("rate 48\n")  # 500,000 bytes/s in packets of 1,040: 481 a second
    delivered = int(done.stdout.splitlines()[-1].split()[1])
    assert 0.9 * 2 * 481 < delivered < 2 * 481


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "tcp_sk(sk)->snd_cwnd = 0;",
            "cong_avoid() of the module mine: the cwnd that it left is 0 at",
        ),
        ("memset(inet_csk_ca(sk), 1, ICSK_CA_PRIV_SIZE + 1);", "all written: is 1024 at 0.0"),
        (
            "tcp_sk(sk)->snd_cwnd /= tcp_sk(sk)->snd_cwnd_cnt;",
            "ns: in cong_avoid() of the module mine at 0.",
        ),
        pytest.param(
            "for (;;) ;", "ns: in cong_avoid() of the module mine at 0.", marks=pytest.mark.ci
        ),
    ],
)
def test_a_module_that_goes_wrong_ends_the_run(
    statement: str, said: str, library_of: Callable[..., Path], tcl: Script
) -> None:
    avoid = f"static void mine_avoid(struct sock *sk, u32 ack, u32 acked) {{ {statement} }}"
    done = tcl(RUN, library_of("wrong", avoid, AVOID), NO_LOSS, 1)
    assert done.returncode == 1
    assert said in done.stderr


def test_a_module_may_have_helpers_of_its_own(library_of: Callable[..., Path], tcl: Script) -> None:
    own = """
static u32 tcp_slow_start(struct tcp_sock *tp, u32 acked, u32 more)
{
    tp->snd_cwnd += 2;
    return 0;
}
struct minmax { u32 value; };
static void mine_avoid(struct sock *sk, u32 ack, u32 acked)
{
    tcp_slow_start(tcp_sk(sk), acked, 0);
}
"""
    done = tcl(RUN, library_of("own", own, AVOID), NO_LOSS, 0.2)
    assert done.returncode == 0, done.stderr


def test_what_is_missing_is_said_by_name(library_of: Callable[..., Path], tmp_path: Path) -> None:
    avoid = "static void mine_avoid(struct sock *sk, u32 ack, u32 acked) { %s; }"
    calls = "tcp_nowhere(sk); tcp_neither(sk)"
    with pytest.raises(BdpbenchError, match="tcp_nowhere, tcp_neither: nowhere defined"):
        library_of("unknown", avoid % calls, AVOID)
    declared = f"extern void tcp_a(void); extern void tcp_b(void); {avoid % 'tcp_a(); tcp_b()'}"
    with pytest.raises(BdpbenchError, match="tcp_a, tcp_b: nowhere defined"):
        library_of("declared", declared, AVOID)
    assert not list(tmp_path.glob("folder_*"))  # none of what does not compile
    strange = "static void mine_avoid(struct sock *sk, u64 ack) { }"
    with pytest.raises(BdpbenchError, match="_Generic"):
        library_of("strange", strange, AVOID)
    with pytest.raises(BdpbenchError, match=r"needs tcp_other\.h beside it"):
        library_of("lonely", '#include "tcp_other.h"', AVOID)


def test_a_module_of_the_distributions_linux(
    library_of: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "linux-6.1.2" / "net" / "ipv4"
    place.mkdir(parents=True)
    avoid = "static void mine_avoid(struct sock *sk, u32 ack, u32 acked) { }"
    (place / "tcp_mine.c").write_text(MODULE % {"functions": avoid, "fields": AVOID})
    (place / "tcp_input.c").write_text("/* the kernel's own */")
    archive = shutil.make_archive(f"{tmp_path}/linux", "gztar", tmp_path, "linux-6.1.2")
    monkeypatch.setenv("BDPBENCH_LINUX_SOURCE", archive)
    monkeypatch.setenv("BDPBENCH_HOME", f"{tmp_path}/home")
    said = begin("protocol", tmp_path / "ours", linux="mine")
    assert "tcp_mine.c of linux-6.1.2" in said
    assert "tcp_mine.c of linux-6.1.2" in (tmp_path / "ours" / "protocol.yaml").read_text()
    assert not list((tmp_path / "home").rglob("tcp_input.c"))
    with pytest.raises(BdpbenchError, match="is no congestion control") as told:
        begin("protocol", tmp_path / "theirs", linux="vegas")
    assert told.value.hint == "it has mine"
    folder = linux_folder("mine")  # made at its first use
    assert "label: Linux mine" in (folder / "protocol.yaml").read_text()
    made = (folder / "protocol.yaml").stat().st_mtime_ns
    assert (linux_folder("mine") / "protocol.yaml").stat().st_mtime_ns == made
    (newcomer,) = find_newcomers(["linux:mine"])
    assert (newcomer.key, newcomer.source) == ("LinuxMine", "linux:mine of linux-6.1.2")


def test_a_law_has_no_sender_of_modules(tmp_path: Path) -> None:
    begin("protocol", tmp_path / "law")
    with (tmp_path / "law" / "protocol.yaml").open("a") as file:
        file.write("sender: tcp-linux\n")
    with pytest.raises(BdpbenchError, match="is for modules of Linux"):
        compile_folder(ProtocolFolder(tmp_path / "law"))


def test_200_connections_share_a_module(library_of: Callable[..., Path], tcl: Script) -> None:
    run = RUN.replace(
        "proc show",
        """for {set i 0} {$i < 199} {incr i} {
    set each [new Agent/TCP/Protocol]
    $each set protocol_ $library
    set sink [new Agent/TCPSink/Sack1]
    $ns attach-agent $a $each
    $ns attach-agent $b $sink
    $ns connect $each $sink
    $ns at 0 "$each send -1"
    $ns at 0.9 "$each reset"
}
proc show""",
        1,
    )
    functions = """static void mine_init(struct sock *sk) { say("init\\n"); }
static void mine_release(struct sock *sk) { say("release\\n"); }
static void mine_avoid(struct sock *sk, u32 ack, u32 acked) { grow(tcp_sk(sk)); }"""
    fields = f".init = mine_init, .release = mine_release, {AVOID}"
    done = tcl(run, library_of("many", functions, fields), NO_LOSS, 1)
    assert done.returncode == 0, done.stderr
    said = done.stderr.splitlines()
    assert (said.count("init"), said.count("release")) == (200, 199)


def test_the_module_of_the_tutorial_is_one(tmp_path: Path) -> None:
    text = (repository_root() / "docs" / "league.md").read_text().split("```c\n")[1].split("```")[0]
    (tmp_path / "tcp_mine.c").write_text(text)
    begin("protocol", tmp_path / "mine", module=tmp_path / "tcp_mine.c")
    assert (tmp_path / "mine" / "tcp_mine.c").read_text() == text


def test_arrays_and_texts_keep_the_values_of_the_module(tmp_path: Path) -> None:
    avoid = """static void mine_avoid(struct sock *sk, u32 ack, u32 acked) { }
static char *mode = "x"; module_param(mode, charp, 0644);
static int steps[3]; module_param_array_named(step, steps, int, NULL, 0644);
static bool on = true; module_param(on, bool, 0644);"""
    (tmp_path / "tcp_mine.c").write_text(MODULE % {"functions": avoid, "fields": AVOID})
    begin("protocol", tmp_path / "mine", module=tmp_path / "tcp_mine.c")
    text = (tmp_path / "mine" / "protocol.yaml").read_text()
    assert "module_on_" in text
    assert ("mode" in text, "step" in text) == (False, False)
    text = text.replace("symbol: on, variable: module_on_", "symbol: m, variable: module_mode_")
    (tmp_path / "mine" / "protocol.yaml").write_text(text)
    with pytest.raises(BdpbenchError, match="no module_param of the name module_mode_") as told:
        compile_folder(ProtocolFolder(tmp_path / "mine"))
    assert "arrays and texts" in str(told.value.hint)
