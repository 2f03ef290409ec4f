"""``scorecard.json``: a verdict for every published number and every statement of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NotRequired, TypedDict, cast

from bdpbench.contracts.files import read_json
from bdpbench.contracts.shapes import shaped

SCORECARD_NAME = "scorecard.json"
SCORECARD_VERSION = 1

NumberVerdict = Literal["reproduced", "close", "not_reproduced", "not_run"]
ClaimVerdict = Literal["holds", "fails", "not_run"]
NUMBER_VERDICTS: tuple[NumberVerdict, ...] = ("reproduced", "close", "not_reproduced", "not_run")
CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = ("holds", "fails", "not_run")

Found = Literal["stated", "chosen before", "chosen on"]
"""How a definition was found.

By the study, which states it; by us, before any run was looked at; or by us, on the measured values
of some numbers and statements, which are named.
"""

Kind = Literal["blind", "fitted"]
"""Whether the definition of a number was fixed without regard to what was measured for it.

A number is fitted as soon as it is among those that its definition was chosen on.
"""

FOUND: tuple[Found, ...] = ("stated", "chosen before", "chosen on")
KINDS: tuple[Kind, ...] = ("blind", "fitted")

CLOSE_SHARE = 0.05
"""A number outside its bounds is close when it is off by at most this share of the published."""

CLOSE_ASYMMETRY = 0.05
"""Asymmetries lie in [-1, 1] and many near 0, where a share says nothing: absolute instead."""


def is_asymmetry(metric: str) -> bool:
    """Whether distances of a metric are absolute; see ``CLOSE_ASYMMETRY``."""
    return metric.startswith("asymmetry")


class ScoredSpread(TypedDict):
    """How far a value moves when something is varied that the study leaves open.

    ``least`` and ``most`` are in the unit of the number; ``holds_print`` tells whether they reach
    its bounds.
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
    """A number that a study prints beside what was measured; null where nothing was.

    ``distance`` is the deviation as a multiple of the way from the published number to its bound
    on that side, so that 1 is at the bound; null also where there is no such way.

    ``found`` says how the definition was found, ``chosen_on`` the ids that it was chosen on.

    A number that several runs have to show has them as ``parts``. It is reproduced if all of them
    are, and its measured value is that of the part that is farthest off.

    Scorecards of older versions lack what is not required.
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
    """A value that decides a statement."""

    label: str
    value: float | None
    unit: str
    run_id: str


class ScoredClaim(TypedDict):
    """A statement of ``claims.yaml``, whether it holds, and on what."""

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
    """A definition, bound or statement that was changed after it had first been listed.

    Attributes:
        date, commit: when, and in which commit of the repository; "" where it is not known.
        what: what was changed: a definition, bounds, a statement or how numbers are counted.
        published: whether results had been published before.
        of: ids of the numbers and statements that it is about.
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
    """Content of ``scorecard.json``; the totals count verdicts.

    ``kind_totals`` and ``claim_kind_totals`` count them apart for blind and fitted definitions.
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


def read_scorecard(path: Path) -> Scorecard:
    """Read ``scorecard.json``.

    Raises:
        BdpbenchError: when it is missing, broken or of another version.
    """
    what = "a scorecard"
    return shaped(
        read_json(path, what=what, schema_version=SCORECARD_VERSION), Scorecard, path, what
    )
