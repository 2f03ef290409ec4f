"""Compares two results: which metrics changed by more than their bounds allow."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import polars as pl

from bdpbench.archive.results import KeptResults
from bdpbench.contracts.plan import Parameters
from bdpbench.contracts.reports import COMPARISON_VERSION, Comparison, MovedMetric, Row
from bdpbench.contracts.runs import BuildFacts
from bdpbench.contracts.scorecard import rows_of
from bdpbench.errors import BdpbenchError

SHARE = 0.05
"""How far a metric without a published number may move, relative to its first value."""

_ASYMMETRY = 0.05
"""The same of an asymmetry, absolute: they lie in [-1, 1], many of them near 0."""

_ROUNDING = 1e-9
"""Smaller values, in any unit, are what rounding leaves of sums that should be 0."""

KEY = ("scenario", "run", "metric", "subject")
"""Identity of a value, independent of the ns-2 build and the script of its run."""

# Metrics that a comparison shows first: what is transferred, and how it is shared.
_HEADLINE = (
    r"^(((overall|mean|total|measured|flows|link)_)?(goodput|throughput|utilization)"
    r"|.*(jain|fairness)_index|asymmetry|fair_share_ratio)$"
)
_OF_RUN = ("scenario", "run_id", "metric", "subject")
_BOUNDS = {
    **dict.fromkeys((*_OF_RUN, "number"), pl.String),
    "lower": pl.Float64,
    "upper": pl.Float64,
    "by_chance": pl.Boolean,
}


@dataclass(frozen=True)
class Side:
    """Results in the form in which they are compared.

    Attributes:
        name: the file or folder.
        values: each value once, with the columns ``KEY``, ``value`` (null if the metric was never
            reached), ``unit`` and ``definition``, and those of the published number that it was
            compared with, or null: ``number`` (its id), ``lower``, ``upper``, and ``by_chance``,
            whether repetitions are inside and outside of these bounds.
        parameters: (scenario, run) → parameters of the run.
        facts: name → version, build or checksum that results depend on.
        has_all_facts: whether ``facts`` are complete; without ``provenance.json`` they are few.
    """

    name: str
    values: pl.DataFrame
    parameters: Mapping[tuple[str, str], Parameters]
    facts: Mapping[str, str]
    has_all_facts: bool = True


def read_sides(first: Path, second: Path) -> tuple[Side, Side]:
    """Read two results, whose runs are matched by scenario and label.

    Raises:
        BdpbenchError: when one is damaged or not a result, or when they are of different studies.
    """
    a, b = KeptResults(first), KeptResults(second)
    studies = {a.scorecard["study"], b.scorecard["study"]}
    if len(studies) > 1:
        raise BdpbenchError(
            f"are of different studies ({' and '.join(sorted(studies))})",
            where=f"{first} and {second}",
        )
    return _side(a), _side(b)


def _labelled_runs(results: KeptResults) -> Iterator[tuple[str, str, str, Parameters]]:
    """Scenario, id, label and parameters of the runs of a result."""
    for run in results.runs or ():
        for place in run["places"]:
            yield place["scenario"], run["run_id"], place["label"], run["parameters"]
    for planned in results.plan["runs"] if results.runs is None and results.plan else ():
        yield planned["scenario"], planned["run_id"], planned["label"], planned["parameters"]


def _side(results: KeptResults) -> Side:
    """What is compared; runs go by their labels, which are unique within a scenario."""
    runs = list(_labelled_runs(results))
    labels = pl.DataFrame(
        [run[:3] for run in runs],
        schema=dict.fromkeys(("scenario", "run_id", "run"), pl.String),
        orient="row",
    ).unique(("scenario", "run_id"), keep="last")
    bounds = pl.DataFrame(
        [
            (row["scenario"], run_id, row["metric"], row["subject"], row["id"], row["lower"],
             row["upper"], row["verdict"] == "undecided")
            for number in results.scorecard["numbers"]
            for row in rows_of(number)
            for run_id in row["run_ids"]
        ],
        schema=_BOUNDS,
        orient="row",
    ).unique(_OF_RUN, keep="last")  # fmt: skip
    values = (
        results.metrics.join(labels, on=("scenario", "run_id"), how="left", maintain_order="left")
        .join(bounds, on=_OF_RUN, how="left", maintain_order="left")
        .with_columns(pl.coalesce("run", "run_id").alias("run"))
        .unique(KEY, keep="last", maintain_order=True)
    )
    return Side(
        name=str(results.path),
        values=values.select(*KEY, "value", "unit", "definition", *list(_BOUNDS)[len(_OF_RUN) :]),
        parameters={(scenario, label): given for scenario, _, label, given in runs},
        facts={name: each for name, each in _facts(results).items() if each},
        has_all_facts=results.provenance is not None,
    )


def _facts(results: KeptResults) -> dict[str, str]:
    """Name → version, build or checksum; "" for what is not known."""
    facts = {"tier": results.scorecard["tier"]}
    kept = results.provenance
    if kept is None:
        return facts | {"ns-2 build": results.plan["ns2_build_id"] if results.plan else ""}
    facts |= {
        "bdpbench": kept["bdpbench"]["version"],
        "commit": kept["bdpbench"]["commit"],
        "ns-2 build": kept["ns2_build_id"],
    }
    for build in kept["builds"]:
        facts |= _facts_of_build(build)
    checksums = kept["configuration"]
    return facts | {f"SHA-256 of {name}": each for name, each in checksums.items()}


def _facts_of_build(build: BuildFacts) -> dict[str, str]:
    facts = {
        "ns-2 compiler": build.get("compiler", ""),
        "ns-2 flags": build.get("cxx_flags", ""),
        "Tcl": build.get("tcl", ""),
    }
    parts = [
        *build.get("patches", []),
        *build.get("laws", []),
        *build.get("agents", []),
        *build.get("speed", []),
    ]
    return facts | {f"ns2/{each['name']}": each["sha256"] for each in parts}


def compare(first: Side, second: Side, share: float = SHARE) -> Comparison:
    """Compare two results.

    A metric with a published number has moved beyond its bounds if its value crosses one of them,
    inwards or outwards, or if both values are outside on the same side and farther apart than the
    tolerance; a crossing decides nothing for a number that is undecided by chance. A metric
    without one has if it moved farther than the tolerance. A metric that is reached in only one of
    the results is beyond every bound. Bounds are those of the first result.

    Args:
        first: one result.
        second: another one.
        share: the tolerance, relative to the absolute first value; that of asymmetries is
            absolute, and stays.
    """
    both = first.values.join(second.values, on=KEY, suffix="_2", maintain_order="left")
    alike = (pl.col("unit") == pl.col("unit_2")) & (pl.col("definition") == pl.col("definition_2"))
    same = both.filter(alike)
    moved = _judged(same.filter(pl.col("value").ne_missing(pl.col("value_2"))), share)
    redefined = both.filter(~alike).select(
        "metric",
        first=pl.format("{} in {}", "definition", "unit"),
        second=pl.format("{} in {}", "definition_2", "unit_2"),
    )
    return {
        "schema_version": COMPARISON_VERSION,
        "first": first.name,
        "second": second.name,
        "compared": same.height,
        "beyond": sum(moved["beyond"]),
        "moved": cast("list[MovedMetric]", moved.to_dicts()),
        "redefined": redefined.unique(maintain_order=True).to_dicts(),
        "only_first": _alone(first, second),
        "only_second": _alone(second, first),
        "facts": _other_facts(first, second),
        "parameters": list(_reconfigured(first, second)),
    }


def _judged(changed: pl.DataFrame, share: float) -> pl.DataFrame:
    """Values that differ, with the fields of ``MovedMetric``.

    Those beyond their bounds come first, among them what readers ask for first, then the largest
    changes.
    """
    change, size = pl.col("value_2") - pl.col("value"), pl.col("value").abs()
    found = changed.select(
        *KEY,
        "unit",
        pl.col("value").alias("first"),
        pl.col("value_2").alias("second"),
        change.alias("change"),
        pl.when(size > 0).then(100 * change / size).alias("change_pct"),
        pl.col("number").fill_null(""),
        "lower",
        "upper",
    )
    judged = changed.select("metric", "value", "value_2", "lower", "upper", "by_chance")
    verdicts = [_judge(*row, share=share) for row in judged.iter_rows()]
    return found.with_columns(
        pl.Series("beyond", [beyond for beyond, _ in verdicts], pl.Boolean),
        pl.Series("why", [why for _, why in verdicts], pl.String),
    ).sort(
        ~pl.col("beyond"),
        ~pl.col("metric").str.contains(_HEADLINE),
        -pl.col("change_pct").abs().fill_null(float("inf")),
        maintain_order=True,
    )


def _judge(
    metric: str,
    a: float | None,
    b: float | None,
    lower: float | None,
    upper: float | None,
    by_chance: bool | None,
    *,
    share: float,
) -> tuple[bool, str]:
    """Whether a value moved beyond its bounds, and by what that was judged."""
    if a is None or b is None:
        return True, "not reached any more" if b is None else "reached now"
    limit = _ASYMMETRY if metric.startswith("asymmetry") else max(share * abs(a), _ROUNDING)
    far = abs(b - a) > limit
    if lower is None or upper is None:
        return far, f"no published number; {'more' if far else 'no more'} than {limit:.4g}"
    sides = ["below" if each < lower else "above" if each > upper else "within" for each in (a, b)]
    if sides[0] != sides[1]:
        chance = ", which is undecided by chance" if by_chance else ""
        return not by_chance, f"{sides[0]} to {sides[1]} its bounds{chance}"
    if sides[0] == "within":
        return False, "within its bounds"
    return far, f"{sides[0]} its bounds; {'more' if far else 'no more'} than {limit:.4g}"


def _alone(side: Side, other: Side) -> list[Row]:
    """How many values of a metric only one side has."""
    alone = side.values.join(other.values, on=KEY, how="anti", maintain_order="left")
    return alone.group_by("scenario", "metric", maintain_order=True).agg(values=pl.len()).to_dicts()


def _different(a: Mapping[str, str], b: Mapping[str, str]) -> list[Row]:
    pairs = ((name, a.get(name, ""), b.get(name, "")) for name in dict.fromkeys([*a, *b]))
    return [
        {"name": name, "first": first, "second": second}
        for name, first, second in pairs
        if first != second
    ]


def _other_facts(first: Side, second: Side) -> list[Row]:
    """Facts that differ; if one side has incomplete facts, only those that both sides have."""
    found = _different(first.facts, second.facts)
    if first.has_all_facts and second.has_all_facts:
        return found
    known = ["recorded" if each.has_all_facts else "not recorded" for each in (first, second)]
    name = "versions and checksums"
    return [
        *(fact for fact in found if fact["first"] and fact["second"]),
        *_different({name: known[0]}, {name: known[1]}),
    ]


def _reconfigured(first: Side, second: Side) -> Iterator[Row]:
    """The parameters of runs that differ; values as JSON."""
    for (scenario, run), parameters in first.parameters.items():
        others = second.parameters.get((scenario, run), parameters)
        told = ({name: json.dumps(each[name]) for name in each} for each in (parameters, others))
        for each in _different(*told):
            found: Row = {"run": f"{scenario}: {run}", "parameter": each.pop("name")}
            yield found | each
