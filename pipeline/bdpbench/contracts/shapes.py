"""Whether a JSON document is what its type says: a file may have been cut, edited or mixed up.

The types are those of this folder: typed dictionaries of lists, mappings, numbers and texts. A
check of their own takes no library, since a simulation reads documents before it does anything.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from bdpbench.errors import BdpbenchError

Document = TypeVar("Document")

# Kind → whether a value is of it; in JSON a whole number is a float as well, but true is no number.
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
    """The data of a file, which has to be of a typed dictionary of this folder.

    Raises:
        BdpbenchError: naming the file, the first place in it that is otherwise, and what is there.
    """
    wrong = _wrong(data, kind, ())
    if wrong is not None:
        raise BdpbenchError(
            f"is damaged: {wrong}; expected {what}", where=str(path), hint="remove it and run again"
        )
    return cast("Document", data)


def _wrong(value: object, kind: Any, place: tuple[str, ...]) -> str | None:
    """What is not as it should be, the first of it; None where nothing is."""
    if kind in _PLAIN:
        return None if _PLAIN[kind](value) else _told(place, value)
    if typing.is_typeddict(kind):
        return _wrong_dictionary(value, kind, place)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        found = [_wrong(value, each, place) for each in arguments]
        return None if None in found else found[0]
    if origin is typing.Literal:
        return None if value in arguments else _told(place, value)
    if origin is list:
        return _wrong_parts(value, list, arguments[0], place)
    if origin is dict:
        return _wrong_parts(value, dict, arguments[1], place)
    raise TypeError(f"a document has no {kind}")


def _wrong_dictionary(value: object, kind: Any, place: tuple[str, ...]) -> str | None:
    if not isinstance(value, dict):
        return _told(place, value)
    for name, (part, needed) in _keys(kind).items():
        if name in value:
            wrong = _wrong(value[name], part, (*place, name))
            if wrong is not None:
                return wrong
        elif needed:
            return f"{'.'.join((*place, name))} is missing"
    return None


@functools.cache
def _keys(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Key of a typed dictionary → its kind, and whether it has to be there."""
    # Annotations are text, so that __required_keys__ does not know of NotRequired.
    found = {}
    for name, part in typing.get_type_hints(kind, include_extras=True).items():
        optional = typing.get_origin(part) is typing.NotRequired
        inner = typing.get_args(part)[0] if optional else part
        found[name] = (inner, kind.__total__ and not optional)
    return found


def _wrong_parts(
    value: object, container: type[list[object]] | type[dict[str, object]], kind: Any, place: Any
) -> str | None:
    if not isinstance(value, container):
        return _told(place, value)
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    found = (_wrong(part, kind, (*place, str(name))) for name, part in parts)
    return next((wrong for wrong in found if wrong is not None), None)


def _told(place: tuple[str, ...], value: object) -> str:
    shown = repr(value)
    shown = shown if len(shown) <= 40 else f"{shown[:40]}…"
    return f"{'.'.join(place) or 'the document'} is {shown}"
