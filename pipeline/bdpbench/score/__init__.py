"""Metrics beside what the study printed and stated: verdicts with their distance and reason."""

from __future__ import annotations

from bdpbench.score.claims import Claim, load_claims
from bdpbench.score.published import PublishedNumber, load_published
from bdpbench.score.scorecard import SCORECARD_VERSION, score

__all__ = [
    "SCORECARD_VERSION",
    "Claim",
    "PublishedNumber",
    "load_claims",
    "load_published",
    "score",
]
