"""Queues that are folders: read, compiled, checked by hand, and refused with file and line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from bdpbench.app.batch import make_libraries_here
from bdpbench.app.beginning import begin_queue
from bdpbench.app.keep.bundle import Portable
from bdpbench.contracts.paths import config_dir
from bdpbench.contracts.plan import write_plan_document
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.backend import loads_libraries
from bdpbench.simulation.hand_tests import check_tests
from bdpbench.simulation.libraries import compile_folder
from bdpbench.studies.background import draws
from bdpbench.studies.folders import QueueFolder
from bdpbench.studies.load import folders_of, load_study
from bdpbench.studies.plan import make_plan
from bdpbench.studies.runs import expand_tier

PATH = {
    "bottleneck_mbps": 10,
    "bottleneck_delay_ms": 10,
    "access_mbps": 100,
    "rtt_ms": 40,
    "buffer_pkts": 50,
    "protocol": "SACK",
    "queue": "Own",
}
SACK = {"label": "SACK", "colour": "#000000", "agent": "TCP/Sack1", "sink": "TCPSink/Sack1"}


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What `new queue mine` writes, which a test may break, with libraries of its own."""
    for room in ("libraries", "hand_tests"):
        monkeypatch.setattr(f"bdpbench.simulation.{room}.libraries_dir", lambda: tmp_path / "made")
    return begin_queue(tmp_path / "mine")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def study_of(mine: Path, ecn: str = "on", **given: object) -> Path:
    study = mine.parent / "own"
    study.mkdir(exist_ok=True)
    scenario = {
        "title": "Alone",
        "topology": "path",
        "flows": [{"count": 1}],
        "tiers": {"quick": [{"duration_s": 1}]},
    }
    content = {
        "schema_version": 1,
        "key": "own",
        "title": "Own",
        "protocols": {"SACK": SACK},
        "queues": {"Own": {"folder": f"../{mine.name}", **given}},
        "topologies": {"path": {"parameters": {**PATH, "ecn": ecn}}},
        "scenarios": {"alone": scenario},
    }
    (study / "study.yaml").write_text(yaml.safe_dump(content))
    return study


def arguments(study: Path) -> dict[str, str]:
    (run,) = expand_tier(load_study(study), "quick")
    return dict(zip(run["argv"][::2], run["argv"][1::2], strict=True))


def use(mine: Path) -> None:
    compile_folder(QueueFolder(mine))
    check_tests(QueueFolder(mine))


def test_what_comes_along_compiles_and_is_as_its_tests_say() -> None:
    use(config_dir() / "queues" / "ecn_threshold")


def test_new_queue_writes_one_that_its_study_uses(mine: Path, tmp_path: Path) -> None:
    study = load_study(mine)
    assert [each.path for each in folders_of(study)] == [mine]
    assert QueueFolder(mine).file.key == "Mine"
    runs = expand_tier(study, "quick")
    assert [run["parameters"]["queue"] for run in runs] == ["DropTail", "CoDel", "Mine"]
    assert [loads_libraries(run["argv"]) for run in runs] == [False, False, True]
    use(mine)
    (declared,) = (tmp_path / "made").glob("*.tcl")
    assert f"Class Queue/Discipline/{declared.stem} -superclass Queue/Discipline\n" in (
        declared.read_text()
    )
    with pytest.raises(BdpbenchError, match="exists already"):
        begin_queue(mine)
    with pytest.raises(BdpbenchError, match="is a queue of bdpbench already"):
        begin_queue(tmp_path / "drop_tail")


def test_its_runs_get_its_class_and_all_parameters(mine: Path) -> None:
    given = arguments(study_of(mine, settings={"mark_from_pkts_": 7}))
    assert given["-link.0.queue"] == f"Discipline/{QueueFolder(mine).name}"
    assert given["-link.0.queue.mark_from_pkts_"] == "7"
    assert given["-link.0.queue.drop_front_"] == "0"
    assert given["-link.0.queue.limit_"] == "50"
    assert given["-link.0.queue.setbit_"] == "1"
    assert arguments(study_of(mine, ecn="off"))["-link.0.queue.setbit_"] == "0"
    assert load_study(study_of(mine)).queues["Own"].label == "mine"


def test_a_queue_says_that_it_marks_or_is_random(mine: Path) -> None:
    pairs = [word for pair in arguments(study_of(mine, ecn="off")).items() for word in pair]
    assert not draws(pairs)
    edit(mine / "queue.yaml", "marks: true", "random: true")
    given = arguments(study_of(mine, ecn="off", label="other"))
    assert given["-link.0.queue.random_"] == "1"
    assert "-link.0.queue.setbit_" not in given
    assert draws([word for pair in given.items() for word in pair])
    with pytest.raises(BdpbenchError, match="ecn is on, and no queue of this run marks packets"):
        arguments(study_of(mine))


def test_the_name_of_its_class_covers_its_code_and_no_comment(mine: Path) -> None:
    before = QueueFolder(mine).name
    edit(mine / "discipline.cc", "// A plain queue", "// A simple queue")
    assert QueueFolder(mine).name == before
    edit(mine / "discipline.cc", ">= 0.5", "> 0.5")
    assert QueueFolder(mine).name != before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"settings": {"drop_front_": 3}}, "drop_front_: expected at least 0 and at most 1"),
        ({"settings": {"drop_front": 1}}, "unknown setting of mine 'drop_front'"),
        ({"kind": "RED"}, "kind: the queue's folder decides this"),
        ({"folder": "../nowhere"}, "nowhere has no queue.yaml and no discipline.cc"),
        ({"folder": ""}, "own has no queue.yaml and no discipline.cc"),
    ],
)
def test_what_a_study_says_wrong_is_refused_with_its_line(
    mine: Path, given: dict[str, object], message: str
) -> None:
    study = study_of(mine, **given)
    with pytest.raises(BdpbenchError) as found:
        arguments(study)
    assert message in found.value.message
    assert str(found.value.where).startswith(f"{study / 'study.yaml'}:")


