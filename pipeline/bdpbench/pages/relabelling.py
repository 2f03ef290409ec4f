"""A report whose runs get other ids: the same page, down to what it holds packed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import escape

from bdpbench.errors import BdpbenchError
from bdpbench.pages.embed import pack_text, unpack_text

RUN_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")

_BODY = re.compile(
    r'(<details class="run" id="run-([0-9a-f]{16})">.*?'
    r'<script type="text/plain" class="packed">)([A-Za-z0-9+/=]*)(</script>)',
    re.DOTALL,
)
_RUNS_ROW = re.compile(r'<tr><th scope="row">Runs</th><td>\d+ finished of \d+ planned</td></tr>\n')
_ID_IS = "Its id is a hash of parameters, script and ns-2 build: the same id\nalways means"
ID_IS_TODAY = (
    "Its id is a hash of what ns-2 gets, which is arguments, Tcl\n"
    "files and the parts of ns-2 that its agents use: the same id always means"
)
"""What `runs.html` says of an id."""


@dataclass(frozen=True)
class Relabelling:
    """What changes on a page.

    Attributes:
        ids: id that a run had → id that it gets.
        commands: id that a run had → command that ran ns-2 alone, and the one that does so now.
        note: sentence on runs that are taken over, before, "" where there was none, and after.
    """

    ids: Mapping[str, str]
    commands: Mapping[str, tuple[str, str]]
    note: tuple[str, str]


def relabelled_text(text: str, ids: Mapping[str, str]) -> str:
    """A text in which runs have other ids."""
    return RUN_ID.sub(lambda found: ids.get(found[0], found[0]), text)


def relabelled_page(page: str, change: Relabelling) -> str:
    """The page with new ids, the commands that go with them, and the note; no other change.

    Raises:
        BdpbenchError: when the page is no report of these runs.
    """
    found = {body[2] for body in _BODY.finditer(page)}
    if found != set(change.ids):
        raise BdpbenchError(f"is no report of these runs: it has {len(found)} of its own")
    page = _BODY.sub(lambda body: _relabelled_body(body, change), page)
    page = page.replace(_ID_IS, ID_IS_TODAY)
    return _noted(relabelled_text(page, change.ids), change.note)


def _relabelled_body(found: re.Match[str], change: Relabelling) -> str:
    run_id = found[2]
    try:
        text = unpack_text(found[3])
    except ValueError:
        raise BdpbenchError(f"is damaged: what it holds of run {run_id} is unreadable") from None
    old, new = (f"<pre><code>{escape(each)}</code></pre>" for each in change.commands[run_id])
    if text.count(old) != 1:
        raise BdpbenchError(f"does not show the command that runs ns-2 for run {run_id}")
    text = relabelled_text(text.replace(old, new), change.ids)
    return f"{found[1]}{pack_text(text)}{found[4]}"


def _noted(page: str, note: tuple[str, str]) -> str:
    """The page with the note among the facts on all runs, in the place of an older one."""
    old, new = (
        f'<tr><th scope="row">Taken over</th><td>{escape(each)}</td></tr>\n' for each in note
    )
    if note[0] and page.count(old) == 1:
        return page.replace(old, new)
    rows = list(_RUNS_ROW.finditer(page))
    if len(rows) != 1:
        raise BdpbenchError("does not say once how many runs are finished")
    end = rows[0].end()
    return page[:end] + new + page[end:]
