"""JSON and CSV documents: written atomically, and checked against their types when they are read.

The types are those of this folder: typed dictionaries of lists, mappings, numbers and texts. A
check of our own needs no library, whose import would delay the start of every simulation.

A spreadsheet evaluates every cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage
return, so that a text from a study could run commands. In CSV such a text gets a leading
apostrophe, which spreadsheets do not show; a text that begins with apostrophes followed by one of
these characters gets one more, so that every text can be restored. Numbers, and texts that are
numbers, stay as they are.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bdpbench.contracts.files import disk_error, write_bytes_atomically
from bdpbench.contracts.kept import keep, read_kept
from bdpbench.contracts.paths import home_dir
from bdpbench.errors import CONTROL_CHARACTER, BdpbenchError

if TYPE_CHECKING:
    import polars as pl

Document = TypeVar("Document")

# A record with its checksum.
_VOUCHED = re.compile(r'\{\n "sha256": "(?P<sha256>[0-9a-f]{64})",\n(?P<rest>.*)', re.DOTALL)
# A backslash in JSON, with the code of a character that is not to be printed.
_ESCAPE = re.compile(
    r"\\(?:\\|u(00(?:[01][0-9a-f]|7f|[89][0-9a-f])|061c|200[ef]|202[89a-e]|206[6-9a-f]|fff[9ab]))?"
)


def write_json_atomically(path: Path, data: Any, *, durable: bool = False) -> None:
    """Write ``data`` as indented JSON, keys in their order, atomically; NaN and inf are refused."""
    text = json.dumps(data, indent=1, allow_nan=False) + "\n"
    write_bytes_atomically(path, text.encode(), durable=durable)


def write_record_atomically(path: Path, data: Mapping[str, Any], *, durable: bool = False) -> None:
    """Write a file that every run has: JSON with one line for each key of ``data``, atomically.

    Python takes ten times as long to indent JSON, which counts in a study of many runs. NaN and inf
    are refused. The first line vouches for the rest.
    """
    encode = json.JSONEncoder(allow_nan=False).encode
    lines = ",\n ".join(f"{encode(key)}: {encode(value)}" for key, value in data.items())
    rest = f" {lines}\n}}\n".encode()
    head = f'{{\n "sha256": "{hashlib.sha256(rest).hexdigest()}",\n'
    write_bytes_atomically(path, head.encode() + rest, durable=durable)


def read_json(path: Path, *, what: str, schema_version: int) -> dict[str, Any]:
    """Read a JSON file of bdpbench, refusing one that is missing, damaged or of another version.

    Raises:
        BdpbenchError: naming the file, what it should contain, and how to recreate it.
    """
    data = json_of(path, what)
    version = data.get("schema_version") if isinstance(data, dict) else None
    if version != schema_version:
        raise BdpbenchError(
            f"has schema version {version!r}; this bdpbench reads version {schema_version}"
            f" of {what}",
            where=str(path),
            hint="remove the file and run again",
        )
    return dict(data)


def reader(
    kind: type[Document], what: str, version: int, name: str = ""
) -> Callable[[Path], Document]:
    """The function that reads a JSON file of bdpbench, which is one of these typed dictionaries.

    It takes the path of the file, or that of its folder if the file has always the same ``name``,
    and raises a BdpbenchError as ``read_json`` and ``shaped``: when the file is missing, damaged or
    of another version.
    """

    def read(place: Path) -> Document:
        path = place / name if name else place
        return shaped(read_json(path, what=what, schema_version=version), kind, path, what)

    return read


def json_of(path: Path, what: str) -> Any:
    """The content of a JSON file of any version, without its checksum.

    Raises:
        BdpbenchError: naming the file, when it is missing or damaged.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if vouched := _VOUCHED.match(text):
            if hashlib.sha256(vouched["rest"].encode()).hexdigest() != vouched["sha256"]:
                raise BdpbenchError("is not what was written: its SHA-256 differs", where=str(path))
            text = "{" + vouched["rest"]
        found = None if text.isascii() else CONTROL_CHARACTER.search(text)
        codes = (each[1] for each in _ESCAPE.finditer(text) if each[1])
        if code := next(codes, "" if found is None else f"{ord(found.group()):04x}"):
            raise ValueError(f"it has the character U+{code.upper()} in a text")
        return json.loads(text)
    except FileNotFoundError:
        raise BdpbenchError(f"no such file: expected {what}", where=str(path)) from None
    except OSError as error:
        raise disk_error(error, path) or BdpbenchError(
            f"cannot be read: {error.strerror}", where=str(path)
        ) from None
    except RecursionError:
        raise BdpbenchError(f"is nested too deeply: expected {what}", where=str(path)) from None
    except ValueError as error:
        raise BdpbenchError(
            f"is not valid JSON ({error}): expected {what}", where=str(path)
        ) from None


