"""``spread.yaml``: how far a value moves when something that the study leaves open is varied.

A printed value inside the spread of equally good runs or readings is neither a match nor a plain
miss, and the report says so. No verdict depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, RootModel, model_validator

from bdpbench.contracts.scorecard import ScoredNumber, ScoredSpread
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.score.origin import matches, unknown_pattern
from bdpbench.studies.study import known_or_suggest

SPREAD_NAME = "spread.yaml"

_Text = Annotated[str, Field(min_length=1)]


class SpreadEntry(BaseModel):
    """What was varied for some numbers, and the resulting range.

    Attributes:
        of: ids of rows of ``published.csv``; ``*`` stands for any characters.
        varied: what was varied, in words.
        metric: another metric of the same run, whose value is the other end of the spread.
        least, most: instead of ``metric``, the ends of the spread, in the unit of the numbers, from
            runs that are not kept.
        source: where least and most come from.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    of: list[_Text] = Field(min_length=1)
    varied: _Text
    metric: str | None = None
    least: float | None = Field(None, allow_inf_nan=False)
    most: float | None = Field(None, allow_inf_nan=False)
    source: str = ""

    @model_validator(mode="after")
    def _has_one_spread(self) -> Self:
        given = self.least is not None and self.most is not None
        if given == (self.metric is not None) or (self.least is None) != (self.most is None):
            raise ValueError("give either metric, or least and most")
        if self.least is not None and self.most is not None and self.least > self.most:
            raise ValueError("least is above most")
        if given and not self.source:
            raise ValueError("the source of least and most is missing")
        return self


class _File(RootModel[list[SpreadEntry]]):
    pass


@dataclass(frozen=True)
class Spreads:
    """The entries of a study; none if it has no file."""

    entries: Sequence[SpreadEntry] = ()

    def of(self, row: ScoredNumber, measured: Callable[[str], float | None]) -> list[ScoredSpread]:
        """The spreads of a scored row.

        Args:
            row: the scored row.
            measured: returns the value of another metric of the same run and subject.
        """
        found: list[ScoredSpread] = []
        for entry in self.entries:
            own = row["measured"]
            if own is None or not any(matches(each, row["id"]) for each in entry.of):
                continue
            if entry.metric is not None:
                other = measured(entry.metric)
                ends = [own] if other is None else [own, other]
            else:
                ends = [each for each in (entry.least, entry.most) if each is not None]
            if len(ends) > 1:
                found.append(_scored(row, entry, min(ends), max(ends)))
        return found


def _scored(row: ScoredNumber, entry: SpreadEntry, least: float, most: float) -> ScoredSpread:
    return {
        "varied": entry.varied,
        "least": least,
        "most": most,
        "source": entry.source,
        "holds_print": row["lower"] <= most and least <= row["upper"],
    }


def load_spreads(path: Path, ids: Collection[str], metrics: Mapping[str, object]) -> Spreads:
    """Read and check ``spread.yaml``; a study without the file has none.

    Args:
        path: path of the file.
        ids: ids of the rows of ``published.csv``.
        metrics: ids of all metrics.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    if not path.is_file():
        return Spreads()
    source = YamlFile(path)
    entries = source.validate(_File).root
    for index, entry in enumerate(entries):
        wrong = unknown_pattern(entry.of, ids)
        if wrong:
            raise source.error((index, "of"), wrong[0], hint=wrong[1])
        if entry.metric is not None:
            unknown = known_or_suggest(entry.metric, metrics, "metric")
            if unknown:
                raise source.error((index, "metric"), unknown[0], hint=unknown[1])
    return Spreads(tuple(entries))
