"""ns2/components.yaml names every file of ns2/, and agrees with the code on whom it affects."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.ns2.lock import locked_files

from bdpbench.studies.identity import _FLAGS, Components, read_components, read_lock

ROOT = Path(__file__).resolve().parent.parent.parent
NS2 = ROOT / "ns2"
ENTRY = re.compile(r"WindowLawEntry ENTRY = \{(-?\d+),")
AGENT_CLASS = re.compile(r'TclClass\("Agent/([\w/]+)"\)')
QUEUE_CLASS = re.compile(r'TclClass\("Queue/([\w/]+)"\)')
TCL_CLASS = re.compile(r"^\+Class Agent/([\w/]+) ", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


@pytest.fixture(scope="module")
def components() -> Components:
    return read_components()


def parts(components: Components) -> dict[str, list[str]]:
    agents: dict[str, list[str]] = {}
    for key, files in components.agents.items():
        agents.setdefault(key.partition(" with ")[0], []).extend(files)
    return {
        **{f"windowOption_ {key}": files for key, files in components.window_options.items()},
        **agents,
        **{f"Queue/{key}": files for key, files in components.queues.items()},
    }


def own_files() -> set[str]:
    """All files of ns2/ that the build uses, except those that only make it faster."""
    code = [path for name in ("laws", "agents") for path in (NS2 / name).iterdir()]
    patches = [
        path for name in ("toolchain", "variants") for path in (NS2 / "patches" / name).iterdir()
    ]
    return {path.relative_to(NS2).as_posix() for path in [*code, *patches]}


def includes(name: str) -> set[str]:
    """A file of laws/ or agents/ and all files there that it includes, directly or indirectly."""
    found: set[str] = set()
    todo = [name]
    while todo:
        each = todo.pop()
        if each in found:
            continue
        found.add(each)
        for included in INCLUDE.findall((NS2 / each).read_text()):
            todo += [
                f"{part}/{included}"
                for part in ("laws", "agents")
                if (NS2 / part / included).is_file()
            ]
    return found


def with_sources(names: set[str]) -> set[str]:
    """Files and, for headers, the files that define what they declare."""
    sources = {re.sub(r"\.h$", ".cc", name) for name in names}
    return names | {name for name in sources if (NS2 / name).is_file()}


def closure(name: str) -> set[str]:
    found = {name}
    while True:
        more = with_sources({each for known in found for each in includes(known)})
        if more <= found:
            return found
        found |= more


def adapters() -> dict[str, list[Path]]:
    """Part → its adapters, according to the registrations in their code."""
    found: dict[str, list[Path]] = {}
    for path in sorted((NS2 / "agents").iterdir()):
        text = path.read_text()
        keys = [f"windowOption_ {option}" for option in ENTRY.findall(text)]
        keys += [f"Queue/{queue}" for queue in QUEUE_CLASS.findall(text)]
        for key in [*keys, *AGENT_CLASS.findall(text)]:
            found.setdefault(key, []).append(path)
    return found


def test_every_file_is_named_and_every_name_is_a_file(components: Components) -> None:
    named = {*components.every_run, *components.tcp}
    named |= {name for files in parts(components).values() for name in files}
    named |= {name for name in components.no_run if (NS2 / name).is_file()}
    assert named == own_files()


def test_all_of_speed_acts_on_no_run(components: Components) -> None:
    printed = "patches/toolchain/timestamp-table.patch"
    assert set(components.no_run) == {"speed", "patches/speed", printed}


def test_every_registered_law_and_agent_is_a_part(components: Components) -> None:
    patches = (NS2 / "patches" / "variants").glob("*.patch")
    by_patch = {each for path in patches for each in TCL_CLASS.findall(path.read_text())}
    of_stock = {"TCP/Linux", "TCP/Vegas"}  # ns-2's own classes, changed by patches
    assert set(parts(components)) == {*adapters(), *by_patch, *of_stock}
    assert not set(components.window_options) & set(components.own_window_options)


def test_a_part_holds_all_that_its_adapter_includes(components: Components) -> None:
    for part, paths in adapters().items():
        needed = {each for path in paths for each in closure(f"agents/{path.name}")}
        files = parts(components)[part]
        code = {name for name in files if not name.startswith("patches/")}
        assert code == needed - set(components.tcp), part


def test_what_every_tcp_sender_runs_through_includes_nothing_else(components: Components) -> None:
    code = {name for name in components.tcp if not name.startswith("patches/")}
    assert {each for name in code for each in closure(name)} == code


def test_every_patch_of_the_series_is_named_in_a_part(components: Components) -> None:
    lines = (
        line.partition("#")[0].strip() for line in (NS2 / "patches/series").read_text().splitlines()
    )
    series = {f"patches/{line}" for line in lines if line}
    speed = {name for name in series if name.startswith("patches/speed/")}
    assert series - speed == {name for name in own_files() if name.startswith("patches/")}


def changed_files(patch: str) -> set[str]:
    heads = re.findall(r"^[-+]{3} [ab]/(\S+)", (NS2 / patch).read_text(), re.MULTILINE)
    return set(heads)


def test_patches_of_tcp_linux_change_nothing_that_others_run_through(
    components: Components,
) -> None:
    for patch in components.agents["TCP/Linux"]:
        own = {name for name in changed_files(patch) if name.startswith("tcp/linux/")}
        assert changed_files(patch) - own <= {"tcp/tcp-linux.cc", "tcp/tcp-linux.h"}


def test_patches_of_one_law_or_agent_change_no_code_of_other_senders(
    components: Components,
) -> None:
    """Defaults belong in ns-default.tcl; other files that a patch may change are listed here."""
    allowed = {
        "patches/variants/fast-tcp.patch": {"tcp/tcp-sack1.cc"},  # includes the agent at the end
        "patches/variants/modified-vegas.patch": {"tcp/tcp-vegas.cc", "tcp/tcp.h"},  # of Vegas only
        "patches/variants/ghstcp.patch": {"tcp/tcp-sack1.cc"},  # includes an agent at the end
        "patches/variants/fast-modes.patch": {"tcp/tcp-sack1.cc"},  # includes an agent at the end
        "patches/variants/fast-module.patch": {"tcp/tcp-sack1.cc"},  # includes an agent at the end
        "patches/variants/gared.patch": {"queue/red.h"},  # makes a function virtual
    }
    for part, files in parts(components).items():
        if part == "TCP/Linux":
            continue
        for name in files:
            if name.startswith("patches/"):
                code = changed_files(name) - {"tcl/lib/ns-default.tcl"}
                assert code == allowed.get(name, set()), name


def test_defaults_in_the_patch_of_a_part_are_of_its_own_variables(components: Components) -> None:
    """If a law's patch set a variable of all TCP agents, it would affect all of them."""
    for part, files in parts(components).items():
        for name in files:
            if not name.startswith("patches/variants/"):
                continue
            settings = re.findall(
                r"^\+(?:Agent/)?([\w/]+) set (\w+) ", (NS2 / name).read_text(), re.MULTILINE
            )
            code = "".join((NS2 / each).read_text() for each in files if not each.startswith("pat"))
            for agent, variable in settings:
                own = agent == part or agent.startswith(f"{part}/")
                assert own or f'"{variable}"' in code, f"{name}: {agent} {variable}"


