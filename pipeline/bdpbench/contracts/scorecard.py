"""Verdicts on published numbers and statements: of one study, and of all studies side by side.

``scorecard.json`` has a verdict for every published number and every statement of a study, the
atlas what all studies print and state, beside our measurements.
"""

from __future__ import annotations

from typing import Literal, NotRequired, cast, get_args

from typing_extensions import TypedDict

SCORECARD_NAME = "scorecard.json"
SCORECARD_VERSION = 2

NumberVerdict = Literal["reproduced", "close", "not_reproduced", "undecided", "not_run"]
ClaimVerdict = Literal["holds", "fails", "undecided", "not_run"]
NUMBER_VERDICTS: tuple[NumberVerdict, ...] = get_args(NumberVerdict)
CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = get_args(ClaimVerdict)

Found = Literal["stated", "chosen before", "chosen on"]
"""How a definition was found.

``stated`` by the study; chosen by us before any run was looked at; or chosen by us on the measured
values of certain numbers and statements, which are listed.
"""

Kind = Literal["blind", "fitted"]
"""Whether the definition of a number was fixed without regard to what was measured for it.

A number is fitted as soon as it is among those that its definition was chosen on.
"""

KINDS: tuple[Kind, ...] = get_args(Kind)

CLOSE_HALF_WIDTHS = 1.0
"""A number is close if it misses its bounds by at most so many of their half widths."""

NARROW_HALF_WIDTHS = 0.1
"""A number has a narrow margin if it is nearer to one of its bounds than so many half widths."""

NARROW_SHARE = 0.02
"""A statement has one if a value that decides it is nearer to another one than this share of it."""

LEAST_FOR_SKILL = 5
"""So many numbers of one quantity are compared with a guess."""


class ScoredSpread(TypedDict):
    """How far a value moves when something that the study leaves open is varied.

    ``least`` and ``most`` are in the unit of the number; ``holds_print`` says whether the range
    from least to most meets the bounds of the printed number. ``repetitions`` counts the runs of
    whose mean least and most are the interval, 0 for another reading, which decides nothing, and
    ``deviation`` is their standard deviation.
    """

    varied: str
    least: float
    most: float
    source: str
    holds_print: bool
    repetitions: NotRequired[int]
    deviation: NotRequired[float]


