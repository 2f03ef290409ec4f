"""`evaluate`: newcomers in the places of a study's protocols, and how they compare."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.app.conftest import call_bdpbench, call_here, check_refused, said_by
from tests.data_of import data_of

from bdpbench.app.evaluate.cells import StudyCells
from bdpbench.app.evaluate.evaluating import common_names, document_keys
from bdpbench.app.evaluate.judging import judged
from bdpbench.app.evaluate.mirrored import Mirrored, find_newcomers
from bdpbench.app.evaluate.report import published_prints
from bdpbench.app.keep.results import KeptResults
from bdpbench.app.planning import Paths
from bdpbench.contracts.evaluation import (
    Choice,
    Evaluation,
    Judgement,
    group_of,
    read_evaluation,
)
from bdpbench.contracts.paths import repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.pages.evaluation.page import EvaluationReport
from bdpbench.pages.notebook import offline_chart
from bdpbench.studies.evaluate import Mirror, load_mirror, mirrors, read_mirror
from bdpbench.studies.load import read_study

ROOT = repository_root()
NEWCOMERS = ROOT / "tests" / "data" / "newcomers"
DATA = data_of(__file__)
MadeOnce = Callable[[str, Callable[[Path], None]], Path]

# What the law of config/protocols/aimd does, and what these do instead.
AIMD_GROWS = "limits.cwnd_pkts += increase_pkts_ * news.packets / limits.cwnd_pkts;"
AIMD_STARTS = "limits.cwnd_pkts += news.packets;"
AIMD_CUTS = "std::max(FEWEST_PKTS, limits.cwnd_pkts * (1 - cut_))"
AIMD_LOSES = "limits.cwnd_pkts = 1;"


def _protocol(folder: Path, key: str, **changes: str) -> Path:
    """A protocol like AIMD, with other lines in its law."""
    made = folder / key.lower()
    shutil.copytree(ROOT / "config" / "protocols" / "aimd", made)
    (made / "test.cc").unlink()
    for name in ("law.cc", "protocol.yaml"):
        text = (made / name).read_text().replace("Aimd", key).replace("AIMD", key)
        for old, new in changes.items():
            text = text.replace(globals()[old], new)
        (made / name).write_text(text)
    return made


def _write_config(folder: Path) -> None:
    shutil.copytree(NEWCOMERS, folder / "config")
    (folder / "config" / "studies").mkdir()
    (folder / "config" / "config.yaml").write_text((ROOT / "config" / "config.yaml").read_text())


def _evaluate(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return call_bdpbench(folder, "evaluate", "--backend", "native", *words)


@pytest.fixture(scope="session")
def evaluated(made_once: MadeOnce, ns_binary: Path) -> Path:
    """A folder with an evaluation of AIMD, and of what it becomes by an edit."""

    def evaluate(folder: Path) -> None:
        _write_config(folder)
        mine = folder / "mine"
        never_cuts = _protocol(mine, "Bully", AIMD_CUTS="limits.cwnd_pkts", AIMD_LOSES="")
        never_grows = _protocol(mine, "Timid", AIMD_GROWS=";", AIMD_STARTS=";")
        _protocol(mine, "Broken", AIMD_GROWS="limits.cwnd_packets += 1;")
        fails_late = "if (path.now_s > 15) throw 1;"
        half = _protocol(mine, "Half", AIMD_GROWS=f"{{ {fails_late} {AIMD_GROWS} }}")
        words = [f"{mine / 'broken'}", str(never_cuts), str(never_grows), str(half)]
        done = _evaluate(
            folder, "--quick", "--name", "four", "-j", "2", *words, str(_protocol(mine, "Plain"))
        )
        check_refused(done, "/four: lacks 5 runs; the report says why", "tries again what failed")
        (folder / "said.txt").write_text(done.stdout + done.stderr)

    return made_once("evaluated", evaluate)


def _document(folder: Path, name: str = "four") -> Evaluation:
    return read_evaluation(folder / "results" / "evaluations" / name)[0]


def _judgement(folder: Path, name: str = "four") -> Judgement:
    evaluation, cells = read_evaluation(folder / "results" / "evaluations" / name)
    return judged(evaluation, cells, published_prints(evaluation))


def _told(folder: Path) -> dict[str, Any]:
    """What an evaluation found, in short."""
    judgement, cells = _judgement(folder), read_evaluation(_four(folder))[1]
    pairs = cells.filter(part="pairs", evaluated=True).sort("protocol", "beside")
    return {
        "runs": judgement.evaluation.runs,
        "problems": [each.protocol or each.said for each in judgement.evaluation.problems],
        "figures": {
            figure.key: {
                each["protocol"]: f"{each['rank']} of {each['of']}: {_short(each['value'])}"
                for each in figure.values
            }
            for figure in judgement.figures
        },
        "criteria": {
            each.key: {answer.protocol: answer.passes for answer in each.answers}
            for each in judgement.criteria
        },
        "pairs": {
            f"{row['protocol']} beside {row['beside']}": _short(row["value"])
            for row in pairs.iter_rows(named=True)
        },
    }


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _four(folder: Path) -> Path:
    return folder / "results" / "evaluations" / "four"


def test_what_an_evaluation_finds(evaluated: Path) -> None:
    """Bully never cuts, Timid never grows, and Half fails after 15 s: in the pairs.

    ``evaluate.yaml`` says what follows; after a change of ns-2, `_told` of the folder renews it.
    """
    assert _told(evaluated) == DATA["found"]
    problem = _document(evaluated).problems[0]
    assert "law.cc:" in problem.said
    assert "cwnd_packets" in problem.said
    assert "Broken cannot be evaluated" in (evaluated / "said.txt").read_text()
    whys = {
        (figure.key, each["protocol"]): each["why"]
        for figure in _judgement(evaluated).figures
        for each in figure.values
    }
    assert whys["fill", "Timid"] == "never reached in 1 of 1 runs"
    assert "ns-2" in whys["reno", "Half"]
    page = (_four(evaluated) / "evaluation.html").read_text()
    assert "which would keep it from deployment." in page


def test_called_again_it_simulates_nothing_and_full_adds_repetitions(evaluated: Path) -> None:
    plain = str(evaluated / "mine" / "plain")
    again = said_by(_evaluate(evaluated, "--quick", "--dry-run", plain))
    assert "6 runs, 6 finished, 0 to simulate" in again
    full = said_by(_evaluate(evaluated, "--dry-run", plain))
    # Both repetitions alone, longer, and each of the five pairs with a shorter delay.
    assert "12 runs, 5 finished, 7 to simulate" in full
    judged, pairs = (each.text for each in _document(evaluated).studies[0].parts.values())
    assert "Newcomers are simulated for 8 and 40 s here" in judged
    assert pairs == ""


def test_a_study_that_is_only_named_takes_part_where_it_is(tmp_path: Path) -> None:
    _write_config(tmp_path)
    plain = str(_protocol(tmp_path, "Plain"))
    shutil.copytree(NEWCOMERS / "evaluation", tmp_path / "config" / "another")
    for name, old, new in (
        ("study.yaml", "key: evaluation", "key: another"),
        ("evaluate.yaml", "schema_version: 1\n", "schema_version: 1\nonly_named: true\n"),
    ):
        path = tmp_path / "config" / "another" / name
        path.write_text(path.read_text().replace(old, new, 1))
    asked = ("--quick", "--dry-run", plain)
    told = said_by(_evaluate(tmp_path, *asked))
    assert "evaluation, tier paper: 6 runs" in told
    assert "another" not in told
    named = said_by(_evaluate(tmp_path, *asked, "--study", "another"))
    assert "another, tier paper: 6 runs" in named
    assert "evaluation, tier paper" not in named


@pytest.mark.parametrize(("words", "said"), DATA["refused"], ids=str)
def test_bad_input_is_refused(evaluated: Path, words: list[str], said: list[str]) -> None:
    given = [each.format(evaluated / "mine") for each in words]
    check_refused(_evaluate(evaluated, "--quick", "--dry-run", *given), *said)


def _planned(path: Path) -> None:
    mirror = read_mirror(read_study(path.with_name("study.yaml")), path)
    mirrored = Mirrored(mirror, "quick", [], Paths(path.parent, "x", "y"), "")
    StudyCells(mirrored, document_keys(mirror, [])).check()


@pytest.mark.parametrize(("old", "new", "said"), DATA["edits"])
def test_a_mistake_in_evaluate_yaml_names_its_line(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    shutil.copytree(NEWCOMERS / "evaluation", tmp_path / "evaluation")
    path = tmp_path / "evaluation" / "evaluate.yaml"
    text = path.read_text()
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(BdpbenchError) as caught:
        _planned(path)
    line = 1 + text[: text.index(old)].count("\n")
    assert said in str(caught.value)
    told = int(str(caught.value.where).rpartition(":")[2])
    assert abs(told - line) <= 2


# The evaluations' own study, and those that take newcomers.
MIRRORS = sorted(path.parent for path in (ROOT / "config").rglob("evaluate.yaml"))


@cache
def mirror_of(folder: Path) -> Mirror:
    """How a study takes newcomers."""
    return load_mirror(folder)


def test_all_studies_that_take_newcomers_are_tested() -> None:
    assert {each.study.folder for each in mirrors()} == set(MIRRORS)


@pytest.mark.parametrize("folder", MIRRORS, ids=lambda folder: folder.name)
def test_what_a_study_shows_of_others_is_published(folder: Path) -> None:
    mirror = mirror_of(folder)
    mirrored = Mirrored(mirror, "full", [], NOWHERE, "")
    StudyCells(mirrored, common_names(mirror)).check()
    assert [run["label"] for run in mirrored.own if not mirrored.is_published(run)] == []
    known = set(mirrored.published.select("metric", "subject").iter_rows())
    columns = [
        each for part in mirrored.mirror.file.parts.values() for each in part.columns.values()
    ]
    assert [
        each for each in columns if each.metric and (each.metric, each.subject) not in known
    ] == []


STEADY = {"small_buffer", "rtts"}
STEADY |= {f"{each}{today}" for each in ("alone", "itself", "beside") for today in ("", "_today")}


def test_a_steady_state_holds_two_whole_saw_teeth_of_standard_tcp() -> None:
    """Those of the slowest protocol; beside another, of the one that it has alone for a partner."""
    published = KeptResults(ROOT / "reports" / "published" / "evaluation")
    teeth = published.metrics.filter(metric="saw_teeth")
    for run in published.runs:
        of = {each for name, each in run["parameters"].items() if name.startswith("protocol")}
        scenarios = {place["scenario"] for place in run["places"]}
        if of == {"Reno"} and scenarios & STEADY:
            assert teeth.filter(run_id=run["run_id"])["value"].min() >= 2, scenarios


NOWHERE = Paths(Path(), "x", "y")
KNOWN = {
    "sharma2006": "BIC",
    "xu2004": "HS",
    "even2007": "HTCP",
    "ahmad2013": "CUBIC",
    "zhang2006": "HSTCP_SACK",
}
# Of these, planning all runs takes seconds.
LARGE = ("even2007", "ahmad2013")


@pytest.mark.parametrize(("key", "protocol"), KNOWN.items())
def test_a_known_protocol_under_another_name_has_its_own_runs_and_values(
    key: str, protocol: str
) -> None:
    mirror = mirror_of(ROOT / "config" / "studies" / key)
    choice: Choice = "quick" if key in LARGE else "full"
    itself = find_newcomers([f"{key}:{protocol}"])  # which takes its own place
    StudyCells(Mirrored(mirror, choice, itself, NOWHERE, ""), document_keys(mirror, itself)).check()
    newcomers = find_newcomers([f"Other={key}:{protocol}"])
    mirrored = Mirrored(mirror, choice, newcomers, NOWHERE, "")
    assert mirrored.refused == []
    durations = {(run["scenario"], run["parameters"]["duration_s"]) for run in mirrored.own}
    same = [
        each.run
        for each in mirrored.shown
        if each.newcomer == "Other"
        and not each.varied
        and (each.run["scenario"], each.run["parameters"]["duration_s"]) in durations
    ]
    assert same
    assert all(mirrored.is_published(run) for run in same)
    own = {run["run_id"] for run in mirrored.own}
    assert {run["run_id"] for run in same} <= own
    mine = mirrored.values("Other")
    theirs = mirrored.own_values()
    kept = mine.filter(mine["run_id"].is_in([run["run_id"] for run in same]))
    if choice == "quick":  # of a part of the runs, what several have in common is something else
        single = [name for name, each in mirrored.definitions.items() if each.level == "run"]
        kept = kept.filter(kept["metric"].is_in(single))
    joined = kept.join(
        theirs, on=["run_id", "scenario", "metric", "subject"], how="inner", nulls_equal=True
    )
    assert joined.height
    assert joined["value"].eq_missing(joined["value_right"]).all()


def test_what_a_protocol_records_for_its_own_study_is_no_column_of_anothers_script() -> None:
    newcomer = find_newcomers(["ahmad2013:Compound"])  # which records ack_
    mirror = mirror_of(ROOT / "config" / "studies" / "sharma2006")
    shown = Mirrored(mirror, "quick", newcomer, NOWHERE, "").shown
    runs = [each.run for each in shown if each.newcomer == "Compound"]
    assert runs
    assert not any(name.endswith(".record") for run in runs for name in run["argv"])


def test_under_another_name_a_protocol_is_judged_as_it_is_published(
    tmp_path: Path, ns_binary: Path
) -> None:
    words = ("evaluate", "Other=cubic", "--study", "evaluation", "--backend", "native")
    done = call_here({"BDPBENCH_RESULTS": str(tmp_path / "results")}, *words)
    assert ", 0 to simulate" in said_by(done)
    judgement = _judgement(tmp_path, "other")
    document = judgement.evaluation
    assert len(judgement.figures) >= 10
    for figure in judgement.figures:
        values = {each["protocol"]: each for each in figure.values}
        mine, cubic = (values[key] for key in ("Other", "cubic"))
        for fact in ("value", "low", "high", "rank", "run_ids"):
            assert mine[fact] == cubic[fact]  # type: ignore[literal-required]
        assert mine["of"] == 9
    answered = [each for each in judgement.criteria if each.rule]
    assert all(len(each.answers) == 9 for each in answered)
    colours = [each.colour for each in document.protocols]
    assert len(set(colours)) == len(colours) == 9
    deep = next(each for each in judgement.criteria if each.key == "bufferbloat")
    cubic = next(each.worst for each in deep.answers if each.protocol == "cubic")
    assert cubic is not None
    assert deep.bound == deep.reference == cubic > 150
    has, comes_to = re.findall(r"[\d.]+(?= ms)", deep.rule)[1:]
    assert deep.rule == (
        f"at most 150 ms, or what CUBIC has ({has} ms); that is at most {comes_to} ms"
    )
    assert float(has) == float(comes_to) == pytest.approx(cubic, rel=1e-3)


def test_a_protocol_that_is_published_stands_once_under_its_own_name(
    tmp_path: Path, ns_binary: Path
) -> None:
    words = ("evaluate", "cubic", "--study", "evaluation", "--backend", "native")
    said_by(call_here({"BDPBENCH_RESULTS": str(tmp_path / "results")}, *words))
    judgement = _judgement(tmp_path, "cubic9438")
    document = judgement.evaluation
    mine = document.protocols[0]
    assert (mine.key, mine.source) == ("Cubic9438", "config/protocols/cubic")
    assert len({each.label for each in document.protocols}) == 8
    assert len({each.colour for each in document.protocols}) == 8
    assert all(len(each.values) <= 8 for each in judgement.figures)
    places = [(group_of(each), each["protocol"]) for each in judgement.cells]
    assert len(set(places)) == len(places)
    # Rules that are relative to it find it under its own name.
    related = [each for each in judgement.criteria if ", or what CUBIC" in each.rule]
    assert related
    for each in related:
        own = next(answer for answer in each.answers if answer.protocol == "Cubic9438")
        assert each.reference == own.worst is not None


def test_a_file_of_protocols_is_one_evaluation_and_stands_beside_another(
    tmp_path: Path, ns_binary: Path
) -> None:
    """All under other names, so that every run is published; CUBIC is itself, under its own key."""
    file = tmp_path / "all.yaml"
    others = ", ".join(f"{each}=bbr" for each in "ABCDE")
    file.write_text(f"schema_version: 1\nstudies: [evaluation]\nprotocols: [cubic, {others}]\n")
    results, words = {"BDPBENCH_RESULTS": str(tmp_path / "results")}, ("--backend", "native")
    said_by(call_here(results, "evaluate", str(file), *words))
    league = _judgement(tmp_path, "all").evaluation
    assert [each.key for each in league.evaluated] == ["Cubic9438", *"ABCDE"]
    page = (tmp_path / "results" / "evaluations" / "all" / "evaluation.html").read_text()
    assert "of 13 protocols harm none of those" in page
    overview = EvaluationReport(_judgement(tmp_path, "all")).leads
    assert [each.chart_id for each in overview] == [
        f"against-{each}" for each in ("delay-goodput", "reno-cubic", "small_buffer-high_loss")
    ]
    for chart in overview:
        assert "spec" in chart.content
        offline_chart(chart.content["spec"])
    beside = ("--study", "evaluation", "--beside", str(tmp_path / "results/evaluations/all"))
    said_by(call_here(results, "evaluate", "Mine=bbr", "--quick", *beside, *words))
    found = _judgement(tmp_path, "mine-quick")
    assert found.evaluation.problems == []
    shown = {each.key: each.evaluated for each in found.evaluation.protocols}
    assert shown == {**dict.fromkeys(shown, False), "Mine": True}
    assert {"A", "E", "cubic", "bbr"} <= shown.keys()
    assert "Cubic9438" not in shown  # it is there as cubic
    for figure in found.figures:
        values = {each["protocol"]: each for each in figure.values}
        assert values["A"]["value"] == values["B"]["value"]
        # The quick choice has three repetitions, and what all others have is taken whole.
        assert {*values["Mine"]["run_ids"]} < {*values["A"]["run_ids"]}
        assert values["bbr"]["run_ids"] == values["A"]["run_ids"]
    file.write_text("schema_version: 1\nprotocols: []\n")
    check_refused(call_here(results, "evaluate", str(file), "-n"), f"{file}:2: protocols")
    file.write_text("schema_version: 1\nprotocols: [cubic,\n  cubbic]\n")
    check_refused(call_here(results, "evaluate", str(file), "-n"), f"{file}:3: protocols.1: cubbic")


def test_the_name_of_another_protocol_is_refused() -> None:
    done = call_here({}, "evaluate", "cubic=bbr", "--study", "evaluation", "-n")
    check_refused(done, "cubic is the name of a protocol of evaluation")


def test_an_evaluation_is_told_as_events_and_compared_with_an_earlier_one(evaluated: Path) -> None:
    folder, mine = evaluated / "results" / "evaluations", evaluated / "mine"
    kept, plain = folder / "kept", str(mine / "plain")
    done = said_by(_evaluate(evaluated, "--quick", "--json", "--name", "kept", plain))
    events = [json.loads(line) for line in done.splitlines()]
    assert str(kept / "evaluation.json") in [each.get("path") for each in events]
    assert _document(evaluated, "kept").runs["simulated"] == 6
    # A protocol that does not compile is missing.
    done = _evaluate(evaluated, "--quick", "--name", "broken", plain, str(mine / "broken"))
    check_refused(done, "lacks a protocol")
    words = [plain, str(mine / "timid"), "--against", str(kept)]
    said_by(_evaluate(evaluated, "--quick", "--name", "kept", *words))
    assert "What changed" in (kept / "evaluation.html").read_text()
    assert len(_document(evaluated, "kept").evaluated) == 2
