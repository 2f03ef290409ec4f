"""YAML files with line numbers, and pydantic's findings as ``file:line: key: message``."""

from __future__ import annotations

import difflib
import itertools
import re
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Tag, ValidationError
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.cyaml import CParser
from yaml.resolver import BaseResolver

from bdpbench.contracts.files import utf8_text
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

    def flatten_mapping(self, node: Any) -> None:
        """Merge mappings; their keys follow the mapping's own, as names of runs depend on it."""
        own = [pair for pair in node.value if pair[0].tag != _MERGE]
        super().flatten_mapping(node)
        names = {key.value for key, _ in own}
        merged = node.value[: len(node.value) - len(own)]
        node.value = own + [pair for pair in merged if pair[0].value not in names]

    def construct_integer(self, node: Any) -> int:
        text = str(self.construct_scalar(node)).replace("_", "")
        return int(text, 0 if text.lstrip("+-")[1:2] in ("x", "o", "b") else 10)


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
        BdpbenchError: naming the line, when the file cannot be read, is not YAML, has a key twice
            in a mapping, a character that is not to be printed, more than MOST_DEPTH levels or more
            than MOST_VALUES values.
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
                self._check(loader)
                self.data = loader.construct_document(self._root)
        except yaml.YAMLError as error:
            mark, byte = getattr(error, "problem_mark", None), getattr(error, "position", 0)
            line = mark.line if mark else text.encode()[:byte].count(b"\n")
            said = (getattr(error, part, None) for part in ("context", "problem"))
            raise self._invalid(line, ": ".join(filter(None, said)) or error) from None
        except RecursionError:
            raise self._too_large(0) from None

    def _check(self, loader: Any) -> None:
        """Refuse what the constructor would take, in the order of the lines."""
        left: list[tuple[Any, int]] = [(self._root, 0)]
        for count in itertools.count(1):
            if not left:
                return
            node, depth = left.pop()
            if depth > MOST_DEPTH or count > MOST_VALUES:
                raise self._too_large(node.start_mark.line)
            below = node.value
            if isinstance(node, yaml.ScalarNode):
                self._value(loader, node)
                below = []
            elif isinstance(node, yaml.MappingNode):
                self._check_keys(loader, node)
                below = itertools.chain.from_iterable(node.value)
            left += [(each, depth + 1) for each in below]

    def _check_keys(self, loader: Any, mapping: Any) -> None:
        seen = set()
        for key, _ in mapping.value:
            value = self._value(loader, key)
            if value in seen:
                raise self._invalid(key.start_mark.line, f"found duplicate key {value!r}")
            seen.add(value)

    def _value(self, loader: Any, node: Any) -> Any:
        """The value of a scalar."""
        line = node.start_mark.line
        if not isinstance(node, yaml.ScalarNode):
            raise self._invalid(line, "a key is a list or a mapping")
        try:
            value = loader.construct_object(node)
        except (ValueError, OverflowError) as error:
            raise self._invalid(line, error) from None
        if isinstance(value, str) and (found := CONTROL_CHARACTER.search(value)):
            said = f"a text has the character U+{ord(found.group()):04X}, which cannot be shown"
            raise self._invalid(line, said)
        return value

    def _invalid(self, line: int, problem: object) -> BdpbenchError:
        said = str(problem).partition("\n")[0]
        return BdpbenchError(f"not valid YAML: {said}", where=f"{self.path}:{line + 1}")

    def _too_large(self, line: int) -> BdpbenchError:
        return BdpbenchError(
            f"has more than {MOST_DEPTH} levels, or more than {MOST_VALUES:,} values, counting"
            " those of aliases at each use",
            where=f"{self.path}:{line + 1}",
            hint="use a sweep instead of single values",
        )

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


def _fields_at(model: type[BaseModel], location: Location) -> list[str]:
    """Names of the fields that the model has at ``location``."""
    current: Any = model
    for part in location:
        current = _step(current, part)
    found = _model_in(current)
    return list(found.model_fields) if found else []


def _step(annotation: Any, part: str | int | float) -> Any:
    if str(part).startswith("["):
        named = (each for each in _options(annotation, plain=False) if _tag_of(each) == part)
        return next(named, annotation)
    model = _model_in(annotation)
    if model is not None:
        field = model.model_fields.get(str(part))
        return field.annotation if field else None
    containers = (each for each in _options(annotation) if typing.get_origin(each) in (list, dict))
    arguments = typing.get_args(next(containers, None))
    return arguments[-1] if arguments else None


def _tag_of(annotation: Any) -> str:
    """The tag of an alternative of a union; "" if it has none."""
    found = (each.tag for each in getattr(annotation, "__metadata__", ()) if isinstance(each, Tag))
    return next(found, "")


def _options(annotation: Any, *, plain: bool = True) -> list[Any]:
    """The alternatives of a union, or the annotation itself; ``Annotated`` is removed if plain."""
    if hasattr(annotation, "__metadata__") and (plain or not _tag_of(annotation)):
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        options = typing.get_args(annotation)
        return [each for option in options for each in _options(option, plain=plain)]
    return [annotation]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    for option in _options(annotation):
        if isinstance(option, type) and issubclass(option, BaseModel):
            return option
    return None
