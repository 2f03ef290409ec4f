"""What the config says is simulated; what would not reach ns-2 is refused, with its line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.make import arguments
from tests.pipeline.studies.conftest import PATH_ARGUMENTS
from tests.pipeline.studies.network.conftest import write_study
from tests.planned_runs import all_runs
from tests.random_examples import examples

from bdpbench.contracts.plan import Parameters, PlannedRun
from bdpbench.errors import BdpbenchError
from bdpbench.studies.identity import Identities
from bdpbench.studies.load import load_study, read_study
from bdpbench.studies.runs import expand_tier, plan_run
from bdpbench.studies.study import Study

WriteStudy = Callable[[str, str], Path]


def _refusal(path: Path, tier: str = "paper") -> str:
    with pytest.raises(BdpbenchError) as caught:
        expand_tier(load_study(path.parent.name), tier)
    return str(caught.value)


def test_ecn_is_on_everywhere_or_nowhere(study_file: WriteStudy) -> None:
    path = study_file("sink: TCPSink}", "sink: TCPSink, settings: {ecn_: 1}}")
    text = _refusal(path)
    assert f"{path}:5: protocols.Reno.settings.ecn_: ecn_ alone is half of ECN" in text
    assert "write ecn: on among the parameters" in text
    text = _refusal(study_file("    sweep:", "    parameters: {ecn: on}\n    sweep:"))
    assert "ecn is on, and no queue of this run marks packets" in text
    assert "RED, ARED, gARED, CoDel, FqCoDel or PIE" in text
    study_file("    sweep:", "    parameters: {ecn: on, queue: PIE}\n    sweep:")
    run = expand_tier(load_study("mine"), "paper")[0]
    pairs = arguments(run)
    assert (pairs["-default.Agent/TCP.ecn_"], pairs["-link.0.queue.setbit_"]) == ("1", "1")


@pytest.mark.parametrize(("key", "value"), [("drop_packet", 7), ("buffer_ms", 4)])
def test_a_script_of_its_own_refuses_what_it_does_not_take(
    own_script: Callable[..., Path], key: str, value: int
) -> None:
    path = own_script(parameters=f"{{protocol: Reno, {key}: {value}}}")
    text = _refusal(path, "quick")
    assert f"{key} would have no effect: own.tcl does not take it" in text
    assert "list it under arguments:" in text


def test_the_segment_size_has_to_reach_the_agents(own_script: Callable[..., Path]) -> None:
    text = _refusal(own_script(defaults=""), "quick")
    assert "packet_bytes would have no effect" in text
    assert "write $packet_bytes under defaults:" in text


def test_an_argument_without_a_value_is_refused(own_script: Callable[..., Path]) -> None:
    path = own_script(arguments=f"{PATH_ARGUMENTS[:-1]}, substream]")
    assert "substream, which own.tcl takes, has no value" in _refusal(path, "quick")


DECLARED = """\
parameters:
  alpha_pkts: {description: What FAST keeps in the queue, label: 'alpha {} packets',
    type: integer, minimum: 1, sets: {NewReno: [alpha_, beta_]}}
  ratio: {description: A name of the study for a delay, label: 'ratio {}', nominal: it is told}"""


def test_a_declared_parameter_sets_variables_of_its_protocol(
    own_script: Callable[..., Path],
) -> None:
    own_script(parameters="{protocol: NewReno, alpha_pkts: 9}", declared=DECLARED)
    (run,) = expand_tier(load_study("mine"), "quick")
    pairs = arguments(run)
    assert (pairs["-flow.0.set.alpha_"], pairs["-flow.0.set.beta_"]) == ("9", "9")
    assert pairs["-default.Agent/TCP.packetSize_"] == "1000"


def test_it_is_refused_where_no_flow_has_that_protocol(own_script: Callable[..., Path]) -> None:
    path = own_script(parameters="{protocol: Reno, alpha_pkts: 9}", declared=DECLARED)
    text = _refusal(path, "quick")
    assert "alpha_pkts would have no effect: no flow of this run uses NewReno" in text


def test_runs_that_differ_in_a_nominal_parameter_alone_are_refused(
    own_script: Callable[..., Path],
) -> None:
    path = own_script(sweep="{ratio: [1, 2]}", declared=DECLARED)
    text = _refusal(path, "quick")
    assert "'Reno, ratio 1, 5 s' and 'Reno, ratio 2, 5 s' differ in ratio alone" in text
    assert f"{path}:" in text


def test_equal_runs_of_two_scenarios_are_shared(study_file: WriteStudy) -> None:
    path = study_file("", "")
    text = path.read_text()
    body = text.split("scenarios:\n")[1]
    path.write_text(text + body.replace("buffers:", "again:", 1).replace("Two", "The two", 1))
    runs = expand_tier(load_study("mine"), "paper")
    assert len(runs) == 8
    assert len({run["run_id"] for run in runs}) == 4


def test_an_output_of_a_flow_that_is_not_there_is_refused(own_script: Callable[..., Path]) -> None:
    path = own_script(outputs="two")
    path.write_text(
        path.read_text().replace("  one:", "  two: [{file: b, table: cwnd, flow: 1}]\n  one:")
    )
    assert "b is of flow 1, and a run of buffers has 1" in _refusal(path, "quick")


# ---------------------------------------------------------------- the studies of the checkout


IDENTITIES = Identities()


def _given(study: Study, run: PlannedRun) -> Parameters:
    """The parameters of a run, except those that are computed."""
    scenario = study.scenarios[run["scenario"]]
    named = {*study.topologies[scenario.topology].parameters, *scenario.parameters}
    named |= {*scenario.sweep, *(name for case in scenario.cases for name in case), "duration_s"}
    return {name: value for name, value in run["parameters"].items() if name in named}


def _another(study: Study, name: str, value: int | float | str) -> int | float | str:
    """A different value of a parameter, as the study could give it."""
    if name == "duration_s":
        return float(value) + 1
    declaration = study.vocabulary[name]
    if declaration.type == "protocol":
        return next(key for key in study.protocols if key != value)
    if declaration.choices:
        return next(word for word in declaration.choices if word not in (value, "none"))
    for changed in (float(value) + 1, float(value) - 0.5, float(value) / 2):
        if declaration.problem(changed) is None:
            return declaration.plain(changed)
    raise AssertionError(f"no other value of {name}")


def _sets_variables(study: Study) -> list[str]:
    return [name for name, declaration in study.vocabulary.items() if declaration.sets]


@pytest.mark.ci
@examples(40)
@given(st.data())
def test_changing_any_parameter_of_any_run_changes_its_identity(data: st.DataObject) -> None:
    # Given a long list, hypothesis would make a label out of every run.
    study, run = all_runs()[data.draw(st.integers(0, len(all_runs()) - 1))]
    given_parameters = _given(study, run)
    # A parameter of this protocol has no meaning for another one, which is refused with it.
    of_protocol = any(name in given_parameters for name in _sets_variables(study))
    names = [
        name
        for name in given_parameters
        if name == "duration_s"
        or (
            not study.vocabulary[name].nominal
            and not (of_protocol and study.vocabulary[name].type == "protocol")
            and study.vocabulary[name].type != "queue"  # these have parameters of their own
        )
    ]
    name = data.draw(st.sampled_from(names))
    changed = {**given_parameters, name: _another(study, name, given_parameters[name])}
    try:
        other = plan_run(study, run["scenario"], changed, IDENTITIES)
    except BdpbenchError as error:
        # A smaller RTT may be less than the path alone takes; there is no such run.
        assume("the path alone has" not in error.message)
        raise
    before, after = run["identity"], other["identity"]
    assert (before["argv"], before["streams"]) != (after["argv"], after["streams"])


# ---------------------------------------------------------------- Compound

CTCP = {"label": "CTCP", "colour": "#336699", "agent": "TCP/Linux"}


def _study(folder: Path, linux: str, **keys: Any) -> Path:
    settings = keys.pop("settings", {})
    protocol = {**CTCP, "linux": linux, "settings": settings}
    given = {"parameters": {"protocol": None}, "flows": [{"protocol": "CTCP"}]}
    return write_study(folder, {**given, "protocols": {"CTCP": protocol}, **keys})


@pytest.mark.parametrize(
    ("linux", "settings", "defaults", "refused"),
    [
        ("reno", {}, {}, False),
        ("compound", {"timestamps_": 1}, {}, False),
        ("compound", {}, {"Agent/TCP": {"timestamps_": 1}}, False),
        ("compound", {}, {"Agent/TCP/Linux": {"timestamps_": 1}}, False),
        ("compound", {}, {}, True),
        ("compound", {"timestamps_": 0}, {"Agent/TCP": {"timestamps_": 1}}, True),
    ],
)
def test_compound_is_refused_without_timestamps(
    tmp_path: Path, linux: str, settings: dict[str, Any], defaults: dict[str, Any], refused: bool
) -> None:
    path = _study(tmp_path, linux, settings=settings, defaults=defaults)
    if not refused:
        assert len(expand_tier(read_study(path), "quick")) == 1
        return
    with pytest.raises(BdpbenchError, match="without timestamps behaves exactly like") as caught:
        expand_tier(read_study(path), "quick")
    line = 1 + path.read_text().split('"linux": "compound"')[0].count("\n")
    assert caught.value.where == f"{path}:{line}"


def test_a_parameter_may_turn_timestamps_off(tmp_path: Path) -> None:
    path = _study(tmp_path, "compound", settings={"timestamps_": 1})
    study = json.loads(path.read_text())
    study["parameters"] = {"timestamps": {"description": "x", "sets": {"CTCP": ["timestamps_"]}}}
    study["scenarios"]["one"]["parameters"] = {"timestamps": 0}
    path.write_text(json.dumps(study, indent=1))
    (run,) = expand_tier(read_study(path), "quick")
    assert arguments(run)["-flow.0.set.timestamps_"] == "0"
