"""`new` writes a study and a metric that run as they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import Done

Call = Callable[..., Done]


def test_what_is_begun_runs_as_it_is(bdpbench: Call, tmp_path: Path, ns_binary: Path) -> None:
    assert bdpbench("new", "study", "mine").code == 0
    assert bdpbench("new", "metric", "half_full", "mine").code == 0
    study = tmp_path / "mine" / "study.yaml"
    study.write_text(study.read_text().replace("duration_s: 30", "duration_s: 3"))
    done = bdpbench("run", "mine", "--protocol", "sack", "--backend", "native")
    assert done.code == 0, done.err
    metrics = pl.read_parquet(tmp_path / "results" / "mine" / "quick" / "metrics.parquet")
    assert metrics.filter(pl.col("metric") == "half_full").height == 3


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (["study", "mine"], "exists already"),
        (["study", "Mine"], "cannot be the name of a study"),
        (["study", "sharma2006"], "is the key of a configured study"),
        (["metric", "class", "mine"], "cannot be the name of a metric"),
        (["metric", "utilization", "mine"], "is a metric of bdpbench already"),
        (["metric", "own", "nobody"], "`./bdpbench new study NAME` makes one"),
    ],
)
def test_nothing_is_overwritten_or_begun_under_a_bad_name(
    bdpbench: Call, tmp_path: Path, what: list[str], said: str
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "study.yaml").write_text("key: mine\n")
    done = bdpbench("new", *what)
    assert done.code == 1
    assert said in done.err
    assert (tmp_path / "mine" / "study.yaml").read_text() == "key: mine\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
