"""What a study contributes to the atlas: its numbers and statements; and what relations rest on.

Each entry has the conditions of the runs that have to show it, and the verdict of the first
scorecard that has one. That studies agree or contradict each other is declared; what our runs show
of each position follows from the verdicts of the entries that it rests on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bdpbench.contracts.plan import PlannedRun, format_value
from bdpbench.contracts.scorecard import (
    AtlasEntry,
    ClaimVerdict,
    NumberVerdict,
    Scorecard,
    ScoredClaim,
    ScoredNumber,
    Standing,
    rows_of,
)
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.score.claims import Claim, ClaimText
from bdpbench.score.expectations import CLAIMS_NAME, Definition, Expectations
from bdpbench.score.lookup import Asked, RunIndex, located
from bdpbench.score.published import PUBLISHED_NAME, PublishedNumber, matches
from bdpbench.studies.atlas import Member, Relation
from bdpbench.studies.identity import Identities
from bdpbench.studies.plan import tiers_of
from bdpbench.studies.runs import expand_tier
from bdpbench.studies.study import Study
from bdpbench.studies.vocabulary import PROTOCOL_PARAMETERS

# A study's own conditions are those of its paper tier; other tiers have what that leaves out.
_TIERS = ("paper", "full", "quick")

# Parameters that say nothing about what an entry is about, and words for those without a label.
_NO_CONDITIONS = frozenset(
    {
        *PROTOCOL_PARAMETERS,
        *("substream", "sample_s", "queue_sample_s", "trace", "packet_bytes", "receiver_delay_ms"),
        *("bottleneck_delay_ms", "access_delay_ms", "access_mbps"),
    }
)
_UNLABELLED = {"rtt_1_ms": "RTT {} ms", "rtt_2_ms": "RTT {} ms of the second flow"}


class StudyRuns:
    """The planned runs of a study, found by selectors; a tier is expanded when it is needed."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._tiers = [tier for tier in _TIERS if tier in tiers_of(study)]
        self._identities = Identities()
        self._indexes: dict[str, RunIndex] = {}

    def find(self, asked: Sequence[Asked]) -> list[PlannedRun]:
        """All requested runs of the first tier that has one, each once.

        Raises:
            BdpbenchError: for an unknown scenario or parameter, and if no tier has such a run.
        """
        for tier in self._tiers:
            index = self._index(tier)
            if every := [run for each in asked for run in index.find(each)]:
                return list({(run["scenario"], run["run_id"]): run for run in every}.values())
        raise self._index(self._tiers[0]).none_found(asked[0])

    def _index(self, tier: str) -> RunIndex:
        if tier not in self._indexes:
            runs = expand_tier(self._study, tier, self._identities)
            self._indexes[tier] = RunIndex(self._study.scenarios, runs)
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
            found.setdefault(each.whole, []).append(each)
        return found

    def title(self, metric: str) -> str:
        """A metric's name for readers; its key in words if it has none."""
        definition = self.definitions.get(metric)
        return (definition.title if definition else "") or metric.replace("_", " ")


def entries_of(material: Material, sources: Sequence[Source]) -> Iterator[AtlasEntry]:
    """The entries of a study with their verdicts, numbers first, in the order of its files.

    Args:
        material: material of the study.
        sources: its scorecards, in the order in which they are consulted.

    Raises:
        BdpbenchError: naming file and line, for a number or statement without a topic, for a
            pattern of ``entries:`` that matches nothing, and for a selector that matches no run.
    """
    topics, folder = topics_of(material), material.member.study.folder
    for key, rows in material.numbers.items():
        with located(str(folder / PUBLISHED_NAME)):
            runs = material.runs.find(rows)
        yield _judged(_entry(material, key, topics[key], rows, runs), material, sources)
    for claim in material.expected.claims:
        with located(str(folder / CLAIMS_NAME)):
            runs = material.runs.find([each for _, each in claim.questions])
        key = claim.text.id
        yield _judged(_entry(material, key, topics[key], claim, runs), material, sources)


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
    runs: Sequence[PlannedRun],
) -> AtlasEntry:
    """A printed number, given its rows, or a statement; with the conditions of its runs."""
    study, known_as = material.member.study, material.member.said.known_as
    told: ClaimText | PublishedNumber
    rows: Sequence[PublishedNumber]
    if isinstance(asked, Claim):
        told, rows, says = asked.text, [], " ".join(asked.text.statement.split())
    else:
        told, rows, says = asked[0], asked, material.title(asked[0].metric)
    number = rows[0] if rows else None
    misses = [row.known_miss for row in rows if row.known_miss] or [told.known_miss]
    names = _once(name for run in runs for name in run["protocols"])
    return {
        "key": f"{study.key}/{key}",
        "study": study.key,
        "topic": topic,
        "place": f"{told.where}, p. {told.page}" if told.page else told.where,
        "protocols": _once(known_as[name] for name in names),
        "senders": [study.protocols[name].label for name in names],
        "conditions": list(_conditions(study, runs)),
        "says": says,
        "published": number.value if number else None,
        "lower": number.lower if number else None,
        "upper": number.upper if number else None,
        "unit": number.unit if number else "",
        "found": told.found,
        "kind": told.kind(key, *(row.id for row in rows)),
        "known_miss": " ".join(_once(misses)),
        "verdict": "not_run",
        "observed": [],
        "source": "",
    }


