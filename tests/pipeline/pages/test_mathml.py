"""Equations consist of presentation MathML and nothing else."""

from __future__ import annotations

import pytest

from bdpbench.pages.texts import checked_mathml


def test_an_equation_passes_as_it_is() -> None:
    source = "<math><mi>w</mi><mo>←</mo><mfrac><mi>w</mi><mn>2</mn></mfrac></math>"
    assert str(checked_mathml(source)) == source


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("<math><mi>w</mi>", "not well-formed"),
        ("<div>w</div>", "expected one <math>"),
        ("<math><script>alert(1)</script></math>", "<script> is not an element"),
        ("<math><mi onclick='x'>w</mi></math>", "'onclick' that is not allowed"),
        ("<math><mi href='https://example.org'>w</mi></math>", "'href' that is not allowed"),
        ("<math>w<mo>=</mo></math>", "'w' is between"),
        ("<math><mi>w</mi> = 1</math>", "'= 1' is between"),
    ],
)
def test_anything_else_is_refused(source: str, said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        checked_mathml(source)
