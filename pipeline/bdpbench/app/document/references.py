"""All generated references: file name → Markdown."""

from __future__ import annotations

from pathlib import Path

import click

from bdpbench.app.document.commands import commands_page
from bdpbench.app.document.keys import keys_page
from bdpbench.app.document.metrics import metrics_page
from bdpbench.contracts.files import write_text_atomically


def references(program: click.Group) -> dict[str, str]:
    """The pages of ``docs/reference/``.

    Args:
        program: the command line, with all of its commands.
    """
    return {
        "study.md": keys_page(),
        "metrics.md": metrics_page(),
        "commands.md": commands_page(program),
    }


def write_references(program: click.Group, folder: Path) -> list[Path]:
    """Write the pages into a folder, atomically, and return their paths."""
    found = references(program)
    for name, text in found.items():
        write_text_atomically(folder / name, text)
    return [folder / name for name in found]
