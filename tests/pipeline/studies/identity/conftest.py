"""A copy of ns2/ and tcl/ to change, and the identity of every run that the studies could hold."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from bdpbench.studies.identity import AgentUse, make_identity, ns2_digest, run_id

ROOT = Path(__file__).resolve().parents[4]

Ids = dict[tuple[str, str, str], str]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of its own: ns2/, tcl/ and config/."""
    for name in ("ns2", "tcl", "config"):
        shutil.copytree(ROOT / name, tmp_path / "checkout" / name)
    monkeypatch.setenv("BDPBENCH_ROOT", str(tmp_path / "checkout"))
    return tmp_path / "checkout"


@cache
def senders() -> dict[tuple[str, str], AgentUse]:
    """(study, protocol) → sender, of all studies."""
    found = {}
    for path in sorted(ROOT.glob("config/studies/*/study.yaml")):
        study = YAML(typ="safe").load(path)
        for key, protocol in study["protocols"].items():
            option = protocol.get("settings", {}).get("windowOption_")
            use = AgentUse(protocol["agent"], option, protocol.get("linux"))
            found[(study["key"], key)] = use
    return found


def scripts(tree: Path) -> list[Path]:
    """Scripts that a scenario can name."""
    library = tree / "tcl" / "lib"
    found = sorted(path for path in tree.glob("tcl/**/*.tcl") if library not in path.parents)
    return [path for path in found if path.name != "original.tcl"]


@pytest.fixture
def ids(tree: Path) -> Callable[[], Ids]:
    """Ids of one run for each script and each protocol of each study."""

    def compute() -> Ids:
        known = {key: ns2_digest([use]) for key, use in senders().items()}
        found = {}
        for path in scripts(tree):
            identity = make_identity(path, ["-duration_s", "10"], [], [])
            name = path.relative_to(tree / "tcl").as_posix()
            for key, digest in known.items():
                found[(name, *key)] = run_id({**identity, "ns2": digest})
        return found

    return compute
