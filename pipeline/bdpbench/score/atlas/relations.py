"""Relations between studies, as declared, and how our measurements relate, as computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from bdpbench.contracts.atlas import (
    AtlasEntry,
    AtlasPosition,
    AtlasRelation,
    OurRelation,
    Standing,
)
from bdpbench.contracts.scorecard import CLAIM_VERDICTS, NUMBER_VERDICTS
from bdpbench.contracts.yaml_files import suggest
from bdpbench.studies.atlas import DeclaredRelation, Position

_SHOWN = frozenset({"reproduced", "holds"})
_NOT_RUN = "not_run"


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
    return {
        "id": relation.id,
        "topic": relation.topic,
        "protocols": list(relation.protocols),
        "question": relation.question,
        "relation": relation.relation,
        "positions": positions,
        "conditions": list(relation.conditions),
        "why": " ".join(relation.why.split()),
        "ours": ours,
        "ours_in_words": words,
    }


def standing_of(entries: Iterable[AtlasEntry]) -> Standing:
    """The standing of some entries in our runs; a close number counts as not reproduced.

    Entries that were not run count only if none was run.
    """
    shown = [each["verdict"] in _SHOWN for each in entries if _is_run(each)]
    if not shown:
        return "not run"
    if all(shown):
        return "shown"
    return "in part" if any(shown) else "not shown"


def _check_entries(declared: DeclaredRelation, entries: Mapping[str, AtlasEntry]) -> None:
    relation = declared.relation
    for place, position in enumerate(relation.positions):
        for index, key in enumerate(position.rests_on):
            at = ("positions", place, "rests_on", index)
            if key not in entries:
                study = key.split("/")[0]
                known = [each for each in entries if each.startswith(f"{study}/")]
                hint = suggest(key, known)
                hint = hint if hint.startswith("did") else f"{study} has no such entry"
                raise declared.error(at, f"no study has {key!r}", hint)
            if not set(entries[key]["protocols"]) & set(relation.protocols):
                about = ", ".join(entries[key]["protocols"])
                message = f"{key} is about none of its protocols, but about {about}"
                raise declared.error(at, message)


def _position(position: Position, entries: Mapping[str, AtlasEntry]) -> AtlasPosition:
    found = [entries[key] for key in position.rests_on]
    counts = Counter(each["verdict"] for each in found)
    order = (*NUMBER_VERDICTS, *CLAIM_VERDICTS)
    return {
        "says": position.says,
        "studies": list(dict.fromkeys(each["study"] for each in found)),
        "entries": list(position.rests_on),
        "standing": standing_of(found),
        "counts": {verdict: counts[verdict] for verdict in order if counts[verdict]},
    }


def _ours_of_one(
    position: AtlasPosition, entries: Mapping[str, AtlasEntry]
) -> tuple[OurRelation, str]:
    """Whether our runs show what several studies agree on, study by study."""
    by_study = {
        study: standing_of(
            entries[key] for key in position["entries"] if entries[key]["study"] == study
        )
        for study in position["studies"]
    }
    by_standing: dict[Standing, list[str]] = {}
    for study, standing in by_study.items():
        by_standing.setdefault(standing, []).append(study)
    told = _told(by_standing)
    run = {standing for standing in by_standing if standing != "not run"}
    if not run:
        return "open", "None of it was run."
    if run == {"shown"}:
        alone = len(by_standing["shown"]) < 2
        return ("open" if alone else "agree"), told
    if run == {"not shown"}:
        return "none", told
    return ("contradict" if {"shown", "not shown"} <= run else "in part"), told


_IN_WORDS: Mapping[Standing, str] = {
    "shown": "is reproduced by our runs of {}",
    "in part": "is reproduced in part by those of {}",
    "not shown": "is not reproduced by those of {}",
    "not run": "was not run for {}",
}


def _told(by_standing: Mapping[Standing, Sequence[str]]) -> str:
    parts = [
        words.format(_listed(by_standing[standing]))
        for standing, words in _IN_WORDS.items()
        if standing in by_standing
    ]
    first = "shown" in by_standing
    sentence = "; it ".join(parts).replace("those of", "those of" if first else "our runs of", 1)
    return f"It {sentence}."


def _ours_of_several(
    positions: Sequence[AtlasPosition], entries: Mapping[str, AtlasEntry]
) -> tuple[OurRelation, str]:
    """Which of the opposing positions our runs show."""
    standings = [each["standing"] for each in positions]
    shown = [each for each in positions if each["standing"] == "shown"]
    told = " ".join(_of_position(each, entries) for each in positions)
    if standings.count("not run") == len(positions):
        return "open", "None of it was run."
    if "not run" in standings:
        return "open", told
    if len(shown) == len(positions):
        return "conditions", f"Each under its own conditions: {told[0].lower()}{told[1:]}"
    if "in part" in standings:
        return "in part", told
    return ("one side" if shown else "none"), told


_OF_POSITION: Mapping[Standing, str] = {
    "shown": "what {} {} is reproduced by our runs",
    "in part": "what {} {} is reproduced in part",
    "not shown": "what {} {} is not reproduced",
    "not run": "what {} {} was not run",
}


def _of_position(position: AtlasPosition, entries: Mapping[str, AtlasEntry]) -> str:
    """A sentence about the studies of a position that were run, and those that were not."""
    ran = {entries[key]["study"] for key in position["entries"] if _is_run(entries[key])}
    told = [each for each in position["studies"] if each in ran] or position["studies"]
    left = [each for each in position["studies"] if each not in told]
    verb = "says" if len(told) == 1 else "say"
    sentence = _OF_POSITION[position["standing"]].format(_listed(told), verb)
    also = f" ({_listed(left)} {'was' if len(left) == 1 else 'were'} not run)" if left else ""
    return f"{sentence[0].upper()}{sentence[1:]}{also}."


def _is_run(entry: AtlasEntry) -> bool:
    return entry["verdict"] != _NOT_RUN


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
