"""A wireless LAN at the end of the path: what crosses it, and that its keys have effects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.pipeline.studies.network.conftest import Simulated
from tests.pipeline.studies.network.test_background import ALONE
from tests.pipeline.studies.network.test_tmix import DRAWN, drawn

Run = Callable[..., Simulated]

LAN = {"lan_mbps": 54, "measured_from_s": 12}
SCRIPT: dict[str, Any] = {
    "network": "tcpeval/network_lan.tcl",
    "arguments": ["lan_mbps", "measured_from_s"],
    "declared": [*LAN, "lan_buffer_pkts"],
}
CBR: dict[str, Any] = {"kind": "cbr", "rate_mbps": 1, "packet_bytes": 500}
# Routes are there after some 10 s.
LATE = {"start_s": 13}


@pytest.mark.parametrize(
    "sources",
    [[CBR], [drawn(DRAWN), drawn(DRAWN)], [CBR, drawn(DRAWN)]],
    ids=["cbr", "two of tmix", "two kinds"],
)
def test_all_kinds_of_background_cross_it(simulated: Run, sources: list[dict[str, Any]]) -> None:
    run = simulated(
        **SCRIPT, parameters={**ALONE, **LAN}, flows=[], duration_s=20,
        background=[{**each, **LATE} for each in sources],
    )  # fmt: skip
    wired = sum(run.facts[f"link:{way}", "measured_throughput"] for way in ("bottleneck", "back"))
    assert wired > 0.05
    assert run.facts["run", "lan_throughput"] == pytest.approx(wired, rel=0.05)
    assert run.facts["run", "lan_loss_rate"] < 5


def test_it_may_end_a_chain(simulated: Run) -> None:
    run = simulated(
        **SCRIPT, parameters=LAN, bottlenecks=[{}, {"bottleneck_mbps": 4}], duration_s=20,
        flows=[{**LATE, "leaves": 1}, {**LATE, "size_pkts": 50}],
    )  # fmt: skip
    # The first flow leaves before the LAN.
    lan, wired = run.facts["run", "lan_throughput"], run.facts["flow:1", "measured_throughput"]
    assert wired < lan < 1.3 * wired
    assert run.facts["flow:0", "measured_throughput"] > 3


def test_its_rate_and_its_buffer_have_effects(simulated: Run) -> None:
    small, large = (
        simulated(
            **{**SCRIPT, "arguments": [*SCRIPT["arguments"], "lan_buffer_pkts"]},
            parameters={**LAN, "lan_mbps": 6, "lan_buffer_pkts": pkts, "bottleneck_mbps": 80},
            flows=[{**LATE, "size_pkts": 1000}], duration_s=20,
        )
        for pkts in (5, 5000)
    )  # fmt: skip
    assert small.facts["run", "lan_loss_rate"] > 0 == large.facts["run", "lan_loss_rate"]
    assert large.facts["run", "lan_throughput"] < 6
