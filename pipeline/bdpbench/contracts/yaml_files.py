"""YAML files with line numbers, and pydantic's findings as ``file:line: key: message``.

A file is read by libyaml, with the plain scalars of YAML 1.2. If it is invalid, ruamel.yaml, which
takes ten times as long, reads it again for its error message.
"""

from __future__ import annotations

import difflib
import itertools
import re
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml  # type: ignore[import-untyped]
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.error import YAMLError as RuamelError
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.resolver import implicit_resolvers

from bdpbench.contracts.files import written_text
from bdpbench.errors import CONTROL_CHARACTER, BdpbenchError

Model = TypeVar("Model", bound=BaseModel)
Location = tuple[str | int | float, ...]

MOST_LABEL = 80
"""Longest label, characters: it has to fit into a legend and a column."""

MOST_TITLE = 200
"""Longest title, characters: a heading of two or three lines."""

MOST_NAME = 60
"""Longest key or file name, characters: some become parts of file names, which may have 255
bytes."""


def _one_line(text: str) -> str:
    if any(character in text for character in "\t\n\r"):
        raise ValueError("expected one line without tabs")
    return text


Key = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=MOST_NAME)]
VariableName = Annotated[str, Field(pattern=r"^[a-z][A-Za-z0-9_]*_$", max_length=MOST_NAME)]
"""A variable of ns-2's classes, such as ``windowOption_``."""

Text = Annotated[str, Field(min_length=1)]
ParameterName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=MOST_NAME)]
Label = Annotated[str, Field(max_length=MOST_LABEL), AfterValidator(_one_line)]
Title = Annotated[str, Field(max_length=MOST_TITLE), AfterValidator(_one_line)]


