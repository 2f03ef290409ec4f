"""The atlas as one HTML file: what studies say about each protocol, beside our measurements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from bdpbench import __version__
from bdpbench.contracts.scorecard import (
    RELATION_KINDS,
    Atlas,
    AtlasEntry,
    AtlasProtocol,
    AtlasRelation,
    AtlasTopic,
    CitedStudy,
    Conditions,
    Observed,
    OurRelation,
    RelationKind,
    SharePoint,
    Standing,
)
from bdpbench.pages.html import embedded, page_environment
from bdpbench.pages.series import embed_json
from bdpbench.pages.specs import (
    FAINT,
    Chart,
    Encoding,
    Spec,
    coloured,
    layer,
    layered,
    number,
    spec_content,
    text,
)
from bdpbench.pages.text import VERDICTS, Total, Verdict, format_number, totals
from bdpbench.units import with_unit

_ORDER = ("reproduced", "close", "not_reproduced", "holds", "fails", "undecided", "not_run")
_MOST_LISTED = 3
_MOST_OBSERVED = 3
_MOST_AUTHORS = 2
_NUMERALS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SINGULAR = ("holds", "fails")

_VERDICTS = {
    "reproduced": "reproduced",
    "close": "close",
    "not_reproduced": "not reproduced",
    "holds": "hold",
    "fails": "fail",
    "undecided": "undecided by chance",
    "not_run": "not run",
}

_HEIGHT = 240
_FEWEST_POINTS = 2

# Colours of the studies, which all readers can tell apart (Okabe and Ito); further studies repeat
# them.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9")
_SHAPES = {"printed": "diamond", "measured": "circle"}

RELATIONS: Mapping[RelationKind, Verdict] = {
    "contradict": Verdict("not_reproduced", "studies contradict", "≠"),
    "conditions": Verdict("close", "conditions differ", "△"),
    "agree": Verdict("reproduced", "studies agree", "="),
}

OURS: Mapping[OurRelation, Verdict] = {
    "agree": Verdict("reproduced", "our runs agree", "="),
    "conditions": Verdict("close", "our runs show each", "△"),
    "one side": Verdict("reproduced", "our runs show one side", "✓"),
    "contradict": Verdict("not_reproduced", "our runs contradict", "≠"),
    "none": Verdict("not_reproduced", "our runs show none", "✗"),
    "in part": Verdict("close", "our runs show it in part", "≈"),
    "open": Verdict("not_run", "not run enough", "○"),
}

STANDINGS: Mapping[Standing, Verdict] = {
    "shown": Verdict("reproduced", "reproduced", "✓"),
    "in part": Verdict("close", "in part", "≈"),
    "not shown": Verdict("not_reproduced", "not reproduced", "✗"),
    "not run": Verdict("not_run", "not run", "○"),
}


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
class RelationCard:
    """A relation: its declaration, and what our runs show, for each position and in all."""

    relation: AtlasRelation
    topic: str
    who: str
    about: str
    studies: tuple[str, ...]
    mark: Verdict
    ours: Verdict
    positions: tuple[Mapping[str, object], ...]


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
    studies = [each["key"] for each in atlas["studies"]]
    asked = atlas["asked"] or list(names)
    shown = [each for each in atlas["protocols"] if each["key"] in asked]
    charts = share_charts(atlas["shares"], atlas["protocols"], studies)
    store = {"time": {}, "charts": {chart.chart_id: chart.content for chart in charts}}
    ours = Counter(each["ours"] for each in atlas["relations"])
    content = {
        "atlas": atlas,
        "asked": [names[key] for key in atlas["asked"]],
        "version": __version__,
        "html_name": "-".join(["atlas", *atlas["asked"]]),
        "studies": [
            (study, _totals(each for each in atlas["entries"] if each["study"] == study["key"]))
            for study in atlas["studies"]
        ],
        "cards": cards,
        "kinds": [(kind, RELATIONS[kind]) for kind in RELATION_KINDS if cards[kind]],
        "counts": Counter(each["relation"] for each in atlas["relations"]),
        "ours": [(mark, ours[key]) for key, mark in OURS.items() if ours[key]],
        "counted": counted,
        "cited": cited,
        "topics": _topics(atlas, rows),
        "coverage": _coverage(atlas, shown),
        "protocols": shown,
        "charts": charts,
        "chart_data": embed_json(store),
        **embedded(style="atlas", vega=bool(charts)),
    }
    return page_environment().get_template("atlas.html").render(content)


def _row(entry: AtlasEntry, asked: Sequence[str], names: Mapping[str, str]) -> EntryRow:
    place = f"{entry['where']}, p. {entry['page']}" if entry["page"] else entry["where"]
    return EntryRow(
        entry=entry,
        place=place,
        who=", ".join(entry["senders"]),
        linux="Linux module" in entry["implementations"],
        printed=printed(entry),
        conditions=tuple(conditions_in_words(entry["conditions"])),
        observed=tuple(observed(entry)),
        verdict=VERDICTS[entry["verdict"]],
        origin=origin(entry),
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
                mark=RELATIONS[each["relation"]],
                ours=OURS[each["ours"]],
                positions=tuple(
                    {
                        "position": position,
                        "mark": STANDINGS[position["standing"]],
                        "tally": tally(position["counts"]),
                        "rows": [rows[key] for key in position["entries"]],
                    }
                    for position in each["positions"]
                ),
            )
        )
    return found


def _rank(relation: AtlasRelation, asked: Sequence[str], topics: Sequence[str]) -> tuple[bool, int]:
    """Entries about both requested protocols come first; the rest is ordered by topic."""
    return not set(asked) <= set(relation["protocols"]), topics.index(relation["topic"])


def _topics(atlas: Atlas, rows: Mapping[str, EntryRow]) -> list[TopicPart]:
    """Topics with their rows, starting with those about both requested protocols."""
    found = []
    for topic in atlas["topics"]:
        own = [rows[each["key"]] for each in atlas["entries"] if each["topic"] == topic["key"]]
        own.sort(key=lambda row: row.about != "both")
        if own:
            about = {key for row in own for key in row.entry["protocols"]}
            found.append(
                TopicPart(
                    topic=topic,
                    rows=tuple(own),
                    studies=tuple(dict.fromkeys(row.entry["study"] for row in own)),
                    totals=_totals(row.entry for row in own),
                    is_open=bool(atlas["asked"]) and set(atlas["asked"]) <= about,
                )
            )
    return found


def _totals(entries: Iterable[AtlasEntry]) -> tuple[Total, ...]:
    """The verdicts that occur, with their counts."""
    counts = Counter(each["verdict"] for each in entries)
    return tuple(each for each in totals(counts, _ORDER) if each.count)


def _coverage(atlas: Atlas, protocols: Sequence[AtlasProtocol]) -> list[tuple[str, str, list[int]]]:
    """Key and name of each protocol, and how many entries each study has about it."""
    counts = Counter((key, each["study"]) for each in atlas["entries"] for key in each["protocols"])
    studies = [each["key"] for each in atlas["studies"]]
    return [
        (each["key"], each["name"], [counts[each["key"], study] for study in studies])
        for each in protocols
    ]


def printed(entry: AtlasEntry) -> str:
    """The printed number of an entry with its unit; "" for a statement."""
    value, lower = entry["published"], entry["lower"]
    if value is None:
        return ""
    number = with_unit(format_number(value, like=value), entry["unit"])
    # A study that printed only a lower bound allows no value below it.
    return f"at least {number}" if value == lower != entry["upper"] else number


def observed(entry: AtlasEntry) -> list[str]:
    """What was measured, one line for each metric; for a number without the metric's name."""
    named = entry["kind"] == "statement"
    lines = [_span(each, entry["published"], named=named) for each in entry["observed"]]
    more = len(lines) - _MOST_OBSERVED
    return [*lines[:_MOST_OBSERVED], f"and {more} more metrics"] if more > 0 else lines


