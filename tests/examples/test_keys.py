"""Every key of the examples has an effect: its value changed, it changes the plan or is refused.

The plan has the arguments of ns-2 and the texts and metrics that the report shows.
"""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bdpbench.app.planning import Wanted, prepare
from bdpbench.contracts.paths import config_dir
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError

EXAMPLES = config_dir() / "studies" / "examples"
STUDIES = {path.parent.name: YamlFile(path).data for path in sorted(EXAMPLES.glob("*/study.yaml"))}
Place = tuple[str | int, ...]

# Bounds have an effect on values beyond them only, so they are moved beyond all values.
BOUNDS = {"minimum": 1e6, "above": 1e6}


def leaves(node: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value that is neither a mapping nor a list, with its place."""
    if not isinstance(node, (dict, list)):
        yield place, node
        return
    for key, child in node.items() if isinstance(node, dict) else enumerate(node):
        yield from leaves(child, (*place, key))


def key_of(place: Place) -> str:
    """The last name on the way to a value."""
    return [str(part) for part in place if isinstance(part, str)][-1]


def kind_of(place: Place) -> Place:
    """The key, whatever the protocols and scenarios are called that have it, and in which order."""
    return tuple("*" if i == 1 or isinstance(part, int) else part for i, part in enumerate(place))


FIRST: dict[Place, tuple[str, Place]] = {}
for _name, _study in STUDIES.items():
    for _place, _ in leaves(_study):
        FIRST.setdefault(kind_of(_place), (_name, _place))


def valid_elsewhere() -> dict[str, list[str]]:
    """Key → the words that it has anywhere in the examples."""
    found: dict[str, list[str]] = {}
    for study in STUDIES.values():
        for place, value in leaves(study):
            if isinstance(value, str):
                found.setdefault(key_of(place), []).append(value)
    return found


ELSEWHERE = valid_elsewhere()


def other(place: Place, value: Any) -> Any:
    """Another value that looks as valid as the given one."""
    key = key_of(place)
    if key in BOUNDS:
        return BOUNDS[key]
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value * 2 or 1
    return next((each for each in ELSEWHERE[key] if each != value), f"{value}x")


def changed(study: Any, place: Place, value: Any) -> Any:
    """The study with another value in one place."""
    found = copy.deepcopy(study)
    node = found
    for part in place[:-1]:
        node = node[part]
    node[place[-1]] = value
    return found


def plan_of(folder: Path, study: Any) -> str:
    """The plan, without the checksum of all files."""
    text = yaml.dump(study, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False)
    (folder / "study.yaml").write_text(text)
    results = folder.parent / "results"
    plan = prepare(Wanted(str(folder), "quick", results=results, build_id="b" * 16)).plan
    return json.dumps({**plan, "evaluation_sha256": ""}, sort_keys=True)


@pytest.mark.parametrize("name", STUDIES)
def test_every_changed_value_changes_the_plan_or_is_refused(name: str, tmp_path: Path) -> None:
    folder, study = tmp_path / "studies" / "examples" / name, STUDIES[name]
    shutil.copytree(EXAMPLES / name, folder)
    (tmp_path / "protocols").symlink_to(config_dir() / "protocols")
    plan = plan_of(folder, study)
    ignored = []
    for place, value in leaves(study):
        if FIRST[kind_of(place)] != (name, place):
            continue
        try:
            same = plan_of(folder, changed(study, place, other(place, value))) == plan
        except BdpbenchError as error:
            same = f"{folder / 'study.yaml'}:" not in str(error)
        if same:
            ignored.append(f"{'.'.join(map(str, place))}: {value!r} → {other(place, value)!r}")
    assert ignored == []
