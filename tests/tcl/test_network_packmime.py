"""network_packmime.tcl: what network.tcl accepts, and PackMime.

tests/pipeline/studies/network tests that each key of study.yaml has its effect.
"""

from __future__ import annotations

import pytest
from tests.tcl.conftest import NETWORK, Arguments, Outputs, Refused, argv, network_flows

BASE: Arguments = {**NETWORK, **network_flows({})}
HOSTS: Arguments = {
    f"background.0.{role}_{which}{unit}": value
    for role in ("server", "client")
    for which in ("", "most_")
    for unit, value in (("mbps", 50), ("delay_ms", 4))
}
PACKMIME: Arguments = {
    **BASE,
    "backgrounds": 1,
    "background.0.kind": "packmime",
    "background.0.start_s": 0,
    "background.0.access_mbps": 100,
    "background.0.rate_per_s": 5,
    "background.0.servers": 1,
    "background.0.clients": 1,
    "background.0.segment_bytes": 1000,
    **HOSTS,
}


def test_without_packmime_it_is_network_tcl(outputs: Outputs) -> None:
    random = {**BASE, "default.Agent/TCP.overhead_": 0.0001, "flow.0.within_s": 1}
    assert outputs("network_packmime.tcl", *argv(random)) == outputs("network.tcl", *argv(random))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rate_per_s": 0}, "-background.0.rate_per_s is '0', expected a number above 0 (1/s)"),
        ({"servers": 2}, "expected as many of each, 10 at most"),
        ({"servers": 11, "clients": 11}, "expected as many of each, 10 at most"),
        ({"http": "2"}, "expected one of 1.0, 1.1"),
        ({"tcp": "vegas"}, "expected one of reno, tahoe, newreno, sack"),
        ({"persistent_share": 0.5}, "-background.0.persistent_share needs -background.0.http 1.1"),
        ({"persistent_share": 2, "http": "1.1"}, "expected a share from 0 to 1"),
        ({"request_size": "constant"}, "-background.0.request_size_mean_bytes go together"),
        (
            {"request_size": "pareto", "request_size_mean_bytes": 9},
            "request_size_shape is '', expected a number above 1",
        ),
        ({"request_size_shape": 2}, "only Pareto's distribution has a shape"),
        ({"sessions": 2}, "unknown key -background.0.sessions"),
        ({"segment_bytes": None}, "-background.0.segment_bytes is missing"),
    ],
)
def test_a_source_that_cannot_be_is_refused(refused: Refused, change: Arguments, said: str) -> None:
    own = {f"background.0.{key}": value for key, value in change.items()}
    assert said in refused("network_packmime.tcl", *argv(PACKMIME, own))


def test_network_tcl_takes_no_packmime(refused: Refused) -> None:
    said = refused("network.tcl", *argv(PACKMIME))
    assert "-background.0.kind is 'packmime', expected one of cbr" in said
