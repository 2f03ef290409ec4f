"""Checks a study's expectations when it is planned, before anything is simulated.

A number or statement whose metric, scenario, parameters or subject no run can have would appear as
*not run* after hours of simulation; here it is reported with file and line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Protocol, runtime_checkable

from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.yaml_files import suggest
from bdpbench.errors import BdpbenchError
from bdpbench.score.claims import Claim, Monotone, Question, load_claims
from bdpbench.score.history import HISTORY_NAME, History, load_history
from bdpbench.score.lookup import Asked, RunIndex, check_means
from bdpbench.score.origin import unknown_pattern
from bdpbench.score.published import PublishedNumber, published_by_line
from bdpbench.score.spread import SPREAD_NAME, Spreads, load_spreads
from bdpbench.studies.study import Study

PUBLISHED_NAME = "published.csv"
CLAIMS_NAME = "claims.yaml"

_FEWEST_POINTS = 3
_SHOWN_LABELS = 3


class Definition(Protocol):
    """The facts about a metric: its unit, its subject, and on how many runs it is measured.

    ``subject`` is "flow", "link" or "run"; ``level`` is "run", or "group" for a metric of several
    runs, whose value belongs to one of them.
    """

    @property
    def unit(self) -> str: ...  # noqa: D102
    @property
    def subject(self) -> str: ...  # noqa: D102
    @property
    def level(self) -> str: ...  # noqa: D102


@runtime_checkable
class OfRun(Protocol):
    """A metric that runs have only with certain tables and parameters."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Tables that it is measured on; for a flow or link, the first has the measured series."""

    def lacking(self, tables: Sequence[str], parameters: Sequence[str]) -> list[str]:
        """What a run with these tables and parameters lacks to have it, e.g. ``["table cwnd"]``."""


@dataclass(frozen=True)
class Expectations:
    """Printed numbers and statements of a study, and later changes to them."""

    numbers: Sequence[PublishedNumber]
    claims: Sequence[Claim]
    history: History = field(default_factory=History)
    spreads: Spreads = field(default_factory=Spreads)


def load_expectations(folder: Path, definitions: Mapping[str, object]) -> Expectations:
    """Read the expectations of a study; each of its files may be absent.

    Raises:
        BdpbenchError: naming file, line and column or key of an invalid entry or an unknown id.
    """
    return _load(folder, definitions)[0]


def _load(
    folder: Path, definitions: Mapping[str, object]
) -> tuple[Expectations, Mapping[int, PublishedNumber]]:
    """The expectations of a study, and its numbers by their lines."""
    path = folder / PUBLISHED_NAME
    published = published_by_line(path, definitions)
    claims = load_claims(folder / CLAIMS_NAME, definitions)
    history = load_history(folder / HISTORY_NAME)
    ids = {each.text.id for each in claims}
    for number in published.values():
        ids |= {number.id, number.part_of} - {""}
    for line, number in published.items():
        wrong = unknown_pattern(number.origin.chosen_on, ids)
        if wrong:
            raise BdpbenchError(f"chosen_on: {wrong[0]}", where=f"{path}:{line}", hint=wrong[1])
    for claim in claims:
        wrong = unknown_pattern(claim.origin.chosen_on, ids)
        if wrong:
            raise claim.error("chosen_on", *wrong)
    for index, change in enumerate(history.changes):
        wrong = unknown_pattern(change.of, ids)
        if wrong:
            raise history.error(index, *wrong)
    rows = [number.id for number in published.values()]
    spreads = load_spreads(folder / SPREAD_NAME, rows, definitions)
    return Expectations(list(published.values()), claims, history, spreads), published


def what_lacks(metric: object, runs: Sequence[PlannedRun]) -> list[str]:
    """What the first of some runs lacks to have a metric; empty if any of them has it."""
    first: list[str] = []
    if not isinstance(metric, OfRun):
        return first
    for run in runs:
        lacks = metric.lacking([each["table"] for each in run["outputs"]], list(run["parameters"]))
        if not lacks:
            return []
        first = first or lacks
    return first


