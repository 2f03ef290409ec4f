"""Equations written by hand in MathML: checked, so that they bring nothing else into the page."""

from __future__ import annotations

from xml.etree import ElementTree

from markupsafe import Markup

# MathML Core without scripts, links and styles.
_TOKENS = frozenset({"mi", "mn", "mo", "mtext"})
_SCRIPTS = frozenset({"msub", "msup", "msubsup", "munder", "mover", "munderover"})
_LAYOUT = frozenset({"math", "mrow", "mspace", "mfrac", "msqrt", "mroot", "mtable", "mtr", "mtd"})
_ELEMENTS = _TOKENS | _SCRIPTS | _LAYOUT
_ATTRIBUTES = frozenset(
    {"display", "mathvariant", "stretchy", "fence", "separator", "lspace", "rspace", "width"}
)


def checked_mathml(source: str) -> Markup:
    """One ``<math>`` element that may be placed in a page unchanged.

    Raises:
        ValueError: when it is not well-formed, contains an element or attribute that is not
            presentation MathML, or has text outside ``mi``, ``mn``, ``mo`` and ``mtext``.
    """
    try:
        # Written by us in reports/protocols/, and entities cannot be declared inside an element.
        root = ElementTree.fromstring(source)  # noqa: S314
    except ElementTree.ParseError as error:
        raise ValueError(f"is not well-formed MathML ({error})") from None
    if root.tag != "math":
        raise ValueError(f"expected one <math> element, not <{root.tag}>")
    for element in root.iter():
        _check(element)
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704  checked above


def _check(element: ElementTree.Element) -> None:
    if element.tag not in _ELEMENTS:
        raise ValueError(f"<{element.tag}> is not an element of an equation")
    for name in element.attrib:
        if name not in _ATTRIBUTES:
            raise ValueError(f"<{element.tag}> has an attribute {name!r} that is not allowed")
    inside = [] if element.tag in _TOKENS else [element.text]
    loose = [text for text in (*inside, *(child.tail for child in element)) if text]
    if any(text.strip() for text in loose):
        raise ValueError(f"{''.join(loose).strip()!r} is between the elements of <{element.tag}>")
