"""An id changes with what ns-2 gets and with nothing else; each part of that is tested."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from tests.pipeline.studies.identity.conftest import scripts

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.plan import AgentUse
from bdpbench.errors import BdpbenchError
from bdpbench.studies.identity import Identities, Versions, read_lock, run_id, tcl_files
from bdpbench.studies.ns3_program import ns3_program

Found = dict[tuple[str, str, str], str]
Ids = Callable[[], Found]

HTCP_RUNS = {("sharma2006", "HTCP"), ("even2007", "HTCP")}


def add(path: Path, text: str, *, after: str = "") -> None:
    """Insert text after the first line that contains `after`, or at the end of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    old = path.read_text() if path.is_file() else ""
    at = old.index("\n", old.index(after)) + 1 if after else len(old)
    path.write_text(old[:at] + text + old[at:])


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, f"{path} has {old!r} {text.count(old)} times"
    path.write_text(text.replace(old, new))


def changed(before: Found, ids: Ids) -> set[tuple[str, str, str]]:
    after = ids()
    assert set(after) >= set(before)
    return {run for run, old in before.items() if after[run] != old}


def behaviour(uses: Collection[AgentUse] | None) -> str:
    return Identities().behaviour(uses)


def refresh(tree: Path) -> None:
    """What `tests/ns2/lock.py --refresh` does once a sample of runs gave the same bytes."""
    path = tree / "ns2" / "versions.lock"
    lines = []
    for name, (_, version) in read_lock().items():
        place = tree / name if not name.startswith("ns3/") else ns3_program().parent / name[4:]
        lines.append(f"{version} {sha256_of(place)}  {name}\n")
    path.write_text("".join(lines))


# ---------------------------------------------------------------- what changes no id


def new_study(tree: Path) -> None:
    add(tree / "config" / "studies" / "new2026" / "study.yaml", "schema_version: 1\nkey: new2026\n")
    add(tree / "tcl" / "new2026" / "one.tcl", "puts 1\n")


def new_law(tree: Path) -> None:
    """Do what CONTRIBUTING.md says: law, adapter, patch with defaults, entry in components.yaml."""
    ns2 = tree / "ns2"
    add(ns2 / "laws" / "new_tcp.cc", '#include "new_tcp.h"\nint new_tcp() { return 1; }\n')
    add(ns2 / "laws" / "new_tcp.h", "int new_tcp();\n")
    add(ns2 / "agents" / "new_tcp_agent.cc", '#include "new_tcp.h"\nint registered = new_tcp();\n')
    patch = (
        "Why: a new law.\n\n--- a/tcl/lib/ns-default.tcl\n+++ b/tcl/lib/ns-default.tcl\n"
        "@@ -997,1 +997,2 @@\n Agent/TCP set high_decrease_ 0.1\n+Agent/TCP set new_beta_ 0.5\n"
    )
    add(ns2 / "patches" / "variants" / "new-tcp.patch", patch)
    add(ns2 / "patches" / "series", "variants/new-tcp.patch\n", after="variants/h-tcp.patch")
    part = (
        "  99:\n    - patches/variants/new-tcp.patch\n    - agents/new_tcp_agent.cc\n"
        "    - laws/new_tcp.cc\n    - laws/new_tcp.h\n"
    )
    add(ns2 / "components.yaml", part, after="window_options:")
    # `after` would find own_window_options first, which is a list on one line.
    text = (ns2 / "components.yaml").read_text()
    assert part in text
    text = text.replace(part, "").replace("\nwindow_options:\n", f"\nwindow_options:\n{part}")
    (ns2 / "components.yaml").write_text(text)


def new_speed_patch(tree: Path) -> None:
    ns2 = tree / "ns2"
    patch = "--- a/common/scheduler.cc\n+++ b/common/scheduler.cc\n@@ -1 +1 @@\n-int a;\n+int b;\n"
    add(ns2 / "patches" / "speed" / "new.patch", patch)
    add(ns2 / "patches" / "series", "speed/new.patch\n")
    add(ns2 / "speed" / "new.cc", "int faster;\n")
    add(ns2 / "speed" / "lane_scheduler.cc", "int faster_still;\n")


