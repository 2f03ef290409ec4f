"""Imports only go downwards, and rooms on the same floor do not import one another."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import bdpbench

PACKAGE = Path(bdpbench.__file__).parent
# Floor of each room; a module may import only from lower floors and from its own room.
FLOORS = {
    "errors": 0,
    "units": 0,
    "contracts": 1,
    "compiled": 2,
    "studies": 2,
    "simulation": 3,
    "trace": 3,
    "metrics": 3,
    "score": 3,
    "recover": 3,
    "pages": 3,
    "archive": 3,
    "app": 4,
    "cli": 5,
    "interface": 5,
}


def _room(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "bdpbench" and len(parts) > 1 else None


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module, which several tests look at."""
    return tuple(ast.walk(ast.parse(path.read_text())))


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in _nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return names


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.name))
def test_imports_run_down(path: Path) -> None:
    relative = path.relative_to(PACKAGE)
    own = relative.parts[0].removesuffix(".py")
    if own in ("__init__", "__main__"):
        return
    for module in _imports(path):
        room = _room(module)
        if room is not None and room != own and room != "__version__":
            assert FLOORS[room] < FLOORS[own], f"{relative} imports {module}"


# Foreign documents, whose structure our types cannot describe: JSON and YAML as read, and the
# JSON-LD of RO-Crate.
_FREE = {
    "contracts/files.py",
    "contracts/yaml_files.py",
    "archive/crate.py",
}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.name))
def test_no_public_function_takes_or_gives_untyped_documents(path: Path) -> None:
    relative = path.relative_to(PACKAGE).as_posix()
    if relative in _FREE:
        return
    for node in _nodes(path):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            annotations = [each.annotation for each in given] + [node.returns]
            said = [ast.unparse(each) for each in annotations if each is not None]
            untyped = [each for each in said if "[str, Any]" in each]
            assert not untyped, f"{relative}:{node.lineno}: {node.name} has {untyped}"
