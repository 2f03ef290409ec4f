"""`bdpbench atlas` with two small studies: what it joins, refuses and computes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.data_of import yaml_of
from tests.pipeline.pages.conftest import Page

from bdpbench.app.atlas import make_atlas, write_atlas
from bdpbench.contracts.paths import repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.pages.atlas import atlas_page
from bdpbench.studies.atlas import load_declared

DATA = repository_root() / "tests" / "data"

ATLAS = DATA / "atlas"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration with two studies; the results of one contain a kept scorecard."""
    folder = tmp_path / "config"
    for key in ("dumbbell", "transfer"):
        shutil.copytree(DATA / key, folder / "studies" / key)
        shutil.copy(ATLAS / f"{key}.yaml", folder / "studies" / key / "atlas.yaml")
    shutil.copy(ATLAS / "atlas.yaml", folder)
    shutil.copy(repository_root() / "config" / "config.yaml", folder)
    kept = tmp_path / "results" / "dumbbell" / "quick"
    kept.mkdir(parents=True)
    shutil.copy(DATA / "kept" / "scorecard.json", kept)
    monkeypatch.setenv("BDPBENCH_CONFIG", str(folder))
    monkeypatch.setenv("BDPBENCH_RESULTS", str(tmp_path / "results"))
    return folder


def _edit(path: Path, right: str, wrong: str) -> None:
    """Replace a text of a file that occurs once in it."""
    text = path.read_text()
    assert text.count(right) == 1
    path.write_text(text.replace(right, wrong))


def test_an_entry_has_its_study_s_conditions_and_the_verdict_of_a_scorecard(config: Path) -> None:
    entry = make_atlas().entries["dumbbell/reno-rate"]
    assert entry["verdict"] == "reproduced"
    assert entry["source"] == "quick tier, run on this machine"
    # From the kept scorecard, which an older bdpbench simulated: 5.08 Mbit/s for a printed 5.
    assert entry["published"] == 5.0
    assert entry["observed"] == [("", "Mbit/s", 5.08, 5.08)]
    # By hand from study.yaml: 5 Mbit/s, 2 · (38 + 1 + 1) ms, and 50 packets for a BDP of 50.
    assert {"5 Mbit/s", "RTT 80 ms", "buffer 50 packets"} <= {*entry["conditions"]}


@pytest.mark.parametrize("word", ["standard", "Standard TCP", "reno"])
def test_a_protocol_goes_by_all_of_its_names(config: Path, word: str) -> None:
    assert make_atlas([word]).asked == ["standard"]


def test_a_study_outside_the_configuration_joins(config: Path, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere" / "transfer2"
    shutil.move(config / "studies" / "transfer", outside)
    _edit(outside / "study.yaml", "key: transfer", "key: transfer2")
    _edit(config / "atlas.yaml", "transfer/more", "transfer2/more")
    _edit(config / "atlas.yaml", "transfer: ", "transfer2: ")
    with pytest.raises(BdpbenchError, match="unknown study 'transfer2'"):
        make_atlas()
    assert make_atlas(studies=[outside]).entries["transfer2/time-1000"]["published"] == 1.2


def test_a_study_may_bring_topics_and_relations_of_its_own(config: Path) -> None:
    head, relations = (config / "atlas.yaml").read_text().split("relations:\n")
    (config / "atlas.yaml").write_text(head)
    own = config / "studies" / "transfer" / "atlas.yaml"
    more = "topics:\n  mine: {title: Mine, question: What?}\nrelations:\n"
    own.write_text(own.read_text() + more + relations.replace("utilization", "mine"))
    ((relation, *_),) = make_atlas().relations
    assert relation.topic == "mine"


@pytest.mark.parametrize(
    "slip",
    yaml_of((ATLAS / "wrong.yaml").read_text()),
    ids=lambda each: each["message"],
)
def test_what_no_study_has_is_refused_with_its_line(config: Path, slip: dict[str, str]) -> None:
    name = "atlas.yaml" if slip["file"] == "atlas" else f"studies/{slip['file']}/atlas.yaml"
    _edit(config / name, slip["right"], slip["wrong"])
    with pytest.raises(BdpbenchError) as caught:
        make_atlas()
    assert slip["message"] in caught.value.message
    where, _, number = caught.value.where.rpartition(":")
    assert slip["line"] in Path(where).read_text().splitlines()[int(number) - 1]


def test_a_protocol_that_no_study_has_is_refused_with_the_names_of_all(config: Path) -> None:
    with pytest.raises(BdpbenchError, match="no study has a protocol 'Vega'") as caught:
        make_atlas(["Vega"])
    assert caught.value.hint == "known: Standard TCP, TCP Vegas"


def test_a_folder_without_its_file_does_not_join(config: Path, tmp_path: Path) -> None:
    outside = tmp_path / "other"
    shutil.copytree(DATA / "dumbbell", outside)
    _edit(outside / "study.yaml", "key: dumbbell", "key: other")
    with pytest.raises(BdpbenchError, match=r"the study has no atlas\.yaml"):
        load_declared([outside])


def test_the_page_is_named_after_what_was_asked_for(config: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.html"
    assert list(write_atlas([], out, ()))[-1] == f"atlas: {out}"
    assert out.read_text() == atlas_page(make_atlas())
    *_, told = write_atlas(["Reno"], None, ())
    path = tmp_path / "results" / "atlas-standard.html"
    assert told == f"atlas: {path}"
    assert "It takes its time." in path.read_text()


def test_a_page_of_two_protocols_tells_what_is_about_both(config: Path) -> None:
    # Another run of the dumbbell, one that contains both of its protocols.
    claim = """\
- id: both-alike
  where: by hand
  found: chosen before
  statement: Reno and Vegas are alike.
  kind: spread
  items:
    - {scenario: shared, select: {protocol: Reno}, metric: max_throughput}
    - {scenario: shared, select: {protocol: Vegas}, metric: max_throughput}
  op: "<"
  limit: 1
"""
    (config / "studies" / "dumbbell" / "claims.yaml").write_text(claim)
    atlas = make_atlas(["Vegas", "Reno"])
    assert atlas.entries["dumbbell/both-alike"]["protocols"] == ["standard", "vegas"]
    page = Page(atlas_page(atlas))
    assert page.open == []
    ids = [each["id"] for each in page.all("tr") if each.get("id", "").startswith("entry-dumb")]
    assert ids.index("entry-dumbbell-both-alike") < ids.index("entry-dumbbell-vegas-absent")
    assert "TCP Vegas and Standard TCP: what studies say" in page.text


def test_what_files_say_is_text_on_the_page(config: Path) -> None:
    hostile = "<script>alert(1)</script>"
    path = config / "atlas.yaml"
    path.write_text(path.read_text().replace("They ask for different things.", f"'{hostile}'"))
    page = Page(atlas_page(make_atlas()))
    assert page.open == []
    assert hostile in page.text
