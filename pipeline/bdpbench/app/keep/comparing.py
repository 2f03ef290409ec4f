"""`bdpbench compare`: two results side by side, as text, HTML and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bdpbench.app.listing import table_lines
from bdpbench.archive.compare import Tolerance, compare
from bdpbench.archive.side import read_sides
from bdpbench.contracts.documents import write_json_atomically
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.reports import Comparison, MovedMetric, Unshared
from bdpbench.contracts.scorecard import CLOSE_ASYMMETRY, CLOSE_SHARE
from bdpbench.errors import BdpbenchError, visible
from bdpbench.metrics import DEFINITIONS
from bdpbench.pages.compare_page import comparison_page, moved_row

_SHOWN = 40
_SHOWN_FACTS = 12
_DIGITS_OF_A_CHECKSUM = 16


def compare_results(
    first: Path, second: Path, html: Path | None, json_file: Path | None, share: float | None
) -> bool:
    """Print what differs between two results, and write it to the requested files.

    Args:
        first: an archive, a folder of ``reports/published/``, or ``results/STUDY/TIER``.
        second: another one.
        html: page to write.
        json_file: JSON file to write.
        share: how far a metric without bounds may move; None selects the limit of a *close* number.

    Returns:
        Whether any metric moved beyond its bounds.

    Raises:
        BdpbenchError: when one is not a result or damaged, or when they have no metrics in common.
    """
    tolerance = Tolerance(CLOSE_SHARE if share is None else share, CLOSE_ASYMMETRY)
    found = compare(*read_sides(first, second), tolerance)
    if not found["compared"] and not found["redefined"]:
        raise BdpbenchError("have no metrics in common", where=f"{first} and {second}")
    if html is not None:
        titles = {each.metric: each.title for each in DEFINITIONS.values()}
        write_text_atomically(html, visible(comparison_page(found, titles)))
    if json_file is not None:
        write_json_atomically(json_file, found)
    for line in comparison_lines(found):
        print(visible(line))
    return found["beyond"] > 0


def comparison_lines(found: Comparison) -> Iterator[str]:
    """The comparison as text for a terminal."""
    yield f"first:  {found['first']}"
    yield f"second: {found['second']}"
    yield from _titled("versions and configuration that differ", found["facts"], _SHOWN_FACTS)
    yield from _titled("runs that are configured differently", found["parameters"], _SHOWN)
    yield from _titled("units or definitions that differ: not compared", found["redefined"])
    yield from _titled("only in the first", _by_scenario(found["only_first"]), _SHOWN)
    yield from _titled("only in the second", _by_scenario(found["only_second"]), _SHOWN)
    beyond = [_row(each) for each in found["moved"] if each["beyond"]]
    yield from _titled("moved beyond their bounds", beyond, _SHOWN)
    moved = len(found["moved"])
    yield ""
    yield (
        f"{found['compared']} metrics compared: {found['compared'] - moved} equal, "
        f"{moved - found['beyond']} moved within their bounds, {found['beyond']} beyond"
    )


def _by_scenario(unshared: Sequence[Unshared]) -> list[dict[str, str]]:
    """Metrics and values of each scenario that only one side has."""
    metrics = Counter(each["scenario"] for each in unshared)
    values: Counter[str] = Counter()
    for each in unshared:
        values[each["scenario"]] += each["values"]
    return [
        {"scenario": key, "metrics": str(metrics[key]), "values": str(values[key])}
        for key in metrics
    ]


def _row(moved: MovedMetric) -> dict[str, str]:
    row = moved_row(moved)
    return {
        "metric": f"{moved['metric']} ({row.subject})",
        "run": f"{moved['scenario']}: {moved['run']}",
        "first": row.first,
        "second": row.second,
        "change": row.change,
        "percent": row.change_pct,
        "bounds": row.bounds,
        "why": moved["why"],
    }


def _titled(
    title: str, rows: Sequence[Mapping[str, object]], shown: int | None = None
) -> Iterator[str]:
    """A table under its title; empty without rows."""
    if not rows:
        return
    yield ""
    yield f"{title}:"
    cells = [tuple(rows[0]), *(tuple(map(_short, row.values())) for row in rows[:shown])]
    yield from (f"  {line}" for line in table_lines(cells))
    if shown is not None and len(rows) > shown:
        yield f"  … and {len(rows) - shown} more; --html and --json have all of them"


def _short(value: object) -> str:
    """A cell; a checksum or commit is shortened to its first characters."""
    text = str(value)
    is_hex = len(text) > _DIGITS_OF_A_CHECKSUM and set(text) <= set("0123456789abcdef+")
    return text[:_DIGITS_OF_A_CHECKSUM] if is_hex else text or "–"
