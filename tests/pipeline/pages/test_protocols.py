"""Descriptions of protocols on the page of the synthetic study."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bdpbench.studies.vocabulary import ParameterDeclaration


def _section(html: str, key: str) -> str:
    found = re.search(
        rf'<section class="protocol-page" id="protocol-{key}".*?\n</section>', html, re.S
    )
    assert found
    return found.group(0)


def test_each_protocol_has_an_anchor_and_an_entry_in_the_contents(page: Any) -> None:
    links = {each.get("href") for each in page.all("a")}
    for key in ("HS", "Scalable"):
        assert f"protocol-{key}" in page.ids
        assert f"#protocol-{key}" in links


def test_equations_are_mathml_with_text_beside_them(page: Any, html: str) -> None:
    assert len(page.all("math")) >= 10
    assert "w ← (1 − b(w)) w" in page.text
    assert not re.search(r"https?://(?!www\.rfc-editor|example)", _section(html, "HS"))


def test_the_report_of_another_study_is_named_without_a_link_that_could_be_dead(html: str) -> None:
    beside = "two/report.html?protocol=HS-TCP#comparison"
    assert f'data-published="{beside}"' in _section(html, "HS")
    assert f'href="{beside}' not in html
    assert "data-published" not in _section(html, "Scalable")


def test_values_are_the_study_s_where_it_sets_them_and_the_defaults_elsewhere(html: str) -> None:
    # The synthetic study sets low_window_ to 31; ns-2's default is 38. high_window_ is not set.
    section = _section(html, "HS")
    row = r'<code>{}</code></td><td>packets</td><td class="number">{}</td>.*?>{}</td></tr>'
    assert re.search(row.format("low_window_", "38", "31"), section)
    assert re.search(row.format("high_window_", "83,000", "83,000"), section)


def test_defaults_of_the_study_and_parameters_of_its_runs_are_its_values_too(
    inputs: Any, tmp_path: Path
) -> None:
    sets = {"HS": ["low_window_"]}
    inputs.study = replace(
        inputs.study,
        parameters={"low_pkts": ParameterDeclaration(description="Low window", sets=sets)},
        defaults={
            "Agent/TCP": {"max_ssthresh_": 100.0, "high_window_": 1.0},
            "Agent/TCP/Sack1": {"high_window_": 83001.0},
        },
    )
    for number, run in enumerate(inputs.plan["runs"]):
        run["parameters"]["low_pkts"] = 38 - number % 2
    section = _section(inputs.build(tmp_path / "report.html"), "HS")
    row = r"<code>{}</code></td><td>packets</td>.*?>{}</td></tr>"
    assert re.search(row.format("low_window_", "37, 38"), section)
    assert re.search(row.format("max_ssthresh_", "100"), section)
    assert re.search(row.format("high_window_", "83,001"), section)


@pytest.mark.parametrize(("given", "shown"), [({"max_increment": 32}, "32"), ({}, "16")])
def test_parameters_of_a_module_of_linux_are_values_too(
    inputs: Any, tmp_path: Path, given: dict[str, int], shown: str
) -> None:
    settings = {"agent": "TCP/Linux", "linux": "bic", "linux_parameters": given}
    module = inputs.study.protocols["HS"].model_copy(update=settings)
    inputs.study = replace(inputs.study, protocols={**inputs.study.protocols, "HS": module})
    section = _section(inputs.build(tmp_path / "report.html"), "HS")
    assert re.search(rf"<code>max_increment</code></td>.*?>16</td>.*?>{shown}</td></tr>", section)


def test_verdicts_are_those_of_what_concerns_it(html: str) -> None:
    section = _section(html, "HS")
    assert "Published numbers</a>: 1 reproduced, 1 close, 1 not reproduced, 1 not run." in section
    assert "Statements</a>: 1 hold." in section


def test_a_protocol_without_runs_says_so_and_draws_nothing(inputs: Any, tmp_path: Path) -> None:
    gone = {
        run["run_id"] for run in inputs.plan["runs"] if "Scalable" in run["parameters"].values()
    }
    inputs.run_info = {key: info for key, info in inputs.run_info.items() if key not in gone}
    inputs.metrics = inputs.metrics.filter(~inputs.metrics["run_id"].is_in(list(gone)))
    html = inputs.build(tmp_path / "report.html")
    section = _section(html, "Scalable")
    # single_flow, three buffers, and two runs with HS-TCP as the other flow.
    assert "None of 6 planned runs with this protocol has results yet." in section


def test_a_study_s_other_protocols_have_no_page(inputs: Any, tmp_path: Path) -> None:
    other = inputs.study.protocols["HS"].model_copy(update={"agent": "TCP/Fack"})
    inputs.study = replace(inputs.study, protocols={"HS": other})
    html = inputs.build(tmp_path / "report.html")
    assert 'id="protocols"' not in html
    assert 'href="#protocols"' not in html


def test_what_the_study_says_stands_on_the_page_of_its_protocol(html: str) -> None:
    assert "It is quick." in _section(html, "HS")
    assert "What the study says" not in _section(html, "Scalable")