def check_expectations(
    folder: Path,
    study: Study,
    runs: Mapping[str, Sequence[PlannedRun]],
    definitions: Mapping[str, Definition],
) -> Expectations:
    """Read the expectations of a study, and check that its runs can show them.

    Args:
        folder: folder of the study.
        study: the study with its scenarios.
        runs: tier → all runs of the tier, for every tier of the study.
        definitions: metric → facts about it.

    Raises:
        BdpbenchError: naming file and line of a number in another unit than its metric; of a
            selector with an unknown scenario or parameter, one that matches no run, or several runs
            of a tier where one is needed; of a subject that the metric or its run does not have; of
            a sweep along a parameter that is not a number or has too few points; and of an unknown
            id in ``chosen_on`` or in the history.
    """
    expected, published = _load(folder, definitions)
    check = _Check(study, runs, definitions)
    for line, number in published.items():
        where = f"{folder / PUBLISHED_NAME}:{line}"
        check.unit(number, where)
        check.one(number, where)
        _check_spreads(check, expected.spreads, number)
    for claim in expected.claims:
        for question in claim.questions:
            _check_question(check, question, str(folder / CLAIMS_NAME))
    return expected


def _check_spreads(check: _Check, spreads: Spreads, number: PublishedNumber) -> None:
    """Check what the spreads of a number ask for; a line is looked up only for what is wrong."""
    for location, asked in spreads.asked_of(number):
        try:
            check.unit(asked, SPREAD_NAME)
            check.some(asked, SPREAD_NAME)
        except BdpbenchError as error:
            if spreads.source is None:
                raise
            raise spreads.source.error(location, error.message, hint=error.hint) from None


def _check_question(check: _Check, question: Question, path: str) -> None:
    """Check what a claim asks for; its line is looked up only if something is wrong."""
    try:
        if isinstance(question.asked, Monotone):
            check.sweep(question.asked, path)
        elif question.asked.mean_over:
            check.mean(question.asked, question.asked.mean_over, path)
        else:
            check.one(question.asked, path)
    except BdpbenchError as error:
        where = f"{path}:{question.line}"
        raise BdpbenchError(error.message, where=where, hint=error.hint) from None


_Kind = tuple[tuple[str, ...], tuple[str, ...]]
"""The tables and the parameters of a run."""


