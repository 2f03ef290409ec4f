"""matrices.yaml and page.yaml: what studies declare about their pages is checked before a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.metrics import definitions_for
from bdpbench.pages.matrices import load_matrices
from bdpbench.pages.texts import load_page
from bdpbench.studies.load import find_study, load_study

METRICS = {*definitions_for(find_study("sharma2006"))}
MATRICES = """\
matrices:
  - scenario: inter_protocol
    metric: asymmetry
    rows: {parameter: protocol_1, title: first}
    columns: {parameter: protocol_2, title: second}
    ends: [-1, 1]
    only: {protocol_1: [HS, BIC]}
"""
PAGE = """\
filled_share: 0.9
protocols:
  HS:
    said:
      - {where: Table 1, text: It is quick.}
"""


def test_a_mean_over_shares_of_the_bdp_can_count_each_run_once(tmp_path: Path) -> None:
    path = tmp_path / "matrices.yaml"
    path.write_text(
        "matrices: [{scenario: short_same, metric: utilization, mean_over: [buffer_pkts],\n"
        "  rows: {parameter: protocol, title: a}, columns: {parameter: rtt_2_ms, title: b}}]"
    )
    (matrix,) = load_matrices(path, load_study("ahmad2013"), METRICS)
    assert matrix.mean_over == ["buffer_pkts"]


def test_a_study_may_do_without(tmp_path: Path) -> None:
    study = load_study("sharma2006")
    assert load_matrices(tmp_path / "matrices.yaml", study, METRICS) == []
    assert load_page(tmp_path / "page.yaml", study).protocols == {}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[HS, BIC]", "[XS, BIC]", r"yaml:7: .*only\..*unknown protocol"),
        ("inter_protocol", "interprotocol", r"yaml:2: matrices\.0\.scenario: unknown scenario"),
        ("metric: asymmetry", "metric: asymetry", r"yaml:3: .*unknown metric .*\n.*asymmetry"),
        ("[-1, 1]", "[-1, 1]\n    mean_over: [rtt_ms]", r"yaml:7: .*mean_over\.0: unknown varied"),
        ("[-1, 1]", "[-1, 1]\n    mean_over: [buffer_pkts]", r"yaml:7: .*unknown varied"),
        ("protocol_2", "buffer_pkts", r"yaml:5: .*unknown varied parameter 'buffer_pkts'"),
        ("[-1, 1]", "[1, -1]", r"the first, 1, must be below the second"),
        ("[-1, 1]", "[-1, 1]\n    panels: protocol_1", r"panels: protocol_1 is already part"),
        ("[-1, 1]", "[-1, 1]\n    winner: {among: queue}", r"winner: its colours"),
        ("HS:", "XS:", r"yaml:3: protocols\.XS: unknown protocol"),
        ("0.9", "1.9", r"yaml:1: filled_share: input should be less than or equal to 1"),
        ("said:", "says:", r"yaml:4: protocols\.HS\.says: unknown key"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = MATRICES if old in MATRICES else PAGE
    path, study = tmp_path / "its.yaml", load_study("sharma2006")
    path.write_text(text.replace(old, new))
    assert path.read_text() != text
    with pytest.raises(BdpbenchError, match=said):
        load_matrices(path, study, METRICS) if text is MATRICES else load_page(path, study)
