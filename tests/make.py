"""What tests of several rooms make, or look up, again and again."""

from __future__ import annotations

from bdpbench.contracts.plan import PlannedRun


def arguments(run: PlannedRun) -> dict[str, str]:
    """The arguments of a run's script: key, with its hyphen → value."""
    return dict(zip(run["argv"][::2], run["argv"][1::2], strict=True))
