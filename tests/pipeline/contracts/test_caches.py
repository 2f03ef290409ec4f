"""What is cached is what would be derived; another input, damage or another root derives it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.contracts.documents import cached

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
