"""``history.yaml``: what was changed after it was first listed.

Archives and readers of a report have no git history. So changes to definitions, bounds and
statements are recorded with the study: the earlier version, and the reason for the change.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from bdpbench.contracts.scorecard import Change
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.score.origin import resolved

HISTORY_NAME = "history.yaml"

_Text = Annotated[str, Field(min_length=1)]


class ChangeEntry(BaseModel):
    """One change; see ``contracts.scorecard.Change``."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    date: datetime.date | _Text
    commit: str = Field("", pattern="^([0-9a-f]{7,40})?$")
    what: Literal["definition", "bounds", "statement", "counting"]
    published: bool
    of: list[_Text] = Field(min_length=1)
    before: _Text
    after: _Text
    why: _Text


class _File(RootModel[list[ChangeEntry]]):
    pass


@dataclass(frozen=True)
class History:
    """The changes of a study, in the order of its file, which is read again to find a line."""

    changes: Sequence[ChangeEntry] = ()
    source: YamlFile | None = None

    def error(self, index: int, message: str, hint: str) -> BdpbenchError:
        """The error to raise about the ids of a change."""
        if self.source is None:
            return BdpbenchError(message, hint=hint)
        return self.source.error((index, "of"), message, hint=hint)

    def documents(self, ids: Collection[str]) -> list[Change]:
        """The changes as in ``scorecard.json``, with all of ``ids`` that match their patterns."""
        return [
            {
                "date": str(each.date),
                "commit": each.commit,
                "what": each.what,
                "published": each.published,
                "of": resolved(each.of, ids),
                "before": each.before,
                "after": each.after,
                "why": each.why,
            }
            for each in self.changes
        ]


def load_history(path: Path) -> History:
    """Read and check ``history.yaml``; a study without the file has no changes.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    if not path.is_file():
        return History()
    source = YamlFile(path)
    changes = source.validate(_File).root
    for index, each in enumerate(changes):
        try:
            datetime.date.fromisoformat(str(each.date))
        except ValueError:
            raise source.error((index, "date"), "expected a date such as 2026-11-21") from None
    return History(tuple(changes), source)
