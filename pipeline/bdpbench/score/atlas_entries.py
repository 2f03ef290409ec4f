"""What a study contributes to the atlas: its numbers and statements, and how its flows share.

Each entry has the conditions of the runs that have to show it, and the verdict of the first
scorecard that has one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from bdpbench.contracts.plan import PlannedRun, Scalar, format_value, values_of
from bdpbench.contracts.scorecard import (
    AtlasEntry,
    CitedStudy,
    ClaimVerdict,
    Conditions,
    Evidence,
    NumberVerdict,
    Observed,
    Scorecard,
    ScoredClaim,
    ScoredNumber,
    SharePoint,
    rows_of,
)
from bdpbench.contracts.yaml_files import known_or_suggest
from bdpbench.score.claims import Claim
from bdpbench.score.expectations import CLAIMS_NAME, Definition, Expectations
from bdpbench.score.lookup import Asked, RunIndex, located
from bdpbench.score.published import PUBLISHED_NAME, PublishedNumber, matches
from bdpbench.studies.atlas import Declared, Member, ShareMeasure, implementation_of
from bdpbench.studies.identity import Identities
from bdpbench.studies.plan import swept_names, tiers_of
from bdpbench.studies.runs import expand_tier
from bdpbench.studies.study import NETWORK_SCRIPT, Study
from bdpbench.studies.vocabulary import NETWORK_DEFAULTS, PROTOCOL_PARAMETERS

# A study's own conditions are those of its paper tier; other tiers have what that leaves out.
_TIERS = ("paper", "full", "quick")

# Parameters that have a condition of their own, and parameters that say nothing about the path.
_HAVE_THEIR_OWN = frozenset(
    {
        *PROTOCOL_PARAMETERS,
        *("bottleneck_mbps", "rtt_ms", "rtt_1_ms", "rtt_2_ms", "buffer_pkts", "buffer_bdp"),
        *("queue", "flows", "substream", "bottleneck_delay_ms", "access_delay_ms"),
        *("access_delay_1_ms", "access_delay_2_ms", "access_mbps", "trace"),
    }
)
_SHOWN_IF_NOT_SWEPT = ("flow2_start_s", "loss_rate")


class StudyRuns:
    """The planned runs of a study, found by selectors; a tier is expanded when it is needed.

    Args:
        study: the study of the runs.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        has = tiers_of(study)
        self._tiers = [tier for tier in _TIERS if tier in has]
        self._identities = Identities()
        self._runs: dict[str, list[PlannedRun]] = {}
        self._indexes: dict[str, RunIndex] = {}

    def find(self, asked: Sequence[Asked]) -> tuple[str, list[PlannedRun]]:
        """The first tier with a requested run, and all requested runs in it, each once.

        Raises:
            BdpbenchError: for an unknown scenario or parameter, and if no tier has such a run.
        """
        for tier in self._tiers:
            index = self._index(tier)
            if every := [run for each in asked for run in index.find(each)]:
                return tier, list({(run["scenario"], run["run_id"]): run for run in every}.values())
        raise self._index(self._tiers[0]).none_found(asked[0])

    def by_id(self) -> dict[str, PlannedRun]:
        """Run id → run, for the tiers that were expanded so far."""
        return {run["run_id"]: run for runs in self._runs.values() for run in runs}

    def _index(self, tier: str) -> RunIndex:
        if tier not in self._indexes:
            self._runs[tier] = expand_tier(self._study, tier, self._identities)
            self._indexes[tier] = RunIndex(self._study.scenarios, self._runs[tier])
        return self._indexes[tier]


@dataclass(frozen=True)
class Source:
    """A scorecard of a study, and a description of its source for readers."""

    told: str
    scorecard: Scorecard

    @cached_property
    def numbers(self) -> Mapping[str, ScoredNumber]:
        """Id → the scored printed number."""
        return {each["id"]: each for each in self.scorecard["numbers"]}

    @cached_property
    def claims(self) -> Mapping[str, ScoredClaim]:
        """Id → the scored statement."""
        return {each["id"]: each for each in self.scorecard["claims"]}


