"""The page of traces of samples: cwnd, queues and other values over time, one chart for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from bdpbench import __version__
from bdpbench.contracts.files import write_text_atomically
from bdpbench.pages.analysis import COLOURS, MOST_LINES, MOST_ROWS
from bdpbench.pages.curves import Points, curve, line_spec, settled
from bdpbench.pages.html import embedded, page_environment
from bdpbench.pages.series import Packed, embed_json, pack, unpack
from bdpbench.pages.specs import Chart, Layer, Phase, Spec, TimeContent, layer, number, text
from bdpbench.pages.text import format_number
from bdpbench.units import several, slug

_UNITS = {
    **dict.fromkeys(("cwnd_", "ssthresh_", "pkts", "maxseq_", "ack_", "dupacks_"), "packets"),
    **dict.fromkeys(("rtt_", "srtt_", "rttvar_"), "s"),
    "bytes": "bytes",
}
"""Units of values that ns-2 names, if they are the same for all of its agents."""

_SLOW_START, _CUT, _TIMEOUT = "slow start", "cut", "timeout"
_OF_PHASES = (
    " Slow start at the beginning is shaded, from the first change of the window to its first fall,"
    " when it had ended at the latest. Marks show where, and to what, the window fell: a timeout"
    " leaves 1 at most."
)

_COLUMNS: Mapping[str, str] = {
    "samples": "samples",
    "first_s": "from (s)",
    "last_s": "to (s)",
    "least": "least",
    "mean": "mean",
    "largest": "largest",
    "last": "last",
    "falls": "falls",
    "first_fall_s": "first fall (s)",
    "falls_to_one": "falls to 1",
    "kept_share": "kept in a fall",
}


@dataclass(frozen=True)
class SamplesPage:
    """What the page shows.

    Attributes:
        names: names of the sources.
        labels: what subjects of several traces begin with; empty for a single one.
        accounts: account of the lines of each trace.
        answers: sentences on what the samples show.
        summary: subject, name and the columns of ``SAMPLES_SCHEMA``: a row for each series.
        points: subject, name, time_s (f64, s), value (f64), in order: what is drawn.
        falls: the same columns: where a window fell, and to what.
    """

    names: Sequence[str]
    labels: Sequence[str]
    accounts: Sequence[object]
    answers: Sequence[str]
    summary: pl.DataFrame
    points: pl.DataFrame
    falls: pl.DataFrame


def build_samples_page(page: SamplesPage, out: Path) -> None:
    """Write the page: one HTML file that opens offline. Equal inputs give equal bytes.

    Raises:
        BdpbenchError: when a file under ``reports/`` is missing or cannot be embedded.
    """
    charts, specs, series = [], {}, {}
    by_name = _by_name(page.summary)
    subjects = dict.fromkeys(each for _, rows in by_name for each in rows["subject"])
    colours = {each: COLOURS[place % len(COLOURS)] for place, each in enumerate(subjects)}
    span_s = min(page.summary["first_s"].to_list()), max(page.summary["last_s"].to_list())
    for place, (name, rows) in enumerate(by_name):
        key = f"{slug(name) or 'value'}-{place}"
        points, falls = (each.filter(name=name) for each in (page.points, page.falls))
        phases = [
            phase for row in rows.iter_rows(named=True) for phase in _phases(row, points, falls)
        ]
        series[key] = {
            each: _packed(points, each, _end_s(page, name, each)) for each in rows["subject"]
        }
        drawn = [unpack(each) for each in series[key].values()]
        charts.append(_chart(key, name, rows, colours, span_s, phases, drawn))
        specs[key] = samples_spec(name, has_phases=bool(phases))
    store = {"time": specs, "charts": {chart.chart_id: chart.content for chart in charts}}
    shown = page.summary.head(MOST_ROWS)
    content = {
        "page": page,
        "title": ", ".join(page.labels or [Path(name).name for name in page.names]),
        "heads": list(_COLUMNS.values()),
        "rows": [_cells(row) for row in shown.iter_rows(named=True)],
        "hidden": page.summary.height - shown.height,
        "charts": charts,
        "chart_data": embed_json(store),
        "series": embed_json(series),
        "html_name": slug(" ".join(page.labels or page.names))[:60] or "samples",
        "several": several,
        "version": __version__,
        **embedded(),
    }
    template = page_environment().get_template("analysis_samples.html")
    write_text_atomically(out, template.render(content))


def _by_name(summary: pl.DataFrame) -> Sequence[tuple[str, pl.DataFrame]]:
    """Each name and the rows that are drawn, those with most samples."""
    parts = summary.partition_by("name", as_dict=True, maintain_order=True)
    return [
        (str(name), rows.sort("samples", descending=True, maintain_order=True).head(MOST_LINES))
        for (name,), rows in parts.items()
    ]


def _phases(row: Mapping[str, Any], points: pl.DataFrame, falls: pl.DataFrame) -> Iterator[Phase]:
    """Slow start, from the first change of a window that fell to its first fall, and all falls."""
    if row["first_fall_s"] is None:
        return
    label = str(row["subject"]) or str(row["name"]).removesuffix("_")
    own, fell = (each.filter(subject=row["subject"]) for each in (points, falls))
    first_s = own.filter(pl.col("value") != own["value"][0])["time_s"][0]
    yield {"s": label, "what": _SLOW_START, "t": first_s, "end": row["first_fall_s"]}
    for time_s, value in fell.select("time_s", "value").iter_rows():
        yield {"s": label, "what": _TIMEOUT if value <= 1 else _CUT, "t": time_s, "v": value}


def _phase_layers() -> list[Layer]:
    """Shaded times and marks of moments, all of them in one legend of shapes."""
    shapes = {_SLOW_START: "square", _CUT: "triangle-down", _TIMEOUT: "cross"}
    scale = {"domain": list(shapes), "range": list(shapes.values())}
    colour, time = text("s"), number("t")
    shading = layer("rect", "phases", {"x": time, "x2": {"field": "end"}, "color": colour})
    shading["mark"] |= {"opacity": 0.12, "clip": True}
    what = text("what", None, scale=scale, legend={"symbolStrokeWidth": 1, "symbolSize": 70})
    marks = layer("point", "phases", {"x": time, "y": number("v"), "color": colour, "shape": what})
    marks["mark"] |= {"filled": True, "opacity": 1, "size": 45, "clip": True}
    return [
        {**shading, "transform": [{"filter": "isValid(datum.end)"}]},
        {**marks, "transform": [{"filter": "isValid(datum.v)"}]},
    ]


def samples_spec(name: str, *, has_phases: bool) -> Spec:
    """Values of a name over time; with phases also what the data set ``phases`` has (``Phase``)."""
    unit = _UNITS.get(name)
    quantity = name.removesuffix("_")
    title = f"{quantity} ({unit})" if unit else quantity
    spec = line_spec("time (s)", title, "step-after")
    if has_phases:
        spec["layer"] += _phase_layers()
    return spec


def _end_s(page: SamplesPage, name: str, subject: str) -> float:
    """Until when the last value of a series holds, s: of a variable to the end of its trace."""
    own = pl.col("subject") == subject
    if name.endswith("_"):
        label = next((each for each in page.labels if subject.startswith(f"{each}: ")), "")
        own = pl.col("subject").str.starts_with(f"{label}: " if label else "")
    last_s: list[float] = page.summary.filter(own)["last_s"].to_list()
    return max(last_s)


def _chart(
    key: str,
    name: str,
    rows: pl.DataFrame,
    colours: Mapping[str, str],
    span_s: tuple[float, float],
    phases: list[Phase],
    points: Sequence[Points],
) -> Chart:
    subjects = [str(each) for each in rows["subject"]]
    labels = [each or name.removesuffix("_") for each in subjects]
    content: TimeContent = {
        "kind": key,
        "traces": [
            curve("trace", subject, label, colours[subject])
            for subject, label in zip(subjects, labels, strict=True)
        ],
        "thresholds": [],
        "start": span_s[0],
        "end": span_s[1],
        "phases": phases,
    }
    title = name.removesuffix("_")
    return Chart(
        chart_id=key,
        title=title,
        caption="A value holds until the next sample."
        + (_OF_PHASES if phases else "")
        + (f" Shown are the {MOST_LINES} with most samples." if len(labels) == MOST_LINES else ""),
        alternative=f"{title} over time: {', '.join(labels)}",
        content=settled(content, points),
        note="Of 500 intervals or more, each shows its first, least, largest and last sample.",
    )


def _packed(points: pl.DataFrame, subject: str, end_s: float) -> Packed:
    own = points.filter(pl.col("subject") == subject)
    times_s, values = own["time_s"].to_list(), own["value"].to_list()
    if times_s and times_s[-1] < end_s:
        times_s, values = [*times_s, end_s], [*values, values[-1]]
    return pack(times_s, values)


def _cells(row: Mapping[str, object]) -> tuple[str, Sequence[tuple[str, str]]]:
    """What the row is about, and for each column its text and the value to sort by."""
    name = str(row["name"]).removesuffix("_")
    about = f"{row['subject']} {name}".strip()
    values = [row[column] for column in _COLUMNS]
    return about, [
        (format_number(value), repr(value)) if isinstance(value, (int, float)) else ("–", "")
        for value in values
    ]
