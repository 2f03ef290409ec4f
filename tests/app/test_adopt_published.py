"""A published folder gets the current ids if simulations give its checksums; all or nothing."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
from tests.app.conftest import MadeOnce

from bdpbench.app.run.adopting_published import choose_kinds
from bdpbench.app.run.old_results import OldRun, Pair
from bdpbench.contracts.files import replace_folder
from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import RunRecord
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import expand_tier

Run = Callable[..., "subprocess.CompletedProcess[str]"]

OLD_BUILD = "0123456789abcdef"
OLD_SCRIPT = "tcl/old/script.tcl"
OLD_ID_IS = (
    "Its id is a hash of parameters, script and ns-2 build: the same id\nalways means the same"
)
BODY = re.compile(r'(class="packed">)([A-Za-z0-9+/=]+)(</script>)')


def old_id(run_id: str) -> str:
    """A different id for a run, as an older bdpbench might have given it."""
    return sha256(f"old {run_id}".encode()).hexdigest()[:16]


def unpacked(body: str) -> str:
    return zlib.decompress(base64.b64decode(body), -15).decode()


def packed(text: str) -> str:
    compressor = zlib.compressobj(level=9, wbits=-15)
    return base64.b64encode(compressor.compress(text.encode()) + compressor.flush()).decode()


def command_in(text: str) -> str:
    """The command that runs ns-2 alone, taken from the packed part of a run's page."""
    (command,) = re.findall(r"<pre><code>(mkdir -p out [^<]*)</code></pre>", text)
    return str(command)


def old_command(run_id: str) -> str:
    return f"mkdir -p out &amp;&amp; &#34;$(./bdpbench ns2 path)&#34; {OLD_SCRIPT} 6 {run_id} out"


def age(folder: Path) -> None:
    """Turn a published folder into one of version 1: other ids, old scripts, no identity."""
    kept = json.loads((folder / "runs.json").read_text())
    ids = {run["run_id"]: old_id(run["run_id"]) for run in kept["runs"]}

    def aged(text: str) -> str:
        for new, old in ids.items():
            text = text.replace(new, old)
        return text

    def aged_body(found: re.Match[str]) -> str:
        text = aged(unpacked(found[2]))
        (old,) = {each for each in ids.values() if each in text}
        return found[1] + packed(text.replace(command_in(text), old_command(old))) + found[3]

    for name in ("metrics.csv", "scorecard.json"):
        (folder / name).write_text(aged((folder / name).read_text()))
    metrics = pl.read_parquet(folder / "metrics.parquet")
    metrics.with_columns(pl.col("run_id").replace(ids)).write_parquet(folder / "metrics.parquet")
    page = BODY.sub(aged_body, (folder / "report.html").read_text())
    page = re.sub(r"Its id is a hash of [^:]*: the same id always means the same", OLD_ID_IS, page)
    (folder / "report.html").write_text(aged(page))
    kept["schema_version"] = 1
    for run in kept["runs"]:
        run["run_id"] = ids[run["run_id"]]
        run["argv"] = ["6", run["run_id"], "out"]
        run["script"] = {"path": OLD_SCRIPT, "sha256": "0" * 64}
        run["ns2"]["build_id"] = OLD_BUILD
        run["parameters"]["run"] = run["parameters"].pop("substream", 1)
        del run["identity"]
    (folder / "runs.json").write_text(json.dumps(kept, indent=1) + "\n")
    provenance = json.loads((folder / "provenance.json").read_text())
    provenance["schema_version"] = 1
    (folder / "provenance.json").write_text(json.dumps(provenance, indent=1) + "\n")


@pytest.fixture(scope="session")
def aged_once(made_once: MadeOnce, published_once: Path) -> Path:
    """A published folder with old ids."""

    def make(folder: Path) -> None:
        shutil.copytree(published_once, folder / "dumbbell")
        age(folder / "dumbbell")

    return made_once("aged", make) / "dumbbell"