class ScoredNumber(TypedDict):
    """A number that a study prints, and the measured one; null where nothing was measured.

    ``distance`` is the deviation as a multiple of the distance from the published number to its
    bound on that side, so that 1 is at the bound; it is null if there is no such distance.

    ``margin`` is the distance to the nearer bound in half widths of the bounds, positive inside and
    negative outside; it is null if there is no value or the bounds have no width. Where a run is
    repeated, ``measured`` is the mean of the repetitions. A number is ``undecided`` if chance may
    have moved that across a bound; ``alone`` is what the mean alone says then.

    ``found`` says how the definition was found, ``chosen_on`` on which ids it was chosen, as the
    study's files say it: ``*`` stands for any characters.

    If several runs have to show a number, the rows of ``published.csv`` are its ``parts``. It is
    reproduced if all parts are, and its measured value is that of the part which decides.
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
    distance: float | None
    margin: float | None
    verdict: NumberVerdict
    reason: str
    run_ids: list[str]
    found: Found
    chosen_on: list[str]
    kind: Kind
    alone: NotRequired[NumberVerdict]
    spread: NotRequired[list[ScoredSpread]]
    parts: NotRequired[list[ScoredNumber]]


class Skill(TypedDict):
    """What a guess would reach for one quantity: the constant that lies within the most bounds.

    ``numbers`` are rows of ``published.csv`` that a run measured, each run of a number counted;
    ``rank_correlation`` is Spearman's, of printed and measured values, null if either never
    changes. ``width`` is the median width of their bounds in standard deviations of single
    repetitions, null without any: luck reaches narrow bounds, and a guess wide ones.
    """

    metric: str
    unit: str
    numbers: int
    reproduced: int
    constant: float
    constant_reproduced: int
    rank_correlation: float | None
    width: NotRequired[float | None]


class Evidence(TypedDict):
    """A measured value that decides a statement."""

    label: str
    value: float | None
    unit: str
    run_id: str


class ShownByMeans(TypedDict):
    """What the means of repetitions show of a statement.

    ``holds`` and ``fails`` are the probabilities of means at least as far on that side if the truth
    is just on the other one. The statement is decided by one that is no larger than ``level``.
    """

    varied: str
    source: str
    repetitions: int
    level: float
    holds: float
    fails: float


class ScoredClaim(TypedDict):
    """A statement of ``claims.yaml``, whether it holds, and the evidence.

    ``margin`` is the share of the larger of two compared values by which it holds (positive) or
    fails (negative): the smallest one of those that have to hold, the largest one of those that do
    not. It is null if a run is missing, and if no shift of a value would change the verdict, since
    something happens or never does. ``shown`` is what repetitions of its runs show, if there are
    any. A statement is ``undecided`` if that is too little; ``alone`` is what the means alone say
    then.
    """

    id: str
    where: str
    page: int | str
    statement: str
    known_miss: str
    verdict: ClaimVerdict
    explanation: str
    protocols: list[str]
    evidence: list[Evidence]
    margin: float | None
    alone: NotRequired[ClaimVerdict]
    shown: NotRequired[ShownByMeans]
    found: Found
    chosen_on: list[str]
    kind: Kind


class ScoredCause(TypedDict):
    """Why the statements ``of`` fail, if they do, and measured values that show it."""

    cause: str
    text: str
    of: list[str]
    evidence: list[Evidence]


class Change(TypedDict):
    """A definition, bound or statement that was changed after it was first listed.

    ``commit`` is "" if unknown; ``published`` says whether results had been published
    before, and ``of`` has the ids of the numbers and statements concerned.
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
    ``causes`` are the study's. ``readings`` has, by the name of another reading of the study, what
    its runs decide if they take the places of the judged ones.
    """

    schema_version: int
    study: str
    tier: str
    totals: dict[NumberVerdict, int]
    claim_totals: dict[ClaimVerdict, int]
    numbers: list[ScoredNumber]
    claims: list[ScoredClaim]
    kind_totals: dict[Kind, dict[NumberVerdict, int]]
    claim_kind_totals: dict[Kind, dict[ClaimVerdict, int]]
    history: list[Change]
    skill: list[Skill]
    causes: NotRequired[list[ScoredCause]]
    readings: NotRequired[dict[str, Scorecard]]


def rows_of(number: ScoredNumber) -> list[ScoredNumber]:
    """One row for each run that has to show a number; the number itself if only one has to."""
    return number.get("parts") or [number]


def is_narrow(entry: ScoredNumber | ScoredClaim) -> bool:
    """Whether a verdict hangs on a small margin.

    >>> is_narrow({"margin": -0.05, "published": 3.0}), is_narrow({"margin": 0.05})
    (True, False)
    """
    margin = entry["margin"]
    limit = NARROW_HALF_WIDTHS if "published" in entry else NARROW_SHARE
    return margin is not None and abs(margin) < limit


def is_repeated(entry: ScoredNumber | ScoredClaim) -> bool:
    """Whether the spread of the values that decide an entry is measured by repetitions."""
    if "published" not in entry:
        return "shown" in entry
    rows = rows_of(cast("ScoredNumber", entry))
    return any(each.get("repetitions") for row in rows for each in row.get("spread", []))


# ---------------------------------------------------------------- the atlas

RelationKind = Literal["contradict", "conditions", "agree"]
"""How studies relate to one another: they contradict each other; they say different things because
they looked under different conditions; or they say the same."""

Standing = Literal["shown", "in part", "not shown", "not run"]
"""What our runs show of some entries: all that were run, some, or none of them; or none was run."""


class AtlasEntry(TypedDict):
    """A printed number or a statement of a study.

    ``key`` is ``study/id``. ``says`` is the statement, or the name of the quantity; ``published``,
    ``lower`` and ``upper`` are null for a statement. ``protocols`` are their common names' keys,
    ``senders`` what the study calls them. ``conditions`` are the parameters of the runs that have
    to show it, in words; ``observed`` is the range of the values that decide it, null where they
    were never reached: metric, unit, least, most. ``source`` names the scorecard of the verdict.
    """

    key: str
    study: str
    topic: str
    place: str
    protocols: list[str]
    senders: list[str]
    conditions: list[str]
    says: str
    published: float | None
    lower: float | None
    upper: float | None
    unit: str
    found: Found
    kind: Kind
    known_miss: str
    verdict: NumberVerdict | ClaimVerdict
    observed: list[tuple[str, str, float | None, float | None]]
    source: str