class Strict(BaseModel):
    """A model that accepts no unknown keys, and no text for a number."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


MOST_DEPTH = 40
"""Most levels of a file: the deepest files of studies, nested claims, have fewer than ten."""

MOST_VALUES = 200_000
"""Most values of a file, with those behind an alias counted at each use: aliases of aliases can
stand for more values than memory holds. The largest claims.yaml has some 15,000."""

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MERGE, _MAPPING = "tag:yaml.org,2002:merge", "tag:yaml.org,2002:map"
_SAFE_LEVELS = 5_000
_OPENED = re.compile(rf"(?:[\[{{]\s*){{{MOST_DEPTH + 1},}}")


class YamlFile:
    """One parsed YAML file that remembers the line of each key.

    Raises:
        BdpbenchError: naming the line, when the file cannot be read, is not YAML, or contains half
            a surrogate pair, a NUL, more than MOST_DEPTH levels or more than MOST_VALUES values.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data: Any = _read(path)
        self._check_values()

    def _check_values(self) -> None:
        left: list[tuple[Any, Location]] = [(self.data, ())]
        for count in itertools.count(1):
            if not left:
                return
            node, place = left.pop()
            if len(place) > MOST_DEPTH:
                raise _too_deep(f"{self.path}:{self.line_of(place)}")
            if count > MOST_VALUES:
                raise _too_many(self.path)
            if isinstance(node, str):
                self._check_text(node, place)
            left += _children(node, place)

    def _check_text(self, text: str, place: Location) -> None:
        where = f"{self.path}:{{}}"
        if _SURROGATE.search(text):
            raise BdpbenchError(
                "a text has half of a surrogate pair, which is not a character",
                where=where.format(self.line_of(place)),
                hint="write the character itself, or its code as \\UXXXXXXXX",
            )
        found = CONTROL_CHARACTER.search(text)
        if found:
            name = "NUL" if found.group() == "\0" else f"U+{ord(found.group()):04X}"
            raise BdpbenchError(
                f"a text has the character {name}, which controls a terminal or turns texts around",
                where=where.format(self.line_of(place)),
            )

    @cached_property
    def _root(self) -> Any:
        """The file's nodes, which know their lines; None if no reader can parse it."""
        try:
            text = self.path.read_text(encoding="utf-8")
            try:
                return yaml.compose(text, _Loader)
            except yaml.YAMLError:
                return _slow_reader().compose(text)
        except (OSError, RuamelError, ValueError, RecursionError):
            return None

    def line_of(self, location: Sequence[str | int | float]) -> int:
        """1-based line of the deepest key on the path ``location`` that the file has."""
        node, line = self._root, 1
        for key in location:
            node, found = _child(node, key)
            if node is None:
                break
            line = found + 1
        return line

    def error(
        self, location: Sequence[str | int | float], message: str, hint: str = ""
    ) -> BdpbenchError:
        """The error to raise about the value at ``location``."""
        dotted = ".".join(str(part) for part in location)
        where = f"{self.path}:{self.line_of(location)}"
        return BdpbenchError(f"{dotted}: {message}" if dotted else message, where=where, hint=hint)

    def require(
        self, location: Location, name: str, known: Collection[str], what: str, *, also: str = ""
    ) -> None:
        """Refuse an unknown name, with a suggestion and what else may help.

        Raises:
            BdpbenchError: naming the location.
        """
        unknown = known_or_suggest(name, known, what)
        if unknown:
            raise self.error(location, unknown[0], unknown[1] + also)

    def validate(self, model: type[Model]) -> Model:
        """Validate the file as a ``model``; every finding is reported, unknown keys with a hint."""
        # To Python true is 1, and so it is to pydantic.
        if isinstance(self.data, dict) and self.data.get("schema_version") is True:
            raise self.error(("schema_version",), "expected a number (got True)")
        return self.validate_part(model, self.data, ())

    def validate_part(self, model: type[Model], part: Any, location: Location) -> Model:
        """Validate the part of the file at ``location`` as a ``model``."""
        try:
            return model.model_validate(part)
        except ValidationError as failure:
            raise self._explain(model, failure, location) from None

    def _explain(
        self, model: type[BaseModel], failure: ValidationError, base: Location
    ) -> BdpbenchError:
        errors = _one_for_each_scalar(failure.errors())
        findings = [self._finding(model, error, base) for error in errors]
        first, *others = findings
        if not others:
            return first
        listing = "\n  ".join(str(finding).replace("\n", "\n  ") for finding in findings)
        return BdpbenchError(f"{len(findings)} problems:\n  {listing}", where=str(self.path))

    def _finding(
        self, model: type[BaseModel], error: dict[str, Any], base: Location
    ) -> BdpbenchError:
        # Pydantic's "[key]", and the tags of unions, which look like it.
        *inner, last = error["loc"] or ("[",)
        relative = tuple(part for part in inner if not str(part).startswith("["))
        # An unknown key is the user's own word, which may begin like that as well.
        if error["type"] == "extra_forbidden" or not str(last).startswith("["):
            relative = (*relative, last)
        location = (*base, *relative)
        if error["type"] == "extra_forbidden":
            known = _fields_at(model, relative[:-1])
            return self.error(location, "unknown key", hint=suggest(str(location[-1]), known))
        if error["type"] == "missing":
            return self.error(location, "this key is missing")
        message = str(error["msg"]).removeprefix("Value error, ")
        given = error.get("input")
        if error["type"] == "model_type":
            message = f"expected a mapping with keys of {', '.join(_fields_at(model, relative))}"
        shown = f" (got {given!r})" if isinstance(given, (str, int, float, bool)) else ""
        return self.error(location, message[0].lower() + message[1:] + shown)


_SCALARS = {"bool": "true or false", "int": "a number", "float": "a number", "str": "text"}


