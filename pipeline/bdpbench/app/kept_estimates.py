"""Estimates of the cost of a study's runs, for `list`, without planning all of them.

Planning every run of every tier takes ten seconds for sixteen thousand runs. The estimates of the
configured studies are in ``config/estimates.json``, which `bdpbench docs` writes; those of changed
and other studies are cached as long as everything that planning reads is unchanged.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from bdpbench.contracts.files import cached, sha256_of, write_text_atomically
from bdpbench.contracts.paths import config_dir, package_dir, repository_root, tcl_dir
from bdpbench.studies.load import STUDY_NAME, load_study, study_keys
from bdpbench.studies.runs import Identities, expand_tier, tiers_of
from bdpbench.studies.study import Study

ESTIMATES_NAME = "estimates.json"

_READ = {".py", ".yaml", ".csv", ".tcl"}


class _Estimates(TypedDict):
    """Estimates of a study: SHA-256 of its ``study.yaml``; tier → CPU time, s → number of runs."""

    study_sha256: str
    tiers: dict[str, dict[str, int]]


def tier_estimates_s(study: Study) -> dict[str, list[float]]:
    """Tier → CPU time of ns-2 for each of its runs on the reference machine, s, ascending.

    Raises:
        BdpbenchError: when a tier cannot be planned.
    """
    found = _listed(study) or cached(
        f"estimates-{study.key}", _inputs(study), lambda: _planned(study)
    )
    return {
        tier: sorted(float(each_s) for each_s, runs in counts.items() for _ in range(runs))
        for tier, counts in found["tiers"].items()
    }


def write_estimates(path: Path) -> None:
    """Write the estimates of all configured studies, one line for each."""
    lines = [json.dumps({key: _planned(load_study(key))})[1:-1] for key in study_keys()]
    write_text_atomically(path, "{\n" + ",\n".join(lines) + "\n}\n")


def _listed(study: Study) -> _Estimates | None:
    """The estimates of a configured study, if its ``study.yaml`` is the one they were made from."""
    path = config_dir() / ESTIMATES_NAME
    if not path.is_file():
        return None
    found: dict[str, _Estimates] = json.loads(path.read_bytes())
    listed = found.get(study.key)
    same = listed and listed["study_sha256"] == sha256_of(study.folder / STUDY_NAME)
    return listed if same else None


def _planned(study: Study) -> _Estimates:
    identities = Identities()
    planned = {tier: expand_tier(study, tier, identities) for tier in tiers_of(study)}
    return {
        "study_sha256": sha256_of(study.folder / STUDY_NAME),
        "tiers": {
            tier: Counter(str(each["estimated_cpu_s"]) for each in runs)
            for tier, runs in planned.items()
        },
    }


def _inputs(study: Study) -> Iterator[bytes]:
    """Everything that determines the number of runs and their cost.

    That is the code that plans, the study, the scripts, and the components of ns-2.
    """
    code = [package_dir() / room for room in ("studies", "contracts")]
    for folder in (*code, study.folder, tcl_dir(), repository_root() / "ns2"):
        for path in sorted(folder.rglob("*")):
            if path.suffix in _READ and path.is_file():
                yield str(path).encode()
                yield path.read_bytes()
