"""Every mistake in study.yaml is reported with file, line and key, and with a remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.data_of import yaml_of
from tests.pipeline.studies.network.conftest import write_study

from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import load_study, read_study
from bdpbench.studies.runs import expand_tier

CASES = yaml_of(Path(__file__).with_name("refusals.yaml").read_text())


@pytest.mark.parametrize("case", CASES["networks"], ids=lambda case: str(case["says"]))
def test_an_impossible_network_is_refused(tmp_path: Path, case: dict[str, Any]) -> None:
    path = write_study(tmp_path, case["scenario"])
    with pytest.raises(BdpbenchError) as caught:
        expand_tier(read_study(path), "quick")
    assert case["says"] in str(caught.value)
    file, _, line = str(caught.value.where).partition(":")
    assert file == str(path)
    if "problems" in case["says"]:
        return  # each of them names its line
    told = path.read_text().splitlines()[int(line) - 1]
    # A missing key is reported where it would be.
    assert f'"{case["key"]}"' in told or (case["key"] == "-" and told.strip() == "{")


@pytest.mark.parametrize("case", CASES["edits"], ids=lambda case: str(case["says"][0]))
def test_a_mistake_names_its_line_and_a_remedy(
    study_file: Callable[[str, str], Path], case: dict[str, Any]
) -> None:
    path = study_file(case["old"], case["new"])
    with pytest.raises(BdpbenchError) as caught:
        expand_tier(load_study("mine"), "paper")
    for part in (f"{path}:{case['line']}", *case["says"]):
        assert part in str(caught.value)


def test_an_unknown_study_is_told_with_a_suggestion(
    study_file: Callable[[str, str], Path],
) -> None:
    study_file("", "")
    with pytest.raises(BdpbenchError, match="did you mean 'mine'"):
        load_study("mien")
