"""Equations of protocols and queues: plain characters for every reader, MathML for browsers."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator

from bdpbench.contracts.yaml_files import Strict

if TYPE_CHECKING:
    from xml.etree import ElementTree

Text = Annotated[str, Field(min_length=1)]

# MathML Core without scripts, links and styles.
_TOKENS = frozenset({"mi", "mn", "mo", "mtext"})
_SCRIPTS = frozenset({"msub", "msup", "msubsup", "munder", "mover", "munderover"})
_LAYOUT = frozenset({"math", "mrow", "mspace", "mfrac", "msqrt", "mroot", "mtable", "mtr", "mtd"})
_ELEMENTS = _TOKENS | _SCRIPTS | _LAYOUT

_ATTRIBUTES = frozenset(
    {
        *("display", "mathvariant", "stretchy", "fence", "separator", "lspace", "rspace", "width"),
        *("form", "minsize", "maxsize", "accent", "accentunder", "linethickness", "movablelimits"),
        "columnalign",
    }
)

_CHILDREN = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2}


class Equation(Strict):
    """One rule of the congestion window, or of a queue.

    Attributes:
        when: the event that it reacts to, e.g. "per ACK, above the low window".
        text: the equation in plain characters.
        latex: the equation in LaTeX, which browsers show in the place of the text.
        source: where it is printed.
        note: any further remark.
    """

    when: Text
    text: Text
    latex: str = ""
    source: Text
    note: str = ""

    @field_validator("latex")
    @classmethod
    def _is_latex(cls, value: str) -> str:
        if value:
            mathml_of(value)
        return value

    @property
    def markup(self) -> str:
        """MathML to insert into the page; "" if there is only the text."""
        return mathml_of(self.latex) if self.latex else ""


@cache
def mathml_of(latex: str) -> str:
    """MathML of an equation in LaTeX.

    Raises:
        ValueError: naming what is not LaTeX, or not known here.
    """
    from latex2mathml.converter import convert  # takes 0.1 s

    try:
        mathml = convert(latex)
    except Exception as error:  # it has a dozen classes without a common one
        raise ValueError(f"is not LaTeX ({type(error).__name__})") from None
    return checked_mathml(mathml.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "", 1))


def checked_mathml(source: str) -> str:
    """One ``<math>`` element that may be placed in a page unchanged.

    Raises:
        ValueError: when it is not well-formed, contains an element or attribute that is not
            presentation MathML, or has text outside ``mi``, ``mn``, ``mo`` and ``mtext``.
    """
    from xml.etree import ElementTree

    try:
        # Entities cannot be declared inside an element.
        root = ElementTree.fromstring(source)  # noqa: S314
    except ElementTree.ParseError as error:
        raise ValueError(f"is not well-formed MathML ({error})") from None
    if root.tag != "math":
        raise ValueError(f"expected one <math> element, not <{root.tag}>")
    for element in root.iter():
        _check(element)
    return ElementTree.tostring(root, encoding="unicode")


def _check(element: ElementTree.Element) -> None:
    if element.tag not in _ELEMENTS:
        raise ValueError(f"<{element.tag}> is not an element of an equation")
    for name in element.attrib:
        if name not in _ATTRIBUTES:
            raise ValueError(f"<{element.tag}> has an attribute {name!r} that is not allowed")
    if len(element) != _CHILDREN.get(element.tag, len(element)):
        raise ValueError(f"<{element.tag}> has {len(element)} parts: a brace may be missing")
    inside = [] if element.tag in _TOKENS else [element.text]
    loose = [text for text in (*inside, *(child.tail for child in element)) if text]
    if any(text.strip() for text in loose):
        raise ValueError(f"{''.join(loose).strip()!r} is between the elements of <{element.tag}>")
    if element.tag == "mi" and (element.text or "").startswith(("\\", "}", "$")):
        raise ValueError(f"{element.text!r} is not known, or has no partner")
