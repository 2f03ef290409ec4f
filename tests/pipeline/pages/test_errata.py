"""Known faults of laws in ns-2: who has them, and that they are told."""

from __future__ import annotations

import pytest

from bdpbench.pages.texts import told_errata
from bdpbench.studies.parts import Protocol


def protocol(agent: str, linux: str | None = None) -> Protocol:
    return Protocol(label="X", colour="#000000", agent=agent, sink="TCPSink/Sack1", linux=linux)


@pytest.mark.parametrize(
    ("agent", "linux", "titles"),
    [
        ("TCP/Linux", "cubic", ["Bursts beyond cwnd after slow start"]),
        ("TCP/Linux", "illinois", ["Illinois keeps the share of cwnd that it should give up"]),
        ("TCP/Linux", "veno", ["Veno takes large windows for congested ones"]),
        ("TCP/Linux", "reno", []),
        ("TCP/Sack1", None, []),
    ],
)
def test_a_protocol_has_the_errata_of_its_agent_and_module(
    agent: str, linux: str | None, titles: list[str]
) -> None:
    found = told_errata([("Mine", protocol(agent, linux)), ("Other", protocol("TCP/Newreno"))])
    assert [(each.title, labels) for each, labels in found] == [(each, ["Mine"]) for each in titles]
