"""YAML files with line numbers, and pydantic's findings as ``file:line: key: message``."""

from __future__ import annotations

import difflib
import re
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Tag, ValidationError
from yaml.composer import Composer
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.cyaml import CParser
from yaml.resolver import BaseResolver

from bdpbench.contracts.files import utf8_text
from bdpbench.errors import CONTROL_CHARACTER, BdpbenchError

Model = TypeVar("Model", bound=BaseModel)
Location = tuple[str | int | float, ...]

MOST_LABEL, MOST_TITLE, MOST_NAME = 80, 200, 60
"""Longest label, title (two or three lines), and key or file name, characters."""


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


_MERGE = "tag:yaml.org,2002:merge"


class _Loader(Composer, CParser, SafeConstructor, BaseResolver):  # type: ignore[misc]  # no stubs
    """PyYAML with the plain scalars of YAML 1.2.

    libyaml parses; its own composer, though, would end the process where a file is nested deeply.
    """

    def __init__(self, text: str) -> None:
        CParser.__init__(self, text)
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        BaseResolver.__init__(self)
        self._flat: set[int] = set()

    def compose_node(self, parent: Any, index: Any) -> Any:
        try:
            return super().compose_node(parent, index)
        except RecursionError:
            raise _invalid(self.peek_event(), "it is nested too deeply") from None

    def flatten_mapping(self, node: Any) -> None:
        """Merge mappings; their keys follow the mapping's own, as names of runs depend on it."""
        if id(node) in self._flat:
            return
        self._flat.add(id(node))
        own = [pair for pair in node.value if pair[0].tag != _MERGE]
        seen: set[Any] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _invalid(key, "a key is a list or a mapping")
            value = self.construct_object(key)
            if value in seen:
                raise _invalid(key, f"found duplicate key {value!r}")
            seen.add(value)
        super().flatten_mapping(node)
        names = {key.value for key, _ in own}
        merged = node.value[: len(node.value) - len(own)]
        node.value = own + [pair for pair in merged if pair[0].value not in names]

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep)
        except (ValueError, OverflowError) as error:
            raise _invalid(node, error) from None
        if isinstance(value, str) and (found := CONTROL_CHARACTER.search(value)):
            said = f"a text has the character U+{ord(found.group()):04X}, which cannot be shown"
            raise _invalid(node, said)
        return value

    def construct_integer(self, node: Any) -> int:
        text = str(self.construct_scalar(node)).replace("_", "")
        return int(text, 0 if text.lstrip("+-")[1:2] in ("x", "o", "b") else 10)


def _invalid(node: Any, problem: object) -> yaml.YAMLError:
    return ConstructorError(None, None, str(problem), node.start_mark)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_integer)
_Loader.add_constructor(_MERGE, _Loader.construct_yaml_str)
_WORDS = {
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": (r"[-+]?([0-9][0-9_]*|0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+)", "-+0123456789"),
    "float": (
        r"[-+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?"
        r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+0123456789.",
    ),
    "timestamp": (r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "0123456789"),
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "merge": (r"<<", "<"),
}
for _tag, (_pattern, _first) in _WORDS.items():
    _name = f"tag:yaml.org,2002:{_tag}"
    _Loader.add_implicit_resolver(_name, re.compile(f"^({_pattern})$"), list(_first))


