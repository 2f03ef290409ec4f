"""The files in reports/protocols/ are valid, and consistent with ns-2's agents and internally."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bdpbench.contracts.paths import repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import definitions_for
from bdpbench.pages.text import assets_dir
from bdpbench.pages.texts import Equation, data_of, load_page, read_protocols
from bdpbench.studies.load import find_study, load_study, study_keys
from bdpbench.studies.parts import Protocol

NS2 = repository_root() / "ns2"
KNOWN = read_protocols()
EQUATIONS = [
    pytest.param(each, id=f"{data.name}: {each.when}") for data in KNOWN for each in data.equations
]


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


def _described(option: int | str) -> dict[str, tuple[float, float, str]]:
    """What our pages say about the variables of a law that have a range."""
    data = [each for each in KNOWN if option == each.option or option in each.agents]
    return {
        parameter.variable: (*parameter.range, parameter.unit)
        for each in data
        for parameter in each.parameters
        if parameter.variable and parameter.range is not None
    }


@pytest.mark.parametrize("option", list(_laws()), ids=str)
def test_variables_and_ranges_are_those_of_the_agents(option: int | str) -> None:
    agent, page = _laws()[option], _described(option)
    assert {name: bounds[:2] for name, bounds in page.items()} == {
        name: bounds[:2] for name, bounds in agent.items()
    }
    # A unit in brackets is an explanation; a ratio has the unit 1 here and none there.
    units = {name: unit for name, (*_, unit) in agent.items() if unit and "(" not in unit}
    assert {name: page[name][2] for name in units} == units


def test_defaults_are_those_of_the_patches() -> None:
    patches = "".join(path.read_text() for path in sorted((NS2 / "patches" / "variants").iterdir()))
    lines = re.findall(r"^\+Agent/TCP(?:/\w+)* set (\w+_) ([\d.]+)", patches, re.MULTILINE)
    defaults = {name: float(value) for name, value in lines}
    ours = {each.variable: each.default for data in KNOWN for each in data.parameters}
    shared = set(defaults) & set(ours)
    assert shared
    assert {name: ours[name] for name in shared} == {name: defaults[name] for name in shared}


@pytest.mark.parametrize("key", study_keys())
def test_every_protocol_of_a_study_has_a_page(key: str) -> None:
    study = load_study(key)
    # Modules of Linux are Linux's own code, so there is no law of ours to describe.
    ours = {name: each for name, each in study.protocols.items() if not each.linux}
    found = {name: data_of(each, KNOWN) for name, each in ours.items()}
    assert None not in found.values()
    folder = find_study(key)
    page = load_page(folder / "page.yaml", study, set(definitions_for(folder)))
    assert all(page.of(name).said for name in study.protocols)


def test_the_protocols_of_sharma2006_have_a_page_each() -> None:
    study = load_study("sharma2006")
    found = [data_of(each, KNOWN) for each in study.protocols.values()]
    assert len({data.name for data in found if data is not None}) == len(found)


@pytest.mark.parametrize("key", study_keys())
def test_what_parameters_of_runs_set_is_told_on_the_pages(key: str) -> None:
    study = load_study(key)
    for parameter in study.parameters.values():
        for name, variables in parameter.sets.items():
            data = data_of(study.protocols[name], KNOWN)
            assert data is not None
            assert set(variables) <= {each.variable for each in data.parameters}


# Words that occur only in the text or only in MathML, where they are drawn as symbols.
_DRAWN = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)?")
_ROOT = "^(1/3)"


@pytest.mark.parametrize("equation", EQUATIONS)
def test_mathml_and_text_say_the_same(equation: Equation) -> None:
    """Names and numbers occur equally often in both, so a slip in one of them shows."""
    tokens = [
        each.text or ""
        for each in ElementTree.fromstring(equation.mathml).iter()
        if each.tag in ("mi", "mn")
    ]
    text = equation.text
    if "<mroot>" in equation.mathml:
        assert _ROOT in text
        text = text.replace(_ROOT, " 3")
    assert Counter(_DRAWN.findall(" ".join(tokens))) == Counter(
        _DRAWN.findall(text.replace("_", " "))
    )


def test_another_protocol_under_a_known_option_is_not_taken_for_it() -> None:
    for other in (
        {"agent": "TCP/Linux", "linux": "cubic"},
        {"agent": "TCP/Fack"},
        {"agent": "TCP/Sack1", "settings": {"windowOption_": 6}},
    ):
        protocol = Protocol.model_validate({"label": "X", "colour": "#123456", **other})
        assert data_of(protocol, KNOWN) is None


def _broken(tmp_path: Path, old: str, new: str) -> Path:
    text = (assets_dir() / "protocols" / "scalable.yaml").read_text()
    assert old in text
    (tmp_path / "scalable.yaml").write_text(text.replace(old, new, 1))
    return tmp_path


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
    with pytest.raises(BdpbenchError, match=said) as caught:
        read_protocols(_broken(tmp_path, old, new))
    assert "scalable.yaml" in str(caught.value)
