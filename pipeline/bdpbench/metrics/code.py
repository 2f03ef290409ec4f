"""Digests of code: equal as long as a function and the code it uses mean the same to Python.

Comments, docstrings, blank lines, annotations and the order of definitions do not count. A function
reaches the functions and constants that it names, in its own module and in modules of this package
that it imports from, and the members of views that it uses.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGES = ("bdpbench.metrics", "bdpbench.units")
# Members of views that a metric uses are known only by their names.
_VIEWS = ("bdpbench.metrics.views", "bdpbench.metrics.groups")
# Fields that differ between versions of Python, or give the position of code.
_NOT_MEANING = {"annotation", "returns", "decorator_list", "type_comment", "type_params", "kind"}

Place = tuple[str, str]
"""Module, and name in it."""


def code_digest(functions: Iterable[Callable[..., object]], facts: Sequence[str] = ()) -> str:
    """SHA-256 over functions, all of this package that they reach, and further facts.

    Args:
        functions: of modules that have a file.
        facts: further texts that the meaning depends on.
    """
    roots = list(functions)
    # Without the modules: where code is defined does not matter.
    parts = [*facts, *(each.__qualname__ for each in roots)]
    parts += sorted(f"{name}={text}" for (_, name), text in reached_code(roots).items())
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def reached_code(functions: Iterable[Callable[..., object]]) -> dict[Place, str]:
    """All code of this package that functions reach, themselves included, normalised."""
    reached: dict[Place, str] = {}
    waiting = [(each.__module__, each.__qualname__) for each in functions]
    while waiting:
        place = waiting.pop()
        if place not in reached:
            reached[place], further = _read(place)
            waiting.extend(further)
    return reached


@cache
def _read(place: Place) -> tuple[str, tuple[Place, ...]]:
    """The normalised code at a place, and the places that it names."""
    module, name = place
    known = _module(module)
    while name not in known.nodes and name in known.imports:  # re-exported by a package
        module, name = known.imports[name]
        known = _module(module)
    nodes = known.nodes.get(name, ())
    text = ";".join(_dump(node) for node in nodes)
    return text, tuple(dict.fromkeys(each for node in nodes for each in known.places(node)))


class _Module:
    """A parsed module: its definitions by name, and what its imported names refer to."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self.name = name
        self.nodes: dict[str, list[ast.AST]] = {}
        self.imports: dict[str, Place] = {}
        for node in tree.body:
            self._define(node)
        for each in _statements(tree):
            if isinstance(each, ast.ImportFrom) and each.module:
                for alias in each.names:
                    self.imports[alias.asname or alias.name] = (each.module, alias.name)

    def _define(self, node: ast.stmt) -> None:
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    self.nodes.setdefault(f"{node.name}.{member.name}", []).append(member)
        for name in _defined_names(node):
            self.nodes.setdefault(name, []).append(node)

    def places(self, node: ast.AST) -> Iterator[Place]:
        """Places of this package that a definition names."""
        for each in _meaning(node):
            if isinstance(each, ast.Name):
                yield from self._named(each.id)
            elif isinstance(each, ast.Attribute):
                yield from self._attribute(each)

    def _named(self, name: str) -> Iterator[Place]:
        if name in self.nodes:
            yield from () if self._is_view(self.name, name) else [(self.name, name)]
        elif name in self.imports:
            module, original = self.imports[name]
            if module.startswith(_PACKAGES) and not self._is_view(module, original):
                yield module, original

    def _attribute(self, node: ast.Attribute) -> Iterator[Place]:
        if isinstance(node.value, ast.Name) and node.value.id in self.imports:
            module = ".".join(self.imports[node.value.id])
            if module.startswith(_PACKAGES) and _is_module(module):
                yield module, node.attr
                return
        yield from _members().get(node.attr, ())

    @staticmethod
    def _is_view(module: str, name: str) -> bool:
        nodes = _module(module).nodes.get(name, ()) if module in _VIEWS else ()
        return any(isinstance(node, ast.ClassDef) for node in nodes)


@cache
def _members() -> dict[str, list[Place]]:
    """Name of a member → its places in the views that have one of that name."""
    found: dict[str, list[Place]] = {}
    for view in _VIEWS:
        for name in _module(view).nodes:
            _, dot, member = name.rpartition(".")
            if dot:
                found.setdefault(member, []).append((view, name))
    return found


@cache
def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the parent is not a package, so it is a constant of a module
        return False


@cache
def _module(name: str) -> _Module:
    module = sys.modules.get(name) or importlib.import_module(name)
    file = module.__file__
    if file is None:
        return _Module(name, ast.Module([], []))
    return _Module(name, ast.parse(Path(file).read_text(encoding="utf-8")))


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements at any depth; expressions, most of a tree, contain none."""
    waiting: deque[ast.AST] = deque([tree])
    while waiting:
        node = waiting.popleft()
        yield node
        for part in ("body", "handlers", "cases", "orelse", "finalbody"):
            inner = getattr(node, part, ())
            waiting.extend(inner if isinstance(inner, list) else ())


def _defined_names(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        targets = [node.target]
    return [
        each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)
    ]


@cache
def _meaningful(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in _NOT_MEANING)


def _fields(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Fields of a node that determine its meaning, without docstrings."""
    for name in _meaningful(node._fields):
        value = getattr(node, name, None)
        if value is None or value == []:
            continue
        if name == "body" and isinstance(value, list) and _is_text(value[0]):
            yield name, value[1:]
        else:
            yield name, value


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _meaning(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all descendants that determine its meaning."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        for _, value in _fields(node):
            parts = value if isinstance(value, list) else [value]
            waiting.extend(each for each in parts if isinstance(each, ast.AST))


def _dump(node: object) -> str:
    """A node as text that does not depend on its position or on the version of Python."""
    if isinstance(node, ast.AST):
        inner = ",".join(f"{name}={_dump(value)}" for name, value in _fields(node))
        return f"{type(node).__name__}({inner})"
    if isinstance(node, list):
        return f"[{','.join(_dump(each) for each in node)}]"
    return repr(node)
