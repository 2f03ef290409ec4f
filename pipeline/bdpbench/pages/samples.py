"""The page of traces of samples: cwnd, queues and other values over time, one chart for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from bdpbench import __version__
from bdpbench.contracts.files import write_text_atomically
from bdpbench.pages.analysis import COLOURS, MOST_LINES, MOST_ROWS
from bdpbench.pages.curves import curve, line_spec
from bdpbench.pages.html import embedded, page_environment
from bdpbench.pages.series import Packed, embed_json, pack
from bdpbench.pages.specs import Chart, Spec, TimeContent
from bdpbench.pages.text import format_number
from bdpbench.units import several, slug

_UNITS = {
    **dict.fromkeys(("cwnd_", "ssthresh_", "pkts", "maxseq_", "ack_", "dupacks_"), "packets"),
    **dict.fromkeys(("rtt_", "srtt_", "rttvar_"), "s"),
    "bytes": "bytes",
}
"""Units of values that ns-2 names, if they are the same for all of its agents."""

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
    """

    names: Sequence[str]
    labels: Sequence[str]
    accounts: Sequence[Mapping[str, object]]
    answers: Sequence[str]
    summary: pl.DataFrame
    points: pl.DataFrame


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
    for number, (name, rows) in enumerate(by_name):
        key = f"{slug(name) or 'value'}-{number}"
        charts.append(_chart(key, name, rows, colours, span_s))
        specs[key] = _spec(name)
        points = page.points.filter(pl.col("name") == name)
        series[key] = {
            each: _packed(points, each, _end_s(page, name, each)) for each in rows["subject"]
        }
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


def _spec(name: str) -> Spec:
    unit = _UNITS.get(name)
    quantity = name.removesuffix("_")
    return line_spec("time (s)", f"{quantity} ({unit})" if unit else quantity, "step-after")


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
    }
    title = name.removesuffix("_")
    return Chart(
        chart_id=key,
        title=title,
        caption="A value holds until the next sample."
        + (f" Shown are the {MOST_LINES} with most samples." if len(labels) == MOST_LINES else ""),
        alternative=f"{title} over time: {', '.join(labels)}",
        content=content,
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
