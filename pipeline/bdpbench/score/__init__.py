"""Compares metrics with what the study printed and stated: verdicts with distance and reason."""

from __future__ import annotations

from bdpbench.score.claims import Claim, load_claims
from bdpbench.score.expectations import (
    Expectations,
    check_expectations,
    load_expectations,
    what_lacks,
)
from bdpbench.score.published import PublishedNumber, load_published
from bdpbench.score.scorecard import score

__all__ = [
    "Claim",
    "Expectations",
    "PublishedNumber",
    "check_expectations",
    "load_claims",
    "load_expectations",
    "load_published",
    "score",
    "what_lacks",
]