NEUTRAL: dict[str, Callable[[Path], None]] = {
    "a new study": new_study,
    "a new law": new_law,
    "a new speed patch": new_speed_patch,
    "a remark on the patches": lambda tree: add(tree / "ns2/patches/series", "# a remark\n"),
    "a comment in build.sh": lambda tree: add(tree / "ns2/build.sh", "# a remark\n"),
    "documentation of ns-2": lambda tree: add(tree / "ns2/VALIDATION.md", "A remark.\n"),
    "an empty file in tcl/lib": lambda tree: add(tree / "tcl/lib/empty.tcl", ""),
    "a file of Tcl that nothing sources": lambda tree: add(tree / "tcl/lib/new.tcl", "puts 1\n"),
}


def test_no_id_of_any_run_changes_with_any_of_these(tree: Path, before: Found, ids: Ids) -> None:
    """All of them at once, as no change of an id can undo another one."""
    for change in NEUTRAL.values():
        change(tree)
    assert changed(before, ids) == set(), f"find out which of these it is: {list(NEUTRAL)}"


def test_a_refreshed_lock_keeps_all_ids(tree: Path, before: Found, ids: Ids) -> None:
    """Every file that counts gets a remark: an id counts it until a sample gave the same bytes."""
    for path in [*tree.glob("ns2/laws/*"), *tree.glob("ns2/agents/*")]:
        add(path, "// a remark\n")
    for path in tree.glob("tcl/**/*.tcl"):
        add(path, "# a remark\n")
    for path in [*tree.glob("ns2/patches/*/*.patch"), tree / "ns2/SOURCE.lock"]:
        path.write_text(f"# A remark.\n{path.read_text()}")
    assert changed(before, ids) == set(before)
    refresh(tree)
    assert changed(before, ids) == set()


def test_a_file_that_moves_keeps_its_version(tree: Path) -> None:
    """Names are no part of ids, so the scripts of a study can go into its folder."""
    moved = (tree / "tcl/lib/tmix.tcl").rename(tree / "tcl/tmix.tcl")
    assert Versions().of(moved) == read_lock()["tcl/lib/tmix.tcl"][1]


@pytest.mark.parametrize(
    "line",
    ["571ed7c57b0f31b9 short  ns2/SOURCE.lock", "ns2/SOURCE.lock", "0" * 16 + " " + "0" * 64],
)
def test_a_damaged_lock_is_told_with_its_line(line: str, tree: Path) -> None:
    add(tree / "ns2/versions.lock", f"{line}\n", after="# A file of another content")
    with pytest.raises(BdpbenchError, match="is not `VERSION SHA256  FILE`") as told:
        behaviour(None)
    assert told.value.where == f"{tree}/ns2/versions.lock:3"


# ---------------------------------------------------------------- what changes some ids


def test_a_change_of_htcp_changes_exactly_the_runs_of_htcp(
    tree: Path, before: Found, ids: Ids
) -> None:
    replace(tree / "ns2/laws/htcp.cc", "BETA_MIN = 0.5", "BETA_MIN = 0.4")
    after = changed(before, ids)
    assert after == {run for run in before if run[1:] in HTCP_RUNS}
    assert {run[1:] for run in after} == HTCP_RUNS


# Listed here, since it is up to the studies which senders they use. 77 is of no law.
SENDERS = {
    "Sack1": AgentUse("TCP/Sack1"),
    "HTCP": AgentUse("TCP/Sack1", -10),
    "Scalable": AgentUse("TCP/Reno", 9),
    "ScalableGentle": AgentUse("TCP/Sack1", 9),
    "BIC": AgentUse("TCP/Sack1", 12),
    "CUBIC": AgentUse("TCP/Sack1", 13),
    "SackTS": AgentUse("TCP/SackTS", 1),
    "Fast": AgentUse("TCP/Fast"),
    "Vegas": AgentUse("TCP/Vegas"),
    "Modified": AgentUse("TCP/Vegas/Modified"),
    "RBP": AgentUse("TCP/Vegas/RBP"),
    "Linux": AgentUse("TCP/Linux", None, "cubic"),
    "UDP": AgentUse("UDP"),
    "Unknown": AgentUse("TCP/Sack1", 77),
}
ALL = set(SENDERS)
TCP = ALL - {"UDP"}
MORE_OF_TCP = '#include "tcp.h"\nint more;'


