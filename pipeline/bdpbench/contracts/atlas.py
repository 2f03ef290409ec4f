"""The atlas: what all studies print and state, beside what was measured, as one document."""

from __future__ import annotations

from typing import Literal, TypedDict

from bdpbench.contracts.scorecard import ClaimVerdict, Found, Kind, NumberVerdict

ATLAS_VERSION = 1

RelationKind = Literal["agree", "contradict", "conditions"]
"""How studies stand to one another: they say the same; they contradict each other; or they say
different things because they looked under different conditions."""

RELATION_KINDS: tuple[RelationKind, ...] = ("contradict", "conditions", "agree")

Standing = Literal["shown", "in part", "not shown", "not run"]
"""What our runs show of some entries: all that were run, some of them, none; or none was run."""

OurRelation = Literal["agree", "conditions", "one side", "contradict", "none", "in part", "open"]
"""How our own measurements of the entries of a relation stand to one another.

``agree``: they show what all of the studies say; ``conditions``: each position is reproduced under
the conditions of its own study; ``one side``: one position is reproduced and no other;
``contradict``: what one study says is reproduced and what another says about the same is not;
``none``: nothing is reproduced; ``in part``: some entries of a position are reproduced; ``open``:
too little of it was run.
"""

Implementation = Literal["window law", "ns-2 agent", "Linux module"]


class CitedStudy(TypedDict):
    """A study, how it is cited, and where its verdicts come from.

    ``sources`` are the scorecards that were found, the one that is asked first in front; ``gone``
    counts entries of these that the study has no more, ``judged`` the entries that have a verdict.
    """

    key: str
    title: str
    authors: str
    work: str
    venue: str
    year: int | None
    url: str
    numbers: int
    statements: int
    judged: int
    sources: list[str]
    gone: int


class Sender(TypedDict):
    """How a study calls a protocol and what sends there."""

    study: str
    key: str
    label: str
    colour: str
    implementation: Implementation
    agent: str


class AtlasProtocol(TypedDict):
    """A protocol under its common name, and its senders in the studies."""

    key: str
    name: str
    aliases: list[str]
    about: str
    senders: list[Sender]


class AtlasTopic(TypedDict):
    """What entries are about."""

    key: str
    title: str
    question: str


class Conditions(TypedDict):
    """Under which conditions an entry holds: what the runs have that show it.

    ``rtts_ms`` has the RTTs of each kind of run, one number where all flows have the same;
    ``buffer_bdp`` shares of the BDP; ``other`` has further parameters in words.
    """

    scenarios: list[str]
    bottleneck_mbps: list[float]
    rtts_ms: list[list[float]]
    buffer_pkts: list[float]
    buffer_bdp: list[float]
    queues: list[str]
    flows: list[int]
    other: list[str]
    runs: int
    tier: str


class Observed(TypedDict):
    """The span of the measured values of a metric that decide an entry; null: never reached."""

    metric: str
    unit: str
    least: float | None
    most: float | None
    values: int


class AtlasEntry(TypedDict):
    """A printed number or a statement of a study.

    ``key`` is ``study/id``. ``says`` is the statement, or the name of the quantity; of a number
    ``published``, ``lower``, ``upper`` and ``unit`` tell the rest, which are null and "" for a
    statement. ``chosen_on`` are ids, or patterns of them, that the definition was chosen on, and
    ``test`` tells whether this one was among them. ``source`` names the scorecard of the verdict,
    "" where it was not run.
    """

    key: str
    study: str
    id: str
    kind: Literal["number", "statement"]
    topic: str
    where: str
    page: str
    protocols: list[str]
    senders: list[str]
    implementations: list[Implementation]
    conditions: Conditions
    says: str
    published: float | None
    lower: float | None
    upper: float | None
    unit: str
    found: Found
    chosen_on: list[str]
    test: Kind
    known_miss: str
    verdict: NumberVerdict | ClaimVerdict
    observed: list[Observed]
    source: str


class AtlasPosition(TypedDict):
    """What one or several studies say in a relation, and what our runs show of it.

    ``counts`` are those of the entries that it rests on: verdict → how many.
    """

    says: str
    studies: list[str]
    entries: list[str]
    standing: Standing
    counts: dict[str, int]


class AtlasRelation(TypedDict):
    """How studies stand to one another, declared, and how our measurements do, computed."""

    id: str
    topic: str
    protocols: list[str]
    question: str
    relation: RelationKind
    positions: list[AtlasPosition]
    conditions: list[str]
    why: str
    ours: OurRelation
    ours_in_words: str


class SharePoint(TypedDict):
    """How two flows of one protocol share a link, in one unit for all studies.

    ``ratio`` is the smaller throughput over the larger; ``rtt_ratio`` the longer RTT over the
    shorter. ``what`` tells whether a study printed it or we measured it.
    """

    study: str
    protocol: str
    sender: str
    what: Literal["printed", "measured"]
    rtt_ratio: float
    ratio: float
    told: str


class Atlas(TypedDict):
    """The whole of it; ``asked`` are the protocols that it was asked for, none for all."""

    schema_version: int
    asked: list[str]
    studies: list[CitedStudy]
    protocols: list[AtlasProtocol]
    topics: list[AtlasTopic]
    entries: list[AtlasEntry]
    relations: list[AtlasRelation]
    shares: list[SharePoint]
