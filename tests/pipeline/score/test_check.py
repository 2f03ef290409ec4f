"""Planning reports, with file and line, what no run can show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.pipeline.score.conftest import make_run, write_published

from bdpbench.contracts.plan import Output, PlannedRun, Scalar
from bdpbench.errors import BdpbenchError
from bdpbench.score import Expectations, check_expectations, what_lacks
from bdpbench.studies.study import Study

CWND: Output = {"file": "cwnd.out", "table": "cwnd", "flow": 0}
QUEUE: Output = {"file": "queue.out", "table": "queue", "link": "bottleneck"}
ROW = {
    "id": "n",
    "where": "Table 1",
    "scenario": "one",
    "select": "protocol=HS;buffer_pkts=40",
    "metric": "max_cwnd",
    "subject": "flow:0",
    "value": "1",
    "lower": "1",
    "upper": "1",
    "unit": "packets",
    "how": "stated",
    "found": "stated",
    "why": "a reason",
}
CLAIM = "- id: c\n  where: Section 1\n  found: stated\n  statement: It is so.\n"
SWEEP = "  kind: monotone\n  direction: increasing\n  scenario: one\n  metric: max_cwnd\n"

Check = Callable[..., Expectations]


@dataclass(frozen=True)
class Known:
    unit: str
    subject: str
    level: str = "run"
    title: str = ""


@dataclass(frozen=True)
class Needing(Known):
    tables: tuple[str, ...] = ("cwnd",)

    def lacking(self, tables: Sequence[str], parameters: Sequence[str]) -> list[str]:
        return [f"table {each}" for each in self.tables if each not in tables]


METRICS = {
    "max_cwnd": Needing("packets", "flow"),
    "mean_queue": Needing("packets", "link", tables=("queue",)),
    "acked": Needing("packets", "flow", tables=("acknowledged",)),
    "asymmetry": Known("1", "run"),
    "min_buffer": Known("packets", "run", level="group"),
}


def _run(protocol: str, buffer_pkts: Scalar, duration_s: Scalar) -> PlannedRun:
    given = {"protocol": protocol, "buffer_pkts": buffer_pkts, "duration_s": duration_s}
    run = make_run(f"{protocol}{buffer_pkts}{duration_s}", CWND, QUEUE, **given)
    return {**run, "label": f"{protocol}, {buffer_pkts}"}


# The paper tier has the runs of the quick tier, only longer, and one more buffer.
RUNS: Mapping[str, Sequence[PlannedRun]] = {
    "quick": [_run(key, size, 50) for key in ("HS", "Reno") for size in (40, 200)],
    "paper": [_run(key, size, 500) for key in ("HS", "Reno") for size in (40, 200, 500.0)],
}


@pytest.fixture
def study() -> Study:
    """A study with scenario ``one``, which has all runs, and scenario ``other``, which has none."""
    scenario = {"title": "", "topology": "t", "flows": [{}], "tiers": {}}
    scenario |= {"sweep": {"buffer_pkts": [40, 200]}}
    return Study.model_validate(
        {
            "schema_version": 1,
            "key": "mine",
            "title": "",
            "protocols": {},
            "topologies": {"t": {"parameters": {}}},
            "scenarios": {"one": scenario, "other": scenario},
        }
    )


@pytest.fixture
def check(tmp_path: Path, study: Study) -> Check:
    """Check a study whose published.csv differs by ``change``, or that has the given claim."""

    def run(claim: str = "", **change: str) -> Expectations:
        if change:
            write_published(tmp_path / "published.csv", {**ROW, **change})
        if claim:
            (tmp_path / "claims.yaml").write_text(CLAIM + claim)
        return check_expectations(tmp_path, study, RUNS, METRICS)

    return run


def test_a_study_without_expectations_has_none(check: Check) -> None:
    assert check() == Expectations([], [], [])


@pytest.mark.parametrize(
    "change",
    [
        {"page": "1"},
        {"select": "protocol=HS;buffer_pkts=500"},  # only in one tier
        {"metric": "mean_queue", "subject": "link:bottleneck"},
        {"metric": "asymmetry", "subject": "run", "unit": "1"},
        {"metric": "min_buffer", "subject": "run", "select": "protocol=HS"},  # of several runs
    ],
)
def test_numbers_that_runs_can_show_are_taken(check: Check, change: dict[str, str]) -> None:
    assert len(check(**change).numbers) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"unit": "s"}, "unit: the number is in 's', and max_cwnd is measured in 'packets'"),
        ({"scenario": "tow"}, "unknown scenario 'tow'"),
        ({"scenario": "other", "select": ""}, "scenario other has no run in any tier"),
        ({"select": "protocl=HS"}, "unknown parameter 'protocl'\n  hint: did you mean 'protocol'?"),
        ({"select": "protocol=HSS"}, "no run of one has protocol=HSS\n  hint: did you mean 'HS'?"),
        (
            {"select": "protocol=HS;buffer_pkts=41"},
            "no run of one has buffer_pkts=41\n  hint: known: 200, 40, 500",
        ),
        (
            {"select": "duration_s=50;buffer_pkts=500"},
            "no run of one has all of duration_s=50, buf",
        ),
        (
            {"select": "protocol=HS"},
            "fits 2 results of tier quick (HS, 40, flow:0; HS, 200, flow:0)",
        ),
        ({"select": "duration_s=50"}, "(HS, 40, flow:0; HS, 200, flow:0; Reno, 40, flow:0; …)"),
        ({"select": "protocol=HS;duration_s=500"}, "max_cwnd fits 3 results of tier paper (HS, 40"),
        (
            {"subject": "flow:1"},
            "max_cwnd of HS, 40 has no 'flow:1'\n  hint: did you mean 'flow:0'",
        ),
        ({"subject": "run"}, "max_cwnd of HS, 40 has no 'run'"),
        ({"subject": "link:bottleneck"}, "has no 'link:bottleneck'"),
        ({"metric": "mean_queue", "subject": "link:botleneck"}, "did you mean 'link:bottleneck'?"),
        ({"metric": "asymmetry", "unit": "1"}, "asymmetry of HS, 40 has no 'flow:0'"),
        ({"metric": "acked"}, "acked is not measured in HS, 40: it has no table acknowledged"),
    ],
)
def test_a_number_that_no_run_can_show_is_told(
    check: Check, tmp_path: Path, change: dict[str, str], said: str
) -> None:
    with pytest.raises(BdpbenchError) as caught:
        check(**change)
    assert str(caught.value).startswith(f"{tmp_path / 'published.csv'}:2: ")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("chosen_on", "hint"),
    [("m", "published.csv and claims.yaml list the ids"), ("nn", "did you mean 'n'?")],
)
def test_a_definition_is_chosen_on_what_there_is(
    check: Check, tmp_path: Path, chosen_on: str, hint: str
) -> None:
    said = f"chosen_on: no number or statement is called {chosen_on!r}"
    with pytest.raises(BdpbenchError) as caught:
        check(found="chosen on", chosen_on=chosen_on)
    assert (caught.value.message, caught.value.hint) == (said, hint)
    assert caught.value.where == f"{tmp_path / 'published.csv'}:2"
    (tmp_path / "published.csv").unlink()
    never = "  kind: within\n  lower: null\n  upper: null\n  value: {metric: max_cwnd}\n"
    claim = f"  chosen_on: [{chosen_on}]\n{never}"
    (tmp_path / "claims.yaml").write_text(CLAIM.replace("stated", "chosen on") + claim)
    with pytest.raises(BdpbenchError, match=r"claims\.yaml:5: 0\.chosen_on: c: no number or sta"):
        check()


@pytest.mark.parametrize(
    "claim",
    [
        "  kind: within\n  lower: null\n  upper: null\n  value: {scenario: one, metric: max_cwnd, "
        "select: {protocol: HS, buffer_pkts: 40}}\n",
        f"{SWEEP}  select: {{protocol: HS}}\n  along: buffer_pkts\n",
    ],
)
def test_claims_that_runs_can_decide_are_taken(check: Check, claim: str) -> None:
    assert len(check(claim).claims) == 1


@pytest.mark.parametrize(
    ("claim", "line", "said"),
    [
        (
            "  kind: all_of\n  claims:\n  - kind: compare\n    left:\n      scenario: one\n"
            "      select: {protocol: HS}\n      metric: max_cwnd\n    op: <\n    right: 3\n",
            11,
            "max_cwnd fits 2 results of tier quick",
        ),
        (
            "  kind: ordered_groups\n  order: ascending\n  groups:\n"
            "  - [{scenario: one, select: {protocol: HS, buffer_pkts: 40}, metric: max_cwnd}]\n"
            "  - [{scenario: one, select: {protocol: HS, buffer_pkts: 50}, metric: max_cwnd}]\n",
            9,
            "no run of one has buffer_pkts=50",
        ),
        (f"{SWEEP}  select: {{protocol: HS}}\n  along: buffer\n", 8, "did you mean 'buffer_pkts'"),
        (
            f"{SWEEP}  select: {{protocol: HS}}\n  along: protocol\n",
            8,
            "'protocol' is not a number",
        ),
        (
            f"{SWEEP}  select: {{protocol: HS, buffer_pkts: 40}}\n  along: duration_s\n",
            8,
            "along duration_s no tier has more than 1 run, and a sweep needs 3",
        ),
        (
            f"{SWEEP}  subject: flow:3\n  select: {{protocol: HS}}\n  along: buffer_pkts\n",
            8,
            "max_cwnd of HS, 40 has no 'flow:3'",
        ),
    ],
)
def test_a_claim_that_no_run_can_decide_is_told(
    check: Check, tmp_path: Path, claim: str, line: int, said: str
) -> None:
    with pytest.raises(BdpbenchError) as caught:
        check(claim)
    assert str(caught.value).startswith(f"{tmp_path / 'claims.yaml'}:{line}: ")
    assert said in str(caught.value)


def test_a_packet_trace_may_have_flows_that_no_file_tells(tmp_path: Path, study: Study) -> None:
    traced = _run("HS", 40, 50)
    traced["outputs"] = [*traced["outputs"], {"file": "pckts.trq", "table": "packets"}]
    write_published(
        tmp_path / "published.csv", {**ROW, "metric": "lost", "subject": "flow:7", "unit": "%"}
    )
    lost = {"lost": Needing("%", "flow", tables=("packets",))}
    found = check_expectations(tmp_path, study, {"quick": [traced]}, lost)
    assert [number.subject for number in found.numbers] == ["flow:7"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("metric: mean_queue", r"spread\.yaml:2: 0\.metric: subject: mean_queue .* 'flow:0'"),
        ("metric: asymmetry", r"spread\.yaml:2: 0\.metric: unit: the number is in 'packets'"),
        ("runs: {scenario: won}", r"spread\.yaml:2: 0\.runs: .*'won'"),
        ("runs: {scenario: one, select: {buffer: 40}}", "did you mean 'buffer_pkts'"),
        ("runs: {scenario: one, select: {protocol: Vegas}}", "no run of one has protocol=Vegas"),
    ],
)
def test_a_spread_that_no_run_can_show_is_told(
    check: Check, tmp_path: Path, entry: str, said: str
) -> None:
    (tmp_path / "spread.yaml").write_text(f"- of: [n]\n  {entry}\n  varied: v\n")
    with pytest.raises(BdpbenchError, match=said):
        check(where="Table 2")
    (tmp_path / "spread.yaml").write_text(
        "- of: [n]\n  varied: v\n  runs: {scenario: one, select: {protocol: HS}}\n"
    )
    assert len(check(where="Table 2").spreads.entries) == 1


@pytest.mark.parametrize(
    ("repeats", "said"),
    [
        ("{runs: {one: won}, over: [protocol]}", r"spread\.yaml:2: 0\.repeats: .*'won'"),
        ("{runs: {one: one}, over: [protocoll]}", "has no protocoll"),
        (
            "{runs: {one: one}, select: {buffer_pkts: 200}, over: [protocol]}",
            "'n' asks for none of the runs that are repeated",
        ),
        ("{runs: {one: one}, over: [protocoll]}\n  metric: max_cwnd", "has no protocoll"),
        (
            "{runs: {two: two}, over: [protocol]}\n  metric: max_cwnd",
            r"spread\.yaml:3: 0\.metric: n is not of a repeated scenario, but of one",
        ),
        (
            "{runs: {one: one}, over: [protocol]}\n  metric: mean_queue",
            r"spread\.yaml:3: 0\.metric: subject: mean_queue .* 'flow:0'",
        ),
    ],
)
def test_repetitions_that_take_no_place_are_told(
    check: Check, tmp_path: Path, repeats: str, said: str
) -> None:
    entry = "- of: [n]\n  repeats: %s\n  varied: v\n"
    (tmp_path / "spread.yaml").write_text(entry % repeats)
    with pytest.raises(BdpbenchError, match=said):
        check(where="Table 2")
    others = "{runs: {one: one}, select: {protocol: HS}, over: [buffer_pkts]}"
    (tmp_path / "spread.yaml").write_text(entry % others)
    assert len(check(where="Table 2").spreads.entries) == 1


def test_a_spread_is_checked_for_the_numbers_that_it_is_about(check: Check, tmp_path: Path) -> None:
    two = [{**ROW, "id": "n"}, {**ROW, "id": "m", "metric": "mean_queue"}]
    two[1] |= {"subject": "link:bottleneck"}
    write_published(tmp_path / "published.csv", *two)
    # A queue has no flow 0, but the entry is about the other number alone.
    entry = "- {of: [n], varied: v, runs: {scenario: one}}\n"
    (tmp_path / "spread.yaml").write_text(entry.replace("runs:", "metric: max_cwnd, runs:"))
    assert len(check().numbers) == 2
    # Given ends need no run.
    (tmp_path / "spread.yaml").write_text("- {of: ['*'], varied: v, least: 1, most: 1, source: s}")
    assert len(check().spreads.entries) == 1


MEAN = (
    "  kind: within\n  lower: 1\n  upper: 2\n"
    "  value: {scenario: one, metric: max_cwnd, mean_over: [%s]%s}\n"
)


@pytest.mark.parametrize(
    ("over", "more", "said"),
    [
        ("protocol, buffer_pkts", "", ""),
        ("protocol", ", select: {buffer_pkts: 500}", ""),  # only one tier has such runs
        ("protocol", "", "max_cwnd of HS, 40 and of HS, 200 differ in more than mean_over names"),
        ("buffer", "", "mean_over: HS, 40 has no buffer\n  hint: did you mean 'buffer_pkts'?"),
        ("protocol, buffer_pkts", ", subject: flow:1", "max_cwnd of HS, 40 has no 'flow:1'"),
    ],
)
def test_a_mean_is_over_runs_that_differ_in_what_is_named(
    check: Check, over: str, more: str, said: str
) -> None:
    claim = MEAN % (over, more)
    if not said:
        assert len(check(claim).claims) == 1
        return
    with pytest.raises(BdpbenchError) as caught:
        check(claim)
    assert said in str(caught.value)


def test_a_mean_and_a_sweep_of_means_have_one_subject(tmp_path: Path, study: Study) -> None:
    flows = [{**CWND, "file": f"cwnd{flow}.out", "flow": flow} for flow in range(3)]
    runs = [{**_run("HS", size, 50), "outputs": flows} for size in (40, 200, 500)]
    sweep = f"{SWEEP}  mean_over: [protocol]\n  along: buffer_pkts\n"
    for claim in (MEAN % ("protocol, buffer_pkts", ""), sweep):
        (tmp_path / "claims.yaml").write_text(CLAIM + claim)
        with pytest.raises(BdpbenchError, match=r"several subjects, flow:0 and flow:1\n"):
            check_expectations(tmp_path, study, {"quick": runs}, METRICS)  # type: ignore[dict-item]
    (tmp_path / "claims.yaml").write_text(CLAIM + f"{sweep}  subject: flow:2\n")
    check_expectations(tmp_path, study, {"quick": runs}, METRICS)  # type: ignore[dict-item]
    with pytest.raises(BdpbenchError, match="no tier has more than 2 runs, and a sweep needs 3"):
        check_expectations(tmp_path, study, {"quick": runs[:2]}, METRICS)  # type: ignore[dict-item]


def test_the_first_selected_run_says_what_it_lacks(tmp_path: Path, study: Study) -> None:
    lacking = [{**_run("HS", 40, 50), "outputs": []}, _run("HS", 200, 50)]
    write_published(
        tmp_path / "published.csv", {**ROW, "metric": "max_cwnd", "select": "protocol=HS"}
    )
    both = {"max_cwnd": Needing("packets", "flow", tables=("cwnd", "queue", "acknowledged"))}
    with pytest.raises(BdpbenchError) as caught:
        check_expectations(tmp_path, study, {"quick": lacking}, both)  # type: ignore[dict-item]
    assert caught.value.message.endswith(
        "HS, 40: it has no table cwnd, table queue, table acknowledged"
    )
    one = {"max_cwnd": Needing("packets", "flow")}
    check_expectations(tmp_path, study, {"quick": lacking}, one)  # type: ignore[dict-item]


def test_the_first_table_of_a_metric_has_its_subjects(tmp_path: Path, study: Study) -> None:
    run = {**_run("HS", 40, 50), "outputs": [CWND, {**CWND, "table": "other", "flow": 1}]}
    both = {"max_cwnd": Needing("packets", "flow", tables=("cwnd", "other"))}
    write_published(tmp_path / "published.csv", {**ROW, "subject": "flow:1"})
    with pytest.raises(BdpbenchError, match="max_cwnd of HS, 40 has no 'flow:1'"):
        check_expectations(tmp_path, study, {"quick": [run]}, both)  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("metric", "outputs", "lacks"),
    [
        ("acked", [[QUEUE], [CWND]], ["table acknowledged"]),
        ("max_cwnd", [[QUEUE], [CWND]], []),
        ("max_cwnd", [[CWND], [QUEUE]], []),
        ("max_cwnd", [], []),
        ("asymmetry", [[]], []),
    ],
)
def test_what_runs_lack_is_what_none_of_them_has(
    metric: str, outputs: list[list[Output]], lacks: list[str]
) -> None:
    runs = [{**_run("HS", 40, 50), "outputs": each} for each in outputs]
    assert what_lacks(METRICS[metric], runs) == lacks  # type: ignore[arg-type]
