"""The printed numbers and the statements of a study as entries of the atlas, not yet judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bdpbench.contracts.atlas import AtlasEntry
from bdpbench.contracts.plan import PlannedRun
from bdpbench.score.atlas.conditions import StudyRuns, conditions_of
from bdpbench.score.check import CLAIMS_NAME, PUBLISHED_NAME, Expectations
from bdpbench.score.claims import Claim
from bdpbench.score.lookup import Asked
from bdpbench.score.origin import matches
from bdpbench.score.published import PublishedNumber
from bdpbench.studies.atlas import Member, implementation_of


class Titled(Protocol):
    """A metric with a name for readers."""

    @property
    def title(self) -> str: ...  # noqa: D102


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
    definitions: Mapping[str, Titled]
    runs: StudyRuns

    @property
    def numbers(self) -> dict[str, list[PublishedNumber]]:
        """Id of a printed number → the rows of the runs that have to show it."""
        found: dict[str, list[PublishedNumber]] = {}
        for each in self.expected.numbers:
            found.setdefault(each.part_of or each.id, []).append(each)
        return found


def entries_of(material: Material) -> list[AtlasEntry]:
    """The entries of a study, numbers first, in the order of its files.

    Raises:
        BdpbenchError: naming file and line, for a number or statement without a topic, for a
            pattern of ``entries:`` that matches nothing, and for a selector that matches no run.
    """
    topics = topics_of(material)
    claims = material.expected.claims
    return [
        *(_number(material, topics[key], key, rows) for key, rows in material.numbers.items()),
        *(_statement(material, topics[claim.text.id], claim) for claim in claims),
    ]


def topics_of(material: Material) -> dict[str, str]:
    """Id of a number or statement → its topic: the first with a matching pattern.

    Raises:
        BdpbenchError: see ``entries_of``.
    """
    member = material.member
    ids = [*material.numbers, *(claim.text.id for claim in material.expected.claims)]
    found: dict[str, str] = {}
    for topic, patterns in member.said.entries.items():
        for index, pattern in enumerate(patterns):
            meant = [each for each in ids if each not in found and matches(pattern, each)]
            if not meant:
                raise _nothing_left(material, ("entries", topic, index), pattern, ids, found)
            found |= dict.fromkeys(meant, topic)
    for each in ids:
        if each not in found:
            message = f"{each} of {member.study.key} belongs to no topic"
            raise member.error(("entries",), message, "list it under one of them")
    return found


def _nothing_left(
    material: Material,
    location: tuple[str, str, int],
    pattern: str,
    ids: Sequence[str],
    found: Mapping[str, str],
) -> Exception:
    taken = [each for each in ids if matches(pattern, each)]
    if taken:
        message = f"everything that {pattern!r} matches already belongs to {found[taken[0]]}"
        return material.member.error(location, message)
    message = f"{material.member.study.key} has no number or statement {pattern!r}"
    return material.member.error(location, message, "published.csv and claims.yaml list the ids")


def _ids(row: PublishedNumber) -> Iterable[str]:
    return filter(None, (row.id, row.part_of))


def _number(
    material: Material,
    topic: str,
    key: str,
    rows: Sequence[PublishedNumber],
) -> AtlasEntry:
    first = rows[0]
    tier, runs = _found(material, rows, PUBLISHED_NAME)
    definition = material.definitions[first.metric]
    return {
        **_common(material, key, topic, tier, runs),
        "kind": "number",
        "where": first.where,
        "page": first.page,
        "says": definition.title or first.metric.replace("_", " "),
        "published": first.value,
        "lower": first.lower,
        "upper": first.upper,
        "unit": first.unit,
        "found": first.origin.found,
        "chosen_on": list(first.origin.chosen_on),
        "test": first.origin.kind(*{each for row in rows for each in _ids(row)}),
        "known_miss": " ".join(dict.fromkeys(row.known_miss for row in rows if row.known_miss)),
    }


def _statement(material: Material, topic: str, claim: Claim) -> AtlasEntry:
    text, origin = claim.text, claim.origin
    tier, runs = _found(material, [each.asked for each in claim.questions], CLAIMS_NAME)
    return {
        **_common(material, text.id, topic, tier, runs),
        "kind": "statement",
        "where": text.where,
        "page": str(text.page),
        "says": " ".join(text.statement.split()),
        "published": None,
        "lower": None,
        "upper": None,
        "unit": "",
        "found": origin.found,
        "chosen_on": list(origin.chosen_on),
        "test": origin.kind(text.id),
        "known_miss": text.known_miss,
    }


def _common(
    material: Material, key: str, topic: str, tier: str, runs: Sequence[PlannedRun]
) -> AtlasEntry:
    """Fields that numbers and statements share; the others are filled in for each kind."""
    member = material.member
    study, keys = (
        member.study,
        list(dict.fromkeys(name for run in runs for name in run["protocols"])),
    )
    senders = [study.protocols[name] for name in keys]
    return {
        "key": f"{study.key}/{key}",
        "study": study.key,
        "id": key,
        "kind": "number",
        "topic": topic,
        "where": "",
        "page": "",
        "protocols": list(dict.fromkeys(member.said.known_as[name] for name in keys)),
        "senders": [each.label for each in senders],
        "implementations": list(dict.fromkeys(implementation_of(each) for each in senders)),
        "conditions": conditions_of(study, member.said.fixed, tier, runs),
        "says": "",
        "published": None,
        "lower": None,
        "upper": None,
        "unit": "",
        "found": "stated",
        "chosen_on": [],
        "test": "blind",
        "known_miss": "",
        "verdict": "not_run",
        "observed": [],
        "source": "",
    }


def _found(material: Material, asked: Sequence[Asked], file: str) -> tuple[str, list[PlannedRun]]:
    """The tier whose conditions are shown, and its runs that have to show an entry."""
    return material.runs.find(asked, str(material.member.study.folder / file))
