"""Declarations about all studies: ``config/atlas.yaml``, and ``atlas.yaml`` of a study.

The first names protocols and topics and says how the studies relate to one another. The second maps
the protocols of a study to these names, and its numbers and statements to topics; it may declare
further protocols, topics and relations itself. So a study joins with a file of its own, and no
other file has to mention it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, model_validator

from bdpbench.contracts.paths import config_dir
from bdpbench.contracts.scorecard import RelationKind
from bdpbench.contracts.yaml_files import Key, Strict, Text, YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import STUDY_NAME, find_study, read_study, studies_dir, study_keys
from bdpbench.studies.study import Study

ATLAS_NAME = "atlas.yaml"

_Named = TypeVar("_Named")

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=64)]
EntryKey = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*/[^\s/]+$")]


class KnownProtocol(Strict):
    """A protocol under the name by which the field knows it."""

    name: Text = Field(description="Its common name, e.g. HighSpeed TCP")
    about: str = Field("", description="What it is, and where it is defined, in a sentence")


class Topic(Strict):
    """What numbers and statements are about."""

    title: Text = Field(description="A few words, e.g. Small buffers")
    question: Text = Field(description="The question, in a sentence")


class Position(Strict):
    """What one or several studies say, and the entries that say it."""

    says: Text = Field(description="The position, in a sentence")
    rests_on: list[EntryKey] = Field(min_length=1, description="study/id of what says it")


class Relation(Strict):
    """Relations between studies on a question."""

    id: Name
    topic: Name = Field(description="Topic that it belongs to")
    protocols: list[Name] = Field(min_length=1, description="Protocols that it is about")
    question: Text
    relation: RelationKind = Field(description="conditions: they differ because these do")
    positions: list[Position] = Field(min_length=1, description="One if all of them agree")
    conditions: list[Text] = Field(default_factory=list, description="Those that differ")
    why: Text = Field(description="The reason for this reading, for a reader who has the studies")
    checked: dict[Key, Text] = Field(
        default_factory=dict,
        description="For each of its studies: place and content of what it says, read once more",
    )

    @model_validator(mode="after")
    def _has_its_positions(self) -> Self:
        studies = {key.split("/")[0] for each in self.positions for key in each.rests_on}
        if len(studies) < 2:
            raise ValueError("positions: a relation needs at least two studies")
        if self.relation == "agree" and len(self.positions) > 1:
            raise ValueError("positions: studies that agree have one")
        if self.relation != "agree" and len(self.positions) < 2:
            raise ValueError("positions: expected two or more that differ")
        if self.relation == "conditions" and not self.conditions:
            raise ValueError("conditions: which of them differ?")
        if self.checked and set(self.checked) != studies:
            raise ValueError(f"checked: expected an entry for each of {', '.join(sorted(studies))}")
        return self


class Names(Strict):
    """Protocols, topics and relations that a file declares."""

    protocols: dict[Name, KnownProtocol] = Field(default_factory=dict)
    topics: dict[Name, Topic] = Field(default_factory=dict, description="In the order of the page")
    relations: list[Relation] = Field(default_factory=list)


class Comparison(Strict):
    """A study whose report compares protocols in a way that concerns the reports of all others."""

    study: Text = Field(description="Its folder, beside atlas.yaml")
    section: Text = Field(description="The section of its report, as in report.html#section")
    says: Text = Field(description="What is compared there, in a few words: what ns-3 gives for it")


class Catalogue(Names):
    """``config/atlas.yaml``."""

    schema_version: Literal[1]
    comparisons: list[Comparison] = Field(
        default_factory=list, description="What the page of each of their protocols links"
    )


class Membership(Names):
    """``config/studies/<key>/atlas.yaml``, or that of a study of your own."""

    schema_version: Literal[1]
    known_as: dict[Key, Name] = Field(
        description="Each protocol of study.yaml → the key of its common name"
    )
    entries: dict[Name, list[Text]] = Field(
        description="Topic → ids of published.csv and claims.yaml, with * for any characters; an "
        "entry belongs to the first topic that names it"
    )


def load_comparisons() -> list[tuple[Comparison, Study]]:
    """The comparisons that ``config/atlas.yaml`` names; none where an archive leaves it out."""
    path = config_dir() / ATLAS_NAME
    if not path.is_file():
        return []
    source, found = YamlFile(path), []
    for index, each in enumerate(source.validate(Catalogue).comparisons):
        place = path.parent / each.study / STUDY_NAME
        if not place.is_file():
            raise source.error(
                ("comparisons", index, "study"), f"there is no study in {each.study}"
            )
        found.append((each, read_study(place)))
    return found


@dataclass(frozen=True)
class Member:
    """A study that is in the atlas, what its file says, and the file."""

    study: Study
    said: Membership
    source: YamlFile


@dataclass(frozen=True)
class Declared:
    """All declarations of all files together, in order; a relation with its file and place."""

    protocols: Mapping[str, KnownProtocol]
    topics: Mapping[str, Topic]
    relations: Sequence[tuple[Relation, YamlFile, int]]
    members: Mapping[str, Member]

    def protocol(self, word: str) -> str:
        """Key of the protocol that a user names by its key, its name, or a study's name for it.

        Raises:
            BdpbenchError: when no study has such a protocol.
        """
        words = {
            each.casefold(): name
            for member in self.members.values()
            for key, name in member.said.known_as.items()
            for each in (key, member.study.protocols[key].label)
        }
        words |= {each.name.casefold(): key for key, each in self.protocols.items()}
        words |= {key: key for key in self.protocols}
        if word.casefold() not in words:
            names = sorted(each.name for each in self.protocols.values())
            message, hint = f"no study has a protocol {word!r}", f"known: {', '.join(names)}"
            raise BdpbenchError(message, where="PROTOCOL", hint=hint)
        return words[word.casefold()]


def load_declared(outside: Sequence[Path] = ()) -> Declared:
    """Read the declarations about the configured studies, and about further ones.

    Args:
        outside: folders of further studies, each with an ``atlas.yaml``.

    Raises:
        BdpbenchError: naming file, line and key, for an invalid file, a duplicate name, an unknown
            protocol, topic or study, or a protocol of a study without a common name.
    """
    source = YamlFile(config_dir() / ATLAS_NAME)
    members = {each.study.key: each for each in _members(outside)}
    files: list[tuple[YamlFile, Names]] = [(source, source.validate(Catalogue))]
    files += [(each.source, each.said) for each in members.values()]
    declared = Declared(
        protocols=_once("protocols", [(file, said.protocols) for file, said in files]),
        topics=_once("topics", [(file, said.topics) for file, said in files]),
        relations=[
            (each, file, index) for file, said in files for index, each in enumerate(said.relations)
        ],
        members=members,
    )
    _check(declared)
    return declared


def _members(outside: Sequence[Path]) -> Iterator[Member]:
    """The configured studies that have an ``atlas.yaml``, and those of the given folders."""
    own = (studies_dir() / key for key in study_keys())
    for folder in (*filter(_is_member, own), *map(find_study, outside)):
        if not _is_member(folder):
            hint = "docs/atlas.md describes its contents"
            raise BdpbenchError(f"the study has no {ATLAS_NAME}", where=str(folder), hint=hint)
        source = YamlFile(folder / ATLAS_NAME)
        yield Member(read_study(folder / STUDY_NAME), source.validate(Membership), source)


def _is_member(folder: Path) -> bool:
    return (folder / ATLAS_NAME).is_file()


def _once(
    section: str, parts: Sequence[tuple[YamlFile, Mapping[str, _Named]]]
) -> dict[str, _Named]:
    """Merge the declarations of all files; a name that occurs twice is an error."""
    found: dict[str, _Named] = {}
    for source, named in parts:
        for key, each in named.items():
            if key in found:
                raise source.error((section, key), "another file has this name already")
            found[key] = each
    return found


def _check(declared: Declared) -> None:
    """Refuse names that nothing has; what relations rest on is checked with the entries."""
    for member in declared.members.values():
        study, said, source = member.study, member.said, member.source
        for key, name in said.known_as.items():
            source.require(("known_as", key), key, study.protocols, f"protocol of {study.key}")
            source.require(("known_as", key), name, declared.protocols, "common name")
        for key in study.protocols:
            if key not in said.known_as:
                message = f"{key} of {study.key} has no common name"
                hint = "declare a protocol that no other study has under protocols:"
                raise source.error(("known_as",), message, hint)
        for topic in said.entries:
            source.require(("entries", topic), topic, declared.topics, "topic")
    seen: set[str] = set()
    for relation, source, index in declared.relations:
        at = ("relations", index)
        if relation.id in seen:
            raise source.error((*at, "id"), f"{relation.id} stands twice")
        seen.add(relation.id)
        source.require((*at, "topic"), relation.topic, declared.topics, "topic")
        for place, name in enumerate(relation.protocols):
            source.require((*at, "protocols", place), name, declared.protocols, "protocol")