def _once(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _conditions(study: Study, runs: Sequence[PlannedRun]) -> Iterator[str]:
    """The parameters that some runs of a study have, each with its values as far as they go."""
    given = {name for run in runs for name in run["parameters"]} - _NO_CONDITIONS
    for name, parameter in study.vocabulary.items():
        label = _UNLABELLED.get(name, parameter.label)
        if label and name in given:
            values = {run["parameters"][name] for run in runs if name in run["parameters"]}
            shown = [
                study.queues[each].label or each if each in study.queues else format_value(each)
                for each in sorted(values, key=lambda each: (isinstance(each, str), each))
            ]
            several = (
                " to ".join(shown[:: len(shown) - 1]) if len(shown) > 2 else " and ".join(shown)
            )
            yield label.replace("{}", several)


def _judged(entry: AtlasEntry, material: Material, sources: Sequence[Source]) -> AtlasEntry:
    """An entry with the verdict of the first scorecard that has one, and what was measured.

    A scorecard with another printed number judged something else, and is skipped.
    """
    key = entry["key"].partition("/")[2]
    for source in sources:
        values: dict[tuple[str, str], list[float | None]] = {}
        number, claim = source.numbers.get(key), source.claims.get(key)
        verdict: NumberVerdict | ClaimVerdict
        if entry["published"] is None and claim is not None:
            verdict = claim["verdict"]
            for each in claim["evidence"]:
                metric = material.title(each["label"].partition(", ")[0])
                values.setdefault((metric, each["unit"]), []).append(each["value"])
        elif number is not None and _print(number) == _print(entry):
            verdict = number["verdict"]
            values["", number["unit"]] = [row["measured"] for row in rows_of(number)]
        else:
            continue
        if verdict != "not_run":
            observed = [(*named, *_range(found)) for named, found in values.items()]
            return {**entry, "verdict": verdict, "observed": observed, "source": source.told}
    return entry


def _print(printed: ScoredNumber | AtlasEntry) -> tuple[float | None, str]:
    return printed["published"], printed["unit"]


def _range(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    known = [each for each in values if each is not None]
    return min(known, default=None), max(known, default=None)


def check_relation(
    relation: Relation, source: YamlFile, index: int, entries: Mapping[str, AtlasEntry]
) -> None:
    """Refuse a relation that rests on what is not there.

    Args:
        relation: the relation as declared.
        source: the file that declares it.
        index: its place there.
        entries: key → entry.

    Raises:
        BdpbenchError: naming file and line of an entry that no study has, or that concerns none of
            the protocols of the relation.
    """
    for place, position in enumerate(relation.positions):
        for number, key in enumerate(position.rests_on):
            at = ("relations", index, "positions", place, "rests_on", number)
            study = key.split("/")[0]
            source.require(at, study, {each["study"] for each in entries.values()}, "study")
            own = [each for each in entries if each.startswith(f"{study}/")]
            source.require(at, key, own, "number or statement")
            about = entries[key]["protocols"]
            if not set(about) & set(relation.protocols):
                message = f"{key} is about none of its protocols, but about {', '.join(about)}"
                raise source.error(at, message)


def standing_of(entries: Iterable[AtlasEntry]) -> Standing:
    """The standing of some entries in our runs; a close number counts as not reproduced.

    What is undecided by chance is shown in part. Entries that were not run count only if none was.
    """
    verdicts = [each["verdict"] for each in entries if each["verdict"] != "not_run"]
    shown = [each in ("reproduced", "holds") for each in verdicts]
    if not shown:
        return "not run"
    if all(shown):
        return "shown"
    return "in part" if any(shown) or "undecided" in verdicts else "not shown"
