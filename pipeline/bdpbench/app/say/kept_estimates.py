"""Cached estimates of the cost of a study's runs, for `list`.

To estimate it, every run of every tier is planned, which takes ten seconds for sixteen thousand
runs. The cache is valid as long as everything that planning reads is unchanged.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.paths import home_dir, package_dir, repository_root, tcl_dir
from bdpbench.studies.runs import Identities, expand_tier, tiers_of
from bdpbench.studies.study import Study

_READ = {".py", ".yaml", ".csv", ".tcl"}
_ESTIMATES = TypeAdapter(dict[str, list[float]])


def tier_estimates_s(study: Study) -> dict[str, list[float]]:
    """Tier → CPU time of ns-2 for each of its runs on the reference machine, s.

    Raises:
        BdpbenchError: when a tier cannot be planned.
    """
    path = home_dir() / "cache" / f"estimates-{_digest(study)}.json"
    kept = _kept(path)
    if kept is not None and set(kept) == set(tiers_of(study)):
        return kept
    identities = Identities()
    planned = {tier: expand_tier(study, tier, identities) for tier in tiers_of(study)}
    found = {tier: [run["estimated_cpu_s"] for run in runs] for tier, runs in planned.items()}
    with contextlib.suppress(OSError):  # without it the next call takes longer
        write_text_atomically(path, json.dumps(found))
    return found


def _kept(path: Path) -> dict[str, list[float]] | None:
    """The cached estimates; None if there are none, or they are damaged."""
    with contextlib.suppress(OSError, ValidationError):
        return _ESTIMATES.validate_json(path.read_bytes())
    return None


def _digest(study: Study) -> str:
    """A digest of everything that determines the number of runs and their cost."""
    digest = hashlib.sha256()
    for path in _files(study):
        digest.update(str(path).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _files(study: Study) -> Iterator[Path]:
    """The code that plans, the study, the scripts, and the components of ns-2."""
    code = [package_dir() / room for room in ("studies", "contracts")]
    for folder in (*code, study.folder, tcl_dir(), repository_root() / "ns2"):
        for path in sorted(folder.rglob("*")):
            if path.suffix in _READ and path.is_file():
                yield path