@dataclass(frozen=True)
class Material:
    """What the atlas needs to know about a study.

    Attributes:
        member: the study and its ``atlas.yaml``.
        expected: its numbers and statements.
        definitions: metric → its definition.
        runs: its planned runs.
    """

    member: Member
    expected: Expectations
    definitions: Mapping[str, Definition]
    runs: StudyRuns

    @property
    def numbers(self) -> dict[str, list[PublishedNumber]]:
        """Id of a printed number → the rows of the runs that have to show it."""
        found: dict[str, list[PublishedNumber]] = {}
        for each in self.expected.numbers:
            found.setdefault(each.part_of or each.id, []).append(each)
        return found

    def title(self, metric: str) -> str:
        """A metric's name for readers; its key if it has none."""
        definition = self.definitions.get(metric)
        return (definition.title if definition else "") or metric


@dataclass(frozen=True)
class StudyPart:
    """What a study contributes to the atlas."""

    cited: CitedStudy
    entries: Sequence[AtlasEntry]
    shares: Sequence[SharePoint]


def part_of(material: Material, sources: Sequence[Source], declared: Declared) -> StudyPart:
    """A study's entries with their verdicts, and how its flows share.

    Args:
        material: material of the study.
        sources: its scorecards, in the order in which they are consulted.
        declared: declarations about all studies.

    Raises:
        BdpbenchError: naming file and line, for a number or statement without a topic, for a
            pattern of ``entries:`` that matches nothing, for a selector that matches no run, and
            for an unknown metric under ``shares:``.
    """
    member = material.member
    for source, said in ((declared.source, declared), (member.source, member.said)):
        for metric in said.shares:
            if unknown := known_or_suggest(metric, material.definitions, "metric"):
                raise source.error(("shares", metric), unknown[0], hint=unknown[1])
    entries = [_judged(each, sources, material.title) for each in _entries_of(material)]
    shares = _share_points(material, sources, {**declared.shares, **member.said.shares})
    return StudyPart(_cited(member.study, sources, entries), entries, shares)


def _cited(study: Study, sources: Sequence[Source], entries: Sequence[AtlasEntry]) -> CitedStudy:
    cited = study.citation
    known = {each["id"] for each in entries}
    return {
        "key": study.key,
        "title": study.title,
        "authors": cited.authors if cited else "",
        "work": cited.title if cited else "",
        "venue": cited.venue if cited else "",
        "year": cited.year if cited else None,
        "url": cited.url if cited else "",
        "numbers": sum(each["kind"] == "number" for each in entries),
        "statements": sum(each["kind"] == "statement" for each in entries),
        "judged": sum(each["verdict"] != "not_run" for each in entries),
        "sources": [each.told for each in sources],
        "gone": sum(len((each.numbers.keys() | each.claims.keys()) - known) for each in sources),
    }


# ---------------------------------------------------------------- entries, not yet judged


def _entries_of(material: Material) -> list[AtlasEntry]:
    """The entries of a study, numbers first, in the order of its files."""
    topics, folder = topics_of(material), material.member.study.folder
    entries = []
    for key, rows in material.numbers.items():
        with located(str(folder / PUBLISHED_NAME)):
            found = material.runs.find(rows)
        entries.append(_entry(material, key, topics[key], rows, *found))
    for claim in material.expected.claims:
        with located(str(folder / CLAIMS_NAME)):
            found = material.runs.find([each for _, each in claim.questions])
        entries.append(_entry(material, claim.text.id, topics[claim.text.id], claim, *found))
    return entries


