"""JSON and CSV documents: written atomically, and checked against their types when they are read.

The types are those of this folder: typed dictionaries of lists, mappings, numbers and texts.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from bdpbench.contracts.files import disk_error, write_bytes_atomically
from bdpbench.errors import BdpbenchError

Document = TypeVar("Document")

# A record with its checksum.
_VOUCHED = re.compile(r'\{\n "sha256": "(?P<sha256>[0-9a-f]{64})",\n(?P<rest>.*)', re.DOTALL)


def write_json_atomically(path: Path, data: Any) -> None:
    """Write ``data`` as indented JSON, keys in their order, atomically; NaN and inf are refused."""
    text = json.dumps(data, indent=1, allow_nan=False) + "\n"
    write_bytes_atomically(path, text.encode())


def write_record_atomically(path: Path, data: Mapping[str, Any]) -> None:
    """Write a file that every run has: JSON with one line for each key of ``data``, atomically.

    Python takes ten times as long to indent JSON, which counts in a study of many runs. NaN and inf
    are refused. The first line vouches for the rest.
    """
    encode = json.JSONEncoder(allow_nan=False).encode
    lines = ",\n ".join(f"{encode(key)}: {encode(value)}" for key, value in data.items())
    rest = f" {lines}\n}}\n".encode()
    head = f'{{\n "sha256": "{hashlib.sha256(rest).hexdigest()}",\n'
    write_bytes_atomically(path, head.encode() + rest)


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
    """The function that reads a JSON file of bdpbench, a typed dictionary or model of this folder.

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


@functools.cache
def _adapter(kind: Any) -> Any:
    from pydantic import BaseModel, ConfigDict, TypeAdapter

    if not issubclass(kind, BaseModel):
        kind.__pydantic_config__ = ConfigDict(extra="allow", strict=True)
    return TypeAdapter(kind)


def shaped(data: object, kind: type[Document], path: Path, what: str) -> Document:
    """The data of a file, checked against a typed dictionary or model of this folder.

    Raises:
        BdpbenchError: naming the file, the first place that does not match, and what is there.
    """
    from pydantic import BaseModel, ValidationError

    try:
        found = _adapter(cast("Any", kind)).validate_python(data)
    except ValidationError as failure:
        first = failure.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the document"
        wrong = "is missing" if first["type"] == "missing" else f"is {first['input']!r:.40}"
        raise BdpbenchError(
            f"is damaged: {place} {wrong}; expected {what}",
            where=str(path),
            hint="remove it and run again",
        ) from None
    # A dictionary stays as it is, with what other versions have in it besides.
    return cast("Document", found if isinstance(found, BaseModel) else data)


# ---------------------------------------------------------------- CSV


def csv_of(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Rows as CSV under a header of ``columns``; numbers with all digits, as Python prints them."""
    lines = [columns, *([row.get(name) for name in columns] for row in rows)]
    return "".join(",".join(map(_field, line)) + "\n" for line in lines)


def _field(value: object) -> str:
    """A cell, quoted if RFC 4180 requires it; the csv module does not quote a lone CR."""
    text = "" if value is None else str(value)
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if re.search(r'[",\r\n]', text) else text
