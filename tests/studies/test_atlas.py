"""The atlas of the real studies: all that they print and state, and its published results."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.pages.conftest import Page
from tests.planned_runs import runs_of

from bdpbench.app.atlas import make_atlas
from bdpbench.contracts.paths import config_dir, repository_root
from bdpbench.contracts.scorecard import Atlas
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.pages.atlas import atlas_page
from bdpbench.score import atlas_entries
from bdpbench.studies.load import study_keys


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    """The atlas of all protocols, using only published verdicts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BDPBENCH_RESULTS", str(tmp_path_factory.mktemp("results")))
        # Other tests of all studies plan the same thousands of runs, so share them.
        patch.setattr(atlas_entries, "expand_tier", lambda study, tier, _: runs_of(study.key, tier))
        yield make_atlas()


def _by_key(atlas: Atlas) -> dict[str, Any]:
    return {each["key"]: each for each in atlas["entries"]}


@pytest.mark.parametrize("key", study_keys())
def test_every_number_and_statement_of_a_study_is_in_it(atlas: Atlas, key: str) -> None:
    folder = config_dir() / "studies" / key
    expected = {each["id"] for each in YamlFile(folder / "claims.yaml").data}
    if (folder / "published.csv").is_file():
        with (folder / "published.csv").open(encoding="utf-8") as stream:
            expected |= {row["part_of"] or row["id"] for row in csv.DictReader(stream)}
    assert {each["id"] for each in atlas["entries"] if each["study"] == key} == expected


def test_numbers_have_the_conditions_that_the_thesis_gives(atlas: Atlas) -> None:
    # Sharma (2006), Table 2 and section 3.1: 622 Mbit/s, a buffer of 20 % of the BDP, two flows.
    entry = _by_key(atlas)["sharma2006/t2-hs-162-16"]
    conditions = entry["conditions"]
    assert conditions["bottleneck_mbps"] == [622.0]
    assert conditions["rtts_ms"] == [[162.0, 16.0]]
    assert conditions["buffer_bdp"] == [0.2]
    assert conditions["flows"] == [2]
    assert conditions["other"] == ["second flow at 50 s"]
    assert (entry["published"], entry["where"], entry["page"]) == (-0.964, "Table 2", "100")
    assert entry["protocols"] == ["highspeed"]


def test_statements_have_the_conditions_that_the_paper_gives(atlas: Atlas) -> None:
    # Ahmad et al. (2013), Table 2: two flows of one variant at 50 and 250 Mbit/s, 2 to 16 ms.
    entry = _by_key(atlas)["ahmad2013/short-same-fair"]
    assert entry["conditions"]["bottleneck_mbps"] == [50.0, 250.0]
    assert entry["conditions"]["rtts_ms"] == [[2.0], [6.0], [10.0], [16.0]]
    assert (entry["conditions"]["buffer_bdp"][0], entry["conditions"]["buffer_bdp"][-1]) == (
        0.01,
        2,
    )
    assert entry["implementations"] == ["Linux module"]
    assert len(entry["protocols"]) == 5


def test_laws_and_modules_are_implementations_of_one_protocol(atlas: Atlas) -> None:
    (bic,) = (each for each in atlas["protocols"] if each["key"] == "bic")
    kinds = {(each["study"], each["implementation"]) for each in bic["senders"]}
    assert kinds == {
        ("sharma2006", "window law"),
        ("even2007", "window law"),
        ("even2007", "Linux module"),
        ("ahmad2013", "Linux module"),
    }


PUBLISHED = [
    repository_root() / "reports" / "published" / key / "scorecard.json" for key in study_keys()
]


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: str(path.parent.name))
def test_verdicts_are_those_that_were_published(atlas: Atlas, path: Path) -> None:
    """There are as many as the published scorecard counts, and the study still has every entry."""
    scorecard = json.loads(path.read_text())
    expected = Counter(scorecard["totals"]) + Counter(scorecard["claim_totals"])
    own = [each for each in atlas["entries"] if each["study"] == path.parent.name]
    assert Counter(each["verdict"] for each in own) == expected
    (study,) = (each for each in atlas["studies"] if each["key"] == path.parent.name)
    assert (study["gone"], study["sources"]) == (0, [f"{scorecard['tier']} tier, published"])


def test_shares_of_a_table_are_in_the_unit_of_all(atlas: Atlas) -> None:
    # Sharma (2006), Table 2: HS-TCP's asymmetry at 162:82 is -0.727, so the slower flow has
    # (1 - 0.727) / (1 + 0.727) = 0.158 of the faster one's rate; 162 / 82 = 1.976.
    points = [
        (each["rtt_ratio"], each["ratio"])
        for each in atlas["shares"]
        if each["what"] == "printed" and each["protocol"] == "highspeed"
    ]
    assert (1.976, 0.1581) in points
    assert len(points) == 7


def test_what_comes_out_in_both_theses_is_an_agreement_of_ours(atlas: Atlas) -> None:
    """Scalable TCP keeps seven eighths at a loss: both print 0.875, and both were reproduced."""
    (relation,) = (each for each in atlas["relations"] if each["id"] == "scalable-cut")
    assert relation["ours"] == "agree"
    entries = _by_key(atlas)
    measured = [
        span["least"]
        for key in relation["positions"][0]["entries"]
        for span in entries[key]["observed"]
        if entries[key]["kind"] == "number"
    ]
    assert measured == pytest.approx([0.875] * 3, abs=0.01)


def test_every_relation_speaks_of_two_studies_and_says_why(atlas: Atlas) -> None:
    assert len(atlas["relations"]) >= 20
    for each in atlas["relations"]:
        studies = {study for position in each["positions"] for study in position["studies"]}
        assert len(studies) >= 2, each["id"]
        assert each["why"]
        assert set(each["checked"]) == studies, each["id"]


def test_all_of_the_atlas_is_on_its_page(atlas: Atlas) -> None:
    html = atlas_page(atlas)
    page = Page(html)
    assert page.open == []
    ids = {attributes.get("id", "") for _, attributes in page.elements}
    assert {f"entry-{each['study']}-{each['id']}" for each in atlas["entries"]} <= ids
    assert {f"relation-{each['id']}" for each in atlas["relations"]} <= ids
    links = [each["href"][1:] for each in page.all("a") if each.get("href", "").startswith("#")]
    assert [each for each in links if each not in ids] == []
    for each in atlas["relations"]:
        assert each["question"] in page.text
        for text in each["checked"].values():
            assert " ".join(text.split()) in page.text
    assert "src=" not in html.split("<script>")[0]


def test_more_than_two_protocols_are_refused() -> None:
    with pytest.raises(BdpbenchError, match="expected one protocol, or two"):
        make_atlas(["HS-TCP", "BIC", "CUBIC"])
    with pytest.raises(BdpbenchError, match="no study has a protocol 'CUBID'"):
        make_atlas(["CUBID"])
