"""The atlas as one HTML file: what studies say about each protocol, beside our measurements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bdpbench import __version__
from bdpbench.contracts.atlas import (
    RELATION_KINDS,
    Atlas,
    AtlasEntry,
    AtlasPosition,
    AtlasRelation,
    AtlasTopic,
    CitedStudy,
    RelationKind,
)
from bdpbench.pages import atlas_words as words
from bdpbench.pages.assets import read_asset
from bdpbench.pages.atlas_charts import share_charts
from bdpbench.pages.chart import Chart
from bdpbench.pages.embed import embed_json, embed_text, vega_bundle
from bdpbench.pages.templates import page_environment
from bdpbench.pages.verdicts import VERDICTS, Total, Verdict, totals

_ORDER = ("reproduced", "close", "not_reproduced", "holds", "fails", "not_run")


@dataclass(frozen=True)
class EntryRow:
    """An entry as a row of its topic; ``about`` names the requested protocols that it concerns."""

    entry: AtlasEntry
    place: str
    who: str
    linux: bool
    printed: str
    conditions: tuple[str, ...]
    observed: tuple[str, ...]
    verdict: Verdict
    origin: str
    about: str


@dataclass(frozen=True)
class PositionCard:
    """One position of a relation, with the rows of its entries."""

    position: AtlasPosition
    mark: words.Mark
    tally: str
    rows: tuple[EntryRow, ...]


@dataclass(frozen=True)
class RelationCard:
    """A relation: its declaration, and what our runs show."""

    relation: AtlasRelation
    topic: str
    who: str
    about: str
    studies: tuple[str, ...]
    mark: words.Mark
    ours: words.Mark
    positions: tuple[PositionCard, ...]


@dataclass(frozen=True)
class TopicPart:
    """A topic with its rows and verdicts; open if all requested protocols have entries in it."""

    topic: AtlasTopic
    rows: tuple[EntryRow, ...]
    studies: tuple[str, ...]
    totals: tuple[Total, ...]
    is_open: bool


def atlas_page(atlas: Atlas) -> str:
    """HTML of the atlas; it loads nothing, and no number is computed here.

    Args:
        atlas: the atlas as in its JSON.

    Raises:
        BdpbenchError: when a file under ``reports/`` is missing or cannot be embedded.
    """
    names = {each["key"]: each["name"] for each in atlas["protocols"]}
    rows = {each["key"]: _row(each, atlas["asked"], names) for each in atlas["entries"]}
    cards = _cards(atlas, rows, names)
    charts = share_charts(
        atlas["shares"], atlas["protocols"], [each["key"] for each in atlas["studies"]]
    )
    asked = [names[key] for key in atlas["asked"]]
    return (
        page_environment()
        .get_template("atlas.html")
        .render(
            atlas=atlas,
            asked=asked,
            version=__version__,
            html_name="-".join(["atlas", *atlas["asked"]]),
            studies=_studies(atlas),
            cards=cards,
            kinds=[(kind, words.RELATIONS[kind]) for kind in RELATION_KINDS if cards[kind]],
            counts=Counter(each["relation"] for each in atlas["relations"]),
            ours=_ours(atlas["relations"]),
            counted=words.counted,
            cited=words.cited,
            topics=_topics(atlas, rows),
            coverage=_coverage(atlas),
            protocols=[each for each in atlas["protocols"] if _is_shown(each["key"], atlas)],
            charts=charts,
            **_embedded(charts),
        )
    )


def _embedded(charts: Sequence[Chart]) -> dict[str, object]:
    """Style sheets, scripts and data, ready to be placed inside their elements."""
    store = {"time": {}, "charts": {chart.chart_id: chart.content for chart in charts}}
    style = read_asset("static/report.css") + read_asset("static/atlas.css")
    return {
        "style": embed_text(style, "reports/static"),
        "script": embed_text(read_asset("static/report.js"), "reports/static/report.js"),
        "vega": embed_text(vega_bundle(), "the Vega bundle") if charts else "",
        "chart_data": embed_json(store),
    }


def _row(entry: AtlasEntry, asked: Sequence[str], names: Mapping[str, str]) -> EntryRow:
    place = f"{entry['where']}, p. {entry['page']}" if entry["page"] else entry["where"]
    return EntryRow(
        entry=entry,
        place=place,
        who=", ".join(entry["senders"]),
        linux="Linux module" in entry["implementations"],
        printed=words.printed(entry),
        conditions=tuple(words.conditions_in_words(entry["conditions"])),
        observed=tuple(words.observed(entry)),
        verdict=VERDICTS[entry["verdict"]],
        origin=words.origin(entry),
        about=_about(entry["protocols"], asked, names),
    )


def _about(protocols: Sequence[str], asked: Sequence[str], names: Mapping[str, str]) -> str:
    """If two protocols were requested: both, or the one that an entry concerns."""
    if len(asked) < 2:
        return ""
    own = [key for key in asked if key in protocols]
    return "both" if len(own) == len(asked) else " ".join(names[key] for key in own)


def _cards(
    atlas: Atlas, rows: Mapping[str, EntryRow], names: Mapping[str, str]
) -> dict[RelationKind, list[RelationCard]]:
    titles = {each["key"]: each["title"] for each in atlas["topics"]}
    order = list(titles)
    found: dict[RelationKind, list[RelationCard]] = {kind: [] for kind in RELATION_KINDS}
    for each in sorted(atlas["relations"], key=lambda one: _rank(one, atlas["asked"], order)):
        found[each["relation"]].append(
            RelationCard(
                relation=each,
                topic=titles[each["topic"]],
                who=", ".join(names[key] for key in each["protocols"]),
                about=_about(each["protocols"], atlas["asked"], names),
                studies=tuple(
                    dict.fromkeys(study for one in each["positions"] for study in one["studies"])
                ),
                mark=words.RELATIONS[each["relation"]],
                ours=words.OURS[each["ours"]],
                positions=tuple(
                    PositionCard(
                        position,
                        words.STANDINGS[position["standing"]],
                        words.tally(position["counts"]),
                        tuple(rows[key] for key in position["entries"]),
                    )
                    for position in each["positions"]
                ),
            )
        )
    return found


def _rank(relation: AtlasRelation, asked: Sequence[str], topics: Sequence[str]) -> tuple[bool, int]:
    """Entries about both requested protocols come first; the rest is ordered by topic."""
    return not set(asked) <= set(relation["protocols"]), topics.index(relation["topic"])


def _ours(relations: Sequence[AtlasRelation]) -> list[tuple[words.Mark, int]]:
    counts = Counter(each["ours"] for each in relations)
    return [(mark, counts[key]) for key, mark in words.OURS.items() if counts[key]]


def _topics(atlas: Atlas, rows: Mapping[str, EntryRow]) -> list[TopicPart]:
    """Topics with their rows, starting with those about both requested protocols."""
    found = []
    for topic in atlas["topics"]:
        own = [rows[each["key"]] for each in atlas["entries"] if each["topic"] == topic["key"]]
        own.sort(key=lambda row: row.about != "both")
        if own:
            counts = Counter(row.verdict.key for row in own)
            shown = tuple(each for each in totals(counts, _ORDER) if each.count)
            studies = tuple(dict.fromkeys(row.entry["study"] for row in own))
            found.append(
                TopicPart(topic, tuple(own), studies, shown, _is_open(own, atlas["asked"]))
            )
    return found


def _is_open(rows: Sequence[EntryRow], asked: Sequence[str]) -> bool:
    """Whether a topic has entries of each requested protocol."""
    own = {key for row in rows for key in row.entry["protocols"]}
    return bool(asked) and set(asked) <= own


def _coverage(atlas: Atlas) -> list[tuple[str, str, list[int]]]:
    """Key and name of each protocol, and how many entries each study has about it."""
    counts = Counter((key, each["study"]) for each in atlas["entries"] for key in each["protocols"])
    studies = [each["key"] for each in atlas["studies"]]
    return [
        (each["key"], each["name"], [counts[each["key"], study] for study in studies])
        for each in atlas["protocols"]
        if _is_shown(each["key"], atlas)
    ]


def _studies(atlas: Atlas) -> list[tuple[CitedStudy, tuple[Total, ...]]]:
    """Each study with the verdicts of its entries that are shown."""
    found = []
    for study in atlas["studies"]:
        own = [each for each in atlas["entries"] if each["study"] == study["key"]]
        counts = Counter(each["verdict"] for each in own)
        found.append((study, tuple(each for each in totals(counts, _ORDER) if each.count)))
    return found


def _is_shown(key: str, atlas: Atlas) -> bool:
    """Whether a protocol was requested, or all were."""
    return not atlas["asked"] or key in atlas["asked"]
