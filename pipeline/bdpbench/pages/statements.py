"""The statements of the scorecard as rows of a list, and in sentences why one fails.

``scorecard.json`` has a formula, such as ``{59.3, 74.7} < {90.7}``, and the values in it as
evidence, in order. The sentences name protocols by their names, and values with their units.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from bdpbench.contracts.scorecard import (
    NARROW_SHARE,
    RepeatedVerdicts,
    Scorecard,
    ScoredClaim,
    is_narrow,
    is_repeated,
)
from bdpbench.contracts.scorecard import Evidence as ScoredEvidence
from bdpbench.pages.names import Names, RunLink
from bdpbench.pages.pictures import Picture, picture_of_claim, share_in_words
from bdpbench.pages.readings import ReadRow, read_claims
from bdpbench.pages.text import (
    VERDICTS,
    Verdict,
    format_number,
    origin_in_words,
    origin_keys,
)
from bdpbench.units import with_unit

_MOST_SENTENCES = 3
_MOST_CLAUSES = 2
_Holds: TypeAlias = Callable[[float, float], bool]

_COMPARED: Mapping[str, tuple[str, _Holds]] = {
    "<": ("less than", operator.lt),
    "<=": ("at most", operator.le),
    ">": ("more than", operator.gt),
    ">=": ("at least", operator.ge),
}

_SIGN = re.compile(r" ([<>]=?) ")
_SPREAD = re.compile(r"spread of (?P<values>.+): \S+ (?P<sign>[<>]=?) (?P<limit>\S+)")
_MONOTONE = re.compile(r"(?P<values>.+) along (?P<along>\S+)")
_WITHIN = re.compile(r"(?P<value>\S+) in \[(?P<lower>\S+), (?P<upper>\S+)\]")
_REACHED = re.compile(r"reached at (?P<value>\S+)")


@dataclass(frozen=True)
class Evidence:
    """One value that a claim is based on."""

    label: str
    value: str
    run: RunLink | None


@dataclass(frozen=True)
class ClaimRow:
    """One statement of the study; see ``scorecard.json`` for ``claim``.

    ``failure`` says in sentences why it fails; ``margin`` by how much it holds or fails,
    ``narrow`` whether that is little, and ``hair`` whether no repetition shows its spread then;
    ``repeated`` says what repetitions give, and ``picture`` shows both; ``readings`` are the
    verdicts by other readings of the study; ``protocols`` are the
    labels of the protocols that it concerns; ``origin``, ``origins`` and ``search`` are those of
    a ``NumberRow``.
    """

    claim: ScoredClaim
    verdict: Verdict
    evidence: tuple[Evidence, ...]
    failure: tuple[str, ...] = ()
    margin: str = ""
    narrow: bool = False
    hair: bool = False
    repeated: tuple[str, ...] = ()
    readings: tuple[ReadRow, ...] = ()
    picture: Picture | None = None
    origin: str = ""
    origins: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    search: str = ""


def claim_rows(scorecard: Scorecard, names: Names) -> list[ClaimRow]:
    """Rows of the list of statements, in the order of the scorecard."""
    return [_claim_row(claim, names) for claim in scorecard["claims"]]


def _claim_row(claim: ScoredClaim, names: Names) -> ClaimRow:
    verdict = VERDICTS[claim["verdict"]]
    protocols = tuple(names.protocol(key) for key in claim["protocols"])
    failed = claim.get("alone", claim["verdict"]) == "fails"
    failure = tuple(failure_in_words(claim, names)) if failed else ()
    words = (
        claim["id"],
        claim["where"],
        claim["statement"],
        claim["explanation"],
        claim["known_miss"],
        *failure,
        *protocols,
        verdict.label,
        claim["kind"],
    )
    return ClaimRow(
        claim=claim,
        verdict=verdict,
        evidence=tuple(_evidence(each, names) for each in claim["evidence"]),
        failure=failure,
        margin=_margin(claim),
        narrow=is_narrow(claim),
        hair=is_narrow(claim) and not is_repeated(claim),
        repeated=tuple(_repeated(each) for each in claim.get("repeated", [])),
        readings=read_claims(claim),
        picture=picture_of_claim(claim),
        origin=origin_in_words(claim),
        origins=origin_keys(claim),
        protocols=protocols,
        search=" ".join(words).lower(),
    )


def _margin(claim: ScoredClaim) -> str:
    """By how much a statement holds or fails, in words; "" if it has no margin."""
    margin = claim["margin"]
    if margin is None:
        return ""
    verb = "Fails" if claim.get("alone", claim["verdict"]) == "fails" else "Holds"
    size = share_in_words(abs(margin))
    text = f"{verb} by {size} of the larger value"
    if not is_narrow(claim):
        return f"{text}."
    known = "" if is_repeated(claim) else ", and the spread is not measured"
    return f"{text}: decided by less than {100 * NARROW_SHARE:g} %{known}."


def _repeated(each: RepeatedVerdicts) -> str:
    return (
        f"Varied: {each['varied']}. It holds in {each['holds']} of "
        f"{each['holds'] + each['fails']} ({each['source']})."
    )


def _evidence(each: ScoredEvidence, names: Names) -> Evidence:
    known = each["value"] is not None
    return Evidence(
        label=names.evidence(str(each["label"])),
        value=with_unit(format_number(each["value"]), each["unit"]) if known else "not reached",
        run=names.run(each["run_id"]) if each["run_id"] else None,
    )


def failure_in_words(claim: ScoredClaim, names: Names) -> list[str]:
    """Sentences on the failing parts of a statement; none if its formula is unknown.

    Args:
        claim: a statement that fails.
        names: names of protocols, metrics, parameters and runs.
    """
    values = _Values(claim["evidence"], names)
    sentences = []
    try:
        for part in claim["explanation"].split("; "):
            sentence = _sentence(part, values)
            if sentence:
                sentence = f"{values.condition()}{sentence}."
                sentences.append(f"{sentence[:1].upper()}{sentence[1:]}")
            values.begin()
    except _UnreadableError:
        return []
    if values.left:
        return []
    rest = len(sentences) - _MOST_SENTENCES
    if rest > 0:
        return [
            *sentences[:_MOST_SENTENCES],
            f"The same is true in {rest} more {'case' if rest == 1 else 'cases'}.",
        ]
    return sentences


@dataclass(frozen=True)
class _Value:
    """A value of a formula; ``who`` has it ("" for a constant); None: it was never reached."""

    value: float | None
    unit: str = ""
    who: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.who}, which never reaches it"
        number = with_unit(format_number(self.value), self.unit)
        return f"{self.who} with {number}" if self.who else number


class _UnreadableError(Exception):
    """The form of a formula is unknown here."""


class _Values:
    """Returns the values of a formula in order, with the protocols or runs that have them."""

    def __init__(self, evidence: Sequence[ScoredEvidence], names: Names) -> None:
        self._evidence, self.names = list(evidence), names
        self._next = 0
        # A spread may be over runs of one protocol.
        self._apart = False
        self._part: list[ScoredEvidence] = []
        self._varying = names.varying([each["run_id"] for each in evidence if each["run_id"]])

    @property
    def left(self) -> bool:
        """Whether evidence is left over."""
        return self._next < len(self._evidence)

    def begin(self, *, apart: bool = False) -> None:
        """Begin another part of the formula, in which a protocol may again have several values."""
        self._part = []
        self._apart = apart

    def take(self, text: str, *, constant: bool = False) -> _Value:
        """The next value, which is ``text`` in the formula; it may also be a constant."""
        if self.left and _is(text, self._evidence[self._next]["value"]):
            found = self._evidence[self._next]
            self._next += 1
            self._part.append(found)
            value = found["value"]
            sized = abs(value) if value is not None and not text.startswith("-") else value
            return _Value(sized, found["unit"], self._who(found["run_id"]))
        if not constant:
            raise _UnreadableError(text)
        try:
            return _Value(float(text))
        except ValueError:
            raise _UnreadableError(text) from None

    def _who(self, run_id: str) -> str:
        """Protocols of a run; its label if another run of the statement has the same protocols."""
        alike = {each["run_id"] for each in self._evidence if each["run_id"]}
        who = self.names.who(run_id)
        if self._apart and sum(self.names.who(each) == who for each in alike) > 1:
            return self.names.run(run_id).label
        return who

    def metric(self) -> str:
        """The metric that the present part compares, as the beginning of a sentence."""
        metrics = dict.fromkeys(str(each["label"]).partition(", ")[0] for each in self._part)
        return " and ".join(self.names.metric(each) for each in metrics)

    def condition(self) -> str:
        """Parameters that the runs of this part share and those of other parts do not."""
        run_ids = [each["run_id"] for each in self._part]
        common = self.names.common(run_ids, self._varying)
        return f"{', '.join(common)}: " if common else ""


def _is(text: str, value: float | None) -> bool:
    if value is None:
        return text == "never"
    return text in (f"{value:.6g}", f"{abs(value):.6g}")


def _sentence(part: str, values: _Values) -> str:
    """A sentence, without its full stop, on a failing part; "" for a part that holds."""
    forms: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], _Values], str]], ...] = (
        (_SPREAD, _spread),
        (_MONOTONE, _monotone),
        (_WITHIN, _within),
        (_REACHED, _reached),
    )
    if part == "never reached":
        values.take("never")
        return ""
    for form, tell in forms:
        if found := form.fullmatch(part):
            return tell(found, values)
    return _ordered(part, values)


def _ordered(part: str, values: _Values) -> str:
    """``{a, b} < {c}``, ``a < b < c``, or ``a < 2 · b``."""
    pieces = _SIGN.split(part)
    groups = [list(_group(piece, values)) for piece in pieces[::2]]
    if len(groups) < 2:
        raise _UnreadableError(part)
    # A constant has the unit of what it is compared with.
    unit = next((each.unit for group in groups for _, each in group if each.unit), "")
    groups = [
        [(f, each if each.who else replace(each, unit=unit)) for f, each in group]
        for group in groups
    ]
    wrong: dict[str, list[str]] = {}
    for left, sign, right in zip(groups, pieces[1::2], groups[1:], strict=False):
        words, holds = _COMPARED[sign]
        for factor, each in left:
            others = [(f, o) for f, o in right if not _holds(holds, factor, each, f, o)]
            if others:
                others_in_words = ", ".join(f"{_times(f)}{other}" for f, other in others)
                wrong.setdefault(f"not {words} {others_in_words}", []).append(str(each))
    if not wrong:
        return ""
    clauses = [f"{', '.join(who)}: {what}" for what, who in wrong.items()]
    more = len(clauses) - _MOST_CLAUSES
    if more > 0:
        clauses[_MOST_CLAUSES:] = [f"and {more} more like these"]
    return f"{values.metric()} of {'; '.join(clauses)}"


def _times(factor: float) -> str:
    return "" if factor == 1 else f"{format_number(factor)} times that of "


def _holds(holds: _Holds, factor: float, a: _Value, other: float, b: _Value) -> bool:
    if a.value is None or b.value is None:
        return False
    return holds(factor * a.value, other * b.value)


def _group(piece: str, values: _Values) -> Iterator[tuple[float, _Value]]:
    """The values of ``{a, b}``, ``a`` or ``2 · a``, each with its factor."""
    if piece.startswith("{") and piece.endswith("}"):
        for text in piece[1:-1].split(", "):
            yield 1.0, values.take(text)
        return
    factor, dot, text = piece.rpartition(" · ")
    yield float(factor) if dot else 1.0, values.take(text, constant=True)


def _spread(found: re.Match[str], values: _Values) -> str:
    values.begin(apart=True)
    known = [values.take(text) for text in found["values"].split(", ")]
    numbers = sorted(known, key=lambda each: each.value or 0.0)
    low, high = numbers[0], numbers[-1]
    words, holds = _COMPARED[found["sign"]]
    apart, limit = (high.value or 0.0) - (low.value or 0.0), float(found["limit"])
    if holds(apart, limit):
        return ""
    distance = with_unit(format_number(apart), low.unit)
    bound = with_unit(format_number(limit), low.unit)
    return f"{values.metric()}: {low} and {high} are {distance} apart, not {words} {bound}"


def _monotone(found: re.Match[str], values: _Values) -> str:
    known = [values.take(text) for text in found["values"].split(" → ")]
    along, numbers = values.names.parameters.name(found["along"]), []
    for each in known:
        number = with_unit(format_number(each.value), each.unit) if each.value is not None else ""
        numbers.append(number or "never reached")
    whose = " and ".join(dict.fromkeys(each.who for each in known))
    return f"{values.metric()} of {whose} along the {along}: {', '.join(numbers)}"


def _within(found: re.Match[str], values: _Values) -> str:
    each = values.take(found["value"])
    lower, upper = float(found["lower"]), float(found["upper"])
    if each.value is not None and lower <= each.value <= upper:
        return ""
    bounds = " to ".join(_bound(end) for end in (lower, upper))
    return f"{values.metric()} of {each} is not within {with_unit(bounds, each.unit)}"


def _bound(value: float) -> str:
    return format_number(value) if math.isfinite(value) else "any number"


def _reached(found: re.Match[str], values: _Values) -> str:
    each = values.take(found["value"])
    return f"{values.metric()} of {each} is reached"
