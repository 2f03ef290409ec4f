"""A study has its own originals.yaml: other headings, other names, no helper script."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdpbench.app.recovering import originals_path, recover_scripts
from bdpbench.errors import BdpbenchError
from bdpbench.recover import load_originals

OTHER = """\
schema_version: 1
document: paper
citation: a paper of our own
heading: Listing
headings: Listings
scripts: {1: first.tcl, 2: second.tcl}
output_files: [drops.out]
"""
PAPER = """\
Listing 1 is about one thing.
Listing 1
# One node
set ns [new Simulator]
puts drop.out
$ns run
Listing 2
# Two nodes
set ns [new Simulator]
$ns run
References
"""


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """The folder of a study that prints two scripts."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "originals.yaml").write_text(OTHER.replace("{1:", "{'1':").replace(" 2:", " '2':"))
    (tmp_path / "paper.txt").write_text(PAPER)
    return folder


def test_another_study_is_recovered_by_its_own_names(other: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first, second = recover_scripts(tmp_path / "paper.txt", out, str(other))
    assert (first.title, second.title) == ("Listing 1", "Listing 2")
    assert {path.name for path in out.glob("*.tcl")} == {"first.tcl", "second.tcl"}
    assert (out / "first.tcl").read_text().splitlines()[2] == "puts drops.out"
    assert first.repairs[0].why.startswith("the listings write drops.out")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("Listing 2", "Part 2"), "lacks Listing 2: it has Listing 1"),
        (("Listing", "Part"), "has no listings: expected lines 'Listing 1' to 'Listing 2'"),
        (("puts", "putz"), "Listing 1, line 5: 'putz' is no command of Tcl, ns-2 or this script"),
    ],
)
def test_errors_speak_of_that_study(
    other: Path, tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    (tmp_path / "paper.txt").write_text(PAPER.replace(*change))
    with pytest.raises(BdpbenchError) as caught:
        recover_scripts(tmp_path / "paper.txt", tmp_path / "out", str(other))
    assert said in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("heading:", "headding:", "originals.yaml:4: headding: unknown key"),
        ("second.tcl", "first.tcl", "first.tcl is the name of Listing 1 already"),
        ("'2':", "B2:", "originals.yaml:6: scripts.B2"),
        ("document: paper", "document: ''", "originals.yaml:2: document"),
    ],
)
def test_a_slip_names_file_and_line(other: Path, old: str, new: str, said: str) -> None:
    path = other / "originals.yaml"
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(BdpbenchError) as caught:
        load_originals(path)
    assert said in str(caught.value)


def test_the_study_is_chosen_or_the_only_one(
    other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BDPBENCH_CONFIG", str(tmp_path / "config"))
    with pytest.raises(BdpbenchError, match="no study has printed scripts"):
        originals_path(None)
    studies = tmp_path / "config" / "studies"
    for key in ("mine", "yours"):
        (studies / key).mkdir(parents=True)
    (studies / "mine" / "originals.yaml").write_text((other / "originals.yaml").read_text())
    assert originals_path(None) == studies / "mine" / "originals.yaml"
    (studies / "yours" / "originals.yaml").write_text((other / "originals.yaml").read_text())
    with pytest.raises(BdpbenchError, match=r"several studies have printed scripts\n.*mine, yours"):
        originals_path(None)
    assert originals_path("yours") == studies / "yours" / "originals.yaml"
    with pytest.raises(BdpbenchError, match="did you mean 'yours'"):
        originals_path("yurs")
