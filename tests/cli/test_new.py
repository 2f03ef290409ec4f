"""`new` writes a study and a metric that run as they are."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests.cli.conftest import Done

from bdpbench.contracts.paths import repository_root

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
        (["study", "law"], "exists already"),
        (["protocol", "mine"], "exists already"),
        (["queue", "law"], "exists already"),
        (["study", "sharma2006"], "studies/sharma2006 has this name already"),
        (["study", "bbr"], "protocols/bbr has this name already"),
        (["protocol", "evaluation"], "evaluation has this name already"),
        (["queue", "cubic"], "protocols/cubic has this name already"),
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
    (tmp_path / "law").mkdir()
    (tmp_path / "law" / "law.cc").touch()
    done = bdpbench("new", *what)
    assert done.code == 1
    assert said in done.err
    assert (tmp_path / "mine" / "study.yaml").read_text() == "key: mine\n"
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert found == {"mine", "mine/study.yaml", "law", "law/law.cc"}


def test_what_is_begun_names_its_folder_so_that_any_study_finds_it(
    bdpbench: Call, tmp_path: Path
) -> None:
    folder = tmp_path / "a, b: {c}" / "my_law"
    folder.mkdir(parents=True)  # empty, as a user makes it
    said = bdpbench("new", "protocol", str(folder)).out
    line = said.partition("uses it with ")[2]
    assert yaml.safe_load(line) == {"protocols": {"MyLaw": {"folder": str(folder)}}}


def test_a_name_of_two_folders_is_refused(
    bdpbench: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, beside = tmp_path / "config" / "studies" / "both", tmp_path / "both"
    config = Path(shutil.copytree(repository_root() / "config", tmp_path / "config"))
    monkeypatch.setenv("BDPBENCH_CONFIG", str(config))
    assert bdpbench("new", "study", str(own)).code == 0
    assert bdpbench("list", "both").code == 0
    shutil.copytree(own, beside)
    for command in ("list", "run", "report", "archive", "publish", "check"):
        done = bdpbench(command, "both")
        assert done.code == 1
        assert f"both: {own} and {beside} have this name" in done.err
        assert "whose results these would replace" in bdpbench(command, "./both").err
    assert bdpbench("list", str(own)).code == bdpbench("list").code == 0
    (tmp_path / "even2007").mkdir()
    (tmp_path / "even2007" / "provenance.json").touch()
    said = f"even2007: {config}/studies/even2007 and {tmp_path}/even2007 have this name"
    assert said in bdpbench("report", "even2007", "--export", "figures").err
    shutil.copytree(config / "protocols" / "aimd", tmp_path / "aimd")
    done = bdpbench("evaluate", "aimd", "-n")
    assert f"aimd: {config}/protocols/aimd and {tmp_path}/aimd have this name" in done.err


def test_two_studies_of_one_name_do_not_replace_each_other_s_results(
    bdpbench: Call, tmp_path: Path, ns_binary: Path
) -> None:
    first, second = tmp_path / "first" / "same", tmp_path / "second" / "same"
    assert bdpbench("new", "study", str(first)).code == 0
    shutil.copytree(first, second)
    assert bdpbench("plan", str(first)).code == 0
    done = bdpbench("run", str(second), "-n")
    assert f"has the results of {first}, which those of {second} would replace" in done.err
    first.rename(tmp_path / "first" / "other")
    assert bdpbench("run", str(second), "-n").code == 0
