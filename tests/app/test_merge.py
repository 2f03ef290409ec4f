"""Runs of several results folders are merged, or refused if they contradict each other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.app.conftest import call_bdpbench, write_record

from bdpbench.app import mending
from bdpbench.app.mending import Damage, damaged_run, merge
from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import run_folder
from bdpbench.errors import BdpbenchError


@pytest.fixture
def parts(finished: Path, tmp_path: Path) -> tuple[Path, Path]:
    """The runs of a finished study in two folders, every second one in the first."""
    first, second = tmp_path / "first", tmp_path / "second"
    for index, run in enumerate(sorted((finished / "results" / "runs").glob("*/*"))):
        part = second if index % 2 else first
        shutil.copytree(run, run_folder(part / "runs", run.name))
    return first, second


def quiet(_: str) -> None:
    """Ignore a message."""


def contents(folder: Path) -> dict[str, bytes]:
    """Contents of the runs in a results folder, without locks."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted((folder / "runs").rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def test_parts_make_the_whole(finished: Path, parts: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = parts
    whole = contents(finished / "results")
    shutil.rmtree(finished / "results")
    said: list[str] = []
    merge(finished / "results", [first, second], said.append)
    assert contents(finished / "results") == whole
    count = len(list((first / "runs").glob("*/*"))) + len(list((second / "runs").glob("*/*")))
    assert f"{count} runs taken, 0 were already there, 0 are unfinished" in said[-1]
    # Nothing is left to simulate.
    done = call_bdpbench(finished, "run", "--backend", "native", "-n")
    assert "not simulated yet" not in done.stdout
    merge(finished / "results", [first, second], said.append)
    assert f"0 runs taken, {count} were already there" in said[-1]


def test_an_unfinished_run_is_left_and_one_of_here_is_taken_the_place_of(
    parts: tuple[Path, Path],
) -> None:
    first, second = parts
    (begun,) = list((second / "runs").glob("*/*"))[:1]
    shutil.copytree(begun, run_folder(first / "runs", begun.name))
    (run_folder(first / "runs", begun.name) / "run.json").unlink()
    said: list[str] = []
    merge(second, [first], said.append)
    assert "1 are unfinished" in said[-1]
    merge(first, [second], said.append)
    assert (run_folder(first / "runs", begun.name) / "run.json").is_file()


def test_a_call_that_was_cut_short_goes_on(
    parts: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = parts
    whole = {**contents(first), **contents(second)}
    copied: list[Path] = []

    def cut_short(run_dir: Path, *, deep: bool) -> Damage | None:
        if run_dir.parent.name == ".merging":
            copied.append(run_dir)
            raise KeyboardInterrupt
        return damaged_run(run_dir, deep=deep)

    with monkeypatch.context() as patched:
        patched.setattr(mending, "damaged_run", cut_short)
        with pytest.raises(KeyboardInterrupt):
            merge(first, [second], quiet)
    (left,) = copied  # a complete copy that was not yet moved into place
    assert (left / "run.json").is_file()
    assert len(contents(first)) < len(whole)
    merge(first, [second], quiet)
    assert contents(first) == whole
    assert not (first / ".merging").exists()


def test_two_contents_of_one_run_are_refused(parts: tuple[Path, Path]) -> None:
    first, second = parts
    (run,) = list((second / "runs").glob("*/*"))[:1]
    here = run_folder(first / "runs", run.name)
    shutil.copytree(run, here)
    report = here / "out" / "report.txt"
    record = (here / "run.json").read_text()
    before = contents(first)
    # As a broken ns-2 would leave it: other bytes, and a record with their checksum.
    old = sha256_of(report)
    report.write_text(report.read_text().replace("0", "1", 1))
    write_record(here, record.replace(old, sha256_of(report)))
    changed = contents(first)
    assert changed != before
    with pytest.raises(BdpbenchError, match=r"nothing was taken:\n.*out/report.txt differs"):
        merge(first, [second], quiet)
    assert contents(first) == changed


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("out/report.txt", "is not what ns-2 wrote: its SHA-256 differs"),
        ("run.json", "is not what was written: its SHA-256 differs"),
    ],
)
def test_a_damaged_run_is_refused(parts: tuple[Path, Path], file: str, said: str) -> None:
    first, second = parts
    (run,) = list((second / "runs").glob("*/*"))[:1]
    path = run / file
    text = path.read_text()
    path.write_text(text.replace("Agent/TCP", "Agent/TCQ") if file == "run.json" else swapped(text))
    before = contents(first)
    with pytest.raises(BdpbenchError, match=said):
        merge(first, [second], quiet)
    assert contents(first) == before


def swapped(text: str) -> str:
    """A different text of the same length."""
    return text[1:] + text[0]


def test_damaged_tables_stay_away(parts: tuple[Path, Path]) -> None:
    first, second = parts
    (run,) = list((second / "runs").glob("*/*"))[:1]
    (run / "tables" / "facts.parquet").write_bytes(b"PAR1")
    merge(first, [second], quiet)
    here = run_folder(first / "runs", run.name)
    assert (here / "run.json").is_file()
    assert not (here / "tables").exists()
    assert not (here / "values").exists()


def test_what_is_no_results_folder_is_refused(tmp_path: Path, parts: tuple[Path, Path]) -> None:
    done = call_bdpbench(tmp_path, "merge", str(parts[0]), str(tmp_path))
    assert done.returncode == 1
    assert "is not a results folder: it has no runs/" in done.stderr
    done = call_bdpbench(tmp_path, "merge", str(parts[0]), str(parts[0]))
    assert "is the folder that the runs are copied to" in done.stderr
