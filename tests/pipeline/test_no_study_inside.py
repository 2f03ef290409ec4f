"""The pipeline and the Tcl library know no study, neither its key nor anything specific to it.

What is specific follows from the files under config/studies, so the test also covers future
studies. Literature is cited as such: "Sharma (2006), Table 1".
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bdpbench.contracts.paths import config_dir, repository_root
from bdpbench.contracts.yaml_files import YamlFile

ROOT = repository_root()
STUDIES = sorted((config_dir() / "studies").glob("*/study.yaml"))
# Suffixes of text files that are shipped, beside the scripts that ns-2 runs.
TEXT = {".py", ".tcl", ".smk", ".c", ".h", ".sh", ".toml", ".yaml", ".json", ".html", ".css", ".js"}
PLACES = ("pipeline/bdpbench", "tcl/lib", "workflow/rules")
# A part of bdpbench itself, which any study may use.
SHARED_SCRIPTS = {"network.tcl"}


@cache
def _read(path: Path) -> dict[str, Any]:
    study = YamlFile(path).data
    assert isinstance(study, dict)
    return study


def _texts() -> dict[str, str]:
    files = (path for place in PLACES for path in sorted((ROOT / place).rglob("*")))
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in [*files, ROOT / "Snakefile"]
        if path.is_file() and (path.suffix in TEXT or path.name == "Snakefile")
    }


TEXTS = _texts()


def _places_of(words: set[str]) -> list[str]:
    """Where any of the words occurs as a whole word: ``file:line: word``."""
    if not words:
        return []
    pattern = re.compile(rf"(?<![\w])({'|'.join(map(re.escape, sorted(words)))})(?![\w])")
    return [
        f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {found[1]}"
        for name, text in TEXTS.items()
        for found in pattern.finditer(text)
    ]


def test_there_is_something_to_look_through() -> None:
    assert len(STUDIES) >= 2
    assert len(TEXTS) > 100
    # The search works: it finds a word of the Tcl library at the start of a line or inside it.
    assert any(each.startswith("tcl/lib/utils.tcl:") for each in _places_of({"fmon"}))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: str(path.parent.name))
def test_a_study_s_key_stands_nowhere(path: Path) -> None:
    assert _places_of({path.parent.name}) == []


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: str(path.parent.name))
def test_no_script_of_a_study_is_named(path: Path) -> None:
    scripts = {each.get("script", "network.tcl") for each in _read(path)["scenarios"].values()}
    own = {script for script in scripts if script not in SHARED_SCRIPTS}
    assert _places_of(own | {Path(script).name for script in own}) == []


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: str(path.parent.name))
def test_no_parameter_of_a_study_s_own_is_named(path: Path) -> None:
    assert _places_of(set(_read(path).get("parameters", {}))) == []


@cache
def _constants() -> dict[str, list[str]]:
    """Text constants in the code → where they are, ``file:line``."""
    found: dict[str, list[str]] = {}
    for name, text in TEXTS.items():
        if name.endswith(".py"):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.setdefault(node.value, []).append(f"{name}:{node.lineno}")
    return found


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: str(path.parent.name))
def test_no_protocol_or_scenario_of_a_study_is_a_special_case(path: Path) -> None:
    """Their keys must not occur in the code, as other studies may use other names.

    A scenario's key of a single word (``rtt``) may occur with another meaning.
    """
    study = _read(path)
    keys = {*study["protocols"], *(key for key in study["scenarios"] if "_" in key)}
    found = {key: places for key in keys if (places := _constants().get(key))}
    assert found == {}
