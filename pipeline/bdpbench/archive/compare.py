"""Compares two results: which metrics changed by more than their bounds allow."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from bdpbench.archive.results import KeptResults
from bdpbench.contracts.plan import Parameters
from bdpbench.contracts.reports import (
    COMPARISON_VERSION,
    Comparison,
    MovedMetric,
    OtherFact,
    OtherParameter,
    Redefined,
    Unshared,
)
from bdpbench.contracts.runs import BuildFacts
from bdpbench.contracts.scorecard import rows_of
from bdpbench.errors import BdpbenchError

ROUNDING = 1e-9
"""Smaller values, in any unit, are what rounding leaves of sums that should be 0."""

_HEADLINE = re.compile(
    r"((overall|mean|total|measured|flows|link)_)?(goodput|throughput|utilization)"
    r"|.*(jain|fairness)_index|asymmetry|fair_share_ratio"
)
"""Metrics that a comparison shows first: what is transferred, and how it is shared."""

_Runs: TypeAlias = "Mapping[tuple[str, str], tuple[str, Parameters]]"
"""(Scenario, run id) → label and parameters."""


class Key(NamedTuple):
    """Identity of a value, independent of the ns-2 build and the script of its run."""

    scenario: str
    run: str
    metric: str
    subject: str


@dataclass(frozen=True)
class Value:
    """A metric of a run; ``value`` is None if the metric was never reached."""

    value: float | None
    unit: str
    definition: str


@dataclass(frozen=True)
class Bounds:
    """The bounds of a published number that the metric is compared with.

    ``by_chance`` says that repetitions are inside and outside of them.
    """

    number: str
    lower: float
    upper: float
    by_chance: bool = False


@dataclass(frozen=True)
class Side:
    """Results in the form in which they are compared.

    Attributes:
        name: the file or folder.
        values: values of every metric.
        bounds: bounds of the published numbers that were measured.
        parameters: (scenario, run) → parameters of the run.
        facts: name → version, build or checksum that results depend on.
        has_all_facts: whether ``facts`` are complete; without ``provenance.json`` they are few.
    """

    name: str
    values: Mapping[Key, Value]
    bounds: Mapping[Key, Bounds]
    parameters: Mapping[tuple[str, str], Parameters]
    facts: Mapping[str, str]
    has_all_facts: bool = True


@dataclass(frozen=True)
class Tolerance:
    """How much a metric without a published number may change.

    Attributes:
        share: relative to its absolute value in the first result.
        asymmetry: absolute, for asymmetries: they lie in [-1, 1], many of them near 0.
    """

    share: float = 0.05
    asymmetry: float = 0.05

    def of(self, metric: str, value: float) -> float:
        """Largest distance from ``value`` that is still within the tolerance."""
        if metric.startswith("asymmetry"):
            return self.asymmetry
        return max(self.share * abs(value), ROUNDING)


def read_sides(first: Path, second: Path) -> tuple[Side, Side]:
    """Read two results; runs are matched by their labels, or by ids if one result has no labels.

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
    runs_a, runs_b = _labelled_runs(a), _labelled_runs(b)
    if not (runs_a and runs_b):
        runs_a = runs_b = {}
    return _side(a, runs_a), _side(b, runs_b)


def _labelled_runs(results: KeptResults) -> _Runs:
    """The runs of a result; empty if it has no labels."""
    if results.runs is not None:
        return {
            (place["scenario"], run["run_id"]): (place["label"], run["parameters"])
            for run in results.runs
            for place in run["places"]
        }
    return {
        (run["scenario"], run["run_id"]): (run["label"], run["parameters"])
        for run in (results.plan["runs"] if results.plan else [])
    }


def _side(results: KeptResults, runs: _Runs) -> Side:
    """What is compared; runs go by their labels, which are unique within a scenario."""
    names = {place: label for place, (label, _) in runs.items()}

    def key(run_id: str, scenario: str, metric: str, subject: str) -> Key:
        return Key(scenario, names.get((scenario, run_id), run_id), metric, subject)

    columns = ("run_id", "scenario", "metric", "subject", "value", "unit", "definition")
    return Side(
        name=str(results.path),
        values={
            key(*row[:4]): Value(*row[4:]) for row in results.metrics.select(columns).iter_rows()
        },
        bounds={
            key(run_id, row["scenario"], row["metric"], row["subject"]): Bounds(
                row["id"], row["lower"], row["upper"], row["verdict"] == "undecided"
            )
            for number in results.scorecard["numbers"]
            for row in rows_of(number)
            for run_id in row["run_ids"]
        },
        parameters={
            (scenario, names[scenario, run_id]): parameters
            for (scenario, run_id), (_, parameters) in runs.items()
        },
        facts={name: each for name, each in _facts(results).items() if each},
        has_all_facts=results.provenance is not None,
    )


def _facts(results: KeptResults) -> dict[str, str]:
    """Name → version, build or checksum; "" for what is not known."""
    facts = {"study": results.scorecard["study"], "tier": results.scorecard["tier"]}
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


