"""Protocols that are folders: read, compiled, checked by hand, and refused with file and line."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from bdpbench.cli import main
from bdpbench.contracts.paths import config_dir
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.hand_tests import check_tests
from bdpbench.simulation.libraries import compile_folder
from bdpbench.studies.folders import ProtocolFolder
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import expand_tier

PROTOCOLS = sorted(path.parent for path in config_dir().glob("protocols/*/protocol.yaml"))
STUDY = {
    "schema_version": 1,
    "key": "mine",
    "title": "Mine",
    "protocols": {"Mine": {"folder": "../aimd"}},
    "topologies": {
        "path": {
            "parameters": {
                "bottleneck_mbps": 10,
                "bottleneck_delay_ms": 10,
                "access_mbps": 100,
                "rtt_ms": 40,
                "buffer_bdp": 1,
                "protocol": "Mine",
            }
        }
    },
    "scenarios": {
        "alone": {
            "title": "Alone",
            "topology": "path",
            "flows": [{"count": 1}],
            "tiers": {"quick": [{"duration_s": 1}]},
        }
    },
}


@pytest.fixture
def aimd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of AIMD's folder that a test may break, with libraries of its own."""
    for room in ("libraries", "hand_tests"):
        monkeypatch.setattr(f"bdpbench.simulation.{room}.libraries_dir", lambda: tmp_path / "made")
    return Path(shutil.copytree(config_dir() / "protocols" / "aimd", tmp_path / "aimd"))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def study_of(aimd: Path, **given: object) -> Path:
    study = aimd.parent / "mine"
    study.mkdir(exist_ok=True)
    protocols = {"Mine": {"folder": f"../{aimd.name}", **given}}
    (study / "study.yaml").write_text(yaml.safe_dump({**STUDY, "protocols": protocols}))
    return study


@pytest.mark.parametrize("folder", PROTOCOLS, ids=lambda path: path.name)
def test_what_comes_along_compiles_and_is_as_its_tests_say(folder: Path) -> None:
    protocol = ProtocolFolder(folder)
    compile_folder(protocol)
    check_tests(protocol)
    assert protocol.file.sources


def test_a_protocol_is_compiled_once_and_declared_with_its_parameters(
    aimd: Path, tmp_path: Path
) -> None:
    protocol = ProtocolFolder(aimd)
    compile_folder(protocol)
    name = protocol.agent.removeprefix("TCP/Protocol/")
    library = tmp_path / "made" / f"{name}.so"
    made = library.stat().st_mtime_ns
    compile_folder(ProtocolFolder(aimd))
    assert library.stat().st_mtime_ns == made
    declared = library.with_suffix(".tcl").read_text()
    assert f"Class Agent/TCP/Protocol/{name} -superclass Agent/TCP/Protocol\n" in declared
    assert f"set {'cut_'} 0.5\n" in declared
    assert "set cut_range_ {0.01 0.99}\n" in declared


def test_the_name_of_its_class_covers_its_code_and_no_comment(aimd: Path) -> None:
    before = ProtocolFolder(aimd).agent
    edit(aimd / "law.cc", "// Standard TCP", "// Usual TCP")
    assert ProtocolFolder(aimd).agent == before
    edit(aimd / "law.cc", "FEWEST_PKTS = 2", "FEWEST_PKTS = 3")
    assert ProtocolFolder(aimd).agent != before


def test_its_runs_get_its_class_and_all_parameters(aimd: Path) -> None:
    def arguments(**given: object) -> list[str]:
        (run,) = expand_tier(load_study(study_of(aimd, **given)), "quick")
        return run["argv"]

    pairs = arguments(settings={"cut_": 0.25})
    given = dict(zip(pairs[::2], pairs[1::2], strict=True))
    assert given["-flow.0.agent"] == ProtocolFolder(aimd).agent
    assert given["-flow.0.set.cut_"] == "0.25"
    assert given["-flow.0.set.increase_pkts_"] == "1"
    assert load_study(study_of(aimd)).protocols["Mine"].label == "AIMD"
    assert load_study(study_of(aimd, label="Ours")).protocols["Mine"].label == "Ours"


