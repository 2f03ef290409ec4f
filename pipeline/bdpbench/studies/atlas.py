"""Declarations about all studies: ``config/atlas.yaml``, and ``atlas.yaml`` of a study.

The first names protocols and topics and says how the studies relate to one another. The second maps
the protocols of a study to these names, and its numbers and statements to topics; it may declare
further protocols, topics and relations itself. So a study joins with a file of its own, and no
other file has to mention it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias, TypeVar

from pydantic import Field, model_validator

from bdpbench.contracts.paths import config_dir
from bdpbench.contracts.scorecard import Implementation, RelationKind
from bdpbench.contracts.yaml_files import (
    Key,
    Location,
    Strict,
    Text,
    YamlFile,
    known_or_suggest,
    suggest,
)
from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import STUDY_NAME, find_study, read_study, studies_dir, study_keys
from bdpbench.studies.parts import Protocol
from bdpbench.studies.study import ParameterValues, Study

ATLAS_NAME = "atlas.yaml"

_SHOWN_IF_FIXED = ("queue",)
"""Of what scripts fix without taking it, the atlas shows only this."""

_Named = TypeVar("_Named")

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=64)]
EntryKey = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*/[^\s/]+$")]

ShareMeasure = Literal["asymmetry", "jain_index", "smallest_over_largest"]
"""How a metric of two flows expresses the way in which they share a link."""


class KnownProtocol(Strict):
    """A protocol under the name by which the field knows it."""

    name: Text = Field(description="Its common name, e.g. HighSpeed TCP")
    aliases: list[Text] = Field(default_factory=list, description="Other names, e.g. HS-TCP")
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
        studies = {each.split("/")[0] for position in self.positions for each in position.rests_on}
        if len(studies) < 2:
            raise ValueError("positions: a relation needs at least two studies")
        if self.relation == "agree" and len(self.positions) > 1:
            raise ValueError("positions: studies that agree have one")
        if self.relation != "agree" and len(self.positions) < 2:
            raise ValueError("positions: expected two or more that differ")
        if self.relation == "conditions" and not self.conditions:
            raise ValueError("conditions: which of them differ?")
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
    shares: dict[str, ShareMeasure] = Field(default_factory=dict, description="By metric")


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
    fixed: ParameterValues = Field(
        default_factory=dict, description="The queue of scripts that take none: {queue: DropTail}"
    )
    shares: dict[str, ShareMeasure] = Field(default_factory=dict, description="By own metric")


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
class DeclaredRelation:
    """A relation, the file that declares it, and its place there."""

    relation: Relation
    source: YamlFile
    location: Location

    def error(self, location: Location, message: str, hint: str = "") -> BdpbenchError:
        """The error to raise about a part of the relation."""
        at = (*self.location, *location)
        return self.source.error(at, f"{self.relation.id}: {message}", hint=hint)

    def require(self, location: Location, name: str, known: Collection[str], what: str) -> None:
        """Refuse an unknown name in a part of the relation."""
        if unknown := known_or_suggest(name, known, what):
            raise self.error(location, *unknown)


@dataclass(frozen=True)
class Declared:
    """All declarations of all files together, in order; ``source`` is ``config/atlas.yaml``."""

    source: YamlFile
    protocols: Mapping[str, KnownProtocol]
    topics: Mapping[str, Topic]
    relations: Sequence[DeclaredRelation]
    members: Mapping[str, Member]
    shares: Mapping[str, ShareMeasure]

    def protocol(self, word: str) -> str:
        """Key of the protocol that a user names by its key, its name, or a study's name for it.

        Raises:
            BdpbenchError: when no study has such a protocol.
        """
        words = dict(self._words())
        found = words.get(word.casefold())
        if found is None:
            names = [each.name for each in self.protocols.values()]
            aliases = [alias for each in self.protocols.values() for alias in each.aliases]
            hint = suggest(word, [*names, *aliases, *self.protocols])
            known = hint if hint.startswith("did") else f"known: {', '.join(sorted(names))}"
            raise BdpbenchError(f"no study has a protocol {word!r}", where="PROTOCOL", hint=known)
        return found

    def _words(self) -> Iterator[tuple[str, str]]:
        """Names of protocols → their keys; a later declaration overrides an earlier one."""
        for member in self.members.values():
            for key, name in member.said.known_as.items():
                yield key.casefold(), name
                yield member.study.protocols[key].label.casefold(), name
        for key, protocol in self.protocols.items():
            for word in (*protocol.aliases, protocol.name, key):
                yield word.casefold(), key


def implementation_of(protocol: Protocol) -> Implementation:
    """How a study's protocol is implemented: as a window law, as an ns-2 agent, or in Linux."""
    if protocol.linux is not None:
        return "Linux module"
    return "window law" if "windowOption_" in protocol.settings else "ns-2 agent"


