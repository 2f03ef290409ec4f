"""Documents: CSV that every reader takes apart as it was."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st
from tests.random_examples import examples

from bdpbench.contracts.documents import csv_of

TEXTS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"))


@examples(40)
@given(st.lists(TEXTS, min_size=1, max_size=20))
def test_texts_come_back(texts: list[str]) -> None:
    written = csv_of(["text", "number"], [{"text": text, "number": -0.5} for text in texts])
    read = list(csv.DictReader(io.StringIO(written, newline="")))
    assert [row["text"] for row in read] == texts
    assert {row["number"] for row in read} == {"-0.5"}
