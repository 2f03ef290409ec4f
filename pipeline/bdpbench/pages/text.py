"""Text for readers and pages: numbers, units, verdicts, and what is placed inside an element."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup, escape

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.scorecard import AtlasEntry, ScoredClaim, ScoredNumber
from bdpbench.errors import BdpbenchError
from bdpbench.units import MINUS, with_unit

SIGNIFICANT_DIGITS = 4
MOST_DECIMALS = 6
_MOST_LISTED = 3
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


def value_text(
    value: float | None, unit: str, like: float | None = None, *, none: str = "–"
) -> str:
    """A number with its unit, see ``format_number``; ``none`` if there is none."""
    return none if value is None else with_unit(format_number(value, like=like), unit)


def range_text(
    values: Iterable[float], unit: str, like: float | None = None, *, exact: bool = False
) -> str:
    """Numbers as ``0.5 to 2 s``, each once; if ``exact``, each with all of its decimals."""
    texts = (format_number(each, like=each if exact else like) for each in values)
    return with_unit(" to ".join(dict.fromkeys(texts)), unit)


def _strip_zeros(text: str, keep: int) -> str:
    """Remove zeros at the end of the fraction, but keep ``keep`` decimals."""
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0").ljust(keep, "0")
    return f"{whole}.{fraction}" if fraction else whole


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


def share_in_words(*shares: float) -> str:
    """Shares in per cent, with two digits.

    >>> share_in_words(-0.00123, 0.307)
    '−0.12 to 31 %'
    """
    texts = (f"{float(f'{100 * share:.2g}'):,g}".replace("-", MINUS) for share in shares)
    return with_unit(" to ".join(dict.fromkeys(texts)), "%")


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


def joined(*parts: str, by: str = ", ") -> str:
    """The parts that are not empty, one after the other.

    >>> joined("RTT 20 ms", "", "flow 1")
    'RTT 20 ms, flow 1'
    """
    return by.join(filter(None, parts))


def inside(name: str) -> str:
    """A name inside a sentence: names of people and abbreviations keep their capital letter."""
    first = name.split(" ", 1)[0]
    return name[:1].lower() + name[1:] if first[1:].islower() and "'" not in first else name


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts that are not empty, each once."""
    return tuple(filter(None, dict.fromkeys(texts)))


def listed(labels: Sequence[str], most: int = _MOST_LISTED) -> str:
    """Some names, all of them if they are few; pairs stay apart.

    >>> listed(["A"]), listed(["A", "B"]), listed(["A", "B", "C", "D", "E"])
    ('A', 'A and B', 'A, B, C and 2 others')
    >>> listed(["A and B", "A and C"])
    'A and B, A and C'
    """
    named, others = list(labels[:most]), len(labels) - most
    if others == 1:
        named = list(labels)
    elif others > 1:
        named.append(f"{others} others")
    last = ", " if any(" and " in each for each in named) else " and "
    return last.join(filter(None, (", ".join(named[:-1]), *named[-1:])))


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


@dataclass(frozen=True)
class Verdict:
    """A verdict in words, as a symbol, and as a rank for sorting (worst first).

    ``key`` is also its class in the style sheet.
    """

    key: str
    label: str
    symbol: str
    rank: int = 0


VERDICTS = {
    each.key: each
    for each in (
        Verdict("not_reproduced", "not reproduced", "✗", 0),
        Verdict("close", "close", "≈", 1),
        Verdict("reproduced", "reproduced", "✓", 3),
        Verdict("undecided", "undecided by chance", "±", 2),
        Verdict("not_run", "not run", "○", 4),
        Verdict("fails", "fails", "✗", 0),
        Verdict("holds", "holds", "✓", 3),
    )
}


@dataclass(frozen=True)
class Total:
    """Count of one verdict, and its share of all in percent (a width on the page)."""

    verdict: Verdict
    count: int
    width: float


def totals(counts: Mapping[Any, int], verdicts: Sequence[str]) -> list[Total]:
    """Totals in the order of ``verdicts``, including those with a count of 0."""
    everything = sum(counts.get(key, 0) for key in verdicts)
    return [
        Total(VERDICTS[key], counts.get(key, 0), 100 * counts.get(key, 0) / max(1, everything))
        for key in verdicts
    ]


ORIGINS: Final = {
    "blind": "blind",
    "stated": "blind: stated by the study",
    "chosen-before": "blind: chosen before any run",
    "chosen-on-others": "blind: chosen on other values",
    "fitted": "fitted: chosen on this value",
}
"""Key → label of each option, in the order of the filter."""


def origin_keys(entry: ScoredNumber | ScoredClaim | AtlasEntry) -> tuple[str, ...]:
    """The filter options that an entry belongs to.

    >>> origin_keys({"kind": "blind", "found": "chosen on", "chosen_on": ["other"]})
    ('blind', 'chosen-on-others')
    """
    if entry["kind"] == "fitted":
        return ("fitted",)
    blind = {
        "stated": "stated",
        "chosen before": "chosen-before",
        "chosen on": "chosen-on-others",
    }
    return ("blind", blind[entry["found"]])


def offered_origins(entries: Iterable[ScoredNumber | ScoredClaim]) -> list[tuple[str, str]]:
    """Key and label of the options that at least one of the entries belongs to."""
    present = {key for each in entries for key in origin_keys(each)}
    return [(key, label) for key, label in ORIGINS.items() if key in present]


def assets_dir() -> Path:
    """Folder of templates, style sheet, script and captions."""
    return repository_root() / "reports"


def read_asset(name: str) -> str:
    """Text of a file under ``reports/``.

    Raises:
        BdpbenchError: when the file is missing or cannot be read.
    """
    path = assets_dir() / name
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BdpbenchError(
            f"a file that every report needs cannot be read ({error.strerror})",
            where=str(path),
            hint="restore it from the repository, or point BDPBENCH_ROOT at a checkout",
        ) from None


_ENDS_AN_ELEMENT = ("</script", "</style", "<!--")


def embed_text(text: str, name: str) -> Markup:
    """Text of our own or of a library that may be placed inside ``<script>`` or ``<style>``.

    Raises:
        BdpbenchError: when something in it would end the element; ``name`` says what the text is.
    """
    lowered = text.lower()  # cached: Vega has a million characters
    for mark in _ENDS_AN_ELEMENT:
        if mark in lowered:
            raise BdpbenchError(f"contains {mark!r} and cannot be embedded in a page", where=name)
    return Markup(text)  # noqa: S704  checked above


def unbroken(sentence: str) -> str:
    """A sentence in whose lines no number is parted from its unit."""
    return re.sub(r"(?<=\d) (?=(?:%|[kMG]?bit/s|m?s|packets)(?!\w))", "\u00a0", sentence)


def web_address(url: str) -> str:
    """The web address in a citation; "" if there is none."""
    return url if url.startswith(("https://", "http://")) else ""
