"""Gives the runs of a report other ids: the same page otherwise, including its packed parts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import escape

from bdpbench.errors import BdpbenchError
from bdpbench.pages.embed import pack_text, unpack_text
from bdpbench.pages.shards import ShardContent, shard_name, shard_script, shard_text

RUN_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")

_BODY = re.compile(
    r'(<details class="run" id="run-([0-9a-f]{16})">.*?'
    r'<script type="text/plain" class="packed">)([A-Za-z0-9+/=]*)(</script>)',
    re.DOTALL,
)
_INDEX = re.compile(r'(<script type="text/plain" id="shard-index">)([A-Za-z0-9+/=]*)(</script>)')
_FILE_NAME = re.compile(r"(?<![0-9a-f])[0-9a-f]{16}\.js")
_RUN = "run-"
_RUNS_ROW = re.compile(r'<tr><th scope="row">Runs</th><td>\d+ finished of \d+ planned</td></tr>\n')
_ID_IS = "Its id is a hash of parameters, script and ns-2 build: the same id\nalways means"
ID_IS_TODAY = (
    "Its id is a hash of everything that ns-2 gets, namely arguments, Tcl\n"
    "files and the parts of ns-2 that its agents use: the same id always means"
)
"""The explanation of an id in `runs.html`."""


@dataclass(frozen=True)
class Relabelling:
    """What changes on a page.

    Attributes:
        ids: old id of a run → new id.
        commands: old id of a run → the command that ran only ns-2, then and now.
        note: sentence on runs taken over, before ("" if there was none) and after.
    """

    ids: Mapping[str, str]
    commands: Mapping[str, tuple[str, str]]
    note: tuple[str, str]


def relabelled_text(text: str, ids: Mapping[str, str]) -> str:
    """A text with new ids of runs."""
    return RUN_ID.sub(lambda found: ids.get(found[0], found[0]), text)


def relabelled_report(
    page: str, beside: Mapping[str, str], change: Relabelling
) -> tuple[str, dict[str, str]]:
    """The page and the files beside it, name → text, with new ids, commands and note.

    Nothing else changes except the names of the files, which are hashes of their content.

    Raises:
        BdpbenchError: when the page is not a report of these runs.
    """
    bodies = {body[2] for body in _BODY.finditer(page)}
    page = _BODY.sub(lambda body: _relabelled_body(body, change), page)
    names, files = {}, {}
    for name, script in beside.items():
        content: ShardContent = json.loads(shard_text(script))
        bodies |= {each[len(_RUN) :] for each in content["html"] if each.startswith(_RUN)}
        renewed = shard_script(_relabelled_shard(content, change))
        names[name] = shard_name(renewed)
        files[names[name]] = renewed
    if bodies != set(change.ids):
        raise BdpbenchError(f"is not a report of these runs: it has {len(bodies)} of its own")
    page = _INDEX.sub(lambda found: _relabelled_index(found, names, change.ids), page)
    page = page.replace(_ID_IS, ID_IS_TODAY)
    return _noted(relabelled_text(page, change.ids), change.note), files


def _relabelled_shard(content: ShardContent, change: Relabelling) -> str:
    """The new content of a file of the report, as JSON."""
    for element, html in content["html"].items():
        if element.startswith(_RUN):
            run_id = element[len(_RUN) :]
            content["html"][element] = _with_command(html, run_id, change)
    text = json.dumps(content, separators=(",", ":"))
    return relabelled_text(text, change.ids)


def _relabelled_index(
    found: re.Match[str], names: Mapping[str, str], ids: Mapping[str, str]
) -> str:
    """The index of the files with their new names, and the new ids of the runs."""
    text = _unpacked(found[2], "its index of the files beside it")
    text = _FILE_NAME.sub(lambda name: names.get(name[0], name[0]), text)
    return f"{found[1]}{pack_text(relabelled_text(text, ids))}{found[3]}"


def _relabelled_body(found: re.Match[str], change: Relabelling) -> str:
    run_id = found[2]
    if run_id not in change.commands:
        return found[0]  # of another study; the caller reports that when it counts the runs
    text = _unpacked(found[3], f"its section on run {run_id}")
    text = relabelled_text(_with_command(text, run_id, change), change.ids)
    return f"{found[1]}{pack_text(text)}{found[4]}"


def _unpacked(packed: str, what: str) -> str:
    try:
        return unpack_text(packed)
    except ValueError:
        raise BdpbenchError(f"is damaged: {what} is unreadable") from None


def _with_command(html: str, run_id: str, change: Relabelling) -> str:
    """The section of a run with its current command."""
    commands = change.commands.get(run_id)
    if commands is None:
        return html
    old, new = (f"<pre><code>{escape(each)}</code></pre>" for each in commands)
    if html.count(old) != 1:
        raise BdpbenchError(f"does not show the command that runs ns-2 for run {run_id}")
    return html.replace(old, new)


def _noted(page: str, note: tuple[str, str]) -> str:
    """The page with the note among the facts about all runs, replacing an older one."""
    old, new = (
        f'<tr><th scope="row">Taken over</th><td>{escape(each)}</td></tr>\n' for each in note
    )
    if note[0] and page.count(old) == 1:
        return page.replace(old, new)
    rows = list(_RUNS_ROW.finditer(page))
    if len(rows) != 1:
        raise BdpbenchError("does not state exactly once how many runs are finished")
    end = rows[0].end()
    return page[:end] + new + page[end:]
