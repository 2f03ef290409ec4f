"""Documents: caches, and CSV whose texts no spreadsheet evaluates."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.random_examples import examples

from bdpbench.contracts.documents import cached, cell, csv_of, csv_of_frame

# ---------------------------------------------------------------- caches

Ask = Callable[..., list[str]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home of bdpbench."""
    monkeypatch.setenv("BDPBENCH_HOME", str(tmp_path))
    monkeypatch.delenv("BDPBENCH_ROOT", raising=False)
    return tmp_path


@pytest.fixture
def derived() -> list[tuple[bytes, ...]]:
    """The inputs of all derivations so far."""
    return []


@pytest.fixture
def ask(home: Path, derived: list[tuple[bytes, ...]]) -> Ask:
    """Ask for the document of some inputs."""

    def ask(*inputs: bytes) -> list[str]:
        def derive() -> list[str]:
            derived.append(inputs)
            return ["é \udcff", *(each.decode() for each in inputs)]

        return cached("words", inputs, derive)

    return ask


def test_equal_inputs_derive_once(ask: Ask, derived: list[tuple[bytes, ...]], home: Path) -> None:
    assert ask(b"a", b"b") == ask(b"a", b"b") == ["é \udcff", "a", "b"]
    assert derived == [(b"a", b"b")]
    assert [path.name for path in (home / "cache").iterdir()] == ["words.json"]


def test_other_inputs_derive_another_document(ask: Ask, derived: list[tuple[bytes, ...]]) -> None:
    assert ask(b"a", b"b") != ask(b"ab")  # the same bytes one after the other
    assert ask(b"ab", b"") != ask(b"ab")
    assert len(derived) == 4  # the last but one has displaced the second


@pytest.mark.parametrize(
    "damage", [lambda text: text.replace('"a"', '"c"'), lambda text: text[:-2], lambda _: "", None]
)
def test_a_damaged_file_is_derived_again(
    ask: Ask, home: Path, damage: Callable[[str], str] | None
) -> None:
    wanted, path = ask(b"a"), home / "cache" / "words.json"
    path.write_bytes(b"\xff" if damage is None else damage(path.read_text()).encode())
    assert ask(b"a") == wanted
    assert ask(b"a") == wanted


def test_where_nothing_can_be_written_it_is_derived(ask: Ask, home: Path) -> None:
    (home / "cache").write_text("no folder")
    assert ask(b"a") == ask(b"a") == ["é \udcff", "a"]


def test_with_another_root_nothing_is_cached(
    ask: Ask, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BDPBENCH_ROOT", str(home))
    assert ask(b"a") == ["é \udcff", "a"]
    assert list(home.iterdir()) == []


# ---------------------------------------------------------------- CSV

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
