"""The atlas: numbers and statements of all studies, and how the studies relate to one another.

Relations are declared; how our own measurements of their entries relate is computed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from bdpbench.contracts.scorecard import (
    ATLAS_VERSION,
    CLAIM_VERDICTS,
    NUMBER_VERDICTS,
    Atlas,
    AtlasEntry,
    AtlasPosition,
    AtlasRelation,
    OurRelation,
    Sender,
    Standing,
)
from bdpbench.contracts.yaml_files import suggest
from bdpbench.score.atlas_entries import StudyPart
from bdpbench.studies.atlas import Declared, DeclaredRelation, Position, implementation_of


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
    wanted = set(asked)

    def is_wanted(protocols: Iterable[str]) -> bool:
        return not wanted or not wanted.isdisjoint(protocols)

    entries = {each["key"]: each for part in parts for each in part.entries}
    every_relation = [related(each, entries) for each in declared.relations]
    relations = [each for each in every_relation if is_wanted(each["protocols"])]
    positions = (position for each in relations for position in each["positions"])
    needed = {key for position in positions for key in position["entries"]}
    kept = [each for key, each in entries.items() if key in needed or is_wanted(each["protocols"])]
    studies = {each["study"] for each in kept}
    topics = {each["topic"] for each in (*kept, *relations)}
    points = (point for part in parts for point in part.shares)
    return {
        "schema_version": ATLAS_VERSION,
        "asked": list(asked),
        "studies": [part.cited for part in parts if part.cited["key"] in studies],
        "protocols": [
            {
                "key": key,
                "name": each.name,
                "aliases": list(each.aliases),
                "about": each.about,
                "senders": list(_senders(declared, key)),
            }
            for key, each in declared.protocols.items()
        ],
        "topics": [
            {"key": key, "title": each.title, "question": each.question}
            for key, each in declared.topics.items()
            if key in topics
        ],
        "entries": kept,
        "relations": relations,
        "shares": [point for point in points if is_wanted([point["protocol"]])],
    }


def _senders(declared: Declared, name: str) -> Iterator[Sender]:
    """What sends under a common name in the studies."""
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


def related(declared: DeclaredRelation, entries: Mapping[str, AtlasEntry]) -> AtlasRelation:
    """A relation with what our runs show of it.

    Args:
        declared: the relation as declared.
        entries: key → entry with its verdict.

    Raises:
        BdpbenchError: naming file and line of an entry that no study has, or that concerns none of
            the protocols of the relation.
    """
    relation = declared.relation
    _check_entries(declared, entries)
    positions = [_position(each, entries) for each in relation.positions]
    if relation.relation == "agree":
        ours, words = _ours_of_one(positions[0], entries)
    else:
        ours, words = _ours_of_several(positions, entries)
    computed = {
        "positions": positions,
        "why": " ".join(relation.why.split()),
        "ours": ours,
        "ours_in_words": words,
    }
    return cast("AtlasRelation", {**dict(relation), **computed})


def standing_of(entries: Iterable[AtlasEntry]) -> Standing:
    """The standing of some entries in our runs; a close number counts as not reproduced.

    What is undecided by chance is shown in part, by some repetitions. Entries that were not run
    count only if none was run.
    """
    verdicts = [each["verdict"] for each in entries if _is_run(each)]
    shown = [each in ("reproduced", "holds") for each in verdicts]
    if not shown:
        return "not run"
    if all(shown):
        return "shown"
    return "in part" if any(shown) or "undecided" in verdicts else "not shown"


def _check_entries(declared: DeclaredRelation, entries: Mapping[str, AtlasEntry]) -> None:
    relation = declared.relation
    for place, position in enumerate(relation.positions):
        for index, key in enumerate(position.rests_on):
            at = ("positions", place, "rests_on", index)
            if key not in entries:
                study = key.split("/")[0]
                hint = suggest(key, [each for each in entries if each.startswith(f"{study}/")])
                hint = hint if hint.startswith("did") else f"{study} has no such entry"
                raise declared.error(at, f"no study has {key!r}", hint)
            if not set(entries[key]["protocols"]) & set(relation.protocols):
                about = ", ".join(entries[key]["protocols"])
                message = f"{key} is about none of its protocols, but about {about}"
                raise declared.error(at, message)
    studies = {entries[key]["study"] for each in relation.positions for key in each.rests_on}
    if relation.checked and set(relation.checked) != studies:
        message = f"expected an entry for each of its studies: {', '.join(sorted(studies))}"
        raise declared.error(("checked",), message)


def _position(position: Position, entries: Mapping[str, AtlasEntry]) -> AtlasPosition:
    found = [entries[key] for key in position.rests_on]
    counts = Counter(each["verdict"] for each in found)
    order = dict.fromkeys((*NUMBER_VERDICTS, *CLAIM_VERDICTS))
    return {
        "says": position.says,
        "studies": list(dict.fromkeys(each["study"] for each in found)),
        "entries": list(position.rests_on),
        "standing": standing_of(found),
        "counts": {verdict: counts[verdict] for verdict in order if counts[verdict]},
    }


_IN_WORDS: Mapping[Standing, str] = {
    "shown": "is reproduced by our runs of {}",
    "in part": "is reproduced in part by those of {}",
    "not shown": "is not reproduced by those of {}",
    "not run": "was not run for {}",
}


def _ours_of_one(
    position: AtlasPosition, entries: Mapping[str, AtlasEntry]
) -> tuple[OurRelation, str]:
    """Whether our runs show what several studies agree on, study by study."""
    own = [entries[key] for key in position["entries"]]
    studies: dict[Standing, list[str]] = {}
    for study in position["studies"]:
        standing = standing_of(each for each in own if each["study"] == study)
        studies.setdefault(standing, []).append(study)
    run = studies.keys() - {"not run"}
    if not run:
        return "open", "None of it was run."
    parts = [
        words.format(_listed(studies[standing]))
        for standing, words in _IN_WORDS.items()
        if standing in studies
    ]
    if "shown" not in studies:
        parts[0] = parts[0].replace("those of", "our runs of")
    words = f"It {'; it '.join(parts)}."
    if run == {"shown"}:
        return ("open" if len(studies["shown"]) < 2 else "agree"), words
    if run == {"not shown"}:
        return "none", words
    return ("contradict" if {"shown", "not shown"} <= run else "in part"), words


def _ours_of_several(
    positions: Sequence[AtlasPosition], entries: Mapping[str, AtlasEntry]
) -> tuple[OurRelation, str]:
    """Which of the opposing positions our runs show."""
    standings = [each["standing"] for each in positions]
    words = " ".join(_of_position(each, entries) for each in positions)
    if set(standings) == {"not run"}:
        return "open", "None of it was run."
    if "not run" in standings:
        return "open", words
    if set(standings) == {"shown"}:
        return "conditions", f"Each under its own conditions: {words[0].lower()}{words[1:]}"
    if "in part" in standings:
        return "in part", words
    return ("one side" if "shown" in standings else "none"), words


_OF_POSITION: Mapping[Standing, str] = {
    "shown": "What {} {} is reproduced by our runs",
    "in part": "What {} {} is reproduced in part",
    "not shown": "What {} {} is not reproduced",
    "not run": "What {} {} was not run",
}


def _of_position(position: AtlasPosition, entries: Mapping[str, AtlasEntry]) -> str:
    """A sentence about the studies of a position that were run, and those that were not."""
    run = {entries[key]["study"] for key in position["entries"] if _is_run(entries[key])}
    shown = [each for each in position["studies"] if each in run] or position["studies"]
    left = [each for each in position["studies"] if each not in shown]
    verb = "says" if len(shown) == 1 else "say"
    sentence = _OF_POSITION[position["standing"]].format(_listed(shown), verb)
    also = f" ({_listed(left)} {'was' if len(left) == 1 else 'were'} not run)" if left else ""
    return f"{sentence}{also}."


def _is_run(entry: AtlasEntry) -> bool:
    return entry["verdict"] != "not_run"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
