"""The atlas: numbers and statements of all studies, and how the studies relate to one another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bdpbench.contracts.atlas import (
    ATLAS_VERSION,
    Atlas,
    AtlasEntry,
    AtlasProtocol,
    CitedStudy,
    Sender,
    SharePoint,
)
from bdpbench.score.atlas.entries import Material, entries_of
from bdpbench.score.atlas.relations import related
from bdpbench.score.atlas.shares import share_points
from bdpbench.score.atlas.verdicts import Source, gone, judged
from bdpbench.score.check import load_expectations
from bdpbench.studies.atlas import Declared, implementation_of
from bdpbench.studies.study import known_or_suggest

__all__ = ["Material", "Source", "StudyPart", "atlas_of", "load_expectations", "part_of"]


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
        BdpbenchError: naming file and line, see ``entries_of``, or of an unknown metric under
            ``shares:``.
    """
    member = material.member
    for source, said in ((declared.source, declared), (member.source, member.said)):
        for metric in said.shares:
            unknown = known_or_suggest(metric, material.definitions, "metric")
            if unknown:
                raise source.error(("shares", metric), unknown[0], hint=unknown[1])
    titles = {metric: each.title for metric, each in material.definitions.items()}
    entries = [judged(each, sources, titles) for each in entries_of(material)]
    shares = share_points(material, sources, {**declared.shares, **member.said.shares})
    return StudyPart(_cited(material, sources, entries), entries, shares)


def atlas_of(declared: Declared, parts: Sequence[StudyPart], asked: Sequence[str]) -> Atlas:
    """The atlas, or the part of it about some protocols.

    Args:
        declared: declarations about the studies.
        parts: contribution of each study.
        asked: keys of protocols; empty for all.

    Raises:
        BdpbenchError: naming file and line of a relation that refers to something that no study
            has.
    """
    entries = [each for part in parts for each in part.entries]
    by_key = {each["key"]: each for each in entries}
    relations = [related(each, by_key) for each in declared.relations]
    wanted = set(asked)
    about = [each for each in relations if not wanted or wanted & set(each["protocols"])]
    needed = {
        key for each in about for position in each["positions"] for key in position["entries"]
    }
    kept = [
        each
        for each in entries
        if not wanted or wanted & set(each["protocols"]) or each["key"] in needed
    ]
    studies = {each["study"] for each in kept}
    shown = {each["topic"] for each in kept} | {each["topic"] for each in about}
    return {
        "schema_version": ATLAS_VERSION,
        "asked": list(asked),
        "studies": [part.cited for part in parts if part.cited["key"] in studies],
        "protocols": list(_protocols(declared)),
        "topics": [
            {"key": key, "title": each.title, "question": each.question}
            for key, each in declared.topics.items()
            if key in shown
        ],
        "entries": kept,
        "relations": about,
        "shares": [
            point
            for part in parts
            for point in part.shares
            if not wanted or point["protocol"] in wanted
        ],
    }


def _protocols(declared: Declared) -> Iterable[AtlasProtocol]:
    for key, protocol in declared.protocols.items():
        yield {
            "key": key,
            "name": protocol.name,
            "aliases": list(protocol.aliases),
            "about": protocol.about,
            "senders": [*_senders(declared, key)],
        }


def _senders(declared: Declared, name: str) -> Iterable[Sender]:
    for member in declared.members.values():
        for key, known in member.said.known_as.items():
            if known == name:
                protocol = member.study.protocols[key]
                module = f", {protocol.linux}" if protocol.linux else ""
                yield {
                    "study": member.study.key,
                    "key": key,
                    "label": protocol.label,
                    "colour": protocol.colour,
                    "implementation": implementation_of(protocol),
                    "agent": f"Agent/{protocol.agent}{module}",
                }


def _cited(
    material: Material, sources: Sequence[Source], entries: Sequence[AtlasEntry]
) -> CitedStudy:
    study, cited = material.member.study, material.member.study.citation
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
        "gone": sum(gone(each, entries) for each in sources),
    }
