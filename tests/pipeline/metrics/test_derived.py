"""Tables that charts show and that are derived, not written by scripts."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bdpbench.metrics.derived import DERIVED, drops_per_sample, queue_shares
from bdpbench.metrics.series import cumulative_shares

PARAMETERS: Any = {"duration_s": 10, "bottleneck_mbps": 100}
QUEUE = pl.DataFrame(
    {
        "time_s": [1.0, 2.0, 1.0, 2.0],
        "link": ["bottleneck_1", "bottleneck_1", "bottleneck_2", "bottleneck_2"],
        "pkts": [0, 100, 50, 100],
        "drops": [0, 3, 0, 0],
    }
)


def _make(name: str, parameters: Any = PARAMETERS, **tables: pl.DataFrame) -> pl.DataFrame:
    derived = DERIVED[name]
    assert set(tables) == set(derived.sources)
    return derived.make(parameters, tables)


def _facts(**counts: float) -> pl.DataFrame:
    rows = [
        (f"link:bottleneck_{link}", name, value, "")
        for link in (1, 2)
        for name, value in counts.items()
    ]
    return pl.DataFrame(rows, schema=["subject", "name", "value", "unit"], orient="row")


def test_what_packets_wait_at_each_link_at_its_rate() -> None:
    # Packets of 1,250 bytes: 100 of them are 1 Mbit, 10 ms at 100 Mbit/s, 20 ms at 50.
    facts = _facts(packets=10.0, bytes=12_500.0)
    parameters = {**PARAMETERS, "bottleneck_2_mbps": 50}
    delays = _make("queueing_delay", parameters, queue=QUEUE, facts=facts)
    assert delays.select("link", "time_s", "ms").rows() == [
        ("bottleneck_1", 1.0, 0.0),
        ("bottleneck_1", 2.0, 10.0),
        ("bottleneck_2", 1.0, 10.0),
        ("bottleneck_2", 2.0, 20.0),
    ]


@pytest.mark.parametrize("counts", [{}, {"packets": 0.0, "bytes": 0.0}, {"packets": 9.0}])
def test_a_link_whose_packets_nobody_knows_has_no_delay(counts: dict[str, float]) -> None:
    assert _make("queueing_delay", queue=QUEUE, facts=_facts(**counts)).is_empty()


def test_max_p_is_shown_of_links_that_change_it() -> None:
    red = QUEUE.select("time_s", "link", average_pkts=pl.col("pkts") / 2).with_columns(
        max_p=pl.Series([0.1, 0.1, 0.1, 0.09])
    )
    assert _make("red_average", red=red).rows()[1] == (2.0, "bottleneck_1", 50.0)
    assert _make("red_max_p", red=red).rows() == [
        (1.0, "bottleneck_2", 0.1),
        (2.0, "bottleneck_2", 0.09),
    ]


def test_times_of_transfers_are_shares_of_their_kind() -> None:
    transfers = pl.DataFrame(
        {
            "kind": ["flow", "object", "flow"],
            "start_s": [0.0, 1.0, 2.0],
            "end_s": [4.0, 1.5, 3.0],
        }
    )
    assert _make("completion", transfers=transfers).rows() == [
        ("flows", 1.0, 50.0),
        ("flows", 4.0, 100.0),
        ("objects", 0.5, 100.0),
    ]
    assert _make("completion", transfers=transfers.clear()).is_empty()


SAMPLES = pl.DataFrame(
    {
        "link": ["a", "a", "b", "a", "b"],
        "time_s": [0.0, 1.0, 0.0, 2.0, 1.0],
        "pkts": [3, 0, 7, 0, 7],
        "drops": [2, 2, 0, 5, 1],
    }
)


def test_a_distribution_is_that_of_the_samples() -> None:
    # Two of four samples are 0, one is 1, and one is 3.
    assert cumulative_shares(pl.Series([3, 0, None, 0, 1])).rows() == [(0, 50), (1, 75), (3, 100)]


def test_links_have_distributions_of_their_own() -> None:
    rows = queue_shares(SAMPLES).with_columns(pl.col("share_pct").round(6)).rows()
    assert rows == [("a", 0, 66.666667), ("a", 3, 100), ("b", 7, 100)]
    assert queue_shares(SAMPLES.clear()).rows() == []


def test_drops_are_told_of_each_sample_those_before_the_first_with_it() -> None:
    drops = drops_per_sample(SAMPLES).sort("link", "time_s")["packets"].to_list()
    assert drops == [2, 0, 3, 0, 1]