class YamlFile:
    """One parsed YAML file that remembers the line of each key.

    Attributes:
        data: its values.

    Raises:
        BdpbenchError: naming the line, when the file cannot be read, is not YAML, or has a key
            twice in a mapping or a character that is not to be printed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data: Any = None
        try:
            text = utf8_text(path)
        except FileNotFoundError:
            raise BdpbenchError("no such file", where=str(path)) from None
        except OSError as error:
            raise BdpbenchError(f"cannot be read: {error.strerror}", where=str(path)) from None
        try:
            loader = _Loader(text)
            self._root = loader.get_single_node()
            if self._root is not None:
                self.data = loader.construct_document(self._root)
        except yaml.YAMLError as error:
            mark, byte = getattr(error, "problem_mark", None), getattr(error, "position", 0)
            line = mark.line if mark else text.encode()[:byte].count(b"\n")
            parts = (getattr(error, part, None) for part in ("context", "problem"))
            said = str(": ".join(filter(None, parts)) or error).partition("\n")[0]
            where = f"{path}:{line + 1}"
            raise BdpbenchError(f"not valid YAML: {said}", where=where) from None

    def line_of(self, location: Sequence[str | int | float]) -> int:
        """1-based line of the deepest key on the path ``location`` that the file has."""
        node, line = self._root, 0
        for key in location:
            found = None
            if isinstance(node, yaml.MappingNode):
                found = {name.value: (name, value) for name, value in node.value}.get(str(key))
            elif isinstance(node, yaml.SequenceNode) and key in range(len(node.value)):
                found = (node.value[key], node.value[key])
            if found is None:
                break
            line, node = found[0].start_mark.line, found[1]
        return line + 1

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
            errors = _one_for_each_scalar(failure.errors())
            findings = [self._finding(model, error, location) for error in errors]
        if len(findings) == 1:
            raise findings[0]
        listing = "\n  ".join(str(finding).replace("\n", "\n  ") for finding in findings)
        raise BdpbenchError(f"{len(findings)} problems:\n  {listing}", where=str(self.path))

    def _finding(
        self, model: type[BaseModel], error: Mapping[str, Any], base: Location
    ) -> BdpbenchError:
        # Pydantic's "[key]", and the tags of unions, which look like it.
        *inner, last = error["loc"] or ("[",)
        relative = tuple(part for part in inner if not str(part).startswith("["))
        # An unknown key is the user's own word, which may begin like that as well.
        if error["type"] == "extra_forbidden" or not str(last).startswith("["):
            relative = (*relative, last)
        location = (*base, *relative)
        if error["type"] == "extra_forbidden":
            known = _fields_at(model, tuple(inner))
            return self.error(location, "unknown key", hint=suggest(str(location[-1]), known))
        if error["type"] == "missing":
            return self.error(location, "this key is missing")
        message = str(error["msg"]).removeprefix("Value error, ")
        given = error.get("input")
        if error["type"] == "model_type":
            message = (
                f"expected a mapping with keys of {', '.join(_fields_at(model, error['loc']))}"
            )
        shown = f" (got {given!r})" if isinstance(given, (str, int, float, bool)) else ""
        return self.error(location, message[0].lower() + message[1:] + shown)


_SCALARS = {"bool": "true or false", "int": "a number", "float": "a number", "str": "text"}


def _one_for_each_scalar(errors: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The errors; that a list or mapping is none of several scalars is one of them."""
    kinds: dict[Any, list[str]] = {}
    for each in errors:
        if each["loc"] and each["loc"][-1] in _SCALARS and isinstance(each["input"], (list, dict)):
            kinds.setdefault(each["loc"][:-1], []).append(each["loc"][-1])
    for each in errors:
        *above, last = each["loc"] or ("",)
        found = kinds.get(tuple(above), [])
        if len(found) < 2 or last not in found:
            yield each
        elif last == found[0]:
            wanted = " or ".join(dict.fromkeys(_SCALARS[kind] for kind in found))
            said = f"expected {wanted}, not several values"
            yield {"loc": tuple(above), "type": "scalar", "msg": said}


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


def _fields_at(model: type[BaseModel], location: Location) -> list[str]:
    """Names of the fields that the model has at ``location``."""
    options: list[Any] = [model]
    for part in location:
        if str(part).startswith("["):  # the tag of an alternative of a union
            options = [each for each in options if part in _tags(each)] or options
            continue
        found = []
        for option in map(_plain, options):
            if isinstance(option, type) and issubclass(option, BaseModel):
                field = option.model_fields.get(str(part))
                found += _options(field.annotation) if field else []
            elif typing.get_origin(option) in (list, dict):
                found += _options(typing.get_args(option)[-1])
        options = found
    models = (each for each in map(_plain, options) if isinstance(each, type))
    first = next((each for each in models if issubclass(each, BaseModel)), None)
    return list(first.model_fields) if first else []


def _tags(annotation: Any) -> list[str]:
    return [each.tag for each in getattr(annotation, "__metadata__", ()) if isinstance(each, Tag)]


def _plain(annotation: Any) -> Any:
    """The annotation without ``Annotated``."""
    return typing.get_args(annotation)[0] if hasattr(annotation, "__metadata__") else annotation


def _options(annotation: Any) -> list[Any]:
    """The alternatives of a union, or the annotation itself; those with a tag keep it."""
    plain = _plain(annotation)
    if typing.get_origin(plain) in (typing.Union, types.UnionType):
        return [each for option in typing.get_args(plain) for each in _options(option)]
    return [annotation]
