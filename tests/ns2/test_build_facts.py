"""The facts in ns-bdpbench.json describe the build beside it."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def facts(ns_binary: Path) -> Any:
    return json.loads(ns_binary.with_name("ns-bdpbench.json").read_text())


def test_names_the_binary_by_its_checksum(facts: Any, ns_binary: Path) -> None:
    assert facts["binary_sha256"] == hashlib.sha256(ns_binary.read_bytes()).hexdigest()
    assert facts["binary_bytes"] == ns_binary.stat().st_size


def test_names_this_checkout_and_its_archive(facts: Any) -> None:
    command = ["bash", str(ROOT / "ns2" / "build.sh"), "--print-id"]
    build_id = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert facts["build_id"] == build_id
    assert f"sha256={facts['source']['sha256']}\n" in (ROOT / "ns2" / "SOURCE.lock").read_text()


def test_names_every_patch_law_and_agent_by_checksum(facts: Any) -> None:
    recorded = {
        entry["name"]: entry["sha256"]
        for kind in ("patches", "laws", "agents", "speed")
        for entry in facts[kind]
    }
    ns2 = ROOT / "ns2"
    files = [
        *(ns2 / "patches").rglob("*.patch"),
        *(path for path in (ns2 / "laws").iterdir()),
        *(path for path in (ns2 / "agents").iterdir()),
        *(path for path in (ns2 / "speed").iterdir()),
    ]
    assert recorded == {
        str(path.relative_to(ns2)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }


def test_says_how_it_was_compiled(facts: Any) -> None:
    assert facts["counters"] == "64-bit"
    assert facts["variant"] == "fast"
    assert facts["ns2_version"] == "2.35"
    assert facts["tcl"].startswith("8.6.")
    assert "g++" in facts["compiler"]
    # Results must not depend on the processor.
    assert "-ffp-contract=off" in facts["cxx_flags"]
    assert "-march" not in facts["cxx_flags"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", facts["built"])
