"""``ns2/known_differences.yaml``: tests whose output differs from the reference, and why."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.yaml_files import YamlFile


class KnownDifference(BaseModel):
    """Tests of one subset that differ from the shipped reference output for one reason."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    subset: str = Field(min_length=1)
    tests: tuple[str, ...] = Field(min_length=1)
    reason: str = Field(min_length=1)


def read_known_differences(path: Path | None = None) -> dict[tuple[str, str], str]:
    """(subset, test) → reason.

    Raises:
        BdpbenchError: when the file is invalid (with the line) or names a test twice.
    """
    yaml = YamlFile(path or repository_root() / "ns2" / "known_differences.yaml")
    reasons: dict[tuple[str, str], str] = {}
    if not isinstance(yaml.data, list):
        raise yaml.error((), "expected a list of {subset, tests, reason}")
    for i, part in enumerate(yaml.data):
        known = yaml.validate_part(KnownDifference, part, (i,))
        for test in known.tests:
            if (known.subset, test) in reasons:
                raise yaml.error((i, "tests"), f"{test} of {known.subset} is listed twice")
            reasons[known.subset, test] = known.reason
    return reasons
