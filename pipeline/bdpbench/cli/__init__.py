"""The command line; the module of a command is imported only when the command is called."""

from __future__ import annotations

import importlib
import io
import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from bdpbench import __version__
from bdpbench.contracts.files import disk_error
from bdpbench.errors import BdpbenchError
from bdpbench.processes import end_with_call

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STREAMS = {"stdout": "standard output", "stderr": "standard error"}
# Command → (module, one line of help). The help texts are here so that `--help` imports no command.
_COMMANDS = {
    "run": ("running", "Simulate the missing runs of a study and write its report."),
    "evaluate": ("running", "Put protocols beside those of all studies."),
    "list": ("running", "Show studies, scenarios, runs and what they cost."),
    "new": ("running", "Begin a study, a metric, a protocol or a queue."),
    "analyze": ("tools", "Measure any trace of ns-2: throughput, goodput, loss, delay, ..."),
    "check": ("running", "Fail unless the verdicts of a tier are as expected."),
    "report": ("results", "Write a study's report, or its figures and tables for papers."),
    "archive": ("results", "Put a finished study into one file, with sources and checksums."),
    "verify": ("results", "Check that an archive is whole."),
    "atlas": ("results", "Show what all studies say about a protocol, side by side."),
    "compare": ("results", "Show which metrics moved between two results."),
    "metrics": ("results", "Print every metric of a result as CSV."),
    "publish": ("results", "Keep a finished tier's report in reports/published/."),
    "test": ("tools", "Run bdpbench's own tests."),
    "ns2": ("ns2", "Build ns-2.35, and ask about the build."),
    "plan": ("stages", "Write the plan of a tier, and batches of its missing runs."),
    "simulate": ("stages", "Simulate all runs of a batch."),
}


class _LazyGroup(click.Group):
    """A group that imports a command when it is called, not for its help."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # click would only say "Aborted!"
            message = "interrupted; what was finished is kept"
            raise BdpbenchError(message, hint="the same command resumes") from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"bdpbench.cli.{_COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(name, _COMMANDS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise click.UsageError(f"No such command {name!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bdpbench")
def cli() -> None:
    """Reproduce the classic studies of TCP on high bandwidth-delay-product paths.

    `bdpbench run` sets everything up, simulates the quick tier of the default study and
    prints the path of the report.
    """


def main() -> None:
    """Entry point: an expected error becomes one message and exit code 1, never a traceback."""
    _open_streams()
    end_with_call()
    sys.unraisablehook = _not_lost
    try:
        try:
            cli.main(prog_name="bdpbench", standalone_mode=True)
        finally:
            sys.stdout.flush()
    except BdpbenchError as error:
        _fail(error)
    except OSError as error:
        if error.filename in _STREAMS.values():
            _fail(BdpbenchError(f"cannot be written: {error.strerror}", where=error.filename))
        of_disk = disk_error(error)
        if of_disk is None:
            raise
        _fail(of_disk)


class _Stream(io.FileIO):
    """An output stream of this process whose first error names it; what follows is dropped.

    Standard error only drops: no result may depend on whether its progress can be told.
    """

    failed = False

    def write(self, data: ReadableBuffer, /) -> int | None:  # type: ignore[override]
        if self.failed:  # Python writes again what it has buffered
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except OSError as error:
            self.failed = True
            if self.name == _STREAMS["stderr"]:
                return memoryview(data).nbytes
            error.filename = self.name
            raise


def _open_streams() -> None:
    """Let errors name the streams, and open those that the caller has closed.

    Otherwise a file that is opened later would get their numbers.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))
    for name, words in _STREAMS.items():
        given = getattr(sys, name)
        try:
            raw = _Stream(given.fileno(), "w", closefd=False)
        except io.UnsupportedOperation:  # a program that calls this one reads what it says
            continue
        raw.name = words
        lines = given.line_buffering
        buffer = io.BufferedWriter(raw)
        made = io.TextIOWrapper(buffer, given.encoding, given.errors, line_buffering=lines)
        setattr(sys, name, made)


def _not_lost(unraisable: sys.UnraisableHookArgs) -> None:
    """Repeat a Ctrl-C that Python raised where it drops every exception, such as in a destructor.

    Python would print a traceback there, and the call would go on.
    """
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    import _thread
    import signal
    import threading
    import time

    caller = threading.main_thread().ident or 0

    def repeat() -> None:
        # Not while this function runs: the exception would be raised in it and be dropped again.
        time.sleep(0.05)
        while sys._current_frames()[caller].f_code is _not_lost.__code__:
            time.sleep(0.05)
        signal.pthread_kill(caller, signal.SIGINT)

    _thread.start_new_thread(repeat, ())  # a Thread would wait here until it has begun


def _fail(error: BdpbenchError) -> NoReturn:
    click.echo(f"error: {error}", err=True)
    sys.exit(1)
