"""How long finite transfers take: flows, web objects, and pages."""

from __future__ import annotations

import polars as pl

from bdpbench.metrics.definition import run_metric
from bdpbench.metrics.series import median, nearest_rank, number
from bdpbench.metrics.views import RunView

_TRANSFERS = "transfers"
_PAGES = "pages"
_FCT = "Dukkipati and McKeown (2006), Why Flow-Completion Time is the Right Metric"
_WEB = "Feldmann, Gilbert, Huang and Willinger (1999), the model of ns-2's PagePool/WebTraf"
_FLOW = (
    "completion time of the flows of finite size, from a flow's start to the ACK of its last byte. "
    "Flows that have not ended by the end of the run are left out."
)
_OBJECT = (
    "response time of the web's objects, from the request of an object to the ACK of its last "
    "byte, or, of PackMime's, to its arrival. Objects that have not arrived by the end of the run "
    "are left out."
)
_PAGE = (
    "response time of the web's pages, from the request of a page to the ACK of the last byte of "
    "its last object. Pages that have not arrived by the end of the run are left out."
)
_P95 = "The 95th percentile (the smallest value that at least 95 in 100 do not exceed) of the"
_P99 = "The 99th percentile (the smallest value that at least 99 in 100 do not exceed) of the"


def _has_flows(run: RunView) -> bool:
    return not _times_s(run, "flow").is_empty()


def _has_objects(run: RunView) -> bool:
    return not _times_s(run, "object").is_empty()


def _has_pages(run: RunView) -> bool:
    return not _times_s(run, "page").is_empty()


def _knows_pages(run: RunView) -> bool:
    return not run.table(_PAGES).is_empty()


def _times_s(run: RunView, kind: str) -> pl.Series:
    """How long each finished transfer of a kind took, s."""
    rows = run.table(_TRANSFERS).filter(pl.col("kind") == kind)
    return rows["end_s"] - rows["start_s"]


@run_metric(
    unit="1",
    title="Finished flows",
    text="How many flows of finite size had ended by the end of the run.",
    source=_FCT,
    tables=(_TRANSFERS,),
    when=_has_flows,
    version=1,
)
def finished_flows(run: RunView) -> float | None:
    return float(len(_times_s(run, "flow")))


@run_metric(
    unit="s",
    title="Mean completion time of flows",
    text=f"Mean {_FLOW}",
    source=_FCT,
    tables=(_TRANSFERS,),
    when=_has_flows,
    version=1,
)
def mean_flow_completion_time(run: RunView) -> float | None:
    return number(_times_s(run, "flow").mean())


@run_metric(
    unit="s",
    title="Median completion time of flows",
    text=f"Median {_FLOW}",
    source=_FCT,
    tables=(_TRANSFERS,),
    when=_has_flows,
    version=1,
)
def median_flow_completion_time(run: RunView) -> float | None:
    return median(_times_s(run, "flow"))


@run_metric(
    unit="s",
    title="95th percentile of the completion time of flows",
    text=f"{_P95} {_FLOW}",
    source=_FCT,
    tables=(_TRANSFERS,),
    when=_has_flows,
    version=1,
)
def p95_flow_completion_time(run: RunView) -> float | None:
    return nearest_rank(_times_s(run, "flow"), 95)


@run_metric(
    unit="s",
    title="99th percentile of the completion time of flows",
    text=f"{_P99} {_FLOW}",
    source=_FCT,
    tables=(_TRANSFERS,),
    when=_has_flows,
    version=1,
)
def p99_flow_completion_time(run: RunView) -> float | None:
    return nearest_rank(_times_s(run, "flow"), 99)


@run_metric(
    unit="1",
    title="Finished objects",
    text="How many of the web's objects had arrived by the end of the run.",
    source=_WEB,
    tables=(_TRANSFERS,),
    when=_has_objects,
    version=1,
)
def finished_objects(run: RunView) -> float | None:
    return float(len(_times_s(run, "object")))


@run_metric(
    unit="s",
    title="Mean response time of objects",
    text=f"Mean {_OBJECT}",
    source=_WEB,
    tables=(_TRANSFERS,),
    when=_has_objects,
    version=1,
)
def mean_object_response_time(run: RunView) -> float | None:
    return number(_times_s(run, "object").mean())


@run_metric(
    unit="s",
    title="Median response time of objects",
    text=f"Median {_OBJECT}",
    source=_WEB,
    tables=(_TRANSFERS,),
    when=_has_objects,
    version=1,
)
def median_object_response_time(run: RunView) -> float | None:
    return median(_times_s(run, "object"))


@run_metric(
    unit="s",
    title="95th percentile of the response time of objects",
    text=f"{_P95} {_OBJECT}",
    source=_WEB,
    tables=(_TRANSFERS,),
    when=_has_objects,
    version=1,
)
def p95_object_response_time(run: RunView) -> float | None:
    return nearest_rank(_times_s(run, "object"), 95)


@run_metric(
    unit="s",
    title="99th percentile of the response time of objects",
    text=f"{_P99} {_OBJECT}",
    source=_WEB,
    tables=(_TRANSFERS,),
    when=_has_objects,
    version=1,
)
def p99_object_response_time(run: RunView) -> float | None:
    return nearest_rank(_times_s(run, "object"), 99)


@run_metric(
    unit="1",
    title="Finished pages",
    text="How many of the web's pages had arrived by the end of the run.",
    source=_WEB,
    tables=(_TRANSFERS,),
    when=_has_pages,
    version=1,
)
def finished_pages(run: RunView) -> float | None:
    return float(len(_times_s(run, "page")))


@run_metric(
    unit="s",
    title="Mean response time of pages",
    text=f"Mean {_PAGE}",
    source=_WEB,
    tables=(_TRANSFERS,),
    when=_has_pages,
    version=1,
)
def mean_page_response_time(run: RunView) -> float | None:
    return number(_times_s(run, "page").mean())


@run_metric(
    unit="s",
    title="Median response time of pages",
    text=f"Median {_PAGE}",
    source=_WEB,
    tables=(_TRANSFERS,),
    when=_has_pages,
    version=1,
)
def median_page_response_time(run: RunView) -> float | None:
    return median(_times_s(run, "page"))


@run_metric(
    unit="s",
    title="95th percentile of the response time of pages",
    text=f"{_P95} {_PAGE}",
    source=_WEB,
    tables=(_TRANSFERS,),
    when=_has_pages,
    version=1,
)
def p95_page_response_time(run: RunView) -> float | None:
    return nearest_rank(_times_s(run, "page"), 95)


@run_metric(
    unit="s",
    title="99th percentile of the response time of pages",
    text=f"{_P99} {_PAGE}",
    source=_WEB,
    tables=(_TRANSFERS,),
    when=_has_pages,
    version=1,
)
def p99_page_response_time(run: RunView) -> float | None:
    return nearest_rank(_times_s(run, "page"), 99)


@run_metric(
    unit="1",
    title="Objects of a page",
    text="Mean number of objects of the web's pages that had arrived by the end of the run.",
    source=_WEB,
    tables=(_PAGES,),
    when=_knows_pages,
    version=1,
)
def mean_page_objects(run: RunView) -> float | None:
    return number(run.table(_PAGES)["objects"].mean())
