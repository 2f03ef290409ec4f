"""Reference of the commands, generated from the command line."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from bdpbench.app.document.tables import GENERATED, table


def commands_page(program: click.Group) -> str:
    """Markdown of all commands with their arguments and options."""
    context = click.Context(program, info_name="bdpbench")
    lines = [
        GENERATED,
        "",
        "# Commands",
        "",
        "Each is called as `./bdpbench COMMAND`; `--help` says the same on a terminal.",
    ]
    for name in program.list_commands(context):
        command = program.get_command(context, name)
        if command is not None:
            lines += _command(command, name, context, "##")
    return "\n".join(lines) + "\n"


def _command(command: click.Command, name: str, parent: click.Context, level: str) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join(command.collect_usage_pieces(context))
    yield from ["", f"{level} {name}", "", f"`{context.command_path} {usage}`", ""]
    yield inspect.cleandoc(command.help or "").split("\f")[0].strip()
    options = [
        record
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option) and "--help" not in parameter.opts
        if (record := parameter.get_help_record(context)) is not None
    ]
    if options:
        yield ""
        yield from table(["option", "what it does"], [(f"`{a}`", b) for a, b in options])
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            below = command.get_command(context, each)
            if below is not None:
                yield from _command(below, each, context, level + "#")
