"""Values of runs → the cells of the parts of a study."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import polars as pl

from bdpbench.app.evaluate.mirrored import Mirrored, Shown
from bdpbench.contracts.evaluation import (
    Cell,
    Column,
    ColumnFile,
    EvaluatedStudy,
    Part,
    PartFile,
    PartRun,
    Status,
)
from bdpbench.contracts.plan import PlannedRun, Scalar, format_value, values_of
from bdpbench.contracts.yaml_files import suggest
from bdpbench.pages.inputs import read_captions
from bdpbench.score.expectations import known_subjects, may_have
from bdpbench.studies.plan import swept_names
from bdpbench.studies.vocabulary import REPETITION
from bdpbench.units import unit_of

_COVERAGE = 0.9

_Place = tuple[str, str, str, str, str, float | None, str]
"""A cell of a column: protocol, own key, row, beside, panel, x, and who is new in it."""


def _values_of(metrics: pl.DataFrame) -> dict[tuple[str, ...], float | None]:
    """Run, scenario, metric and subject → value; None if the run never reached it."""
    columns = metrics.select("run_id", "scenario", "metric", "subject", "value")
    return {tuple(place): value for *place, value in columns.iter_rows()}


class StudyCells:
    """The cells and parts of a study.

    Args:
        mirrored: the study with its newcomers.
        names: key of a protocol of the study → its key in the document.
    """

    def __init__(self, mirrored: Mirrored, names: Mapping[str, str]) -> None:
        self._mirrored, self._file = mirrored, mirrored.mirror.file
        self._study, self._source = mirrored.mirror.study, mirrored.mirror.source
        self._names = {
            **names,
            **{mirrored.key_of(each.key): each.key for each in mirrored.newcomers},
        }
        self._shown = mirrored.shown

    @cached_property
    def _values(self) -> dict[str, dict[tuple[str, ...], float | None]]:
        """Newcomer → values of its runs; "" → those of the study's own."""
        found = {"": _values_of(self._mirrored.own_values())}
        for each in self._mirrored.newcomers:
            found[each.key] = _values_of(self._mirrored.values(each.key))
        return found

    def check(self) -> None:
        """Refuse, before anything is simulated, a column without values or means.

        Raises:
            BdpbenchError: naming the column whose runs cannot have its subject, or differ in more
                than it takes the mean over.
        """
        for key, part in self._file.parts.items():
            for name, column in self._columns_of(part).items():
                at, known = ("parts", key, "columns", name), self._mirrored.definitions
                self._source.require((*at, "metric"), column.metric, known, "metric")
                shown, definition = self._of_column(column), known[column.metric]
                if shown and not any(may_have(definition, column.subject, e.run) for e in shown):
                    said = f"{column.metric} has no subject {column.subject!r} in these runs"
                    hint = suggest(column.subject, known_subjects(definition, shown[0].run))
                    raise self._source.error((*at, "subject"), said, hint=hint)
                for found in self._grouped(part, column).values():
                    if differs := self._differ_in(
                        part, column, [each.run for each, _ in found if not each.varied]
                    ):
                        said = f"a cell has runs with different {differs}"
                        hint = f"name one under only, or put {differs} under mean_over, rows or x"
                        raise self._source.error(at, said, hint=hint)

    def _differ_in(self, part: PartFile, column: ColumnFile, runs: Sequence[PlannedRun]) -> str:
        """In what the runs of a cell differ beyond what the column takes the mean over, or "".

        Runs agree in a parameter if they stand for a common value: a run stands for several where
        they make no difference, e.g. for two buffers of as many packets.
        """
        vary = self._file.scenarios[column.scenario].vary
        axes = {part.rows, part.panels, part.x}  # equal in a cell as it is made
        free = {*column.mean_over, *vary, *axes, REPETITION, "duration_s"}
        for parameter in swept_names(self._study.scenarios[column.scenario]):
            values = [set(values_of(run, parameter)) for run in runs]
            if parameter not in free and values and not set.intersection(*values) and any(values):
                return parameter
        return ""

    def _status(self, shown: Shown) -> tuple[Status, str]:
        """Where the values of a run come from, and why it has none."""
        if self._mirrored.is_published(shown.run):
            return "published", ""
        if not shown.newcomer:
            return "missing", "is not published"
        why = self._mirrored.measured[1].get(shown.run["run_id"], "")
        return ("missing" if why == "was not simulated" else "failed" if why else "simulated"), why

    def statuses(self) -> dict[str, Status]:
        """Run id → where its values come from, of the runs of newcomers."""
        return {each.run["run_id"]: self._status(each)[0] for each in self._shown if each.newcomer}

    def problems(self) -> Iterator[tuple[str, str]]:
        """What is missing: the newcomer, "" for the study's own protocols, and why, each once."""
        own = self._mirrored.own
        lacking = sum(not self._mirrored.is_published(run) for run in own)
        if lacking:
            said = f"{lacking} of the {len(own)} runs of its own protocols are not published here"
            yield "", said
        found = ((each.newcomer, self._status(each)[1]) for each in self._shown if each.newcomer)
        yield from dict.fromkeys(each for each in found if each[1])

    def study(self, common: Mapping[str, str]) -> EvaluatedStudy:
        """The study with each part that the choice has runs of; ``common``: key → common name."""
        parts = ((key, self._part(part)) for key, part in self._file.parts.items())
        return EvaluatedStudy(
            key=self._study.key,
            title=self._study.title,
            paper=self._study.citation is not None,
            parts={key: part for key, part in parts if part is not None},
            figures=self._file.figures,
            criteria=self._file.criteria,
            against=self._file.against,
            names={name: self._names[key] for key, name in common.items()},
        )

    def _columns_of(self, part: PartFile) -> dict[str, ColumnFile]:
        """The columns that the choice shows."""
        is_quick = self._mirrored.choice == "quick"
        return {name: each for name, each in part.columns.items() if each.quick or not is_quick}

    def _of_column(self, column: ColumnFile) -> list[Shown]:
        """The runs that a column shows."""
        only = column.only.items()
        return [
            each
            for each in self._shown
            if each.run["scenario"] == column.scenario
            and all(not set(kept).isdisjoint(values_of(each.run, name)) for name, kept in only)
        ]

    def _part(self, part: PartFile) -> Part | None:
        """A part of the document; None without runs of newcomers."""
        columns, vocabulary = self._columns_of(part), self._study.vocabulary
        shown = {
            (each.run["run_id"], each.run["scenario"], each.newcomer): each
            for column in columns.values()
            for each in self._of_column(column)
        }
        if not any(each.newcomer for each in shown.values()):
            return None
        axis = {}
        if part.x is not None:
            about = vocabulary[part.x]
            axis = {"x_unit": about.unit or unit_of(part.x), "x_title": about.description}
        places = (self._file.scenarios[each.scenario].in_place_of for each in columns.values())
        return Part(
            **part.model_dump(exclude={"text", "columns"}) | axis,
            text=" ".join(filter(None, (part.text, _shortened(list(shown.values()))))),
            columns={key: self._column(each) for key, each in columns.items()},
            in_place_of=list(dict.fromkeys(self._study.protocols[key].label for key in places)),
            runs=[
                PartRun(
                    run_id=each.run["run_id"],
                    scenario=each.run["scenario"],
                    label=each.run["label"],
                    protocol=self._names[self._named(each.run)[0]],
                    evaluated=bool(each.newcomer),
                    status=self._status(each)[0],
                )
                for each in shown.values()
            ],
        )

    def _column(self, column: ColumnFile) -> Column:
        found = self._mirrored.definitions.get(column.metric)
        names = ("unit", "better", "apart", "reference") if found else ()
        return Column(
            **column.model_dump(exclude={"title"}),
            **{name: getattr(found, name) for name in names},
            title=column.title or (found.title if found else ""),
            interval=self._interval(column),
        )

    def _interval(self, column: ColumnFile) -> str:
        """What low and high of a column are, in words."""
        vary = self._file.scenarios[column.scenario].vary
        scenario = self._study.scenarios[column.scenario]
        if REPETITION in scenario.sweep or any(REPETITION in case for case in scenario.cases):
            return (
                "repetitions that enclose the median with a probability of at least 90 %; "
                "of seven or fewer, the smallest and largest"
            )
        if not vary or self._mirrored.choice == "quick":
            return "one run, no interval"
        words = read_captions().parameters
        changes = " and ".join(
            "other random numbers"
            if name == REPETITION
            else f"small changes of the {words.get(name) or name}"
            for name in vary
        )
        return (
            f"smallest and largest with {changes}; the study's own protocols have one run and "
            "no interval"
        )

    # ------------------------------------------------------------ cells

    def _named(self, run: PlannedRun) -> tuple[str, str]:
        """The protocol that a run is about, and the one beside it or "", by the study's keys."""
        place = self._file.scenarios[run["scenario"]]
        beside = run["parameters"].get(place.beside, "") if place.beside else ""
        return str(run["parameters"][place.about]), str(beside)

    def cells(self, key: str) -> Iterator[Cell]:
        """The cells of a part."""
        part = self._file.parts[key]
        for name, column in self._columns_of(part).items():
            for place, found in self._grouped(part, column).items():
                protocol, own_key, row, beside, panel, x, newcomer = place
                value, low, high, values, why = self._summary(column, found, newcomer)
                sources = {self._status(each)[0] for each, _ in found} & {"published", "simulated"}
                yield {
                    "study": self._study.key,
                    "part": key,
                    "column": name,
                    "protocol": protocol,
                    "own_key": own_key,
                    "evaluated": bool(newcomer),
                    "row": row,
                    "beside": beside,
                    "panel": panel,
                    "x": x,
                    "metric": column.metric,
                    "subject": column.subject,
                    "unit": self._mirrored.definitions[column.metric].unit,
                    "value": value,
                    "low": low,
                    "high": high,
                    "values": values,
                    "run_ids": [each.run["run_id"] for each, _ in found],
                    "source": "both" if len(sources) > 1 else next(iter(sources), ""),
                    "why": why,
                }

    def _grouped(self, part: PartFile, column: ColumnFile) -> dict[_Place, list[tuple[Shown, int]]]:
        """Cell → its runs, and for how many points each stands in it.

        Where a study has an evaluated protocol itself, the cells of the evaluation replace its own,
        and the protocol beside itself is one run, whichever of the two is called new.
        """
        cells: dict[_Place, dict[str, tuple[Shown, int]]] = {}
        for each in self._of_column(column):
            run = each.run
            protocol, beside = self._named(run)
            axes = [
                values_of(run, name) if name else [""] for name in (part.rows, part.panels, part.x)
            ]
            weight = math.prod(max(1, len(values_of(run, name))) for name in column.mean_over)
            for row, panel, x in itertools.product(*axes):
                place = (
                    self._names[protocol],
                    protocol if protocol in self._study.protocols else "",
                    self._told(part.rows, row),
                    self._names[beside] if beside else "",
                    self._told(part.panels, panel),
                    None if part.x is None else float(x),
                    each.newcomer,
                )
                cells.setdefault(place, {}).setdefault(run["run_id"], (each, weight))
        new = {(place[0], *place[2:6]) for place in cells if place[-1]}
        return {
            place: list(found.values())
            for place, found in cells.items()
            if place[-1] or (place[0], *place[2:6]) not in new
        }

    def _told(self, name: str | None, value: Scalar) -> str:
        """A value as the name of a row or panel: the label of a protocol or queue."""
        if name is None:
            return ""
        kind, text = self._study.vocabulary[name].type, format_value(value)
        if kind == "protocol" and text in self._study.protocols:
            return self._study.protocols[text].label
        if kind == "queue" and text in self._study.queues:
            return self._study.queues[text].label or text
        return text

    def _summary(
        self, column: ColumnFile, found: Sequence[tuple[Shown, int]], newcomer: str
    ) -> tuple[float | None, float | None, float | None, list[float | None], str]:
        """Median, interval and single values of the runs of a cell, and why there is no median."""
        known, about = self._values[newcomer], (column.metric, column.subject)
        keyed = [
            (each, weight, (each.run["run_id"], each.run["scenario"], *about))
            for each, weight in found
        ]
        if self._mirrored.definitions[column.metric].level == "group":
            # It belongs to one of the runs that it is about.
            keyed = [each for each in keyed if each[-1] in known] or keyed[:1]
        values = [known.get(key) for *_, key in keyed]
        plain = [each for each in keyed if not each[0].varied]
        lacking = [each for each, _, key in plain if key not in known]
        if lacking:
            why = self._status(lacking[0])[1] or "the run does not have this metric"
            return None, None, None, values, why
        never = sum(known[key] is None for *_, key in plain)
        if never:
            return None, None, None, values, f"never reached in {never} of {len(plain)} runs"
        repetitions: dict[Scalar | None, list[tuple[float, int]]] = {}
        for each, weight, key in plain:
            number = each.run["parameters"].get(REPETITION)
            repetitions.setdefault(number, []).append((known[key] or 0.0, weight))
        ends = [
            math.fsum(value * weight for value, weight in each) / sum(weight for _, weight in each)
            for each in repetitions.values()
        ]
        middle = statistics.median(ends)
        if len(ends) == 1 and not column.mean_over:
            varied = (known.get(key) for each, _, key in keyed if each.varied)
            ends += [value for value in varied if value is not None]
        if len(ends) == 1:
            return middle, None, None, values, ""
        return middle, *interval_of_median(ends), values, ""


