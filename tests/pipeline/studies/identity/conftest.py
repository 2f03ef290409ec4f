"""A copy of ns2/ and tcl/ to change, and the ids of all runs that the studies could contain."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from bdpbench.contracts.plan import AgentUse
from bdpbench.studies.identity import Identities, run_id

ROOT = Path(__file__).resolve().parents[4]

Ids = dict[tuple[str, str, str], str]


PARTS = ("ns2", "tcl", "config")


@pytest.fixture(scope="session")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A separate checkout with ns2/, tcl/ and config/."""
    checkout = tmp_path_factory.mktemp("identity") / "checkout"
    for name in PARTS:
        shutil.copytree(ROOT / name, checkout / name)
    return checkout


@pytest.fixture
def tree(copied: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The copy, which a test may change; it is restored afterwards."""
    monkeypatch.setenv("BDPBENCH_ROOT", str(copied))
    yield copied
    restore(copied)


def restore(copy: Path) -> None:
    """Restore the files of a copy to those of the checkout, including their times."""
    for name in PARTS:
        ours, theirs = states(ROOT / name), states(copy / name)
        for path in theirs.keys() - ours.keys():
            (copy / name / path).unlink()
        for path in (path for path, state in ours.items() if theirs.get(path) != state):
            shutil.copy2(ROOT / name / path, copy / name / path)


def states(folder: Path) -> dict[Path, tuple[int, int]]:
    """Time and size of each file in a folder."""
    found = {path.relative_to(folder): path.stat() for path in folder.rglob("*") if path.is_file()}
    return {path: (state.st_mtime_ns, state.st_size) for path, state in found.items()}


@cache
def senders() -> dict[tuple[str, str], AgentUse]:
    """(study, protocol) → sender, for all studies."""
    found = {}
    for path in sorted(ROOT.glob("config/studies/*/study.yaml")):
        study = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
        for key, protocol in study["protocols"].items():
            option = protocol.get("settings", {}).get("windowOption_")
            use = AgentUse(protocol["agent"], option, protocol.get("linux"))
            found[(study["key"], key)] = use
    return found


def scripts(tree: Path) -> list[Path]:
    """Scripts that a scenario can name."""
    return sorted(
        path for path in tree.glob("tcl/**/*.tcl") if path.parent.name not in ("lib", "recover")
    )


@pytest.fixture
def ids(tree: Path) -> Callable[[], Ids]:
    """Ids of one run for each combination of a script and a protocol."""
    return lambda: ids_of(tree)


@pytest.fixture(scope="session")
def unchanged(copied: Path) -> Ids:
    """Ids in an unchanged copy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BDPBENCH_ROOT", str(copied))
        return ids_of(copied)


@pytest.fixture
def before(unchanged: Ids, tree: Path) -> Ids:
    """Ids before a test changes the copy."""
    return unchanged


def ids_of(tree: Path) -> Ids:
    """Equal senders of several studies share one digest, which is computed once."""
    now, found = Identities(), {}
    digests = {use: now.behaviour([use]) for use in set(senders().values())}
    for path in scripts(tree):
        identity = now.of(path, ["-duration_s", "10"], [], [])
        name = path.relative_to(tree / "tcl").as_posix()
        of_use = {use: run_id({**identity, "ns2": digest}) for use, digest in digests.items()}
        for key, use in senders().items():
            found[(name, *key)] = of_use[use]
    return found
