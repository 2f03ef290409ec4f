"""Changes single operators, constants and conditions of a room, and names what its tests overlook.

    python=.bdpbench/venv/bin/python
    PYTHONPATH=pipeline:. $python tests/mutations/survivors.py score --mutants 60 --seed 1

Each mutant is a change to one place of one module, in a copy of the checkout; the tests and
examples of the room alone have to fail with it: first those that call the changed function
(``calls.py``), then all. Prints the mutants that survive, and ends with status 1 if fewer than
--least per cent are caught. ``equivalent.yaml`` lists changes that change nothing, each with the
reason.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib.util
import itertools
import json
import operator
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from bdpbench.contracts.paths import home_dir, repository_root

ROOMS = ("score", "metrics", "studies", "trace", "simulation")
# Tests of a room that need more than the room, and stand with what they need.
ELSEWHERE = {
    "simulation": ("tests/ns2/test_linux_modules.py",),
    "score": ("tests/app/test_atlas.py",),
    "studies": ("tests/app/test_atlas.py",),
}
EQUIVALENT = Path(__file__).with_name("equivalent.yaml")
LEFT_OUT = (".git", ".bdpbench", "results", "__pycache__", ".mypy_cache")
PYTEST = ("-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider")

OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
# What no test of behaviour sees: annotations, decorators, and precautions such as zip(strict=True).
UNSEEN = ("annotation", "returns", "decorator_list")
PRECAUTIONS = ("strict", "check", "parents", "exist_ok", "frozen", "defer_build")
GENERIC = ("Literal", "Annotated", "TypeVar", "dict", "list", "tuple")


# ---------------------------------------------------------------- changes


def changes_of(node: ast.AST) -> Iterator[Callable[[], None]]:
    """What can be changed at a node of a syntax tree, in place."""
    match node:
        case ast.Compare(ops=operators):
            for index, each in enumerate(operators):
                other = OTHER[type(each)]()
                yield functools.partial(operator.setitem, operators, index, other)
        case ast.BoolOp() | ast.BinOp() | ast.AugAssign() if type(node.op) in OTHER:
            yield functools.partial(setattr, node, "op", OTHER[type(node.op)]())
        case ast.Constant(value=bool() | int() | float() as value):
            changed = not value if isinstance(value, bool) else value + 1
            yield functools.partial(setattr, node, "value", changed)
        case ast.If() | ast.IfExp() | ast.While():
            yield functools.partial(setattr, node, "test", ast.UnaryOp(ast.Not(), node.test))
        case ast.comprehension(ifs=[*_, last]):
            yield functools.partial(operator.setitem, node.ifs, -1, ast.UnaryOp(ast.Not(), last))


def seen(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a syntax tree whose change a test of behaviour could see."""
    yield node
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        return
    if isinstance(node, ast.keyword) and node.arg in PRECAUTIONS:
        return
    if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") in GENERIC:
        return
    for name, child in ast.iter_fields(node):
        if name not in UNSEEN:
            for each in child if isinstance(child, list) else [child]:
                yield from seen(each) if isinstance(each, ast.AST) else ()


def change_of(tree: ast.Module, number: int) -> tuple[ast.AST, Callable[[], None]]:
    """The node and the change with a number among all changes of a module."""
    every = ((node, change) for node in seen(tree) for change in changes_of(node))
    return next(each for index, each in enumerate(every) if index == number)


@dataclass(frozen=True)
class Mutant:
    """A module with one change: its line, the line's code before and after, and all of the code."""

    module: Path
    line: int
    was: str
    now: str
    code: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.was}  ->  {self.now}"


def mutant(root: Path, module: Path, number: int) -> Mutant:
    """The mutant of a module with that change."""
    tree = ast.parse((root / module).read_text(encoding="utf-8"))
    node, change = change_of(tree, number)
    around = {child: each for each in ast.walk(tree) for child in ast.iter_child_nodes(each)}
    statement = node
    while not isinstance(statement, ast.stmt):
        statement = around[statement]
    before = ast.unparse(statement).splitlines()
    change()
    after = ast.unparse(statement).splitlines()
    was, now = next(pair for pair in zip(before, after, strict=True) if pair[0] != pair[1])
    line = getattr(node, "lineno", statement.lineno)
    return Mutant(module, line, was.strip(), now.strip(), ast.unparse(tree))


