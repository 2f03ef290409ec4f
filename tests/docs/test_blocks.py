"""Blocks of the documentation: commands that exist, documents that are read, and Python."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest

from bdpbench.cli import cli
from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.metrics import DEFINITIONS
from bdpbench.score import load_claims
from bdpbench.score.published import load_history
from bdpbench.studies.atlas import Catalogue, Membership
from bdpbench.studies.study import Study

DOCS = repository_root() / "docs"
BLOCKS = {
    f"{page.name} {number}": (kind, text)
    for page in [*sorted(DOCS.glob("*.md")), *sorted(DOCS.parent.glob("*.md"))]
    for number, (kind, text) in enumerate(
        re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    )
}
CALL = re.compile(r"(?:^|[\s(])\.?\./bdpbench\b([^\n|>&)]*)")


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_what_it_says(name: str, tmp_path: Path) -> None:
    kind, text = BLOCKS[name]
    if kind in {"sh", "bash", "console"}:
        for words in CALL.findall(text.replace("\\\n", " ")):
            _check_command(shlex.split(words, comments=True))
    elif kind in {"py", "python"}:
        compile(text, name, "exec")
    elif kind in {"yaml", "yml"}:
        (tmp_path / "block.yaml").write_text(text)
        _check_document(tmp_path / "block.yaml", tmp_path)
    else:
        assert kind in {"text", "tex", "cpp", "c"}


def _check_command(words: list[str]) -> None:
    """Each command, option and argument exists, and required arguments are there."""
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found is not None, words
        command, context, words = found, click.Context(found, parent=context), words[1:]
    if not command.ignore_unknown_options:
        given, rest, _ = command.make_parser(context).parse_args(list(words))
        needed = [each.name for each in command.params if each.required]
        assert (rest, [each for each in needed if not given.get(str(each))]) == ([], []), words


def _check_document(path: Path, folder: Path) -> None:
    found: Any = YamlFile(path).data
    if isinstance(found, list):  # test_docs.py reads a spread
        if "statement" in found[0]:
            assert load_claims(path, DEFINITIONS)
        elif "date" in found[0]:
            assert load_history(path, {"max-cwnd"})
    elif "entries" in found:
        Membership.model_validate(found)
    elif {"relations", "comparisons"} & set(found):
        Catalogue.model_validate({"schema_version": 1} | found)
    elif set(found) <= set(Study.model_fields):
        _check_study(found, folder)
    elif {"flows", "changes", "background"} & set(found):
        _check_study({"scenarios": {"buffers": found}}, folder)
    else:
        assert {"matrices", "default-resources"} & set(found)


def _check_study(part: dict[str, Any], folder: Path) -> None:
    """A part of a study.yaml is one, put into the study of the tutorial."""
    (text,) = (text for _, text in BLOCKS.values() if "\nkey: mystudy\ntitle: Does" in text)
    (folder / "study.yaml").write_text(text)
    study = YamlFile(folder / "study.yaml").data
    scenarios = part.get("scenarios", {}).items()
    base = study["scenarios"]["buffers"]
    study |= part | {"scenarios": {name: base | each for name, each in scenarios} or {"one": base}}
    for protocol in study["protocols"].values():
        if "folder" in protocol:  # which gives the rest
            protocol |= {"label": "Mine", "colour": "#336699"}
    Study.model_validate(study)