@pytest.fixture
def old(finished: Path, aged_once: Path) -> Path:
    """A published folder with old ids that tests may change; the current runs are simulated."""
    folder = finished / "published" / "dumbbell"
    shutil.copytree(aged_once, folder)
    (folder / "mine.txt").write_text("a file of somebody's own")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def without(document: bytes, name: str) -> Any:
    """JSON without the fields that say that runs were taken over."""
    content = json.loads(document)
    for each in content["runs"] if isinstance(content["runs"], list) else [content["runs"]]:
        del each[name]
    return content


def test_the_folder_is_as_if_published_today_but_for_what_tells_of_it(
    old: Path, bdpbench: Run, published_once: Path
) -> None:
    before = json.loads((old / "runs.json").read_text())
    done = bdpbench("adopt", str(old), "--backend", "native")
    assert done.returncode == 0, done.stdout + done.stderr
    today, found = contents(published_once), contents(old)
    assert found.pop("mine.txt") == b"a file of somebody's own"
    assert set(found) == set(today)
    for name in ("metrics.csv", "scorecard.json"):
        assert found[name] == today[name]
    metrics = pl.read_parquet(old / "metrics.parquet")
    assert metrics.equals(pl.read_parquet(published_once / "metrics.parquet"))

    ids = {run["run_id"] for run in json.loads(today["runs.json"])["runs"]}
    for run, was in zip(json.loads(found["runs.json"])["runs"], before["runs"], strict=True):
        source = run["taken_over"]
        assert (source["run_id"], source["build_id"]) == (was["run_id"], OLD_BUILD)
        assert {run["run_id"]} <= set(source["sample"]) <= ids
        assert was["run_id"] == old_id(run["run_id"])
        for name in ("places", "parameters", "ns2", "started", "cpu_s", "outputs"):
            assert run[name] == was[name]
    as_published = {"parameters", "ns2"}  # the fixture changed them
    for run, same in zip(
        without(found["runs.json"], "taken_over")["runs"],
        json.loads(today["runs.json"])["runs"],
        strict=True,
    ):
        assert {key: run[key] for key in run.keys() - as_published} == {
            key: same[key] for key in same.keys() - as_published
        }
    assert without(found["provenance.json"], "taken_over") == json.loads(today["provenance.json"])
    told = json.loads(found["provenance.json"])["runs"]["taken_over"]
    assert told == {"runs": 0, "sample": sorted(ids), "ns2_build_ids": [OLD_BUILD]}

    note = (
        "The 3 runs are taken over from results with older run ids, which ns-2 build "
        f"{OLD_BUILD} simulated: simulated again under the ids given here, all gave the same bytes."
    )
    assert found["README.md"].replace(f"\n{note}\n".encode(), b"", 1) == today["README.md"]
    row = f'<tr><th scope="row">Taken over</th><td>{note}</td></tr>\n'.encode()
    assert found["report.html"].count(row) == 1
    assert found["report.html"].replace(row, b"") == today["report.html"]


def test_what_has_the_ids_of_today_is_left_alone(old: Path, bdpbench: Run) -> None:
    assert bdpbench("adopt", str(old), "--backend", "native").returncode == 0
    before = contents(old)
    again = bdpbench("adopt", str(old), "--backend", "native")
    assert again.returncode == 0, again.stderr
    assert "their ids are the current ones" in again.stdout
    assert contents(old) == before


def test_a_run_of_the_sample_is_simulated(old: Path, finished: Path, bdpbench: Run) -> None:
    shutil.rmtree(finished / "results")
    refused = bdpbench("adopt", str(old), "--backend", "native", "--sample", "0")
    assert refused.returncode == 1
    assert "no run has shown yet that these are equal" in refused.stdout
    done = bdpbench("adopt", str(old), "--backend", "native")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((finished / "results" / "runs").glob("*/*/run.json"))) >= 2
    assert json.loads((old / "runs.json").read_text())["schema_version"] == 2


