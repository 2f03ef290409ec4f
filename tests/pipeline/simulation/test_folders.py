"""Protocols and queues in folders: read, compiled, checked by hand, refused with file and line."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import make
from tests.compiled import keep_libraries
from tests.data_of import data_of
from tests.pipeline.studies.network.conftest import write_study

from bdpbench.app.beginning import begin
from bdpbench.app.keep.publish import folders_of_plan
from bdpbench.cli import main
from bdpbench.contracts.paths import config_dir, repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import (
    LIBRARIES_VARIABLE,
    LIBRARY_SUFFIXES,
    library_list,
    link_libraries,
    loads_libraries,
)
from bdpbench.simulation.hand_tests import check_tests
from bdpbench.simulation.libraries import compile_folder
from bdpbench.studies.folders import ProtocolFolder, QueueFolder
from bdpbench.studies.load import folders_of, load_study
from bdpbench.studies.plan import make_plan
from bdpbench.studies.runs import expand_tier

DATA = data_of(__file__)
KNOWN = sorted(
    path.parent
    for kind in ("protocol", "queue")
    for path in config_dir().glob(f"{kind}s/*/{kind}.yaml")
)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of libraries for all tests here: equal code is compiled once."""
    return keep_libraries(monkeypatch)


@pytest.fixture
def aimd(made: Path, tmp_path: Path) -> Path:
    """A copy of AIMD's folder that a test may break."""
    return Path(shutil.copytree(config_dir() / "protocols" / "aimd", tmp_path / "aimd"))


@pytest.fixture
def mine(made: Path, tmp_path: Path) -> Path:
    """What `new queue mine` writes, which a test may break."""
    begin("queue", tmp_path / "mine")
    return tmp_path / "mine"


@pytest.fixture(params=["aimd", "mine"])
def either(request: pytest.FixtureRequest) -> Path:
    """The folder of a protocol, or of a queue."""
    folder: Path = request.getfixturevalue(request.param)
    return folder


def edit(path: Path, old: str, new: str, count: int = -1) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, count))


def folder_of(path: Path) -> ProtocolFolder | QueueFolder:
    return QueueFolder(path) if (path / "queue.yaml").is_file() else ProtocolFolder(path)


def use(path: Path) -> None:
    compile_folder(folder_of(path))
    check_tests(folder_of(path))


def study_of(path: Path, ecn: str = "on", more: Any = None, **given: object) -> Path:
    """A study whose only flow is of the folder's protocol, or goes through its queue."""
    named = {"Mine": {"folder": f"../../{path.name}", **given}, **(more or {})}
    if isinstance(folder_of(path), QueueFolder):
        scenario = {"queues": named, "parameters": {"queue": "Mine", "ecn": ecn}}
    else:
        scenario = {"protocols": named, "parameters": {"protocol": "Mine"}}
    return write_study(path.parent / "own", scenario).parent


def arguments(study: Path) -> dict[str, str]:
    (run,) = expand_tier(load_study(study), "quick")
    return make.arguments(run)


# ---------------------------------------------------------------- both


@pytest.mark.parametrize("folder", KNOWN, ids=lambda path: path.name)
def test_what_comes_along_compiles_and_is_as_its_tests_say(folder: Path, made: Path) -> None:
    use(folder)
    assert folder_of(folder).file.sources


def test_the_tests_of_the_documentation_hold(either: Path) -> None:
    page = (repository_root() / folder_of(either).page).read_text()
    (block,) = re.findall(r"```cpp\n(TEST.*?)```", page, re.DOTALL)
    (either / "test.cc").write_text(block)
    use(either)


def test_the_name_of_its_class_covers_all_that_the_compiler_reads(either: Path) -> None:
    (code,) = folder_of(either).sources
    (either / "parts").mkdir()
    for name in ("parts/one.hpp", "parts/two.inc"):
        (either / name).write_text("// nothing\n")
        edit(code, "#include", f'#include "{name}"\n#include', 1)
    names = [folder_of(either).name]
    for path in (code, either / "parts" / "one.hpp", either / "parts" / "two.inc"):
        edit(path, "// ", "//  ", 1)  # blanks may be part of a text that a macro makes
        names.append(folder_of(either).name)
    assert len({*names}) == 4
    compile_folder(folder_of(either))
    (either / "README.md").write_text("what it is")
    (either / ".notes.h").write_text("what it will be")
    assert folder_of(either).name == names[-1]