def _one_for_each_scalar(errors: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The errors; that a list or mapping is none of several scalars is one of them."""
    refused = [_refused_scalar(error) for error in errors]
    for above, error in zip(refused, errors, strict=True):
        alike = [each for each, of in zip(errors, refused, strict=True) if of == above]
        kinds = [] if above is None else [each["loc"][-1] for each in alike]
        if len(kinds) < 2:
            yield dict(error)
        elif error["loc"][-1] == kinds[0]:
            wanted = " or ".join(dict.fromkeys(_SCALARS[kind] for kind in kinds))
            yield {"loc": above, "type": "scalar", "msg": f"expected {wanted}, not several values"}


def _refused_scalar(error: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Where a list or mapping is that is not this kind of scalar."""
    *above, kind = error["loc"] or ("",)
    several = isinstance(error["input"], (list, dict))
    return tuple(above) if several and kind in _SCALARS else None


def meant(word: str, known: Collection[str]) -> str | None:
    """The known name that a user's word means: itself, or the only one that differs in case alone.

    >>> meant("vegas", ["Reno", "Vegas"]), meant("RENO", ["Reno", "reno"])
    ('Vegas', None)
    """
    alike = [name for name in known if name.casefold() == word.casefold()]
    return word if word in known else alike[0] if len(alike) == 1 else None


def suggest(word: str, known: Iterable[str]) -> str:
    """``did you mean …?`` for a misspelt word, otherwise the list of known words."""
    names = sorted(known)
    # difflib is case-sensitive: "hs" for "HS".
    close = meant(word, names) or next(iter(difflib.get_close_matches(word, names, n=1)), None)
    if close:
        return f"did you mean {close!r}?"
    return f"known: {', '.join(names)}" if names else ""


def known_or_suggest(name: str, known: Collection[str], what: str) -> tuple[str, str] | None:
    """None if ``name`` is known, otherwise a message and a hint."""
    return None if name in known else (f"unknown {what} {name!r}", suggest(name, known))


def _encloses(outer: Any, inner: Any) -> bool:
    """Whether a node is another or contains it."""
    first, last = outer.start_mark.index, outer.end_mark.index
    return bool(first <= inner.start_mark.index and inner.end_mark.index <= last)


class _Loader(yaml.CSafeLoader):  # type: ignore[misc]  # no stubs
    """libyaml with the plain scalars of YAML 1.2, refusing a key that occurs twice in a mapping.

    Keys of a mapping that is merged follow the mapping's own. What else may be merged, and errors,
    are left to the other reader.
    """

    yaml_implicit_resolvers: typing.ClassVar[dict[str, list[tuple[str, Any]]]] = {}

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        merged = [value for key, value in node.value if key.tag == _MERGE]
        own = [(key, value) for key, value in node.value if key.tag != _MERGE]
        keys = [self.construct_object(key, deep=True) for key, _ in own]
        if len(set(keys)) < len(keys):
            raise yaml.YAMLError("a key occurs twice")
        if not merged:
            return dict(super().construct_mapping(node, deep))
        if len(merged) > 1 or merged[0].tag != _MAPPING or _encloses(merged[0], node):
            raise yaml.YAMLError("left to the other reader")
        alone = yaml.MappingNode(node.tag, own, node.start_mark, node.end_mark)
        found = dict(super().construct_mapping(alone, deep))
        for key, value in self.construct_mapping(merged[0], deep=True).items():
            found.setdefault(key, value)
        return found

    def construct_integer(self, node: Any) -> int:
        text = str(self.construct_scalar(node)).replace("_", "")
        return int(text, 0 if text.lstrip("+-")[1:2] in ("x", "o", "b") else 10)


class _Tracing(_Loader):
    """The same, remembering the line of the value that it makes."""

    line = 1

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        self.line = node.start_mark.line + 1
        return super().construct_object(node, deep)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_integer)
for _versions, _tag, _pattern, _first in implicit_resolvers:
    if (1, 2) in _versions:
        _Loader.add_implicit_resolver(_tag, _pattern, _first)


def _read(path: Path) -> Any:
    try:
        text = written_text(path)
        if text.startswith("%YAML"):
            return _read_slowly(path)
        if _may_be_deep(text):
            _check_depth(text, path)
        return yaml.load(text, _Loader)  # noqa: S506  a safe loader
    except FileNotFoundError:
        raise BdpbenchError("no such file", where=str(path)) from None
    except OSError as error:
        raise BdpbenchError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except RecursionError:
        raise _too_deep(str(path)) from None
    except (yaml.YAMLError, ValueError, TypeError):
        return _read_slowly(path)


def _may_be_deep(text: str) -> bool:
    """Whether a text may be nested too deeply for libyaml: its stack overflow kills the process."""
    brackets = text.count("[") + text.count("{")
    beginnings = max(
        (len(line) - len(line.lstrip(" -?:")) for line in text.splitlines()), default=0
    )
    return brackets + beginnings > _SAFE_LEVELS