class _Check:
    """Checks questions against the runs of a study by tier."""

    def __init__(
        self,
        study: Study,
        runs: Mapping[str, Sequence[PlannedRun]],
        definitions: Mapping[str, Definition],
    ) -> None:
        self._definitions = definitions
        self._of_run = {key: each for key, each in definitions.items() if isinstance(each, OfRun)}
        self._known: dict[tuple[str, _Kind], list[str]] = {}
        self._kinds: dict[int, _Kind] = {}
        self._all = RunIndex(study.scenarios, chain.from_iterable(runs.values()))
        self._tiers = {tier: RunIndex(study.scenarios, each) for tier, each in runs.items()}

    def unit(self, number: PublishedNumber, where: str) -> None:
        """Check that the unit of a number is that of its metric."""
        unit = self._definitions[number.metric].unit
        if number.unit != unit:
            raise BdpbenchError(
                f"unit: the number is in {number.unit!r}, and {number.metric} is measured in "
                f"{unit!r}",
                where=where,
            )

    def some(self, asked: Asked, where: str) -> None:
        """Some tier has a run with the metric and its subject."""
        self._fits(asked, where)

    def one(self, asked: Asked, where: str) -> None:
        """Check that some tier has a run with metric and subject, and no tier has two of them."""
        self._fits(asked, where)
        if self._definitions[asked.metric].level != "run":
            return  # it belongs to one of the compared runs
        for tier, index in self._tiers.items():
            found = [
                (run["label"], subject)
                for run in index.find(asked, where)
                for subject in self._subjects(asked, run)
            ]
            if len(found) > 1:
                shown = "; ".join(f"{label}, {subject}" for label, subject in found[:_SHOWN_LABELS])
                more = "; …" if len(found) > _SHOWN_LABELS else ""
                raise BdpbenchError(
                    f"ambiguous selector: {asked.metric} fits {len(found)} results of tier {tier}"
                    f" ({shown}{more})",
                    where=where,
                    hint="name more parameters in select, or the subject",
                )

    def mean(self, asked: Asked, over: Sequence[str], where: str) -> None:
        """Check that some tier has runs with the metric, and that their differences are named."""
        for run in self._fits(asked, where):
            subjects = self._subjects(asked, run)
            if len(subjects) > 1:
                raise BdpbenchError(
                    f"ambiguous selector: {asked.metric} has several subjects,"
                    f" {' and '.join(subjects[:2])}",
                    where=where,
                    hint="name the subject",
                )
        for index in self._tiers.values():
            check_means(asked, over, index.find(asked, where), where)

    def sweep(self, asked: Monotone, where: str) -> None:
        """Check that some tier has enough runs with the metric, at points that can be ordered."""
        for run in self._fits(asked, where):
            value = run["parameters"].get(asked.along)
            if not isinstance(value, (int, float)):
                numbers = [
                    name
                    for name, each in run["parameters"].items()
                    if isinstance(each, (int, float))
                ]
                raise BdpbenchError(
                    f"along: {asked.along!r} is not a number among the parameters of "
                    f"{run['label']}",
                    where=where,
                    hint=suggest(asked.along, numbers),
                )
        if asked.mean_over:
            self.mean(asked, [*asked.mean_over, asked.along], where)
        most = max(
            len({run["parameters"][asked.along] for run in index.find(asked, where)})
            for index in self._tiers.values()
        )
        if most < _FEWEST_POINTS:
            raise BdpbenchError(
                f"along {asked.along} no tier has more than {most} runs, and a sweep needs"
                f" {_FEWEST_POINTS}",
                where=where,
                hint="select fewer parameters",
            )

    def _fits(self, asked: Asked, where: str) -> list[PlannedRun]:
        """The selected runs of all tiers that have the metric and its subject, at least one."""
        found = self._all.find(asked, where)
        if not found:
            message, hint = self._all.why_none(asked)
            raise BdpbenchError(message, where=where, hint=hint)
        able = [run for run in found if not self._lacking(asked.metric, run)]
        if not able:
            lacks = ", ".join(self._lacking(asked.metric, found[0]))
            raise BdpbenchError(
                f"{asked.metric} is not measured in {found[0]['label']}: it has no {lacks}",
                where=where,
                hint="its script writes: "
                + ", ".join(dict.fromkeys(output["table"] for output in found[0]["outputs"])),
            )
        fitting = [run for run in able if self._subjects(asked, run)]
        if not fitting:
            known = self._known_subjects(asked.metric, able[0])
            raise BdpbenchError(
                f"subject: {asked.metric} of {able[0]['label']} has no {asked.subject!r}",
                where=where,
                hint=suggest(asked.subject or "", known),
            )
        return fitting

    def _lacking(self, metric: str, run: PlannedRun) -> list[str]:
        """Tables and parameters without which a run does not have a metric."""
        definition = self._of_run.get(metric)
        if definition is None:
            return []
        kind = self._kinds.get(id(run))  # the index keeps the run
        if kind is None:
            tables = tuple(output["table"] for output in run["outputs"])
            kind = self._kinds[id(run)] = (tables, tuple(run["parameters"]))
        # Among tens of thousands of runs there are few different kinds.
        if (metric, kind) not in self._known:
            self._known[metric, kind] = definition.lacking(*kind)
        return self._known[metric, kind]

    def _subjects(self, asked: Asked, run: PlannedRun) -> list[str]:
        """The subjects of a run that a question may be about."""
        if self._lacking(asked.metric, run):
            return []
        known = self._known_subjects(asked.metric, run)
        if asked.subject is None:
            return known
        kind = self._definitions[asked.metric].subject
        return [asked.subject] if asked.subject in known or _traced(kind, asked, run) else []

    def _known_subjects(self, metric: str, run: PlannedRun) -> list[str]:
        """Flows and links that the metric's series have, or the run itself."""
        kind = self._definitions[metric].subject
        if kind == "run":
            return ["run"]
        of_run = self._of_run.get(metric)
        tables = None if of_run is None else of_run.tables[:1]
        named = [
            output["flow"] if kind == "flow" else output["link"]
            for output in run["outputs"]
            if kind in output and (tables is None or output["table"] in tables)
        ]
        return [f"{kind}:{each}" for each in dict.fromkeys(named)]


def _traced(kind: str, asked: Asked, run: PlannedRun) -> bool:
    """Whether a packet trace may have a subject: files do not say whose packets it contains."""
    found, _, name = (asked.subject or "").partition(":")
    traced = any(output["table"].startswith("packet") for output in run["outputs"])
    return traced and bool(name) and found == kind
