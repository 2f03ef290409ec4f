"""Values of runs → the cells of the parts of a study."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from bdpbench.app.evaluate.mirrored import Mirrored
from bdpbench.contracts.evaluation import (
    Cell,
    Column,
    ColumnFile,
    Part,
    PartFile,
    PartRun,
    Status,
    cells_schema,
)
from bdpbench.contracts.plan import PlannedRun, Scalar, format_value, values_of
from bdpbench.contracts.yaml_files import suggest
from bdpbench.metrics.groups import REPETITION
from bdpbench.pages.inputs import read_captions
from bdpbench.score.expectations import known_subjects, may_have
from bdpbench.studies.plan import swept_names
from bdpbench.units import unit_of


@dataclass(frozen=True)
class Shown:
    """A run as the parts of a study show it.

    Attributes:
        run: the run.
        newcomer: the evaluated protocol that takes part; "" for a run of the study's own.
        varied: whether it has a small change of what the study has.
        status: where its values come from.
        why: why it has none.
    """

    run: PlannedRun
    newcomer: str
    varied: bool
    status: Status = "missing"
    why: str = ""


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
        self._names = dict(names)
        self._names |= {mirrored.key_of(each.key): each.key for each in mirrored.newcomers}

    @cached_property
    def _measured(self) -> tuple[pl.DataFrame, dict[str, str]]:
        return self._mirrored.measured()

    @cached_property
    def _values(self) -> dict[str, dict[tuple[str, ...], float | None]]:
        """Newcomer → values of its runs; "" → those of the study's own."""
        found = {"": _values_of(self._mirrored.own_values())}
        for each in self._mirrored.newcomers:
            found[each.key] = _values_of(self._mirrored.values(each.key, self._measured[0]))
        return found

    @cached_property
    def _shown(self) -> list[Shown]:
        return [
            replace(each, status=status, why=why)
            for each in self._planned
            for status, why in [self._status(each)]
        ]

    @property
    def _planned(self) -> Iterator[Shown]:
        """The runs, of newcomers first, before it is known where their values come from."""
        for newcomer, runs in self._mirrored.runs.items():
            for new in runs:
                yield Shown(new.run, newcomer, new.varied)
        for own in self._mirrored.own.values():
            yield from (Shown(run, "", varied=False) for run in own)

    def check(self) -> None:
        """Refuse, before anything is simulated, a column without values or means.

        Raises:
            BdpbenchError: naming the column whose runs cannot have its subject, or differ in more
                than it takes the mean over.
        """
        shown = list(self._planned)
        for key, part in self._file.parts.items():
            for name, column in self._columns_of(part).items() if part.kind != "history" else ():
                at, known = ("parts", key, "columns", name, "metric"), self._mirrored.definitions
                self._mirrored.mirror.source.require(at, column.metric, known, "metric")
                of_column = _of_column(shown, column)
                self._check_subject(key, name, of_column)
                for found in self._grouped(part, column, of_column).values():
                    self._check_alike(key, name, [each for each, _ in found])

    def _status(self, shown: Shown) -> tuple[Status, str]:
        if self._mirrored.is_published(shown.run):
            return "published", ""
        if not shown.newcomer:
            return "missing", "is not published"
        why = self._measured[1].get(shown.run["run_id"])
        if why is None:
            return "simulated", ""
        return ("missing" if why == "was not simulated" else "failed"), why

    def counts(self) -> dict[str, int]:
        """How many runs of newcomers, each once, are published, simulated, failed or missing."""
        runs = {each.run["run_id"]: each.status for each in self._shown if each.newcomer}
        statuses: tuple[Status, ...] = ("published", "simulated", "failed", "missing")
        return {each: list(runs.values()).count(each) for each in statuses}

    def problems(self) -> Iterator[tuple[str, str]]:
        """What is missing: the newcomer, "" for the study's own protocols, and why, each once."""
        own = [run for runs in self._mirrored.own.values() for run in runs]
        lacking = sum(not self._mirrored.is_published(run) for run in own)
        if lacking:
            said = f"{lacking} of the {len(own)} runs of its own protocols are not published here"
            yield "", said
        found = ((each.newcomer, each.why) for each in self._shown if each.newcomer and each.why)
        yield from dict.fromkeys(found)

    def parts(self) -> Iterator[tuple[str, Part, list[Cell]]]:
        """Each part that the choice has runs of: its key, the part, and its cells."""
        for key, part in self._file.parts.items():
            cells: list[Cell] = []
            shown: dict[tuple[str, str, str], Shown] = {}
            columns = self._columns_of(part)
            for name, column in columns.items():
                of_column = _of_column(self._shown, column)
                if part.kind == "history":  # small changes show the same again
                    of_column = [each for each in of_column if not each.varied]
                shown |= {
                    (each.run["run_id"], each.run["scenario"], each.newcomer): each
                    for each in of_column
                }
                if part.kind != "history":
                    cells += self._cells(key, part, name, of_column)
            if any(each.newcomer for each in shown.values()):
                yield key, self._part(part, list(shown.values())), cells

    def _columns_of(self, part: PartFile) -> dict[str, ColumnFile]:
        """The columns that the choice shows."""
        is_quick = self._mirrored.choice == "quick"
        return {name: each for name, each in part.columns.items() if each.quick or not is_quick}

    def _part(self, part: PartFile, shown: Sequence[Shown]) -> Part:
        study = self._mirrored.mirror.study
        columns = self._columns_of(part)
        axis = {}
        if part.x is not None:
            about = study.vocabulary[part.x]
            axis = {"x_unit": about.unit or unit_of(part.x), "x_title": about.description}
        places = self._file.scenarios
        scenarios = dict.fromkeys(each.scenario for each in columns.values())
        return Part(
            **part.model_dump(exclude={"text", "columns"}) | axis,
            text=" ".join(filter(None, (part.text, _shortened(shown)))),
            columns={key: self._column(each) for key, each in columns.items()},
            in_place_of={
                name: study.protocols[places[name].in_place_of].label for name in scenarios
            },
            runs=[self._part_run(each) for each in shown],
        )

    def _part_run(self, shown: Shown) -> PartRun:
        run = shown.run
        protocol, beside = self._named(run)
        return PartRun(
            run_id=run["run_id"],
            scenario=run["scenario"],
            label=run["label"],
            protocol=self._names[protocol],
            beside=self._names[beside] if beside else "",
            evaluated=bool(shown.newcomer),
            status=shown.status,
        )

    def _column(self, column: ColumnFile) -> Column:
        found = self._mirrored.definitions.get(column.metric)
        names = ("unit", "better", "apart", "reference") if found else ()
        return Column(
            **column.model_dump(exclude={"title"}),
            **({"unit": ""} | {name: getattr(found, name) for name in names}),
            title=column.title or (found.title if found else ""),
            definition=found.text if found else "",
            interval=self._interval(column),
        )

    def _interval(self, column: ColumnFile) -> str:
        """What low and high of a column are, in words."""
        study, place = self._mirrored.mirror.study, self._file.scenarios[column.scenario]
        scenario = study.scenarios[column.scenario]
        if REPETITION in scenario.sweep or any(REPETITION in case for case in scenario.cases):
            return "smallest and largest of the repetitions"
        if place.vary and self._mirrored.choice == "full":
            words = read_captions().parameters
            changes = " and ".join(
                "other random numbers"
                if name == REPETITION
                else f"small changes of the {words.get(name) or name}"
                for name in place.vary
            )
            return (
                f"smallest and largest with {changes}; the study's own protocols have one run and "
                "no interval"
            )
        return "one run, no interval"

    # ------------------------------------------------------------ cells

    def _named(self, run: PlannedRun) -> tuple[str, str]:
        """The protocol that a run is about, and the one beside it or "", by the study's keys."""
        place = self._file.scenarios[run["scenario"]]
        beside = run["parameters"].get(place.beside, "") if place.beside else ""
        return str(run["parameters"][place.about]), str(beside)

    def _cells(self, key: str, part: PartFile, name: str, shown: Sequence[Shown]) -> Iterator[Cell]:
        column = part.columns[name]
        definition = self._mirrored.definitions[column.metric]
        for place, found in self._grouped(part, column, shown).items():
            protocol, own_key, row, beside, panel, x, newcomer = place
            value, low, high, values, why = self._summary(column, found, newcomer)
            sources = {
                each.status for each, _ in found if each.status in ("published", "simulated")
            }
            yield {
                "study": self._mirrored.mirror.key,
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
                "unit": definition.unit,
                "value": value,
                "low": low,
                "high": high,
                "values": values,
                "run_ids": [each.run["run_id"] for each, _ in found],
                "source": "both" if len(sources) > 1 else next(iter(sources), ""),
                "why": why,
            }

    def _grouped(
        self, part: PartFile, column: ColumnFile, shown: Sequence[Shown]
    ) -> dict[_Place, list[tuple[Shown, int]]]:
        """Cell → its runs, and for how many points each stands in it.

        Where a study has an evaluated protocol itself, the cells of the evaluation replace its own,
        and the protocol beside itself is one run, whichever of the two is called new.
        """
        cells: dict[_Place, dict[str, tuple[Shown, int]]] = {}
        for each in shown:
            for place, weight in self._places(part, column, each):
                cells.setdefault(place, {}).setdefault(each.run["run_id"], (each, weight))
        new = {_without_keys(place) for place in cells if place[-1]}
        return {
            place: list(found.values())
            for place, found in cells.items()
            if place[-1] or _without_keys(place) not in new
        }

    def _places(
        self, part: PartFile, column: ColumnFile, shown: Shown
    ) -> Iterator[tuple[_Place, int]]:
        """The cells that a run belongs to, and for how many points it stands in them."""
        run = shown.run
        protocol, beside = self._named(run)
        axes = [values_of(run, name) if name else [""] for name in (part.rows, part.panels, part.x)]
        weight = math.prod(max(1, len(values_of(run, name))) for name in column.mean_over)
        for row, panel, x in itertools.product(*axes):
            place = (
                self._names[protocol],
                "" if protocol not in self._mirrored.mirror.study.protocols else protocol,
                "" if part.rows is None else self._told(part.rows, row),
                self._names[beside] if beside else "",
                "" if part.panels is None else self._told(part.panels, panel),
                None if part.x is None else float(x),
                shown.newcomer,
            )
            yield place, weight

    def _told(self, name: str, value: Scalar) -> str:
        """A value as the name of a row or panel: the label of a protocol or queue."""
        study = self._mirrored.mirror.study
        kind, text = study.vocabulary[name].type, format_value(value)
        if kind == "protocol" and text in study.protocols:
            return study.protocols[text].label
        if kind == "queue" and text in study.queues:
            return study.queues[text].label or text
        return text

    def _check_subject(self, key: str, name: str, shown: Sequence[Shown]) -> None:
        """Refuse a column whose subject none of its runs can have."""
        column = self._file.parts[key].columns[name]
        definition = self._mirrored.definitions[column.metric]
        if shown and not any(may_have(definition, column.subject, each.run) for each in shown):
            known = known_subjects(definition, shown[0].run)
            raise self._mirrored.mirror.source.error(
                ("parts", key, "columns", name, "subject"),
                f"{column.metric} has no subject {column.subject!r} in these runs",
                hint=suggest(column.subject, known),
            )

    def _check_alike(self, key: str, name: str, shown: Sequence[Shown]) -> None:
        """Refuse a cell of runs that differ in more than the column takes the mean over.

        Runs agree in a parameter if they stand for a common value: a run stands for several where
        they make no difference, e.g. for two buffers of as many packets.
        """
        part = self._file.parts[key]
        column = part.columns[name]
        place, study = self._file.scenarios[column.scenario], self._mirrored.mirror.study
        axes = {part.rows, part.panels, part.x}  # equal in a cell as it is made
        free = {*column.mean_over, *place.vary, *axes, REPETITION, "duration_s"}
        for parameter in swept_names(study.scenarios[column.scenario]):
            values = [set(values_of(run.run, parameter)) for run in shown if not run.varied]
            if parameter not in free and values and not set.intersection(*values) and any(values):
                raise self._mirrored.mirror.source.error(
                    ("parts", key, "columns", name),
                    f"a cell has runs with different {parameter}",
                    hint=f"name one under only, or put {parameter} under mean_over, rows or x",
                )

    def _summary(
        self, column: ColumnFile, found: Sequence[tuple[Shown, int]], newcomer: str
    ) -> tuple[float | None, float | None, float | None, list[float | None], str]:
        """Mean, interval and single values of the runs of a cell, and why there is no mean."""
        known = self._values[newcomer]
        about = column.metric, column.subject
        keys = [(each.run["run_id"], each.run["scenario"], *about) for each, _ in found]
        if self._mirrored.definitions[column.metric].level == "group":
            # It belongs to one of the runs that it is about.
            have = [n for n, key in enumerate(keys) if key in known] or [0]
            found, keys = [found[n] for n in have], [keys[n] for n in have]
        values = [known.get(key) for key in keys]
        plain = [
            (each, weight, key, value)
            for (each, weight), key, value in zip(found, keys, values, strict=True)
            if not each.varied
        ]
        lacking = next((each for each, _, key, _ in plain if key not in known), None)
        if lacking is not None:
            why = lacking.why or "the run does not have this metric"
            return None, None, None, values, why
        never = sum(value is None for *_, value in plain)
        if never:
            return None, None, None, values, f"never reached in {never} of {len(plain)} runs"
        repetitions: dict[Scalar | None, list[tuple[float, int]]] = {}
        for each, weight, _, value in plain:
            number = each.run["parameters"].get(REPETITION)
            repetitions.setdefault(number, []).append((float(value or 0.0), weight))
        ends = [_mean(each) for each in repetitions.values()]
        mean = math.fsum(ends) / len(ends)
        if len(ends) == 1 and not column.mean_over:
            ends += [
                value
                for (each, _), value in zip(found, values, strict=True)
                if each.varied and value is not None
            ]
        if len(ends) == 1:
            return mean, None, None, values, ""
        # Unlike Student's, which three values make wide, this interval assumes no distribution and
        # has no value that cannot occur, such as a time below zero.
        low, high = min(ends), max(ends)
        return min(max(mean, low), high), low, high, values, ""  # the mean may be rounded


