"""Processes end with the call that started them, and process groups end as a whole."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from tests.waiting import HANGS_S, has_ended

from bdpbench.contracts.paths import repository_root
from bdpbench.processes import (
    CALL_VARIABLE,
    run,
    signals_interrupt,
    started,
)

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(repository_root() / "pipeline")}
# A call, which prints the name by which its stages know it, and waits.
CALL = """
import time
from bdpbench.processes import name_of_this_call
print(name_of_this_call(), flush=True)
time.sleep(600)
"""
# A stage that is started by a shell, as Snakemake's are.
STAGE = """
import time
from bdpbench.processes import end_with_call
end_with_call()
print("works", flush=True)
time.sleep(600)
"""


def _python(code: str, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env={**ENVIRONMENT, **more},
    )


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_a_stage_ends_with_its_call_although_it_is_no_child_of_it() -> None:
    with _python(CALL) as call:
        name = _line(call)
        with _python(STAGE, **{CALL_VARIABLE: name}) as stage:
            assert _line(stage) == "works"
            call.kill()
            assert stage.wait(HANGS_S) == 1


def test_a_stage_of_a_call_that_has_ended_does_not_begin() -> None:
    with _python(CALL) as call:
        name = _line(call)
        call.kill()
    with _python(STAGE, **{CALL_VARIABLE: name}) as stage:
        assert stage.wait(HANGS_S) == 1
        assert _line(stage) == ""


@pytest.mark.parametrize("name", ["", "another-machine/pid:[1] 1 5"])
def test_a_stage_without_a_call_on_this_machine_works_alone(name: str) -> None:
    with _python(STAGE, **{CALL_VARIABLE: name}) as stage:
        assert _line(stage) == "works"
        stage.kill()


# What starts ns-2, which would outlive it.
PARENT = """
import subprocess
from bdpbench.processes import start
child = start(["sleep", "600"], stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
child.wait()
"""


def test_a_child_is_killed_with_its_parent() -> None:
    with _python(PARENT) as parent:
        child = os.pidfd_open(int(_line(parent)))
        parent.kill()
    ended = select.poll()
    ended.register(child, select.POLLIN)
    assert ended.poll(1000 * HANGS_S)
    os.close(child)


@pytest.mark.parametrize(
    ("answer", "grace_s", "said"),
    [
        ("sleep 0.3; echo the end > said; exit", HANGS_S, "the end\n"),  # it has time to answer
        ("", 0.1, ""),  # it ignores that it is asked, as its children do
    ],
    ids=["asked", "killed"],
)
def test_a_group_ends_whole(tmp_path: Path, answer: str, grace_s: float, said: str) -> None:
    """A shell with two children, the last of which tells its number."""
    (tmp_path / "said").touch()
    script = f"trap '{answer}' TERM; sleep 610 & sleep 620 & echo $!; wait"
    command = ["bash", "-c", script]
    with started(command, grace_s, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as child:
        grandchild = int(_line(child))
    assert child.returncode is not None
    assert (tmp_path / "said").read_text() == said
    assert has_ended(grandchild)


def test_a_program_is_run_to_its_end_or_ended_with_what_keeps_its_output_open() -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run(["sh", "-c", "sleep 600; exit"], 0.1)
    script = "read word; echo $word; echo no >&2; exit 3"
    done = run(["sh", "-c", script], HANGS_S, "yes\n")
    assert (done.returncode, done.stdout, done.stderr) == (3, "yes\n", "no\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    ("handler", "outcome"),
    [(signal.SIG_DFL, pytest.raises(KeyboardInterrupt)), (signal.SIG_IGN, nullcontext())],
    ids=["default", "ignored"],  # as under nohup
)
def test_signals_that_end_a_process_interrupt_it(
    number: signal.Signals, handler: signal.Handlers, outcome: AbstractContextManager[object]
) -> None:
    def get() -> None:
        signal.raise_signal(number)

    before = signal.signal(number, handler)
    try:
        with outcome, signals_interrupt():
            get()
        assert signal.getsignal(number) is handler
    finally:
        signal.signal(number, before)