def load_declared(outside: Sequence[Path] = ()) -> Declared:
    """Read the declarations about the configured studies, and about further ones.

    Args:
        outside: folders of further studies, each with an ``atlas.yaml``.

    Raises:
        BdpbenchError: naming file, line and key, for an invalid file, a duplicate name, an unknown
            protocol, topic or study, or a protocol of a study without a common name.
    """
    source = YamlFile(config_dir() / ATLAS_NAME)
    catalogue = source.validate(Catalogue)
    members = {each.study.key: each for each in _members(outside)}
    files: _Files = [(source, catalogue), *((each.source, each.said) for each in members.values())]
    declared = Declared(
        source=source,
        protocols=_once((file, "protocols", said.protocols) for file, said in files),
        topics=_once((file, "topics", said.topics) for file, said in files),
        relations=[
            DeclaredRelation(each, file, ("relations", index))
            for file, said in files
            for index, each in enumerate(said.relations)
        ],
        members=members,
        shares=catalogue.shares,
    )
    for member in members.values():
        _check_member(declared, member)
    _check_protocols(declared, files)
    _check_relations(declared)
    return declared


_Files: TypeAlias = Sequence[tuple[YamlFile, Names]]


def _members(outside: Sequence[Path]) -> Iterator[Member]:
    """The configured studies that have an ``atlas.yaml``, and those of the given folders."""
    for key in study_keys():
        if (studies_dir() / key / ATLAS_NAME).is_file():
            yield _member(studies_dir() / key)
    for path in outside:
        folder = find_study(path)
        if not (folder / ATLAS_NAME).is_file():
            raise BdpbenchError(
                f"the study has no {ATLAS_NAME}",
                where=str(folder),
                hint="docs/atlas.md describes its contents",
            )
        yield _member(folder)


def _member(folder: Path) -> Member:
    source = YamlFile(folder / ATLAS_NAME)
    return Member(read_study(folder / STUDY_NAME), source.validate(Membership), source)


def _once(parts: Iterable[tuple[YamlFile, str, Mapping[str, _Named]]]) -> dict[str, _Named]:
    """Merge the declarations of all files; a name that occurs twice is an error."""
    found: dict[str, _Named] = {}
    for source, section, named in parts:
        for key, each in named.items():
            if key in found:
                raise source.error((section, key), "another file has this name already")
            found[key] = each
    return found


def _check_protocols(declared: Declared, files: _Files) -> None:
    """Refuse a name that would stand for two protocols, and protocols that no study has."""
    known = {name for member in declared.members.values() for name in member.said.known_as.values()}
    owners: dict[str, str] = {}
    for source, said in files:
        for key, protocol in said.protocols.items():
            for word in (key, protocol.name, *protocol.aliases):
                owner = owners.setdefault(word.casefold(), key)
                if owner != key:
                    message = f"{word!r} is also a name of {owner}"
                    raise source.error(("protocols", key), message)
            if key not in known:
                hint = "known_as: of a study's atlas.yaml gives its protocols their names"
                raise source.error(("protocols", key), "no study has this protocol", hint=hint)


def _check_member(declared: Declared, member: Member) -> None:
    study, said = member.study, member.said
    for key, name in said.known_as.items():
        member.source.require(("known_as", key), key, study.protocols, f"protocol of {study.key}")
        member.source.require(("known_as", key), name, declared.protocols, "common name")
    for key in study.protocols:
        if key not in said.known_as:
            raise member.source.error(
                ("known_as",),
                f"{key} of {study.key} has no common name",
                "declare a protocol that no other study has under protocols:",
            )
    for topic in said.entries:
        member.source.require(("entries", topic), topic, declared.topics, "topic")
    for name, value in said.fixed.items():
        member.source.require(("fixed", name), name, _SHOWN_IF_FIXED, "fixed parameter")
        problem = study.vocabulary[name].problem(value)
        if problem:
            raise member.source.error(("fixed", name), f"{problem} (got {value!r})")


def _check_relations(declared: Declared) -> None:
    """Refuse relations of unknown studies, topics or protocols; entries are checked later."""
    seen: set[str] = set()
    for each in declared.relations:
        relation = each.relation
        if relation.id in seen:
            raise each.error(("id",), "stands twice")
        seen.add(relation.id)
        each.require(("topic",), relation.topic, declared.topics, "topic")
        for index, name in enumerate(relation.protocols):
            each.require(("protocols", index), name, declared.protocols, "protocol")
        for place, position in enumerate(relation.positions):
            for index, key in enumerate(position.rests_on):
                at = ("positions", place, "rests_on", index)
                each.require(at, key.split("/")[0], declared.members, "study")
