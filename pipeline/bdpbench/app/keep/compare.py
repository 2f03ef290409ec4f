"""`bdpbench compare`: which metrics of two results differ by more than their bounds allow."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from textwrap import wrap

import polars as pl

from bdpbench.app.keep.results import KeptResults
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.reports import Comparison, Row
from bdpbench.contracts.scorecard import rows_of
from bdpbench.errors import BdpbenchError, visible
from bdpbench.metrics import DEFINITIONS
from bdpbench.pages.comparison import comparison_page, moved_words
from bdpbench.units import several

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
_SHOWN_VALUES = 4
_OF_RUN = ("scenario", "run_id", "metric", "subject")
_BOUNDS = {
    **dict.fromkeys((*_OF_RUN, "number"), pl.String),
    "lower": pl.Float64,
    "upper": pl.Float64,
    "by_chance": pl.Boolean,
}
_SHOWN = 20
_DIGITS_OF_A_CHECKSUM = 16


@dataclass(frozen=True)
class Side:
    """Results in the form in which they are compared.

    Attributes:
        name: the file or folder.
        values: each value once, with the columns ``KEY``, ``value`` (null if the metric was never
            reached), ``unit`` and ``definition``, and those of the published number that it was
            compared with, or null: ``number`` (its id), ``lower``, ``upper``, and ``by_chance``,
            whether chance may have moved the mean of repetitions across these bounds.
        facts: name → version, build or checksum that results depend on.
    """

    name: str
    values: pl.DataFrame
    facts: Mapping[str, str]


def compare_results(
    first: Path, second: Path, html: Path | None, share: float, *, as_json: bool = False
) -> bool:
    """Print what differs between two results, and write it as a page if that is requested.

    Args:
        first: an archive, a folder of ``reports/published/``, or ``results/STUDY/TIER``.
        second: another one.
        html: page to write.
        share: how far a metric without bounds may move, relative to its first value.
        as_json: print one object per line.

    Returns:
        Whether any metric moved beyond its bounds.

    Raises:
        BdpbenchError: when one is not a result or damaged, when they are of different studies, or
            when they have no metrics in common.
    """
    found = compare(*read_sides(first, second), share)
    if not found["compared"] and not found["redefined"]:
        raise BdpbenchError("have no metrics in common", where=f"{first} and {second}")
    if html is not None:
        titles = {each.metric: each.title for each in DEFINITIONS.values()}
        write_text_atomically(html, visible(comparison_page(found, titles)))
    for line in map(json.dumps, comparison_records(found)) if as_json else comparison_lines(found):
        print(visible(line))
    return found["beyond"] > 0


def read_sides(first: Path, second: Path) -> tuple[Side, Side]:
    """Read two results, whose runs are matched by scenario and label.

    Raises:
        BdpbenchError: when one is damaged or not a result, or when they are of different studies.
    """
    a, b = KeptResults(first), KeptResults(second)
    studies = sorted({a.scorecard["study"], b.scorecard["study"]})
    if len(studies) > 1:
        said = f"are of different studies ({' and '.join(studies)})"
        raise BdpbenchError(said, where=f"{first} and {second}")
    return _side(a), _side(b)


def _side(results: KeptResults) -> Side:
    """What is compared; runs go by their labels, which are unique within a scenario."""
    labels = pl.DataFrame(
        [
            (place["scenario"], run["run_id"], place["label"])
            for run in results.runs
            for place in run["places"]
        ],
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
        facts={name: each for name, each in _facts(results).items() if each},
    )


def _facts(results: KeptResults) -> dict[str, str]:
    """Name → values of a parameter, version, build or checksum; "" for what is not known."""
    kept, given = results.provenance, dict[str, set[Scalar]]()
    for run in results.runs:
        for name, value in run["parameters"].items():
            given.setdefault(name, set()).add(value)
    facts = {name: _listed(values) for name, values in given.items()}
    facts |= {
        "tier": kept["tier"],
        "bdpbench": kept["bdpbench"]["version"],
        "commit": kept["bdpbench"]["commit"],
        "ns-2 build": kept["ns2_build_id"],
    }
    for build in kept["builds"]:
        facts["ns-2 compiler"] = build.get("compiler", "")
    return facts | {f"SHA-256 of {name}": each for name, each in kept["configuration"].items()}


def _listed(values: Collection[Scalar]) -> str:
    """The values of a parameter, the ends of many."""
    texts = [str(each) for each in sorted(values, key=lambda own: (isinstance(own, str), own))]
    return ", ".join(texts) if len(texts) <= _SHOWN_VALUES else f"{texts[0]} to {texts[-1]}"


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
        "first": first.name,
        "second": second.name,
        "compared": same.height,
        "beyond": sum(moved["beyond"]),
        "moved": moved.to_dicts(),
        "redefined": redefined.unique(maintain_order=True).to_dicts(),
        "only_first": _alone(first, second),
        "only_second": _alone(second, first),
        "facts": _different(first.facts, second.facts),
    }


def _judged(changed: pl.DataFrame, share: float) -> pl.DataFrame:
    """Values that differ, as rows of a comparison.

    Those beyond their bounds come first, among them what readers ask for first, then the largest
    changes, measured by how far a value may move.
    """
    change, size = pl.col("value_2") - pl.col("value"), pl.col("value").abs()
    may = pl.max_horizontal(share * pl.col("first").abs(), _ROUNDING)
    may = pl.when(pl.col("metric").str.starts_with("asymmetry")).then(_ASYMMETRY).otherwise(may)
    judged = changed.select("metric", "value", "value_2", "lower", "upper", "by_chance")
    verdicts = [_judge(*row, share=share) for row in judged.iter_rows()]
    return changed.select(
        *KEY,
        "unit",
        pl.col("value").alias("first"),
        pl.col("value_2").alias("second"),
        change.alias("change"),
        pl.when(size > 0).then(100 * change / size).alias("change_pct"),
        pl.col("number").fill_null(""),
        "lower",
        "upper",
        pl.Series("beyond", [beyond for beyond, _ in verdicts], pl.Boolean),
        pl.Series("why", [why for _, why in verdicts], pl.String),
    ).sort(
        ~pl.col("beyond"),
        ~pl.col("metric").str.contains(_HEADLINE),
        -(pl.col("change").abs() / may).fill_null(float("inf")),
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
    return [{"name": name, "first": x, "second": y} for name, x, y in pairs if x != y]


# ----------------------------------------------------------------------------------- for a terminal


def comparison_lines(found: Comparison) -> Iterator[str]:
    """The comparison as text for a terminal of 80 columns: of each metric its largest change."""
    moved = len(found["moved"])
    yield from _wrapped(
        f"{found['beyond']} of {found['compared']} metrics moved by more than they may, "
        f"{moved - found['beyond']} by less; {found['compared'] - moved} are equal"
    )
    yield from ("", f"first:  {found['first']}", f"second: {found['second']}")
    yield from _titled(
        "parameters, versions and configuration that differ",
        [f"{each['name']}: {_short(each['first'])}, then {_short(each['second'])}"
         for each in found["facts"]],
    )  # fmt: skip
    of_metric = dict[str, list[Row]]()
    for each in filter(itemgetter("beyond"), found["moved"]):
        of_metric.setdefault(each["metric"], []).append(each)
    yield from _titled("moved by more than they may", list(map(_most_moved, of_metric.values())))
    yield from _titled(
        "units or definitions that differ: not compared",
        ["{metric}: {first}, then {second}".format(**each) for each in found["redefined"]],
    )
    for side in ("first", "second"):
        alone = found["only_first" if side == "first" else "only_second"]
        told = [f"{row['scenario']}: {several(row['values'], row['metric'])}" for row in alone]
        yield from _titled(f"only in the {side}", told)


def _most_moved(rows: Sequence[Row]) -> str:
    """How many values of a metric moved, and which most."""
    most, words = rows[0], moved_words(rows[0])
    by = "" if most["change_pct"] is None else f" ({words['change_pct']})"
    many = "" if len(rows) == 1 else f"{len(rows)} values, the most: "
    where = f"{most['scenario']}: {most['run']}, {words['subject']}"
    return (
        f"{most['metric']}: {many}{words['first']}, then {words['second']}{by}\n"
        f"{where}: {most['why']}"
    )


def _titled(title: str, told: Sequence[str]) -> Iterator[str]:
    """Lines under their title; empty without any."""
    if not told:
        return
    yield from ("", f"{title}:")
    for each in told[:_SHOWN]:
        for depth, line in enumerate(each.splitlines(), 1):
            yield from _wrapped(line, depth * "  ")
    if len(told) > _SHOWN:
        yield f"  … and {len(told) - _SHOWN} more; --html and --json have all of them"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return wrap(text, 80, initial_indent=indent, subsequent_indent=indent and indent + "  ")


def _short(value: object) -> str:
    """A value; a checksum or commit is shortened to its first characters."""
    text = str(value)
    is_hex = len(text) > _DIGITS_OF_A_CHECKSUM and set(text) <= set("0123456789abcdef+")
    return text[:_DIGITS_OF_A_CHECKSUM] if is_hex else text or "–"


def comparison_records(found: Comparison) -> Iterator[Row]:
    """The comparison as rows, whose ``kind`` is "compared" first and then the list of each."""
    yield {"kind": "compared"} | {
        key: found[key] for key in ("first", "second", "compared", "beyond")
    }
    for kind in ("facts", "moved", "redefined", "only_first", "only_second"):
        yield from ({"kind": kind} | row for row in found[kind])
