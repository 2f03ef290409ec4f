"""The page of a comparison of results: one HTML file in the style of the report."""

from __future__ import annotations

from collections.abc import Mapping

from bdpbench.contracts.reports import Comparison, Row
from bdpbench.pages.html import embedded, page_environment
from bdpbench.pages.inputs import read_captions
from bdpbench.pages.names import ParameterWords, subject_name
from bdpbench.pages.text import format_percent, range_text, value_text
from bdpbench.units import MINUS, with_unit

SIDES = ("first", "second")


def comparison_page(comparison: Comparison, titles: Mapping[str, str]) -> str:
    """HTML of a comparison; it loads nothing.

    Args:
        comparison: the comparison.
        titles: metric → its name; other metrics are shown by their ids.
    """
    words = ParameterWords(read_captions().parameters, {})
    # Versions and checksums have names with a blank, and this one follows from others.
    changed = [
        (words.name(name), *(with_unit(each[side] or "–", words.unit(name)) for side in SIDES))
        for each in comparison["facts"]
        if (name := each["name"]) not in ("bdp_pkts", "bdpbench", "commit") and " " not in name
    ]

    def metric_name(metric: str) -> str:
        return titles.get(metric) or metric.replace("_", " ")

    return (
        page_environment()
        .get_template("compare.html")
        .render(
            comparison=comparison,
            changed=changed,
            rows=[(each, moved_words(each)) for each in comparison["moved"]],
            metric_name=metric_name,
            **embedded(vega=False),
        )
    )


def moved_words(moved: Row) -> dict[str, str]:
    """A metric that moved, in words: subject, first, second, change, change_pct and bounds."""
    unit, bounds, change = moved["unit"], "", moved["change"]
    sign = "" if change is None else MINUS if change < 0 else "+"
    if moved["number"]:
        bounds = range_text((moved["lower"], moved["upper"]), unit, exact=True)
    return {
        "subject": subject_name(moved["subject"]),
        "first": value_text(moved["first"], unit, none="not reached"),
        "second": value_text(moved["second"], unit, none="not reached"),
        "change": sign + value_text(change and abs(change), unit),
        "change_pct": format_percent(moved["change_pct"]),
        "bounds": bounds,
    }
