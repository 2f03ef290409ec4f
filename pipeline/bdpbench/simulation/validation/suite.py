"""Gets ns-2's validation suite, and prepares the folder in which a subset runs."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bdpbench.contracts.paths import home_dir
from bdpbench.contracts.yaml_files import suggest
from bdpbench.errors import BdpbenchError
from bdpbench.simulation.build import build_environment, build_script
from bdpbench.simulation.validation import recorder

# Wired links, queues, schedulers, TCP and traces: what bdpbench's own runs use.
QUICK_SUBSETS = (
    *("simple", "tcp", "testReno", "newreno", "sack", "tcpOptions", "tcpVariants", "LimTransmit"),
    *("tcpHighspeed", "tcpLinux", "red", "cbq", "schedule", "links", "monitor", "quickstart"),
)
_DRIVER = "test-all-"
# Program → Debian package; the suite's scripts call them.
_PROGRAMS = {
    "tar": "tar",
    "xz": "xz-utils",
    "perl": "perl",
    "gzip": "gzip",
    "awk": "mawk",
    "cmp": "diffutils",
}


@dataclass(frozen=True)
class Suite:
    """The unpacked, read-only suite: ``root`` contains ``tcl`` and ``bin`` of the source tree."""

    root: Path

    @property
    def tests(self) -> Path:
        """The folder with a driver ``test-all-<subset>`` for each subset."""
        return self.root / "tcl" / "test"

    def subsets(self) -> list[str]:
        """The subsets that ns-2's own ``validate`` runs, in its order."""
        text = (self.root / "validate").read_text(encoding="utf-8", errors="replace")
        listed = re.search(r"^for i in \\\n(.*?)^#", text, re.MULTILINE | re.DOTALL)
        if listed is None:
            raise BdpbenchError("lists no subsets", where=str(self.root / "validate"))
        return listed.group(1).replace("\\", " ").split()

    def choose(self, names: Sequence[str]) -> list[str]:
        """``names`` without repetitions; all subsets if it is empty.

        Raises:
            BdpbenchError: for a name that the suite does not have, with a suggestion.
        """
        known = {path.name.removeprefix(_DRIVER) for path in self.tests.glob(f"{_DRIVER}*")}
        for name in names:
            if name not in known:
                raise BdpbenchError(
                    f"ns-2's validation suite has no subset {name!r}",
                    where="--subset",
                    hint=suggest(name, known),
                )
        return list(dict.fromkeys(names)) or self.subsets()

    def prepare(self, subset: str, binary: Path, folder: Path) -> Path:
        """Prepare the folder in which a subset runs, one for each, and return its ``tcl/test``.

        Files that the tests only read are linked; ``tcl/test`` is a copy with the references of
        this subset only. ``ns`` is replaced by the recorder, and ``sleep``, with which the drivers
        wait for windows that a quiet run does not open, by a program that does nothing.
        """
        wanted = self._references(subset)
        tests = folder / "tcl" / "test"
        shutil.copytree(
            self.tests,
            tests,
            ignore=lambda _, names: [
                each for each in names if each.startswith("test-output-") and each not in wanted
            ],
        )
        for path in (self.root / "tcl").iterdir():
            if path.name != "test":
                (folder / "tcl" / path.name).symlink_to(path)
        (folder / "bin").symlink_to(self.root / "bin")
        (folder / "path").mkdir()
        _write_program(folder / "path" / "sleep", "exit 0")
        command = [sys.executable, "-I", "-S", recorder.__file__, str(binary)]
        command += [str(folder / "records.jsonl"), str(folder / "log.txt")]
        _write_program(folder / "ns", f'exec {" ".join(map(_quoted, command))} "$@"')
        return tests

    def _references(self, subset: str) -> set[str]:
        """Folders of the reference outputs of a subset, which its driver may name by a variable.

        Drivers say directory="test-output-tcp", or f="xcp" and then directory="test-output-$f".
        """
        driver = (self.tests / f"{_DRIVER}{subset}").read_text(encoding="utf-8", errors="replace")
        values = re.findall(r'^\w+="([\w-]+)"', driver, re.MULTILINE)
        return {*values, *(f"test-output-{value}" for value in values)}


def open_suite(source: Path | None = None) -> Suite:
    """The suite of the archive that ``ns2/SOURCE.lock`` pins, unpacked once.

    Raises:
        BdpbenchError: when a program that it needs is missing, or the archive is not available.
    """
    _require_programs()
    final = home_dir() / "validation" / "suite"
    # A given source is always checked; finding one takes a second.
    archive = None if _is_whole(final) and source is None else _archive(source)
    if archive is not None and not _is_whole(final):
        final.parent.mkdir(parents=True, exist_ok=True)
        with (final.parent / ".lock").open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not _is_whole(final):  # nobody has unpacked it while this call waited
                _unpack_to(final, archive)
    return Suite(final)


def _is_whole(suite: Path) -> bool:
    return (suite / "validate").is_file()


def _unpack_to(final: Path, archive: Path) -> None:
    with tempfile.TemporaryDirectory(dir=final.parent) as scratch:
        _unpack(archive, Path(scratch))
        shutil.rmtree(final, ignore_errors=True)  # an older version wrote it file by file
        os.replace(Path(scratch) / "ns-2.35", final)


def _archive(source: Path | None) -> Path:
    given = ["--source", str(source)] if source is not None else []
    done = subprocess.run(
        ["bash", str(build_script()), "--print-source", *given],
        stdout=subprocess.PIPE,
        text=True,
        env=build_environment(),
        check=False,
    )
    if done.returncode != 0:
        raise BdpbenchError("no source archive, see the message above", where="ns2/build.sh")
    return Path(done.stdout.strip())


def _unpack(archive: Path, folder: Path) -> None:
    parts = ["ns-2.35/tcl", "ns-2.35/bin", "ns-2.35/validate"]
    command = ["tar", "-C", str(folder), "-xJf", str(archive), "--no-same-owner", *parts]
    if subprocess.run(command, check=False).returncode != 0:
        raise BdpbenchError("could not be unpacked, see the message above", where=str(archive))


def _require_programs() -> None:
    missing = [package for program, package in _PROGRAMS.items() if not shutil.which(program)]
    if "perl" not in missing:
        # Some scripts require this file, which Perl no longer ships.
        finds = subprocess.run(["perl", "-e", 'require "getopts.pl"'], capture_output=True)
        if finds.returncode != 0:
            missing.append("libperl4-corelibs-perl")
    if missing:
        raise BdpbenchError(
            f"ns-2's validation suite needs these system packages: {', '.join(missing)}",
            hint=f"apt-get install {' '.join(missing)}",
        )


def _write_program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
