"""regions.yaml: what a study says of pairs without a number."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdpbench.errors import BdpbenchError
from bdpbench.pages import load_regions
from bdpbench.studies.load import find_study, load_study

RIGHT = """\
scenario: inter_protocol
where: Figure 1
levels: 5
pairs: {HS: {Scalable: 5}}
ranking: [[Scalable], [HS, BIC], [CUBIC]]
"""


def test_the_regions_of_the_thesis() -> None:
    regions = load_regions(find_study("sharma2006") / "regions.yaml", load_study("sharma2006"))
    assert regions is not None
    # 36 pairs but HS-TCP with BIC-TCP in both orders; sections 5.2.1 to 5.2.5.
    assert sum(len(seconds) for seconds in regions.pairs.values()) == 34
    fair = {(a, b) for a, seconds in regions.pairs.items() for b in seconds if seconds[b] == 1}
    assert fair == {("HS", "HS"), ("CUBIC", "CUBIC"), ("HTCP", "HTCP"), ("HTCP", "BIC")}
    starved = {(a, b) for a, seconds in regions.pairs.items() for b in seconds if seconds[b] == 5}
    # Every pair with Scalable TCP but the two with FAST: 11 - 2.
    assert len(starved) == 9
    assert all("Scalable" in pair and "FAST" not in pair for pair in starved)
    # Section 6.2: 1, 2, 3, 3, 5, 6.
    ranks = [regions.rank(key) for key in ("HTCP", "FAST", "HS", "BIC", "CUBIC", "Scalable")]
    assert ranks == [1, 2, 3, 3, 5, 6]
    assert regions.rank("SACK") is None


def test_a_study_may_do_without(tmp_path: Path) -> None:
    assert load_regions(tmp_path / "regions.yaml", load_study("sharma2006")) is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "Scalable: 5}",
            "Scaleable: 5}",
            r"regions\.yaml:4: pairs\.HS\.Scaleable: unknown protocol",
        ),
        ("{HS:", "{XS:", r"regions\.yaml:4: pairs\.XS: unknown protocol"),
        ("Scalable: 5}", "Scalable: 6}", r"6 is more than levels, 5"),
        ("Scalable: 5}", "Scalable: 0}", r"pairs\.HS\.Scalable: input should be greater"),
        ("inter_protocol", "interprotocol", r"scenario: unknown scenario"),
        ("CUBIC]]", "QUBIC]]", r"ranking\.2: unknown protocol"),
        ("levels:", "level:", r"level: unknown key"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "regions.yaml"
    assert old in RIGHT
    path.write_text(RIGHT.replace(old, new))
    with pytest.raises(BdpbenchError, match=said):
        load_regions(path, load_study("sharma2006"))
