"""The atlas of the real studies: all that they print and state, and its published results."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.pipeline.pages.conftest import Page
from tests.planned_runs import runs_of

from bdpbench.app.atlas import make_atlas
from bdpbench.contracts.paths import config_dir, repository_root
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.pages.atlas import Atlas, atlas_page
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


@pytest.mark.parametrize("key", study_keys())
def test_every_number_and_statement_of_a_study_is_in_it(atlas: Atlas, key: str) -> None:
    folder = config_dir() / "studies" / key
    expected = {each["id"] for each in YamlFile(folder / "claims.yaml").data}
    if (folder / "published.csv").is_file():
        with (folder / "published.csv").open(encoding="utf-8") as stream:
            expected |= {row["part_of"] or row["id"] for row in csv.DictReader(stream)}
    assert {each for each in atlas.entries if each.startswith(f"{key}/")} == {
        f"{key}/{each}" for each in expected
    }


def test_numbers_have_the_conditions_that_the_thesis_gives(atlas: Atlas) -> None:
    # Sharma (2006), Table 2 and section 3.1: 622 Mbit/s, a buffer of 20 % of the BDP, two flows.
    entry = atlas.entries["sharma2006/t2-hs-162-16"]
    path = {"622 Mbit/s", "RTT 162 ms", "RTT 16 ms of the second flow", "second flow at 50 s"}
    assert path | {"buffer 2519 packets"} <= {*entry["conditions"]}
    assert (entry["published"], entry["place"]) == (-0.964, "Table 2, p. 100")
    assert entry["protocols"] == ["highspeed"]


def test_statements_have_the_conditions_that_the_paper_gives(atlas: Atlas) -> None:
    # Ahmad et al. (2013), Table 2: two flows of one variant at 50 and 250 Mbit/s, 2 to 16 ms.
    entry = atlas.entries["ahmad2013/short-same-fair"]
    expected = {"50 and 250 Mbit/s", "RTT 2 to 16 ms", "buffer 0.01 to 2 BDP"}
    assert expected <= {*entry["conditions"]}
    assert len(entry["protocols"]) == 5


PUBLISHED = [
    repository_root() / "reports" / "published" / key / "scorecard.json" for key in study_keys()
]


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: str(path.parent.name))
def test_verdicts_are_those_that_were_published(atlas: Atlas, path: Path) -> None:
    """There are as many as the published scorecard counts, and the study still has every entry."""
    scorecard = json.loads(path.read_text())
    expected = Counter(scorecard["totals"]) + Counter(scorecard["claim_totals"])
    own = [each for each in atlas.entries.values() if each["study"] == path.parent.name]
    assert Counter(each["verdict"] for each in own) == expected
    assert atlas.sources[path.parent.name] == [f"{scorecard['tier']} tier, published"]


def test_what_comes_out_in_both_theses_is_an_agreement_of_ours(atlas: Atlas) -> None:
    """Scalable TCP keeps seven eighths at a loss: both print 0.875, and both were reproduced."""
    ((relation, standings),) = (each for each in atlas.relations if each[0].id == "scalable-cut")
    assert standings == ["shown"]
    entries = [atlas.entries[key] for key in relation.positions[0].rests_on]
    numbers = [each for each in entries if each["published"] is not None]
    measured = [least for each in numbers for _, _, least, _ in each["observed"]]
    assert measured == pytest.approx([0.875] * 3, abs=0.01)


def test_every_relation_says_where_it_was_checked(atlas: Atlas) -> None:
    assert len(atlas.relations) >= 20
    assert all(relation.why and relation.checked for relation, *_ in atlas.relations)


def test_all_of_the_atlas_is_on_its_page(atlas: Atlas) -> None:
    html = atlas_page(atlas)
    page = Page(html)
    assert page.open == []
    ids = {attributes.get("id", "") for _, attributes in page.elements}
    assert {f"entry-{each.replace('/', '-')}" for each in atlas.entries} <= ids
    assert {f"relation-{relation.id}" for relation, *_ in atlas.relations} <= ids
    links = [each["href"][1:] for each in page.all("a") if each.get("href", "").startswith("#")]
    assert [each for each in links if each not in ids] == []
    for relation, *_ in atlas.relations:
        assert relation.question in page.text
        for text in relation.checked.values():
            assert " ".join(text.split()) in page.text
    assert "src=" not in html.split("<script>")[0]


def test_more_than_two_protocols_are_refused() -> None:
    with pytest.raises(BdpbenchError, match="expected one protocol, or two"):
        make_atlas(["HS-TCP", "BIC", "CUBIC"])
    with pytest.raises(BdpbenchError, match="no study has a protocol 'CUBID'"):
        make_atlas(["CUBID"])
