"""The report of an evaluation on the disk: what it reads, what it refuses, and the PDF."""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.needs import leave_out
from tests.pipeline.pages import evaluated as made

from bdpbench.app import programs
from bdpbench.app.evaluate.report import (
    StoredSeries,
    WantedFiles,
    make_files,
    published_prints,
    read_earlier,
    report_of,
)
from bdpbench.archive.container import verify_archive
from bdpbench.contracts import evaluation as contracts
from bdpbench.contracts.evaluation import (
    CELLS_NAME,
    EVALUATION_NAME,
    read_evaluation,
    write_evaluation,
)
from bdpbench.contracts.paths import config_dir, published_folder, relative
from bdpbench.contracts.reports import read_scorecard
from bdpbench.contracts.scorecard import SCORECARD_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.pages.evaluation.page import evaluation_page


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    values = [made.value("Mine", 1, 1), made.value("cubic", 2, 2)]
    found = tmp_path / "evaluations" / "mine"
    criteria = [made.criterion("kind", "5.2.1", passes=True)]
    write_evaluation(found, made.evaluation([made.figure("a", *values)], criteria), made.cells())
    return found


def _archive(folder: Path, path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.write(folder / name, f"mine/{name}")
    return path


def test_an_archive_and_a_folder_are_the_same_earlier_evaluation(
    folder: Path, tmp_path: Path
) -> None:
    path = _archive(folder, tmp_path / "earlier.zip", EVALUATION_NAME, CELLS_NAME)
    one, other = read_earlier(folder), read_earlier(path)
    assert one.evaluation == other.evaluation
    assert one.cells.equals(other.cells)
    assert (one.name, other.name) == ("mine", "earlier.zip")


def test_what_is_no_evaluation_is_refused(folder: Path, tmp_path: Path) -> None:
    half = _archive(folder, tmp_path / "half.zip", EVALUATION_NAME)
    text = tmp_path / "text.zip"
    text.write_text("no archive")
    for path, said in (
        (half, "it has no cells.parquet"),
        (text, "cannot be read"),
        (tmp_path / "gone.zip", "cannot be read"),
    ):
        with pytest.raises(BdpbenchError, match=said) as error:
            WantedFiles(against=path).check()
        assert str(path) in str(error.value)
    damaged = tmp_path / "damaged.zip"
    with zipfile.ZipFile(damaged, "w") as archive:
        archive.writestr(EVALUATION_NAME, "{}")
        archive.write(folder / CELLS_NAME, CELLS_NAME)
    with pytest.raises(BdpbenchError, match=re.escape(str(damaged))):
        read_earlier(damaged)


def test_cells_of_another_evaluation_are_no_part_of_this_one(folder: Path) -> None:
    document = (folder / EVALUATION_NAME).read_bytes()
    evaluation, cells = read_evaluation(folder)
    write_evaluation(folder, evaluation, cells.head(1))
    (folder / EVALUATION_NAME).write_bytes(document)
    with pytest.raises(BdpbenchError, match=r"does not belong to the evaluation\.json beside it"):
        read_evaluation(folder)


def test_a_kill_leaves_the_earlier_evaluation_or_the_new_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluation, cells = read_evaluation(folder)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    def killed_last(path: Path, target: Path) -> Path:
        if path.name == f"{CELLS_NAME}.next":
            raise KeyboardInterrupt
        return path.rename(target)

    def write(name: str, rows: int, *patched: object) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(*patched)
            with pytest.raises(KeyboardInterrupt):
                write_evaluation(folder, {**evaluation, "name": name}, cells.head(rows))

    def found() -> tuple[str, int]:
        document, table = read_evaluation(folder)
        return document["name"], table.height

    write("second", 2, contracts, "write_record_atomically", killed)
    assert found() == ("mine", cells.height)
    write(
        "third", 3, Path, "replace", killed_last
    )  # the document is there, and its cells have another name
    assert found() == ("third", 3)
    write("fourth", 4, contracts, "write_record_atomically", killed)
    assert found() == ("third", 3)
    write_evaluation(folder, evaluation, cells)
    assert found() == ("mine", cells.height)
    assert {each.name for each in folder.iterdir()} == {EVALUATION_NAME, CELLS_NAME}


def test_files_are_written_beside_the_evaluation(folder: Path, tmp_path: Path) -> None:
    wanted = WantedFiles(against=folder, export=tmp_path / "paper", formats="svg")
    earlier = wanted.check()
    assert earlier is not None
    found = dict(make_files(folder, wanted, earlier))
    assert found["report"] == folder / "evaluation.html"
    assert "0 moved within" in found["report"].read_text()
    assert (tmp_path / "paper" / "tables" / "paper-table.tex").is_file()
    for name in ("figure-a.svg", "figure-a.tex", "figure-a.csv", "column/figure-a.svg"):
        assert (tmp_path / "paper" / "figures" / name).is_file()


def test_an_unknown_format_is_refused_first() -> None:
    with pytest.raises(BdpbenchError, match="'jpg' is not a format"):
        WantedFiles(formats="svg,jpg").check()


def test_without_a_browser_nothing_is_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv(programs.BROWSER_VARIABLE, raising=False)
    with pytest.raises(BdpbenchError, match="install chromium"):
        WantedFiles(pdf=True).check()


def test_a_browser_that_fails_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(programs.BROWSER_VARIABLE, shutil.which("false") or "/bin/false")
    with pytest.raises(BdpbenchError, match="printed nothing: exit code 1"):
        list(make_files(folder, WantedFiles(pdf=True)))
    assert not (folder / "evaluation.pdf").exists()


def test_the_pdf_has_the_answer_and_the_charts(folder: Path) -> None:
    if not any(map(shutil.which, programs.BROWSERS)):
        leave_out("no Chromium", "install one (Ubuntu has only a snap), or set BDPBENCH_CHROMIUM")
    found = dict(make_files(folder, WantedFiles(pdf=True)))
    content = found["PDF"].read_bytes()
    assert content.startswith(b"%PDF")
    assert b"%%EOF" in content[-1024:]
    if shutil.which("pdftotext"):
        text = subprocess.check_output(["pdftotext", found["PDF"], "-"], text=True)
        assert "Figure a (s)" in text  # the title of an axis


def test_an_archive_is_whole_and_has_the_protocol_but_not_its_place(
    folder: Path, tmp_path: Path
) -> None:
    law = tmp_path / "somewhere" / "law.cc"
    law.parent.mkdir()
    law.write_text("// a law\n")
    evaluation, cells = read_evaluation(folder)
    mine = evaluation["protocols"][0]
    mine["folder"] = mine["source"] = relative(law.parent)
    write_evaluation(folder, evaluation, cells)
    path = tmp_path / "mine.zip"
    assert dict(make_files(folder, WantedFiles(archive=path)))["archive"] == path
    assert verify_archive(path).problems == ()
    with zipfile.ZipFile(path) as archive:
        assert archive.read("source/protocols/Mine/law.cc") == b"// a law\n"
        for name in ("evaluation.json", "evaluation.html", "README.md"):
            assert b"somewhere" not in archive.read(name)
        assert "exports/tables/paper-table.tex" in archive.namelist()
    assert read_earlier(path).evaluation["figures"] == evaluation["figures"]


def _of_sharma(*runs: str) -> Any:
    studies = made.evaluation([])["studies"]
    studies[0] |= {"key": "sharma2006"}
    (past,) = (each for each in studies[0]["parts"] if each["kind"] == "history")
    past["runs"] = [{**past["runs"][0], "run_id": each} for each in runs]
    return made.evaluation([], studies=studies)


def test_published_runs_have_their_series_and_their_printed_numbers(tmp_path: Path) -> None:
    scorecard = read_scorecard(published_folder("sharma2006") / SCORECARD_NAME)
    number = next(each for each in scorecard["numbers"] if each["id"] == "t1-bic-time-90")
    (run_id,) = number["run_ids"]
    evaluation = _of_sharma(run_id, "0" * 16)
    series = StoredSeries(tmp_path, evaluation)
    text = series.of(run_id)
    assert text is not None
    assert '"cwnd"' in text
    assert series.of("0" * 16) is None
    prints = published_prints(evaluation)
    # Table 1 of the thesis: BIC-TCP reaches 90 % of the BDP after 9.53 s.
    assert prints["sharma2006", run_id, "time_to_90pct_cwnd", "flow:0"] == 9.53


def test_the_report_of_another_study_about_the_same_law_is_named(folder: Path) -> None:
    evaluation, cells = read_evaluation(folder)
    mine = evaluation["protocols"][0]
    assert 'data-published="' not in evaluation_page(report_of(folder, evaluation, cells))
    cubic = relative(config_dir() / "protocols" / "cubic")
    for found in ({"folder": cubic}, {"source": "sharma2006:HTCP", "folder": ""}):
        protocols = [{**mine, **found}, *evaluation["protocols"][1:]]
        changed: Any = {**evaluation, "protocols": protocols}
        page = evaluation_page(report_of(folder, changed, cells))
        assert len(re.findall('data-published="two_simulators/report.html', page)) == 1