def topics_of(material: Material) -> dict[str, str]:
    """Id of a number or statement → its topic: the first with a matching pattern.

    Raises:
        BdpbenchError: for one without a topic, and for a pattern that matches nothing.
    """
    member = material.member
    ids = [*material.numbers, *(claim.text.id for claim in material.expected.claims)]
    found: dict[str, str] = {}
    for topic, patterns in member.said.entries.items():
        for index, pattern in enumerate(patterns):
            matching = [each for each in ids if matches(pattern, each)]
            new = [each for each in matching if each not in found]
            if not new:
                message = f"{member.study.key} has no number or statement {pattern!r}"
                hint = "published.csv and claims.yaml list the ids"
                if matching:
                    taken = found[matching[0]]
                    message = f"everything that {pattern!r} matches already belongs to {taken}"
                    hint = ""
                raise member.source.error(("entries", topic, index), message, hint)
            found |= dict.fromkeys(new, topic)
    for each in ids:
        if each not in found:
            message = f"{each} of {member.study.key} belongs to no topic"
            raise member.source.error(("entries",), message, "list it under one of them")
    return found


def _entry(
    material: Material,
    key: str,
    topic: str,
    asked: Sequence[PublishedNumber] | Claim,
    tier: str,
    runs: Sequence[PlannedRun],
) -> AtlasEntry:
    """A printed number, given its rows, or a statement; with the conditions of its runs."""
    member = material.member
    if isinstance(asked, Claim):
        text, origin, ids, number = asked.text, asked.origin, [key], None
        where, page, known_miss = text.where, str(text.page), text.known_miss
        says = " ".join(text.statement.split())
    else:
        number = asked[0]
        origin, ids = number.origin, [key, *(row.id for row in asked)]
        where, page = number.where, number.page
        known_miss = " ".join(dict.fromkeys(row.known_miss for row in asked if row.known_miss))
        says = material.definitions[number.metric].title or number.metric.replace("_", " ")
    names = _once(name for run in runs for name in run["protocols"])
    senders = [member.study.protocols[name] for name in names]
    return {
        "key": f"{member.study.key}/{key}",
        "study": member.study.key,
        "id": key,
        "kind": "number" if number else "statement",
        "topic": topic,
        "where": where,
        "page": page,
        "protocols": _once(member.said.known_as[name] for name in names),
        "senders": [each.label for each in senders],
        "implementations": list(dict.fromkeys(implementation_of(each) for each in senders)),
        "conditions": _conditions(member, tier, runs),
        "says": says,
        "published": number.value if number else None,
        "lower": number.lower if number else None,
        "upper": number.upper if number else None,
        "unit": number.unit if number else "",
        "found": origin.found,
        "chosen_on": list(origin.chosen_on),
        "test": origin.kind(*ids),
        "known_miss": known_miss,
        "verdict": "not_run",
        "observed": [],
        "source": "",
    }


# ---------------------------------------------------------------- conditions


def _conditions(member: Member, tier: str, runs: Sequence[PlannedRun]) -> Conditions:
    """What some runs of a study have in common and where they differ."""
    study = member.study
    rtts = {tuple(rtts_of(run)) for run in runs}
    return {
        "scenarios": _once(study.scenarios[run["scenario"]].title for run in runs),
        "bottleneck_mbps": _numbers("bottleneck_mbps", runs),
        "rtts_ms": [list(each) for each in sorted(rtts) if each],
        "buffer_pkts": _numbers("buffer_pkts", runs),
        "buffer_bdp": sorted({share for run in runs for share in _buffer_shares(run)}),
        "queues": _once(filter(None, (_queue(study, member.said.fixed, run) for run in runs))),
        "flows": sorted({count for run in runs for count in _flow_count(run["argv"])}),
        "other": list(_others(study, runs)),
        "runs": len(runs),
        "tier": tier,
    }


def rtts_of(run: PlannedRun) -> list[float]:
    """RTTs of the flows of a run, ms; a single one if all are equal, none if unknown."""
    given = run["parameters"]
    own = [float(given[name]) for name in _numbered_rtts(given)]
    if len(own) == 1:  # the first flow may have only the RTT of the run
        own.insert(0, float(given.get("rtt_ms", own[0])))
    if not own and "rtt_ms" in given:
        own = [float(given["rtt_ms"])]
    return own[:1] if len(set(own)) == 1 else own


