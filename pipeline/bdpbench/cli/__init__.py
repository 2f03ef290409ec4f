"""The command line; the module of a command is imported only when the command is called."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import click

from bdpbench import __version__
from bdpbench.contracts.files import disk_error
from bdpbench.errors import BdpbenchError
from bdpbench.processes import end_with_call

# Section of the help → command → (module, one line of help), so that `--help` imports no command.
_SECTIONS = {
    "Run and judge": {
        "run": ("running", "Simulate the missing runs of a study and write its report."),
        "evaluate": ("running", "Put protocols beside those of all studies."),
        "list": ("running", "Show studies, scenarios, runs and what they cost."),
        "new": ("running", "Begin a study, a metric, a protocol or a queue."),
        "check": ("running", "Fail unless the verdicts of a tier are as expected."),
    },
    "Results": {
        "report": ("results", "Write a study's report, or its figures and tables for papers."),
        "metrics": ("results", "Print every metric of a result as CSV."),
        "compare": ("results", "Show which metrics moved between two results."),
        "atlas": ("results", "Show what all studies say about a protocol, side by side."),
        "archive": ("results", "Put a finished study into one file, with sources and checksums."),
        "verify": ("results", "Check that an archive is whole."),
        "publish": ("results", "Keep a finished tier's report in reports/published/."),
    },
    "Traces": {
        "analyze": ("traces", "Measure any trace of ns-2: throughput, goodput, loss, delay, ..."),
    },
    "The checkout, and single stages": {
        "ns2": ("stages", "Build ns-2.35, and ask about the build."),
        "plan": ("stages", "Write the plan of a tier, and batches of its missing runs."),
        "simulate": ("stages", "Simulate all runs of a batch."),
        "test": ("stages", "Run bdpbench's own tests."),
    },
}
_MODULES = {name: module for section in _SECTIONS.values() for name, (module, _) in section.items()}


class _LazyGroup(click.Group):
    """A group that imports a command when it is called, not for its help."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # click would only say "Aborted!"
            message = "interrupted; what was finished is kept"
            raise BdpbenchError(message, hint="the same command resumes") from None

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands:
            return None
        module = importlib.import_module(f"bdpbench.cli.{_MODULES[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])


@click.group(
    cls=_LazyGroup,
    commands={name: click.Command(name) for name in _MODULES},
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="bdpbench")
def cli() -> None:
    """Reproduce the classic studies of TCP on high bandwidth-delay-product paths.

    `bdpbench run` sets everything up, simulates the quick tier of the default study and
    prints the path of the report.
    """


def main() -> None:
    """Entry point: an expected error becomes one message and exit code 1, never a traceback."""
    end_with_call()
    try:
        try:
            cli.main(prog_name="bdpbench", standalone_mode=True)
        finally:
            print(end="", flush=True)
    except BdpbenchError as error:
        told: BdpbenchError | None = error
    except OSError as error:
        unnamed = error.errno is not None and error.filename is None
        told = disk_error(error, Path("standard output") if unnamed else None)
        if told is None:
            raise
        sys.stdout = None  # it may be what refuses
    click.echo(f"error: {told}", err=True)
    sys.exit(1)
