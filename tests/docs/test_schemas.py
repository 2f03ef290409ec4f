"""The schemas for editors match the models."""

from __future__ import annotations

import difflib

from docs.generate import schema_texts

from bdpbench.contracts.paths import repository_root


def test_the_committed_schemas_are_current() -> None:
    for name, text in schema_texts().items():
        committed = (repository_root() / "workflow" / "schemas" / name).read_text()
        diff = "".join(
            difflib.unified_diff(
                committed.splitlines(True), text.splitlines(True), f"committed {name}", "models"
            )
        )
        assert not diff, f"run docs/generate.py:\n{diff}"
