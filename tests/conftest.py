"""Fixtures shared by the tests of several rooms."""

from __future__ import annotations

import fcntl
import gc
import importlib
import os
import random
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests import planned_runs, random_examples
from tests.forks import Forks, compile_library

from bdpbench.simulation.build import build_prefix, current_build_id

# Each test has its profile, also one that is called alone.
assert random_examples

# Data for tests, including the metrics.py of a study, contains no tests.
collect_ignore = ["data"]

# Fixtures hold tens of thousands of planned runs and trace lines, which each collection visits.
gc.set_threshold(100_000, 20, 100)

MadeOnce = Callable[[str, Callable[[Path], None]], Path]

HERE = Path(__file__).resolve().parent


def pytest_configure() -> None:
    """Let signals end what tests start, also where they are ignored: in a script's background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect each file of tests once: only the pipeline has examples in its docstrings."""
    collectors = yield
    return [each for each in collectors if type(each).__name__ != "DoctestModule"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Share the rewriting of assertions, which takes a new checkout seconds, among the workers.

    Each imports a part of the files first, and then finds the others in the cache.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if not worker or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    workers = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for path in sorted(HERE.rglob("test_*.py"))[int(worker) :: workers]:
        with suppress(Exception):  # collection tells it
            importlib.import_module(".".join(path.relative_to(HERE.parent).with_suffix("").parts))


@pytest.hookimpl(tryfirst=True)  # before pytest puts together what shares a parameter of a module
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run files, and the tests of each, in another order if $BDPBENCH_TEST_ORDER says so.

    It is ``reversed``, or a seed of a random order.
    """
    order = os.environ.get("BDPBENCH_TEST_ORDER")
    if order == "reversed":
        items.reverse()
    elif order:
        drawn = random.Random(order)
        files = {path: drawn.random() for path in dict.fromkeys(item.path for item in items)}
        items.sort(key=lambda item: (files[item.path], drawn.random()))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Spare the collector of garbage what stays to the end: modules and tests."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell in one line for each reason (``tests/needs.py``) how many tests were left out for it."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
    )
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"left out {count:4}  {reason}")


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> MadeOnce:
    """Make a folder that all workers of a test run share: the first one that needs it makes it.

    Its contents must not be changed; a test that changes them works on a copy.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # each worker has its own folder inside the shared one
        shared = shared.parent

    def make(name: str, fill: Callable[[Path], None]) -> Path:
        folder, done = shared / name, shared / f"{name}.done"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                done.touch()
        return folder

    return make


@pytest.fixture(scope="session", autouse=True)
def _planned_once(made_once: MadeOnce) -> None:
    """Let one of the workers plan what tests ask ``planned_runs`` for."""
    planned_runs.share(made_once)


@pytest.fixture(scope="session")
def ns_binary() -> Path:
    """The ns-2 under test: $BDPBENCH_NS, else the build that the sources in ns2/ ask for."""
    if given := os.environ.get("BDPBENCH_NS"):
        binary = Path(given)
    else:
        binary = build_prefix() / current_build_id("fast") / "ns"
    if not binary.is_file():
        pytest.fail(f"no ns-2 at {binary}: run `./bdpbench test`, which builds it")
    return binary


@pytest.fixture(scope="session")
def forks(made_once: MadeOnce) -> Iterator[Callable[[Path], Forks]]:
    """The process of a binary of ns-2, which runs scripts in its children; started only once."""
    library = made_once("forking", compile_library) / "forking.so"
    started: dict[Path, Forks] = {}
    yield lambda ns: started.setdefault(ns, Forks(ns, library))
    for each in started.values():
        each.close()
