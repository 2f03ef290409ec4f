"""The pages of web traffic agree with its objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.pipeline.studies.network.conftest import Planned, Simulated
from tests.pipeline.studies.network.test_background import ALONE, WEB
from tests.pipeline.studies.network.test_measured import measured

Run = Callable[..., Simulated]
RECORDED = {**WEB, "record_pages": "on"}


def web(simulated: Run, **changes: Any) -> Simulated:
    source = {**RECORDED, **changes}
    return simulated(parameters=ALONE, flows=[], background=[source], duration_s=4)


def pages(run: Simulated) -> list[tuple[float, float, int, int]]:
    """Start, end, number of objects and bytes of each page."""
    return [(float(r[2]), float(r[3]), int(r[4]), int(r[5])) for r in run.rows("pages.out")]


def transfers(run: Simulated, kind: str) -> list[tuple[float, float, int]]:
    rows = [row for row in run.rows("transfers.out") if row[0] == kind]
    return [(float(row[2]), float(row[3]), int(row[4])) for row in rows]


def test_pages_of_one_session_are_its_objects_three_by_three(simulated: Run) -> None:
    run = web(simulated)
    objects = transfers(run, "object")
    found = pages(run)
    assert len(found) == len(objects) // 3 > 2
    for index, (start_s, end_s, count, size) in enumerate(found):
        own = objects[3 * index : 3 * index + 3]
        assert start_s == min(begin for begin, _, _ in own)
        assert end_s == max(end for _, end, _ in own)
        assert (count, size) == (3, sum(each for _, _, each in own)) == (3, 15000)
    assert transfers(run, "page") == [(start, end, size) for start, end, _, size in found]


def test_recording_draws_nothing_but_the_numbers_of_objects(simulated: Run) -> None:
    """With a constant number of objects, the same packets are sent."""
    plain = simulated(parameters=ALONE, flows=[], background=[WEB], duration_s=4)
    recorded = web(simulated)
    assert recorded.events == plain.events
    assert transfers(recorded, "object") == transfers(plain, "object")


def test_many_sessions_have_as_many_objects_as_they_ask_for(simulated: Run) -> None:
    drawn = {"distribution": "exponential", "mean": 3}
    run = web(simulated, sessions=20, pages=2, page_objects=drawn, page_pause_s={"mean": 0.1})
    found = pages(run)
    # All pages have ended: two in each session, and each object belongs to one of them.
    assert len(found) == 40
    objects = transfers(run, "object")
    assert sum(count for _, _, count, _ in found) == len(objects)
    assert sum(size for *_, size in found) == sum(size for _, _, size in objects)
    counts = [count for _, _, count, _ in found]
    # For an exponential x of mean 3, the mean of ceil(x) is 1 / (1 - e^(-1/3)) = 3.5; 40 draws.
    assert sum(counts) / 40 == pytest.approx(3.5, abs=1.5)
    # Agents are reused and sessions start together; still, each page ends with one of the objects.
    assert {end for _, end, _, _ in found} <= {end for _, end, _ in objects}
    numbers = [row[1] for row in run.rows("pages.out")]
    assert len(set(numbers)) == 40
    other = simulated(
        parameters={**ALONE, "substream": 2}, flows=[], duration_s=4,
        background=[{**RECORDED, "sessions": 20, "pages": 2, "page_objects": drawn}],
    )  # fmt: skip
    assert [count for _, _, count, _ in pages(other)][: len(counts)] != counts


def test_each_source_records_its_own(simulated: Run) -> None:
    sources = [WEB, RECORDED, {**RECORDED, "page_objects": {"mean": 2}}]
    run = simulated(parameters=ALONE, flows=[], background=sources, duration_s=2)
    objects = {(row[0], row[4]) for row in run.rows("pages.out")}
    assert objects == {("background:1", "3"), ("background:2", "2")}


def test_pages_are_measured(simulated: Run) -> None:
    run = web(simulated)
    values = measured(run)
    times = [end - start for start, end, _, _ in pages(run)]
    assert values["finished_pages", "run"] == len(times)
    assert values["mean_page_response_time", "run"] == pytest.approx(sum(times) / len(times))
    assert values["mean_page_objects", "run"] == 3


def test_other_runs_keep_their_script(planned: Planned) -> None:
    runs = [
        planned(parameters=ALONE, flows=[], background=[source])[0]
        for source in (WEB, {**WEB, "record_pages": "off"}, RECORDED)
    ]
    assert [run["script"] for run in runs] == ["network.tcl", "network.tcl", "network_web.tcl"]
    assert runs[0]["run_id"] == runs[1]["run_id"]
    assert [o["file"] for o in runs[2]["outputs"] if o["table"] == "pages"] == ["pages.out"]
