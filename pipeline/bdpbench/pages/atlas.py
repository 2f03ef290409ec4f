"""The atlas as one HTML file: what studies say about each protocol, beside our measurements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bdpbench import __version__
from bdpbench.contracts.scorecard import AtlasEntry, RelationKind, Standing
from bdpbench.pages.html import embedded, page_environment
from bdpbench.pages.text import (
    ORIGINS,
    VERDICTS,
    Total,
    Verdict,
    format_number,
    origin_keys,
    range_text,
    totals,
)
from bdpbench.studies.atlas import Declared, Relation
from bdpbench.units import with_unit

_MOST_OBSERVED = 3

RELATIONS: Mapping[RelationKind, Verdict] = {
    "contradict": Verdict("not_reproduced", "studies contradict", "≠"),
    "conditions": Verdict("close", "conditions differ", "△"),
    "agree": Verdict("reproduced", "studies agree", "="),
}

STANDINGS: Mapping[Standing, Verdict] = {
    "shown": Verdict("reproduced", "reproduced", "✓"),
    "in part": Verdict("close", "in part", "≈"),
    "not shown": Verdict("not_reproduced", "not reproduced", "✗"),
    "not run": Verdict("not_run", "not run", "○"),
}


@dataclass(frozen=True)
class Atlas:
    """The numbers and statements of all studies, and how the studies relate to one another.

    Attributes:
        declared: declarations about the studies.
        entries: key → number or statement, of all studies.
        relations: each with what our runs show of each of its positions.
        sources: study → the scorecards that were found, in the order in which they are consulted.
        asked: keys of the protocols that it is about; empty for all.
    """

    declared: Declared
    entries: Mapping[str, AtlasEntry]
    relations: Sequence[tuple[Relation, Sequence[Standing]]]
    sources: Mapping[str, Sequence[str]]
    asked: Sequence[str] = ()

    @property
    def shown(self) -> Atlas:
        """The part about the protocols that it is asked for; what concerns all of them first."""
        asked = set(self.asked)
        if not asked:
            return self
        relations = [each for each in self.relations if asked & {*each[0].protocols}]
        relations.sort(key=lambda each: not asked <= {*each[0].protocols})
        rests_on = {k for each, _ in relations for one in each.positions for k in one.rests_on}
        found = {
            key: each
            for key, each in self.entries.items()
            if key in rests_on or asked & {*each["protocols"]}
        }
        order = sorted(found, key=lambda key: not asked <= {*found[key]["protocols"]})
        entries = {key: found[key] for key in order}
        return Atlas(self.declared, entries, relations, self.sources, self.asked)


def atlas_page(atlas: Atlas) -> str:
    """HTML of the atlas; it loads nothing, and no number is computed here.

    Raises:
        BdpbenchError: when a file under ``reports/`` is missing or cannot be embedded.
    """
    atlas, declared = atlas.shown, atlas.declared
    by_topic: dict[str, list[AtlasEntry]] = {key: [] for key in declared.topics}
    for entry in atlas.entries.values():
        by_topic[entry["topic"]].append(entry)
    studies = {each["study"] for each in atlas.entries.values()}
    about = Counter(
        (key, each["study"]) for each in atlas.entries.values() for key in each["protocols"]
    )
    content = {
        "atlas": atlas,
        "asked": [declared.protocols[key].name for key in atlas.asked],
        "version": __version__,
        "html_name": "-".join(["atlas", *atlas.asked]),
        "studies": [
            (each.study, _totals(e for e in atlas.entries.values() if e["study"] == key))
            for key, each in declared.members.items()
            if key in studies
        ],
        "relations": [
            (kind, mark, [each for each in atlas.relations if each[0].relation == kind])
            for kind, mark in RELATIONS.items()
        ],
        "topics": [
            (key, declared.topics[key], rows, _totals(rows))
            for key, rows in by_topic.items()
            if rows
        ],
        "protocols": [
            (key, each, [(study, count) for (name, study), count in about.items() if name == key])
            for key, each in declared.protocols.items()
            if not atlas.asked or key in atlas.asked
        ],
        "standings": STANDINGS,
        "verdicts": VERDICTS,
        "printed": printed,
        "observed": observed,
        "origin": origin,
        **embedded(style="atlas", vega=False),
    }
    return page_environment().get_template("atlas.html").render(content)


def _totals(entries: Iterable[AtlasEntry]) -> list[Total]:
    """The verdicts that occur, with their counts."""
    counts = Counter(each["verdict"] for each in entries)
    return [each for each in totals(counts, list(VERDICTS)) if each.count]


def printed(entry: AtlasEntry) -> str:
    """The printed number of an entry with its unit; "" for a statement."""
    value = entry["published"]
    if value is None:
        return ""
    number = with_unit(format_number(value, like=value), entry["unit"])
    # A study that printed only a lower bound allows no value below it.
    return f"at least {number}" if value == entry["lower"] != entry["upper"] else number


def observed(entry: AtlasEntry) -> list[str]:
    """What was measured, one line for each metric; for a number without the metric's name."""
    lines = []
    for metric, unit, *ends in entry["observed"]:
        known = [end for end in ends if end is not None]
        text = range_text(known, unit, entry["published"]) if known else "never reached"
        lines.append(f"{metric}: {text}" if metric else text)
    more = len(lines) - _MOST_OBSERVED
    return [*lines[:_MOST_OBSERVED], f"and {more} more metrics"] if more > 0 else lines


def origin(entry: AtlasEntry) -> str:
    """How a definition was found, in a few words."""
    return ORIGINS[origin_keys(entry)[-1]]
