"""How our own measurements relate to one another where studies agree or contradict each other.

That they do is declared; what our runs show of it is computed here from the verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bdpbench.contracts.scorecard import AtlasEntry, OurRelation, Standing
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.studies.atlas import Relation


def ours_of(
    relation: Relation, source: YamlFile, index: int, entries: Mapping[str, AtlasEntry]
) -> OurRelation:
    """How our measurements of a relation's entries relate to one another.

    Args:
        relation: the relation as declared.
        source: the file that declares it.
        index: its place there.
        entries: key → entry with its verdict.

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
    positions = [[entries[key] for key in each.rests_on] for each in relation.positions]
    if relation.relation == "agree":
        by_study: dict[str, list[AtlasEntry]] = {}
        for each in positions[0]:
            by_study.setdefault(each["study"], []).append(each)
        return _of_studies([standing_of(each) for each in by_study.values()])
    standings = {standing_of(each) for each in positions}
    if "not run" in standings:
        return "open"
    if standings == {"shown"}:
        return "conditions"
    if "in part" in standings:
        return "in part"
    return "one side" if "shown" in standings else "none"


def _of_studies(standings: list[Standing]) -> OurRelation:
    """Whether our runs show what several studies agree on, study by study."""
    run = {*standings} - {"not run"}
    if not run or (run == {"shown"} and standings.count("shown") < 2):
        return "open"
    if run == {"shown"}:
        return "agree"
    if run == {"not shown"}:
        return "none"
    return "contradict" if {"shown", "not shown"} <= run else "in part"


def standing_of(entries: Iterable[AtlasEntry]) -> Standing:
    """The standing of some entries in our runs; a close number counts as not reproduced.

    What is undecided by chance is shown in part, by some repetitions. Entries that were not run
    count only if none was run.
    """
    verdicts = [each["verdict"] for each in entries if each["verdict"] != "not_run"]
    shown = [each in ("reproduced", "holds") for each in verdicts]
    if not shown:
        return "not run"
    if all(shown):
        return "shown"
    return "in part" if any(shown) or "undecided" in verdicts else "not shown"