@pytest.mark.parametrize(
    ("name", "old", "new", "expected"),
    [
        ("laws/htcp.h", "#endif", "// a remark\n#endif", {"HTCP"}),
        ("agents/htcp_agent.cc", "{-10,", "{ - 10 + 0,", {"HTCP"}),
        ("patches/variants/h-tcp.patch", "htcp_delta_l_ 1 ;", "htcp_delta_l_ 2 ;", {"HTCP"}),
        (
            *("laws/limited_slow_start.cc", "#include <math.h>", "#include <math.h>\nint more;"),
            {"HTCP", "Scalable", "ScalableGentle"},
        ),
        ("laws/delay_monitor.h", "#endif", "struct More;\n#endif", {"BIC", "CUBIC"}),
        ("patches/variants/sack-timestamps.patch", "timestamps_ true", "timestamps_ 1", {"SackTS"}),
        ("agents/tcp_window_law.cc", '#include "tcp.h"', MORE_OF_TCP, TCP),
        ("patches/variants/window-laws.patch", "+\t\t\tbreak;", "+\t\t\treturn;", TCP),
        (
            *(
                "patches/variants/modified-vegas.patch",
                "+\tv_avoiding_ = 0;",
                "+\tv_avoiding_ = 1;",
            ),
            {"Vegas", "Modified", "RBP"},
        ),
        ("agents/modified_vegas_tcp_agent.cc", '#include "tcp.h"', MORE_OF_TCP, {"Modified"}),
        ("patches/toolchain/quiet-start.patch", "\n+", "\n+more ", ALL),
        ("patches/toolchain/linux-types.patch", "\n+", "\n+more ", {"Linux"}),
        ("SOURCE.lock", "sha256=a3a0", "sha256=a3a1", ALL),
        ("build.sh", "-fsigned-char", "-funsigned-char", ALL),
        ("build.sh", 'CXX_FLAGS="-std=gnu++98', 'CXX_FLAGS="-std=gnu++11', ALL),
    ],
)
def test_a_part_changes_the_runs_of_all_senders_that_go_through_it(
    name: str, old: str, new: str, expected: set[str], tree: Path
) -> None:
    """A sender whose law is unknown counts all laws, so that it changes with each of them."""
    path = tree / "ns2" / name
    then = Identities()
    before = {key: then.behaviour([use]) for key, use in SENDERS.items()}
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    now = Identities()
    found = {key for key, use in SENDERS.items() if now.behaviour([use]) != before[key]}
    assert found - {"Unknown"} == expected - {"Unknown"}
    assert "Unknown" in found or not {"HTCP", "BIC", "Sack1"} & expected


def test_a_queue_counts_for_the_runs_that_name_it(tree: Path) -> None:
    """A queue is named by an argument or in a Tcl file, but not by a comment."""
    script, other = tree / "tcl" / "named.tcl", tree / "tcl" / "other.tcl"
    script.write_text("$ns duplex-link $a $b 1Mb 1ms RED/Gared\n")
    other.write_text("# not RED/Gared\nset queue RED\n")
    runs = {
        "argument": (other, ["-queue", "RED/Gared"]),
        "script": (script, []),
        "RED": (other, ["-queue", "RED"]),
    }

    def ids() -> dict[str, str]:
        uses = [AgentUse("TCP/Sack1")]
        return {key: run_id(Identities().of(*run, uses, [])) for key, run in runs.items()}

    before = ids()
    replace(tree / "ns2/laws/gared.cc", "TARGET_MARGIN = 0.4", "TARGET_MARGIN = 0.3")
    assert {key for key, value in ids().items() if value != before[key]} == {"argument", "script"}