@pytest.mark.parametrize("where", ["{0}/words.h", "{1}/table.txt", "../words.h", "table.txt"])
def test_the_compiler_finds_nothing_but_what_the_name_covers(either: Path, where: str) -> None:
    (either / "table.txt").write_text("")
    (either.parent / "words.h").write_text("")
    (code,) = folder_of(either).sources
    path = where.format(either.parent, either)
    edit(code, "#include", f'#include "{path}"\n#include', 1)
    said = "includes a file by its full path" if "{" in where else "No such file"
    with pytest.raises(BdpbenchError, match=said) as found:
        compile_folder(folder_of(either))
    line = 1 + code.read_text().split(f'#include "{path}"')[0].count("\n")
    assert found.value.where == f"{code}:{line}"
    assert "copy it into the folder under a name that ends with .h" in found.value.hint


def test_a_dry_run_compiles_and_executes_nothing(
    aimd: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = study_of(aimd)
    (study / "metrics.py").write_text(f"open({str(aimd / 'traces')!r}, 'a').close()\n")
    (code,) = folder_of(aimd).sources
    touch = f'struct Early {{ Early() {{ std::ofstream("{aimd}/traces"); }} }} early;\n'
    end = code.read_text().rpartition("\n\n")[2]
    edit(code, end, f"\n#include <fstream>\n{touch}{end}")
    monkeypatch.setattr("sys.argv", ["bdpbench", "run", "-n", str(study)])
    with pytest.raises(SystemExit, match=r"^0$"):
        main()
    said = capsys.readouterr().err
    assert f"{aimd}: is compiled now, and executed later" in said
    assert f"{study / 'metrics.py'}: is not executed now" in said
    assert not (aimd / "traces").exists()
    use(aimd)
    assert (aimd / "traces").exists()


def test_a_folder_may_have_any_name(either: Path) -> None:
    use(either.rename(either.parent / 'a "quote" > b {c} $d [e] ü'))


@pytest.mark.parametrize("name", ["CPATH", "CPLUS_INCLUDE_PATH"])
def test_the_environment_adds_no_headers(
    aimd: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (aimd.parent / "more.h").write_text("")
    monkeypatch.setenv(name, str(aimd.parent))
    edit(aimd / "law.cc", "#include", "#include <more.h>\n#include", 1)
    with pytest.raises(BdpbenchError, match=r"does not compile:\n.*more.h: No such file"):
        compile_folder(folder_of(aimd))


def test_a_library_that_is_not_what_was_compiled_is_made_again_and_not_used(
    aimd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bdpbench.simulation.build.libraries_dir", lambda: tmp_path / "made")
    name = ProtocolFolder(aimd).name

    def use_it(number: int) -> Path:
        work = tmp_path / f"work {number}"
        work.mkdir()
        return work / link_libraries([name], work)[LIBRARIES_VARIABLE]

    compile_folder(ProtocolFolder(aimd))
    listing = library_list(name)
    paths = [listing, *(listing.with_suffix(each) for each in LIBRARY_SUFFIXES)]
    files = {path: path.read_bytes() for path in paths}
    assert {path.resolve() for path in use_it(0).iterdir()} == {*files} - {listing}
    for number, (path, whole) in enumerate(files.items(), start=1):
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
        damaged = (whole[:middle], flipped, None)[number - 1]
        path.unlink() if damaged is None else path.write_bytes(damaged)
        with pytest.raises(BdpbenchError, match=r"is not what was written|is gone"):
            use_it(number)
        compile_folder(ProtocolFolder(aimd))
        assert {each: each.read_bytes() for each in files} == files


def test_two_folders_of_one_key_and_code_have_the_same_parameters(either: Path) -> None:
    other = Path(shutil.copytree(either, either.parent / "other"))
    if isinstance(folder_of(either), QueueFolder):
        edit(other / "queue.yaml", "marks: true", "marks: false")
    else:
        edit(other / "protocol.yaml", "0.99", "0.6")
    study = study_of(either, more={"Other": {"folder": "../../other"}})
    with pytest.raises(BdpbenchError, match="and other parameters"):
        load_study(study)


@pytest.mark.parametrize(("kind", "given", "message"), DATA["studies"])
def test_what_a_study_says_wrong_is_refused_with_its_line(
    request: pytest.FixtureRequest, kind: str, given: dict[str, object], message: str
) -> None:
    study = study_of(request.getfixturevalue(kind), **given)
    with pytest.raises(BdpbenchError) as found:
        arguments(study)
    assert message in found.value.message
    assert str(found.value.where).startswith(f"{study / 'study.yaml'}:")


@pytest.mark.parametrize(("kind", "file", "old", "new", "message", "line"), DATA["folders"])
def test_what_is_wrong_in_a_folder_is_refused_with_file_and_line(
    request: pytest.FixtureRequest,
    kind: str,
    file: str,
    old: str,
    new: str,
    message: str,
    line: int | list[Any] | None,
) -> None:
    folder = request.getfixturevalue(kind)
    edit(folder / file, old, new, 1)
    with pytest.raises(BdpbenchError) as found:
        use(folder)
    assert message in str(found.value)
    told, number = line if isinstance(line, list) else (file, line)
    if number is None:
        number = 1 + (folder / file).read_text().split(new)[0].count("\n")
    assert (f"{told}:{number}:" if number else told) in str(found.value)


@pytest.mark.parametrize(
    ("says", "told"),
    [("echo killed >&2", "killed"), ("", "the compiler gave no reason")],
)
def test_a_compiler_that_names_no_line_is_quoted(
    aimd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, told: str
) -> None:
    compiler = tmp_path / "bin" / "g++"
    compiler.parent.mkdir()
    compiler.write_text(f"#!/bin/sh\n{says}\nexit 1\n")
    compiler.chmod(0o755)
    edit(aimd / "law.cc", "// ", f"// what nobody has compiled, {says}: ", 1)
    monkeypatch.setenv("PATH", f"{compiler.parent}:{os.environ['PATH']}")
    with pytest.raises(BdpbenchError, match=f"does not compile:\n  {told}\n"):
        use(aimd)


def test_without_a_compiler_the_command_that_gets_it_is_named(
    aimd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(aimd / "law.cc", "#include", "extern int unknown_to_libraries;\n#include", 1)
    lacking = tmp_path / "bin"
    lacking.mkdir()
    for name in ("bash", "cat"):
        (lacking / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(lacking))
    with pytest.raises(BdpbenchError, match=r"needs g\+\+, which is not there") as found:
        compile_folder(ProtocolFolder(aimd))
    command = "sudo apt-get update && sudo apt-get install --no-install-recommends g++ make"
    assert (found.value.hint or "").startswith(command)


# ---------------------------------------------------------------- protocols


def test_a_protocol_is_compiled_once_and_declared_with_its_parameters(
    aimd: Path, made: Path
) -> None:
    protocol = ProtocolFolder(aimd)
    compile_folder(protocol)
    name = protocol.agent.removeprefix("TCP/Protocol/")
    library = made / f"{name}.so"
    first = library.stat().st_mtime_ns
    compile_folder(ProtocolFolder(aimd))
    assert library.stat().st_mtime_ns == first
    declared = library.with_suffix(".tcl").read_text()
    assert f"Class Agent/TCP/Protocol/{name} -superclass Agent/TCP/Protocol\n" in declared
    assert "set cut_ 0.5\n" in declared
    assert "set cut_range_ {0.01 0.99}\n" in declared


def test_runs_of_a_protocol_get_its_class_and_all_parameters(aimd: Path) -> None:
    given = arguments(study_of(aimd, settings={"cut_": 0.25}))
    assert given["-flow.0.agent"] == ProtocolFolder(aimd).agent
    assert given["-flow.0.set.cut_"] == "0.25"
    assert given["-flow.0.set.increase_pkts_"] == "1"
    assert load_study(study_of(aimd)).protocols["Mine"].label == "AIMD"
    assert load_study(study_of(aimd, label="Ours")).protocols["Mine"].label == "Ours"


Break = Callable[[Path], object]


def _link_to_itself(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.symlink_to(folder.name)


def _link(name: str, target: str) -> Break:
    return lambda folder: (folder / name).symlink_to(target)


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (_link_to_itself, "has no protocol.yaml and no law.cc"),
        (
            _link("more.h", "more.h"),
            "more.h: cannot be used: it is a link that leads back to itself",
        ),
        (_link("more.h", "/dev/zero"), "more.h: is not a file"),
        (lambda folder: (folder / "more.h").mkdir(), "more.h: cannot be used: it is a folder"),
        (lambda folder: (folder / "more.h").write_bytes(b"// \xe9"), "more.h:1: is not UTF-8"),
    ],
)
def test_what_a_folder_must_not_contain_is_refused(
    aimd: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    break_it: Break,
    message: str,
) -> None:
    study = study_of(aimd)
    break_it(aimd)
    monkeypatch.setattr("sys.argv", ["bdpbench", "run", "-n", str(study)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert message in capsys.readouterr().err


def test_a_test_that_does_not_end_is_stopped(aimd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bdpbench.simulation.hand_tests._TIMEOUT_S", 0.5)
    edit(aimd / "law.cc", "limits.cwnd_pkts = 1;", "for (volatile int i = 0;; i++) {}")
    with pytest.raises(BdpbenchError, match="do not end within a minute"):
        check_tests(ProtocolFolder(aimd))


# ---------------------------------------------------------------- queues


def test_new_queue_writes_one_that_its_study_uses(mine: Path, made: Path) -> None:
    study = load_study(mine)
    assert [each.path for each in folders_of(study)] == [mine]
    assert QueueFolder(mine).file.key == "Mine"
    runs = expand_tier(study, "quick")
    assert [run["parameters"]["queue"] for run in runs] == ["DropTail", "CoDel", "Mine"]
    assert [bool(loads_libraries(run["argv"])) for run in runs] == [False, False, True]
    use(mine)
    declared = made / f"{QueueFolder(mine).name}.tcl"
    assert f"Class Queue/Discipline/{declared.stem} -superclass Queue/Discipline\n" in (
        declared.read_text()
    )
    with pytest.raises(BdpbenchError, match="exists already"):
        begin("queue", mine)
    with pytest.raises(BdpbenchError, match="is a queue of bdpbench already"):
        begin("queue", mine.with_name("drop_tail"))


def test_runs_of_a_queue_get_its_class_and_all_parameters(mine: Path) -> None:
    given = arguments(study_of(mine, settings={"mark_from_pkts_": 7}))
    assert given["-link.0.queue"] == f"Discipline/{QueueFolder(mine).name}"
    assert given["-link.0.queue.mark_from_pkts_"] == "7"
    assert given["-link.0.queue.drop_front_"] == "0"
    assert given["-link.0.queue.limit_"] == "20"
    assert given["-link.0.queue.setbit_"] == "1"
    assert arguments(study_of(mine, ecn="off"))["-link.0.queue.setbit_"] == "0"
    assert load_study(study_of(mine)).queues["Mine"].label == "mine"


def test_a_queue_says_that_it_marks_or_is_random(mine: Path) -> None:
    edit(mine / "queue.yaml", "marks: true", "random: true")
    given = arguments(study_of(mine, ecn="off", label="other"))
    assert given["-link.0.queue.random_"] == "1"
    assert "-link.0.queue.setbit_" not in given
    with pytest.raises(BdpbenchError, match="ecn is on, and no queue of this run marks packets"):
        arguments(study_of(mine))


def test_times_of_a_test_and_woken_are_those_of_the_script(mine: Path) -> None:
    code = mine / "discipline.cc"
    shaper = "if (queue.now_s() < 2) { queue.wake_at(2); return nullptr; }\n\t\t"
    edit(code, "dequeue(LinkQueue&) override", "dequeue(LinkQueue& queue) override", 1)
    edit(code, "if (packets_.empty())", f"{shaper}if (packets_.empty())", 1)
    woken = "void woken(LinkQueue& queue) override { queue.drop(packets_.front()); "
    edit(code, "private:", f"\t{woken}packets_.pop_front(); }}\n\nprivate:", 1)
    (mine / "test.cc").write_text(
        """
        TEST("the first one is dropped when the queue is woken")
        {
            TestedQueue queue;
            queue.bytes = 1;
            queue.arrives(1, 2, 0.1);
            queue.departs(1.15);
            queue.arrives(1.2);
            queue.waits(3);
            queue.departs(3, 2, 0.5);
            CHECK_TIMES(queue.dropped, {1, 2});
            CHECK_TIMES(queue.left, {2, 3}, {3, 3.5});
            CHECK(queue.length_bytes(), 0);
        }
        TEST("a packet stays")
        {
            TestedQueue queue;
            queue.arrives(0);
            CHECK(queue.length_pkts(), 1);
        }
        """
    )
    use(mine)


def test_an_archive_keeps_a_queue(mine: Path) -> None:
    study = load_study(study_of(mine))
    plan = make_plan(study, "quick", "", expand_tier(study, "quick"), "")
    assert [(kept, each.path) for kept, each in folders_of_plan(plan)] == [("queues/Mine", mine)]
    before = arguments(study.folder)
    (study.folder / "queues").mkdir()
    mine.rename(study.folder / "queues" / "Mine")
    (study.folder / "study.yaml").touch()
    assert arguments(study.folder) == before


def test_a_queue_has_room_for_at_least_one_packet(mine: Path) -> None:
    (mine / "test.cc").write_text(
        'TEST("one has to go") { TestedQueue queue(0); queue.arrives(0); }'
    )
    with pytest.raises(BdpbenchError, match="has room for at least one packet"):
        use(mine)


def test_tests_that_are_no_text_are_refused(mine: Path) -> None:
    (mine / "test.cc").write_bytes(b"\xff")
    with pytest.raises(BdpbenchError, match="is not UTF-8"):
        use(mine)
    (mine / "test.cc").unlink()
    os.mkfifo(mine / "test.cc")
    with pytest.raises(BdpbenchError, match="is not a file"):
        use(mine)


def test_tests_in_yaml_are_told_that_they_are_cpp_now(mine: Path) -> None:
    (mine / "test.yaml").touch()
    with pytest.raises(BdpbenchError, match=r"are C\+\+ now, in test\.cc"):
        load_study(study_of(mine))
