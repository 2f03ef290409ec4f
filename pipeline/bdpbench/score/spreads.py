"""``spread.yaml``: how far values move when something that a study leaves open is varied.

Repetitions of the judged runs, which are as good as those, show what chance does: a verdict that
changes within their spread is undecided. Other readings of a number, such as another window, are
shown beside it and decide nothing. So are other readings of the study: runs by which everything is
judged once more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Self

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
from bdpbench.score.lookup import Asked, Lookup, RunIndex, comparable
from bdpbench.score.published import PublishedNumber, matches, unknown_pattern

SPREAD_NAME = "spread.yaml"

Groups = Callable[[pl.DataFrame], pl.DataFrame]
"""Computes metrics of several runs from those of single runs; both as in ``metrics.parquet``."""

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
    """

    runs: dict[Text, Text] = Field(min_length=1)
    select: dict[str, Scalar] = Field(default_factory=dict)
    over: list[Text] = Field(min_length=1)

    def source(self, asked: Sequence[Asked]) -> str:
        """The scenarios of the repetitions of what is asked, in words."""
        found = (self.runs[each.scenario] for each in asked if each.scenario in self.runs)
        return " and ".join(dict.fromkeys(found))


class SpreadEntry(Strict):
    """What was varied for some numbers and statements, and the resulting range.

    Attributes:
        of: ids of rows of ``published.csv`` and, with ``repeats`` or ``reading``, of statements;
            ``*`` stands for any characters.
        varied: what was varied, in words; with ``reading``, its name.
        repeats: repetitions of the judged runs, within whose spread a verdict may be undecided.
        reading: runs by which another reading of the study is judged, beside the judged ones.
        metric: another metric of the same run, or of ``runs``; with ``repeats``, the metric that
            each repetition of a number has by itself.
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
        measured = self.runs is not None or (self.metric is not None and self.repeats is None)
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
        return None if self.metric else self.repeats or self.reading

    def is_of(self, *ids: str) -> bool:
        """Whether the entry is about a row of ``published.csv`` or a statement."""
        return any(matches(pattern, each) for pattern in self.of for each in ids)

    def asked_of(self, number: PublishedNumber) -> PublishedNumber:
        """A number's row, asking for the metric and the runs of the entry.

        Raises:
            BdpbenchError: for a number of a scenario that the entry does not repeat.
        """
        asked = number.model_copy(update={"metric": self.metric or number.metric})
        if self.repeats is not None:
            if number.scenario not in self.repeats.runs:
                message = f"{number.id} is not of a repeated scenario, but of {number.scenario}"
                raise BdpbenchError(message, hint="name its scenario under runs, or leave it out")
            own = {name: at for name, at in number.select.items() if name not in self.repeats.over}
            scenario, select = self.repeats.runs[number.scenario], self.repeats.select
        elif self.runs is not None:
            own, scenario, select = {}, self.runs.scenario, self.runs.select
        else:
            return asked
        chosen = own | {name: str(value) for name, value in select.items()}
        return asked.model_copy(update={"scenario": scenario, "select": chosen})


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
            only = "statements have repeats without metric and readings alone"
            raise source.error((index, "of"), wrong[0], only if entry.is_of(*claims) else wrong[1])
        if entry.reading and entry.varied in readings:
            said = "two readings have the same name"
            raise source.error((index, "varied"), said, "name each by what it changes")
        readings |= {entry.varied} if entry.reading else set()
        if entry.metric:
            source.require((index, "metric"), entry.metric, metrics, "metric")
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
            places.setdefault(_place(run, names), []).append((scenario, run["run_id"]))
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


def _place(run: PlannedRun, names: Sequence[str]) -> Place:
    return tuple(comparable(run["parameters"].get(name, "")) for name in names)


class Repetitions:
    """The metrics of a plan as they would be if repetitions were the judged runs.

    Args:
        plan: as in ``plan.json``.
        metrics: as in ``metrics.parquet``.
        wanted: the metrics that the lookups are asked for.
        groups: computes metrics of several runs anew; None if there are none.
    """

    def __init__(
        self,
        plan: Plan,
        metrics: pl.DataFrame,
        wanted: Collection[str],
        groups: Groups | None = None,
    ) -> None:
        self._plan, self._metrics, self._groups = plan, metrics, groups
        self._wanted = pl.col("metric").is_in(list(wanted))
        self._index = RunIndex(plan["scenarios"], plan["runs"])
        self._swept = {key: each.get("swept", []) for key, each in plan["scenarios"].items()}
        self._known: dict[str, list[tuple[Lookup | None, set[Run]]]] = {}

    def of(self, repeats: Repeats, asked: Sequence[Asked]) -> list[Lookup]:
        """One lookup for each finished repetition that takes the place of an asked run."""
        runs = set(self._runs(each for each in asked if each.scenario in repeats.runs))
        found = self._of(repeats)
        return [lookup for lookup, judged in found if lookup is not None and runs & judged]

    def covers(self, repeats: Repeats, asked: Sequence[Asked]) -> bool:
        """Whether repetitions take the places of all runs that are asked for."""
        judged = set().union(*(each for _, each in self._of(repeats)))
        return self.are_among(asked, judged)

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
        finished = set(self._metrics.select("scenario", "run_id").unique().iter_rows())
        partly = {scenario for (scenario, _), run in pairs.items() if run not in finished}
        whole = {judged: run for judged, run in pairs.items() if judged[0] not in partly}
        made = self._in_place(repeats, whole) if whole else None
        return self._metrics if made is None else made, set(whole)

    def _runs(self, asked: Iterable[Asked]) -> Iterator[Run]:
        for each in asked:
            for run in self._index.find(each):
                yield run["scenario"], run["run_id"]

    def _of(self, repeats: Repeats) -> list[tuple[Lookup | None, set[Run]]]:
        """The lookup of each repetition, None if it is not finished, and the runs it replaces."""
        key = repeats.model_dump_json()
        if key not in self._known:
            found = repetitions_of(repeats, self._index, self._swept).values()
            frames = [(self._in_place(repeats, pairs), set(pairs)) for pairs in found]
            self._known[key] = [
                (None if frame is None else Lookup(self._plan, frame), judged)
                for frame, judged in frames
            ]
        return self._known[key]

    def _in_place(self, repeats: Repeats, pairs: Mapping[Run, Run]) -> pl.DataFrame | None:
        """The metrics with some runs in place of judged ones; None if one is not finished.

        Metrics of several runs are made anew, whether the runs that take their places had them in
        their own scenario or not.
        """
        columns = ("judged_scenario", "judged_id", "scenario", "run_id")
        rows = [(*judged, *run) for judged, run in pairs.items()]
        places = pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
        own, key = ["judged_scenario", "judged_id"], ["scenario", "run_id"]
        taken = self._metrics.join(places, on=key)
        if taken.select(key).n_unique() < places.select(key).n_unique():
            return None
        taken = taken.with_columns(scenario="judged_scenario", run_id="judged_id")
        left = self._metrics.join(places, left_on=key, right_on=own, how="anti")
        frame = pl.concat([left, taken.select(self._metrics.columns)])
        if self._groups is None:
            return frame.filter(self._wanted)
        scenarios = pl.col("scenario").is_in(list(repeats.runs))
        made = self._groups(frame.filter(scenarios))
        frame = frame.filter(~(scenarios & pl.col("metric").is_in(self._of_several)))
        return pl.concat([frame, made]).filter(self._wanted)

    @cached_property
    def _of_several(self) -> list[str]:
        """Metrics of several runs."""
        return self._groups(self._metrics)["metric"].unique().to_list() if self._groups else []
