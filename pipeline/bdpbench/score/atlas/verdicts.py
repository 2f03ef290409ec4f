"""What scorecards say about the entries of the atlas."""

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
        """Id → the scored printed number."""
        return {each["id"]: each for each in self.scorecard["numbers"]}

    @cached_property
    def claims(self) -> Mapping[str, ScoredClaim]:
        """Id → the scored statement."""
        return {each["id"]: each for each in self.scorecard["claims"]}


def judged(entry: AtlasEntry, sources: Sequence[Source], titles: Mapping[str, str]) -> AtlasEntry:
    """An entry with the verdict of the first scorecard that has one, and what was measured.

    A scorecard with another printed number judged something else, and is skipped.

    Args:
        entry: an entry of the study of the scorecards.
        sources: its scorecards, in the order in which they are consulted.
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
    """Verdict of a scorecard, and the measured values that it is based on."""
    if entry["kind"] == "statement":
        claim = source.claims.get(entry["id"])
        return (claim["verdict"], _decided_by(claim["evidence"], titles)) if claim else _NOTHING
    number = source.numbers.get(entry["id"])
    if number is None or not _same_print(number, entry):
        return _NOTHING
    return number["verdict"], _measured(number, titles)


_NOTHING: tuple[NumberVerdict, list[Observed]] = ("not_run", [])


def gone(source: Source, entries: Iterable[AtlasEntry]) -> int:
    """How many numbers and statements of a scorecard the study no longer has."""
    known = {each["id"] for each in entries}
    return len((source.numbers.keys() | source.claims.keys()) - known)


def _same_print(number: ScoredNumber, entry: AtlasEntry) -> bool:
    return (number["published"], number["unit"]) == (entry["published"], entry["unit"])


def _measured(number: ScoredNumber, titles: Mapping[str, str]) -> list[Observed]:
    values = [row["measured"] for row in rows_of(number)]
    title = titles.get(number["metric"]) or number["metric"]
    return [_span(title, number["unit"], values)]


def _decided_by(evidence: Sequence[Evidence], titles: Mapping[str, str]) -> list[Observed]:
    """Ranges of the values that decide a statement, one per metric and unit."""
    values: dict[tuple[str, str], dict[tuple[str, str], float | None]] = {}
    for each in evidence:
        metric = metric_of(each)
        of_metric = values.setdefault((titles.get(metric) or metric, each["unit"]), {})
        of_metric[each["label"], each["run_id"]] = each["value"]
    return [_span(title, unit, [*found.values()]) for (title, unit), found in values.items()]


def metric_of(evidence: Evidence) -> str:
    """The metric of a value: the first word of its label."""
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