def edit(path: Path, change: Callable[[Any], None]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def test_one_other_byte_stops_it_all(old: Path, bdpbench: Run) -> None:
    def change(kept: Any) -> None:
        kept["runs"][1]["outputs"]["out/queue.out"]["sha256"] = "f" * 64

    edit(old / "runs.json", change)
    before = contents(old)
    done = bdpbench("adopt", str(old), "--backend", "native")
    assert done.returncode == 1
    assert done.stdout.count("DIFFERENT from the published outputs") == 1
    assert "out/queue.out differs: ffffffffffff, now" in done.stdout
    assert "nothing is changed" in done.stdout
    assert contents(old) == before
    assert list(old.parent.iterdir()) == [old]


def test_runs_that_are_not_planned_stop_it_all(old: Path, bdpbench: Run) -> None:
    def change(kept: Any) -> None:
        kept["runs"][0]["parameters"]["bottleneck_mbps"] = 7.0
        kept["runs"][1]["places"][0]["label"] = "another"

    edit(old / "runs.json", change)
    before = contents(old)
    done = bdpbench("adopt", str(old), "--backend", "native")
    assert done.returncode == 1
    assert "bottleneck_mbps was 7.0" in done.stdout
    assert "published runs are not planned: nothing is changed" in done.stdout
    assert contents(old) == before


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def damaged_body(path: Path) -> None:
    path.write_text(BODY.sub(r"\1AAAA\3", path.read_text(), count=1))


def other_runs(path: Path) -> None:
    pl.read_parquet(path).with_columns(run_id=pl.lit("f" * 16)).write_parquet(path)


@pytest.mark.parametrize(
    ("name", "damage", "told"),
    [
        ("runs.json", cut, "is not valid JSON"),
        ("runs.json", lambda path: path.write_text("[]"), "has schema version None"),
        ("runs.json", lambda path: edit(path, lambda all_: all_.pop("runs")), "lists no runs"),
        (
            "runs.json",
            lambda path: edit(path, lambda all_: all_["runs"][1].update(outputs={})),
            "run 1: is damaged: outputs is not as bdpbench writes it",
        ),
        (
            "runs.json",
            lambda path: edit(path, lambda all_: all_["runs"][0].update(run_id=7)),
            "run 0: is damaged: run_id is not",
        ),
        (
            "runs.json",
            lambda path: edit(path, lambda all_: all_["runs"].append(all_["runs"][0])),
            "has a run twice",
        ),
        ("provenance.json", Path.unlink, "no such file"),
        ("provenance.json", lambda path: edit(path, lambda all_: all_.pop("study")), "its study"),
        ("provenance.json", lambda path: edit(path, lambda all_: all_.pop("runs")), "count"),
        ("scorecard.json", cut, "is not valid JSON"),
        ("metrics.parquet", cut, "is not a table of metrics"),
        ("metrics.parquet", other_runs, "which runs.json does not list"),
        ("metrics.csv", Path.unlink, "no such file"),
        ("report.html", damaged_body, "is unreadable"),
        ("report.html", lambda path: path.write_text("<p>"), "is not a report of these runs"),
        ("report.html", lambda path: path.write_bytes(b"\xff"), "is not text"),
        ("README.md", Path.unlink, "no such file"),
    ],
)
def test_a_damaged_folder_is_one_error_and_left(
    name: str, damage: Callable[[Path], Any], told: str, old: Path, bdpbench: Run
) -> None:
    damage(old / name)
    before = contents(old)
    done = bdpbench("adopt", str(old), "--backend", "native")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("error:") == 1
    assert name in done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert contents(old) == before
    assert list(old.parent.iterdir()) == [old]


# ---------------------------------------------------------------- other calls, signals


def started(workspace: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the command and return while it is running; its output is a pipe."""
    return subprocess.Popen(
        [sys.executable, "-u", "-m", "bdpbench", *arguments, "--backend", "native"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(repository_root() / "pipeline"),
            "BDPBENCH_CONFIG": str(workspace / "config"),
            "BDPBENCH_RESULTS": str(workspace / "results"),
        },
    )


def processes_of(folder: Path) -> list[str]:
    """Command lines of all processes on this machine that name a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            words += str(path.with_name("cwd").readlink())
        except OSError:
            continue
        if str(folder) in words:
            found.append(words)
    return found


def test_it_waits_for_another_call_in_the_results(old: Path, finished: Path) -> None:
    with (finished / "results" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        child = started(finished, "adopt", str(old))
        assert child.stdout is not None
        assert "another bdpbench is using" in child.stdout.readline()
        assert json.loads((old / "runs.json").read_text())["schema_version"] == 1
    out, _ = child.communicate(timeout=120)
    assert child.returncode == 0, out
    assert json.loads((old / "runs.json").read_text())["schema_version"] == 2


def test_a_signal_leaves_no_process_and_no_change(old: Path, finished: Path) -> None:
    study = finished / "config" / "studies" / "dumbbell" / "study.yaml"
    study.write_text(study.read_text().replace("duration_s: 20", "duration_s: 900000"))

    def lengthen(kept: Any) -> None:
        for run in kept["runs"]:
            run["parameters"]["duration_s"] = 900000.0
            for place in run["places"]:
                place["label"] = place["label"].replace("20 s", "900000 s")

    edit(old / "runs.json", lengthen)
    before = contents(old)
    child = started(finished, "adopt", str(old), "--jobs", "2")
    deadline = time.monotonic() + 120
    while not list((finished / "results" / "runs").glob("*/*/progress")):
        assert child.poll() is None, child.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    child.send_signal(signal.SIGTERM)
    out, _ = child.communicate(timeout=30)
    assert child.returncode == 1
    assert "error: interrupted" in out
    assert "Traceback" not in out
    assert processes_of(finished) == []
    assert contents(old) == before


# ---------------------------------------------------------------- the sample


def pairs_of(runs: list[PlannedRun]) -> list[Pair]:
    nobody = cast("OldRun", None)
    return [Pair(run, nobody) for run in runs]


def test_a_sample_has_each_script_with_all_protocols_and_each_scenario() -> None:
    runs = expand_tier(load_study("sharma2006"), "paper")
    pairs = pairs_of(runs)
    kinds = choose_kinds(pairs, {}, 1, 1)
    sample = {pair.new["run_id"] for kind in kinds for pair in kind.sample}
    chosen = [run for run in runs if run["run_id"] in sample]

    def kind_of(run: PlannedRun) -> tuple[str, ...]:
        return (run["script"], *sorted(run["protocols"]))

    assert {kind_of(run) for run in chosen} == {kind_of(run) for run in runs}
    assert {run["scenario"] for run in chosen} == {run["scenario"] for run in runs}
    assert len(sample) < 50
    for kind in kinds:
        cheapest = min(pair.new["estimated_cpu_s"] for pair in kind.group.pairs)
        assert cheapest in [pair.new["estimated_cpu_s"] for pair in kind.sample]

    def ids(seed: int, finished: dict[str, RunRecord], size: int | None = 1) -> set[str]:
        chosen = choose_kinds(pairs, finished, size, seed)
        return {pair.new["run_id"] for kind in chosen for pair in kind.sample}

    assert ids(1, {}) == sample
    assert ids(2, {}) != sample
    assert ids(1, {}, None) == {run["run_id"] for run in runs}
    done = {run["run_id"]: cast("RunRecord", {}) for run in runs[:9]}
    assert ids(1, done) >= set(done)
    assert ids(1, done, 0) == set(done)
    taken = {run["run_id"]: cast("RunRecord", {"taken_over": {}}) for run in runs}
    assert ids(1, taken, None) == set()


def test_a_folder_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for exchanges in (True, False):
        if not exchanges:  # as on a file system without atomic exchange
            monkeypatch.setattr("bdpbench.contracts.files._exchanged", lambda *_: False)
        for name in ("new", "old"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "file").write_text(name)
        replace_folder(tmp_path / "new", tmp_path / "old")
        assert [path.name for path in tmp_path.iterdir()] == ["old"]
        assert (tmp_path / "old" / "file").read_text() == "new"
        shutil.rmtree(tmp_path / "old")