def interval_of_median(values: Sequence[float]) -> tuple[float, float]:
    """The interval of the median: from the k-th smallest to the k-th largest value.

    k is the largest with which it encloses the median of all possible values with a probability of
    at least 90 %, or else 1 (David and Nagaraja, Order Statistics, section 7.1). Unlike Student's,
    it assumes no distribution, and has no value that cannot occur, such as a time below zero.

    >>> interval_of_median([3.0, 1.0, 2.0]), interval_of_median([*range(10)])
    ((1.0, 3.0), (1, 8))
    """
    found, count = sorted(values), len(values)
    outside, k = 2.0 / 2**count, 1
    while (outside := outside + 2 * math.comb(count, k) / 2**count) <= 1 - _COVERAGE:
        k += 1
    return found[k - 1], found[-k]


def _shortened(shown: Sequence[Shown]) -> str:
    """Says so if newcomers are simulated for another time than the study's own protocols."""
    own_s, new_s = (
        {float(e.run["parameters"]["duration_s"]) for e in shown if bool(e.newcomer) == new}
        for new in (False, True)
    )
    if not own_s or new_s <= own_s:
        return ""
    new, own = (" and ".join(f"{each:g}" for each in sorted(all_s)) for all_s in (new_s, own_s))
    return f"Newcomers are simulated for {new} s here, and the study's own protocols for {own} s."
