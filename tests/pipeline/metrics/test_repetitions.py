"""Means over repetitions."""

from __future__ import annotations

from typing import Any

import polars as pl

from bdpbench.metrics.groups import over_repetitions


def _row(run_id: str, value: float | None, metric: str = "utilization") -> dict[str, Any]:
    window = {"start_s": 0.0, "end_s": 1.0, "definition": f"{metric}/1"}
    subject = {"metric": metric, "subject": "link:b", "unit": "%"}
    return {"run_id": run_id, "scenario": "s", **subject, "value": value, **window}


def _run(run_id: str, run: int, **parameters: Any) -> dict[str, Any]:
    return {"run_id": run_id, "scenario": "s", "parameters": {"substream": run, **parameters}}


def test_runs_that_differ_in_random_numbers_alone_have_one_mean() -> None:
    runs = [_run(f"a{n}", n, buffer_pkts=40) for n in (1, 2, 3)]
    runs += [_run("alone", 1, buffer_pkts=80)]
    metrics = pl.DataFrame(
        [
            *(_row(f"a{n}", 8.0 + n) for n in (1, 2, 3)),
            _row("alone", 50.0),
            # One of three never gets there; a mean would be that of the others alone.
            *(_row(f"a{n}", value, "convergence_time") for n, value in ((1, 1.0), (2, None))),
        ]
    )
    (row,) = over_repetitions(metrics, runs).to_dicts()
    assert (row["metric"], row["run_ids"], row["mean"]) == ("utilization", ["a1", "a2", "a3"], 10.0)
    assert (row["low"], row["high"]) == (9.0, 11.0)
    assert over_repetitions(metrics, runs[-1:]).is_empty()
