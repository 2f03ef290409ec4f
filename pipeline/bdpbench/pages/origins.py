"""How definitions were found: in words, and as options of a filter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bdpbench.contracts.scorecard import ScoredClaim, ScoredNumber

ORIGINS: Final = {
    "blind": "blind",
    "stated": "blind: stated by the study",
    "chosen-before": "blind: chosen before any run",
    "chosen-on-others": "blind: chosen on other values",
    "fitted": "fitted: chosen on this value",
}
"""Key → label of each option, in the order of the filter."""


def origin_keys(entry: ScoredNumber | ScoredClaim) -> tuple[str, ...]:
    """The filter options that an entry belongs to; none if the scorecard does not record any.

    >>> origin_keys({"kind": "blind", "found": "chosen on", "chosen_on": ["other"]})
    ('blind', 'chosen-on-others')
    """
    kind, found = entry.get("kind"), entry.get("found")
    if kind is None or found is None:
        return ()
    if kind == "fitted":
        return ("fitted",)
    blind = {
        "stated": "stated",
        "chosen before": "chosen-before",
        "chosen on": "chosen-on-others",
    }
    return ("blind", blind[found])


def offered_origins(entries: Iterable[tuple[str, ...]]) -> list[tuple[str, str]]:
    """Key and label of the options that at least one of the entries belongs to."""
    present = {key for keys in entries for key in keys}
    return [(key, label) for key, label in ORIGINS.items() if key in present]


def origin_in_words(entry: ScoredNumber | ScoredClaim) -> str:
    """How a definition was found, in a sentence; "" if the scorecard does not record it."""
    found, others = entry.get("found"), entry.get("chosen_on", [])
    if found == "stated":
        return "The study states it."
    if found == "chosen before":
        return "We chose it before looking at any run."
    if found is None:
        return ""
    count = len(others)
    values = "one value" if count == 1 else f"{count} values"
    if entry.get("kind") == "fitted":
        return f"We chose it with {values} in view, this one included: {', '.join(others)}."
    return f"We chose it with {values} in view, but not this one: {', '.join(others)}."