PUSH = "packets_.push_back(packet);"


@pytest.mark.parametrize(
    ("name", "old", "new", "message", "line"),
    [
        ("discipline.cc", "return nullptr;", "retrun 0;", "does not compile: ", "discipline.cc:33"),
        ("discipline.cc", "LinkQueue&) override", "int)", "abstract class", "discipline.cc:45"),
        (
            *("discipline.cc", PUSH, f"void other(); other(); {PUSH}"),
            *("uses other(), which is nowhere defined", "discipline.cc:27"),
        ),
        (
            *("discipline.cc", "QUEUE_DISCIPLINE(Mine)", ""),
            *("does not say which class is the discipline", "discipline.cc"),
        ),
        (
            *("queue.yaml", "variable: drop_front_", "variable: limit_"),
            *("limit_ is a variable of every queue", "queue.yaml:25"),
        ),
        (
            "queue.yaml",
            "default: 20",
            "default: -1",
            "the default -1 lies outside",
            "queue.yaml:26",
        ),
        ("test.yaml", "{3: 0.5}", "{3: 0.6}", "packet 3 was dropped at 0.5 s, not", "test.yaml:21"),
        ("test.yaml", "marked: [3]", "marked: []", "marked is packets 3, not no", "test.yaml:15"),
        ("test.yaml", "{packets: 3}", "{packet: 3}", "packet: unknown key", "test.yaml:4"),
        ("test.yaml", "drop_front_: 1", "drop_front_: 2", "outside its range", "test.yaml:24"),
        (
            *("discipline.cc", "found_pkts >= queue.limit_pkts()", "found_pkts >= 1000"),
            *("has 3 packets that it has neither dropped nor let leave", "test.yaml:20"),
        ),
        (
            *("discipline.cc", PUSH, f"if (found_pkts == 1) __builtin_exit(0); {PUSH}"),
            *("the queue's tests end with status 0 before the last one", "test.yaml"),
        ),
    ],
)
def test_what_is_wrong_in_a_folder_is_refused_with_file_and_line(
    mine: Path, name: str, old: str, new: str, message: str, line: str
) -> None:
    edit(mine / name, old, new)
    with pytest.raises(BdpbenchError) as found:
        use(mine) if "test.yaml" not in line else check_tests(QueueFolder(mine))
    assert message in str(found.value)
    assert line in str(found.value)


def test_times_of_a_test_and_woken_are_those_of_the_script(mine: Path) -> None:
    shaper = "if (queue.now_s() < 2) { queue.wake_at(2); return nullptr; }\n\t\t"
    edit(
        mine / "discipline.cc", "dequeue(LinkQueue&) override", "dequeue(LinkQueue& queue) override"
    )
    edit(mine / "discipline.cc", "if (packets_.empty())", f"{shaper}if (packets_.empty())")
    woken = "void woken(LinkQueue& queue) override { queue.drop(packets_.front()); "
    edit(mine / "discipline.cc", "private:", f"\t{woken}packets_.pop_front(); }}\n\nprivate:")
    check = {
        "name": "the first one is dropped when the queue is woken",
        "hears": [
            {"arrives": {"at_s": 1, "packets": 3, "every_s": 0.1, "bytes": 1}},
            {"departs": {"at_s": 1.15}},
            {"waits": {"at_s": 3}},
            {"departs": {"packets": 2, "every_s": 0.5}},
        ],
        "then": {
            "dropped": {1: 2.0},
            "left": {2: 3.0, 3: 3.5},
            "length_pkts": 0,
            "length_bytes": 0,
        },
    }
    alone = {"name": "a packet stays", "hears": [{"arrives": {}}], "then": {"length_pkts": 1}}
    (mine / "test.yaml").write_text(yaml.safe_dump([check, alone]))
    use(mine)


def test_a_batch_takes_its_queue_to_a_node_and_an_archive_keeps_it(
    mine: Path, tmp_path: Path
) -> None:
    study = load_study(study_of(mine))
    plan = make_plan(study, "quick", "", expand_tier(study, "quick"), "")
    write_plan_document(tmp_path / "batch.json", plan)
    make_libraries_here(tmp_path / "batch.json")
    assert (tmp_path / "made" / f"{QueueFolder(mine).name}.so").is_file()
    assert Portable("own", study.folder).plan(plan)["queue_folders"] == {
        "Own": "config/studies/own/queues/Own"
    }
    before = arguments(study.folder)
    (study.folder / "queues").mkdir()
    mine.rename(study.folder / "queues" / "Own")
    (study.folder / "study.yaml").touch()
    assert arguments(study.folder) == before


def test_two_folders_of_one_key_and_code_have_the_same_parameters(mine: Path) -> None:
    other = Path(shutil.copytree(mine, mine.parent / "other"))
    edit(other / "queue.yaml", "marks: true", "marks: false")
    study = study_of(mine)
    edit(study / "study.yaml", "queues:\n", "queues:\n  Other: {folder: ../other}\n")
    with pytest.raises(BdpbenchError, match="and other parameters"):
        load_study(study)