def test_the_lock_knows_all_files_as_they_are() -> None:
    """Otherwise ids of published runs would be others: tests/ns2/lock.py says what to do."""
    assert {name: sha256 for name, (sha256, _) in read_lock().items()} == locked_files()


def _bash(script: str) -> str:
    """What a script prints that sources the build's."""
    command = ["bash", "-c", f"source ns2/build.sh; {script}"]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def test_the_flags_are_those_of_the_build() -> None:
    """The flags that ids have of build.sh are those that bash sees, and make_ns uses no others."""
    names = ("C_FLAGS", "CXX_FLAGS", "COMMON_FLAGS", "LIBRARIES")
    told = _bash("printf '%s\\n' " + " ".join(f'"${name}"' for name in names)).splitlines()
    found = _FLAGS.findall((NS2 / "build.sh").read_text())
    assert found == [f'{name}="{text}"' for name, text in zip(names, told, strict=True)]
    make = re.search(r"^make_ns\(\) \{(.*?)^\}", (NS2 / "build.sh").read_text(), re.S | re.M)
    assert make is not None
    # Precompiled headers change no machine code: tests/ns2/test_precompiled.py. EXEC and DYING
    # say how make ends.
    neutral = {"TREE", "WORK", "PRECOMPILED", "JOINED", "CCACHE_SLOPPINESS", "EXEC", "DYING"}
    assert set(re.findall(r"\$\{?([A-Z_]+)", make[1])) - neutral == set(names)
    assert not re.findall(r"(?<!\w)-[DOfm]\w+", make[1])
