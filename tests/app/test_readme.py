"""The README has the totals of what is published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bdpbench.contracts.paths import repository_root
from bdpbench.studies.load import study_keys

PUBLISHED = sorted(
    path
    for key in study_keys()
    for path in (repository_root() / "reports" / "published").glob(f"{key}/scorecard.json")
)


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: str(path.parent.name))
def test_the_readme_links_what_is_published_and_gives_its_totals(path: Path) -> None:
    lines = (repository_root() / "README.md").read_text().splitlines()
    (row,) = [line for line in lines if f"(reports/published/{path.parent.name}/)" in line]
    card = json.loads(path.read_text())
    numbers, claims = card["totals"], card["claim_totals"]
    of, claims_of = sum(numbers.values()), sum(claims.values())
    assert row.split(" | ")[1:] == [
        f"{numbers['reproduced']} of {of}" if of else "none printed",
        f"{claims['holds']} of {claims_of}",
        f"{numbers['undecided']}, {claims['undecided']} |",
    ]
