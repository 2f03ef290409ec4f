"""What a study contributes to the atlas; expected values follow from the runs by hand."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.score.conftest import make_run
from tests.pipeline.score.test_check import Known

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.score import atlas_entries, load_expectations
from bdpbench.score.atlas_entries import Material, Source, StudyPart, StudyRuns, part_of, rtts_of
from bdpbench.studies.atlas import Declared, Member, Membership
from bdpbench.studies.load import read_study

DEFINITIONS = {
    "utilization": Known("%", "link", title="Use of the link"),
    "jain_index": Known("1", "run"),
}

DATA = repository_root() / "tests" / "data" / "entries"

Part = Callable[..., StudyPart]


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

    def make(*cards: Any, change: tuple[str, str, str] | None = None, **shares: Any) -> StudyPart:
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
        declared = Declared(source, {}, {}, [], {"mine": member}, shares)
        sources = [Source(f"card {number}", card) for number, card in enumerate(cards)]
        return part_of(material, sources, declared)

    return make


def _entry(found: StudyPart, key: str) -> dict[str, Any]:
    (entry,) = (each for each in found.entries if each["id"] == key)
    return dict(entry)


def test_a_number_has_the_conditions_of_all_runs_that_have_to_show_it(part: Part) -> None:
    entry = _entry(part(), "link-use")
    assert entry["key"] == "mine/link-use"
    assert (entry["kind"], entry["topic"], entry["says"]) == (
        "number",
        "filling",
        "Use of the link",
    )
    assert (entry["published"], entry["lower"], entry["upper"], entry["unit"]) == (88, 87, 89, "%")
    assert (entry["where"], entry["page"], entry["known_miss"]) == ("Table 1", "7", "odd print")
    assert (entry["found"], entry["chosen_on"], entry["test"]) == (
        "chosen on",
        ["link-a"],
        "fitted",
    )
    assert entry["protocols"] == ["highspeed", "cubic"]
    assert entry["senders"] == ["HS-TCP", "Linux CUBIC"]
    assert entry["implementations"] == ["window law", "Linux module"]
    assert (entry["verdict"], entry["observed"], entry["source"]) == ("not_run", [], "")
    assert entry["conditions"] == {
        "scenarios": ["The first"],
        "bottleneck_mbps": [10.0],
        "rtts_ms": [[50.0, 100.0], [100.0]],
        "buffer_pkts": [40.0],
        "buffer_bdp": [0.32, 2.0],  # 40 / 125
        "queues": ["DropTail", "a short queue"],
        "flows": [2],
        "other": ["second flow at 3 s"],
        "runs": 2,
        "tier": "paper",
    }


def test_a_statement_has_the_conditions_of_the_only_tier_that_shows_it(part: Part) -> None:
    entry = _entry(part(), "even")
    assert (entry["kind"], entry["topic"], entry["says"]) == ("statement", "sharing", "It is even.")
    assert (entry["where"], entry["page"], entry["test"]) == ("Section 2", "", "blind")
    assert (entry["published"], entry["lower"], entry["upper"], entry["unit"]) == (None,) * 3 + (
        "",
    )
    conditions = entry["conditions"]
    # A script of its own has the queue that atlas.yaml gives, and no buffer that is known.
    assert (conditions["queues"], conditions["buffer_bdp"]) == (["RED"], [])
    assert (conditions["other"], conditions["tier"]) == (["a beta of 0.5"], "quick")


def test_a_metric_without_a_name_is_called_by_its_key(part: Part) -> None:
    entry = _entry(part(), "shares")
    assert (entry["says"], entry["topic"], entry["test"]) == ("jain index", "sharing", "blind")


def test_a_study_is_cited_and_its_entries_are_counted(part: Part) -> None:
    cited = part(
        _card("close", 86.0), {"numbers": [], "claims": [{"id": "was", "evidence": []}]}
    ).cited
    assert cited == {
        "key": "mine",
        "title": "A study of our own",
        "authors": "A. Author",
        "work": "Its work",
        "venue": "A journal",
        "year": 2004,
        "url": "",
        "numbers": 3,
        "statements": 1,
        "judged": 1,
        "sources": ["card 0", "card 1"],
        "gone": 1,
    }


def test_a_study_that_reproduces_nothing_cites_nothing(part: Part) -> None:
    line = "citation: {authors: A. Author, title: Its work, venue: A journal, year: 2004}\n"
    cited = part(change=("study.yaml", line, "")).cited
    facts = [cited[name] for name in ("authors", "work", "venue", "year", "url")]  # type: ignore[literal-required]
    assert facts == ["", "", "", None, ""]
    with_url = part(change=("study.yaml", "2004}", "2004, url: 'https://example.org'}")).cited
    assert with_url["url"] == "https://example.org"


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
    spans = [{"metric": "Use of the link", "unit": "%", "least": 85.0, "most": 85.0, "values": 2}]
    assert entry["observed"] == spans


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
    assert [tuple(each.values()) for each in entry["observed"]] == [
        ("jain_index", "1", 0.5, 0.75, 2),
        ("other", "1", None, None, 1),
    ]


def test_two_flows_of_a_protocol_share_as_printed_and_as_measured(part: Part) -> None:
    # Jain's index 0.9 is that of 2 : 1; (1 - 1/3) / (1 + 1/3) = 0.5, and 1 / 0.8 - 1 = 0.25.
    of_claim = _of_claim("holds", ("jain_index, a", "p1", 0.8), ("jain_index, b", "p9", 0.8))
    number = _card("close", 0.9, id="shares", metric="jain_index", unit="1")
    found = part(number, of_claim, jain_index="jain_index").shares
    common = {"study": "mine", "protocol": "highspeed", "sender": "HS-TCP", "rtt_ratio": 2.0}
    assert list(found) == [
        {**common, "what": "printed", "ratio": 0.5, "told": "p1"},
        {**common, "what": "measured", "ratio": 0.5, "told": "p1"},
        {**common, "what": "measured", "ratio": 0.3333, "told": "p1"},
    ]
    assert part(number, of_claim).shares == []
    # Rounding may put a share beyond its ends; ratios have four digits, and those of RTTs three.
    beyond = _of_claim("holds", ("jain_index, a", "p1", 1.02), ("jain_index, b", "p1", -0.01))
    shares = part(beyond, jain_index="smallest_over_largest").shares
    assert [each["ratio"] for each in shares if each["what"] == "measured"] == [1.0, 0.0]
    thirds = _of_claim("holds", ("jain_index, a", "p3", 1 / 3), ("jain_index, b", "p4", 0.5))
    (point,) = part(thirds, jain_index="smallest_over_largest").shares[1:]
    assert (point["rtt_ratio"], point["ratio"], point["told"]) == (2.333, 0.3333, "p3")


@pytest.mark.parametrize(
    ("parameters", "rtts"),
    [
        ({}, []),
        ({"rtt_ms": 50}, [50.0]),
        ({"rtt_ms": 50, "rtt_1_ms": 20, "rtt_2_ms": 80}, [20.0, 80.0]),
        ({"rtt_ms": 50, "rtt_2_ms": 80}, [50.0, 80.0]),
        ({"rtt_2_ms": 80}, [80.0]),
        ({"rtt_1_ms": 30, "rtt_2_ms": 30, "rtt_3_ms": 30}, [30.0]),
        ({"rtt_1_ms": 10, "rtt_3_ms": 30, "rtt_5_ms": 50, "rtt_8_ms": 80}, [10.0, 30.0, 50.0]),
    ],
)
def test_the_rtts_of_a_run_are_those_of_its_flows(
    parameters: dict[str, Any], rtts: list[float]
) -> None:
    assert rtts_of(_run("a", "one", "HS", **parameters)) == rtts


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
        (("atlas.yaml", "fixed:", "shares: {jain: jain_index}\nfixed:"), r"atlas\.yaml:4.*'jain'"),
    ],
)
def test_what_no_run_shows_is_refused_with_its_file(
    part: Part, change: tuple[str, str, str], said: str
) -> None:
    with pytest.raises(BdpbenchError, match=said):
        part(change=change)


def test_an_unknown_metric_of_all_studies_is_refused(part: Part) -> None:
    with pytest.raises(BdpbenchError, match="unknown metric 'jain'"):
        part(jain="jain_index")
