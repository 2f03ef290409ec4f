"""Planning refuses impossible networks, with file and line, and says what is allowed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.studies.network.conftest import Planned, study_of

from bdpbench.contracts.paths import repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.studies.background import remarks
from bdpbench.studies.load import read_study
from bdpbench.studies.parts import (
    COMMON_OF_BACKGROUND,
    KEYS_OF_BACKGROUND,
    Background,
    Bottleneck,
    Change,
    Flow,
)
from bdpbench.studies.queues import QUEUE_KINDS
from bdpbench.studies.runs import expand_tier

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
# Nothing is drawn at random from these.
FIXED = {"arrivals": "constant", "request_bytes": MEAN, "response_bytes": MEAN,
         "server_pause_s": MEAN}  # fmt: skip
PAGES = {"http_version": 1.1, "persistent_share": 1, "connection_pages": MEAN,
         "page_objects": MEAN, "page_pause_s": MEAN, "object_pause_s": MEAN}  # fmt: skip


def red(**settings: object) -> dict[str, Any]:
    return {"queues": {"Mine": {"kind": "RED", "settings": settings}},
            "parameters": {"queue": "Mine"}}  # fmt: skip


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    # Scenario; key on the reported line ("-": the key is missing); message.
    (
        {"parameters": {"access_delay_ms": None}, "flows": [{"rtt_ms": 17}]},
        "rtt_ms",
        "an RTT of 17 ms, but the path alone has 18 ms",
    ),
    ({"flows": [{"rtt_ms": 60, "access_delay_ms": 1}]}, "rtt_ms", "each of them follows from the"),
    ({"flows": [{"rtt_ms": -1}]}, "rtt_ms", "greater than or equal to 0.000000000001"),
    ({"flows": [{"size_pkts": 0}]}, "size_pkts", "greater than or equal to 1"),
    ({"flows": [{"size_pkts": 9, "size_bytes": 9}]}, "size_bytes", "size_pkts is given as well"),
    ({"flows": [{"size_pkts": 9, "stop_s": 1}]}, "stop_s", "a transfer of a given size ends when"),
    ({"flows": [{"size_bytes": 9, "stop_s": 1}]}, "stop_s", "a transfer of a given size ends when"),
    ({"flows": [{"start_s": 1, "stop_s": 1}]}, "stop_s", "stops at 1.0 s but starts at 1 s"),
    ({"flows": [{"start_within_s": 3}]}, "-", "a flow starts at 3 s, but a run ends after 3 s"),
    ({"flows": [{"leaves": 2}]}, "leaves", "leaves is 2, and there is one bottleneck"),
    (
        {"bottlenecks": [{}, {}], "flows": [{"enters": 2, "leaves": 1}]},
        "leaves",
        "leaves is 1, which is before enters, 2",
    ),
    ({"flows": [{"direction": "back"}]}, "direction", "'forward' or 'reverse'"),
    ({"flows": [{"delayed_acks": True}]}, "delayed_acks", "'on' or 'off'"),
    ({"flows": [{"rtt": 1}]}, "rtt", "did you mean 'rtt_ms'"),
    ({"flows": [], "background": []}, "one", "nothing would be sent"),
    (
        {"declared": ["far"], "parameters": {"far": -1}, "flows": [{"rtt_ms": "$far"}]},
        "rtt_ms",
        "greater than or equal to 0.000000000001 (got -1)",
    ),
    ({"parameters": {"buffer_ms": 5}}, "one", "buffer_pkts and buffer_ms are given"),
    (
        {"parameters": {"buffer_pkts": None}},
        "topology",
        "the buffer of the bottleneck has no value",
    ),
    (
        {
            "parameters": {"buffer_pkts": None, "buffer_bdp": 1},
            "flows": [{}, {"access_delay_ms": 9}],
        },
        "topology",
        "the flows of this run have several RTTs",
    ),
    ({"parameters": {"buffer_pkts": 0}}, "buffer_pkts", "expected at least 1"),
    ({"parameters": {"queue": "RUD"}}, "queue", "unknown queue 'RUD'"),
    ({"parameters": {"queue": "RED"}}, "one", "a queue of kind RED needs min_th_pkts"),
    (red(min_th_pkts=5, max_p=2), "max_p", "expected more than 0 and at most 1 (got 2)"),
    (red(min_th_pkts=5, weight=-3), "weight", "at least 0 and at most 1, or -1, or -2 (got -3)"),
    (red(min_th_pkts=5, max_th_pkts=5), "max_th_pkts", "expected more than min_th_pkts, 5"),
    (red(min_th_pkts=5, gentle=0.5), "gentle", "expected a whole number"),
    (red(min_th_pkts=5, beta=0.9), "beta", "unknown setting of RED 'beta'"),
    ({"queues": {"Mine": {"kind": "RUD"}}}, "kind", "unknown kind of queue 'RUD'"),
    (
        {"defaults": {"Queue/RED": {"thresh_": 5}}},
        "Queue/RED",
        "every variable of the bottleneck's queue is set",
    ),
    ({"parameters": {"ecn": "on"}}, "one", "no queue of this run marks packets"),
    ({"parameters": {"loss_rate": 1}}, "loss_rate", "expected a number less than 1"),
    (
        {"parameters": {"loss_rate": 0.5, "loss_burst_pkts": 2}},
        "topology",
        "come in bursts of 2 on average",
    ),
    ({"changes": [{"at_s": 1}]}, "-", "this has no effect"),
    ({"changes": [{"at_s": 3, "loss_rate": 0.1}]}, "at_s", "a run ends after 3 s"),
    ({"changes": [{"at_s": 1, "bottleneck": 2, "loss_rate": 0.1}]}, "bottleneck", "has 1"),
    (
        {"background": [{**CBR, "kind": "udp"}]},
        "kind",
        "'cbr', 'exponential', 'pareto', 'web' or 'packmime'",
    ),
    ({"background": [{"kind": "cbr", "rate_mbps": 1}]}, "-", "of kind cbr needs it"),
    ({"background": [{**CBR, "burst_s": 1}]}, "burst_s", "burst_s is of exponential, pareto"),
    ({"background": [{**CBR, "start_s": 3}]}, "start_s", "a run ends after 3 s"),
    ({"background": [{**CBR, "enters": 2}]}, "enters", "there is one bottleneck"),
    (
        {"background": [{**CBR, "kind": "pareto", "burst_s": 1, "idle_s": 1, "shape": 1}]},
        "shape",
        "expected more than 1",
    ),
    ({"background": [{**WEB, "server_mbps": [9, 1]}]}, "server_mbps", "[least, most]"),
    ({"background": [{**WEB, "protocol": "Rino"}]}, "protocol", "did you mean 'Reno'"),
    (
        {"background": [{**WEB, "object_bytes": {"distribution": "pareto", "mean": 1}}]},
        "object_bytes",
        "pareto needs a shape above 1",
    ),
    (
        {"background": [{**WEB, "object_bytes": {"mean": 1, "shape": 2}}]},
        "shape",
        "constant has no shape",
    ),
    (
        {"background": [{**WEB, "sessions": None}]},
        "sessions",
        "background of kind web needs it",
    ),
    ({"background": [{**WEB, "tcp": "sack"}]}, "tcp", "tcp is of packmime"),
    ({"background": [{**CBR, "record_pages": "on"}]}, "record_pages", "record_pages is of web"),
    ({"background": [{**WEB, "record_pages": True}]}, "record_pages", "'on' or 'off'"),
    (
        {"background": [{"kind": "packmime", "rate_per_s": 5}]},
        "-",
        "background of kind packmime needs it",
    ),
    ({"background": [{**PACKMIME, "tcp": "Vegas"}]}, "tcp", "'tahoe', 'newreno' or 'sack'"),
    ({"background": [{**PACKMIME, "arrivals": "poisson"}]}, "arrivals", "'exponential'"),
    (
        {"background": [{**PACKMIME, "http_version": 2}]},
        "http_version",
        "expected 1.0 or 1.1 (got 2)",
    ),
    (
        {"background": [{**PACKMIME, "page_objects": MEAN}]},
        "page_objects",
        "page_objects would have no effect: with HTTP 1.0 no connection is persistent",
    ),
    (
        {"background": [{**PACKMIME, "clients": 3}]},
        "clients",
        "as many clients as servers, 10 of each at most (got 3 and 1)",
    ),
    (
        {"background": [{**PACKMIME, "rate_per_s": 0.01}]},
        "rate_per_s",
        "PackMime's arrivals need 0.1 connections per second at least (got 0.01)",
    ),
    (
        {"background": [{**PACKMIME, "http_version": 1.1, "persistent_share": 1.5}]},
        "persistent_share",
        "less than or equal to 1",
    ),
    (
        {"background": [{**PACKMIME, "start_s": 1, "stop_s": 1}]},
        "stop_s",
        "it stops at 1.0 s but starts at 1 s",
    ),
    (
        {"background": [PACKMIME], "defaults": {"Agent/TCP/FullTcp": {"segsize_": 700}}},
        "segsize_",
        "this would have no effect: packet_bytes sets segsize_",
    ),
    (
        {
            "flows": [],
            "background": [PACKMIME],
            "defaults": {"Agent/TCP/Vegas": {"v_alpha_": 1}},
            "parameters": {"protocol": None, "access_delay_ms": None, "receiver_delay_ms": None},
        },
        "Agent/TCP/Vegas",
        "nothing here is of class Agent/TCP/Vegas",
    ),
    (
        {
            "flows": [],
            "background": [CBR],
            "queues": RED,
            "parameters": {
                "protocol": None,
                "access_delay_ms": None,
                "receiver_delay_ms": None,
                "ecn": "on",
                "queue": "Mine",
            },
        },
        "one",
        "ecn is on, and nothing in this run is sent over TCP",
    ),
    ({"flows": [{"count": 0}]}, "count", "greater than or equal to 1 (got 0)"),
    ({"flows": [{"start_s": -1}]}, "start_s", "greater than or equal to 0 (got -1)"),
    ({"flows": [{"stagger_s": 1}]}, "stagger_s", "this would have no effect: there is one flow"),
    ({"flows": [{"stop_s": 3}]}, "stop_s", "a flow stops at 3.0 s, but a run ends after 3 s"),
    ({"background": [{**CBR, "stop_s": 4}]}, "stop_s", "stops at 4.0 s, but a run ends after 3"),
    (
        {"parameters": {"loss_burst_pkts": 3}},
        "loss_burst_pkts",
        "loss_burst_pkts would have no effect: no packet is lost at random",
    ),
    (
        {"changes": [{"at_s": 1, "bottleneck_mbps": 4}, {"at_s": 1, "bottleneck_mbps": 5}]},
        "bottleneck_mbps",
        "another change sets bottleneck_mbps of bottleneck 1 at 1.0 s",
    ),
    ({"parameters": {"sample_s": 0.015}}, "sample_s", "expected a multiple of 0.01 s (got 0.015)"),
    (
        {"background": [{**PACKMIME, "response_bytes": 3000}]},
        "response_bytes",
        "expected a mapping with keys of distribution, mean, shape (got 3000)",
    ),
    ({"script": "network_web.tcl"}, "script", "is selected automatically if background needs it"),
    ({"cubic": {"linux_parameters": {"beta": 0.5}}}, "beta", "valid integer"),
]


@pytest.mark.parametrize(("scenario", "key", "said"), REFUSED, ids=[each[2] for each in REFUSED])
def test_it_is_refused_with_file_and_line(
    tmp_path: Path, scenario: dict[str, Any], key: str, said: str
) -> None:
    path = tmp_path / "mine" / "study.yaml"
    path.parent.mkdir()
    path.write_text(json.dumps(study_of(scenario), indent=1))
    with pytest.raises(BdpbenchError) as caught:
        expand_tier(read_study(path), "quick")
    text = str(caught.value)
    assert said in text
    file, line = str(caught.value.where).rsplit(":", 1)
    assert file == str(path)
    told = path.read_text().splitlines()[int(line) - 1]
    # A missing key is reported where it would be.
    assert f'"{key}"' in told or (key == "-" and told.strip() == "{")


@pytest.mark.parametrize(
    ("more", "random"),
    [
        ({}, False),
        ({"flows": [{"start_within_s": 1}]}, True),
        ({"parameters": {"loss_rate": 0.1}}, True),
        ({"defaults": {"Agent/TCP": {"overhead_": 0.001}}}, True),
        ({"background": [CBR]}, False),
        ({"background": [{**CBR, "jitter": "on"}]}, True),
        ({"background": [WEB]}, False),
        ({"background": [{**WEB, "clients": 2}]}, True),
        ({"background": [{**WEB, "servers": 2}]}, True),
        ({"background": [{**WEB, "client_delay_ms": [1, 2]}]}, True),
        (
            {"background": [{**WEB, "page_objects": {"distribution": "exponential", "mean": 1}}]},
            True,
        ),
        ({"background": [PACKMIME]}, True),
        ({"background": [{**PACKMIME, **FIXED}]}, False),
        ({"background": [{**PACKMIME, **FIXED, "arrivals": "exponential"}]}, True),
        ({"background": [{**PACKMIME, **FIXED, "server_mbps": [8, 9]}]}, True),
        ({"background": [{**PACKMIME, **FIXED, "http_version": 1.1}]}, True),
        ({"background": [{**PACKMIME, **FIXED, **PAGES}]}, False),
        ({"background": [{**PACKMIME, **FIXED, **PAGES, "connection_pages": {"mean": 2}}]}, True),
        ({"queues": RED, "parameters": {"queue": "Mine"}}, True),
        ({"parameters": {"queue": "SFQ"}}, False),
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

    for model in (Flow, Bottleneck, Change, Background):
        assert [name for name in model.model_fields if not told(name)] == []
    for kind in QUEUE_KINDS.values():
        for name, parameter in kind.parameters.items():
            assert f"| `{name}` | {parameter.text} |" in text


def test_every_key_of_background_is_of_a_kind() -> None:
    of_kinds = {key for keys in KEYS_OF_BACKGROUND.values() for part in keys for key in part}
    assert set(Background.model_fields) == {*COMMON_OF_BACKGROUND, *of_kinds}