def _span(each: Observed, like: float | None, *, named: bool) -> str:
    ends = [each["least"], each["most"]]
    known = [format_number(end, like=like) for end in ends if end is not None]
    text = " to ".join(dict.fromkeys(known))
    text = with_unit(text, each["unit"]) if text else "never reached"
    return f"{each['metric']}: {text}" if named else text


def origin(entry: AtlasEntry) -> str:
    """How a definition was found, in a few words."""
    if entry["found"] != "chosen on":
        return {"stated": "stated", "chosen before": "chosen before any run"}[entry["found"]]
    if entry["test"] == "fitted":
        return "chosen with this value in view"
    return "chosen on other values"


def conditions_in_words(found: Conditions) -> list[str]:
    """Conditions as short phrases: rate, RTTs, buffer, queue, flows, and what else is varied."""
    phrases = [
        _quantity(found["bottleneck_mbps"], "Mbit/s"),
        _rtts(found["rtts_ms"]),
        _buffer(found),
        ", ".join(found["queues"][:_MOST_LISTED]),
        _flows(found["flows"]),
        *found["other"],
    ]
    return [each for each in phrases if each]


def _quantity(values: Sequence[float], unit: str) -> str:
    return with_unit(_numbers(values), unit) if values else ""


def _numbers(values: Sequence[float]) -> str:
    """A few values one by one, many as a range."""
    shown = [format_number(each) for each in values]
    if len(shown) > _MOST_LISTED:
        return f"{shown[0]} to {shown[-1]}"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def _rtts(found: Sequence[Sequence[float]]) -> str:
    """RTTs: a single one if all flows have the same; of two that differ, one beside the other."""
    same = sorted({each[0] for each in found if len(each) == 1})
    pairs = [each for each in found if len(each) == 2]
    many = [each for each in found if len(each) > 2]
    parts = [_quantity(same, "ms")] if same else []
    parts += [f"{_side(pairs, 0)} beside {_side(pairs, 1)} ms"] if pairs else []
    every = sorted({rtt for each in many for rtt in each})
    ends = [format_number(each) for each in (*every[:1], *every[-1:])]
    parts += [f"{' to '.join(ends)} ms in one run"] if many else []
    return f"RTT {', and '.join(parts)}" if parts else ""


