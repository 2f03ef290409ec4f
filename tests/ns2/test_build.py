"""ns2/build.sh up to the compiler: every case that it must refuse, with its reason."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.data_of import data_of
from tests.waiting import wait_for

_DATA = data_of(__file__)
GOOD_PATCH = _DATA["good_patch"]

Build = Callable[..., "subprocess.CompletedProcess[str]"]

# Exit statuses documented by `build.sh --help`.
WRONG_USE, NO_SOURCE, BAD_PATCH, FAILED = 2, 3, 4, 5


def patch_series(ns2: Path, **patches: str) -> None:
    for name, text in patches.items():
        (ns2 / "patches" / f"{name}.patch").write_text(text)
    (ns2 / "patches" / "series").write_text("".join(f"{name}.patch\n" for name in patches))


def assert_nothing_built(prefix: Path) -> None:
    assert not list(prefix.glob("*/ns"))
    assert not list(prefix.glob("*/ns-bdpbench.json"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--jbos", "2"], "unknown option --jbos"),
        (["--prefix"], "--prefix needs a value"),
        (["--jobs", "0"], "--jobs is 0"),
        (["--jobs", "two"], "--jobs is two"),
        (["--variant"], "--variant needs a value"),
        (["--variant", "slow"], "--variant is slow, not fast or stock"),
    ],
)
def test_wrong_use_is_named(build: Build, options: list[str], message: str) -> None:
    done = build(*options)
    assert done.returncode == WRONG_USE
    assert message in done.stderr


def test_missing_archive_is_named(build: Build, tmp_path: Path) -> None:
    out, absent = tmp_path / "out", tmp_path / "absent.tar.xz"
    for done in (
        build("--prefix", out, "--source", absent),
        build("--prefix", out, BDPBENCH_NS2_SOURCE=absent),
    ):
        assert done.returncode == NO_SOURCE
        assert f"there is no source archive {absent}" in done.stderr
        assert_nothing_built(out)


def test_wrong_checksum_is_shown_and_not_used(build: Build, scratch: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.tar.xz"
    wrong.write_text("not ns-2")
    done = build("--prefix", tmp_path / "out", "--source", wrong)
    assert done.returncode == NO_SOURCE
    pinned = re.search(r"(?m)^sha256=(.*)$", (scratch / "SOURCE.lock").read_text())
    assert pinned is not None
    assert str(wrong) in done.stderr
    assert pinned[1] in done.stderr
    # printf 'not ns-2' | sha256sum
    assert hashlib.sha256(b"not ns-2").hexdigest() in done.stderr
    assert "unpacking" not in done.stderr
    assert_nothing_built(tmp_path / "out")


@pytest.fixture
def offline(tmp_path: Path) -> str:
    """A PATH whose apt-get reaches nobody, as on a machine without a network."""
    folder = tmp_path / "offline"
    folder.mkdir()
    (folder / "apt-get").write_text("#!/bin/sh\necho no network\nexit 100\n")
    (folder / "apt-get").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_without_a_network_it_says_what_to_do(build: Build, tmp_path: Path, offline: str) -> None:
    done = build("--prefix", tmp_path / "out", PATH=offline)
    assert done.returncode == NO_SOURCE
    assert "could not be fetched" in done.stderr
    assert "--source FILE" in done.stderr


def test_an_archive_from_a_url_is_verified(build: Build, tmp_path: Path, offline: str) -> None:
    served = tmp_path / "served.tar.xz"
    served.write_text("something else")
    done = build("--prefix", tmp_path / "out", PATH=offline, BDPBENCH_NS2_URL=served.as_uri())
    assert done.returncode == NO_SOURCE
    assert "is not the archive that SOURCE.lock pins" in done.stderr
    assert not list((tmp_path / "repository" / ".bdpbench" / "cache").glob("*"))


def test_an_archive_from_a_url_is_cached(
    build: Build, tiny_source: Path, tmp_path: Path, offline: str
) -> None:
    build("--prefix", tmp_path / "out", PATH=offline, BDPBENCH_NS2_URL=tiny_source.as_uri())
    served = tiny_source.read_bytes()
    tiny_source.unlink()
    assert (tmp_path / "repository" / ".bdpbench" / "cache" / tiny_source.name).read_bytes() == (
        served
    )
    again = build("--prefix", tmp_path / "out", PATH=offline)
    assert "verified (local cache)" in again.stderr


def test_a_damaged_cached_archive_is_not_used(
    build: Build, tiny_source: Path, tmp_path: Path, offline: str
) -> None:
    cache = tmp_path / "home" / "cache"
    cache.mkdir(parents=True)
    (cache / tiny_source.name).write_bytes(tiny_source.read_bytes()[:100])
    done = build("--prefix", tmp_path / "out", PATH=offline, BDPBENCH_HOME=tmp_path / "home")
    assert done.returncode == NO_SOURCE
    assert "damaged" in done.stderr
    assert "unpacking" not in done.stderr


def test_patches_are_applied_to_the_archive_beside_the_script_in_the_order_of_the_series(
    build: Build, scratch: Path, tiny_source: Path, tmp_path: Path
) -> None:
    shutil.copy(tiny_source, scratch)
    second = GOOD_PATCH.replace('"good day"', '"farewell"').replace('"hello"', '"good day"')
    patch_series(scratch, first=GOOD_PATCH, second=second)
    done = build("--prefix", tmp_path / "out")
    assert "verified (local file)" in done.stderr
    assert "applying 2 patches" in done.stderr
    assert "configuring" in done.stderr  # all patches were applied


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"hello"', '"hallo"', ": tools/greeting.cc: Hunk #1 FAILED"),
        # patch would accept this with its default fuzz of 2.
        (" int main()", " int main(void)", ": tools/greeting.cc: Hunk #1 FAILED"),
        ("greeting.cc", "absent.cc", ""),
    ],
    ids=["another line", "another context", "another file"],
)
def test_a_patch_that_does_not_fit_is_fatal(
    build: Build, scratch: Path, tiny_source: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    patch_series(scratch, broken=GOOD_PATCH.replace(old, new))
    done = build("--prefix", tmp_path / "out", "--source", tiny_source)
    assert done.returncode == BAD_PATCH
    assert f"patch broken.patch does not apply{message}" in done.stderr
    assert "configuring" not in done.stderr
    assert_nothing_built(tmp_path / "out")


def test_a_failing_step_shows_the_end_of_its_log(
    build: Build, tiny_source: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = build("--prefix", tmp_path / "out", "--source", tiny_source, TMPDIR=temporary)
    assert not list(temporary.iterdir())
    assert done.returncode == FAILED
    (log,) = (tmp_path / "out").glob("*/build.log")
    assert str(log) in done.stderr
    assert "this machine is too small" in done.stderr
    assert "\n    40\n" in done.stderr  # among the last 25 of 61 lines
    assert "\n    10\n" not in done.stderr
    assert "\n10\n" in log.read_text()
    assert_nothing_built(tmp_path / "out")


def test_a_build_that_is_ended_while_it_cleans_up_leaves_no_folder(
    scratch: Path, tiny_source: Path, tmp_path: Path
) -> None:
    names = ("programs", "tmp", "removing", "ended")
    programs, temporary, removing, go_on = (tmp_path / each for each in names)
    programs.mkdir()
    temporary.mkdir()
    waits = f'touch "{removing}"; until [ -e "{go_on}" ]; do sleep 0.01; done'
    slow = f'#!/bin/sh\ncase "$*" in "-rf -- "*bdpbench-ns2*) {waits} ;; esac\n'
    (programs / "rm").write_text(f'{slow}exec {shutil.which("rm")} "$@"\n')
    (programs / "rm").chmod(0o755)
    command = ["bash", str(scratch / "build.sh"), "--prefix", str(tmp_path / "out")]
    command += ["--source", str(tiny_source)]
    path = {"PATH": f"{programs}:{os.environ['PATH']}", "TMPDIR": str(temporary)}
    with subprocess.Popen(command, env=os.environ | path, start_new_session=True) as ended:
        wait_for(removing.exists, "removal of what the build has unpacked")
        os.killpg(ended.pid, signal.SIGTERM)
        go_on.touch()
    assert not list(temporary.iterdir())


def test_missing_packages_are_named_with_the_command(build: Build, tmp_path: Path) -> None:
    lacking = tmp_path / "lacking"
    lacking.mkdir()
    for folder in ("/bin", "/usr/bin"):
        for program in Path(folder).iterdir():
            link = lacking / program.name
            if program.name not in {"g++", "tcl2c++"} and not link.is_symlink():
                link.symlink_to(program)
    done = build("--prefix", tmp_path / "out", PATH=lacking)
    assert done.returncode == WRONG_USE
    assert "system packages are missing: g++ tclcl" in done.stderr
    hint = "sudo apt-get update && sudo apt-get install --no-install-recommends g++ tclcl"
    assert hint in done.stderr


@pytest.fixture
def finished_build(build: Build, tmp_path: Path) -> Path:
    """The folder of a finished build."""
    folder = tmp_path / "out" / build("--print-id").stdout.strip()
    folder.mkdir(parents=True)
    (folder / "ns").write_text("#!/bin/sh\n")
    (folder / "ns").chmod(0o755)
    checksum = hashlib.sha256(b"#!/bin/sh\n").hexdigest()
    (folder / "ns-bdpbench.json").write_text(
        f'{{\n  "binary_sha256": "{checksum}",\n  "counters": "64-bit"\n}}\n'
    )
    return folder


def test_a_finished_build_is_left_alone(build: Build, finished_build: Path, tmp_path: Path) -> None:
    done = build("--prefix", tmp_path / "out", "--source", tmp_path / "absent.tar.xz")
    assert done.returncode == 0
    assert f"is up to date: {finished_build}/ns" in done.stderr


def test_the_folder_of_a_build_that_was_killed_when_it_had_finished_is_removed(
    build: Build, finished_build: Path, tmp_path: Path
) -> None:
    left = tmp_path / "bdpbench-ns2.abcdef"
    left.mkdir()
    (tmp_path / "out" / ".work").write_text(str(left))
    assert build("--prefix", finished_build.parent).returncode == 0
    assert not left.exists()


@pytest.mark.parametrize("damage", ["ns", "ns-bdpbench.json"])
def test_a_damaged_build_is_made_again(
    build: Build, finished_build: Path, tmp_path: Path, damage: str
) -> None:
    with (finished_build / damage).open("a") as file:
        file.write("# changed\n")
    if damage != "ns":
        (finished_build / damage).write_text("{}")
    done = build("--prefix", tmp_path / "out", "--source", tmp_path / "absent.tar.xz")
    assert done.returncode == NO_SOURCE  # it continued up to the source archive


def test_a_second_build_waits_for_the_first(
    scratch: Path, finished_build: Path, tmp_path: Path
) -> None:
    with (tmp_path / "out" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command = ["bash", str(scratch / "build.sh"), "--prefix", str(tmp_path / "out")]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as second:
            assert second.stderr is not None
            assert "waiting for another build" in second.stderr.readline()
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert "is up to date" in second.stderr.read()
    assert second.returncode == 0


def test_print_source_prints_a_verified_archive_and_builds_nothing(
    build: Build, tmp_path: Path, tiny_source: Path
) -> None:
    done = build("--print-source", "--source", tiny_source, "--prefix", tmp_path / "out")
    assert (done.returncode, done.stdout) == (0, f"{tiny_source}\n")
    assert not (tmp_path / "out").exists()
