"""The atlas: what all studies print and state, beside our measurements, as one document."""

from __future__ import annotations

from typing import Literal, TypedDict

from bdpbench.contracts.scorecard import ClaimVerdict, Found, Kind, NumberVerdict

ATLAS_VERSION = 1

RelationKind = Literal["agree", "contradict", "conditions"]
"""How studies relate to one another: they say the same; they contradict each other; or they say
different things because they looked under different conditions."""

RELATION_KINDS: tuple[RelationKind, ...] = ("contradict", "conditions", "agree")

Standing = Literal["shown", "in part", "not shown", "not run"]
"""What our runs show of a set of entries: all that were run, some, or none of them; or none was
run."""

OurRelation = Literal["agree", "conditions", "one side", "contradict", "none", "in part", "open"]
"""How our own measurements of a relation's entries relate to one another.

``agree``: they show what all of the studies say; ``conditions``: each position is reproduced under
the conditions of its own study; ``one side``: one position is reproduced and no other;
``contradict``: what one study says is reproduced and what another says about the same is not;
``none``: nothing is reproduced; ``in part``: some entries of a position are reproduced; ``open``:
too few of the entries were run.
"""

Implementation = Literal["window law", "ns-2 agent", "Linux module"]


class CitedStudy(TypedDict):
    """A study, how it is cited, and where its verdicts come from.

    ``sources`` are the scorecards that were found, in the order in which they are consulted;
    ``gone`` counts their entries that the study no longer has, ``judged`` the entries that have a
    verdict.
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
    """What a study calls a protocol, and what sends in its runs."""

    study: str
    key: str
    label: str
    colour: str
    implementation: Implementation
    agent: str


class AtlasProtocol(TypedDict):
    """A protocol under its common name, with its senders in the studies."""

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
    """The conditions under which an entry holds: the parameters of the runs that show it.

    ``rtts_ms`` has the RTTs of each kind of run, a single number if all flows have the same RTT;
    ``buffer_bdp`` buffers as shares of the BDP; ``other`` has further parameters in words.
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
    """The range of the values that decide an entry; null: the metric was never reached."""

    metric: str
    unit: str
    least: float | None
    most: float | None
    values: int


class AtlasEntry(TypedDict):
    """A printed number or a statement of a study.

    ``key`` is ``study/id``. ``says`` is the statement, or the name of the quantity; ``published``,
    ``lower``, ``upper`` and ``unit`` describe a number, and are null and "" for a statement.
    ``chosen_on`` are the ids, or patterns of ids, on which the definition was chosen, and ``test``
    says whether this entry is among them. ``source`` names the scorecard of the verdict, "" if the
    entry was not run.
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

    ``counts`` maps each verdict to the number of entries that have it.
    """

    says: str
    studies: list[str]
    entries: list[str]
    standing: Standing
    counts: dict[str, int]


class AtlasRelation(TypedDict):
    """How studies relate to one another, as declared, and how our measurements do, as computed."""

    id: str
    topic: str
    protocols: list[str]
    question: str
    relation: RelationKind
    positions: list[AtlasPosition]
    conditions: list[str]
    why: str
    checked: dict[str, str]
    ours: OurRelation
    ours_in_words: str


class SharePoint(TypedDict):
    """How two flows of one protocol share a link, in one unit for all studies.

    ``ratio`` is the smaller throughput over the larger; ``rtt_ratio`` the longer RTT over the
    shorter. ``what`` says whether a study printed it or we measured it.
    """

    study: str
    protocol: str
    sender: str
    what: Literal["printed", "measured"]
    rtt_ratio: float
    ratio: float
    told: str


class Atlas(TypedDict):
    """The whole atlas; ``asked`` lists the protocols that were asked for, and is empty for all."""

    schema_version: int
    asked: list[str]
    studies: list[CitedStudy]
    protocols: list[AtlasProtocol]
    topics: list[AtlasTopic]
    entries: list[AtlasEntry]
    relations: list[AtlasRelation]
    shares: list[SharePoint]