# Kind → whether a value is of it; a whole number in JSON is also a float, but true is not a number.
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
            f"is damaged: {_mismatch(wrong)}; expected {what}",
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
    if origin in (list, dict):
        return _parts_check(origin, _check(arguments[-1]))
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


def _parts_check(container: type, of_part: _Check) -> _Check:
    def check(value: object) -> _Wrong | None:
        if not isinstance(value, container):
            return _Wrong(value)
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):  # type: ignore[arg-type]
            wrong = of_part(part)
            if wrong is not None:
                return wrong.inside(str(name))
        return None

    return check


def _mismatch(wrong: _Wrong) -> str:
    place = ".".join(reversed(wrong.place))
    if wrong.missing:
        return f"{place} is missing"
    shown = repr(wrong.value)
    shown = shown if len(shown) <= 40 else f"{shown[:40]}…"
    return f"{place or 'the document'} is {shown}"


# ---------------------------------------------------------------- CSV

_FORMULA = r"^'*[=+\-@\t\r]"
_NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"


def cell(value: object) -> object:
    """A cell as it is written: a text that a spreadsheet would evaluate gets an apostrophe.

    >>> cell("=1+1"), cell("-1.5"), cell(-1.5), cell("'=x"), cell("'s")
    ("'=1+1", '-1.5', -1.5, "''=x", "'s")
    """
    if not isinstance(value, str) or re.fullmatch(_NUMBER, value):
        return value
    return f"'{value}" if re.search(_FORMULA, value) else value


def csv_of(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Rows as CSV under a header of ``columns``; numbers with all digits, as Python prints them."""
    lines = [columns, *([row.get(name) for name in columns] for row in rows)]
    return "".join(",".join(map(_field, line)) + "\n" for line in lines)


def _field(value: object) -> str:
    """A cell, quoted if RFC 4180 requires it; the csv module does not quote a lone CR."""
    text = "" if value is None else str(cell(value))
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if re.search(r'[",\r\n]', text) else text


def csv_of_frame(frame: pl.DataFrame) -> bytes:
    """A frame as CSV; its numbers as polars prints them."""
    import polars as pl

    columns = []
    for name, dtype in frame.schema.items():
        if dtype in (pl.String, pl.Categorical, pl.Enum):
            text = pl.col(name).cast(pl.String)
            computed = text.str.contains(_FORMULA) & ~text.str.contains(f"^(?:{_NUMBER})$")
            columns.append(pl.when(computed).then("'" + text).otherwise(text).alias(name))
    return frame.with_columns(columns).write_csv().encode()


# ---------------------------------------------------------------- caches


def cached(name: str, inputs: Iterable[bytes], derive: Callable[[], Document]) -> Document:
    """A document that is derived from some inputs: the cached one, or else the derived one.

    One file for each name keeps the document of the last inputs. With ``BDPBENCH_ROOT`` nothing is
    cached, as the documents of several roots would displace one another.

    Args:
        name: what the document is.
        inputs: all that determines it, including the code that derives it.
        derive: derives it, as JSON can hold it: without tuples, and with texts as keys.
    """
    if os.environ.get("BDPBENCH_ROOT"):
        return derive()
    digest = hashlib.sha256()
    for each in inputs:
        digest.update(len(each).to_bytes(8, "big") + each)
    key, path = digest.hexdigest(), home_dir() / "cache" / f"{name}.json"
    kept = read_kept(path, key)
    if kept is not None:
        return cast("Document", json.loads(kept))
    derived = derive()
    with contextlib.suppress(OSError):  # without it the next process takes longer
        keep(path, key, json.dumps(derived))
    return derived
