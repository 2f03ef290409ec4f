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


def _row(variable: str, shown: str, default: str = ".*?", unit: str = "packets") -> str:
    """A pattern of the row of a parameter."""
    return rf"<code>{variable}</code></td><td>{unit}</td>.*?>{default}</td>.*?>{shown}</td></tr>"


def test_each_protocol_has_a_section_with_rules_and_what_concerns_it(page: Any, html: str) -> None:
    links = {each.get("href") for each in page.all("a")}
    for key in ("HS", "Scalable"):
        assert f"protocol-{key}" in page.ids
        assert f"#protocol-{key}" in links
    # Equations are MathML with text beside them.
    assert len(page.all("math")) >= 10
    assert "w ← (1 − b(w)) w" in page.text
    section, beside = _section(html, "HS"), "two/report.html?protocol=HS-TCP#comparison"
    assert not re.search(r"https?://(?!www\.rfc-editor|example)", section)
    # The report of another study is named without a link that could be dead.
    assert f'data-published="{beside}"' in section
    assert f'href="{beside}' not in html
    # The synthetic study sets low_window_ to 31; ns-2's default is 38. high_window_ is not set.
    assert re.search(_row("low_window_", "31", "38"), section)
    assert re.search(_row("high_window_", "83,000", "83,000"), section)
    assert "Published numbers</a>: 1 reproduced, 1 close, 1 not reproduced, 1 not run." in section
    assert "Statements</a>: 1 hold." in section
    assert "It is quick." in section
    for said in ("data-published", "What the study says"):
        assert said not in _section(html, "Scalable")


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
    shown = {"low_window_": "37, 38", "max_ssthresh_": "100", "high_window_": "83,001"}
    assert all(re.search(_row(*each), section) for each in shown.items())


@pytest.mark.parametrize(("given", "shown"), [({"max_increment": 32}, "32"), ({}, "16")])
def test_parameters_of_a_module_of_linux_are_values_too(
    inputs: Any, tmp_path: Path, given: dict[str, int], shown: str
) -> None:
    settings = {"agent": "TCP/Linux", "linux": "bic", "linux_parameters": given}
    module = inputs.study.protocols["HS"].model_copy(update=settings)
    inputs.study = replace(inputs.study, protocols={**inputs.study.protocols, "HS": module})
    section = _section(inputs.build(tmp_path / "report.html"), "HS")
    assert re.search(_row("max_increment", shown, "16", unit=".*?"), section)


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
