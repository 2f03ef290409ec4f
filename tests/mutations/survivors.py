"""Changes single operators, constants and conditions of a room, and names what its tests overlook.

    python=.bdpbench/venv/bin/python
    PYTHONPATH=$PWD/pipeline:$PWD $python tests/mutations/survivors.py score --mutants 60 --seed 1

Each mutant is a change to one place of one module, in a copy of the checkout; the tests of the room
alone have to fail with it. Prints the mutants that survive, and ends with status 1 if fewer than
LEAST_PCT are caught. ``equivalent.yaml`` lists changes that change nothing, each with the reason.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from bdpbench.contracts.paths import home_dir, repository_root

LEAST_PCT = 95
ROOMS = ("score", "metrics", "studies", "trace", "simulation", "pages")
# Tests of a room that need more than the room, and stand with what they need.
ELSEWHERE = {
    "simulation": (
        *("tests/app/test_progress.py", "tests/ns2/test_linux_modules.py"),
        "tests/ns2/test_kernel_modules.py",
    ),
    "trace": ("tests/pipeline/metrics/packets/test_text.py",),
    "score": ("tests/app/test_atlas.py",),
    "studies": (
        *("tests/app/test_atlas.py", "tests/cli/test_new.py", "tests/app/test_repeating.py"),
        *("tests/app/test_evaluate.py", "tests/pipeline/simulation/test_folders.py"),
    ),
    "pages": ("tests/app/test_atlas.py", "tests/app/test_evaluate_report.py"),
}
LEFT_OUT = (".git", ".bdpbench", "results", "__pycache__", ".mypy_cache")
PYTEST = ("-P", "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider")
_PAIRS = {
    ast.Lt: ast.LtE, ast.Gt: ast.GtE, ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn,
    ast.And: ast.Or, ast.Add: ast.Sub, ast.Mult: ast.Div,
}  # fmt: skip
OTHER: dict[type[ast.AST], type[ast.AST]] = {
    **_PAIRS,
    **{other: one for one, other in _PAIRS.items()},
    **dict.fromkeys((ast.FloorDiv, ast.Mod, ast.Pow), ast.Mult),
}
# What no test of behaviour sees: annotations, decorators, and precautions such as zip(strict=True).
UNSEEN = ("annotation", "returns", "decorator_list")
PRECAUTIONS = ("strict", "check", "parents", "exist_ok", "frozen", "defer_build")
GENERIC = ("Literal", "Annotated", "TypeVar", "dict", "list", "tuple")


class Change(ast.NodeTransformer):
    """Counts the places that can be changed, and changes the one with a number."""

    def __init__(self, number: int = -1) -> None:
        self.number, self.count, self.line = number, 0, 0

    def visit(self, node: ast.AST) -> ast.AST:
        """The node, or the changed one."""
        match node:
            case ast.keyword(arg=name) if name in PRECAUTIONS:
                return node
            case ast.Subscript(value=ast.Name(name)) if name in GENERIC:
                return node
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                return node
        self._change(node)
        for name, child in ast.iter_fields(node):
            if name not in UNSEEN:
                for each in child if isinstance(child, list) else [child]:
                    if isinstance(each, ast.AST):
                        self.visit(each)
        return node

    def _change(self, node: ast.AST) -> None:
        match node:
            case ast.Compare(ops=[first, *others]) if self._chosen(node):
                node.ops = [OTHER[type(first)](), *others]
            case ast.BoolOp() | ast.BinOp() | ast.AugAssign() if type(node.op) in OTHER:
                if self._chosen(node):
                    node.op = OTHER[type(node.op)]()
            case ast.Constant(value=bool() | int() | float() as value) if self._chosen(node):
                node.value = not value if isinstance(value, bool) else value + 1
            case ast.If() | ast.IfExp() | ast.While() if self._chosen(node):
                node.test = ast.UnaryOp(ast.Not(), node.test)
            case ast.comprehension(ifs=[*others, last]) if self._chosen(last):
                node.ifs = [*others, ast.UnaryOp(ast.Not(), last)]

    def _chosen(self, node: ast.AST) -> bool:
        self.count += 1
        if self.count - 1 != self.number:
            return False
        self.line = getattr(node, "lineno", 0)
        return True


def mutant(path: Path, number: int) -> tuple[str, str, str, int]:
    """The code of a module with that change, its line before and after, and the line's number."""
    code = path.read_text(encoding="utf-8")
    change = Change(number)
    before, after = ast.unparse(ast.parse(code)), ast.unparse(change.visit(ast.parse(code)))
    lines = zip(before.splitlines(), after.splitlines(), strict=True)
    was, now = next(pair for pair in lines if pair[0] != pair[1])
    return after, was.strip(), now.strip(), change.line


def passes(root: Path, room: str) -> bool:
    """Whether the tests of a room pass in a copy of the checkout."""
    tests = (f"tests/pipeline/{room}", f"pipeline/bdpbench/{room}", *ELSEWHERE.get(room, ()))
    environment = {
        **os.environ,
        "PYTHONPATH": f"{root / 'pipeline'}:{root}",
        "BDPBENCH_HOME": str(home_dir()),
        "PYTHONDONTWRITEBYTECODE": "1",  # a mutant of the same second and size is another module
    }
    command = [sys.executable, *PYTEST, f"--basetemp={root}.tmp", *tests]
    try:
        return not subprocess.run(
            command, cwd=root, env=environment, capture_output=True, timeout=900, check=False
        ).returncode
    except subprocess.TimeoutExpired:
        return False


def main() -> int:
    """Test as many mutants as requested; returns whether too few of them were caught."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--mutants", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    listed = yaml.safe_load(Path(__file__).with_name("equivalent.yaml").read_text("utf-8"))
    equivalent = {(each["module"], each["was"], each["now"]) for each in listed}
    tested = survived = 0
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "checkout"
        ignored = shutil.ignore_patterns(*LEFT_OUT)
        shutil.copytree(repository_root(), root, ignore=ignored, symlinks=True)
        if not passes(root, given.room):
            raise RuntimeError(f"the tests of {given.room} fail without a mutant")
        places = []
        for path in sorted((root / "pipeline" / "bdpbench" / given.room).rglob("*.py")):
            every = Change()
            every.visit(ast.parse(path.read_text(encoding="utf-8")))
            places += [(path, number) for number in range(every.count)]
        random.Random(given.seed).shuffle(places)
        while places and tested < given.mutants:
            path, number = places.pop()
            code, was, now, line = mutant(path, number)
            module, original = str(path.relative_to(root)), path.read_text(encoding="utf-8")
            if (module, was, now) in equivalent:
                continue
            path.write_text(code, encoding="utf-8")
            if passes(root, given.room):
                print(f"survived: {module}:{line}: {was}  ->  {now}", flush=True)
                survived += 1
            path.write_text(original, encoding="utf-8")
            tested += 1
    caught_pct = 100 * (1 - survived / tested)
    print(f"{given.room}: {tested - survived} of {tested} caught, {caught_pct:.0f} %")
    return int(caught_pct < LEAST_PCT)


if __name__ == "__main__":
    sys.exit(main())
