"""``config/tcpeval``: what its tiers contain, and the times that the draft prints."""

from __future__ import annotations

from bdpbench.contracts.paths import config_dir
from bdpbench.studies.behaviour import Identities
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import expand_tier


def test_each_protocol_meets_the_same_traffic_for_the_durations_of_the_draft() -> None:
    study = load_study(config_dir() / "tcpeval")
    quick = expand_tier(study, "quick", Identities())
    paper = expand_tier(study, "paper", Identities())
    assert (len(quick), len(paper)) == (6 * 2, 6 * 13)
    # Warm-up and duration of the access link at 60 %, table 3: 84 and 479 s after the prefill.
    access = [run["parameters"] for run in paper if run["scenario"] == "access_link"]
    first = [each for each in access if each["offered_load"] == 0.6]
    assert {each["protocol"] for each in first} == set(study.protocols)
    assert {each["measured_from_s"] for each in first} == {36.72 + 84}
    assert {each["duration_s"] for each in first} == {36.72 + 84 + 479}