def _numbered_rtts(given: Mapping[str, Scalar]) -> Iterator[str]:
    """The RTTs of single flows; the first flow, or one between others, may have none."""
    number = 1
    while f"rtt_{number}_ms" in given or f"rtt_{number + 1}_ms" in given:
        if f"rtt_{number}_ms" in given:
            yield f"rtt_{number}_ms"
        number += 1


def _once(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _numbers(name: str, runs: Iterable[PlannedRun]) -> list[float]:
    found = {run["parameters"][name] for run in runs if name in run["parameters"]}
    return sorted(float(each) for each in found)


def _buffer_shares(run: PlannedRun) -> list[float]:
    """Shares of the BDP that a run's buffer corresponds to: as given, or to two digits."""
    shares = [float(each) for each in values_of(run, "buffer_bdp")]
    given = run["parameters"]
    if shares or "buffer_pkts" not in given or not given.get("bdp_pkts"):
        return shares
    return [float(f"{float(given['buffer_pkts']) / float(given['bdp_pkts']):.2g}")]


def _queue(study: Study, fixed: Mapping[str, Scalar], run: PlannedRun) -> str:
    """Kind of the bottleneck's queue; "" if a script of its own does not give it."""
    own = study.scenarios[run["scenario"]].script != NETWORK_SCRIPT
    default = fixed.get("queue", "") if own else NETWORK_DEFAULTS["queue"]
    key = str(run["parameters"].get("queue", default))
    return study.queues[key].label or key if key in study.queues else key


def _flow_count(argv: Sequence[str]) -> list[int]:
    """How many flows the script makes; empty if it does not take the number."""
    return [int(argv[argv.index("-flows") + 1])] if "-flows" in argv else []


def _others(study: Study, runs: Sequence[PlannedRun]) -> Iterator[str]:
    """Further parameters that the study varies, and the start of a second flow."""
    scenarios = (study.scenarios[key] for key in _once(run["scenario"] for run in runs))
    swept = [name for scenario in scenarios for name in swept_names(scenario)]
    given = [run["parameters"] for run in runs]
    for name in _once((*swept, *_SHOWN_IF_NOT_SWEPT)):
        label = "" if name in _HAVE_THEIR_OWN else study.vocabulary[name].label
        values = _once(map(format_value, {each[name]: 0 for each in given if name in each}))
        if label and values:
            yield label.replace("{}", " to ".join(dict.fromkeys((values[0], values[-1]))))


# ---------------------------------------------------------------- verdicts


def _judged(
    entry: AtlasEntry, sources: Sequence[Source], title: Callable[[str], str]
) -> AtlasEntry:
    """An entry with the verdict of the first scorecard that has one, and what was measured.

    A scorecard with another printed number judged something else, and is skipped.
    """
    verdict: NumberVerdict | ClaimVerdict
    for source in sources:
        claim, number = source.claims.get(entry["id"]), source.numbers.get(entry["id"])
        if entry["kind"] == "statement" and claim is not None:
            verdict, observed = claim["verdict"], _observed(claim["evidence"], title)
        elif entry["kind"] == "number" and number is not None and _same_print(number, entry):
            values = [row["measured"] for row in rows_of(number)]
            verdict = number["verdict"]
            observed = [_span(title(number["metric"]), number["unit"], values)]
        else:
            continue
        if verdict != "not_run":
            return {**entry, "verdict": verdict, "observed": observed, "source": source.told}
    return entry


def _same_print(number: ScoredNumber, entry: AtlasEntry) -> bool:
    return (number["published"], number["unit"]) == (entry["published"], entry["unit"])


def _observed(evidence: Sequence[Evidence], title: Callable[[str], str]) -> list[Observed]:
    """Ranges of the values that decide a statement, one per metric and unit."""
    values: dict[tuple[str, str], dict[tuple[str, str], float | None]] = {}
    for each in evidence:
        of_metric = values.setdefault((title(_metric_of(each)), each["unit"]), {})
        of_metric[each["label"], each["run_id"]] = each["value"]
    return [_span(name, unit, [*found.values()]) for (name, unit), found in values.items()]


def _metric_of(evidence: Evidence) -> str:
    """The metric of a value: the first word of its label."""
    return evidence["label"].partition(", ")[0]


def _span(title: str, unit: str, values: Sequence[float | None]) -> Observed:
    known = [each for each in values if each is not None]
    return {
        "metric": title,
        "unit": unit,
        "least": min(known, default=None),
        "most": max(known, default=None),
        "values": len(values),
    }


# ---------------------------------------------------------------- how two flows share a link


_What = Literal["printed", "measured"]
_Share = tuple[_What, str, str, float | None]
"""Metric, run and value."""


def smallest_over_largest(measure: ShareMeasure, value: float) -> float:
    """The smaller throughput of two flows over the larger.

    Studies print asymmetries, Jain's indices and ratios; for two flows each follows from any other.
    An asymmetry is (x - y) / (x + y); Jain's index of x and y is (x + y)² / (2 (x² + y²)), and with
    the asymmetry A it is 1 / (1 + A²).

    Args:
        measure: the kind of value.
        value: the value.

    >>> smallest_over_largest("asymmetry", -0.6), smallest_over_largest("jain_index", 1.0)
    (0.25, 1.0)
    """
    if measure == "smallest_over_largest":
        return value
    uneven = abs(value) if measure == "asymmetry" else math.sqrt(max(0.0, 1 / value - 1))
    return (1 - uneven) / (1 + uneven)


def _share_points(
    material: Material, sources: Sequence[Source], shares: Mapping[str, ShareMeasure]
) -> list[SharePoint]:
    """Every printed and every measured share of two flows of one protocol of a study.

    Printed lower bounds are not shares. The measured shares are the values by which numbers and
    statements were judged; of equivalent metrics of a run, one is kept.
    """
    found: dict[tuple[_What, str, float], SharePoint] = {}
    runs = material.runs.by_id()
    printed: Iterator[_Share] = (
        ("printed", number.metric, material.runs.find([number])[1][0]["run_id"], number.value)
        for number in material.expected.numbers
        if number.metric in shares and number.lower < number.value
    )
    for what, metric, run_id, value in (*printed, *_measured_shares(sources)):
        if metric not in shares or run_id not in runs or value is None:
            continue
        share = smallest_over_largest(shares[metric], value)
        if point := _share_point(material, what, runs[run_id], share):
            found.setdefault((what, run_id, point["ratio"]), point)
    return list(found.values())


def _measured_shares(sources: Iterable[Source]) -> Iterator[_Share]:
    """All that numbers and statements were judged by."""
    for source in sources:
        for number in source.scorecard["numbers"]:
            for row in rows_of(number):
                for run_id in row["run_ids"][:1]:
                    yield "measured", number["metric"], run_id, row["measured"]
        for claim in source.scorecard["claims"]:
            for each in claim["evidence"]:
                yield "measured", _metric_of(each), each["run_id"], each["value"]


def _share_point(
    material: Material, what: _What, run: PlannedRun, share: float
) -> SharePoint | None:
    """A point of a run; None if its flows are not two of one protocol."""
    rtts = rtts_of(run)
    if len(run["protocols"]) != 1 or not rtts or len(rtts) > 2:
        return None
    study, (key,) = material.member.study, run["protocols"]
    return {
        "study": study.key,
        "protocol": material.member.said.known_as[key],
        "sender": study.protocols[key].label,
        "what": what,
        "rtt_ratio": round(max(rtts) / min(rtts), 3),
        "ratio": round(min(1.0, max(0.0, share)), 4),
        "told": run["label"],
    }
