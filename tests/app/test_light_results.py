"""Runs are copied without ns-2's outputs, and give the same report as with them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.app.conftest import call_bdpbench, write_config, write_record

from bdpbench.app.mending import merge
from bdpbench.app.stages import read_metrics, report_inputs
from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import run_folders
from bdpbench.contracts.plan import read_plan
from bdpbench.contracts.reports import read_scorecard
from bdpbench.errors import BdpbenchError

TIER = Path("dumbbell", "quick")
Kept = dict[str, bytes]


def quiet(_: str) -> None:
    """Ignore a message."""


@pytest.fixture
def elsewhere(finished_once: Path, tmp_path: Path) -> Path:
    """The same study on another machine, which received its runs without their outputs."""
    folder = tmp_path / "elsewhere"
    write_config(folder)
    said: list[str] = []
    merge(folder / "results", [finished_once / "results"], said.append, outputs=False)
    assert "3 runs taken without their outputs, 0 were already there, 0 are unfinished" in said[-1]
    return folder


def runs_of(workspace: Path) -> list[Path]:
    return list(run_folders(workspace / "results" / "runs"))


def kept(folder: Path) -> Kept:
    """The files of a folder, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def made_of(workspace: Path) -> Kept:
    """The files of a tier, except the report, which contains links to files."""
    tier = workspace / "results" / TIER
    names = ("metrics.parquet", "metrics.csv", "scorecard.json")
    return {name: (tier / name).read_bytes() for name in names}


def events_of(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["event"] for line in done.stdout.splitlines()]


def test_a_report_is_made_without_outputs_and_nothing_is_simulated(
    finished_once: Path, elsewhere: Path, tmp_path: Path
) -> None:
    assert not list(elsewhere.rglob("out"))
    whole, light = (
        sum(map(len, kept(each / "results" / "runs").values()))
        for each in (finished_once, elsewhere)
    )
    assert light < whole
    told = events_of(call_bdpbench(elsewhere, "run", "--backend", "native", "--json"))
    assert "run_ended" not in told
    assert made_of(elsewhere) == made_of(finished_once)
    # Publishing either gives the same bytes.
    for workspace in (finished_once, elsewhere):
        published = tmp_path / f"published-{workspace.name}"
        done = call_bdpbench(workspace, "publish", "-o", str(published))
        assert done.returncode == 0, done.stderr
    first, second = (
        kept(tmp_path / f"published-{each.name}") for each in (finished_once, elsewhere)
    )
    assert first == second


def test_the_report_links_no_file_that_is_not_here(elsewhere: Path) -> None:
    call_bdpbench(elsewhere, "run", "--backend", "native")
    tier = elsewhere / "results" / TIER
    plan, metrics = read_plan(tier / "plan.json"), read_metrics(tier / "metrics.parquet")
    card, runs = read_scorecard(tier / "scorecard.json"), elsewhere / "results" / "runs"
    assert report_inputs(plan, metrics, card, runs).places == {}


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("run.json", "is not what was written: its SHA-256 differs"),
        ("tables/manifest.json", "is not what was (merged|written): its SHA-256 differs"),
        ("tables/cwnd.parquet", "is not what was parsed: its SHA-256 differs"),
        ("light.json", "is not valid JSON"),
    ],
)
def test_what_was_damaged_on_its_way_is_refused(
    elsewhere: Path, tmp_path: Path, file: str, said: str
) -> None:
    path = runs_of(elsewhere)[0] / file
    content = path.read_bytes()
    change = {
        "run.json": (b'"wall_s": ', b'"wall_s": 1'),
        "tables/manifest.json": (b'"rows": ', b'"rows": 1'),
    }.get(file, (content[:9], b""))
    changed = content.replace(*change)
    assert changed != content
    path.write_bytes(changed)
    with pytest.raises(BdpbenchError, match=rf"nothing was taken:\n.*{said}"):
        merge(tmp_path / "third", [elsewhere / "results"], quiet)
    assert not runs_of(tmp_path / "third")


