"""Formats numbers, units and names for readers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from markupsafe import Markup, escape

from bdpbench.units import unit_of

SIGNIFICANT_DIGITS = 4
MOST_DECIMALS = 6
MINUS = "\N{MINUS SIGN}"
NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"


def decimals_of(value: float) -> int:
    """Number of decimals in the shortest form of ``value``.

    >>> decimals_of(14.58), decimals_of(622.0)
    (2, 0)
    """
    exponent = Decimal(repr(float(value))).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def format_number(value: float | None, *, like: float | None = None) -> str:
    """A number for reading: four significant digits, thousands grouped, a true minus sign.

    Args:
        value: the number, or None for an undefined one, which is shown as a dash.
        like: a number beside ``value``, which gets at least as many decimals.

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
    """Remove zeros at the end of the fraction, but keep ``keep`` decimals."""
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0").ljust(keep, "0")
    return f"{whole}.{fraction}" if fraction else whole


def figures_text(figures: Sequence[str]) -> str:
    """Figures of a paper, given by number; tables and others are named with their kind.

    >>> figures_text(["3.2"]), figures_text(["3.2", "3.3"]), figures_text(["Table 3", "Figure 4"])
    ('Figure 3.2', 'Figures 3.2, 3.3', 'Table 3, Figure 4')
    """
    numbers = [each for each in figures if not each[:1].isalpha()]
    named = [each for each in figures if each[:1].isalpha()]
    kind = "Figures" if len(numbers) > 1 else "Figure"
    return ", ".join([*([f"{kind} {', '.join(numbers)}"] if numbers else []), *named])


def format_deviation(value: float | None, measured: float | None, published: float) -> str:
    """A signed difference, with the precision of the measured number beside it.

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
    """A signed percentage with one decimal, or two below 0.1 %, and a dash for None."""
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


@dataclass(frozen=True)
class ParameterWords:
    """Names of run parameters, and the units of their values.

    >>> words = ParameterWords({"rtt_ms": "RTT"}, {"rtt_ms": "ms", "alpha": "packets"})
    >>> words.with_value("rtt_ms", 100), words.with_value("alpha", 1555)
    ('RTT 100 ms', 'alpha 1,555 packets')

    Attributes:
        names: parameter → its name.
        units: parameter → its unit; the names of others contain it.
        labels: parameter → value → its name, if it has one.
    """

    names: Mapping[str, str]
    units: Mapping[str, str]
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def name(self, parameter: str) -> str:
        """The parameter in words, or else its key without the unit at its end."""
        if parameter in self.names:
            return self.names[parameter]
        unit = "_" + parameter.rsplit("_", 1)[-1] if unit_of(parameter) else ""
        return parameter.removesuffix(unit).replace("_", " ")

    def unit(self, parameter: str) -> str:
        """The unit of a parameter, "" if it has none."""
        return self.units.get(parameter) or unit_of(parameter)

    def value(self, parameter: str, value: Any) -> str:
        """A value with its unit."""
        unit = self.unit(parameter)
        if isinstance(value, bool) or not isinstance(value, int | float):
            word = str(value)
            return with_unit(self.labels.get(parameter, {}).get(word, word), unit)
        number = f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"
        return with_unit(number.replace("-", MINUS), unit)

    def with_value(self, parameter: str, value: Any) -> str:
        """Name and value, as in ``buffer 40 packets``."""
        return f"{self.name(parameter)} {self.value(parameter, value)}"


_OF_A_FLOW = re.compile(r"^(?P<what>.+)_(?P<flow>[12])(?P<unit>_[a-z]+)?$")


def flow_pair(parameter: str) -> tuple[str, str, str] | None:
    """For a parameter of one of two flows: those of the first, the second, and all flows.

    >>> flow_pair("rtt_2_ms")
    ('rtt_1_ms', 'rtt_2_ms', 'rtt_ms')
    >>> flow_pair("rtt_ms")
    """
    found = _OF_A_FLOW.match(parameter)
    if found is None:
        return None
    what, unit = found["what"], found["unit"] or ""
    return f"{what}_1{unit}", f"{what}_2{unit}", f"{what}{unit}"


def subscripts(text: str) -> Markup:
    """Text for a page with subscripts for names like ``W_max``, a letter and a word.

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

    >>> subject_name("flow:0"), subject_name("link:bottleneck_2"), subject_name("run")
    ('flow 1', 'bottleneck 2', 'run')
    """
    kind, _, name = subject.partition(":")
    if kind == "flow" and name.isdigit():
        return f"flow {int(name) + 1}"
    return name.replace("_", " ") or kind
