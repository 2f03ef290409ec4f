"""Numbers, units and names as a reader sees them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from markupsafe import Markup, escape

from bdpbench.units import unit_of

SIGNIFICANT_DIGITS = 4
MOST_DECIMALS = 6
MINUS = "\N{MINUS SIGN}"
NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"


def decimals_of(value: float) -> int:
    """Decimals that the shortest way to write ``value`` needs.

    >>> decimals_of(14.58), decimals_of(622.0)
    (2, 0)
    """
    exponent = Decimal(repr(float(value))).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def format_number(value: float | None, *, like: float | None = None) -> str:
    """A number for reading: four significant digits, thousands grouped, a true minus sign.

    Args:
        value: the number, or None for one that is not defined; shown as a dash.
        like: a number beside which ``value`` stands; it is given at least as many decimals.

    >>> format_number(14.5712, like=14.58), format_number(9409.98), format_number(None)
    ('14.57', '9,410', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    keep = 0 if like is None else min(MOST_DECIMALS, decimals_of(like))
    magnitude = math.floor(math.log10(abs(value))) if value else 0
    decimals = max(keep, min(MOST_DECIMALS, SIGNIFICANT_DIGITS - 1 - magnitude))
    text = _strip_zeros(f"{value:,.{decimals}f}", keep)
    return text.replace("-", MINUS)


def _strip_zeros(text: str, keep: int) -> str:
    """Drop zeros at the end of the fraction, but leave ``keep`` decimals."""
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0").ljust(keep, "0")
    return f"{whole}.{fraction}" if fraction else whole


def format_deviation(value: float | None, measured: float | None, published: float) -> str:
    """A signed difference, as fine as the measured number beside it is shown.

    >>> format_deviation(-0.0100001, 14.57, 14.58), format_deviation(0.0, 200.0, 200.0)
    ('−0.01', '0')
    """
    if value is None or measured is None or not math.isfinite(value):
        return "–"
    decimals = len(format_number(measured, like=published).partition(".")[2])
    text = _strip_zeros(f"{abs(value):,.{decimals}f}", 0)
    if text == "0":
        return text
    return f"{MINUS if value < 0 else '+'}{text}"


def format_percent(value: float | None) -> str:
    """A signed percentage with one decimal, two below 0.1 %, and a dash for None."""
    if value is None or not math.isfinite(value):
        return "–"
    decimals = 1 if abs(value) >= 0.1 else 2
    text = f"{abs(value):.{decimals}f}"
    sign = "" if float(text) == 0 else (MINUS if value < 0 else "+")
    return f"{sign}{text}{NARROW_SPACE}%"


def format_bytes(count: float | None) -> str:
    """A size in decimal units, as file managers give it."""
    if count is None:
        return "–"
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{format_number(size)} {unit}"
        size /= 1000
    return f"{format_number(size)} GB"


def with_unit(number: str, unit: str) -> str:
    """Number and unit; the unit ``1`` of ratios is not written."""
    return number if unit in ("", "1") else f"{number} {unit}"


def axis_title(quantity: str, unit: str) -> str:
    """Title of an axis: the quantity and its unit in brackets."""
    return quantity if unit in ("", "1") else f"{quantity} ({unit})"


def parameter_name(name: str, names: Mapping[str, str]) -> str:
    """A run parameter in words: from ``names``, else its key without the unit.

    >>> parameter_name("sample_s", {"rtt_ms": "RTT"})
    'sample'
    """
    if name in names:
        return names[name]
    return name.removesuffix(_unit_suffix(name)).replace("_", " ")


def _unit_suffix(name: str) -> str:
    return "_" + name.rsplit("_", 1)[-1] if unit_of(name) else ""


def parameter_value(name: str, value: Any, units: Mapping[str, str] | None = None) -> str:
    """A parameter's value with its unit."""
    unit = (units or {}).get(name) or unit_of(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return with_unit(str(value), unit)
    number = f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"
    return with_unit(number.replace("-", MINUS), unit)


def subscripts(text: str) -> Markup:
    """Text for a page in which ``W_max`` and its like, one letter and a word, have a subscript.

    >>> str(subscripts("w < W_max, bic_beta_"))
    'w &lt; <i>W</i><sub>max</sub>, bic_beta_'
    """
    parts = re.split(r"(?<!\w)([^\W\d_])_([A-Za-z0-9]+)(?![A-Za-z0-9_])", text)
    found = [escape(parts[0])]
    for base, below, after in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        found += [Markup("<i>{}</i><sub>{}</sub>").format(base, below), escape(after)]
    return Markup("").join(found)


def subject_name(subject: str) -> str:
    """A metric's subject in words; flows are numbered from 1, as ``protocol_1`` is.

    >>> subject_name("flow:0"), subject_name("link:bottleneck"), subject_name("run")
    ('flow 1', 'bottleneck', 'run')
    """
    kind, _, name = subject.partition(":")
    if kind == "flow" and name.isdigit():
        return f"flow {int(name) + 1}"
    return name or kind
