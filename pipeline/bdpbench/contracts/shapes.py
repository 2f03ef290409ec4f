"""Whether a JSON document matches its type: a file may have been truncated, edited or mixed up.

The types are those of this folder: typed dictionaries of lists, mappings, numbers and texts. A
check of our own needs no library, whose import would delay the start of every simulation.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from bdpbench.errors import BdpbenchError

Document = TypeVar("Document")

# Kind → whether a value is of it; a whole number in JSON is also a float, but true is no number.
_PLAIN: Mapping[object, Callable[[object], bool]] = types.MappingProxyType(
    {
        Any: lambda value: True,
        object: lambda value: True,
        str: lambda value: isinstance(value, str),
        bool: lambda value: isinstance(value, bool),
        int: lambda value: isinstance(value, int) and not isinstance(value, bool),
        float: lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
        types.NoneType: lambda value: value is None,
    }
)


def shaped(data: object, kind: type[Document], path: Path, what: str) -> Document:
    """The data of a file, checked against a typed dictionary of this folder.

    Raises:
        BdpbenchError: naming the file, the first place that does not match, and what is there.
    """
    wrong = _check(cast("Any", kind))(data)
    if wrong is not None:
        raise BdpbenchError(
            f"is damaged: {_told(wrong)}; expected {what}",
            where=str(path),
            hint="remove it and run again",
        )
    return cast("Document", data)


class _Wrong:
    """The first value that does not match, and its place, from the inside outwards."""

    def __init__(self, value: object, *place: str, missing: bool = False) -> None:
        self.value, self.place, self.missing = value, list(place), missing

    def inside(self, name: str) -> _Wrong:
        """The same mismatch, seen from one level further out."""
        self.place.append(name)
        return self


_Check = Callable[[object], _Wrong | None]


@functools.cache
def _check(kind: Any) -> _Check:
    """The function that checks a type; cached, since there are thousands of documents."""
    if kind in _PLAIN:
        is_plain = _PLAIN[kind]
        return lambda value: None if is_plain(value) else _Wrong(value)
    if typing.is_typeddict(kind):
        return _dictionary_check(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _union_check([_check(each) for each in arguments])
    if origin is typing.Literal:
        return lambda value: None if value in arguments else _Wrong(value)
    if origin is list:
        return _list_check(_check(arguments[0]))
    if origin is dict:
        return _mapping_check(_check(arguments[1]))
    raise TypeError(f"a document has no {kind}")


def _dictionary_check(kind: Any) -> _Check:
    parts = [(name, _check(part), needed) for name, (part, needed) in _keys(kind).items()]

    def check(value: object) -> _Wrong | None:
        if not isinstance(value, dict):
            return _Wrong(value)
        for name, of_part, needed in parts:
            if name in value:
                wrong = of_part(value[name])
                if wrong is not None:
                    return wrong.inside(name)
            elif needed:
                return _Wrong(None, name, missing=True)
        return None

    return check


@functools.cache
def _keys(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Key of a typed dictionary → its kind, and whether it is required."""
    # Annotations are text here, so __required_keys__ does not take NotRequired into account.
    found = {}
    for name, part in typing.get_type_hints(kind, include_extras=True).items():
        optional = typing.get_origin(part) is typing.NotRequired
        inner = typing.get_args(part)[0] if optional else part
        found[name] = (inner, kind.__total__ and not optional)
    return found


def _union_check(checks: Sequence[_Check]) -> _Check:
    def check(value: object) -> _Wrong | None:
        first = None
        for each in checks:
            wrong = each(value)
            if wrong is None:
                return None
            first = first or wrong
        return first

    return check


def _list_check(of_part: _Check) -> _Check:
    def check(value: object) -> _Wrong | None:
        if not isinstance(value, list):
            return _Wrong(value)
        for index, part in enumerate(value):
            wrong = of_part(part)
            if wrong is not None:
                return wrong.inside(str(index))
        return None

    return check


def _mapping_check(of_part: _Check) -> _Check:
    def check(value: object) -> _Wrong | None:
        if not isinstance(value, dict):
            return _Wrong(value)
        for name, part in value.items():
            wrong = of_part(part)
            if wrong is not None:
                return wrong.inside(str(name))
        return None

    return check


def _told(wrong: _Wrong) -> str:
    place = ".".join(reversed(wrong.place))
    if wrong.missing:
        return f"{place} is missing"
    shown = repr(wrong.value)
    shown = shown if len(shown) <= 40 else f"{shown[:40]}…"
    return f"{place or 'the document'} is {shown}"
