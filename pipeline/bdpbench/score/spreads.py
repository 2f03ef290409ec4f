"""``spread.yaml``: how far values move when something that a study leaves open is varied.

Repetitions of the judged runs, which are as good as those, show what chance does: their mean is
judged. Other readings of a number, such as another window, are shown beside it and decide nothing.
So are other readings of the study: runs by which everything is judged once more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Self

import polars as pl
from pydantic import Field, RootModel, model_validator

from bdpbench.contracts.plan import Plan, PlannedRun, Scalar
from bdpbench.contracts.yaml_files import (
    Strict,
    Text,
    YamlFile,
    suggest,
)
from bdpbench.errors import BdpbenchError
from bdpbench.score.chance import LEVEL, level_at
from bdpbench.score.lookup import Asked, Lookup, Means, RunIndex, comparable
from bdpbench.score.published import PublishedNumber, matches, unknown_pattern
from bdpbench.units import several

SPREAD_NAME = "spread.yaml"

Groups = Callable[[pl.DataFrame, Sequence[PlannedRun]], pl.DataFrame]
"""Computes metrics of several runs, of those of single runs and of all runs that are planned.

Both metrics are as in ``metrics.parquet``."""

_DURATION = "duration_s"


class VariedRuns(Strict):
    """Runs of this study in which something is varied.

    Attributes:
        scenario, select: which runs; they have the metric and the subject of the number.
    """

    scenario: Text
    select: dict[str, Scalar] = Field(default_factory=dict)


class Repeats(Strict):
    """Repetitions, or another reading: runs that take the places of judged ones.

    Attributes:
        runs: scenario of judged runs → scenario of their repetitions. Both may be the same: then
            each repetition takes the places of all runs that differ from it in ``over`` alone.
        select: which runs of these scenarios are repetitions; all if empty.
        over: parameters in which a repetition may differ from the judged run; each combination of
            their values is one repetition of everything that it repeats. In all others that the
            judged scenario varies, and in its duration, it is equal to that run.
        alone: metric of all repetitions → what each repetition adds to it, where that is not the
            metric's value of this repetition alone. The mean of a share is at most all of it.
        looks: the numbers of repetitions at which somebody looks who adds some until verdicts are
            decided, ascending; see ``chance.level_at``. None if their number is fixed.
    """

    runs: dict[Text, Text] = Field(min_length=1)
    select: dict[str, Scalar] = Field(default_factory=dict)
    over: list[Text] = Field(min_length=1)
    alone: dict[Text, Text] = Field(default_factory=dict)
    looks: list[Annotated[int, Field(ge=2)]] = Field(default_factory=list)

    @model_validator(mode="after")
    def _looks_ascend(self) -> Self:
        if self.looks != sorted(set(self.looks)):
            raise ValueError("looks are numbers of repetitions that increase")
        return self


class SpreadEntry(Strict):
    """What was varied for some numbers and statements, and the resulting range.

    Attributes:
        of: ids of rows of ``published.csv`` and, with ``repeats`` or ``reading``, of statements;
            ``*`` stands for any characters.
        varied: what was varied, in words; with ``reading``, its name.
        repeats: repetitions of the judged runs, whose mean is judged.
        reading: runs by which another reading of the study is judged, beside the judged ones.
        metric: another metric of the same run, or of ``runs``.
        runs: runs whose values, together with that of the number itself, are the spread.
        least, most: the ends of the spread, in the unit of the numbers, from runs that are not
            kept.
        source: where least and most come from.
    """

    of: list[Text] = Field(min_length=1)
    varied: Text
    repeats: Repeats | None = None
    reading: Repeats | None = None
    metric: str | None = None
    runs: VariedRuns | None = None
    least: float | None = Field(None, allow_inf_nan=False)
    most: float | None = Field(None, allow_inf_nan=False)
    source: str = ""

    @model_validator(mode="after")
    def _has_one_spread(self) -> Self:
        given = self.least is not None and self.most is not None
        measured = self.runs is not None or self.metric is not None
        placed = (self.repeats is not None) + (self.reading is not None)
        if given + measured + placed != 1 or (self.least is None) != (self.most is None):
            raise ValueError(
                "give either repeats, or reading, or metric or runs or both, or least and most"
            )
        if self.least is not None and self.most is not None and self.least > self.most:
            raise ValueError("least is above most")
        if given != bool(self.source):
            raise ValueError("least and most need their source, and nothing else has one")
        return self

    @property
    def placed(self) -> Repeats | None:
        """The runs that take the places of judged ones, as repetitions or as another reading."""
        return self.repeats or self.reading

    def is_of(self, *ids: str) -> bool:
        """Whether the entry is about a row of ``published.csv`` or a statement."""
        return any(matches(pattern, each) for pattern in self.of for each in ids)

    def asked_of(self, number: PublishedNumber) -> PublishedNumber:
        """A number's row, asking for the metric and the runs of the entry."""
        asked = number.model_copy(update={"metric": self.metric or number.metric})
        if self.runs is None:
            return asked
        chosen = {name: str(value) for name, value in self.runs.select.items()}
        return asked.model_copy(update={"scenario": self.runs.scenario, "select": chosen})


