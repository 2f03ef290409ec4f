"""Hostile text in names, parameters and labels stays text on every page."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.data_of import yaml_of
from tests.pipeline.pages import evaluated as made
from tests.pipeline.pages import golden
from tests.pipeline.pages.conftest import Page
from tests.pipeline.pages.synthetic import synthetic_inputs

from bdpbench.metrics.samples import SampleMeter
from bdpbench.pages.analysis import build_samples_page
from bdpbench.pages.comparison import comparison_page
from bdpbench.pages.evaluation.page import EvaluationReport, evaluation_page
from bdpbench.pages.texts import ProtocolText, Statement, StudyPage

HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>\"'&"


def _report(text: str, out: Path) -> str:
    inputs = synthetic_inputs()
    study, plan, card = inputs.study, inputs.plan, inputs.scorecard
    citation = study.citation and study.citation.model_copy(update={"url": "javascript:alert(3)"})
    said = {"HS": ProtocolText(said=[Statement(where=text, text=text)])}
    words = {"title": text, "description": text, "notes": text, "citation": citation}
    inputs.study = replace(study, **words, page=StudyPage(choices=text, protocols=said))  # type: ignore[arg-type]
    plan["scenarios"]["buffer_size"] |= {"title": text, "description": text, "section": text}
    for key, each in plan["protocols"].items():
        each["label"] = f"{key} {text}"
    plan["parameters"]["queue"] = {"unit": text, "description": text, "nominal": text}
    for run in plan["runs"]:
        run["label"] += text
        run["argv"] = [text]
        run["parameters"]["queue"] = f"{run['parameters'].get('protocol')} {text}"
    for number in card["numbers"]:
        number |= {"note": text, "where": text, "reason": text, "why": text}
    for claim in card["claims"]:
        claim |= {"statement": text, "explanation": text}
    for info in inputs.run_info.values():
        info["ns2_report"] = text
    return inputs.build(out)


def _evaluation(text: str, out: Path) -> str:
    protocols = [
        {**each, "label": f"{each['label']} {text}"} for each in made.protocols(*made.LABELS)
    ]
    figure = made.figure(
        "a", made.value("Mine", 1, 1, why=text), made.value("cubic", None, None, why=text)
    )
    figure = replace(figure, text=text)
    problems = [{"protocol": "Mine", "study": "", "said": text}]
    criterion = made.criterion(text, "5.2.1", passes=False)
    judgement = made.judgement(
        [figure], [criterion], protocols=protocols, problems=problems, name=text
    )
    return evaluation_page(EvaluationReport(judgement))


def _comparison(text: str, out: Path) -> str:
    found = yaml_of(Path(__file__).with_name("comparison.yaml").read_text())
    found = json.loads(json.dumps(found).replace("HOSTILE", json.dumps(text)[1:-1]))
    return comparison_page(found, {"utilization": "Link utilization"})


def _samples(text: str, out: Path) -> str:
    meter = SampleMeter()
    window = {"time_s": [0.0, 1, 2, 3, 4], "value": [1.0, 1, 8, 4, 1]}
    meter.add(pl.DataFrame({"subject": [text] * 5, "name": ["cwnd_"] * 5, **window}))
    build_samples_page([text], [], [], [text], meter.summary, meter.points, out)
    return out.read_text()


@pytest.mark.parametrize("make", [_report, _evaluation, _comparison, _samples])
def test_hostile_text_stays_text(make: Callable[[str, Path], str], tmp_path: Path) -> None:
    harmless, html = (make(text, tmp_path / "page.html") for text in ("harmless", HOSTILE))
    page = Page(html)
    assert page.open == []
    assert len(page.all("script")) == len(Page(harmless).all("script"))
    assert not page.all("img")
    assert not [name for _, each in page.elements for name in each if name.startswith("on")]
    targets = [each.get("href", "") for _, each in page.elements]
    assert not [each for each in targets if each.startswith("javascript")]
    assert page.text.count("<script>alert(1)</script>") >= 1
    assert "default-src 'none'" in html


def test_a_comparison_says_what_it_said(tmp_path: Path) -> None:
    golden.compare("comparison.txt", golden.outline(_comparison("words", tmp_path)))
