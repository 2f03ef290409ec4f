"""Nothing inside <script> and <style> can end them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.pages.html import vega_bundle
from bdpbench.pages.series import embed_json
from bdpbench.pages.text import embed_text, web_address


@pytest.mark.parametrize("text", ["</script>", "<!--", "a & b", "\u2028", "</SCRIPT >", "ü"])
def test_json_is_inert_and_reads_back(text: str) -> None:
    embedded = str(embed_json({text: [text]}))
    assert not set("<>&\u2028\u2029") & set(embedded)
    assert json.loads(embedded) == {text: [text]}


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_json_refuses_what_json_does_not_have(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        embed_json([value])


@pytest.mark.parametrize("text", ["x</Script>", "a <!-- b", "</style>"])
def test_text_that_would_end_its_element_is_refused(text: str) -> None:
    with pytest.raises(BdpbenchError, match="cannot be embedded"):
        embed_text(text, "a file")


def test_only_addresses_of_the_web_are_linked() -> None:
    assert web_address("https://example.org") == "https://example.org"
    assert web_address("javascript:alert(1)") == ""


def test_vega_is_kept_as_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BDPBENCH_HOME", str(tmp_path))
    made = vega_bundle.__wrapped__()
    (kept,) = (tmp_path / "cache").iterdir()
    assert vega_bundle.__wrapped__() == made
    kept.write_bytes(kept.read_bytes()[:-1000])
    assert vega_bundle.__wrapped__() == made
    assert "window.vegaEmbed=" in made
