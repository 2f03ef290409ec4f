"""Every mistake in study.yaml is reported with file, line and key, and with a remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import load_study, read_study

WriteStudy = Callable[[str, str], Path]


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("    title: Two", "    titel: Two", 19, ["titel: unknown key", "'title'"]),
        ("bottleneck_mbps: 10", "bottleneck_mbps: -10", 10, ["bottleneck_mbps", "at least 1e-06"]),
        (
            "bottleneck_mbps: 10",
            "bottleneck_mbps: ten",
            10,
            ["bottleneck_mbps", "expected a number", "'ten'"],
        ),
        ("buffer_pkts: [25, 50]", "buffer_pkts: []", 23, ["buffer_pkts", "expands to no run"]),
        ("buffer_pkts: [25, 50]", "buffer_pkt: [25, 50]", 23, ["buffer_pkt", "'buffer_pkts'"]),
        ("[Reno, NewReno]", "[Reno, NewRena]", 22, ["unknown protocol 'NewRena'", "'NewReno'"]),
        ("topology: small", "topology: smal", 20, ["unknown topology 'smal'", "'small'"]),
        ("{buffer_pkts: [25]}", "{buffer_pkts: [26]}", 28, ["no run has one of [26]", "[25, 50]"]),
        ("{duration_s: 10}", "{}", 30, ["duration_s", "missing"]),
        ("quick:", "quik:", 27, ["quik"]),
        (
            "    topology: small",
            "    script: none.tcl\n    topology: small",
            20,
            ["no such script"],
        ),
        ("key: mine", "key: yours", 2, ["expected 'mine'"]),
        ('"#336699"', '"blue"', 5, ["colour"]),
        ("schema_version: 1", "schema_version: 2", 1, ["schema_version"]),
    ],
)
def test_a_mistake_names_its_line_and_a_remedy(
    study_file: WriteStudy, old: str, new: str, line: int, said: list[str]
) -> None:
    path = study_file(old, new)
    with pytest.raises(BdpbenchError) as caught:
        read_study(path)
    text = str(caught.value)
    assert f"{path}:{line}" in text
    for part in said:
        assert part in text


def test_several_mistakes_are_told_together(study_file: WriteStudy) -> None:
    path = study_file("    title: Two", "    titel: Two\n    sumary: []\n    title: Two")
    with pytest.raises(BdpbenchError, match="2 problems") as caught:
        read_study(path)
    assert "'summary'" in str(caught.value)


def test_text_that_is_not_yaml_is_told_with_its_line(study_file: WriteStudy) -> None:
    path = study_file("title: Two buffers", "title: [Two buffers")
    with pytest.raises(BdpbenchError, match=r"study\.yaml:\d+: not valid YAML"):
        read_study(path)


def test_an_unknown_study_is_told_with_a_suggestion(study_file: WriteStudy) -> None:
    study_file("", "")
    with pytest.raises(BdpbenchError, match="did you mean 'mine'"):
        load_study("mien")


def test_a_dumbbell_without_flows_is_refused(study_file: WriteStudy) -> None:
    path = study_file("    flows:\n      - {count: 2, stagger_s: 1}\n", "")
    with pytest.raises(BdpbenchError, match="needs 'flows'"):
        read_study(path)
