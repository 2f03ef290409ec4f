"""Small pictures of a verdict: bounds, print, value and spread on one axis with its unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bdpbench.contracts.scorecard import ScoredClaim, ScoredNumber, rows_of
from bdpbench.pages.text import format_number
from bdpbench.units import MINUS, with_unit

WIDTH = 340.0
"""Of every picture, px; the page scales it."""

_INSET = 8.0
_ROW = 26.0
_AXIS = 30.0
_PADDING = 0.08
_MOST_TICKS = 4
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)

Mark = Literal["bounds", "print", "value", "spread", "reading", "none"]


@dataclass(frozen=True)
class PictureRow:
    """One mark with its label and value in words; ``start`` and ``end`` in px, ``y`` its middle.

    ``verdict`` is the class of a value; a mark without a place is "none".
    """

    label: str
    text: str
    mark: Mark
    y: float
    start: float = 0.0
    end: float = 0.0
    verdict: str = ""


@dataclass(frozen=True)
class Picture:
    """Rows over one axis; ``band`` are the places within which a number is reproduced, px.

    ``ticks`` are places and labels of the axis, ``axis`` says what it shows, ``line`` is the place
    at which a statement turns.
    """

    rows: tuple[PictureRow, ...]
    ticks: tuple[tuple[float, str], ...]
    axis: str
    height: float
    width: float = WIDTH
    band: tuple[float, float] | None = None
    line: float | None = None

    @property
    def alternative(self) -> str:
        """The picture in words."""
        return "; ".join(f"{row.label}: {row.text}" for row in self.rows)


@dataclass(frozen=True)
class _Row:
    label: str
    text: str
    mark: Mark
    values: tuple[float, ...] = ()
    verdict: str = ""


def picture_of_number(number: ScoredNumber, labels: Sequence[str], axis: str) -> Picture:
    """Bounds, print, the value of each run that has to show a number, and spreads.

    Args:
        number: as in ``scorecard.json``.
        labels: what tells the runs apart, in their order.
        axis: the quantity and its unit.
    """
    published, unit = number["published"], number["unit"]

    def words(*values: float, exact: bool = False) -> str:
        texts = [format_number(each, like=each if exact else published) for each in values]
        return with_unit(" to ".join(dict.fromkeys(texts)), unit)

    bounds = (number["lower"], number["upper"])
    rows = [
        _Row("Bounds", words(*bounds, exact=True), "bounds", bounds),
        _Row("Published", words(published), "print", (published,)),
    ]
    for label, row in zip(labels, rows_of(number), strict=True):
        value, name = row["measured"], f"Measured{f', {label}' if label else ''}"
        if value is None:
            words_of_none = "not run" if row["verdict"] == "not_run" else "never reached"
            rows.append(_Row(name, words_of_none, "none"))
        else:
            rows.append(_Row(name, words(value), "value", (value,), row["verdict"]))
        for each in row.get("spread", []):
            ends = (each["least"], each["most"])
            repeated = bool(each.get("repetitions"))
            kind = each["source"].split(" of ")[0] if repeated else "another reading"
            name = f"Spread, {kind}{f', {label}' if label else ''}"
            rows.append(_Row(name, words(*ends), "spread" if repeated else "reading", ends))
    return _picture(rows, axis, band=bounds)


def picture_of_claim(claim: ScoredClaim) -> Picture | None:
    """The margin of a statement and those of its repetitions; None without a margin."""
    margin = claim["margin"]
    if margin is None:
        return None

    verdict = claim.get("alone", claim["verdict"])
    rows = [_Row("Margin", share_in_words(margin), "value", (100 * margin,), verdict)]
    for each in claim.get("repeated", []):
        ends = (each["least"], each["most"])
        known = tuple(100 * end for end in ends if end is not None)
        count = each["source"].split(" of ")[0]
        text = f"holds in {each['holds']} of {each['holds'] + each['fails']}"
        if len(known) == 2:
            text += f", {share_in_words(*(end / 100 for end in known))}"
        rows.append(_Row(f"Spread, {count}", text, "spread" if len(known) == 2 else "none", known))
    return _picture(rows, "fails below 0, holds above; % of the larger value", line=0.0)


def share_in_words(*shares: float) -> str:
    """Shares in per cent, with two digits.

    >>> share_in_words(-0.00123, 0.307)
    '−0.12 to 31 %'
    """
    texts = (f"{float(f'{100 * share:.2g}'):,g}".replace("-", MINUS) for share in shares)
    return with_unit(" to ".join(dict.fromkeys(texts)), "%")


def _picture(
    rows: Sequence[_Row],
    axis: str,
    band: tuple[float, float] | None = None,
    line: float | None = None,
) -> Picture:
    values = [value for row in rows for value in row.values]
    values += [] if line is None else [line]
    least, most = min(values), max(values)
    room = _PADDING * ((most - least) or abs(most) or 1.0)
    least, most = least - room, most + room

    def place(value: float) -> float:
        return round(_INSET + (value - least) / (most - least) * (WIDTH - 2 * _INSET), 1)

    return Picture(
        rows=tuple(
            PictureRow(
                label=row.label,
                text=row.text,
                mark=row.mark,
                y=_ROW * index + 18,
                start=place(min(row.values)) if row.values else 0.0,
                end=place(max(row.values)) if row.values else 0.0,
                verdict=row.verdict,
            )
            for index, row in enumerate(rows)
        ),
        ticks=tuple((place(value), text) for value, text in _ticks(least, most)),
        axis=axis,
        height=_ROW * len(rows) + _AXIS,
        band=None if band is None else (place(band[0]), place(band[1])),
        line=None if line is None else place(line),
    )


def _ticks(least: float, most: float) -> list[tuple[float, str]]:
    """Round values on an axis, at most ``_MOST_TICKS``, with their texts.

    >>> _ticks(0.93, 1.01)
    [(0.94, '0.94'), (0.96, '0.96'), (0.98, '0.98'), (1.0, '1')]
    """
    power = 10.0 ** math.floor(math.log10((most - least) / _MOST_TICKS))
    for step in (factor * power for factor in (*_STEPS, 20.0)):
        numbers = range(math.ceil(least / step), math.floor(most / step) + 1)
        if len(numbers) <= _MOST_TICKS:
            values = [float(f"{number * step:.12g}") for number in numbers]
            return [(value, f"{value:,.10g}".replace("-", MINUS)) for value in values]
    return []