def chosen(room: str, most: int, seed: int) -> Iterator[Mutant]:
    """Some mutants of a room, the same for the same seed and code."""
    root = repository_root()
    listed = yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8"))
    equivalent = {(each["module"], each["was"], each["now"]) for each in listed}
    places = []
    for path in sorted((root / "pipeline" / "bdpbench" / room).rglob("*.py")):
        nodes = seen(ast.parse(path.read_text(encoding="utf-8")))
        count = sum(1 for node in nodes for _ in changes_of(node))
        places += [(path.relative_to(root), number) for number in range(count)]
    random.Random(seed).shuffle(places)
    found = (mutant(root, module, number) for module, number in places)
    real = (each for each in found if (str(each.module), each.was, each.now) not in equivalent)
    yield from itertools.islice(real, most)


# ---------------------------------------------------------------- tests

Call = tuple[Path, int, int, list[str]]
"""A function, by its module and lines, and the tests that call it."""


class Checkout:
    """A copy of the checkout, in which one mutant at a time is tested."""

    def __init__(self, folder: Path, room: str) -> None:
        self._folder, self._code = folder, f"pipeline/bdpbench/{room}"
        self._all = (f"tests/pipeline/{room}", self._code, *ELSEWHERE.get(room, ()))
        ignored = shutil.ignore_patterns(*LEFT_OUT)
        shutil.copytree(repository_root(), folder, ignore=ignored, symlinks=True)
        self.limit_s, self.calls = 3600.0, list[Call]()

    def record(self) -> bool:
        """Find out which tests call which functions; returns whether all pass."""
        calls, began = self._folder / "calls.json", time.monotonic()
        passed = self.passes(self._all, "-p", "tests.mutations.calls", MUTATED_CALLS=str(calls))
        self.calls = [
            (Path(file).relative_to(self._folder), first, last, tests)
            for file, first, last, tests in json.loads(calls.read_text(encoding="utf-8"))
        ]
        self.limit_s = 60 + 3 * (time.monotonic() - began)
        return passed

    def passes(self, tests: Sequence[str], *options: str, **variables: str) -> bool:
        """Whether tests pass within the limit."""
        environment = {
            **os.environ,
            **variables,
            "MUTATED": str(self._folder / self._code),
            "PYTHONPATH": f"{self._folder / 'pipeline'}:{self._folder}",
            "BDPBENCH_HOME": str(home_dir()),
            "POLARS_MAX_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "",  # each call would compile everything again
        }
        scratch = f"--basetemp={self._folder}.tmp"
        try:
            done = subprocess.run(
                [sys.executable, "-P", *PYTEST, *options, scratch, *tests],
                cwd=self._folder,
                env=environment,
                capture_output=True,
                timeout=self.limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def catches(self, mutant: Mutant) -> bool:
        """Whether the tests of the room fail with a mutant."""
        path = self._folder / mutant.module
        original = path.read_text(encoding="utf-8")
        calling = {
            test
            for file, first, last, tests in self.calls
            if file == mutant.module and first <= mutant.line <= last
            for test in tests
        }
        try:
            self._write(path, mutant.code)
            return (bool(calling) and not self.passes(sorted(calling))) or not self.passes(
                self._all
            )
        finally:
            self._write(path, original)

    @staticmethod
    def _write(path: Path, text: str) -> None:
        """Write a module; one of the same second and size would otherwise be taken for compiled."""
        path.write_text(text, encoding="utf-8")
        Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def survivors(room: str, mutants: list[Mutant]) -> Iterator[Mutant]:
    """The mutants that the tests of a room do not catch, as soon as they are known.

    Raises:
        RuntimeError: when the tests fail without a mutant.
    """
    with tempfile.TemporaryDirectory() as name:
        checkout = Checkout(Path(name) / "checkout", room)
        if not checkout.record():
            raise RuntimeError(f"the tests of {room} fail without a mutant")
        yield from (mutant for mutant in mutants if not checkout.catches(mutant))


def main() -> int:
    """Test as many mutants as requested; returns whether too few of them were caught."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, default=95, help="per cent that must be caught")
    given = parser.parse_args()
    mutants = list(chosen(given.room, given.mutants, given.seed))
    alive = 0
    for each in survivors(given.room, mutants):
        alive += 1
        print(f"survived: {each}", flush=True)
    caught_pct = 100 * (1 - alive / len(mutants))
    print(f"{given.room}: {len(mutants) - alive} of {len(mutants)} caught, {caught_pct:.0f} %")
    return int(caught_pct < given.least)


if __name__ == "__main__":
    sys.exit(main())
