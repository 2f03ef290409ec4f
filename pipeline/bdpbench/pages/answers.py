"""What the experiments of a report answer, in sentences computed from their metrics.

The rules are the same for all studies. A value is the mean over runs that differ in nothing but
their random numbers: what a chart separates is never pooled. Over a sweep, values are told with its
first and its last setting: of up to three senders all, of more the highest and the lowest, with all
that share the place (``places``) and whoever never reached what is measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from bdpbench.contracts.judged import Found, Judged, places, rounded
from bdpbench.contracts.plan import PlannedRun, Scalar
from bdpbench.pages.curves import flow_protocol
from bdpbench.pages.names import Names, Sweep
from bdpbench.pages.text import format_number, inside, listed
from bdpbench.units import several, with_unit

MOST_NAMED = 3
"""Most senders whose values a sentence tells one by one."""

MOST_SENTENCES = 2
"""Most metrics of an experiment that are answered with."""

MOST_OTHERS = 4
"""Most further swept parameters that a sentence, or the name of a line, can tell."""

_FEW_SETTINGS = 8
"""Of more settings, a sentence counts in how many a value is about its reference."""

_MEASURED = {
    **dict.fromkeys(("run_id", "protocol", "who", "unit", "others"), pl.String),
    **dict.fromkeys(("x", "value"), pl.Float64),
    "rank": pl.Int64,
}


def measured(
    runs: Sequence[PlannedRun], metrics: pl.DataFrame, metric: str, sweep: Sweep, names: Names
) -> pl.DataFrame:
    """Values of a metric with the sender that each is of, and the setting of the sweep.

    Args:
        runs: finished runs of one scenario.
        metrics: rows of that scenario, as in ``metrics.parquet``.
        metric: its id.
        sweep: what varies between the runs.
        names: names for readers.

    Returns:
        run_id, protocol (key; null where different ones share what was measured), who (the sender
            in words, with the queue if queues are compared), x (main swept value, null without
            one), others (the further swept values in words), rank (their order), value (null if
            not reached), unit.
    """
    by_id = {run["run_id"]: run for run in runs}
    queued = len({run["parameters"].get("queue") for run in runs}) > 1
    rows = metrics.filter(pl.col("metric") == metric, pl.col("run_id").is_in(list(by_id)))
    given_of = [by_id[run_id]["parameters"] for run_id in rows["run_id"].unique()]
    apart = [
        each
        for each in sweep.others
        if not (queued and each == "queue") and len({own.get(each) for own in given_of}) > 1
    ]
    found = []
    for row in rows.iter_rows(named=True):
        run = by_id[row["run_id"]]
        key, given = flow_protocol(run, row["subject"]), run["parameters"]
        sender = names.protocols_of(run) if key is None else names.protocol(key)
        queue = names.value("queue", given.get("queue", "")) if queued else ""
        x = given.get(sweep.main)
        others = [_setting(each, given[each], names) for each in apart if each in given]
        found.append(
            {
                **{each: row[each] for each in ("run_id", "value", "unit")},
                "protocol": key,
                "who": f"{sender} with {queue}" if queue else sender,
                "x": float(x) if isinstance(x, int | float) else None,
                "others": ", ".join(others),
                "rank": names.rank(run, apart),
            }
        )
    return pl.DataFrame(found, schema=_MEASURED)


def all_alike(name: str, values: pl.Series, judged: Judged, what: str) -> str:
    """A sentence in place of a chart whose values differ by nothing that counts; else "".

    >>> all_alike("Goodput", pl.Series([97.1, 97.5]), Judged("more", 1.0, unit="%"), "runs")
    'Goodput is 97.1 to 97.5 % in all 2 runs.'
    """
    if not values.len() or values.has_nulls():
        return ""
    ends = [Found(each) for each in (min(values.to_list()), max(values.to_list()))]
    if replace(judged, better="more").lead(ends[1].value or 0.0, ends[0].value or 0.0):
        return ""
    return f"{name} is {_shown(ends, judged)} in all {values.len()} {what}."


def settings(values: pl.DataFrame) -> pl.DataFrame:
    """Values as from ``measured`` → one row for each sender and setting, in the order of the plan.

    Returns:
        who, x, others, rank, value (the mean over runs; null if one of them never reached it), low
            and high (the smallest and the largest run), runs, missed (how many never reached it). A
            run counts with the mean of its flows or links.
    """
    place = ["who", "x", "others", "rank"]
    value, missed = pl.col("value"), pl.col("value").is_null().any()
    return (
        values.group_by(*place, "run_id", maintain_order=True)
        .agg(value=pl.when(missed).then(None).otherwise(value.mean()))
        .group_by(place, maintain_order=True)
        .agg(
            value=pl.when(missed).then(None).otherwise(value.mean()),
            low=value.min(),
            high=value.max(),
            runs=pl.len(),
            missed=value.is_null().sum(),
        )
    )


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
    for metric in asked if len(sweep.others) <= MOST_OTHERS else ():
        name, _, variant = names.metric(metric).partition(", ")
        values = measured(runs, metrics, metric, sweep, names)
        # "Goodput, whole run" would say almost the same as "Goodput".
        if name in found or values.is_empty():
            continue
        # In a list, "A and B" would be two senders rather than two that meet.
        pair = pl.col("who").str.replace(" and ", " beside ", literal=True)
        values = values.with_columns(
            who=pl.when(pl.col("protocol").is_null()).then(pair).otherwise("who")
        )
        told = f"{name} ({variant})" if variant else name
        judged = replace(names.judged(metric), unit=values["unit"][0])
        found[name] = _sentence(told, settings(values), judged, sweep, names)
        if len(found) == MOST_SENTENCES:
            break
    return tuple(found.values())


def _sentence(name: str, found: pl.DataFrame, judged: Judged, sweep: Sweep, names: Names) -> str:
    keys = found.group_by("x", "others", "rank").len().sort("x", "rank", nulls_last=True)
    # A setting that only some senders have would compare them with nobody.
    keys = keys.filter(pl.col("len") == pl.col("len").max())
    known = found.filter(pl.col("value").is_not_null())
    if judged.better == "nearest" and keys.height > _FEW_SETTINGS and known.height:
        return _near(name, known, judged, sweep, names)
    told: dict[str, str] = {}  # setting → the values of all senders
    for x, others, *_ in (keys.row(0), keys.row(-1)):
        own = found.filter(pl.col("x").eq_missing(pl.lit(x, pl.Float64)), others=others)
        told[_where(x, others, sweep, names) if keys.height > 1 else ""] = _told(own, judged)
    (where, first), *rest = told.items()
    body = f"With {where}, {inside(name)} is {first}" if where else f"{name} is {first}"
    body += "".join(f"; with {place}, it is {words}" for place, words in rest)
    fewest, most = found["runs"].min(), found["runs"].max()
    several_runs = f"{'' if fewest == most else 'up to '}{several(int(str(most)), 'run')}"
    return f"{body} (means of {several_runs})." if most != 1 else f"{body}."


def _near(name: str, known: pl.DataFrame, judged: Judged, sweep: Sweep, names: Names) -> str:
    """In how many cases a value is about its reference, and where it is farthest from it."""
    reference = judged.reference or 0.0
    far = known.with_columns(far=known["value"].map_elements(judged.distance, pl.Float64))
    near = sum(not judged.lead(reference, each) for each in known["value"])
    last = far.sort("far").row(-1, named=True)
    where = _where(last["x"], last["others"], sweep, names)
    return (
        f"{name} is about {reference:g} in {near} of {known.height} cases, and farthest from it "
        f"for {last['who']} with {where} ({_shown([Found(last['value'])], judged)})."
    )


def _where(x: float | None, others: str, sweep: Sweep, names: Names) -> str:
    at = "" if x is None else _setting(sweep.main, int(x) if x == int(x) else x, names)
    parts = [each for each in (at, *others.split(", ")) if each]
    return listed(parts, most=len(parts))


def _setting(parameter: str, value: Scalar, names: Names) -> str:
    """A value of a swept parameter in a sentence: ``the buffer at 40 packets``."""
    if isinstance(value, str):
        return names.condition(parameter, value)
    words = names.parameters.name(parameter).removesuffix(" at")
    return f"{'' if chr(39) + 's ' in words else 'the '}{words} at {names.value(parameter, value)}"


def _told(own: pl.DataFrame, judged: Judged) -> str:
    """The values of all senders with one setting, and who never reached what is measured."""
    known: dict[str, Found] = {}
    missed: dict[str, list[str]] = {}
    columns = ("who", "runs", "missed", "value", "low", "high")
    for who, runs, count, *found in own.select(columns).iter_rows():
        if count:
            how = "never reached" if count == runs else f"not reached in {count} of {runs} runs"
            missed.setdefault(how, []).append(who)
        else:
            known[who] = Found(*found)
    each_told = [f"{_shown([found], judged)}{_of([who])}" for who, found in known.items()]
    parts = [_extremes(known, judged) if len(known) > MOST_NAMED else listed(each_told)]
    parts += [f"{how}{_of(whom, 'by')}" for how, whom in missed.items()]
    return ", and ".join(filter(None, parts))


def _extremes(known: Mapping[str, Found], judged: Judged) -> str:
    """``highest for A and B (98 %) and lowest for C (72 %)``; of a reference, who is about there.

    >>> found = dict(zip("ABCD", map(Found, (500.0, 200.0, 500.0, 40.0)), strict=True))
    >>> _extremes(found, Judged("less", 0.05, unit="packets"))
    'highest for A and C (500 packets) and lowest for D (40 packets)'
    >>> _extremes({who: Found(97.5) for who in "ABCD"}, Judged("more", 1.0, unit="%"))
    '97.5 % for all 4'
    >>> _extremes(dict(zip("ABC", map(Found, (-0.8, 0.1, 0.5)))), Judged("nearest", 0.05, 0.0))
    'nearest to 0 for B (0.1) and farthest from it for A (−0.8)'
    >>> _extremes(dict(zip("ABCD", map(Found, (1.02, 0.99, 1.0, 0.00065)))),
    ...           Judged("nearest", 0.05, 1.0, "1"))
    'about 1 for A, B and C and farthest from it for D (0.00065)'
    """
    if judged.better != "nearest":
        judged = replace(judged, better="more")
    words = ("highest", "lowest")
    if judged.better == "nearest":
        words = (f"nearest to {judged.reference:g}", "farthest from it")
    found, whom, reference = list(known.values()), list(known), judged.reference or 0.0
    placed = places(found, judged)
    if all(each.rank == 1 for each in placed):
        return f"{_shown(found, judged)} for all {len(found)}"
    parts = []
    if judged.better == "nearest":
        about = [who for who, each in known.items() if not judged.lead(reference, each.value or 0)]
        if about:
            parts.append(f"about {reference:g}{_of(about)}")
    for word, end in zip(words, ("first", "last"), strict=True):
        own = [n for n, each in enumerate(placed) if each.end == end]
        if parts and end == "first":  # who is about there is nearest
            continue
        beside = dict.fromkeys(whom[other] for n in own for other in placed[n].unsure)
        overlap = f"; runs of {listed(list(beside))} overlap" if beside else ""
        value = _shown([found[n] for n in own], judged)
        parts.append(f"{word}{_of([whom[n] for n in own])} ({value}{overlap})")
    return " and ".join(parts)


def _shown(found: Sequence[Found], judged: Judged) -> str:
    """A value with its unit, or the range of several that count as alike."""
    values = [each.value for each in found if each.value is not None]
    ends = dict.fromkeys(format_number(rounded(each)) for each in (min(values), max(values)))
    return with_unit(" to ".join(ends), judged.unit)


def _of(who: Sequence[str], word: str = "for") -> str:
    return f" {word} {listed(who)}" if any(who) else ""