class _File(RootModel[list[SpreadEntry]]):
    pass


def load_spreads(
    path: Path, rows: Collection[str], metrics: Collection[str], claims: Collection[str] = ()
) -> list[SpreadEntry]:
    """Read and check ``spread.yaml``; a study without the file has none.

    Args:
        path: path of the file.
        rows: ids of the rows of ``published.csv``.
        metrics: ids of all metrics.
        claims: ids of the statements.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    if not path.is_file():
        return []
    source = YamlFile(path)
    entries = source.validate(_File).root
    readings: set[str] = set()
    for index, entry in enumerate(entries):
        if wrong := unknown_pattern(entry.of, [*rows, *(claims if entry.placed else ())]):
            only = "statements have repeats and readings alone"
            raise source.error((index, "of"), wrong[0], only if entry.is_of(*claims) else wrong[1])
        if entry.reading and entry.varied in readings:
            said = "two readings have the same name"
            raise source.error((index, "varied"), said, "name each by what it changes")
        readings |= {entry.varied} if entry.reading else set()
        if entry.metric:
            source.require((index, "metric"), entry.metric, metrics, "metric")
        for name, own in (entry.placed.alone if entry.placed else {}).items():
            at = (index, "repeats" if entry.repeats else "reading", "alone", name)
            source.require(at, name, metrics, "metric")
            source.require(at, own, metrics, "metric")
    return entries


# ------------------------------------------------------------------------------ repetitions

Place = tuple[float | str, ...]
"""Values of some parameters, as selectors compare them."""

Run = tuple[str, str]
"""Scenario and id of a run."""


def repetitions_of(
    repeats: Repeats, index: RunIndex, swept: Mapping[str, Sequence[str]]
) -> dict[Place, dict[Run, Run]]:
    """Values of ``over`` → judged run → the run that takes its place.

    Args:
        repeats: an entry's repetitions.
        index: the runs of a tier.
        swept: scenario → parameters that the study varies in it.

    Raises:
        BdpbenchError: for a scenario or parameter that the study does not have, or for two runs
            that would take the same place.
    """
    found: dict[Place, dict[Run, Run]] = {}
    for scenario, repetition in repeats.runs.items():
        runs = index.find(Asked(scenario=repetition, select=repeats.select))
        judged = index.find(Asked(scenario=scenario))
        # In all of these a repetition is equal to the run whose place it takes.
        names = [*(swept[scenario] if judged else ()), _DURATION]
        names = [name for name in names if name not in repeats.over]
        places: dict[Place, list[Run]] = {}
        for run in judged:
            places.setdefault(_place(run, names), []).append(_run(run))
        labels: dict[tuple[Place, Place], str] = {}
        for run in runs:
            if missing := [name for name in repeats.over if name not in run["parameters"]]:
                hint = suggest(missing[0], run["parameters"])
                raise BdpbenchError(f"over: {run['label']} has no {missing[0]}", hint=hint)
            at, place = _place(run, repeats.over), _place(run, names)
            if place not in places:
                continue
            if labels.setdefault((at, place), run["label"]) != run["label"]:
                both = f"{labels[at, place]} and {run['label']}"
                hint = "name what they differ in under over, or select one of them"
                raise BdpbenchError(f"two runs take the same place: {both}", hint=hint)
            taken = dict.fromkeys(places[place], (repetition, run["run_id"]))
            found.setdefault(at, {}).update(taken)
    return found


def _run(run: PlannedRun) -> Run:
    return run["scenario"], run["run_id"]


def _place(run: PlannedRun, names: Sequence[str]) -> Place:
    return tuple(comparable(run["parameters"].get(name, "")) for name in names)


@dataclass(frozen=True)
class _Repeated:
    """Judged run → its repetitions, itself among them, and what they vary; see ``Repeats``.

    ``lookups`` has, for a number of repetitions, the first, the second, … of them in place of all
    judged runs.
    """

    runs: dict[Run, list[Run]] = field(default_factory=dict)
    varied: dict[Run, list[str]] = field(default_factory=dict)
    alone: dict[str, str] = field(default_factory=dict)
    looks: dict[Run, list[int]] = field(default_factory=dict)
    lookups: dict[int, list[Lookup]] = field(default_factory=dict)


@dataclass(frozen=True)
class Sample:
    """What decides some entries: the mean of repetitions, if there are any, and each of them.

    Attributes:
        judged: finds the means, or what was measured once.
        each: one lookup for each repetition that counts, none for what is measured once.
        level: as of ``chance.level_at``.
        varied, source: what the repetitions vary and whose they are, in words.
    """

    judged: Lookup
    each: Sequence[Lookup] = ()
    level: float = LEVEL
    varied: str = ""
    source: str = ""


class Repetitions:
    """The metrics of a plan with repetitions in place of the judged runs.

    The judged run counts as one of its repetitions. A comparison of several runs has as many as the
    one with the fewest, and those that are not repeated keep their values.

    Args:
        plan: as in ``plan.json``.
        metrics: as in ``metrics.parquet``.
        wanted: the metrics that the lookups are asked for.
        groups: computes metrics of several runs anew; None if there are none.
        ahead: by how many looks: as if the repetitions so far came again until then.
    """

    def __init__(
        self,
        plan: Plan,
        metrics: pl.DataFrame,
        wanted: Collection[str],
        groups: Groups | None = None,
        ahead: int = 0,
    ) -> None:
        self._plan, self._metrics, self._groups = plan, metrics, groups
        self._ahead = ahead
        self._wanted = pl.col("metric").is_in(list(wanted))
        self._index = RunIndex(plan["scenarios"], plan["runs"])
        self._swept = {key: each.get("swept", []) for key, each in plan["scenarios"].items()}
        self._finished = set(metrics.select("scenario", "run_id").unique().iter_rows())
        self.once = Lookup(plan, metrics.filter(self._wanted))
        self._known: dict[str, _Repeated] = {}

    def sample(self, entries: Sequence[SpreadEntry], asked: Sequence[Asked]) -> Sample:
        """What decides what is asked for, by those entries that repeat runs."""
        known = self._found(entries)
        runs = [run for run in self._runs(asked) if len(known.runs.get(run, ())) > 1]
        if not runs:
            return Sample(self.once)
        looks = next((known.looks[run] for run in runs if run in known.looks), [])
        count, level = level_at(min(len(known.runs[run]) for run in runs), looks)
        scenarios = dict.fromkeys(name for run in runs for name, _ in known.runs[run])
        source = f"{several(count, 'repetition')} of {' and '.join(scenarios)}"
        source += f" (looks at {', '.join(map(str, looks))})" if looks else ""
        varied = dict.fromkeys(each for run in runs for each in known.varied[run])
        # Without such a metric the first repetitions are the same, however many count.
        most = count if known.alone else max(map(len, known.runs.values()))
        each = (known.lookups.get(most) or self._first(known, most))[:count]
        if later := [look for look in looks if look > count][: self._ahead]:
            level = level_at(later[-1], looks)[1]
            each = [each[at % count] for at in range(later[-1])]
        return Sample(Means(each, known.alone), each, level, ", or ".join(varied), source)

    def to_add(
        self, entries: Sequence[SpreadEntry], asked: Sequence[Asked]
    ) -> dict[Run, tuple[int, int]]:
        """Last repetition of each run that what is asked for needs more of at the next look.

        With how many more that look needs, and the last one.
        """
        known = self._found(entries)
        cells = [known.runs[run] for run in self._runs(asked) if run in known.looks]
        looks = next((known.looks[run] for run in self._runs(asked) if run in known.looks), [])
        fewest = min(map(len, cells), default=0)
        aim = next((look for look in looks if look > fewest), 0)
        return {
            cell[-1]: (aim - len(cell), looks[-1] - len(cell)) for cell in cells if len(cell) < aim
        }

    def have_looks(self, entries: Sequence[SpreadEntry]) -> bool:
        """Whether any finished run has repetitions at whose numbers an entry looks."""
        return bool(self._found(entries).looks)

    def are_among(self, asked: Sequence[Asked], judged: Collection[Run]) -> bool:
        """Whether all runs that are asked for, at least one, are among the judged ones."""
        runs = list(self._runs(asked))
        return bool(runs) and all(run in judged for run in runs)

    def reading(self, repeats: Repeats) -> tuple[pl.DataFrame, set[Run]]:
        """The metrics by another reading, and the runs that it replaces.

        Scenarios of which a run is not finished are left out, so that they are read whole.
        """
        found = repetitions_of(repeats, self._index, self._swept)
        pairs = {judged: run for each in found.values() for judged, run in each.items()}
        partly = {scenario for (scenario, _), run in pairs.items() if run not in self._finished}
        whole = {judged: run for judged, run in pairs.items() if judged[0] not in partly}
        return self._in_place(self._metrics, whole, {}) if whole else self._metrics, set(whole)

    def _first(self, known: _Repeated, count: int) -> list[Lookup]:
        """Lookups of the first repetitions, as if there were no others."""
        metrics = self._metrics
        later = [run for runs in known.runs.values() for run in runs[count:]]
        if later and known.alone and self._groups is not None:
            # What a repetition adds to a metric of several follows from all of them.
            left = set(later)
            runs = [each for each in self._plan["runs"] if _run(each) not in left]
            single = metrics.filter(~pl.col("metric").is_in(self._of_several))
            metrics = pl.concat([single, self._groups(single, runs)])
        known.lookups[count] = [
            Lookup(
                self._plan,
                self._in_place(
                    metrics,
                    {judged: runs[at] for judged, runs in known.runs.items() if len(runs) > at},
                    known.alone,
                ),
            )
            for at in range(count)
        ]
        return known.lookups[count]

    def _runs(self, asked: Iterable[Asked]) -> Iterator[Run]:
        for each in asked:
            for run in self._index.find(each):
                yield _run(run)

    def _found(self, entries: Sequence[SpreadEntry]) -> _Repeated:
        """The finished repetitions of some entries together."""
        key = "".join(each.repeats.model_dump_json() for each in entries if each.repeats)
        if key not in self._known:
            self._known[key] = self._repeated(entries)
        return self._known[key]

    def _repeated(self, entries: Sequence[SpreadEntry]) -> _Repeated:
        found = _Repeated()
        known: dict[Run, dict[str, Run]] = {}
        for entry in entries:
            if entry.repeats is None:
                continue
            found.alone.update(entry.repeats.alone)
            for pairs in repetitions_of(entry.repeats, self._index, self._swept).values():
                for judged, run in pairs.items():
                    if run in self._finished and run[1] not in known.setdefault(judged, {}):
                        known[judged][run[1]] = run
                        found.varied.setdefault(judged, []).append(entry.varied)
                        if entry.repeats.looks:
                            found.looks[judged] = entry.repeats.looks
        for judged, runs in known.items():
            others = list(runs.values())
            found.runs[judged] = others if judged[1] in runs else [judged, *others]
        return found

    def _in_place(
        self, metrics: pl.DataFrame, pairs: Mapping[Run, Run], alone: Mapping[str, str]
    ) -> pl.DataFrame:
        """These metrics with some finished runs in place of judged ones.

        Metrics of several runs are made anew, whether the runs that take their places had them in
        their own scenario or not.
        """
        columns = ("judged_scenario", "judged_id", "scenario", "run_id")
        rows = [(*judged, *run) for judged, run in pairs.items()]
        places = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
        own, key = ["judged_scenario", "judged_id"], ["scenario", "run_id"]
        taken = metrics.join(places, on=key)
        taken = taken.with_columns(scenario="judged_scenario", run_id="judged_id")
        left = metrics.join(places, left_on=key, right_on=own, how="anti")
        frame = pl.concat([left, taken.select(metrics.columns)])
        if self._groups is not None:
            scenarios = pl.col("scenario").is_in(list({scenario for scenario, _ in pairs}))
            made = self._groups(frame.filter(scenarios), self._plan["runs"])
            frame = frame.filter(~(scenarios & pl.col("metric").is_in(self._of_several)))
            frame = pl.concat([frame, made])
        frame = frame.filter(self._wanted)
        of = {own: name for name, own in alone.items()}
        added = taken.filter(pl.col("metric").is_in(list(of))).select(
            *("scenario", "run_id", "subject"), pl.col("metric").replace(of), own="value"
        )
        frame = frame.join(added, on=["scenario", "run_id", "subject", "metric"], how="left")
        return frame.with_columns(value=pl.coalesce("own", "value")).drop("own")

    @cached_property
    def _of_several(self) -> list[str]:
        """Metrics of several runs."""
        if self._groups is None:
            return []
        return self._groups(self._metrics, self._plan["runs"])["metric"].unique().to_list()
