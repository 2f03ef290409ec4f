"""Packet traces of the variant fast: the text of their lines, and what else is in their files."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.compiled import compiled
from tests.data_of import data_of
from tests.forks import Forks
from tests.ns2.stock import Stock

HERE = Path(__file__).resolve().parent
SPEED = HERE.parent.parent / "ns2" / "speed"
NETWORK = (HERE / "trace_lines.tcl").read_text()
PARTS = data_of(__file__)
# As ns-2 is compiled; INFINITY and NAN are C99's, which GNU's C++98 has.
COMPILE = ["g++", "-std=gnu++98", "-Wall", "-Wextra", "-Werror", "-O2", "-ffp-contract=off"]

Outcome = tuple[int, dict[str, bytes]]
Compare = Callable[[str], Outcome]

# Lines of a run of 1.5 s: enough to fill the channel's buffer of 4,096 characters several times.
MANY = 400
OPEN = "set f [open out.tr w]; $ns trace-all $f; topology; traffic\n"
FINISH = "$ns at 1.5 {close $f; exit 0}; $ns run\n"


def test_decimal_texts_are_those_of_printf(tmp_path: Path) -> None:
    programs = [HERE / "speed" / "decimal_test.cc", SPEED / "decimal.cc"]
    binary = compiled([*COMPILE, f"-I{SPEED}", f"-I{HERE}", *programs], tmp_path / "decimal_test")
    done = subprocess.run([str(binary)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[:2000]


def test_a_channel_may_be_closed_at_any_moment(tmp_path: Path) -> None:
    # With Tcl's own headers, as ns2/build.sh has them; using what Tcl has freed ends the program.
    tcl = Path("/usr/include/tcl8.6")
    include = [SPEED, HERE, tcl, tcl / "tcl-private" / "generic", tcl / "tcl-private" / "unix"]
    sources = [HERE / "speed" / "kept_channel_test.cc", *SPEED.glob("*_channel.cc")]
    checked = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover", "-Wl,-export-dynamic"]
    command = ["g++", "-std=gnu++98", "-O1", *checked, *(f"-I{each}" for each in include)]
    binary = compiled([*command, *sources, "-ltcl8.6"], tmp_path / "kept_channel_test")
    environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}  # Tcl keeps some to the end
    done = subprocess.run(
        [binary], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def run(ns: Forks, text: str, folder: Path) -> Outcome:
    """Exit status, and every file that a script leaves in an empty folder, including its output."""
    folder.mkdir()
    script = folder.parent / "script.tcl"
    script.write_text(NETWORK + text)
    status = ns.run([str(script)], folder, folder / "stdout", folder / "stderr")
    return status, {
        path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()
    }


@pytest.fixture
def compare(
    forks: Callable[[Path], Forks], ns_binary: Path, stock: Stock, tmp_path: Path
) -> Compare:
    """Run a script; returns its outcome, which must be that of stock byte by byte."""

    def digests(outcome: Outcome) -> list[object]:
        status, files = outcome
        return [status, {name: hashlib.sha256(each).hexdigest() for name, each in files.items()}]

    def both(text: str) -> Outcome:
        fast = run(forks(ns_binary), text, tmp_path / "fast")
        again = partial(run, text=text, folder=tmp_path / "stock")
        stock.gives(digests(fast), lambda ns: digests(again(forks(ns))), NETWORK, text)
        return fast

    return both


def lines(outcome: Outcome, name: str = "out.tr") -> list[str]:
    return outcome[1][name].decode().splitlines()


# ---------------------------------------------------------------- text of the lines


def test_lines_of_all_events_flags_and_types(compare: Compare) -> None:
    plain = lines(compare(OPEN + FINISH))
    assert len(plain) > MANY
    fields = [line.split() for line in plain]
    assert {f[0] for f in fields} == {"+", "-", "r", "d"}
    assert {"tcp", "ack", "udp"} <= {f[4] for f in fields}
    # ECN-capable, congestion experienced, echo and action: RED marks packets, and the sender
    # reacts.
    assert {"N", "E", "C", "A"} <= set("".join(f[6] for f in fields))
    # The first lines are from 10 us, which %g writes with an exponent.
    assert fields[0][1] == "1e-05"
    assert {f[7] for f in fields} == {"1", "-7"}


@pytest.mark.parametrize("text", PARTS["variants"].values(), ids=PARTS["variants"].keys())
def test_other_kinds_of_lines(compare: Compare, text: str) -> None:
    status, files = compare(text + FINISH)
    assert status == 0, files["stderr"]
    assert max(len(content) for content in files.values()) > MANY


@pytest.mark.parametrize("shown", [0, 1])
def test_packets_that_are_almost_alike(compare: Compare, shown: int) -> None:
    traced = lines(compare(f"Trace set show_sctphdr_ {shown}\n{OPEN}{PARTS['alike']}{FINISH}"))
    fields = [line.split() for line in traced]
    assert {(f[4], f[8]) for f in fields if f[7] == "5"} == {
        ("udp", "1.1"),
        ("udp", "1.2"),
        ("cbr", "1.1"),
    }
    assert sum(f[4] == "sctp" for f in fields) > 100


@pytest.mark.parametrize("change", PARTS["changes"].values(), ids=PARTS["changes"].keys())
def test_changes_of_traces_while_packets_pass(compare: Compare, change: str) -> None:
    text = f"{PARTS['watched']}$ns at 0.55 {{{change}}}\n$ns at 0.95 {{{PARTS['undo']}}}\n{FINISH}"
    status, files = compare(text)
    assert status == 0, files["stderr"]
    times = [
        float(line.split()[1])
        for line in files["out.tr"].decode().splitlines()
        if line.split()[0] in ("+", "-", "r") and line.split()[2:4] == ["2", "3"]
    ]
    # Packets pass the link before the change and after its end.
    assert min(times) < 0.5
    assert max(times) > 1.0 or "drp" in change


# From 10^9 s on, a time has more than 15 digits. (RED does not survive such a long idle time.)
@pytest.mark.parametrize("start", [99999.0, 999999999.5, 1234567890.0, 5e9])
def test_late_times(compare: Compare, start: float) -> None:
    text = f"set f [open out.tr w]; $ns trace-all $f; topology DropTail; traffic {start}\n"
    outcome = compare(text + f"$ns at {start + 2} {{close $f; exit 0}}; $ns run\n")
    assert float(lines(outcome)[0].split()[1]) >= start


def test_addresses_in_another_form(compare: Compare) -> None:
    text = OPEN + PARTS["variants"]["shift of addresses"].removeprefix(OPEN)
    traced = lines(compare(text + FINISH))
    # Node 3, shifted by one bit, is 1.
    assert {"3.0", "1.0"} <= {line.split()[9] for line in traced if line.split()[7] == "1"}


def test_hierarchical_addresses(compare: Compare) -> None:
    traced = lines(compare(PARTS["hierarchy"] + FINISH))
    assert any("0.0.1.0 1.0.1.0" in line for line in traced)


def test_more_flows_than_are_kept(compare: Compare) -> None:
    traced = lines(compare(PARTS["many_flows"] + FINISH))
    assert len({line.split()[7] for line in traced}) == 300


# ---------------------------------------------------------------- order in one file


def test_lines_of_tcl_and_of_packets_keep_their_order(compare: Compare) -> None:
    text = OPEN + "$ns at 0.5 {foreach i {1 2 3} {puts $f before; $udp send 9; puts $f after}}\n"
    traced = lines(compare(text + FINISH))
    at = [i for i, line in enumerate(traced) if line == "before"]
    assert len(at) == 3
    for i in at:
        assert traced[i + 1].startswith("+ 0.5 1 2 udp 9 ")


def test_a_callback_of_a_trace_writes_behind_its_line(compare: Compare) -> None:
    text = """
    Trace instproc handle line {global f; puts $f "seen $line"}
    Trace set callback_ 1
    """
    traced = lines(compare(text + OPEN + FINISH))
    # `handle { LINE }`: the line is passed on with the blanks inside the braces.
    assert traced[1] == f"seen  {traced[0]} "


def test_puts_before_the_first_packet_and_after_the_last(compare: Compare) -> None:
    text = OPEN + "puts $f first\n" + FINISH.replace("close", "puts $f last; close")
    traced = lines(compare(text))
    assert (traced[0], traced[-1]) == ("first", "last")


def test_two_handles_of_one_file(compare: Compare) -> None:
    # Both append, so neither overwrites what the other has written.
    text = OPEN.replace("out.tr w", "out.tr a") + "set g [open out.tr a]\n"
    text += "$ns at 0.3 {puts $g other; flush $g}; $ns at 0.7 {puts $g again}\n"
    content = compare(text + FINISH)[1]["out.tr"]
    assert b"other\n" in content
    assert b"again\n" in content


def test_two_traces_of_one_channel(compare: Compare) -> None:
    text = "set f [open out.tr w]; topology; traffic; $ns trace-queue $node(2) $node(3) $f\n"
    text += "$ns at 0.5 {$ns trace-queue $node(3) $node(2) $f}\n"
    assert len(lines(compare(text + FINISH))) > MANY


# ---------------------------------------------------------------- what the file holds, and when

# A script that looks at its own trace and prints the size of the file.
LOOK = "foreach t {0.2 0.4 0.6 0.8 1.0} {$ns at $t {puts [file size out.tr]}}\n"


def sizes(outcome: Outcome) -> list[int]:
    return [int(word) for word in outcome[1]["stdout"].split()]


def test_a_reader_of_the_file_sees_whole_buffers(compare: Compare) -> None:
    seen = sizes(compare(OPEN + LOOK + FINISH))
    assert seen[-1] > 0
    assert all(size % 4096 == 0 for size in seen)


@pytest.mark.parametrize(
    "flush", ["flush $f", "$ns flush-trace", "exec true >@ $f", "puts [tell $f]"]
)
def test_flushing_within_the_run(compare: Compare, flush: str) -> None:
    text = OPEN + "foreach t {0.2001 0.5} {$ns at $t {" + flush + "; puts [file size out.tr]}}\n"
    assert sizes(compare(text + LOOK + FINISH))


@pytest.mark.parametrize("setting", PARTS["settings"])
def test_settings_of_the_channel(compare: Compare, setting: str) -> None:
    # Once from the start, and once in the middle of a buffer.
    text = f"$ns at 0.45 {{fconfigure $f {setting}}}\n" + LOOK + FINISH
    compare(OPEN + text)


@pytest.mark.parametrize("setting", PARTS["settings"])
def test_settings_of_the_channel_from_the_start(compare: Compare, setting: str) -> None:
    compare(OPEN + f"fconfigure $f {setting}\n" + LOOK + FINISH)


def test_a_channel_to_read_and_write(compare: Compare) -> None:
    text = OPEN.replace("out.tr w", "out.tr w+")
    text += "$ns at 0.6 {seek $f 10; puts [gets $f]; seek $f 0 end}\n"
    compare(text + FINISH)


def test_a_trace_that_goes_on_behind_a_seek(compare: Compare) -> None:
    compare(OPEN + "$ns at 0.6 {seek $f 10}\n" + FINISH)


def test_standard_output(compare: Compare) -> None:
    traced = compare(OPEN.replace("[open out.tr w]", "stdout") + "$ns at 1 exit; $ns run\n")
    assert len(lines(traced, "stdout")) > MANY


@pytest.mark.parametrize("pipe", ["|cat > out.tr", "|gzip -n > out.gz"])
def test_pipes(compare: Compare, pipe: str) -> None:
    _, files = compare(OPEN.replace("[open out.tr w]", f"[open {{{pipe}}} w]") + FINISH)
    assert max(len(content) for content in files.values()) > MANY


def test_a_named_pipe(compare: Compare) -> None:
    text = "exec mkfifo pipe; set reader [exec cat pipe > out.tr &]\n" + OPEN.replace(
        "out.tr", "pipe"
    )
    # The reader ends after the writer has closed the pipe.
    reads = '[catch {exec sh -c "kill -0 $reader"}] == 0'
    wait = f"close $f; exec rm pipe; while {{{reads}}} {{after 10}}; exit"
    assert len(lines(compare(text + f"$ns at 1.5 {{{wait}}}; $ns run\n"))) > MANY


def test_a_transformation_on_top_of_the_channel(compare: Compare) -> None:
    traced = lines(compare(OPEN + PARTS["upper"] + FINISH))
    assert {"tcp", "TCP"} <= {line.split()[4] for line in traced}


# ---------------------------------------------------------------- how a script ends


@pytest.mark.parametrize("end", PARTS["ends"].values(), ids=PARTS["ends"].keys())
def test_ends_of_a_script(compare: Compare, end: str) -> None:
    assert len(lines(compare(OPEN + end))) > 10


# ---------------------------------------------------------------- channels that a script closes

CLOSED = HERE / "closed.tcl"
# all.nam, all.tr, flows.tr, monitor.tr, queue.tr, red.tr and tcp.tr, in this order
KEEPERS = 7
NEVER = 100.0


def closed(ns: Forks, folder: Path, times: list[float]) -> dict[str, bytes]:
    folder.mkdir()
    command = [str(CLOSED), *map(str, times)]
    status = ns.run(command, folder, folder / "stdout", folder / "stderr")
    assert status == 0, (folder / "stderr").read_text()
    assert (folder / "stdout").read_text() == "done\n"
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_trace_ends_with_its_channel(
    forks: Callable[[Path], Forks], ns_binary: Path, tmp_path: Path
) -> None:
    ns = forks(ns_binary)
    whole = closed(ns, tmp_path / "whole", [NEVER] * KEEPERS)
    traces = sorted(name for name in whole if name.endswith((".tr", ".nam")))
    assert len(traces) == KEEPERS
    chance = random.Random(1)
    for i in range(4):
        # All within half a second, so that the memory of each channel is used again by the next.
        begin = chance.uniform(0, 2)
        times = [chance.uniform(begin, begin + 0.5) for _ in traces]
        found = closed(ns, tmp_path / str(i), times)
        ends = dict(line.split() for line in found["ends"].decode().splitlines())
        for name in traces:
            assert found[name] == whole[name][: int(ends[name])]
            assert 0 < len(found[name]) < len(whole[name])
        # What the script opened afterwards has its own lines only.
        others = {found[f"other{k}"].decode().strip() for k in range(KEEPERS)}
        assert others == set(traces)


@pytest.mark.parametrize("text", PARTS["closed"].values(), ids=PARTS["closed"].keys())
def test_scripts_that_close_their_trace_before_the_end(
    text: str, forks: Callable[[Path], Forks], ns_binary: Path, tmp_path: Path
) -> None:
    """Stock goes on with a channel that is gone, and crashes in most cases."""
    status, files = run(forks(ns_binary), text, tmp_path / "fast")
    assert status == 0, files["stderr"]
    assert files["stdout"].startswith(b"done\n")
    assert len(lines((status, files))) > 100
