"""What scorecards say of the entries of the atlas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bdpbench.contracts.atlas import AtlasEntry, Observed
from bdpbench.contracts.scorecard import (
    ClaimVerdict,
    Evidence,
    NumberVerdict,
    Scorecard,
    ScoredClaim,
    ScoredNumber,
    rows_of,
)


@dataclass(frozen=True)
class Source:
    """A scorecard of a study, and a description of its source for readers."""

    told: str
    scorecard: Scorecard

    @cached_property
    def numbers(self) -> Mapping[str, ScoredNumber]:
        """Id → what was scored of a printed number."""
        return {each["id"]: each for each in self.scorecard["numbers"]}

    @cached_property
    def claims(self) -> Mapping[str, ScoredClaim]:
        """Id → what was scored of a statement."""
        return {each["id"]: each for each in self.scorecard["claims"]}


def judged(entry: AtlasEntry, sources: Sequence[Source], titles: Mapping[str, str]) -> AtlasEntry:
    """An entry with the verdict of the first scorecard that has one, and what was measured.

    A scorecard in which another number was printed judged something else, and is passed over.

    Args:
        entry: one of the study that the scorecards are of.
        sources: its scorecards, the one that is asked first in front.
        titles: metric → its name for readers.
    """
    for source in sources:
        verdict, observed = _said(source, entry, titles)
        if verdict != "not_run":
            return {**entry, "verdict": verdict, "observed": observed, "source": source.told}
    return entry


def _said(
    source: Source, entry: AtlasEntry, titles: Mapping[str, str]
) -> tuple[NumberVerdict | ClaimVerdict, list[Observed]]:
    """Verdict of a scorecard, and what it was measured by."""
    if entry["kind"] == "statement":
        claim = source.claims.get(entry["id"])
        return (claim["verdict"], _decided_by(claim["evidence"], titles)) if claim else _NOTHING
    number = source.numbers.get(entry["id"])
    if number is None or not _same_print(number, entry):
        return _NOTHING
    return number["verdict"], _measured(number, titles)


_NOTHING: tuple[NumberVerdict, list[Observed]] = ("not_run", [])


def gone(source: Source, entries: Iterable[AtlasEntry]) -> int:
    """How many numbers and statements of a scorecard the study has no more."""
    known = {each["id"] for each in entries}
    return len((source.numbers.keys() | source.claims.keys()) - known)


def _same_print(number: ScoredNumber, entry: AtlasEntry) -> bool:
    return (number["published"], number["unit"]) == (entry["published"], entry["unit"])


def _measured(number: ScoredNumber, titles: Mapping[str, str]) -> list[Observed]:
    values = [row["measured"] for row in rows_of(number)]
    title = titles.get(number["metric"]) or number["metric"]
    return [_span(title, number["unit"], values)]


def _decided_by(evidence: Sequence[Evidence], titles: Mapping[str, str]) -> list[Observed]:
    """Spans of the values that decide a statement, one a metric and unit."""
    values: dict[tuple[str, str], dict[tuple[str, str], float | None]] = {}
    for each in evidence:
        metric = metric_of(each)
        of_metric = values.setdefault((titles.get(metric) or metric, each["unit"]), {})
        of_metric[each["label"], each["run_id"]] = each["value"]
    return [_span(title, unit, [*found.values()]) for (title, unit), found in values.items()]


def metric_of(evidence: Evidence) -> str:
    """The metric that a value is of: the first word of its label."""
    return evidence["label"].partition(", ")[0]


def _span(title: str, unit: str, values: Sequence[float | None]) -> Observed:
    known = list(_known(values))
    return {
        "metric": title,
        "unit": unit,
        "least": min(known, default=None),
        "most": max(known, default=None),
        "values": len(values),
    }


def _known(values: Iterable[float | None]) -> Iterator[float]:
    return (each for each in values if each is not None)