def _check_depth(text: str, path: Path) -> None:
    """Refuse a text that is nested too deeply, counted by libyaml's events, which need no stack."""
    depth = 0
    for event in yaml.parse(text, yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_DEPTH:
            raise _too_deep(f"{path}:{event.start_mark.line + 1}")


def _slow_reader() -> YAML:
    reader = YAML(typ="rt")
    reader.composer.warn_double_anchors = False  # YAML 1.2 lets an anchor be defined anew
    return reader


def _read_slowly(path: Path) -> Any:
    # ruamel.yaml takes minutes for what is nested deeply, also where libyaml finds an error first.
    text = path.read_text(encoding="utf-8")
    opened = _OPENED.search(text)
    if opened:
        raise _too_deep(f"{path}:{text.count(chr(10), 0, opened.start()) + 1}")
    with suppress(yaml.YAMLError):
        _check_depth(text, path)
    try:
        with path.open(encoding="utf-8") as stream:
            return _slow_reader().load(stream)
    except RecursionError:
        raise _too_deep(str(path)) from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        problem = error.problem or "is not valid YAML"
        raise BdpbenchError(f"not valid YAML: {problem}", where=f"{path}:{line}") from None
    except ReaderError as error:
        raise _unreadable(path, error) from None
    except AttributeError:
        said = "not valid YAML: a merge key names the mapping that it is in"
        raise BdpbenchError(said, where=f"{path}:{_line_of_failure(path)}") from None
    except (RuamelError, ValueError, TypeError, OverflowError) as error:
        where = f"{path}:{_line_of_failure(path)}"
        raise BdpbenchError(f"not valid YAML: {error}", where=where) from None


def _line_of_failure(path: Path) -> int:
    """Line of the value that cannot be made, such as a 30th of February; 1 if it is not known."""
    loader = _Tracing(path.read_text(encoding="utf-8"))
    with suppress(yaml.YAMLError, ValueError, TypeError):
        loader.get_single_data()
    return loader.line


def _unreadable(path: Path, error: ReaderError) -> BdpbenchError:
    """The error for a character that YAML does not allow, such as NUL."""
    character = error.character
    code = ord(character) if isinstance(character, str) else int(character)
    text = path.read_text(encoding="utf-8", errors="replace")
    line = 1 + text.count("\n", 0, max(0, text.find(chr(code))))
    return BdpbenchError(
        f"not valid YAML: the character U+{code:04X} is not allowed", where=f"{path}:{line}"
    )


def _too_deep(where: str) -> BdpbenchError:
    return BdpbenchError(f"is nested deeper than {MOST_DEPTH} levels", where=where)


def _too_many(path: Path) -> BdpbenchError:
    return BdpbenchError(
        f"has more than {MOST_VALUES:,} values, counting those of aliases at each use",
        where=str(path),
        hint="use a sweep instead of single values",
    )


def _children(node: Any, place: Location) -> list[tuple[Any, Location]]:
    """The items of a mapping (including keys) or a sequence, with their places."""
    if isinstance(node, dict):
        return [pair for key in node for pair in ((key, (*place, key)), (node[key], (*place, key)))]
    if isinstance(node, list):
        return [(each, (*place, index)) for index, each in enumerate(node)]
    return []


def _child(node: Any, key: str | int | float) -> tuple[Any, int]:
    """The node behind a key or an index, and its 0-based line; (None, 0) if there is none."""
    # libyaml and ruamel.yaml have different classes for the same nodes.
    kind = type(node).__name__
    if kind == "MappingNode":
        for name, value in node.value:
            if name.value == str(key):
                return value, name.start_mark.line
    if kind == "SequenceNode" and isinstance(key, int) and key < len(node.value):
        return node.value[key], node.value[key].start_mark.line
    return None, 0


def _fields_at(model: type[BaseModel], location: Location) -> list[str]:
    """Names of the fields that the model has at ``location``."""
    current: Any = model
    for part in location:
        current = _step(current, part)
        if current is None:
            return []
    current = _model_in(current)
    return list(current.model_fields) if current else []


def _step(annotation: Any, part: str | int | float) -> Any:
    model = _model_in(annotation)
    if model is not None:
        field = model.model_fields.get(str(part))
        return field.annotation if field else None
    for option in _options(annotation):
        arguments = typing.get_args(option)
        if typing.get_origin(option) is list:
            return arguments[0]
        if typing.get_origin(option) is dict:
            return arguments[1]
    return None


def _options(annotation: Any) -> list[Any]:
    """The alternatives of a union, or the annotation itself; ``Annotated`` is removed."""
    if hasattr(annotation, "__metadata__"):
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return [each for option in typing.get_args(annotation) for each in _options(option)]
    return [annotation]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    for option in _options(annotation):
        if isinstance(option, type) and issubclass(option, BaseModel):
            return option
    return None
