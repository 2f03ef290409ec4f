"""``scorecard.json``: a verdict for every published number and every statement of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NotRequired, TypedDict, cast

from bdpbench.contracts.documents import read_document, write_json_atomically
from bdpbench.contracts.reports import check_reported, forget_report

SCORECARD_NAME = "scorecard.json"
SCORECARD_VERSION = 1

NumberVerdict = Literal["reproduced", "close", "not_reproduced", "not_run"]
ClaimVerdict = Literal["holds", "fails", "not_run"]
NUMBER_VERDICTS: tuple[NumberVerdict, ...] = ("reproduced", "close", "not_reproduced", "not_run")
CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = ("holds", "fails", "not_run")

Found = Literal["stated", "chosen before", "chosen on"]
"""How a definition was found.

``stated`` by the study; chosen by us before any run was looked at; or chosen by us on the measured
values of certain numbers and statements, which are listed.
"""

Kind = Literal["blind", "fitted"]
"""Whether the definition of a number was fixed without regard to what was measured for it.

A number is fitted as soon as it is among those that its definition was chosen on.
"""

FOUND: tuple[Found, ...] = ("stated", "chosen before", "chosen on")
KINDS: tuple[Kind, ...] = ("blind", "fitted")

CLOSE_SHARE = 0.05
"""A number outside its bounds is close if its relative error is at most this."""

CLOSE_ASYMMETRY = 0.05
"""Asymmetries lie in [-1, 1], many of them near 0, where a relative error says nothing; so this is
absolute."""


def is_asymmetry(metric: str) -> bool:
    """Whether errors of a metric are absolute; see ``CLOSE_ASYMMETRY``."""
    return metric.startswith("asymmetry")


class ScoredSpread(TypedDict):
    """How far a value moves when something that the study leaves open is varied.

    ``least`` and ``most`` are in the unit of the number; ``holds_print`` says whether the range
    from least to most meets the bounds of the printed number.
    """

    varied: str
    least: float
    most: float
    source: str
    holds_print: bool


class ScoredPart(TypedDict):
    """One of the runs that have to show the same printed number: a row of ``published.csv``."""

    id: str
    scenario: str
    select: dict[str, str]
    subject: str
    definition: str
    measured: float | None
    deviation: float | None
    deviation_pct: float | None
    distance: float | None
    verdict: NumberVerdict
    reason: str
    known_miss: str
    note: str
    run_ids: list[str]


class ScoredNumber(TypedDict):
    """A number that a study prints, and the measured one; null where nothing was measured.

    ``distance`` is the deviation as a multiple of the distance from the published number to its
    bound on that side, so that 1 is at the bound; it is null if there is no such distance.

    ``found`` says how the definition was found, ``chosen_on`` the ids on which it was chosen.

    If several runs have to show a number, they are its ``parts``. It is reproduced if all parts
    are, and its measured value is that of the part with the largest deviation.

    Scorecards of older versions lack the keys that are not required.
    """

    id: str
    where: str
    page: str
    scenario: str
    select: dict[str, str]
    metric: str
    subject: str
    lower: float
    upper: float
    unit: str
    how: str
    why: str
    known_miss: str
    note: str
    published: float
    definition: str
    measured: float | None
    deviation: float | None
    deviation_pct: float | None
    distance: NotRequired[float | None]
    verdict: NumberVerdict
    reason: str
    run_ids: list[str]
    found: NotRequired[Found]
    chosen_on: NotRequired[list[str]]
    kind: NotRequired[Kind]
    parts: NotRequired[list[ScoredPart]]
    spread: NotRequired[list[ScoredSpread]]


class Evidence(TypedDict):
    """A measured value that decides a statement."""

    label: str
    value: float | None
    unit: str
    run_id: str


class ScoredClaim(TypedDict):
    """A statement of ``claims.yaml``, whether it holds, and the evidence."""

    id: str
    where: str
    page: int | str
    statement: str
    known_miss: str
    verdict: ClaimVerdict
    explanation: str
    protocols: list[str]
    evidence: list[Evidence]
    found: NotRequired[Found]
    chosen_on: NotRequired[list[str]]
    kind: NotRequired[Kind]


class Change(TypedDict):
    """A definition, bound or statement that was changed after it was first listed.

    Attributes:
        date, commit: when, and in which commit of the repository; "" if unknown.
        what: what was changed: a definition, bounds, a statement or how numbers are counted.
        published: whether results had been published before.
        of: ids of the numbers and statements concerned.
        before, after, why: in words.
    """

    date: str
    commit: str
    what: str
    published: bool
    of: list[str]
    before: str
    after: str
    why: str


class Scorecard(TypedDict):
    """Content of ``scorecard.json``; the totals are numbers of verdicts.

    ``kind_totals`` and ``claim_kind_totals`` count blind and fitted definitions separately.
    """

    schema_version: int
    study: str
    tier: str
    totals: dict[NumberVerdict, int]
    claim_totals: dict[ClaimVerdict, int]
    numbers: list[ScoredNumber]
    claims: list[ScoredClaim]
    kind_totals: NotRequired[dict[Kind, dict[NumberVerdict, int]]]
    claim_kind_totals: NotRequired[dict[Kind, dict[ClaimVerdict, int]]]
    history: NotRequired[list[Change]]


def rows_of(number: ScoredNumber) -> list[ScoredNumber]:
    """One row for each run that has to show a number; the number itself if only one has to."""
    alone = cast("ScoredNumber", {key: each for key, each in number.items() if key != "parts"})
    return [{**alone, **part} for part in number.get("parts", [])] or [alone]


def write_scorecard(path: Path, scorecard: Scorecard) -> None:
    """Write ``scorecard.json``, atomically."""
    forget_report(path.parent)
    write_json_atomically(path, scorecard)


def read_scorecard(path: Path) -> Scorecard:
    """Read ``scorecard.json``.

    Raises:
        BdpbenchError: when it is missing, damaged or of another version, or is not what was
            written into the folder of a tier.
    """
    what = "a scorecard"
    check_reported(path)
    return read_document(path, Scorecard, what=what, schema_version=SCORECARD_VERSION)
