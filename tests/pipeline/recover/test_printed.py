"""Printed scripts are found by their headings, and a text that is no thesis is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.recover import (
    Originals,
    PrintedScript,
    Vocabulary,
    find_scripts,
    read_document,
    repair_script,
)

Text = Callable[..., str]


@pytest.fixture
def thesis(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "thesis.txt"
        path.write_text(text)
        return path

    return write


def _found(path: Path, originals: Originals) -> list[PrintedScript]:
    return find_scripts(read_document(path, originals.document), originals)


def test_the_eight_listings_are_found(
    thesis: Callable[[str], Path], thesis_text: Text, originals: Originals
) -> None:
    found = _found(thesis(thesis_text()), originals)
    assert "".join(each.key for each in found) == "ABCDEFGH"
    # Five lines of contents come first; heading, title and fence precede the script.
    assert found[0].lines[0].number == 11
    assert found[0].lines[0].text == "# Two nodes"
    assert not any("REFERENCES" in line.text for line in found[-1].lines)


@pytest.mark.parametrize(
    "heading", ["APPENDIX A", "  Appendix A.", "## Appendix A", "\fAppendix A"]
)
def test_headings_may_be_set_otherwise(
    thesis: Callable[[str], Path], thesis_text: Text, originals: Originals, heading: str
) -> None:
    text = thesis_text().replace("\nAppendix A\n", f"\n{heading}\n")
    assert len(_found(thesis(text), originals)) == 8


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: "A text about nothing.\n", "has no appendices"),
        (lambda text: "", "has no appendices"),
        (lambda text: text.replace("Appendix D\n", "Annex D\n"), "lacks Appendix D: it has"),
        (lambda text: text[: text.index("Appendix F")], "lacks Appendices F, G, H"),
        (lambda text: text[: text.index("Appendix H") + 12], "no Tcl script follows"),
    ],
)
def test_what_is_no_thesis_is_refused(
    thesis: Callable[[str], Path],
    thesis_text: Text,
    originals: Originals,
    change: Callable[[str], str],
    said: str,
) -> None:
    with pytest.raises(BdpbenchError, match=re.escape(said)) as caught:
        _found(thesis(change(thesis_text())), originals)
    assert "thesis.txt" in str(caught.value)


def test_a_script_that_is_cut_is_refused(
    thesis: Callable[[str], Path], thesis_text: Text, originals: Originals
) -> None:
    text = thesis_text(H=["# Two nodes", "set ns [new Simulator]", "$ns run"])
    cut = text[: text.rindex("$ns run")]
    script = _found(thesis(cut), originals)[-1]
    with pytest.raises(
        BdpbenchError, match=r"Appendix H, line \d+: the script is truncated"
    ) as caught:
        repair_script(script, originals, frozenset(), Vocabulary())
    assert "set ns [new Simulator]" in str(caught.value)
