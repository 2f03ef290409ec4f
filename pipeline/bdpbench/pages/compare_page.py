"""The page of a comparison: one HTML file in the style of the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bdpbench.pages.assets import read_asset, read_captions
from bdpbench.pages.embed import embed_text
from bdpbench.pages.templates import page_environment
from bdpbench.pages.text import (
    MINUS,
    format_number,
    format_percent,
    subject_name,
    with_unit,
)


def comparison_page(comparison: Mapping[str, Any]) -> str:
    """HTML of a comparison, as its JSON file holds it; nothing is loaded by it."""
    captions = read_captions()
    return (
        page_environment()
        .get_template("compare.html")
        .render(
            comparison=comparison,
            rows=[moved_row(each) for each in comparison["moved"]],
            metric_name=captions.metric,
            style=embed_text(read_asset("static/report.css"), "reports/static/report.css"),
            script=embed_text(read_asset("static/report.js"), "reports/static/report.js"),
        )
    )


def moved_row(moved: Mapping[str, Any]) -> dict[str, Any]:
    """A metric that moved, in words; ``exact`` has its numbers with all their digits."""
    unit, first, second = moved["unit"], moved["first"], moved["second"]
    bounds = ""
    if moved["number"]:
        ends = (format_number(moved[end], like=moved[end]) for end in ("lower", "upper"))
        bounds = with_unit(" to ".join(ends), unit)
    return {
        **moved,
        "subject": subject_name(moved["subject"]),
        "first": _value(first, unit),
        "second": _value(second, unit),
        "change": _change(moved["change"], unit),
        "change_pct": format_percent(moved["change_pct"]),
        "exact": {key: moved[key] for key in ("first", "second", "change", "change_pct")},
        "bounds": bounds,
    }


def _change(change: float | None, unit: str) -> str:
    if change is None:
        return "–"
    sign = MINUS if change < 0 else "+"
    return with_unit(f"{sign}{format_number(abs(change))}", unit)


def _value(value: float | None, unit: str) -> str:
    return "not reached" if value is None else with_unit(format_number(value), unit)
