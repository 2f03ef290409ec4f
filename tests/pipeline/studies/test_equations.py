"""Equations in LaTeX become MathML, and what browsers could not show is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.studies.folders import ProtocolFolder, mathml_of


def test_a_fraction_becomes_mathml() -> None:
    fraction = "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>w</mi></mrow></mfrac>"
    assert mathml_of(r"\frac{a}{w}") == f'<math display="inline"><mrow>{fraction}</mrow></math>'
    assert "<msup><mi>w</mi><mn>2</mn></msup>" in mathml_of("w^2")


@pytest.mark.parametrize(
    "latex",
    [
        *(r"\frac{a", "a}", "{", r"\foo x", "$x$", "%", "&", "a^b^c", r"\left( a", r"\text{<b>}"),
        *(r"\href{https://example.org}{y}", "{" * 5000),
    ],
)
def test_what_no_equation_is_gets_refused(latex: str) -> None:
    with pytest.raises(ValueError, match=r"LaTeX|MathML|not known|parts|a link"):
        mathml_of(latex)


def test_the_line_of_an_equation_is_told(tmp_path: Path) -> None:
    (tmp_path / "protocol.yaml").write_text(
        "key: X\nlabel: X\ncolour: '#000000'\nname: X\nsummary: x\nequations:\n"
        "  - {when: now, text: a/b, source: here,\n     latex: '\\frac{a'}\n"
    )
    with pytest.raises(BdpbenchError, match=r"protocol\.yaml:8: equations.0.latex: <mfrac> has 1"):
        _ = ProtocolFolder(tmp_path).file
