"""Documents: CSV whose texts no spreadsheet evaluates."""

from __future__ import annotations

import csv
import io
import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.random_examples import examples

from bdpbench.contracts.documents import cell, csv_of, csv_of_frame

# OWASP, "CSV Injection": characters that make a spreadsheet treat a cell as a formula.
BEGINNINGS = "=+-@\t\r"
FORMULAS = ["=1+1", "+11 s", "-", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "=cmd|'/C calc'!A0"]
OTHERS = ["", "Reno", "'s", "1=2", "–", "5", "-5", "+1.5e-3", " =1", "link:0-1"]
TEXTS = st.one_of(
    st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0")),
    st.builds(lambda *parts: "".join(parts), st.sampled_from(["", "'", "''"]),
              st.sampled_from(list(BEGINNINGS)), st.text("=+-@'1.e x", max_size=5)),
)  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_would_be_computed_gets_an_apostrophe(text: str) -> None:
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("text", OTHERS)
def test_other_texts_and_numbers_stay(text: str) -> None:
    assert cell(text) == text
    assert cell(-1.5) == -1.5


@examples(40)
@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_texts_come_back_from_both_writers(texts: list[str]) -> None:
    rows = [{"text": text, "number": -0.5} for text in texts]
    written = csv_of(["text", "number"], rows)
    read = list(csv.DictReader(io.StringIO(written, newline="")))
    assert [_restored(row["text"]) for row in read] == texts
    for row in read:
        # A leading apostrophe keeps a spreadsheet from computing, so nothing else may come first.
        assert row["text"][:1] not in BEGINNINGS or _is_number(row["text"]) or row["text"] == ""
        assert row["number"] == "-0.5"
    frame = csv.DictReader(io.StringIO(csv_of_frame(pl.DataFrame(rows)).decode(), newline=""))
    assert [_restored(row["text"]) for row in frame] == texts


def _restored(text: str) -> str:
    """A cell without the apostrophe that keeps a spreadsheet from computing."""
    return text[1:] if re.search(r"^'+[=+\-@\t\r]", text) else text


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[+-]?[0-9]*\.?[0-9]*([eE][+-]?[0-9]+)?", text))