def test_values_that_are_not_those_that_were_brought_are_measured_again(
    finished_once: Path, elsewhere: Path, tmp_path: Path
) -> None:
    run, *_ = runs_of(elsewhere)
    values = next((run / "values").iterdir())
    others = [next((each / "values").iterdir()) for each in runs_of(elsewhere)]
    values.write_bytes(next(each for each in others if each != values).read_bytes())
    third = tmp_path / "third"
    write_config(third)
    merge(third / "results", [elsewhere / "results"], quiet)
    assert not list((third / "results" / "runs").glob(f"*/{run.name}/values/*"))
    assert call_bdpbench(third, "run", "--backend", "native").returncode == 0
    assert made_of(third) == made_of(finished_once)


def test_outputs_come_later_and_are_never_taken_away(
    finished_once: Path, elsewhere: Path, tmp_path: Path
) -> None:
    whole = kept(finished_once / "results" / "runs")
    light = tmp_path / "light"
    merge(light, [elsewhere / "results"], quiet)
    assert kept(light / "runs") == kept(elsewhere / "results" / "runs")
    said: list[str] = []
    merge(elsewhere / "results", [light, finished_once / "results"], said.append)
    assert "3 runs taken, 3 were already there" in said[-1]
    assert kept(elsewhere / "results" / "runs") == whole
    merge(elsewhere / "results", [light], said.append, outputs=False)
    assert "0 runs taken without their outputs, 3 were already there" in said[-1]
    assert kept(elsewhere / "results" / "runs") == whole
    # In either order of arguments, the folder with the outputs wins.
    merge(tmp_path / "new", [light, finished_once / "results"], said.append)
    assert kept(tmp_path / "new" / "runs") == whole


def test_other_outputs_of_a_run_are_told_without_them(elsewhere: Path, finished_once: Path) -> None:
    path = runs_of(elsewhere)[0] / "run.json"
    record = json.loads(path.read_text())
    record["outputs"]["out/report.txt"]["sha256"] = "0" * 64
    write_record(path.parent, json.dumps(record))
    with pytest.raises(BdpbenchError, match=r"nothing was taken:\n.*out/report.txt differs"):
        merge(elsewhere / "results", [finished_once / "results"], quiet)


def test_a_run_without_tables_is_left_and_told(finished: Path, tmp_path: Path) -> None:
    run, *_ = runs_of(finished)
    shutil.rmtree(run / "tables")
    said: list[str] = []
    merge(tmp_path / "light", [finished / "results"], said.append, outputs=False)
    assert "2 runs taken without their outputs" in said[0]
    assert "1 finished runs were skipped, because their tables are incomplete" in said[1]


def test_a_run_whose_tables_are_lost_is_simulated_again(
    finished_once: Path, elsewhere: Path
) -> None:
    run, *_ = runs_of(elsewhere)
    (run / "tables" / "cwnd.parquet").unlink()
    done = call_bdpbench(elsewhere, "run", "--backend", "native")
    assert done.returncode == 0, done.stderr
    assert "cwnd.parquet is gone; the run is simulated again" in done.stdout
    assert (run / "out").is_dir()
    assert not (run / "light.json").exists()
    assert made_of(elsewhere) == made_of(finished_once)


def test_what_needs_the_outputs_says_that_they_are_not_here(elsewhere: Path) -> None:
    """Tables of an older schema have to be made again from the outputs."""
    run, *_ = runs_of(elsewhere)
    manifest = run / "tables" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["tables"]["cwnd"]["schema"] = "cwnd/0"
    manifest.write_text(json.dumps(content))
    light = json.loads((run / "light.json").read_text())
    light["files"]["tables/manifest.json"]["sha256"] = sha256_of(manifest)
    (run / "light.json").write_text(json.dumps(light))
    before = kept(run)
    done = call_bdpbench(elsewhere, "run", "--backend", "native")
    assert done.returncode == 1
    assert f"{run}: the outputs of this run are not here" in done.stderr
    assert "`./bdpbench merge` copies them" in done.stderr
    assert kept(run) == before


def test_the_command_line_has_it(finished_once: Path, tmp_path: Path) -> None:
    light = tmp_path / "light"
    results = str(finished_once / "results")
    done = call_bdpbench(tmp_path, "merge", str(light), results, "--without-outputs")
    assert done.returncode == 0, done.stderr
    assert not list(light.rglob("out"))
    assert len(list(light.glob("runs/*/*/run.json"))) == 3
