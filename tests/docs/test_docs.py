"""The documentation is up to date, its links lead somewhere, and its examples are accepted."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from docs.generate import references

from bdpbench.app.planning import Wanted, prepare
from bdpbench.contracts.paths import repository_root
from bdpbench.score import load_claims
from bdpbench.score.causes import load_causes
from bdpbench.score.published import COLUMNS
from bdpbench.score.spreads import load_spreads

DOCS = repository_root() / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
READMES = [repository_root() / name for name in ("README.md", "CONTRIBUTING.md")]


def test_references_are_what_the_code_says() -> None:
    """`docs/generate.py` writes them."""
    found = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "reference").iterdir()}
    assert found == references()


def test_links_lead_to_files() -> None:
    gone = [
        (path.name, target)
        for path in (*PAGES, *READMES)
        for target in re.findall(
            r"\]\(([^)\s]+)\)",
            re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL),
        )
        if not re.match(r"https?:|mailto:|#", target)
        if not (path.parent / target.split("#")[0]).exists()
    ]
    assert gone == []


def test_every_page_is_in_the_contents_of_the_site() -> None:
    text = (repository_root() / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"([\w/-]+\.md)", text))
    assert named == {path.relative_to(DOCS).as_posix() for path in PAGES}


def test_the_readme_is_short() -> None:
    words = (repository_root() / "README.md").read_text(encoding="utf-8").split()
    assert len(words) <= 700


def _blocks(name: str, kind: str) -> list[str]:
    text = (DOCS / name).read_text(encoding="utf-8")
    return re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)


def test_the_study_of_the_tutorial_is_planned_with_what_it_suggests(tmp_path: Path) -> None:
    (block,) = _blocks("tutorial.md", "yaml")
    study = yaml.safe_load(block)
    assert _runs(tmp_path / "first" / "mystudy", study) == 2 * 3
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    (queues,) = re.findall(r"`(queues: [^`]+)`", text)
    study |= yaml.safe_load(queues)
    sweep = study["scenarios"]["buffers"]["sweep"]
    for added in re.findall(r"`((?:queue|substream): \[[^`]+)`", text):
        sweep |= yaml.safe_load(added)
    (flows,) = re.findall(r"`(flows: \[\{count[^`]+)`", text)
    study["scenarios"]["buffers"] |= yaml.safe_load(flows)
    (loss,) = re.findall(r"`(loss_rate: [^`]+)`", text)
    study["scenarios"]["buffers"]["parameters"] = yaml.safe_load(loss)
    assert _runs(tmp_path / "second" / "mystudy", study) == 2 * 3 * 2 * 3


def _runs(folder: Path, study: dict[str, object]) -> int:
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text(yaml.safe_dump(study))
    results = folder.parent / "results"
    prepared = prepare(Wanted(str(folder), "quick", results=results, build_id="0" * 16))
    return len(prepared.runs)


def test_the_columns_and_the_claim_of_the_guide_are_those_of_the_contract(tmp_path: Path) -> None:
    text = (DOCS / "publications.md").read_text(encoding="utf-8")
    told = re.findall(
        r"^\| ((?:`\w+`(?:, )?)+) \|", text.split("## How a definition")[0], re.MULTILINE
    )
    assert re.findall(r"\w+", " ".join(told)) == list(COLUMNS)
    claim, causes, _, spread = _blocks("publications.md", "yml")
    (tmp_path / "claims.yaml").write_text(claim)
    (read,) = load_claims(tmp_path / "claims.yaml", {"mean_queue"})
    assert read.text.found == "chosen before"
    (tmp_path / "causes.yaml").write_text(causes)
    (cause,) = load_causes(tmp_path / "causes.yaml", [read.text.id], {"mean_queue"})
    assert cause.shown == [read.questions[1][1]]
    (tmp_path / "spread.yaml").write_text(spread)
    ids, metrics = ["t2-hs", "time-after-drop"], {"asymmetry_from_flow2_start": None}
    found = load_spreads(tmp_path / "spread.yaml", ids, metrics, ["hs-is-the-fairest"])
    assert [entry.most for entry in found] == [None, None, None, 19.6]
