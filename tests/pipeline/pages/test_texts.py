"""Texts of the pages, and what studies declare of theirs: valid, complete, as in ns-2."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bdpbench.contracts.paths import repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import DEFINITIONS, definitions_for
from bdpbench.pages.inputs import read_captions
from bdpbench.pages.series import CHARTED_TABLES
from bdpbench.pages.text import assets_dir
from bdpbench.pages.texts import (
    Matrix,
    checked_mathml,
    data_of,
    load_matrices,
    load_page,
    read_protocols,
    told_errata,
)
from bdpbench.studies.load import find_study, load_study, study_keys
from bdpbench.studies.parts import Protocol
from bdpbench.studies.vocabulary import COMMON

NS2 = repository_root() / "ns2"
KNOWN = read_protocols()


def _laws() -> dict[int | str, dict[str, tuple[float, float, str]]]:
    """windowOption_ (or the agent's class if it has none) → variable → range and unit."""
    found: dict[int | str, dict[str, tuple[float, float, str]]] = {}
    for path in sorted((NS2 / "agents").glob("*agent.*")):
        text = path.read_text()
        shared = re.findall(r'#include "(\w+_agent\.h)"', text)
        text += "".join((NS2 / "agents" / name).read_text() for name in shared)
        tables = re.findall(r"LawParameter \w*PARAMETERS\[\] = \{(.*?)\n\};", text, re.DOTALL)
        rows = re.findall(r'\{"(\w+)", ([\d.e-]+), ([\d.e-]+), "(.*?)"\}', "".join(tables))
        option = re.search(r"WindowLawEntry \w+ = \{(-?\d+),", text)
        agent = re.search(r'TclClass\("Agent/([\w/]+)"\)', text)
        if rows and (option or agent):  # other files are only included
            key = int(option[1]) if option else str(agent and agent[1])
            found[key] = {name: (float(low), float(high), unit) for name, low, high, unit in rows}
    return found


@pytest.mark.parametrize(("option", "agent"), _laws().items(), ids=str)
def test_variables_and_ranges_are_those_of_the_agents(
    option: int | str, agent: dict[str, tuple[float, float, str]]
) -> None:
    page = {
        each.variable: each
        for data in KNOWN
        for each in data.parameters
        if (option == data.option or option in data.agents) and each.variable and each.range
    }
    ranges = {name: tuple(each.range or ()) for name, each in page.items()}
    assert ranges == {name: bounds[:2] for name, bounds in agent.items()}
    # A unit in brackets is an explanation; a ratio has the unit 1 here and none there.
    units = {name: unit for name, (*_, unit) in agent.items() if unit and "(" not in unit}
    assert {name: page[name].unit for name in units} == units


def test_defaults_are_those_of_the_patches() -> None:
    patches = "".join(path.read_text() for path in sorted((NS2 / "patches" / "variants").iterdir()))
    lines = re.findall(r"^\+Agent/TCP(?:/\w+)* set (\w+_) ([\d.]+)", patches, re.MULTILINE)
    defaults = {name: float(value) for name, value in lines}
    ours = {each.variable: each.default for data in KNOWN for each in data.parameters}
    shared = set(defaults) & set(ours)
    assert shared
    assert {name: ours[name] for name in shared} == {name: defaults[name] for name in shared}


# Variables of ns-2's senders, whatever their protocol: the words of the parameter tell of them.
_OF_SENDERS = {"timestamps_"}


@pytest.mark.parametrize("key", study_keys())
def test_a_study_has_words_for_its_protocols_and_parameters(key: str) -> None:
    study = load_study(key)
    page = load_page(find_study(key) / "page.yaml", study)
    told = {name: data_of(each, KNOWN) for name, each in study.protocols.items()}
    assert None not in told.values()
    assert all(page.of(name).said for name in study.protocols)
    assert set(page.parameters) == set(study.parameters)
    for parameter in study.parameters.values():
        for name, variables in parameter.sets.items():
            data = told[name]
            assert data is not None
            known = {each.variable for each in data.parameters}
            assert set(variables) <= known | _OF_SENDERS


# Words that occur only in the text or only in MathML, where they are drawn as symbols.
_DRAWN = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_ROOT = "^(1/3)"


def test_mathml_and_text_say_the_same() -> None:
    """Names and numbers occur equally often in both, so a slip in one of them shows."""
    for equation in (each for data in KNOWN for each in data.equations):
        tokens = [
            each.text or ""
            for each in ElementTree.fromstring(equation.mathml).iter()
            if each.tag in ("mi", "mn")
        ]
        text = equation.text
        if "<mroot>" in equation.mathml:
            assert _ROOT in text
            text = text.replace(_ROOT, " 3")
        drawn, said = (_DRAWN.findall(each) for each in (" ".join(tokens), text.replace("_", " ")))
        assert Counter(drawn) == Counter(said), equation


def test_another_protocol_under_a_known_option_is_not_taken_for_it() -> None:
    for other in (
        {"agent": "TCP/Linux", "linux": "hybla"},
        {"agent": "TCP/Fack"},
        {"agent": "TCP/Sack1", "settings": {"windowOption_": 6}},
    ):
        protocol = Protocol.model_validate({"label": "X", "colour": "#123456", **other})
        assert data_of(protocol, KNOWN) is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("summary:", "sumary:", r"sumary: unknown key"),
        ("default: 16", "default: 0.5", r"parameters\.2: the default 0\.5 lies outside"),
        ("default: 16", "default: many", r"parameters\.2\.default: input should be a valid number"),
        ("<mi>a</mi>", "<mi>a</mo>", r"equations\.1\.mathml: is not well-formed MathML"),
        ("url: https:", "url: javascript:", r"sources\.1\.url: string should match"),
    ],
)
def test_a_mistake_is_named_with_file_line_and_key(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    text = (assets_dir() / "protocols" / "scalable.yaml").read_text()
    assert old in text
    (tmp_path / "scalable.yaml").write_text(text.replace(old, new, 1))
    with pytest.raises(BdpbenchError, match=rf"scalable\.yaml.*{said}"):
        read_protocols(tmp_path)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("<math><mi>w</mi>", "not well-formed"),
        ("<div>w</div>", "expected one <math>"),
        ("<math><mi href='https://example.org'>w</mi></math>", "has a link"),
    ],
)
def test_anything_else_is_refused(source: str, said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        checked_mathml(source)


def test_metrics_parameters_and_charts_have_their_words() -> None:
    captions = read_captions()
    assert [each.metric for each in DEFINITIONS.values() if not each.title] == []
    # The tier gives the duration, and some follow from others; the rest is common to all studies.
    derived = {"bdp_pkts", "bottleneck_mbps_changes", "min_th_pkts", "max_th_pkts"}
    assert set(captions.parameters) == {*COMMON, *derived, "duration_s"}
    for table in CHARTED_TABLES:
        assert set(captions.charts[table]) - {"dashed"} == {"title", "quantity", "caption"}
    assert "caption" in captions.charts["sweep"]
    pairs = Matrix.model_validate({"scenario": "any", **captions.pairs})
    assert pairs.metric in {definition.metric for definition in DEFINITIONS.values()}


METRICS = {*definitions_for(find_study("sharma2006"))}
MATRICES = """\
matrices:
  - scenario: inter_protocol
    metric: asymmetry
    rows: {parameter: protocol_1, title: first}
    columns: {parameter: protocol_2, title: second}
    ends: [-1, 1]
    only: {protocol_1: [HS, BIC]}
"""
PAGE = """\
filled_share: 0.9
protocols:
  HS:
    said:
      - {where: Table 1, text: It is quick.}
"""


def test_a_mean_over_shares_of_the_bdp_can_count_each_run_once(tmp_path: Path) -> None:
    path = tmp_path / "matrices.yaml"
    path.write_text(
        "matrices: [{scenario: short_same, metric: utilization, mean_over: [buffer_pkts],\n"
        "  rows: {parameter: protocol, title: a}, columns: {parameter: rtt_2_ms, title: b}}]"
    )
    (matrix,) = load_matrices(path, load_study("ahmad2013"), METRICS)
    assert matrix.mean_over == ["buffer_pkts"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[HS, BIC]", "[XS, BIC]", r"yaml:7: .*only\..*unknown protocol"),
        ("inter_protocol", "interprotocol", r"yaml:2: matrices\.0\.scenario: unknown scenario"),
        ("metric: asymmetry", "metric: asymetry", r"yaml:3: .*unknown metric .*\n.*asymmetry"),
        ("[-1, 1]", "[-1, 1]\n    mean_over: [rtt_ms]", r"yaml:7: .*mean_over\.0: unknown varied"),
        ("[-1, 1]", "[-1, 1]\n    mean_over: [buffer_pkts]", r"yaml:7: .*unknown varied"),
        ("protocol_2", "buffer_pkts", r"yaml:5: .*unknown varied parameter 'buffer_pkts'"),
        ("[-1, 1]", "[1, -1]", r"the first, 1, must be below the second"),
        ("[-1, 1]", "[-1, 1]\n    panels: protocol_1", r"panels: protocol_1 is already part"),
        ("HS:", "XS:", r"yaml:3: protocols\.XS: unknown protocol"),
        ("0.9", "1.9", r"yaml:1: filled_share: input should be less than or equal to 1"),
        ("said:", "says:", r"yaml:4: protocols\.HS\.says: unknown key"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = MATRICES if old in MATRICES else PAGE
    path, study = tmp_path / "its.yaml", load_study("sharma2006")
    path.write_text(text.replace(old, new))
    assert path.read_text() != text
    with pytest.raises(BdpbenchError, match=said):
        load_matrices(path, study, METRICS) if text is MATRICES else load_page(path, study)


@pytest.mark.parametrize("module", ["cubic", "illinois", "veno", "reno"])
def test_a_protocol_has_the_errata_of_its_agent_and_module(module: str) -> None:
    common = {"label": "X", "colour": "#000000", "sink": "TCPSink/Sack1"}
    mine = Protocol.model_validate({**common, "agent": "TCP/Linux", "linux": module})
    found = told_errata(
        [("Mine", mine), ("Other", mine.model_copy(update={"agent": "TCP/Newreno", "linux": None}))]
    )
    assert [labels for _, labels in found] == [["Mine"]] * (module != "reno")
    words = {"cubic": "slow start", "illinois": "Illinois", "veno": "Veno"}
    assert all(words[module] in each.title for each, _ in found)
