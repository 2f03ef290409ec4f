"""Imports only go downwards, and rooms on the same floor do not import one another."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import bdpbench

PACKAGE = Path(bdpbench.__file__).parent
# Floor of each room; a module may import only from lower floors and from its own room.
FLOORS = {
    "errors": 0,
    "units": 0,
    "later": 0,
    "processes": 0,
    "contracts": 1,
    "compiled": 2,
    "studies": 2,
    "simulation": 3,
    "trace": 3,
    "metrics": 3,
    "score": 3,
    "pages": 3,
    "app": 4,
    "cli": 5,
    "interface": 5,
}


def _room(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "bdpbench" and len(parts) > 1 else None


@cache
def _modules() -> dict[str, tuple[ast.AST, ...]]:
    """Path of each module in the package → all of its nodes."""
    paths = sorted(PACKAGE.rglob("*.py"))
    parsed = {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text()) for path in paths}
    assert len(parsed) > 100
    return {path: tuple(ast.walk(tree)) for path, tree in parsed.items()}


def _imports(nodes: tuple[ast.AST, ...]) -> set[str]:
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return names


def test_imports_run_down() -> None:
    upwards = []
    for relative, nodes in _modules().items():
        own = relative.split("/")[0].removesuffix(".py")
        for module in _imports(nodes) if own not in ("__init__", "__main__") else ():
            room = _room(module)
            if room and room not in (own, "__version__") and FLOORS[room] >= FLOORS[own]:
                upwards.append(f"{relative} imports {module}")
    assert upwards == []


# Foreign documents, whose structure our types cannot describe: JSON and YAML as read.
_FREE = {
    "contracts/documents.py",
    "contracts/yaml_files.py",
}


def test_no_public_function_takes_or_gives_untyped_documents() -> None:
    untyped = []
    for relative, nodes in _modules().items():
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        for node in functions if relative not in _FREE else ():
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            annotations = [each.annotation for each in given] + [node.returns]
            said = [ast.unparse(each) for each in annotations if each is not None]
            if not node.name.startswith("_") and any("[str, Any]" in each for each in said):
                untyped.append(f"{relative}:{node.lineno}: {node.name}")
    assert untyped == []
