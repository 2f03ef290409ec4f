"""What the progress says follows from the files that the simulations leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from bdpbench.workflow.progress import simulated_share


@pytest.mark.parametrize(
    ("told", "share"),
    [("15 60\n", 0.25), ("61 60\n", 1.0), ("", 0.0), ("15", 0.0), ("a b", 0.0), ("0 0", 0.0)],
)
def test_the_share_is_what_ns2_last_told(tmp_path: Path, told: str, share: float) -> None:
    (tmp_path / "progress").write_text(told)
    assert simulated_share(tmp_path) == share


def test_a_finished_run_is_whole_and_one_that_has_not_begun_is_nothing(tmp_path: Path) -> None:
    assert simulated_share(tmp_path) == 0.0
    (tmp_path / "run.json").write_text("{}")
    assert simulated_share(tmp_path) == 1.0
