"""How long finite transfers take: flows, web objects, and pages."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics.definition import MEAN, MEDIAN, family, percentile, run_metric
from bdpbench.metrics.series import number
from bdpbench.metrics.views import RunView

_STATISTICS = (MEAN, MEDIAN, percentile(95), percentile(99))
_FCT = "Dukkipati and McKeown (2006), Why Flow-Completion Time is the Right Metric"
_WEB = "Feldmann, Gilbert, Huang and Willinger (1999), the model of ns-2's PagePool/WebTraf"


def _transfers(kind: str, what: str, times: str, text: str, source: str) -> None:
    """Declare how many transfers of a kind have finished, and how long they took."""

    def times_s(run: RunView) -> pl.Series:
        rows = run.table("transfers").filter(pl.col("kind") == kind)
        return rows["end_s"] - rows["start_s"]

    def has_any(run: RunView) -> bool:
        return not times_s(run).is_empty()

    run_metric(
        name=f"finished_{kind}s",
        unit="1",
        title=f"Finished {kind}s",
        text=f"How many {what} by the end of the run.",
        source=source,
        tables=("transfers",),
        when=has_any,
    )(lambda run: float(len(times_s(run))))
    family(
        "run",
        *_STATISTICS,
        name=f"{kind}_{times.replace(' ', '_')}",
        unit="s",
        title=f"{times} of {kind}s",
        text=f"{times} of {text}",
        source=source,
        tables=("transfers",),
        when=has_any,
    )(times_s)


_transfers(
    *("flow", "flows of finite size had ended", "completion time"),
    text="the flows of finite size, from a flow's start to the ACK of its last byte. Flows that "
    "have not ended by the end of the run are left out.",
    source=_FCT,
)
_transfers(
    *("object", "of the web's objects had arrived", "response time"),
    text="the web's objects, from the request of an object to the ACK of its last byte, or, of "
    "PackMime's, to its arrival. Objects that have not arrived by the end of the run are left out.",
    source=_WEB,
)
_transfers(
    *("page", "of the web's pages had arrived", "response time"),
    text="the web's pages, from the request of a page to the ACK of the last byte of its last "
    "object. Pages that have not arrived by the end of the run are left out.",
    source=_WEB,
)


def _knows_pages(run: RunView) -> bool:
    return not run.table("pages").is_empty()


@run_metric(
    unit="1",
    title="Objects of a page",
    text="Mean number of objects of the web's pages that had arrived by the end of the run.",
    source=_WEB,
    tables=("pages",),
    when=_knows_pages,
)
def mean_page_objects(run: RunView) -> float | None:
    return number(run.table("pages")["objects"].mean())
