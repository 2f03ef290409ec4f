"""``scorecard.json``: a verdict for every published number and every statement of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NotRequired, TypedDict

from bdpbench.contracts.files import read_json
from bdpbench.contracts.shapes import shaped

SCORECARD_NAME = "scorecard.json"
SCORECARD_VERSION = 1

NumberVerdict = Literal["reproduced", "close", "not_reproduced", "not_run"]
ClaimVerdict = Literal["holds", "fails", "not_run"]
NUMBER_VERDICTS: tuple[NumberVerdict, ...] = ("reproduced", "close", "not_reproduced", "not_run")
CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = ("holds", "fails", "not_run")

CLOSE_SHARE = 0.05
"""A number outside its bounds is close when it is off by at most this share of the published."""

CLOSE_ASYMMETRY = 0.05
"""Asymmetries lie in [-1, 1] and many near 0, where a share says nothing: absolute instead."""


def is_asymmetry(metric: str) -> bool:
    """Whether distances of a metric are absolute; see ``CLOSE_ASYMMETRY``."""
    return metric.startswith("asymmetry")


class ScoredNumber(TypedDict):
    """A row of ``published.csv`` beside what was measured; null where nothing was.

    ``distance`` is the deviation as a multiple of the way from the published number to its bound
    on that side, so that 1 is at the bound; null also where there is no such way. Scorecards of
    older versions lack it.
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


class Scorecard(TypedDict):
    """Content of ``scorecard.json``; the totals count verdicts."""

    schema_version: int
    study: str
    tier: str
    totals: dict[NumberVerdict, int]
    claim_totals: dict[ClaimVerdict, int]
    numbers: list[ScoredNumber]
    claims: list[ScoredClaim]


def read_scorecard(path: Path) -> Scorecard:
    """Read ``scorecard.json``.

    Raises:
        BdpbenchError: when it is missing, broken or of another version.
    """
    what = "a scorecard"
    return shaped(
        read_json(path, what=what, schema_version=SCORECARD_VERSION), Scorecard, path, what
    )