Break = Callable[[Path], object]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"settings": {"cut_": 3}}, "settings.cut_: 3 is outside its range of 0.01 to 0.99"),
        ({"settings": {"cut": 0.3}}, "settings.cut: unknown variable"),
        ({"settings": {"windowOption_": 8}}, "windowOption_: would have no effect"),
        ({"agent": "TCP/Reno"}, "agent: the protocol's folder decides this"),
        ({"folder": "../nowhere"}, "nowhere has no protocol.yaml and no law.cc"),
    ],
)
def test_what_a_study_says_wrong_is_refused_with_its_line(
    aimd: Path, given: dict[str, object], message: str
) -> None:
    study = study_of(aimd, **given)
    with pytest.raises(BdpbenchError) as found:
        load_study(study)
    assert message in found.value.message
    assert str(found.value.where).startswith(f"{study / 'study.yaml'}:")


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("law.cc", "return;", "retrun;", "does not compile: "),
        ("law.cc", "CONGESTION_CONTROL(Aimd)", "", "does not say which class is the protocol"),
        ("protocol.yaml", "label:", "labell:", "labell: unknown key"),
        ("protocol.yaml", "default: 0.5", "default: 5", "the default 5 lies outside the range"),
        ("protocol.yaml", "default: 0.5", "default: .inf", "input should be a finite number"),
        (
            *("test.yaml", "cwnd_pkts: 12", "cwnd_pkts: 13"),
            "slow start adds a packet for each that is acknowledged: cwnd_pkts is 12, not 13",
        ),
        ("test.yaml", "timed_out", "timedout", "unknown event"),
        ("test.yaml", "packets: 2", "packet: 2", "unknown field"),
        ("test.yaml", "cut_: 0.3", "cut_: 3", "cut_: 3 is outside its range of 0.01 to 0.99"),
        ("test.yaml", "cut_: 0.3", "cutt_: 0.3", "unknown parameter"),
    ],
)
def test_what_is_wrong_in_a_folder_is_refused_with_file_and_line(
    aimd: Path, file: str, old: str, new: str, message: str
) -> None:
    edit(aimd / file, old, new)

    def use() -> None:
        compile_folder(ProtocolFolder(aimd))
        check_tests(ProtocolFolder(aimd))

    with pytest.raises(BdpbenchError) as found:
        use()
    assert message in str(found.value)
    if new:  # what is missing has no line
        line = 1 + (aimd / file).read_text().split(new)[0].count("\n")
        assert f"{file}:{line}:" in str(found.value)
    assert file in str(found.value)


def _link_to_itself(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.symlink_to(folder.name)


def _link(name: str, target: str) -> Break:
    return lambda folder: (folder / name).symlink_to(target)


def _pipe(folder: Path) -> None:
    (folder / "test.yaml").unlink()
    os.mkfifo(folder / "test.yaml")


def _huge(folder: Path) -> None:
    with (folder / "law.cc").open("ab") as stream:
        stream.truncate(20 << 30)


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (_link_to_itself, "folder: is a link that leads back to itself"),
        (_link("more.h", "more.h"), "more.h: is a link that leads back to itself"),
        (_link("more.h", "/dev/zero"), "more.h: is not a file"),
        (_pipe, "test.yaml: is not a file"),
        (_huge, "law.cc: has 20,480 MiB, where at most 64 are read"),
        (lambda folder: (folder / "more.h").mkdir(), "more.h: is a folder"),
        (lambda folder: (folder / "more.h").write_bytes(b"// \xe9"), "more.h:1: is not UTF-8"),
        (lambda folder: (folder / "test.yaml").write_bytes(b"\xff"), "test.yaml:1: is not UTF-8"),
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


def test_two_folders_of_one_key_and_code_have_the_same_parameters(aimd: Path) -> None:
    other = Path(shutil.copytree(aimd, aimd.parent / "other"))
    edit(other / "protocol.yaml", "0.99", "0.6")
    study = study_of(aimd)
    text = (study / "study.yaml").read_text()
    more = "protocols:\n  Other: {folder: ../other}\n"
    (study / "study.yaml").write_text(text.replace("protocols:\n", more))
    with pytest.raises(BdpbenchError, match="and other parameters"):
        load_study(study)


def test_a_test_that_does_not_end_is_stopped(aimd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bdpbench.simulation.hand_tests._TIMEOUT_S", 0.5)
    edit(aimd / "law.cc", "limits.cwnd_pkts = 1;", "for (volatile int i = 0;; i++) {}")
    with pytest.raises(BdpbenchError, match="do not end within a minute"):
        check_tests(ProtocolFolder(aimd))
