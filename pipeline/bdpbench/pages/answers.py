"""What the experiments of a report answer, in sentences computed from their metrics.

The rules are the same for all studies. Over a swept number, up to three senders each have their
course: it stays, rises, falls, or turns in between. Of more senders the highest and the lowest at
both ends are named. Without a sweep, values are given, or the highest and the lowest of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from bdpbench.contracts.plan import PlannedRun
from bdpbench.pages.curves import flow_protocol
from bdpbench.pages.names import Names, Sweep
from bdpbench.pages.text import format_number
from bdpbench.units import several, with_unit

MOST_NAMED = 3
"""Most senders whose courses a sentence tells one by one."""

MOST_SENTENCES = 2
"""Most metrics of an experiment that are answered with."""

# Values that differ by no more than this share of the largest are told as one.
_ALIKE = 0.02

# A course turns in between if it leaves the values at its ends by this share of its span.
_TURN = 0.1

_MEASURED = {
    **dict.fromkeys(("run_id", "protocol", "who", "unit"), pl.String),
    **dict.fromkeys(("x", "value", "start_s", "end_s"), pl.Float64),
}


def measured(
    runs: Sequence[PlannedRun], metrics: pl.DataFrame, metric: str, main: str, names: Names
) -> pl.DataFrame:
    """Values of a metric with the sender that each is of.

    Args:
        runs: finished runs of one scenario.
        metrics: rows of that scenario, as in ``metrics.parquet``.
        metric: its id.
        main: the swept parameter, "" if there is none.
        names: names for readers.

    Returns:
        run_id, protocol (key; null where different ones share what was measured), who (the sender
            in words, with the queue if queues are compared), x (swept value, null without one),
            value (null if not reached), unit, start_s, end_s.
    """
    by_id = {run["run_id"]: run for run in runs}
    queued = compares_queues(runs)
    found = []
    for row in metrics.filter(pl.col("metric") == metric).iter_rows(named=True):
        run = by_id.get(row["run_id"])
        if run is None:
            continue
        key = flow_protocol(run, row["subject"])
        sender = names.protocols_of(run) if key is None else names.protocol(key)
        queue = names.value("queue", run["parameters"].get("queue", "")) if queued else ""
        x = run["parameters"].get(main)
        found.append(
            {
                **{each: row[each] for each in ("run_id", "value", "unit", "start_s", "end_s")},
                "protocol": key,
                "who": f"{sender} with {queue}" if queue else sender,
                "x": float(x) if isinstance(x, int | float) else None,
            }
        )
    return pl.DataFrame(found, schema=_MEASURED)


def compares_queues(runs: Sequence[PlannedRun]) -> bool:
    """Whether runs that are shown together have different queues."""
    return len({run["parameters"].get("queue") for run in runs}) > 1


def answer(
    asked: Sequence[str],
    runs: Sequence[PlannedRun],
    metrics: pl.DataFrame,
    sweep: Sweep,
    names: Names,
) -> tuple[str, ...]:
    """Sentences about the first of the metrics that a scenario is asked for and has values of.

    Args:
        asked: ids of the metrics, the most important one first.
        runs: finished runs of the scenario.
        metrics: rows of the scenario, as in ``metrics.parquet``.
        sweep: what varies between the runs.
        names: names for readers.
    """
    found: dict[str, str] = {}  # what is measured → its sentence
    for metric in asked:
        name, _, variant = names.metric(metric).partition(", ")
        values = measured(runs, metrics, metric, sweep.main, names)
        # "Goodput, whole run" would say almost the same as "Goodput".
        if name in found or values["value"].drop_nulls().is_empty():
            continue
        told = f"{name} ({variant})" if variant else name
        found[name] = _sentence(told, values, sweep.main, names)
        if len(found) == MOST_SENTENCES:
            break
    return tuple(found.values())


def _sentence(name: str, values: pl.DataFrame, main: str, names: Names) -> str:
    unit, courses = values["unit"][0], _courses(values)
    places = sorted({x for each in courses for x, _ in each.points if x is not None})
    if len(places) > 1 and any(len(each.points) > 1 for each in courses):
        body = _over(name, courses, (places[0], places[-1]), main, unit, names)
    else:
        alone = [(each.who, each.points[0][1]) for each in courses]
        parts = [f"{_shown(value, unit)}{_of(who)}" for who, value in alone]
        told = _listed(parts) if len(alone) <= MOST_NAMED else _extremes(alone, unit)
        body = f"{name} is {told}"
    most = max(each.runs for each in courses)
    medians = f" (medians of up to {several(most, 'run')})" if most > 1 else ""
    return f"{body}{medians}."


def _over(
    name: str,
    courses: Sequence[_Course],
    ends: tuple[float, float],
    main: str,
    unit: str,
    names: Names,
) -> str:
    """A metric over a swept number, whose first and last value are ``ends``."""
    words = names.parameters.name(main)
    swept = words if "'s " in words else f"the {words}"
    first, last = (names.parameters.value(main, _whole(each)) for each in ends)
    if len(courses) <= MOST_NAMED:
        parts = _listed([f"{each.told(main, unit, names)}{_of(each.who)}" for each in courses])
        return f"With {swept} going from {first} to {last}, {_inside(name)} {parts}"
    told = [_extremes([(each.who, each.at(x)) for each in courses], unit) for x in ends]
    start = f"With {swept} at {first}, {_inside(name)} is {told[0]}"
    return f"{start}; at {last}, it is {told[1]}"


@dataclass(frozen=True)
class _Course:
    """The medians of one sender: (x, value or None if not reached), by rising x."""

    who: str
    points: list[tuple[float | None, float | None]]
    runs: int

    def at(self, x: float) -> float | None:
        return dict(self.points).get(x)

    def told(self, main: str, unit: str, names: Names) -> str:
        reached = [(x, value) for x, value in self.points if value is not None]
        if not reached:
            return "is never reached"
        values = [value for _, value in reached]
        first, last, low, high = values[0], values[-1], min(values), max(values)
        start, end = _shown(first, unit), _shown(last, unit)

        def place(value: float) -> str:
            x = reached[values.index(value)][0]
            return names.parameters.value(main, _whole(x or 0.0))

        turn = _TURN * (high - low)
        peak, trough = high > max(first, last) + turn, low < min(first, last) - turn
        if high - low <= _ALIKE * max(abs(high), abs(low)):
            told = f"stays at {start}" if start == end else f"stays at about {start}"
        elif peak and trough:
            told = f"varies between {_shown(low, unit)} and {_shown(high, unit)}"
        elif peak:
            told = f"rises from {start} to {_shown(high, unit)} at {place(high)} and falls to {end}"
        elif trough:
            told = f"falls from {start} to {_shown(low, unit)} at {place(low)} and rises to {end}"
        else:
            told = f"{'rises' if last > first else 'falls'} from {start} to {end}"
        missed = len(self.points) - len(reached)
        return f"{told}, not reached at {missed} of {len(self.points)} values," if missed else told


def _courses(values: pl.DataFrame) -> list[_Course]:
    """The courses of all senders, in the order of the plan."""
    medians = values.group_by("who", "x", maintain_order=True).agg(
        pl.col("value").median(), runs=pl.col("run_id").n_unique()
    )
    return [
        _Course(
            str(who),
            list(own.sort("x", nulls_last=True).select("x", "value").iter_rows()),
            int(own["runs"].max() or 0),  # type: ignore[arg-type]
        )
        for (who,), own in medians.group_by("who", maintain_order=True)
    ]


def _extremes(found: Sequence[tuple[str, float | None]], unit: str) -> str:
    """``highest for A (98 %) and lowest for B (72 %)``, of those that have a value.

    >>> _extremes([("A", 0.5), ("B", None)], "1"), _extremes([("A", 2), ("B", 2), ("C", None)], "s")
    ('0.5 for A', 'about 2 s for 2 of 3')
    """
    known = [(value, who) for who, value in found if value is not None]
    if not known:
        return "not reached by any"
    if len(known) == 1:
        return f"{_shown(known[0][0], unit)} for {known[0][1]}"
    (high, most), (low, least) = (
        max(known, key=lambda each: each[0]),
        min(known, key=lambda each: each[0]),
    )
    if high - low <= _ALIKE * max(abs(high), abs(low)):
        whole = "both" if len(known) == 2 else "all"
        whom = whole if len(known) == len(found) else f"{len(known)} of {len(found)}"
        return f"about {_shown(high, unit)} for {whom}"
    return f"highest for {most} ({_shown(high, unit)}) and lowest for {least} ({_shown(low, unit)})"


def _shown(value: float | None, unit: str) -> str:
    return "not reached" if value is None else with_unit(format_number(_rounded(value)), unit)


def _of(who: str) -> str:
    return f" for {who}" if who else ""


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _inside(name: str) -> str:
    """A name inside a sentence: names of people and abbreviations keep their capital letter."""
    first = name.split(" ", 1)[0]
    return name[:1].lower() + name[1:] if first[1:].islower() and "'" not in first else name


def _rounded(value: float) -> float:
    """Three significant digits, and all digits before the point."""
    return float(f"{value:.3g}") if abs(value) < 1000 else round(value)


def _whole(value: float) -> int | float:
    return int(value) if value == int(value) else value
