"""What a study contributes to the atlas; expected values follow from the runs by hand."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.score.conftest import make_run
from tests.pipeline.score.test_refusals import Known

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.scorecard import AtlasEntry
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.score import atlas_entries, load_expectations
from bdpbench.score.atlas_entries import Material, Source, StudyRuns, entries_of
from bdpbench.studies.atlas import Member, Membership
from bdpbench.studies.load import read_study

DEFINITIONS = {
    "utilization": Known("%", "link", title="Use of the link"),
    "jain_index": Known("1", "run"),
}

DATA = repository_root() / "tests" / "data" / "entries"

Part = Callable[..., list[AtlasEntry]]


def _run(run_id: str, scenario: str, protocol: str, **parameters: Any) -> PlannedRun:
    parameters = {"bottleneck_mbps": 10, "protocol": protocol, **parameters}
    return {**make_run(run_id, **parameters), "scenario": scenario, "argv": ["-flows", "2"]}


TIERS = {
    "quick": [
        _run("q1", "one", "HS", buffer_pkts=40, bdp_pkts=125.0, rtt_1_ms=50, rtt_2_ms=100),
        _run("q2", "own", "HS", beta=0.5, rtt_ms=20),
        _run("q3", "own", "HS", beta=0.25, rtt_ms=20),
    ],
    "paper": [
        _run("p1", "one", "HS", buffer_pkts=40, bdp_pkts=125.0, rtt_1_ms=50, rtt_2_ms=100),
        _run("p3", "one", "HS", buffer_pkts=7, rtt_1_ms=30, rtt_2_ms=70),
        _run("p4", "one", "HS", buffer_pkts=8, rtt_1_ms=10, rtt_2_ms=20, rtt_3_ms=30),
        _run("p2", "one", "Lin", buffer_bdp=2, queue="short", flow2_start_s=3, rtt_ms=100),
    ],
}


@pytest.fixture
def part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Part:
    """What the study contributes, given its scorecards, and a change to one of its files."""

    def make(*cards: Any, change: tuple[str, str, str] | None = None) -> list[AtlasEntry]:
        folder = Path(shutil.copytree(DATA, tmp_path / "mine", dirs_exist_ok=True))
        if change:
            name, old, new = change
            text = (folder / name).read_text()
            assert old in text
            (folder / name).write_text(text.replace(old, new))
        monkeypatch.setattr(atlas_entries, "expand_tier", lambda study, tier, _: TIERS[tier])
        study, source = read_study(folder / "study.yaml"), YamlFile(folder / "atlas.yaml")
        expected = load_expectations(folder, DEFINITIONS)
        member = Member(study, source.validate(Membership), source)
        material = Material(member, expected, DEFINITIONS, StudyRuns(study))
        sources = [Source(f"card {number}", card) for number, card in enumerate(cards)]
        return list(entries_of(material, sources))

    return make


def _entry(found: list[AtlasEntry], key: str) -> dict[str, Any]:
    (entry,) = (each for each in found if each["key"] == f"mine/{key}")
    return dict(entry)


def test_a_number_has_the_conditions_of_all_runs_that_have_to_show_it(part: Part) -> None:
    entry = _entry(part(), "link-use")
    assert (entry["topic"], entry["says"]) == ("filling", "Use of the link")
    assert (entry["published"], entry["lower"], entry["upper"], entry["unit"]) == (88, 87, 89, "%")
    assert (entry["place"], entry["known_miss"]) == ("Table 1, p. 7", "odd print")
    assert (entry["found"], entry["kind"]) == ("chosen on", "fitted")
    assert entry["protocols"] == ["highspeed", "cubic"]
    assert entry["senders"] == ["HS-TCP", "Linux CUBIC"]
    assert (entry["verdict"], entry["observed"], entry["source"]) == ("not_run", [], "")
    assert sorted(entry["conditions"]) == [
        "10 Mbit/s",
        "RTT 100 ms",
        "RTT 100 ms of the second flow",
        "RTT 50 ms",
        "a short queue",
        "buffer 2 BDP",
        "buffer 40 packets",
        "second flow at 3 s",
    ]


def test_a_statement_has_the_conditions_of_the_only_tier_that_shows_it(part: Part) -> None:
    entry = _entry(part(), "even")
    assert (entry["topic"], entry["says"]) == ("sharing", "It is even.")
    assert (entry["place"], entry["kind"]) == ("Section 2", "blind")
    assert entry["known_miss"] == "odd text"
    assert (entry["published"], entry["lower"], entry["upper"], entry["unit"]) == (None,) * 3 + (
        "",
    )
    assert set(entry["conditions"]) == {"10 Mbit/s", "RTT 20 ms", "a beta of 0.5"}


def test_a_metric_without_a_name_is_called_by_its_key(part: Part) -> None:
    entry = _entry(part(), "shares")
    assert (entry["says"], entry["topic"], entry["kind"]) == ("jain index", "sharing", "blind")


def _card(verdict: str, *measured: float | None, **changes: Any) -> dict[str, Any]:
    """A scorecard that has only the number of two runs."""
    parts = [
        {"measured": each, "run_ids": [run]}
        for run, each in zip(("p1", "p2"), measured, strict=False)
    ]
    facts = {"id": "link-use", "published": 88.0, "unit": "%", "metric": "utilization"}
    number = {**facts, "verdict": verdict, "parts": parts, **changes}
    return {"numbers": [number], "claims": []}


def test_the_first_scorecard_with_a_verdict_on_this_print_judges(part: Part) -> None:
    cards = [
        _card("not_run", None),
        _card("close", 1.0, published=87.5),
        _card("reproduced", 1.0, unit="1"),
        _card("close", 85.0, None, 89.5),
        _card("reproduced", 88.0),
    ]
    entry = _entry(part(*cards), "link-use")
    assert (entry["verdict"], entry["source"]) == ("close", "card 3")
    assert entry["observed"] == [("", "%", 85.0, 85.0)]


def _of_claim(verdict: str, *evidence: tuple[str, str, float | None]) -> dict[str, Any]:
    found = [
        {"label": label, "run_id": run, "unit": "1", "value": value}
        for label, run, value in evidence
    ]
    return {"numbers": [], "claims": [{"id": "even", "verdict": verdict, "evidence": found}]}


def test_a_statement_was_decided_by_the_range_of_each_metric(part: Part) -> None:
    card = _of_claim(
        "fails",
        ("jain_index, a", "q2", 0.5),
        ("jain_index, a", "q2", 0.5),
        ("jain_index, b", "q3", 0.75),
        ("other, b", "q3", None),
    )
    entry = _entry(part(card), "even")
    assert entry["verdict"] == "fails"
    assert entry["observed"] == [("jain index", "1", 0.5, 0.75), ("other", "1", None, None)]


@pytest.mark.parametrize(
    ("entries", "message", "hint"),
    [
        ("{filling: [link-*]}", "shares of mine belongs to no topic", "list it under one"),
        ("{a: ['*'], b: [even]}", "everything that 'even' matches already belongs to a", ""),
        ("{a: [oven]}", "mine has no number or statement 'oven'", "claims.yaml list the ids"),
    ],
)
def test_entries_without_a_topic_and_topics_without_entries_are_refused(
    part: Part, entries: str, message: str, hint: str
) -> None:
    with pytest.raises(BdpbenchError, match=r"atlas\.yaml:3") as caught:
        part(change=("atlas.yaml", '{filling: [link-*], sharing: ["*"]}', entries))
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("claims.yaml", "0.5}, m", "0.75}, m"), r"claims\.yaml: no run of own has beta=0.75"),
        (
            ("claims.yaml", "scenario: own", "scenario: won"),
            r"s\.yaml: unknown scenario 'won'",
        ),
        (
            ("published.csv", "protocol=HS;buffer_pkts=40,j", "protocol=V,j"),
            r"d\.csv: no run of one has p[\s\S]*: HS, Lin$",
        ),
    ],
)
def test_what_no_run_shows_is_refused_with_its_file(
    part: Part, change: tuple[str, str, str], said: str
) -> None:
    with pytest.raises(BdpbenchError, match=said):
        part(change=change)