def compare(first: Side, second: Side, tolerance: Tolerance) -> Comparison:
    """Compare two results.

    A metric with a published number has moved beyond its bounds if its value crosses one of them,
    inwards or outwards, or if both values are outside on the same side and farther apart than
    ``tolerance``; a crossing decides nothing for a number that is undecided by chance. A metric
    without one has if it moved farther than ``tolerance``. A metric that is
    reached in only one of the results is beyond every bound. Bounds are those of the first result.
    """
    both = [key for key in first.values if key in second.values]
    same = [key for key in both if _reading(first.values[key]) == _reading(second.values[key])]
    moved = [
        _moved(key, first.values[key], second.values[key], first.bounds.get(key), tolerance)
        for key in same
        if first.values[key].value != second.values[key].value
    ]
    return {
        "schema_version": COMPARISON_VERSION,
        "first": first.name,
        "second": second.name,
        "compared": len(same),
        "beyond": sum(each["beyond"] for each in moved),
        "moved": sorted(moved, key=_rank),
        "redefined": _redefined(first, second, both),
        "only_first": _alone(first, second),
        "only_second": _alone(second, first),
        "facts": _other_facts(first, second),
        "parameters": list(_reconfigured(first, second)),
    }


def _reading(value: Value) -> tuple[str, str]:
    return value.unit, value.definition


def _rank(moved: MovedMetric) -> tuple[bool, bool, float]:
    """Sort key: beyond bounds first, among those what readers ask for first, then by distance."""
    size = float("inf") if moved["change_pct"] is None else abs(moved["change_pct"])
    return not moved["beyond"], not _HEADLINE.fullmatch(moved["metric"]), -size


def _moved(
    key: Key, first: Value, second: Value, bounds: Bounds | None, tolerance: Tolerance
) -> MovedMetric:
    a, b = first.value, second.value
    change = None if a is None or b is None else b - a
    beyond, why = _judge(key.metric, a, b, bounds, tolerance)
    return {
        "scenario": key.scenario,
        "run": key.run,
        "metric": key.metric,
        "subject": key.subject,
        "unit": first.unit,
        "first": a,
        "second": b,
        "change": change,
        "change_pct": 100 * change / abs(a) if change is not None and a else None,
        "number": bounds.number if bounds else "",
        "lower": bounds.lower if bounds else None,
        "upper": bounds.upper if bounds else None,
        "beyond": beyond,
        "why": why,
    }


def _judge(
    metric: str, a: float | None, b: float | None, bounds: Bounds | None, tolerance: Tolerance
) -> tuple[bool, str]:
    if a is None or b is None:
        return True, "not reached any more" if b is None else "reached now"
    limit = tolerance.of(metric, a)
    far = abs(b - a) > limit
    if bounds is None:
        return far, f"no published number; {'more' if far else 'no more'} than {limit:.4g}"
    sides = _side_of(a, bounds), _side_of(b, bounds)
    if sides[0] != sides[1]:
        chance = ", which is undecided by chance" if bounds.by_chance else ""
        return not bounds.by_chance, f"{sides[0]} to {sides[1]} its bounds{chance}"
    if sides[0] == "within":
        return False, "within its bounds"
    return far, f"{sides[0]} its bounds; {'more' if far else 'no more'} than {limit:.4g}"


def _side_of(value: float, bounds: Bounds) -> str:
    if value < bounds.lower:
        return "below"
    return "above" if value > bounds.upper else "within"


def _redefined(first: Side, second: Side, both: Iterable[Key]) -> list[Redefined]:
    """Each metric whose definition differs, once for each pair of definitions."""
    found: dict[tuple[str, str, str], Redefined] = {}
    for key in both:
        a, b = _reading(first.values[key]), _reading(second.values[key])
        if a != b:
            first_words, second_words = (f"{each[1]} in {each[0]}" for each in (a, b))
            found[key.metric, first_words, second_words] = {
                "metric": key.metric,
                "first": first_words,
                "second": second_words,
            }
    return list(found.values())


def _alone(side: Side, other: Side) -> list[Unshared]:
    counts = Counter((key.scenario, key.metric) for key in side.values if key not in other.values)
    return [
        {"scenario": scenario, "metric": metric, "values": count}
        for (scenario, metric), count in counts.items()
    ]


def _different(a: Mapping[str, str], b: Mapping[str, str]) -> list[OtherFact]:
    pairs = ((name, a.get(name, ""), b.get(name, "")) for name in dict.fromkeys([*a, *b]))
    return [
        {"name": name, "first": first, "second": second}
        for name, first, second in pairs
        if first != second
    ]


def _other_facts(first: Side, second: Side) -> list[OtherFact]:
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


def _reconfigured(first: Side, second: Side) -> Iterator[OtherParameter]:
    for (scenario, run), parameters in first.parameters.items():
        others = second.parameters.get((scenario, run))
        if others is None:
            continue
        a, b = (
            {name: json.dumps(value) for name, value in each.items()}
            for each in (parameters, others)
        )
        for each in _different(a, b):
            yield {
                "run": f"{scenario}: {run}",
                "parameter": each["name"],
                "first": each["first"],
                "second": each["second"],
            }
