"""The report of an evaluation on the disk: what it reads, what it refuses, and the PDF."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.needs import leave_out
from tests.pipeline.pages import evaluated as made

from bdpbench.app import programs
from bdpbench.app.evaluate.mirrored import find_newcomers
from bdpbench.app.evaluate.report import (
    WantedFiles,
    make_files,
    published_prints,
)
from bdpbench.app.stages import elsewhere_of
from bdpbench.contracts.documents import json_of
from bdpbench.contracts.evaluation import (
    CELLS_NAME,
    EVALUATION_NAME,
    Judgement,
    read_evaluation,
    write_evaluation,
)
from bdpbench.contracts.paths import published_folder
from bdpbench.contracts.reports import read_scorecard
from bdpbench.contracts.scorecard import SCORECARD_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.pages.evaluation.page import EvaluationReport, evaluation_page

FIGURE = made.figure("a", made.value("Mine", 1, 1), made.value("cubic", 2, 2))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "evaluations" / "mine"
    write_evaluation(found, made.evaluation([FIGURE]), made.cells())
    return found


def _report(earlier: tuple[str, Judgement] | None = None) -> EvaluationReport:
    judgement = made.judgement([FIGURE], [made.criterion("kind", "5.2.1", passes=True)])
    return EvaluationReport(judgement, earlier)


def test_what_is_no_evaluation_is_refused(folder: Path) -> None:
    (folder / EVALUATION_NAME).write_text("{}")
    (folder / "empty").mkdir()
    (folder / "earlier.zip").touch()
    for path, said in (
        (folder, "has schema version None"),
        (folder / "empty", "no such file"),
        (folder / "gone", "is not a folder"),
        (folder / "earlier.zip", "is not a folder.*unpack"),
    ):
        with pytest.raises(BdpbenchError) as error:
            WantedFiles(against=path).check()
        assert str(path) in str(error.value)
        assert re.search(said, str(error.value), re.DOTALL)


def test_a_damaged_document_names_its_place(folder: Path) -> None:
    document = json_of(folder / EVALUATION_NAME, "an evaluation")
    document["studies"][0]["parts"]["table"]["kind"] = "heap"
    (folder / EVALUATION_NAME).write_text(json.dumps(document))
    with pytest.raises(BdpbenchError, match=r"studies\.0\.parts\.table\.kind is 'heap'"):
        read_evaluation(folder)
    write_evaluation(folder, made.evaluation([FIGURE]), made.cells())
    (folder / CELLS_NAME).write_bytes(b"PAR1")
    with pytest.raises(BdpbenchError, match=r"cells\.parquet: is not the table that"):
        read_evaluation(folder)


def test_files_are_written_beside_the_evaluation(folder: Path, tmp_path: Path) -> None:
    wanted = WantedFiles(against=folder, export=tmp_path / "paper", formats="svg")
    earlier = wanted.check()
    assert earlier is not None
    found = dict(make_files(folder, wanted, _report(earlier)))
    assert found["report"] == folder / "evaluation.html"
    assert "0 moved within" in found["report"].read_text()
    assert (tmp_path / "paper" / "tables" / "paper-table.tex").is_file()
    for name in ("figure-a.svg", "figure-a.tex", "figure-a.csv", "column/figure-a.svg"):
        assert (tmp_path / "paper" / "figures" / name).is_file()


def test_what_cannot_be_written_is_told_before_anything_is_simulated(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BdpbenchError, match="'jpg' is not a format"):
        WantedFiles(formats="svg,jpg").check()
    monkeypatch.setenv(programs.BROWSER_VARIABLE, shutil.which("false") or "/bin/false")
    with pytest.raises(BdpbenchError, match="printed nothing: exit code 1"):
        list(make_files(folder, WantedFiles(pdf=True), _report()))
    assert not (folder / "evaluation.pdf").exists()
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv(programs.BROWSER_VARIABLE)
    with pytest.raises(BdpbenchError, match="install chromium"):
        WantedFiles(pdf=True).check()


def test_the_pdf_has_the_answer_and_the_charts(folder: Path) -> None:
    if not any(map(shutil.which, programs.BROWSERS)):
        leave_out("no Chromium", "install one (Ubuntu has only a snap), or set BDPBENCH_CHROMIUM")
    found = dict(make_files(folder, WantedFiles(pdf=True), _report()))
    content = found["PDF"].read_bytes()
    assert content.startswith(b"%PDF")
    assert b"%%EOF" in content[-1024:]
    if shutil.which("pdftotext"):
        text = subprocess.check_output(["pdftotext", found["PDF"], "-"], text=True)
        assert "Figure a (s)" in text  # the title of an axis


def test_studies_have_their_printed_numbers() -> None:
    scorecard = read_scorecard(published_folder("sharma2006") / SCORECARD_NAME)
    number = next(each for each in scorecard["numbers"] if each["id"] == "t1-bic-time-90")
    (run_id,) = number["run_ids"]
    (study,) = made.evaluation().model_dump()["studies"]
    prints = published_prints(made.evaluation(studies=[{**study, "key": "sharma2006"}]))
    # Table 1 of the thesis: BIC-TCP reaches 90 % of the BDP after 9.53 s.
    assert prints["sharma2006", run_id, "time_to_90pct_cwnd", "flow:0"] == 9.53


def test_the_report_of_another_study_about_the_same_law_is_named() -> None:
    assert 'data-published="' not in evaluation_page(_report())
    for word in ("cubic", "sharma2006:HTCP"):
        (newcomer,) = find_newcomers([word])
        report = replace(_report(), elsewhere=elsewhere_of({"Mine": newcomer.protocol}))
        page = evaluation_page(report)
        assert len(re.findall('data-published="two_simulators/report.html', page)) == 1