def test_a_file_of_senders_with_a_word_counts_for_runs_that_have_it(tree: Path) -> None:
    def ids() -> list[str]:
        found = Identities()
        uses = ([AgentUse("TCP/Protocol/Mine")], [AgentUse("TCP/Sack1")])
        words: list[set[str]] = [set(), {"ecn_"}]
        return [found.behaviour(use, each) for use in uses for each in words]

    before = ids()
    (tree / "ns2" / "agents" / "handshake_echo.h").write_text("// other")
    changed = [now != then for now, then in zip(ids(), before, strict=True)]
    assert changed == [False, True, False, False]


def test_the_order_of_the_patches_counts(tree: Path) -> None:
    before = behaviour([AgentUse("TCP/Sack1")])
    series = tree / "ns2" / "patches" / "series"
    series.write_text("\n".join(reversed(series.read_text().splitlines())))
    assert behaviour([AgentUse("TCP/Sack1")]) != before


def test_a_file_that_no_part_names_counts_for_every_run(
    tree: Path, before: Found, ids: Ids
) -> None:
    add(tree / "ns2/laws/forgotten.cc", "int forgotten;\n")
    assert changed(before, ids) == set(before)


def test_unknown_senders_count_everything_that_may_matter(tree: Path) -> None:
    before = behaviour(None)
    replace(tree / "ns2/laws/htcp.cc", "BETA_MIN = 0.5", "BETA_MIN = 0.4")
    changed_law = behaviour(None)
    assert changed_law != before
    new_speed_patch(tree)
    assert behaviour(None) == changed_law


@pytest.mark.parametrize("name", ["utils.tcl", "tmix.tcl"])
def test_a_sourced_file_changes_exactly_the_runs_that_source_it(
    name: str, tree: Path, before: Found, ids: Ids
) -> None:
    library = tree / "tcl" / "lib" / name
    users = {
        path.relative_to(tree / "tcl").as_posix()
        for path in scripts(tree)
        if library in tcl_files(path)
    }
    add(library, "set a_new_variable 1\n")
    after = changed(before, ids)
    assert after == {run for run in before if run[0] in users}
    assert after


def test_a_change_of_a_script_changes_its_runs_alone(tree: Path, before: Found, ids: Ids) -> None:
    add(tree / "tcl/network.tcl", "set a_new_variable 1\n")
    users = {
        "network.tcl",
        "network_packmime.tcl",
        "network_tmix.tcl",
        "tcpeval/network_lan.tcl",
    }  # those that source it
    assert {run[0] for run in changed(before, ids)} == users


# ---------------------------------------------------------------- the id itself


def test_each_part_of_an_identity_changes_the_id(tree: Path) -> None:
    script, other = tree / "tcl" / "network.tcl", tree / "tcl" / "lib" / "args.tcl"
    uses = [AgentUse("TCP/Sack1")]
    ids = {
        run_id(Identities().of(script, ["1"], uses, [])),
        run_id(Identities().of(script, ["2"], uses, [])),
        run_id(Identities().of(script, ["1", ""], uses, [])),
        run_id(Identities().of(other, ["1"], uses, [])),
        run_id(Identities().of(script, ["1"], [AgentUse("TCP/Fast")], [])),
        run_id(Identities().of(script, ["1"], uses, ["pckts.trq"])),
    }
    assert len(ids) == 6
    assert all(re.fullmatch(r"[0-9a-f]{16}", each) for each in ids)


def test_equal_senders_count_once_in_any_order(tree: Path) -> None:
    one, two = AgentUse("TCP/Sack1", -10), AgentUse("TCP/Fast")
    assert behaviour([one, two, one]) == behaviour([two, one])


def test_a_wrong_manifest_is_told_with_its_line(tree: Path) -> None:
    add(tree / "ns2/components.yaml", "more: [laws]\n")
    with pytest.raises(BdpbenchError, match=r"components.yaml:\d+: more: unknown key"):
        behaviour(None)
