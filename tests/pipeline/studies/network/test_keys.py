"""Keys: repetitions without randomness are told, documentation names all, costs follow them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.pipeline.studies.network.conftest import Planned

from bdpbench.contracts.paths import repository_root
from bdpbench.studies.background import remarks
from bdpbench.studies.parts import (
    Bottleneck,
    Cbr,
    Change,
    Exponential,
    Flow,
    OwnSource,
    Packmime,
    Web,
)
from bdpbench.studies.queues import QUEUE_KINDS

CBR = {"kind": "cbr", "rate_mbps": 1, "packet_bytes": 500}
RED = {"Mine": {"kind": "RED", "settings": {"min_th_pkts": 5}}}
MEAN = {"mean": 1}
WEB = {
    "kind": "web", "protocol": "Reno", "servers": 1, "clients": 1, "sessions": 1, "server_mbps": 9,
    "server_delay_ms": 1, "client_mbps": 9, "client_delay_ms": 1, "page_pause_s": MEAN,
    "page_objects": MEAN, "object_pause_s": MEAN, "object_bytes": MEAN,
}  # fmt: skip

PACKMIME = {
    "kind": "packmime", "rate_per_s": 5, "servers": 1, "clients": 1, "server_mbps": 9,
    "server_delay_ms": 1, "client_mbps": 9, "client_delay_ms": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("more", "random"),
    [
        ({}, False),
        ({"flows": [{"start_within_s": 1}]}, True),
        ({"parameters": {"loss_rate": 0.1}}, True),
        ({"defaults": {"Agent/TCP": {"overhead_": 0.001}}}, True),
        ({"background": [CBR]}, False),
        ({"background": [{**CBR, "jitter": "on"}]}, True),
        ({"background": [WEB]}, True),
        ({"background": [PACKMIME]}, True),
        ({"queues": RED, "parameters": {"queue": "Mine"}}, True),
        ({"parameters": {"queue": "CoDel"}}, False),
    ],
)
def test_repetitions_without_randomness_are_told(
    planned: Planned, more: dict[str, Any], random: bool
) -> None:
    assert remarks(planned(**more)) == []
    runs = planned(sweep={"substream": [1, 2]}, **more)
    said = remarks(runs)
    assert bool(said) is not random
    assert all("one: nothing in its runs is random" in each for each in said)


def test_runs_that_draw_are_not_counted_among_those_in_which_nothing_is_random(
    planned: Planned,
) -> None:
    sweep = {"substream": [1, 2], "loss_rate": [0, 0.01, 0.02]}
    (said,) = remarks(planned(sweep=sweep))
    assert said.startswith("one: nothing in 2 of its 6 runs is random, so 2 substreams")


def test_the_documentation_tells_every_key() -> None:
    text = (repository_root() / "docs" / "scenarios.md").read_text()

    def told(name: str) -> bool:
        return f"`{name}`" in text or f"{name}:" in text

    for model in (Flow, Bottleneck, Change, Cbr, Exponential, Web, Packmime, OwnSource):
        assert [name for name in model.model_fields if not told(name)] == []
    for kind in QUEUE_KINDS.values():
        for name, parameter in kind.parameters.items():
            assert f"| `{name}` | {parameter.text} |" in text
