"""A scratch copy of ns2/ that tests may break, and the real ns-2."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.benchmarks import sack_cost
from tests.cli.conftest import bdpbench
from tests.compiled import keep_libraries
from tests.forks import Forks
from tests.ns2.stock import BUILD, STORE_IN, Stock

from bdpbench.contracts.paths import home_dir
from bdpbench.simulation.build import build_prefix, current_build_id

__all__ = ["bdpbench"]

ROOT = Path(__file__).resolve().parent.parent.parent
ARCHIVE = "ns-tiny.tar.xz"
GREETING = 'int main()\n{\n\treturn greet("hello");\n}\n'

# Standard error shows the simulated time each time that a second of wall-clock time has passed.
PROGRESS = "stderr.txt"

MadeOnce = Callable[[str, Callable[[Path], None]], Path]
Script = Callable[..., "subprocess.CompletedProcess[str]"]
Outputs = Callable[[Path, list[str], Path], dict[str, str]]
SameOutputs = Callable[..., Path]


SCOREBOARDS = (*sack_cost.NAMES, "scoreboard1.cc", "scoreboard1.h")


@pytest.fixture(scope="session")
def of_archive(made_once: MadeOnce) -> MadeOnce:
    """Make a folder of files of the pinned archive, which takes seconds to decompress.

    They are kept beside the cached archive.
    """
    (pinned,) = re.findall(r"(?m)^sha256=(.*)$", (ROOT / "ns2" / "SOURCE.lock").read_text())

    def make(name: str, fill: Callable[[Path], None]) -> Path:
        kept = home_dir() / "cache" / f"{name}-{pinned[:16]}"

        def fill_and_keep(folder: Path) -> None:
            fill(folder)
            made = Path(shutil.copytree(folder, f"{kept}.{os.getpid()}"))
            try:
                made.rename(kept)
            except OSError:  # another call was faster
                shutil.rmtree(made)

        return kept if kept.is_dir() else made_once(name, fill_and_keep)

    return make


@pytest.fixture(scope="session")
def scoreboards(of_archive: MadeOnce) -> Path:
    """A folder with the scoreboards of ns-2.35."""
    return of_archive("scoreboards", lambda folder: sack_cost.sources(folder, SCOREBOARDS))


def lock_archive(ns2: Path, archive: Path) -> None:
    """Change SOURCE.lock of a scratch copy to pin another archive."""
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
    (ns2 / "SOURCE.lock").write_text(
        f"file={ARCHIVE}\nsha256={checksum}\ndirectory=ns-2.35\napt_source=ns2\nurl=\n"
    )


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A copy of ns2/ with a .bdpbench folder beside it."""
    return Path(shutil.copytree(ROOT / "ns2", tmp_path / "repository" / "ns2"))


@pytest.fixture
def tiny_source(scratch: Path, tmp_path: Path) -> Path:
    """A source archive with one C++ file and a configure script that fails, pinned by `scratch`.

    With it, the build passes verification, unpacking and patching within milliseconds.
    """
    tree = tmp_path / "ns-2.35"
    (tree / "tools").mkdir(parents=True)
    (tree / "tools" / "greeting.cc").write_text(GREETING)
    (tree / "configure").write_text("#!/bin/sh\nseq 1 60\necho this machine is too small\nexit 1\n")
    (tree / "configure").chmod(0o755)
    archive = tmp_path / ARCHIVE
    with tarfile.open(archive, "w:xz") as tar:
        tar.add(tree, "ns-2.35")
    lock_archive(scratch, archive)
    (scratch / "patches" / "series").write_text("")
    return archive


@pytest.fixture
def build(scratch: Path, tmp_path: Path) -> Script:
    """Run build.sh of the scratch copy, without bdpbench's variables from the environment."""

    def run(*options: object, **variables: object) -> subprocess.CompletedProcess[str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("BDPBENCH_")}
        return subprocess.run(
            ["bash", str(scratch / "build.sh"), *map(str, options)],
            cwd=tmp_path,
            env=clean | {name: str(value) for name, value in variables.items()},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def kept_libraries(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the libraries of protocols, which is kept."""
    return keep_libraries(monkeypatch)


@pytest.fixture
def tcl(forks: Callable[[Path], Forks], ns_binary: Path, tmp_path: Path) -> Script:
    """Run a Tcl script in the ns-2 under test, or in another one."""

    def run(
        text: str, *arguments: object, ns: Path = ns_binary
    ) -> subprocess.CompletedProcess[str]:
        script = tmp_path / "script.tcl"
        script.write_text(text)
        return forks(ns).completed([str(script), *map(str, arguments)], tmp_path)

    return run


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Where outcomes of stock are to be stored, only comparisons with it are run."""
    if os.environ.get(STORE_IN):
        items[:] = [each for each in items if "stock" in each.fixturenames]


@pytest.fixture(scope="session")
def stock_binary() -> Path | None:
    """The variant stock: $BDPBENCH_NS_STOCK, or a build beside that of fast, if there is one.

    $BDPBENCH_REQUIRE_STOCK demands that there is one.
    """
    given = os.environ.get("BDPBENCH_NS_STOCK")
    binary = Path(given) if given else build_prefix() / current_build_id("stock") / "ns"
    if binary.is_file():
        return binary
    if given or os.environ.get("BDPBENCH_REQUIRE_STOCK"):
        pytest.fail(f"no stock ns-2 at {binary}: {BUILD} builds it")
    return None


@pytest.fixture
def stock(stock_binary: Path | None, request: pytest.FixtureRequest, tmp_path: Path) -> Stock:
    """The variant stock, or what is stored of it."""
    test = request.node.nodeid.removeprefix("tests/ns2/")
    return Stock(stock_binary, test, tmp_path)


@pytest.fixture
def same(tcl: Script, stock: Stock) -> Script:
    """Run a script in the ns-2 under test; its status and output must be those of stock."""

    def run(text: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        def outcome(done: subprocess.CompletedProcess[str]) -> list[object]:
            return [done.returncode, done.stdout]

        fast, words = tcl(text, *arguments), list(map(str, arguments))
        stock.gives(outcome(fast), lambda ns: outcome(tcl(text, *arguments, ns=ns)), text, *words)
        return fast

    return run


@pytest.fixture
def same_outputs(ns_binary: Path, outputs: Outputs, stock: Stock, tmp_path: Path) -> SameOutputs:
    """Run a script with the ns-2 under test; all outputs, in the folder returned, are stock's."""

    def run(command: list[str], name: str = "fast") -> Path:
        folder = tmp_path / name
        fast = outputs(ns_binary, command, folder)
        stock.gives(fast, lambda ns: outputs(ns, command, tmp_path / f"stock-{name}"), *command)
        return folder

    return run


@pytest.fixture(scope="session")
def outputs(forks: Callable[[Path], Forks]) -> Outputs:
    """Run a script in a new folder; returns the SHA-256 of each of its files and of its output."""

    def run(ns: Path, command: list[str], folder: Path) -> dict[str, str]:
        folder.mkdir()
        progress = folder / PROGRESS
        status = forks(ns).run(command, folder, folder / "stdout.txt", progress)
        assert status == 0, progress.read_text()
        return digests_of(folder)

    return run


def digests_of(folder: Path) -> dict[str, str]:
    """SHA-256 of each output in a folder."""
    files = sorted(path for path in folder.iterdir() if path.name != PROGRESS)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