def _side(pairs: Sequence[Sequence[float]], which: int) -> str:
    return _numbers(sorted({each[which] for each in pairs}))


def _buffer(found: Conditions) -> str:
    packets, shares = found["buffer_pkts"], found["buffer_bdp"]
    if not shares:
        return f"buffer {_quantity(packets, 'packets')}" if packets else ""
    buffer = f"buffer {_quantity(shares, 'BDP')}"
    return f"{buffer} ({_quantity(packets, 'packets')})" if packets else buffer


def _flows(counts: Sequence[int]) -> str:
    if not counts:
        return ""
    return (
        "1 flow" if list(counts) == [1] else f"{_numbers([float(each) for each in counts])} flows"
    )


def tally(counts: Mapping[str, int]) -> str:
    """Counts of verdicts in words.

    >>> tally({"holds": 3, "not_run": 1})
    '3 hold, 1 not run'
    """
    return ", ".join(
        f"{count} {verdict if count == 1 and verdict in _SINGULAR else _VERDICTS[verdict]}"
        for verdict, count in counts.items()
    )


def counted(count: int, noun: str, nouns: str) -> str:
    """A count with its noun, small numbers in words.

    >>> counted(1, "study", "studies"), counted(5, "study", "studies"), counted(25, "a", "as")
    ('one study', 'five studies', '25 as')
    """
    number = _NUMERALS[count] if count < len(_NUMERALS) else str(count)
    return f"{number} {noun if count == 1 else nouns}"


def cited(study: CitedStudy) -> str:
    """The citation of a study in a text, e.g. "Even et al. (2007)"; its title if it cites none."""
    names = [each.split()[-1] for each in study["authors"].split(",") if each.split()]
    if not names:
        return study["title"]
    authors = " and ".join(names) if len(names) <= _MOST_AUTHORS else f"{names[0]} et al."
    return f"{authors} ({study['year']})"


def share_charts(
    points: Sequence[SharePoint], protocols: Sequence[AtlasProtocol], studies: Sequence[str]
) -> list[Chart]:
    """A chart for each protocol with two or more known points.

    Args:
        points: printed and measured shares.
        protocols: in order.
        studies: keys of all studies, which determine the same colours in all charts.
    """
    colours = {key: _COLOURS[i % len(_COLOURS)] for i, key in enumerate(studies)}
    found = []
    for protocol in protocols:
        own = [each for each in points if each["protocol"] == protocol["key"]]
        if len(own) >= _FEWEST_POINTS:
            found.append(_chart(protocol, own, colours))
    return found


def _chart(
    protocol: AtlasProtocol, points: Sequence[SharePoint], colours: Mapping[str, str]
) -> Chart:
    counts = {what: sum(each["what"] == what for each in points) for what in _SHAPES}
    studies = sorted({each["study"] for each in points})
    values = " and ".join(f"{count} {what}" for what, count in counts.items() if count)
    return Chart(
        chart_id=f"share-{protocol['key']}",
        title=f"{protocol['name']} with itself",
        caption=f"{values} of {', '.join(studies)}.",
        alternative=f"Ratio of the throughputs of two flows of {protocol['name']} over the ratio "
        f"of their RTTs: {values} values of {', '.join(studies)}",
        content=spec_content(_spec(points, {key: colours[key] for key in studies})),
    )


def _spec(points: Sequence[SharePoint], colours: Mapping[str, str]) -> Spec:
    rows = pl.DataFrame(
        [
            {
                "x": each["rtt_ratio"],
                "y": each["ratio"],
                "study": each["study"],
                "what": each["what"],
                "run": each["told"],
            }
            for each in points
        ]
    )
    across = {
        "type": "log",
        "domain": [0.93, max(2.0, *(each["rtt_ratio"] for each in points))],
        "nice": False,
        "padding": 10,
    }
    axis = {"values": [1, 2, 3, 4, 6, 8, 10], "format": "~g", "grid": True}
    shapes = {"domain": list(_SHAPES), "range": list(_SHAPES.values())}
    up_to_one = {"domain": [0, 1.02], "nice": False}
    marks: Encoding = {
        "x": number("x", "longer RTT over the shorter", scale=across, axis=axis),
        "y": number("y", "smaller throughput over the larger", scale=up_to_one),
        "color": coloured("study", colours, title=None),
        "shape": text("what", None, scale=shapes),
        "tooltip": [
            text("study", "study"),
            text("what", "is"),
            text("run", "run"),
            number("y", "ratio", ".3~f"),
        ],
    }
    fair = {"y": {"datum": 1}}
    return layered(
        layer("rule", "points", fair, color=FAINT, strokeDash=[4, 3]),
        layer("point", "points", marks, size=55, strokeWidth=1.8, opacity=0.9),
        height=_HEIGHT,
        rows={"points": rows},
    )