def _shortened(shown: Sequence[Shown]) -> str:
    """Says so if newcomers are simulated for another time than the study's own protocols."""
    own_s, new_s = (
        {
            float(each.run["parameters"]["duration_s"])
            for each in shown
            if bool(each.newcomer) == new
        }
        for new in (False, True)
    )
    if not own_s or new_s <= own_s:
        return ""
    told = (" and ".join(f"{each:g}" for each in sorted(all_s)) for all_s in (new_s, own_s))
    return "Newcomers are simulated for {} s here, and the study's own protocols for {} s.".format(
        *told
    )


def _without_keys(place: _Place) -> tuple[object, ...]:
    """Where a cell is in its part, whoever of its protocols is new."""
    protocol, _, *where, _ = place
    return protocol, *where


def _mean(values: Sequence[tuple[float, int]]) -> float:
    """Mean of values with weights."""
    return math.fsum(value * weight for value, weight in values) / sum(w for _, w in values)


def _of_column(shown: Sequence[Shown], column: ColumnFile) -> list[Shown]:
    return [each for each in shown if _is_shown(each.run, column)]


def _is_shown(run: PlannedRun, column: ColumnFile) -> bool:
    if run["scenario"] != column.scenario:
        return False
    return all(
        any(value in kept for value in values_of(run, name)) for name, kept in column.only.items()
    )


def frame_of(cells: Sequence[Cell]) -> pl.DataFrame:
    """Cells as the table of ``cells.parquet``."""
    return pl.DataFrame(cells, schema=cells_schema())
