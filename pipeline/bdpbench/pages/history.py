"""How definitions were found: on which values each was chosen, and what was changed later."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bdpbench.contracts.scorecard import Change, Scorecard
from bdpbench.pages.verdicts import NumberRow


@dataclass(frozen=True)
class ChangeRow:
    """A change as shown on the page.

    Attributes:
        change: as in ``scorecard.json``.
        of: links to the numbers and statements concerned, each with its id.
    """

    change: Change
    of: tuple[tuple[str, str], ...]


def change_rows(scorecard: Scorecard) -> list[ChangeRow]:
    """The changes, latest first."""
    claims = {claim["id"] for claim in scorecard["claims"]}
    return [
        ChangeRow(change, tuple((_anchor(each, claims), each) for each in change["of"]))
        for change in reversed(scorecard.get("history", []))
    ]


def _anchor(name: str, claims: Collection[str]) -> str:
    return f"{'claim' if name in claims else 'number'}-{name}"


def definition_origins(numbers: Sequence[NumberRow]) -> Mapping[str, str]:
    """Metric → how its definition was found, if numbers of the study are measured by it."""
    counts: dict[str, dict[str, int]] = {}
    for row in numbers:
        found = row.number.get("found")
        if found is not None:
            own = counts.setdefault(row.number["metric"], {})
            said = found if found != "chosen on" else f"{found}: {row.kind}"
            own[said] = own.get(said, 0) + 1
    return {metric: _told(own) for metric, own in counts.items()}


_WORDS = {
    "stated": "stated by the study for {}",
    "chosen before": "chosen before any run was looked at for {}",
    "chosen on: fitted": "chosen with the values of {} in view",
    "chosen on: blind": "a blind test for {}",
}


def _told(counts: Mapping[str, int]) -> str:
    """E.g. "Chosen with the values of 2 numbers in view; a blind test for 5 numbers."."""
    parts = [
        words.format(f"{counts[key]} number{'' if counts[key] == 1 else 's'}")
        for key, words in _WORDS.items()
        if key in counts
    ]
    sentence = "; ".join(parts)
    return f"{sentence[:1].upper()}{sentence[1:]}."
