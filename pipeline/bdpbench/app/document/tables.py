"""Markdown tables and texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

GENERATED = "<!-- Made by `./bdpbench docs`; edits are lost. -->"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table; cells are one line each.

    >>> table(["key", "unit"], [["rtt_ms", "ms"]])
    ['| key | unit |', '|---|---|', '| rtt_ms | ms |']
    """
    head = [f"| {' | '.join(titles)} |", "|" + "---|" * len(titles)]
    return [*head, *(f"| {' | '.join(map(_cell, row))} |" for row in rows)]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
