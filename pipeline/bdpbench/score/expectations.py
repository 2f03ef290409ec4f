"""A study's expectations, checked when it is planned, before anything is simulated.

A number or statement whose metric, scenario, parameters or subject no run can have would appear as
*not run* after hours of simulation; here it is reported with file and line.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol, runtime_checkable

from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.yaml_files import YamlFile, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.score.causes import CAUSES_NAME, Cause, load_causes
from bdpbench.score.claims import FEWEST_POINTS, Claim, Monotone, Selector, load_claims
from bdpbench.score.lookup import Asked, RunIndex, check_means, located, located_in, point_of
from bdpbench.score.published import (
    HISTORY_NAME,
    PUBLISHED_NAME,
    ChangeEntry,
    PublishedNumber,
    load_history,
    load_published,
    matches,
    unknown_pattern,
)
from bdpbench.score.spreads import (
    SPREAD_NAME,
    Repeats,
    Run,
    SpreadEntry,
    load_spreads,
    repetitions_of,
)
from bdpbench.studies.plan import swept_names
from bdpbench.studies.study import Study
from bdpbench.units import several

CLAIMS_NAME = "claims.yaml"

_SHOWN_LABELS = 3


class Definition(Protocol):
    """The facts about a metric: its unit, its subject, and on how many runs it is measured.

    ``subject`` is "flow", "link" or "run"; ``level`` is "run", or "group" for a metric of several
    runs, whose value belongs to one of them; ``title`` is a name for readers, or "".
    """

    @property
    def unit(self) -> str: ...  # noqa: D102
    @property
    def subject(self) -> str: ...  # noqa: D102
    @property
    def level(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102


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
    """Printed numbers and statements of a study, what was changed and varied, and why some fail."""

    numbers: Sequence[PublishedNumber]
    claims: Sequence[Claim] = ()
    history: Sequence[ChangeEntry] = ()
    spreads: Sequence[SpreadEntry] = ()
    causes: Sequence[Cause] = ()

    @property
    def ids(self) -> list[str]:
        """Ids of printed numbers, of the rows that are their parts, and of statements."""
        rows = (each for number in self.numbers for each in (number.part_of, number.id) if each)
        return list(dict.fromkeys([*rows, *(claim.text.id for claim in self.claims)]))

    @property
    def metrics(self) -> set[str]:
        """The metrics that all of them ask for."""
        asked = {number.metric for number in self.numbers}
        asked |= {each.metric for claim in self.claims for _, each in claim.questions}
        asked |= {each.metric for cause in self.causes for each in cause.shown}
        return asked | {each.metric for each in self.spreads if each.metric}


def load_expectations(folder: Path, definitions: Collection[str]) -> Expectations:
    """Read the expectations of a study; each of its files may be absent.

    Raises:
        BdpbenchError: naming file, line and column or key of an invalid entry or an unknown id.
    """
    path = folder / PUBLISHED_NAME
    numbers = load_published(path, definitions)
    found = Expectations(numbers, load_claims(folder / CLAIMS_NAME, definitions))
    ids = set(found.ids)
    for number in numbers:
        if wrong := unknown_pattern(number.chosen_on, ids):
            where = f"{path}:{number.line}"
            raise BdpbenchError(f"chosen_on: {wrong[0]}", where=where, hint=wrong[1])
    for index, claim in enumerate(found.claims):
        if wrong := unknown_pattern(claim.text.chosen_on, ids):
            at = (index, "chosen_on")
            raise YamlFile(folder / CLAIMS_NAME).error(at, f"{claim.text.id}: {wrong[0]}", wrong[1])
    history = load_history(folder / HISTORY_NAME, ids)
    rows, claims = [each.id for each in numbers], [each.text.id for each in found.claims]
    spreads = load_spreads(folder / SPREAD_NAME, rows, definitions, claims)
    causes = load_causes(folder / CAUSES_NAME, claims, definitions)
    return Expectations(found.numbers, found.claims, history, spreads, causes)


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
    expected = load_expectations(folder, definitions)
    check = _Check(study, runs, definitions)
    for number in expected.numbers:
        with located(f"{folder / PUBLISHED_NAME}:{number.line}"):
            check.unit(number)
            check.one(number)
    for index, entry in enumerate(expected.spreads):
        _check_spread(check, expected, entry, (folder / SPREAD_NAME, index))
    for index, claim in enumerate(expected.claims):
        for place, asked in claim.questions:
            with located_in(folder / CLAIMS_NAME, (index, *place, "metric")):
                check.question(asked)
    for index, cause in enumerate(expected.causes):
        for at, asked in enumerate(cause.shown):
            with located_in(folder / CAUSES_NAME, (index, "shown", at, "metric")):
                check.question(asked)
    return expected


def _check_spread(
    check: _Check, expected: Expectations, entry: SpreadEntry, at: tuple[Path, int]
) -> None:
    """Check that runs have what an entry asks for, in place of what its numbers and claims ask for.

    Repetitions take places of runs that show the entries of each id, and so do the runs of other
    readings, of which there is one in each place. Ids that are not given by a pattern are checked
    one by one.
    """
    path, index = at
    if entry.metric or entry.runs:
        with located_in(path, (index, "runs" if entry.runs else "metric")):
            for number in expected.numbers:
                if entry.is_of(number.id):
                    asked = entry.asked_of(number)
                    check.unit(asked)
                    check.fitting(asked)
    if repeats := entry.repeats or entry.reading:
        asked_by: dict[str, Sequence[Asked]] = {each.id: [each] for each in expected.numbers}
        asked_by |= {each.text.id: [q for _, q in each.questions] for each in expected.claims}
        with located_in(path, (index, "repeats" if entry.repeats else "reading")):
            judged = check.repeated(repeats, once=entry.reading is not None)
            for pattern in entry.of:
                every = [q for each in asked_by if matches(pattern, each) for q in asked_by[each]]
                check.shown_by(judged, every, pattern)


def what_lacks(metric: object, runs: Sequence[PlannedRun]) -> list[str]:
    """What the first of some runs lacks to have a metric; empty if any of them has it."""
    lacks = (_lacking(metric, _kind_of(run)) for run in runs)
    first = next(lacks, [])
    return first if all(lacks) else []


_Kind = tuple[tuple[str, ...], tuple[str, ...]]
"""The tables and the parameters of a run."""


def _kind_of(run: PlannedRun) -> _Kind:
    return tuple(output["table"] for output in run["outputs"]), tuple(run["parameters"])


def _lacking(metric: object, kind: _Kind) -> list[str]:
    return metric.lacking(*kind) if isinstance(metric, OfRun) else []


class _Check:
    """Checks questions against the runs of a study by tier; its errors name no place."""

    def __init__(
        self,
        study: Study,
        runs: Mapping[str, Sequence[PlannedRun]],
        definitions: Mapping[str, Definition],
    ) -> None:
        self._definitions = definitions
        self._swept = {key: swept_names(each) for key, each in study.scenarios.items()}
        self._lacks: dict[tuple[str, _Kind], list[str]] = {}
        self._kinds: dict[int, _Kind] = {}
        self._all = RunIndex(study.scenarios, chain.from_iterable(runs.values()))
        self._tiers = {tier: RunIndex(study.scenarios, each) for tier, each in runs.items()}

    def unit(self, number: PublishedNumber) -> None:
        """Check that the unit of a number is that of its metric."""
        require_unit(number, self._definitions[number.metric].unit)

    def repeated(self, repeats: Repeats, *, once: bool) -> set[Run]:
        """The runs whose places repetitions take in some tier, at least one; ``once``: one each."""
        for name, own in repeats.alone.items():
            units = [self._definitions[each].unit for each in (name, own)]
            if units[0] != units[1]:
                raise BdpbenchError(f"alone: {name} is in {units[0]!r}, {own} in {units[1]!r}")
        found = [repetitions_of(repeats, index, self._swept) for index in self._tiers.values()]
        judged = {run for each in found for pairs in each.values() for run in pairs}
        if once and any(len(each) > 1 for each in found):
            message = f"a reading has one value of {' and one of '.join(repeats.over)}"
            raise BdpbenchError(
                message, hint="select it, and give the others readings of their own"
            )
        for scenario in repeats.runs.keys() - {scenario for scenario, _ in judged}:
            by = repeats.runs[scenario]
            message = f"no run of {by} takes the place of one of {scenario}"
            hint = (
                "they have to be equal in all that is swept or cases beside over, and in duration"
            )
            raise BdpbenchError(message, hint=hint)
        return judged

    def shown_by(self, judged: Collection[Run], asked: Sequence[Asked], pattern: str) -> None:
        """Check that some of the judged runs show what is asked by the entries of a pattern."""
        runs = ((run["scenario"], run["run_id"]) for each in asked for run in self._all.find(each))
        if not any(run in judged for run in runs):
            message = f"{pattern!r} asks for none of the runs that are repeated"
            raise BdpbenchError(message, hint="leave it out, or repeat its runs")

    def question(self, asked: Selector) -> None:
        """Check what a claim asks for."""
        if isinstance(asked, Monotone):
            self._sweep(asked)
        elif asked.mean_over:
            self._mean(asked, asked.mean_over)
        else:
            self.one(asked)

    def one(self, asked: Asked) -> None:
        """Check that some tier has a run with metric and subject, and no tier has two of them."""
        self.fitting(asked)
        if self._definitions[asked.metric].level != "run":
            return  # it belongs to one of the compared runs
        for tier, index in self._tiers.items():
            found = [
                f"{run['label']}, {subject}"
                for run in index.find(asked)
                for subject in self._subjects(asked, run)
            ]
            if len(found) > 1:
                more = ["…"] if len(found) > _SHOWN_LABELS else []
                shown = "; ".join([*found[:_SHOWN_LABELS], *more])
                raise _ambiguous(
                    f"{asked.metric} fits {len(found)} results of tier {tier} ({shown})",
                    "name more parameters in select, or the subject",
                )

    def _mean(self, asked: Asked, over: Sequence[str]) -> None:
        """Check that some tier has runs with the metric, and that their differences are named."""
        for run in self.fitting(asked):
            subjects = self._subjects(asked, run)
            if len(subjects) > 1:
                shown = " and ".join(subjects[:2])
                raise _ambiguous(
                    f"{asked.metric} has several subjects, {shown}", "name the subject"
                )
        for index in self._tiers.values():
            check_means(asked, over, index.find(asked))

    def _sweep(self, asked: Monotone) -> None:
        """Check that some tier has enough runs with the metric, at points that can be ordered."""
        for run in self.fitting(asked):
            point_of(run["parameters"], asked.along, run["label"])
        if asked.mean_over:
            self._mean(asked, [*asked.mean_over, asked.along])
        most = max(
            len({run["parameters"][asked.along] for run in index.find(asked)})
            for index in self._tiers.values()
        )
        if most < FEWEST_POINTS:
            raise BdpbenchError(
                f"along {asked.along} no tier has more than {several(most, 'run')}, and a sweep"
                f" needs {FEWEST_POINTS}",
                hint="select fewer parameters",
            )

    def fitting(self, asked: Asked) -> list[PlannedRun]:
        """The selected runs of all tiers that have the metric and its subject, at least one.

        Raises:
            BdpbenchError: if there is none.
        """
        found = self._all.find(asked)
        if not found:
            raise self._all.none_found(asked)
        able = [run for run in found if not self._lacks_of(asked.metric, run)]
        if not able:
            lacks = ", ".join(self._lacks_of(asked.metric, found[0]))
            tables = dict.fromkeys(output["table"] for output in found[0]["outputs"])
            raise BdpbenchError(
                f"{asked.metric} is not measured in {found[0]['label']}: it has no {lacks}",
                hint="its script writes: " + ", ".join(tables),
            )
        fitting = [run for run in able if self._subjects(asked, run)]
        if not fitting:
            definition = self._definitions[asked.metric]
            raise BdpbenchError(
                f"subject: {asked.metric} of {able[0]['label']} has no {asked.subject!r}",
                hint=suggest(asked.subject or "", known_subjects(definition, able[0])),
            )
        return fitting

    def _lacks_of(self, metric: str, run: PlannedRun) -> list[str]:
        """Tables and parameters without which a run does not have a metric."""
        # Among tens of thousands of runs, which the indexes keep, there are few different kinds.
        kind = self._kinds.get(id(run)) or self._kinds.setdefault(id(run), _kind_of(run))
        if (metric, kind) not in self._lacks:
            self._lacks[metric, kind] = _lacking(self._definitions[metric], kind)
        return self._lacks[metric, kind]

    def _subjects(self, asked: Asked, run: PlannedRun) -> list[str]:
        """The subjects of a run that a question may be about."""
        if self._lacks_of(asked.metric, run):
            return []
        definition = self._definitions[asked.metric]
        if asked.subject is None:
            return known_subjects(definition, run)
        return [asked.subject] if may_have(definition, asked.subject, run) else []


def known_subjects(definition: Definition, run: PlannedRun) -> list[str]:
    """The run itself, or its flows or links that have the series of a metric."""
    kind = definition.subject
    if kind == "run":
        return ["run"]
    tables = definition.tables[:1] if isinstance(definition, OfRun) else None
    if tables == ("facts",):
        tables = None  # report.txt has lines of all flows and links
    named = [
        output["flow"] if kind == "flow" else output["link"]
        for output in run["outputs"]
        if kind in output and (tables is None or output["table"] in tables)
    ]
    return [f"{kind}:{each}" for each in dict.fromkeys(named)]


def may_have(definition: Definition, subject: str, run: PlannedRun) -> bool:
    """Whether a run may have this subject; files do not say whose packets they trace."""
    if subject in known_subjects(definition, run):
        return True
    found, _, name = subject.partition(":")
    is_traced = any(output["table"].startswith("packet") for output in run["outputs"])
    return is_traced and bool(name) and found == definition.subject


def _ambiguous(message: str, hint: str) -> BdpbenchError:
    return BdpbenchError(f"ambiguous selector: {message}", hint=hint)


def require_unit(number: PublishedNumber, unit: str) -> None:
    """Refuse a number in another unit than that in which its metric is measured.

    Raises:
        BdpbenchError: naming both units.
    """
    if number.unit != unit:
        raise BdpbenchError(
            f"unit: the number is in {number.unit!r}, and {number.metric} is measured in {unit!r}"
        )
